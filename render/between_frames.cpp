#include "render/between_frames.hpp"

#include <algorithm>
#include <cmath>

#include <Eigen/Geometry>

namespace tresse::render {
namespace {

void mix(std::vector<double>& into, const std::vector<double>& other, double weight) {
  for (std::size_t i = 0; i < into.size(); ++i) into[i] += weight * (other[i] - into[i]);
}

void turn(std::vector<double>& into, const std::vector<double>& other, double weight) {
  for (std::size_t i = 0; 9 * i < into.size(); ++i) {
    const Eigen::Quaterniond from(observe::matrix_at(into, i));
    const Eigen::Quaterniond to(observe::matrix_at(other, i));
    const Matrix3 turned = from.slerp(weight, to).normalized().toRotationMatrix();
    for (int j = 0; j < 3; ++j) {
      for (int k = 0; k < 3; ++k) into[9 * i + static_cast<std::size_t>(3 * j + k)] = turned(j, k);
    }
  }
}

}  // namespace

observe::Frame between(const observe::Frame& before, const observe::Frame& after, double weight) {
  if (weight <= 0.0) return before;
  observe::Frame out = before;
  out.time += weight * (after.time - before.time);
  mix(out.points, after.points, weight);
  mix(out.curvature, after.curvature, weight);
  mix(out.root_position, after.root_position, weight);
  mix(out.obstacle_position, after.obstacle_position, weight);
  turn(out.root_frame, after.root_frame, weight);
  turn(out.obstacle_frame, after.obstacle_frame, weight);
  if (weight < 0.5) return out;
  observe::Frame nearer = after;
  nearer.time = out.time;
  nearer.points = std::move(out.points);
  nearer.curvature = std::move(out.curvature);
  nearer.root_position = std::move(out.root_position);
  nearer.obstacle_position = std::move(out.obstacle_position);
  nearer.root_frame = std::move(out.root_frame);
  nearer.obstacle_frame = std::move(out.obstacle_frame);
  return nearer;
}

std::vector<Moment> moments(const std::vector<double>& times, double step) {
  std::vector<Moment> out;
  // The last time counts although steps add up to it but for rounding.
  const double count = std::floor((times.back() - times.front()) / step + 1e-6);
  for (double k = 0.0; k <= count; ++k) {
    const double time = std::min(times.front() + k * step, times.back());
    const auto after = std::upper_bound(times.begin(), times.end(), time);
    const auto before = static_cast<std::size_t>(after - times.begin()) - 1;
    const double length = after == times.end() ? 0.0 : *after - times[before];
    out.push_back({before, length > 0.0 ? (time - times[before]) / length : 0.0});
  }
  return out;
}

}  // namespace tresse::render
