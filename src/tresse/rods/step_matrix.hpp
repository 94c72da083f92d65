#pragma once

#include <span>

#include <tresse/base/types.hpp>

namespace tresse::rods {

class Rod;

/// What up to four points of a rod have to do with one unknown: the first of three numbers of each, the second, the
/// third.
using FourRows = Eigen::Array<double, 12, 1>;
/// Where the c-th number of point k stands.
constexpr Eigen::Index place_in_rows(Eigen::Index k, Eigen::Index c) { return 4 * c + k; }

/// Weights of the terms of an implicit step besides mass.
struct StepTerms {
  double stiffness = 0.0;  ///< of the elastic Hessian, dt^2 for implicit Euler [s^2]
  double damping = 0.0;    ///< of D, dt [s]
  double drag = 0.0;       ///< of int (dr/dv)^T (dr/dv) ds, dt times the drag coefficient [kg/m]
};

/// Factored implicit matrix of one rod, A = M + stiffness K + damping D + drag: A = U U^T with U^-1 h touching the same
/// leading entries as h, so that the whitened rows of a contact near the root stay short. Each model makes the one that
/// suits its structure, see Rod::make_step_matrix(). Reuses its storage from step to step.
class StepMatrix {
 public:
  virtual ~StepMatrix() = default;

  /// Factors A where the rod's last update left it and writes momentum = M velocity, (dof). False when A is not
  /// positive definite to rounding or not finite; then nothing else may be called.
  [[nodiscard]] virtual bool factor(const Rod& rod, const StepTerms& terms, const VectorX& velocity,
                                    VectorX& momentum) = 0;

  virtual double squared_norm(const VectorX& x) const = 0;  ///< x^T A x
  virtual void solve(Eigen::Ref<VectorX> x) const = 0;      ///< x := A^-1 x, (dof)
  /// x := U^-T x, the velocity of a whitened one, (dof).
  virtual void velocity_from_whitened(Eigen::Ref<VectorX> x) const = 0;
  /// Columns h (rows of H transposed, leading entries only, the rest zero) := U^-1 h, in place, (leading, k).
  virtual void whiten(Eigen::Ref<MatrixX> columns) const = 0;
  /// The same of twelve columns side by side, an entry for each leading unknown. The bits of a column depend on no
  /// other, nor on how many zeros end it.
  virtual void whiten_rows(std::span<FourRows> rows) const;
};

}  // namespace tresse::rods
