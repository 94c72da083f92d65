#include <tresse/dynamics/detail/contact_tangent.hpp>

#include <cmath>
#include <utility>

#include <Eigen/LU>

#include <tresse/math/rotations.hpp>

namespace tresse::dynamics::detail {
namespace {

using Vector6 = ContactTangent::Vector6;
using Rows6 = ContactTangent::Rows<6>;
using ByPoint = Eigen::Matrix<double, 12, 3>;

Vector3 at_point(const Vector6& twist, const Vector3& offset) {
  return twist.head<3>() + Vector3(twist.tail<3>()).cross(offset);
}

Vector6 stacked(const Vector3& first, const Vector3& second) {
  Vector6 out;
  out.head<3>() = first;
  out.tail<3>() = second;
  return out;
}

/// The velocity at a point, by the twist.
Rows6 by_twist(const Vector3& offset) {
  Rows6 out;
  out << Matrix3::Identity(), -math::cross_matrix(offset);
  return out;
}

/// The angular velocity, by the twist.
Rows6 spin_by_twist() {
  Rows6 out;
  out << Matrix3::Zero(), Matrix3::Identity();
  return out;
}

}  // namespace

ContactTangent::ContactTangent(const assembly::World& world, const RecordedPart& part, const RecordedContact& of,
                               const Shapes& shapes, assembly::Instant instant)
    : part_(&part), of_(&of), instant_(instant), surface_(world.contact_at == assembly::ContactAt::surface) {
  const Matrix3& frame = of.contact.frame;
  const auto take = [&](const RecordedSide& from, double sign, Side& side, Vector3& tangent, Vector3& second) {
    side.fibre = from.fibre;
    side.sign = sign;
    side.acting = from.acting;
    tangent = from.tangent;
    second = from.second;
    if (from.fibre < 0) return;
    const FibreShape& shape = *shapes[static_cast<std::size_t>(from.fibre)];
    side.on = shape.field->place(*shape.rod, from.element, from.u);
    tangent = side.on.frame.col(0);
    second = side.on.frame * side.on.curvature.cross(Vector3::UnitX());
    side.offset = side.acting - shape.field->origin();
    const Eigen::Index dof = shape.rod->dof();
    side.columns.resize(dof, 3);
    rods::PlacedWrench unit;
    unit.place = &side.on;
    for (int k = 0; k < 3; ++k) {
      const Vector3 direction = sign * frame.col(k);
      unit.wrench = stacked(direction, side.offset.cross(direction));
      side.columns.col(k) = shape.field->force(nullptr, {&unit, 1}).tail(dof);
    }
    const Vector3 force = sign * (frame * of.impulse);
    side.wrench = stacked(force, side.offset.cross(force));
  };
  take(of.a, -1.0, a_, tangent_a_, second_a_);
  take(of.b, 1.0, b_, tangent_b_, second_b_);
  take_change();
}

/// The nearest points stay nearest: their conditions are differentiated. At an end, or at a station, a contact stays
/// where it is on the material.
void ContactTangent::take_change() {
  const contact::Contact& contact = of_->contact;
  const Vector3 normal = contact.frame.col(0), apart = contact.point_b - contact.point_a;
  constexpr double aslant = 1e-6;
  const auto stays = [&](const Vector3& tangent) {
    return !(tangent.norm() > 0.0) || std::abs(tangent.dot(of_->plane ? normal : Vector3(apart.normalized()))) > aslant;
  };
  const bool fixed_a = contact.fixed || stays(tangent_a_);
  const bool fixed_b = !of_->plane && stays(tangent_b_);
  // Midway between the surfaces, but for a bound.
  const double deeper = surface_ && std::abs(0.5 * contact.gap) < 0.5 * of_->thinnest ? 0.5 : 0.0;
  Eigen::Matrix2d system = Eigen::Matrix2d::Identity();
  if (of_->plane) {
    const double bend = normal.dot(second_a_);
    if (!fixed_a && bend != 0.0) system(0, 0) = bend;
  } else {
    if (!fixed_a) {
      system(0, 0) = apart.dot(second_a_) - tangent_a_.squaredNorm();
      system(0, 1) = fixed_b ? 0.0 : tangent_a_.dot(tangent_b_);
    }
    if (!fixed_b) {
      system(1, 1) = apart.dot(second_b_) + tangent_b_.squaredNorm();
      system(1, 0) = fixed_a ? 0.0 : -tangent_a_.dot(tangent_b_);
    }
  }
  const Eigen::FullPivLU<Eigen::Matrix2d> solver(system);
  const double distance = apart.norm();
  const Vector3 along = of_->plane ? normal : Vector3(apart / distance);
  const double sign = along.dot(normal) < 0.0 ? -1.0 : 1.0;
  const double reach_a = normal.dot(a_.acting - contact.point_a), reach_b = normal.dot(contact.point_b - b_.acting);
  // Of the changes of a's point and tangent, and of b's.
  const auto changed = [&](const Vector3& point_a, const Vector3& turn_a, const Vector3& point_b,
                           const Vector3& turn_b) -> Change {
    Change out = Change::Zero();
    if (of_->plane) {
      if (!fixed_a && normal.dot(second_a_) != 0.0) out[slid_a] = -normal.dot(turn_a) / system(0, 0);
      const Vector3 point = point_a + tangent_a_ * out[slid_a];
      out[gap] = -normal.dot(point);
      out.segment<3>(acting_a) = point + deeper * out[gap] * normal;
      out.segment<3>(acting_b) = out.segment<3>(acting_a);
      return out;
    }
    const Vector3 way = point_b - point_a;
    const Eigen::Vector2d right(fixed_a ? 0.0 : -way.dot(tangent_a_) - apart.dot(turn_a),
                                fixed_b ? 0.0 : -way.dot(tangent_b_) - apart.dot(turn_b));
    const Eigen::Vector2d slid = solver.solve(right);
    out.head<2>() = slid;
    const Vector3 at_a = point_a + tangent_a_ * slid[0], at_b = point_b + tangent_b_ * slid[1];
    const Vector3 change = at_b - at_a;
    const Vector3 normal_change = sign * (change - along * along.dot(change)) / distance;
    out.segment<3>(turned) = normal.cross(normal_change);
    out[gap] = sign * along.dot(change);
    out.segment<3>(acting_a) = at_a + reach_a * normal_change + deeper * out[gap] * normal;
    out.segment<3>(acting_b) = at_b - reach_b * normal_change - deeper * out[gap] * normal;
    return out;
  };
  const Vector3 none = Vector3::Zero();
  ByPoint point_a, turn_a, point_b, turn_b;
  for (int k = 0; k < 3; ++k) {
    const Vector3 unit = Vector3::Unit(k);
    point_a.col(k) = changed(unit, none, none, none);
    turn_a.col(k) = changed(none, unit, none, none);
    point_b.col(k) = changed(none, none, unit, none);
    turn_b.col(k) = changed(none, none, none, unit);
  }
  const auto of_side = [](const Side& side, const Vector3& tangent, const ByPoint& point, const ByPoint& turn) {
    Eigen::Matrix<double, 12, 6> out = Eigen::Matrix<double, 12, 6>::Zero();
    if (side.fibre >= 0) out = point * by_twist(side.on.offset) - turn * math::cross_matrix(tangent) * spin_by_twist();
    return out;
  };
  a_.change_by = of_side(a_, tangent_a_, point_a, turn_a);
  b_.change_by = of_side(b_, tangent_b_, point_b, turn_b);
}

/// How the mean velocity over the part of an obstacle's point depends on where that is.
Matrix3 ContactTangent::obstacle_turn() const {
  const auto k = static_cast<std::size_t>(of_->obstacle);
  const Pose &begin = part_->obstacles_begin[k], &end = part_->obstacles_end[k];
  const Pose& here = instant_ == assembly::Instant::begin ? begin : end;
  return (end.frame - begin.frame) * here.frame.transpose() / part_->h;
}

Vector3 ContactTangent::obstacle_velocity(const Vector3& x) const {
  const auto k = static_cast<std::size_t>(of_->obstacle);
  const Pose &begin = part_->obstacles_begin[k], &end = part_->obstacles_end[k];
  const Pose& here = instant_ == assembly::Instant::begin ? begin : end;
  return (end.position - begin.position) / part_->h + obstacle_turn() * (x - here.position);
}

Vector3 ContactTangent::side_velocity(const Side& side, const SideMotion& motion) const {
  return side.fibre < 0 ? obstacle_velocity(side.acting) : at_point(motion.twist, side.offset);
}

Vector3 ContactTangent::velocity(const SideMotion& a, const SideMotion& b) const {
  return of_->contact.frame.transpose() * (side_velocity(b_, b) - side_velocity(a_, a));
}

ContactTangent::Rows<12> ContactTangent::velocity_by_change(const SideMotion& a, const SideMotion& b) const {
  Rows<12> out = Rows<12>::Zero();
  const auto add = [&](const Side& side, const SideMotion& motion, int slid, int acting) {
    if (side.fibre < 0) {
      out.middleCols<3>(acting) += side.sign * obstacle_turn();
      return;
    }
    out.col(slid) += side.sign * at_point(motion.slope, side.offset);
    out.middleCols<3>(acting) += side.sign * math::cross_matrix(Vector3(motion.twist.tail<3>()));
  };
  add(a_, a, slid_a, acting_a);
  add(b_, b, slid_b, acting_b);
  out.middleCols<3>(turned) += math::cross_matrix(Vector3(side_velocity(b_, b) - side_velocity(a_, a)));
  return of_->contact.frame.transpose() * out;
}

ContactTangent::Rows<6> ContactTangent::velocity_by(const Side& side) const {
  return side.sign * of_->contact.frame.transpose() * by_twist(side.offset);
}

ContactTangent::Change ContactTangent::work_by_change(const SideMotion& a, const SideMotion& b) const {
  Change out = Change::Zero();
  const auto add = [&](const Side& side, const SideMotion& motion, int slid, int acting) {
    if (side.fibre < 0) return;
    const Vector3 force = side.wrench.head<3>(), spin = motion.twist.tail<3>();
    out[slid] += side.wrench.dot(motion.slope);
    out.segment<3>(turned) += force.cross(at_point(motion.twist, side.offset));
    out.segment<3>(acting) += force.cross(spin);
  };
  add(a_, a, slid_a, acting_a);
  add(b_, b, slid_b, acting_b);
  return out;
}

ContactTangent::Vector6 ContactTangent::wrench_change(const Side& side, const Change& change) const {
  const Vector3 force = side.wrench.head<3>();
  const Vector3 changed = Vector3(change.segment<3>(turned)).cross(force);
  const Vector3 acting = change.segment<3>(&side == &a_ ? acting_a : acting_b);
  return stacked(changed, side.offset.cross(changed) + acting.cross(force));
}

ContactTangent::Way ContactTangent::way(const Shapes& start, const Shapes& end) const {
  Way out;
  // Of a side: where its material is before and after, and how its section turns.
  struct OfSide {
    Vector3 from = Vector3::Zero(), to = Vector3::Zero();
    Matrix3 turn = Matrix3::Identity();
  };
  const auto of_fibre = [&](const RecordedSide& side, Way::OfSide& own) {
    const auto f = static_cast<std::size_t>(side.fibre);
    own.start = start[f]->field->place(*start[f]->rod, side.element, side.u);
    own.end = end[f]->field->place(*end[f]->rod, side.element, side.u);
    OfSide out_side{start[f]->field->origin() + own.start.offset, end[f]->field->origin() + own.end.offset};
    if (surface_) out_side.turn = own.end.frame * own.start.frame.transpose();
    return out_side;
  };
  const OfSide a = of_fibre(of_->a, out.a);
  OfSide b;
  if (b_.fibre >= 0) {
    b = of_fibre(of_->b, out.b);
  } else {
    const auto k = static_cast<std::size_t>(of_->obstacle);
    b.from = b_.acting;
    b.to = b_.acting + part_->h * obstacle_velocity(b_.acting);
    if (surface_) b.turn = part_->obstacles_end[k].frame * part_->obstacles_begin[k].frame.transpose();
  }
  const Matrix3 back = b.turn.transpose();
  const Vector3 arm = a_.acting - of_->contact.point_a, rolled = math::rotation_log(back * a.turn);
  const Vector3 moved_back = back * (a.to - b.to);
  out.value = (a.from - b.from) - moved_back - rolled.cross(arm);
  // With d (B^T) B = [b_back]x and d (B^T A) = [turned]x B^T A it changes by the changes of
  //   from_a - from_b - B^T (to_a - to_b), by -b_back x B^T (to_a - to_b) - d log(B^T A) x arm - rolled x d arm.
  const Matrix3 by_rolled = math::cross_matrix(arm) * math::rotation_exp_integral(rolled).partialPivLu().inverse();
  const Matrix3 by_b_back = math::cross_matrix(moved_back) + by_rolled;
  const Matrix3 turns_a_from = -by_rolled * back * a.turn, turns_a_to = by_rolled * back;
  const Matrix3 &turns_b_from = by_b_back, turns_b_to = -by_b_back * back;
  out.by_change.setZero();
  const auto take = [&](Way::OfSide& own, double sign, const Matrix3& turns_from, const Matrix3& turns_to, int slid) {
    own.by_start = sign * by_twist(own.start.offset);
    own.by_end = -sign * back * by_twist(own.end.offset);
    out.by_change.col(slid) += sign * own.start.frame.col(0) - sign * back * own.end.frame.col(0);
    if (!surface_) return;
    own.by_start += turns_from * spin_by_twist();
    own.by_end += turns_to * spin_by_twist();
    out.by_change.col(slid) +=
        turns_from * (own.start.frame * own.start.curvature) + turns_to * (own.end.frame * own.end.curvature);
  };
  take(out.a, 1.0, turns_a_from, turns_a_to, slid_a);
  if (b_.fibre >= 0) {
    take(out.b, -1.0, turns_b_from, turns_b_to, slid_b);
  } else {
    out.by_change.middleCols<3>(acting_b) +=
        back * (Matrix3::Identity() + part_->h * obstacle_turn()) - Matrix3::Identity();
  }
  const Matrix3 by_arm = -math::cross_matrix(rolled);
  out.by_change.middleCols<3>(acting_a) += by_arm;
  out.by_change.col(slid_a) -= by_arm * tangent_a_;
  out.by_a = -by_arm * by_twist(a_.on.offset);
  return out;
}

}  // namespace tresse::dynamics::detail
