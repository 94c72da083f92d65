#pragma once

#include <array>
#include <vector>

#include <tresse/geometry/curves.hpp>
#include <tresse/rods/detail/clothoid_series.hpp>
#include <tresse/rods/detail/element_integrals.hpp>

namespace tresse::rods::detail {

/// Element whose curvature is affine, its coordinates the curvatures (twist, k1, k2) at its start and at its end: power
/// series piece by piece (clothoid_series.hpp), integrals by eight Gauss points a piece. @cite casati2013 sec. 5-7
class ClothoidShape {
 public:
  static constexpr int width = 6;
  static constexpr const char* model = "super-clothoid";
  static constexpr bool closed_moments = false;  ///< first_moments() wants sample()
  /// Of the rotary inertia of an element, the share that is lumped at its start.
  static constexpr double start_share = 0.0;
  using Local = Coordinates<6>;

  void set(double length, const ElementDiscs& discs, const Local& c);
  const Vector3& end() const { return end_.position; }
  const Matrix3& end_frame() const { return end_.frame; }
  const Gradient<6>& end_linear() const { return end_.linear; }
  const Gradient<6>& end_angular() const { return end_.angular; }

  Vector3 position(double u) const { return at(u).position; }
  Matrix3 frame(double u) const { return at(u).frame; }
  ElementPoint<6> at(double u) const;
  /// The position and linear part of at() alone.
  FirstMoments<6> point(double u) const;
  /// The points of so many equal parts, from start to end, and the discs at disc_places.
  void points(int parts, std::vector<PointBatch<6>>& out, std::vector<SectionDisc<6>>& discs) const;
  /// Where the rotary inertia of an element is lumped, but for start_share of it, in equal parts, by length: Gauss
  /// points, which integrate cubics. That is as exact as the order of the elements asks for.
  static constexpr std::array<double, 2> disc_places = {0.21132486540518713, 0.7886751345948129};

  /// Sets the rates; the integrals, unless they are there since set().
  void sample(const Local& rate);
  const ElementMoments<6>& moments() const { return moments_; }
  const EndBias& end_bias() const { return biases().end; }
  /// end_bias() of the part up to u, after sample().
  EndBias bias(double u) const;
  ElementForce<6> force(const LineForce<double>& line) const;
  FirstMoments<6> first_moments() const { return {moments_.p, moments_.P}; }
  /// Hessian of pull . (density int p + beyond_mass p(end) + R(end) beyond_moment).
  Square<6> pull_hessian(const ElementPull& pull) const;

  /// int kappa^T K3 kappa ds as a form in c: K c. casati2013 eq. (8): thirds and sixths of the length.
  static Local stiffness_times(double length, const Vector3& stiffness, const Local& c) {
    Local out;
    out.head<3>() = length / 6.0 * stiffness.cwiseProduct(2.0 * c.head<3>() + c.tail<3>());
    out.tail<3>() = length / 6.0 * stiffness.cwiseProduct(c.head<3>() + 2.0 * c.tail<3>());
    return out;
  }
  template <typename Block>
  static void add_stiffness(double length, const Vector3& stiffness, Block&& into) {
    for (int k = 0; k < 3; ++k) {
      const double sixth = length / 6.0 * stiffness[k];
      into(k, k) += 2.0 * sixth;
      into(k + 3, k + 3) += 2.0 * sixth;
      into(k, k + 3) += sixth;
      into(k + 3, k) += sixth;
    }
  }
  /// At the given part of the length.
  static Vector3 curvature(const Local& c, double part) { return (1.0 - part) * c.head<3>() + part * c.tail<3>(); }
  static geometry::Curve curve(const Pose& start, const Local& c, double length) {
    return geometry::ClothoidArc{start.position, start.frame, c.head<3>(), (c.tail<3>() - c.head<3>()) / length,
                                 length};
  }

 private:
  /// What accelerates at constant rates: c'^T (d2/dc2) c'. Series serve both the integrals and these, so that these are
  /// found with those where the shape before wanted them, and else once they are asked for.
  struct Biases {
    std::vector<Triple<NodeLanes>> second;  ///< of the position at the Gauss points, in the axes of the start
    std::vector<Vector3> discs;             ///< (discs) R^T of the angular acceleration
    EndBias end;
    bool known = false;
    bool expected = true;
    bool used = false;
  };
  class BiasWalk;

  const Biases& biases() const;
  template <typename Visit>
  void for_each_series(double u, Visit&& visit) const;
  void integrate_moments();
  void add_disc(const SectionDisc<6>& disc);

  double length_ = 0.0;
  Local c_ = Local::Zero();
  Local rate_ = Local::Zero();
  ElementPoint<6> end_;
  std::vector<PointBatch<6>> samples_;  ///< the Gauss points piece by piece, in the axes of the start
  std::vector<SectionDisc<6>> discs_;   ///< that at the start first
  mutable Biases biases_;
  bool integrated_ = false;
  ElementDiscs of_section_{};
  ElementMoments<6> moments_;
};

}  // namespace tresse::rods::detail
