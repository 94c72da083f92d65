#include "run_gradient.hpp"

#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>
#include <optional>

#include <tresse/base/errors.hpp>
#include <tresse/base/words.hpp>
#include <tresse/files/atomic_file.hpp>
#include <tresse/files/csv.hpp>
#include <tresse/files/lines.hpp>
#include <tresse/files/text.hpp>
#include <tresse/rods/rod.hpp>

namespace tresse::app {
namespace {

constexpr const char* columns = "time,fibre,arc_length,x,y,z";

}  // namespace

RunGradient::RunGradient(const std::filesystem::path& targets, const record::RunPlan& plan, const scene::Case& built)
    : wanted_(!targets.empty()) {
  if (!wanted_) return;
  read(targets, plan, built);
  variations_ = scene::variations(plan.scene, built);
}

void RunGradient::read(const std::filesystem::path& targets, const record::RunPlan& plan, const scene::Case& built) {
  const std::string name = targets.string(), text = files::read_file(targets);
  files::Lines lines(text);
  if (!lines.next() || !(lines.line() == columns || lines.line() == std::string(columns) + ",weight"))
    files::fail(
        name, 1,
        fmt::format("found {}, expected the columns {}, or these and weight", files::in_quotes(lines.line()), columns));
  const std::size_t count = lines.line() == columns ? 6 : 7;
  while (lines.next()) {
    if (files::trimmed(lines.line()).empty()) continue;
    const auto fail = [&](const std::string& message) { files::fail(name, lines.number(), message); };
    const std::vector<std::string> fields = files::row_fields(lines.line());
    if (fields.size() != count)
      fail(fmt::format("found {}, expected {}", counted(static_cast<std::int64_t>(fields.size()), "field"), count));
    std::vector<double> numbers;
    for (const std::string& field : fields) {
      const std::optional<double> number = files::real_in(files::trimmed(field));
      if (!number || !std::isfinite(*number)) fail(fmt::format("found {}, expected a number", files::in_quotes(field)));
      numbers.push_back(*number);
    }
    const double time = numbers[0], step = std::round(time / plan.scene.simulation.time_step);
    if (!(time >= 0.0) || step > static_cast<double>(plan.last_step))
      fail(fmt::format("time: found {:.6g} s, expected 0 to {:.6g} s, the end of the run", time,
                       static_cast<double>(plan.last_step) * plan.scene.simulation.time_step));
    const auto& fibres = built.world.fibres;
    if (!(numbers[1] >= 0.0) || numbers[1] != std::floor(numbers[1]) ||
        numbers[1] >= static_cast<double>(fibres.size()))
      fail(fmt::format("fibre: found {}, expected a number of a fibre, 0 to {}", files::number(numbers[1]),
                       static_cast<std::int64_t>(fibres.size()) - 1));
    const rods::RodModel& model = *fibres[static_cast<std::size_t>(numbers[1])].model;
    constexpr double rounding = 1e-9;  // of the length: ends of fibres as a person writes them
    if (!(numbers[2] >= 0.0 && numbers[2] <= model.length() * (1.0 + rounding)))
      fail(fmt::format("arc_length: found {:.6g} m, expected 0 to {:.6g} m, the fibre's length", numbers[2],
                       model.length()));
    const auto [element, u] = rods::piece_at(model, numbers[2]);
    targets_.emplace(static_cast<std::int64_t>(step), Target{static_cast<int>(numbers[1]),
                                                             {element, u},
                                                             {numbers[3], numbers[4], numbers[5]},
                                                             count == 7 ? numbers[6] : 1.0});
  }
  if (targets_.empty()) files::fail(name, "found no rows, expected a target at least");
}

void RunGradient::begin(dynamics::Stepper& stepper) {
  if (!wanted_) return;
  stepper.keep_for_gradient();
  look(stepper);
}

void RunGradient::look(dynamics::Stepper& stepper) {
  if (!wanted_) return;
  const auto [first, last] = targets_.equal_range(stepper.state().step);
  if (first == last) return;
  const auto& fibres = stepper.world().fibres;
  std::vector<dynamics::FibreChange> by;
  for (std::size_t f = 0; f < fibres.size(); ++f) {
    const Eigen::Index size = 6 + fibres[f].model->coordinate_count();
    by.push_back({VectorX::Zero(size), VectorX::Zero(size)});
  }
  for (auto at = first; at != last; ++at) {
    const Target& target = at->second;
    const rods::Rod& rod = stepper.kinematics().rod(target.fibre);
    const Vector3 off = rod.section(rod.piece_begin(target.place.element) + target.place.u).position - target.position;
    value_ += target.weight * off.squaredNorm();
    by[static_cast<std::size_t>(target.fibre)].displacement +=
        dynamics::by_positions(rod, 2.0 * target.weight * off, {target.place}).displacement;
    ++seen_;
  }
  stepper.add_by_state(by);
}

std::string RunGradient::write(const std::filesystem::path& folder, const dynamics::Stepper& stepper) const {
  dynamics::DerivativeReport report;
  const dynamics::Variation gradient = stepper.gradient(report);
  nlohmann::ordered_json out;
  out["format"] = "tresse gradient 1";
  out["objective"] = value_;
  out["targets"] = seen_;
  out["refused"] = report.refused;
  out["nearest_kink"] = report.nearest_kink;
  out["kink_time"] = report.kink_time;
  out["case_changes"] = report.changes;
  nlohmann::ordered_json& of = out["gradient"];
  for (const scene::NamedVariation& own : variations_)
    of[own.name] = {{"value", own.value}, {"unit", own.unit}, {"derivative", along(gradient, own.direction)}};
  const std::filesystem::path file = folder / "gradient.json";
  files::write_atomically(file, out.dump(2) + "\n");
  if (!report.refused.empty())
    return fmt::format("{}: the derivatives leave out {}; they are not to be trusted", file.string(), report.refused);
  return fmt::format("{}: objective {:.6g} m^2 over {}, {}", file.string(), value_,
                     counted(static_cast<std::int64_t>(seen_), "target"),
                     counted(static_cast<std::int64_t>(variations_.size()), "derivative"));
}

}  // namespace tresse::app
