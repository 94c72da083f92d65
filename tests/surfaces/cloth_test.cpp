#include <tresse/surfaces/cloth.hpp>

#include <cmath>
#include <numbers>
#include <random>

#include <gtest/gtest.h>
#include <Eigen/Eigenvalues>
#include <Eigen/Geometry>

#include "support/messages.hpp"

namespace TRESSE_TEST_FILE {

using namespace tresse;
using namespace tresse::surfaces;
using tresse::test::expect_refused;

constexpr ClothMaterial linen{.area_density = 0.2,
                              .warp_stiffness = 300.0,
                              .weft_stiffness = 150.0,
                              .shear_stiffness = 60.0,
                              .poisson_ratio = 0.3,
                              .bending_stiffness = 1e-4};

VectorX rest_of(const Cloth& cloth) {
  VectorX out(cloth.position_count());
  for (int v = 0; v < cloth.vertex_count(); ++v)
    out.segment<3>(3 * v) = cloth.shape().vertices[static_cast<std::size_t>(v)];
  return out;
}

VectorX random_vector(Eigen::Index size, unsigned seed) {
  std::mt19937 generator(seed);
  std::normal_distribution<double> normal;
  return VectorX::NullaryExpr(size, [&](Eigen::Index) { return normal(generator); });
}

MatrixX dense(const friction::BlockMatrix& matrix) {
  MatrixX out = MatrixX::Zero(3 * matrix.rows, 3 * matrix.rows);
  for (int i = 0; i < matrix.rows; ++i)
    for (int k = matrix.row_begin[static_cast<std::size_t>(i)]; k < matrix.row_begin[static_cast<std::size_t>(i) + 1];
         ++k)
      out.block<3, 3>(3 * i, 3 * matrix.column[static_cast<std::size_t>(k)]) =
          matrix.block[static_cast<std::size_t>(k)];
  return out;
}

/// A small cloth that is crumpled.
struct Crumpled {
  Cloth cloth{rectangle(0.3, 0.2, {3, 2}), linen};
  VectorX x = rest_of(cloth) + 0.02 * random_vector(cloth.position_count(), 1);
  VectorX along = random_vector(cloth.position_count(), 2);
};

TEST(Cloth, forces_and_stiffness_are_the_derivatives_of_the_energy) {
  const Crumpled at;
  const double slope = at.cloth.elastic_slope(at.x).dot(at.along);
  const VectorX bend = dense(at.cloth.stiffness(at.x, Stiffness::exact)) * at.along;
  double before = 0.0, before_of_slope = 0.0;
  for (const double h : {4e-4, 2e-4, 1e-4}) {
    const double energy = at.cloth.elastic_energy(at.x + h * at.along) - at.cloth.elastic_energy(at.x) - h * slope -
                          0.5 * h * h * at.along.dot(bend);
    const double force = (at.cloth.elastic_slope(at.x + h * at.along) - at.cloth.elastic_slope(at.x) - h * bend).norm();
    if (before > 0.0) {
      EXPECT_NEAR(std::log2(before / std::abs(energy)), 3.0, 0.1);
      EXPECT_NEAR(std::log2(before_of_slope / force), 2.0, 0.1);
    }
    before = std::abs(energy);
    before_of_slope = force;
  }
}

TEST(Cloth, knows_no_rigid_motion) {
  const Crumpled at;
  const Matrix3 turn = Eigen::AngleAxisd(1.1, Vector3(1.0, -2.0, 0.5).normalized()).toRotationMatrix();
  VectorX moved(at.x.size());
  for (Eigen::Index v = 0; 3 * v < moved.size(); ++v)
    moved.segment<3>(3 * v) = turn * at.x.segment<3>(3 * v) + Vector3(0.3, -1.0, 2.0);
  const double energy = at.cloth.elastic_energy(at.x);
  EXPECT_NEAR(at.cloth.elastic_energy(moved), energy, 1e-12 * energy);
  const VectorX force = at.cloth.elastic_slope(at.x), there = at.cloth.elastic_slope(moved);
  Vector3 sum = Vector3::Zero(), torque = Vector3::Zero();
  double off = 0.0;
  for (Eigen::Index v = 0; 3 * v < moved.size(); ++v) {
    off = std::max(off, (there.segment<3>(3 * v) - turn * force.segment<3>(3 * v)).norm());
    sum += force.segment<3>(3 * v);
    torque += Vector3(at.x.segment<3>(3 * v)).cross(Vector3(force.segment<3>(3 * v)));
  }
  EXPECT_LT(off, 1e-11 * force.norm());
  EXPECT_LT(sum.norm(), 1e-12 * force.norm());
  EXPECT_LT(torque.norm(), 1e-12 * force.norm());
  EXPECT_NEAR(at.cloth.elastic_energy(rest_of(at.cloth)), 0.0, 1e-25);
}

TEST(Cloth, its_definite_stiffness_is_definite_and_exact_under_tension) {
  const Crumpled at;
  const MatrixX definite = dense(at.cloth.stiffness(at.x, Stiffness::definite));
  EXPECT_LT((definite - definite.transpose()).norm(), 1e-13 * definite.norm());
  const auto least = [](const MatrixX& m) { return Eigen::SelfAdjointEigenSolver<MatrixX>(m).eigenvalues()[0]; };
  EXPECT_GT(least(definite), -1e-12 * definite.norm());
  EXPECT_LT(least(dense(at.cloth.stiffness(at.x, Stiffness::exact))), -1e-4 * definite.norm());
  const VectorX taut = 1.05 * rest_of(at.cloth);
  const MatrixX exact = dense(at.cloth.stiffness(taut, Stiffness::exact));
  EXPECT_LT((dense(at.cloth.stiffness(taut, Stiffness::definite)) - exact).norm(), 1e-13 * exact.norm());
}

/// Uniaxial tension by hand: the strain across is the one that costs least.
TEST(Cloth, a_strip_stretches_as_its_stiffness_says) {
  for (const double angle : {0.0, 0.5 * std::numbers::pi}) {
    const Cloth cloth(rectangle(0.4, 0.3, {4, 3}), linen);
    const double own = angle == 0.0 ? linen.warp_stiffness : linen.weft_stiffness;
    const double ratio = linen.poisson_ratio * std::sqrt(angle == 0.0 ? linen.warp_stiffness / linen.weft_stiffness
                                                                      : linen.weft_stiffness / linen.warp_stiffness);
    const double strain = 0.01;
    const auto stretched = [&](double across) {
      const double along = std::sqrt(1.0 + 2.0 * strain), narrow = std::sqrt(1.0 + 2.0 * across);
      VectorX x = rest_of(cloth);
      for (int v = 0; v < cloth.vertex_count(); ++v) {
        x[3 * v] *= angle == 0.0 ? along : narrow;
        x[3 * v + 1] *= angle == 0.0 ? narrow : along;
      }
      return cloth.elastic_energy(x) / cloth.area();
    };
    const double across = -ratio * strain * (angle == 0.0 ? 1.0 : 1.0);
    EXPECT_NEAR(stretched(across), 0.5 * own * strain * strain, 1e-12 * own * strain * strain);
    EXPECT_GT(stretched(1.01 * across), stretched(across));
    EXPECT_GT(stretched(0.99 * across), stretched(across));
  }
  // Shear: f . g = 2 E_12.
  const Cloth cloth(rectangle(0.4, 0.3, {4, 3}), linen);
  const double lean = 0.01;
  VectorX x = rest_of(cloth);
  for (int v = 0; v < cloth.vertex_count(); ++v) {
    x[3 * v] += std::sin(lean) * x[3 * v + 1];
    x[3 * v + 1] *= std::cos(lean);
  }
  EXPECT_NEAR(cloth.elastic_energy(x), 0.5 * linen.shear_stiffness * std::pow(std::sin(lean), 2) * cloth.area(),
              1e-10 * cloth.area());
}

/// On a cylinder B/2 kappa^2 an area, along the sides of a rectangle and in any direction of a disc; second order.
TEST(Cloth, bends_as_its_stiffness_says) {
  const double kappa = 2.0;
  const auto ratio = [&](const Cloth& cloth, double angle) {
    VectorX x = rest_of(cloth);
    const Vector3 e(std::cos(angle), std::sin(angle), 0.0), across(-e.y(), e.x(), 0.0);
    for (int v = 0; v < cloth.vertex_count(); ++v) {
      const Vector3 at = x.segment<3>(3 * v);
      const double u = at.dot(e);
      x.segment<3>(3 * v) = at.dot(across) * across + std::sin(kappa * u) / kappa * e +
                            (1.0 - std::cos(kappa * u)) / kappa * Vector3::UnitZ();
    }
    ClothMaterial soft = linen;  // the chords of the cylinder are shorter than it: the membrane's part is not asked for
    soft.bending_stiffness = 0.0;
    const double membrane = Cloth(cloth.shape(), soft).elastic_energy(x);
    return (cloth.elastic_energy(x) - membrane) / (0.5 * linen.bending_stiffness * kappa * kappa * cloth.area());
  };
  // The rim has no hinges, so that what is missing goes with the width of a cell.
  const double row = std::sqrt(0.75);
  const auto strip = [&](int n, double angle) { return ratio(Cloth(rectangle(0.2, 0.2 * row, {n, n}), linen), angle); };
  const auto round = [&](int rings, double angle) { return ratio(Cloth(disc(0.2, rings), linen), angle); };
  for (const double angle : {0.0, 0.2, 0.5, 1.0, 1.5}) {
    EXPECT_NEAR(2.0 * strip(40, angle) - strip(20, angle), 1.0, 0.01) << angle;
    EXPECT_NEAR(2.0 * round(40, angle) - round(20, angle), 1.0, 0.01) << angle;
  }
}

TEST(Cloth, falls_and_hangs_on_its_pins) {
  ClothMaterial damped = linen;
  damped.damping_time = 0.02;
  const Cloth cloth(rectangle(0.3, 0.2, {6, 4}), damped);
  SurfaceState state{rest_of(cloth), VectorX::Zero(cloth.velocity_count())};
  const Vector3 gravity(0.0, 0.0, -9.81);
  ClothStep how{.dt = 0.01, .gravity = gravity};
  ClothStepResult fallen = cloth.step(state, how);
  EXPECT_EQ(fallen.status, Status::converged);
  for (int v = 0; v < cloth.vertex_count(); ++v)
    EXPECT_LT((fallen.end.velocity.segment<3>(3 * v) - 0.01 * gravity).norm(), 1e-12);
  // Held at two corners, momentum is what pins and weight gave, in every step, and at the end they carry the weight.
  how.pins = {{0, Vector3::Zero()}, {6, Vector3::Zero()}};
  const auto momentum = [&](const SurfaceState& at) {
    Vector3 sum = Vector3::Zero();
    for (int v = 0; v < cloth.vertex_count(); ++v) sum += cloth.masses()[v] * at.velocity.segment<3>(3 * v);
    return sum;
  };
  const double weight = cloth.masses().sum() * gravity.norm();
  Vector3 last = Vector3::Zero();
  for (int step = 0; step < 600; ++step) {
    const ClothStepResult next = cloth.step(state, how);
    ASSERT_EQ(next.status, Status::converged);
    last = next.pin_impulse[0] + next.pin_impulse[1];
    EXPECT_LT((momentum(next.end) - momentum(state) - last - how.dt * cloth.masses().sum() * gravity).norm(),
              1e-9 * weight * how.dt);
    state = next.end;
  }
  EXPECT_NEAR(last.z() / how.dt, weight, 1e-3 * weight);
}

TEST(Cloth, pins_lead_it_along) {
  const Cloth cloth(disc(0.1, 4), linen);
  SurfaceState state{rest_of(cloth), VectorX::Zero(cloth.velocity_count())};
  const Vector3 velocity(0.1, 0.0, 0.02);
  ClothStep how{.dt = 0.01, .pins = {{0, velocity}}};
  for (int step = 0; step < 20; ++step) state = cloth.step(state, how).end;
  EXPECT_LT((state.position.segment<3>(0) - 0.2 * velocity).norm(), 1e-14);
  // All of them: a rigid motion without a force.
  how.pins.clear();
  for (int v = 0; v < cloth.vertex_count(); ++v) how.pins.push_back({v, velocity});
  const SurfaceState flat{rest_of(cloth), velocity.replicate(cloth.vertex_count(), 1)};
  const ClothStepResult moved = cloth.step(flat, how);
  EXPECT_EQ(moved.status, Status::converged);
  for (const Vector3& impulse : moved.pin_impulse) EXPECT_LT(impulse.norm(), 1e-15);
}

/// How far the tip of a heavy elastica is below its clamp, which it leaves level: B theta'' = -w (L - s) cos theta,
/// theta(0) = 0, theta'(L) = 0, by shooting with steps of Runge and Kutta.
double elastica_drop(double bending, double weight, double length) {
  constexpr int steps = 2000;
  const double h = length / steps;
  double drop = 0.0;
  const auto end = [&](double curvature) {
    double theta = 0.0, rate = curvature;
    drop = 0.0;
    const auto bend = [&](double s, double angle) { return -weight * (length - s) * std::cos(angle) / bending; };
    for (int i = 0; i < steps; ++i) {
      const double s = i * h;
      const double a1 = rate, b1 = bend(s, theta);
      const double a2 = rate + 0.5 * h * b1, b2 = bend(s + 0.5 * h, theta + 0.5 * h * a1);
      const double a3 = rate + 0.5 * h * b2, b3 = bend(s + 0.5 * h, theta + 0.5 * h * a2);
      const double a4 = rate + h * b3, b4 = bend(s + h, theta + h * a3);
      drop += h / 6.0 * (std::sin(theta) + 4.0 * std::sin(theta + 0.5 * h * a2) + std::sin(theta + h * a3));
      theta += h / 6.0 * (a1 + 2.0 * a2 + 2.0 * a3 + a4);
      rate += h / 6.0 * (b1 + 2.0 * b2 + 2.0 * b3 + b4);
    }
    return rate;
  };
  double low = 0.0, high = weight * length * length / bending;  // of the curvature at the clamp
  for (int i = 0; i < 60; ++i) {
    const double middle = 0.5 * (low + high);
    (end(middle) > 0.0 ? high : low) = middle;
  }
  return drop;
}

/// A strip that is clamped half way between its first two rows of vertices. It is wide against the length over which
/// its long edges curl, and stiff in its plane, so that it bends to a cylinder.
TEST(Cloth, a_heavy_strip_bends_as_the_elastica) {
  const double length = 0.1, gravity = 9.81;
  ClothMaterial stiff = linen;
  stiff.warp_stiffness = stiff.weft_stiffness = 3e4;
  stiff.bending_stiffness = 2e-4;  // w L^3 / B = 9.8
  stiff.poisson_ratio = 0.0;
  const double expected = elastica_drop(stiff.bending_stiffness, stiff.area_density * gravity, length);
  for (const int cells : {6, 12, 18}) {
    const double cell = length / (cells - 0.5), side = cell / std::sqrt(0.75);
    const int across = cells;
    const Cloth cloth(rectangle(across * side, cells * cell, {across, cells}), stiff);
    SurfaceState state{rest_of(cloth), VectorX::Zero(cloth.velocity_count())};
    ClothStep how{.dt = 0.05, .gravity = Vector3(0.0, 0.0, -gravity)};
    for (int v = 0; v < 2 * across + 3; ++v) how.pins.push_back({v, Vector3::Zero()});
    double moved = 1.0;
    for (int step = 0; step < 400 && moved > 1e-12; ++step) {
      const ClothStepResult next = cloth.step(state, how);
      moved = (next.end.position - state.position).norm();
      state = next.end;
    }
    EXPECT_LT(moved, 1e-9) << cells;
    const int last = cloth.vertex_count() - 1 - across / 2;
    const double off = -state.position[3 * last + 2] - expected;
    // Second order, with a constant of an eighth of the drop at a single cell.
    EXPECT_LT(std::abs(off), 0.6 * expected / (cells * cells)) << cells;
  }
}

/// Two planes at a right angle: a vertex in the corner touches both, and each carries what it does.
TEST(Cloth, touches_in_several_places_at_once) {
  const Cloth cloth(rectangle(0.1, 0.1, {2, 2}), linen);
  const SurfaceState state{rest_of(cloth), VectorX::Zero(cloth.velocity_count())};
  ClothStep how{.dt = 0.01, .gravity = Vector3(0.0, -3.0, -9.81)};
  const auto contact = [](int node, const Vector3& normal) {
    friction::NodalContact out;
    out.node = node;
    out.frame << normal, normal.unitOrthogonal(), normal.cross(normal.unitOrthogonal());
    return out;
  };
  for (int v = 0; v < cloth.vertex_count(); ++v) {
    how.contacts.push_back(contact(v, Vector3::UnitZ()));
    if (v < 3) how.contacts.push_back(contact(v, Vector3::UnitY()));
  }
  const ClothStepResult found = cloth.step(state, how);
  ASSERT_EQ(found.status, Status::converged);
  double down = 0.0, along = 0.0, through = 0.0;
  for (std::size_t k = 0; k < how.contacts.size(); ++k) {
    const Vector3 impulse = how.contacts[k].frame * found.impulse.segment<3>(3 * static_cast<Eigen::Index>(k));
    down += impulse.z();
    along += impulse.y();
    const Vector3 velocity = found.end.velocity.segment<3>(3 * how.contacts[k].node);
    through = std::max(through, -how.contacts[k].frame.col(0).dot(velocity));
  }
  const double mass = cloth.masses().sum();
  EXPECT_NEAR(down, mass * how.dt * 9.81, 1e-3 * mass * how.dt * 9.81);
  EXPECT_GT(along, 0.5 * mass * how.dt * 3.0);
  EXPECT_LT(through, 1e-3 * how.dt * 9.81);  // what ties a vertex to its twin gives by so much
}

TEST(Cloth, refuses_what_is_no_cloth) {
  const auto with = [](const auto& change) {
    return [change] {
      ClothMaterial material = linen;
      ClothShape shape = rectangle(1.0, 1.0, {1, 1});
      change(material, shape);
      static_cast<void>(Cloth(shape, material));
    };
  };
  expect_refused(with([](ClothMaterial& m, ClothShape&) { m.area_density = 0.0; }), "mass per area");
  expect_refused(with([](ClothMaterial& m, ClothShape&) { m.weft_stiffness = -1.0; }), "stiffnesses of the membrane");
  expect_refused(with([](ClothMaterial& m, ClothShape&) { m.poisson_ratio = 1.0; }), "Poisson's ratio");
  expect_refused(with([](ClothMaterial& m, ClothShape&) { m.bending_stiffness = -1.0; }), "bending stiffness");
  expect_refused(with([](ClothMaterial& m, ClothShape&) { m.damping_time = -1.0; }), "damping time");
  expect_refused(with([](ClothMaterial& m, ClothShape&) { m.drag = -1.0; }), "drag");
  expect_refused(with([](ClothMaterial&, ClothShape& s) { s.faces.clear(); }), "a face at least");
  expect_refused(with([](ClothMaterial&, ClothShape& s) { s.warp.clear(); }), "one direction of the warp");
  expect_refused(with([](ClothMaterial&, ClothShape& s) { s.vertices[0].x() = NAN; }), "not finite");
  expect_refused(with([](ClothMaterial&, ClothShape& s) { s.vertices.emplace_back(1.0, 1.0, 1.0); }), "no face");
  expect_refused(with([](ClothMaterial&, ClothShape& s) { s.faces[0][0] = 9; }), "not there");
  expect_refused(with([](ClothMaterial&, ClothShape& s) { s.vertices[1] = s.vertices[0]; }), "no area");
  expect_refused(with([](ClothMaterial&, ClothShape& s) { std::swap(s.faces[0][0], s.faces[0][1]); }), "the same way");
  const Cloth cloth(rectangle(1.0, 1.0, {1, 1}), linen);
  const SurfaceState state{rest_of(cloth), VectorX::Zero(15)};
  const auto step = [&](const ClothStep& how) {
    return [&cloth, &state, how] { static_cast<void>(cloth.step(state, how)); };
  };
  friction::NodalContact contact;
  contact.frame.setIdentity();
  expect_refused(step({.dt = 0.0}), "time step");
  expect_refused(step({.dt = 0.1, .pins = {{2, {}}, {1, {}}}}), "ascending");
  expect_refused(step({.dt = 0.1, .pins = {{0, {}}}, .contacts = {contact}}), "pinned");
  contact.node = 5;
  expect_refused(step({.dt = 0.1, .contacts = {contact}}), "not there");
  expect_refused([&] { static_cast<void>(cloth.step({VectorX::Zero(3), VectorX::Zero(3)}, {.dt = 0.1})); }, "state");
  expect_refused([] { static_cast<void>(rectangle(0.0, 1.0, {1, 1})); }, "sides");
  expect_refused([] { static_cast<void>(rectangle(1.0, 1.0, {0, 1})); }, "a cell along each side");
  expect_refused([] { static_cast<void>(disc(-1.0, 1)); }, "radius");
  expect_refused([] { static_cast<void>(disc(1.0, 0)); }, "a ring");
  expect_refused([] { static_cast<void>(sleeve(1.0, 0.0, 1.0, {3, 1})); }, "radii and height");
  expect_refused([] { static_cast<void>(sleeve(1.0, 1.0, 1.0, {2, 1})); }, "three cells around");
  expect_refused([] { static_cast<void>(sheet({}, {{0, 1, 2}}, Vector3::UnitX())); }, "not there");
}

}  // namespace TRESSE_TEST_FILE
