#include <gtest/gtest.h>

#include "render/hair_scattering.hpp"

namespace TRESSE_TEST_FILE {

using tresse::render::Color;
using tresse::render::HairMaterial;
using tresse::render::HairScattering;
using tresse::render::pi;
using tresse::render::Random;
using tresse::render::Vec3;

// The longitudinal terms of a tilted viewer near grazing lose a little at the clamp; measured under 0.5 %.
constexpr float furnace_tolerance = 0.01F;

Vec3 on_sphere(float z, float phi) {
  const float r = std::sqrt(1.0F - z * z);
  return {r * std::cos(phi), r * std::sin(phi), z};
}

/// Integral over the sphere by the midpoint rule in (z, phi).
template <class F>
float sphere_integral(const F& f, int n = 200) {
  double sum = 0.0;
  for (int i = 0; i < n; ++i) {
    for (int j = 0; j < 2 * n; ++j) {
      sum += f(on_sphere(-1.0F + (2.0F * static_cast<float>(i) + 1.0F) / static_cast<float>(n),
                         pi * (static_cast<float>(j) + 0.5F) / static_cast<float>(n)));
    }
  }
  return static_cast<float>(sum * 2.0 * pi / (static_cast<double>(n) * n));
}

HairScattering at(const HairMaterial& material, float h, float sin_theta) {
  const Vec3 normal(std::sqrt(1.0F - h * h), h, 0.0F);
  return {material, Vec3::UnitZ(), normal, Vec3(std::sqrt(1.0F - sin_theta * sin_theta), 0.0F, sin_theta)};
}

TEST(HairScattering, white_furnace_neither_gains_nor_loses) {
  HairMaterial material;
  material.absorption = Color::Zero();
  for (const float h : {-0.9F, -0.3F, 0.0F, 0.6F}) {
    for (const float sin_theta : {-0.6F, 0.0F, 0.4F}) {
      const HairScattering hair = at(material, h, sin_theta);
      const float albedo = sphere_integral([&](const Vec3& d) { return hair.scattered(d)[0]; });
      EXPECT_NEAR(albedo, 1.0F, furnace_tolerance) << "h " << h << ", sin theta " << sin_theta;
    }
  }
}

TEST(HairScattering, density_integrates_to_one) {
  const HairScattering hair = at({}, 0.4F, 0.3F);
  EXPECT_NEAR(sphere_integral([&](const Vec3& d) { return hair.density(d); }), 1.0F, furnace_tolerance);
}

TEST(HairScattering, samples_follow_their_density) {
  const HairScattering hair = at({}, -0.5F, 0.2F);
  const auto test_function = [](const Vec3& d) { return (1.0F + d.x()) * (1.0F + 0.5F * d.z() + 0.3F * d.y()); };
  const float exact = sphere_integral([&](const Vec3& d) { return hair.density(d) * test_function(d); });
  Random random(7);
  double mean = 0.0;
  constexpr int n = 100000;
  for (int i = 0; i < n; ++i) mean += test_function(hair.sample(random).direction) / n;
  EXPECT_NEAR(mean, exact, 0.01);  // three standard errors of a function of spread one
}

TEST(HairScattering, a_smooth_fibre_mirrors_about_its_normal) {
  HairMaterial material;
  material.absorption = Color::Constant(50.0F);  // what enters never leaves: reflection alone
  material.longitudinal_roughness = 0.05F;
  material.azimuthal_roughness = 0.05F;
  material.scale_tilt = 0.0F;
  const Vec3 viewer(1.0F, 0.0F, 0.0F);
  const Vec3 normal = Vec3(0.8F, 0.6F, 0.0F);
  const HairScattering hair(material, Vec3::UnitZ(), normal, viewer);
  const Vec3 mirror = 2.0F * normal.dot(viewer) * normal - viewer;
  const Vec3 wrong_side(mirror.x(), -mirror.y(), 0.0F);
  EXPECT_GT(hair.scattered(mirror)[0], 100.0F * hair.scattered(wrong_side)[0]);
}

TEST(HairScattering, absorption_only_darkens) {
  HairMaterial dark;
  dark.absorption = Color(0.5F, 1.0F, 2.0F);
  const HairScattering hair = at(dark, 0.2F, 0.1F);
  Color albedo;
  for (int k = 0; k < 3; ++k) albedo[k] = sphere_integral([&](const Vec3& d) { return hair.scattered(d)[k]; });
  EXPECT_LT(albedo[2], albedo[1]);
  EXPECT_LT(albedo[1], albedo[0]);
  EXPECT_LT(albedo[0], 1.0F);
  EXPECT_GT(albedo[2], 0.0F);
}

}  // namespace TRESSE_TEST_FILE
