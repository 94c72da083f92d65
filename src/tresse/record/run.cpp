#include <tresse/record/run.hpp>

#include <algorithm>
#include <cmath>
#include <utility>

#include <fmt/format.h>

#include <tresse/base/errors.hpp>
#include <tresse/base/interrupt.hpp>
#include <tresse/files/atomic_file.hpp>
#include <tresse/observe/snapshot.hpp>
#include <tresse/scene/limits.hpp>
#include <tresse/settle/leave_out.hpp>
#include <tresse/settle/push_out.hpp>

namespace tresse::record {
namespace {

std::int64_t whole_steps(const scene::Scene& scene) {
  return std::llround(scene.simulation.duration / scene.simulation.time_step);
}

/// Of the first fibre, or where there is none of the first free body; without these half the thinnest cloth, and any
/// where there is none. [m]
double thin_radius(const assembly::World& world) {
  if (!world.fibres.empty()) return world.fibres.front().model->contact_radius();
  if (!world.free_bodies.empty()) return bodies::radius(world.obstacles[world.free_bodies.front().obstacle].shape);
  double out = 1.0;  // of patches and grains alone: nothing touches
  for (const assembly::SurfaceBody& surface : world.surfaces) {
    if (surface.radius > 0.0) out = std::min(out, surface.radius);
  }
  return out;
}

/// The step did not happen, so it gets no row in the tables: they hold the states that were reached.
Outcome stop_at_not_finite(const dynamics::Stepper& stepper, RunRecorder& recorder) {
  recorder.checkpoint(stepper.state());
  recorder.write_failure(stepper.state());
  return Outcome::failed;
}

}  // namespace

RunPlan plan_run(const scene_file::SceneDocument& document) {
  return {document.scene,
          document.parameters,
          scene_file::write_resolved(document),
          std::nullopt,
          whole_steps(document.scene),
          {},
          document.time_step_reason};
}

RunPlan plan_run(const std::filesystem::path& file, const scene_file::ParameterOverrides& set) {
  if (file.extension() != ".h5") {
    const scene_file::SceneDocument document = scene_file::read_scene_document(file, set);
    RunPlan plan = plan_run(document);
    plan.files = scene_file::files_of(file, document);
    return plan;
  }
  Checkpoint kept = read_checkpoint(file);
  RunPlan plan;
  scene_file::SceneDocument document = scene_file::parse_scene_document(kept.scene, file.string(), set);
  plan.files = scene_file::files_of(file, document);
  plan.scene = std::move(document.scene);
  plan.resolved = std::move(kept.scene);
  // What was written before any run began is a start, not a state to look into.
  const bool start = kept.state.step == 0 && kept.position.frames == 0;
  plan.last_step = start ? whole_steps(plan.scene) : kept.state.step + 1;
  plan.start = std::move(kept.state);
  return plan;
}

std::int64_t step_at(const scene::Scene& scene, double time, std::string_view where) {
  const double steps = time / scene.simulation.time_step;
  require(
      steps >= 0.0 && steps <= scene::limits::steps,
      fmt::format("{}: found {:g}, expected a time [s] from 0 to {:g} time steps", where, time, scene::limits::steps));
  return std::llround(steps);
}

namespace {

/// What the caller can do about overlaps that are left, in brackets.
std::string hints(const OverlapHelp& help) {
  std::vector<std::string> out;
  if (!help.lists.empty()) out.emplace_back(help.lists);
  if (!help.leave_out) {
    out.push_back(help.push_out ? fmt::format("{} leaves fibres out", help.leave_out_word)
                                : fmt::format("{} moves them", help.push_out_word));
  }
  return out.empty() ? "" : fmt::format(" ({})", fmt::join(out, ", "));
}

}  // namespace

std::vector<std::string> settle_overlaps(RunPlan& plan, scene::Case& built, const OverlapHelp& help) {
  std::vector<std::string> out;
  if (help.leave_out) {
    for (settle::LeftOut& one : settle::leave_out(plan.scene, built, help.push_out))
      out.push_back(std::move(one.message));
    if (!out.empty()) plan.resolved = scene_file::write_resolved(plan.scene, plan.parameters);
  } else if (help.push_out) {
    static_cast<void>(settle::push_out(built));
  }
  const auto overlaps = scene::initial_overlaps(built);
  if (overlaps.empty()) return out;
  throw InvalidInput(fmt::format(
      "{} at the start{}, the deepest of {}{}; expected bodies apart{}",
      scene::describe(overlaps.front(), plan.scene, built.world), help.push_out ? " even after a push-out" : "",
      overlaps.size(),
      overlaps.size() > 1 ? fmt::format(" ({})", scene::describe_pairs(overlaps, plan.scene, built.world)) : "",
      hints(help)));
}

void leave_out_as(RunPlan& plan, const std::filesystem::path& folder) {
  const std::filesystem::path file = folder / "scene.toml";
  std::error_code error;
  if (plan.start || !std::filesystem::exists(file, error)) return;
  const std::string text = files::read_file(file);
  if (text.find("\nleave_out = ") == std::string::npos) return;
  const scene::Scene before = scene_file::parse_scene_without_meshes(text, file.string());
  if (before.fibres.size() != plan.scene.fibres.size()) return;
  for (std::size_t i = 0; i < before.fibres.size(); ++i) {
    if (before.fibres[i].name == plan.scene.fibres[i].name) plan.scene.fibres[i].leave_out = before.fibres[i].leave_out;
  }
  plan.resolved = scene_file::write_resolved(plan.scene, plan.parameters);
}

RunLimits run_limits(const scene::Scene& scene, const assembly::World& world) {
  RunLimits out;
  out.residual = scene.solver.tolerance;
  out.penetration = 0.1 * thin_radius(world);
  // Below 1 energy swings about what it should be.
  if (scene.simulation.theta < 1.0) out.energy_excess = 1e-3;
  if (scene.grains) out.grain_residual = scene.grains->tolerance;
  for (const scene::Surface& surface : scene.surfaces) {
    if (scene::is_cloth(surface)) out.cloth_residual = std::max(out.cloth_residual, surface.cloth.tolerance);
  }
  out.little_energy = assembly::energy_floor(world, scene.simulation.time_step);
  if (scene.simulation.scheme == dynamics::Scheme::nonlinear)
    out.nonlinear_residual = scene.simulation.nonlinear_tolerance;
  if (scene.contact.law != laws::Law::coulomb) out.residual = out.nonlinear_residual = scene.contact.penalty.tolerance;
  if (scene.fluid.viscosity > 0.0) {
    // One residual is told of both.
    const bool alone = scene.contact.law == laws::Law::coulomb;
    out.nonlinear_residual = std::max(scene.fluid.tolerance, alone ? 0.0 : out.nonlinear_residual);
  }
  return out;
}

RunSettings run_settings(const RunPlan& plan, const assembly::World& world, const RunPlace& place) {
  // A run that goes on leaves its scene as it is.
  if (!place.resume || plan.start) require_apart(files_of_run(place.folder), plan.files);
  RunSettings out;
  out.folder = place.folder;
  out.resume = place.resume;
  out.threads = place.threads;
  out.layout = observe::snapshot_layout(plan.scene, world, plan.resolved, place.version);
  out.holds = world.holds;
  out.roots = clamped_roots(plan.scene, world);
  out.fluid = world.fluid.has_value();
  out.grains = world.grains.has_value();
  for (const scene::Surface& surface : plan.scene.surfaces) {
    if (scene::is_cloth(surface)) out.cloth.push_back(surface.name);
  }
  out.output = plan.scene.output;
  out.time_step = plan.scene.simulation.time_step;
  out.limits = run_limits(plan.scene, world);
  return out;
}

void record_start(const RunPlan& plan, const RunSettings& settings, const dynamics::Stepper& stepper,
                  RunRecorder& recorder) {
  recorder.begin(stepper);
  recorder.record_frame(observe::snapshot(plan.scene, stepper, {}, settings.layout));
  recorder.checkpoint(stepper.state());
}

Outcome record_steps(const RunPlan& plan, const RunSettings& settings, dynamics::Stepper& stepper,
                     RunRecorder& recorder, RunObserver& observer) {
  while (stepper.state().step < plan.last_step) {
    if (observer.stop()) return Outcome::interrupted;
    observer.begins(stepper);
    dynamics::StepReport report;
    try {
      report = stepper.step();
    } catch (const Interrupted&) {
      return Outcome::interrupted;  // without this step
    } catch (...) {
      recorder.checkpoint(stepper.state());
      recorder.write_failure(stepper.state());
      throw;
    }
    if (!report.finite) {
      const Outcome outcome = stop_at_not_finite(stepper, recorder);
      observer.failed(stepper, report);
      return outcome;
    }
    recorder.record(report);
    observer.stepped(stepper, report);
    for (const observe::Remark& remark : recorder.watch(stepper, report)) observer.remarked(remark);
    if (missed_tolerance(report, settings.limits)) {
      observer.missed(stepper, report, recorder.write_failure(stepper.previous_state()));
    }
    if (recorder.frame_due(report.step)) {
      recorder.record_frame(observe::snapshot(plan.scene, stepper, report, settings.layout));
    }
    if (recorder.checkpoint_due(report.step)) recorder.checkpoint(stepper.state());
    observer.recorded(stepper, report);
  }
  return plan.start || plan.last_step >= whole_steps(plan.scene) ? Outcome::finished : Outcome::interrupted;
}

}  // namespace tresse::record
