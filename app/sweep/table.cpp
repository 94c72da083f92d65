#include "table.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <iterator>
#include <limits>
#include <string_view>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <tresse/files/atomic_file.hpp>
#include <tresse/files/csv.hpp>
#include <tresse/files/hdf5.hpp>
#include <tresse/files/json.hpp>

namespace tresse::app::sweep {
namespace {

using Json = nlohmann::json;
using Figures = std::vector<Entry>;

std::string number(double value) {
  std::string out;
  files::append_number(out, value);
  return out;
}

void add_number(Figures& out, const std::string& name, const Json& from, const std::string& pointer,
                const std::string& unit = "") {
  const Json::json_pointer at(pointer);
  if (!from.contains(at)) return;
  const Json& value = from.at(at);
  if (value.is_number()) out.push_back({name, number(value.get<double>()), unit});
  if (value.is_boolean()) out.push_back({name, value.get<bool>() ? "1" : "0", unit});
}

/// mean_force_NAME and max_force_NAME of the obstacles, mean_load_NAME and max_load_NAME of what holds fibres,
/// mean_root_NAME and max_root_NAME of the clamped roots of groups.
void add_loads(Figures& out, const Json& summary, const char* list, const char* word) {
  if (!summary.contains(list) || !summary[list].is_array()) return;
  for (const Json& load : summary[list]) {
    if (!load.is_object() || !load.contains("name") || !load["name"].is_string()) continue;
    for (const char* size : {"mean", "max"})
      add_number(out, fmt::format("{}_{}_{}", size, word, load["name"].get<std::string>()), load,
                 fmt::format("/{}_force", size), "N");
  }
}

void add_static(Figures& out, const Json& equilibrium) {
  for (const char* name : {"converged", "residual", "stable", "smallest_eigenvalue"})
    add_number(out, name, equilibrium, fmt::format("/{}", name));
  for (int i = 0; i < 3; ++i)
    add_number(out, fmt::format("tip_{}", "xyz"[i]), equilibrium, fmt::format("/tip/0/{}", i), "m");
  if (!equilibrium.is_object() || !equilibrium.contains("obstacles")) return;
  for (const Json& obstacle : equilibrium["obstacles"]) {
    if (!obstacle.is_object() || !obstacle.contains("name") || !obstacle["name"].is_string()) continue;
    if (!obstacle.contains("force") || !obstacle["force"].is_array()) continue;
    double square = 0.0;
    for (const Json& component : obstacle["force"])
      square += component.is_number() ? std::pow(component.get<double>(), 2) : 0.0;
    out.push_back({"force_" + obstacle["name"].get<std::string>(), number(std::sqrt(square)), "N"});
  }
}

Figures figures_of(const std::filesystem::path& folder) {
  Figures out;
  const Json summary = read_summary(folder);
  if (summary.contains("equilibrium")) {
    add_static(out, summary["equilibrium"]);
    return out;
  }
  if (summary.contains("verdict")) {
    out.push_back({"sound", summary["verdict"] == "sound" ? "1" : "0", ""});
  }
  if (summary.contains("severity") && summary["severity"].is_string()) {
    out.push_back({"severity", summary["severity"].get<std::string>(), ""});
  }
  const std::array<const char*, 3> wanted[] = {
      {"steps", "/steps", ""},
      {"time", "/simulated_seconds", "s"},
      {"wall_seconds", "/wall_seconds", "s"},
      {"contacts_mean", "/contacts/mean", ""},
      {"contacts_max", "/contacts/max", ""},
      {"worst_residual", "/worst_residual", ""},
      {"missed_tolerance_steps", "/missed_tolerance_steps", ""},
      {"worst_penetration", "/worst_penetration", "m"},
      {"worst_energy_rise", "/worst_energy_rise", ""},
      {"peak_memory_bytes", "/peak_memory_bytes", "B"},
  };
  for (const auto& [name, pointer, unit] : wanted) add_number(out, name, summary, pointer, unit);
  add_loads(out, summary, "obstacles", "force");
  add_loads(out, summary, "holds", "load");
  add_loads(out, summary, "roots", "root");
  return out;
}

/// The values of all rows side by side; a column is there from the first row that has it.
class Columns {
 public:
  explicit Columns(std::size_t rows) : rows_(rows) {}
  void put(std::size_t row, const std::string& name, const std::string& text, const std::string& unit = "") {
    auto found = std::find_if(columns_.begin(), columns_.end(), [&](const Column& c) { return c.name == name; });
    if (found == columns_.end()) found = columns_.insert(found, {name, unit, std::vector<std::string>(rows_)});
    if (found->unit.empty()) found->unit = unit;
    found->texts[row] = text;
  }
  std::vector<Column> take() { return std::move(columns_); }

 private:
  std::size_t rows_;
  std::vector<Column> columns_;
};

/// Known to hold texts, though all of them may be empty.
bool is_text(const Column& column) {
  constexpr std::string_view texts[] = {"case", "status", "message", "severity"};
  return std::ranges::find(texts, column.name) != std::end(texts);
}

/// The numbers of a column; nothing when it holds texts.
std::vector<double> numbers(const Column& column) {
  if (is_text(column)) return {};
  std::vector<double> out;
  for (const std::string& text : column.texts) {
    double value = std::numeric_limits<double>::quiet_NaN();
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (!text.empty() && (error != std::errc() || end != text.data() + text.size())) return {};
    out.push_back(value);
  }
  return out;
}

}  // namespace

bool is_mark(const std::string& name) {
  constexpr std::string_view head = "case-";
  return name == "sweep.csv" ||
         (name.starts_with(head) && name.find_first_of("0123456789", head.size()) == head.size());
}

Json read_summary(const std::filesystem::path& folder) {
  return files::read_json_object<Json>(folder / "summary.json");
}

std::vector<Column> gather(const std::filesystem::path& folder, const std::vector<Case>& cases,
                           const std::vector<Row>& rows) {
  Columns out(cases.size());
  for (std::size_t k = 0; k < cases.size(); ++k) {
    out.put(k, "case", cases[k].name);
    for (const auto& [name, value, unit] : rows[k].parameters) out.put(k, name, value, unit);
    out.put(k, "status", rows[k].status);
    out.put(k, "exit_status", rows[k].exit_status < 0 ? "" : std::to_string(rows[k].exit_status));
    out.put(k, "message", rows[k].message);
    if (rows[k].status == "refused" || rows[k].status == "missing") continue;
    for (const auto& [name, value, unit] : figures_of(folder / cases[k].name)) out.put(k, name, value, unit);
  }
  return out.take();
}

void write_table(const std::filesystem::path& folder, const std::vector<Column>& columns) {
  std::string text, units = "column,unit\n";
  for (const Column& column : columns) {
    if (!text.empty()) text += ',';
    files::append_text(text, column.name);
    files::append_text(units, column.name);
    units += ',';
    files::append_text(units, column.unit);
    units += '\n';
  }
  text += '\n';
  for (std::size_t k = 0; k < columns.front().texts.size(); ++k) {
    for (std::size_t c = 0; c < columns.size(); ++c) {
      if (c > 0) text += ',';
      files::append_text(text, columns[c].texts[k]);
    }
    text += '\n';
  }
  files::write_atomically(folder / "sweep.csv", text);
  files::write_atomically(folder / "sweep_units.csv", units);
  files::write_hdf5(folder / "sweep.h5", [&](files::Hdf5Writer& file) {
    for (const Column& column : columns) {
      std::string name = column.name;
      std::replace(name.begin(), name.end(), '/', '_');
      const std::vector<double> values = numbers(column);
      if (values.empty()) {
        file.write_strings(name, column.texts);
      } else {
        file.write(name, values);
      }
      if (!column.unit.empty()) file.attribute(name, "unit", column.unit);
    }
    file.attribute("/", "format", "tresse sweep");
    file.attribute("/", "format_version", std::int64_t{1});
  });
}

}  // namespace tresse::app::sweep
