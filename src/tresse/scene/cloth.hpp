#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <tresse/base/enum_words.hpp>
#include <tresse/base/types.hpp>
#include <tresse/bodies/motion.hpp>
#include <tresse/geometry/triangle_mesh.hpp>
#include <tresse/surfaces/cloth.hpp>

namespace tresse::scene {

struct Surface;

/// Which axis of a file is the scene's z.
enum class UpAxis { z, y };

enum class ClothOutline { rectangle, disc, sleeve };

/// A cloth that is cut from one of three outlines.
struct ClothGrid {
  ClothOutline outline = ClothOutline::rectangle;
  std::vector<int> cells;            ///< (2) along its two sides; of a disc (1) rings
  std::optional<double> length;      ///< of a rectangle along the first axis, of a sleeve along the third
  std::optional<double> width;       ///< of a rectangle
  std::optional<double> radius;      ///< of a disc, of a sleeve at its begin
  std::optional<double> end_radius;  ///< of a sleeve at its end; none: the same
};

/// A cloth whose shape is in a file.
struct ClothFile {
  std::string file;  ///< absolute
  double unit = 1.0;
  UpAxis up = UpAxis::z;
  Vector3 warp = Vector3::UnitX();
  std::string checksum;  ///< of its bytes
};

/// Where the axes of its shape stand when a run begins, and how they move.
struct ClothPlace {
  Vector3 position = {0, 0, 0};
  Matrix3 frame = Matrix3::Identity();
  Vector3 velocity = {0, 0, 0};
  Vector3 angular_velocity = {0, 0, 0};  ///< about `position`
};

/// Vertices that are held or led along: those of the list, or those within a box of the world when a run begins.
struct ClothPin {
  std::string name;
  std::vector<int> vertices;
  std::vector<Vector3> box;  ///< (2) opposite corners, or none
  bodies::Motion motion;
  std::optional<Vector3> reference;  ///< point that rotations turn about; none: the middle of the vertices
  std::optional<double> release;
};

/// Air that is still resists it by `drag`.
using Fabric = surfaces::ClothMaterial;

/// What a surface of the model cloth has: docs/theory/cloth.md.
struct Cloth {
  Fabric fabric;
  std::optional<ClothGrid> grid;
  std::optional<ClothFile> mesh;
  surfaces::ClothShape from_file;  ///< of `mesh`, in the scene's unit and axes
  ClothPlace place;
  std::vector<ClothPin> pins;
  double tolerance = 1e-10;
  int max_iterations = 200;
};

/// In its own axes, as no force acts on it. Throws InvalidInput for what is no cloth.
surfaces::ClothShape cloth_shape(const Cloth& cloth);
/// The vertices when a run begins, as SurfaceState::position has them. (3n) [m]
VectorX cloth_places(const Cloth& cloth, const surfaces::ClothShape& shape);
/// The vertices that a pin holds, ascending.
std::vector<int> pinned_vertices(const ClothPin& pin, const VectorX& places);
/// How many vertices a grid makes.
double vertex_count(const ClothGrid& grid);

/// Length over which a strip bends under its weight, (B / rho g)^1/3 [m]
double gravito_bending_length(const Fabric& fabric, double gravity);
/// Speed of a wave that stretches it, the faster of two. [m/s]
double stretch_wave_speed(const Fabric& fabric);

/// Rough values, checked against no measurement: docs/reference/scenes.md. Damping and drag are left at zero.
struct FabricPreset {
  std::string_view name;
  Fabric fabric;
};
inline constexpr std::array<FabricPreset, 3> fabric_presets{{
    {"cotton",
     {.area_density = 0.15,
      .warp_stiffness = 3000.0,
      .weft_stiffness = 2000.0,
      .shear_stiffness = 60.0,
      .poisson_ratio = 0.2,
      .bending_stiffness = 8e-6}},
    {"silk",
     {.area_density = 0.07,
      .warp_stiffness = 2000.0,
      .weft_stiffness = 1500.0,
      .shear_stiffness = 25.0,
      .poisson_ratio = 0.2,
      .bending_stiffness = 2e-6}},
    {"denim",
     {.area_density = 0.40,
      .warp_stiffness = 8000.0,
      .weft_stiffness = 5000.0,
      .shear_stiffness = 200.0,
      .poisson_ratio = 0.2,
      .bending_stiffness = 1e-4}},
}};
inline constexpr auto fabric_preset_names = [] {
  std::array<std::string_view, fabric_presets.size()> out;
  for (std::size_t i = 0; i < out.size(); ++i) out[i] = fabric_presets[i].name;
  return out;
}();

}  // namespace tresse::scene

namespace tresse {

template <>
struct Words<scene::ClothOutline> {
  static constexpr std::array<std::string_view, 3> list{"rectangle", "disc", "sleeve"};
};

}  // namespace tresse
