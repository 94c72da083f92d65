#pragma once

#include <vector>

#include "render/environment.hpp"

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
/// height. Or an environment instead of all of them.
class Lighting {
 public:
  /// `towards` from the scene to the viewer, `up` the picture's; unit. `environment` may be none; it has to live on.
  Lighting(const Vec3& towards, const Vec3& up, const Environment* environment = nullptr);

  Color sky(const Vec3& direction) const;     ///< what sample() leaves to scattering
  Color lights(const Vec3& direction) const;  ///< what it samples
  /// What the camera sees behind everything at (x, y) in [-1, 1], y up.
  Color behind(float x, float y, const Vec3& direction) const;
  float density(const Vec3& direction) const;  ///< of sample(), per solid angle [1/sr]
  Vec3 sample(float pick, const Eigen::Vector2f& u) const;

 private:
  const Environment* environment_;
  std::vector<Softbox> boxes_;
  std::vector<float> shares_;
  Vec3 up_;
};

/// What is behind everything in the studio: a soft glow that darkens towards the corners. (x, y) in [-1, 1], y up.
Color backdrop(float x, float y);

}  // namespace tresse::render
