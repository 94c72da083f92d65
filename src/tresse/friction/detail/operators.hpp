#pragma once

#include <array>
#include <cstddef>
#include <cstring>
#include <vector>

#include <tresse/base/types.hpp>
#include <tresse/friction/local_solver.hpp>
#include <tresse/friction/problem.hpp>

// As in geometry/detail/lanes.hpp: what passes lanes between functions is inlined.
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic ignored "-Wpsabi"
#endif

/// One island's problem in scaled unknowns r_i s_i, u_i / s_i, laid out for sweeps. An operator offers: contacts(),
/// size() of the state x = [r; y], free_velocity(i, x) (the contact's velocity were its impulse 0), change(i, dr, x),
/// refresh(x) (y from r), velocities(x, u) and dense(W).
namespace tresse::friction::detail {

struct OperatorBase {
  VectorX q;                             ///< (3n) scaled
  VectorX mu;                            ///< (n)
  VectorX scale;                         ///< (n) s_i
  std::vector<PreparedContact> contact;  ///< (n) scaled diagonal blocks
  int contacts() const { return static_cast<int>(mu.size()); }
};

/// W's rows stored whole: W r costs one pass over the blocks.
class AssembledOperator : public OperatorBase {
 public:
  AssembledOperator(const FrictionProblem& problem, const std::vector<Matrix3>& diagonal, const VectorX& scales,
                    const std::vector<int>& island, std::vector<int>& local);
  Eigen::Index size() const { return 3 * mu.size(); }

  Vector3 free_velocity(int i, const VectorX& x) const {
    double u0 = q[3 * i], u1 = q[3 * i + 1], u2 = q[3 * i + 2];
    const auto row = static_cast<std::size_t>(i);
    for (int k = row_begin_[row]; k < row_begin_[row + 1]; ++k) {
      const double* w = block_.data() + 9 * static_cast<std::size_t>(k);
      const double* r = x.data() + 3 * column_[static_cast<std::size_t>(k)];
      u0 += w[0] * r[0] + w[3] * r[1] + w[6] * r[2];
      u1 += w[1] * r[0] + w[4] * r[1] + w[7] * r[2];
      u2 += w[2] * r[0] + w[5] * r[1] + w[8] * r[2];
    }
    return {u0, u1, u2};
  }
  void change(int i, const Vector3& dr, VectorX& x) const { x.segment<3>(3 * i) += dr; }
  void refresh(VectorX&) const {}
  void velocities(const VectorX& x, VectorX& u) const;
  void dense(MatrixX& W) const;

 private:
  std::vector<int> row_begin_;  // off-diagonal blocks only
  std::vector<int> column_;
  std::vector<double> block_;  // 9 numbers each, column-major
};

/// W = X X^T never assembled: y = X^T r, padded to quadruples body by body, is carried along. @cite bertails2018hdr
/// sec. 3.2.4
/// Sweeps over a large island wait for memory: they read X rounded to single precision. What that takes from the
/// velocities is put back at every call of velocities(), so that a fixed point is one of the exact problem: the error
/// left is 6e-8 of what changed since.
class FactoredOperator : public OperatorBase {
 public:
  FactoredOperator(const FactoredProblem& problem, const std::vector<Matrix3>& diagonal, const VectorX& scales,
                   const std::vector<int>& island, std::vector<int>& local);
  Eigen::Index size() const { return 3 * mu.size() + bodies_size_; }

  Vector3 free_velocity(int i, const VectorX& x) const {
    const auto& sides = side_[static_cast<std::size_t>(i)];
    const double* y = x.data() + 3 * mu.size();
    const Vector3 by_all = rounded_.empty() ? times_rows(rows_, sides, y) : times_rows(rounded_, sides, y);
    return swept_q_.segment<3>(3 * i) - contact[static_cast<std::size_t>(i)].W * x.segment<3>(3 * i) + by_all;
  }
  void change(int i, const Vector3& dr, VectorX& x) const {
    x.segment<3>(3 * i) += dr;
    double* y = x.data() + 3 * mu.size();
    for (const Side& side : side_[static_cast<std::size_t>(i)]) {
      if (rounded_.empty()) {
        add_transposed(rows_, side, dr, y);
      } else {
        add_transposed(rounded_, side, dr, y);
      }
    }
  }
  void refresh(VectorX& x) const;
  void velocities(const VectorX& x, VectorX& u) const;
  void dense(MatrixX& W) const;

 private:
  /// Four columns at a time; rows are padded with zeros to whole quadruples.
  using Lanes = double __attribute__((vector_size(32)));
  static constexpr int lanes = 4;
  struct Side {
    int begin = 0;           ///< first entry in y
    int blocks = 0;          ///< of four columns
    std::size_t offset = 0;  ///< of its first block: four columns of row 0, of row 1, of row 2
  };

  static Lanes load(const double* p) {
    Lanes out;
    std::memcpy(&out, p, sizeof out);
    return out;
  }
  static Lanes load(const float* p) {
    float __attribute__((vector_size(16))) out;
    std::memcpy(&out, p, sizeof out);
    return __builtin_convertvector(out, Lanes);
  }
  template <typename Real>
  static Vector3 times_rows(const std::vector<Real>& rows, const std::array<Side, 2>& sides, const double* y) {
    Lanes sum0{}, sum1{}, sum2{};
    for (const Side& side : sides) {
      const Real* row = rows.data() + side.offset;
      const double* part = y + side.begin;
      for (int k = 0; k < side.blocks; ++k, row += 3 * lanes, part += lanes) {
        const Lanes v = load(part);
        sum0 += load(row) * v;
        sum1 += load(row + lanes) * v;
        sum2 += load(row + 2 * lanes) * v;
      }
    }
    return {(sum0[0] + sum0[1]) + (sum0[2] + sum0[3]), (sum1[0] + sum1[1]) + (sum1[2] + sum1[3]),
            (sum2[0] + sum2[1]) + (sum2[2] + sum2[3])};
  }
  template <typename Real>
  static void add_transposed(const std::vector<Real>& rows, const Side& side, const Vector3& dr, double* y) {
    const Real* row = rows.data() + side.offset;
    double* part = y + side.begin;
    for (int k = 0; k < side.blocks; ++k, row += 3 * lanes, part += lanes) {
      const Lanes v = load(part) + (load(row) * dr[0] + load(row + lanes) * dr[1] + load(row + 2 * lanes) * dr[2]);
      std::memcpy(part, &v, sizeof v);
    }
  }

  struct BodySide {
    int contact, which;
  };

  /// y of every body from r alone, summed in the order of the contacts.
  void sum_bodies(const VectorX& x, double* y) const;

  std::vector<std::array<Side, 2>> side_;
  std::vector<double> rows_;       // scaled, in the order of the island's contacts
  std::vector<float> rounded_;     // the same; empty for small islands
  std::vector<BodySide> of_body_;  // the contacts' sides, body by body
  std::vector<int> body_begin_;    // (bodies + 1) in of_body_
  Eigen::Index bodies_size_ = 0;
  mutable VectorX scratch_;  // y recomputed, so that a measure never sees drift
  mutable VectorX swept_q_;  // q and what sweeps miss of the velocities
};

}  // namespace tresse::friction::detail
