#include <tresse/dynamics/detail/contact_tangent.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include <Eigen/LU>

#include <tresse/math/rotations.hpp>

namespace tresse::dynamics::detail {
namespace {

using Vector6 = rods::ChainField::Vector6;

Vector6 stacked(const Vector3& first, const Vector3& second) {
  Vector6 out;
  out.head<3>() = first;
  out.tail<3>() = second;
  return out;
}

Vector3 at_point(const Vector6& twist, const Vector3& offset) {
  return twist.head<3>() + Vector3(twist.tail<3>()).cross(offset);
}

/// d log(M) for d M = [turned]x M, where M = exp(v).
Vector3 log_change(const Vector3& v, const Vector3& turned) {
  return math::rotation_exp_integral(v).partialPivLu().solve(turned);
}

}  // namespace

bool ContactTangent::possible(const contact::Geometry& geometry, const contact::Contact& contact) {
  if (contact::is_mesh(geometry, contact.b) || !geometry.pieces[static_cast<std::size_t>(contact.a)].id.is_fibre())
    return false;
  const BodyId other = contact::id_at(geometry, contact.b);
  if (!other.is_fibre() && other.moves()) return false;
  return contact::is_plane(geometry, contact.b) || (contact.point_b - contact.point_a).norm() > 0.0;
}

ContactTangent::Place ContactTangent::place_of(const contact::Geometry& geometry, int piece, double s,
                                               const Shapes& shapes) const {
  Place out;
  if (piece < 0) return out;
  const contact::Piece& of = geometry.pieces[static_cast<std::size_t>(piece)];
  if (!of.id.is_fibre()) {
    const geometry::CurveJet jet = geometry::jet(of.curve, s);
    out.tangent = jet.first;
    out.second = jet.second;
    return out;
  }
  out.fibre = of.body;
  out.element = of.element;
  out.u = of.span.in_material(s);
  out.shape = shapes[static_cast<std::size_t>(of.body)].get();
  out.on = out.shape->field->place(out.element, out.u);
  out.tangent = out.on.frame.col(0);
  out.second = out.on.frame * out.on.curvature.cross(Vector3::UnitX());
  return out;
}

ContactTangent::ContactTangent(const assembly::World& world, const contact::Geometry& geometry,
                               const contact::Contact& contact, const Shapes& shapes)
    : contact_(contact), plane_(contact::is_plane(geometry, contact.b)) {
  surface_ = world.contact_at == assembly::ContactAt::surface;
  a_ = place_of(geometry, contact.a, contact.s_a, shapes);
  b_ = place_of(geometry, contact.b, contact.s_b, shapes);
  const BodyId other = contact::id_at(geometry, contact.b);
  if (!other.is_fibre()) obstacle_ = other.index;
  const Vector3 normal = contact.frame.col(0);
  const assembly::ActingPoints points = assembly::acting_points(world, geometry, contact);
  a_.acting = points.a;
  b_.acting = points.b;
  reach_a_ = normal.dot(points.a - contact.point_a);
  reach_b_ = normal.dot(contact.point_b - points.b);
  // Midway between the surfaces, but for a bound.
  const double half = 0.5 * contact.gap;
  const double thinnest = std::min(geometry.pieces[static_cast<std::size_t>(contact.a)].radius,
                                   other.is_fibre() ? geometry.pieces[static_cast<std::size_t>(contact.b)].radius
                                                    : std::numeric_limits<double>::infinity());
  deeper_ = surface_ && std::abs(half) < 0.5 * thinnest ? 0.5 : 0.0;
  // At an end, or at a station, a contact stays where it is on the material.
  const Vector3 apart = contact.point_b - contact.point_a;
  constexpr double aslant = 1e-6;
  const auto stays = [&](const Place& place) {
    return !(place.tangent.norm() > 0.0) ||
           std::abs(place.tangent.dot(plane_ ? normal : Vector3(apart.normalized()))) > aslant;
  };
  fixed_a_ = contact.fixed || stays(a_);
  fixed_b_ = !plane_ && stays(b_);
  for (const auto& [place, sign] : {std::pair{&a_, -1.0}, std::pair{&b_, 1.0}}) {
    if (place->fibre < 0) continue;
    Side side{place->fibre, sign, MatrixX(place->shape->field->dof(), 3)};
    const Vector3 offset = place->acting - place->shape->field->origin();
    for (int k = 0; k < 3; ++k) {
      VectorX column = VectorX::Zero(side.columns.rows());
      const Vector3 direction = sign * contact.frame.col(k);
      place->shape->field->add_wrench(place->on, stacked(direction, offset.cross(direction)), column);
      side.columns.col(k) = column;
    }
    sides_.push_back(std::move(side));
  }
}

/// How the material of a place moves along a variation.
ContactTangent::Moved ContactTangent::moved(const Place& place, std::size_t variation) {
  if (place.shape == nullptr) return {};
  const Vector6 twist =
      place.shape->field->twist(place.on, place.shape->along[variation], place.shape->displacement[variation]);
  return {at_point(twist, place.on.offset), Vector3(twist.tail<3>()).cross(place.tangent)};
}

/// The nearest points stay nearest: their conditions are differentiated.
ContactChange ContactTangent::change(std::size_t variation) const {
  const Moved a = moved(a_, variation), b = moved(b_, variation);
  const Vector3 normal = contact_.frame.col(0);
  ContactChange out;
  if (plane_) {
    const double bend = normal.dot(a_.second);
    if (!fixed_a_ && bend != 0.0) out.slid_a = -normal.dot(a.tangent) / bend;
    out.gap = -normal.dot(a.point + a_.tangent * out.slid_a);
    out.acting_a = a.point + a_.tangent * out.slid_a + deeper_ * out.gap * normal;
    out.acting_b = out.acting_a;
    return out;
  }
  const Vector3 apart = contact_.point_b - contact_.point_a, way = b.point - a.point;
  Eigen::Matrix2d system = Eigen::Matrix2d::Identity();
  Eigen::Vector2d right = Eigen::Vector2d::Zero();
  if (!fixed_a_) {
    system(0, 0) = apart.dot(a_.second) - a_.tangent.squaredNorm();
    system(0, 1) = fixed_b_ ? 0.0 : a_.tangent.dot(b_.tangent);
    right[0] = -way.dot(a_.tangent) - apart.dot(a.tangent);
  }
  if (!fixed_b_) {
    system(1, 1) = apart.dot(b_.second) + b_.tangent.squaredNorm();
    system(1, 0) = fixed_a_ ? 0.0 : -a_.tangent.dot(b_.tangent);
    right[1] = -way.dot(b_.tangent) - apart.dot(b.tangent);
  }
  const Eigen::Vector2d slid = system.fullPivLu().solve(right);
  out.slid_a = slid[0];
  out.slid_b = slid[1];
  const Vector3 point_a = a.point + a_.tangent * out.slid_a, point_b = b.point + b_.tangent * out.slid_b;
  const Vector3 change = point_b - point_a;
  const double distance = apart.norm();
  const Vector3 along = apart / distance;
  const double sign = along.dot(normal) < 0.0 ? -1.0 : 1.0;
  const Vector3 normal_change = sign * (change - along * along.dot(change)) / distance;
  out.turned = normal.cross(normal_change);
  out.gap = sign * along.dot(change);
  out.acting_a = point_a + reach_a_ * normal_change + deeper_ * out.gap * normal;
  out.acting_b = point_b - reach_b_ * normal_change - deeper_ * out.gap * normal;
  return out;
}

/// Mean velocity over the step of an obstacle's point at x; or, of a displacement x, how that velocity changes.
Vector3 ContactTangent::obstacle_velocity(const Vector3& x, bool change, const assembly::FreeMotion& motion,
                                          assembly::Instant instant) const {
  const auto k = static_cast<std::size_t>(obstacle_);
  const Pose &begin = motion.obstacles_begin[k], &end = motion.obstacles_end[k];
  const Pose& here = assembly::obstacle_place(motion, obstacle_, instant);
  const Matrix3 turn = (end.frame - begin.frame) * here.frame.transpose() / motion.dt;
  if (change) return turn * x;
  return (end.position - begin.position) / motion.dt + turn * (x - here.position);
}

Vector3 ContactTangent::side_velocity(const Place& place, const std::vector<VectorX>& velocities,
                                      const std::vector<Twist>& roots, const assembly::FreeMotion& motion,
                                      assembly::Instant instant) const {
  if (place.fibre < 0) return obstacle_velocity(place.acting, false, motion, instant);
  const auto f = static_cast<std::size_t>(place.fibre);
  const rods::ChainField& field = *place.shape->field;
  const Vector6 twist = field.twist(place.on, field.motion(velocities[f], roots[f]), velocities[f]);
  return at_point(twist, place.acting - field.origin());
}

Vector3 ContactTangent::velocity(const std::vector<VectorX>& velocities, const std::vector<Twist>& roots,
                                 const assembly::FreeMotion& motion, assembly::Instant instant) const {
  return contact_.frame.transpose() * (side_velocity(b_, velocities, roots, motion, instant) -
                                       side_velocity(a_, velocities, roots, motion, instant));
}

Vector3 ContactTangent::velocity_change(const std::vector<VectorX>& velocities, const std::vector<Twist>& roots,
                                        const ContactChange& change, std::size_t variation,
                                        const assembly::FreeMotion& motion, assembly::Instant instant) const {
  const auto of_side = [&](const Place& place, const Vector3& acting, double slid) -> Vector3 {
    if (place.fibre < 0) return obstacle_velocity(acting, true, motion, instant);
    const auto f = static_cast<std::size_t>(place.fibre);
    const rods::ChainField& field = *place.shape->field;
    const VectorX& v = velocities[f];
    const rods::FieldMotion& along = place.shape->along[variation];
    const Vector6 twist = field.twist(place.on, field.motion(v, roots[f]), v);
    const Vector6 changed = field.twist_change(place.on, field.change(v, roots[f], along), v, along) +
                            slid * field.twist_slope(place.on, v);
    return at_point(changed, place.acting - field.origin()) + Vector3(twist.tail<3>()).cross(acting);
  };
  const Vector3 rate = of_side(b_, change.acting_b, change.slid_b) - of_side(a_, change.acting_a, change.slid_a);
  const Vector3 relative =
      side_velocity(b_, velocities, roots, motion, instant) - side_velocity(a_, velocities, roots, motion, instant);
  return contact_.frame.transpose() * (rate - change.turned.cross(relative));
}

void ContactTangent::add_impulse_change(const Vector3& r, const ContactChange& change, std::size_t variation,
                                        std::vector<VectorX>& into) const {
  const Vector3 force = contact_.frame * r, force_change = change.turned.cross(force);
  const auto add = [&](const Place& place, const Vector3& acting, double slid, double sign) {
    if (place.fibre < 0) return;
    const rods::ChainField& field = *place.shape->field;
    const Vector3 offset = place.acting - field.origin();
    const Vector6 wrench = sign * stacked(force, offset.cross(force));
    const Vector6 changed = sign * stacked(force_change, offset.cross(force_change) + acting.cross(force));
    field.add_wrench_change(place.on, wrench, changed, slid, place.shape->along[variation],
                            into[static_cast<std::size_t>(place.fibre)]);
  };
  add(a_, change.acting_a, change.slid_a, -1.0);
  add(b_, change.acting_b, change.slid_b, 1.0);
}

ContactTangent::Way ContactTangent::way(const Shapes& start, const Shapes& end, const ContactChange& change,
                                        std::size_t variation, const assembly::FreeMotion& motion,
                                        assembly::Instant instant) const {
  // Of a side: where its material is before and after, how its section turns, and how all that changes.
  struct OfSide {
    Vector3 from = Vector3::Zero(), to = Vector3::Zero(), from_change = Vector3::Zero(), to_change = Vector3::Zero();
    Matrix3 turn = Matrix3::Identity();
    Vector3 turned_from = Vector3::Zero(), turned_to = Vector3::Zero();
  };
  const auto of_fibre = [&](const Place& place, double slid) {
    OfSide out;
    Matrix3 frame_from = Matrix3::Identity();
    for (const bool after : {false, true}) {
      const ShapeTangent& shape = *(after ? end : start)[static_cast<std::size_t>(place.fibre)];
      const rods::FieldPlace on = shape.field->place(place.element, place.u);
      const Vector6 twist = shape.field->twist(on, shape.along[variation], shape.displacement[variation]);
      (after ? out.to : out.from) = shape.field->origin() + on.offset;
      (after ? out.to_change : out.from_change) = at_point(twist, on.offset) + slid * on.frame.col(0);
      (after ? out.turned_to : out.turned_from) = Vector3(twist.tail<3>()) + slid * (on.frame * on.curvature);
      if (after) {
        out.turn = on.frame * frame_from.transpose();
      } else {
        frame_from = on.frame;
      }
    }
    if (surface_) return out;
    out.turn = Matrix3::Identity();
    out.turned_from = out.turned_to = Vector3::Zero();
    return out;
  };
  const OfSide a = of_fibre(a_, change.slid_a);
  OfSide b;
  if (b_.fibre >= 0) {
    b = of_fibre(b_, change.slid_b);
  } else {
    b.from = b_.acting;
    b.to = b_.acting + motion.dt * obstacle_velocity(b_.acting, false, motion, instant);
    b.from_change = change.acting_b;
    b.to_change = change.acting_b + motion.dt * obstacle_velocity(change.acting_b, true, motion, instant);
    const auto k = static_cast<std::size_t>(obstacle_);
    if (surface_) b.turn = motion.obstacles_end[k].frame * motion.obstacles_begin[k].frame.transpose();
  }
  const Matrix3 back = b.turn.transpose();
  const Vector3 arm = a_.acting - contact_.point_a;
  const Vector3 arm_change = change.acting_a - moved(a_, variation).point - a_.tangent * change.slid_a;
  const Vector3 rolled = math::rotation_log(back * a.turn);
  // d (B^T) B = [b_back]x, and d (B^T A) = [turned]x B^T A.
  const Vector3 b_back = b.turned_from - back * b.turned_to;
  const Vector3 turned = back * (a.turned_to - a.turn * a.turned_from) + b_back;
  return {(a.from - b.from) - back * (a.to - b.to) - rolled.cross(arm),
          (a.from_change - b.from_change) - b_back.cross(back * (a.to - b.to)) - back * (a.to_change - b.to_change) -
              log_change(rolled, turned).cross(arm) - rolled.cross(arm_change)};
}

}  // namespace tresse::dynamics::detail
