#pragma once

#include <memory>

#include "render/camera.hpp"
#include "render/coated_surface.hpp"
#include "render/environment.hpp"
#include "render/hair_scattering.hpp"
#include "render/image.hpp"
#include "render/looks.hpp"
#include "render/scene.hpp"

namespace tresse::render {

struct RenderOptions {
  int width = 1600;        ///< 1 to 16384 [px]
  int height = 1000;       ///< 1 to 16384 [px]
  int samples = 64;        ///< most rays from the camera through a pixel; fewer where it is already smooth; 1 to 65536
  double smoothing = 0.6;  ///< of noise: by pixels that differ by so many standard errors; 0: none; at most 10
  double noise = 0.004;    ///< standard error of its brightness as shown, of 1, at which a pixel is finished; >= 0
  int threads = 0;         ///< >= 1, or 0: all the machine has; the picture does not depend on it
  int max_bounces = 24;    ///< light paths end at the latest here; >= 1
  double thickness = 1.0;  ///< factor on the fibres' radii; > 0
  double least_pixels = 1.2;    ///< thinnest diameter that a fibre is taken to have; >= 0 [px]
  double covered_pixels = 1.0;  ///< a thinner fibre is drawn so wide and lets the rest of the light through; >= 0 [px]
  Looks looks;                  ///< obstacles and groups beyond these look like `hair`, `solid` and `paper`
  HairMaterial hair;
  double hair_variation = 0.15;  ///< spread of absorption between fibres, relative; in [0, 1)
  CoatedSurface::Material solid;
  std::shared_ptr<const Environment> environment;  ///< instead of the studio's lights; none: these
  CoatedSurface::Material paper = FibreLook().paper;
};

/// Thinnest diameter that reads well in a picture of so many fibres [px]: a few fibres are drawn wider than they are.
/// From a thousand on they are the less so the more they are, for they would fill the gaps between them.
double default_least_pixels(std::size_t fibres);

/// Radiance that the camera sees, by path tracing with light and scattering sampled together. @cite veach1997
/// The same bytes for any number of threads: every random number is a hash of pixel and sample.
/// Throws InvalidInput for a scene, camera or option out of range.
Image render(const Scene& scene, const Camera& camera, const RenderOptions& options);

}  // namespace tresse::render
