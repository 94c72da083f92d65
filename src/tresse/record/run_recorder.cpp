#include <tresse/record/run_recorder.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <utility>

#include <tresse/base/errors.hpp>
#include <tresse/base/log.hpp>
#include <tresse/base/stopwatch.hpp>
#include <tresse/files/csv.hpp>
#include <tresse/record/outputs.hpp>
#include <tresse/record/tables.hpp>
#include <tresse/record/trajectory.hpp>

namespace tresse::record {
namespace {

namespace fs = std::filesystem;

constexpr const char* scene_file = "scene.toml";
constexpr const char* summary_file = "summary.json";
constexpr const char* gradient_file = "gradient.json";
constexpr const char* steps_file = "steps.csv";
constexpr const char* forces_file = "forces.csv";
constexpr const char* holds_file = "holds.csv";
constexpr const char* roots_file = "roots.csv";
constexpr const char* fluid_file = "fluid.csv";
constexpr const char* grains_file = "grains.csv";
constexpr const char* cloth_file = "cloth.csv";
constexpr const char* remarks_file = "remarks.csv";
constexpr const char* trajectory_file = "trajectory.h5";
constexpr const char* log_file = "trajectory.log";
constexpr const char* checkpoint_file = "checkpoint.h5";
constexpr const char* failure_folder = "failure";
constexpr std::size_t failure_limit = 8;
constexpr double rebuild_growth = 1.5;            // of the log: all builds together cost at most three times the last
constexpr std::chrono::seconds rebuild_pause{2};  // a short run is built once, at its end
constexpr int rebuild_share = 100;  // builds take a hundredth of the time at most: the log can be read as well

/// N of "step-N.h5", or -1.
std::int64_t failure_step(const std::string& name) {
  constexpr std::string_view head = "step-";
  constexpr std::string_view tail = ".h5";
  if (name.size() <= head.size() + tail.size() || name.rfind(head, 0) != 0) return -1;
  if (name.substr(name.size() - tail.size()) != tail) return -1;
  const std::string digits = name.substr(head.size(), name.size() - head.size() - tail.size());
  constexpr std::size_t most_digits = 18;
  if (digits.size() > most_digits || digits.find_first_not_of("0123456789") != std::string::npos) return -1;
  return std::stoll(digits);
}

/// Removes failure/step-N.h5 with N > last; the names of the others, relative to `folder`, by step.
std::vector<std::string> keep_failures(const fs::path& folder, std::int64_t last) {
  std::vector<std::pair<std::int64_t, std::string>> kept;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(folder / failure_folder, error)) {
    const std::string name = entry.path().filename().string();
    const std::int64_t step = failure_step(name);
    const bool left_over = entry.path().extension() == ".tmp" && failure_step(entry.path().stem().string()) >= 0;
    if (step > last || left_over) {
      files::remove_file(entry.path());
    } else if (step >= 0) {
      kept.emplace_back(step, std::string(failure_folder) + "/" + name);
    }
  }
  fs::remove(folder / failure_folder, error);  // only when empty
  std::sort(kept.begin(), kept.end());
  std::vector<std::string> names;
  names.reserve(kept.size());
  for (auto& [step, name] : kept) names.push_back(std::move(name));
  return names;
}

/// "line 12: 'friction = 0.3', now 'friction = 0.5'" for the first line that differs.
std::string first_difference(const std::string& before, const std::string& now) {
  constexpr std::size_t shown = 60;
  const auto line_at = [](const std::string& text, std::size_t begin) {
    return begin > text.size() ? std::string() : text.substr(begin, text.find('\n', begin) - begin);
  };
  const auto next = [](const std::string& text, std::size_t begin) {
    const std::size_t end = begin > text.size() ? std::string::npos : text.find('\n', begin);
    return end == std::string::npos ? text.size() + 1 : end + 1;
  };
  std::size_t a = 0;
  std::size_t b = 0;
  for (int line = 1;; ++line, a = next(before, a), b = next(now, b)) {
    const std::string old_line = line_at(before, a);
    const std::string new_line = line_at(now, b);
    const bool ended = a > before.size() && b > now.size();
    if (old_line == new_line && !ended) continue;
    return fmt::format("line {}: '{}', now '{}'", line, old_line.substr(0, shown), new_line.substr(0, shown));
  }
}

std::vector<std::string> names_of(const std::vector<assembly::Hold>& holds) {
  std::vector<std::string> out;
  out.reserve(holds.size());
  for (const assembly::Hold& hold : holds) out.push_back(hold.name);
  return out;
}

std::vector<std::string> names_of(const std::vector<RootGroup>& roots) {
  std::vector<std::string> out;
  out.reserve(roots.size());
  for (const RootGroup& group : roots) out.push_back(group.name);
  return out;
}

void require_same_scene(const fs::path& file, const std::string& before, const std::string& now) {
  if (before == now) return;
  throw InvalidInput(
      fmt::format("{}: made from another scene ({}); resume with the same scene and parameters, or run anew",
                  file.string(), first_difference(before, now)));
}

}  // namespace

std::vector<RootGroup> clamped_roots(const scene::Scene& scene, const assembly::World& world) {
  std::vector<int> counts(scene.fibres.size(), 0);
  for (const assembly::Fibre& fibre : world.fibres) counts[fibre.group] += assembly::clamped(fibre) ? 1 : 0;
  std::vector<RootGroup> out;
  for (std::size_t g = 0; g < counts.size(); ++g) {
    if (counts[g] > 0) out.push_back({static_cast<int>(g), scene.fibres[g].name, counts[g]});
  }
  return out;
}

observe::WatchedStep watched(const dynamics::Stepper& stepper, const dynamics::StepReport& report,
                             const RunTally& tally, const RunLimits& limits) {
  return {.report = report,
          .contacts = stepper.contacts(),
          .before = stepper.previous_state(),
          .at = stepper.kinematics(),
          .dt = stepper.options().dt,
          .step_error = stepper.options().step_error,
          .carried = stepper.options().scheme == dynamics::Scheme::carried,
          .energy_rise = new_energy_rise(tally, report, limits)};
}

RunRecorder::RunRecorder(RunSettings settings)
    : settings_(std::move(settings)),
      holds_{holds_file, holds_header, settings_.holds.size()},
      roots_{roots_file, roots_header, settings_.roots.size()},
      fluid_{fluid_file, fluid_header, settings_.fluid ? settings_.layout.fibre_count() : 0},
      grains_{grains_file, grains_header, settings_.grains ? 1U : 0U},
      cloth_{cloth_file, cloth_header, settings_.cloth.size()},
      obstacle_loads_(settings_.layout.obstacle_names),
      hold_loads_(names_of(settings_.holds)),
      root_loads_(names_of(settings_.roots)) {
  observe::validate(settings_.layout);
  require(settings_.output.every >= 1, "output.every: expected at least 1");
  require(settings_.output.checkpoint_every >= 1, "output.checkpoint_every: expected at least 1");
  for (const std::string& name : settings_.layout.obstacle_names)
    files::append_text(obstacle_names_.emplace_back(), name);
  for (const assembly::Hold& hold : settings_.holds) {
    files::append_text(hold_names_.emplace_back(), hold.name);
    hold_names_.back() += fmt::format(",{}", hold.fibre);
  }
  for (const RootGroup& roots : settings_.roots) {
    files::append_text(root_names_.emplace_back(), roots.name);
    root_names_.back() += fmt::format(",{}", roots.count);
  }
  std::error_code error;
  if (settings_.resume && !fs::exists(file(scene_file), error) && !fs::exists(file(checkpoint_file), error)) {
    throw InvalidInput(fmt::format("{}: nothing to resume, {}; without --resume the run begins",
                                   settings_.folder.string(),
                                   fs::exists(settings_.folder, error) ? "no checkpoint.h5" : "no such folder"));
  }
  make_folder(settings_.folder);
  lock_.emplace(settings_.folder);
  if (settings_.resume && fs::exists(file(checkpoint_file), error)) {
    resume();
    return;
  }
  if (settings_.resume) {
    require_same_scene(file(scene_file), files::read_file(file(scene_file)), settings_.layout.scene);
  } else {
    require_folder_of_run(settings_.folder);
  }
  start();
}

/// Empty when there are none.
std::string RunRecorder::earlier_results() const {
  std::error_code error;
  const bool any =
      std::any_of(run_files.begin(), run_files.end(), [&](const char* name) { return fs::exists(file(name), error); });
  return any ? "the results of an earlier run" + run_in_brackets(file(summary_file)) : std::string();
}

/// All that is new is written under other names before anything of an earlier run goes. The tables take the place of
/// the earlier ones before the scene does: whatever interrupts it, the folder shows that it is one of a run.
void RunRecorder::start() {
  files::Replacement scene(file(scene_file)), steps(file(steps_file)), forces(file(forces_file)), log(file(log_file));
  std::deque<files::Replacement> some;  // they do not move
  steps_ = files::AppendFile::create(steps);
  steps_.append(steps_header);
  forces_ = files::AppendFile::create(forces);
  forces_.append(forces_header);
  for (SomeTable* table : some_tables()) {
    if (table->rows == 0) continue;
    table->out = files::AppendFile::create(some.emplace_back(file(table->file)));
    table->out->append(table->header);
    table->out->flush();
  }
  steps_.flush();
  forces_.flush();
  log_ = TrajectoryLogWriter::create(files::AppendFile::create(log), settings_.layout);
  files::AppendFile text = files::AppendFile::create(scene);
  text.append(settings_.layout.scene);
  text.close();

  const std::string earlier = settings_.resume ? std::string() : earlier_results();
  if (!earlier.empty() && settings_.replacing) settings_.replacing(earlier);
  for (const char* name : {checkpoint_file, summary_file, gradient_file, trajectory_file, remarks_file}) {
    files::remove_file(file(name));
    files::remove_file(files::temporary_name(file(name)));
  }
  keep_failures(settings_.folder, -1);
  steps.rename();
  forces.rename();
  for (const SomeTable* table : some_tables()) {
    if (table->rows == 0) files::remove_file(file(table->file));
  }
  for (files::Replacement& table : some) table.rename();
  log.rename();
  scene.commit();
}

void RunRecorder::resume() {
  Checkpoint last = read_checkpoint(file(checkpoint_file));
  require_same_scene(file(checkpoint_file), last.scene, settings_.layout.scene);
  if (last.state.rods.size() != settings_.layout.fibre_count()) {
    throw InvalidInput(fmt::format("{}: {} fibres, the scene has {}", file(checkpoint_file).string(),
                                   last.state.rods.size(), settings_.layout.fibre_count()));
  }
  if (last.version != settings_.layout.version) {
    log(LogLevel::warning,
        fmt::format("resuming a run of version {} with version {}: results may differ from an uninterrupted run",
                    last.version, settings_.layout.version));
  }
  const std::uint64_t steps =
      files::length_of_rows(file(steps_file), steps_header, static_cast<std::uint64_t>(last.position.step_rows));
  const std::uint64_t forces =
      files::length_of_rows(file(forces_file), forces_header, static_cast<std::uint64_t>(last.position.force_rows));
  const auto tables = some_tables();
  std::array<std::uint64_t, tables.size()> lengths{};
  for (std::size_t i = 0; i < tables.size(); ++i) lengths[i] = length_so_far(*tables[i], last.position);
  const std::uint64_t remarks = last.position.remarks == 0
                                    ? 0
                                    : files::length_of_rows(file(remarks_file), remarks_header,
                                                            static_cast<std::uint64_t>(last.position.remarks));
  obstacle_loads_.add_table(file(forces_file), forces, column_of_forces);
  if (holds_.rows > 0) hold_loads_.add_table(file(holds_file), lengths[0], column_of_loads);
  if (roots_.rows > 0) root_loads_.add_table(file(roots_file), lengths[1], column_of_loads);
  open_log(last.position);  // all that may not fit comes before the first cut
  steps_ = files::AppendFile::reopen(file(steps_file), steps);
  forces_ = files::AppendFile::reopen(file(forces_file), forces);
  for (std::size_t i = 0; i < tables.size(); ++i) {
    if (tables[i]->rows > 0) tables[i]->out = files::AppendFile::reopen(file(tables[i]->file), lengths[i]);
  }
  if (remarks > 0) {
    remarks_ = files::AppendFile::reopen(file(remarks_file), remarks);
  } else {
    files::remove_file(file(remarks_file));
  }
  before_ = read_timings(file(summary_file));
  failures_ = keep_failures(settings_.folder, last.state.step);
  position_ = last.position;
  tally_ = last.tally;
  resumed_ = std::move(last.state);
}

/// Of the table's file, which may be longer. [bytes]
std::uint64_t RunRecorder::length_so_far(const SomeTable& table, const OutputPosition& position) const {
  if (table.rows == 0) return 0;
  const auto rows = static_cast<std::uint64_t>(position.step_rows) * table.rows;
  return files::length_of_rows(file(table.file), table.header, rows);
}

void RunRecorder::open_log(const OutputPosition& position) {
  std::error_code error;
  if (!fs::exists(file(log_file), error)) {
    // The run had ended and goes on: its log is made again from the trajectory.
    const TrajectoryReader trajectory(file(trajectory_file));
    files::Replacement place(file(log_file));
    TrajectoryLogWriter log = TrajectoryLogWriter::create(files::AppendFile::create(place), trajectory.layout());
    const auto frames = std::min<std::size_t>(trajectory.frame_count(), static_cast<std::size_t>(position.frames));
    for (std::size_t i = 0; i < frames; ++i) log.append(trajectory.frame(i));
    log.close();
    place.commit();
  }
  log_ = TrajectoryLogWriter::resume(file(log_file), settings_.layout, static_cast<std::uint64_t>(position.log_bytes));
}

void RunRecorder::begin(const dynamics::Stepper& stepper) {
  record::begin(tally_, stepper.energies(), stepper.state().work_external);
}

void RunRecorder::record(const dynamics::StepReport& report) {
  const Stopwatch watch(timings_.output);
  if (report.obstacles.size() != obstacle_names_.size()) {
    throw InvalidInput(fmt::format("step {}: {} obstacle loads, the scene has {} obstacles", report.step,
                                   report.obstacles.size(), obstacle_names_.size()));
  }
  if (report.holds.size() != hold_names_.size()) {
    throw InvalidInput(fmt::format("step {}: {} loads of holds, the scene has {}", report.step, report.holds.size(),
                                   hold_names_.size()));
  }
  add(tally_, report, settings_.limits);
  forces_of_step_.clear();
  for (const dynamics::ObstacleLoad& load : report.obstacles) forces_of_step_.push_back(load.force);
  obstacle_loads_.add(report.time, forces_of_step_);
  forces_of_step_.clear();
  for (const dynamics::HoldLoad& load : report.holds) forces_of_step_.push_back(load.force);
  hold_loads_.add(report.time, forces_of_step_);
  timings_.detection += report.t_detection;
  timings_.assembly += report.t_assembly;
  timings_.solve += report.t_solve;
  timings_.step += report.t_step;
  row_.clear();
  append_step_row(row_, report);
  steps_.append(row_);
  row_.clear();
  append_force_rows(row_, report, obstacle_names_);
  forces_.append(row_);
  if (holds_.out) {
    row_.clear();
    append_hold_rows(row_, report, hold_names_);
    holds_.out->append(row_);
  }
  if (roots_.out) record_roots(report);
  if (fluid_.out) {
    row_.clear();
    append_fluid_rows(row_, report);
    fluid_.out->append(row_);
  }
  if (grains_.out) {
    row_.clear();
    append_grains_row(row_, report);
    grains_.out->append(row_);
  }
  if (cloth_.out) {
    row_.clear();
    append_cloth_rows(row_, report, settings_.cloth);
    cloth_.out->append(row_);
  }
  log_->flush_when_due();
  ++position_.step_rows;
  position_.force_rows += static_cast<std::int64_t>(obstacle_names_.size());
}

/// The sum of each group.
void RunRecorder::record_roots(const dynamics::StepReport& report) {
  require(report.roots.size() == settings_.layout.fibre_count(), "step: needs a load of each fibre's root");
  std::vector<dynamics::RootLoad> of_groups(settings_.layout.group_names.size());
  for (std::size_t f = 0; f < report.roots.size(); ++f) {
    dynamics::RootLoad& sum = of_groups[static_cast<std::size_t>(settings_.layout.group[f])];
    sum.force += report.roots[f].force;
    sum.torque += report.roots[f].torque;
  }
  std::vector<dynamics::RootLoad> loads;
  forces_of_step_.clear();
  for (const RootGroup& roots : settings_.roots) {
    loads.push_back(of_groups[static_cast<std::size_t>(roots.group)]);
    forces_of_step_.push_back(loads.back().force);
  }
  root_loads_.add(report.time, forces_of_step_);
  row_.clear();
  append_root_rows(row_, report.time, loads, root_names_);
  roots_.out->append(row_);
}

std::vector<observe::Remark> RunRecorder::watch(const dynamics::Stepper& stepper, const dynamics::StepReport& report) {
  const Stopwatch watch(timings_.output);
  std::vector<observe::Remark> remarks = watch_.look(watched(stepper, report, tally_, settings_.limits), tally_.watch);
  for (const observe::Remark& remark : remarks) {
    if (!remarks_) {
      lock_->check();
      remarks_ = files::AppendFile::create(file(remarks_file));
      remarks_->append(remarks_header);
    }
    row_.clear();
    append_remark_row(row_, remark);
    remarks_->append(row_);
    ++position_.remarks;
  }
  if (!remarks.empty()) remarks_->flush();
  return remarks;
}

void RunRecorder::record_frame(const observe::Frame& frame) {
  const Stopwatch watch(timings_.output);
  observe::validate(frame, settings_.layout);
  log_->append(frame);
  ++position_.frames;
}

void RunRecorder::sync_all() {
  steps_.sync();
  forces_.sync();
  for (SomeTable* table : some_tables()) {
    if (table->out) table->out->sync();
  }
  if (remarks_) remarks_->sync();
  log_->sync();
  position_.log_bytes = static_cast<std::int64_t>(log_->length());
}

void RunRecorder::close_all() {
  steps_.close();
  forces_.close();
  for (SomeTable* table : some_tables()) {
    if (table->out) table->out->close();
  }
  if (remarks_) remarks_->close();
  log_->close();
}

void RunRecorder::save(const dynamics::SimulationState& state) {
  const Clock::time_point begin = Clock::now();
  sync_all();
  lock_->check();
  write_checkpoint(file(checkpoint_file), {settings_.layout.scene, settings_.layout.version, state, tally_, position_});
  checkpoint_time_ = Clock::now() - begin;
  timings_.checkpoint += std::chrono::duration<double>(checkpoint_time_).count();
}

void RunRecorder::checkpoint(const dynamics::SimulationState& state) {
  {
    const Stopwatch watch(timings_.output);
    save(state);
    const bool grown = static_cast<double>(log_->length()) >= rebuild_growth * static_cast<double>(built_bytes_);
    if (grown && Clock::now() - last_build_ >= rebuild_pause + rebuild_share * build_time_) build_trajectory();
  }
  write_summary_as("running");
  last_checkpoint_ = Clock::now();
}

void RunRecorder::build_trajectory() {
  const Clock::time_point begin = Clock::now();
  log_->flush();
  lock_->check();
  write_trajectory_from_log(file(trajectory_file), file(log_file));
  built_bytes_ = log_->length();
  last_build_ = Clock::now();
  build_time_ = last_build_ - begin;
}

fs::path RunRecorder::write_failure(const dynamics::SimulationState& before) {
  if (failures_.size() >= failure_limit) return {};
  const std::string name = fmt::format("{}/step-{}.h5", failure_folder, before.step + 1);
  lock_->check();
  make_folder(file(failure_folder));
  fs::path path = settings_.folder / name;
  write_checkpoint(path, {settings_.layout.scene, settings_.layout.version, before, {}, {}});
  if (std::find(failures_.begin(), failures_.end(), name) == failures_.end()) failures_.push_back(name);
  return path;
}

Verdict RunRecorder::finish(Outcome outcome, const dynamics::SimulationState& state, double overlap) {
  if (outcome == Outcome::failed && tally_.not_finite_step == 0) {
    tally_.not_finite_step = state.step + 1;  // the bad step was not recorded
  }
  {
    const Stopwatch watch(timings_.output);
    if (outcome == Outcome::failed) {
      sync_all();
    } else {
      save(state);
    }
    build_trajectory();
    close_all();
  }
  add_overlap(tally_, overlap, state.step);
  write_summary_as(outcome == Outcome::finished      ? "finished"
                   : outcome == Outcome::interrupted ? "interrupted"
                                                     : "failed");
  if (outcome == Outcome::finished) files::remove_file(file(log_file));
  const std::vector<Finding> found = findings(tally_, settings_.limits);
  return {found, sentence(tally_, found)};
}

RunTimings RunRecorder::timings() const {
  const double wall = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin_).count();
  return {.wall = before_.wall + wall,
          .detection = before_.detection + timings_.detection,
          .assembly = before_.assembly + timings_.assembly,
          .solve = before_.solve + timings_.solve,
          .step = before_.step + timings_.step,
          .output = before_.output + timings_.output,
          .checkpoint = before_.checkpoint + timings_.checkpoint};
}

void RunRecorder::write_summary_as(const char* status) {
  lock_->check();
  write_summary(file(summary_file), {.version = settings_.layout.version,
                                     .threads = settings_.threads,
                                     .time_step = settings_.time_step,
                                     .grains = settings_.grains,
                                     .cloth = !settings_.cloth.empty(),
                                     .status = status,
                                     .tally = tally_,
                                     .obstacles = obstacle_loads_.all(),
                                     .holds = hold_loads_.all(),
                                     .roots = root_loads_.all(),
                                     .timings = timings(),
                                     .limits = settings_.limits,
                                     .failures = failures_});
}

}  // namespace tresse::record
