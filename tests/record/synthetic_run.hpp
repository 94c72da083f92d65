#pragma once

#include <cmath>
#include <cstring>
#include <string>
#include <vector>

#include <tresse/observe/frame.hpp>

#include "support/folder_test.hpp"

/// Layouts, frames, reports and states made of numbers without meaning, that differ everywhere and depend on nothing
/// but their arguments.
namespace tresse::record::synthetic {

using test::bytes_of;
using test::FolderTest;
using test::message_of;
using test::put_bytes;
using test::scratch;

/// Number `i` of series `seed`: all bits of the mantissa in use, both signs, some tiny.
inline double number(std::int64_t seed, std::size_t i) {
  const double x = std::sin(1.0 + 12.9898 * static_cast<double>(seed) + 78.233 * static_cast<double>(i));
  return i % 11 == 5 ? 1e-310 * x : x;
}

inline std::vector<double> numbers(std::int64_t seed, std::size_t count) {
  std::vector<double> out(count);
  for (std::size_t i = 0; i < count; ++i) out[i] = number(seed, i);
  return out;
}

inline Vector3 vector(std::int64_t seed, std::size_t i) {
  return Vector3(number(seed, 3 * i), number(seed, 3 * i + 1), number(seed, 3 * i + 2));
}

/// Fibres of different sizes (fibre i: `points` + i points, 3 (i + 1) curvatures), a comb of three teeth and a plane.
inline observe::TrajectoryLayout layout(int fibres = 3, int points = 5) {
  observe::TrajectoryLayout out;
  out.scene = "title = \"synthetic\"\n[parameters]\nfriction = 0.3\n";
  out.version = "0.0.0-test";
  out.point_offsets = {0};
  out.curvature_offsets = {0};
  out.group_names = {"left", "right"};
  for (int i = 0; i < fibres; ++i) {
    for (int j = 0; j < points + i; ++j) {
      out.arc_length.push_back(0.01 * j);
      out.radius.push_back(1e-4 * (i + 1));
    }
    out.point_offsets.push_back(static_cast<std::int64_t>(out.arc_length.size()));
    out.curvature_offsets.push_back(out.curvature_offsets.back() + 3 * (i + 1));
    out.root_is_free.push_back(i % 2 == 1);
    out.group.push_back(i % 2);
  }
  bodies::Comb comb{.base = {0, 0, 0.1}, .tooth_direction = {0, 0, -1}, .row_direction = {1, 0, 0}};
  comb.teeth = 3;
  bodies::Obstacle obstacle;
  obstacle.name = "comb";
  obstacle.shape = comb;
  obstacle.reference = Vector3(0, 0, 0.1);
  add_obstacle(out, obstacle);
  obstacle.name = "floor, \"hard\"";
  obstacle.shape = bodies::Plane{{0, 0, -1}, {0, 0, 1}};
  add_obstacle(out, obstacle);
  return out;
}

inline dynamics::ContactReport contact(std::int64_t step, int i) {
  const auto at = static_cast<std::size_t>(i);
  dynamics::ContactReport out;
  out.a = {.body = {BodyKind::fibre, i}, .s = number(step, at)};
  out.b.body = {i % 2 == 0 ? BodyKind::fibre : BodyKind::obstacle, 1};
  out.b.part = i % 2 == 0 ? -1 : 2;
  out.b.s = number(step + 1, at);
  out.point_a = vector(step + 2, at);
  out.point_b = vector(step + 3, at);
  out.normal = vector(step + 4, at);
  out.force = vector(step + 5, at);
  out.gap = number(step + 6, at);
  out.state = static_cast<friction::ContactCase>(i % 3);
  return out;
}

/// The frame of `step`, with step % 4 contacts, and numbers of series `seed`.
inline observe::Frame frame(const observe::TrajectoryLayout& layout, std::int64_t step, std::int64_t seed) {
  observe::Frame out;
  out.time = 1e-3 * static_cast<double>(step);
  out.step = step;
  out.points = numbers(seed, 3 * layout.point_count());
  out.force = numbers(seed + 1, 3 * layout.point_count());
  out.moment = numbers(seed + 2, 3 * layout.point_count());
  out.curvature = numbers(seed + 3, layout.curvature_count());
  out.curvature_rate = numbers(seed + 4, layout.curvature_count());
  out.root_position = numbers(seed + 5, 3 * layout.fibre_count());
  out.root_frame = numbers(seed + 6, 9 * layout.fibre_count());
  for (std::size_t i = 0; i < layout.obstacle_count(); ++i) {
    Pose pose;
    pose.position = vector(seed + 7, i);
    pose.frame.row(1) = vector(seed + 8, i);
    add_obstacle(out, pose, {.force = vector(seed + 9, i), .torque = vector(seed + 10, i), .contacts = 1});
  }
  for (int i = 0; i < step % 4; ++i) add_contact(out, contact(seed, i));
  return out;
}

inline dynamics::SimulationState initial_state(const observe::TrajectoryLayout& layout) {
  dynamics::SimulationState out;
  for (std::size_t i = 0; i < layout.fibre_count(); ++i) {
    rods::RodState& rod = out.rods.emplace_back();
    const auto seed = static_cast<std::int64_t>(i);
    rod.root.position = vector(seed, 0);
    for (int j = 0; j < 3; ++j) rod.root.frame.row(j) = vector(seed + 1, static_cast<std::size_t>(j));
    rod.root_velocity = {vector(seed, 4), vector(seed, 5)};
    const auto count = static_cast<Eigen::Index>(layout.curvature_offsets[i + 1] - layout.curvature_offsets[i]);
    rod.coordinates = VectorX::LinSpaced(count, -1.0, 1.0 + static_cast<double>(i));
    rod.rates = VectorX::Constant(count, 0.1);
  }
  return out;
}

/// A step whose outcome hangs on every number of the state, so that one wrong bit would show at once.
inline void advance(dynamics::SimulationState& state) {
  ++state.step;
  double sum = state.work_external;
  for (const dynamics::WarmContact& warm : state.warm) sum += warm.force.sum() * warm.place.body_a + warm.place.s_b;
  for (rods::RodState& rod : state.rods) {
    sum += rod.root.position.sum() + rod.root_velocity.linear.sum() - rod.root_velocity.angular.sum();
    rod.rates = (rod.coordinates * 1.1).array().sin() + std::cos(sum);
    rod.coordinates += 0.01 * rod.rates;
    rod.root.frame = 0.99 * rod.root.frame.transpose().eval() + 0.01 * Matrix3::Constant(std::sin(sum));
    rod.root.position = rod.root.frame * Vector3(1, 2, 3);
  }
  state.warm.clear();
  for (int i = 0; i < state.step % 5; ++i) {
    state.warm.push_back(
        {.place = {i + 1, 2, 3, -1, 0.1 * i, 0.2}, .force = vector(state.step, static_cast<std::size_t>(i))});
  }
  state.work_external = std::sin(sum);
}

inline std::int64_t seed_of(const dynamics::SimulationState& state) {
  return static_cast<std::int64_t>(1e6 * std::sin(state.rods.at(0).coordinates.sum() + state.work_external));
}

/// What the step that led to `state` reports; the wall times are wall times.
inline dynamics::StepReport report(const observe::TrajectoryLayout& layout, const dynamics::SimulationState& state,
                                   double wall_time) {
  dynamics::StepReport out;
  const std::int64_t seed = seed_of(state);
  out.step = state.step;
  out.time = 1e-3 * static_cast<double>(state.step);
  out.contacts = static_cast<int>(state.step % 4);
  out.iterations = static_cast<int>(state.step % 7);
  out.residual = 1e-13 * std::abs(number(seed, 1));
  out.max_penetration = 1e-6 * std::abs(number(seed, 2));
  out.energies = {std::abs(number(seed, 3)), std::abs(number(seed, 4)), number(seed, 5)};
  out.work_external = state.work_external;
  out.t_detection = wall_time;
  out.t_step = 2.0 * wall_time;
  for (std::size_t i = 0; i < layout.obstacle_count(); ++i) {
    out.obstacles.push_back({.force = vector(seed, i), .torque = vector(seed, i + 1), .contacts = static_cast<int>(i)});
  }
  return out;
}

}  // namespace tresse::record::synthetic
