#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <tresse/scene/body_fields.hpp>
#include <tresse/scene/fields.hpp>
#include <tresse/scene/scene.hpp>

/// The lists of groups of fibres: shapes, roots, held points and how copies are spread.
namespace tresse::scene {

// A key a line.
// clang-format off

template <>
struct Table<Growth> {
  static constexpr std::string_view name = "fibres.growth", meaning = "";
  static void fields(auto& x, auto&& visit) {
    visit({.key = "factor", .range = {1e-3, 1e3}, .meaning = "on the given length", .needed = "how many times its length the fibre becomes"}, x.factor);
    visit({.key = "begin", .unit = "s", .range = limits::onset, .meaning = "when it begins"}, x.begin);
    visit({.key = "end", .unit = "s", .range = limits::onset, .meaning = "when it ends", .needed = "when growth ends"}, x.end);
  }
  static void check(const Growth& x, const Complain& complain);
};

template <>
struct Table<Grid> {
  static constexpr std::string_view name = "fibres.grid", meaning = "";
  static void fields(auto& x, auto&& visit) {
    visit({.key = "count", .range = limits::copies, .meaning = "fibres in all, at most a million"}, x.count);
    visit({.key = "axis_1", .meaning = "direction of its rows", .direction = true}, x.axis_1);
    visit({.key = "axis_2", .meaning = "across them", .direction = true}, x.axis_2);
    visit({.key = "spacing", .unit = "m", .range = x.count > 1 ? limits::length : limits::distance, .meaning = "between neighbours; needed when `count` > 1", .needed = x.count > 1 ? "the distance between neighbouring roots" : ""}, x.spacing);
    visit({.key = "jitter", .unit = "m", .range = limits::distance, .meaning = "largest random offset along each axis, below half the spacing"}, x.jitter);
    visit({.key = "twist", .unit = "rad", .range = limits::twist, .meaning = "largest random turn about the tangent", .in_degrees = "the same in degrees"}, x.twist);
  }
  static void check(const Grid& x, const Complain& complain);
};

template <>
struct Table<Cap> {
  static constexpr std::string_view name = "fibres.cap", meaning = "";
  static void fields(auto& x, auto&& visit) {
    visit({.key = "count", .range = limits::copies, .meaning = "fibres in all, at most a million"}, x.count);
    visit({.key = "radius", .unit = "m", .range = limits::length, .meaning = "of the sphere on which roots stand", .needed = "the radius of the sphere"}, x.radius);
    visit({.key = "center", .unit = "m", .range = limits::coordinate, .meaning = "of the sphere"}, x.center);
    visit({.key = "axis", .meaning = "from the center to the pole", .direction = true}, x.axis);
    visit({.key = "angle", .unit = "rad", .range = {0.0, 3.14159265358979312, true}, .meaning = "from the pole to the edge, a half sphere by default", .in_degrees = "the same in degrees"}, x.angle);
    visit({.key = "jitter", .unit = "m", .range = limits::distance, .meaning = "largest random offset along both tangents of the sphere"}, x.jitter);
    visit({.key = "twist", .unit = "rad", .range = limits::twist, .meaning = "largest random turn about the root's tangent", .in_degrees = "the same in degrees"}, x.twist);
  }
  static void check(const Cap& x, const Complain& complain);
};

template <>
struct Table<Ring> {
  static constexpr std::string_view name = "fibres.ring", meaning = "";
  static void fields(auto& x, auto&& visit) {
    visit({.key = "count", .range = limits::copies, .meaning = "fibres in all, at most a million"}, x.count);
    visit({.key = "radius", .unit = "m", .range = limits::length, .meaning = "of the circle on which roots stand", .needed = "the radius of the circle"}, x.radius);
    visit({.key = "axis", .meaning = "across the circle; places follow each other in the sense in which it turns", .direction = true}, x.axis);
    visit({.key = "first", .meaning = "direction from the middle to the first root, made orthogonal to `axis`; any by default", .direction = true}, x.first);
    visit({.key = "turned", .meaning = "whether their frames turn about the axis along with their places; if not, the fibres are the same but for where they are"}, x.turned);
  }
  static void check(const Ring& x, const Complain& complain);
};

template <>
struct Table<Hold> {
  static constexpr std::string_view name = "fibres.holds", meaning = "";
  static void fields(auto& x, auto&& visit) {
    visit({.key = "name", .meaning = "unique among the fibre's; `\"hold 0\"`, ... by default", .derived = true}, x.name);
    visit({.key = "at", .unit = "m", .range = limits::along, .meaning = "arc length from the root; the tip by default", .derived = true}, x.at);
    visit({.key = "clamp", .meaning = "its material frame too (super-helices and super-clothoids)"}, x.clamp);
    visit({.key = "slide", .meaning = "axis along which the point may go, turned with the motion; none by default", .direction = true}, x.slide);
    visit({.key = "motion", .meaning = "of the point and, clamped, of its frame about it"}, x.motion);
    visit({.key = "release", .unit = "s", .range = limits::onset, .meaning = "it lets go then; never by default"}, x.release);
  }
};

/// Where the first point of a fibre is.
void position_field(auto& x, auto&& visit, std::string_view meaning) {
  visit({.key = "position", .unit = "m", .range = limits::coordinate, .meaning = meaning}, x.position);
}

/// How the frame of a fibre, or of a strand, may be given as it is.
void frame_field(auto& x, auto&& visit, std::string_view meaning) {
  visit({.key = "frame", .range = {-2.0, 2.0}, .meaning = meaning, .forms = forms::triplets}, x.frame);
}

/// Where a root stands, and the directions and angles that its frame may be made from.
void pose_fields(auto& x, auto&& visit) {
  position_field(x, visit, "of the first point; of a branch from the parent's centreline, in its material frame (n0 tangent, n1, n2); on a cap from its sphere, in the axes there (n0 outwards, n1 down from the pole)");
  frame_field(x, visit, "instead of `tangent` and `normal`: the axes `[[n0], [n1], [n2]]`, a rotation");
  visit({.key = "tangent", .meaning = "n0; of a branch in the parent's material frame, where `[1, 0, 0]` is the parent's tangent; on a cap in the axes there, where it is the normal", .direction = true}, Unkept<Vector3>{Vector3(1.0, 0.0, 0.0)});
  visit({.key = "normal", .meaning = "n1, made orthogonal; without it, n1 is as near +y as the tangent allows, +z for a tangent along y", .direction = true}, Unkept<Vector3>{});
  visit({.key = "yaw_deg", .unit = "deg", .range = limits::rotation, .meaning = "after pitch, turned about z"}, Unkept<double>{0.0});
  visit({.key = "pitch_deg", .unit = "deg", .range = limits::rotation, .meaning = "after roll, turned about -y (tangent up)"}, Unkept<double>{0.0});
  visit({.key = "roll_deg", .unit = "deg", .range = limits::rotation, .meaning = "first, turned about the tangent"}, Unkept<double>{0.0});
}

/// A root that grows on no other fibre.
template <>
struct Table<Root> {
  static constexpr std::string_view name = "fibres.root", meaning = "";
  static void fields(auto& x, auto&& visit) {
    visit({.key = "condition", .meaning = "whether position and frame of the root are held"}, x.condition);
    pose_fields(x, visit);
    visit({.key = "motion", .meaning = "of a clamped root"}, x.motion);
    visit({.key = "reference", .unit = "m", .range = limits::coordinate, .meaning = "point that rotations of `motion` turn about; the first point by default, of a cap its `center`"}, x.reference);
    visit({.key = "embedded_in", .meaning = "name of an obstacle that a clamped root stands in: the fibre does not touch it up to where it comes out at t = 0, and without a `motion` the root goes with it"}, x.embedded_in);
    visit({.key = "velocity", .unit = "m/s", .range = limits::speed, .meaning = "at t = 0, free roots, world axes; 0 by default"}, x.velocity);
    visit({.key = "angular_velocity", .unit = "rad/s", .range = limits::rotation, .meaning = "likewise"}, x.angular_velocity);
  }
};

/// The root of a branch, a Root as well.
struct BranchRoot {};

template <>
struct Table<BranchRoot> {
  static constexpr std::string_view name = "fibres.root", meaning = "";
  static void fields(auto& x, auto&& visit) {
    visit({.key = "parent", .meaning = "name of fibres above; every one of them gets the branches", .needed = "a name"}, x.parent);
    visit({.key = "at", .unit = "m", .range = limits::along, .meaning = "arc length on the parent from its root, or an array: one branch at each", .needed = "arc lengths on the parent, a branch each", .forms = forms::one | forms::list}, x.at);
    pose_fields(x, visit);
    visit({.key = "roll_step", .unit = "rad", .range = limits::rotation, .meaning = "branch i turns i times this about the parent's tangent, position and frame", .in_degrees = "the same in degrees; 137.5 is phyllotaxis"}, x.roll_step);
  }
};

/// Of the file alone: half-axes of an elliptic section.
struct Ellipse {
  std::vector<double> half_axis_1, half_axis_2;
};
struct StrandEllipse {};

template <>
struct Table<Ellipse> {
  static constexpr std::string_view name = "fibres.section", meaning = "";
  static void fields(auto& x, auto&& visit) {
    visit({.key = "half_axis_1", .unit = "m", .range = limits::radius, .meaning = "along n1, one or one an element", .needed = "both half-axes of the ellipse", .forms = forms::one | forms::list}, x.half_axis_1);
    visit({.key = "half_axis_2", .unit = "m", .range = limits::radius, .meaning = "along n2, likewise", .needed = "both half-axes of the ellipse", .forms = forms::one | forms::list}, x.half_axis_2);
  }
};

template <>
struct Table<StrandEllipse> : Table<Ellipse> {
  static constexpr std::string_view name = "fibres.strands.section";
};

/// The keys that say which shape a fibre or a strand has.
void shape_fields(auto& x, auto&& visit, std::string_view natural, std::string_view initial) {
  visit({.key = "natural_curvature", .unit = "1/m", .range = limits::curvature, .meaning = natural, .forms = forms::one | forms::triplet | forms::triplets}, x.natural_curvature);
  visit({.key = "initial_curvature", .unit = "1/m", .range = limits::curvature, .meaning = initial, .forms = forms::one | forms::triplet | forms::triplets}, x.initial_curvature);
}

/// The keys that say how long the elements of a fibre or of a strand are, and how thick.
template <class Section>
void element_fields(auto& x, auto&& visit, std::string_view grading, std::string_view radius) {
  visit({.key = "length", .unit = "m", .range = limits::length, .meaning = "needed, unless there are `element_lengths`"}, Unkept<double>{});
  visit({.key = "elements", .range = {1, limits::elements}, .meaning = "equal ones, unless graded; needed with `length`"}, Unkept<int>{});
  visit({.key = "element_lengths", .unit = "m", .range = limits::length, .meaning = "instead of `length`: one an element"}, x.element_lengths);
  visit({.key = "grading", .range = {1e-3, 1e3}, .meaning = grading}, Unkept<double>{1.0});
  visit({.key = "radius", .unit = "m", .range = limits::radius, .meaning = radius, .forms = forms::one | forms::list}, Unkept<double>{});
  visit({.key = "section", .meaning = "instead of `radius`: an ellipse"}, Unkept<Section>{});
}

/// Of the file alone: a part of a fibre with equal elements and one natural curvature.
struct Stretch {
  double length = 0.0;
  int elements = 0;
  Vector3 corner = Vector3::Zero();  ///< turn where it begins, (twist, about n1, about n2) [rad]
};

template <>
struct Table<Stretch> {
  static constexpr std::string_view name = "fibres.stretches", meaning = "";
  static void fields(auto& x, auto&& visit) {
    visit({.key = "length", .unit = "m", .range = limits::length, .meaning = "of the stretch", .needed = "its length"}, x.length);
    visit({.key = "elements", .range = {1, limits::elements}, .meaning = "equal ones; of a fibre at most 10000 in all", .needed = "the number of its elements"}, x.elements);
    visit({.key = "curvature", .unit = "1/m", .range = limits::curvature, .meaning = "the natural one: one number (k2) or a triplet `[twist, k1, k2]`", .forms = forms::one | forms::triplet}, Unkept<Vector3>{Vector3::Zero()});
    visit({.key = "corner", .unit = "rad", .range = {-3.0, 3.0}, .meaning = "how far the rod turns at the node where the stretch begins, a triplet (twist, about n1, about n2) in the axes there; rods of nodes only"}, x.corner);
  }
};

template <>
struct Table<Strand> {
  static constexpr std::string_view name = "fibres.strands", meaning = "";
  static void fields(auto& x, auto&& visit) {
    position_field(x, visit, "of the first point");
    frame_field(x, visit, "the axes `[[n0], [n1], [n2]]`, a rotation");
    element_fields<StrandEllipse>(x, visit, "the last element so many times the first", "one, or one an element; needed, unless there is a `section`");
    shape_fields(x, visit, "at rest: one number, a triplet, or an array of triplets; 0 by default", "at t = 0, same forms; the natural one by default");
  }
};

/// Of the file alone: the polylines that fibres are fitted to.
struct StrandSource {
  std::string file;  ///< as the scene names it
  int frame = 0;
  double unit = 1.0;
  Vector3 position = Vector3::Zero();
  UpAxis up = UpAxis::z;
  int every = 1;
  std::optional<int> elements;
  std::optional<double> tolerance;
};

template <>
struct Table<StrandSource> {
  static constexpr std::string_view name = "fibres.from", meaning = "";
  static void fields(auto& x, auto&& visit) {
    visit({.key = "file", .meaning = "beside the scene; by the end of its name: `.hair`, `.obj`, `.csv` or `.usda`", .needed = "a .hair, .obj, .csv or .usda"}, x.file);
    visit({.key = "frame", .range = {-limits::iterations.most, limits::iterations.most}, .meaning = "of a `.csv` or `.usda` that holds several, by its order; -1: the last"}, x.frame);
    visit({.key = "unit", .unit = "m", .range = limits::length, .meaning = "how long the file's unit is; not for `.usda`, which says so itself"}, x.unit);
    visit({.key = "position", .unit = "m", .range = limits::coordinate, .meaning = "added to every point"}, x.position);
    visit({.key = "up", .meaning = "which axis of the file points up: `\"y\"` becomes z; what a `.usda` says, else `\"z\"`, by default"}, x.up);
    visit({.key = "every", .range = limits::copies, .meaning = "every n-th strand"}, x.every);
    visit({.key = "elements", .range = {1, limits::fitted_elements}, .meaning = "with `tolerance`, at most so many; alone, exactly so many"}, x.elements);
    visit({.key = "tolerance", .unit = "m", .range = limits::length, .meaning = "as few elements as leave no point farther from its fibre; a thousandth of the strand without `elements`"}, x.tolerance);
  }
};

template <>
struct Table<FrictionRegion> {
  static constexpr std::string_view name = "fibres.friction", meaning = "";
  static void fields(auto& x, auto&& visit) {
    visit({.key = "to", .unit = "m", .range = limits::length, .meaning = "arc length from the root where the region ends; the last ends at the tip by default"}, x.to);
    visit({.key = "friction", .range = limits::friction, .meaning = "Coulomb's, whatever the region touches", .needed = "a coefficient"}, x.friction);
    visit({.key = "friction_kinetic", .range = limits::friction, .meaning = "of what slides, at most `friction`; the same by default"}, x.kinetic);
  }
  static void check(const FrictionRegion& x, const Complain& complain);
};

template <>
struct Table<FibreGroup> {
  static constexpr std::string_view name = "fibres";
  static constexpr std::string_view meaning = "one fibre, a grid, a cap or a ring of equal ones, or branches that grow on others";
  static void fields(auto& x, auto&& visit) {
    visit({.key = "name", .meaning = "unique", .needed = "a name of its own"}, x.name);
    visit({.key = "model", .meaning = "piecewise constant curvature, `\"super-helix\"`, or piecewise linear, `\"super-clothoid\"`; `\"discrete-elastic-rod\"`: an element is an edge; `\"mass-spring\"`: points without twist, round sections, natural curvature by its size alone ([rod models](theory/rod_models.md#mass-spring-chains))"}, x.model);
    visit({.key = "material", .meaning = "a `[materials.NAME]` or a preset", .needed = "the name of a material"}, x.material_name);
    element_fields<Ellipse>(x, visit, "with `length` and `elements`: lengths in a geometric progression, the last so many times the first", "one, or one an element (taper); needed, unless there is a `section`");
    visit({.key = "stretches", .meaning = "instead of lengths, `elements` and `natural_curvature`: parts of the fibre, one after another from the root"}, Unkept<std::vector<Stretch>>{});
    shape_fields(x, visit, "at rest and free of load: one number (k2, about n2), a triplet `[twist, k1, k2]`, or an array of triplets, one an element or one a node (one more); the model takes what it has, means of the other; 0 by default", "the shape at t = 0, same forms; the natural one by default");
    visit({.key = "initial_curvature_rate", .unit = "1/m/s", .range = limits::curvature_rate, .meaning = "same forms; 0 by default", .forms = forms::one | forms::triplet | forms::triplets}, x.initial_curvature_rate);
    visit({.key = "root", .meaning = "where the first point is; at the origin along +x by default"}, x.root);
    visit({.key = "holds", .meaning = "points that are held or led along"}, x.holds);
    visit({.key = "grid", .meaning = "copies at the nodes of a square grid around `root.position`, filled row by row"}, x.grid);
    visit({.key = "cap", .meaning = "instead of a grid: copies spread evenly over a cap of a sphere, along its normals"}, x.cap);
    visit({.key = "ring", .meaning = "instead of a grid: copies spread evenly on a circle around `root.position`"}, x.ring);
    visit({.key = "from", .meaning = "a file of polylines that fibres are fitted to, instead of lengths, curvatures, places and grid: [imports](guide/imports.md)"}, Unkept<StrandSource>{});
    visit({.key = "strands", .meaning = "fibres with their own shapes and places, as a resolved scene has those of a file; keys as those of `[[fibres]]`"}, x.strands);
    visit({.key = "leave_out", .range = {0, limits::fibres - 1}, .meaning = "numbers of fibres that are not there, ascending from 0: over the grid, the cap, the ring or the strands, or over branches by parents, place by place; `--leave-out` writes them"}, x.leave_out);
    visit({.key = "natural_curvature_onset", .unit = "s", .range = limits::onset, .meaning = "the natural curvature grows linearly from `initial_curvature` until this time: curls that set in gently"}, x.natural_curvature_onset);
    visit({.key = "growth", .meaning = "the length becomes `factor` times the given one, linearly from `begin` to `end`; elements lengthen alike, sections stay; curvature models only"}, x.growth);
    visit({.key = "friction", .range = limits::friction, .meaning = "along the arc length, instead of that of its material: a list of numbers, of as many equal parts, or of tables that name where each region ends; where two regions touch the larger counts ([kinds of friction](theory/friction_kinds.md))", .forms = forms::list}, x.friction);
    visit({.key = "drag", .unit = "N s/m^2", .range = {0.0, 1e6}, .meaning = "air drag per length and velocity"}, x.drag);
  }
};

}  // namespace tresse::scene
