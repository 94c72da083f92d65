#pragma once

#include <vector>

#include <tresse/dynamics/detail/carried_motion.hpp>
#include <tresse/dynamics/detail/held_points.hpp>
#include <tresse/dynamics/detail/part.hpp>

namespace tresse::dynamics::detail {

/// The motion of every tree without contact and without what holds it: linearised, or solved where elasticity is not
/// linear. It works on a part, which must outlive it: matrices and velocities of Part::motion come from here.
class TreeMotion {
 public:
  explicit TreeMotion(Part& part);

  /// Begins a part.
  void begin() { carried_.begin(); }
  /// Linearises all trees where the part starts, and what holds them.
  void assemble_at_start(HeldPoints& holds);
  /// Linearises again, at the end that a pass with `velocities` (fibres) predicts, the trees that something touches or
  /// holds: `touched` (trees). Where no contact carries a load (`free`) held points are corrected along the rows that
  /// they have, unless that is too `slow` to bring them home.
  void assemble_at_end(const std::vector<VectorX>& velocities, const std::vector<char>& touched, bool free, bool slow,
                       HeldPoints& holds);

  /// (fibres) of this part, where the free motion is iterated.
  const std::vector<FreeMotionResult>& results() const { return results_; }
  CarriedMotion& carried() { return carried_; }
  const CarriedMotion& carried() const { return carried_; }

 private:
  bool inertia_linearised(int tree) const;
  bool corrects_alone(int tree, bool slow) const;
  void assemble_tree(int tree, const std::vector<VectorX>& v_at, bool at_end);
  void assemble_fibre(int tree, const VectorX& v_at, bool at_end);
  void solve_fibre(int tree);
  void assemble_tree_at_end(int tree, const std::vector<VectorX>& velocities, HeldPoints& holds);
  void linearise_free_motion(int tree);
  FreeMotionResult linearise_inertia(int tree, VectorX& change);
  void inertial_force(int tree, const VectorX& v, VectorX& out);

  Part& part_;
  CarriedMotion carried_;
  std::vector<rods::RodState> tried_;      ///< (fibres) at theta < 1; where the start is seen with other velocities
  std::vector<FreeMotionResult> results_;  ///< (fibres)
};

}  // namespace tresse::dynamics::detail
