#include <tresse/scene/cloth.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>

#include <fmt/format.h>
#include <Eigen/Geometry>

#include <tresse/base/errors.hpp>
#include <tresse/scene/scene_fields.hpp>

namespace tresse::scene {
namespace {

std::size_t cells_of(ClothOutline outline) { return outline == ClothOutline::disc ? 1 : 2; }

}  // namespace

surfaces::ClothShape cloth_shape(const Cloth& cloth) {
  if (!cloth.grid) return cloth.from_file;
  const ClothGrid& grid = *cloth.grid;
  switch (grid.outline) {
    case ClothOutline::rectangle:
      return surfaces::rectangle(*grid.length, *grid.width, {grid.cells[0], grid.cells[1]});
    case ClothOutline::disc:
      return surfaces::disc(*grid.radius, grid.cells[0]);
    case ClothOutline::sleeve:
      break;
  }
  return surfaces::sleeve(*grid.radius, grid.end_radius.value_or(*grid.radius), *grid.length,
                          {grid.cells[0], grid.cells[1]});
}

VectorX cloth_places(const Cloth& cloth, const surfaces::ClothShape& shape) {
  VectorX out(3 * static_cast<Eigen::Index>(shape.vertices.size()));
  for (std::size_t v = 0; v < shape.vertices.size(); ++v)
    out.segment<3>(3 * static_cast<Eigen::Index>(v)) = cloth.place.position + cloth.place.frame * shape.vertices[v];
  return out;
}

std::vector<int> pinned_vertices(const ClothPin& pin, const VectorX& places) {
  if (pin.box.empty()) return pin.vertices;
  const Vector3 low = pin.box[0].cwiseMin(pin.box[1]), high = pin.box[0].cwiseMax(pin.box[1]);
  std::vector<int> out;
  for (Eigen::Index v = 0; 3 * v < places.size(); ++v) {
    const Vector3 at = places.segment<3>(3 * v);
    if ((at.array() >= low.array()).all() && (at.array() <= high.array()).all()) out.push_back(static_cast<int>(v));
  }
  return out;
}

double vertex_count(const ClothGrid& grid) {
  const double n = grid.cells[0];
  if (grid.outline == ClothOutline::disc) return 1.0 + 3.0 * n * (n + 1.0);
  const double m = grid.cells[1];
  if (grid.outline == ClothOutline::sleeve) return n * (m + 1.0);
  return (n + 1.0) * (m + 1.0) + std::floor(0.5 * (m + 1.0));  // one more in every second row
}

double gravito_bending_length(const Fabric& fabric, double gravity) {
  return std::cbrt(fabric.bending_stiffness / (fabric.area_density * gravity));
}

double stretch_wave_speed(const Fabric& fabric) {
  const double less = 1.0 - fabric.poisson_ratio * fabric.poisson_ratio;
  return std::sqrt(std::max(fabric.warp_stiffness, fabric.weft_stiffness) / (less * fabric.area_density));
}

void Table<ClothGrid>::check(const ClothGrid& x, const Complain& complain) {
  const bool disc = x.outline == ClothOutline::disc, sleeve = x.outline == ClothOutline::sleeve;
  if (x.cells.size() != cells_of(x.outline))
    complain("cells", fmt::format("has {} of a {}; expected {}", x.cells.size(), word(x.outline),
                                  disc ? "its rings, [n]" : "two counts, [n, m]"));
  if (sleeve && x.cells[0] < 3) complain("cells", fmt::format("is {} around; expected at least 3", x.cells[0]));
  const auto demand = [&](const char* key, const std::optional<double>& value, bool wanted) {
    if (wanted && !value) complain(key, fmt::format("is missing; expected it of a {}", word(x.outline)));
    if (!wanted && value) complain(key, fmt::format("is given for a {}; expected none", word(x.outline)));
  };
  demand("length", x.length, !disc);
  demand("width", x.width, !disc && !sleeve);
  demand("radius", x.radius, disc || sleeve);
  if (!sleeve) demand("end_radius", x.end_radius, false);
  if (const double count = vertex_count(x); count > limits::cloth_vertices)
    complain("cells", fmt::format("makes {:.0f} vertices; expected at most {}", count, limits::cloth_vertices));
}

void Table<ClothPin>::check(const ClothPin& x, const Complain& complain) {
  if (x.vertices.empty() == x.box.empty())
    complain(x.box.empty() ? "vertices" : "box", x.box.empty() ? "is missing; expected numbers of vertices, or a box"
                                                               : "stands beside \"vertices\"; expected one of them");
  if (!x.box.empty() && x.box.size() != 2)
    complain("box", fmt::format("has {} corners; expected two, [[x, y, z], [x, y, z]]", x.box.size()));
  if (std::adjacent_find(x.vertices.begin(), x.vertices.end(), [](int a, int b) { return a >= b; }) != x.vertices.end())
    complain("vertices", "do not ascend; expected each vertex once, the lowest first");
}

void Table<ClothSurface>::check(const Surface& x, const Complain& complain) {
  check_surface_name(x, complain);
  const Cloth& cloth = x.cloth;
  if (cloth.grid.has_value() == cloth.mesh.has_value())
    complain(cloth.grid ? "mesh" : "grid",
             cloth.grid ? "stands beside \"grid\"; expected one of them" : "is missing; expected a grid, or a mesh");
}

void check_cloth(const Surface& x, const Complain& complain) {
  surfaces::ClothShape shape = cloth_shape(x.cloth);
  const VectorX places = cloth_places(x.cloth, shape);
  const auto count = static_cast<int>(shape.vertices.size());
  if (count > limits::cloth_vertices)
    complain("mesh", fmt::format("has {} vertices; expected at most {}", count, limits::cloth_vertices));
  try {
    static_cast<void>(surfaces::Cloth(std::move(shape), x.cloth.fabric));
  } catch (const InvalidInput& error) {
    complain(x.cloth.grid ? "grid" : "mesh", fmt::format("makes no cloth: {}", error.what()));
  }
  for (std::size_t i = 0; i < x.cloth.pins.size(); ++i) {
    const ClothPin& pin = x.cloth.pins[i];
    const std::string key = fmt::format("pins[{}]", i);
    if (!pin.vertices.empty() && pin.vertices.back() >= count)
      complain(key, fmt::format("holds vertex {}; expected one of 0 to {}", pin.vertices.back(), count - 1));
    if (pinned_vertices(pin, places).empty()) complain(key, "holds no vertex; expected one in its box at least");
  }
}

}  // namespace tresse::scene
