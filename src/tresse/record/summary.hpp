#pragma once

#include <cstdint>
#include <filesystem>
#include <limits>
#include <string>
#include <vector>

#include <tresse/dynamics/report.hpp>
#include <tresse/observe/watch.hpp>
#include <tresse/record/loads.hpp>

/// What summary.json says, gathered step by step, and the verdict on the run.
namespace tresse::record {

/// What a sound step keeps to.
struct RunLimits {
  double residual = 1e-12;   ///< scaled natural-map error of the friction solver [-]; > 0
  double penetration = 0.0;  ///< deepest overlap [m]; >= 0
  /// Relative residual of the implicit step; > 0. Infinite for schemes that do not iterate on it.
  double nonlinear_residual = std::numeric_limits<double>::infinity();
  /// Rise of kinetic + elastic + gravity - work_external above its lowest value so far, relative to the largest sum of
  /// kinetic and elastic energy, change of the gravity energy and work, and to `little_energy`: contact with friction
  /// and damping only dissipate. > 0
  double energy = 0.05;
  double energy_excess = 1e-6;  ///< StepReport::energy_excess, relative to the same; > 0
  double grain_residual = 0.0;  ///< GrainReport::residual [-]
  double cloth_residual = 0.0;  ///< ClothReport::residual [-]
  double little_energy = 0.0;   ///< assembly::energy_floor() [J]
};

/// Counters over all steps. The same for any number of threads and however often a run was resumed.
struct RunTally {
  std::int64_t steps = 0;
  double time = 0.0;                ///< at the end of the last step [s]
  std::int64_t contacts_total = 0;  ///< summed over steps
  std::int64_t contacts_max = 0;
  double worst_residual = 0.0;                 ///< [-]
  std::int64_t worst_residual_step = 0;        ///< 0: none
  std::int64_t missed_steps = 0;               ///< those of missed_tolerance()
  double worst_penetration = 0.0;              ///< [m]
  std::int64_t worst_penetration_step = 0;     ///< 0: none
  std::int64_t not_finite_step = 0;            ///< first with a NaN or an infinity; 0: none
  double worst_nonlinear_residual = 0.0;       ///< of the implicit step [-]
  double first_gravity = 0.0;                  ///< gravity energy before the first step [J]
  double energy_scale = 0.0;                   ///< see RunLimits::energy [J]
  double lowest_energy = 0.0;                  ///< of kinetic + elastic + gravity - work_external [J]
  double worst_rise = 0.0;                     ///< above lowest_energy [J]
  std::int64_t worst_rise_step = 0;            ///< 0: none
  double worst_excess = 0.0;                   ///< StepReport::energy_excess [J]
  std::int64_t worst_excess_step = 0;          ///< 0: none
  double least_gap = 0.0;                      ///< StepReport::least_gap, proved [m]
  double worst_grain_residual = 0.0;           ///< GrainReport::residual [-]
  std::int64_t worst_grain_residual_step = 0;  ///< 0: none
  std::int64_t missed_grain_steps = 0;         ///< of `missed_steps`, those in which grains were not solved
  std::int64_t missed_apart = 0;               ///< of `missed_steps`, those in which nothing but grains or cloth missed
  double worst_cloth_residual = 0.0;           ///< ClothReport::residual [-]
  std::int64_t worst_cloth_residual_step = 0;  ///< 0: none
  std::int64_t missed_cloth_steps = 0;         ///< of `missed_steps`, those in which a cloth was not solved
  observe::WatchTally watch{};
};

/// True when a solver of this step missed its tolerance or said that it did not converge; what the tally counts, what
/// is kept in failure/ and what `--strict` is about.
bool missed_tolerance(const dynamics::StepReport& report, const RunLimits& limits);

/// Opens the books of energy with those of the state before the first step. `work_external`: SimulationState's [J]
void begin(RunTally& tally, const rods::RodEnergies& start, double work_external);

void add(RunTally& tally, const dynamics::StepReport& report, const RunLimits& limits);
/// An overlap [m] that the state before this step, or at the end of this last one, was found with.
void add_overlap(RunTally& tally, double overlap, std::int64_t step);

/// Rise of the energy, or what of it came from nothing, over its scale, when the step added last raised it to a new
/// worst beyond the limit; else 0.
double new_energy_rise(const RunTally& tally, const dynamics::StepReport& report, const RunLimits& limits);

/// Wall-clock seconds, over all parts of a run that was resumed.
struct RunTimings {
  double wall = 0.0;
  double detection = 0.0;
  double assembly = 0.0;
  double solve = 0.0;
  double step = 0.0;        ///< whole steps, the three above included
  double output = 0.0;      ///< writing files
  double checkpoint = 0.0;  ///< part of `output`
};

enum class Severity {
  none,
  slight,   ///< beyond a limit, by so little that forces and shapes can still be used
  serious,  ///< do not trust the results
};

/// "none", "slight", "serious": the name in files.
const char* to_string(Severity severity);

/// One thing that was not sound.
struct Finding {
  std::string what;  ///< "residual", "grains", "cloth", "penetration", "energy", "hold", "motion", "passed-through",
                     ///< "touched", "non-finite"
  std::int64_t step = 0;  ///< the worst
  double value = 0.0;     ///< there
  double limit = 0.0;
  std::int64_t steps = 1;  ///< how many, where counted: all but "penetration", "energy", "non-finite"
  Severity severity = Severity::serious;
};

/// Empty: sound.
std::vector<Finding> findings(const RunTally& tally, const RunLimits& limits);

/// Of the worst.
Severity severity(const std::vector<Finding>& found);

/// The verdict in one sentence.
std::string sentence(const RunTally& tally, const std::vector<Finding>& found);

struct Summary {
  std::string version;
  int threads = 1;
  double time_step = 0.0;  ///< [s]
  bool grains = false;     ///< whether there are any
  bool cloth = false;      ///< likewise
  std::string status;      ///< "running", "finished", "interrupted", "failed"
  RunTally tally;
  std::vector<LoadTally> obstacles;
  std::vector<LoadTally> holds;
  std::vector<LoadTally> roots;
  RunTimings timings;
  RunLimits limits;
  std::vector<std::string> failures;  ///< files of bad steps, relative to the folder
};

void write_summary(const std::filesystem::path& file, const Summary& summary);

/// " (finished: 400 steps, 2 s)" of a run's summary; empty where it tells nothing. Throws nothing.
std::string run_in_brackets(const std::filesystem::path& file);

/// The timings of a summary.json; zeros where it is missing or damaged: they are for information only.
RunTimings read_timings(const std::filesystem::path& file);

/// Largest resident memory of this process so far [bytes].
std::uint64_t peak_memory();

}  // namespace tresse::record
