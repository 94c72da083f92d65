#pragma once

#include <string_view>
#include <variant>

#include <tresse/scene/fields.hpp>
#include <tresse/scene/scene.hpp>

/// The lists of motions and obstacles.
namespace tresse::scene {

// A key a line.
// clang-format off

template <>
struct Table<bodies::Keyframe> {
  static constexpr std::string_view name = "motion.keyframes", meaning = "";
  static void fields(auto& x, auto&& visit) {
    visit({.key = "time", .unit = "s", .range = limits::moment, .meaning = "of this keyframe", .needed = "the time of this keyframe"}, x.time);
    visit({.key = "displacement", .unit = "m", .range = limits::coordinate, .meaning = "from the place at rest"}, x.displacement);
    visit({.key = "rotation", .unit = "rad", .range = limits::rotation, .meaning = "from the pose at rest: a vector along the axis, as long as the angle", .in_degrees = "the same in degrees"}, x.rotation);
  }
};

template <>
struct Table<bodies::Motion> {
  static constexpr std::string_view name = "motion";
  static constexpr std::string_view meaning = "of an obstacle, a clamped root or a held point; world axes";
  static void fields(auto& x, auto&& visit) {
    visit({.key = "keyframes", .meaning = "times increase; held before the first and after the last"}, x.keyframes);
    visit({.key = "interpolation", .meaning = "`\"smooth\"`: at rest at every key"}, x.interpolation);
    visit({.key = "velocity", .unit = "m/s", .range = limits::speed, .meaning = "constant, on top of the keyframes"}, x.velocity);
    visit({.key = "angular_velocity", .unit = "rad/s", .range = limits::rotation, .meaning = "constant, on top of the keyframes"}, x.angular_velocity);
    visit({.key = "start", .unit = "s", .range = limits::moment, .meaning = "of the constant velocities"}, x.start);
    visit({.key = "stop", .unit = "s", .range = {limits::moment.least, 1e300}, .meaning = "of the constant velocities; never by default"}, x.stop);
  }
  static void check(const bodies::Motion& x, const Complain& complain);
};

/// What every obstacle has.
template <>
struct Table<Obstacle> {
  static constexpr std::string_view name = "obstacles", meaning = "bodies that fibres touch: fixed, moved, or free";
  static void fields(auto& x, auto&& visit) {
    visit({.key = "name", .meaning = "unique", .needed = "a name of its own"}, x.body.name);
    visit({.key = "shape", .meaning = "which keys below it takes", .needed = "a shape", .words = bodies::Kinds::words}, Unkept<std::string>{});
    visit({.key = "material", .meaning = "its name by default"}, x.body.material_name);
    visit({.key = "reference", .unit = "m", .range = limits::coordinate, .meaning = "point that rotations turn about; the shape's own point by default", .derived = true}, x.body.reference);
    visit({.key = "motion", .meaning = "of a body that is not free"}, x.body.motion);
  }
};

/// What a free body has besides, of Obstacle.
struct FreeBody {};

template <>
struct Table<FreeBody> {
  static constexpr std::string_view name = "obstacles", meaning = "";
  static void fields(auto& x, auto&& visit) {
    visit({.key = "mass", .unit = "kg", .range = limits::mass, .meaning = "makes it free: it moves by what touches it and by its weight", .derived = true}, x.body.mass);
    visit({.key = "density", .unit = "kg/m^3", .range = limits::density, .meaning = "the same by mass per volume"}, Unkept<double>{});
    visit({.key = "velocity", .unit = "m/s", .range = limits::speed, .meaning = "of a free body at t = 0, world axes"}, x.body.velocity.linear);
    visit({.key = "angular_velocity", .unit = "rad/s", .range = limits::rotation, .meaning = "likewise"}, x.body.velocity.angular);
  }
};

/// Of a shape, as its kind has it.
template <bodies::HasKeys Shape>
struct Table<Shape> {
  static constexpr std::string_view name = "obstacles", meaning = "";
  static void fields(auto& x, auto&& visit) { Shape::fields(x, visit); }
  static void check(const Shape& x, const Complain& complain) {
    if constexpr (requires { x.check(complain); }) x.check(complain);
  }
};

/// Of an Obstacle, since its scene keeps where the mesh comes from.
template <>
struct Table<bodies::Mesh> {
  static constexpr std::string_view name = "obstacles", meaning = "";
  static void fields(auto& x, auto&& visit) {
    visit({.key = "file", .meaning = "of the mesh: OBJ, PLY or glTF, beside the scene; one # for each digit of a frame's number if animated", .needed = "the name of an OBJ, PLY or glTF file"}, x.mesh.file);
    visit({.key = "unit", .unit = "m", .range = limits::radius, .meaning = "length of 1 in that file"}, x.mesh.unit);
    visit({.key = "up", .meaning = "axis of the file that is z here; `\"y\"` by default for glTF"}, x.mesh.up);
    visit({.key = "position", .unit = "m", .range = limits::coordinate, .meaning = "of the file's origin; rotations turn about it by default"}, x.mesh.position);
    visit({.key = "thickness", .unit = "m", .range = {0.0, 1e3}, .meaning = "of the mesh, added on every side"}, std::get<bodies::Mesh>(x.body.shape).thickness);
    visit({.key = "first", .range = limits::frame_number, .meaning = "number of the frame at t = 0"}, x.mesh.first);
    visit({.key = "last", .range = limits::frame_number, .meaning = "number of the last frame"}, x.mesh.last);
    visit({.key = "rate", .unit = "Hz", .range = {1e-6, 1e9}, .meaning = "frames per second; vertices go linearly between them and rest before and after"}, x.mesh.rate);
    visit({.key = "checksum", .meaning = "refuses other files; written by runs"}, x.mesh.checksum);
  }
};

}  // namespace tresse::scene
