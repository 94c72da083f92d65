#include <tresse/scene/fluid_numbers.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <set>

#include <Eigen/Geometry>

#include <tresse/fluid/resistance.hpp>

namespace tresse::scene {
namespace {

Matrix3X ends_of(const rods::Rod& rod) {
  Matrix3X out(3, rod.piece_count() + 1);
  rod.end_positions(out);
  return out;
}

/// Of a fibre that moves rigidly with its root, or as it begins. [m/s]
double fastest(const Scene& scene, const Case& built, const rods::Rod& rod, int f) {
  const assembly::Fibre& fibre = built.world.fibres[static_cast<std::size_t>(f)];
  const Matrix3X ends = ends_of(rod);
  Matrix3X velocities(3, ends.cols());
  rod.end_velocities(rods::generalised_velocity(rod, built.state.rods[static_cast<std::size_t>(f)]), velocities);
  double out = velocities.colwise().norm().maxCoeff();
  if (!assembly::clamped(fibre) || fibre.root_motion.at_rest()) return out;
  const Pose start = assembly::root_pose(fibre, 0.0);
  constexpr int samples = 64;
  const double dt = scene.simulation.time_step;
  for (int k = 0; k < samples; ++k) {
    const double time = scene.simulation.duration * k / samples;
    const Pose at = assembly::root_pose(fibre, time);
    const Twist twist = assembly::mean_twist(at, assembly::root_pose(fibre, time + dt), dt);
    for (Eigen::Index i = 0; i < ends.cols(); ++i) {
      const Vector3 arm = at.frame * (start.frame.transpose() * (ends.col(i) - start.position));
      out = std::max(out, (twist.linear + twist.angular.cross(arm)).norm());
    }
  }
  return out;
}

/// 2 / lambda, lambda the largest of the fluid's resistance over the fibre's mass: by the power method on a fibre
/// alone.
double explicit_limit(const assembly::Fluid& fluid, const rods::Rod& rod) {
  const Matrix3X ends = ends_of(rod);
  fluid::Chains chains;
  for (Eigen::Index i = 0; i < ends.cols(); ++i) chains.nodes.emplace_back(ends.col(i));
  chains.begin = {0, static_cast<int>(ends.cols())};
  chains.epsilon = {fluid.regularisation * rod.contact_radius()};
  VectorX mass = VectorX::Zero(3 * ends.cols());
  for (Eigen::Index i = 0; i + 1 < ends.cols(); ++i)
    mass.segment<6>(3 * i).array() += 0.5 * rod.mass() * (ends.col(i + 1) - ends.col(i)).norm() / rod.length();
  fluid::Resistance resistance(fluid.viscosity, fluid.coupling);
  resistance.place(std::move(chains));
  resistance.factor();
  VectorX v(mass.size()), densities = VectorX::Zero(mass.size());
  for (Eigen::Index i = 0; i < v.size(); ++i) v[i] = std::cos(2.5 * static_cast<double>(i));
  double largest = 0.0;
  constexpr int iterations = 40;
  constexpr double tolerance = 1e-6;
  for (int k = 0; k < iterations; ++k) {
    v /= v.norm();
    static_cast<void>(resistance.solve(v, tolerance, densities));
    v = resistance.forces(densities).cwiseQuotient(mass);
    largest = v.norm();
  }
  return 2.0 / largest;
}

}  // namespace

FluidNumbers fluid_numbers(const Scene& scene, const Case& built) {
  const assembly::Kinematics at = kinematics_at_start(built);
  FluidNumbers out;
  out.explicit_step = std::numeric_limits<double>::infinity();
  std::set<int> groups;
  for (int f = 0; f < static_cast<int>(built.world.fibres.size()); ++f) {
    const rods::Rod& rod = at.rod(f);
    const double speed = fastest(scene, built, rod, f);
    out.speed = std::max(out.speed, speed);
    out.reynolds = std::max(out.reynolds, scene.fluid.density * speed * rod.contact_radius() / scene.fluid.viscosity);
    // Fibres of a group are alike.
    if (groups.insert(built.world.fibres[static_cast<std::size_t>(f)].group).second)
      out.explicit_step = std::min(out.explicit_step, explicit_limit(*built.world.fluid, rod));
  }
  return out;
}

}  // namespace tresse::scene
