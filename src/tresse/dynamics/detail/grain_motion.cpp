#include <tresse/dynamics/detail/grain_motion.hpp>

#include <cstddef>
#include <utility>

#include <Eigen/Geometry>

namespace tresse::dynamics::detail {

GrainMotion::GrainMotion(const assembly::World& world) {
  if (world.grains) flow_.emplace(*world.grains);
}

bool GrainMotion::advance(const assembly::World& world, const StepOptions& options, grains::GrainState& state,
                          StepReport& report) {
  if (!flow_) return true;
  grains::GrainReport found = flow_->step({.gravity = assembly::gravity_of(world),
                                           .dt = options.dt,
                                           .tolerance = options.grain_tolerance,
                                           .max_iterations = options.max_grain_iterations},
                                          state);
  if (!found.finite) return false;
  for (std::size_t i = 0; i < found.obstacle_force.size(); ++i) {
    ObstacleLoad& load = report.obstacles[i];
    load.force += found.obstacle_force[i];
    load.torque += found.obstacle_torque[i] - world.obstacles[i].reference.cross(found.obstacle_force[i]);
  }
  report.grains = std::move(found);
  return true;
}

}  // namespace tresse::dynamics::detail
