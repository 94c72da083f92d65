#pragma once

#include "render/sampling.hpp"

namespace tresse::render {

/// A matte body under a clear, slightly rough coat: Lambert plus GGX microfacets. @cite walter2007; heitz2018
class CoatedSurface {
 public:
  struct Material {
    Color albedo = {0.012F, 0.013F, 0.016F};
    float reflectance = 0.04F;  ///< of the coat at normal incidence
    float roughness = 0.16F;    ///< GGX alpha
  };
  struct Sample {
    Vec3 direction;
    Color weight;  ///< scattered over density, cosine included
    float density = 0.0F;
  };

  CoatedSurface(const Material& material, const Vec3& normal, const Vec3& to_viewer);

  Color scattered(const Vec3& to_light) const;  ///< cosine included [1/sr]
  float density(const Vec3& to_light) const;    ///< of sample() [1/sr]
  Sample sample(Random& random) const;

 private:
  float coat(float cosine) const;  ///< Schlick's approximation

  Material material_;
  Vec3 t_, b_, n_;
  Vec3 viewer_;  ///< in the local frame
  float coat_share_ = 0.5F;
};

}  // namespace tresse::render
