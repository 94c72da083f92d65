#include <tresse/friction/detail/island.hpp>

#include <algorithm>
#include <map>

#include <tresse/friction/coulomb.hpp>
#include <tresse/friction/detail/newton_system.hpp>
#include <tresse/friction/detail/sweep_policy.hpp>

namespace tresse::friction::detail {
namespace {

using Index = Eigen::Index;

template <typename Problem>
ScaledIsland vectors_of(const IslandTask<Problem>& task) {
  ScaledIsland out;
  const auto n = static_cast<Index>(task.island.size());
  out.q.resize(3 * n);
  out.mu.resize(n);
  out.scale.resize(n);
  for (Index k = 0; k < n; ++k) {
    const int i = task.island[static_cast<std::size_t>(k)];
    out.scale[k] = task.scales[i];
    out.mu[k] = task.problem.mu[i];
    out.q.segment<3>(3 * k) = task.problem.q.template segment<3>(3 * i) / task.scales[i];
  }
  out.floor = task.floor;
  out.unscaled = task.options.measure == SolverOptions::Measure::natural_map;
  out.W.rows = static_cast<int>(n);
  out.W.row_begin.push_back(0);
  return out;
}

/// Appends the next block row: blocks by column, in the problem's units.
void append_row(ScaledIsland& out, const std::map<int, Matrix3>& row) {
  const auto i = static_cast<Index>(out.W.row_begin.size()) - 1;
  for (const auto& [j, block] : row) {
    out.W.column.push_back(j);
    out.W.block.push_back(block / (out.scale[i] * out.scale[j]));
  }
  out.W.row_begin.push_back(static_cast<int>(out.W.column.size()));
}

/// Dense LU of a few hundred contacts is quicker than a sparse one that fills up.
void choose_form(ScaledIsland& out) {
  constexpr NewtonPolicy::Form policy = newton_policy.form;
  const auto n = static_cast<std::size_t>(out.W.rows);
  if (n > policy.few && out.W.block.size() * policy.filled < n * n) return;
  out.dense.setZero(3 * static_cast<Index>(n), 3 * static_cast<Index>(n));
  for (int i = 0; i < out.W.rows; ++i)
    for (int k = out.W.row_begin[static_cast<std::size_t>(i)]; k < out.W.row_begin[static_cast<std::size_t>(i) + 1];
         ++k)
      out.dense.block<3, 3>(3 * i, 3 * out.W.column[static_cast<std::size_t>(k)]) =
          out.W.block[static_cast<std::size_t>(k)];
}

}  // namespace

double ScaledIsland::measure(const VectorX& r, const VectorX& u) const {
  ErrorSums sums = sum_errors(mu.size(), [&](ErrorSums& to, Index i) {
    const double s = unscaled ? scale[i] : 1.0;
    const Vector3 impulse = r.segment<3>(3 * i) / s;
    const Vector3 velocity = u.segment<3>(3 * i) * s;
    to.add(natural_map(impulse, velocity, mu[i]), q.segment<3>(3 * i) * s, impulse, velocity);
  });
  sums.q = std::max(sums.q, floor);
  return sums.relative();
}

VectorX ScaledIsland::velocity(const VectorX& r) const {
  VectorX u;
  multiply(W, r, u);
  return u + q;
}

ScaledIsland scaled_island(const IslandTask<FrictionProblem>& task) {
  ScaledIsland out = vectors_of(task);
  for (std::size_t k = 0; k < task.island.size(); ++k)
    task.local[static_cast<std::size_t>(task.island[k])] = static_cast<int>(k);
  const BlockMatrix& w = task.problem.W;
  for (std::size_t c = 0; c < task.island.size(); ++c) {
    std::map<int, Matrix3> row{{static_cast<int>(c), Matrix3::Zero()}};
    const auto i = static_cast<std::size_t>(task.island[c]);
    for (int k = w.row_begin[i]; k < w.row_begin[i + 1]; ++k) {
      const Matrix3& block = w.block[static_cast<std::size_t>(k)];
      if (!block.isZero(0.0)) row[task.local[static_cast<std::size_t>(w.column[static_cast<std::size_t>(k)])]] = block;
    }
    append_row(out, row);
  }
  choose_form(out);
  return out;
}

ScaledIsland scaled_island(const IslandTask<FactoredProblem>& task) {
  ScaledIsland out = vectors_of(task);
  const FactoredProblem& problem = task.problem;
  struct Touch {
    int contact;
    const ContactRows* side;
  };
  std::map<int, std::vector<Touch>> touching;  // of each body
  const auto sides = [&](int k) -> const auto& {
    return problem.contacts[static_cast<std::size_t>(task.island[static_cast<std::size_t>(k)])];
  };
  for (int k = 0; k < out.W.rows; ++k)
    for (const ContactRows& side : sides(k))
      if (side.body >= 0) touching[side.body].push_back({k, &side});
  for (int k = 0; k < out.W.rows; ++k) {
    std::map<int, Matrix3> row{{k, Matrix3::Zero()}};
    for (const ContactRows& side : sides(k)) {
      if (side.body < 0) continue;
      for (const Touch& other : touching[side.body]) {
        const int common = std::min(side.columns, other.side->columns);
        const Matrix3 block =
            rows_of(problem, side).leftCols(common) * rows_of(problem, *other.side).leftCols(common).transpose();
        row.try_emplace(other.contact, Matrix3::Zero()).first->second += block;
      }
    }
    append_row(out, row);
  }
  choose_form(out);
  return out;
}

bool Progress::offer(double error, const VectorX& r, int iterations) {
  const std::chrono::duration<double> time = std::chrono::steady_clock::now() - start_;
  result_.history.push_back({iterations, error, time.count()});
  best_.offer(error, r);
  result_.converged = best_.error() <= options_.tolerance;
  return result_.converged;
}

}  // namespace tresse::friction::detail
