#pragma once

#include <tresse/contact/pair_index.hpp>
#include <tresse/friction/problem.hpp>

namespace tresse::assembly {

/// One contact, for whoever writes, shows or judges it. `a` is a fibre or a rigid body, `b` any body.
struct ContactReport {
  BodyPoint a, b;
  Vector3 point_a = Vector3::Zero();  ///< on a's centreline or axis (3) [m]
  Vector3 point_b = Vector3::Zero();  ///< on b's centreline or axis; a plane: the foot of point_a (3) [m]
  Vector3 normal = Vector3::Zero();   ///< unit, from a to b (3) [-]
  Vector3 force = Vector3::Zero();    ///< that a exerts on b: impulse over a step, or its last part (3) [N]
  double gap = 0.0;                   ///< > 0 apart, < 0 penetrating, at detection [m]
  double slip = 0.0;                  ///< speed at which b slides along a over that time; >= 0 [m/s]
  friction::ContactCase state = friction::ContactCase::open;

  BodyPair bodies() const { return {a.body, b.body}; }
};

/// A contact that was detected, without force and slip.
ContactReport report_of(const contact::Geometry& geometry, const contact::Contact& contact);

}  // namespace tresse::assembly
