#pragma once

#include <array>
#include <optional>
#include <string_view>
#include <vector>

#include <tresse/base/enum_words.hpp>
#include <tresse/base/types.hpp>

namespace tresse::bodies {

struct Keyframe {
  double time = 0.0;                       ///< strictly increasing [s]
  Vector3 displacement = Vector3::Zero();  ///< of the reference point, world axes (3) [m]
  Vector3 rotation = Vector3::Zero();      ///< rotation vector about the reference point, world axes (3) [rad]
};

/// Prescribed rigid motion, applied on top of a reference pose: keyframes, then a constant velocity and rotation
/// between `start` and `stop`. Displacements add; rotations about the reference point compose, the constant one
/// outermost.
struct Motion {
  enum class Interpolation {
    linear,  ///< constant velocity between keys (rotations: along the vector's line)
    smooth,  ///< cubic with zero speed at every key
  };
  std::vector<Keyframe> keyframes;  ///< constant before the first and after the last
  Interpolation interpolation = Interpolation::linear;
  Vector3 velocity = Vector3::Zero();          ///< (3) [m/s]
  Vector3 angular_velocity = Vector3::Zero();  ///< world axes, about the reference point (3) [rad/s]
  double start = 0.0;                          ///< [s]
  std::optional<double> stop;                  ///< > start; none: never [s]

  bool at_rest() const;
};

/// Rigid displacement at `time`: a point x of the reference pose moves to
/// reference + position + frame (x - reference).
Pose displacement(const Motion& motion, double time);

}  // namespace tresse::bodies

namespace tresse {

template <>
struct Words<bodies::Motion::Interpolation> {
  static constexpr std::array<std::string_view, 2> list{"linear", "smooth"};
};

}  // namespace tresse
