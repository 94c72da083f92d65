#pragma once

#include <memory>
#include <optional>
#include <vector>

#include <tresse/assembly/contact_problem.hpp>
#include <tresse/dynamics/detail/free_bodies.hpp>
#include <tresse/dynamics/detail/held_points.hpp>
#include <tresse/dynamics/detail/part.hpp>
#include <tresse/dynamics/detail/start_overlaps.hpp>

namespace tresse::dynamics::detail {

/// Contacts of one linearisation, their friction problem and its solution.
struct Pass {
  SharedConfiguration at;    ///< where the contacts were found, but for those that were repaired
  std::vector<Pose> places;  ///< (obstacles) where they stand: free bodies go on to the end that this pass predicts
  std::vector<contact::Contact> contacts;
  std::vector<contact::Contact> jammed;     ///< those that no force can open; they are not among the contacts
  std::vector<assembly::Instant> instants;  ///< (contacts) of the step: where they are linearised
  std::size_t turned = 0;                   ///< contacts, the last ones, that the last repair linearised anew
  /// (contacts) added to the velocity in the contact basis: the gap over dt or the wanted correction, and the slip that
  /// is to be taken back [m/s]
  std::vector<Vector3> bias;
  /// (contacts) WarmContact::slip at the start of the part; note_slips() brings it to its end [m]
  std::vector<std::optional<Vector3>> slips;
  std::vector<int> warm_of;  ///< (contacts) the warm contact that it was taken for; -1: none
  /// (contacts) normal velocity at the start of the part, or of the free motion where that comes less fast. Empty:
  /// nothing bounces [m/s]
  std::vector<double> approach;
  int rebounds = 0;  ///< contacts that are to rebound from it
  /// (contacts) friction of what slides, and whether the contact slid before this part. Empty: as of what sticks
  std::vector<double> kinetic;
  std::vector<char> slid;
  VectorX guess;  ///< (3 contacts) impulses to start from
  friction::FactoredProblem problem;
  friction::FrictionSolution solution;
  std::vector<VectorX> velocities;               ///< (fibres, free bodies) after the impulses
  std::vector<assembly::Vector6> body_impulses;  ///< (free bodies) what contact gives their momentum over the stage
  std::vector<assembly::HoldImpulse> holds;
};

/// The part of a vector that is tangential to a contact.
inline Vector3 along_surface(const contact::Contact& contact, const Vector3& x) {
  const Vector3 normal = contact.frame.col(0);
  return x - normal * normal.dot(x);
}
/// The contacts of a pass that carry a load, or could at once: those closer than the contact margin. [N]
/// `slides` says what they did in this pass, or `before` it.
std::vector<WarmContact> warm_contacts(const Part& part, const Pass& pass, bool before = false);
/// (trees) whether a contact of a pass is on them or something holds them.
std::vector<char> touched_trees(const Part& part, const Pass& pass, const HeldPoints& holds);
/// Makes a pass one that leaves a tree where it is, at rest and without a load.
void stand_still(const Part& part, int tree, Pass& pass);
/// The same of all trees whose roots nothing moves and whose elasticity is linear, which can always go on from there;
/// the friction problem counts as unsolved. False where none is, or where what is left cannot be gone on with.
bool stand_still(const Part& part, Pass& pass);

/// Makes and solves the friction problems of the passes, in memory that it keeps. Everything that it is given must
/// outlive it.
class PassSolver {
 public:
  PassSolver(const Part& part, const FreeBodies& bodies, const HeldPoints& holds, const StartOverlaps& overlaps);

  /// The contacts of `at` that matter in this part, with the bias of their normal velocity, their problem and the guess
  /// from `warm`. `before`: the velocities of the pass whose end `at` is; none at the start.
  Pass linearise(const SharedConfiguration& at, const std::vector<VectorX>* before,
                 const std::vector<WarmContact>& warm, StepReport& report);
  /// From `guess`, to the solver's tolerance or this one, whichever is larger, in what is left of its iterations when
  /// `taken` are gone. Where Gauss-Seidel runs out of them and contacts are few, all solvers are tried in turn, from
  /// zero.
  void solve(Pass& pass, double tolerance, int taken, StepReport& report);
  /// A pass, not yet solved, of those contacts of `pass` which are not `left_out`, as they are, and after them of the
  /// contacts of `turned`, linearised at the end, where the rods are and `geometry` has them; with its bias and guess.
  /// Takes the problem of `pass`.
  Pass replaced(Pass& pass, const std::vector<char>& left_out, const Pass& turned, const contact::Geometry& geometry,
                StepReport& report);
  /// Appends a contact, where the rods of `at` are, to a pass: with the bias of its normal velocity, and whether it
  /// rebounds. `gap`: at the start of the part, linearised. [m]
  void append(const assembly::Kinematics& at, const contact::Geometry& geometry, const contact::Contact& contact,
              double gap, assembly::Instant instant, Pass& pass) const;
  /// Adds to the bias of a contact what takes its slip back.
  void take_back(std::size_t contact, Pass& pass) const;
  /// Velocities that tell how far from the start of the part the contacts of a pass may be at its end: those that it
  /// ends with; where something rebounds, by how much they changed.
  std::vector<VectorX> ways(const Pass& pass) const;
  /// Takes the memory of a pass that is done with.
  void reuse(Pass& pass);

 private:
  const Part& part_;
  const FreeBodies& bodies_;
  const HeldPoints& holds_;
  const StartOverlaps& overlaps_;
  void solve_exactly(Pass& pass, double tolerance, int taken) const;
  /// Solves again, from there, with the kinetic friction of what slides, until nothing slides with a larger one.
  void weaken(Pass& pass, friction::SolverOptions options) const;
  /// The impulses of a pass under the penalty law; `stiffness`: of each contact, as it chose it. (contacts) [N/m]
  laws::PenaltySolution solve_penalty(const Pass& pass, VectorX& stiffness) const;

  double load_ = 0.0;                      ///< that a penalty law's stiffness is taken from in this part [N]
  bool weakens_ = false;                   ///< whether what slides has a smaller friction than what sticks
  bool bounces_ = false;                   ///< whether the law has a restitution above 0
  std::vector<VectorX> start_velocities_;  ///< (fibres, free bodies) of the part; where something bounces
  assembly::ContactWorkspace workspace_;
  friction::FactoredProblem spare_;
  std::vector<VectorX> spare_velocities_;
};

}  // namespace tresse::dynamics::detail
