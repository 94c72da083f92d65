#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include <tresse/record/run.hpp>
#include <tresse/scene/variations.hpp>

namespace tresse::app {

/// What `tresse run --gradient` makes beside a run: how far points of fibres end up from where they were wanted, as the
/// weighted sum of squared distances at given times, and its derivative by each number of the scene. No file is named:
/// nothing is made.
class RunGradient {
 public:
  /// Reads rows of `time,fibre,arc_length,x,y,z`, with a column `weight` or without; each time is taken at the nearest
  /// step. Throws InvalidInput, one line, for what does not fit the scene or the run, and for scenes without
  /// derivatives.
  RunGradient(const std::filesystem::path& targets, const record::RunPlan& plan, const scene::Case& built);

  /// Before the first step.
  void begin(dynamics::Stepper& stepper);
  /// After each step.
  void look(dynamics::Stepper& stepper);
  /// At the end: writes gradient.json, whole or not at all, and returns a sentence on it.
  std::string write(const std::filesystem::path& folder, const dynamics::Stepper& stepper) const;

  bool wanted() const { return wanted_; }

 private:
  struct Target {
    int fibre = 0;
    dynamics::AxisPlace place;
    Vector3 position;
    double weight = 1.0;
  };
  void read(const std::filesystem::path& targets, const record::RunPlan& plan, const scene::Case& built);

  bool wanted_ = false;
  std::multimap<std::int64_t, Target> targets_;  ///< by step
  std::vector<scene::NamedVariation> variations_;
  double value_ = 0.0;    ///< [m^2] times the unit of the weights
  std::size_t seen_ = 0;  ///< targets
};

}  // namespace tresse::app
