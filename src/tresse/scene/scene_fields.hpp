#pragma once

#include <map>
#include <string>
#include <vector>

#include <tresse/scene/body_fields.hpp>
#include <tresse/scene/cloth_fields.hpp>
#include <tresse/scene/fibre_fields.hpp>
#include <tresse/scene/fields.hpp>
#include <tresse/scene/grain_fields.hpp>
#include <tresse/scene/scene.hpp>
#include <tresse/scene/setting_fields.hpp>
#include <tresse/scene/surface_fields.hpp>

namespace tresse::scene {

// A key a line.
// clang-format off

/// What stands at the top of a scene file. The tables say what they are for themselves.
template <>
struct Table<Scene> {
  static constexpr std::string_view name = "";
  static constexpr std::string_view meaning = "A scene of tresse: fibres, obstacles, friction and how they are simulated";
  static void fields(auto& x, auto&& visit) {
    visit({.key = "title", .meaning = "shown by tresse check, in pictures and results", .derived = true}, x.title);
    visit({.key = "parameters", .meaning = "what one varies, used below as \"${name}\" and set by --set name=value: numbers, strings with units, arithmetic, booleans or words"}, Unkept<std::map<std::string, std::string>>{});
    visit({.key = "simulation"}, x.simulation);
    visit({.key = "materials"}, Unkept<std::map<std::string, rods::Material>>{});
    visit({.key = "fabrics"}, Unkept<std::map<std::string, Fabric>>{});
    visit({.key = "friction"}, x.friction);
    visit({.key = "friction_kinetic"}, x.friction_kinetic);
    visit({.key = "restitution"}, x.restitution);
    visit({.key = "contact"}, x.contact);
    visit({.key = "fluid"}, x.fluid);
    visit({.key = "solver"}, x.solver);
    visit({.key = "output"}, x.output);
    visit({.key = "statics"}, x.statics);
    visit({.key = "fibres"}, x.fibres);
    visit({.key = "obstacles"}, x.obstacles);
    visit({.key = "surfaces"}, x.surfaces);
    visit({.key = "grains"}, x.grains);
  }
};

}  // namespace tresse::scene
