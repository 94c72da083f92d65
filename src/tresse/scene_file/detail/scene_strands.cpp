#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <filesystem>
#include <numeric>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <tresse/base/errors.hpp>
#include <tresse/base/words.hpp>
#include <tresse/files/text.hpp>
#include <tresse/importers/polyline_file.hpp>
#include <tresse/rods/fit_curve.hpp>
#include <tresse/scene_file/detail/scene_reader.hpp>
#include <tresse/scene_file/detail/strand_fits.hpp>

/// Fibres whose shapes come from a file, or one by one from a resolved scene.
namespace tresse::scene_file::detail {
namespace {

namespace limits = scene::limits;

/// Where the file is, as seen from the scene.
std::string beside_scene(const std::string& scene, const std::string& file) {
  return (std::filesystem::path(scene).parent_path() / file).string();
}

/// The file's rows as it has them.
importers::Polylines rows_of(const TableReader& table, const scene::StrandSource& source, bool radii) {
  try {
    return importers::read_polylines(source.file, source.frame, radii);
  } catch (const InvalidInput& error) {
    table.fail("file", error.what());
  }
}

/// The rows that are taken, in metres and z up; with `thickness` the file's thickness as well.
importers::Polylines read_rows(const TableReader& table, const scene::StrandSource& source, bool thickness) {
  importers::Polylines lines = rows_of(table, source, thickness);
  const scene::UpAxis up = table.has("up") ? source.up : lines.y_up ? scene::UpAxis::y : scene::UpAxis::z;
  if (lines.in_metres && table.has("unit")) table.fail("unit", "is given for a file that names its own; expected none");
  importers::Polylines out;
  out.why_no_radii = std::move(lines.why_no_radii);
  out.remarks = std::move(lines.remarks);
  if (lines.rows.size() / static_cast<std::size_t>(source.every) >= limits::fibres)
    table.fail("file", fmt::format("has {} strands; expected fewer than {}, or a larger `every`", lines.rows.size(),
                                   limits::fibres));
  std::vector<std::size_t> far;
  for (std::size_t i = 0; i < lines.rows.size(); i += static_cast<std::size_t>(source.every)) {
    std::vector<Vector3>& row = lines.rows[i];
    for (Vector3& x : row) {
      if (up == scene::UpAxis::y) x = Vector3(x.x(), -x.z(), x.y());
      x = source.unit * x + source.position;
    }
    if (!std::ranges::all_of(row,
                             [](const Vector3& x) { return x.cwiseAbs().maxCoeff() <= limits::coordinate.most; })) {
      far.push_back(lines.numbers[i]);
      continue;
    }
    out.rows.push_back(std::move(row));
    out.numbers.push_back(lines.numbers[i]);
    if (lines.radii.empty()) continue;
    std::vector<double>& radii = out.radii.emplace_back(std::move(lines.radii[i]));
    for (double& radius : radii) radius *= source.unit;
  }
  if (far.empty()) return out;
  const std::string beyond = fmt::format("beyond {} m; expected nearer ones, or another unit", limits::coordinate.most);
  if (out.rows.empty()) table.fail("file", fmt::format("has strand {} {}", far.front(), beyond));
  const std::string others =
      far.size() > 1 ? fmt::format(", and {} like it", counted(static_cast<std::int64_t>(far.size() - 1), "strand"))
                     : "";
  out.remarks.push_back(fmt::format("strand {} is left out{}: it lies {}", far.front(), others, beyond));
  return out;
}

/// The fits of all rows. At least one is there.
std::vector<StrandFit> fits(const TableReader& table, const importers::Polylines& lines, const scene::FibreGroup& group,
                            const scene::StrandSource& source) {
  const bool clamped = group.root.condition == rods::RootCondition::clamped;
  std::vector<StrandFit> out = fit_strands({.rows = lines.rows,
                                            .polygon = !scene::curvature_model(group.model),
                                            .options = {.affine = group.model == scene::RodModel::super_clothoid,
                                                        .elements = source.elements.value_or(0),
                                                        .tolerance = source.tolerance.value_or(0.0),
                                                        .clamped_root = clamped}});
  const bool none = std::all_of(out.begin(), out.end(), [](const StrandFit& one) { return !one.refused.empty(); });
  if (none)
    table.fail("file", fmt::format("{}: strand {}: {}", source.file, lines.numbers.front(), out.front().refused));
  return out;
}

/// Of the strands that have something in common, the one to be named.
struct Named {
  std::size_t count = 0;
  std::size_t strand = 0;  ///< its place among the fits
  double worst = 0.0;

  void add(std::size_t i, double badness) {
    if (++count > 1 && badness <= worst) return;
    strand = i;
    worst = badness;
  }
};

/// Adds which strands are not there, and which are not as was asked for.
void add_fit_remarks(const std::vector<StrandFit>& found, const importers::Polylines& lines,
                     std::vector<std::string>& out) {
  constexpr double same_length = 0.01, rounding = 1e-9;
  Named refused, far, length;
  for (std::size_t i = 0; i < found.size(); ++i) {
    const rods::FittedCurve& curve = found[i].curve;
    if (!found[i].refused.empty()) {
      refused.add(i, 0.0);
      continue;
    }
    const double off = std::abs(curve.length_ratio - 1.0);
    if (!(off <= same_length)) length.add(i, off);
    if (found[i].tolerance > 0.0 && !(curve.largest_distance <= (1.0 + rounding) * found[i].tolerance))
      far.add(i, curve.largest_distance / found[i].tolerance);
  }
  const auto tell = [&](const Named& named, const std::string& what) {
    const std::string others =
        named.count > 1 ? fmt::format("; {} like it", counted(static_cast<std::int64_t>(named.count - 1), "strand"))
                        : "";
    out.push_back(fmt::format("strand {} {}{}", lines.numbers[named.strand], what, others));
  };
  if (refused.count > 0) tell(refused, fmt::format("is left out: {}", found[refused.strand].refused));
  if (far.count > 0) {
    const StrandFit& one = found[far.strand];
    tell(far, fmt::format("is {:.3g} m from its points; expected at most the tolerance of {:.3g} m",
                          one.curve.largest_distance, one.tolerance));
  }
  if (length.count > 0) {
    tell(length, fmt::format("is {:.4g} times as long as the polyline of its points; expected 0.99 to 1.01",
                             found[length.strand].curve.length_ratio));
  }
}

/// The mean of the radii at the points beside and on each element, by arc length along the polyline.
std::vector<rods::CrossSection> sections_of(const std::vector<double>& radii, const std::vector<Vector3>& row,
                                            const std::vector<double>& lengths) {
  std::vector<double> at{0.0};
  for (std::size_t p = 1; p < row.size(); ++p) at.push_back(at.back() + (row[p] - row[p - 1]).norm());
  const double scale = at.back() / std::accumulate(lengths.begin(), lengths.end(), 0.0);
  const double near = 0.25 * at.back() / static_cast<double>(row.size() - 1);  // what a curve is longer than its chords
  std::vector<rods::CrossSection> out;
  double end = 0.0;
  std::size_t from = 0;
  for (const double length : lengths) {
    while (from + 2 < row.size() && at[from + 1] <= end + near) ++from;
    end += scale * length;
    std::size_t to = from + 1;
    while (to + 1 < row.size() && at[to] < end - near) ++to;
    double sum = 0.0;
    for (std::size_t p = from; p <= to; ++p) sum += radii[p];
    out.push_back(rods::CrossSection::circle(sum / static_cast<double>(to - from + 1)));
  }
  return out;
}

/// What is given for all strands alike.
struct Common {
  double radius = 0.0;               ///< 0: the file's [m]
  std::optional<Vector3> curvature;  ///< natural; none: the fitted one
};

Common read_common(const TableReader& table, const importers::Polylines& lines) {
  ReaderContext& context = table.context();
  if (lines.radii.empty()) table.require("radius", fmt::format("the fibres' radius: {}", lines.why_no_radii));
  Common out;
  out.radius = table.number("radius", 0.0);
  if (const TomlNode* given = table.find("natural_curvature")) {
    const std::string path = table.path("natural_curvature");
    const Wanted wanted = table.wanted("natural_curvature");
    out.curvature = given->is(TomlNode::Kind::array) ? read_vector(context, *given, path, wanted)
                                                     : Vector3(0.0, 0.0, read_number(context, *given, path, wanted));
  }
  return out;
}

scene::Strand strand_of(const rods::FittedCurve& fit, const Common& common, const importers::Polylines& lines,
                        std::size_t row) {
  scene::Strand out;
  out.position = fit.root.position;
  out.frame = fit.root.frame;
  out.element_lengths = fit.lengths;
  if (common.radius > 0.0) {
    out.sections.assign(fit.lengths.size(), rods::CrossSection::circle(common.radius));
  } else {
    out.sections = sections_of(lines.radii[row], lines.rows[row], fit.lengths);
  }
  out.initial_curvature = fit.curvature;
  out.natural_curvature = fit.curvature;
  if (common.curvature) out.natural_curvature.assign(fit.curvature.size(), *common.curvature);
  return out;
}

}  // namespace

void read_strands_from_file(const TableReader& group_table, const TomlNode& from, scene::FibreGroup& group) {
  ReaderContext& context = group_table.context();
  const TableReader table(context, from, group_table.path("from"), description<scene::StrandSource>());
  scene::StrandSource source;
  table.read<scene::StrandSource>(source);
  source.file = beside_scene(context.file_name, source.file);
  const importers::Polylines lines = read_rows(table, source, !group_table.has("radius"));
  const Common common = read_common(group_table, lines);
  const std::vector<StrandFit> found = fits(table, lines, group, source);
  std::vector<std::string> remarks = lines.remarks;
  add_fit_remarks(found, lines, remarks);
  for (const std::string& remark : remarks) {
    group.remarks.push_back({table.find("file")->location,
                             fmt::format("fibres '{}' from {}: {}", one_line(group.name, 40), source.file, remark)});
  }
  Import report{.group = group.name, .file = source.file};
  for (std::size_t i = 0; i < found.size(); ++i) {
    if (!found[i].refused.empty()) continue;
    group.strands.push_back(strand_of(found[i].curve, common, lines, i));
    report.add(found[i].curve);
  }
  context.imports.push_back(report);
}

void read_strands(const TableReader& group_table, const TomlNode& node, scene::FibreGroup& group) {
  ReaderContext& context = group_table.context();
  const std::string path = group_table.path("strands");
  if (!node.is(TomlNode::Kind::array) || node.items.empty() || node.items.size() > limits::fibres) {
    context.fail(node,
                 fmt::format("{} is {}; expected an array of 1 to {} tables", path, describe(node), limits::fibres));
  }
  for (std::size_t i = 0; i < node.items.size(); ++i) {
    const TableReader table(context, node.items[i], fmt::format("{}[{}]", path, i), description<scene::Strand>());
    scene::FibreGroup shape;
    shape.model = group.model;
    read_shape(table, shape);
    scene::Strand strand;
    table.read<scene::Strand>(strand);
    strand.element_lengths = std::move(shape.element_lengths);
    strand.sections = std::move(shape.sections);
    strand.natural_curvature = std::move(shape.natural_curvature);
    strand.initial_curvature = std::move(shape.initial_curvature);
    group.strands.push_back(std::move(strand));
  }
}

}  // namespace tresse::scene_file::detail
