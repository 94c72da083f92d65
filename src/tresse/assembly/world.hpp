#pragma once

#include <memory>
#include <string>
#include <vector>

#include <tresse/bodies/rigid_body.hpp>
#include <tresse/contact/pieces.hpp>
#include <tresse/rods/rod.hpp>

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

/// A rod that is copied with the fibre that it belongs to.
class OwnRod {
 public:
  OwnRod() = default;
  OwnRod(std::unique_ptr<rods::Rod> rod) : rod_(std::move(rod)) {}  // NOLINT(google-explicit-constructor)
  OwnRod(const OwnRod& other) : rod_(other.rod_ ? other.rod_->clone() : nullptr) {}
  OwnRod(OwnRod&&) noexcept = default;
  OwnRod& operator=(OwnRod&&) noexcept = default;
  OwnRod& operator=(const OwnRod& other) { return *this = OwnRod(other); }
  ~OwnRod() = default;

  rods::Rod& operator*() const { return *rod_; }
  rods::Rod* operator->() const { return rod_.get(); }

 private:
  std::unique_ptr<rods::Rod> rod_;
};

/// One fibre of the world.
struct Fibre {
  OwnRod rod;                          ///< model and kinematics of the last update
  Pose root;                           ///< reference pose of a clamped root
  bodies::Motion root_motion;          ///< clamped roots only
  Vector3 root_arm = Vector3::Zero();  ///< to `root` from what `root_motion` turns about, at time zero (3) [m]
  Attachment attachment;               ///< carried roots only
  Embedding embedding;                 ///< clamped roots only
  int group = 0;                       ///< index of the scene's fibre group
  int member = 0;                      ///< number of the fibre in it
  int material = 0;                    ///< row of World::friction
  double drag = 0.0;                   ///< [N s/m^2]
  VectorX first_rest_curvature;        ///< (m) at time zero, used when rest_onset > 0 [1/m]
  VectorX last_rest_curvature;         ///< (m) from rest_onset on [1/m]
  double rest_onset = 0.0;             ///< the natural shape grows linearly until this time; >= 0 [s]
  Growth growth;
};

inline bool clamped(const Fibre& fibre) { return fibre.rod->root_condition() == rods::RootCondition::clamped; }

/// How much longer than made a fibre is at `time`.
double length_scale_at(const Fibre& fibre, double time);
/// Gives a fibre's rod the natural curvatures and the length of `time`; update it next.
void set_natural_shape(Fibre& fibre, double time);
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
  double compliance = 0.0;          ///< int ds / EA to it, what a fibre that cannot stretch would give; >= 0 [m/N]
  bodies::Motion motion;
  double release = 1e300;  ///< it lets go then [s]
};

/// Where a hold wants its point and, if clamped, its frame at `time`.
Pose hold_pose(const Hold& hold, double time);

/// An obstacle that moves freely.
struct FreeBody {
  int obstacle = 0;  ///< of World::obstacles
  bodies::Solid solid;
  bodies::BodyState state;  ///< of the last update
};

/// Fibres, obstacles and the surroundings they share. Built from a scene; everything that steps or solves works on it.
struct World {
  std::vector<Fibre> fibres;
  std::vector<bodies::Obstacle> obstacles;
  std::vector<int> obstacle_material;  ///< (obstacles) row of `friction`
  std::vector<FreeBody> free_bodies;   ///< those of `obstacles` with a mass, in their order: find_free_bodies()
  std::vector<Hold> holds;
  MatrixX friction;                   ///< coefficient by pair of materials, symmetric [-]
  Vector3 gravity = Vector3::Zero();  ///< (3) [m/s^2]
  Vector3 wind = Vector3::Zero();     ///< (3) of the air between gusts [m/s]
  Vector3 gust = Vector3::Zero();     ///< (3) what a gust adds at its height [m/s]
  double gust_period = 0.0;           ///< from one gust to the next; > 0 with a gust [s]
};

/// Local arc length of the material that a hold holds, on its piece. [m]
double held_parameter(const World& world, const Hold& hold);
/// Its arc length from the root. [m]
double held_arc_length(const World& world, const Hold& hold);

/// Velocity of the air: gusts rise and fall as a raised cosine, the first from time zero. (3) [m/s]
Vector3 wind_at(const World& world, double time);

/// Pose of a clamped root at `time`.
Pose root_pose(const Fibre& fibre, double time);

/// Mean rigid velocity that brings pose `from` to pose `to` in `dt`; the angular part is the rotation vector over dt.
Twist mean_twist(const Pose& from, const Pose& to, double dt);

/// Pose of the frame of an obstacle whose motion is prescribed, at `time`: origin at its moved reference point.
Pose obstacle_pose(const bodies::Obstacle& obstacle, double time);
/// The same of any obstacle of the world: a free one is where it was last updated.
Pose obstacle_pose(const World& world, int obstacle, double time);

/// The obstacles with a mass, as they start. Throws InvalidInput where a shape cannot be free or the reference is not
/// the centre of mass.
std::vector<FreeBody> find_free_bodies(const std::vector<bodies::Obstacle>& obstacles);
/// Which of World::free_bodies an obstacle is, -1: none, its motion is prescribed.
int free_body_of(const World& world, int obstacle);

/// A point of the reference configuration, moved with the obstacle to `pose` = obstacle_pose(obstacle, t).
Vector3 moved(const bodies::Obstacle& obstacle, const Pose& pose, const Vector3& reference_point);

/// Which body of the contact geometry an obstacle is: fibres come first, then free bodies, then other obstacles.
int obstacle_body(const World& world, int obstacle);
/// The inverse, for bodies that are no fibres.
int obstacle_of_body(const World& world, int body);

/// How far a vertex of a mesh goes in its own axes until `time`, at most. [m]
double farthest_vertex(const bodies::Mesh& shape, const contact::Mesh& now, double time);

/// The world as tubes, planes and meshes: fibres and free bodies where their last update left them, other obstacles at
/// `time`. Reaches are zero. Reuses the storage of `out`.
void contact_geometry(const World& world, double time, contact::Geometry& out);

/// Energy that is little for this world, whatever moves in it: each weight lifted by its radius, and motions of a
/// billionth of a length in a step `dt`. [J]
double energy_floor(const World& world, double dt);

}  // namespace tresse::assembly
