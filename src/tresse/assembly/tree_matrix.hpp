#pragma once

#include <memory>
#include <span>
#include <vector>

#include <tresse/assembly/tree.hpp>
#include <tresse/math/reverse_cholesky.hpp>
#include <tresse/rods/limb_matrix.hpp>

namespace tresse::assembly {

/// How a tree's matrix is factored. Both give the same factor to rounding.
enum class TreeFactor {
  recursive,  ///< limb by limb, O(dof); the quicker one from two rods on, see docs/measured/speed_rods.md
  dense,      ///< written out, O(dof^3)
};

/// The factored implicit matrix of a tree, sum over its rods of S^T (M + dt^2 K + dt D + dt drag) S, drag
/// implicit_drag(), S the map of rod_velocity(). A = U U^T with U upper triangular: U^-1 h has no entries after the
/// last of h. A lone fibre's is its rod's own. Of a tree with branches the limbs are eliminated from twigs to trunk, in
/// the order of the unknowns backwards, so that U is the same as that of the matrix written out.
/// docs/theory/dynamics.md, "Trees".
class TreeMatrix {
 public:
  TreeMatrix(const World& world, const Tree& tree, TreeFactor choice = TreeFactor::recursive);

  /// As rods::StepMatrix::factor(), for the tree's unknowns and implicit Euler over h.
  [[nodiscard]] bool factor(const Kinematics& at, const Tree& tree, const std::vector<RootMotion>& roots, double h,
                            const VectorX& velocity, VectorX& momentum);
  rods::StepMatrix& lone() { return *lone_; }  ///< of a lone fibre
  const rods::StepMatrix& lone() const { return *lone_; }
  double squared_norm(const VectorX& x) const;
  void solve(Eigen::Ref<VectorX> x) const;
  void velocity_from_whitened(Eigen::Ref<VectorX> x) const;
  void whiten(Eigen::Ref<MatrixX> columns) const;
  void whiten_rows(std::span<rods::FourRows> rows) const { lone_->whiten_rows(rows); }  ///< of a lone fibre

 private:
  /// One rod of a branched tree. Its lists, in order of the places where rods grow on it, are the entries
  /// first_place on, as many as places, of lists over the tree.
  struct Limb {
    std::unique_ptr<rods::LimbMatrix> matrix;
    int begin = 0;  ///< of its own unknowns among the tree's
    int own = 0;
    int parent = -1;  ///< limb
    int place = -1;   ///< where it grows, an entry of the lists over the tree
    int first_place = 0;
    int places = 0;
    Vector3 arm = Vector3::Zero();  ///< from its parent's origin to its own, at the last factor()
  };

  bool factor_dense(const Kinematics& at, const Tree& tree, const std::vector<RootMotion>& roots, double h,
                    const VectorX& velocity, VectorX& momentum);
  bool factor_limbs(const Kinematics& at, const Tree& tree, double h, const VectorX& velocity, VectorX& momentum);
  void grow_limbs(const World& world, const Tree& tree);
  /// Calls visit(limb, own entries, root twist, attached twists) from trunk to twigs.
  template <typename Visit>
  void trunk_to_twigs(Visit&& visit) const;
  /// x := U^-1 x with wrenches of K columns.
  template <int K>
  void whiten_limbs(Eigen::Ref<Eigen::Matrix<double, Eigen::Dynamic, K>> columns) const;

  std::unique_ptr<rods::StepMatrix> lone_;
  std::vector<Limb> limbs_;  ///< of a recursive factor, by place in the tree
  math::ReverseCholesky dense_;
  /// Memory of factor_dense().
  struct {
    MatrixX all, of_rod;
  } dense_memory_;
};

}  // namespace tresse::assembly
