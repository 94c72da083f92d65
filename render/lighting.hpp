#pragma once

#include <vector>

#include "render/sampling.hpp"

namespace tresse::render {

/// A rectangle of light at infinity with soft edges: |x| <= half_width, |y| <= half_height in the plane at unit
/// distance along `direction`.
struct Softbox {
  Vec3 direction;  ///< to the light, unit
  Vec3 right;      ///< unit, orthogonal to `direction`
  float half_width = 0.3F;
  float half_height = 0.3F;
  Color radiance = {1, 1, 1};

  Color emitted(const Vec3& to_light) const;
  float density(const Vec3& to_light) const;  ///< of uniform sampling over the rectangle, per solid angle [1/sr]
  Vec3 sample(const Eigen::Vector2f& u) const;
};

/// A studio: a key light, a rim light and a fill from the camera's side, under a sky whose brightness depends on
/// height.
class Lighting {
 public:
  /// `towards` from the scene to the viewer, `up` the picture's; unit.
  Lighting(const Vec3& towards, const Vec3& up);

  Color sky(const Vec3& direction) const;
  Color softboxes(const Vec3& direction) const;
  float density(const Vec3& direction) const;  ///< of sample(), per solid angle [1/sr]
  Vec3 sample(float pick, const Eigen::Vector2f& u) const;

 private:
  std::vector<Softbox> boxes_;
  std::vector<float> shares_;
  Vec3 up_;
};

/// What the camera sees behind everything: a soft glow that darkens towards the corners. (x, y) in [-1, 1], y up.
Color backdrop(float x, float y);

}  // namespace tresse::render
