#include <tresse/surfaces/developable_patch.hpp>

#include <cmath>

#include <tresse/base/errors.hpp>
#include <tresse/math/gauss_legendre.hpp>
#include <tresse/math/rotations.hpp>
#include <tresse/math/stumpff.hpp>

namespace tresse::surfaces {
namespace {

/// Enough for a patch that is rolled up twice: the integrands are products of sines of k u, |k u| < 13.
constexpr int gauss_points = 16;
/// Cells of the mesh that is drawn, along each side.
constexpr int cells = 16;

/// sin(z)/k and (1 - cos z)/k with z = k u, and their derivatives with k.
struct Arc {
  double cosine, sine;              ///< of z
  double along, along_k, along_kk;  ///< sin(z)/k
  double up, up_k, up_kk;           ///< (1 - cos z)/k
};

Arc arc(double k, double u) {
  const double z = k * u;
  const auto c = math::stumpff<5>(z * z);
  Arc out{};
  out.cosine = c[0];
  out.sine = z * c[1];
  out.along = u * c[1];
  out.along_k = u * u * z * (c[3] - c[2]);
  out.along_kk = u * u * u * (2.0 * c[2] - 2.0 * c[3] - c[1]);
  out.up = u * z * c[2];
  out.up_k = u * u * (c[1] - c[2]);
  out.up_kk = u * u * u * z * (2.0 * c[3] - 2.0 * c[4] - c[2]);
  return out;
}

template <class Visit>
void for_each_gauss_point(const PatchMaterial& material, Visit&& visit) {
  const math::GaussRule& rule = math::gauss_legendre(gauss_points);
  const double mass = material.area_density * material.length * material.width;
  for (std::size_t i = 0; i < rule.nodes.size(); ++i) {
    for (std::size_t j = 0; j < rule.nodes.size(); ++j)
      visit(material.length * rule.nodes[i], material.width * rule.nodes[j], mass * rule.weights[i] * rule.weights[j]);
  }
}

}  // namespace

PatchPoint patch_point(double a, double b, double k, double t) {
  const double cosine = std::cos(t), sine = std::sin(t);
  const double u = a * cosine + b * sine, v = b * cosine - a * sine;
  const Vector3 along(cosine, sine, 0.0), across(-sine, cosine, 0.0), up = Vector3::UnitZ();
  const Arc s = arc(k, u);
  const double less = -k * s.up;  // cos(k u) - 1
  PatchPoint out;
  out.x = v * across + s.along * along + s.up * up;
  out.x_k = s.along_k * along + s.up_k * up;
  out.x_t = v * less * along + (s.along - u) * across + v * s.sine * up;
  out.x_kk = s.along_kk * along + s.up_kk * up;
  out.x_kt = -v * u * s.sine * along + s.along_k * across + v * u * s.cosine * up;
  out.x_tt = (-u * less - k * s.sine * v * v - s.along + u) * along + 2.0 * v * less * across +
             (k * v * v * s.cosine - u * s.sine) * up;
  return out;
}

DevelopablePatch::DevelopablePatch(const PatchMaterial& material) : material_(material) {
  const auto positive = [](double x) { return x > 0.0 && std::isfinite(x); };
  require(positive(material.length) && positive(material.width), "developable patch: sides must be positive");
  require(positive(material.area_density), "developable patch: mass per area must be positive");
  require(positive(material.rigidity), "developable patch: rigidity must be positive");
  require(material.poisson_ratio > -1.0 && material.poisson_ratio <= 0.5,
          "developable patch: Poisson's ratio must be above -1 and at most 0.5");
  require(material.damping_time >= 0.0, "developable patch: damping time must be 0 or more");
  require(std::isfinite(material.natural_curvature) && std::isfinite(material.natural_angle),
          "developable patch: natural shape must be finite");
  for (int i = 0; i < cells; ++i) {
    for (int j = 0; j < cells; ++j) {
      const int at = i * (cells + 1) + j;
      faces_.push_back({at, at + cells + 1, at + cells + 2});
      faces_.push_back({at, at + cells + 2, at + 1});
    }
  }
}

double DevelopablePatch::diagonal() const { return std::hypot(material_.length, material_.width); }

int DevelopablePatch::vertex_count() const { return (cells + 1) * (cells + 1); }

SurfaceState DevelopablePatch::state_of(const PatchState& state) const {
  SurfaceState out{VectorX(position_count()), VectorX(velocity_count())};
  out.position << state.curvature, state.angle, state.frame.position, state.frame.frame.reshaped();
  out.velocity << state.curvature_rate, state.angle_rate, state.velocity.linear, state.velocity.angular;
  return out;
}

PatchState DevelopablePatch::patch_state(const SurfaceState& state) const {
  PatchState out;
  out.curvature = state.position[0];
  out.angle = state.position[1];
  out.frame.position = state.position.segment<3>(2);
  out.frame.frame = state.position.segment<9>(5).reshaped(3, 3);
  out.curvature_rate = state.velocity[0];
  out.angle_rate = state.velocity[1];
  out.velocity = {state.velocity.segment<3>(2), state.velocity.segment<3>(5)};
  return out;
}

std::vector<Vector3> DevelopablePatch::vertices(const SurfaceState& state) const {
  const PatchState at = patch_state(state);
  std::vector<Vector3> out;
  for (int i = 0; i <= cells; ++i) {
    for (int j = 0; j <= cells; ++j) {
      const PatchPoint point =
          patch_point(material_.length * i / cells, material_.width * j / cells, at.curvature, at.angle);
      out.emplace_back(at.frame.position + at.frame.frame * point.x);
    }
  }
  return out;
}

double DevelopablePatch::elastic_energy(double k, double t) const {
  const PatchMaterial& m = material_;
  const double sine = std::sin(t - m.natural_angle), off = k - m.natural_curvature;
  return 0.5 * m.rigidity * m.length * m.width *
         (off * off + 2.0 * (1.0 - m.poisson_ratio) * k * m.natural_curvature * sine * sine);
}

Eigen::Vector2d DevelopablePatch::elastic_slope(double k, double t) const {
  const PatchMaterial& m = material_;
  const double angle = t - m.natural_angle, sine = std::sin(angle), whole = m.rigidity * m.length * m.width;
  const double turned = (1.0 - m.poisson_ratio) * m.natural_curvature;
  return {whole * (k - m.natural_curvature + turned * sine * sine), whole * turned * k * std::sin(2.0 * angle)};
}

PatchIntegrals DevelopablePatch::integrals(double k, double t, const PatchVector& velocity) const {
  PatchIntegrals out;
  out.mass.setZero();
  out.kinetic_slope.setZero();
  out.inertia.setZero();
  out.first_moment.setZero();
  out.first_moment_slope.setZero();
  const double rate = velocity[0], turn = velocity[1];
  const Vector3 angular = velocity.tail<3>(), linear = velocity.segment<3>(2);
  for_each_gauss_point(material_, [&](double a, double b, double mass) {
    const PatchPoint p = patch_point(a, b, k, t);
    Eigen::Matrix<double, 3, 8> moves;
    moves << p.x_k, p.x_t, Matrix3::Identity(), -math::cross_matrix(p.x);
    const Vector3 v = moves * velocity;
    const Vector3 x_k_changes = p.x_kk * rate + p.x_kt * turn, x_t_changes = p.x_kt * rate + p.x_tt * turn;
    const Vector3 inner = p.x_k * rate + p.x_t * turn;
    // Acceleration at constant (k', t', linear, angular), in axes that turn with the frame.
    const Vector3 carried = x_k_changes * rate + x_t_changes * turn + 2.0 * angular.cross(inner) +
                            angular.cross(angular.cross(p.x)) + angular.cross(linear);
    out.mass.noalias() += mass * moves.transpose() * moves;
    out.inertia.noalias() += mass * moves.transpose() * carried;
    out.kinetic_slope[0] += mass * v.dot(x_k_changes + angular.cross(p.x_k));
    out.kinetic_slope[1] += mass * v.dot(x_t_changes + angular.cross(p.x_t));
    out.first_moment += mass * p.x;
    out.first_moment_slope.col(0) += mass * p.x_k;
    out.first_moment_slope.col(1) += mass * p.x_t;
  });
  return out;
}

SurfaceEnergies DevelopablePatch::energies(const SurfaceState& state, const Vector3& gravity) const {
  const PatchState at = patch_state(state);
  PatchVector velocity;
  velocity << at.curvature_rate, at.angle_rate, at.frame.frame.transpose() * at.velocity.linear,
      at.frame.frame.transpose() * at.velocity.angular;
  const PatchIntegrals of = integrals(at.curvature, at.angle, velocity);
  const double mass = material_.area_density * material_.length * material_.width;
  return {0.5 * velocity.dot(of.mass * velocity), elastic_energy(at.curvature, at.angle),
          -gravity.dot(mass * at.frame.position + at.frame.frame * of.first_moment)};
}

}  // namespace tresse::surfaces
