#pragma once

#include <utility>
#include <vector>

#include <tresse/assembly/kinematics.hpp>
#include <tresse/contact/detection.hpp>

namespace tresse::statics::detail {

/// Two material points that must stay at least `radii` apart, or one point above a plane: what a contact found at some
/// shape says of every shape. Of an obstacle the point is fixed.
struct Touch {
  BodyId a{BodyKind::fibre, 0};
  int element_a = 0;
  double share_a = 0.0;  ///< of the element's length, 0 to 1
  BodyId b;              ///< a fibre or an obstacle
  int element_b = 0;
  double share_b = 0.0;
  int part_b = -1;   ///< tube of the obstacle; -1: fibre or plane
  double s_b = 0.0;  ///< along the obstacle's axis [m]
  bool plane = false;
  Vector3 point = Vector3::Zero();    ///< obstacles: on the axis, or of the plane (3) [m]
  Vector3 axis = Vector3::Zero();     ///< obstacles: along it, zero at its ends (3) [-]
  Vector3 bend = Vector3::Zero();     ///< obstacles: derivative of that along it (3) [1/m]
  Vector3 outward = Vector3::Zero();  ///< planes: unit normal, away from the solid (3) [-]
  double radii = 0.0;                 ///< [m]
  double force = 0.0;                 ///< that a exerts on b along the normal; >= 0 [N]
  bool found = true;                  ///< by the last search, there
  int idle = 0;                       ///< iterations without force since it was last found
};

/// Where a touch is at the rods' last update.
struct TouchPlace {
  Vector3 point_a;
  Vector3 point_b;
  Vector3 normal;  ///< unit, from a to b (3) [-]
  double gap = 0.0;
};

Touch touch_of(const assembly::Kinematics& at, const contact::Geometry& geometry, const contact::Contact& contact);

/// The same pair of bodies, elements and parts, and points within `near` of one another along them. [m]
bool same_touch(const assembly::Kinematics& at, const Touch& x, const Touch& y, double near);

/// Arc lengths of the material from the root. [m]
double arc_length_a(const assembly::Kinematics& at, const Touch& touch);
double arc_length_b(const assembly::Kinematics& at, const Touch& touch);

/// `slide`: along a and b from the material points, (2) [m].
TouchPlace place(const assembly::Kinematics& at, const Touch& touch,
                 const Eigen::Vector2d& slide = Eigen::Vector2d::Zero());

/// Gradient of the gap over all coordinates, those of fibre f from begin[f] on; (n).
void gap_gradient(const assembly::Kinematics& at, const std::vector<Eigen::Index>& begin, const Touch& touch,
                  Eigen::Ref<VectorX> out);

/// Derivatives of the gap when the points slide along their curves, (2); of an end, or a plane's second, zero.
Eigen::Vector2d gap_slope(const assembly::Kinematics& at, const Touch& touch,
                          const Eigen::Vector2d& slide = Eigen::Vector2d::Zero());

/// Second derivatives when they slide, (2, 2); the identity for what does not.
Eigen::Matrix2d gap_bend(const assembly::Kinematics& at, const Touch& touch);

/// Whether the gap has a minimum there that is deep enough, within an element, to be followed as it wanders.
bool distinct(const assembly::Kinematics& at, const Touch& touch);

/// Puts the points of a distinct touch where the gap is least, more exactly than detection needs to.
void polish(const assembly::Kinematics& at, Touch& touch);

/// Which of the two points may slide.
std::pair<bool, bool> slides(const assembly::Kinematics& at, const Touch& touch);

}  // namespace tresse::statics::detail
