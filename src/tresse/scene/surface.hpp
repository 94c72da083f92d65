#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>

#include <tresse/base/enum_words.hpp>
#include <tresse/base/types.hpp>
#include <tresse/rods/rod.hpp>
#include <tresse/rods/section.hpp>
#include <tresse/scene/cloth.hpp>
#include <tresse/scene/location.hpp>

namespace tresse::scene {

enum class SurfaceModel { developable_patch, cloth };

/// The frame of a surface: its corner, and the axes along its sides.
struct SurfaceRoot {
  rods::RootCondition condition = rods::RootCondition::clamped;
  Vector3 position = {0, 0, 0};          ///< [m]
  Matrix3 frame = Matrix3::Identity();   ///< columns: along the length, along the width, across
  Vector3 velocity = {0, 0, 0};          ///< initial, free ones only [m/s]
  Vector3 angular_velocity = {0, 0, 0};  ///< initial, free ones only, world axes [rad/s]
};

/// A body that is a surface: docs/theory/surfaces.md.
struct Surface {
  std::string name;  ///< unique
  SurfaceModel model = SurfaceModel::developable_patch;
  std::string material_name;
  rods::Material material;  ///< of a patch
  double length = 0.0;
  double width = 0.0;
  double thickness = 0.0;
  double natural_curvature = 0.0;
  double natural_angle = 0.0;
  std::optional<double> initial_curvature;  ///< none: the natural one
  std::optional<double> initial_angle;      ///< likewise
  SurfaceRoot root;
  Cloth cloth;  ///< all of a cloth but its name, material and thickness
  Location location;
};

inline bool is_cloth(const Surface& surface) { return surface.model == SurfaceModel::cloth; }

/// Of a patch: D = E h^3 / 12 (1 - nu^2) [N m]
double bending_rigidity(const Surface& surface);
/// Of a patch that is flat by nature and bent along its longer side, which is clamped at an end:
/// sqrt(20) sqrt(D / rho h) / length^2 [rad/s]
double bending_frequency(const Surface& surface);

}  // namespace tresse::scene

namespace tresse {

template <>
struct Words<scene::SurfaceModel> {
  static constexpr std::array<std::string_view, 2> list{"developable-patch", "cloth"};
};

}  // namespace tresse
