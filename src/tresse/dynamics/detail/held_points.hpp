#pragma once

#include <vector>

#include <tresse/assembly/holds.hpp>
#include <tresse/contact/detection.hpp>
#include <tresse/dynamics/stepper.hpp>

namespace tresse::dynamics::detail {

/// What holds fibres over a part of a step, and how far off it is: docs/theory/dynamics.md, "Held points". It works on
/// the holds and velocities of a FreeMotion; that, the world and the options must outlive it.
class HeldPoints {
 public:
  HeldPoints(const assembly::World& world, const StepOptions& options, assembly::FreeMotion& motion);

  /// Begins a part that ends at this time [s]: which holds are under way.
  void begin(double end);
  /// How far off held points are at the start, under `forces` (holds) on their fibres [N]. As of overlaps, a part of a
  /// step undoes its share alone, and a step no more than a thousandth of the length: all of it in the shortest part
  /// would take violent velocities.
  void note_offsets(const assembly::Kinematics& start, const std::vector<Vector3>& forces);

  bool held(int tree) const { return !motion_.holds[static_cast<std::size_t>(tree)].holds.empty(); }
  /// Whether something holds a fibre whose elasticity is not linear.
  bool iterated() const;
  /// Whether both sides of a contact are obstacles or within so many radii of a clamped root or a held point. Within
  /// one it hardly gives way: in an element of the length L by s^4 / (4 E I L) for each newton at the arc length s, so
  /// that rounding would make its force any size. Hair that grows out of a head, or lies on it from its root on,
  /// touches it so.
  bool cannot_give_way(const assembly::Kinematics& start, const contact::Geometry& geometry,
                       const contact::Contact& contact, double radii = 1.0) const;

  /// Linearises what holds a tree in the shapes `at`.
  void linearise(const assembly::Kinematics& at, int tree);
  /// Adds to the velocities of held trees what brings their points where they are wanted; as assembly::keep_holds().
  void keep(const assembly::Kinematics& at, const std::vector<VectorX>* reached);
  /// Notes the velocities of a held tree as those without what holds it, for let_go().
  void note_free(int tree);
  void let_go(int tree);

  /// Loads of all holds when contacts carry `impulse` (3 contacts). [N s], [N m s]
  std::vector<assembly::HoldImpulse> impulses(const assembly::Kinematics& at, const contact::Geometry& geometry,
                                              const std::vector<contact::Contact>& contacts,
                                              const VectorX& impulse) const;
  /// (holds) on their fibres. [N]
  std::vector<Vector3> forces(const std::vector<assembly::HoldImpulse>& impulses) const;
  /// What a hold does over this part, whose velocities are `velocities`: the work of leading it, and of bringing its
  /// point to where it is led. A point that was off can bring that much back, and a hold that gave what it had stored
  /// and no longer stores: more would be energy from nothing. [J]
  double work(const assembly::Kinematics& end, const assembly::HoldImpulse& impulse,
              const std::vector<VectorX>& velocities) const;

  struct Miss {
    double farthest = 0.0;  ///< [m]
    double relative = 0.0;  ///< to the fibre's length
  };
  static constexpr double lost = 1e-5;  ///< of a fibre's length, off from where it is held
  /// How far off held points are at the end.
  Miss miss(const assembly::Kinematics& end, const std::vector<assembly::HoldImpulse>& impulses) const;
  /// Trees that end so far from where they are held that it tells nothing, as where what holds and what pushes
  /// contradict each other.
  std::vector<int> lost_trees(const assembly::Kinematics& end,
                              const std::vector<assembly::HoldImpulse>& impulses) const;

  /// Begins the passes of a part.
  void begin_passes() { relaxed_.assign(motion_.holds.size(), {}); }
  /// The next pass corrects the held points of a tree along the rows of one before.
  void note_corrected(int tree, bool corrected) { relaxed_[static_cast<std::size_t>(tree)].corrected = corrected; }
  /// Before held trees are linearised where a pass ends. A taut fibre turns the way that the last linearisation lets
  /// it, and overshoots: where passes are `slow` to bring held points home, its next linearisation goes a share of the
  /// way alone, by the secant of the last two (Aitken); passes that corrected held points alone tell no secant. Whether
  /// that is so of a tree, whose `velocities` then lead there; `predicted` are then those that the pass had.
  bool relax(bool slow, std::vector<VectorX>& velocities, std::vector<VectorX>& predicted);

 private:
  /// Of a held tree, velocities (dof) over this part: which led to where the last pass was linearised, by how much that
  /// pass changed them, and which share of the change was gone.
  struct Relaxation {
    VectorX towards;
    VectorX change;
    double share = 1.0;
    bool corrected = false;  ///< that pass corrected held points along the rows of one before
  };

  const rods::RodModel& model_of(const assembly::Hold& hold) const { return *world_.fibres[hold.fibre].model; }

  const assembly::World& world_;
  const StepOptions& options_;
  assembly::FreeMotion& motion_;
  double end_ = 0.0;                 ///< of the part [s]
  std::vector<VectorX> free_;        ///< (held trees) velocity without contact and holds
  std::vector<Relaxation> relaxed_;  ///< (trees)
};

}  // namespace tresse::dynamics::detail
