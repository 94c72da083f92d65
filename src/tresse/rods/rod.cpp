#include <tresse/base/errors.hpp>
#include <tresse/math/rotations.hpp>
#include <tresse/rods/rod.hpp>

namespace tresse::rods {

RodState advanced(const Rod& rod, const RodState& state, const Eigen::Ref<const VectorX>& v, double dt,
                  const Pose& next_root, const Twist& root_velocity) {
  require(v.size() == rod.dof() && state.curvature.size() == rod.curvature_count(),
          "advanced: velocities or state do not match the rod");
  RodState next;
  next.curvature_rate = v.tail(rod.curvature_count());
  next.curvature = state.curvature + dt * next.curvature_rate;
  if (rod.root_condition() == RootCondition::free) {
    next.root_velocity.linear = v.head<3>();
    next.root_velocity.angular = v.segment<3>(3);
    next.root.position = state.root.position + dt * next.root_velocity.linear;
    next.root.frame =
        math::orthonormalised_once(math::rotation_exp(dt * next.root_velocity.angular) * state.root.frame);
  } else {
    next.root = next_root;
    next.root_velocity = root_velocity;
  }
  return next;
}

VectorX generalised_velocity(const Rod& rod, const RodState& state) {
  VectorX v(rod.dof());
  if (rod.root_condition() == RootCondition::free) {
    v.head<3>() = state.root_velocity.linear;
    v.segment<3>(3) = state.root_velocity.angular;
  }
  v.tail(rod.curvature_count()) = state.curvature_rate;
  return v;
}

}  // namespace tresse::rods
