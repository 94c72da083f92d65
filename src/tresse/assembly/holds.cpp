#include <tresse/assembly/holds.hpp>

#include <algorithm>
#include <array>

#include <Eigen/Geometry>
#include <Eigen/QR>

namespace tresse::assembly {
namespace {

using Columns3 = Eigen::Matrix<double, Eigen::Dynamic, 3>;

const rods::Rod& rod_of(const World& world, const Hold& hold) { return *world.fibres[hold.fibre].rod; }

Pose held_pose(const World& world, const Hold& hold) {
  const rods::Rod& rod = rod_of(world, hold);
  if (!hold.clamped) return {geometry::position(rod.piece(hold.piece), hold.u), hold.pose.frame};
  const rods::RodSection section = rod.section(rod.piece_begin(hold.piece) + hold.u);
  return {section.position, section.frame};
}

/// Velocity of the held point and its frame for velocities of its rod, prescribed parts included.
Twist velocity_of(const World& world, const Hold& hold, const VectorX& v) {
  const rods::Rod& rod = rod_of(world, hold);
  Twist out{rod.velocity(hold.piece, hold.u, v), Vector3::Zero()};
  if (!hold.clamped) return out;
  Matrix6X twist(6, rod.dof());
  const int touched = rod.twist_jacobian(hold.piece, hold.u, twist);
  out.angular = twist.bottomLeftCorner(3, touched) * v.head(touched);
  if (rod.root_dof() == 0) out.angular += rod.state().root_velocity.angular;
  return out;
}

/// Directions in which a hold prescribes the velocity of its point: the first two, or all three where it cannot slide.
struct Directions {
  Matrix3 basis = Matrix3::Identity();
  int count = 3;
};

Directions directions(const Hold& hold, const Pose& wanted) {
  Directions out;
  if (hold.slide.isZero(0.0)) return out;
  const Vector3 along = wanted.frame * hold.pose.frame.transpose() * hold.slide;
  out.basis.col(0) = along.unitOrthogonal();
  out.basis.col(1) = along.cross(out.basis.col(0));
  out.basis.col(2) = along;
  out.count = 2;
  return out;
}

int equations_of(const Hold& hold) { return (hold.slide.isZero(0.0) ? 3 : 2) + (hold.clamped ? 3 : 0); }

/// J^T of a hold's equations into columns of (leading, equations).
void fill_columns(const World& world, const FreeMotion& motion, const Hold& hold, const Directions& at,
                  Eigen::Ref<MatrixX> columns) {
  const rods::Rod& rod = rod_of(world, hold);
  const int t = motion.forest.tree_of[hold.fibre];
  const int k = motion.forest.place_of[hold.fibre];
  const auto add = [&](const auto& jacobian, const Matrix3& basis, int first, int count) {
    Columns3 rows;
    rows.setZero(columns.rows(), 3);
    add_rod_rows(motion.forest.trees[t], motion.roots[t], k, jacobian, basis, rows);
    columns.middleCols(first, count) = rows.leftCols(count);
  };
  Matrix3X jacobian(3, rod.dof());
  const int touched = rod.jacobian(hold.piece, hold.u, jacobian);
  add(jacobian.leftCols(touched), at.basis, 0, at.count);
  if (!hold.clamped) return;
  Matrix6X twist(6, rod.dof());
  rod.twist_jacobian(hold.piece, hold.u, twist);
  add(twist.bottomLeftCorner(3, touched), Matrix3::Identity(), at.count, 3);
}

/// What a hold's equations still miss, (equations): the wanted velocity minus that of `unheld`.
VectorX missing(const World& world, const FreeMotion& motion, const Hold& hold, double time,
                const std::vector<VectorX>* reached) {
  const Pose wanted = hold_pose(hold, time);
  const Pose here = held_pose(world, hold);
  const Twist unheld = velocity_of(world, hold, motion.velocities[hold.fibre]);
  Twist want = mean_twist(here, hold.clamped ? wanted : Pose{wanted.position, here.frame}, motion.dt);
  if (reached) {
    const Twist before = velocity_of(world, hold, (*reached)[hold.fibre]);
    want = {want.linear + before.linear, want.angular + before.angular};
  }
  const Directions at = directions(hold, wanted);
  VectorX out(equations_of(hold));
  out.head(at.count) = (at.basis.transpose() * (want.linear - unheld.linear)).head(at.count);
  if (hold.clamped) out.tail<3>() = want.angular - unheld.angular;
  return out;
}

/// C = Q R with the equations that say something new, most telling first.
void decompose(const MatrixX& whitened, const VectorX& lack, TreeHold& out) {
  constexpr double threshold = 1e-7;
  Eigen::ColPivHouseholderQR<MatrixX> qr(whitened.rows(), whitened.cols());
  qr.setThreshold(threshold);
  qr.compute(whitened);
  const Eigen::Index rank = qr.rank();
  out.q = qr.householderQ() * MatrixX::Identity(whitened.rows(), rank);
  out.r = qr.matrixR().topLeftCorner(rank, rank).triangularView<Eigen::Upper>();
  out.kept.assign(qr.colsPermutation().indices().data(), qr.colsPermutation().indices().data() + rank);
  out.correction.resize(rank);
  for (Eigen::Index i = 0; i < rank; ++i) out.correction[i] = lack[out.kept[static_cast<std::size_t>(i)]];
  out.r.transpose().triangularView<Eigen::Lower>().solveInPlace(out.correction);
}

}  // namespace

void TreeHold::project(Eigen::Ref<MatrixX> columns) const {
  if (kept.empty()) return;
  columns.topRows(leading).noalias() -= q * (q.transpose() * columns.topRows(leading)).eval();
}

std::vector<TreeHold> find_holds(const World& world, const Forest& forest, double end) {
  std::vector<TreeHold> out(forest.trees.size());
  for (std::size_t i = 0; i < world.holds.size(); ++i) {
    const Hold& hold = world.holds[i];
    if (end > hold.release) continue;
    const int t = forest.tree_of[hold.fibre];
    const int touched = world.fibres[hold.fibre].rod->touched(hold.piece);
    out[t].holds.push_back(static_cast<int>(i));
    out[t].equations += equations_of(hold);
    out[t].leading = std::max(out[t].leading, leading_unknowns(forest.trees[t], forest.place_of[hold.fibre], touched));
  }
  return out;
}

void hold_tree(const World& world, FreeMotion& motion, int t, double time, const std::vector<VectorX>* reached) {
  TreeHold& held = motion.holds[t];
  const Tree& tree = motion.forest.trees[t];
  MatrixX columns(held.leading, held.equations);
  VectorX lack(held.equations);
  int first = 0;
  for (const int i : held.holds) {
    const Hold& hold = world.holds[i];
    const int count = equations_of(hold);
    fill_columns(world, motion, hold, directions(hold, hold_pose(hold, time)), columns.middleCols(first, count));
    lack.segment(first, count) = missing(world, motion, hold, time, reached);
    first += count;
  }
  motion.matrices[t].whiten(columns);
  decompose(columns, lack, held);
  VectorX change = VectorX::Zero(tree.dof);
  change.head(held.leading) = held.q * held.correction;
  motion.matrices[t].velocity_from_whitened(change);
  std::vector<VectorX> changes(motion.velocities.size());
  set_rod_velocities(world, tree, motion.roots[t], change, false, changes);
  for (const int f : tree.fibres) motion.velocities[f] += changes[f];
}

std::vector<HoldImpulse> hold_impulses(const World& world, const FreeMotion& motion, int t, const VectorX& contact,
                                       double time) {
  const TreeHold& held = motion.holds[t];
  MatrixX whitened = contact;
  motion.matrices[t].whiten(whitened);
  VectorX along = held.correction - held.q.transpose() * whitened.col(0).head(held.leading);
  held.r.triangularView<Eigen::Upper>().solveInPlace(along);
  VectorX multiplier = VectorX::Zero(held.equations);
  for (std::size_t i = 0; i < held.kept.size(); ++i) multiplier[held.kept[i]] = along[static_cast<Eigen::Index>(i)];
  std::vector<HoldImpulse> out;
  Eigen::Index first = 0;
  for (const int i : held.holds) {
    const Hold& hold = world.holds[i];
    const Directions at = directions(hold, hold_pose(hold, time));
    HoldImpulse impulse{i, at.basis.leftCols(at.count) * multiplier.segment(first, at.count), Vector3::Zero()};
    if (hold.clamped) impulse.angular = multiplier.segment<3>(first + at.count);
    out.push_back(impulse);
    first += equations_of(hold);
  }
  return out;
}

double hold_error(const World& world, const Hold& hold, double time) {
  const Pose wanted = hold_pose(hold, time);
  const Pose here = held_pose(world, hold);
  const Directions at = directions(hold, wanted);
  Vector3 off = at.basis.transpose() * (here.position - wanted.position);
  if (at.count == 2) off[2] = 0.0;
  double error = off.norm();
  if (hold.clamped) {
    const Matrix3 turn = wanted.frame * here.frame.transpose();
    error = std::max(error, rod_of(world, hold).length() * Eigen::AngleAxisd(turn).angle());
  }
  return error;
}

}  // namespace tresse::assembly
