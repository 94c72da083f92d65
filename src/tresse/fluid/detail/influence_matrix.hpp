#pragma once

#include <cstddef>
#include <vector>

#include <tresse/fluid/chains.hpp>

namespace tresse::fluid::detail {

/// What force densities at nodes, linear along the segments between them, do to velocities at nodes. The influence of
/// one node on another is a symmetric matrix of six numbers. They stand together, four targets at a time, so that
/// memory is written and read from one end to the other.
class InfluenceMatrix {
 public:
  /// Velocities at the nodes, or where `in_the_mean` their integrals with each node's hat function; then the matrix is
  /// symmetric. The square of the regularisation of two chains is the mean of theirs.
  void assemble(const Chains& chains, bool in_the_mean);

  Eigen::Index nodes() const { return nodes_; }
  /// out = A x, (3 nodes) each, as x, y, z of one node after another.
  void times(const VectorX& x, VectorX& out) const;
  /// The part of nodes [begin, end), written out in single precision, unknowns in the order of nodes.
  Eigen::MatrixXf written_out(Eigen::Index begin, Eigen::Index end) const;

 private:
  static constexpr Eigen::Index four = 4, six = 6;

  /// Where xx of a target and a node stands; xy, xz, yy, yz, zz follow at distances of four.
  std::size_t at(Eigen::Index target, Eigen::Index node) const {
    return static_cast<std::size_t>((target / four * nodes_ + node) * six * four + target % four);
  }
  void assemble_at_nodes(const Chains& chains);
  void assemble_in_the_mean(const Chains& chains);

  Eigen::Index nodes_ = 0;
  std::vector<double> numbers_;  ///< of targets rounded up to fours
};

}  // namespace tresse::fluid::detail
