#include <tresse/dynamics/sensitivity.hpp>

#include <Eigen/Geometry>

#include <tresse/base/errors.hpp>
#include <tresse/rods/chain_field.hpp>

namespace tresse::dynamics {
namespace {

double product(const VectorX& a, const VectorX& b) { return a.size() == 0 || b.size() == 0 ? 0.0 : a.dot(b); }

double along(const FibreVariation& gradient, const FibreVariation& direction) {
  return gradient.stiffness.dot(direction.stiffness) + gradient.density * direction.density +
         gradient.damping_time * direction.damping_time + gradient.drag * direction.drag +
         product(gradient.natural, direction.natural) + gradient.root.linear.dot(direction.root.linear) +
         gradient.root.angular.dot(direction.root.angular) + product(gradient.curvature, direction.curvature) +
         product(gradient.velocity, direction.velocity);
}

std::vector<rods::FieldPlace> placed(const rods::Rod& rod, const rods::ChainField& field,
                                     const std::vector<AxisPlace>& places) {
  std::vector<rods::FieldPlace> out;
  out.reserve(places.size());
  for (const AxisPlace& place : places) out.push_back(field.place(rod, place.element, place.u));
  return out;
}

}  // namespace

double along(const Variation& gradient, const Variation& direction) {
  double out = gradient.gravity.dot(direction.gravity) + gradient.wind.dot(direction.wind) +
               gradient.friction * direction.friction;
  if (gradient.fibres.empty() || direction.fibres.empty()) return out;
  require(gradient.fibres.size() == direction.fibres.size(), "gradients: a direction needs one entry a fibre");
  for (std::size_t f = 0; f < direction.fibres.size(); ++f) out += along(gradient.fibres[f], direction.fibres[f]);
  return out;
}

std::vector<Matrix3X> position_changes(const rods::Rod& rod, const std::vector<const FibreChange*>& changes,
                                       const std::vector<AxisPlace>& places) {
  const rods::ChainField field(rod);
  const std::vector<rods::FieldPlace> at = placed(rod, field, places);
  std::vector<Matrix3X> out;
  for (const FibreChange* change : changes) {
    const rods::FieldMotion motion = field.motion(change->displacement);
    Matrix3X& own = out.emplace_back(3, static_cast<Eigen::Index>(places.size()));
    for (std::size_t i = 0; i < at.size(); ++i) {
      const auto twist = field.twist(at[i], motion);
      own.col(static_cast<Eigen::Index>(i)) = twist.head<3>() + Vector3(twist.tail<3>()).cross(at[i].offset);
    }
  }
  return out;
}

FibreChange by_positions(const rods::Rod& rod, const Matrix3X& by, const std::vector<AxisPlace>& places) {
  require(by.cols() == static_cast<Eigen::Index>(places.size()), "gradients: expected a derivative for each point");
  const rods::ChainField field(rod);
  const std::vector<rods::FieldPlace> at = placed(rod, field, places);
  std::vector<rods::PlacedWrench> wrenches(at.size());
  for (std::size_t i = 0; i < at.size(); ++i) {
    const Vector3 own = by.col(static_cast<Eigen::Index>(i));
    wrenches[i].place = &at[i];
    wrenches[i].wrench.head<3>() = own;
    wrenches[i].wrench.tail<3>() = at[i].offset.cross(own);
  }
  return {field.force(nullptr, wrenches), VectorX::Zero(field.size())};
}

}  // namespace tresse::dynamics
