#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <numbers>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <tresse/base/types.hpp>
#include <tresse/bodies/shapes.hpp>
#include <tresse/rods/rod.hpp>
#include <tresse/rods/section.hpp>
#include <tresse/scene/limits.hpp>

/// A case as plain, validated data in SI units: what a scene file says once its parameters are substituted. No
/// behaviour here.
namespace tresse::scene {

/// Where a value stood in the scene file, so that a check made after parsing can still point at it. line 0: not from a
/// file.
struct Location {
  int line = 0;  ///< from 1; 0: not from a file; -n: the n-th value that was given beside the file
  int column = 0;
};

/// Root of a fibre, or of a branch: one that grows on another fibre. A branch's position and frame are relative to its
/// parent's material frame (tangent [1, 0, 0]) at its place.
struct Root {
  rods::RootCondition condition = rods::RootCondition::clamped;
  Vector3 position = {0, 0, 0};          ///< r(0) [m]
  Matrix3 frame = Matrix3::Identity();   ///< columns n0 (tangent), n1, n2
  Vector3 velocity = {0, 0, 0};          ///< initial, free roots only [m/s]
  Vector3 angular_velocity = {0, 0, 0};  ///< initial, free roots only, world axes [rad/s]
  bodies::Motion motion;                 ///< clamped roots only
  std::optional<Vector3> reference;      ///< point that rotations of `motion` turn about; none: r(0), or of a cap its
                                         ///< centre [m]
  std::string embedded_in;  ///< clamped roots only: an obstacle that moves with the root and does not touch
                            ///< the fibre up to where it comes out; without a `motion` it leads the root
  std::string parent;       ///< carried roots only: a group that stands before
  std::vector<double> at;   ///< carried roots only: arc lengths on the parent, a branch each on every fibre of it;
                            ///< from 0 to its length [m]
  double roll_step = 0.0;   ///< carried roots only: position and frame of branch i turn i times this about the parent's
                            ///< tangent [rad]
};

/// Roots on a jittered grid: copies of one fibre at position + i * step_1 + j * step_2 + random offset in their span.
struct Grid {
  int count = 1;  ///< fibres, 1 to 1e6; the grid is the smallest square that holds them, filled row by row, centred on
                  ///< the root position
  Vector3 axis_1 = {1, 0, 0};  ///< unit
  Vector3 axis_2 = {0, 1, 0};  ///< unit
  double spacing = 0.0;        ///< > 0 when count > 1 [m]
  double jitter = 0.0;         ///< largest random offset along each axis; >= 0, < spacing / 2 [m]
  double twist = 0.0;          ///< largest random rotation of the root frame about its tangent; >= 0 [rad]
};

/// Roots spread evenly over a cap of a sphere, on a Fibonacci spiral about its axis. The group's root position and
/// frame are relative to axes at each place: the outward normal, the way down from the pole, and their cross product.
struct Cap {
  int count = 1;                          ///< fibres, 1 to 1e6
  double radius = 0.0;                    ///< of the sphere; > 0 [m]
  Vector3 center = {0, 0, 0};             ///< of the sphere [m]
  Vector3 axis = {0, 0, 1};               ///< unit, through the pole
  double angle = 0.5 * std::numbers::pi;  ///< from the pole to the edge; > 0, <= pi [rad]
  double jitter = 0.0;                    ///< largest random offset along both tangents; >= 0, < radius [m]
  double twist = 0.0;                     ///< largest random rotation of the root frame about its tangent; >= 0 [rad]
};

/// A point of every fibre of a group that is held where it is at time zero, or led along from there.
struct Hold {
  std::string name;                 ///< unique in its group
  double at = 0.0;                  ///< arc length; from 0 to the length [m]
  bool clamp = false;               ///< the material frame too; super-helices and super-clothoids
  Vector3 slide = {0, 0, 0};        ///< unit axis along which the point may go, turned by the motion; zero: none
  bodies::Motion motion;            ///< of the frame about the point
  double release = limits::always;  ///< it lets go then; >= 0 [s]
};

/// One fibre of a group whose fibres differ, such as those of a file.
struct Strand {
  Vector3 position = {0, 0, 0};              ///< r(0) [m]
  Matrix3 frame = Matrix3::Identity();       ///< columns n0 (tangent), n1, n2
  std::vector<double> element_lengths;       ///< (N) > 0 [m]
  std::vector<rods::CrossSection> sections;  ///< (N)
  std::vector<Vector3> natural_curvature;    ///< (curvature_count()) [1/m]
  std::vector<Vector3> initial_curvature;    ///< (curvature_count()) [1/m]
};

/// What a valid scene says that is hardly what was meant, or an import could not do as asked.
struct Remark {
  Location location;    ///< line 0: not from a file
  std::string message;  ///< one line: what was found, what is expected
};

struct FibreGroup {
  std::string name;                   ///< unique
  std::string model = "super-helix";  ///< "super-helix", "super-clothoid", "discrete-elastic-rod", "mass-spring"
  std::string material_name;          ///< key of friction pairs
  rods::Material material;
  std::vector<double> element_lengths;       ///< (N) > 0 [m]
  std::vector<rods::CrossSection> sections;  ///< (N)
  std::vector<Vector3> natural_curvature;    ///< (curvature_count()) (twist, k1, k2) [1/m]
  double natural_curvature_onset = 0.0;  ///< the natural curvature grows from the initial one until this time; >= 0 [s]
  double growth_factor = 1.0;            ///< the length becomes as many times the given one; > 0
  double growth_begin = 0.0;             ///< linearly from this time on; >= 0 [s]
  double growth_end = 0.0;               ///< until this one; > growth_begin where it grows [s]
  std::vector<Vector3> initial_curvature;       ///< (curvature_count()) [1/m]
  std::vector<Vector3> initial_curvature_rate;  ///< (curvature_count()) [1/(m s)]
  Root root;
  std::vector<Hold> holds;
  Grid grid;
  std::optional<Cap> cap;  ///< instead of the grid
  /// Where not empty, the fibres of the group; the fields above that a strand has are then those of the first. Without
  /// holds, branches, grid and cap.
  std::vector<Strand> strands;
  /// Numbers of fibres of the group that are not there, ascending. They count from 0 over grid, cap or strands; over
  /// branches by parents, place by place, as if none were left out.
  std::vector<int> leave_out;
  double drag = 0.0;  ///< per unit length and velocity; >= 0 [N s/m^2]
  Location location;
  std::vector<Remark> remarks;  ///< of the import that its strands come from; a resolved scene has none
};

/// The group that strand `index` of `group` would be by itself.
FibreGroup strand_group(const FibreGroup& group, std::size_t index);

/// Of a fibre of a group, by its number in it. (N)
const std::vector<rods::CrossSection>& sections(const FibreGroup& group, int member);

/// How many fibres each group has before any are left out: its strands, its grid's or cap's, or a branch at every place
/// of every fibre of the parent. Parents that stand nowhere before have none. A double, since a scene's mistakes may
/// overflow.
std::vector<double> fibre_counts(const std::vector<FibreGroup>& groups);

/// Index of the group that `groups[index]` grows on, -1 when none before it has that name.
int parent_index(const std::vector<FibreGroup>& groups, std::size_t index);

/// Most unknowns that `count` fibres of the group, or its strands, can have.
double unknown_count(const FibreGroup& group, double count);

/// Of one fibre, with strands the first. [m]
double length(const FibreGroup& group);

/// How many curvatures a fibre has: one an element, or with super-clothoids one a node.
std::size_t curvature_count(const std::string& model, std::size_t elements);
/// Whether the unknowns of a model are curvatures, which a rod needs to grow and to carry branches.
bool curvature_model(const std::string& model);

/// Where the triangles of a mesh come from.
struct MeshFile {
  std::string file;              ///< absolute; with # for the digits of a frame's number if it is animated
  double unit = 1.0;             ///< length of 1 in the file; > 0 [m]
  std::string up = "z";          ///< which axis of the file is the scene's z: "z" or "y"
  Vector3 position = {0, 0, 0};  ///< of the file's origin [m]
  bool animated = false;
  int first = 0;         ///< number of the first frame, at time zero
  int last = 0;          ///< >= first
  double rate = 24.0;    ///< > 0 [Hz]
  std::string checksum;  ///< of all the files' bytes
};

/// An obstacle and where its table starts in the file.
struct Obstacle {
  bodies::Obstacle body;
  MeshFile mesh;  ///< of a mesh
  Location location;
};

struct FrictionTable {
  double default_coefficient = 0.0;                             ///< >= 0
  std::map<std::pair<std::string, std::string>, double> pairs;  ///< by material name, both orders present; >= 0
  double coefficient(const std::string& a, const std::string& b) const;
};

struct Contact {
  std::string detection = "certified";  ///< "certified", "branch-and-bound", "segments"
  double tolerance = 1e-12;  ///< of the detection: relative to the curves' length (certified), parameter size [m]
                             ///< (branch-and-bound); > 0
  int proxy_segments = 100;  ///< segments per fibre with detection = "segments"; >= 1
  double margin = 0.0;  ///< contacts enter the problem below this gap plus dt |u_free|; >= 0; 0: a twentieth of the
                        ///< smallest radius [m]
  double push_out_speed = 0.02;  ///< bound on the speed that corrects a penetration; > 0 [m/s]
  bool self_contact = true;
  bool fibre_contact = true;  ///< between different fibres
  int relinearisations = -1;  ///< passes that linearise contact again at the end of the step; 0 to 10; -1: one with up
                              ///< to `few_fibres` fibres, none with more
  double overlap = 0.0;  ///< of the smallest radius, at which a step is cut in two; a fifth of it (half with more than
                         ///< `few_fibres` fibres) asks for one more pass; in [0, 1]; 0: 0.01 with up to `few_fibres`
                         ///< fibres, 0.09 with up to `many_fibres`, 0.3 with more [-]
  static constexpr int few_fibres = 10;
  static constexpr int many_fibres = 100;
  int max_relinearisations = 4;  ///< more passes while a contact overlaps; 0 to 100
  int max_halvings = 4;          ///< how often a step is cut in two while that fails; 0 to 10
};

struct FrictionSolver {
  std::string name = "hybrid-gauss-seidel";  ///< one of friction::solver_names
  /// 0: Coulomb's cone; 3 to 1000: a pyramid instead, by friction::solve_faceted(), and `name` is not read.
  int facets = 0;
  double tolerance = 1e-12;   ///< on the scaled natural-map error; > 0
  int max_iterations = 2000;  ///< >= 1
};

inline constexpr std::array<std::string_view, 4> scheme_names = {"carried", "semi-implicit", "linearised", "nonlinear"};

struct Integrator {
  std::string scheme = "carried";      ///< one of scheme_names; "carried" needs theta 1
  double theta = 1.0;                  ///< where in the step forces are taken; 0.5 to 1
  double step_error = 0.0;             ///< estimated, beyond which a step is cut; 0: none; needs theta > 0.5 [m]
  double time_step = 1e-3;             ///< > 0 [s]
  double duration = 1.0;               ///< >= 0 [s]
  double nonlinear_tolerance = 1e-10;  ///< relative residual of the implicit step; > 0
  int max_nonlinear_iterations = 50;   ///< >= 1
};

struct Output {
  int every = 10;               ///< steps between trajectory frames; >= 1
  int checkpoint_every = 1000;  ///< steps between checkpoints; >= 1
  int points_per_element = 8;   ///< centreline points per element in the trajectory; >= 1
};

/// Statics: `tresse static`.
struct Statics {
  double tolerance = 1e-10;  ///< relative residual; > 0
  int max_iterations = 200;  ///< per load step; >= 1
  int load_steps = 10;       ///< continuation from no load; >= 1
};

struct Scene {
  std::string title;
  std::uint64_t seed = 1;
  Vector3 gravity = {0, 0, -9.81};  ///< [m/s^2]
  Vector3 wind = {0, 0, 0};         ///< between gusts [m/s]
  Vector3 gust = {0, 0, 0};         ///< what a gust adds at its height [m/s]
  double gust_period = 1.0;         ///< > 0 [s]
  Integrator integrator;
  Contact contact;
  FrictionTable friction;
  FrictionSolver solver;
  Output output;
  Statics statics;
  std::vector<FibreGroup> fibres;
  std::vector<Obstacle> obstacles;
};

/// Index of the obstacle that a group's roots are embedded in, -1: none.
int embedding_obstacle(const Scene& scene, const FibreGroup& group);

/// Whether an obstacle is free: then a scene needs no fibres.
bool has_free_bodies(const Scene& scene);

/// Checks every range that the comments above state; throws InvalidInput naming the field.
void validate(const Scene& scene);

}  // namespace tresse::scene
