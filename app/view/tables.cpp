#include "view/tables.hpp"

#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <fstream>
#include <limits>
#include <utility>

#include <nlohmann/json.hpp>

#include <tresse/base/errors.hpp>
#include <tresse/files/csv.hpp>
#include <tresse/record/tables.hpp>

namespace tresse::app::view {
namespace {

using Json = nlohmann::json;

constexpr double nothing = std::numeric_limits<double>::quiet_NaN();
constexpr std::size_t read_at_once = std::size_t{64} << 20U;

double number_of(const std::string& text) {
  double value = nothing;
  std::from_chars(text.data(), text.data() + text.size(), value);
  return value;
}

std::vector<std::string> names_of(std::string_view header) {
  header.remove_suffix(1);  // the line's end
  std::vector<std::string> names = files::row_fields(header);
  names.erase(names.begin());  // time
  return names;
}

/// Columns of holds.csv that are shown, behind the norm of the force.
const std::vector<std::string> hold_names = {"force", "fx", "fy", "fz"};
/// Columns of forces.csv after time and obstacle, behind the norm of the force.
const std::vector<std::string> force_names = {"force", "fx", "fy", "fz", "contacts"};

double lesser(double a, double b) { return std::isnan(a) || b < a ? b : a; }
double greater(double a, double b) { return std::isnan(a) || b > a ? b : a; }

}  // namespace

void Curves::add(double time, const std::vector<double>& values) {
  if (rows_ % rows_per_stretch_ == 0) {
    if (stretches_.size() == most_stretches) merge_pairs();
    stretches_.push_back({time, time, std::vector<double>(columns_, nothing), std::vector<double>(columns_, nothing)});
  }
  Stretch& last = stretches_.back();
  last.to = time;
  for (std::size_t i = 0; i < columns_; ++i) {
    if (i >= values.size() || !std::isfinite(values[i])) continue;
    last.least[i] = lesser(last.least[i], values[i]);
    last.greatest[i] = greater(last.greatest[i], values[i]);
  }
  ++rows_;
}

void Curves::merge_pairs() {
  for (std::size_t i = 0; i < stretches_.size() / 2; ++i) {
    Stretch merged = std::move(stretches_[2 * i]);
    const Stretch& second = stretches_[2 * i + 1];
    merged.to = second.to;
    for (std::size_t c = 0; c < columns_; ++c) {
      merged.least[c] = lesser(merged.least[c], second.least[c]);
      merged.greatest[c] = greater(merged.greatest[c], second.greatest[c]);
    }
    stretches_[i] = std::move(merged);
  }
  stretches_.resize(stretches_.size() / 2);
  rows_per_stretch_ *= 2;
}

Json Curves::json() const {
  Json from = Json::array(), to = Json::array();
  Json least(columns_, Json::array()), greatest(columns_, Json::array());
  for (const Stretch& stretch : stretches_) {
    from.push_back(stretch.from);
    to.push_back(stretch.to);
    for (std::size_t c = 0; c < columns_; ++c) {
      least[c].push_back(stretch.least[c]);
      greatest[c].push_back(stretch.greatest[c]);
    }
  }
  return {{"from", from}, {"to", to}, {"least", least}, {"greatest", greatest}};
}

std::vector<std::string> Tail::read(bool& restarted) {
  struct stat status {};
  restarted = false;
  if (::stat(file_.c_str(), &status) != 0 || !S_ISREG(status.st_mode)) return {};
  const auto size = static_cast<std::uint64_t>(status.st_size);
  if (status.st_ino != inode_ || size < offset_) {
    restarted = true;
    inode_ = status.st_ino;
    offset_ = 0;
  }
  if (size == offset_) return {};
  std::ifstream in(file_, std::ios::binary);
  in.seekg(static_cast<std::streamoff>(offset_));
  std::string text(std::min<std::uint64_t>(size - offset_, read_at_once), '\0');
  in.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<std::size_t>(std::max<std::streamsize>(in.gcount(), 0)));
  std::vector<std::string> lines;
  for (std::size_t begin = 0;;) {
    const std::size_t end = text.find('\n', begin);
    if (end == std::string::npos) break;
    lines.push_back(text.substr(begin, end - begin));
    offset_ += end + 1 - begin;
    begin = end + 1;
  }
  if (lines.empty() && text.size() == read_at_once) offset_ += text.size();  // no table has such lines
  return lines;
}

Tables::Tables(const std::filesystem::path& folder)
    : steps_tail_(folder / "steps.csv"),
      forces_tail_(folder / "forces.csv"),
      holds_tail_(folder / "holds.csv"),
      steps_(names_of(record::steps_header).size()) {}

void Tables::update() {
  bool restarted = false;
  const std::vector<std::string> steps = steps_tail_.read(restarted);
  if (restarted) steps_ = Curves(names_of(record::steps_header).size());
  for (const std::string& line : steps) add_step(line);
  const std::vector<std::string> forces = forces_tail_.read(restarted);
  if (restarted) forces_.clear();
  for (const std::string& line : forces) add_force(line);
  const std::vector<std::string> holds = holds_tail_.read(restarted);
  if (restarted) {
    holds_.clear();
    hold_index_.clear();
  }
  for (const std::string& line : holds) add_hold(line);
}

void Tables::add_step(const std::string& line) {
  const std::vector<std::string> fields = files::row_fields(line);
  const double time = number_of(fields[0]);
  if (!std::isfinite(time)) return;  // the header, or no row
  std::vector<double> values;
  for (std::size_t i = 1; i < fields.size(); ++i) values.push_back(number_of(fields[i]));
  steps_.add(time, values);
}

void Tables::add_force(const std::string& line) {
  const std::vector<std::string> fields = files::row_fields(line);
  const double time = number_of(fields[0]);
  if (!std::isfinite(time) || fields.size() < 6) return;
  if (forces_.size() >= most_curves && forces_.find(fields[1]) == forces_.end()) return;
  const std::array<double, 3> f = {number_of(fields[2]), number_of(fields[3]), number_of(fields[4])};
  Curves& curves = forces_.try_emplace(fields[1], force_names.size()).first->second;
  curves.add(time, {std::hypot(f[0], f[1], f[2]), f[0], f[1], f[2], number_of(fields[5])});
}

void Tables::add_hold(const std::string& line) {
  const std::vector<std::string> fields = files::row_fields(line);
  const double time = number_of(fields[0]);
  if (!std::isfinite(time) || fields.size() < 6) return;
  HeldPoint point = {fields[1], -1};
  std::from_chars(fields[2].data(), fields[2].data() + fields[2].size(), point.fibre);
  auto at = hold_index_.find(point);
  if (at == hold_index_.end()) {
    if (holds_.size() >= most_curves) return;
    at = hold_index_.emplace(point, holds_.size()).first;
    holds_.push_back({point, Curves(hold_names.size())});
  }
  const std::array<double, 3> f = {number_of(fields[3]), number_of(fields[4]), number_of(fields[5])};
  holds_[at->second].curves.add(time, {std::hypot(f[0], f[1], f[2]), f[0], f[1], f[2]});
}

Json Tables::steps_json() const { return {{"columns", names_of(record::steps_header)}, {"curves", steps_.json()}}; }

Json Tables::forces_json() const {
  Json obstacles = Json::object();
  for (const auto& [name, curves] : forces_) obstacles[name] = curves.json();
  return {{"columns", force_names}, {"obstacles", obstacles}};
}

Json Tables::holds_json() const {
  Json holds = Json::array();
  for (const auto& [point, curves] : holds_) {
    holds.push_back({{"name", point.name}, {"fibre", point.fibre}, {"curves", curves.json()}});
  }
  return {{"columns", hold_names}, {"holds", holds}};
}

std::vector<HeldPoint> Tables::held_points() const {
  std::vector<HeldPoint> out;
  for (const HeldCurves& hold : holds_) out.push_back(hold.point);
  return out;
}

}  // namespace tresse::app::view
