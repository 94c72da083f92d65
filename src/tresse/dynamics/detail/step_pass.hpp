#pragma once

#include <algorithm>
#include <vector>

#include <tresse/dynamics/stepper.hpp>

namespace tresse::dynamics {

/// Contacts of one linearisation, their friction problem and its solution.
struct Stepper::Pass {
  assembly::Instant instant = assembly::Instant::begin;  ///< configuration that the contacts were found in
  std::vector<contact::Contact> contacts;
  std::vector<double> bias;  ///< (contacts) added to the normal velocity: gap over dt, or the wanted correction [m/s]
  std::vector<double> start_gap;  ///< (contacts) gap at the start of the step, as far as it is known [m]
  double max_penetration = 0.0;   ///< of the configuration [m]
  double overlap = 0.0;           ///< largest shortfall of a gap from the wanted one, passes after the first [m]
  VectorX guess;                  ///< (3 contacts) impulses to start from
  friction::FactoredProblem problem;
  friction::FrictionSolution solution;
  std::vector<VectorX> velocities;  ///< (fibres) after the impulses

  /// Finds the contacts that matter in this step and their bias. `previous`: the pass whose end this configuration is.
  void detect(const assembly::World& world, const contact::Geometry& geometry,
              const std::vector<contact::CandidatePair>& pairs, const assembly::FreeMotion& motion,
              const StepOptions& options, const Pass* previous);
  static void add_lost_contacts(const contact::Geometry& geometry, const Pass& previous,
                                std::vector<contact::Contact>& found);
  /// Sets `guess` from impulses of matching contacts.
  void take_impulses(const std::vector<WarmContact>& warm, const contact::Geometry& geometry);
  std::vector<WarmContact> impulses(const contact::Geometry& geometry) const;

  bool finite() const {
    return std::all_of(velocities.begin(), velocities.end(), [](const VectorX& v) { return v.allFinite(); });
  }
};

}  // namespace tresse::dynamics
