#include <tresse/assembly/tree_matrix.hpp>

#include <algorithm>

#include <tresse/base/local_memory.hpp>
#include <tresse/math/rotations.hpp>

namespace tresse::assembly {
namespace {

using rods::Matrix6;
using rods::Vector6;

constexpr std::size_t some_limbs = 32;  // seldom has a tree more

/// A twist at an origin, at the origin an arm away from it.
Vector6 twist_at(const Vector6& twist, const Vector3& arm) {
  Vector6 out = twist;
  out.head<3>() -= arm.cross(twist.tail<3>());
  return out;
}

/// Wrenches at the origin an arm away, at this one.
template <int K>
Eigen::Matrix<double, 6, K> moved_back(const Eigen::Matrix<double, 6, K>& wrench, const Vector3& arm) {
  Eigen::Matrix<double, 6, K> out = wrench;
  out.template bottomRows<3>() += math::cross_matrix(arm) * wrench.template topRows<3>();
  return out;
}

/// A form in the twist there as one in the twist here.
Matrix6 form_moved_back(const Matrix6& form, const Vector3& arm) {
  Matrix6 shift = Matrix6::Identity();
  shift.topRightCorner<3, 3>() = -math::cross_matrix(arm);
  const Matrix6 half = form * shift;
  return shift.transpose() * half;
}

}  // namespace

TreeMatrix::TreeMatrix(const World& world, const Tree& tree, TreeFactor choice) {
  if (tree.fibres.size() == 1) {
    lone_ = fibre_of(world, tree, 0).model->make_step_matrix();
  } else if (choice == TreeFactor::recursive) {
    grow_limbs(world, tree);
  }
}

void TreeMatrix::grow_limbs(const World& world, const Tree& tree) {
  const int count = static_cast<int>(tree.fibres.size());
  limbs_.resize(tree.fibres.size());
  int places = 0;
  for (int k = 0; k < count; ++k) {
    Limb& limb = limbs_[k];
    limb.begin = tree.begin[k];
    limb.own = own_count(world, tree, k);
    limb.first_place = places;
    std::vector<int> branches;
    for (int j = k + 1; j < count; ++j) {
      if (fibre_of(world, tree, j).attachment.parent == tree.fibres[k]) branches.push_back(j);
    }
    std::stable_sort(branches.begin(), branches.end(), [&](int a, int b) {
      return fibre_of(world, tree, a).attachment.piece < fibre_of(world, tree, b).attachment.piece;
    });
    std::vector<rods::LimbPlace> at;
    for (const int j : branches) {
      const Attachment& attachment = fibre_of(world, tree, j).attachment;
      at.push_back({attachment.piece, attachment.u});
      limbs_[j].parent = k;
      limbs_[j].place = places++;
    }
    limb.places = static_cast<int>(at.size());
    limb.matrix = fibre_of(world, tree, k).model->make_limb_matrix(at);
  }
}

bool TreeMatrix::factor(const Kinematics& at, const Tree& tree, const std::vector<RootMotion>& roots, double h,
                        const VectorX& velocity, VectorX& momentum) {
  if (lone_) {
    const int f = tree.fibres.front();
    return lone_->factor(at.rod(f), {h * h, h, h * implicit_drag(at.world(), f)}, velocity, momentum);
  }
  if (!limbs_.empty()) return factor_limbs(at, tree, h, velocity, momentum);
  return factor_dense(at, tree, roots, h, velocity, momentum);
}

bool TreeMatrix::factor_dense(const Kinematics& at, const Tree& tree, const std::vector<RootMotion>& roots, double h,
                              const VectorX& velocity, VectorX& momentum) {
  const World& world = at.world();
  MatrixX& all = dense_memory_.all;
  MatrixX& matrix = dense_memory_.of_rod;
  all.setZero(tree.dof, tree.dof);
  momentum.setZero(tree.dof);
  VectorX v;
  for (int k = 0; k < static_cast<int>(tree.fibres.size()); ++k) {
    const rods::Rod& rod = at.rod(tree.fibres[k]);
    const double drag = implicit_drag(world, tree.fibres[k]);
    const int n = rod.dof();
    const int own = own_count(world, tree, k);
    matrix.resize(n, n);
    rod.mass_matrix(matrix);
    rod_velocity(world, tree, roots, k, velocity, false, v);
    add_rod_force(world, tree, roots, k, matrix * v, momentum);
    rod.add_stiffness(h * h, h, matrix);
    if (drag > 0.0) rod.add_drag_matrix(h * drag, matrix);
    all.block(tree.begin[k], tree.begin[k], own, own) += matrix.bottomRightCorner(own, own);
    if (k == 0) continue;
    // Above the diagonal alone: the factor reads nothing else.
    const Matrix6X& twist = roots[k].twist;
    const Matrix6X wrench = matrix.topLeftCorner<6, 6>() * twist;
    all.topLeftCorner(twist.cols(), twist.cols()).noalias() += twist.transpose() * wrench;
    all.block(0, tree.begin[k], twist.cols(), own).noalias() += twist.transpose() * matrix.topRightCorner(6, own);
  }
  return dense_.factor(all);
}

bool TreeMatrix::factor_limbs(const Kinematics& at, const Tree& tree, double h, const VectorX& velocity,
                              VectorX& momentum) {
  LocalMemory<(sizeof(Matrix6) + sizeof(Vector6)) * some_limbs> memory;
  const std::span inertias = memory.array<Matrix6>(limbs_.size());
  const std::span wrenches = memory.array<Vector6>(limbs_.size());
  momentum.resize(tree.dof);
  bool good = true;
  for (int k = static_cast<int>(limbs_.size()) - 1; k >= 0; --k) {
    Limb& limb = limbs_[k];
    const rods::Rod& rod = at.rod(tree.fibres[k]);
    const double drag = implicit_drag(at.world(), tree.fibres[k]);
    const auto attached = inertias.subspan(limb.first_place, limb.places);
    // M v is wanted even where A is not positive definite.
    good = limb.matrix->factor(rod, {h * h, h, h * drag}, attached) && good;
    if (k == 0) break;
    limb.arm = rod.state().root.position - at.rod(tree.fibres[limb.parent]).state().root.position;
    inertias[limb.place] = form_moved_back(limb.matrix->carried_inertia(), limb.arm);
  }
  trunk_to_twigs([&](const Limb& limb, const Vector6& root, std::span<Vector6> attached) {
    limb.matrix->spread(velocity.segment(limb.begin, limb.own), root, attached);
  });
  for (std::size_t k = limbs_.size(); k-- > 0;) {
    const Limb& limb = limbs_[k];
    const Vector6 handed_on =
        limb.matrix->mass_times(velocity.segment(limb.begin, limb.own), momentum.segment(limb.begin, limb.own),
                                wrenches.subspan(limb.first_place, limb.places));
    if (k > 0) wrenches[limb.place] = moved_back<1>(handed_on, limb.arm);
  }
  return good;
}

template <typename Visit>
void TreeMatrix::trunk_to_twigs(Visit&& visit) const {
  LocalMemory<some_limbs * sizeof(Vector6)> memory;
  const std::span twists = memory.array<Vector6>(limbs_.size());
  for (const Limb& limb : limbs_) {
    const Vector6 root = limb.parent < 0 ? Vector6(Vector6::Zero()) : twist_at(twists[limb.place], limb.arm);
    visit(limb, root, twists.subspan(limb.first_place, limb.places));
  }
}

double TreeMatrix::squared_norm(const VectorX& x) const {
  if (lone_) return lone_->squared_norm(x);
  if (limbs_.empty()) return dense_.squared_norm(x);
  double sum = 0.0;
  trunk_to_twigs([&](const Limb& limb, const Vector6& root, std::span<Vector6> attached) {
    sum += limb.matrix->squared_norm(x.segment(limb.begin, limb.own), root, attached);
  });
  return sum;
}

void TreeMatrix::solve(Eigen::Ref<VectorX> x) const {
  if (lone_) return lone_->solve(x);
  if (limbs_.empty()) return dense_.solve(x);
  whiten_limbs<1>(x);
  velocity_from_whitened(x);
}

void TreeMatrix::velocity_from_whitened(Eigen::Ref<VectorX> x) const {
  if (lone_) return lone_->velocity_from_whitened(x);
  if (limbs_.empty()) return dense_.velocity_from_whitened(x);
  trunk_to_twigs([&](const Limb& limb, const Vector6& root, std::span<Vector6> attached) {
    limb.matrix->velocity_from_whitened(x.segment(limb.begin, limb.own), root, attached);
  });
}

void TreeMatrix::whiten(Eigen::Ref<MatrixX> columns) const {
  if (lone_) return lone_->whiten(columns);
  if (limbs_.empty()) return dense_.whiten(columns);
  Eigen::Index k = 0;
  for (; k + 3 <= columns.cols(); k += 3) whiten_limbs<3>(columns.middleCols<3>(k));
  for (; k < columns.cols(); ++k) whiten_limbs<1>(columns.col(k));
}

/// The last limb may end early, where the leading entries do: what lies beyond is zero, and so is what hangs there. Of
/// a limb without load, on which nothing loaded hangs, all stays zero: a contact costs the way to the trunk.
template <int K>
void TreeMatrix::whiten_limbs(Eigen::Ref<Eigen::Matrix<double, Eigen::Dynamic, K>> columns) const {
  using Handed = Eigen::Matrix<double, 6, K>;
  LocalMemory<(sizeof(Handed) + 1) * some_limbs> memory;
  const std::span wrenches = memory.template array<Handed>(limbs_.size());
  const std::span loaded = memory.template array<char>(limbs_.size());
  std::fill(wrenches.begin(), wrenches.end(), Handed::Zero());
  std::fill(loaded.begin(), loaded.end(), char{0});
  const auto leading = static_cast<int>(columns.rows());
  for (std::size_t k = limbs_.size(); k-- > 0;) {
    const Limb& limb = limbs_[k];
    if (limb.begin >= leading) continue;
    auto own = columns.middleRows(limb.begin, std::min(limb.own, leading - limb.begin));
    if (!loaded[k] && own.isZero(0.0)) continue;
    const std::span<const Handed> attached = wrenches.subspan(limb.first_place, limb.places);
    const Handed handed_on = limb.matrix->whiten(own, attached);
    if (k == 0) break;
    wrenches[limb.place] = moved_back<K>(handed_on, limb.arm);
    loaded[limb.parent] = 1;
  }
}

}  // namespace tresse::assembly
