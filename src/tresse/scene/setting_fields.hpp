#pragma once

#include <array>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include <tresse/scene/fields.hpp>
#include <tresse/scene/scene.hpp>

/// The lists of the settings, materials and friction of a scene.
namespace tresse::scene {

// A key a line.
// clang-format off

template <>
struct Table<Wind> {
  static constexpr std::string_view name = "simulation.wind", meaning = "";
  static void fields(auto& x, auto&& visit) {
    visit({.key = "mean", .unit = "m/s", .range = limits::speed, .meaning = "between gusts"}, x.mean);
    visit({.key = "gust", .unit = "m/s", .range = limits::speed, .meaning = "what a gust adds at its height; it rises and falls as a raised cosine", .needed = "the velocity that a gust adds at its height"}, x.gust);
    visit({.key = "period", .unit = "s", .range = {1e-6, 1e9}, .meaning = "one gust every so many seconds from t = 0", .needed = "the time from one gust to the next"}, x.period);
  }
};

template <>
struct Table<Simulation> {
  static constexpr std::string_view name = "simulation", meaning = "time, loads and how steps are taken";
  static void fields(auto& x, auto&& visit) {
    visit({.key = "time_step", .unit = "s", .range = {1e-12, 1e3}, .meaning = "of every step; at most 1e12 of them; `\"auto\"`: chosen by [what the scene is known to do](measured/time_step.md), and told", .word = "auto"}, x.time_step);
    visit({.key = "duration", .unit = "s", .range = {0.0, 1e9}, .meaning = "simulated time"}, x.duration);
    visit({.key = "gravity", .unit = "m/s^2", .range = {-1e6, 1e6}, .meaning = "a vector, or one number: that much along -z", .forms = forms::one | forms::triplet}, x.gravity);
    visit({.key = "wind", .unit = "m/s", .range = limits::speed, .meaning = "acts on fibres with `drag`: a vector, or a table of gusts", .forms = forms::triplet}, x.wind);
    // 2^53, exact as a double
    visit({.key = "seed", .range = {0.0, 9007199254740992.0}, .meaning = "whole; of random offsets of grids and caps"}, x.seed);
    visit({.key = "scheme", .meaning = "`\"carried\"`: free motion gains no energy at any step; where `theta` is below 1, which it cannot take, the default is `\"semi-implicit\"`; `\"linearised\"`: the inertial force linearised in the velocity, for lively motion; `\"nonlinear\"`: every implicit step iterated to `nonlinear_tolerance`"}, x.scheme);
    visit({.key = "theta", .range = {0.5, 1.0}, .meaning = "where in a step forces are taken: 1 is implicit Euler, 0.5 the trapezoidal rule (with `\"nonlinear\"` the implicit midpoint rule, which keeps energy); below 1 a contact bounces and fast vibrations ring on"}, x.theta);
    visit({.key = "step_error", .unit = "m", .range = {0.0, 1e3, true}, .meaning = "how far off a step may put a point of a fibre, as estimated: beyond it the step is cut, `contact.max_halvings` times at most; 0: any", .none = 0.0}, x.step_error);
    visit({.key = "nonlinear_tolerance", .range = limits::tolerance, .meaning = "relative residual of the step"}, x.nonlinear_tolerance);
    visit({.key = "max_nonlinear_iterations", .range = limits::iterations, .meaning = "of each step"}, x.max_nonlinear_iterations);
  }
  static void check(const Simulation& x, const Complain& complain);
};

template <>
struct Table<ContactPenalty> {
  static constexpr std::string_view name = "contact.penalty", meaning = "softness of a penalty law";
  static void fields(auto& x, auto&& visit) {
    visit({.key = "distance_tolerance", .unit = "m", .range = {1e-12, 1.0}, .meaning = "gap from which on the law acts, at most the smallest radius"}, x.distance_tolerance);
    visit({.key = "slip_velocity", .unit = "m/s", .range = {1e-12, 1e3}, .meaning = "speed from which on a contact slides; what should stick creeps with a part of it"}, x.slip_velocity);
    visit({.key = "stiffness", .unit = "N/m", .range = {0.0, 1e18}, .meaning = "of every contact, times the law's energy; `\"adaptive\"`: taken in each step from the loads that contacts need", .none = 0.0, .word = "adaptive"}, x.stiffness);
    visit({.key = "tolerance", .range = limits::tolerance, .meaning = "relative residual of a step"}, x.tolerance);
    visit({.key = "max_iterations", .range = {1, 1'000}, .meaning = "of Newton's method, before a step is cut in two"}, x.max_iterations);
  }
};

template <>
struct Table<Contact> {
  static constexpr std::string_view name = "contact", meaning = "how contacts are found and kept apart";
  static void fields(auto& x, auto&& visit) {
    visit({.key = "law", .meaning = "exact contact and friction; or a [penalty law](theory/penalty.md): implicit contact `\"imc\"` or the barrier `\"ipc\"`"}, x.law);
    visit({.key = "at", .meaning = "where a contact acts: at the `\"surface\"` of a fibre, so that friction twists it ([surface](theory/surface_contact.md)), or on its `\"centreline\"`; a mass-spring chain has no twist and is touched on its centreline"}, x.at);
    visit({.key = "detection", .meaning = "closest points between the curves with a proof; `\"branch-and-bound\"`; or `\"segments\"`, polylines"}, x.detection);
    visit({.key = "tolerance", .unit = x.detection == geometry::DetectionMethod::branch_and_bound ? "m" : "", .range = limits::tolerance, .meaning = "`certified`: relative to the curves' length; `branch-and-bound`: size in arc length [m]", .units = "1 or m"}, x.tolerance);
    visit({.key = "proxy_segments", .range = {1, 100'000}, .meaning = "segments a fibre with `\"segments\"`"}, x.proxy_segments);
    visit({.key = "stations", .range = {0, 16}, .meaning = "points of each element of a fibre that hold it where it lies along something ([lines of contact](theory/holding.md)); what more than one bear can be any of many shares that balance; 0: contacts are where the gap is least, and wander"}, x.stations);
    visit({.key = "margin", .unit = "m", .range = {0.0, 1e3, true}, .meaning = "contacts enter below this gap; 0: a twentieth of the smallest radius", .none = 0.0}, x.margin);
    visit({.key = "restitution_threshold", .unit = "m/s", .range = {0.0, 1e6}, .meaning = "what meets more slowly does not rebound; by default four times what gravity does in a step"}, x.restitution_threshold);
    visit({.key = "reference", .meaning = "the gap that is wanted of two that overlap, by less than half the radius, or nearly touch when the run begins: `\"touch\"`, none; or `\"initial\"`, the one that they have, until they have opened once, for shapes from elsewhere that shall stay ([kept gaps](theory/inverse_assemblies.md#what-stays-where-it-is))"}, x.reference);
    visit({.key = "push_out_speed", .unit = "m/s", .range = {0.0, 1e6, true}, .meaning = "bound on the speed that corrects a penetration"}, x.push_out_speed);
    visit({.key = "self_contact", .meaning = "of a fibre with itself"}, x.self_contact);
    visit({.key = "fibre_contact", .meaning = "between fibres"}, x.fibre_contact);
    visit({.key = "overlap", .range = {0.0, 1.0, true}, .meaning = "overlap at the end of a step, of the smallest radius, at which it is cut in two; a fifth of it (half with more than ten fibres) asks for one more pass; 0: 0.01 with up to ten fibres, 0.09 with up to a hundred, 0.3 with more", .none = 0.0}, x.overlap);
    visit({.key = "relinearisations", .range = {0, 10}, .meaning = "passes that take contacts anew at the end of a step; -1: one with up to ten fibres, none with more", .none = -1.0}, x.relinearisations);
    visit({.key = "max_relinearisations", .range = {0, 100}, .meaning = "more such passes while a contact still overlaps"}, x.max_relinearisations);
    visit({.key = "max_halvings", .range = {0, 10}, .meaning = "how often a step is cut in two while that fails"}, x.max_halvings);
    visit({.key = "penalty", .meaning = "of `\"imc\"` and `\"ipc\"`"}, x.penalty);
  }
};

template <>
struct Table<Fluid> {
  static constexpr std::string_view name = "fluid", meaning = "a viscous fluid that all fibres are in";
  static void fields(auto& x, auto&& visit) {
    visit({.key = "viscosity", .unit = "Pa s", .range = {0.0, 1e9}, .meaning = "0: there is no fluid; water has 1e-3, glycerol 1.4"}, x.viscosity);
    visit({.key = "regularisation", .range = {1e-3, 1e3}, .meaning = "over what radius a fibre spreads its forces, of its own radius ([fluid](theory/fluid.md))"}, x.regularisation);
    visit({.key = "density", .unit = "kg/m^3", .range = {0.0, 1e9}, .meaning = "for the Reynolds number that `tresse check` prints: inertia of the fluid is left out"}, x.density);
    visit({.key = "coupling", .meaning = "the fluid moves with the nodes, `\"collocation\"`, or in the mean with the elements, `\"symmetric\"`, which costs about sixteen times as much to set up"}, x.coupling);
    visit({.key = "tolerance", .range = limits::tolerance, .meaning = "of the fluid's force, relative"}, x.tolerance);
  }
};

template <>
struct Table<FrictionSolver> {
  static constexpr std::string_view name = "solver", meaning = "of the friction problem of each step";
  static void fields(auto& x, auto&& visit) {
    visit({.key = "name", .meaning = "all solve the same exact law ([friction](theory/friction.md))"}, x.name);
    visit({.key = "facets", .range = {3, 1'000}, .meaning = "3 or more: instead of Coulomb's cone a pyramid of so many facets, for comparison: another law ([friction](theory/friction.md)), solved by plain Gauss-Seidel; `name` is not read, and residuals are those of that law", .none = 0.0}, x.facets);
    visit({.key = "tolerance", .range = limits::tolerance, .meaning = "on the scaled natural-map error, the `residual` of `steps.csv`"}, x.tolerance);
    visit({.key = "max_iterations", .range = limits::iterations, .meaning = "of each solve"}, x.max_iterations);
  }
};

template <>
struct Table<Output> {
  static constexpr std::string_view name = "output", meaning = "what a run writes, and how often";
  static void fields(auto& x, auto&& visit) {
    visit({.key = "every", .range = limits::iterations, .meaning = "steps between frames of the trajectory"}, x.every);
    visit({.key = "checkpoint_every", .range = limits::iterations, .meaning = "steps between checkpoints; none within a second of the last, one at least every ten minutes"}, x.checkpoint_every);
    visit({.key = "points_per_element", .range = {1, 1'000}, .meaning = "centreline points in the trajectory"}, x.points_per_element);
  }
};

template <>
struct Table<Statics> {
  static constexpr std::string_view name = "statics", meaning = "of `tresse static`";
  static void fields(auto& x, auto&& visit) {
    visit({.key = "tolerance", .range = limits::tolerance, .meaning = "relative residual"}, x.tolerance);
    visit({.key = "max_iterations", .range = limits::iterations, .meaning = "of each load step"}, x.max_iterations);
    visit({.key = "load_steps", .range = limits::iterations, .meaning = "from no load to all of it"}, x.load_steps);
  }
};

/// The tables that `--set table.key=value` sets: visit(member of the scene) for each.
void for_each_settings_table(auto& scene, auto&& visit) {
  visit(scene.simulation);
  visit(scene.contact);
  visit(scene.fluid);
  visit(scene.solver);
  visit(scene.output);
  visit(scene.statics);
}

/// Handbook values; docs/reference/scenes.md cites each. Damping is left at zero: it depends on what is to be damped.
struct MaterialPreset {
  std::string_view name;
  rods::Material material;
};
inline constexpr std::array<MaterialPreset, 5> material_presets{{
    {"human-hair", {.density = 1320.0, .young_modulus = 3.9e9, .poisson_ratio = 0.4, .damping_time = 0.0}},
    {"nylon", {.density = 1140.0, .young_modulus = 2.7e9, .poisson_ratio = 0.39, .damping_time = 0.0}},
    {"steel-wire", {.density = 7850.0, .young_modulus = 200e9, .poisson_ratio = 0.29, .damping_time = 0.0}},
    {"wool", {.density = 1310.0, .young_modulus = 3.0e9, .poisson_ratio = 0.4, .damping_time = 0.0}},
    {"flagellum", {.density = 1000.0, .young_modulus = 3e6, .poisson_ratio = 0.5, .damping_time = 0.0}},
}};
inline constexpr auto material_preset_names = [] {
  std::array<std::string_view, material_presets.size()> out;
  for (std::size_t i = 0; i < out.size(); ++i) out[i] = material_presets[i].name;
  return out;
}();

template <>
struct Table<rods::Material> {
  static constexpr std::string_view name = "materials", meaning = "by name";
  static void fields(auto& x, auto&& visit) {
    visit({.key = "preset", .meaning = "where the other values come from; without one, density, Young modulus and Poisson ratio are needed", .words = material_preset_names}, Unkept<std::string>{});
    visit({.key = "density", .unit = "kg/m^3", .range = limits::density, .meaning = "mass per volume", .derived = true}, x.density);
    visit({.key = "young_modulus", .unit = "Pa", .range = {1e-3, 1e15}, .meaning = "stiffness", .derived = true}, x.young_modulus);
    visit({.key = "poisson_ratio", .range = {-1.0, 0.5, true}, .meaning = "gives the shear modulus, and so the twisting stiffness", .derived = true}, x.poisson_ratio);
    visit({.key = "damping_time", .unit = "s", .range = {0.0, 1e6}, .meaning = "Kelvin-Voigt: damping is this times stiffness"}, x.damping_time);
    visit({.key = "rotary_inertia", .meaning = "whether the sections of super-helices and super-clothoids have inertia against turning; without it, which is the limit of the papers, twist relaxes within one step"}, x.rotary_inertia);
  }
};

/// Of the file alone: a scene keeps both orders of a pair.
template <class OfTable>
struct MaterialPair {
  std::vector<std::string> between;
  double coefficient = 0.0;
};

void pair_fields(auto& x, auto&& visit, const Range& range, std::string_view meaning) {
  visit({.key = "between", .meaning = "names of two materials in use, in any order; the same twice is a material on itself", .needed = "the names of two materials"}, x.between);
  visit({.key = "coefficient", .range = range, .meaning = meaning, .needed = "a coefficient"}, x.coefficient);
}

template <>
struct Table<MaterialPair<FrictionTable>> {
  static constexpr std::string_view name = "friction.pairs", meaning = "";
  static void fields(auto& x, auto&& visit) { pair_fields(x, visit, limits::friction, "Coulomb's"); }
};

template <>
struct Table<MaterialPair<KineticFrictionTable>> {
  static constexpr std::string_view name = "friction_kinetic.pairs", meaning = "";
  static void fields(auto& x, auto&& visit) { pair_fields(x, visit, limits::friction, "Coulomb's of what slides, at most that of the pair"); }
};

template <>
struct Table<MaterialPair<RestitutionTable>> {
  static constexpr std::string_view name = "restitution.pairs", meaning = "";
  static void fields(auto& x, auto&& visit) { pair_fields(x, visit, limits::restitution, "speed after an impact, of that before"); }
};

template <>
struct Table<FrictionTable> {
  static constexpr std::string_view name = "friction", meaning = "coefficients between materials";
  static void fields(auto& x, auto&& visit) {
    visit({.key = "default", .range = limits::friction, .meaning = "between any two materials"}, x.default_coefficient);
    visit({.key = "pairs", .meaning = "those that differ from the default"}, Unkept<std::vector<MaterialPair<FrictionTable>>>{});
  }
};

template <>
struct Table<KineticFrictionTable> {
  static constexpr std::string_view name = "friction_kinetic", meaning = "coefficients of what slides ([kinds of friction](theory/friction_kinds.md))";
  static void fields(auto& x, auto&& visit) {
    visit({.key = "default", .range = limits::friction, .meaning = "between any two materials, where their friction is not less; that of `[friction]` by default"}, x.default_coefficient);
    visit({.key = "pairs", .meaning = "those that differ from the default"}, Unkept<std::vector<MaterialPair<KineticFrictionTable>>>{});
  }
};

template <>
struct Table<RestitutionTable> {
  static constexpr std::string_view name = "restitution", meaning = "how impacts between materials rebound ([kinds of friction](theory/friction_kinds.md))";
  static void fields(auto& x, auto&& visit) {
    visit({.key = "default", .range = limits::restitution, .meaning = "between any two materials; not with `simulation.theta` below 1"}, x.default_coefficient);
    visit({.key = "pairs", .meaning = "those that differ from the default"}, Unkept<std::vector<MaterialPair<RestitutionTable>>>{});
  }
};

}  // namespace tresse::scene
