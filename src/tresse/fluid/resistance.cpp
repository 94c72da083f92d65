#include <tresse/fluid/resistance.hpp>

#include <cmath>
#include <numbers>
#include <utility>

#include <Eigen/LU>

#include <tresse/base/blocks.hpp>
#include <tresse/base/errors.hpp>
#include <tresse/fluid/detail/influence_matrix.hpp>

namespace tresse::fluid {
namespace {

void validate(const Chains& chains) {
  require(chains.begin.size() == chains.epsilon.size() + 1 && !chains.epsilon.empty() && chains.begin.front() == 0 &&
              chains.begin.back() == static_cast<int>(chains.nodes.size()),
          "fluid: chains must begin at the first node and end at the last");
  for (std::size_t k = 0; k < chains.epsilon.size(); ++k) {
    require(chains.begin[k + 1] - chains.begin[k] >= 2, "fluid: a chain needs two nodes or more");
    require(chains.epsilon[k] > 0.0 && std::isfinite(chains.epsilon[k]), "fluid: the regularisation must be positive");
  }
}

/// Calls visit(first node, a sixth of the length) for every segment.
template <typename Visit>
void for_each_segment(const Chains& chains, const Visit& visit) {
  for (std::size_t k = 0; k + 1 < chains.begin.size(); ++k) {
    for (int i = chains.begin[k]; i + 1 < chains.begin[k + 1]; ++i) {
      const auto at = static_cast<std::size_t>(i);
      visit(3 * static_cast<Eigen::Index>(i), (chains.nodes[at + 1] - chains.nodes[at]).norm() / 6.0);
    }
  }
}

/// Integrals of products of hat functions, times values at nodes. (3n) [m]
VectorX weighted(const Chains& chains, const VectorX& at_nodes) {
  VectorX out = VectorX::Zero(at_nodes.size());
  for_each_segment(chains, [&](Eigen::Index i, double sixth) {
    const Vector3 first = at_nodes.segment<3>(i), second = at_nodes.segment<3>(i + 3);
    out.segment<3>(i) += sixth * (2.0 * first + second);
    out.segment<3>(i + 3) += sixth * (first + 2.0 * second);
  });
  return out;
}

}  // namespace

namespace detail {

/// Factors in single precision: a preconditioner is right to a few digits at best.
class RoughInverse {
 public:
  RoughInverse(const InfluenceMatrix& influence, const std::vector<int>& chains) {
    constexpr Eigen::Index most = 1200;
    if (influence.nodes() <= most) {
      begin_ = {0, static_cast<int>(influence.nodes())};
    } else {
      begin_ = chains;
    }
    factors_.resize(begin_.size() - 1);
    for_blocks(factors_.size(), std::size_t{1}, [&](std::size_t, std::size_t k, std::size_t) {
      factors_[k].compute(influence.written_out(begin_[k], begin_[k + 1]));
    });
  }

  void apply(const VectorX& x, VectorX& out) const {
    out.resize(x.size());
    for_blocks(factors_.size(), std::size_t{1}, [&](std::size_t, std::size_t k, std::size_t) {
      const Eigen::Index from = 3 * begin_[k], size = 3 * (begin_[k + 1] - begin_[k]);
      const Eigen::VectorXf part = x.segment(from, size).cast<float>();
      out.segment(from, size) = factors_[k].solve(part).cast<double>();
    });
  }

 private:
  std::vector<int> begin_;  ///< (parts + 1) nodes
  std::vector<Eigen::PartialPivLU<Eigen::MatrixXf>> factors_;
};

}  // namespace detail

Resistance::Resistance(double viscosity, Coupling coupling)
    : viscosity_(viscosity), coupling_(coupling), influence_(std::make_unique<detail::InfluenceMatrix>()) {
  require(viscosity > 0.0 && std::isfinite(viscosity), "fluid: the viscosity must be positive");
}

Resistance::Resistance(Resistance&&) noexcept = default;
Resistance& Resistance::operator=(Resistance&&) noexcept = default;
Resistance::~Resistance() = default;

void Resistance::place(Chains chains) {
  validate(chains);
  chains_ = std::move(chains);
  influence_->assemble(chains_, coupling_ == Coupling::symmetric);
}

void Resistance::factor() { rough_ = std::make_unique<detail::RoughInverse>(*influence_, chains_.begin); }

ResistanceResult Resistance::solve(const VectorX& velocities, double tolerance, VectorX& densities) const {
  require(velocities.size() == 3 * influence_->nodes() && densities.size() == velocities.size(),
          "fluid: needs a velocity and a density of each node");
  // A f = wanted, of lengths: without the factor 1 / (8 pi viscosity).
  VectorX wanted = 8.0 * std::numbers::pi * viscosity_ *
                   (coupling_ == Coupling::symmetric ? weighted(chains_, velocities) : velocities);
  const double size = wanted.norm();
  ResistanceResult out;
  if (!(size > 0.0)) {
    densities.setZero();
    return out;
  }
  // Generalised conjugate residuals: as GMRES with the preconditioner on the right, but with the residual itself at
  // hand after every product.
  VectorX left;
  influence_->times(densities, left);
  left = wanted - left;
  constexpr int most = 100;
  std::vector<VectorX> directions, images;
  for (;;) {
    out.residual = left.norm() / size;
    if (!(out.residual > tolerance) || out.iterations == most) return out;
    VectorX& direction = directions.emplace_back();
    VectorX& image = images.emplace_back();
    rough_->apply(left, direction);
    influence_->times(direction, image);
    ++out.iterations;
    for (std::size_t k = 0; k + 1 < images.size(); ++k) {
      const double share = images[k].dot(image);
      image -= share * images[k];
      direction -= share * directions[k];
    }
    const double length = image.norm();
    if (!(length > 0.0) || !std::isfinite(length)) return out;
    image /= length;
    direction /= length;
    const double share = image.dot(left);
    densities += share * direction;
    left -= share * image;
  }
}

VectorX Resistance::forces(const VectorX& densities) const { return weighted(chains_, densities); }

}  // namespace tresse::fluid
