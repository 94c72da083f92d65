#pragma once

#include <string_view>

#include <tresse/scene/fields.hpp>
#include <tresse/scene/grains.hpp>

/// The lists of grains.
namespace tresse::scene {

// A key a line.
// clang-format off

template <>
struct Table<GrainSides> {
  static constexpr std::string_view name = "grains.sides", meaning = "what holds at the faces of the domain; those along the axis of a plane flow are not read";
  static void fields(auto& x, auto&& visit) {
    visit({.key = "x_low", .meaning = "`\"no-slip\"`: grains stick; `\"slip\"`: nothing goes through and nothing rubs; `\"open\"`: grains come and go under the `pressure` from outside; `\"periodic\"`: the opposite face is the same place, and has to say so too"}, x.x_low);
    visit({.key = "x_high", .meaning = "likewise"}, x.x_high);
    visit({.key = "y_low", .meaning = "likewise"}, x.y_low);
    visit({.key = "y_high", .meaning = "likewise"}, x.y_high);
    visit({.key = "z_low", .meaning = "likewise"}, x.z_low);
    visit({.key = "z_high", .meaning = "likewise"}, x.z_high);
  }
};

template <>
struct Table<Grains> {
  static constexpr std::string_view name = "grains", meaning = "dense grains, such as sand, that flow through a grid ([grains](theory/grains.md)) around obstacles at rest; they act on nothing else";
  static void fields(auto& x, auto&& visit) {
    visit({.key = "model", .meaning = "`\"dense\"`: packed everywhere, and incompressible but where they are pulled apart"}, x.model);
    visit({.key = "domain", .unit = "m", .range = limits::coordinate, .meaning = "two opposite corners of the box that grains fill", .needed = "two corners, [[x, y, z], [x, y, z]]"}, x.domain);
    visit({.key = "cells", .range = {0, 100'000}, .meaning = "how many along x, y and z; one of them may be 0: a plane flow, the same all along that axis", .needed = "three counts, [nx, ny, nz]"}, x.cells);
    visit({.key = "density", .unit = "kg/m^3", .range = limits::density, .meaning = "of the packed grains with the air between them", .needed = "the density of the packed grains"}, x.density);
    visit({.key = "friction", .range = limits::friction, .meaning = "of Drucker and Prager, between grains: layers hold on slopes up to its arc tangent", .needed = "the coefficient of friction between grains"}, x.friction);
    visit({.key = "viscosity", .unit = "Pa s", .range = {0.0, 1e12, true}, .meaning = "of shear, beside friction", .needed = "a viscosity above 0"}, x.viscosity);
    visit({.key = "sides", .meaning = "what holds at the faces of the domain"}, x.sides);
    visit({.key = "pressure", .unit = "Pa", .range = {0.0, 1e12}, .meaning = "on open faces, from outside"}, x.pressure);
    visit({.key = "obstacle_side", .meaning = "whether grains stick to obstacles at rest, which fill the cells whose centres they cover"}, x.obstacle_side);
    visit({.key = "convection", .meaning = "whether grains carry their velocity along; without it a flow is as slow ones are"}, x.convection);
    visit({.key = "tolerance", .range = limits::tolerance, .meaning = "on the `residual` of `grains.csv`"}, x.tolerance);
    visit({.key = "max_iterations", .range = limits::iterations, .meaning = "of Newton's method in each step"}, x.max_iterations);
  }
  static void check(const Grains& x, const Complain& complain);
};

}  // namespace tresse::scene
