#pragma once

#include <tresse/rods/detail/bend_stencil.hpp>

// Small relations of a discrete elastic rod: frames of edges, and the strains of a node against its turn, the
// curvature times the length of its part of the rod, (twist, bend 1, bend 2) [rad].
namespace tresse::rods::detail {

/// Rotates `d`, at a right angle to unit `from`, as the smallest rotation from `from` to unit `to` does.
Vector3 parallel_transport(const Vector3& from, const Vector3& to, const Vector3& d);

/// Frame of an edge from its reference director (a unit vector across it) and its angle.
EdgeFrame edge_frame(const Vector3& edge, const Vector3& director, double angle);

/// (twist, 2 tan(|bend| / 2) bend / |bend|): a polygon of chords of a helix has these. Throws InvalidInput from 3 rad
/// of twist or of bend on.
Vector3 strain_of_turn(const Vector3& turn);
Vector3 turn_of_strain(const Vector3& strain);  ///< the inverse, for any strain
/// Rate of the turn of a strain that changes at `rate`.
Vector3 turn_rate(const Vector3& strain, const Vector3& rate);

/// How the frame before a node becomes the one after it, when the node's strain is strain_of_turn(turn).
struct JointTurn {
  Matrix3 rotation;  ///< (3, 3) frame after = frame before * rotation
  Vector3 spin;      ///< (3) relative angular velocity in axes of the frame before, at rate `rate` of the turn
};
JointTurn joint_turn(const Vector3& turn, const Vector3& rate);

}  // namespace tresse::rods::detail
