#pragma once

#include <array>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <tresse/assembly/contact_law.hpp>
#include <tresse/assembly/load.hpp>
#include <tresse/base/body_id.hpp>
#include <tresse/base/enum_words.hpp>
#include <tresse/bodies/rigid_body.hpp>
#include <tresse/fluid/resistance.hpp>
#include <tresse/grains/medium.hpp>
#include <tresse/rods/rod.hpp>
#include <tresse/surfaces/surface.hpp>

namespace tresse::assembly {

/// Where a branch grows: its root frame is fixed in the material frame of its parent at local arc length u of a piece.
struct Attachment {
  int parent = -1;  ///< fibre, standing before the branch; -1: none, the fibre is a trunk
  int piece = 0;
  double u = 0.0;  ///< of the material, 0 to the length of the piece [m]
  Pose frame;      ///< of the branch's root, in the axes of that material frame and from its point
};

/// The part of a fibre from its root that is set into an obstacle, and does not touch it.
struct Embedding {
  int obstacle = -1;     ///< of World::obstacles; -1: none
  int piece = 0;         ///< where the fibre comes out
  double share = 0.0;    ///< of that piece, 0 to 1
  bool divided = false;  ///< that piece and the next are one element of the scene, which is in two here
};

/// Length that changes linearly from one time to another, every element's by the same factor.
struct Growth {
  double final_scale = 1.0;  ///< > 0 [-]
  double begin = 0.0;        ///< [s]
  double end = 0.0;          ///< >= begin [s]
};

/// A stretch of a fibre that rubs in its own way, whatever it touches.
struct FrictionRegion {
  double end = 1.0;       ///< where it ends, of the fibre's length from the root; 0 to 1 [-]
  double friction = 0.0;  ///< >= 0 [-]
  double kinetic = 0.0;   ///< of what slides; 0 to `friction` [-]
};

/// One fibre of the world.
struct Fibre {
  std::shared_ptr<const rods::RodModel> model;
  Pose root;                           ///< reference pose of a clamped root
  bodies::Motion root_motion;          ///< clamped roots only
  Vector3 root_arm = Vector3::Zero();  ///< to `root` from what `root_motion` turns about, at time zero (3) [m]
  Attachment attachment;               ///< carried roots only
  Embedding embedding;                 ///< clamped roots only
  int group = 0;                       ///< index of the scene's fibre group
  int member = 0;                      ///< number of the fibre in it
  int material = 0;                    ///< of World::law
  double drag = 0.0;                   ///< how much it resists the air: Load::drag() [N s/m^2]
  /// What the step matrix takes of the fluid's resistance; see immerse() [N s/m^2]
  double fluid_drag = 0.0;
  VectorX first_rest_curvature;  ///< (m) at time zero, used when rest_onset > 0 [1/m]
  VectorX last_rest_curvature;   ///< (m) from rest_onset on [1/m]
  double rest_onset = 0.0;       ///< the natural shape grows linearly until this time; >= 0 [s]
  Growth growth;
  std::vector<FrictionRegion> friction;  ///< from the root on, `end` ascending; beyond the last as the material's
};

inline bool clamped(const Fibre& fibre) { return fibre.model->root_condition() == rods::RootCondition::clamped; }

/// How much longer than made a fibre is at `time`.
double length_scale_at(const Fibre& fibre, double time);
/// Gives a rod of a fibre the natural curvatures and the length of `time`; update it next.
void set_natural_shape(const Fibre& fibre, double time, rods::Rod& rod);
/// Whether its natural shape or its length changes between two times.
bool grows(const Fibre& fibre, double begin, double end);

/// The natural curvatures of a fibre at `time`, (m) [1/m]. Only for rest_onset > 0.
VectorX rest_curvature_at(const Fibre& fibre, double time);

/// A point of a fibre whose motion is prescribed: a clip, a gripper, a pin.
struct Hold {
  std::string name;
  int fibre = 0;
  int piece = 0;
  double share = 0.0;               ///< of the piece, 0 to 1
  bool clamped = false;             ///< its material frame too
  Vector3 slide = Vector3::Zero();  ///< unit axis along which it may go, at time zero; zero: none (3) [-]
  Pose pose;                        ///< at time zero
  double compliance = 0.0;          ///< int ds / EA to it, what a stiff fibre would give; 0: slides along it [m/N]
  bodies::Motion motion;
  std::optional<double> release;  ///< it lets go then; none: never [s]
};

/// Where a hold wants its point and, if clamped, its frame at `time`.
Pose hold_pose(const Hold& hold, double time);

/// An obstacle that moves freely.
struct FreeBody {
  int obstacle = 0;  ///< of World::obstacles
  bodies::Solid solid;
  bodies::BodyState start;
};

/// Vertices of a cloth whose motion is prescribed.
struct ClothPins {
  std::string name;
  std::vector<int> vertices;            ///< ascending
  std::vector<Vector3> places;          ///< (vertices)(3) at time zero [m]
  Vector3 reference = Vector3::Zero();  ///< point that rotations turn about (3) [m]
  bodies::Motion motion;
  std::optional<double> release;  ///< they let go then; none: never [s]
};

/// Where the i-th vertex of pins is to be at `time`. (3) [m]
Vector3 pinned_place(const ClothPins& pins, std::size_t i, double time);

/// A body that is a surface. What follows the model is of cloth, which alone touches obstacles.
struct SurfaceBody {
  std::string name;
  std::shared_ptr<const surfaces::Surface> model;  ///< not null
  double radius = 0.0;                             ///< of the ball around each vertex that touches; >= 0 [m]
  int material = 0;                                ///< of World::law
  std::vector<ClothPins> pins;
};

/// Where a contact acts on a fibre: docs/theory/surface_contact.md.
enum class ContactAt {
  surface,     ///< at the surface, so that friction twists what can twist
  centreline,  ///< as if the fibre had no thickness
};

/// A viscous fluid that all fibres are in, at rest far away, so slow or thick that its inertia does not count.
struct Fluid {
  double viscosity = 0.0;        ///< > 0 [Pa s]
  double regularisation = 1.02;  ///< over what radius a fibre spreads its forces, of its own; > 0 [-]
  fluid::Coupling coupling = fluid::Coupling::collocation;
};

/// Fibres, obstacles and the surroundings they share: what does not change while they move. Built from a scene;
/// everything that steps or solves reads it. Kinematics says where it all is.
struct World {
  std::vector<Fibre> fibres;
  std::vector<bodies::Obstacle> obstacles;
  std::vector<int> obstacle_material;  ///< (obstacles) of `law`
  std::vector<FreeBody> free_bodies;   ///< those of `obstacles` with a mass, in their order: find_free_bodies()
  std::vector<Hold> holds;
  std::vector<SurfaceBody> surfaces;
  std::optional<grains::Medium> grains;  ///< around those of `obstacles` that are at rest; its indices are theirs
  std::vector<std::shared_ptr<const Load>> loads{std::make_shared<Air>()};  ///< not null
  std::optional<Fluid> fluid;                                               ///< set by immerse()
  std::shared_ptr<const ContactLaw> law;  ///< between materials; not null where bodies touch
  int stations = 1;                       ///< points that an element of a fibre has on a line of contact; >= 0
  ContactAt contact_at = ContactAt::surface;
};

/// Of fibres and obstacles.
std::set<int> materials_in_use(const World& world);

/// Replaces the load of this kind, or adds one.
template <class OneLoad>
void set_load(World& world, OneLoad load) {
  std::erase_if(world.loads, [](const auto& other) { return dynamic_cast<const OneLoad*>(other.get()) != nullptr; });
  world.loads.push_back(std::make_shared<OneLoad>(std::move(load)));
}
/// Sums of what the loads say, see Load.
Vector3 gravity_of(const World& world);
Vector3 wind_at(const World& world, double time);
double drag_of(const World& world, int fibre);
/// drag_of() and Fibre::fluid_drag: what the step matrix has. [N s/m^2]
double implicit_drag(const World& world, int fibre);
/// Puts the fibres into a fluid. The step matrix takes a drag of each point alone, which is about as much as the motion
/// that the fluid resists most; the rest of the fluid's force is iterated. Throws InvalidInput for numbers out of
/// range.
void immerse(World& world, const Fluid& fluid);

/// Pose of a clamped root at `time`.
Pose root_pose(const Fibre& fibre, double time);

/// Mean rigid velocity that brings pose `from` to pose `to` in `dt`; the angular part is the rotation vector over dt.
Twist mean_twist(const Pose& from, const Pose& to, double dt);

/// Pose of the frame of an obstacle whose motion is prescribed, at `time`: origin at its moved reference point.
Pose obstacle_pose(const bodies::Obstacle& obstacle, double time);

/// The obstacles with a mass, as they start. Throws InvalidInput where a shape cannot be free or the reference is not
/// the centre of mass.
std::vector<FreeBody> find_free_bodies(const std::vector<bodies::Obstacle>& obstacles);
/// Which of World::free_bodies an obstacle is, -1: none, its motion is prescribed.
int free_body_of(const World& world, int obstacle);

/// A point of the reference configuration, moved with the obstacle to `pose` = obstacle_pose(obstacle, t).
Vector3 moved(const bodies::Obstacle& obstacle, const Pose& pose, const Vector3& reference_point);
/// Likewise of a curve.
geometry::Curve moved(const bodies::Obstacle& obstacle, const Pose& pose, const geometry::Curve& reference_curve);

/// The identity of one of World::obstacles.
BodyId obstacle_id(const World& world, int obstacle);
/// The number of a body in the contact geometry, where bodies stand in the order of their identities, and the body of a
/// number.
int body_number(const World& world, BodyId body);
BodyId body_of_number(const World& world, int number);

/// Energy that is little for this world, whatever moves in it: each weight lifted by its radius, and motions of a
/// billionth of a length in a step `dt`. [J]
double energy_floor(const World& world, double dt);

}  // namespace tresse::assembly

namespace tresse {

template <>
struct Words<assembly::ContactAt> {
  static constexpr std::array<std::string_view, 2> list{"surface", "centreline"};
};

}  // namespace tresse
