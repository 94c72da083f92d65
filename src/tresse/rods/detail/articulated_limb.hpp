#pragma once

#include <vector>

#include <tresse/rods/detail/chain_rod.hpp>
#include <tresse/rods/limb_matrix.hpp>

namespace tresse::rods::detail {

/// A chain in curvature coordinates as a limb.
template <typename Shape>
class ArticulatedLimb final : public LimbMatrix {
 public:
  /// Places in order of their pieces.
  explicit ArticulatedLimb(std::span<const LimbPlace> places) : places_(places.begin(), places.end()) {}

  bool factor(const Rod& rod, const StepTerms& terms, std::span<const Matrix6> attached) override;
  const Matrix6& carried_inertia() const override { return matrix_.carried_inertia(); }
  double squared_norm(const Eigen::Ref<const VectorX>& x, const Vector6& root,
                      std::span<Vector6> attached) const override {
    return matrix_.squared_norm(x, root, attached);
  }
  void velocity_from_whitened(Eigen::Ref<VectorX> x, const Vector6& root, std::span<Vector6> attached) const override {
    matrix_.velocity_from_whitened(x, root, attached);
  }
  Vector6 whiten(Eigen::Ref<VectorX> x, std::span<const Vector6> attached) const override {
    return matrix_.template whiten<1>(x, attached);
  }
  Wrenches whiten(Eigen::Ref<Eigen::Matrix<double, Eigen::Dynamic, 3>> columns,
                  std::span<const Wrenches> attached) const override {
    return matrix_.template whiten<3>(columns, attached);
  }
  void spread(const Eigen::Ref<const VectorX>& x, const Vector6& root, std::span<Vector6> attached) override {
    matrix_.spread(x, root, attached);
  }
  Vector6 mass_times(const Eigen::Ref<const VectorX>& x, Eigen::Ref<VectorX> out,
                     std::span<const Vector6> attached) const override {
    return matrix_.mass_times(x, out, attached);
  }

 private:
  std::vector<LimbPlace> places_;
  ArticulatedMatrix<Shape::width> matrix_;
};

}  // namespace tresse::rods::detail
