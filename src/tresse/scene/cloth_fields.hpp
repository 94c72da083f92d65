#pragma once

#include <string_view>

#include <tresse/scene/body_fields.hpp>
#include <tresse/scene/fibre_fields.hpp>
#include <tresse/scene/fields.hpp>
#include <tresse/scene/surface.hpp>

/// The lists of cloth.
namespace tresse::scene {

// A key a line.
// clang-format off

template <>
struct Table<Fabric> {
  static constexpr std::string_view name = "fabrics", meaning = "what cloth is made of, by name";
  static void fields(auto& x, auto&& visit) {
    visit({.key = "preset", .meaning = "where the other values come from; without one, mass and stiffnesses are needed", .words = fabric_preset_names}, Unkept<std::string>{});
    visit({.key = "area_density", .unit = "kg/m^2", .range = {1e-6, 1e6}, .meaning = "mass per area", .derived = true}, x.area_density);
    visit({.key = "warp_stiffness", .unit = "N/m", .range = {1e-6, 1e12}, .meaning = "tension per width of a strip along the warp, over its strain", .derived = true}, x.warp_stiffness);
    visit({.key = "weft_stiffness", .unit = "N/m", .range = {1e-6, 1e12}, .meaning = "the same along the weft, across", .derived = true}, x.weft_stiffness);
    visit({.key = "shear_stiffness", .unit = "N/m", .range = {1e-6, 1e12}, .meaning = "shear force per width, over the angle", .derived = true}, x.shear_stiffness);
    visit({.key = "poisson_ratio", .range = {-0.99, 0.99}, .meaning = "geometric mean of what narrows for a stretch along warp and weft"}, x.poisson_ratio);
    visit({.key = "bending_stiffness", .unit = "N m", .range = {0.0, 1e12}, .meaning = "moment per width, over the curvature", .derived = true}, x.bending_stiffness);
    visit({.key = "damping_time", .unit = "s", .range = {0.0, 1e6}, .meaning = "Kelvin-Voigt: damping is this times stiffness"}, x.damping_time);
    visit({.key = "drag", .unit = "N s/m^3", .range = {0.0, 1e6}, .meaning = "of the air: pressure on a face over its speed along its normal"}, x.drag);
  }
};

template <>
struct Table<ClothGrid> {
  static constexpr std::string_view name = "surfaces.grid", meaning = "a cloth cut from a simple outline";
  static void fields(auto& x, auto&& visit) {
    visit({.key = "outline", .meaning = "a `\"rectangle\"` from the origin of its axes along the first two, a `\"disc\"` around the origin, or a `\"sleeve\"` around the third axis, from the origin on"}, x.outline);
    visit({.key = "cells", .range = {1, limits::cloth_vertices}, .meaning = "`[n, m]`, of a rectangle along its length and rows across, of a sleeve around it and along it; of a disc its rings, `[n]`. Triangles of a rectangle are equilateral where `m / n` is 1.155 times `width / length`", .needed = "how many cells it is made of"}, x.cells);
    visit({.key = "length", .unit = "m", .range = limits::length, .meaning = "of a rectangle along the first axis, of a sleeve along the third"}, x.length);
    visit({.key = "width", .unit = "m", .range = limits::length, .meaning = "of a rectangle along the second axis"}, x.width);
    visit({.key = "radius", .unit = "m", .range = limits::length, .meaning = "of a disc; of a sleeve where it begins"}, x.radius);
    visit({.key = "end_radius", .unit = "m", .range = limits::length, .meaning = "of a sleeve where it ends; `radius` by default"}, x.end_radius);
  }
  static void check(const ClothGrid& x, const Complain& complain);
};

template <>
struct Table<ClothFile> {
  static constexpr std::string_view name = "surfaces.mesh", meaning = "a cloth whose shape is in a file";
  static void fields(auto& x, auto&& visit) {
    visit({.key = "file", .meaning = "OBJ, PLY or glTF, beside the scene; vertices at the same place are one, and numbered in the order of the file", .needed = "the name of an OBJ, PLY or glTF file"}, x.file);
    visit({.key = "unit", .unit = "m", .range = limits::radius, .meaning = "length of 1 in that file"}, x.unit);
    visit({.key = "up", .meaning = "axis of the file that is the third one here; `\"y\"` by default for glTF"}, x.up);
    visit({.key = "warp", .meaning = "direction of the warp, of each face its part in the plane of the face", .direction = true}, x.warp);
    visit({.key = "checksum", .meaning = "refuses another file; written by runs"}, x.checksum);
  }
};

template <>
struct Table<ClothPlace> {
  static constexpr std::string_view name = "surfaces.cloth_root", meaning = "where the axes of a cloth are at t = 0";
  static void fields(auto& x, auto&& visit) {
    position_field(x, visit, "of their origin");
    frame_field(x, visit, "instead of `tangent` and `normal`: the three axes, a rotation");
    visit({.key = "tangent", .meaning = "the first axis", .direction = true}, Unkept<Vector3>{Vector3(1.0, 0.0, 0.0)});
    visit({.key = "normal", .meaning = "the second axis, made orthogonal; without it as near +y as the tangent allows, +z for a tangent along y", .direction = true}, Unkept<Vector3>{});
    visit({.key = "yaw_deg", .unit = "deg", .range = limits::rotation, .meaning = "after pitch, turned about z"}, Unkept<double>{0.0});
    visit({.key = "pitch_deg", .unit = "deg", .range = limits::rotation, .meaning = "after roll, turned about -y (tangent up)"}, Unkept<double>{0.0});
    visit({.key = "roll_deg", .unit = "deg", .range = limits::rotation, .meaning = "first, turned about the tangent"}, Unkept<double>{0.0});
    visit({.key = "velocity", .unit = "m/s", .range = limits::speed, .meaning = "of the cloth at t = 0, world axes"}, x.velocity);
    visit({.key = "angular_velocity", .unit = "rad/s", .range = limits::rotation, .meaning = "likewise, about the origin of its axes"}, x.angular_velocity);
  }
};

template <>
struct Table<ClothPin> {
  static constexpr std::string_view name = "surfaces.pins", meaning = "vertices that are held or led along";
  static void fields(auto& x, auto&& visit) {
    visit({.key = "name", .meaning = "unique among the cloth's; `\"pin 0\"`, ... by default", .derived = true}, x.name);
    visit({.key = "vertices", .range = {0, limits::cloth_vertices}, .meaning = "their numbers, ascending: of a grid row by row, of a disc ring by ring from the middle, of a mesh in the order of its file"}, x.vertices);
    visit({.key = "box", .unit = "m", .range = limits::coordinate, .meaning = "instead of numbers: two opposite corners; what is between them at t = 0 is held"}, x.box);
    visit({.key = "motion", .meaning = "of these vertices"}, x.motion);
    visit({.key = "reference", .unit = "m", .range = limits::coordinate, .meaning = "point that rotations turn about; the middle of the vertices by default"}, x.reference);
    visit({.key = "release", .unit = "s", .range = limits::onset, .meaning = "they let go then; never by default"}, x.release);
  }
  static void check(const ClothPin& x, const Complain& complain);
};

/// A surface that is cloth, a Surface as well.
struct ClothSurface {};

template <>
struct Table<ClothSurface> {
  static constexpr std::string_view name = "surfaces", meaning = "";
  static void fields(auto& x, auto&& visit) {
    visit({.key = "name", .meaning = "unique; letters, digits, `-` and `_`", .needed = "a name of its own"}, x.name);
    visit({.key = "model", .meaning = "`\"cloth\"`: [triangles that stretch, shear and bend](theory/cloth.md); its vertices touch obstacles, and nothing else touches it", .needed = "a model"}, x.model);
    visit({.key = "material", .meaning = "a `[fabrics.NAME]` or a preset of fabrics; friction goes by this name", .needed = "the name of a fabric"}, x.material_name);
    visit({.key = "thickness", .unit = "m", .range = limits::radius, .meaning = "of the cloth where it touches: half of it stands off obstacles", .needed = "the thickness of the cloth"}, x.thickness);
    visit({.key = "grid", .meaning = "its shape: a simple outline"}, x.cloth.grid);
    visit({.key = "mesh", .meaning = "its shape instead: triangles of a file, as they are without a force"}, x.cloth.mesh);
    visit({.key = "root", .meaning = "where its axes are"}, x.cloth.place);
    visit({.key = "pins", .meaning = "vertices that are held or led along"}, x.cloth.pins);
    visit({.key = "tolerance", .range = limits::tolerance, .meaning = "on the relative residual of motion and friction together"}, x.cloth.tolerance);
    visit({.key = "max_iterations", .range = limits::iterations, .meaning = "of Newton's method in a step"}, x.cloth.max_iterations);
  }
  static void check(const Surface& x, const Complain& complain);
};

// clang-format on
/// What a whole cloth has to be, once its shape is known.
void check_cloth(const Surface& x, const Complain& complain);
/// The name of a surface of any model.
void check_surface_name(const Surface& x, const Complain& complain);

}  // namespace tresse::scene
