#include <tresse/observe/snapshot.hpp>

#include <algorithm>
#include <cmath>

#include <gtest/gtest.h>
#include <Eigen/Geometry>

#include <tresse/scene/build.hpp>
#include <tresse/statics/equilibrium.hpp>

/// Forces and moments inside fibres, against statics and rigid-body dynamics by hand.
namespace tresse::observe {
namespace TRESSE_TEST_FILE {

constexpr double gravity = 9.81;
constexpr double length = 0.05;
constexpr double radius = 1e-4;
constexpr double density = 1000.0;
constexpr double line_weight = density * M_PI * radius * radius * gravity;  // [N/m]
constexpr int elements = 8;
constexpr int points_per_element = 32;

/// A straight fibre from the origin along x; gravity along -z.
scene::Scene one_fibre(double young_modulus, rods::RootCondition condition) {
  scene::Scene out;
  out.simulation.gravity = {0, 0, -gravity};
  out.simulation.time_step = 1e-3;
  out.output.points_per_element = points_per_element;
  scene::FibreGroup group;
  group.name = group.material_name = "fibre";
  group.material = {.density = density, .young_modulus = young_modulus, .poisson_ratio = 0.48, .damping_time = 5e-3};
  group.element_lengths.assign(elements, length / elements);
  group.sections.assign(elements, rods::CrossSection::circle(radius));
  group.natural_curvature.assign(elements, Vector3::Zero());
  group.initial_curvature = group.initial_curvature_rate = group.natural_curvature;
  group.root.condition = condition;
  out.fibres.push_back(group);
  return out;
}

Vector3 row(const std::vector<double>& values, std::size_t i) {
  return {values[3 * i], values[3 * i + 1], values[3 * i + 2]};
}

struct Taken {
  TrajectoryLayout layout;
  Frame frame;
};

Taken after_steps(const scene::Scene& scene, int steps) {
  scene::Case built = scene::build(scene);
  Taken out{snapshot_layout(scene, built.world, "", ""), {}};
  dynamics::Stepper stepper(std::move(built.world), built.options, std::move(built.state));
  dynamics::StepReport report;
  for (int i = 0; i < steps; ++i) report = stepper.step();
  out.frame = snapshot(scene, stepper, report, out.layout);
  return out;
}

TEST(InternalForces, AHangingFibreCarriesTheWeightBelow) {
  scene::Scene scene = one_fibre(1e9, rods::RootCondition::clamped);
  scene.fibres[0].root.frame = Eigen::AngleAxisd(M_PI / 2, Vector3::UnitY()).toRotationMatrix();
  for (const int steps : {0, 3}) {
    const Taken taken = after_steps(scene, steps);
    const double rounding = 1e-12 * line_weight * length;
    for (std::size_t i = 0; i < taken.layout.point_count(); ++i) {
      const double below = line_weight * (length - taken.layout.arc_length[i]);
      EXPECT_LT((row(taken.frame.force, i) - Vector3(below, 0, 0)).norm(), rounding) << steps;
      EXPECT_LT(row(taken.frame.moment, i).norm(), rounding * length) << steps;
    }
  }
}

TEST(InternalForces, AHangingFibreCarriesItsBranches) {
  scene::Scene scene = one_fibre(1e9, rods::RootCondition::clamped);
  scene.fibres[0].root.frame = Eigen::AngleAxisd(M_PI / 2, Vector3::UnitY()).toRotationMatrix();
  const double length_of_trunk = scene::length(scene.fibres[0]);
  const auto grow = [&](const std::string& name, const std::string& parent, const std::vector<double>& at) {
    scene::FibreGroup branch = scene.fibres[0];
    branch.name = name;
    branch.root = {};
    branch.root.condition = rods::RootCondition::carried;
    branch.root.parent = parent;
    branch.root.at = at;
    scene.fibres.push_back(branch);
  };
  scene.contact.fibre_contact = false;  // they hang side by side
  grow("branch", "fibre", {0.3 * length, length_of_trunk});
  grow("twig", "branch", {0.6 * length});
  for (const int steps : {0, 3}) {
    const Taken taken = after_steps(scene, steps);
    ASSERT_EQ(taken.layout.fibre_count(), 5U);
    const double rounding = 1e-12 * line_weight * length;
    for (std::size_t f = 0; f < 5; ++f) {
      for (auto i = static_cast<std::size_t>(taken.layout.point_offsets[f]);
           i < static_cast<std::size_t>(taken.layout.point_offsets[f + 1]); ++i) {
        const double s = taken.layout.arc_length[i];
        double below = length - s;
        if (f == 0) below += (s < 0.3 * length ? 2.0 * length : 0.0) + (s < length_of_trunk ? 2.0 * length : 0.0);
        if (f == 1 || f == 2) below += s < 0.6 * length ? length : 0.0;
        EXPECT_LT((row(taken.frame.force, i) - Vector3(line_weight * below, 0, 0)).norm(), rounding) << steps << f;
      }
    }
  }
}

TEST(InternalForces, AFallingFibreCarriesNothing) {
  const Taken taken = after_steps(one_fibre(1e9, rods::RootCondition::free), 5);
  for (const double force : taken.frame.force) EXPECT_NEAR(force, 0.0, 1e-9 * line_weight * length);
}

/// A straight strand that spins about its middle: tension rho S omega^2 s (L - s) / 2.
TEST(InternalForces, ASpinningStrandIsUnderCentrifugalTension) {
  const double omega = 10.0;
  scene::Scene scene = one_fibre(1e9, rods::RootCondition::free);
  scene.simulation.gravity.setZero();
  scene.simulation.time_step = 1e-5;
  scene.fibres[0].root.angular_velocity = {0, 0, omega};
  scene.fibres[0].root.velocity = {0, -0.5 * omega * length, 0};
  const Taken taken = after_steps(scene, 5);
  const double largest = line_weight / gravity * omega * omega * length * length / 8;
  for (std::size_t i = 0; i < taken.layout.point_count(); ++i) {
    const double x = taken.layout.arc_length[i] / length;
    // The acceleration is the mean of a step: first order in the angle turned in it, 1e-4. So is the trapezoidal rule.
    EXPECT_NEAR(row(taken.frame.force, i)[0] / largest, 4 * x * (1 - x), 1e-3);
    EXPECT_NEAR(row(taken.frame.force, i).tail<2>().norm() / largest, 0.0, 1e-3);
  }
}

/// What the part beyond each point transmits at rest, by the trapezoidal rule over the points: weight, and
/// contacts without friction, whose force passes through the centreline.
struct Loads {
  std::vector<Vector3> force;   ///< world axes
  std::vector<Vector3> moment;  ///< about the point, world axes
};

Loads loads_beyond(const Taken& taken) {
  const std::size_t count = taken.layout.point_count();
  Loads out{std::vector<Vector3>(count, Vector3::Zero()), std::vector<Vector3>(count, Vector3::Zero())};
  const Vector3 weight(0, 0, -line_weight);
  for (std::size_t i = 0; i < count; ++i) {
    const Vector3 here = row(taken.frame.points, i);
    for (std::size_t j = i; j + 1 < count; ++j) {
      const double step = taken.layout.arc_length[j + 1] - taken.layout.arc_length[j];
      const Vector3 middle = 0.5 * (row(taken.frame.points, j) + row(taken.frame.points, j + 1));
      out.force[i] += step * weight;
      out.moment[i] += step * (middle - here).cross(weight);
    }
    for (std::size_t c = 0; c < taken.frame.contact_count(); ++c) {
      if (taken.frame.contact_s_a[c] <= taken.layout.arc_length[i]) continue;
      const Vector3 on_fibre = -row(taken.frame.contact_force, c);
      out.force[i] += on_fibre;
      out.moment[i] += (row(taken.frame.contact_point_a, c) - here).cross(on_fibre);
    }
  }
  return out;
}

/// Frames along a planar fibre in x-z, from the points: tangent, n1 = y, n2.
Matrix3 frame_at(const Taken& taken, std::size_t i) {
  const std::size_t last = taken.layout.point_count() - 1;
  const Vector3 chord = row(taken.frame.points, std::min(i + 1, last)) - row(taken.frame.points, i > 0 ? i - 1 : 0);
  Matrix3 out;
  out.col(0) = chord.normalized();
  out.col(1) = Vector3::UnitY();
  out.col(2) = out.col(0).cross(out.col(1));
  return out;
}

/// Forces at every point, and moments: constant curvature carries the mean of the moment over its element.
void expect_statics(const Taken& taken, double error) {
  const Loads loads = loads_beyond(taken);
  const double force_scale = loads.force[0].norm();
  double moment_scale = 0.0;
  for (const Vector3& moment : loads.moment) moment_scale = std::max(moment_scale, moment.norm());
  for (std::size_t i = 1; i + 1 < taken.layout.point_count(); ++i) {
    const Vector3 force = frame_at(taken, i) * row(taken.frame.force, i);
    EXPECT_LT((force - loads.force[i]).norm(), error * force_scale) << i;
  }
  for (std::size_t e = 0; e < elements; ++e) {
    const std::size_t first = e * points_per_element;
    Vector3 mean = Vector3::Zero();
    for (std::size_t i = 0; i <= points_per_element; ++i) {
      const double weight = i == 0 || i == points_per_element ? 0.5 : 1.0;
      mean += weight / points_per_element * (frame_at(taken, first + i).transpose() * loads.moment[first + i]);
    }
    for (std::size_t i = 0; i < points_per_element; ++i)
      EXPECT_LT((row(taken.frame.moment, first + i) - mean).norm(), error * moment_scale) << "element " << e;
  }
}

TEST(InternalForces, AStiffCantileverCarriesItsWeightAtItsLever) {
  const scene::Scene scene = one_fibre(1e12, rods::RootCondition::clamped);
  scene::Case built = scene::build(scene);
  assembly::Kinematics at(built.world);
  const auto found = statics::solve_equilibrium(at.rod(0), built.state.rods[0], scene.simulation.gravity, {});
  ASSERT_TRUE(found.stable());
  const TrajectoryLayout layout = snapshot_layout(scene, built.world, "", "");
  const Taken taken{layout, snapshot_at_rest(scene, at, layout)};
  const double weight = line_weight * length;
  EXPECT_NEAR(row(taken.frame.force, 0)[2] / -weight, 1.0, 1e-9);  // shear along n2, downwards; it hardly bends
  EXPECT_NEAR(row(taken.frame.force, 0)[1] / weight, 0.0, 1e-9);
  // Weight times lever, L / 2, averaged over the root's element of length l: w (L^3 - (L - l)^3) / (6 l).
  const double l = length / elements;
  const double moment = line_weight * (std::pow(length, 3) - std::pow(length - l, 3)) / (6 * l);
  EXPECT_NEAR(row(taken.frame.moment, 0)[1] / moment, 1.0, 1e-6);
  EXPECT_NEAR(row(taken.frame.moment, 0)[2] / moment, 0.0, 1e-9);
}

TEST(InternalForces, ASoftCantileverIsInEquilibriumEverywhere) {
  const scene::Scene scene = one_fibre(1e8, rods::RootCondition::clamped);
  scene::Case built = scene::build(scene);
  assembly::Kinematics at(built.world);
  ASSERT_TRUE(statics::solve_equilibrium(at.rod(0), built.state.rods[0], scene.simulation.gravity, {}).stable());
  const TrajectoryLayout layout = snapshot_layout(scene, built.world, "", "");
  const Taken taken{layout, snapshot_at_rest(scene, at, layout)};
  EXPECT_LT(row(taken.frame.points, layout.point_count() - 1)[2], -0.2 * length) << "it bends";
  expect_statics(taken, 1e-3);
}

TEST(InternalForces, AFibreThatRestsOnABarIsInEquilibriumEverywhere) {
  scene::Scene scene = one_fibre(1e8, rods::RootCondition::clamped);
  scene.fibres[0].drag = 2e-3;
  scene::Obstacle bar;
  bar.body = {"bar", "bar", bodies::Capsule{{0.035, -0.01, -5e-3}, {0.035, 0.01, -5e-3}, 1e-3}, Vector3::Zero(), {}};
  scene.obstacles.push_back(bar);
  const Taken taken = after_steps(scene, 1500);
  ASSERT_EQ(taken.frame.contact_count(), 1U);
  EXPECT_GT(row(taken.frame.contact_force, 0).norm(), 0.3 * line_weight * length);
  expect_statics(taken, 2e-3);  // the contact falls between two points
}

/// Of a step that was cut the forces of contacts are those over its last part; so are the accelerations, and nothing
/// acts on the free end. Masses are lumped at nodes, which are the points of the frame: sums over them are exact.
TEST(InternalForces, AFrameOfACutStepIsInBalance) {
  scene::Scene scene = one_fibre(1e8, rods::RootCondition::free);
  scene.fibres[0].model = scene::RodModel::discrete_elastic_rod;
  scene.fibres[0].root.position = {0, 0, 1.5e-3};
  scene.output.points_per_element = 1;
  scene.simulation.step_error = 1e-6;
  scene::Obstacle bar;
  bar.body = {"bar", "bar", bodies::Capsule{{0.02, -0.01, 0}, {0.02, 0.01, 0}, 1e-3}, Vector3::Zero(), {}};
  scene.obstacles.push_back(bar);
  scene::Case built = scene::build(scene);
  const TrajectoryLayout layout = snapshot_layout(scene, built.world, "", "");
  dynamics::Stepper stepper(std::move(built.world), built.options, std::move(built.state));
  int checked = 0;
  for (int i = 0; i < 60; ++i) {
    const dynamics::StepReport report = stepper.step();
    ASSERT_TRUE(report.finite);
    if (report.parts < 2) continue;
    const Frame frame = snapshot(scene, stepper, report, layout);
    double largest = 0.0;
    for (std::size_t k = 0; k < layout.point_count(); ++k) largest = std::max(largest, row(frame.force, k).norm());
    if (!(largest > 0.1 * line_weight * length)) continue;
    EXPECT_LT(row(frame.force, 0).norm(), 1e-9 * largest) << "step " << report.step;
    ++checked;
  }
  EXPECT_GT(checked, 3);
}

}  // namespace TRESSE_TEST_FILE
}  // namespace tresse::observe
