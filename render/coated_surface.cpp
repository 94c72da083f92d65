#include "render/coated_surface.hpp"

#include <algorithm>

namespace tresse::render {
namespace {

/// GGX distribution of normals. @cite walter2007 eq. 33
float distribution(const Vec3& h, float alpha) {
  const float c2 = h.z() * h.z();
  const float d = c2 * (alpha * alpha - 1.0F) + 1.0F;
  return alpha * alpha / (pi * d * d);
}

/// Smith's Lambda of the masking function. @cite heitz2014
float lambda(const Vec3& w, float alpha) {
  const float c2 = std::max(w.z() * w.z(), 1e-8F);
  return 0.5F * (std::sqrt(1.0F + alpha * alpha * (1.0F - c2) / c2) - 1.0F);
}

/// A normal as often as the viewer sees it. @cite heitz2018
Vec3 visible_normal(const Vec3& v, float alpha, const Eigen::Vector2f& u) {
  const Vec3 stretched = Vec3(alpha * v.x(), alpha * v.y(), v.z()).normalized();
  Vec3 t1, t2;
  complete_basis(stretched, t1, t2);
  const float r = std::sqrt(u[0]);
  const float angle = 2.0F * pi * u[1];
  const float x = r * std::cos(angle);
  // The disc's lower half is compressed by the stretched viewer's height, in the direction of the up-slope.
  const Vec3 up = (Vec3::UnitZ() - stretched.z() * stretched);
  if (up.norm() > 1e-4F) {
    t2 = up.normalized();
    t1 = t2.cross(stretched);
  }
  const float s = 0.5F * (1.0F + stretched.z());
  const float y = (1.0F - s) * std::sqrt(std::max(0.0F, 1.0F - x * x)) + s * r * std::sin(angle);
  const float z = std::sqrt(std::max(0.0F, 1.0F - x * x - y * y));
  const Vec3 h = x * t1 + y * t2 + z * stretched;
  return Vec3(alpha * h.x(), alpha * h.y(), std::max(h.z(), 1e-6F)).normalized();
}

}  // namespace

CoatedSurface::CoatedSurface(const Material& material, const Vec3& normal, const Vec3& to_viewer)
    : material_(material), n_(normal) {
  complete_basis(n_, t_, b_);
  viewer_ = {to_viewer.dot(t_), to_viewer.dot(b_), std::max(to_viewer.dot(n_), 1e-4F)};
  const float gloss = coat(viewer_.z());
  coat_share_ = std::clamp(gloss / (gloss + luminance(material_.albedo)), 0.1F, 0.9F);
}

float CoatedSurface::coat(float cosine) const {
  const float m = 1.0F - std::clamp(cosine, 0.0F, 1.0F);
  return material_.reflectance + (1.0F - material_.reflectance) * m * m * m * m * m;
}

Color CoatedSurface::scattered(const Vec3& to_light) const {
  const Vec3 l(to_light.dot(t_), to_light.dot(b_), to_light.dot(n_));
  if (l.z() <= 0.0F) return Color::Zero();
  const Vec3 h = (l + viewer_).normalized();
  const float a = material_.roughness;
  const float g = 1.0F / (1.0F + lambda(l, a) + lambda(viewer_, a));
  const float gloss = coat(h.dot(viewer_)) * distribution(h, a) * g / (4.0F * viewer_.z());
  const Color matte = material_.albedo * ((1.0F - coat(viewer_.z())) * (1.0F - coat(l.z())) * l.z() / pi);
  return matte + gloss;
}

float CoatedSurface::density(const Vec3& to_light) const {
  const Vec3 l(to_light.dot(t_), to_light.dot(b_), to_light.dot(n_));
  if (l.z() <= 0.0F) return 0.0F;
  const Vec3 h = (l + viewer_).normalized();
  const float a = material_.roughness;
  const float gloss = distribution(h, a) / ((1.0F + lambda(viewer_, a)) * 4.0F * viewer_.z());
  return coat_share_ * gloss + (1.0F - coat_share_) * l.z() / pi;
}

CoatedSurface::Sample CoatedSurface::sample(Random& random) const {
  const float pick = random.next();
  const Eigen::Vector2f u = random.next2();
  Vec3 l;
  if (pick < coat_share_) {
    const Vec3 h = visible_normal(viewer_, material_.roughness, u);
    l = 2.0F * h.dot(viewer_) * h - viewer_;
  } else {
    const float r = std::sqrt(u[0]);
    l = {r * std::cos(2.0F * pi * u[1]), r * std::sin(2.0F * pi * u[1]), std::sqrt(1.0F - u[0])};
  }
  Sample out;
  out.direction = (l.x() * t_ + l.y() * b_ + l.z() * n_).normalized();
  out.density = density(out.direction);
  out.weight = out.density > 0.0F ? Color(scattered(out.direction) / out.density) : Color::Zero();
  return out;
}

}  // namespace tresse::render
