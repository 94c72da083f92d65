#pragma once

#include <optional>
#include <vector>

#include <tresse/dynamics/detail/engine.hpp>

namespace tresse::dynamics::detail {

/// Tolerance of a solve that tells which contacts turn, before the one that counts.
constexpr double roughly = 1e-3;

/// Contacts of one linearisation, their friction problem and its solution.
struct Engine::Pass {
  std::shared_ptr<const Configuration> at;  ///< where the contacts were found, but for those that were repaired
  std::vector<Pose> places;  ///< (obstacles) where they stand: free bodies go on to the end that this pass predicts
  std::vector<contact::Contact> contacts;
  std::optional<contact::Contact> jammed;   ///< the deepest that no force can open; such are not among the contacts
  std::vector<assembly::Instant> instants;  ///< (contacts) of the step: where they are linearised
  std::size_t turned = 0;                   ///< contacts, the last ones, that the last repair linearised anew
  std::vector<double> bias;  ///< (contacts) added to the normal velocity: gap over dt, or the wanted correction [m/s]
  VectorX guess;             ///< (3 contacts) impulses to start from
  friction::FactoredProblem problem;
  friction::FrictionSolution solution;
  std::vector<VectorX> velocities;               ///< (fibres, free bodies) after the impulses
  std::vector<assembly::Vector6> body_impulses;  ///< (free bodies) what contact gives their momentum over the stage
  std::vector<assembly::HoldImpulse> holds;

  /// Sets `guess` to the impulses over `dt` of the nearest contacts of `warm`.
  void take_forces(const assembly::World& world, const std::vector<WarmContact>& warm, double dt);
  /// The contacts that carry a load, or could at once: those closer than `margin`.
  std::vector<WarmContact> forces(double dt, double margin) const;
};

}  // namespace tresse::dynamics::detail
