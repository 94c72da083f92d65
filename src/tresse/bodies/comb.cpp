#include <tresse/bodies/comb.hpp>

#include <cmath>

namespace tresse::bodies {

void Comb::check(const Complain& complain) const {
  if (!(std::abs(tooth_direction.dot(row_direction)) <= limits::unit_error))
    complain("row_direction", "is not at a right angle to tooth_direction; expected orthogonal directions");
}

Parts Comb::parts() const {
  const double pitch = tooth_diameter + tooth_spacing;
  const double half_width = 0.5 * pitch * (teeth - 1);
  Parts out;
  const auto add = [&](const Vector3& from, const Vector3& to, double radius) {
    out.tubes.push_back({geometry::LineSegment{from, to}, radius});
  };
  add(base - half_width * row_direction, base + half_width * row_direction, 0.5 * handle_diameter);
  for (int tooth = 0; tooth < teeth; ++tooth) {
    const Vector3 root = base + (pitch * tooth - half_width) * row_direction;
    add(root, root + tooth_length * tooth_direction, 0.5 * tooth_diameter);
  }
  return out;
}

std::string Comb::part_name(int tube) const { return tube == 0 ? "the handle" : "tooth " + std::to_string(tube); }

}  // namespace tresse::bodies
