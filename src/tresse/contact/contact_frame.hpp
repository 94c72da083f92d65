#pragma once

#include <tresse/base/types.hpp>

namespace tresse::contact {

/// What is known of one side of a contact.
struct ContactSide {
  Vector3 point;     ///< on the centreline (3) [m]
  Vector3 tangent;   ///< unit, or zero for a point (3) [-]
  bool end = false;  ///< the point is an end of the curve, so that the gap need not be orthogonal to it
};

/// Contact basis (normal, t1, t2), t2 = t1 x normal, normal from a to b. Both points inside their curves: the normal is
/// along a' x b' where the tangents are well apart, else along the gap's part orthogonal to the mean tangent. At an
/// end: along the gap, which is the normal of the rounded tip (crespel2024 projects it on the plane orthogonal to the
/// mean tangent; the gap then is not what the normal velocity changes). t1 is the mean tangent made orthogonal to the
/// normal.
Matrix3 contact_frame(const ContactSide& a, const ContactSide& b);

/// Basis with the given unit normal and t1 along `tangent` made orthogonal to it.
Matrix3 frame_from_normal(const Vector3& normal, const Vector3& tangent);

}  // namespace tresse::contact
