#include <tresse/scene_file/detail/scene_meanings.hpp>

#include <algorithm>
#include <array>
#include <utility>

namespace tresse::scene_file::detail {
namespace {

using Entry = std::pair<std::string_view, std::string_view>;

// clang-format off
constexpr std::array meanings{std::to_array<Entry>({
    {"title", "shown by tresse check, in pictures and results"},
    {"parameters", "what one varies, used below as \"${name}\" and set by --set name=value: numbers, strings with units, arithmetic, booleans or words"},

    {"simulation", "time, loads and how steps are taken"},
    {"simulation.time_step", "of every step; at most 1e12 of them"},
    {"simulation.duration", "simulated time"},
    {"simulation.gravity", "a vector, or one number: that much along -z"},
    {"simulation.wind", "acts on fibres with `drag`: a vector, or a table of gusts"},
    {"simulation.seed", "whole; of random offsets of grids and caps"},
    {"simulation.scheme", "`\"carried\"`: free motion gains no energy at any step; where `theta` is below 1, which it cannot take, the default is `\"semi-implicit\"`; `\"linearised\"`: the inertial force linearised in the velocity, for lively motion; `\"nonlinear\"`: every implicit step iterated to `nonlinear_tolerance`"},
    {"simulation.theta", "where in a step forces are taken: 1 is implicit Euler, 0.5 the trapezoidal rule (with `\"nonlinear\"` the implicit midpoint rule, which keeps energy); below 1 a contact bounces and fast vibrations ring on"},
    {"simulation.step_error", "how far off a step may put a point of a fibre, as estimated: beyond it the step is cut, `contact.max_halvings` times at most; 0: any"},
    {"simulation.nonlinear_tolerance", "relative residual of the step"},
    {"simulation.max_nonlinear_iterations", "of each step"},
    {"simulation.wind.mean", "between gusts"},
    {"simulation.wind.gust", "what a gust adds at its height; it rises and falls as a raised cosine"},
    {"simulation.wind.period", "one gust every so many seconds from t = 0"},

    {"contact", "how contacts are found and kept apart"},
    {"contact.detection", "closest points between the curves with a proof; `\"branch-and-bound\"`; or `\"segments\"`, polylines"},
    {"contact.tolerance", "`certified`: relative to the curves' length; `branch-and-bound`: size in arc length [m]"},
    {"contact.proxy_segments", "segments a fibre with `\"segments\"`"},
    {"contact.margin", "contacts enter below this gap; 0: a twentieth of the smallest radius"},
    {"contact.push_out_speed", "bound on the speed that corrects a penetration"},
    {"contact.self_contact", "of a fibre with itself"},
    {"contact.fibre_contact", "between fibres"},
    {"contact.overlap", "overlap at the end of a step, of the smallest radius, at which it is cut in two; a fifth of it (half with more than ten fibres) asks for one more pass; 0: 0.01 with up to ten fibres, 0.09 with up to a hundred, 0.3 with more"},
    {"contact.relinearisations", "passes that take contacts anew at the end of a step; -1: one with up to ten fibres, none with more"},
    {"contact.max_relinearisations", "more such passes while a contact still overlaps"},
    {"contact.max_halvings", "how often a step is cut in two while that fails"},

    {"solver", "of the friction problem of each step"},
    {"solver.name", "all solve the same exact law ([friction](theory/friction.md))"},
    {"solver.facets", "3 or more: instead of Coulomb's cone a pyramid of so many facets, for comparison: another law ([friction](theory/friction.md)), solved by plain Gauss-Seidel; `name` is not read, and residuals are those of that law"},
    {"solver.tolerance", "on the scaled natural-map error, the `residual` of `steps.csv`"},
    {"solver.max_iterations", "of each solve"},

    {"output", "what a run writes, and how often"},
    {"output.every", "steps between frames of the trajectory"},
    {"output.checkpoint_every", "steps between checkpoints; none within a second of the last, one at least every ten minutes"},
    {"output.points_per_element", "centreline points in the trajectory"},

    {"statics", "of `tresse static`"},
    {"statics.tolerance", "relative residual"},
    {"statics.max_iterations", "of each load step"},
    {"statics.load_steps", "from no load to all of it"},

    {"materials", "by name"},
    {"materials.preset", "where the other values come from; without one, density, Young modulus and Poisson ratio are needed"},
    {"materials.density", "mass per volume"},
    {"materials.young_modulus", "stiffness"},
    {"materials.poisson_ratio", "gives the shear modulus, and so the twisting stiffness"},
    {"materials.damping_time", "Kelvin-Voigt: damping is this times stiffness"},
    {"materials.rotary_inertia", "whether the sections of super-helices and super-clothoids have inertia against turning; without it, which is the limit of the papers, twist relaxes within one step"},

    {"friction", "coefficients between materials"},
    {"friction.default", "between any two materials"},
    {"friction.pairs", "those that differ from the default"},
    {"friction.pairs.between", "names of two materials in use, in any order; the same twice is a material on itself"},
    {"friction.pairs.coefficient", "Coulomb's"},

    {"fibres", "one fibre, a grid or a cap of equal ones, or branches that grow on others"},
    {"fibres.name", "unique"},
    {"fibres.model", "piecewise constant curvature, `\"super-helix\"`, or piecewise linear, `\"super-clothoid\"`; `\"discrete-elastic-rod\"`: an element is an edge; `\"mass-spring\"`: points without twist, round sections, natural curvature by its size alone ([rod models](theory/rod_models.md#mass-spring-chains))"},
    {"fibres.material", "a `[materials.NAME]` or a preset"},
    {"fibres.length", "needed, unless there are `element_lengths`"},
    {"fibres.elements", "equal ones, unless graded; needed with `length`"},
    {"fibres.element_lengths", "instead of `length`: one an element"},
    {"fibres.grading", "with `length` and `elements`: lengths in a geometric progression, the last so many times the first"},
    {"fibres.radius", "one, or one an element (taper); needed, unless there is a `section`"},
    {"fibres.section", "instead of `radius`: an ellipse"},
    {"fibres.section.half_axis_1", "along n1, one or one an element"},
    {"fibres.section.half_axis_2", "along n2, likewise"},
    {"fibres.natural_curvature", "at rest and free of load: one number (k2, about n2), a triplet `[twist, k1, k2]`, or an array of triplets, one an element or one a node (one more); the model takes what it has, means of the other; 0 by default"},
    {"fibres.natural_curvature_onset", "the natural curvature grows linearly from `initial_curvature` until this time: curls that set in gently"},
    {"fibres.growth", "the length becomes `factor` times the given one, linearly from `begin` to `end`; elements lengthen alike, sections stay; curvature models only"},
    {"fibres.growth.factor", "on the given length"},
    {"fibres.growth.begin", "when it begins"},
    {"fibres.growth.end", "when it ends"},
    {"fibres.initial_curvature", "the shape at t = 0, same forms; the natural one by default"},
    {"fibres.leave_out", "numbers of fibres that are not there, ascending from 0: over the grid, the cap or the strands, or over branches by parents, place by place; `--leave-out` writes them"},
    {"fibres.initial_curvature_rate", "same forms; 0 by default"},
    {"fibres.root", "where the first point is; at the origin along +x by default"},
    {"fibres.root.condition", "whether position and frame of the root are held"},
    {"fibres.root.position", "of the first point; of a branch from the parent's centreline, in its material frame (n0 tangent, n1, n2); on a cap from its sphere, in the axes there (n0 outwards, n1 down from the pole)"},
    {"fibres.root.frame", "instead of `tangent` and `normal`: the axes `[[n0], [n1], [n2]]`, a rotation"},
    {"fibres.root.tangent", "n0; of a branch in the parent's material frame, where `[1, 0, 0]` is the parent's tangent; on a cap in the axes there, where it is the normal"},
    {"fibres.root.normal", "n1, made orthogonal; without it, n1 is as near +y as the tangent allows, +z for a tangent along y"},
    {"fibres.root.yaw_deg", "after pitch, turned about z"},
    {"fibres.root.pitch_deg", "after roll, turned about -y (tangent up)"},
    {"fibres.root.roll_deg", "first, turned about the tangent"},
    {"fibres.root.motion", "of a clamped root"},
    {"fibres.root.embedded_in", "name of an obstacle that a clamped root stands in: the fibre does not touch it up to where it comes out at t = 0, and without a `motion` the root goes with it"},
    {"fibres.root.reference", "point that rotations of `motion` turn about; the first point by default, of a cap its `center`"},
    {"fibres.root.velocity", "at t = 0, free roots, world axes; 0 by default"},
    {"fibres.root.angular_velocity", "likewise"},
    {"fibres.root.parent", "name of fibres above; every one of them gets the branches"},
    {"fibres.root.at", "arc length on the parent from its root, or an array: one branch at each"},
    {"fibres.root.roll_step", "branch i turns i times this about the parent's tangent, position and frame"},
    {"fibres.root.roll_step_deg", "the same in degrees; 137.5 is phyllotaxis"},
    {"fibres.holds", "points that are held or led along"},
    {"fibres.holds.name", "unique among the fibre's; `\"hold 0\"`, ... by default"},
    {"fibres.holds.at", "arc length from the root; the tip by default"},
    {"fibres.holds.clamp", "its material frame too (super-helices and super-clothoids)"},
    {"fibres.holds.slide", "axis along which the point may go, turned with the motion; none by default"},
    {"fibres.holds.motion", "of the point and, clamped, of its frame about it"},
    {"fibres.holds.release", "it lets go then; never by default"},
    {"fibres.grid", "copies at the nodes of a square grid around `root.position`, filled row by row"},
    {"fibres.grid.count", "fibres in all, at most a million"},
    {"fibres.grid.spacing", "between neighbours; needed when `count` > 1"},
    {"fibres.grid.jitter", "largest random offset along each axis, below half the spacing"},
    {"fibres.grid.twist", "largest random turn about the tangent"},
    {"fibres.grid.twist_deg", "the same in degrees"},
    {"fibres.grid.axis_1", "direction of its rows"},
    {"fibres.grid.axis_2", "across them"},
    {"fibres.cap", "instead of a grid: copies spread evenly over a cap of a sphere, along its normals"},
    {"fibres.cap.count", "fibres in all, at most a million"},
    {"fibres.cap.radius", "of the sphere on which roots stand"},
    {"fibres.cap.center", "of the sphere"},
    {"fibres.cap.axis", "from the center to the pole"},
    {"fibres.cap.angle", "from the pole to the edge, a half sphere by default"},
    {"fibres.cap.angle_deg", "the same in degrees"},
    {"fibres.cap.jitter", "largest random offset along both tangents of the sphere"},
    {"fibres.cap.twist", "largest random turn about the root's tangent"},
    {"fibres.cap.twist_deg", "the same in degrees"},
    {"fibres.drag", "air drag per length and velocity"},
    {"fibres.from", "a file of polylines that fibres are fitted to, instead of lengths, curvatures, places and grid: [imports](guide/imports.md)"},
    {"fibres.from.file", "beside the scene; by the end of its name: `.hair`, `.obj`, `.csv` or `.usda`"},
    {"fibres.from.frame", "of a `.csv` or `.usda` that holds several, by its order; -1: the last"},
    {"fibres.from.unit", "how long the file's unit is; not for `.usda`, which says so itself"},
    {"fibres.from.position", "added to every point"},
    {"fibres.from.up", "which axis of the file points up: `\"y\"` becomes z; what a `.usda` says, else `\"z\"`, by default"},
    {"fibres.from.every", "every n-th strand"},
    {"fibres.from.elements", "with `tolerance`, at most so many; alone, exactly so many"},
    {"fibres.from.tolerance", "as few elements as leave no point farther from its fibre; a thousandth of the strand without `elements`"},
    {"fibres.strands", "fibres with their own shapes and places, as a resolved scene has those of a file; keys as those of `[[fibres]]`"},
    {"fibres.strands.position", "of the first point"},
    {"fibres.strands.frame", "the axes `[[n0], [n1], [n2]]`, a rotation"},
    {"fibres.strands.length", "needed, unless there are `element_lengths`"},
    {"fibres.strands.elements", "equal ones, unless graded; needed with `length`"},
    {"fibres.strands.element_lengths", "instead of `length`: one an element"},
    {"fibres.strands.grading", "the last element so many times the first"},
    {"fibres.strands.radius", "one, or one an element; needed, unless there is a `section`"},
    {"fibres.strands.section", "instead of `radius`: an ellipse"},
    {"fibres.strands.section.half_axis_1", "along n1, one or one an element"},
    {"fibres.strands.section.half_axis_2", "along n2, likewise"},
    {"fibres.strands.natural_curvature", "at rest: one number, a triplet, or an array of triplets; 0 by default"},
    {"fibres.strands.initial_curvature", "at t = 0, same forms; the natural one by default"},

    {"motion", "of an obstacle, a clamped root or a held point; world axes"},
    {"motion.keyframes", "times increase; held before the first and after the last"},
    {"motion.keyframes.time", "of this keyframe"},
    {"motion.keyframes.displacement", "from the place at rest"},
    {"motion.keyframes.rotation", "from the pose at rest: a vector along the axis, as long as the angle"},
    {"motion.keyframes.rotation_deg", "the same in degrees"},
    {"motion.interpolation", "`\"smooth\"`: at rest at every key"},
    {"motion.velocity", "constant, on top of the keyframes"},
    {"motion.angular_velocity", "constant, on top of the keyframes"},
    {"motion.start", "of the constant velocities"},
    {"motion.stop", "of the constant velocities; never by default"},

    {"obstacles", "bodies that fibres touch: fixed, moved, or free"},
    {"obstacles.name", "unique"},
    {"obstacles.shape", "which keys below it takes"},
    {"obstacles.material", "its name by default"},
    {"obstacles.motion", "of a body that is not free"},
    {"obstacles.reference", "point that rotations turn about; the shape's own point by default"},
    {"obstacles.mass", "makes it free: it moves by what touches it and by its weight"},
    {"obstacles.density", "the same by mass per volume"},
    {"obstacles.velocity", "of a free body at t = 0, world axes"},
    {"obstacles.angular_velocity", "likewise"},
    {"obstacles.point", "on the plane"},
    {"obstacles.normal", "out of the solid half-space"},
    {"obstacles.center", "of the sphere or cylinder"},
    {"obstacles.radius", "of the sphere, capsule or cylinder"},
    {"obstacles.from", "an end of the capsule's axis"},
    {"obstacles.to", "its other end"},
    {"obstacles.axis", "direction of the cylinder"},
    {"obstacles.length", "of the cylinder; its ends are rounded, outside it"},
    {"obstacles.base", "of the comb: middle of the row, on the handle's axis"},
    {"obstacles.tooth_direction", "from the handle to the tips"},
    {"obstacles.row_direction", "from tooth to tooth, at a right angle"},
    {"obstacles.teeth", "how many"},
    {"obstacles.tooth_diameter", "of a tooth"},
    {"obstacles.tooth_spacing", "clear, between two teeth"},
    {"obstacles.tooth_length", "from the handle's axis"},
    {"obstacles.handle_diameter", "of the handle"},
    {"obstacles.file", "of the mesh: OBJ, PLY or glTF, beside the scene; one # for each digit of a frame's number if animated"},
    {"obstacles.unit", "length of 1 in that file"},
    {"obstacles.up", "axis of the file that is z here; `\"y\"` by default for glTF"},
    {"obstacles.position", "of the file's origin; rotations turn about it by default"},
    {"obstacles.thickness", "of the mesh, added on every side"},
    {"obstacles.first", "number of the frame at t = 0"},
    {"obstacles.last", "number of the last frame"},
    {"obstacles.rate", "frames per second; vertices go linearly between them and rest before and after"},
    {"obstacles.checksum", "refuses other files; written by runs"},
})};
// clang-format on

constexpr std::string_view whole = R"(
title = "every key"
[parameters]
any = 1
[simulation]
time_step = 1e-3
gravity = [0, 0, -9.81]
wind = { mean = [1, 0, 0], gust = [1, 0, 0], period = 1 }
seed = 2
[contact]
[solver]
[output]
[statics]
[materials.one]
preset = "nylon"
[materials.two]
density = 1000
young_modulus = 1e9
poisson_ratio = 0.3
[friction]
pairs = [{ between = ["one", "two"], coefficient = 0.2 }]

[[fibres]]
name = "trunk"
material = "one"
length = 0.1
elements = 2
radius = 1e-3
natural_curvature = 1
initial_curvature = 1
initial_curvature_rate = 1
grid = { count = 4, spacing = 0.1 }
leave_out = [1, 3]
[fibres.root]
frame = [[1, 0, 0], [0, 1, 0], [0, 0, 1]]
embedded_in = "floor"
motion = { keyframes = [{ time = 0 }] }
[[fibres.holds]]
name = "tip"
motion = { velocity = [0, 0, 0.01] }
slide = [1, 0, 0]

[[fibres]]
name = "free"
material = "two"
element_lengths = [0.1, 0.2]
section = { half_axis_1 = 1e-3, half_axis_2 = 2e-3 }
natural_curvature = [0, 0, 1]
initial_curvature = [0, 0, 1]
initial_curvature_rate = [0, 0, 1]
grid = { count = 1 }
growth = { factor = 2, end = 1 }
[fibres.root]
condition = "free"

[[fibres]]
name = "head"
material = "two"
length = 0.1
elements = 2
radius = 1e-3
cap = { radius = 0.1 }
[fibres.root]
reference = [0, 0, 0]

[[fibres]]
name = "twig"
material = "one"
length = 0.1
elements = 2
radius = [1e-3, 1e-3]
natural_curvature = [[0, 0, 1], [0, 0, 2]]
initial_curvature = [[0, 0, 1], [0, 0, 2]]
initial_curvature_rate = [[0, 0, 1], [0, 0, 2]]
root = { parent = "trunk", at = 0.05, frame = [[1, 0, 0], [0, 1, 0], [0, 0, 1]] }

[[fibres]]
name = "from a file"
material = "one"
radius = 1e-3
from = { file = "probe.csv", frame = 0, unit = "1 m", position = [0, 0, 0], up = "z", every = 1, elements = 1, tolerance = 1e-3 }

[[fibres]]
name = "one by one"
material = "one"
[[fibres.strands]]
position = [0, 0, 0]
frame = [[1, 0, 0], [0, 1, 0], [0, 0, 1]]
length = 0.1
elements = 2
grading = 1
radius = 1e-3
natural_curvature = 1
initial_curvature = 1
[[fibres.strands]]
element_lengths = [0.1, 0.2]
radius = [1e-3, 1e-3]
natural_curvature = [0, 0, 1]
initial_curvature = [0, 0, 1]
[[fibres.strands]]
length = 0.1
elements = 2
section = { half_axis_1 = 1e-3, half_axis_2 = 2e-3 }
natural_curvature = [[0, 0, 1], [0, 0, 2]]
initial_curvature = [[0, 0, 1], [0, 0, 2]]
[[fibres.strands]]
length = 0.1
elements = 2
section = { half_axis_1 = [1e-3, 1e-3], half_axis_2 = [2e-3, 2e-3] }

[[obstacles]]
name = "floor"
shape = "plane"
material = "two"
point = [0, 0, -1]
normal = [0, 0, 1]
motion = { velocity = [0, 0, 0] }
[[obstacles]]
name = "ball"
shape = "sphere"
center = [0, 0, 1]
radius = 0.1
mass = 1
[[obstacles]]
name = "stick"
shape = "capsule"
from = [0, 0, 2]
to = [0, 0, 3]
radius = 0.1
density = 1000
[[obstacles]]
name = "roll"
shape = "cylinder"
center = [0, 0, 5]
axis = [1, 0, 0]
radius = 0.1
length = 1
mass = 1
[[obstacles]]
name = "comb"
shape = "comb"
base = [0, 1, 0]
tooth_direction = [0, 1, 0]
row_direction = [1, 0, 0]
[[obstacles]]
name = "head"
shape = "mesh"
file = "head.ply"
unit = "1 cm"
checksum = "any"
[[obstacles]]
name = "belt"
shape = "mesh"
file = "belt.####.ply"
last = 3
)";

constexpr std::string_view other = R"(
[simulation]
gravity = 9.81
wind = [1, 0, 0]
[contact]
detection = "branch-and-bound"
[materials.three]
preset = "wool"
damping_time = 1e-3

[[fibres]]
name = "trunk"
material = "three"
length = 0.2
elements = 2
section = { half_axis_1 = [1e-3, 1e-3], half_axis_2 = [2e-3, 2e-3] }
holds = [{ at = 0.1 }]
[[fibres]]
name = "twig"
material = "three"
length = 0.2
elements = 2
radius = 1e-3
root = { parent = "trunk", at = [0.1, 0.2], tangent = [0, 1, 0] }
[[fibres]]
name = "twig of a twig"
material = "three"
length = 0.1
elements = 2
radius = 1e-3
root = { parent = "twig", at = 0.15, tangent = [0, 1, 0] }
[[fibres]]
name = "leaves"
material = "three"
length = 0.1
elements = 2
radius = 1e-3
root = { parent = "twig of a twig", at = [0.01, 0.05] }
[[fibres]]
name = "turned"
material = "three"
length = 0.3
elements = 2
radius = 1e-3
root = { tangent = [0, 1, 0] }
[[fibres]]
name = "from a file"
material = "three"
radius = 1e-3
from = { file = "probe.hair" }
[[obstacles]]
name = "wall"
shape = "plane"
point = [0, 0, -2]
normal = [0, 0, 1]
[[obstacles]]
name = "ball"
shape = "sphere"
center = [0, 0, 2]
radius = 0.1
[[obstacles]]
name = "stick"
shape = "capsule"
from = [0, 0, 5]
to = [0, 0, 6]
radius = 0.1
[[obstacles]]
name = "roll"
shape = "cylinder"
center = [0, 0, 9]
axis = [1, 0, 0]
radius = 0.1
length = 1
[[obstacles]]
name = "bullet"
shape = "sphere"
center = [0, 0, 3]
radius = 0.1
density = 1000
)";

}  // namespace

std::string_view meaning(std::string_view place) {
  const auto* const found =
      std::find_if(meanings.begin(), meanings.end(), [&](const Entry& entry) { return entry.first == place; });
  return found == meanings.end() ? std::string_view() : found->second;
}

std::size_t meanings_count() { return meanings.size(); }

const std::vector<std::string_view>& probe_scenes() {
  static const std::vector<std::string_view> scenes{whole, other};
  return scenes;
}

}  // namespace tresse::scene_file::detail
