#pragma once

#include <vector>

#include <tresse/observe/frame.hpp>

namespace tresse::render {

/// The frame between two of one run, at the part `weight` of the way, in [0, 1]: places along straight lines, attitudes
/// along the shortest turn. Forces and contacts are those of the nearer one.
observe::Frame between(const observe::Frame& before, const observe::Frame& after, double weight);

/// One picture of a video: between frame `before` and the one after it, of those that were chosen.
struct Moment {
  std::size_t before = 0;
  double weight = 0.0;  ///< in [0, 1)
};

/// Moments of the times from the first to the last, `step` apart; `times` ascending, at least one. [s]
std::vector<Moment> moments(const std::vector<double>& times, double step);

}  // namespace tresse::render
