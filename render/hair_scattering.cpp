#include "render/hair_scattering.hpp"

#include <algorithm>

namespace tresse::render {
namespace {

float square(float x) { return x * x; }
float safe_sqrt(float x) { return std::sqrt(std::max(x, 0.0F)); }

float power(float x, int n) {
  float out = 1.0F;
  for (; n > 0; n >>= 1, x *= x) {
    if (n & 1) out *= x;
  }
  return out;
}

/// Reflectance of a smooth dielectric seen from outside, unpolarised.
float fresnel(float cos_i, float eta) {
  const float cos_1 = std::clamp(cos_i, 0.0F, 1.0F);
  const float cos_2 = safe_sqrt(1.0F - (1.0F - cos_1 * cos_1) / (eta * eta));
  const float parallel = (eta * cos_1 - cos_2) / (eta * cos_1 + cos_2);
  const float perpendicular = (cos_1 - eta * cos_2) / (cos_1 + eta * cos_2);
  return 0.5F * (parallel * parallel + perpendicular * perpendicular);
}

/// log I_0(x): power series for small x, asymptotic series beyond.
float log_bessel_i0(float x) {
  if (x > 12.0F) return x + 0.5F * (std::log(1.0F / (2.0F * pi * x)) + 1.0F / (4.0F * x));
  float term = 1.0F;
  float sum = 1.0F;
  for (int k = 1; k < 30; ++k) {
    term *= square(0.5F * x / static_cast<float>(k));
    sum += term;
    if (term < 1e-8F * sum) break;
  }
  return std::log(sum);
}

/// Longitudinal scattering: a spherical Gaussian averaged over azimuth, normalised over the sphere. @cite deon2011 eq.
/// 7
float longitudinal(float sin_i, float cos_i, float sin_o, float cos_o, float variance) {
  const float a = cos_i * cos_o / variance;
  const float b = sin_i * sin_o / variance;
  // 1 / (2 v sinh(1/v)) = exp(-1/v) / (v (1 - exp(-2/v))), which cannot overflow.
  const float scale = variance * (1.0F - std::exp(-2.0F / variance));
  return std::exp(log_bessel_i0(a) - b - 1.0F / variance) / scale;
}

float logistic_cdf(float x, float s) { return 1.0F / (1.0F + std::exp(-x / s)); }

/// Logistic density of scale s cut to [-pi, pi].
float trimmed_logistic(float x, float s) {
  const float e = std::exp(-std::abs(x) / s);
  return e / (s * square(1.0F + e)) / (logistic_cdf(pi, s) - logistic_cdf(-pi, s));
}

float sample_trimmed_logistic(float u, float s) {
  const float low = logistic_cdf(-pi, s);
  const float v = low + u * (logistic_cdf(pi, s) - low);
  return std::clamp(-s * std::log(1.0F / std::max(v, 1e-7F) - 1.0F), -pi, pi);
}

float wrap(float angle) { return angle - 2.0F * pi * std::round(angle / (2.0F * pi)); }

}  // namespace

Color melanin_absorption(float eumelanin, float pheomelanin) {
  return eumelanin * Color(0.419F, 0.697F, 1.37F) + pheomelanin * Color(0.187F, 0.4F, 1.05F);
}

HairScattering::HairScattering(const HairMaterial& material, const Vec3& tangent, const Vec3& normal,
                               const Vec3& to_viewer)
    : tangent_(tangent) {
  const float sin_theta = std::clamp(to_viewer.dot(tangent), -1.0F, 1.0F);
  const float cos_theta = safe_sqrt(1.0F - sin_theta * sin_theta);
  const Vec3 across = to_viewer - sin_theta * tangent;
  axis_1_ = across.norm() > 1e-5F ? Vec3(across.normalized()) : normal;
  axis_2_ = tangent.cross(axis_1_);
  // Offset of the ray from the axis over the radius. Mirror reflection turns the azimuth by twice the normal's.
  const float h = std::clamp(-normal.dot(axis_2_), -0.9999F, 0.9999F);
  set_attenuations(material, sin_theta, cos_theta, h);
  set_shapes(material, sin_theta, cos_theta);
}

void HairScattering::set_attenuations(const HairMaterial& material, float sin_theta, float cos_theta, float h) {
  const float eta = material.refractive_index;
  const float cos_gamma_o = safe_sqrt(1.0F - h * h);
  const float gamma_o = std::asin(h);
  const float cos_theta_t = safe_sqrt(1.0F - square(sin_theta / eta));
  // Index that makes refraction in the normal plane obey Snell's law. @cite marschner2003 app. B
  const float eta_across = safe_sqrt(eta * eta - sin_theta * sin_theta) / std::max(cos_theta, 1e-4F);
  const float sin_gamma_t = h / eta_across;
  const float cos_gamma_t = safe_sqrt(1.0F - sin_gamma_t * sin_gamma_t);
  const float gamma_t = std::asin(std::clamp(sin_gamma_t, -1.0F, 1.0F));
  const Color through = (-material.absorption * (2.0F * cos_gamma_t / cos_theta_t)).exp();
  const float f = fresnel(cos_theta * cos_gamma_o, eta);
  lobes_[0].attenuation = Color::Constant(f);
  lobes_[1].attenuation = square(1.0F - f) * through;
  lobes_[2].attenuation = lobes_[1].attenuation * through * f;
  lobes_[3].attenuation = lobes_[2].attenuation * through * f / (1.0F - through * f).max(1e-4F);
  float total = 0.0F;
  for (int p = 0; p < lobes; ++p) {
    lobes_[p].azimuth = 2.0F * static_cast<float>(p) * gamma_t - 2.0F * gamma_o + static_cast<float>(p) * pi;
    lobes_[p].probability = luminance(lobes_[p].attenuation);
    total += lobes_[p].probability;
  }
  for (Lobe& lobe : lobes_) lobe.probability /= total;
}

void HairScattering::set_shapes(const HairMaterial& material, float sin_theta, float cos_theta) {
  // Fits that make roughness feel linear. @cite chiang2016 eqs. 7 and 8
  const float beta = material.longitudinal_roughness;
  const float variance = square(0.726F * beta + 0.812F * beta * beta + 3.7F * power(beta, 20));
  const float beta_n = material.azimuthal_roughness;
  logistic_scale_ = std::sqrt(pi / 8.0F) * (0.265F * beta_n + 1.194F * beta_n * beta_n + 5.372F * power(beta_n, 22));
  const std::array<float, lobes> variances = {variance, 0.25F * variance, 4.0F * variance, 4.0F * variance};
  const std::array<float, lobes> tilts = {2.0F, -1.0F, -4.0F, 0.0F};
  for (int p = 0; p < lobes; ++p) {
    Lobe& lobe = lobes_[p];
    lobe.variance = std::max(variances[p], 1e-4F);
    const float tilt = tilts[p] * material.scale_tilt;
    lobe.sin_theta = sin_theta * std::cos(tilt) - cos_theta * std::sin(tilt);
    lobe.cos_theta = std::abs(cos_theta * std::cos(tilt) + sin_theta * std::sin(tilt));
  }
}

Eigen::Vector3f HairScattering::local(const Vec3& direction) const {
  const float sin_theta = std::clamp(direction.dot(tangent_), -1.0F, 1.0F);
  return {sin_theta, safe_sqrt(1.0F - sin_theta * sin_theta),
          std::atan2(direction.dot(axis_2_), direction.dot(axis_1_))};
}

float HairScattering::azimuthal(float phi, const Lobe& lobe, bool last) const {
  return last ? 1.0F / (2.0F * pi) : trimmed_logistic(wrap(phi - lobe.azimuth), logistic_scale_);
}

float HairScattering::lobe_density(const Lobe& lobe, float sin_i, float cos_i, float phi, bool last) const {
  return longitudinal(sin_i, cos_i, lobe.sin_theta, lobe.cos_theta, lobe.variance) * azimuthal(phi, lobe, last);
}

Color HairScattering::scattered(const Vec3& to_light) const {
  const Eigen::Vector3f at = local(to_light);
  Color sum = Color::Zero();
  for (int p = 0; p < lobes; ++p) {
    sum += lobes_[p].attenuation * lobe_density(lobes_[p], at[0], at[1], at[2], p == lobes - 1);
  }
  return sum;
}

float HairScattering::density(const Vec3& to_light) const {
  const Eigen::Vector3f at = local(to_light);
  float sum = 0.0F;
  for (int p = 0; p < lobes; ++p) {
    sum += lobes_[p].probability * lobe_density(lobes_[p], at[0], at[1], at[2], p == lobes - 1);
  }
  return sum;
}

HairScattering::Sample HairScattering::sample(Random& random) const {
  float pick = random.next();
  int p = 0;
  while (p < lobes - 1 && pick >= lobes_[p].probability) pick -= lobes_[p++].probability;
  const Lobe& lobe = lobes_[p];
  // The spherical Gaussian about the specular direction, then its angle to the tangent. @cite deon2013
  const Eigen::Vector2f u = random.next2();
  const float v = lobe.variance;
  const float w = 1.0F + v * std::log(std::max(u[0], 1e-6F) + (1.0F - u[0]) * std::exp(-2.0F / v));
  const float around = safe_sqrt(1.0F - w * w) * std::cos(2.0F * pi * u[1]);
  const float sin_i = std::clamp(-w * lobe.sin_theta + around * lobe.cos_theta, -1.0F, 1.0F);
  const float cos_i = safe_sqrt(1.0F - sin_i * sin_i);
  const float phi = p == lobes - 1 ? 2.0F * pi * random.next()
                                   : lobe.azimuth + sample_trimmed_logistic(random.next(), logistic_scale_);
  Sample out;
  out.direction = sin_i * tangent_ + cos_i * (std::cos(phi) * axis_1_ + std::sin(phi) * axis_2_);
  out.density = density(out.direction);
  out.weight = out.density > 0.0F ? Color(scattered(out.direction) / out.density) : Color::Zero();
  return out;
}

}  // namespace tresse::render
