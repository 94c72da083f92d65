#pragma once

#include <span>

#include <tresse/rods/detail/factor_step_matrix.hpp>
#include <tresse/rods/rod.hpp>

namespace tresse::rods::detail {

/// Symmetric positive definite band A = U U^T, U upper triangular with the same band, so that U^-1 keeps leading
/// entries (math/reverse_cholesky.hpp is the dense one). Factoring is O(n b^2), every solve O(n b).
class BandedReverseCholesky {
 public:
  /// A zero matrix of size n; entries (i, j) with 0 <= j - i <= band may be set until factor().
  void reset(int n, int band);
  double& at(int i, int j) { return upper_(j - i, j); }
  double at(int i, int j) const { return upper_(j - i, j); }
  int size() const { return static_cast<int>(upper_.cols()); }
  int band() const { return static_cast<int>(upper_.rows()) - 1; }
  /// False when A is not positive definite to rounding or not finite.
  [[nodiscard]] bool factor();

  void solve(Eigen::Ref<VectorX> x) const;                   ///< x := A^-1 x
  void velocity_from_whitened(Eigen::Ref<VectorX> x) const;  ///< x := U^-T x
  void whiten(Eigen::Ref<MatrixX> columns) const;            ///< := U^-1 columns, leading entries
  void whiten_rows(std::span<FourRows> rows) const;          ///< the same of twelve columns, entry by entry
  double squared_norm(const VectorX& x) const;               ///< x^T A x

 private:
  void solve_upper(double* x, int leading) const;
  MatrixX upper_;  ///< (band + 1, n): row d of column j is entry (j - d, j)
};

/// A rod of nodes, whose matrices are banded.
class BandedRod : public Rod {
 public:
  virtual int half_bandwidth() const = 0;
  virtual void mass_times(const VectorX& v, VectorX& out) const = 0;
  virtual void add_mass(BandedReverseCholesky& into) const = 0;
  /// Adds the terms, without M, to the upper band.
  virtual void add_step_terms(const StepTerms& terms, BandedReverseCholesky& into) const = 0;
  /// From here to the next update() the elastic Hessian of add_step_terms(), add_stiffness() and add_stiffness_times()
  /// is that with every stencil's negative eigenvalues at zero: M + dt^2 K was not positive definite.
  virtual void clamp_hessian() const = 0;

  void mass_matrix(Eigen::Ref<MatrixX> out) const override;
  void add_stiffness(double stiffness_scale, double damping_scale, Eigen::Ref<MatrixX> into) const override;
  void add_drag_matrix(double drag, Eigen::Ref<MatrixX> into) const override;

 protected:
  using Rod::Rod;
};

/// The step matrix of a BandedRod. When A is not positive definite with the exact Hessian, factor() falls back on the
/// clamped one.
class BandedStepMatrix final : public FactorStepMatrix<BandedReverseCholesky> {
 public:
  bool factor(const Rod& rod, const StepTerms& terms, const VectorX& velocity, VectorX& momentum) override;
};

}  // namespace tresse::rods::detail
