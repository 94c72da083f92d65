#pragma once

#include <filesystem>
#include <vector>

#include "render/image.hpp"

namespace tresse::render {

/// Light from all around: a picture of all directions, z up. Its middle is +x, its top +z; going right turns clockwise
/// seen from above.
class Environment {
 public:
  /// `image` is scaled to a mean luminance of `brightness` over the sphere; all of it is turned by `turn` about z
  /// [rad], counterclockwise. Throws InvalidInput for numbers that are negative or not finite, and for a black picture.
  Environment(Image image, float brightness, float turn);

  Color radiance(const Vec3& direction) const;  ///< between pixels bilinear
  float density(const Vec3& direction) const;   ///< of sample(), per solid angle [1/sr]
  Vec3 sample(const Eigen::Vector2f& u) const;  ///< about as often as it is bright

 private:
  Eigen::Vector2f place(const Vec3& direction) const;

  Image image_;
  float turn_;
  std::vector<float> rows_;     ///< (height + 1) shares of the light above each row
  std::vector<float> columns_;  ///< (height, width + 1) the same within each row, leftwards
};

/// A Radiance picture (.hdr: RGBE, run lengths or flat, rows from the top). Throws InvalidInput, one line, when it is
/// none, cut short, or larger than 32768 pixels a side.
Image read_hdr(const std::filesystem::path& file);

}  // namespace tresse::render
