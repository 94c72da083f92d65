#pragma once

#include <vector>

#include <tresse/rods/detail/nodal_rod.hpp>

namespace tresse::rods::detail {

/// The mass-spring chain behind the interface Rod: a rod of nodes without angles. Frames are carried along the chain
/// from the root by the smallest rotations; a free root's is carried along by its motion, in RodState::root. Memory of
/// a state: the nodes at the start of the step, 3 (N + 1), and a clamped root's tangent then; they say in which plane
/// each joint's bend is damped.
class MassSpringChain final : public NodalRod {
 public:
  explicit MassSpringChain(std::shared_ptr<const NodalModel> model);

  std::unique_ptr<Rod> clone() const override { return std::make_unique<MassSpringChain>(*this); }
  void set_rest_curvature(const VectorX& rest) override;
  RodState shaped(const Pose& root, const Twist& root_velocity, const VectorX& curvature,
                  const VectorX& curvature_rate) const override;
  RodState advanced(const RodState& state, const Eigen::Ref<const VectorX>& v, double dt, const Pose& next_root,
                    const Twist& root_velocity) const override;

 private:
  double joint_energy(int i) const override;
  Vector3 joint_force(int i) const override;
  Matrix8 joint_hessian(int i) const override;
  StrainRows damped_strains(int i) const override { return damped_[i]; }
  Matrix3X free_strains(int i) const override;
  bool may_rest_at(int i, const Vector3& strain) const override;
  Vector3 end_curvature(int i) const override;
  void update_frames() override;
  Eigen::Index memory_size() const override { return 3 * (count() + 1) + (clamped() ? 3 : 0); }

  double rest_bend(int i) const { return rest_strains_[i].tail<2>().norm(); }
  double rest_share(int i) const;
  VectorX memory_of(const RodState& state) const;
  void update_damping();

  std::vector<StrainRows> damped_;  ///< (N)
};

}  // namespace tresse::rods::detail
