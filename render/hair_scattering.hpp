#pragma once

#include <array>

#include "render/sampling.hpp"

namespace tresse::render {

/// How a hair colours and spreads light.
struct HairMaterial {
  Color absorption = {0.42F, 0.75F, 1.35F};  ///< per radius of fibre [-], >= 0
  float longitudinal_roughness = 0.3F;       ///< in (0, 1]
  float azimuthal_roughness = 0.3F;          ///< in (0, 1]
  float scale_tilt = 0.035F;                 ///< of the cuticle's scales [rad]
  float refractive_index = 1.55F;            ///< > 1
};

/// Absorption of human hair per radius from the concentrations of its two pigments. @cite donner2006; deon2011
Color melanin_absorption(float eumelanin, float pheomelanin);

/// Near-field scattering of a dielectric, absorbing fibre at one point of its surface: reflection R, transmission TT,
/// one internal reflection TRT, and all higher orders in one last lobe. Each lobe is a product of a longitudinal, an
/// azimuthal and an attenuation term. @cite marschner2003; deon2011; chiang2016
///
/// Directions point away from the fibre. Without absorption the lobes' attenuations sum to one; the longitudinal
/// terms are normalised over the sphere except for the tilt's clamp (measured in tests/render).
class HairScattering {
 public:
  static constexpr int lobes = 4;

  struct Sample {
    Vec3 direction;
    Color weight;  ///< scattered over density, cosine included
    float density = 0.0F;
  };

  /// `tangent` runs from root to tip, `normal` is the surface's, orthogonal to it, `to_viewer` any direction (all
  /// unit).
  HairScattering(const HairMaterial& material, const Vec3& tangent, const Vec3& normal, const Vec3& to_viewer);

  /// Radiance towards the viewer per radiance from `to_light` and solid angle, cosine included. [1/sr]
  Color scattered(const Vec3& to_light) const;
  /// Density of sample(), per solid angle. [1/sr]
  float density(const Vec3& to_light) const;
  Sample sample(Random& random) const;

 private:
  struct Lobe {
    Color attenuation;
    float probability = 0.0F;
    float sin_theta = 0.0F;  ///< of the viewer, tilted by the scales
    float cos_theta = 1.0F;
    float variance = 0.0F;  ///< longitudinal
    float azimuth = 0.0F;   ///< deflection of a smooth fibre [rad]
  };

  void set_attenuations(const HairMaterial& material, float sin_theta, float cos_theta, float h);
  void set_shapes(const HairMaterial& material, float sin_theta, float cos_theta);
  float azimuthal(float phi, const Lobe& lobe, bool last) const;
  float lobe_density(const Lobe& lobe, float sin_i, float cos_i, float phi, bool last) const;
  Eigen::Vector3f local(const Vec3& direction) const;  ///< (sin theta, cos theta, phi from the viewer's azimuth)

  std::array<Lobe, lobes> lobes_;
  Vec3 tangent_;
  Vec3 axis_1_;  ///< across the fibre, towards the viewer
  Vec3 axis_2_;
  float logistic_scale_ = 0.1F;
};

}  // namespace tresse::render
