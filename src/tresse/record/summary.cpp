#include <tresse/record/summary.hpp>

#include <fmt/format.h>
#include <sys/resource.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>

#include <tresse/base/errors.hpp>
#include <tresse/base/words.hpp>
#include <tresse/files/atomic_file.hpp>
#include <tresse/files/json.hpp>

namespace tresse::record {
namespace {

using OrderedJson = nlohmann::ordered_json;

/// True also when `value` is a NaN.
bool exceeds(double value, double limit) { return !(value <= limit); }

void add_energy(RunTally& tally, const dynamics::StepReport& report) {
  const auto& [kinetic, elastic, gravity] = report.energies;
  const double scale =
      std::abs(kinetic) + std::abs(elastic) + std::abs(gravity - tally.first_gravity) + std::abs(report.work_external);
  if (std::isfinite(scale)) tally.energy_scale = std::max(tally.energy_scale, scale);
  const auto keep_worst = [&](double value, double& worst, std::int64_t& step) {
    if (std::isnan(worst) || !exceeds(value, worst)) return;  // a NaN, once there, stays the worst
    worst = value;
    step = report.step;
  };
  const double energy = kinetic + elastic + gravity - report.work_external;
  keep_worst(energy - tally.lowest_energy, tally.worst_rise, tally.worst_rise_step);
  keep_worst(report.energy_excess, tally.worst_excess, tally.worst_excess_step);
  tally.least_gap = std::min(tally.least_gap, report.least_gap);
  tally.lowest_energy = std::min(tally.lowest_energy, energy);
}

/// What rises of the energy are measured by. [J]
double energy_scale(const RunTally& tally, const RunLimits& limits) {
  return std::max(tally.energy_scale, limits.little_energy);
}

/// `value` over the scale; infinite where there is none.
double relative(double value, double scale) {
  if (value == 0.0) return 0.0;
  return scale > 0.0 ? value / scale : std::numeric_limits<double>::infinity();
}

/// How many times `limit` a finding may come to and be slight.
constexpr double slight_residual = 100.0;
constexpr double slight_overlap = 5.0;
constexpr double slight_hold = 10.0;

Severity severity_of(double value, double limit, double slight) {
  return exceeds(value, slight * limit) ? Severity::serious : Severity::slight;
}

/// Whatever the tolerance, forces that are this exact can be used.
constexpr double usable_residual = 1e-7;

/// Of steps in which a residual is beyond what was asked.
Severity residual_severity(double residual, double asked) {
  return exceeds(residual, std::max(slight_residual * asked, usable_residual)) ? Severity::serious : Severity::slight;
}

Finding residual_finding(const RunTally& tally, const RunLimits& limits) {
  Finding out{"residual", tally.worst_residual_step, tally.worst_residual, limits.residual,
              tally.missed_steps - tally.missed_apart};
  const bool unsolved = exceeds(tally.worst_nonlinear_residual, slight_residual * limits.nonlinear_residual);
  out.severity = unsolved ? Severity::serious : residual_severity(tally.worst_residual, limits.residual);
  return out;
}

Finding counted_finding(const char* what, const observe::TroubleTally& count, double limit, Severity severity) {
  return {what, count.worst_step, count.worst, limit, count.steps, severity};
}

std::string words(const Finding& finding) {
  if (finding.what == "residual") {
    const std::string missed = counted(finding.steps, "step") + " missed a solver's tolerance";
    if (finding.value <= finding.limit) return missed + ", that of the nonlinear step";
    return fmt::format("{}; worst residual of friction {:.3g} at step {} (limit {:.3g})", missed, finding.value,
                       finding.step, finding.limit);
  }
  if (finding.what == "grains") {
    return fmt::format("{} left the flow of the grains unsolved; worst residual {:.3g} at step {} (limit {:.3g})",
                       counted(finding.steps, "step"), finding.value, finding.step, finding.limit);
  }
  if (finding.what == "cloth") {
    return fmt::format("{} left the motion of a cloth unsolved; worst residual {:.3g} at step {} (limit {:.3g})",
                       counted(finding.steps, "step"), finding.value, finding.step, finding.limit);
  }
  if (finding.what == "penetration") {
    return fmt::format("penetration of {:.3g} m at step {} (limit {:.3g} m)", finding.value, finding.step,
                       finding.limit);
  }
  if (finding.what == "hold") {
    return fmt::format("{} left a held point off its place, worst by {:.3g} radii at step {} (limit {:.3g})",
                       counted(finding.steps, "step"), finding.value, finding.step, finding.limit);
  }
  if (finding.what == "energy") {
    return fmt::format("energy rose by {:.3g} of its scale by step {} (limit {:.3g})", finding.value, finding.step,
                       finding.limit);
  }
  if (finding.what == "motion") {
    return fmt::format("{} left the motion of a fibre without contact unsolved, the worst step {}",
                       counted(finding.steps, "step"), finding.step);
  }
  if (finding.what == "passed-through") {
    return fmt::format("{} let bodies pass through each other, most at step {}", counted(finding.steps, "step"),
                       finding.step);
  }
  if (finding.what == "touched") {
    return fmt::format("{} are not proved to have kept bodies apart under the barrier, the first step {}",
                       counted(finding.steps, "step"), finding.step);
  }
  return fmt::format("the state stopped being finite at step {}", finding.step);
}

OrderedJson verdict(const std::vector<Finding>& found) {
  if (found.empty()) return "sound";
  OrderedJson out = OrderedJson::array();
  for (const Finding& finding : found) {
    OrderedJson entry = {{"what", finding.what}, {"step", finding.step}};
    if (finding.what != "non-finite") entry.update({{"value", finding.value}, {"limit", finding.limit}});
    if (finding.what != "non-finite" && finding.what != "penetration" && finding.what != "energy")
      entry["steps"] = finding.steps;
    entry["severity"] = to_string(finding.severity);
    entry["message"] = words(finding);
    out.push_back(entry);
  }
  return out;
}

/// Of the kinds that were seen.
OrderedJson remarks(const observe::WatchTally& tally) {
  OrderedJson out = OrderedJson::object();
  for (std::size_t i = 0; i < observe::trouble_count; ++i) {
    const observe::TroubleTally& count = tally[i];
    if (count.steps == 0) continue;
    out[observe::to_string(static_cast<observe::Trouble>(i))] = {{"steps", count.steps},
                                                                 {"first_step", count.first_step},
                                                                 {"last_step", count.last_step},
                                                                 {"worst", count.worst},
                                                                 {"worst_step", count.worst_step}};
  }
  return out;
}

/// " Remarked: contact-lost in 3 steps, the first 812; see remarks.csv."; empty when there was nothing.
std::string remarks_in_words(const observe::WatchTally& tally) {
  std::string out;
  for (std::size_t i = 0; i < observe::trouble_count; ++i) {
    if (tally[i].told == 0) continue;
    out += fmt::format("{} {} in {}, the first {}", out.empty() ? "" : ",",
                       observe::to_string(static_cast<observe::Trouble>(i)), counted(tally[i].steps, "step"),
                       tally[i].first_step);
  }
  return out.empty() ? out : fmt::format(" Remarked:{}; see remarks.csv.", out);
}

/// Mean and largest size of each load.
OrderedJson loads(const std::vector<LoadTally>& tallies) {
  OrderedJson out = OrderedJson::array();
  for (const LoadTally& tally : tallies) {
    out.push_back({{"name", tally.name},
                   {"mean_force", tally.mean()},
                   {"max_force", tally.largest},
                   {"max_force_time", tally.largest_time}});
  }
  return out;
}

}  // namespace

namespace {

bool grains_missed(const dynamics::StepReport& report, const RunLimits& limits) {
  return report.grains &&
         (report.grains->status != Status::converged || exceeds(report.grains->residual, limits.grain_residual));
}

bool cloth_missed(const dynamics::StepReport& report, const RunLimits& limits) {
  return std::any_of(report.cloths.begin(), report.cloths.end(), [&](const dynamics::ClothReport& cloth) {
    return cloth.status != Status::converged || exceeds(cloth.residual, limits.cloth_residual);
  });
}

/// Anything but grains and cloth.
bool bodies_missed(const dynamics::StepReport& report, const RunLimits& limits) {
  return report.solver_status != Status::converged || report.motion_status != Status::converged ||
         exceeds(report.residual, limits.residual) || exceeds(report.nonlinear_residual, limits.nonlinear_residual);
}

}  // namespace

bool missed_tolerance(const dynamics::StepReport& report, const RunLimits& limits) {
  return bodies_missed(report, limits) || grains_missed(report, limits) || cloth_missed(report, limits);
}

void begin(RunTally& tally, const rods::RodEnergies& start, double work_external) {
  tally.first_gravity = start.gravity;
  const double scale = std::abs(start.kinetic) + std::abs(start.elastic) + std::abs(work_external);
  if (std::isfinite(scale)) tally.energy_scale = scale;
  tally.lowest_energy = start.kinetic + start.elastic + start.gravity - work_external;
}

void add_overlap(RunTally& tally, double overlap, std::int64_t step) {
  if (std::isnan(tally.worst_penetration) || !exceeds(overlap, tally.worst_penetration)) return;
  tally.worst_penetration = overlap;
  tally.worst_penetration_step = step;
}

void add(RunTally& tally, const dynamics::StepReport& report, const RunLimits& limits) {
  ++tally.steps;
  tally.time = report.time;
  tally.contacts_total += report.contacts;
  tally.contacts_max = std::max<std::int64_t>(tally.contacts_max, report.contacts);
  if (missed_tolerance(report, limits)) ++tally.missed_steps;
  // A NaN, once there, stays the worst.
  if (!std::isnan(tally.worst_residual) && exceeds(report.residual, tally.worst_residual)) {
    tally.worst_residual = report.residual;
    tally.worst_residual_step = report.step;
  }
  if (grains_missed(report, limits)) ++tally.missed_grain_steps;
  if (cloth_missed(report, limits)) ++tally.missed_cloth_steps;
  if (missed_tolerance(report, limits) && !bodies_missed(report, limits)) ++tally.missed_apart;
  for (const dynamics::ClothReport& cloth : report.cloths) {
    if (std::isnan(tally.worst_cloth_residual) || !exceeds(cloth.residual, tally.worst_cloth_residual)) continue;
    tally.worst_cloth_residual = cloth.residual;
    tally.worst_cloth_residual_step = report.step;
  }
  if (report.grains && !std::isnan(tally.worst_grain_residual) &&
      exceeds(report.grains->residual, tally.worst_grain_residual)) {
    tally.worst_grain_residual = report.grains->residual;
    tally.worst_grain_residual_step = report.step;
  }
  add_overlap(tally, report.max_penetration, report.step);
  if (!std::isnan(tally.worst_nonlinear_residual) && exceeds(report.nonlinear_residual, tally.worst_nonlinear_residual))
    tally.worst_nonlinear_residual = report.nonlinear_residual;
  if (!report.finite && tally.not_finite_step == 0) tally.not_finite_step = report.step;
  if (report.finite) add_energy(tally, report);
}

double new_energy_rise(const RunTally& tally, const dynamics::StepReport& report, const RunLimits& limits) {
  const double scale = energy_scale(tally, limits);
  double out = 0.0;
  if (tally.worst_rise_step == report.step && exceeds(tally.worst_rise, limits.energy * scale))
    out = relative(tally.worst_rise, scale);
  if (tally.worst_excess_step == report.step && exceeds(tally.worst_excess, limits.energy_excess * scale))
    out = std::max(out, relative(tally.worst_excess, scale));
  return out;
}

const char* to_string(Severity severity) {
  switch (severity) {
    case Severity::none:
      return "none";
    case Severity::slight:
      return "slight";
    case Severity::serious:
      return "serious";
  }
  return "unknown";
}

std::vector<Finding> findings(const RunTally& tally, const RunLimits& limits) {
  std::vector<Finding> out;
  if (tally.not_finite_step != 0) out.push_back({.what = "non-finite", .step = tally.not_finite_step});
  const observe::TroubleTally& motion = tally.watch[static_cast<std::size_t>(observe::Trouble::motion_unsolved)];
  if (motion.steps > 0) out.push_back(counted_finding("motion", motion, 0.0, Severity::serious));
  if (tally.missed_steps - tally.missed_apart > motion.steps || exceeds(tally.worst_residual, limits.residual))
    out.push_back(residual_finding(tally, limits));
  if (tally.missed_grain_steps > 0)
    out.push_back({"grains", tally.worst_grain_residual_step, tally.worst_grain_residual, limits.grain_residual,
                   tally.missed_grain_steps, residual_severity(tally.worst_grain_residual, limits.grain_residual)});
  if (tally.missed_cloth_steps > 0)
    out.push_back({"cloth", tally.worst_cloth_residual_step, tally.worst_cloth_residual, limits.cloth_residual,
                   tally.missed_cloth_steps, residual_severity(tally.worst_cloth_residual, limits.cloth_residual)});
  if (exceeds(tally.worst_penetration, limits.penetration)) {
    out.push_back({.what = "penetration",
                   .step = tally.worst_penetration_step,
                   .value = tally.worst_penetration,
                   .limit = limits.penetration,
                   .severity = severity_of(tally.worst_penetration, limits.penetration, slight_overlap)});
  }
  const double scale = energy_scale(tally, limits);
  if (exceeds(tally.worst_rise, limits.energy * scale)) {
    out.push_back({"energy", tally.worst_rise_step, relative(tally.worst_rise, scale), limits.energy});
  } else if (exceeds(tally.worst_excess, limits.energy_excess * scale)) {
    out.push_back({.what = "energy",
                   .step = tally.worst_excess_step,
                   .value = relative(tally.worst_excess, scale),
                   .limit = limits.energy_excess,
                   .severity = severity_of(tally.worst_excess, scale, limits.energy)});
  }
  const observe::TroubleTally& through = tally.watch[static_cast<std::size_t>(observe::Trouble::passed_through)];
  if (through.steps > 0) out.push_back(counted_finding("passed-through", through, 0.0, Severity::serious));
  const observe::TroubleTally& touched = tally.watch[static_cast<std::size_t>(observe::Trouble::touched)];
  if (touched.steps > 0) out.push_back(counted_finding("touched", touched, 0.0, Severity::serious));
  const observe::TroubleTally& holds = tally.watch[static_cast<std::size_t>(observe::Trouble::hold_missed)];
  if (holds.steps > 0) {
    const double limit = 0.1;
    out.push_back(counted_finding("hold", holds, limit, severity_of(holds.worst, limit, slight_hold)));
  }
  return out;
}

Severity severity(const std::vector<Finding>& found) {
  Severity out = Severity::none;
  for (const Finding& finding : found) out = std::max(out, finding.severity);
  return out;
}

std::string sentence(const RunTally& tally, const std::vector<Finding>& found) {
  if (found.empty()) {
    return fmt::format(
               "Sound: {}, every friction problem solved (worst residual {:.2g}), deepest penetration {:.2g} m, "
               "nothing "
               "passed through (no gap below {:.2g} m at any time).",
               counted(tally.steps, "step"), tally.worst_residual, tally.worst_penetration, tally.least_gap) +
           (tally.worst_grain_residual_step > 0
                ? fmt::format(" The flow of the grains was solved (worst residual {:.2g}).", tally.worst_grain_residual)
                : "") +
           (tally.worst_cloth_residual_step > 0
                ? fmt::format(" The motion of cloth was solved (worst residual {:.2g}).", tally.worst_cloth_residual)
                : "") +
           remarks_in_words(tally.watch);
  }
  std::string out = severity(found) == Severity::slight ? "Nearly sound: " : "Not sound: ";
  for (std::size_t i = 0; i < found.size(); ++i) out += (i > 0 ? "; " : "") + words(found[i]);
  return out + "." + remarks_in_words(tally.watch);
}

void write_summary(const std::filesystem::path& file, const Summary& summary) {
  const RunTally& tally = summary.tally;
  const std::vector<Finding> found = findings(tally, summary.limits);
  const double steps = static_cast<double>(std::max<std::int64_t>(tally.steps, 1));
  OrderedJson json;
  json["version"] = summary.version;
  json["status"] = summary.status;
  json["threads"] = summary.threads;
  json["steps"] = tally.steps;
  json["time_step"] = summary.time_step;
  json["simulated_seconds"] = tally.time;
  json["wall_seconds"] = summary.timings.wall;
  json["phases"] = {{"detection", summary.timings.detection}, {"assembly", summary.timings.assembly},
                    {"solve", summary.timings.solve},         {"step", summary.timings.step},
                    {"output", summary.timings.output},       {"checkpoint", summary.timings.checkpoint}};
  json["contacts"] = {{"mean", static_cast<double>(tally.contacts_total) / steps}, {"max", tally.contacts_max}};
  json["obstacles"] = loads(summary.obstacles);
  json["holds"] = loads(summary.holds);
  json["roots"] = loads(summary.roots);
  json["worst_residual"] = tally.worst_residual;
  json["worst_residual_step"] = tally.worst_residual_step;
  if (summary.grains) {
    json["worst_grain_residual"] = tally.worst_grain_residual;
    json["worst_grain_residual_step"] = tally.worst_grain_residual_step;
  }
  if (summary.cloth) {
    json["worst_cloth_residual"] = tally.worst_cloth_residual;
    json["worst_cloth_residual_step"] = tally.worst_cloth_residual_step;
  }
  json["missed_tolerance_steps"] = tally.missed_steps;
  json["worst_penetration"] = tally.worst_penetration;
  json["worst_penetration_step"] = tally.worst_penetration_step;
  const double scale = energy_scale(tally, summary.limits);
  json["worst_energy_rise"] = relative(tally.worst_rise, scale);
  json["worst_energy_rise_step"] = tally.worst_rise_step;
  json["worst_energy_excess"] = relative(tally.worst_excess, scale);
  json["worst_energy_excess_step"] = tally.worst_excess_step;
  json["least_gap_proved"] = tally.least_gap;
  json["remarks"] = remarks(tally.watch);
  json["peak_memory_bytes"] = peak_memory();
  json["failures"] = summary.failures;
  if (summary.status == "running") {  // nothing to judge yet
    json["verdict"] = nullptr;
    json["severity"] = nullptr;
    json["sentence"] = fmt::format("Running: {} so far.", counted(tally.steps, "step"));
  } else {
    json["verdict"] = verdict(found);
    json["severity"] = to_string(severity(found));
    json["sentence"] = sentence(tally, found);
  }
  files::write_atomically(file, json.dump(2) + "\n");
}

std::string run_in_brackets(const std::filesystem::path& file) {
  const OrderedJson json = files::read_json_object<OrderedJson>(file);
  if (!json.contains("status") || !json["status"].is_string()) return {};
  if (!json.contains("steps") || !json["steps"].is_number_integer()) return {};
  if (!json.contains("simulated_seconds") || !json["simulated_seconds"].is_number()) return {};
  const std::string status = json["status"];
  const char* ended = status == "finished"      ? "finished"
                      : status == "interrupted" ? "interrupted"
                      : status == "failed"      ? "failed"
                                                : "killed";  // it wrote "running" last
  return fmt::format(" ({}: {}, {:.4g} s)", ended, counted(json["steps"].get<std::int64_t>(), "step"),
                     json["simulated_seconds"].get<double>());
}

RunTimings read_timings(const std::filesystem::path& file) {
  RunTimings out;
  const OrderedJson json = files::read_json_object<OrderedJson>(file);
  const auto number = [](const OrderedJson& object, const char* key) {
    return object.is_object() && object.contains(key) && object[key].is_number() ? object[key].get<double>() : 0.0;
  };
  const OrderedJson phases = json.contains("phases") ? json["phases"] : OrderedJson();
  out.wall = number(json, "wall_seconds");
  out.detection = number(phases, "detection");
  out.assembly = number(phases, "assembly");
  out.solve = number(phases, "solve");
  out.step = number(phases, "step");
  out.output = number(phases, "output");
  out.checkpoint = number(phases, "checkpoint");
  return out;
}

std::uint64_t peak_memory() {
  constexpr std::uint64_t kibibyte = 1024;
  std::ifstream in("/proc/self/status");
  for (std::string line; std::getline(in, line);) {
    if (line.rfind("VmHWM:", 0) == 0) return kibibyte * std::stoull(line.substr(6));
  }
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  return kibibyte * static_cast<std::uint64_t>(usage.ru_maxrss);
}

}  // namespace tresse::record
