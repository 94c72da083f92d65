#pragma once

#include <tresse/scene/build.hpp>

namespace tresse::settle {

struct PushOutOptions {
  double tolerance = 0.01;  ///< overlap that may stay, relative to the fibre's radius; > 0
  int max_rounds = 200;     ///< >= 1
};

struct PushOut {
  Status status = Status::converged;  ///< max_iterations, stalled: overlaps are left (a clamped root inside a body)
  int rounds = 0;
  double largest_move = 0.0;  ///< of a point of a centreline [m]
  double deepest = 0.0;       ///< overlap that is left; >= 0 [m]
};

/// Moves fibres that overlap something at the start apart, as little as their stiffness says: every round is the
/// change of shape of least bending and twisting energy, counted from the shape before it, that takes out the overlaps,
/// frictionless, to first order (docs/theory/dynamics.md, one step with the natural shape set to the present one and a
/// long time step). Clamped roots and obstacles stay; free fibres move as a whole. Only `built.state` changes, and in
/// it only what overlaps; velocities stay.
[[nodiscard]] PushOut push_out(scene::Case& built, const PushOutOptions& options = {});

}  // namespace tresse::settle
