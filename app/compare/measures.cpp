#include "measures.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <sstream>

#include <fmt/format.h>

#include <tresse/base/errors.hpp>
#include <tresse/files/atomic_file.hpp>
#include <tresse/files/csv.hpp>
#include <tresse/files/json.hpp>
#include <tresse/record/run_frames.hpp>

namespace tresse::app::compare {
namespace {

namespace fs = std::filesystem;

/// A table of a run, by columns of text.
class Table {
 public:
  explicit Table(const fs::path& file) {
    if (!fs::exists(file)) return;
    std::istringstream in(files::read_file(file));
    std::string line;
    if (std::getline(in, line)) header_ = files::row_fields(line);
    while (std::getline(in, line)) {
      rows_.push_back(files::row_fields(line));
      if (rows_.back().size() != header_.size()) rows_.pop_back();  // the last one of a run that was killed
    }
  }
  std::size_t size() const { return rows_.size(); }
  const std::string& text(std::size_t row, const std::string& column) const {
    static const std::string none;
    const auto found = std::find(header_.begin(), header_.end(), column);
    return found == header_.end() ? none : rows_[row][static_cast<std::size_t>(found - header_.begin())];
  }
  /// 0 where there is no such column.
  double number(std::size_t row, const std::string& column) const {
    const std::string& value = text(row, column);
    return value.empty() ? 0.0 : std::stod(value);
  }

 private:
  std::vector<std::string> header_;
  std::vector<std::vector<std::string>> rows_;
};

/// Where the centreline of a fibre is at an arc length, between its points.
Vector3 point_at(const observe::TrajectoryLayout& layout, const observe::Frame& frame, std::size_t fibre, double s) {
  const auto begin = layout.arc_length.begin() + layout.point_offsets[fibre];
  const auto end = layout.arc_length.begin() + layout.point_offsets[fibre + 1];
  const auto after = std::clamp(std::lower_bound(begin, end, s), begin + 1, end - 1);
  const auto i = static_cast<std::size_t>(after - layout.arc_length.begin());
  const double length = *after - *(after - 1);
  const double share = length > 0.0 ? std::clamp((s - *(after - 1)) / length, 0.0, 1.0) : 1.0;
  return (1.0 - share) * observe::vector_at(frame.points, i - 1) + share * observe::vector_at(frame.points, i);
}

std::vector<Apart> distances(record::RunFrames& run, record::RunFrames& reference) {
  const observe::TrajectoryLayout& own = run.layout();
  const observe::TrajectoryLayout& other = reference.layout();
  std::vector<Apart> out;
  if (own.fibre_count() != other.fibre_count() || other.point_count() == 0) return out;
  const double longest = *std::max_element(other.arc_length.begin(), other.arc_length.end());
  for (std::size_t k = 0; k < std::min(run.frame_count(), reference.frame_count()); ++k) {
    const observe::Frame here = run.frame(k), there = reference.frame(k);
    if (here.time != there.time) break;
    Apart at{.time = here.time};
    for (std::size_t f = 0; f < other.fibre_count(); ++f) {
      for (auto i = static_cast<std::size_t>(other.point_offsets[f]);
           i < static_cast<std::size_t>(other.point_offsets[f + 1]); ++i) {
        const double off = (point_at(own, here, f, other.arc_length[i]) - observe::vector_at(there.points, i)).norm();
        at.mean += off / longest / static_cast<double>(other.point_count());
        at.largest = std::max(at.largest, off / longest);
      }
    }
    out.push_back(at);
  }
  return out;
}

/// Time and force of each row that a name has; rows of the same time are summed.
using Forces = std::map<std::string, std::vector<std::pair<double, Vector3>>>;

Forces forces_of(const fs::path& folder) {
  Forces out;
  for (const auto& [file, column] : {std::pair("forces.csv", "obstacle"), std::pair("holds.csv", "hold")}) {
    const Table table(folder / file);
    for (std::size_t i = 0; i < table.size(); ++i) {
      auto& list = out[table.text(i, column)];
      const double time = table.number(i, "time");
      if (list.empty() || list.back().first != time) list.emplace_back(time, Vector3::Zero());
      list.back().second += Vector3(table.number(i, "fx"), table.number(i, "fy"), table.number(i, "fz"));
    }
  }
  return out;
}

std::vector<Load> loads_of(const Forces& own, const Forces& reference) {
  std::vector<Load> out;
  for (const auto& [name, list] : own) {
    Load load;
    load.name = name;
    for (const auto& [time, force] : list) load.mean += force.norm() / static_cast<double>(list.size());
    if (const auto other = reference.find(name); other != reference.end()) {
      const std::size_t common = std::min(list.size(), other->second.size());
      double square = 0.0, size = 0.0;
      for (std::size_t i = 0; i < common; ++i) {
        square += (list[i].second - other->second[i].second).squaredNorm() / static_cast<double>(common);
        size += other->second[i].second.norm() / static_cast<double>(common);
      }
      if (size > 0.0) load.off_by = std::sqrt(square) / size;
    }
    out.push_back(std::move(load));
  }
  return out;
}

void measure_steps(const fs::path& folder, Measured& out) {
  const Table table(folder / "steps.csv");
  out.steps = static_cast<int>(table.size());
  for (std::size_t i = 0; i < table.size(); ++i) {
    const double evaluations = table.number(i, "evaluations");
    out.evaluations += evaluations / static_cast<double>(table.size());
    out.linear_solves += table.number(i, "linear_solves") / static_cast<double>(table.size());
    if (table.number(i, "contacts") > 0.0) {
      ++out.steps_in_contact;
      out.evaluations_in_contact += evaluations;
    }
    out.least_gap = std::min(out.least_gap, table.number(i, "least_gap"));
    out.largest_overlap = std::max(out.largest_overlap, table.number(i, "max_penetration"));
    out.largest_stick_drift = std::max(out.largest_stick_drift, table.number(i, "largest_stick_drift"));
  }
  if (out.steps_in_contact > 0) out.evaluations_in_contact /= out.steps_in_contact;
}

bool has_frames(const fs::path& folder) {
  return fs::exists(folder / "trajectory.h5") || fs::exists(folder / "trajectory.log");
}

}  // namespace

std::vector<Measured> measure(const fs::path& folder, const std::vector<std::string>& names,
                              const std::vector<std::string>& statuses) {
  std::vector<Measured> out;
  std::optional<record::RunFrames> reference;
  const bool known = statuses.front() != "refused";  // else what is there is of another comparison
  if (known && has_frames(folder / names.front())) reference.emplace(folder / names.front());
  const Forces forces = known ? forces_of(folder / names.front()) : Forces();
  for (std::size_t k = 0; k < names.size(); ++k) {
    Measured one;
    one.name = names[k];
    one.status = statuses[k];
    const fs::path own = folder / names[k];
    if (one.status != "refused" && has_frames(own)) {
      const auto summary = files::read_json_object<nlohmann::json>(own / "summary.json");
      if (summary.contains("verdict")) one.verdict = summary["verdict"] == "sound" ? "sound" : "not sound";
      if (summary.contains("wall_seconds")) one.seconds = summary["wall_seconds"].get<double>();
      measure_steps(own, one);
      one.loads = loads_of(forces_of(own), forces);
      record::RunFrames frames(own);
      if (reference) one.apart = distances(frames, *reference);
      constexpr double parted = 0.05;
      const auto first =
          std::find_if(one.apart.begin(), one.apart.end(), [](const Apart& at) { return at.mean > parted; });
      if (first != one.apart.end()) one.parted = first->time;
    }
    out.push_back(std::move(one));
  }
  return out;
}

std::string table_of(const fs::path& folder, const std::string& compared, const std::vector<Measured>& runs) {
  const std::vector<std::string> columns{"contacts",           "kinetic",   "elastic",   "gravity",     "work_external",
                                         "max_penetration",    "least_gap", "stiffness", "evaluations", "linear_solves",
                                         "largest_stick_drift"};
  std::string out = compared + ",time,mean_distance,largest_distance";
  for (const std::string& column : columns) out += "," + column;
  out += '\n';
  for (const Measured& run : runs) {
    const Table steps(folder / run.name / "steps.csv");
    std::size_t row = 0;
    for (const Apart& at : run.apart) {
      while (row < steps.size() && steps.number(row, "time") < at.time) ++row;
      const bool known = row < steps.size() && steps.number(row, "time") == at.time;
      files::append_text(out, run.name);
      for (const double value : {at.time, at.mean, at.largest}) {
        out += ',';
        files::append_number(out, value);
      }
      for (const std::string& column : columns) out += "," + (known ? steps.text(row, column) : std::string());
      out += '\n';
    }
  }
  return out;
}

nlohmann::ordered_json json_of(const std::string& compared, const std::vector<Measured>& runs) {
  using Json = nlohmann::ordered_json;
  const auto known = [](double value) { return std::isfinite(value) ? Json(value) : Json(nullptr); };
  const auto given = [](const std::optional<double>& value) { return value ? Json(*value) : Json(nullptr); };
  Json out{{"compared", compared}, {"reference", runs.front().name}, {"runs", Json::array()}};
  for (const Measured& run : runs) {
    Json one{{compared, run.name}, {"status", run.status}};
    if (run.steps > 0) {
      double largest = 0.0;
      for (const Apart& at : run.apart) largest = std::max(largest, at.mean);
      one["verdict"] = run.verdict;
      one["steps"] = run.steps;
      one["steps_in_contact"] = run.steps_in_contact;
      one["evaluations_per_step"] = run.evaluations;
      one["evaluations_per_step_in_contact"] =
          run.steps_in_contact > 0 ? Json(run.evaluations_in_contact) : Json(nullptr);
      one["linear_solves_per_step"] = run.linear_solves;
      one["least_gap"] = known(run.least_gap);
      one["largest_overlap"] = run.largest_overlap;
      one["largest_stick_drift"] = run.largest_stick_drift;
      one["mean_distance_at_end"] = run.apart.empty() ? Json(nullptr) : Json(run.apart.back().mean);
      one["largest_mean_distance"] = run.apart.empty() ? Json(nullptr) : Json(largest);
      one["parted_at"] = given(run.parted);
      one["loads"] = Json::array();
      for (const Load& load : run.loads)
        one["loads"].push_back({{"name", load.name}, {"mean_force", load.mean}, {"off_by", given(load.off_by)}});
      one["wall_seconds"] = run.seconds;
    }
    out["runs"].push_back(std::move(one));
  }
  return out;
}

}  // namespace tresse::app::compare
