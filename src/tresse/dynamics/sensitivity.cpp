#include <tresse/dynamics/sensitivity.hpp>

#include <Eigen/Geometry>

#include <tresse/rods/chain_field.hpp>

namespace tresse::dynamics {

std::vector<Matrix3X> position_changes(const rods::Rod& rod, const std::vector<const FibreChange*>& changes,
                                       const std::vector<AxisPlace>& places) {
  const rods::ChainField field(rod);
  std::vector<rods::FieldPlace> at;
  for (const AxisPlace& place : places) at.push_back(field.place(place.element, place.u));
  std::vector<Matrix3X> out;
  for (const FibreChange* change : changes) {
    const rods::FieldMotion motion = field.motion(change->displacement, change->root);
    Matrix3X& own = out.emplace_back(3, static_cast<Eigen::Index>(places.size()));
    for (std::size_t i = 0; i < at.size(); ++i) {
      const auto twist = field.twist(at[i], motion, change->displacement);
      own.col(static_cast<Eigen::Index>(i)) = twist.head<3>() + Vector3(twist.tail<3>()).cross(at[i].offset);
    }
  }
  return out;
}

}  // namespace tresse::dynamics
