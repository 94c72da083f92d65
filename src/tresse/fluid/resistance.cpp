#include <tresse/fluid/resistance.hpp>

#include <cmath>
#include <numbers>
#include <utility>

#include <tresse/base/blocks.hpp>
#include <tresse/base/errors.hpp>
#include <tresse/math/gauss_legendre.hpp>

namespace tresse::fluid {
namespace {

void validate(const Chains& chains, double epsilon, double viscosity) {
  require(epsilon > 0.0 && std::isfinite(epsilon), "fluid: the regularisation must be positive");
  require(viscosity > 0.0 && std::isfinite(viscosity), "fluid: the viscosity must be positive");
  require(!chains.begin.empty() && chains.begin.front() == 0 &&
              chains.begin.back() == static_cast<int>(chains.nodes.size()),
          "fluid: chains must begin at the first node and end at the last");
  for (std::size_t k = 0; k + 1 < chains.begin.size(); ++k)
    require(chains.begin[k + 1] - chains.begin[k] >= 2, "fluid: a chain needs two nodes or more");
}

/// Calls visit(node) for the first node of every segment.
template <typename Visit>
void for_each_segment(const Chains& chains, const Visit& visit) {
  for (std::size_t k = 0; k + 1 < chains.begin.size(); ++k) {
    for (int i = chains.begin[k]; i + 1 < chains.begin[k + 1]; ++i) visit(i);
  }
}

/// Adds `weight` times what force densities at all nodes do to the velocity at x, to three rows.
void add_velocity(const Chains& chains, const Vector3& x, double epsilon, double weight,
                  Eigen::Ref<Eigen::Matrix<double, 3, Eigen::Dynamic>> rows) {
  for_each_segment(chains, [&](int i) {
    const auto at = static_cast<std::size_t>(i);
    const SegmentInfluence influence = segment_influence({chains.nodes[at], chains.nodes[at + 1]}, x, epsilon);
    rows.middleCols<3>(3 * i) += weight * influence.from_begin;
    rows.middleCols<3>(3 * i + 3) += weight * influence.from_end;
  });
}

}  // namespace

Resistance::Resistance(Chains chains, double epsilon, double viscosity, Coupling coupling)
    : chains_(std::move(chains)), coupling_(coupling) {
  validate(chains_, epsilon, viscosity);
  const auto n = static_cast<Eigen::Index>(chains_.nodes.size());
  Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor> matrix(3 * n, 3 * n);
  matrix.setZero();
  const double scale = 1.0 / (8.0 * std::numbers::pi * viscosity);
  constexpr int points = 6;
  const math::GaussRule& rule = math::gauss_legendre(points);
  constexpr Eigen::Index block = 8;
  for_blocks(n, block, [&](Eigen::Index, Eigen::Index begin, Eigen::Index end) {
    for (Eigen::Index i = begin; i < end; ++i) {
      Eigen::Matrix<double, 3, Eigen::Dynamic> rows = Eigen::Matrix<double, 3, Eigen::Dynamic>::Zero(3, 3 * n);
      if (coupling_ == Coupling::collocation) {
        add_velocity(chains_, chains_.nodes[static_cast<std::size_t>(i)], epsilon, scale, rows);
      } else {
        for_each_segment(chains_, [&](int j) {
          if (j != i && j + 1 != i) return;
          const Vector3& from = chains_.nodes[static_cast<std::size_t>(j)];
          const Vector3& to = chains_.nodes[static_cast<std::size_t>(j) + 1];
          for (int k = 0; k < points; ++k) {
            const double a = rule.nodes[static_cast<std::size_t>(k)];
            const double hat = j == i ? 1.0 - a : a;
            const double weight = rule.weights[static_cast<std::size_t>(k)] * hat * (to - from).norm();
            add_velocity(chains_, from + a * (to - from), epsilon, scale * weight, rows);
          }
        });
      }
      matrix.middleRows<3>(3 * i) = rows;
    }
  });
  if (coupling_ == Coupling::symmetric)
    matrix = (0.5 * (matrix + matrix.transpose())).eval();  // what is off is the rule's
  factor_.compute(matrix);
}

VectorX Resistance::weighted(const VectorX& at_nodes) const {
  VectorX out = VectorX::Zero(at_nodes.size());
  for_each_segment(chains_, [&](int i) {
    const auto at = static_cast<std::size_t>(i);
    const double sixth = (chains_.nodes[at + 1] - chains_.nodes[at]).norm() / 6.0;
    const Vector3 first = at_nodes.segment<3>(3 * i), second = at_nodes.segment<3>(3 * i + 3);
    out.segment<3>(3 * i) += sixth * (2.0 * first + second);
    out.segment<3>(3 * i + 3) += sixth * (first + 2.0 * second);
  });
  return out;
}

VectorX Resistance::force(const VectorX& velocities) const {
  require(velocities.size() == 3 * static_cast<Eigen::Index>(chains_.nodes.size()),
          "fluid: needs a velocity of each node");
  const VectorX densities = factor_.solve(coupling_ == Coupling::symmetric ? weighted(velocities) : velocities);
  return weighted(densities);
}

}  // namespace tresse::fluid
