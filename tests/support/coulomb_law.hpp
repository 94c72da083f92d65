#pragma once

#include <algorithm>
#include <array>
#include <cmath>

#include <Eigen/Core>

/// Signorini's and Coulomb's law of one contact written out case by case, sharing nothing with the library. Components:
/// normal, two tangents.
namespace tresse_test {

/// How far (u, r) is from the nearest of the three cases; r and u must be in comparable units.
inline double coulomb_violation(const Eigen::Vector3d& u, const Eigen::Vector3d& r, double mu) {
  const double slip = std::hypot(u[1], u[2]);
  const double grip = std::hypot(r[1], r[2]);
  const double take_off = std::max({std::abs(r[0]), grip, -u[0]});
  const double stick = std::max({std::abs(u[0]), slip, -r[0], grip - mu * r[0]});
  // Sliding: on the cone, r_T = -mu r_N u_T / |u_T|. Near a boundary the direction of the smaller of the two is noise,
  // so the deviation counts in whichever: as an impulse, or as what of u_T is not along -r_T.
  double opposed = slip;
  if (grip > 0.0) {
    const double along = -(u[1] * r[1] + u[2] * r[2]) / grip;
    opposed = std::max(std::abs(u[1] * r[2] - u[2] * r[1]) / grip, -along);
  }
  if (slip > 0.0)
    opposed = std::min(opposed, std::hypot(r[1] + mu * r[0] * u[1] / slip, r[2] + mu * r[0] * u[2] / slip));
  const double slide = std::max({std::abs(u[0]), -r[0], std::abs(grip - mu * r[0]), opposed});
  return std::min({take_off, stick, slide});
}

}  // namespace tresse_test
