#include "render/lighting.hpp"

#include <algorithm>

namespace tresse::render {
namespace {

float smooth_step(float low, float high, float x) {
  const float t = std::clamp((x - low) / (high - low), 0.0F, 1.0F);
  return t * t * (3.0F - 2.0F * t);
}

/// Coordinates on the plane at unit distance; false behind it.
bool project(const Softbox& box, const Vec3& d, float& x, float& y) {
  const float along = d.dot(box.direction);
  if (along < 1e-3F) return false;
  x = d.dot(box.right) / along;
  y = d.dot(box.direction.cross(box.right)) / along;
  return std::abs(x) < box.half_width && std::abs(y) < box.half_height;
}

Softbox make_box(const Vec3& direction, const Vec3& up, float half_width, float half_height, const Color& radiance) {
  const Vec3 d = direction.normalized();
  return {d, up.cross(d).normalized(), half_width, half_height, radiance};
}

}  // namespace

Color Softbox::emitted(const Vec3& to_light) const {
  float x = 0.0F;
  float y = 0.0F;
  if (!project(*this, to_light, x, y)) return Color::Zero();
  const float edge = (1.0F - smooth_step(0.7F, 1.0F, std::abs(x) / half_width)) *
                     (1.0F - smooth_step(0.7F, 1.0F, std::abs(y) / half_height));
  return radiance * edge;
}

float Softbox::density(const Vec3& to_light) const {
  float x = 0.0F;
  float y = 0.0F;
  if (!project(*this, to_light, x, y)) return 0.0F;
  return std::pow(1.0F + x * x + y * y, 1.5F) / (4.0F * half_width * half_height);
}

Vec3 Softbox::sample(const Eigen::Vector2f& u) const {
  return (direction + (2.0F * u[0] - 1.0F) * half_width * right +
          (2.0F * u[1] - 1.0F) * half_height * direction.cross(right))
      .normalized();
}

Lighting::Lighting(const Vec3& towards, const Vec3& up, const Environment* environment) : environment_(environment) {
  const Vec3 right = up.cross(towards).normalized();
  up_ = towards.cross(right);
  const auto at = [&](float x, float y, float z) { return Vec3(x * right + y * up_ + z * towards); };
  boxes_.push_back(make_box(at(-0.75F, 0.85F, 0.55F), up_, 0.45F, 0.60F, Color(1.00F, 0.95F, 0.88F) * 7.5F));  // key
  boxes_.push_back(make_box(at(0.85F, 0.45F, -0.75F), up_, 0.22F, 0.80F, Color(0.86F, 0.93F, 1.00F) * 9.0F));  // rim
  boxes_.push_back(make_box(at(0.95F, 0.10F, 0.60F), up_, 0.50F, 0.70F, Color(0.90F, 0.95F, 1.00F) * 1.2F));   // fill
  float total = 0.0F;
  for (const Softbox& box : boxes_) {
    shares_.push_back(luminance(box.radiance) * box.half_width * box.half_height);
    total += shares_.back();
  }
  for (float& share : shares_) share /= total;
}

Color Lighting::sky(const Vec3& direction) const {
  if (environment_) return Color::Zero();
  const float height = 0.5F + 0.5F * direction.dot(up_);
  const Color low(0.30F, 0.28F, 0.27F);
  const Color high(0.62F, 0.68F, 0.76F);
  return low + (high - low) * smooth_step(0.1F, 0.9F, height);
}

Color Lighting::lights(const Vec3& direction) const {
  if (environment_) return environment_->radiance(direction);
  Color sum = Color::Zero();
  for (const Softbox& box : boxes_) sum += box.emitted(direction);
  return sum;
}

float Lighting::density(const Vec3& direction) const {
  if (environment_) return environment_->density(direction);
  float sum = 0.0F;
  for (std::size_t i = 0; i < boxes_.size(); ++i) sum += shares_[i] * boxes_[i].density(direction);
  return sum;
}

Vec3 Lighting::sample(float pick, const Eigen::Vector2f& u) const {
  if (environment_) return environment_->sample(u);
  std::size_t i = 0;
  while (i + 1 < boxes_.size() && pick >= shares_[i]) pick -= shares_[i++];
  return boxes_[i].sample(u);
}

Color Lighting::behind(float x, float y, const Vec3& direction) const {
  return environment_ ? environment_->radiance(direction) : backdrop(x, y);
}

Color backdrop(float x, float y) {
  const float r = std::sqrt(0.75F * x * x + (y - 0.12F) * (y - 0.12F));
  const Color middle(0.80F, 0.80F, 0.78F);
  const Color edge(0.36F, 0.39F, 0.43F);
  return middle + (edge - middle) * smooth_step(0.05F, 1.45F, r);
}

}  // namespace tresse::render
