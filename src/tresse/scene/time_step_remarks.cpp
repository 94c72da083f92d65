#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include <tresse/scene/remarks.hpp>
#include <tresse/scene/time_step.hpp>

namespace tresse::scene {
namespace {

constexpr double steps_a_period = 20.0;  // with fewer an implicit step damps a swing away
constexpr double largest_turn = 0.5;     // of a body in a step [rad]

void look_at_swing(const Scene& scene, const FibreGroup& group, std::vector<Remark>& out) {
  const double step = scene.simulation.time_step;
  const double period = slowest_period(group, scene.simulation.gravity.norm());
  if (!(steps_a_period * step > period)) return;
  out.push_back(
      {group.location,
       fmt::format("fibres '{}': the slowest swing of one takes {:.3g} s, and steps of {:.3g} s damp it away; "
                   "expected a time_step of at most {:.2g} s, unless only where it comes to rest is wanted",
                   group.name, period, step, period / steps_a_period)});
}

void look_at_motion(const std::string& whose, Location location, const bodies::Motion& motion, double step,
                    std::vector<Remark>& out) {
  const auto tell = [&](const std::string& what) { out.push_back({location, fmt::format("{}: {}", whose, what)}); };
  for (std::size_t i = 1; i < motion.keyframes.size(); ++i) {
    const double apart = motion.keyframes[i].time - motion.keyframes[i - 1].time;
    if (apart >= step * (1.0 - 1e-9)) continue;
    tell(fmt::format("keyframes {:.3g} s apart pass within a step of {:.3g} s; expected a time_step of at most that",
                     apart, step));
    break;
  }
  const double turn = motion.angular_velocity.norm() * step;
  if (turn > largest_turn) {
    tell(fmt::format("it turns by {:.2g} rad a step; expected a time_step of at most {:.2g} s", turn,
                     step * largest_turn / turn));
  }
}

}  // namespace

std::vector<Remark> time_step_remarks(const Scene& scene) {
  std::vector<Remark> out;
  const double step = scene.simulation.time_step;
  for (const FibreGroup& group : scene.fibres) {
    look_at_swing(scene, group.strands.empty() ? group : strand_group(group, 0), out);
    look_at_motion(fmt::format("the root of '{}'", group.name), group.location, group.root.motion, step, out);
    for (const Hold& hold : group.holds)
      look_at_motion(fmt::format("hold '{}' of '{}'", hold.name, group.name), group.location, hold.motion, step, out);
  }
  for (const Obstacle& obstacle : scene.obstacles)
    look_at_motion(fmt::format("obstacle '{}'", obstacle.body.name), obstacle.location, obstacle.body.motion, step,
                   out);
  if (!scene.simulation.wind.gust.isZero(0.0) && steps_a_period * step > scene.simulation.wind.period) {
    out.push_back({{},
                   fmt::format("simulation.wind: a gust takes {:.3g} s; expected a time_step of at most {:.2g} s",
                               scene.simulation.wind.period, scene.simulation.wind.period / steps_a_period)});
  }
  return out;
}

}  // namespace tresse::scene
