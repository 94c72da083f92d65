#include <fmt/format.h>
#include <Eigen/Geometry>

#include <tresse/files/text.hpp>
#include <tresse/scene_file/detail/scene_reader.hpp>

/// How the copies of a fibre are spread.
namespace tresse::scene_file::detail {

namespace limits = scene::limits;

scene::Grid read_grid(ReaderContext& context, const TomlNode& node, const std::string& path) {
  const TableReader table(context, node, path,
                          {"count", "spacing", "jitter", "twist", "twist_deg", "axis_1", "axis_2"});
  scene::Grid grid;
  table.read("count", grid.count, 1, limits::fibres);
  table.read_direction("axis_1", grid.axis_1);
  table.read_direction("axis_2", grid.axis_2);
  if (grid.axis_1.cross(grid.axis_2).norm() < 1e-6)
    table.fail("axis_2", "lies along axis_1; expected a direction across it");
  if (grid.count > 1) table.require("spacing", "the distance between neighbouring roots");
  table.read("spacing", grid.spacing,
             {files::dimensions::length, grid.count > 1 ? limits::length : Range{0.0, limits::length.most}});
  table.read("jitter", grid.jitter, {files::dimensions::length, {0.0, limits::length.most}});
  if (grid.jitter > 0.0 && !(2.0 * grid.jitter < grid.spacing)) {
    table.fail("jitter", fmt::format("is {} m; expected less than half the spacing, {} m", files::number(grid.jitter),
                                     files::number(grid.spacing)));
  }
  table.exclusive("twist", {"twist_deg"});
  table.read("twist", grid.twist, {files::dimensions::angle, limits::twist});
  table.read("twist_deg", grid.twist, {files::dimensions::angle, limits::twist, true});
  return grid;
}

scene::Cap read_cap(ReaderContext& context, const TomlNode& node, const std::string& path) {
  const TableReader table(context, node, path,
                          {"count", "radius", "center", "axis", "angle", "angle_deg", "jitter", "twist", "twist_deg"});
  scene::Cap cap;
  table.read("count", cap.count, 1, limits::fibres);
  cap.radius = table.required("radius", wanted_length, "the radius of the sphere");
  table.read("center", cap.center, wanted_position);
  table.read_direction("axis", cap.axis);
  table.exclusive("angle", {"angle_deg"});
  table.read("angle", cap.angle, {files::dimensions::angle, limits::cap});
  table.read("angle_deg", cap.angle, {files::dimensions::angle, limits::cap, true});
  table.read("jitter", cap.jitter, {files::dimensions::length, {0.0, limits::length.most}});
  if (!(cap.jitter < cap.radius))
    table.fail("jitter", fmt::format("is {} m; expected less than the radius, {} m", files::number(cap.jitter),
                                     files::number(cap.radius)));
  table.exclusive("twist", {"twist_deg"});
  table.read("twist", cap.twist, {files::dimensions::angle, limits::twist});
  table.read("twist_deg", cap.twist, {files::dimensions::angle, limits::twist, true});
  return cap;
}

}  // namespace tresse::scene_file::detail
