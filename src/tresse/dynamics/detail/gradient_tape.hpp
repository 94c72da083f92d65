#pragma once

#include <vector>

#include <tresse/dynamics/detail/part_derivative.hpp>

namespace tresse::dynamics::detail {

/// The steps of an engine, kept for the gradient of what depends on their states: docs/theory/gradients.md, "Backward".
/// The part must outlive it.
class GradientTape {
 public:
  /// Throws InvalidInput where something moves that has no derivative.
  explicit GradientTape(const Part& part);

  PartRecorder& recorder() { return recorder_; }
  /// The part ends with this pass: PartRecorder::accept().
  void accept(const Pass& pass, bool slowed);
  /// Adds the derivative of the objective by the present state, (fibres). Throws InvalidInput for sizes that do not
  /// fit.
  void add(const std::vector<FibreChange>& by_state);
  /// The derivative of the objective by all that is varied. Tells in `report` what it leaves out.
  Variation gradient(DerivativeReport& report) const;

  const DerivativeReport& report() const { return recorder_.report(); }

 private:
  const Part& part_;
  PartRecorder recorder_;
  std::vector<RecordedPart> parts_;
  std::vector<std::vector<FibreChange>> by_states_;  ///< (parts + 1), empty: none
  bool whole_ = true;                                ///< every part was recorded
};

}  // namespace tresse::dynamics::detail
