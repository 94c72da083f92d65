#pragma once

#include <vector>

#include <tresse/rods/detail/banded_step_matrix.hpp>
#include <tresse/rods/detail/bend_stencil.hpp>
#include <tresse/rods/discrete_elastic_rod.hpp>

namespace tresse::rods::detail {

/// What rods of nodes joined by edges share: masses lumped at nodes, edges that stretch, contact on edges, the banded
/// assembly of joints. Coordinates from root to tip, (x_0 when free,) then of each edge an angle, where the model has
/// one, and the node at its end. How a joint bends is the model's. Kinematics may be read by several threads between
/// updates; forces and matrices by one.
class NodalRod : public BandedRod {
 public:
  RootCondition root_condition() const override { return root_condition_; }
  int coordinate_count() const override { return first_ + stride_ * count(); }
  int root_dof() const override { return 0; }
  bool linear_elasticity() const override { return false; }
  double length() const override { return begin_.back(); }
  double mass() const override { return mass_; }
  double contact_radius() const override { return surface_reach_.x(); }
  Vector3 surface_reach() const override { return surface_reach_; }
  const VectorX& rest_curvature() const override { return rest_; }
  void set_rest_curvature(const VectorX& rest) override;
  VectorX curvature() const override;
  VectorX curvature_of_elements(const VectorX& elements) const override;
  RodState shaped(const Pose& root, const Twist& root_velocity, const VectorX& curvature,
                  const VectorX& curvature_rate) const override;
  VectorX curved_displacement(const VectorX& step) const override;
  bool within_reach(const RodState& state, const Eigen::Ref<const VectorX>& v, double dt) const override;

  int piece_count() const override { return count(); }
  double piece_begin(int piece) const override;
  geometry::Curve piece(int piece) const override;
  void update(const RodState& state) override;
  const RodState& state() const override { return state_; }
  geometry::MaterialSpan span(int piece) const override;
  RodSection section(double s) const override;
  Vector3 velocity(int piece, double u, const Eigen::Ref<const VectorX>& v) const override;
  void end_velocities(const Eigen::Ref<const VectorX>& v, Eigen::Ref<Matrix3X> out) const override;
  int touched(int piece) const override { return first_ + stride_ * (piece + 1); }
  int jacobian(int piece, double u, Eigen::Ref<Matrix3X> out) const override;

  int half_bandwidth() const override { return 2 * stride_ + 2; }
  void mass_times(const VectorX& v, VectorX& out) const override { out = inertia_.cwiseProduct(v); }
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

 protected:
  /// A node that bends and twists: the one before edge `edge`.
  struct Joint {
    Vector3 stiffness;    ///< of the integrated strains (twist, c1, c2) [N m]
    double length;        ///< of its part of the rod [m]
    Vector3 rest_strain;  ///< [rad]
  };
  /// Coordinates of an edge: its angle and a node, or a node alone.
  enum class Edge { node = 3, angle_and_node = 4 };
  using Nodes = std::vector<Vector3>;
  using StrainRows = Eigen::Matrix<double, 3, 8>;

  NodalRod(const char* name, Edge edge, const std::vector<RodEdge>& edges, const Material& material,
           RootCondition root_condition);

  // How the model bends; a joint is i, an edge j.
  virtual double joint_energy(int i) const = 0;    ///< [J]
  virtual Vector3 joint_force(int i) const = 0;    ///< derivative of its energy over its strains [N m]
  virtual Matrix8 joint_hessian(int i) const = 0;  ///< over its 8 variables, exact
  /// Strains whose rates are damped, over the joint's 8 variables; the stiffness times the damping time resists them.
  virtual StrainRows damped_strains(int i) const = 0;
  virtual Vector3 end_curvature(int i) const = 0;  ///< at the free end next to joint i, where there is no moment [1/m]
  /// Frames of edges and stencils of joints at state_ and nodes_, and the root pose of a free rod.
  virtual void update_frames() = 0;
  virtual Eigen::Index memory_size() const = 0;
  /// Keeps what the model knows of an edge beyond its ends, when a state is made of a shape.
  virtual void set_edge(int, const Matrix3&, const Vector3&, double, RodState&) const {}

  bool clamped() const { return root_condition_ == RootCondition::clamped; }
  int count() const { return static_cast<int>(lengths_.size()); }
  int first_joint() const { return clamped() ? 0 : 1; }
  bool has_angles() const { return stride_ == 4; }
  Eigen::Index angle_at(int edge) const { return first_ + stride_ * edge; }
  Eigen::Index node_at(int node) const { return first_ + stride_ * node - 3; }  ///< negative for a clamped root's
  Vector3 node_velocity(int node, const Eigen::Ref<const VectorX>& v) const;
  Nodes nodes_of(const RodState& state) const;
  void check_sizes(const RodState& state) const;
  EdgeFrame root_edge() const;  ///< the frame at s = 0, one long
  /// Pose and velocity of a free root, which is at s = 0, half an edge before the middle of the first edge, whose frame
  /// is `edge`. That half is curved as the rod is at the first node that bends, `bend`; none: it is straight. `spin`:
  /// of the edge about itself [rad/s].
  void set_free_root(const EdgeFrame& edge, double spin, const BendStencil* bend, RodState& state) const;
  /// Sets the natural shape and the state to those of the edges; at the end of a model's constructor.
  void start(const std::vector<RodEdge>& edges);

  const char* name_;
  int stride_;
  RootCondition root_condition_;
  int first_ = 0;  ///< coordinates before edge 0's: the first node's 3 when free
  double damping_time_ = 0.0;
  std::vector<double> lengths_;      ///< (N) at rest
  std::vector<double> begin_;        ///< (N + 1) arc length of the nodes at rest
  std::vector<double> axial_;        ///< (N) E A [N]
  std::vector<double> node_mass_;    ///< (N + 1) [kg]
  std::vector<double> node_length_;  ///< (N + 1) half of each neighbour [m]
  std::vector<Joint> joints_;        ///< (N); a free rod's first is not used
  VectorX inertia_;                  ///< diagonal of M (dof)
  VectorX rest_;                     ///< natural curvatures of the joints (k)
  double mass_ = 0.0;
  Vector3 surface_reach_ = Vector3::Zero();

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
