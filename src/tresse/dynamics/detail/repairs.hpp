#pragma once

#include <functional>

#include <tresse/dynamics/detail/contact_finder.hpp>
#include <tresse/dynamics/detail/pass.hpp>

namespace tresse::dynamics::detail {

/// Contacts whose normal turns on the way, so that the end of a pass overlaps: docs/theory/dynamics.md, "Repairs".
/// Everything that it is given must outlive it.
class Repairs {
 public:
  /// Tolerance of a solve that tells which contacts turn, before the one that counts.
  static constexpr double roughly = 1e-3;

  Repairs(const Part& part, const HeldPoints& holds, const StartOverlaps& overlaps, ContactFinder& finder,
          PassSolver& solver)
      : part_(part), holds_(holds), overlaps_(overlaps), finder_(finder), solver_(solver) {}

  /// Whether contacts of a pass can be linearised elsewhere than the rest: on fibres, or what is moved by none, without
  /// held points or branches. Not where whole passes are asked for: those take gravity anew as well.
  bool possible() const;
  /// Repairs a pass that was solved roughly as long as what it knows overlaps at its end, where the rods are; then
  /// solves it. `go_to_end` moves the rods to where a pass ends, and is false where that is no state to go on from.
  SubstepResult mend(Pass& pass, const std::function<bool(const Pass&)>& go_to_end, StepReport& report);
  /// Solves a pass again with those contacts linearised at `end`, where it leads and where the rods are, that overlap
  /// there, each in the place of the nearest of its two bodies. All others stay as they are, and so do their impulses
  /// at first. False, and nothing changed, when none overlaps more than is tolerated, or nearly so where the solve is a
  /// rough one.
  bool repair(const Configuration& end, double tolerance, Pass& pass, StepReport& report);

 private:
  /// The deep contacts at the end that a pass predicts, where the rods are, between pieces that had a contact within
  /// reach and their neighbours; after a repair on the bodies that it was about, as all others hardly moved. Nearly all
  /// that overlap there are among them; the search of all pairs finds the rest.
  SharedConfiguration find_turned(const Pass& pass, StepReport& report);

  const Part& part_;
  const HeldPoints& holds_;
  const StartOverlaps& overlaps_;
  ContactFinder& finder_;
  PassSolver& solver_;
};

}  // namespace tresse::dynamics::detail
