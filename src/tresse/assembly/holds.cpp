#include <tresse/assembly/holds.hpp>

#include <algorithm>
#include <cmath>
#include <utility>

#include <Eigen/Geometry>

#include <tresse/math/dense_qr.hpp>

namespace tresse::assembly {
namespace {

using Columns3 = Eigen::Matrix<double, Eigen::Dynamic, 3>;

const rods::Rod& rod_of(const Kinematics& kinematics, const Hold& hold) { return kinematics.rod(hold.fibre); }

/// Where a held point is on the curve of its piece. [m]
double place_on_curve(const Kinematics& kinematics, const Hold& hold) {
  return rod_of(kinematics, hold).span(hold.piece).on_curve(held_parameter(kinematics, hold));
}

Pose held_pose(const Kinematics& kinematics, const Hold& hold) {
  const rods::Rod& rod = rod_of(kinematics, hold);
  if (!hold.clamped)
    return {geometry::position(rod.piece(hold.piece), place_on_curve(kinematics, hold)), hold.pose.frame};
  const rods::RodSection section = rod.section(held_arc_length(kinematics, hold));
  return {section.position, section.frame};
}

Vector3 tangent(const Kinematics& kinematics, const Hold& hold) {
  return geometry::derivative(rod_of(kinematics, hold).piece(hold.piece), place_on_curve(kinematics, hold))
      .normalized();
}

/// Across the axis that its point slides along; else along the fibre and across it.
HoldDirections directions(const Kinematics& kinematics, int index, double time) {
  const World& world = kinematics.world();
  const Hold& hold = world.holds[index];
  const bool slides = !hold.slide.isZero(0.0);
  const Vector3 last = slides ? Vector3(hold_pose(hold, time).frame * hold.pose.frame.transpose() * hold.slide)
                              : tangent(kinematics, hold);
  HoldDirections out{index, {}, slides ? 2 : 3};
  out.basis.col(2) = last;
  out.basis.col(0) = last.unitOrthogonal();
  out.basis.col(1) = last.cross(out.basis.col(0));
  return out;
}

int equations_of(const Hold& hold) { return (hold.slide.isZero(0.0) ? 3 : 2) + (hold.clamped ? 3 : 0); }

VectorX in_equations(const Hold& hold, const HoldDirections& at, const Twist& velocity) {
  VectorX out(equations_of(hold));
  out.head(at.count) = (at.basis.transpose() * velocity.linear).head(at.count);
  if (hold.clamped) out.tail<3>() = velocity.angular;
  return out;
}

/// J^T of a hold's equations into columns of (leading, equations).
void fill_columns(const Kinematics& kinematics, const FreeMotion& motion, const Hold& hold, const HoldDirections& at,
                  Eigen::Ref<MatrixX> columns) {
  const rods::Rod& rod = rod_of(kinematics, hold);
  const int t = motion.forest.tree_of[hold.fibre];
  const int k = motion.forest.place_of[hold.fibre];
  const auto add = [&](const auto& jacobian, const Matrix3& basis, int first, int count) {
    Columns3 rows;
    rows.setZero(columns.rows(), 3);
    add_rod_rows(motion.forest.trees[t], motion.roots[t], k, jacobian, basis, rows);
    columns.middleCols(first, count) = rows.leftCols(count);
  };
  Matrix3X jacobian(3, rod.dof());
  const int touched = rod.jacobian(hold.piece, held_parameter(kinematics, hold), jacobian);
  add(jacobian.leftCols(touched), at.basis, 0, at.count);
  if (!hold.clamped) return;
  Matrix6X twist(6, rod.dof());
  rod.twist_jacobian(hold.piece, held_parameter(kinematics, hold), twist);
  add(twist.bottomLeftCorner(3, touched), Matrix3::Identity(), at.count, 3);
}

/// Mean velocity that brings what is held from where it is to where it is wanted, in a hold's equations.
VectorX wanted_velocity(const Kinematics& kinematics, const Hold& hold, const HoldDirections& at, double time,
                        double dt, const Vector3& left) {
  Pose wanted = hold_pose(hold, time);
  wanted.position += left;
  const Pose here = held_pose(kinematics, hold);
  const Twist want = mean_twist(here, hold.clamped ? wanted : Pose{wanted.position, here.frame}, dt);
  return in_equations(hold, at, want);
}

/// C = Q R with the equations that say something new, most telling first.
void decompose(const MatrixX& columns, TreeHold& out) {
  constexpr double threshold = 1e-9;
  math::PivotedQr qr = math::pivoted_qr(columns, threshold);
  out.q = std::move(qr.q);
  out.r = std::move(qr.r);
  out.kept = std::move(qr.order);
}

}  // namespace

void TreeHold::project(Eigen::Ref<MatrixX> columns) const {
  if (!kept.empty()) columns -= q * (q.transpose() * columns).eval();
}

Twist held_velocity(const Kinematics& kinematics, const Hold& hold, const VectorX& v) {
  const rods::Rod& rod = rod_of(kinematics, hold);
  Twist out{rod.velocity(hold.piece, held_parameter(kinematics, hold), v), Vector3::Zero()};
  if (!hold.clamped) return out;
  out.angular = rod.angular_velocity(hold.piece, held_parameter(kinematics, hold), v);
  return out;
}

Twist led_velocity(const Hold& hold, double begin, double end) {
  return mean_twist(hold_pose(hold, begin), hold_pose(hold, end), end - begin);
}

std::vector<TreeHold> find_holds(const World& world, const Forest& forest, double end) {
  std::vector<TreeHold> out(forest.trees.size());
  for (std::size_t i = 0; i < world.holds.size(); ++i) {
    const Hold& hold = world.holds[i];
    if (hold.release && end > *hold.release) continue;
    const int t = forest.tree_of[hold.fibre];
    const int touched = world.fibres[hold.fibre].model->touched(hold.piece);
    out[t].holds.push_back(static_cast<int>(i));
    out[t].equations += equations_of(hold);
    out[t].leading = std::max(out[t].leading, leading_unknowns(forest.trees[t], forest.place_of[hold.fibre], touched));
  }
  return out;
}

void linearise_holds(const Kinematics& kinematics, FreeMotion& motion, int t, double time) {
  const World& world = kinematics.world();
  TreeHold& held = motion.holds[t];
  const int dof = motion.forest.trees[t].dof;
  held.directions.clear();
  held.rows.resize(held.leading, held.equations);
  MatrixX columns = MatrixX::Zero(dof + held.equations, held.equations);
  int first = 0;
  for (const int i : held.holds) {
    const Hold& hold = world.holds[i];
    const int count = equations_of(hold);
    const HoldDirections& at = held.directions.emplace_back(directions(kinematics, i, time));
    fill_columns(kinematics, motion, hold, at, held.rows.middleCols(first, count));
    columns.block(dof + first, first, at.count, at.count)
        .diagonal()
        .setConstant(std::sqrt(hold.compliance / (motion.stage * motion.dt)));
    first += count;
  }
  columns.topRows(held.leading) = held.rows;
  motion.matrices[t].whiten(columns.topRows(held.leading));
  decompose(columns, held);
}

HoldOffset hold_offset(const Kinematics& kinematics, int index, double time, const Vector3& force, double share,
                       double most) {
  const World& world = kinematics.world();
  const Hold& hold = world.holds[index];
  const HoldDirections at = directions(kinematics, index, time);
  HoldOffset out;
  out.off = held_pose(kinematics, hold).position - hold_pose(hold, time).position;
  const Vector3 stretch = hold.compliance * force;
  out.stored = 0.5 * force.dot(stretch);
  out.off += stretch;
  if (at.count == 2) out.off -= out.off.dot(at.basis.col(2)) * at.basis.col(2);
  const double off = out.off.norm();
  out.left = (1.0 - share * (off > most ? most / off : 1.0)) * out.off;
  return out;
}

void keep_holds(const Kinematics& kinematics, FreeMotion& motion, int t, double time,
                const std::vector<VectorX>* reached) {
  const World& world = kinematics.world();
  TreeHold& held = motion.holds[t];
  const Tree& tree = motion.forest.trees[t];
  VectorX lack(held.equations);
  Eigen::Index first = 0;
  for (const HoldDirections& at : held.directions) {
    const Hold& hold = world.holds[at.hold];
    const int count = equations_of(hold);
    lack.segment(first, count) = wanted_velocity(kinematics, hold, at, time, motion.dt, motion.offsets[at.hold].left);
    if (!reached) {
      const Twist now = held_velocity(kinematics, hold, motion.velocities[hold.fibre]);
      lack.segment(first, count) -= in_equations(hold, at, now);
    }
    first += count;
  }
  if (reached) {
    const VectorX change = tree_velocity(world, tree, *reached) - tree_velocity(world, tree, motion.velocities);
    lack += held.rows.transpose() * change.head(held.leading);
  }
  const auto rank = static_cast<Eigen::Index>(held.kept.size());
  held.correction.resize(rank);
  for (Eigen::Index i = 0; i < rank; ++i) held.correction[i] = lack[held.kept[static_cast<std::size_t>(i)]];
  held.r.transpose().triangularView<Eigen::Lower>().solveInPlace(held.correction);
  VectorX change = held.q.topRows(tree.dof) * held.correction;
  motion.matrices[t].velocity_from_whitened(change);
  std::vector<VectorX> changes(motion.velocities.size());
  set_rod_velocities(world, tree, motion.roots[t], change, false, changes);
  for (const int f : tree.fibres) motion.velocities[f] += changes[f];
}

std::vector<HoldImpulse> hold_impulses(const World& world, const FreeMotion& motion, int t, const VectorX& contact) {
  const TreeHold& held = motion.holds[t];
  MatrixX whitened = contact;
  motion.matrices[t].whiten(whitened);
  VectorX along = held.correction - held.q.topRows(whitened.rows()).transpose() * whitened.col(0);
  held.r.triangularView<Eigen::Upper>().solveInPlace(along);
  VectorX multiplier = VectorX::Zero(held.equations);
  for (std::size_t i = 0; i < held.kept.size(); ++i) multiplier[held.kept[i]] = along[static_cast<Eigen::Index>(i)];
  std::vector<HoldImpulse> out;
  Eigen::Index first = 0;
  for (const HoldDirections& at : held.directions) {
    const Hold& hold = world.holds[at.hold];
    HoldImpulse impulse{at.hold, at.basis.leftCols(at.count) * multiplier.segment(first, at.count), Vector3::Zero()};
    if (hold.clamped) impulse.angular = multiplier.segment<3>(first + at.count);
    out.push_back(impulse);
    first += equations_of(hold);
  }
  return out;
}

double hold_error(const Kinematics& kinematics, const HoldImpulse& impulse, double time, double stage,
                  const Vector3& left) {
  const World& world = kinematics.world();
  const Hold& hold = world.holds[impulse.hold];
  const HoldDirections at = directions(kinematics, impulse.hold, time);
  const Pose wanted = hold_pose(hold, time);
  const Pose here = held_pose(kinematics, hold);
  const Vector3 stretch = hold.compliance * impulse.linear / stage;
  Vector3 off = at.basis.transpose() * (here.position + stretch - wanted.position - left);
  if (at.count == 2) off[2] = 0.0;
  double error = off.norm();
  if (hold.clamped) {
    const Matrix3 turn = wanted.frame * here.frame.transpose();
    error = std::max(error, rod_of(kinematics, hold).length() * Eigen::AngleAxisd(turn).angle());
  }
  return error;
}

}  // namespace tresse::assembly
