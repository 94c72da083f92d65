#pragma once

#include <string>

#include <tresse/scene/scene.hpp>

namespace tresse::scene {

/// A step that resolves what a scene is known to do before it runs, and the reason in words.
struct TimeStepChoice {
  double step = 0.0;   ///< 1, 2 or 5 times a power of ten [s]
  std::string reason;  ///< of one line: "fibres 'hair' fall at up to 2.2 m/s: at most 5 mm a step"
};

/// What `time_step = "auto"` means. The same bits for the same scene; `scene.simulation.time_step` is not looked at.
/// docs/measured/time_step.md has the rule and what it gives. `scene` is valid.
TimeStepChoice choose_time_step(const Scene& scene);

/// Period of the slowest swing of a fibre of the group, by bending and as a pendulum [s]; infinite where none rings, or
/// where the fibre is so stiff that nothing but a blow lets it. First modes of a clamped and of a free beam
/// (Timoshenko, Vibration Problems in Engineering, ch. V) and of a hanging chain. `gravity` [m/s^2]
double slowest_period(const FibreGroup& group, double gravity);

}  // namespace tresse::scene
