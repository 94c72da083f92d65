#pragma once

#include <vector>

#include <tresse/assembly/free_motion.hpp>

namespace tresse::dynamics::detail {

/// The free rigid bodies over a part of a step: docs/theory/dynamics.md, "Rigid bodies". The world must outlive it.
class FreeBodies {
 public:
  explicit FreeBodies(const assembly::World& world) : world_(world) {}

  /// Takes the bodies where a part starts, and writes their matrices; motion.stage is that of the part.
  void begin(const assembly::Kinematics& start, assembly::FreeMotion& motion);
  /// Writes their mean velocities without contact. A body turns by itself with what contact gives it: the matrix of the
  /// start stands for that to first order, around the `impulses` of the last pass, if there was one.
  void assemble(const std::vector<assembly::Vector6>* impulses, assembly::FreeMotion& motion) const;
  /// What contact gives them over the stage when it leads to `velocities` (fibres, free bodies).
  std::vector<assembly::Vector6> impulses(const std::vector<VectorX>& velocities,
                                          const assembly::FreeMotion& motion) const;
  /// Moves them to the end that such impulses lead to, and their obstacles in `motion`.
  void go_to_end(const std::vector<assembly::Vector6>& impulses, double theta, assembly::FreeMotion& motion,
                 assembly::Kinematics& end) const;

  const std::vector<bodies::BodyState>& start() const { return start_; }

 private:
  const assembly::World& world_;
  std::vector<bodies::BodyState> start_;
  std::vector<assembly::Vector6> momenta_;  ///< at the start
  std::vector<assembly::Vector6> weights_;  ///< impulse of gravity over the stage
};

}  // namespace tresse::dynamics::detail
