#include <tresse/statics/detail/touching.hpp>

#include <algorithm>
#include <cmath>
#include <utility>

namespace tresse::statics::detail {
namespace {

double length_of(const rods::Rod& rod, int element) { return rod.piece_begin(element + 1) - rod.piece_begin(element); }

/// Local arc length of the material at a share of an element.
double material(const rods::Rod& rod, int element, double share) { return share * rod.span(element).rest; }

struct Point {
  Vector3 position;
  Vector3 tangent;
};

Point point_on(const assembly::Kinematics& at, int fibre, int element, double share, double slide) {
  const rods::Rod& rod = at.rod(fibre);
  const geometry::Curve curve = rod.piece(element);
  const double s = rod.span(element).on_curve(material(rod, element, share)) + slide;
  return {geometry::position(curve, s), geometry::derivative(curve, s)};
}

/// Of an element, the material at parameter `s` of its curve.
double share_of(const rods::Rod& rod, int element, double s) {
  const geometry::MaterialSpan span = rod.span(element);
  return span.in_material(s) / span.rest;
}

/// On the axis of an obstacle, to second order.
Point slid(const Touch& touch, double slide) {
  return {touch.point + slide * touch.axis + 0.5 * slide * slide * touch.bend, touch.axis + slide * touch.bend};
}

struct Sides {
  Point a;
  Point b;
  Vector3 normal;
  double distance = 0.0;
};

Sides sides(const assembly::Kinematics& at, const Touch& touch, const Eigen::Vector2d& slide) {
  Sides out;
  out.a = point_on(at, touch.a.index, touch.element_a, touch.share_a, slide[0]);
  if (touch.plane) {
    out.normal = -touch.outward;
    out.distance = touch.outward.dot(out.a.position - touch.point);
    out.b = {out.a.position + out.distance * out.normal, Vector3::Zero()};
    return out;
  }
  out.b = touch.b.is_fibre() ? point_on(at, touch.b.index, touch.element_b, touch.share_b, slide[1])
                             : slid(touch, slide[1]);
  const Vector3 between = out.b.position - out.a.position;
  out.distance = between.norm();
  out.normal = out.distance > 0.0 ? Vector3(between / out.distance) : Vector3::UnitZ();
  return out;
}

void add_side(const assembly::Kinematics& at, int fibre, int element, double share, const Vector3& normal,
              Eigen::Ref<VectorX> out) {
  const rods::Rod& rod = at.rod(fibre);
  Matrix3X jacobian(3, rod.dof());
  const int touched = rod.jacobian(element, material(rod, element, share), jacobian);
  out.head(touched).noalias() += jacobian.leftCols(touched).transpose() * normal;
}

bool inside(const rods::Rod& rod, int element, double share) {
  constexpr double end = 1e-9;
  return (element > 0 || share > end) && (element + 1 < rod.piece_count() || share < 1.0 - end);
}

}  // namespace

Touch touch_of(const assembly::Kinematics& at, const contact::Geometry& geometry, const contact::Contact& contact) {
  Touch out;
  const contact::Piece& a = geometry.pieces[contact.a];
  out.a = a.id;
  out.b = contact::id_at(geometry, contact.b);
  out.element_a = a.element;
  out.share_a = share_of(at.rod(a.body), a.element, contact.s_a);
  out.radii = a.radius;
  if (contact.b < 0) {
    const contact::HalfSpace& plane = geometry.planes[-1 - contact.b];
    out.plane = true;
    out.point = plane.point;
    out.outward = plane.normal;
    return out;
  }
  const contact::Piece& b = geometry.pieces[contact.b];
  out.radii += b.radius;
  out.element_b = b.element;
  if (b.id.is_fibre()) {
    out.share_b = share_of(at.rod(b.body), b.element, contact.s_b);
    return out;
  }
  out.part_b = b.element;
  out.s_b = contact.s_b;
  out.point = contact.point_b;
  const double length = b.interval.end - b.interval.begin;
  if (b.curvature > 0.0) {
    const geometry::CurveJet along = geometry::jet(b.curve, contact.s_b);
    out.axis = along.first;
    out.bend = along.second;
  } else if (contact.s_b > 1e-9 * length && contact.s_b < (1.0 - 1e-9) * length) {
    const Vector3 along = geometry::position(b.curve, b.interval.end) - geometry::position(b.curve, b.interval.begin);
    out.axis = along.normalized();
  }
  return out;
}

double arc_length_a(const assembly::Kinematics& at, const Touch& touch) {
  const rods::Rod& rod = at.rod(touch.a.index);
  return rod.piece_begin(touch.element_a) + touch.share_a * length_of(rod, touch.element_a);
}

double arc_length_b(const assembly::Kinematics& at, const Touch& touch) {
  if (!touch.b.is_fibre()) return touch.s_b;
  const rods::Rod& rod = at.rod(touch.b.index);
  return rod.piece_begin(touch.element_b) + touch.share_b * length_of(rod, touch.element_b);
}

bool same_touch(const assembly::Kinematics& at, const Touch& x, const Touch& y, double near) {
  return x.a == y.a && x.b == y.b && x.part_b == y.part_b &&
         std::abs(arc_length_a(at, x) - arc_length_a(at, y)) <= near &&
         std::abs(arc_length_b(at, x) - arc_length_b(at, y)) <= near;
}

TouchPlace place(const assembly::Kinematics& at, const Touch& touch, const Eigen::Vector2d& slide) {
  const Sides touching = sides(at, touch, slide);
  return {touching.a.position, touching.b.position, touching.normal, touching.distance - touch.radii};
}

void gap_gradient(const assembly::Kinematics& at, const std::vector<Eigen::Index>& begin, const Touch& touch,
                  Eigen::Ref<VectorX> out) {
  out.setZero();
  const Vector3 normal = sides(at, touch, Eigen::Vector2d::Zero()).normal;
  const auto part = [&](int fibre) { return out.segment(begin[fibre], at.rod(fibre).coordinate_count()); };
  add_side(at, touch.a.index, touch.element_a, touch.share_a, -normal, part(touch.a.index));
  if (touch.b.is_fibre()) add_side(at, touch.b.index, touch.element_b, touch.share_b, normal, part(touch.b.index));
}

std::pair<bool, bool> slides(const assembly::Kinematics& at, const Touch& touch) {
  const bool a = inside(at.rod(touch.a.index), touch.element_a, touch.share_a);
  if (!touch.b.is_fibre()) return {a, !touch.axis.isZero(0.0)};
  return {a, inside(at.rod(touch.b.index), touch.element_b, touch.share_b)};
}

Eigen::Vector2d gap_slope(const assembly::Kinematics& at, const Touch& touch, const Eigen::Vector2d& slide) {
  const Sides touching = sides(at, touch, slide);
  const auto [a, b] = slides(at, touch);
  return {a ? -touching.normal.dot(touching.a.tangent) : 0.0, b ? touching.normal.dot(touching.b.tangent) : 0.0};
}

Eigen::Matrix2d gap_bend(const assembly::Kinematics& at, const Touch& touch) {
  const auto [a, b] = slides(at, touch);
  Eigen::Matrix2d bend = Eigen::Matrix2d::Identity();
  const double h = 1e-3 * touch.radii;
  for (int c = 0; c < 2; ++c) {
    if (!(c == 0 ? a : b)) continue;
    const Eigen::Vector2d slide = h * Eigen::Vector2d::Unit(c);
    bend.col(c) = (gap_slope(at, touch, slide) - gap_slope(at, touch, -slide)) / (2.0 * h);
  }
  return 0.5 * (bend + bend.transpose());
}

void polish(const assembly::Kinematics& at, Touch& touch) {
  constexpr double most = 1e-3;  // of the radii; farther is not what was found
  const Eigen::Vector2d slide = -gap_bend(at, touch).inverse() * gap_slope(at, touch);
  if (!(slide.norm() < most * touch.radii)) return;
  const auto moved = [&](int fibre, int element, double share, double by) {
    const rods::Rod& rod = at.rod(fibre);
    const geometry::MaterialSpan span = rod.span(element);
    return span.in_material(span.on_curve(material(rod, element, share)) + by) / span.rest;
  };
  const auto [a, b] = slides(at, touch);
  if (a) touch.share_a = moved(touch.a.index, touch.element_a, touch.share_a, slide[0]);
  if (!b) return;
  if (touch.b.is_fibre()) {
    touch.share_b = moved(touch.b.index, touch.element_b, touch.share_b, slide[1]);
  } else {
    const Point there = slid(touch, slide[1]);
    touch.point = there.position;
    touch.axis = there.tangent;
    touch.s_b += slide[1];
  }
}

bool distinct(const assembly::Kinematics& at, const Touch& touch) {
  constexpr double depth = 0.01;  // of the radii
  const auto [a, b] = slides(at, touch);
  if (!a) return false;
  const Eigen::Matrix2d bend = gap_bend(at, touch);
  // What remains along a when b's point goes where it is nearest.
  const double along = b ? bend(0, 0) - bend(0, 1) * bend(1, 0) / bend(1, 1) : bend(0, 0);
  const double length = length_of(at.rod(touch.a.index), touch.element_a);
  return bend(1, 1) > 0.0 && along * length * length > 8.0 * depth * touch.radii;
}

}  // namespace tresse::statics::detail
