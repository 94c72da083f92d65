#pragma once

#include <string_view>

#include <tresse/scene/fibre_fields.hpp>
#include <tresse/scene/fields.hpp>
#include <tresse/scene/surface.hpp>

/// The lists of surfaces.
namespace tresse::scene {

// A key a line.
// clang-format off

template <>
struct Table<SurfaceRoot> {
  static constexpr std::string_view name = "surfaces.root", meaning = "where the corner of a surface is, and how it is held";
  static void fields(auto& x, auto&& visit) {
    visit({.key = "condition", .meaning = "whether its corner and axes are held"}, x.condition);
    position_field(x, visit, "of the corner");
    frame_field(x, visit, "instead of `tangent` and `normal`: axes along the length, along the width and across, a rotation");
    visit({.key = "tangent", .meaning = "along the length", .direction = true}, Unkept<Vector3>{Vector3(1.0, 0.0, 0.0)});
    visit({.key = "normal", .meaning = "along the width, made orthogonal; without it as near +y as the tangent allows, +z for a tangent along y", .direction = true}, Unkept<Vector3>{});
    visit({.key = "yaw_deg", .unit = "deg", .range = limits::rotation, .meaning = "after pitch, turned about z"}, Unkept<double>{0.0});
    visit({.key = "pitch_deg", .unit = "deg", .range = limits::rotation, .meaning = "after roll, turned about -y (tangent up)"}, Unkept<double>{0.0});
    visit({.key = "roll_deg", .unit = "deg", .range = limits::rotation, .meaning = "first, turned about the tangent"}, Unkept<double>{0.0});
    visit({.key = "velocity", .unit = "m/s", .range = limits::speed, .meaning = "of the corner at t = 0, free ones, world axes; 0 by default"}, x.velocity);
    visit({.key = "angular_velocity", .unit = "rad/s", .range = limits::rotation, .meaning = "likewise"}, x.angular_velocity);
  }
};

template <>
struct Table<Surface> {
  static constexpr std::string_view name = "surfaces", meaning = "bodies that are surfaces: a sheet that is always a cylinder, or cloth";
  static void fields(auto& x, auto&& visit) {
    visit({.key = "name", .meaning = "unique; letters, digits, `-` and `_`", .needed = "a name of its own"}, x.name);
    visit({.key = "model", .meaning = "`\"developable-patch\"`: [a cylinder of uniform curvature](theory/surfaces.md), with two unknowns; it touches nothing", .needed = "a model"}, x.model);
    visit({.key = "material", .meaning = "name of a `[materials.NAME]` or a preset", .needed = "the name of a material"}, x.material_name);
    visit({.key = "length", .unit = "m", .range = limits::length, .meaning = "of the side along its first axis", .needed = "the length of its first side"}, x.length);
    visit({.key = "width", .unit = "m", .range = limits::length, .meaning = "of the side along its second axis", .needed = "the length of its second side"}, x.width);
    visit({.key = "thickness", .unit = "m", .range = limits::radius, .meaning = "of the sheet", .needed = "the thickness of the sheet"}, x.thickness);
    visit({.key = "natural_curvature", .unit = "1/m", .range = limits::curvature, .meaning = "of the sheet that no force bends"}, x.natural_curvature);
    visit({.key = "natural_angle", .unit = "rad", .range = limits::rotation, .meaning = "from the first axis to the direction that is curved by nature", .in_degrees = "the same in degrees"}, x.natural_angle);
    visit({.key = "initial_curvature", .unit = "1/m", .range = limits::curvature, .meaning = "at t = 0; the natural one by default"}, x.initial_curvature);
    visit({.key = "initial_angle", .unit = "rad", .range = limits::rotation, .meaning = "at t = 0; the natural one by default", .in_degrees = "the same in degrees"}, x.initial_angle);
    visit({.key = "root", .meaning = "where its corner is, and how it is held"}, x.root);
  }
  static void check(const Surface& x, const Complain& complain);
};

}  // namespace tresse::scene
