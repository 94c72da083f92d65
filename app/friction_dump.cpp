#include "friction_dump.hpp"

#include <algorithm>
#include <charconv>
#include <limits>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include <tresse/base/errors.hpp>
#include <tresse/problem_files/friction_file.hpp>
#include <tresse/record/outputs.hpp>

namespace tresse::app {
namespace {

[[noreturn]] void refuse(const std::string& text) {
  throw InvalidInput(
      fmt::format("--dump-steps: found '{}', expected steps such as 100, 100:200 or 100:200:10 (from 1 on, ascending), "
                  "several with commas, or all",
                  text));
}

std::vector<std::string_view> split(std::string_view text, char at) {
  std::vector<std::string_view> out;
  for (std::size_t begin = 0;;) {
    const std::size_t end = text.find(at, begin);
    out.push_back(text.substr(begin, end - begin));
    if (end == std::string_view::npos) return out;
    begin = end + 1;
  }
}

problem_files::FrictionAnswer answer(const friction::FrictionProblem& problem, const VectorX& r) {
  return {{}, friction::velocity(problem, r), r};
}

}  // namespace

std::vector<StepRange> parse_step_choice(const std::string& text) {
  constexpr std::int64_t any = std::numeric_limits<std::int64_t>::max() / 4;
  if (text.empty() || text == "all") return {{1, any, 1}};
  std::vector<StepRange> out;
  for (const std::string_view range : split(text, ',')) {
    std::vector<std::int64_t> numbers;
    for (const std::string_view token : split(range, ':')) {
      std::int64_t value = 0;
      const auto [end, error] = std::from_chars(token.data(), token.data() + token.size(), value);
      if (error != std::errc() || end != token.data() + token.size() || value < 1 || value > any) refuse(text);
      numbers.push_back(value);
    }
    if (numbers.size() > 3) refuse(text);
    StepRange steps{numbers[0], numbers.size() > 1 ? numbers[1] : numbers[0], numbers.size() > 2 ? numbers[2] : 1};
    if (steps.last < steps.first) refuse(text);
    out.push_back(steps);
  }
  return out;
}

FrictionDump::FrictionDump(std::filesystem::path folder, const std::string& steps, std::string title)
    : folder_(std::move(folder)), steps_(parse_step_choice(steps)), title_(std::move(title)) {
  if (folder_.empty()) return;
  std::error_code error;
  std::filesystem::create_directories(folder_, error);
  if (error || !std::filesystem::is_directory(folder_))
    throw InvalidInput(fmt::format("--dump-friction: cannot make the folder '{}': {}", folder_.string(),
                                   error ? error.message() : "there is a file of that name"));
  record::require_outputs({folder_ / "step-1.hdf5"}, {});
}

bool FrictionDump::chosen(std::int64_t step) const {
  return std::any_of(steps_.begin(), steps_.end(), [step](const StepRange& range) {
    return step >= range.first && step <= range.last && (step - range.first) % range.every == 0;
  });
}

void FrictionDump::follow(dynamics::Stepper& stepper) {
  if (folder_.empty()) return;
  stepper.observe_kept_problems([this, &stepper](const dynamics::Stepper::KeptProblem& kept) {
    if (chosen(stepper.state().step + 1)) kept_ = {kept.problem, kept.guess, kept.solution.impulse, kept.dt};
  });
}

void FrictionDump::write(const dynamics::Stepper& stepper, const dynamics::StepReport& report) {
  if (!kept_) return;
  const Kept kept = *std::exchange(kept_, std::nullopt);
  if (kept.problem.contacts.empty()) return;
  const friction::FrictionProblem problem = friction::assembled(kept.problem);
  problem_files::FrictionNotes notes;
  notes.title = title_;
  notes.description = fmt::format(
      "step {}\ntime {:.17g} s\nmu {:g} to {:g}\ncontacts {}\ndt {:.17g} s (of the step, or of its last part "
      "if it was cut)\ntheta {:.17g}\nW in 1/kg, q and u in m/s, r in N s; the force of a on b is r / (theta "
      "dt), components along normal, t1, t2. Guess: where the run's solve started; solution: where it ended.",
      report.step, report.time, kept.problem.mu.minCoeff(), kept.problem.mu.maxCoeff(), kept.problem.contacts.size(),
      kept.dt, stepper.options().theta);
  notes.guesses.push_back(answer(problem, kept.guess));
  notes.solution = answer(problem, kept.impulse);
  problem_files::write_friction_problem(folder_ / fmt::format("step-{}.hdf5", report.step), problem, notes);
}

}  // namespace tresse::app
