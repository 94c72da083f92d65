#include <tresse/bodies/motion.hpp>

#include <algorithm>
#include <cstddef>

#include <Eigen/Geometry>

namespace tresse::bodies {
namespace {

Matrix3 rotation_matrix(const Vector3& rotation_vector) {
  const double angle = rotation_vector.norm();
  if (angle == 0.0) return Matrix3::Identity();
  return Eigen::AngleAxisd(angle, rotation_vector / angle).toRotationMatrix();
}

}  // namespace

bool Motion::at_rest() const {
  const bool still_keys = std::all_of(keyframes.begin(), keyframes.end(), [&](const Keyframe& key) {
    return key.displacement == keyframes.front().displacement && key.rotation == keyframes.front().rotation;
  });
  return still_keys && velocity.isZero(0.0) && angular_velocity.isZero(0.0);
}

Pose displacement(const Motion& motion, double time) {
  Pose pose;
  if (!motion.keyframes.empty()) {
    const auto& keys = motion.keyframes;
    const auto next =
        std::upper_bound(keys.begin(), keys.end(), time, [](double t, const Keyframe& key) { return t < key.time; });
    if (next == keys.begin() || next == keys.end()) {
      const Keyframe& key = next == keys.begin() ? keys.front() : keys.back();
      pose.position = key.displacement;
      pose.frame = rotation_matrix(key.rotation);
    } else {
      const Keyframe& from = *(next - 1);
      double weight = (time - from.time) / (next->time - from.time);
      if (motion.interpolation == Motion::Interpolation::smooth) weight *= weight * (3.0 - 2.0 * weight);
      pose.position = from.displacement + weight * (next->displacement - from.displacement);
      pose.frame = rotation_matrix(from.rotation + weight * (next->rotation - from.rotation));
    }
  }
  const double until = motion.stop ? std::min(time, *motion.stop) : time;
  const double elapsed = std::max(until, motion.start) - motion.start;
  if (elapsed > 0.0) {
    pose.position += elapsed * motion.velocity;
    pose.frame = rotation_matrix(elapsed * motion.angular_velocity) * pose.frame;
  }
  return pose;
}

}  // namespace tresse::bodies
