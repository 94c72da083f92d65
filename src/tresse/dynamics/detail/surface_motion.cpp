#include <tresse/dynamics/detail/surface_motion.hpp>

#include <algorithm>
#include <utility>

#include <tresse/dynamics/detail/cloth_motion.hpp>

namespace tresse::dynamics::detail {

rods::RodEnergies surface_energies(const assembly::World& world, const std::vector<surfaces::SurfaceState>& states) {
  rods::RodEnergies out;
  const Vector3 gravity = assembly::gravity_of(world);
  for (std::size_t i = 0; i < states.size(); ++i) {
    const surfaces::SurfaceEnergies one = world.surfaces[i].model->energies(states[i], gravity);
    out.kinetic += one.kinetic;
    out.elastic += one.elastic;
    out.gravity += one.gravity;
  }
  return out;
}

bool SurfaceMotion::advance(const assembly::World& world, const StepOptions& options, double time,
                            std::vector<surfaces::SurfaceState>& states, StepReport& report) {
  memory_.resize(states.size());
  const surfaces::SurfaceStep step{.dt = options.dt, .theta = options.theta, .gravity = assembly::gravity_of(world)};
  std::vector<surfaces::SurfaceState> ends;
  for (std::size_t i = 0; i < states.size(); ++i) {
    if (const auto* cloth = dynamic_cast<const surfaces::Cloth*>(world.surfaces[i].model.get())) {
      ends.push_back(states[i]);
      if (!advance_cloth({world, world.surfaces[i], *cloth, time, options, memory_[i]}, ends.back(), report))
        return false;
      continue;
    }
    surfaces::SurfaceStepResult result = world.surfaces[i].model->advance(states[i], step);
    if (!result.end.position.allFinite() || !result.end.velocity.allFinite()) return false;
    report.motion_iterations = std::max(report.motion_iterations, result.iterations);
    if (report.motion_status == Status::converged) report.motion_status = result.status;
    report.nonlinear_residual = std::max(report.nonlinear_residual, result.residual);
    ends.push_back(std::move(result.end));
  }
  states = std::move(ends);
  return true;
}

}  // namespace tresse::dynamics::detail
