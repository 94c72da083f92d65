#include <tresse/assembly/tree.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>

#include <Eigen/Geometry>

#include <tresse/base/assert.hpp>
#include <tresse/base/errors.hpp>
#include <tresse/base/local_memory.hpp>
#include <tresse/math/rotations.hpp>

namespace tresse::assembly {
namespace {

void check_attachment(const World& world, int f) {
  const Fibre& fibre = world.fibres[f];
  const Attachment& at = fibre.attachment;
  const bool carried = fibre.model->root_condition() == rods::RootCondition::carried;
  const auto name = [f] { return "fibre " + std::to_string(f) + ": "; };
  require(carried == (at.parent >= 0), [&] { return name() + "a branch, and nothing else, has a carried root"; });
  if (!carried) return;
  require(at.parent < f, [&] { return name() + "its parent must stand before it"; });
  const rods::RodModel& parent = *world.fibres[at.parent].model;
  require(at.piece >= 0 && at.piece < parent.piece_count(),
          [&] { return name() + "no piece " + std::to_string(at.piece) + " of its parent"; });
  const double length = parent.piece_begin(at.piece + 1) - parent.piece_begin(at.piece);
  require(at.u >= 0.0 && at.u <= length * (1.0 + 1e-12),
          [&] { return name() + "its place must be from 0 to the length of its parent's piece"; });
  require(math::orthonormality_defect(at.frame.frame) < 1e-9 && at.frame.position.allFinite(),
          [&] { return name() + "its frame must be orthonormal and finite"; });
}

Twist moved_to(const Twist& twist, const Vector3& arm) {
  return {twist.linear + twist.angular.cross(arm), twist.angular};
}

using TwistMemory = LocalMemory<64 * 6 * sizeof(double)>;

/// Twist of the place where a branch is attached, of its parent's unknowns, at the branch's origin: (6, touched).
Eigen::Map<Matrix6X> attachment_twist(const rods::Rod& parent, const Attachment& at, const Vector3& arm,
                                      TwistMemory& memory) {
  auto all = memory.matrix<Matrix6X>(6, parent.dof());
  const int columns = parent.twist_jacobian(at.piece, at.u, all);
  all.topLeftCorner(3, columns) -= math::cross_matrix(arm) * all.bottomLeftCorner(3, columns);
  return {all.data(), 6, columns};
}

/// From the point of the parent's centreline to the branch's origin, world axes.
Vector3 arm_of(const Attachment& at, const rods::RodState& branch) {
  return branch.root.frame * (at.frame.frame.transpose() * at.frame.position);
}

}  // namespace

int own_count(const World& world, const Tree& tree, int k) {
  const rods::RodModel& rod = *fibre_of(world, tree, k).model;
  return k == 0 ? rod.dof() : rod.coordinate_count();
}

Forest make_forest(const World& world) {
  Forest out;
  for (int f = 0; f < static_cast<int>(world.fibres.size()); ++f) {
    check_attachment(world, f);
    const int parent = world.fibres[f].attachment.parent;
    if (parent < 0) out.trees.emplace_back();
    const int t = parent < 0 ? static_cast<int>(out.trees.size()) - 1 : out.tree_of[parent];
    Tree& tree = out.trees[t];
    out.tree_of.push_back(t);
    out.place_of.push_back(static_cast<int>(tree.fibres.size()));
    tree.fibres.push_back(f);
    tree.begin.push_back(tree.dof);
    tree.dof += own_count(world, tree, out.place_of[f]);
  }
  return out;
}

void carry_root(const Kinematics& kinematics, int fibre, rods::RodState& state) {
  const Attachment& at = kinematics.world().fibres[fibre].attachment;
  const rods::Rod& parent = kinematics.rod(at.parent);
  const rods::RodState& carrier = parent.state();
  const rods::RodSection section = parent.section(parent.piece_begin(at.piece) + at.u);
  state.root.frame = section.frame * at.frame.frame;
  state.root.position = section.position + section.frame * at.frame.position;
  TwistMemory memory;
  const auto twist = attachment_twist(parent, at, arm_of(at, state), memory);
  const VectorX v = rods::generalised_velocity(parent, carrier);
  const Eigen::Matrix<double, 6, 1> moved = twist * v.head(twist.cols());
  state.root_velocity = {moved.head<3>(), moved.tail<3>()};
  if (parent.root_dof() == 0) {
    const Twist own = moved_to(carrier.root_velocity, state.root.position - carrier.root.position);
    state.root_velocity.linear += own.linear;
    state.root_velocity.angular += own.angular;
  }
}

void update_tree(Kinematics& at, const Tree& tree, std::vector<rods::RodState>& states) {
  for (const int f : tree.fibres) {
    if (at.world().fibres[f].attachment.parent >= 0) carry_root(at, f, states[f]);
    at.rod(f).update(states[f]);
  }
}

void root_motions(const Kinematics& kinematics, const Tree& tree, const Twist& root_acceleration,
                  std::vector<RootMotion>& out) {
  out.resize(tree.fibres.size());
  const rods::Rod& trunk = kinematics.rod(tree.fibres.front());
  out[0].prescribed = trunk.root_dof() == 0 ? trunk.state().root_velocity : Twist{};
  out[0].bias = trunk.root_dof() == 0 ? root_acceleration : Twist{};
  for (std::size_t k = 1; k < tree.fibres.size(); ++k) {
    const int f = tree.fibres[k];
    const Attachment& at = kinematics.world().fibres[f].attachment;
    const auto p =
        static_cast<std::size_t>(std::find(tree.fibres.begin(), tree.fibres.end(), at.parent) - tree.fibres.begin());
    const rods::Rod& parent = kinematics.rod(at.parent);
    const rods::RodState& state = kinematics.rod(f).state();
    const Vector3 arm = arm_of(at, state);
    TwistMemory memory;
    const auto twist = attachment_twist(parent, at, arm, memory);
    const Eigen::Index shared = p == 0 ? 0 : 6;  // of the parent's own, those that are not the tree's
    const Eigen::Index own = twist.cols() - shared;
    RootMotion& motion = out[k];
    motion.twist.setZero(6, tree.begin[p] + own);
    if (p > 0) motion.twist.leftCols(out[p].twist.cols()) = twist.leftCols<6>() * out[p].twist;
    motion.twist.rightCols(own) = twist.rightCols(own);
    motion.prescribed = moved_to(out[p].prescribed, state.root.position - parent.state().root.position);
    const Twist bias = parent.bias_acceleration(at.piece, at.u, out[p].bias);
    const Vector3& spin = state.root_velocity.angular;
    motion.bias = moved_to(bias, arm);
    motion.bias.linear += spin.cross(spin.cross(arm));
  }
}

void rod_velocity(const World& world, const Tree& tree, const std::vector<RootMotion>& roots, int k, const VectorX& v,
                  bool whole, VectorX& out) {
  const int own = own_count(world, tree, k);
  const int shared = k == 0 ? 0 : 6;
  out.resize(shared + own);
  out.tail(own) = v.segment(tree.begin[k], own);
  if (k == 0) return;
  out.head<6>().noalias() = roots[k].twist * v.head(roots[k].twist.cols());
  if (!whole) return;
  out.head<3>() += roots[k].prescribed.linear;
  out.segment<3>(3) += roots[k].prescribed.angular;
}

void set_rod_velocities(const World& world, const Tree& tree, const std::vector<RootMotion>& roots, const VectorX& v,
                        bool whole, std::vector<VectorX>& velocities) {
  for (int k = 0; k < static_cast<int>(tree.fibres.size()); ++k)
    rod_velocity(world, tree, roots, k, v, whole, velocities[tree.fibres[k]]);
}

VectorX tree_velocity(const World& world, const Tree& tree, const std::vector<VectorX>& velocities) {
  VectorX out(tree.dof);
  for (int k = 0; k < static_cast<int>(tree.fibres.size()); ++k) {
    const int own = own_count(world, tree, k);
    out.segment(tree.begin[k], own) = velocities[tree.fibres[k]].tail(own);
  }
  return out;
}

double way_between(const Kinematics& kinematics, int fibre_a, double s_a, int fibre_b, double s_b) {
  // A parent stands before its branches: of two different fibres the later climbs.
  double way = 0.0;
  while (fibre_a != fibre_b) {
    int& fibre = fibre_a > fibre_b ? fibre_a : fibre_b;
    double& s = fibre_a > fibre_b ? s_a : s_b;
    const Attachment& at = kinematics.world().fibres[fibre].attachment;
    if (at.parent < 0) return std::numeric_limits<double>::infinity();
    way += s + at.frame.position.norm();
    s = kinematics.rod(at.parent).piece_begin(at.piece) + at.u;
    fibre = at.parent;
  }
  return way + std::abs(s_a - s_b);
}

bool joined(const Kinematics& at, const contact::Geometry& geometry, const contact::Contact& contact) {
  constexpr double radii = 10.0;
  if (contact.b < 0 || !geometry.pieces[contact.b].id.is_fibre()) return false;
  const contact::Piece& a = geometry.pieces[contact.a];
  const contact::Piece& b = geometry.pieces[contact.b];
  if (a.body == b.body) return false;
  const double s_a = contact::material_at(a, contact.s_a);
  const double s_b = contact::material_at(b, contact.s_b);
  return way_between(at, a.body, s_a, b.body, s_b) < radii * (a.radius + b.radius);
}

void add_rod_force(const World& world, const Tree& tree, const std::vector<RootMotion>& roots, int k,
                   const Eigen::Ref<const VectorX>& force, Eigen::Ref<VectorX> into) {
  const int own = own_count(world, tree, k);
  into.segment(tree.begin[k], own) += force.tail(own);
  if (k > 0) into.head(roots[k].twist.cols()).noalias() += roots[k].twist.transpose() * force.head<6>();
}

int leading_unknowns(const Tree& tree, int k, int touched) { return k == 0 ? touched : tree.begin[k] + touched - 6; }

void add_rod_rows(const Tree& tree, const std::vector<RootMotion>& roots, int k,
                  const Eigen::Ref<const Matrix3X, 0, Eigen::OuterStride<>>& jacobian, const Matrix3& basis,
                  Eigen::Ref<Eigen::Matrix<double, Eigen::Dynamic, 3>> columns) {
  const Eigen::Index touched = jacobian.cols();
  if (k == 0) {
    columns.topRows(touched).noalias() += jacobian.transpose() * basis;
    return;
  }
  const Matrix6X& twist = roots[k].twist;
  const Eigen::Matrix<double, 6, 3> at_root = jacobian.leftCols<6>().transpose() * basis;
  columns.topRows(twist.cols()).noalias() += twist.transpose() * at_root;
  columns.middleRows(tree.begin[k], touched - 6).noalias() += jacobian.middleCols(6, touched - 6).transpose() * basis;
}

rods::RodLoads rod_loads(const World& world, const Tree& tree, const std::vector<RootMotion>& roots, int k,
                         const Vector3& wind) {
  return {gravity_of(world), roots[k].bias, drag_of(world, tree.fibres[k]), wind, roots[k].prescribed};
}

}  // namespace tresse::assembly
