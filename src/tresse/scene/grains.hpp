#pragma once

#include <array>
#include <string_view>
#include <vector>

#include <tresse/base/enum_words.hpp>
#include <tresse/base/types.hpp>
#include <tresse/grains/medium.hpp>
#include <tresse/scene/location.hpp>

namespace tresse::scene {

struct Obstacle;

enum class GrainModel { dense };

/// How grains meet obstacles.
enum class GrainSkin { no_slip, slip };

/// What holds at the faces of the domain.
struct GrainSides {
  grains::Side x_low = grains::Side::no_slip;
  grains::Side x_high = grains::Side::no_slip;
  grains::Side y_low = grains::Side::no_slip;
  grains::Side y_high = grains::Side::no_slip;
  grains::Side z_low = grains::Side::no_slip;
  grains::Side z_high = grains::Side::open;
};

/// Dense grains on a grid: docs/theory/grains.md.
struct Grains {
  GrainModel model = GrainModel::dense;
  std::vector<Vector3> domain;  ///< (2) opposite corners
  std::vector<int> cells;       ///< (3) along x, y, z
  double density = 0.0;
  double friction = 0.0;
  double viscosity = 0.0;
  GrainSides sides;
  double pressure = 0.0;
  GrainSkin obstacle_side = GrainSkin::no_slip;
  bool convection = true;
  double tolerance = 1e-10;
  int max_iterations = 2000;
  Location location;
};

/// The medium without obstacles. `grains` is valid but for what grains::validate() sees to.
grains::Medium medium_of(const Grains& grains);
/// The same with the obstacles that fill cells: those at rest, in whose inside the centre of a cell lies. Their indices
/// are those of the list.
grains::Medium medium_of(const Grains& grains, const std::vector<Obstacle>& obstacles);
/// Whether an obstacle is one that grains flow around: it has no mass, and neither moves nor changes its shape.
bool fills_cells(const Obstacle& obstacle);

}  // namespace tresse::scene

namespace tresse {

template <>
struct Words<scene::GrainModel> {
  static constexpr std::array<std::string_view, 1> list{"dense"};
};

template <>
struct Words<scene::GrainSkin> {
  static constexpr std::array<std::string_view, 2> list{"no-slip", "slip"};
};

}  // namespace tresse
