#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <tresse/base/errors.hpp>
#include <tresse/base/words.hpp>
#include <tresse/files/lines.hpp>
#include <tresse/files/text.hpp>
#include <tresse/importers/detail/polyline_readers.hpp>
#include <tresse/importers/detail/usda_layer.hpp>
#include <tresse/importers/detail/usda_transforms.hpp>

/// BasisCurves of USD's text form, as the prims of the layer stand in the world. Composition (references, payloads,
/// variants) is refused, not passed over.
namespace tresse::importers::detail {
namespace {

/// Thrown within this file where a prim cannot be read: the rest of a sentence about it.
struct Unreadable {
  std::string why;
};

template <class... Args>
[[noreturn]] void unreadable(fmt::format_string<Args...> text, Args&&... args) {
  throw Unreadable{fmt::format(text, std::forward<Args>(args)...)};
}

const UsdAttribute* find(const UsdPrim& prim, std::string_view key) {
  const auto found = prim.attributes.find(key);
  return found == prim.attributes.end() ? nullptr : &found->second;
}

std::string word_of(const UsdPrim& prim, std::string_view key, std::string_view otherwise) {
  const UsdAttribute* found = find(prim, key);
  return std::string(found == nullptr || found->value.empty() ? otherwise : unquoted(found->value));
}

std::vector<double> numbers_of(std::string_view value, std::string_view what) {
  std::vector<double> out;
  for (const std::string_view item : usd_items(value)) {
    const std::optional<double> number = files::real_in(item);
    if (!number) unreadable("has {} among its {}; expected a number", files::in_quotes(item, 40), what);
    out.push_back(*number);
  }
  return out;
}

// Which curves are meant ---------------------------------------------------------------------------------------------

/// Why a prim is not drawn, itself or because of one that holds it; empty: it is.
std::string why_left_out(const UsdPrim& prim) {
  if (prim.specifier == "class") return "a class is a pattern for others";
  if (prim.specifier == "over") return "an over changes a prim that is not in this file";
  if (const auto active = prim.metadata.find("active");
      active != prim.metadata.end() && active->second != "true" && active->second != "1")
    return "active is false";
  if (prim.type == "PointInstancer") return "a PointInstancer places copies of it; expected curves that stand once";
  if (word_of(prim, "visibility", "inherited") == "invisible") return "visibility is invisible";
  const std::string purpose = word_of(prim, "purpose", "default");
  if (purpose == "guide" || purpose == "proxy") return fmt::format("the purpose is \"{}\"", purpose);
  return {};
}

/// Whether a prim may bring curves along: others hold none.
bool may_hold_curves(const UsdPrim& prim) {
  static const std::set<std::string, std::less<>> types{"", "Xform", "Scope", "SkelRoot", "BasisCurves"};
  return types.contains(prim.type);
}

class Composition {
 public:
  Composition(UsdLayer& layer, const std::string& name) : layer_(layer), name_(name) {
    if (layer.metadata.contains("subLayers")) files::fail(name, "has subLayers; expected a flattened layer");
    std::set<std::size_t> parents;
    for (std::size_t i = 0; i < layer.prims.size(); ++i) {
      const UsdPrim& prim = layer.prims[i];
      const std::string above = prim.parent == UsdPrim::none ? "" : paths_[prim.parent];
      paths_.push_back(above + "/" + prim.name);
      by_path_.emplace(paths_.back(), i);
      parents.insert(prim.parent);
      const std::string outer = prim.parent == UsdPrim::none ? "" : reasons_[prim.parent];
      reasons_.push_back(outer.empty() ? why_left_out(prim) : outer);
    }
    for (std::size_t i = 0; i < layer.prims.size(); ++i) {
      if (reasons_[i].empty() && may_hold_curves(layer.prims[i])) compose(i, parents);
    }
  }

  const std::string& reason(std::size_t prim) const { return reasons_[prim]; }

 private:
  [[noreturn]] void refuse(const UsdPrim& prim, std::string_view what) const {
    files::fail(name_, prim.line,
                fmt::format("prim {} {}; expected a flattened layer", files::in_quotes(prim.name, 40), what));
  }

  void compose(std::size_t index, const std::set<std::size_t>& parents) {
    UsdPrim& prim = layer_.prims[index];
    for (const char* arc : {"references", "payload", "variants", "specializes"}) {
      const auto found = prim.metadata.find(arc);
      if (found == prim.metadata.end() || found->second == "None" || found->second == "[]") continue;
      const bool instance = prim.metadata.contains("instanceable");
      refuse(prim, fmt::format("has {}{}", arc, instance ? " (it is an instance)" : ""));
    }
    if (prim.variants) refuse(prim, "has variants");
    const auto inherits = prim.metadata.find("inherits");
    if (inherits == prim.metadata.end()) return;
    for (std::string_view path : usd_items(inherits->second)) {
      if (path.starts_with('<') && path.ends_with('>')) path = path.substr(1, path.size() - 2);
      const auto from = by_path_.find(path);
      if (from == by_path_.end()) continue;
      if (parents.contains(from->second))
        refuse(prim, fmt::format("inherits {}, which holds prims", files::in_quotes(path, 40)));
      // Its own values are stronger.
      for (const auto& [key, attribute] : layer_.prims[from->second].attributes)
        prim.attributes.emplace(key, attribute);
    }
  }

  UsdLayer& layer_;
  const std::string& name_;
  std::vector<std::string> paths_, reasons_;  ///< (prims)
  std::map<std::string, std::size_t, std::less<>> by_path_;
};

// Curves -------------------------------------------------------------------------------------------------------------

/// How the points of a prim make curves.
struct Basis {
  bool cubic = true, pinned = false;
  std::string name;
  std::size_t step = 1;  ///< points from one span to the next

  /// Empty where a curve of so many points has spans.
  std::string flaw(std::size_t count) const {
    if (!cubic) return {};
    if (pinned) return count < 2 ? fmt::format("has {} of the 2 points or more that a pinned curve needs", count) : "";
    if (count < 4)
      return fmt::format("has {}; expected 4 or more for a cubic curve",
                         counted(static_cast<std::int64_t>(count), "point"));
    if (step == 3 && (count - 4) % 3 != 0)
      return fmt::format("has {} points; expected 4, 7, 10 and so on for a Bezier curve", count);
    return {};
  }
  /// Ends of the spans of a curve of so many points.
  std::size_t ends(std::size_t count) const {
    if (!cubic || pinned) return count;
    return count < 4 ? std::min(count, std::size_t{1}) : (count - 4) / step + 2;
  }
};

Basis basis_of(const UsdPrim& prim) {
  Basis out;
  const std::string type = word_of(prim, "type", "cubic"), wrap = word_of(prim, "wrap", "nonperiodic");
  out.name = word_of(prim, "basis", "bezier");
  if (type != "linear" && type != "cubic")
    unreadable("has type {}; expected \"linear\" or \"cubic\"", files::in_quotes(type, 20));
  if (wrap != "nonperiodic" && wrap != "pinned")
    unreadable("has wrap {}; expected \"nonperiodic\" or \"pinned\"", files::in_quotes(wrap, 20));
  out.cubic = type == "cubic";
  if (!out.cubic) return out;
  if (out.name != "bezier" && out.name != "bspline" && out.name != "catmullRom")
    unreadable("has basis {}; expected \"bezier\", \"bspline\" or \"catmullRom\"", files::in_quotes(out.name, 20));
  out.step = out.name == "bezier" ? 3 : 1;
  out.pinned = wrap == "pinned" && out.step == 1;
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

constexpr int samples = 4;  // points on a span, one of its ends among them

/// Values on a curve, as many to each span, from those at its points; a pinned one goes on straight beyond its ends.
template <class T>
std::vector<T> on_curve(std::vector<T> control, const Basis& basis) {
  if (!basis.cubic) return control;
  if (basis.pinned) {
    const T before = 2.0 * control[0] - control[1];
    const T behind = 2.0 * control.back() - control[control.size() - 2];
    control.insert(control.begin(), before);
    control.push_back(behind);
  }
  std::vector<T> out;
  for (std::size_t i = 0; i + 3 < control.size(); i += basis.step) {
    const bool last = i + 3 + basis.step >= control.size();
    for (int k = 0; k < samples + (last ? 1 : 0); ++k) {
      const auto w = weights(basis.name, static_cast<double>(k) / samples);
      out.push_back(w[0] * control[i] + w[1] * control[i + 1] + w[2] * control[i + 2] + w[3] * control[i + 3]);
    }
  }
  return out;
}

/// Values between the ends of spans, as many as on_curve() gives.
std::vector<double> along_spans(const std::vector<double>& ends, const Basis& basis) {
  if (!basis.cubic) return ends;
  std::vector<double> out;
  for (std::size_t i = 0; i + 1 < ends.size(); ++i) {
    for (int k = 0; k < samples; ++k) {
      const double t = static_cast<double>(k) / samples;
      out.push_back((1.0 - t) * ends[i] + t * ends[i + 1]);
    }
  }
  out.push_back(ends.back());
  return out;
}

/// One prim of curves, at one time.
class Curves {
 public:
  Curves(const UsdLayer& layer, std::size_t prim, const std::string& name, int frame)
      : prim_(layer.prims[prim]), name_(name), basis_(basis_of(prim_)) {
    choose_time(frame);
    read_points();
    try {
      to_world_ = world_transform(layer, prim);
    } catch (const InvalidInput& error) {
      throw Unreadable{fmt::format("stands under a transform that is refused: {}", error.what())};
    }
    thickness_scale_ = std::cbrt(std::abs(to_world_.linear().determinant()));
    read_widths();
    read_guides();
  }

  /// Its curves, by number in the file those that are guides.
  void add_to(RawPolylines& into, std::vector<std::size_t>& guides) const {
    std::size_t p = 0, span_end = 0;
    for (std::size_t c = 0; c < counts_.size(); ++c) {
      const std::size_t count = counts_[c], row = into.lines.rows.size();
      const std::string flaw = basis_.flaw(count);
      std::vector<Vector3> points;
      for (std::size_t k = p; k < p + count; ++k) points.push_back(to_world_ * points_[k]);
      into.lines.rows.push_back(flaw.empty() ? on_curve(std::move(points), basis_) : std::move(points));
      into.lines.radii.push_back(radii(c, p, span_end, flaw.empty(), into.lines.rows.back().size()));
      into.places.push_back(prim_.line);
      if (!flaw.empty()) into.flaw(row, flaw);
      if (!guides_.empty() && guides_[guides_.size() == 1 ? 0 : c] != 0.0) guides.push_back(row);
      p += count;
      span_end += basis_.ends(count);
    }
  }

  /// Why it has no widths that can be used; empty where it has.
  const std::string& why_no_widths() const { return why_no_widths_; }

  /// Whether its transform stretches directions unlike, so that no circle stays one.
  bool stretched() const {
    const Eigen::JacobiSVD<Matrix3> svd(to_world_.linear());
    const Vector3& factors = svd.singularValues();
    return factors[2] < (1.0 - 1e-6) * factors[0];
  }

 private:
  std::vector<double> values(std::string_view key) const {
    const UsdAttribute* found = find(prim_, key);
    return found == nullptr ? std::vector<double>() : numbers_of(text_of(*found), key);
  }

  /// The value at the time that the points are taken: the last sample up to it, or else the first.
  std::string_view text_of(const UsdAttribute& attribute) const {
    const std::vector<UsdSample> all = usd_samples(attribute.samples, name_);
    if (all.empty()) return attribute.value;
    std::string_view out = all.front().value;
    for (const UsdSample& sample : all) {
      if (sample.time <= time_) out = sample.value;
    }
    return out;
  }

  void choose_time(int frame) {
    const UsdAttribute* points = find(prim_, "points");
    if (points == nullptr) return;
    const std::vector<UsdSample> all = usd_samples(points->samples, name_);
    if (all.empty()) return;
    const int count = static_cast<int>(all.size()), index = frame < 0 ? count + frame : frame;
    if (index < 0 || index >= count) {
      throw InvalidInput(fmt::format("{}:{}: BasisCurves {} has no time sample {}: it has {}", name_, prim_.line,
                                     files::in_quotes(prim_.name, 40), frame, count));
    }
    time_ = all[static_cast<std::size_t>(index)].time;
  }

  void read_points() {
    if (find(prim_, "curveVertexCounts") == nullptr) unreadable("has no curveVertexCounts");
    const std::vector<double> places = values("points");
    if (places.empty()) unreadable("has no points");
    if (places.size() % 3 != 0) unreadable("has {} numbers among its points; expected three a point", places.size());
    std::size_t left = places.size() / 3;
    for (const double count : values("curveVertexCounts")) {
      if (!(count >= 0 && count <= static_cast<double>(left)) || count != std::floor(count))
        unreadable("has a curve of {} points where {} are left", files::number(count), left);
      counts_.push_back(static_cast<std::size_t>(count));
      left -= counts_.back();
    }
    if (left > 0) unreadable("has {} beyond its curves", counted(static_cast<std::int64_t>(left), "point"));
    for (std::size_t p = 0; p < places.size(); p += 3) points_.emplace_back(places[p], places[p + 1], places[p + 2]);
  }

  std::size_t varying_count() const {
    std::size_t out = 0;
    for (const std::size_t count : counts_) out += basis_.ends(count);
    return out;
  }

  void read_widths() {
    const bool primvar = find(prim_, "primvars:widths") != nullptr;
    const std::string key = primvar ? "primvars:widths" : "widths";
    const UsdAttribute* found = find(prim_, key);
    widths_ = values(key);
    if (primvar) {
      const std::vector<double> indices = values("primvars:widths:indices");
      std::vector<double> picked;
      for (const double index : indices) {
        if (!(index >= 0.0 && index < static_cast<double>(widths_.size())))
          return drop_widths(
              fmt::format("has a widths:indices of {} for {} widths", files::number(index), widths_.size()));
        picked.push_back(widths_[static_cast<std::size_t>(index)]);
      }
      if (!indices.empty()) widths_ = std::move(picked);
    }
    if (found == nullptr || widths_.empty()) return drop_widths("has no widths");
    const auto said = found->metadata.find("interpolation");
    interpolation_ = said == found->metadata.end() ? "" : std::string(unquoted(said->second));
    const std::map<std::string, std::size_t, std::less<>> wanted{{"constant", 1},
                                                                 {"uniform", counts_.size()},
                                                                 {"varying", varying_count()},
                                                                 {"vertex", points_.size()},
                                                                 {"faceVarying", varying_count()}};
    if (interpolation_.empty()) {  // USD's own default; files that mean one for all often leave it out
      interpolation_ = widths_.size() == 1 ? "constant" : "vertex";
    }
    const auto expected = wanted.find(interpolation_);
    if (expected == wanted.end())
      return drop_widths(fmt::format("has widths of interpolation {}", files::in_quotes(interpolation_, 20)));
    if (expected->second != widths_.size()) {
      drop_widths(fmt::format("has {} widths of interpolation \"{}\", where {} are expected", widths_.size(),
                              interpolation_, expected->second));
    }
  }

  void drop_widths(std::string why) {
    widths_.clear();
    why_no_widths_ = std::move(why);
  }

  void read_guides() {
    guides_ = values("primvars:groom_guide");
    if (guides_.size() != 1 && guides_.size() != counts_.size()) guides_.clear();
  }

  /// Of curve c, whose points begin at p and whose ends of spans begin at `span_end`.
  std::vector<double> radii(std::size_t c, std::size_t p, std::size_t span_end, bool sound, std::size_t count) const {
    if (widths_.empty()) return {};
    std::vector<double> out;
    const auto slice = [&](std::size_t first, std::size_t size) {
      const auto begin = widths_.begin() + static_cast<std::ptrdiff_t>(first);
      return std::vector<double>(begin, begin + static_cast<std::ptrdiff_t>(size));
    };
    if (!sound) {
      out.assign(count, 1.0);
    } else if (interpolation_ == "vertex") {
      const std::vector<double> given = slice(p, counts_[c]);
      const double least = given.empty() ? 0.0 : std::min(0.0, std::ranges::min(given));
      out = on_curve(given, basis_);
      for (double& value : out) value = std::max(value, least);  // cubics overshoot at sharp tips
    } else if (interpolation_ == "varying" || interpolation_ == "faceVarying") {
      out = along_spans(slice(span_end, basis_.ends(counts_[c])), basis_);
    } else {
      out.assign(count, widths_[interpolation_ == "uniform" ? c : 0]);
    }
    for (double& value : out) value *= 0.5 * thickness_scale_;
    return out;
  }

  const UsdPrim& prim_;
  const std::string& name_;
  Basis basis_;
  double time_ = 0.0;
  std::vector<std::size_t> counts_;  ///< points of each curve
  std::vector<Vector3> points_;
  Eigen::Affine3d to_world_ = Eigen::Affine3d::Identity();
  double thickness_scale_ = 1.0;
  std::vector<double> widths_, guides_;
  std::string interpolation_, why_no_widths_;
};

// The file -----------------------------------------------------------------------------------------------------------

/// Attributes that are read, or that say nothing about fibres.
bool known_attribute(std::string_view key) {
  static const std::set<std::string, std::less<>> known{"points",       "curveVertexCounts",
                                                        "type",         "basis",
                                                        "wrap",         "widths",
                                                        "extent",       "purpose",
                                                        "visibility",   "doubleSided",
                                                        "xformOpOrder", "primvars:widths",
                                                        "orientation",  "primvars:widths:indices",
                                                        "tresse:name",  "primvars:groom_guide",
                                                        "proxyPrim"};
  return known.contains(key) || key.starts_with("xformOp:") || key.starts_with("material:") ||
         key.starts_with("userProperties:") || key.find('.') != std::string_view::npos;
}

class Reader {
 public:
  Reader(std::string_view text, const std::string& name) : name_(name), layer_(read_usda_layer(text, name)) {}

  RawPolylines read(int frame) {
    const Composition composition(layer_, name_);
    for (std::size_t i = 0; i < layer_.prims.size(); ++i) {
      const UsdPrim& prim = layer_.prims[i];
      if (prim.type == "NurbsCurves" || prim.type == "HermiteCurves") {
        left_out_["only BasisCurves are read"].push_back(
            fmt::format("{} {}", prim.type, files::in_quotes(prim.name, 40)));
      } else if (prim.type == "BasisCurves") {
        const std::string label = fmt::format("BasisCurves {}", files::in_quotes(prim.name, 40));
        if (composition.reason(i).empty()) {
          add(i, label, frame);
        } else {
          left_out_[composition.reason(i)].push_back(label);
        }
      }
    }
    leave_out_guides();
    settle_widths();
    tell();
    to_metres();
    return std::move(out_);
  }

 private:
  void add(std::size_t index, const std::string& label, int frame) {
    try {
      const Curves curves(layer_, index, name_, frame);
      curves.add_to(out_, guides_);
      if (!curves.why_no_widths().empty())
        without_widths_.push_back(fmt::format("{} {}", label, curves.why_no_widths()));
      with_widths_ = with_widths_ || curves.why_no_widths().empty();
      if (curves.stretched() && curves.why_no_widths().empty()) stretched_.push_back(label);
      for (const auto& [key, attribute] : layer_.prims[index].attributes) {
        if (!known_attribute(key)) ignored_.insert(one_line(key, 40));
      }
    } catch (const Unreadable& error) {
      unreadable_.push_back(fmt::format("{} (line {}) {}", label, layer_.prims[index].line, error.why));
    }
  }

  /// Those of a game engine's groom, which steer the strands of the same file; alone they are strands.
  void leave_out_guides() {
    if (guides_.size() == out_.lines.rows.size()) return;
    for (const std::size_t row : guides_) out_.flaw(row, "is a guide (primvars:groom_guide)");
  }

  /// Thickness is that of all or of none.
  void settle_widths() {
    if (without_widths_.empty()) return;
    out_.lines.radii.clear();
    out_.lines.why_no_radii = fmt::format("the file's {}", few_of(without_widths_, "; "));
    if (with_widths_)
      out_.lines.remarks.push_back(
          fmt::format("the widths of the file are not used: {}", few_of(without_widths_, "; ")));
  }

  void tell() {
    std::vector<std::string>& remarks = out_.lines.remarks;
    for (const auto& [why, prims] : left_out_)
      remarks.push_back(fmt::format("{} {} left out: {}", few_of(prims), prims.size() == 1 ? "is" : "are", why));
    if (!unreadable_.empty())
      remarks.push_back(fmt::format("{} cannot be read: {}",
                                    counted(static_cast<std::int64_t>(unreadable_.size()), "prim"),
                                    few_of(unreadable_, "; ")));
    if (!stretched_.empty())
      remarks.push_back(
          fmt::format("the transform of {} stretches sections; the radius of a circle of the same area "
                      "on average is taken",
                      few_of(stretched_)));
    if (!ignored_.empty()) remarks.push_back(fmt::format("not read: {}", few_of({ignored_.begin(), ignored_.end()})));
  }

  void to_metres() {
    double metres = 0.01;  // USD's own default, and y up
    if (const auto found = layer_.metadata.find("metersPerUnit"); found != layer_.metadata.end()) {
      metres = read_number(found->second, name_, 1);
      if (!(metres > 0.0 && std::isfinite(metres)))
        throw InvalidInput(fmt::format("{}: metersPerUnit is {}; expected more than 0", name_, metres));
    }
    const auto up = layer_.metadata.find("upAxis");
    out_.lines.y_up = up == layer_.metadata.end() || unquoted(up->second) != "Z";
    out_.lines.in_metres = true;
    for (std::vector<Vector3>& row : out_.lines.rows) {
      for (Vector3& x : row) x *= metres;
    }
    for (std::vector<double>& row : out_.lines.radii) {
      for (double& radius : row) radius *= metres;
    }
  }

  const std::string& name_;
  UsdLayer layer_;
  RawPolylines out_;
  std::vector<std::size_t> guides_;  ///< rows
  bool with_widths_ = false;
  std::vector<std::string> without_widths_, unreadable_, stretched_;
  std::map<std::string, std::vector<std::string>> left_out_;  ///< by reason: the prims
  std::set<std::string> ignored_;
};

}  // namespace

RawPolylines read_usda_curves(std::string_view text, const std::string& name, int frame) {
  return Reader(text, name).read(frame);
}

}  // namespace tresse::importers::detail
