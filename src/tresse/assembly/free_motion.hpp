#pragma once

#include <vector>

#include <tresse/assembly/free_body_motion.hpp>
#include <tresse/assembly/tree_matrix.hpp>

namespace tresse::assembly {

/// A hold at one linearisation: the directions in which it prescribes the velocity of its point.
struct HoldDirections {
  int hold = -1;  ///< of World::holds
  Matrix3 basis;  ///< columns; the first two, or all three where it cannot slide
  int count = 3;
};

/// What holds a tree, at one linearisation: J v + e impulse = wanted, e of the compliance. With C = (U^-1 J^T; e^1/2)
/// = Q R: the whitened vectors of a held tree have an entry more for each equation, which the compliance works on.
struct TreeHold {
  std::vector<int> holds;  ///< of World::holds, those under way; empty: nothing does
  int leading = 0;         ///< unknowns that they depend on
  int equations = 0;       ///< three of a pinned point, two of one that slides, three more of a clamped one
  std::vector<HoldDirections> directions;  ///< (holds)
  MatrixX rows;                            ///< J^T (leading, equations)
  MatrixX q;                               ///< (unknowns + equations, rank) orthonormal
  MatrixX r;                               ///< (rank, rank) upper triangular
  std::vector<int> kept;                   ///< (rank) equations; others say nothing new
  VectorX correction;                      ///< (rank) along q, to what is wanted

  /// Takes out of whitened columns, (unknowns + equations, k), what moves a held point.
  void project(Eigen::Ref<MatrixX> columns) const;
};

/// How far a held point is off at the start of the step.
struct HoldOffset {
  Vector3 off = Vector3::Zero();   ///< from where it is held, but for what its compliance gives (3) [m]
  Vector3 left = Vector3::Zero();  ///< what of it may be left at the end (3) [m]
  double stored = 0.0;             ///< energy of its compliance [J]
};

/// Motion of every fibre and free body over the step without contact, and what prescribes the rest.
struct FreeMotion {
  Forest forest;
  std::vector<TreeMatrix> matrices;            ///< (trees)
  std::vector<std::vector<RootMotion>> roots;  ///< (trees) where the rods are; empty where nothing branches
  std::vector<TreeHold> holds;                 ///< (trees) what holds them over the step
  std::vector<HoldOffset> offsets;             ///< (holds)
  std::vector<FreeBodyMotion> bodies;          ///< (free bodies)
  /// (fibres, then free bodies) v_free, generalised velocity at the end of the step without contact; of branches as
  /// Rod::velocity() wants.
  std::vector<VectorX> velocities;
  std::vector<Pose> obstacles_begin;  ///< (obstacles) pose at the start of the step
  std::vector<Pose> obstacles_end;    ///< (obstacles) pose at its end; a free body's as last predicted
  double begin = 0.0;                 ///< when the step starts [s]
  double dt = 0.0;                    ///< [s]
  double stage = 0.0;                 ///< where in it forces are taken: theta dt [s]
};

}  // namespace tresse::assembly
