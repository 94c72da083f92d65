#include <algorithm>
#include <string>

#include <tresse/base/assert.hpp>
#include <tresse/base/errors.hpp>
#include <tresse/math/rotations.hpp>
#include <tresse/rods/detail/super_helix_rod.hpp>

// Kinematics; the integrals are in super_helix_dynamics.cpp.
namespace tresse::rods::detail {
namespace {

/// a I + b [v]x + c [v]x^2.
Matrix3 rotation_polynomial(double a, double b, double c, const Vector3& v) {
  Matrix3 m = c * v * v.transpose();
  m.diagonal().array() += a - c * v.squaredNorm();
  return m + b * math::cross_matrix(v);
}

/// exp(s [w]x) from c_0 .. c_2.
template <std::size_t Count>
Matrix3 rotation(double s, const Vector3& w, const std::array<double, Count>& c) {
  return rotation_polynomial(1.0, s * c[1], s * s * c[2], w);
}

}  // namespace

SuperHelixRod::SuperHelixRod(const std::vector<SuperHelixElement>& elements, const Material& material,
                             RootCondition root_condition)
    : root_condition_(root_condition), damping_time_(material.damping_time) {
  const auto n = elements.size();
  const auto m = static_cast<Eigen::Index>(3 * n);
  rest_.resize(m);
  stiffness_.resize(m);
  elements_.reserve(n);
  for (std::size_t i = 0; i < n; ++i) {
    const SuperHelixElement& e = elements[i];
    const auto at = static_cast<Eigen::Index>(3 * i);
    elements_.push_back(
        {e.length, length_, material.density * area(e.section), bending_stiffness(e.section, material)});
    rest_.segment<3>(at) = e.rest_curvature;
    stiffness_.segment<3>(at) = e.length * elements_.back().stiffness;
    length_ += e.length;
    mass_ += elements_.back().density * e.length;
    if (root_condition == RootCondition::free) {
      const double a = e.section.half_axis_1;
      const double b = e.section.half_axis_2;
      spin_inertia_ += elements_.back().density * e.length * (a * a + b * b) / 4.0;
    }
    contact_radius_ = std::max({contact_radius_, e.section.half_axis_1, e.section.half_axis_2});
  }
  uniform_density_ = elements_.front().density;
  for (const Element& e : elements_) {
    if (e.density != uniform_density_) uniform_density_ = 0.0;
  }
  joints_.resize(n + 1);
  links_.resize(n);
  samples_.resize(n);
  moments_.resize(n);
  forces_.resize(n);
  twists_.setZero(dof(), 6);
  if (root_condition == RootCondition::free) twists_.topRows<6>().setIdentity();
  state_.coordinates = rest_;
  state_.rates = VectorX::Zero(m);
  update(RodState(state_));
}

double SuperHelixRod::piece_begin(int piece) const {
  require(piece >= 0 && piece <= count(), [&] { return "super-helix: no such piece " + std::to_string(piece); });
  return piece == count() ? length_ : elements_[piece].begin;
}

void SuperHelixRod::check_piece(int piece) const { TRESSE_ASSERT(piece >= 0 && piece < count()); }

geometry::Curve SuperHelixRod::piece(int piece) const {
  check_piece(piece);
  const Joint& joint = joints_[piece];
  return geometry::HelixArc{state_.root.position + joint.offset, joint.frame, w(piece), elements_[piece].length};
}

void SuperHelixRod::update(const RodState& state) {
  require(state.coordinates.size() == coordinate_count() && state.rates.size() == coordinate_count(), [&] {
    return "super-helix: the state has " + std::to_string(state.coordinates.size()) + " curvatures and " +
           std::to_string(state.rates.size()) + " rates, expected " + std::to_string(coordinate_count());
  });
  state_ = state;
  sampled_ = weighed_ = moved_ = false;
  joints_[0].offset.setZero();
  joints_[0].frame = state_.root.frame;
  for (int i = 0; i < count(); ++i) {
    const double l = elements_[i].length;
    const Vector3 wi = w(i);
    const Joint& joint = joints_[i];
    Link& link = links_[i];
    link.c = helix_stumpff<8>(l, wi);
    const HelixPoint<double> end = helix_point(l, triple(wi), link.c);
    link.end_linear = gradient_matrix(end);
    link.end_angular = l * rotation_polynomial(1.0, l * link.c[2], l * l * link.c[3], wi);

    Joint& next = joints_[i + 1];
    next.offset = joint.offset + joint.frame * Vector3(end.p[0], end.p[1], end.p[2]);
    // One Newton step an element, so that rounding does not build up along a rod of many elements.
    next.frame = math::orthonormalised_once(joint.frame * rotation(l, wi, link.c));

    link.X_angular = joint.frame * link.end_angular;
    link.X_linear = joint.frame * link.end_linear + math::cross_matrix(next.offset) * link.X_angular;
    auto rows = twists_.middleRows<3>(root_dof() + 3 * i);
    rows.leftCols<3>() = link.X_linear.transpose();
    rows.rightCols<3>() = link.X_angular.transpose();
  }
}

Vector3 SuperHelixRod::point(int piece, double u) const {
  const Vector3 wi = w(piece);
  const auto h = helix_point(u, triple(wi), helix_stumpff<6>(u, wi));
  return joints_[piece].offset + joints_[piece].frame * Vector3(h.p[0], h.p[1], h.p[2]);
}

RodSection SuperHelixRod::section(double s) const {
  const double slack = 1e-9 * length_;  // a caller's own sum of lengths may round past the end
  require(s >= -slack && s <= length_ + slack, [&] {
    return "super-helix: arc length " + std::to_string(s) + " m, expected 0 to " + std::to_string(length_);
  });
  const auto after =
      std::upper_bound(elements_.begin(), elements_.end(), s, [](double at, const Element& e) { return at < e.begin; });
  const int i = std::max(0, static_cast<int>(after - elements_.begin()) - 1);
  const double u = std::clamp(s - elements_[i].begin, 0.0, elements_[i].length);
  RodSection out;
  out.s = s;
  out.curvature = w(i);
  out.position = state_.root.position + point(i, u);
  out.frame = joints_[i].frame * rotation(u, out.curvature, helix_stumpff<3>(u, out.curvature));
  out.moment = elements_[i].stiffness.cwiseProduct(out.curvature - rest_.segment<3>(3 * i));
  return out;
}

Vector3 SuperHelixRod::velocity(int piece, double u, const Eigen::Ref<const VectorX>& v) const {
  check_piece(piece);
  TRESSE_ASSERT(v.size() == dof());
  const Vector3 wi = w(piece);
  const auto h = helix_point(u, triple(wi), helix_stumpff<6>(u, wi));
  const Matrix3& frame = joints_[piece].frame;
  const Vector3 d = joints_[piece].offset + frame * Vector3(h.p[0], h.p[1], h.p[2]);
  Vector3 linear = Vector3::Zero();
  Vector3 angular = Vector3::Zero();
  if (root_condition_ == RootCondition::free) {
    linear = v.head<3>();
    angular = v.segment<3>(3);
  } else {
    linear = state_.root_velocity.linear;
    angular = state_.root_velocity.angular;
  }
  for (int i = 0; i < piece; ++i) {
    const Vector3 vi = v.segment<3>(root_dof() + 3 * i);
    linear += links_[i].X_linear * vi;
    angular += links_[i].X_angular * vi;
  }
  const Vector3 own = v.segment<3>(root_dof() + 3 * piece);
  return linear + angular.cross(d) + frame * (gradient_matrix(h) * own);
}

void SuperHelixRod::end_velocities(const Eigen::Ref<const VectorX>& v, Eigen::Ref<Matrix3X> out) const {
  TRESSE_ASSERT(v.size() == dof() && out.cols() == count() + 1);
  const bool clamped = root_condition_ == RootCondition::clamped;
  Vector3 linear = clamped ? state_.root_velocity.linear : Vector3(v.head<3>());
  Vector3 angular = clamped ? state_.root_velocity.angular : Vector3(v.segment<3>(3));
  out.col(0) = linear;
  for (int i = 0; i < count(); ++i) {
    const Vector3 vi = v.segment<3>(root_dof() + 3 * i);
    linear += links_[i].X_linear * vi;
    angular += links_[i].X_angular * vi;
    out.col(i + 1) = linear + angular.cross(joints_[i + 1].offset);
  }
}

int SuperHelixRod::jacobian(int piece, double u, Eigen::Ref<Matrix3X> out) const {
  check_piece(piece);
  TRESSE_ASSERT(out.cols() >= touched(piece));
  const Vector3 wi = w(piece);
  const auto h = helix_point(u, triple(wi), helix_stumpff<6>(u, wi));
  const Matrix3& frame = joints_[piece].frame;
  const Vector3 d = joints_[piece].offset + frame * Vector3(h.p[0], h.p[1], h.p[2]);
  const Matrix3 minus_d = -math::cross_matrix(d);
  int column = 0;
  if (root_condition_ == RootCondition::free) {
    out.leftCols<3>().setIdentity();
    out.middleCols<3>(3) = minus_d;
    column = 6;
  }
  for (int i = 0; i < piece; ++i, column += 3) {
    out.middleCols<3>(column) = links_[i].X_linear;
    out.middleCols<3>(column).noalias() += minus_d * links_[i].X_angular;
  }
  out.middleCols<3>(column).noalias() = frame * gradient_matrix(h);
  return column + 3;
}

}  // namespace tresse::rods::detail
