#pragma once

#include <array>
#include <memory>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include <tresse/base/enum_words.hpp>
#include <tresse/base/types.hpp>
#include <tresse/geometry/curves.hpp>
#include <tresse/geometry/material_span.hpp>
#include <tresse/rods/limb_matrix.hpp>
#include <tresse/rods/step_matrix.hpp>

namespace tresse::rods {

enum class RootCondition {
  clamped,  ///< pose prescribed, at rest or moving
  free,     ///< six more unknowns, the pose of the frame at s = 0
  carried,  ///< the same six, but the frame is fixed in a section of another rod: nothing is lumped there. Not alone:
            ///< its matrix may be singular
};

/// State of one rod. `coordinates` are the model's own, from root to tip: the discrete curvatures (twist, k1, k2) of a
/// super-helix's elements or of a super-clothoid's nodes, positions and twist angles of a nodal model. `root` is
/// prescribed when clamped and an unknown when free.
struct RodState {
  Pose root;
  Twist root_velocity;
  VectorX coordinates;  ///< (m) [1/m] for curvatures
  VectorX rates;        ///< (m) [1/(m s)] for curvatures
  VectorX memory;       ///< what advanced() carries along beside the coordinates; empty for curvatures
};

/// What acts on a rod besides elasticity and contact.
struct RodLoads {
  Vector3 gravity = Vector3::Zero();  ///< (3) [m/s^2]
  /// Prescribed acceleration of a clamped root (linear at r(0), angular); of a carried one, what it accelerates by when
  /// no unknown does. [m/s^2], [rad/s^2]
  Twist root_acceleration = {};
  double drag = 0.0;               ///< air drag per unit length and velocity, force -drag (r_t - wind) [N s/m^2]; >= 0
  Vector3 wind = Vector3::Zero();  ///< (3) [m/s]
  Twist root_velocity = {};        ///< of a carried root, what no unknown brings of its velocity [m/s], [rad/s]
};

/// Integrals over the whole rod of its velocity r_t, root motion included, about the world origin.
struct RodMotion {
  Vector3 velocity = Vector3::Zero();  ///< int r_t ds (3) [m^2/s]
  Vector3 angular = Vector3::Zero();   ///< int r x r_t ds (3) [m^3/s]
  Vector3 position = Vector3::Zero();  ///< int r ds (3) [m^2]
  double square = 0.0;                 ///< int |r_t|^2 ds [m^3/s^2]
};

/// Velocities of a rod's material, at points and sections that stay the same ones while the rod changes its shape.
struct MaterialMotion {
  std::vector<int> parts;       ///< (elements) in how many each was cut for the points
  std::vector<double> numbers;  ///< of the points and sections of all elements, in the model's own order [m/s], [1/s]
};

struct RodEnergies {
  double kinetic = 0.0;  ///< [J]
  double elastic = 0.0;  ///< [J]
  double gravity = 0.0;  ///< -int rho S g . r ds [J]
};

/// Internal force and moment that the part beyond s exerts on the part before it, and the local shape.
struct RodSection {
  double s = 0.0;        ///< arc length of the material [m]
  double stretch = 1.0;  ///< how many times as long as made the rod is there; 1 but for rods of nodes [-]
  Vector3 position;      ///< (3) [m]
  Matrix3 frame;         ///< (3, 3) columns n0 (tangent), n1, n2
  Vector3 curvature;     ///< (twist, k1, k2) [1/m]
  Vector3 moment;        ///< K3 (kappa - kappa_rest), material axes (twist, 1, 2) [N m]
};

/// A point of a rod, and three directions in which its motion is wanted. It belongs to the material of the section at
/// u, `arm` away from the axis, and turns with that section.
struct RodPoint {
  int piece = 0;
  double u = 0.0;                 ///< local arc length of the material [m]
  Matrix3 directions;             ///< columns, world axes (3, 3)
  Vector3 arm = Vector3::Zero();  ///< world axes (3); zero unless the model twists() [m]
};

/// A shape in which a rod has no stress.
struct RestShape {
  VectorX curvature;            ///< (k) as Rod::rest_curvature() [1/m]
  std::vector<double> lengths;  ///< (elements) of rods that stretch; empty: as made [m]
};

class Rod;

/// What a rod is made of. Immutable, and shared by all rods of one kind: fibres that differ in where they are and how
/// they move have one model. What is said of lengths and mass is as made; a rod that grew has others.
class RodModel : public std::enable_shared_from_this<RodModel> {
 public:
  virtual ~RodModel() = default;

  virtual RootCondition root_condition() const = 0;
  virtual int coordinate_count() const = 0;  ///< m
  virtual int root_dof() const { return root_condition() == RootCondition::clamped ? 0 : 6; }
  int dof() const { return root_dof() + coordinate_count(); }
  virtual int piece_count() const = 0;  ///< one an element
  /// The number of leading columns of dr/dv that are not zero on a piece.
  virtual int touched(int piece) const = 0;
  /// Whether the elastic force is linear in the coordinates. If not, a step solves the free motion by Newton.
  virtual bool linear_elasticity() const { return true; }
  /// Where an element is held best at one point: at its nodes, or at its middle, where an element is a quadratic spline
  /// of the centreline (its curvature is the same all along). Held at the others it would swing from node to node.
  virtual bool stations_at_nodes() const { return true; }
  /// Whether its sections turn about the tangent, so that a force off the axis has a moment. If not, all acts on the
  /// axis.
  virtual bool twists() const { return true; }
  virtual double length() const = 0;                ///< [m]
  virtual double piece_begin(int piece) const = 0;  ///< arc length of a piece's first point [m]
  virtual double mass() const = 0;                  ///< [kg]
  virtual double contact_radius() const = 0;        ///< [m]; an elliptic section's largest half-axis
  /// How far the surface is from the axes of twist, k1 and k2, at most over the rod: half-axes of the section (largest,
  /// 2, 1). A curvature times this is the strain of the surface. [m]
  virtual Vector3 surface_reach() const = 0;
  /// Natural curvatures, (twist, k1, k2) by element or node as the model has them. (k) [1/m]
  virtual const VectorX& rest_curvature() const = 0;
  /// rest_curvature() of the shape whose elements have these curvatures, (3 piece_count()) -> (k).
  virtual VectorX curvature_of_elements(const VectorX& elements) const { return elements; }
  /// The same rod with other natural curvatures, (k) [1/m].
  virtual std::shared_ptr<const RodModel> with_rest_curvature(const VectorX& rest) const = 0;
  /// The same rod with elements that are made as long as these, (elements) [m]; natural curvatures stay. Throws
  /// InvalidInput for a model that does not stretch.
  virtual std::shared_ptr<const RodModel> with_lengths(const std::vector<double>& lengths) const;

  /// A rod of this model in its natural shape, its root at the origin.
  virtual std::unique_ptr<Rod> make_rod() const = 0;
  /// The factored implicit matrix that suits this rod's structure and size.
  virtual std::unique_ptr<StepMatrix> make_step_matrix() const;
  /// This rod's part in the factor of a tree, with rods that grow on it at `places`, in order of their pieces. Throws
  /// InvalidInput for a model that carries no branches.
  virtual std::unique_ptr<LimbMatrix> make_limb_matrix(std::span<const LimbPlace> places) const;
};

/// A rod of a model in one state: the kinematics of its last update(). Unknown velocities v, dof() of them: the rates
/// of the coordinates; for a free root before them, where root_dof() is 6, the linear velocity of r(0) and the angular
/// velocity of the root frame, both in world axes. Discrete dynamics, bertails2018hdr eq. (2.8):
///   M v' + gradient(elastic) + damping + G + A = external.
/// Arc lengths, from the root or local ones of a piece, are those of the material, of the rod as it was made: they name
/// the same point whatever the rod's shape. Rods of nodes stretch, and the parameter of a piece's curve, which is arc
/// length as it is now, differs from them: span() converts.
/// Not thread-safe; one object per fibre.
class Rod {
 public:
  virtual ~Rod() = default;

  const std::shared_ptr<const RodModel>& model() const { return model_; }
  RootCondition root_condition() const { return model_->root_condition(); }
  int coordinate_count() const { return model_->coordinate_count(); }  ///< m
  int root_dof() const { return model_->root_dof(); }
  int dof() const { return model_->dof(); }
  int piece_count() const { return model_->piece_count(); }
  int touched(int piece) const { return model_->touched(piece); }
  bool linear_elasticity() const { return model_->linear_elasticity(); }
  double contact_radius() const { return model_->contact_radius(); }  ///< [m]
  Vector3 surface_reach() const { return model_->surface_reach(); }   ///< [m]
  VectorX curvature_of_elements(const VectorX& elements) const { return model_->curvature_of_elements(elements); }
  std::unique_ptr<StepMatrix> make_step_matrix() const { return model_->make_step_matrix(); }
  std::unique_ptr<LimbMatrix> make_limb_matrix(std::span<const LimbPlace> places) const {
    return model_->make_limb_matrix(places);
  }

  virtual std::unique_ptr<Rod> clone() const = 0;
  virtual double length() const = 0;  ///< [m]
  virtual double mass() const = 0;    ///< [kg]
  /// Natural curvatures, the model's unless they were set; curvature() are those of the state.
  virtual const VectorX& rest_curvature() const = 0;  ///< (k) [1/m]
  /// Changes the natural shape: curls that set in, growth. (k) [1/m]
  virtual void set_rest_curvature(const VectorX& rest) = 0;
  /// Grows: every element becomes `scale` times as long as it was made, with the same section; the coordinates stay.
  /// Call update() next. Throws InvalidInput for a model that cannot.
  virtual void set_length_scale(double scale);
  /// Works from now on in the memory of a rod of its kind, and in its own where `other` is of another kind. Rods that
  /// share memory may still be used by several threads, each rod by one.
  virtual void share_memory(const Rod& other);
  virtual VectorX curvature() const = 0;  ///< (k) [1/m]
  /// The state that these curvatures and their rates are, (k). `root` and its velocity as in RodState.
  virtual RodState shaped(const Pose& root, const Twist& root_velocity, const VectorX& curvature,
                          const VectorX& curvature_rate) const = 0;
  /// State after a step from `state`: coordinates += dt * rates; a free root moves by the exponential map with v's
  /// first six entries; a clamped root takes `next_root` and `root_velocity` over.
  virtual RodState advanced(const RodState& state, const Eigen::Ref<const VectorX>& v, double dt, const Pose& next_root,
                            const Twist& root_velocity) const;
  /// Whether that state is worth going on from: overflow is near, and searching contacts without end, once a fibre
  /// winds up by 1e4 radians or flies a thousand times its length in one step.
  virtual bool within_reach(const RodState& state, const Eigen::Ref<const VectorX>& v, double dt) const;

  /// Arc length of a piece's first point; piece_begin(piece_count()) == length(). [m]
  virtual double piece_begin(int piece) const = 0;
  /// Smooth pieces of the centreline, one an element, in order from the root.
  virtual geometry::Curve piece(int piece) const = 0;
  /// The lengths of a piece's material and of its curve, and how to come from one to the other.
  virtual geometry::MaterialSpan span(int piece) const = 0;

  /// Sets the state and computes the kinematics that every function below uses.
  virtual void update(const RodState& state) = 0;
  virtual const RodState& state() const = 0;

  /// At arc length `s`; what lies beyond an end is that end.
  virtual RodSection section(double s) const = 0;
  /// Velocity of the material point at local arc length `u` of `piece` for generalised velocities v (dof), plus the
  /// clamped root's own motion.
  virtual Vector3 velocity(int piece, double u, const Eigen::Ref<const VectorX>& v) const = 0;
  /// velocity() at the piece_count() + 1 ends of pieces at once, (3, piece_count() + 1).
  virtual void end_velocities(const Eigen::Ref<const VectorX>& v, Eigen::Ref<Matrix3X> out) const = 0;
  /// Where these ends are, (3, piece_count() + 1). [m]
  virtual void end_positions(Eigen::Ref<Matrix3X> out) const = 0;
  /// Adds the generalised force of forces at these ends, (3, piece_count() + 1), to one of (dof): the transpose of
  /// end_velocities().
  virtual void add_end_forces(const Eigen::Ref<const Matrix3X>& forces, Eigen::Ref<VectorX> into) const = 0;
  /// Angular velocity of the material there, the clamped root's own motion included; zero where the model does not
  /// twist. (3) [rad/s]
  virtual Vector3 angular_velocity(int piece, double u, const Eigen::Ref<const VectorX>& v) const;
  /// dr/dv at local arc length `u` of `piece`, (3, touched(piece) or more); writes and returns touched(piece) columns.
  virtual int jacobian(int piece, double u, Eigen::Ref<Matrix3X> out) const = 0;
  /// jacobian() of the material point `arm` away from the axis.
  int jacobian(int piece, double u, const Vector3& arm, Eigen::Ref<Matrix3X> out) const;
  /// Rows directions^T dr/dv of one to four points, an entry for each leading unknown: as many as the point that is
  /// touched most has, zero where a point has fewer. `prescribed`: directions^T of what a clamped root's own motion
  /// adds to the velocity. The bits of a point's rows depend on no other.
  virtual void point_rows(std::span<const RodPoint> points, std::span<FourRows> rows,
                          std::span<Vector3> prescribed) const;

  /// A displacement of the coordinates that starts out as `step` and turns what it turns without stretching it: where a
  /// search along `step` goes. (dof)
  virtual VectorX curved_displacement(const VectorX& step) const { return step; }
  /// Columns of dr/dv as jacobian() has them, above those of the angular velocity of the material frame there: its
  /// twist, (6, touched(piece) or more); writes and returns touched(piece) columns. Throws InvalidInput for a model
  /// that does not twist.
  virtual int twist_jacobian(int piece, double u, Eigen::Ref<Matrix6X> out) const;
  /// Acceleration of that frame at constant v, when the root (clamped or carried) has `root_acceleration`. Throws
  /// InvalidInput for a model that carries no branches.
  virtual Twist bias_acceleration(int piece, double u, const Twist& root_acceleration) const;

  virtual void mass_matrix(Eigen::Ref<MatrixX> out) const = 0;  ///< M, (dof, dof), both triangles
  /// Adds stiffness_scale * (elastic Hessian) + damping_scale * D to the matrix, (dof, dof).
  virtual void add_stiffness(double stiffness_scale, double damping_scale, Eigen::Ref<MatrixX> into) const = 0;
  /// Adds scale * (elastic Hessian) x, (dof).
  virtual void add_stiffness_times(double scale, const VectorX& x, Eigen::Ref<VectorX> into) const = 0;
  virtual void elastic_force(
      Eigen::Ref<VectorX> out) const = 0;  ///< -gradient of the elastic energy, (dof) [N m^2] for curvatures
  virtual void gravity_force(const Vector3& gravity, Eigen::Ref<VectorX> out) const = 0;  ///< -G, (dof)
  /// -(G + A) - int (dr/dv)^T drag (r_t* - wind) ds, where r_t* is the prescribed part of the velocity: the drag of the
  /// unknown part is -drag int (dr/dv)^T (dr/dv) ds v, see add_drag_matrix(). (dof)
  virtual void inertial_and_external_force(const RodLoads& loads, Eigen::Ref<VectorX> out) const = 0;
  /// Adds drag * int (dr/dv)^T (dr/dv) ds, (dof, dof).
  virtual void add_drag_matrix(double drag, Eigen::Ref<MatrixX> into) const = 0;

  /// How the material moves at the rates and the root velocity of the state. Throws InvalidInput for a model whose mass
  /// matrix does not depend on its shape.
  virtual void sample_motion(MaterialMotion& out) const;
  /// int (dr/dv)^T (rho (w + dt g - w*) - dt drag (w* - wind)) over the material, (dof): what velocities w, sampled
  /// where the rod had another shape, bring to a step that is linearised in this one. Of a clamped or carried root w*
  /// is the prescribed motion. The field that the unknowns can follow here and that is nearest to w in the norm of the
  /// kinetic energy has the momentum int (dr/dv)^T rho w: its energy is that of w at most.
  virtual void carried_momentum(const MaterialMotion& motion, const RodLoads& loads, double dt,
                                Eigen::Ref<VectorX> out) const;
  /// int rho w and int rho r x w of sampled velocities w, r where the material is in this shape.
  virtual void material_momentum(const MaterialMotion& motion, Vector3& linear, Vector3& angular) const;

  /// -(D + drag int (dr/dv)^T (dr/dv) ds) v, (dof). What a clamped root's own motion adds to either is a part of
  /// inertial_and_external_force().
  virtual void resistance(double drag, const VectorX& v, Eigen::Ref<VectorX> out) const;

  virtual double elastic_energy() const = 0;  ///< [J]
  virtual RodEnergies energies(const Vector3& gravity) const = 0;
  virtual RodMotion motion() const = 0;
  /// Linear and angular momentum about the world origin.
  virtual void momentum(Vector3& linear, Vector3& angular) const = 0;
  /// Hessian of elastic energy + gravity potential over the coordinates of a clamped rod, (m, m).
  virtual void potential_hessian(const Vector3& gravity, Eigen::Ref<MatrixX> out) const = 0;
  /// A positive definite form in which statics measure displacements and forces of a clamped rod: the elastic Hessian
  /// where that is constant, else its part without the stresses. (m, m)
  virtual void elastic_metric(Eigen::Ref<MatrixX> out) const;
  /// The natural shape with which the elastic force balances `load` (dof) where the rod is: bertails2018hdr eq. (4.3).
  /// Unknowns of a free or carried root are left to whoever asks. Of rods that stretch the stiffness is that of the
  /// present natural lengths. Throws InvalidInput where no natural shape does.
  virtual RestShape rest_shape_under(const Eigen::Ref<const VectorX>& load) const = 0;
  /// Gradient of the same potential, (dof).
  virtual void potential_gradient(const Vector3& gravity, Eigen::Ref<VectorX> out) const = 0;

 protected:
  explicit Rod(std::shared_ptr<const RodModel> model) : model_(std::move(model)) {}
  Rod(const Rod&) = default;
  Rod& operator=(const Rod&) = default;

 private:
  std::shared_ptr<const RodModel> model_;
};

/// The generalised velocity of a state, (dof).
VectorX generalised_velocity(const Rod& rod, const RodState& state);
void generalised_velocity(const Rod& rod, const RodState& state, VectorX& out);  ///< without an allocation
void set_generalised_velocity(const Rod& rod, const VectorX& v, RodState& state);

/// The piece of an arc length from 0 to the rod's length, and the local one. Where two pieces meet it is the first,
/// which fewer unknowns move. [m]
std::pair<int, double> piece_at(const RodModel& rod, double s);

}  // namespace tresse::rods

namespace tresse {

template <>
struct Words<rods::RootCondition> {
  static constexpr std::array<std::string_view, 2> list{"clamped", "free"};
};

}  // namespace tresse
