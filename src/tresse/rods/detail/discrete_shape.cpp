#include <tresse/rods/detail/discrete_shape.hpp>

#include <cmath>
#include <string>

#include <Eigen/Geometry>

#include <tresse/base/errors.hpp>
#include <tresse/math/rotations.hpp>

namespace tresse::rods::detail {

Vector3 parallel_transport(const Vector3& from, const Vector3& to, const Vector3& d) {
  const double chi = 1.0 + from.dot(to);
  // Turned right over: no smallest rotation is, any will do.
  if (chi < 1e-14) return d - d.dot(to) * to;
  return d - to.dot(d) / chi * (from + to);
}

EdgeFrame edge_frame(const Vector3& edge, const Vector3& director, double angle) {
  EdgeFrame out;
  out.length = edge.norm();
  out.tangent = edge / out.length;
  const Vector3 second = out.tangent.cross(director);
  const double c = std::cos(angle), s = std::sin(angle);
  out.director_1 = c * director + s * second;
  out.director_2 = c * second - s * director;
  return out;
}

Vector3 strain_of_turn(const Vector3& turn) {
  constexpr double largest = 3.0;
  const double bend = turn.tail<2>().norm();
  require(std::abs(turn[0]) < largest && bend < largest, [&] {
    return "rod of nodes: a node twists by " + std::to_string(turn[0]) + " rad and bends by " + std::to_string(bend) +
           " rad, expected less than 3; take shorter edges";
  });
  const double factor = bend > 1e-8 ? 2.0 * std::tan(0.5 * bend) / bend : 1.0;
  return {turn[0], factor * turn[1], factor * turn[2]};
}

Vector3 turn_of_strain(const Vector3& strain) {
  const double c = strain.tail<2>().norm();
  const double factor = c > 1e-8 ? 2.0 * std::atan(0.5 * c) / c : 1.0;
  return {strain[0], factor * strain[1], factor * strain[2]};
}

Vector3 turn_rate(const Vector3& strain, const Vector3& rate) {
  const double c = strain.tail<2>().norm();
  if (c <= 1e-8) return rate;
  const Eigen::Vector2d along = strain.tail<2>() / c;
  const double growth = along.dot(rate.tail<2>());
  const Eigen::Vector2d turning = rate.tail<2>() - growth * along;
  Vector3 out(rate[0], 0.0, 0.0);
  out.tail<2>() = growth / (1.0 + 0.25 * c * c) * along + 2.0 * std::atan(0.5 * c) / c * turning;
  return out;
}

/// Half of the twist, then the bend, then the other half: the binormal's components along the two sections' mean
/// axes are those along the axes between, times the cosine of half the twist; the angle of the bend makes up for that.
JointTurn joint_turn(const Vector3& turn, const Vector3& rate) {
  const Vector3 strain = strain_of_turn(turn);
  const double cosine = std::cos(0.5 * turn[0]), sine = std::sin(0.5 * turn[0]);
  const Vector3 across(0.0, turn[1], turn[2]);
  const Vector3 across_rate(0.0, rate[1], rate[2]);
  const double angle = across.norm();
  Vector3 bend = across / cosine;
  Vector3 bend_rate = across_rate / cosine + across * (0.5 * rate[0] * sine / (cosine * cosine));
  if (angle > 1e-8) {
    const Vector3 axis = across / angle;
    const double angle_rate = axis.dot(across_rate);
    const double half = 0.5 * strain.tail<2>().norm();  // tan(angle / 2)
    const double tangent = half / cosine;
    const double tangent_rate =
        0.5 * angle_rate * (1.0 + half * half) / cosine + 0.5 * rate[0] * half * sine / (cosine * cosine);
    const double wide = 2.0 * std::atan(tangent);
    bend = wide * axis;
    bend_rate =
        2.0 * tangent_rate / (1.0 + tangent * tangent) * axis + wide / angle * (across_rate - angle_rate * axis);
  }
  const Matrix3 half_twist = math::rotation_exp(Vector3(0.5 * turn[0], 0.0, 0.0));
  const Matrix3 bending = math::rotation_exp(bend);
  const Vector3 half_spin(0.5 * rate[0], 0.0, 0.0);
  return {half_twist * bending * half_twist,
          half_spin + half_twist * (math::rotation_exp_integral(bend) * bend_rate + bending * half_spin)};
}

}  // namespace tresse::rods::detail
