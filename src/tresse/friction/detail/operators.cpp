#include <tresse/friction/detail/operators.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <utility>

#include <tresse/base/blocks.hpp>
#include <tresse/friction/coulomb.hpp>
#include <tresse/friction/detail/aligned_lanes.hpp>

namespace tresse::friction::detail {
namespace {

constexpr int together = sweep_policy.sweeps.together;

void fill_base(OperatorBase& out, const VectorX& q, const VectorX& mu, const std::vector<Matrix3>& diagonal,
               const VectorX& scales, const std::vector<int>& island) {
  const auto n = static_cast<Eigen::Index>(island.size());
  out.q.resize(3 * n);
  out.mu.resize(n);
  out.scale.resize(n);
  out.contact.resize(island.size());
  for_blocks(n, Eigen::Index{together}, [&](Eigen::Index, Eigen::Index begin, Eigen::Index end) {
    for (Eigen::Index k = begin; k < end; ++k) {
      const int i = island[static_cast<std::size_t>(k)];
      const double s = scales[i];
      out.q.segment<3>(3 * k) = q.segment<3>(3 * i) / s;
      out.mu[k] = mu[i];
      out.scale[k] = s;
      out.contact[static_cast<std::size_t>(k)] =
          prepare_contact(diagonal[static_cast<std::size_t>(i)] / (s * s), mu[i]);
    }
  });
}

}  // namespace

void OperatorBase::solve_free(int i, const Vector3& free, Visits& visits, Vector3& r) const {
  const auto k = static_cast<std::size_t>(i);
  const PreparedContact& c = contact[k];
  visits.failed[k] = !solve_contact(c, free, visits.solver, visits.alpha[k], r, visits.near);
  if (!visits.failed[k]) return;
  const Vector3 u = free + c.W * r;
  r = project_on_cone(r - de_saxce(u, c.mu), c.mu);
}

AssembledOperator::AssembledOperator(const FrictionProblem& problem, const std::vector<Matrix3>& diagonal,
                                     const VectorX& scales, const std::vector<int>& island, std::vector<int>& local) {
  fill_base(*this, problem.q, problem.mu, diagonal, scales, island);
  for (std::size_t k = 0; k < island.size(); ++k) local[static_cast<std::size_t>(island[k])] = static_cast<int>(k);
  const BlockMatrix& w = problem.W;
  row_begin_.push_back(0);
  for (const int i : island) {
    for (int k = w.row_begin[static_cast<std::size_t>(i)]; k < w.row_begin[static_cast<std::size_t>(i) + 1]; ++k) {
      const auto entry = static_cast<std::size_t>(k);
      const int j = w.column[entry];
      if (j == i || (w.block[entry].array() == 0.0).all()) continue;
      column_.push_back(local[static_cast<std::size_t>(j)]);
      const Matrix3 scaled = w.block[entry] / (scales[i] * scales[j]);
      block_.insert(block_.end(), scaled.data(), scaled.data() + 9);
    }
    row_begin_.push_back(static_cast<int>(column_.size()));
  }
}

void AssembledOperator::velocities(const VectorX& r, VectorX& u) const {
  for (int i = 0; i < contacts(); ++i)
    u.segment<3>(3 * i) = free_velocity(i, r) + contact[static_cast<std::size_t>(i)].W * r.segment<3>(3 * i);
}

void AssembledOperator::dense(const std::vector<int>& some, MatrixX& W) const {
  const auto count = static_cast<Eigen::Index>(some.size());
  W.setZero(3 * count, 3 * count);
  std::vector<Eigen::Index> place(contact.size(), -1);
  for (Eigen::Index k = 0; k < count; ++k) place[static_cast<std::size_t>(some[static_cast<std::size_t>(k)])] = k;
  for (Eigen::Index n = 0; n < count; ++n) {
    const auto row = static_cast<std::size_t>(some[static_cast<std::size_t>(n)]);
    W.block<3, 3>(3 * n, 3 * n) = contact[row].W;
    for (int k = row_begin_[row]; k < row_begin_[row + 1]; ++k) {
      const Eigen::Index m = place[static_cast<std::size_t>(column_[static_cast<std::size_t>(k)])];
      if (m >= 0)
        W.block<3, 3>(3 * n, 3 * m) = Eigen::Map<const Matrix3>(block_.data() + 9 * static_cast<std::size_t>(k));
    }
  }
}

FactoredOperator::FactoredOperator(const FactoredProblem& problem, const std::vector<Matrix3>& diagonal,
                                   const VectorX& scales, const std::vector<int>& island, std::vector<int>& local) {
  fill_base(*this, problem.q, problem.mu, diagonal, scales, island);
  // `local` holds, per body, its first entry in this island's y; -1 outside.
  const auto blocks_of = [](int columns, int width) { return (columns + width - 1) / width; };
  std::vector<int> touched;
  int next = 0;
  std::size_t size = 0;
  side_.resize(island.size());
  for (std::size_t k = 0; k < island.size(); ++k) {
    const int i = island[k];
    for (std::size_t which = 0; which < 2; ++which) {
      const ContactRows& side = problem.contacts[static_cast<std::size_t>(i)][which];
      if (side.body < 0 || side.columns == 0) continue;
      const auto body = static_cast<std::size_t>(side.body);
      if (local[body] < 0) {
        local[body] = next;
        next += body_lanes * blocks_of(problem.body_begin[body + 1] - problem.body_begin[body], body_lanes);
        touched.push_back(side.body);
      }
      const int blocks = blocks_of(side.columns, lanes);
      side_[k][which] = {local[body], blocks, size};
      size += static_cast<std::size_t>(3 * lanes * blocks);
    }
  }
  rows_.resize(static_cast<Eigen::Index>(size));
  for_blocks(island.size(), std::size_t{together}, [&](std::size_t, std::size_t begin, std::size_t end) {
    for (std::size_t k = begin; k < end; ++k) {
      const auto i = static_cast<std::size_t>(island[k]);
      const double unit = 1.0 / scales[island[k]];
      for (std::size_t which = 0; which < 2; ++which)
        pack_rows(rows_of(problem, problem.contacts[i][which]), unit, side_[k][which]);
    }
  });
  for (const int body : touched) local[static_cast<std::size_t>(body)] = -1;
  bodies_size_ = next;
}

void FactoredOperator::pack_rows(const SideRows& rows, double unit, const Side& side) {
  double* to = rows_.data() + side.offset;
  for (int first = 0; first < lanes * side.blocks; first += lanes) {
    const auto count = static_cast<int>(std::min<Eigen::Index>(lanes, rows.cols() - first));
    for (int row = 0; row < 3; ++row) {
      for (int c = 0; c < count; ++c) *to++ = rows(row, first + c) * unit;
      for (int c = count; c < lanes; ++c) *to++ = 0.0;
    }
  }
}

void FactoredOperator::add_products(const VectorX& y, VectorX& u) const {
  for_blocks(contacts(), together, [&](int, int begin, int end) {
    for (int i = begin; i < end; ++i) u.segment<3>(3 * i) = q.segment<3>(3 * i) + times_rows(i, y.data());
  });
}

void FactoredOperator::dense(const std::vector<int>& some, MatrixX& W) const {
  std::map<int, int> columns;  // of the bodies touched, by their first entry in y; then where theirs begin in X
  const auto for_each_side = [&](const auto& visit) {
    for (std::size_t n = 0; n < some.size(); ++n)
      for (const Side& side : side_[static_cast<std::size_t>(some[n])])
        if (side.blocks > 0) visit(3 * static_cast<Eigen::Index>(n), side);
  };
  for_each_side([&](Eigen::Index, const Side& side) {
    int& most = columns[side.begin];
    most = std::max(most, lanes * side.blocks);
  });
  int next = 0;
  for (auto& [begin, count] : columns) next += std::exchange(count, next);
  MatrixX X = MatrixX::Zero(3 * static_cast<Eigen::Index>(some.size()), next);
  for_each_side([&](Eigen::Index row, const Side& side) {
    const double* from = rows_.data() + side.offset;
    for (int b = 0; b < side.blocks; ++b)
      for (int k = 0; k < 3; ++k)
        for (int c = 0; c < lanes; ++c) X(row + k, columns[side.begin] + lanes * b + c) += *from++;
  });
  W.noalias() = X * X.transpose();
}

RoundedOperator::RoundedOperator(const FactoredProblem& problem, const std::vector<Matrix3>& diagonal,
                                 const VectorX& scales, const std::vector<int>& island, std::vector<int>& local)
    : FactoredOperator(problem, diagonal, scales, island, local), unit_(island.size()), aligned_(island.size()) {
  constexpr int ratio = body_lanes / lanes;
  block_begin_.push_back(0);
  for (std::size_t k = 0; k < island.size(); ++k) {
    int blocks = block_begin_.back();
    for (const Side& side : side_[k]) blocks += (side.blocks + ratio - 1) / ratio;
    block_begin_.push_back(blocks);
  }
  block_.resize(static_cast<std::size_t>(block_begin_.back()));
  for_blocks(island.size(), std::size_t{together}, [&](std::size_t, std::size_t begin, std::size_t end) {
    for (std::size_t k = begin; k < end; ++k) {
      aligned_[k] = aligned(contact[k]);
      round_rows(k);
    }
  });
}

namespace {

/// std::lrint() but for halves, which go away from zero: a call that keeps loops from being vectorised.
std::int16_t nearest_short(double x) { return static_cast<std::int16_t>(x + std::copysign(0.5, x)); }

}  // namespace

void RoundedOperator::round_rows(std::size_t k) {
  constexpr int ratio = body_lanes / lanes;
  constexpr double most = std::numeric_limits<std::int16_t>::max();
  double largest = 0.0;
  for (const Side& side : side_[k]) {
    if (side.blocks == 0) continue;
    largest = std::max(
        largest,
        rows_.segment(static_cast<Eigen::Index>(side.offset), 3 * lanes * side.blocks).lpNorm<Eigen::Infinity>());
  }
  unit_[k] = static_cast<float>(largest / most);
  const double inverse = largest > 0.0 ? most / largest : 0.0;
  Block* to = block_.data() + block_begin_[k];
  for (const Side& side : side_[k]) {
    const double* from = rows_.data() + side.offset;
    for (int b = 0; b < side.blocks; ++b) {
      Block& block = to[b / ratio];
      block.begin = side.begin + b / ratio * body_lanes;
      for (int row = 0; row < 3; ++row)
        for (int c = 0; c < lanes; ++c) block.row[row][b % ratio * lanes + c] = nearest_short(inverse * *from++);
    }
    to += (side.blocks + ratio - 1) / ratio;
  }
}

namespace {

/// What stands at four places, so many numbers apart from one to the next.
template <typename Real>
TRESSE_HOT lanes::Doubles at_once(const Real* of, std::size_t apart, const std::size_t (&at)[SweepGroup::most]) {
  return lanes::Doubles{of[apart * at[0]], of[apart * at[1]], of[apart * at[2]], of[apart * at[3]]};
}

}  // namespace

void RoundedOperator::solve(const SweepGroup& group, const VectorX& r, const Bodies& y, Visits& visits,
                            GroupImpulses& out) const {
  std::size_t at[SweepGroup::most];
  Pack<float, body_lanes> sums[SweepGroup::most][3];
  for (int n = 0; n < SweepGroup::most; ++n) {
    if (n < group.count) {
      at[n] = static_cast<std::size_t>(group.contact[static_cast<std::size_t>(n)]);
      times_rounded(at[n], y.data(), sums[n]);
    } else {  // a lane left over takes as many steps as the first, and its answer is dropped
      at[n] = at[0];
      std::copy_n(sums[0], 3, sums[n]);
    }
  }
  const lanes::Doubles unit = at_once(unit_.data(), 1, at);
  lanes::Doubles u[3], impulse[3];
  for (int k = 0; k < 3; ++k) {
    const auto change = sums_of(sums[0][k], sums[1][k], sums[2][k], sums[3][k]);
    u[k] = at_once(start_.data() + k, 3, at) + unit * __builtin_convertvector(change, lanes::Doubles);
    impulse[k] = at_once(r.data() + k, 3, at);
  }
  lanes::Doubles alpha = at_once(visits.alpha.data(), 1, at);
  lanes::Mask solved{};
  if (visits.solver == LocalSolver::hybrid)
    solved = AlignedLanes(aligned_[at[0]], aligned_[at[1]], aligned_[at[2]], aligned_[at[3]])
                 .solve(u, visits.near, alpha, impulse);
  for (int n = 0; n < group.count; ++n) {
    const auto lane = static_cast<std::size_t>(n);
    out[lane] = {impulse[0][n], impulse[1][n], impulse[2][n]};
    if (solved[n]) {
      visits.alpha[at[n]] = alpha[n];
      visits.failed[at[n]] = 0;
    } else {
      const Vector3 free = Vector3(u[0][n], u[1][n], u[2][n]) - contact[at[n]].W * out[lane];
      solve_free(group.contact[lane], free, visits, out[lane]);
    }
  }
}

}  // namespace tresse::friction::detail
