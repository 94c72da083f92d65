#include <tresse/bodies/shapes.hpp>

namespace tresse::bodies {
namespace {

struct ToCapsules {
  std::vector<Capsule> operator()(const Plane&) const { return {}; }
  std::vector<Capsule> operator()(const Sphere& sphere) const {
    return {{sphere.center, sphere.center, sphere.radius}};
  }
  std::vector<Capsule> operator()(const Capsule& capsule) const { return {capsule}; }
  std::vector<Capsule> operator()(const Cylinder& cylinder) const {
    const Vector3 half = 0.5 * cylinder.length * cylinder.axis;
    return {{cylinder.center - half, cylinder.center + half, cylinder.radius}};
  }
  std::vector<Capsule> operator()(const Comb& comb) const {
    const double pitch = comb.tooth_diameter + comb.tooth_spacing;
    const double half_width = 0.5 * pitch * (comb.teeth - 1);
    std::vector<Capsule> parts;
    parts.push_back({comb.base - half_width * comb.row_direction, comb.base + half_width * comb.row_direction,
                     0.5 * comb.handle_diameter});
    for (int tooth = 0; tooth < comb.teeth; ++tooth) {
      const Vector3 root = comb.base + (pitch * tooth - half_width) * comb.row_direction;
      parts.push_back({root, root + comb.tooth_length * comb.tooth_direction, 0.5 * comb.tooth_diameter});
    }
    return parts;
  }
};

}  // namespace

std::vector<Capsule> capsules(const Shape& shape) { return std::visit(ToCapsules{}, shape); }

}  // namespace tresse::bodies
