#include <tresse/problem_files/distance_file.hpp>

#include <algorithm>
#include <cmath>
#include <initializer_list>
#include <string_view>
#include <system_error>

#include <fmt/format.h>
#include <Eigen/Geometry>
#include <nlohmann/json.hpp>

#include <tresse/base/blocks.hpp>
#include <tresse/base/errors.hpp>
#include <tresse/files/atomic_file.hpp>
#include <tresse/files/json.hpp>

namespace tresse::problem_files {
namespace {

using nlohmann::json;

/// A value of the file with its place, for messages.
struct Field {
  const json& value;
  std::string place;  ///< "pairs.json: pair 3: b.length"

  Field at(const char* key) const {
    const auto found = value.find(key);
    require(found != value.end(), fmt::format("{}: key '{}' is missing", place, key));
    return {*found, fmt::format("{}.{}", place, key)};
  }
  Field item(std::size_t i) const { return {value[i], fmt::format("{}[{}]", place, i)}; }

  [[noreturn]] void refuse(std::string_view expected) const {
    constexpr std::size_t shown = 40;
    std::string found = value.dump(-1, ' ', true, json::error_handler_t::replace);
    if (found.size() > shown) found = found.substr(0, shown) + "...";
    throw InvalidInput(fmt::format("{}: found {}, expected {}", place, found, expected));
  }
};

void check_keys(const Field& field, std::initializer_list<std::string_view> known) {
  if (!field.value.is_object()) field.refuse("an object");
  for (const auto& [key, value] : field.value.items()) {
    if (std::find(known.begin(), known.end(), key) != known.end()) continue;
    throw InvalidInput(fmt::format("{}: unknown key {}, expected {}", field.place,
                                   json(key).dump(-1, ' ', true, json::error_handler_t::replace),
                                   fmt::join(known, ", ")));
  }
}

double read_number(const Field& field) {
  if (!field.value.is_number()) field.refuse("a number");
  const double value = field.value.get<double>();
  if (!std::isfinite(value)) field.refuse("a finite number");
  return value;
}

Vector3 read_vector(const Field& field) {
  if (!field.value.is_array() || field.value.size() != 3) field.refuse("a list of 3 numbers");
  Vector3 out;
  for (int i = 0; i < 3; ++i) out[i] = read_number(field.item(static_cast<std::size_t>(i)));
  return out;
}

/// Three axes, orthonormal and right-handed to 1e-9, as the columns of the result.
Matrix3 read_frame(const Field& field) {
  if (!field.value.is_array() || field.value.size() != 3) field.refuse("a list of 3 axes");
  Matrix3 out;
  for (int i = 0; i < 3; ++i) out.col(i) = read_vector(field.item(static_cast<std::size_t>(i)));
  constexpr double accepted = 1e-9;
  const double error = (out.transpose() * out - Matrix3::Identity()).cwiseAbs().maxCoeff();
  require(error <= accepted,
          fmt::format("{}: axes are off orthonormal by {:.3g}, expected at most {:g}", field.place, error, accepted));
  require(out.col(0).cross(out.col(1)).dot(out.col(2)) > 0.0,
          fmt::format("{}: found a left-handed frame, expected n2 = n0 x n1", field.place));
  return out;
}

double read_length(const Field& field) {
  const double length = read_number(field);
  if (!(length > 0.0)) field.refuse("a length above 0");
  return length;
}

/// A query looks at every turn: `turn`, a bound of all of it, ends in seconds.
void require_turn(const Field& field, double turn) {
  constexpr double most = 1e5;  // [rad]
  require(turn <= most, [&] {
    return fmt::format("{}: turns by up to {:.3g} rad over its length, expected at most {:g}", field.place, turn, most);
  });
}

geometry::Curve read_curve(const Field& field) {
  if (!field.value.is_object()) field.refuse("a curve (an object with a type)");
  const Field type = field.at("type");
  if (!type.value.is_string()) type.refuse("helix, clothoid, bezier or segment");
  const auto& name = type.value.get_ref<const std::string&>();
  if (name == "helix") {
    check_keys(field, {"type", "position", "frame", "curvature", "length"});
    const geometry::HelixArc out{read_vector(field.at("position")), read_frame(field.at("frame")),
                                 read_vector(field.at("curvature")), read_length(field.at("length"))};
    require_turn(field, out.curvature.norm() * out.length);
    return out;
  }
  if (name == "clothoid") {
    check_keys(field, {"type", "position", "frame", "curvature", "curvature_slope", "length"});
    const geometry::ClothoidArc out{read_vector(field.at("position")), read_frame(field.at("frame")),
                                    read_vector(field.at("curvature")), read_vector(field.at("curvature_slope")),
                                    read_length(field.at("length"))};
    require_turn(field, (out.curvature.norm() + 0.5 * out.curvature_slope.norm() * out.length) * out.length);
    return out;
  }
  if (name == "bezier") {
    check_keys(field, {"type", "points"});
    const Field points = field.at("points");
    if (!points.value.is_array() || points.value.size() != 4) points.refuse("a list of 4 points");
    geometry::CubicBezier out;
    for (std::size_t i = 0; i < 4; ++i) out.points[i] = read_vector(points.item(i));
    return out;
  }
  if (name == "segment") {
    check_keys(field, {"type", "from", "to"});
    return geometry::LineSegment{read_vector(field.at("from")), read_vector(field.at("to"))};
  }
  type.refuse("helix, clothoid, bezier or segment");
}

json parse(const std::string& name, std::string_view text) {
  require(files::is_shallow_json(text), [&] {
    return fmt::format("{}: nested deeper than {} lists and objects, expected an object with pairs", name,
                       files::deepest_json);
  });
  try {
    return json::parse(text);
  } catch (const json::parse_error& error) {
    const std::size_t end = std::min(text.size(), error.byte > 0 ? error.byte - 1 : 0);
    const auto before = text.substr(0, end);
    const auto line = 1 + std::count(before.begin(), before.end(), '\n');
    const std::size_t last = before.rfind('\n');
    const std::size_t column = end - (last == std::string_view::npos ? 0 : last + 1) + 1;
    throw InvalidInput(fmt::format("{}:{}:{}: broken JSON, expected an object with pairs", name, line, column));
  } catch (const json::exception&) {
    throw InvalidInput(fmt::format("{}: a number is out of range, expected finite doubles", name));
  }
}

/// visit(pair) for every pair of the text.
template <typename Visit>
void for_each_pair(std::string_view text, const std::string& name, const Visit& visit) {
  const json document = parse(name, text);
  const Field root{document, name};
  check_keys(root, {"pairs", "about", "answers"});
  const Field pairs = root.at("pairs");
  if (!pairs.value.is_array()) pairs.refuse("a list of pairs");
  for (std::size_t i = 0; i < pairs.value.size(); ++i) {
    const Field pair{pairs.value[i], fmt::format("{}: pair {}", name, i)};
    check_keys(pair, {"a", "b", "category", "upper_bound", "guess"});
    visit(pair);
  }
}

std::string text_of(const std::filesystem::path& path) { return files::read_file(path, "pairs of curves in JSON"); }

geometry::Curve curve_at(const Field& pair, const char* key) {
  const Field whole = pair.at(key);
  return read_curve({whole.value, fmt::format("{}: {}", pair.place, key)});
}

json numbers(const Vector3& v) { return {v.x(), v.y(), v.z()}; }
json axes(const Matrix3& frame) { return {numbers(frame.col(0)), numbers(frame.col(1)), numbers(frame.col(2))}; }

json json_of(const geometry::Curve& curve) {
  struct Writer {
    json operator()(const geometry::LineSegment& c) const {
      return {{"type", "segment"}, {"from", numbers(c.from)}, {"to", numbers(c.to)}};
    }
    json operator()(const geometry::HelixArc& c) const {
      return {{"type", "helix"},
              {"position", numbers(c.position)},
              {"frame", axes(c.frame)},
              {"curvature", numbers(c.curvature)},
              {"length", c.length}};
    }
    json operator()(const geometry::ClothoidArc& c) const {
      return {{"type", "clothoid"},
              {"position", numbers(c.position)},
              {"frame", axes(c.frame)},
              {"curvature", numbers(c.curvature)},
              {"curvature_slope", numbers(c.curvature_slope)},
              {"length", c.length}};
    }
    json operator()(const geometry::CubicBezier& c) const {
      json points = json::array();
      for (const Vector3& point : c.points) points.push_back(numbers(point));
      return {{"type", "bezier"}, {"points", points}};
    }
  };
  return std::visit(Writer{}, curve);
}

}  // namespace

std::vector<CurvePair> read_curve_pairs(const std::filesystem::path& path) {
  return parse_curve_pairs(text_of(path), path.string());
}

std::vector<CurvePair> parse_curve_pairs(std::string_view text, const std::string& name) {
  std::vector<CurvePair> out;
  for_each_pair(text, name, [&](const Field& pair) {
    geometry::Curve a = curve_at(pair, "a");
    out.push_back({std::move(a), curve_at(pair, "b")});
  });
  return out;
}

geometry::DetectionMethod detection_method_of(std::string_view name, std::string_view where) {
  if (const auto found = find_word<geometry::DetectionMethod>(name)) return *found;
  throw InvalidInput(fmt::format("{}: found {}, expected certified, branch-and-bound or segments", where, name));
}

double default_tolerance(geometry::DetectionMethod method) {
  switch (method) {
    case geometry::DetectionMethod::certified:
      return 1e-12;
    case geometry::DetectionMethod::branch_and_bound:
      return 1e-8;
    case geometry::DetectionMethod::segments:
      return 1e-5;
  }
  return 1e-12;
}

std::vector<geometry::ClosestPoints> closest_points(const std::vector<CurvePair>& pairs,
                                                    const geometry::ClosestPointsOptions& options) {
  std::vector<geometry::ClosestPoints> out(pairs.size());
  constexpr std::size_t block = 8;
  for_blocks(pairs.size(), block, [&](std::size_t, std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) {
      const auto& [a, b] = pairs[i];
      out[i] = geometry::closest_points(a, geometry::domain(a), b, geometry::domain(b), options);
    }
  });
  return out;
}

std::vector<assembly::PairQuery> read_pair_trace(const std::filesystem::path& path) {
  std::vector<assembly::PairQuery> out;
  for_each_pair(text_of(path), path.string(), [&](const Field& pair) {
    geometry::Curve a = curve_at(pair, "a");
    assembly::PairQuery query{std::move(a), curve_at(pair, "b"), read_length(pair.at("upper_bound"))};
    if (pair.value.contains("guess")) {
      const Field guess = pair.at("guess");
      if (!guess.value.is_array() || guess.value.size() != 2) guess.refuse("two parameters");
      query.guess = {read_number(guess.item(0)), read_number(guess.item(1))};
    }
    out.push_back(std::move(query));
  });
  return out;
}

void write_pair_trace(const std::filesystem::path& path, const std::vector<assembly::PairQuery>& queries) {
  json pairs = json::array();
  for (const assembly::PairQuery& query : queries) {
    json pair = {{"a", json_of(query.a)}, {"b", json_of(query.b)}, {"upper_bound", query.upper_bound}};
    if (query.guess) pair["guess"] = {query.guess->s_a, query.guess->s_b};
    pairs.push_back(std::move(pair));
  }
  files::write_atomically(path, json{{"pairs", std::move(pairs)}}.dump() + "\n");
}

void write_distances(const std::filesystem::path& path, const std::vector<geometry::ClosestPoints>& results,
                     double seconds) {
  fmt::memory_buffer text;
  auto end = std::back_inserter(text);
  fmt::format_to(end, "{{\"results\": [");
  for (std::size_t i = 0; i < results.size(); ++i) {
    const geometry::ClosestPoints& r = results[i];
    fmt::format_to(
        end, "{}\n  {{\"distance\": {:.17g}, \"s_a\": {:.17g}, \"s_b\": {:.17g}, \"certified\": {}, \"steps\": {}}}",
        i == 0 ? "" : ",", r.distance, r.s_a, r.s_b, r.certified, r.steps);
  }
  fmt::format_to(end, "\n], \"seconds\": {:.17g}}}\n", seconds);

  files::write_atomically(path, {text.data(), text.size()});
}

}  // namespace tresse::problem_files
