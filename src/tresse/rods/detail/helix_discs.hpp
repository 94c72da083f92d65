#pragma once

#include <array>

#include <tresse/rods/detail/element_integrals.hpp>
#include <tresse/rods/detail/helix_element.hpp>
#include <tresse/rods/detail/helix_integrals.hpp>

namespace tresse::rods::detail {

/// The rotary inertia of the sections of an element of constant curvature, lumped at two of them: thin discs, one at
/// its start, one at five sixths of its length. With two and three fifths of the inertia they give a straight rod's
/// twist, which is linear along an element, the mean of the consistent and of the lumped mass matrix: torsional waves
/// of n elements are fast to order n^-4, where either alone is off by (pi / 2 n)^2 / 24 (Goudreau and Taylor 1973). Of
/// one element (double), or of four side by side (lanes::Doubles). Vectors are in the frame of the element's start
/// unless said otherwise.
template <typename Scalar>
class HelixDiscs {
 public:
  static constexpr double start_share = 0.4;
  static constexpr double inner_place = 5.0 / 6.0;  ///< in lengths

  /// `c`: Stumpff functions c_0 .. c_5 at `u` = inner_place times the length; `spread` as ElementDiscs has it.
  void set(const Scalar& u, const Triple<Scalar>& w, const std::array<Scalar, 6>& c,
           const std::array<Scalar, 4>& spread);
  void add_to(HelixMoments<Scalar>& moments) const;
  /// What resists the acceleration of the discs, per `line.density`, and what the air does.
  void add_to(HelixForce<Scalar>& force, const LineForce<Scalar>& line, const Triple<Scalar>& w,
              const Triple<Scalar>& rate) const;

 private:
  /// Moments of inertia about n0, n1 and n2, from int y^2 along n1 and int z^2 along n2.
  TRESSE_HOT static Triple<Scalar> about_axes(const Scalar& y2, const Scalar& z2) { return {y2 + z2, z2, y2}; }
  TRESSE_HOT static Triple<Scalar> by_parts(const Triple<Scalar>& a, const Triple<Scalar>& b) {
    return {a[0] * b[0], a[1] * b[1], a[2] * b[2]};
  }

  Scalar u_{};
  std::array<Scalar, 6> c_{};
  Columns<Scalar> frame_{};    ///< of the inner disc, R
  Columns<Scalar> turning_{};  ///< R^T dtheta/dw there: in the disc's own axes [m]
  Triple<Scalar> start_{};     ///< moments of inertia over the line density, each in its disc's axes [m^3]
  Triple<Scalar> inner_{};
};

template <typename Scalar>
void HelixDiscs<Scalar>::set(const Scalar& u, const Triple<Scalar>& w, const std::array<Scalar, 6>& c,
                             const std::array<Scalar, 4>& spread) {
  u_ = u;
  c_ = c;
  start_ = about_axes(spread[0], spread[1]);
  inner_ = about_axes(spread[2], spread[3]);
  const Scalar w2 = dot(w, w);
  // R = 1 + sine [w]x + versed [w]x^2, and R^T T = u - versed [w]x + rest [w]x^2.
  const Scalar sine = u * c[1], versed = u * u * c[2], rest = u * u * u * c[3];
  const Scalar of_frame = 1.0 - versed * w2, of_turning = u - rest * w2;
  const Columns<Scalar> across = {{{Scalar{}, w[2], -w[1]}, {-w[2], Scalar{}, w[0]}, {w[1], -w[0], Scalar{}}}};
  for (std::size_t k = 0; k < 3; ++k) {
    frame_[k] = sine * across[k] + versed * w[k] * w;
    turning_[k] = rest * w[k] * w - versed * across[k];
    frame_[k][k] += of_frame;
    turning_[k][k] += of_turning;
  }
}

template <typename Scalar>
void HelixDiscs<Scalar>::add_to(HelixMoments<Scalar>& moments) const {
  moments.p_p[1][1] += start_[2];
  moments.p_p[2][2] += start_[1];
  const Triple<Scalar> y = inner_[2] * frame_[1], z = inner_[1] * frame_[2];
  for (std::size_t k = 0; k < 3; ++k) {
    const Triple<Scalar> angular = by_parts(inner_, turning_[k]);
    moments.p_p[k] += frame_[1][k] * y + frame_[2][k] * z;
    moments.p_cross_P[k] += times(frame_, angular);
    for (std::size_t r = 0; r <= k; ++r) {
      const Scalar value = dot(turning_[r], angular);
      moments.P_P[r][k] += value;
      if (r < k) moments.P_P[k][r] += value;
    }
  }
}

template <typename Scalar>
void HelixDiscs<Scalar>::add_to(HelixForce<Scalar>& force, const LineForce<Scalar>& line, const Triple<Scalar>& w,
                                const Triple<Scalar>& rate) const {
  const auto couple = [&](const Triple<Scalar>& inertia, const Triple<Scalar>& spin, const Triple<Scalar>& spin_rate,
                          const Triple<Scalar>& air) {
    const Triple<Scalar> turned = by_parts(inertia, spin_rate) + cross(spin, by_parts(inertia, spin));
    return -line.density * turned - by_parts(inertia, air);
  };
  const Triple<Scalar> start = couple(start_, line.spin, line.spin_rate, line.air);
  const Triple<Scalar> own = times(turning_, rate), carried = transposed_times(frame_, line.spin);
  const Triple<Scalar> fixed = line.spin_rate + helix_angular_rate(u_, w, rate, c_);
  const Triple<Scalar> spin_rate = transposed_times(frame_, fixed) + cross(carried, own);
  const Triple<Scalar> inner = couple(inner_, carried + own, spin_rate, transposed_times(frame_, line.air));
  force.torque += start + times(frame_, inner);
  force.generalised += transposed_times(turning_, inner);
}

}  // namespace tresse::rods::detail
