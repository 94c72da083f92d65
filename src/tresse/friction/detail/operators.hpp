#pragma once

#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

#include <tresse/base/types.hpp>
#include <tresse/friction/detail/lanes.hpp>
#include <tresse/friction/detail/sweep_policy.hpp>
#include <tresse/friction/detail/sweep_schedule.hpp>
#include <tresse/friction/local_solver.hpp>
#include <tresse/friction/problem.hpp>

/// One island's problem in scaled unknowns r_i s_i, u_i / s_i, laid out for sweeps.
namespace tresse::friction::detail {

/// How contacts are solved, and what a visit leaves for the next one.
struct Visits {
  LocalSolver solver;
  double near;                ///< as in solve_contact()
  std::vector<double> alpha;  ///< of each contact
  std::vector<char> failed;   ///< whether it had no solution of its own
};

/// The impulses of a group's contacts, in its order.
using GroupImpulses = std::array<Vector3, SweepGroup::most>;

struct OperatorBase {
  VectorX q;                             ///< (3n) scaled
  VectorX mu;                            ///< (n)
  VectorX scale;                         ///< (n) s_i
  std::vector<PreparedContact> contact;  ///< (n) scaled diagonal blocks
  int contacts() const { return static_cast<int>(mu.size()); }

 protected:
  /// From r_i and the free velocity. Where no impulse satisfies the contact r_i becomes a projected step, as the others
  /// may still change.
  void solve_free(int i, const Vector3& free, Visits& visits, Vector3& r) const;
};

/// What sweeps need of an island. `Bodies` is the type of y, what X^T r changed since the last start(); `rounding` is
/// what is lost of such changes.
template <typename T>
concept SweepOperator = std::derived_from<T, OperatorBase> &&
    requires(T op, const T& fixed, const SweepGroup& group, const VectorX& r, VectorX& u, typename T::Bodies& y,
             const typename T::Bodies& same_y, Visits& visits, GroupImpulses& out, const std::vector<int>& some,
             MatrixX& W) {
  { T::rounding } -> std::convertible_to<double>;
  { fixed.bodies_size() } -> std::convertible_to<Eigen::Index>;
  /// From where velocities are u, and y = 0.
  op.start(r);
  /// The impulses of contacts that share no body, while the others' are held.
  fixed.solve(group, r, same_y, visits, out);
  /// y after one contact's impulse changed.
  fixed.change(int(), Vector3(), y);
  /// u from the impulses alone; in_order(each) calls each(i) of all contacts, those that share a body in their order.
  fixed.velocities(r, u, [](const auto& each) { each(0); });
  /// The blocks of some contacts.
  fixed.dense(some, W);
};

/// W's rows stored whole: W r costs one pass over the blocks.
class AssembledOperator : public OperatorBase {
 public:
  using Bodies = VectorX;
  AssembledOperator(const FrictionProblem& problem, const std::vector<Matrix3>& diagonal, const VectorX& scales,
                    const std::vector<int>& island, std::vector<int>& local);
  static constexpr double rounding = 0.0;
  static Eigen::Index bodies_size() { return 0; }
  void start(const VectorX&) {}
  void solve(const SweepGroup& group, const VectorX& r, const Bodies&, Visits& visits, GroupImpulses& out) const {
    for (std::size_t n = 0; n < static_cast<std::size_t>(group.count); ++n) {
      const int i = group.contact[n];
      out[n] = r.segment<3>(3 * i);
      solve_free(i, free_velocity(i, r), visits, out[n]);
    }
  }
  void change(int, const Vector3&, Bodies&) const {}
  template <typename InOrder>
  void velocities(const VectorX& r, VectorX& u, const InOrder&) const {
    velocities(r, u);
  }
  void dense(const std::vector<int>& some, MatrixX& W) const;

 private:
  void velocities(const VectorX& r, VectorX& u) const;
  Vector3 free_velocity(int i, const VectorX& impulse) const {
    double u0 = q[3 * i], u1 = q[3 * i + 1], u2 = q[3 * i + 2];
    const auto row = static_cast<std::size_t>(i);
    for (int k = row_begin_[row]; k < row_begin_[row + 1]; ++k) {
      const double* w = block_.data() + 9 * static_cast<std::size_t>(k);
      const double* r = impulse.data() + 3 * column_[static_cast<std::size_t>(k)];
      u0 += w[0] * r[0] + w[3] * r[1] + w[6] * r[2];
      u1 += w[1] * r[0] + w[4] * r[1] + w[7] * r[2];
      u2 += w[2] * r[0] + w[5] * r[1] + w[8] * r[2];
    }
    return {u0, u1, u2};
  }

  std::vector<int> row_begin_;  // off-diagonal blocks only
  std::vector<int> column_;
  std::vector<double> block_;  // 9 numbers each, column-major
};

/// W = X X^T never assembled: y, body by body, is carried along. @cite bertails2018hdr sec. 3.2.4
class FactoredOperator : public OperatorBase {
 public:
  using Bodies = VectorX;
  static constexpr double rounding = 0.0;
  FactoredOperator(const FactoredProblem& problem, const std::vector<Matrix3>& diagonal, const VectorX& scales,
                   const std::vector<int>& island, std::vector<int>& local);
  Eigen::Index bodies_size() const { return bodies_size_; }

  void start(const VectorX& u) { start_ = u; }
  void solve(const SweepGroup& group, const VectorX& r, const Bodies& y, Visits& visits, GroupImpulses& out) const {
    for (std::size_t n = 0; n < static_cast<std::size_t>(group.count); ++n) {
      const int i = group.contact[n];
      out[n] = r.segment<3>(3 * i);
      const Vector3 u = start_.segment<3>(3 * i) + times_rows(i, y.data());
      solve_free(i, u - contact[static_cast<std::size_t>(i)].W * out[n], visits, out[n]);
    }
  }
  void change(int i, const Vector3& dr, Bodies& y) const {
    for (const Side& side : side_[static_cast<std::size_t>(i)]) add_transposed(side, dr, y.data());
  }
  template <typename InOrder>
  void velocities(const VectorX& r, VectorX& u, const InOrder& in_order) const {
    VectorX y = VectorX::Zero(bodies_size_);
    in_order([&](int i) {
      const Vector3 impulse = r.segment<3>(3 * i);
      if (!impulse.isZero(0.0)) FactoredOperator::change(i, impulse, y);
    });
    add_products(y, u);
  }
  void dense(const std::vector<int>& some, MatrixX& W) const;

 protected:
  /// A contact's rows on one body, four columns at a time; padded with zeros to whole quadruples.
  static constexpr int lanes = 4;
  static constexpr int body_lanes = 8;  // to which y is padded body by body: those of single precision
  struct Side {
    int begin = 0;           ///< first entry in y
    int blocks = 0;          ///< of four columns
    std::size_t offset = 0;  ///< of its first block: four columns of row 0, of row 1, of row 2
  };

  std::vector<std::array<Side, 2>> side_;
  VectorX rows_;   // scaled, in the order of the island's contacts
  VectorX start_;  // velocities at y = 0

 private:
  /// In rows_, scaled and padded, at a side's place.
  void pack_rows(const SideRows& rows, double unit, const Side& side);
  /// u = q + X y.
  void add_products(const VectorX& y, VectorX& u) const;
  /// X_i y.
  Vector3 times_rows(int i, const double* y) const {
    Pack<double, lanes> sum0{}, sum1{}, sum2{};
    for (const Side& side : side_[static_cast<std::size_t>(i)]) {
      const double* row = rows_.data() + side.offset;
      const double* part = y + side.begin;
      for (int k = 0; k < side.blocks; ++k, row += 3 * lanes, part += lanes) {
        const auto v = load_pack<double, lanes>(part);
        sum0 += load_pack<double, lanes>(row) * v;
        sum1 += load_pack<double, lanes>(row + lanes) * v;
        sum2 += load_pack<double, lanes>(row + 2 * lanes) * v;
      }
    }
    return {tresse::lanes::sum(sum0), tresse::lanes::sum(sum1), tresse::lanes::sum(sum2)};
  }
  /// y += X_i^T dr of one side.
  void add_transposed(const Side& side, const Vector3& dr, double* y) const {
    const double* row = rows_.data() + side.offset;
    double* part = y + side.begin;
    for (int k = 0; k < side.blocks; ++k, row += 3 * lanes, part += lanes) {
      const auto v = load_pack<double, lanes>(part) +
                     (load_pack<double, lanes>(row) * dr[0] + load_pack<double, lanes>(row + lanes) * dr[1] +
                      load_pack<double, lanes>(row + 2 * lanes) * dr[2]);
      std::memcpy(part, &v, sizeof v);
    }
  }

  Eigen::Index bodies_size_ = 0;
};

/// The same for sweeps over a large island, which wait for memory: they read X in sixteen bits and keep y in single
/// precision. Both bear on what changed since start() alone, which is told velocities in double precision, so that a
/// fixed point is one of the exact problem.
class RoundedOperator : public FactoredOperator {
 public:
  using Bodies = Eigen::VectorXf;
  static constexpr double rounding = 3e-5;
  RoundedOperator(const FactoredProblem& problem, const std::vector<Matrix3>& diagonal, const VectorX& scales,
                  const std::vector<int>& island, std::vector<int>& local);

  void solve(const SweepGroup& group, const VectorX& r, const Bodies& y, Visits& visits, GroupImpulses& out) const;
  void change(int i, const Vector3& dr, Bodies& y) const {
    const auto k = static_cast<std::size_t>(i);
    const Eigen::Vector3f by = (unit_[k] * dr).cast<float>();
    for (int b = block_begin_[k]; b < block_begin_[k + 1]; ++b) {
      const Block& block = block_[static_cast<std::size_t>(b)];
      float* part = y.data() + block.begin;
      const auto v =
          load_pack<float, body_lanes>(part) +
          (load_short(block.row[0]) * by[0] + load_short(block.row[1]) * by[1] + load_short(block.row[2]) * by[2]);
      std::memcpy(part, &v, sizeof v);
    }
  }

 private:
  /// Eight columns of a contact's rows on one of its bodies, in units of the contact.
  struct Block {
    int begin = 0;  ///< first entry in y
    std::int16_t row[3][body_lanes] = {};
  };

  void round_rows(std::size_t k);
  /// X_i y in the contact's unit, summed over the lanes of each row.
  void times_rounded(std::size_t k, const float* y, Pack<float, body_lanes> (&sums)[3]) const {
    for (auto& sum : sums) sum = Pack<float, body_lanes>{};
    for (int b = block_begin_[k]; b < block_begin_[k + 1]; ++b) {
      const Block& block = block_[static_cast<std::size_t>(b)];
      const auto v = load_pack<float, body_lanes>(y + block.begin);
      for (int row = 0; row < 3; ++row) sums[row] += load_short(block.row[row]) * v;
    }
  }

  std::vector<int> block_begin_;  // (n + 1) each contact's first
  std::vector<Block> block_;
  std::vector<float> unit_;  // of each contact's rows
  std::vector<AlignedContact> aligned_;
};

}  // namespace tresse::friction::detail
