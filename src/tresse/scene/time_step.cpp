#include <tresse/scene/time_step.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

#include <tresse/bodies/rigid_body.hpp>

namespace tresse::scene {
namespace {

constexpr double never = std::numeric_limits<double>::infinity();

// What a step resolves.
constexpr double share_of_length = 1.0 / 100.0;  // a fibre goes at most this share of its length, and one element,
constexpr double share_of_body = 0.25;           // a free body this share of its radius
constexpr double turn_a_step = 0.1;              // [rad]
constexpr double steps_a_swing = 100.0;
constexpr double steps_between_keyframes = 20.0;
constexpr double steps_a_gust = 50.0;
constexpr double fewest_steps = 20.0;
// What is lively in ways that are not known before it runs (contacts open and close, loops jump) is met by a step that
// is short for any hair; a scene of more than 10 s is slow.
constexpr double longest = 1e-3;       // [s]
constexpr double longest_slow = 1e-2;  // [s]
constexpr double most_steps = 1e4;     // beyond which a slow scene takes longer ones
constexpr double shortest = 1e-5;      // of all but short scenes [s]
constexpr double body_falls = 10.0;    // radii

/// Whether a fibre starts in another shape than its natural one.
bool let_go(const FibreGroup& group) {
  constexpr double little = 0.05;  // turn from end to end [rad]
  double most = 0.0;
  const std::size_t count = std::min(group.natural_curvature.size(), group.initial_curvature.size());
  for (std::size_t i = 0; i < count; ++i)
    most = std::max(most, (group.initial_curvature[i] - group.natural_curvature[i]).norm());
  return most * length(group) > little;
}

/// Half of a fibre's thickness, in the mean over its elements. [m]
double half_thickness(const FibreGroup& group) {
  double out = 0.0;
  for (const rods::CrossSection& section : group.sections)
    out += std::min(section.half_axis_1, section.half_axis_2) / static_cast<double>(group.sections.size());
  return out;
}

/// First angular frequencies of a fibre. [rad/s]
struct Frequencies {
  double bending = 0.0;
  double pendulum = 0.0;  ///< 0 of a free fibre
  /// It sags by less than a twentieth of its length.
  bool stiff() const { return bending * bending > 20.0 * pendulum * pendulum; }
};

Frequencies frequencies(const FibreGroup& group, double gravity) {
  constexpr double clamped_beam = 3.51602;
  constexpr double free_beam = 22.3733;
  constexpr double hanging_chain = 1.2024;
  const double length = scene::length(group);
  const bool free = group.root.condition == rods::RootCondition::free;
  const double speed = 0.5 * half_thickness(group) * std::sqrt(group.material.young_modulus / group.material.density);
  return {(free ? free_beam : clamped_beam) * speed / (length * length),
          free ? 0.0 : hanging_chain * std::sqrt(gravity / length)};
}

/// Keeps the shortest step that anything asks for.
class Shortest {
 public:
  Shortest(double step, std::string reason) : found_{step, std::move(reason)} {}
  void ask(double step, const auto& reason) {
    if (step < found_.step) found_ = {step, reason()};
  }
  void travel(const std::string& who, std::string_view verb, double speed, double distance) {
    ask(distance / speed, [&] {
      return fmt::format("{} {} at up to {:.2g} m/s: at most {:.2g} mm a step", who, verb, speed, 1e3 * distance);
    });
  }
  void turn(const std::string& who, double speed) {
    ask(turn_a_step / speed, [&] {
      return fmt::format("{} turns at up to {:.2g} rad/s: by at most {:g} rad a step", who, speed, turn_a_step);
    });
  }
  /// `distance` that what moves, or is met, may go.
  void motion(const std::string& who, const bodies::Motion& motion, double duration, double distance);
  const TimeStepChoice& found() const { return found_; }

 private:
  TimeStepChoice found_;
};

void Shortest::motion(const std::string& who, const bodies::Motion& motion, double duration, double distance) {
  // A cubic with zero speed at both ends is half as fast again in its middle.
  const double peak = motion.interpolation == bodies::Motion::Interpolation::smooth ? 1.5 : 1.0;
  for (std::size_t i = 1; i < motion.keyframes.size(); ++i) {
    const bodies::Keyframe &from = motion.keyframes[i - 1], &to = motion.keyframes[i];
    const Vector3 way = to.displacement - from.displacement, rotation = to.rotation - from.rotation;
    if (from.time >= duration || (way.isZero(0.0) && rotation.isZero(0.0))) continue;
    const double apart = to.time - from.time;
    ask(apart / steps_between_keyframes, [&] {
      return fmt::format("keyframes of {} are {:.2g} s apart: at least {} steps", who, apart, steps_between_keyframes);
    });
    travel(who, "moves", peak * way.norm() / apart, distance);
    turn(who, peak * rotation.norm() / apart);
  }
  if (motion.start >= duration) return;
  travel(who, "moves", motion.velocity.norm(), distance);
  turn(who, motion.angular_velocity.norm());
}

/// How far a fibre of the group may go in a step. Strands in the mean. [m]
struct Sizes {
  double length = 0.0;
  double step = 0.0;
};

Sizes sizes(const FibreGroup& group) {
  double all = length(group), fibres = 1.0, elements = static_cast<double>(group.element_lengths.size());
  if (!group.strands.empty()) {
    all = elements = 0.0;
    fibres = static_cast<double>(group.strands.size());
    for (const Strand& strand : group.strands) {
      for (const double one : strand.element_lengths) all += one;
      elements += static_cast<double>(strand.element_lengths.size());
    }
  }
  const double length = all / fibres;
  return {length, std::max(std::min(all / elements, share_of_length * length), half_thickness(group))};
}

double fall_speed(double height, double gravity, double duration) {
  return std::min(std::sqrt(2.0 * gravity * height), gravity * duration);
}

/// Returns how far a fibre may go in a step.
double look_at_group(const Scene& scene, const FibreGroup& group, Shortest& out) {
  const double gravity = scene.simulation.gravity.norm(), duration = scene.simulation.duration;
  const std::string who = fmt::format("fibres '{}'", group.name);
  const auto [length, distance] = sizes(group);
  const FibreGroup& one = group.strands.empty() ? group : strand_group(group, 0);
  const bool free = one.root.condition == rods::RootCondition::free;
  if (free || !frequencies(one, gravity).stiff())
    out.travel(who, "fall", fall_speed(length, gravity, duration), distance);
  const double period = slowest_period(one, gravity);
  out.ask(period / steps_a_swing, [&] {
    return fmt::format("the slowest swing of {} takes {:.2g} s: at least {} steps", who, period, steps_a_swing);
  });
  double rate = 0.0;
  for (const Vector3& x : one.initial_curvature_rate) rate = std::max(rate, x.norm());
  out.travel(who, "start", 0.5 * rate * length * length, distance);
  if (free) {
    out.travel(who, "start", one.root.velocity.norm() + one.root.angular_velocity.norm() * length, distance);
  } else {
    out.motion("the root of " + who, one.root.motion, duration, distance);
  }
  for (const Hold& hold : group.holds)
    out.motion(fmt::format("hold '{}' of {}", hold.name, who), hold.motion, duration, distance);
  return distance;
}

void look_at_obstacle(const Scene& scene, const Obstacle& obstacle, double distance, Shortest& out) {
  const bodies::Obstacle& body = obstacle.body;
  const double duration = scene.simulation.duration;
  if (body.mass > 0.0) {
    const std::string who = fmt::format("body '{}'", body.name);
    const double radius = bodies::radius(body.shape), gravity = scene.simulation.gravity.norm();
    out.travel(who, "starts", body.velocity.linear.norm(), share_of_body * radius);
    out.travel(who, "may fall", fall_speed(body_falls * radius, gravity, duration), share_of_body * radius);
    out.turn(who, body.velocity.angular.norm());
    return;
  }
  const std::string who = fmt::format("obstacle '{}'", body.name);
  out.motion(who, body.motion, duration, distance);
  const bodies::Surface* surface = bodies::surface_of(body.shape);
  if (surface == nullptr) return;
  double speed = 0.0;
  for (std::size_t k = 1; k < surface->frames.size(); ++k) {
    for (std::size_t i = 0; i < surface->frames[k].size(); ++i)
      speed = std::max(speed, surface->rate * (surface->frames[k][i] - surface->frames[k - 1][i]).norm());
  }
  out.travel(who, "moves", speed, distance);
}

/// The largest of 1, 2 and 5 times a power of ten that is at most `step`, as exact as decimals can be.
double round_down(double step) {
  constexpr double rounding = 1e-12;
  double best = 0.0;
  const int power = static_cast<int>(std::floor(std::log10(step)));
  for (int k = power - 1; k <= power + 1; ++k) {
    for (const double digit : {1.0, 2.0, 5.0}) {
      const double one = k < 0 ? digit / std::pow(10.0, -k) : digit * std::pow(10.0, k);
      if (one <= step * (1.0 + rounding)) best = std::max(best, one);
    }
  }
  return best;
}

}  // namespace

double slowest_period(const FibreGroup& group, double gravity) {
  const Frequencies first = frequencies(group, gravity);
  if (!let_go(group) && first.stiff()) return never;
  const double frequency = std::hypot(first.bending, first.pendulum);
  const double area = std::numbers::pi * half_thickness(group) * half_thickness(group);
  const double decay = 0.5 * (group.material.damping_time * first.bending * first.bending +
                              group.drag / (group.material.density * area));
  return decay < frequency ? 2.0 * std::numbers::pi / frequency : never;
}

namespace {

/// A cell a step, as fast as grains can fall through the domain.
void look_at_grains(const Scene& scene, Shortest& out) {
  const Vector3 gravity = scene.simulation.gravity;
  const grains::Medium medium = medium_of(*scene.grains);
  double smallest = never;
  for (int axis = 0; axis < 3; ++axis) {
    if (medium.cells[static_cast<std::size_t>(axis)] > 0)
      smallest = std::min(smallest, grains::cell_size(medium)[axis]);
  }
  const double height = (medium.high - medium.low).cwiseProduct(gravity.cwiseAbs()).maxCoeff() / gravity.norm();
  if (gravity.norm() > 0.0)
    out.travel("the grains", "may fall", fall_speed(height, gravity.norm(), scene.simulation.duration), smallest);
}

/// A vertex falls by an edge or the thickness that holds it off obstacles, whichever is longer.
void look_at_cloth(const Scene& scene, const Surface& surface, Shortest& out) {
  const double gravity = scene.simulation.gravity.norm();
  const surfaces::ClothShape shape = cloth_shape(surface.cloth);
  if (gravity == 0.0 || shape.faces.empty()) return;
  const surfaces::Cloth cloth(shape, surface.cloth.fabric);
  const double edge = std::max(cloth.shortest_edge(), surface.thickness);
  const double size = std::sqrt(cloth.area());
  out.travel(fmt::format("surface '{}'", surface.name), "may fall",
             fall_speed(size, gravity, scene.simulation.duration), edge);
}

}  // namespace

TimeStepChoice choose_time_step(const Scene& scene) {
  const Simulation& simulation = scene.simulation;
  const double most = std::clamp(simulation.duration / most_steps, longest, longest_slow);
  Shortest out(most, fmt::format("nothing is known to ask for less than {:.2g} s", most));
  double distance = never;
  for (const FibreGroup& group : scene.fibres) distance = std::min(distance, look_at_group(scene, group, out));
  for (const Obstacle& obstacle : scene.obstacles) {
    if (scene.fibres.empty() && obstacle.body.mass > 0.0)
      distance = std::min(distance, share_of_body * bodies::radius(obstacle.body.shape));
  }
  for (const Obstacle& obstacle : scene.obstacles) look_at_obstacle(scene, obstacle, distance, out);
  for (const Surface& surface : scene.surfaces) {
    if (is_cloth(surface)) {
      look_at_cloth(scene, surface, out);
      continue;
    }
    const double frequency = bending_frequency(surface);
    out.ask(2.0 * std::numbers::pi / (frequency * steps_a_swing), [&] {
      return fmt::format("surface '{}' bends at {:.2g} Hz: at least {} steps a period", surface.name,
                         frequency / (2.0 * std::numbers::pi), steps_a_swing);
    });
  }
  if (scene.grains) look_at_grains(scene, out);
  const Wind& wind = simulation.wind;
  if (!wind.gust.isZero(0.0)) {
    out.ask(wind.period / steps_a_gust,
            [&] { return fmt::format("a gust takes {:.2g} s: at least {} steps", wind.period, steps_a_gust); });
  }
  TimeStepChoice found = out.found();
  if (found.step < shortest) found = {shortest, found.reason + fmt::format(", but not below {:g} s", shortest)};
  const double share = simulation.duration / fewest_steps;
  if (share > 0.0 && share < found.step)
    found = {share, fmt::format("the duration is {:.2g} s: at least {} steps", simulation.duration, fewest_steps)};
  found.step = std::max(round_down(found.step), 1e-12);
  return found;
}

}  // namespace tresse::scene
