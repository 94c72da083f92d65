#pragma once

#include <vector>

#include <tresse/dynamics/detail/part_derivative.hpp>

namespace tresse::dynamics::detail {

/// The derivative of the steps of an engine along variations of what they depend on, carried from step to step beside
/// them: docs/theory/gradients.md. The part must outlive it.
class TangentMotion {
 public:
  /// Throws InvalidInput where something moves that has no derivative, and for sizes that do not fit.
  TangentMotion(const Part& part, std::vector<Variation> variations);

  PartRecorder& recorder() { return recorder_; }
  /// The part ends with this pass: PartRecorder::accept(). `known`: of the last pass that was made.
  void accept(const Pass& pass, bool slowed, KnownMatrices known);

  const std::vector<std::vector<FibreChange>>& changes() const { return changes_; }  ///< (variations) (fibres)
  const DerivativeReport& report() const { return recorder_.report(); }

 private:
  const Part& part_;
  std::vector<Variation> variations_;
  std::vector<std::vector<FibreChange>> changes_;
  std::vector<std::vector<Vector3>> slips_;  ///< (variations) (warm contacts of the state)
  PartRecorder recorder_;
  RecordedPart recorded_;
  PartDerivative derivative_;
};

/// How a variation changes the state at the start. Throws InvalidInput for sizes that do not fit the world.
std::vector<FibreChange> changes_of_start(const assembly::World& world, const Variation& variation);

}  // namespace tresse::dynamics::detail
