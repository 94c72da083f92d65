#pragma once

#include <string>
#include <vector>

#include <tresse/dynamics/stepper.hpp>
#include <tresse/scene/scene.hpp>

namespace tresse::scene {

/// A scene made ready to run.
struct Case {
  assembly::World world;
  dynamics::SimulationState state;
  dynamics::StepOptions options;
};

/// Builds the world, its initial state and the stepping options. Throws InvalidInput as validate() does. Same scene and
/// seed, same bits.
Case build(const Scene& scene);

/// Lets a case begin at a state of its scene that was kept apart from it. Clamped roots that nothing moves stay where
/// that state has them: copies of a wisp have its roots, not those of the scene's random offsets.
void set_out_from(Case& built, dynamics::SimulationState state);

/// The bodies of a case in its state, with the natural shapes of time zero. `built` must outlive it.
assembly::Kinematics kinematics_at_start(const Case& built);

/// Two bodies that overlap at the start: contacts without forces, their gaps below zero.
using Overlaps = std::vector<assembly::ContactReport>;

/// Overlaps at time zero deeper than `tolerance` times the fibre's radius, deepest first.
Overlaps initial_overlaps(const Case& built, double tolerance);
/// Those that a run refuses: deeper than a hundredth of the radius; under a barrier all that touches.
Overlaps initial_overlaps(const Case& built);

/// One line for a person: which bodies, where, how deep.
std::string describe(const assembly::ContactReport& overlap, const Scene& scene, const assembly::World& world);

/// How many there are between which groups and bodies, the most first: "1200 within 'hair', 3 of 'hair' with obstacle
/// 'head'".
std::string describe_pairs(const Overlaps& overlaps, const Scene& scene, const assembly::World& world);

}  // namespace tresse::scene
