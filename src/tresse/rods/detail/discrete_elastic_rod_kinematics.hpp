#pragma once

#include <vector>

#include <tresse/rods/detail/nodal_rod.hpp>

namespace tresse::rods::detail {

/// The discrete elastic rod behind the interface Rod. Memory of a state: reference director of each edge (3 N), then
/// reference twist of each of the N nodes before an edge (that of a free rod's first node stays zero).
class DiscreteElasticRod final : public NodalRod {
 public:
  explicit DiscreteElasticRod(std::shared_ptr<const NodalModel> model);

  std::unique_ptr<Rod> clone() const override { return std::make_unique<DiscreteElasticRod>(*this); }
  RodState advanced(const RodState& state, const Eigen::Ref<const VectorX>& v, double dt, const Pose& next_root,
                    const Twist& root_velocity) const override;
  bool within_reach(const RodState& state, const Eigen::Ref<const VectorX>& v, double dt) const override;
  Vector3 angular_velocity(int piece, double u, const Eigen::Ref<const VectorX>& v) const override;
  int twist_jacobian(int piece, double u, Eigen::Ref<Matrix6X> out) const override;
  void inertial_and_external_force(const RodLoads& loads, Eigen::Ref<VectorX> out) const override;
  RodEnergies energies(const Vector3& gravity) const override;
  void momentum(Vector3& linear, Vector3& angular) const override;

 private:
  double joint_energy(int i) const override;
  Vector3 joint_force(int i) const override;
  Matrix8 joint_hessian(int i) const override;
  StrainRows damped_strains(int i) const override { return stencils_[i].gradient; }
  Matrix3X free_strains(int) const override { return Matrix3::Identity(); }
  bool may_rest_at(int, const Vector3&) const override { return true; }
  Vector3 end_curvature(int i) const override { return rest_.segment<3>(3 * (i - first_joint())); }
  void update_frames() override;
  Eigen::Index memory_size() const override { return 4 * count(); }
  void set_edge(int j, const Matrix3& frame, const Vector3& angular, double twist, RodState& state) const override;

  double reference_twist(int i, const RodState& state, const Nodes& nodes, double near) const;
  BendStencil stencil(int i, const EdgeFrame& before, const EdgeFrame& edge, const RodState& state) const;
};

}  // namespace tresse::rods::detail
