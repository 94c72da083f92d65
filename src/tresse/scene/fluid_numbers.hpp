#pragma once

#include <tresse/scene/build.hpp>

namespace tresse::scene {

/// What tells whether a fluid's inertia may be left out, and how stiff it is.
struct FluidNumbers {
  double reynolds = 0.0;       ///< density * speed * radius / viscosity, of the fastest fibre [-]
  double speed = 0.0;          ///< of the fastest point of a fibre that moves rigidly with its root, or begins so [m/s]
  double explicit_step = 0.0;  ///< the longest time step at which the fluid's force could be taken explicitly [s]
};

/// Of a scene with a fluid, built.
FluidNumbers fluid_numbers(const Scene& scene, const Case& built);

}  // namespace tresse::scene
