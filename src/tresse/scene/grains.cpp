#include <tresse/scene/grains.hpp>

#include <cmath>
#include <cstddef>
#include <string>

#include <fmt/format.h>

#include <tresse/base/errors.hpp>
#include <tresse/scene/scene_fields.hpp>

namespace tresse::scene {
namespace {

std::size_t index(int i) { return static_cast<std::size_t>(i); }

/// The nearest of the obstacles that fill cells, -1: there is none.
int nearest(const std::vector<Obstacle>& obstacles, const Vector3& point, double& distance) {
  int out = -1;
  for (std::size_t i = 0; i < obstacles.size(); ++i) {
    if (!fills_cells(obstacles[i])) continue;
    const double here = bodies::signed_distance(obstacles[i].body.shape, point);
    if (out >= 0 && here >= distance) continue;
    out = static_cast<int>(i);
    distance = here;
  }
  return out;
}

/// Out of the nearest obstacle, along the axes that flow goes along; zero where there is no such direction.
Vector3 normal_at(const grains::Medium& medium, const std::vector<Obstacle>& obstacles, const Vector3& point) {
  double distance = 0.0;
  const int of = nearest(obstacles, point, distance);
  if (of < 0) return Vector3::Zero();
  const bodies::Shape& shape = obstacles[index(of)].body.shape;
  constexpr double small = 1e-4;  // of a cell
  const Vector3 size = grains::cell_size(medium);
  Vector3 out = Vector3::Zero();
  for (int axis = 0; axis < 3; ++axis) {
    if (medium.cells[index(axis)] == 0) continue;
    const Vector3 step = small * size[axis] * Vector3::Unit(axis);
    out[axis] = (bodies::signed_distance(shape, point + step) - bodies::signed_distance(shape, point - step)) /
                (2.0 * small * size[axis]);
  }
  return out.norm() > 0.5 ? out.normalized() : Vector3::Zero();
}

}  // namespace

bool fills_cells(const Obstacle& obstacle) {
  const bodies::Obstacle& body = obstacle.body;
  const bodies::Surface* surface = bodies::surface_of(body.shape);
  return body.mass == 0.0 && body.motion.keyframes.empty() && body.motion.at_rest() &&
         (surface == nullptr || !surface->moves());
}

grains::Medium medium_of(const Grains& grains) {
  const GrainSides& sides = grains.sides;
  return {.cells = {grains.cells[0], grains.cells[1], grains.cells[2]},
          .low = grains.domain[0],
          .high = grains.domain[1],
          .density = grains.density,
          .friction = grains.friction,
          .viscosity = grains.viscosity,
          .sides = {sides.x_low, sides.x_high, sides.y_low, sides.y_high, sides.z_low, sides.z_high},
          .pressure = grains.pressure,
          .solid = {},
          .solid_side = grains.obstacle_side == GrainSkin::slip ? grains::Side::slip : grains::Side::no_slip,
          .normals = {},
          .obstacles = 0,
          .convection = grains.convection};
}

grains::Medium medium_of(const Grains& grains, const std::vector<Obstacle>& obstacles) {
  grains::Medium out = medium_of(grains);
  out.obstacles = static_cast<int>(obstacles.size());
  for (int cell = 0; cell < grains::cell_count(out); ++cell) {
    double distance = 0.0;
    const int filler = nearest(obstacles, grains::cell_centre(out, cell), distance);
    out.solid.push_back(filler >= 0 && distance <= 0.0 ? filler : -1);
  }
  if (out.solid_side == grains::Side::slip) {
    for (int node = 0; node < grains::node_count(out); ++node)
      out.normals.push_back(normal_at(out, obstacles, grains::node_place(out, node)));
  }
  return out;
}

void Table<Grains>::check(const Grains& x, const Complain& complain) {
  if (x.domain.size() != 2)
    complain("domain", fmt::format("has {} corners; expected two, [[x, y, z], [x, y, z]]", x.domain.size()));
  if (x.cells.size() != 3)
    complain("cells", fmt::format("has {} counts; expected three, [nx, ny, nz]", x.cells.size()));
  for (int axis = 0; axis < 3; ++axis) {
    if (!(x.domain[1][axis] > x.domain[0][axis]))
      complain("domain", fmt::format("goes from {} m to {} m along {}; expected a second corner beyond the first",
                                     x.domain[0][axis], x.domain[1][axis], "xyz"[axis]));
  }
  try {
    grains::validate(medium_of(x));
  } catch (const InvalidInput& error) {
    // "grains: key: what is wrong"
    const std::string text = error.what();
    const std::size_t key = text.find(": ") + 2, message = text.find(": ", key);
    complain(text.substr(key, message - key), "does not fit: " + text.substr(message + 2));
  }
}

}  // namespace tresse::scene
