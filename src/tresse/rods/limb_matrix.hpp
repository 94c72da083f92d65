#pragma once

#include <span>

#include <tresse/base/types.hpp>
#include <tresse/rods/step_matrix.hpp>

namespace tresse::rods {

/// A twist or a wrench: linear above angular.
using Vector6 = Eigen::Matrix<double, 6, 1>;
using Matrix6 = Eigen::Matrix<double, 6, 6>;
using Wrenches = Eigen::Matrix<double, 6, 3>;

/// Where another rod grows on this one.
struct LimbPlace {
  int piece = 0;
  double u = 0.0;  ///< local arc length [m]
};

/// One rod's part in the linear-time factor of a tree. The rods of a tree are eliminated from twigs to trunk: a limb
/// leaves its parent a form in the twist of its root, a (6, 6) inertia. Twists and wrenches are in world axes at the
/// rod's own r(0), for what is attached too; x holds the rod's own unknowns, (own) below: dof() less the six of a
/// carried root. "Attached" lists go by the places that the matrix was made with. docs/theory/dynamics.md, "Trees".
class LimbMatrix {
 public:
  virtual ~LimbMatrix() = default;

  /// Factors M + stiffness K + damping D + drag with what is attached, where the rod's last update left it. False when
  /// it is not positive definite to rounding or not finite.
  [[nodiscard]] virtual bool factor(const Rod& rod, const StepTerms& terms, std::span<const Matrix6> attached) = 0;
  /// What a carried root hands on.
  virtual const Matrix6& carried_inertia() const = 0;

  /// x^T A x less the part of what is attached and of a carried root; writes the attached twists.
  virtual double squared_norm(const Eigen::Ref<const VectorX>& x, const Vector6& root,
                              std::span<Vector6> attached) const = 0;
  /// x := U^-T x, (own); writes the attached twists.
  virtual void velocity_from_whitened(Eigen::Ref<VectorX> x, const Vector6& root,
                                      std::span<Vector6> attached) const = 0;
  /// x := U^-1 x, (leading of own), with the attached wrenches; returns what a carried root hands on.
  virtual Vector6 whiten(Eigen::Ref<VectorX> x, std::span<const Vector6> attached) const = 0;
  /// The same for three columns.
  virtual Wrenches whiten(Eigen::Ref<Eigen::Matrix<double, Eigen::Dynamic, 3>> columns,
                          std::span<const Wrenches> attached) const = 0;
  /// Takes velocities x (own) in for mass_times(); writes the attached twists.
  virtual void spread(const Eigen::Ref<const VectorX>& x, const Vector6& root, std::span<Vector6> attached) = 0;
  /// out := rows of M x, (own), of the last spread(), with the attached wrenches; returns what a carried root hands on.
  virtual Vector6 mass_times(const Eigen::Ref<const VectorX>& x, Eigen::Ref<VectorX> out,
                             std::span<const Vector6> attached) const = 0;
};

}  // namespace tresse::rods
