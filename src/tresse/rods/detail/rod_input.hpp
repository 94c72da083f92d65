#pragma once

#include <string>

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

}  // namespace tresse::rods::detail
