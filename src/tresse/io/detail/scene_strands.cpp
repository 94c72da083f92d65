#include <fmt/format.h>

#include <cmath>
#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <tresse/base/blocks.hpp>
#include <tresse/base/errors.hpp>
#include <tresse/io/detail/scene_reader.hpp>
#include <tresse/io/detail/text.hpp>
#include <tresse/io/polyline_file.hpp>
#include <tresse/rods/fit_curve.hpp>

/// Fibres whose shapes come from a file, or one by one from a resolved scene.
namespace tresse::io::detail {
namespace {

namespace limits = scene::limits;

/// What `from` says.
struct Source {
  std::string file;  ///< as seen from here
  int frame = 0;
  double unit = 1.0;  ///< [m]
  Vector3 offset = Vector3::Zero();
  int every = 1;
  int elements = 0;
  double tolerance = 0.0;  ///< [m]
};

/// Where the file is, as seen from the scene.
std::string beside_scene(const std::string& scene, const std::string& file) {
  return (std::filesystem::path(scene).parent_path() / file).string();
}

Source read_source(const TableReader& table) {
  ReaderContext& context = table.context();
  Source out;
  const TomlNode& file = table.require("file", "a .hair, .obj, .csv or .usda");
  out.file = beside_scene(context.file_name, read_text(context, file, table.path("file")));
  table.read("frame", out.frame, -limits::iterations, limits::iterations);
  table.read("unit", out.unit, wanted_length);
  table.read("position", out.offset, wanted_position);
  table.read("every", out.every, 1, limits::fibres);
  // Without either, the tolerance is a thousandth of each strand.
  table.read("elements", out.elements, 1, limits::fitted_elements);
  if (table.has("tolerance")) out.tolerance = table.required("tolerance", wanted_length, "the largest distance");
  return out;
}

/// The file's rows as it has them. A schema's probes have no file.
Polylines rows_of(const TableReader& table, const Source& source, bool radii) {
  if (table.context().recorder != nullptr) {
    Polylines probe;
    probe.rows = {{Vector3::Zero(), Vector3::UnitX()}};
    probe.numbers = {0};
    return probe;
  }
  try {
    return read_polylines(source.file, source.frame, radii);
  } catch (const InvalidInput& error) {
    table.fail("file", error.what());
  }
}

/// The rows that are taken, in metres and z up; with `radii` the file's thickness as well.
Polylines read_rows(const TableReader& table, const Source& source, bool radii) {
  Polylines lines = rows_of(table, source, radii);
  std::string up = lines.y_up ? "y" : "z";
  static const std::vector<std::string> ups{"y", "z"};
  table.read("up", up, ups);
  if (lines.in_metres && table.has("unit")) table.fail("unit", "is given for a file that names its own; expected none");
  Polylines out;
  out.why_no_radii = std::move(lines.why_no_radii);
  out.remarks = std::move(lines.remarks);
  if (lines.rows.size() / static_cast<std::size_t>(source.every) >= limits::fibres)
    table.fail("file", fmt::format("has {} strands; expected fewer than {}, or a larger `every`", lines.rows.size(),
                                   limits::fibres));
  for (std::size_t i = 0; i < lines.rows.size(); i += static_cast<std::size_t>(source.every)) {
    std::vector<Vector3>& row = out.rows.emplace_back(std::move(lines.rows[i]));
    out.numbers.push_back(lines.numbers[i]);
    for (Vector3& x : row) {
      if (up == "y") x = Vector3(x.x(), -x.z(), x.y());
      x = source.unit * x + source.offset;
      if (!(x.cwiseAbs().maxCoeff() <= limits::coordinate.most)) {
        table.fail("file", fmt::format("has strand {} beyond {} m; expected nearer ones, or another unit",
                                       lines.numbers[i], limits::coordinate.most));
      }
    }
    if (lines.radii.empty()) continue;
    std::vector<double>& radii = out.radii.emplace_back(std::move(lines.radii[i]));
    for (double& radius : radii) radius *= source.unit;
  }
  return out;
}

rods::FittedCurve fit(const std::vector<Vector3>& row, const scene::FibreGroup& group, const Source& source) {
  rods::FitOptions options{.affine = group.model == "super-clothoid",
                           .elements = source.elements,
                           .tolerance = source.tolerance,
                           .clamped_root = group.root.condition == rods::RootCondition::clamped};
  if (options.elements == 0 && options.tolerance == 0.0) {
    double length = 0.0;
    for (std::size_t p = 1; p < row.size(); ++p) length += (row[p] - row[p - 1]).norm();
    options.tolerance = 1e-3 * length;
  }
  return scene::curvature_model(group.model) ? rods::fit_curve(row, options) : rods::fit_polygon(row, options);
}

/// The fits of all rows, on all threads; of rows that cannot be fitted the first is told.
std::vector<rods::FittedCurve> fits(const TableReader& table, const Polylines& lines, const scene::FibreGroup& group,
                                    const Source& source) {
  const std::size_t count = lines.rows.size();
  std::vector<rods::FittedCurve> out(count);
  std::vector<std::string> refused(count);
  for_blocks(count, std::size_t{1}, [&](std::size_t, std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) {
      try {
        out[i] = fit(lines.rows[i], group, source);
      } catch (const InvalidInput& error) {
        refused[i] = error.what();
      }
    }
  });
  for (std::size_t i = 0; i < count; ++i) {
    if (!refused[i].empty()) {
      table.fail("file", fmt::format("{}: strand {}: {}", source.file, lines.numbers[i], refused[i]));
    }
  }
  return out;
}

/// The mean of the radii at the points on each of `elements` equal shares of them, or of the nearest.
std::vector<rods::CrossSection> sections_of(const std::vector<double>& radii, std::size_t elements) {
  std::vector<rods::CrossSection> out;
  const double share = static_cast<double>(radii.size() - 1) / static_cast<double>(elements);
  for (std::size_t i = 0; i < elements; ++i) {
    const auto from = static_cast<std::size_t>(std::floor(share * static_cast<double>(i)));
    const auto to = std::min(static_cast<std::size_t>(std::ceil(share * static_cast<double>(i + 1))), radii.size() - 1);
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

Common read_common(const TableReader& table, const Polylines& lines) {
  ReaderContext& context = table.context();
  if (lines.radii.empty()) table.require("radius", fmt::format("the fibres' radius: {}", lines.why_no_radii));
  Common out;
  if (table.has("radius")) out.radius = table.required("radius", wanted_radius, "the fibres' radius");
  if (const TomlNode* given = table.find("natural_curvature")) {
    const std::string path = table.path("natural_curvature");
    const Wanted wanted{dimensions::curvature, limits::curvature};
    out.curvature = given->is(TomlNode::Kind::array) ? read_vector(context, *given, path, wanted)
                                                     : Vector3(0.0, 0.0, read_number(context, *given, path, wanted));
  }
  return out;
}

scene::Strand strand_of(const rods::FittedCurve& fit, const Common& common, const std::vector<double>* radii) {
  scene::Strand out;
  out.position = fit.root.position;
  out.frame = fit.root.frame;
  out.element_lengths = fit.lengths;
  const std::size_t elements = fit.lengths.size();
  if (common.radius > 0.0) {
    out.sections.assign(elements, rods::CrossSection::circle(common.radius));
  } else {
    out.sections = sections_of(*radii, elements);
  }
  out.initial_curvature = fit.curvature;
  out.natural_curvature = fit.curvature;
  if (common.curvature) out.natural_curvature.assign(fit.curvature.size(), *common.curvature);
  return out;
}

}  // namespace

void read_strands_from_file(const TableReader& group_table, const TomlNode& from, scene::FibreGroup& group) {
  ReaderContext& context = group_table.context();
  const TableReader table(context, from, group_table.path("from"),
                          {"file", "frame", "unit", "position", "up", "every", "elements", "tolerance"});
  const Source source = read_source(table);
  const Polylines lines = read_rows(table, source, !group_table.has("radius"));
  const Common common = read_common(group_table, lines);
  for (const std::string& remark : lines.remarks) {
    group.remarks.push_back({table.require("file", "").location,
                             fmt::format("fibres '{}' from {}: {}", one_line(group.name, 40), source.file, remark)});
  }
  Import report{.group = group.name, .file = source.file, .strands = lines.rows.size()};
  const std::vector<rods::FittedCurve> found = fits(table, lines, group, source);
  for (std::size_t i = 0; i < found.size(); ++i) {
    group.strands.push_back(strand_of(found[i], common, lines.radii.empty() ? nullptr : &lines.radii[i]));
    report.add(found[i]);
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
    const TableReader table(context, node.items[i], fmt::format("{}[{}]", path, i),
                            {"position", "frame", "length", "elements", "element_lengths", "grading", "radius",
                             "section", "natural_curvature", "initial_curvature"});
    scene::FibreGroup shape;
    shape.model = group.model;
    read_shape(table, shape);
    scene::Strand strand;
    table.read("position", strand.position, wanted_position);
    strand.frame = read_frame(table);
    strand.element_lengths = std::move(shape.element_lengths);
    strand.sections = std::move(shape.sections);
    strand.natural_curvature = std::move(shape.natural_curvature);
    strand.initial_curvature = std::move(shape.initial_curvature);
    group.strands.push_back(std::move(strand));
  }
}

}  // namespace tresse::io::detail
