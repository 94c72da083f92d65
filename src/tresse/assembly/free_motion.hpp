#pragma once

#include <vector>

#include <tresse/assembly/tree_matrix.hpp>

namespace tresse::assembly {

/// What holds a tree, at one linearisation. With C = U^-1 J^T = Q R the whitened rows, (unknowns, equations).
struct TreeHold {
  std::vector<int> holds;  ///< of World::holds, those under way; empty: nothing does
  int leading = 0;         ///< unknowns that they depend on
  int equations = 0;       ///< three of a pinned point, two of one that slides, three more of a clamped one
  MatrixX q;               ///< (leading, rank) orthonormal
  MatrixX r;               ///< (rank, rank) upper triangular
  std::vector<int> kept;   ///< (rank) equations; others say nothing new: a straight rod's end cannot move along it
  VectorX correction;      ///< (rank) along q, to what is wanted

  /// Takes out of whitened columns, (leading or more, k), what moves a held point.
  void project(Eigen::Ref<MatrixX> columns) const;
};

/// Motion of every fibre over the step without contact, and what prescribes the rest.
struct FreeMotion {
  Forest forest;
  std::vector<TreeMatrix> matrices;            ///< (trees)
  std::vector<std::vector<RootMotion>> roots;  ///< (trees) where the rods are; empty where nothing branches
  std::vector<TreeHold> holds;                 ///< (trees) what holds them over the step
  /// (fibres) v_free, generalised velocity at the end of the step without contact; of branches as Rod::velocity()
  /// wants.
  std::vector<VectorX> velocities;
  std::vector<Pose> obstacles_begin;  ///< (obstacles) pose at the start of the step
  std::vector<Pose> obstacles_end;    ///< (obstacles) pose at its end
  double dt = 0.0;                    ///< [s]
};

}  // namespace tresse::assembly
