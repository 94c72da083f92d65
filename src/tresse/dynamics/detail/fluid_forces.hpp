#pragma once

#include <optional>
#include <vector>

#include <tresse/dynamics/detail/part.hpp>
#include <tresse/fluid/resistance.hpp>
#include <tresse/math/anderson.hpp>

namespace tresse::dynamics::detail {

/// What the fluid does to the fibres over a part of a step: docs/theory/fluid.md, "In the step". Its resistance is that
/// of where the part begins, its force that of the velocities over the part. The step matrix has a drag of each point
/// alone; what the whole force is beyond that, Part::fluid_force, is of velocities that are found by iteration. Does
/// nothing in a world without a fluid. The part must outlive it.
class FluidForces {
 public:
  explicit FluidForces(Part& part);

  bool present() const { return resistance_.has_value(); }
  /// Begins a part, after begin_part(): the forces are those that the last two parts lead one to expect, or those of
  /// the velocities at the start.
  void begin(const FluidState& from);
  /// Finds the forces of the velocities of a pass, (fibres), whose end Part::end is, and hands out the next to try. How
  /// far off those were that the pass had: the change of velocity that they would make, relative to the velocity, in
  /// the norm of the step matrix.
  double update(const std::vector<VectorX>& velocities);
  /// Makes what the last update() found that of the state, and reports it.
  void accept(FluidState& state, StepReport& report) const;

 private:
  std::vector<Vector3> nodes(const assembly::Kinematics& at) const;
  void place(const std::vector<Vector3>& nodes);
  void find(const VectorX& velocities_of_nodes, const std::vector<VectorX>& velocities, const assembly::Kinematics& at);
  void hand_out();
  double relative_size(const VectorX& change, const std::vector<VectorX>& velocities) const;

  Part& part_;
  std::optional<fluid::Resistance> resistance_;
  fluid::Chains chains_;
  std::vector<Eigen::Index> first_dof_;  ///< (fibres + 1)
  std::vector<Vector3> start_;           ///< (nodes) where the part begins [m]
  VectorX factored_at_;                  ///< (3 nodes) where the factors are of; empty: none
  int spent_ = 0;                        ///< iterations that younger factors would have saved
  VectorX densities_;                    ///< (3 nodes) on the fluid [N/m]
  VectorX found_;                        ///< (dof of all fibres) Part::fluid_force of the last velocities
  VectorX used_;                         ///< likewise, of the pass under way
  double off_ = 0.0;                     ///< as the last update() had it
  math::AndersonMixing mixing_{5};       ///< of used_ and found_ of the last passes
};

/// Sum of the forces of the fluid on a fibre, and their moment about the world's origin. [N], [N m]
Twist fluid_load(const Part& part, int fibre);

}  // namespace tresse::dynamics::detail
