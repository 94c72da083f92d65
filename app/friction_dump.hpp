#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include <tresse/dynamics/stepper.hpp>

namespace tresse::app {

/// Steps first, first + every, ... up to last.
struct StepRange {
  std::int64_t first = 1;
  std::int64_t last = 0;
  std::int64_t every = 1;
};

/// "100", "100:200", "100:200:10", several with commas, "all" or empty. Throws InvalidInput, one line.
std::vector<StepRange> parse_step_choice(const std::string& text);

/// Writes the friction problems that chosen steps of a run kept as FCLIB files: FOLDER/step-N.hdf5. Steps without
/// contacts leave none: FCLIB has no empty problems.
class FrictionDump {
 public:
  /// An empty folder: nothing is dumped. Makes the folder, and throws SystemFailure when nothing can be written there.
  FrictionDump(std::filesystem::path folder, const std::string& steps, std::string title);
  /// Watches the stepper, which it must outlive.
  void follow(dynamics::Stepper& stepper);
  /// After each step that is kept.
  void write(const dynamics::Stepper& stepper, const dynamics::StepReport& report);

 private:
  struct Kept {
    friction::FactoredProblem problem;
    VectorX guess, impulse;
    double dt = 0.0;
  };
  bool chosen(std::int64_t step) const;

  std::filesystem::path folder_;
  std::vector<StepRange> steps_;
  std::string title_;
  std::optional<Kept> kept_;  ///< the last part's
};

}  // namespace tresse::app
