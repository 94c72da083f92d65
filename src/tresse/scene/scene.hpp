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

#include <tresse/base/enum_words.hpp>
#include <tresse/base/types.hpp>
#include <tresse/bodies/shapes.hpp>
#include <tresse/dynamics/stepper.hpp>
#include <tresse/fluid/resistance.hpp>
#include <tresse/friction/solver.hpp>
#include <tresse/geometry/closest_points.hpp>
#include <tresse/rods/rod.hpp>
#include <tresse/rods/section.hpp>
#include <tresse/scene/grains.hpp>
#include <tresse/scene/limits.hpp>
#include <tresse/scene/location.hpp>
#include <tresse/scene/surface.hpp>

/// A case as plain, validated data in SI units: what a scene file says once its parameters are substituted. No
/// behaviour here. What a file calls each value, its unit, its range and its meaning stand in the lists of
/// setting_fields.hpp, fibre_fields.hpp and body_fields.hpp; here are the defaults.
namespace tresse::scene {

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
/// The grid is the smallest square that holds them, filled row by row, centred on the root position.
struct Grid {
  int count = 1;
  Vector3 axis_1 = {1, 0, 0};
  Vector3 axis_2 = {0, 1, 0};
  double spacing = 0.0;
  double jitter = 0.0;
  double twist = 0.0;
};

/// Roots spread evenly over a cap of a sphere, on a Fibonacci spiral about its axis. The group's root position and
/// frame are relative to axes at each place: the outward normal, the way down from the pole, and their cross product.
struct Cap {
  int count = 1;
  double radius = 0.0;
  Vector3 center = {0, 0, 0};
  Vector3 axis = {0, 0, 1};
  double angle = 0.5 * std::numbers::pi;
  double jitter = 0.0;
  double twist = 0.0;
};

/// Roots spread evenly on a circle about the group's root position.
struct Ring {
  int count = 1;
  double radius = 0.0;
  Vector3 axis = {0, 0, 1};
  std::optional<Vector3> first;  ///< direction from its centre to the first, across `axis`; none: any
  bool turned = false;           ///< their frames turn about the axis along with their places
};

/// A point of every fibre of a group that is held where it is at time zero, or led along from there.
struct Hold {
  std::string name;
  double at = 0.0;
  bool clamp = false;
  std::optional<Vector3> slide;
  bodies::Motion motion;
  std::optional<double> release;
};

/// A length that becomes `factor` times the given one.
struct Growth {
  double factor = 1.0;  ///< 1: it does not grow
  double begin = 0.0;
  double end = 0.0;
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

/// A stretch of a fibre with a friction of its own.
struct FrictionRegion {
  std::optional<double> to;  ///< arc length where it ends; none: the tip, or if none has it, equal parts [m]
  double friction = 0.0;
  std::optional<double> kinetic;  ///< of what slides; none: the same
};

enum class RodModel { super_helix, super_clothoid, discrete_elastic_rod, mass_spring };

struct FibreGroup {
  std::string name;  ///< unique
  RodModel model = RodModel::super_helix;
  std::string material_name;  ///< key of friction pairs
  rods::Material material;
  std::vector<double> element_lengths;       ///< (N) > 0 [m]
  std::vector<rods::CrossSection> sections;  ///< (N)
  std::vector<Vector3> natural_curvature;    ///< (curvature_count()) (twist, k1, k2) [1/m]
  double natural_curvature_onset = 0.0;      ///< the natural curvature grows from the initial one until this time [s]
  Growth growth;
  std::vector<Vector3> initial_curvature;       ///< (curvature_count()) [1/m]
  std::vector<Vector3> initial_curvature_rate;  ///< (curvature_count()) [1/(m s)]
  Root root;
  std::vector<Hold> holds;
  Grid grid;
  std::optional<Cap> cap;    ///< instead of the grid
  std::optional<Ring> ring;  ///< instead of the grid
  /// Where not empty, the fibres of the group; the fields above that a strand has are then those of the first. Without
  /// holds, branches, grid, cap and ring.
  std::vector<Strand> strands;
  /// Numbers of fibres of the group that are not there, ascending. They count from 0 over grid, cap, ring or strands;
  /// over branches by parents, place by place, as if none were left out.
  std::vector<int> leave_out;
  double drag = 0.0;
  std::vector<FrictionRegion> friction;
  Location location;
  std::vector<Remark> remarks;  ///< of the import that its strands come from; a resolved scene has none
};

/// The group that strand `index` of `group` would be by itself.
FibreGroup strand_group(const FibreGroup& group, std::size_t index);

/// Of a fibre of a group, by its number in it. (N)
const std::vector<rods::CrossSection>& sections(const FibreGroup& group, int member);

/// How many fibres each group has before any are left out: its strands, its grid's, cap's or ring's, or a branch at
/// every place of every fibre of the parent. Parents that stand nowhere before have none. A double, since a scene's
/// mistakes may overflow.
std::vector<double> fibre_counts(const std::vector<FibreGroup>& groups);

/// How many copies its grid, cap or ring has.
int copy_count(const FibreGroup& group);

/// Index of the group that `groups[index]` grows on, -1 when none before it has that name.
int parent_index(const std::vector<FibreGroup>& groups, std::size_t index);

/// Most unknowns that `count` fibres of the group, or its strands, can have.
double unknown_count(const FibreGroup& group, double count);

/// Of one fibre, with strands the first. [m]
double length(const FibreGroup& group);

/// How many curvatures a fibre has: one an element, or with super-clothoids one a node.
std::size_t curvature_count(RodModel model, std::size_t elements);
/// Whether the unknowns of a model are curvatures, which a rod needs to grow and to carry branches.
bool curvature_model(RodModel model);

/// Where the triangles of a mesh come from.
struct MeshFile {
  std::string file;  ///< absolute; with # for the digits of a frame's number if it is animated
  double unit = 1.0;
  UpAxis up = UpAxis::z;
  Vector3 position = {0, 0, 0};
  bool animated = false;
  int first = 0;
  int last = 0;
  double rate = 24.0;
  std::string checksum;  ///< of all the files' bytes
};

/// An obstacle and where its table starts in the file.
struct Obstacle {
  bodies::Obstacle body;
  MeshFile mesh;  ///< of a mesh
  Location location;
};

/// Coefficients between materials.
struct PairTable {
  double default_coefficient = 0.0;
  std::map<std::pair<std::string, std::string>, double> pairs;  ///< by material name, both orders present
  double coefficient(const std::string& a, const std::string& b) const;
};
struct FrictionTable : PairTable {};
struct RestitutionTable : PairTable {};
/// Of what slides: what is not given is as of what sticks.
struct KineticFrictionTable {
  std::optional<double> default_coefficient;
  std::map<std::pair<std::string, std::string>, double> pairs;  ///< by material name, both orders present
  /// At most `friction`, that of the pair that sticks.
  double coefficient(const std::string& a, const std::string& b, double friction) const;
};

/// Softness of a penalty law.
struct ContactPenalty {
  double distance_tolerance = 1e-5;  ///< delta [m]
  double slip_velocity = 1e-4;       ///< nu [m/s]
  std::optional<double> stiffness;   ///< none: adaptive [N/m]
  double tolerance = 1e-6;
  int max_iterations = 30;
};

/// What gap two bodies that touch when a run begins are to have.
enum class ContactReference {
  touch,    ///< none: they are pushed apart where they overlap
  initial,  ///< the one that they have, until they have opened once
};

struct Contact {
  laws::Law law = laws::Law::coulomb;
  assembly::ContactAt at = assembly::ContactAt::surface;
  geometry::DetectionMethod detection = geometry::DetectionMethod::certified;
  double tolerance = 1e-12;
  int proxy_segments = 100;
  int stations = 1;
  std::optional<double> margin;
  std::optional<double> restitution_threshold;
  ContactReference reference = ContactReference::touch;
  double push_out_speed = 0.02;
  bool self_contact = true;
  bool fibre_contact = true;
  std::optional<double> overlap;
  std::optional<int> relinearisations;
  int max_relinearisations = 4;
  int max_halvings = 4;
  ContactPenalty penalty;
};

/// The viscous fluid that all fibres are in.
struct Fluid {
  double viscosity = 0.0;  ///< 0: there is none [Pa s]
  double regularisation = 1.02;
  double density = 1000.0;  ///< for the Reynolds number alone [kg/m^3]
  fluid::Coupling coupling = fluid::Coupling::collocation;
  double tolerance = 1e-5;
};

struct FrictionSolver {
  friction::Solver name = friction::Solver::hybrid_gauss_seidel;
  std::optional<int> facets;  ///< of a pyramid by friction::solve_faceted(), which does not read `name`
  double tolerance = 1e-12;
  int max_iterations = 2000;
};

/// What blows at fibres: a mean, and what a gust adds at its height.
struct Wind {
  Vector3 mean = {0, 0, 0};
  Vector3 gust = {0, 0, 0};
  double period = 1.0;
};

struct Simulation {
  double time_step = 1e-3;  ///< of a file without one choose_time_step()'s
  double duration = 1.0;
  Vector3 gravity = {0, 0, -9.81};
  Wind wind;
  std::uint64_t seed = 1;
  dynamics::Scheme scheme = dynamics::Scheme::carried;
  double theta = 1.0;
  std::optional<double> step_error;
  double nonlinear_tolerance = 1e-10;
  int max_nonlinear_iterations = 50;
};

struct Output {
  int every = 10;
  int checkpoint_every = 1000;
  int points_per_element = 8;
};

/// Statics: `tresse static`.
struct Statics {
  double tolerance = 1e-10;
  int max_iterations = 200;
  int load_steps = 10;
};

struct Scene {
  std::string title;
  Simulation simulation;
  Contact contact;
  Fluid fluid;
  FrictionTable friction;
  KineticFrictionTable friction_kinetic;
  RestitutionTable restitution;
  FrictionSolver solver;
  Output output;
  Statics statics;
  std::vector<FibreGroup> fibres;
  std::vector<Obstacle> obstacles;
  std::vector<Surface> surfaces;
  std::optional<Grains> grains;
};

/// Index of the obstacle that a group's roots are embedded in, -1: none.
int embedding_obstacle(const Scene& scene, const FibreGroup& group);

/// Of the fibres; without fibres of the free bodies; without those half the thickness of surfaces. [m]
double smallest_radius(const Scene& scene);

/// Whether an obstacle is free: then a scene needs no fibres.
bool has_free_bodies(const Scene& scene);

/// Checks every range of the lists and what has to fit together; throws InvalidInput naming the field.
void validate(const Scene& scene);

}  // namespace tresse::scene

namespace tresse {

template <>
struct Words<scene::RodModel> {
  static constexpr std::array<std::string_view, 4> list{"super-helix", "super-clothoid", "discrete-elastic-rod",
                                                        "mass-spring"};
};

template <>
struct Words<scene::ContactReference> {
  static constexpr std::array<std::string_view, 2> list{"touch", "initial"};
};

template <>
struct Words<scene::UpAxis> {
  static constexpr std::array<std::string_view, 2> list{"z", "y"};
};

}  // namespace tresse
