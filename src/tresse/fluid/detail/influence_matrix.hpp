#pragma once

#include <array>

#include <tresse/fluid/chains.hpp>

namespace tresse::fluid::detail {

/// What force densities at nodes, linear along the segments between them, do to velocities at nodes. The influence of
/// one node on another is a symmetric matrix: its six numbers stand in six matrices.
class InfluenceMatrix {
 public:
  /// Velocities at the nodes, or where `in_the_mean` their integrals with each node's hat function; then the matrix is
  /// symmetric. The square of the regularisation of two chains is the mean of theirs.
  void assemble(const Chains& chains, bool in_the_mean);

  Eigen::Index nodes() const { return parts_[0].cols(); }
  /// out = A x, (3 nodes) each, as x, y, z of one node after another.
  void times(const VectorX& x, VectorX& out) const;
  /// The part of nodes [begin, end), written out in single precision, unknowns in the order of nodes.
  Eigen::MatrixXf written_out(Eigen::Index begin, Eigen::Index end) const;

 private:
  std::array<MatrixX, 6> parts_;  ///< (nodes, rounded up to packs, nodes) xx, xy, xz, yy, yz, zz
};

}  // namespace tresse::fluid::detail
