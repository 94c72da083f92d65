#pragma once

#include <vector>

#include <tresse/dynamics/detail/balance.hpp>
#include <tresse/dynamics/detail/pass.hpp>

namespace tresse::dynamics::detail {

/// Energies of the fibres and free bodies where they are.
rods::RodEnergies energies_of(const assembly::Kinematics& at);

/// What contacts, obstacles, holds and growth do over a part; MomentumBooks adds the rest. `contacts`: those of the
/// pass, as described. `there`: what energy there is [J].
PartWorks works_of(const Part& part, const Pass& pass, const std::vector<ContactReport>& contacts,
                   const StartOverlaps& overlaps, const HeldPoints& holds, double there);

/// Takes `surplus` from the kinetic energy of the trees at the end, or all that can be taken if that is less: their
/// velocities shrink, but for the mean velocity of free ones.
void damp(Part& part, double surplus);

/// The books of energy of the steps: docs/theory/energy.md, "Books".
class EnergyBooks {
 public:
  /// `floor`: what is little energy for this world, whatever moves in it [J].
  explicit EnergyBooks(double floor) : floor_(floor) {}

  /// Begins at a state, or goes on to it.
  void begin(const rods::RodEnergies& energies) { energies_ = energies; }
  const rods::RodEnergies& energies() const { return energies_; }
  /// What energy there is at the state, at least. [J]
  double there() const { return energies_.kinetic + energies_.elastic + floor_; }

  /// Energy that a part gained from nothing, if positive. Contact takes energy; what it may give is what pushing out
  /// the overlaps of the start needs, and a small share of what passes through it. A contact whose gap is far from
  /// linear over the part gives more. [J]
  double gain(const rods::RodEnergies& end, const PartWorks& works) const;
  /// What SimulationState::energy_excess may come to at an end: a small part of the energy that moves, what rounding
  /// makes of the potential, and what the books leave open. [J]
  double allowed_excess(const rods::RodEnergies& end, const PartWorks& works) const;

 private:
  rods::RodEnergies energies_;
  double floor_ = 0.0;
};

}  // namespace tresse::dynamics::detail
