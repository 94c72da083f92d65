#pragma once

#include <optional>

#include <tresse/dynamics/stepper.hpp>
#include <tresse/grains/flow.hpp>

namespace tresse::dynamics::detail {

/// The grains of a world, if it has any: they step by themselves.
class GrainMotion {
 public:
  /// Throws InvalidInput for a medium that cannot be.
  explicit GrainMotion(const assembly::World& world);

  /// Moves the grains over a whole step, reports it, and adds their forces to those on obstacles. False where they end
  /// in no finite state: then `state` is left as it was.
  bool advance(const assembly::World& world, const StepOptions& options, grains::GrainState& state, StepReport& report);

  const grains::Flow* flow() const { return flow_ ? &*flow_ : nullptr; }  ///< nullptr without grains

 private:
  std::optional<grains::Flow> flow_;
};

}  // namespace tresse::dynamics::detail
