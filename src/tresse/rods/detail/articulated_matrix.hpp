#pragma once

#include <span>
#include <vector>

#include <tresse/base/types.hpp>
#include <tresse/rods/limb_matrix.hpp>

/// The implicit matrix of a chain of elements in curvature coordinates, factored in linear time by a tip-to-root
/// elimination of articulated inertias. @cite bertails2018hdr sec. 2.4, which does it for constant curvatures.
///
/// Element e has W local coordinates c_e: its own three (W = 3, constant curvature), or those of its start node a_e and
/// of its end node b_e = a_{e+1} (W = 6, affine curvature). Rigid twists V = (linear, angular) and wrenches are in
/// world axes at one origin for the whole chain. Motion inside element e is V_e, carried over from before, plus its
/// own; then
///
///   v^T A v = sum_e [V_e; c_e]^T (w_e [I_e, Y_e; Y_e^T, G_e] + [0, 0; 0, K_e]) [V_e; c_e],
///   V_{e+1} = V_e + X_e c_e.
///
/// Let z_e = V_e (W = 3) or (V_e, a_e) (W = 6) be what the part from element e on knows of the part before, and d_e the
/// three coordinates that it adds, c_e or b_e. With Ihat_{e+1} the form in z_{e+1} of all that lies beyond, coordinates
/// there at their minimum, the form of element e and beyond in (z_e, d_e) is its own plus that of Ihat_{e+1}; its
/// blocks
///
///   F_dd = R R^T (R upper triangular),   B = F_zd R^-T,   Ihat_e = F_zz - B B^T
///
/// eliminate d_e: it leaves |R^T d_e + B^T z_e|^2, entry e of U^T v. Coordinates stand from root to tip and are
/// eliminated backwards, so that this is A = U U^T with U upper triangular, the factor of math::ReverseCholesky: R are
/// its diagonal blocks, and what stands above them is (dz_e / d earlier coordinates)^T B_e, of rank Z.
namespace tresse::rods::detail {

enum class ChainRoot {
  fixed,    ///< V_0 is no unknown: zero, or prescribed
  free,     ///< V_0 is six unknowns before the curvatures
  carried,  ///< V_0 is the twist of an attachment of another chain, to which Ihat_0 and wrenches are handed on
};

template <int W>
struct ArticulatedElement {
  Eigen::Matrix<double, 6, W> twist;     ///< X: of all beyond, per unit of c
  Matrix6 inertia;                       ///< I: int rho S (1, -[d]x; [d]x, -[d]x^2) ds
  Eigen::Matrix<double, 6, W> coupling;  ///< Y: int rho S (dr/dc; d x dr/dc) ds
  Eigen::Matrix<double, W, W> own;       ///< G: int rho S (dr/dc)^T (dr/dc) ds
  Eigen::Matrix<double, W, W> local;     ///< K: elasticity and damping, already weighted by dt^2 and dt
  double weight = 1.0;                   ///< w: of the first three in A, 1 + dt drag / (rho S); not in M
};

/// A form in the twist V_e + X(u) c_e of a point of element e: Ihat_0 of a branch that starts there.
template <int W>
struct ArticulatedAttachment {
  int element = 0;
  Eigen::Matrix<double, 6, W> twist;  ///< X(u)
  Matrix6 inertia = Matrix6::Zero();
};

/// Fill elements and attachments, then factor(). All of it reads what they hold: leave them alone until
/// the next factor(). Every pass is O(elements); none allocates once the storage is there.
template <int W>
class ArticulatedMatrix {
 public:
  static_assert(W == 3 || W == 6);
  using Element = ArticulatedElement<W>;
  using Attachment = ArticulatedAttachment<W>;
  using Columns = Eigen::Ref<MatrixX>;

  std::vector<Element>& elements() { return elements_; }           ///< from root to tip, at least one
  std::vector<Attachment>& attachments() { return attachments_; }  ///< in order of their elements

  int root_dof() const { return root_ == ChainRoot::free ? 6 : 0; }
  int dof() const { return root_dof() + W - 3 + 3 * static_cast<int>(elements_.size()); }

  /// False when A is not positive definite to rounding or not finite; then nothing that needs a factor may be called.
  [[nodiscard]] bool factor(ChainRoot root);
  /// Of a carried root: Ihat_0, (6, 6).
  const Matrix6& carried_inertia() const { return carried_inertia_; }

  /// x^T A x, less the parts of attachments and of V_0 when it is carried. Attachments' twists as below.
  double squared_norm(const Eigen::Ref<const VectorX>& x, const Vector6& root_twist = Vector6::Zero(),
                      std::span<Vector6> attachment_twists = {}) const;
  /// x := A^-1 x, (dof), without attachments or a carried root.
  void solve(Eigen::Ref<VectorX> x) const;

  /// x := U^T x, (dof). `root_twist` of a fixed or carried root.
  void whitened_from_velocity(Eigen::Ref<VectorX> x, const Vector6& root_twist = Vector6::Zero()) const;
  /// x := U^-T x, (dof), root to tip. Writes the twists of the attachments, (attachments) or none.
  void velocity_from_whitened(Eigen::Ref<VectorX> x, const Vector6& root_twist = Vector6::Zero(),
                              std::span<Vector6> attachment_twists = {}) const;

  /// Columns := U^-1 columns, in place, (leading, K): leading entries only, the rest are zero; leading is root_dof() or
  /// ends with a block of three. `attachment_wrenches` (attachments, or none for zero; (6, K) each) is what the
  /// whitened columns of each branch hand on, the result what this chain hands on in turn, zero unless its root is
  /// carried. K = 1 or 3.
  template <int K>
  Eigen::Matrix<double, 6, K> whiten(Eigen::Ref<Eigen::Matrix<double, Eigen::Dynamic, K>> columns,
                                     std::span<const Eigen::Matrix<double, 6, K>> attachment_wrenches = {}) const;
  void whiten(Columns columns) const;  ///< the same for any number of columns, without attachments or a carried root

  /// V_e of every element for velocities x (dof), kept for mass_times(). Attachments' twists as above.
  void spread(const Eigen::Ref<const VectorX>& x, const Vector6& root_twist = Vector6::Zero(),
              std::span<Vector6> attachment_twists = {});
  /// out := the rows of M x, (dof), for the x and root twist of the last spread(); wrenches as in whiten().
  Vector6 mass_times(const Eigen::Ref<const VectorX>& x, Eigen::Ref<VectorX> out,
                     std::span<const Vector6> attachment_wrenches = {}) const;

 private:
  static constexpr int Z = W + 3;
  using Local = Eigen::Matrix<double, W, 1>;
  struct Block {
    Matrix3 R;          ///< upper triangular
    Matrix3 R_inverse;  ///< upper triangular
    Eigen::Matrix<double, Z, 3> B;
  };

  int count() const { return static_cast<int>(elements_.size()); }
  /// Where the first of an element's local coordinates stands; its d_e are the last three.
  int at(int e) const { return root_dof() + 3 * e; }
  bool eliminate(int e, const Eigen::Matrix<double, Z, Z>& beyond, int& attachment,
                 Eigen::Matrix<double, Z, Z>& result);
  bool factor_root(const Eigen::Matrix<double, Z, Z>& all);
  /// Calls visit(e, V_e, c_e) from root to tip; the visit writes c_e's last three, from which V_{e+1} follows.
  template <typename Visit>
  void root_to_tip(const Eigen::Ref<const VectorX>& x, Vector6 twist, Visit&& visit) const;

  ChainRoot root_ = ChainRoot::fixed;
  std::vector<Element> elements_;
  std::vector<Attachment> attachments_;
  std::vector<Block> blocks_;  ///< (elements)
  Block node_;                 ///< W = 6: of the first node, B's upper six rows
  Matrix6 root_R_;             ///< of a free root, upper triangular
  Matrix6 carried_inertia_;
  std::vector<Vector6> twists_;  ///< V_e of the last spread()
};

extern template class ArticulatedMatrix<3>;
extern template class ArticulatedMatrix<6>;

}  // namespace tresse::rods::detail
