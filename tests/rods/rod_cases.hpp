#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <complex>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <vector>

#include <Eigen/Geometry>

#include <tresse/math/gauss_legendre.hpp>
#include <tresse/math/rotations.hpp>
#include <tresse/rods/super_clothoid.hpp>
#include <tresse/rods/super_helix.hpp>

// Random rods, and a centreline written out with plain trigonometry that shares no code with the library.
namespace tresse::rods::rod_cases {

inline bool printing() { return std::getenv("TRESSE_TEST_PRINT") != nullptr; }

template <typename Scalar>
using Vec = Eigen::Matrix<Scalar, 3, 1>;
template <typename Scalar>
using Mat = Eigen::Matrix<Scalar, 3, 3>;

/// Rodrigues' formula for exp([v]x) and its integral; v away from zero.
template <typename Scalar>
Mat<Scalar> cross(const Vec<Scalar>& v) {
  Mat<Scalar> m;
  const Scalar zero(0.0);
  m << zero, -v[2], v[1], v[2], zero, -v[0], -v[1], v[0], zero;
  return m;
}
template <typename Scalar>
Mat<Scalar> rodrigues(const Vec<Scalar>& v) {
  const Scalar t = std::sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]);
  const Mat<Scalar> x = cross(v);
  return Mat<Scalar>::Identity() + std::sin(t) / t * x + (Scalar(1.0) - std::cos(t)) / (t * t) * x * x;
}
template <typename Scalar>
Vec<Scalar> rodrigues_integral_e(const Vec<Scalar>& v) {
  const Scalar t = std::sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]);
  const Mat<Scalar> x = cross(v);
  const Mat<Scalar> m =
      Mat<Scalar>::Identity() + (Scalar(1.0) - std::cos(t)) / (t * t) * x + (t - std::sin(t)) / (t * t * t) * x * x;
  return m.col(0);
}

/// Position of the point at local arc length u of `piece` of a chain of helices.
template <typename Scalar>
Vec<Scalar> centreline(const Vec<Scalar>& start, const Mat<Scalar>& frame, const std::vector<double>& lengths,
                       const Eigen::Matrix<Scalar, Eigen::Dynamic, 1>& q, int piece, double u) {
  Vec<Scalar> r = start;
  Mat<Scalar> m = frame;
  for (int i = 0; i < piece; ++i) {
    const Vec<Scalar> turn = q.template segment<3>(3 * i) * Scalar(lengths[i]);
    r += m * rodrigues_integral_e(turn) * Scalar(lengths[i]);
    m = m * rodrigues(turn);
  }
  const Vec<Scalar> turn = q.template segment<3>(3 * piece) * Scalar(u);
  return r + m * rodrigues_integral_e(turn) * Scalar(u);
}

enum class Model { super_helix, super_clothoid };

/// A tapered, elliptic, naturally curved rod in a random state.
struct Case {
  std::unique_ptr<Rod> rod;
  std::vector<double> lengths;
  std::vector<double> densities;  ///< rho S [kg/m]
  std::vector<CrossSection> sections;
  RodState state;
  Model model = Model::super_helix;
  bool rotary_inertia = true;
};

constexpr std::array<Model, 2> curvature_models = {Model::super_helix, Model::super_clothoid};

struct CaseOptions {
  int elements = 4;
  double turn = 1.0;  ///< [rad] typical of an element
  double rate = 3.0;  ///< [rad/s] typical change of it
  RootCondition root = RootCondition::clamped;
  unsigned seed = 1;
  Model model = Model::super_helix;
  bool rotary_inertia = true;
};

inline Case make_case(const CaseOptions& options) {
  std::mt19937 random(options.seed);
  std::uniform_real_distribution<double> u(-1.0, 1.0);
  const auto vector = [&](double scale) { return Vector3(scale * Vector3(u(random), u(random), u(random))); };
  const Material material{.density = 1200.0,
                          .young_modulus = 2e6,
                          .poisson_ratio = 0.4,
                          .damping_time = 0.01,
                          .rotary_inertia = options.rotary_inertia};
  Case out;
  out.model = options.model;
  out.rotary_inertia = options.rotary_inertia;
  std::vector<SuperHelixElement> elements;
  std::vector<SuperClothoidElement> clothoids;
  std::vector<Vector3> nodes;
  for (int i = 0; i < options.elements; ++i) {
    SuperHelixElement e;
    e.length = 0.05 * (1.0 + 0.5 * u(random));
    const double taper = 1.0 / (1.0 + 0.1 * i);
    e.section = {1e-3 * taper, 1.5e-3 * taper};
    e.rest_curvature = vector(options.turn / e.length);
    out.lengths.push_back(e.length);
    out.densities.push_back(material.density * area(e.section));
    out.sections.push_back(e.section);
    elements.push_back(e);
    clothoids.push_back({e.length, e.section});
    nodes.push_back(e.rest_curvature);
  }
  if (options.model == Model::super_helix) {
    out.rod = make_super_helix(elements, material, options.root);
  } else {
    nodes.push_back(vector(options.turn / out.lengths.back()));
    out.lengths.push_back(out.lengths.back());  // of the last node
    out.rod = make_super_clothoid(clothoids, nodes, material, options.root);
  }
  out.state = out.rod->state();
  out.state.root.position = vector(0.3);
  out.state.root.frame = math::rotation_exp(vector(2.0));
  out.state.root_velocity = {vector(0.4), vector(3.0)};
  for (int i = 0; 3 * i < out.rod->coordinate_count(); ++i) {
    out.state.coordinates.segment<3>(3 * i) = vector(options.turn / out.lengths[i]);
    out.state.rates.segment<3>(3 * i) = vector(options.rate / out.lengths[i]);
  }
  out.lengths.resize(static_cast<std::size_t>(options.elements));
  out.rod->update(out.state);
  return out;
}

/// Calls visit(piece, u, weight) at many quadrature points, far more than the library's.
template <typename Visit>
void integrate(const Case& c, Visit&& visit) {
  const auto& rule = math::gauss_legendre(24);
  constexpr int parts = 4;
  for (int i = 0; i < static_cast<int>(c.lengths.size()); ++i) {
    const double width = c.lengths[i] / parts;
    for (int k = 0; k < parts; ++k) {
      for (std::size_t g = 0; g < rule.nodes.size(); ++g)
        visit(i, (k + rule.nodes[g]) * width, rule.weights[g] * width);
    }
  }
}

/// A section in which the rotary inertia of a stretch of the rod is lumped.
struct Disc {
  int piece;
  double u;         ///< local arc length [m]
  Vector3 inertia;  ///< about its axes n0, n1, n2 [kg m^2]
};

/// Where a rod has them: docs/theory/rods.md, "Rotary inertia".
inline std::vector<Disc> discs_of(const Case& c) {
  std::vector<Disc> out;
  const auto add = [&](int piece, double u, double length) {
    const double a = c.sections[piece].half_axis_1, b = c.sections[piece].half_axis_2;
    const double density = c.densities[piece] / (M_PI * a * b);
    const double about_1 = density * length * M_PI / 4.0 * a * b * b * b;
    const double about_2 = density * length * M_PI / 4.0 * a * a * a * b;
    out.push_back({piece, u, Vector3(about_1 + about_2, about_1, about_2)});
  };
  for (int i = 0; i < static_cast<int>(c.lengths.size()); ++i) {
    const double l = c.lengths[i];
    if (!c.rotary_inertia) {
      if (c.rod->root_condition() != RootCondition::free) continue;
      add(i, 0.0, l);
      out.back().piece = 0;
    } else if (c.model == Model::super_helix) {
      add(i, 0.0, 0.4 * l);
      add(i, 5.0 / 6.0 * l, 0.6 * l);
    } else {
      for (const double side : {-1.0, 1.0}) add(i, l * (0.5 + side / std::sqrt(12.0)), 0.5 * l);
    }
  }
  return out;
}

/// How a disc turns with the unknowns, (3, dof), and its moments of inertia in world axes.
inline Matrix3X turning_of(const Rod& rod, const Disc& disc) {
  Matrix6X all = Matrix6X::Zero(6, rod.dof());
  rod.twist_jacobian(disc.piece, disc.u, all);
  return all.bottomRows<3>();
}
inline Matrix3 inertia_of(const Rod& rod, const Disc& disc) {
  const Matrix3 frame = rod.section(rod.piece_begin(disc.piece) + disc.u).frame;
  return frame * disc.inertia.asDiagonal() * frame.transpose();
}
/// Its angular velocity, what is prescribed of the root included.
inline Vector3 spin_of(const Rod& rod, const Disc& disc, const VectorX& v) {
  const bool clamped = rod.root_condition() == RootCondition::clamped;
  return turning_of(rod, disc) * v + (clamped ? rod.state().root_velocity.angular : Vector3(Vector3::Zero()));
}

/// State after the generalised displacement `h * v`, root by the exponential map.
inline RodState displaced(const Case& c, const VectorX& v, double h) {
  return c.rod->advanced(c.state, v, h, c.state.root, c.state.root_velocity);
}

inline double relative(const MatrixX& found, const MatrixX& expected) {
  return (found - expected).cwiseAbs().maxCoeff() / expected.cwiseAbs().maxCoeff();
}

/// Sixth-order central difference of f at 0.
template <typename F>
auto difference(F&& f, double h) {
  return ((45.0 * (f(h) - f(-h)) - 9.0 * (f(2 * h) - f(-2 * h)) + (f(3 * h) - f(-3 * h))) / (60.0 * h)).eval();
}

/// How far off the velocity of a point of the surface is for a displacement by v, by differences of where it is; its
/// place in the axes of its section stays. Relative to that velocity, or to that of one radian a unit.
inline double surface_point_error(const Case& c, int piece, double share, const Vector3& local, const VectorX& v,
                                  double h) {
  const double u = share * c.lengths[piece];
  const auto place = [&](double by) -> Vector3 {
    const auto rod = c.rod->clone();
    rod->update(displaced(c, v, by));
    const RodSection section = rod->section(rod->piece_begin(piece) + u);
    return section.position + section.frame * local;
  };
  const Vector3 arm = c.rod->section(c.rod->piece_begin(piece) + u).frame * local;
  Matrix3X jacobian = Matrix3X::Zero(3, c.rod->dof());
  c.rod->jacobian(piece, u, arm, jacobian);
  const Vector3 expected = difference(place, h);
  return (jacobian * v - expected).norm() / std::max(expected.norm(), local.norm());
}

/// What is off where the ends of pieces are, and how much work of forces there and of what they are on the unknowns
/// differ in motions `v` (dof), over the size of that motion.
struct EndsOff {
  double places = 0.0;  ///< [m]
  double work = 0.0;
};
inline EndsOff ends_off(const Rod& rod, const VectorX& v) {
  const int count = rod.piece_count() + 1;
  Matrix3X places(3, count), forces(3, count), moving(3, count), prescribed(3, count);
  rod.end_positions(places);
  rod.end_velocities(v, moving);
  rod.end_velocities(VectorX::Zero(v.size()), prescribed);
  EndsOff out;
  for (int k = 0; k < count; ++k) {
    out.places = std::max(out.places, (places.col(k) - rod.section(rod.piece_begin(k)).position).norm());
    forces.col(k) = Vector3(std::sin(2.0 * k), std::cos(3.0 * k), 1.0 - 0.3 * k);
  }
  VectorX generalised = VectorX::Zero(v.size());
  rod.add_end_forces(forces, generalised);
  out.work = std::abs(generalised.dot(v) - forces.cwiseProduct(moving - prescribed).sum()) / moving.norm();
  return out;
}

}  // namespace tresse::rods::rod_cases
