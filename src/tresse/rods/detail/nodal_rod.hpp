#pragma once

#include <vector>

#include <tresse/rods/detail/banded_step_matrix.hpp>
#include <tresse/rods/detail/bend_stencil.hpp>
#include <tresse/rods/detail/nodal_model.hpp>

namespace tresse::rods::detail {

/// What rods of nodes joined by edges share: masses lumped at nodes, edges that stretch, contact on edges, the banded
/// assembly of joints. Coordinates from root to tip, (x_0 when free,) then of each edge an angle, where the model has
/// one, and the node at its end. How a joint bends is the model's. Kinematics may be read by several threads between
/// updates; forces and matrices by one.
class NodalRod : public BandedRod {
 public:
  double length() const override { return made_.length(); }
  double mass() const override { return made_.mass(); }
  const VectorX& rest_curvature() const override { return rest_; }
  void set_rest_curvature(const VectorX& rest) override;
  VectorX curvature() const override;
  RodState shaped(const Pose& root, const Twist& root_velocity, const VectorX& curvature,
                  const VectorX& curvature_rate) const override;
  VectorX curved_displacement(const VectorX& step) const override;
  bool within_reach(const RodState& state, const Eigen::Ref<const VectorX>& v, double dt) const override;

  double piece_begin(int piece) const override { return made_.piece_begin(piece); }
  geometry::Curve piece(int piece) const override;
  void update(const RodState& state) override;
  const RodState& state() const override { return state_; }
  geometry::MaterialSpan span(int piece) const override;
  RodSection section(double s) const override;
  Vector3 velocity(int piece, double u, const Eigen::Ref<const VectorX>& v) const override;
  void end_velocities(const Eigen::Ref<const VectorX>& v, Eigen::Ref<Matrix3X> out) const override;
  void end_positions(Eigen::Ref<Matrix3X> out) const override;
  void add_end_forces(const Eigen::Ref<const Matrix3X>& forces, Eigen::Ref<VectorX> into) const override;
  using Rod::jacobian;
  int jacobian(int piece, double u, Eigen::Ref<Matrix3X> out) const override;

  int half_bandwidth() const override { return 2 * made_.stride + 2; }
  void mass_times(const VectorX& v, VectorX& out) const override { out = made_.inertia.cwiseProduct(v); }
  void add_mass(BandedReverseCholesky& into) const override;
  void add_step_terms(const StepTerms& terms, BandedReverseCholesky& into) const override;
  void clamp_hessian() const override;

  void add_stiffness_times(double scale, const VectorX& x, Eigen::Ref<VectorX> into) const override;
  void elastic_metric(Eigen::Ref<MatrixX> out) const override;
  void elastic_force(Eigen::Ref<VectorX> out) const override;
  void resistance(double drag, const VectorX& v, Eigen::Ref<VectorX> out) const override;
  void gravity_force(const Vector3& gravity, Eigen::Ref<VectorX> out) const override;
  void inertial_and_external_force(const RodLoads& loads, Eigen::Ref<VectorX> out) const override;

  double elastic_energy() const override;
  RodEnergies energies(const Vector3& gravity) const override;
  RodMotion motion() const override;
  void momentum(Vector3& linear, Vector3& angular) const override;
  void potential_hessian(const Vector3& gravity, Eigen::Ref<MatrixX> out) const override;
  void potential_gradient(const Vector3& gravity, Eigen::Ref<VectorX> out) const override;
  RestShape rest_shape_under(const Eigen::Ref<const VectorX>& load) const override;

 protected:
  using Nodes = std::vector<Vector3>;
  using StrainRows = Eigen::Matrix<double, 3, 8>;

  explicit NodalRod(std::shared_ptr<const NodalModel> model);

  // How the model bends; a joint is i, an edge j.
  virtual double joint_energy(int i) const = 0;    ///< [J]
  virtual Vector3 joint_force(int i) const = 0;    ///< derivative of its energy over its strains [N m]
  virtual Matrix8 joint_hessian(int i) const = 0;  ///< over its 8 variables, exact
  /// Strains whose rates are damped, over the joint's 8 variables; the stiffness times the damping time resists them.
  virtual StrainRows damped_strains(int i) const = 0;
  /// Directions among the strains in which natural ones may push, its columns, (3, 0 to 3).
  virtual Matrix3X free_strains(int i) const = 0;
  /// Whether a joint may have these natural strains, as free_strains() lead to them.
  virtual bool may_rest_at(int i, const Vector3& strain) const = 0;
  virtual Vector3 end_curvature(int i) const = 0;  ///< at the free end next to joint i, where there is no moment [1/m]
  /// Frames of edges and stencils of joints at state_ and nodes_, and the root pose of a free rod.
  virtual void update_frames() = 0;
  virtual Eigen::Index memory_size() const = 0;
  /// Keeps what the model knows of an edge beyond its ends, when a state is made of a shape.
  virtual void set_edge(int, const Matrix3&, const Vector3&, double, RodState&) const {}

  bool clamped() const { return made_.clamped(); }
  int count() const { return made_.piece_count(); }
  int first_joint() const { return made_.first_joint(); }
  bool has_angles() const { return made_.has_angles(); }
  Eigen::Index angle_at(int edge) const { return made_.angle_at(edge); }
  Eigen::Index node_at(int node) const { return made_.node_at(node); }
  Vector3 node_velocity(int node, const Eigen::Ref<const VectorX>& v) const;
  Nodes nodes_of(const RodState& state) const;
  void check_sizes(const RodState& state) const;
  EdgeFrame root_edge() const;  ///< the frame at s = 0, one long
  /// Pose and velocity of a free root, which is at s = 0, half an edge before the middle of the first edge, whose frame
  /// is `edge`. That half is curved as the rod is at the first node that bends, `bend`; none: it is straight. `spin`:
  /// of the edge about itself [rad/s].
  void set_free_root(const EdgeFrame& edge, double spin, const BendStencil* bend, RodState& state) const;
  /// Sets the natural shape and the state to those of the model; at the end of a rod's constructor.
  void start();

  const NodalModel& made_;             ///< the model
  VectorX rest_;                       ///< natural curvatures of the joints (k)
  std::vector<Vector3> rest_strains_;  ///< (N) of the joints [rad]

  RodState state_;
  Nodes nodes_;                        ///< (N + 1)
  std::vector<EdgeFrame> frames_;      ///< (N)
  std::vector<BendStencil> stencils_;  ///< (N)

 private:
  double edge_force(int edge) const;  ///< tension [N]
  const Matrix8& bend_hessian(int joint) const;
  Matrix3 stretch_hessian(int j) const;
  Vector8 edge_rates(int i, const Eigen::Ref<const VectorX>& v, bool prescribed) const;
  void add_joint(int i, const Vector8& y, Eigen::Ref<VectorX> into) const;
  template <typename Add>
  void for_each_entry(int i, const Matrix8& block, const Add& add) const;
  void damping_force(const Eigen::Ref<const VectorX>& v, bool prescribed, Eigen::Ref<VectorX> into) const;

  mutable bool clamped_hessian_ = false;
  mutable bool bent_ = false;  ///< hessians_ are of the current state
  mutable std::vector<Matrix8> hessians_;
};

}  // namespace tresse::rods::detail
