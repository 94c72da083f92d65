#pragma once

#include <vector>

#include <tresse/geometry/curves.hpp>
#include <tresse/rods/detail/element_integrals.hpp>
#include <tresse/rods/detail/helix_discs.hpp>
#include <tresse/rods/detail/helix_element.hpp>
#include <tresse/rods/detail/helix_integrals.hpp>

namespace tresse::rods::detail {

using Lanes = Eigen::Array<double, 4, 1>;

/// Four quadrature points.
struct GaussBatch {
  Lanes weight;            ///< sums to the element's length [m]
  Lanes s;                 ///< [m]
  std::array<Lanes, 8> c;  ///< Stumpff functions
  HelixPoint<Lanes> point;
};

/// Element of constant curvature, its coordinates: closed forms, and integrals by power series up to a turn of 3 rad,
/// beyond by Gauss-Legendre with as many points as the turn asks for, four at once. Error below 1e-13 of each
/// integral's scale; a turn over 1e4 rad is sampled as if it were 1e4.
class HelixShape {
 public:
  static constexpr int width = 3;
  static constexpr const char* model = "super-helix";
  static constexpr bool closed_moments = true;  ///< first_moments() does without sample()
  /// Of the rotary inertia of an element, the share that is lumped at its start.
  static constexpr double start_share = HelixDiscs<double>::start_share;

  void set(double length, const ElementDiscs& discs, const Vector3& w);
  const Vector3& end() const { return end_; }
  const Matrix3& end_frame() const { return end_frame_; }
  const Matrix3& end_linear() const { return end_linear_; }
  const Matrix3& end_angular() const { return end_angular_; }

  Vector3 position(double u) const;
  Matrix3 frame(double u) const;
  ElementPoint<3> at(double u) const;
  /// The position and linear part of at() alone.
  FirstMoments<3> point(double u) const;

  /// The points of so many equal parts, from start to end, and the disc at HelixDiscs::inner_place.
  void points(int parts, std::vector<PointBatch<3>>& out, std::vector<SectionDisc<3>>& discs) const;

  /// Sets the rates; the integrals, unless they are there since set().
  void sample(const Vector3& rate);
  const ElementMoments<3>& moments() const { return moments_; }
  EndBias end_bias() const;
  /// end_bias() of the part up to u, after sample().
  EndBias bias(double u) const;
  ElementForce<3> force(const LineForce<double>& line) const;
  FirstMoments<3> first_moments() const;
  /// Hessian of pull . (density int p + beyond_mass p(end) + R(end) beyond_moment).
  Matrix3 pull_hessian(const ElementPull& pull) const;

  /// int kappa^T K3 kappa ds as a form in c: K c.
  static Vector3 stiffness_times(double length, const Vector3& stiffness, const Vector3& c) {
    return length * stiffness.cwiseProduct(c);
  }
  template <typename Block>
  static void add_stiffness(double length, const Vector3& stiffness, Block&& into) {
    into.diagonal() += length * stiffness;
  }
  /// At the given part of the length.
  static Vector3 curvature(const Vector3& c, double) { return c; }
  static geometry::Curve curve(const Pose& start, const Vector3& w, double length) {
    return geometry::HelixArc{start.position, start.frame, w, length};
  }

 private:
  HelixForce<double> integrate_force(const LineForce<double>& line) const;

  double length_ = 0.0;
  Vector3 w_ = Vector3::Zero();
  Vector3 rate_ = Vector3::Zero();
  std::array<double, 8> c_;  ///< Stumpff functions at the end
  Vector3 end_;
  Matrix3 end_frame_;
  Matrix3 end_linear_;
  Matrix3 end_angular_;
  bool integrated_ = false;  ///< the integrals are those of w
  bool by_series_ = false;   ///< they are integrals_, else batches_
  HelixIntegrals<double> integrals_;
  std::vector<GaussBatch> batches_;
  ElementDiscs of_section_{};
  HelixDiscs<double> discs_;
  ElementMoments<3> moments_;
};

}  // namespace tresse::rods::detail
