#pragma once

#include <vector>

#include <tresse/rods/detail/banded_step_matrix.hpp>
#include <tresse/rods/detail/bend_stencil.hpp>
#include <tresse/rods/discrete_elastic_rod.hpp>

namespace tresse::rods::detail {

/// The discrete elastic rod behind the interface Rod. Memory of a state: reference director of each edge (3 N), then
/// reference twist of each of the N nodes before an edge (that of a free rod's first node stays zero). Kinematics may
/// be read by several threads between updates; forces and matrices by one.
class DiscreteElasticRod final : public BandedRod {
 public:
  DiscreteElasticRod(const std::vector<RodEdge>& edges, const Material& material, RootCondition root_condition);

  std::unique_ptr<Rod> clone() const override { return std::make_unique<DiscreteElasticRod>(*this); }
  RootCondition root_condition() const override { return root_condition_; }
  int coordinate_count() const override { return first_ + 4 * count(); }
  int root_dof() const override { return 0; }
  bool linear_elasticity() const override { return false; }
  double length() const override { return begin_.back(); }
  double mass() const override { return mass_; }
  double contact_radius() const override { return contact_radius_; }
  const VectorX& rest_curvature() const override { return rest_; }
  void set_rest_curvature(const VectorX& rest) override;
  VectorX curvature() const override;
  VectorX curvature_of_elements(const VectorX& elements) const override;
  RodState shaped(const Pose& root, const Twist& root_velocity, const VectorX& curvature,
                  const VectorX& curvature_rate) const override;
  RodState advanced(const RodState& state, const Eigen::Ref<const VectorX>& v, double dt, const Pose& next_root,
                    const Twist& root_velocity) const override;
  VectorX curved_displacement(const VectorX& step) const override;
  bool within_reach(const RodState& state, const Eigen::Ref<const VectorX>& v, double dt) const override;

  int piece_count() const override { return count(); }
  double piece_begin(int piece) const override;
  geometry::Curve piece(int piece) const override;

  void update(const RodState& state) override;
  const RodState& state() const override { return state_; }

  RodSection section(double s) const override;
  Vector3 velocity(int piece, double u, const Eigen::Ref<const VectorX>& v) const override;
  void end_velocities(const Eigen::Ref<const VectorX>& v, Eigen::Ref<Matrix3X> out) const override;
  int touched(int piece) const override { return first_ + 4 * (piece + 1); }
  int jacobian(int piece, double u, Eigen::Ref<Matrix3X> out) const override;

  int half_bandwidth() const override { return 10; }
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

 private:
  /// A node that bends and twists: the one before edge `edge`.
  struct Joint {
    Vector3 stiffness;    ///< of the integrated strains (twist, c1, c2) [N m]
    double length;        ///< of its part of the rod [m]
    Vector3 rest_strain;  ///< [rad]
  };
  using Nodes = std::vector<Vector3>;

  bool clamped() const { return root_condition_ == RootCondition::clamped; }
  int count() const { return static_cast<int>(lengths_.size()); }
  int first_joint() const { return clamped() ? 0 : 1; }
  Eigen::Index angle_at(int edge) const { return first_ + 4 * edge; }
  Eigen::Index node_at(int node) const { return first_ + 4 * node - 3; }  ///< negative for a clamped root's
  Vector3 node_velocity(int node, const Eigen::Ref<const VectorX>& v) const;
  Nodes nodes_of(const RodState& state) const;
  // A joint is i, an edge j.
  double reference_twist(int i, const RodState& state, const Nodes& nodes, double near) const;
  void set_free_root(RodState& state, const Nodes& nodes) const;
  void check_sizes(const RodState& state) const;
  VectorX rest_from_edges(const std::vector<RodEdge>& edges) const;

  double edge_force(int edge) const;  ///< tension [N]
  Vector3 joint_force(int i) const;   ///< derivative of its energy over its strains [N m]
  const Matrix8& bend_hessian(int joint) const;
  Matrix3 stretch_hessian(int j) const;
  Vector8 edge_rates(int i, const Eigen::Ref<const VectorX>& v, bool prescribed) const;
  void add_joint(int i, const Vector8& y, Eigen::Ref<VectorX> into) const;
  template <typename Add>
  void for_each_entry(int i, const Matrix8& block, const Add& add) const;
  void damping_force(const Eigen::Ref<const VectorX>& v, bool prescribed, Eigen::Ref<VectorX> into) const;

  RootCondition root_condition_;
  int first_ = 0;  ///< coordinates before theta_0: the first node's 3 when free
  double damping_time_ = 0.0;
  std::vector<double> lengths_;       ///< (N) at rest
  std::vector<double> begin_;         ///< (N + 1) arc length of the nodes at rest
  std::vector<double> axial_;         ///< (N) E A [N]
  std::vector<double> spin_inertia_;  ///< (N) rho (I1 + I2) l [kg m^2]
  std::vector<double> node_mass_;     ///< (N + 1) [kg]
  std::vector<double> node_length_;   ///< (N + 1) half of each neighbour [m]
  std::vector<Joint> joints_;         ///< (N); a free rod's first is not used
  VectorX inertia_;                   ///< diagonal of M (dof)
  VectorX rest_;                      ///< natural curvatures of the joints (k)
  double mass_ = 0.0;
  double contact_radius_ = 0.0;

  RodState state_;
  Nodes nodes_;                        ///< (N + 1)
  std::vector<EdgeFrame> frames_;      ///< (N)
  std::vector<BendStencil> stencils_;  ///< (N)

  mutable bool clamped_hessian_ = false;
  mutable bool bent_ = false;  ///< hessians_ are of the current state
  mutable std::vector<Matrix8> hessians_;
};

}  // namespace tresse::rods::detail
