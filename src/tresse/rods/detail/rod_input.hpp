#pragma once

#include <string>
#include <vector>

#include <tresse/base/types.hpp>
#include <tresse/rods/section.hpp>

namespace tresse::rods::detail {

/// Checks of what a rod is made from; each throws InvalidInput in one line that begins with the model's name.
class RodInput {
 public:
  explicit RodInput(std::string model) : model_(std::move(model)) {}
  void check(const Material& material) const;
  void check(const char* what, std::size_t index, double length, const CrossSection& section) const;
  void check(const char* what, std::size_t index, const Vector3& rest_curvature) const;

 private:
  std::string model_;
};

/// Throws InvalidInput unless a curve can be fitted to a row of points: 2 to 10 000, finite, consecutive ones apart.
void check_points(const std::vector<Vector3>& points);

}  // namespace tresse::rods::detail
