#pragma once

#include <cstddef>
#include <vector>

#include <tresse/base/types.hpp>
#include <tresse/friction/local_solver.hpp>
#include <tresse/friction/problem.hpp>

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

/// W = X X^T never assembled: y = X^T r is carried along. @cite bertails2018hdr sec. 3.2.4
class FactoredOperator : public OperatorBase {
 public:
  FactoredOperator(const FactoredProblem& problem, const std::vector<Matrix3>& diagonal, const VectorX& scales,
                   const std::vector<int>& island, std::vector<int>& local);
  Eigen::Index size() const { return 3 * mu.size() + bodies_size_; }

  Vector3 free_velocity(int i, const VectorX& x) const {
    Vector3 u = q.segment<3>(3 * i) - contact[static_cast<std::size_t>(i)].W * x.segment<3>(3 * i);
    for (const Side& side : side_[static_cast<std::size_t>(i)]) add_rows(side, x.data() + 3 * mu.size(), u);
    return u;
  }
  void change(int i, const Vector3& dr, VectorX& x) const {
    x.segment<3>(3 * i) += dr;
    for (const Side& side : side_[static_cast<std::size_t>(i)]) add_transposed(side, dr, x.data() + 3 * mu.size());
  }
  void refresh(VectorX& x) const;
  void velocities(const VectorX& x, VectorX& u) const;
  void dense(MatrixX& W) const;

 private:
  struct Side {
    int begin = 0;  ///< first entry in y
    int columns = 0;
    std::size_t offset = 0;  ///< of three rows of `columns` numbers
  };
  using Row = Eigen::Map<const VectorX>;

  void add_rows(const Side& side, const double* y, Vector3& u) const {
    const Row part(y + side.begin, side.columns);
    const double* rows = rows_.data() + side.offset;
    for (int k = 0; k < 3; ++k) u[k] += Row(rows + k * side.columns, side.columns).dot(part);
  }
  void add_transposed(const Side& side, const Vector3& dr, double* y) const {
    const double* rows = rows_.data() + side.offset;
    double* part = y + side.begin;
    for (int c = 0; c < side.columns; ++c)
      part[c] += rows[c] * dr[0] + rows[side.columns + c] * dr[1] + rows[2 * side.columns + c] * dr[2];
  }

  std::vector<std::array<Side, 2>> side_;
  std::vector<double> rows_;  // scaled, in the order of the island's contacts
  Eigen::Index bodies_size_ = 0;
  mutable VectorX scratch_;  // y recomputed, so that a measure never sees drift
};

}  // namespace tresse::friction::detail
