#include <tresse/rods/detail/rod_input.hpp>

#include <cmath>

#include <tresse/base/errors.hpp>

namespace tresse::rods::detail {
namespace {

void require_positive(double value, const std::string& where, const char* what) {
  require(std::isfinite(value) && value > 0.0,
          where + ": " + what + " is " + std::to_string(value) + ", expected a positive number");
}

}  // namespace

void RodInput::check(const Material& material) const {
  const std::string where = model_ + " material";
  require_positive(material.density, where, "density");
  require_positive(material.young_modulus, where, "Young's modulus");
  require(material.poisson_ratio > -1.0 && material.poisson_ratio <= 0.5,
          where + ": Poisson's ratio is " + std::to_string(material.poisson_ratio) + ", expected (-1, 0.5]");
  require(std::isfinite(material.damping_time) && material.damping_time >= 0.0,
          where + ": damping time is " + std::to_string(material.damping_time) + ", expected 0 or more");
}

void RodInput::check(const char* what, std::size_t index, double length, const CrossSection& section) const {
  const std::string where = model_ + " " + what + " " + std::to_string(index);
  require_positive(length, where, "length");
  require_positive(section.half_axis_1, where, "half-axis 1");
  require_positive(section.half_axis_2, where, "half-axis 2");
}

void RodInput::check(const char* what, std::size_t index, const Vector3& rest_curvature) const {
  require(rest_curvature.allFinite(),
          model_ + " " + what + " " + std::to_string(index) + ": rest curvature is not finite, expected three numbers");
}

void check_points(const std::vector<Vector3>& points) {
  constexpr std::size_t most_points = 10'000;
  require(points.size() >= 2 && points.size() <= most_points,
          [&] { return "fit: " + std::to_string(points.size()) + " points; expected 2 to 10000"; });
  for (std::size_t i = 0; i < points.size(); ++i) {
    require(points[i].allFinite() && points[i].cwiseAbs().maxCoeff() <= 1e9,
            [&] { return "fit: point " + std::to_string(i) + " is not finite or beyond 1e9 m"; });
    require(i == 0 || (points[i] - points[i - 1]).norm() > 0.0, [&] {
      return "fit: points " + std::to_string(i - 1) + " and " + std::to_string(i) + " coincide; expected them apart";
    });
  }
}

}  // namespace tresse::rods::detail
