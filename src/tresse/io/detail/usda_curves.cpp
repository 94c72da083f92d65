#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <tresse/base/errors.hpp>
#include <tresse/io/detail/polyline_readers.hpp>
#include <tresse/io/detail/text.hpp>

/// BasisCurves of USD's text form. Composition (references, payloads, variants) and transforms are refused, not
/// ignored.
namespace tresse::io::detail {
namespace {

/// One prim's attributes that matter here, as text.
struct Prim {
  std::string type, name;
  std::map<std::string, std::string_view, std::less<>> values;
  bool transformed = false;  ///< it, or one that holds it
};

/// Walks through a layer.
class Layer {
 public:
  Layer(std::string_view text, const std::string& name) : text_(text), name_(name) {}

  /// Its metadata, then calls visit(prim) for each prim of type BasisCurves.
  template <class Visit>
  void walk(const Visit& visit) {
    if (!text_.starts_with("#usda 1.0")) fail("does not start with \"#usda 1.0\"; expected USD as text");
    skip_blank();
    if (peek() == '(') metadata_ = balanced();
    while (skip_blank(), at_ < text_.size()) prim(false, 0, visit);
  }

  std::string_view metadata() const { return metadata_; }

 private:
  static constexpr int deepest = 100;

  [[noreturn]] void fail(const std::string& message) const {
    const auto line = 1 + std::count(text_.begin(), text_.begin() + static_cast<std::ptrdiff_t>(at_), '\n');
    throw InvalidInput(fmt::format("{}:{}: {}", name_, line, message));
  }
  char peek() const { return at_ < text_.size() ? text_[at_] : '\0'; }

  void skip_blank() {
    while (at_ < text_.size()) {
      if (std::string_view(" \t\r\n;").find(peek()) != std::string_view::npos) {
        ++at_;
      } else if (peek() == '#') {
        at_ = std::min(text_.find('\n', at_), text_.size());
      } else {
        return;
      }
    }
  }

  std::string_view word() {
    skip_blank();
    const std::size_t begin = at_;
    at_ = std::min(text_.find_first_of(" \t\r\n;=(){}\"", at_), text_.size());
    return text_.substr(begin, at_ - begin);
  }

  /// A text in quotes, with them.
  std::string_view quoted() {
    const std::size_t begin = at_;
    const std::string_view quote = text_.substr(at_).starts_with("\"\"\"") ? "\"\"\"" : text_.substr(at_, 1);
    at_ += quote.size();
    while (at_ < text_.size() && !text_.substr(at_).starts_with(quote))
      at_ = std::min(at_ + (peek() == '\\' ? 2 : 1), text_.size());
    if (at_ >= text_.size()) fail("ends within a text in quotes; expected its end");
    at_ += quote.size();
    return text_.substr(begin, at_ - begin);
  }

  /// From a bracket to the one that closes it.
  std::string_view balanced() {
    const std::size_t begin = at_;
    for (int depth = 0; at_ < text_.size();) {
      const char c = peek();
      if (c == '"' || c == '\'') {
        quoted();
        continue;
      }
      if (c == '#') {
        skip_blank();
        continue;
      }
      ++at_;
      if (c == '(' || c == '[' || c == '{') ++depth;
      if ((c == ')' || c == ']' || c == '}') && --depth == 0) return text_.substr(begin, at_ - begin);
    }
    fail("ends within brackets; expected their end");
  }

  std::string_view value() {
    skip_blank();
    if (peek() == '[' || peek() == '(' || peek() == '{') return balanced();
    if (peek() == '"' || peek() == '\'') return quoted();
    return word();
  }

  template <class Visit>
  void prim(bool transformed, int depth, const Visit& visit) {
    if (depth > deepest) fail("nests prims more than 100 deep");
    const std::string_view specifier = word();
    if (specifier != "def" && specifier != "over" && specifier != "class")
      fail(fmt::format("{}; expected a prim: def, over or class",
                       in_quotes(specifier.empty() ? text_.substr(at_, 1) : specifier, 20)));
    Prim out;
    out.transformed = transformed;
    skip_blank();
    if (peek() != '"') out.type = word();
    skip_blank();
    if (peek() != '"') fail("a prim without a name; expected one in quotes");
    out.name = quoted();
    skip_blank();
    if (peek() == '(') {
      const std::string_view data = balanced();
      for (const char* arc : {"references", "payload", "inherits", "variants"}) {
        if (data.find(arc) != std::string_view::npos)
          fail(fmt::format("prim {} has {}; expected a flattened layer", one_line(out.name, 40), arc));
      }
    }
    skip_blank();
    if (peek() != '{') fail(fmt::format("prim {} has no body; expected {{", one_line(out.name, 40)));
    ++at_;
    body(out, depth, visit);
    if (specifier == "def" && out.type == "BasisCurves") visit(out);
  }

  template <class Visit>
  void body(Prim& out, int depth, const Visit& visit) {
    for (;;) {
      skip_blank();
      if (peek() == '}') {
        ++at_;
        return;
      }
      const std::size_t begin = at_;
      const std::string_view first = word();
      if (first == "def" || first == "over" || first == "class") {
        at_ = begin;
        prim(out.transformed, depth + 1, visit);
        continue;
      }
      // "uniform token type = ...": the name is the last word before what follows.
      std::string_view name = first;
      while (skip_blank(), peek() != '=' && peek() != '(' && peek() != '}' && peek() != '\0' && peek() != '{') {
        const std::size_t before = at_;
        if (peek() == '"') quoted();
        name = word();
        if (at_ == before) fail(fmt::format("{}; expected an attribute", in_quotes(text_.substr(at_, 1), 20)));
        // A declaration without a value ends with its line.
        if (text_.substr(at_).starts_with('\n')) break;
      }
      if (name.empty()) fail("ends within a prim, or has a value without a name");
      skip_blank();
      if (peek() == '=') {
        ++at_;
        out.values[std::string(name)] = value();
        if (name == "xformOpOrder")
          out.transformed = out.values.find(name)->second.find("xformOp") != std::string_view::npos;
      }
      skip_blank();
      if (peek() == '(') balanced();
      if (peek() == '{') balanced();  // a variant set, a dictionary
    }
  }

  std::string_view text_;
  const std::string& name_;
  std::size_t at_ = 0;
  std::string_view metadata_;
};

std::vector<double> numbers_of(std::string_view text, const std::string& name) {
  std::vector<double> out;
  constexpr std::string_view between = " \t\r\n,()[]";
  for (std::size_t at = text.find_first_not_of(between); at != std::string_view::npos;) {
    const std::size_t end = std::min(text.find_first_of(between, at), text.size());
    out.push_back(read_number(text.substr(at, end - at), name, 0));
    at = text.find_first_not_of(between, end);
  }
  return out;
}

/// The samples of "{ 0: [...], 1: [...] }".
std::vector<std::string_view> samples_of(std::string_view text) {
  std::vector<std::string_view> out;
  for (std::size_t at = text.find('['); at != std::string_view::npos; at = text.find('[', at)) {
    const std::size_t end = std::min(text.find(']', at), text.size());
    out.push_back(text.substr(at, end - at));
    at = end;
  }
  return out;
}

std::optional<std::string> word_of(const Prim& prim, std::string_view key) {
  const auto found = prim.values.find(key);
  if (found == prim.values.end()) return std::nullopt;
  std::string out(found->second);
  std::erase(out, '"');
  return out;
}

/// Weights of a cubic's four points.
std::array<double, 4> weights(const std::string& basis, double t) {
  const double u = 1.0 - t;
  if (basis == "bezier") return {u * u * u, 3 * u * u * t, 3 * u * t * t, t * t * t};
  if (basis == "bspline")
    return {u * u * u / 6, (3 * t * t * t - 6 * t * t + 4) / 6, (-3 * t * t * t + 3 * t * t + 3 * t + 1) / 6,
            t * t * t / 6};
  return {0.5 * (-t + 2 * t * t - t * t * t), 0.5 * (2 - 5 * t * t + 3 * t * t * t),
          0.5 * (t + 4 * t * t - 3 * t * t * t), 0.5 * (-t * t + t * t * t)};
}

/// Points on a cubic curve, four to each span.
std::vector<Vector3> points_on(const std::vector<Vector3>& control, const std::string& basis) {
  constexpr int samples = 4;
  const std::size_t step = basis == "bezier" ? 3 : 1;
  std::vector<Vector3> out;
  for (std::size_t i = 0; i + 3 < control.size(); i += step) {
    const bool last = i + 3 + step >= control.size();
    for (int k = 0; k < samples + (last ? 1 : 0); ++k) {
      const auto w = weights(basis, static_cast<double>(k) / samples);
      out.emplace_back(w[0] * control[i] + w[1] * control[i + 1] + w[2] * control[i + 2] + w[3] * control[i + 3]);
    }
  }
  return out;
}

void add_curves(Polylines& into, const Prim& prim, const std::string& name, int frame) {
  const auto refuse = [&](const std::string& what) {
    throw InvalidInput(fmt::format("{}: BasisCurves {} {}", name, one_line(prim.name, 40), what));
  };
  if (prim.transformed) refuse("stands under a transform; expected points in the world's axes");
  const std::string type = word_of(prim, "type").value_or("cubic"), basis = word_of(prim, "basis").value_or("bezier");
  const std::string wrap = word_of(prim, "wrap").value_or("nonperiodic");
  if (wrap != "nonperiodic") refuse(fmt::format("has wrap {}; expected \"nonperiodic\"", in_quotes(wrap, 20)));
  if (basis != "bezier" && basis != "bspline" && basis != "catmullRom")
    refuse(fmt::format("has basis {}; expected \"bezier\", \"bspline\" or \"catmullRom\"", in_quotes(basis, 20)));
  const auto counts = prim.values.find("curveVertexCounts");
  if (counts == prim.values.end()) refuse("has no curveVertexCounts");
  std::string_view points;
  if (const auto sampled = prim.values.find("points.timeSamples"); sampled != prim.values.end()) {
    const auto samples = samples_of(sampled->second);
    const int count = static_cast<int>(samples.size()), index = frame < 0 ? count + frame : frame;
    if (index < 0 || index >= count) refuse(fmt::format("has no time sample {}: it has {}", frame, count));
    points = samples[static_cast<std::size_t>(index)];
  } else if (const auto still = prim.values.find("points"); still != prim.values.end()) {
    points = still->second;
  } else {
    refuse("has no points");
  }
  const std::vector<double> places = numbers_of(points, name);
  std::size_t p = 0;
  for (const double count : numbers_of(counts->second, name)) {
    const std::size_t left = places.size() / 3 - p;
    if (!(count >= 0 && count <= static_cast<double>(left)) || count != std::floor(count))
      refuse(fmt::format("has a curve of {} points where {} are left", number(count), left));
    std::vector<Vector3> row;
    for (std::size_t k = 0; k < static_cast<std::size_t>(count); ++k, ++p)
      row.emplace_back(places[3 * p], places[3 * p + 1], places[3 * p + 2]);
    into.rows.push_back(type == "linear" ? row : points_on(row, basis));
  }
  if (3 * p != places.size()) refuse(fmt::format("has {} points beyond its curves", places.size() / 3 - p));
}

}  // namespace

Polylines read_usda_curves(std::string_view text, const std::string& name, int frame) {
  Polylines out;
  Layer layer(text, name);
  double metres = 0.01;  // USD's own default, and y up
  std::vector<Prim> prims;
  layer.walk([&](const Prim& prim) { prims.push_back(prim); });
  const std::string_view metadata = layer.metadata();
  if (const std::size_t at = metadata.find("metersPerUnit"); at != std::string_view::npos) {
    const std::size_t equals = metadata.find('=', at);
    const std::string_view rest = equals == std::string_view::npos ? "" : metadata.substr(equals + 1);
    metres = read_number(trimmed(rest.substr(0, rest.find_first_of("\n)"))), name, 1);
    if (!(metres > 0.0)) throw InvalidInput(fmt::format("{}: metersPerUnit is {}; expected more than 0", name, metres));
  }
  const std::size_t up = metadata.find("upAxis");
  out.y_up = up == std::string_view::npos || metadata.substr(up, 20).find("\"Z\"") == std::string_view::npos;
  out.in_metres = true;
  for (const Prim& prim : prims) add_curves(out, prim, name, frame);
  for (std::vector<Vector3>& row : out.rows) {
    for (Vector3& x : row) x *= metres;
  }
  return out;
}

}  // namespace tresse::io::detail
