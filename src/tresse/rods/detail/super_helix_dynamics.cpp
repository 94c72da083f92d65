#include <tresse/base/assert.hpp>
#include <tresse/math/rotations.hpp>
#include <tresse/rods/detail/super_helix_rod.hpp>

// Mass, forces, energies: moments per element, then sums over what lies beyond a joint, which a coordinate moves
// rigidly.
namespace tresse::rods::detail {
namespace {

Vector3 vector(const Triple<double>& v) { return {v[0], v[1], v[2]}; }

/// [d]x^T [d]x integrated, from int d d^T.
Matrix3 rotational_inertia(const Matrix3& second) { return second.trace() * Matrix3::Identity() - second; }

/// d/dt of T(s, w) rate at constant rate, T = s (I + s c_2 [w]x + s^2 c_3 [w]x^2).
Vector3 end_angular_rate(double s, const Vector3& w, const Vector3& rate, const std::array<double, 8>& c) {
  const double x_rate = 2.0 * s * s * w.dot(rate);
  const Vector3 turned = w.cross(rate);
  return s * s *
         (stumpff_slope<2>(c) * x_rate * turned + s * c[3] * rate.cross(turned) +
          s * stumpff_slope<3>(c) * x_rate * w.cross(turned));
}

}  // namespace

void SuperHelixRod::sample() const {
  if (sampled_) return;
  for (int i = 0; i < count(); ++i) {
    sample_element(elements_[i].length, w(i), samples_[i]);
    moments_[i] = integrate_moments(samples_[i]);
  }
  sampled_ = true;
}

void SuperHelixRod::add_inertia(const ElementMoments& m, const Joint& joint, double density, Inertia& sum) {
  const Vector3 p = joint.frame * m.p;
  const Matrix3 cross = joint.offset * (p + 0.5 * m.length * joint.offset).transpose();
  sum.mass += density * m.length;
  sum.first += density * (m.length * joint.offset + p);
  sum.second += density * (cross + cross.transpose() + joint.frame * m.p_p * joint.frame.transpose());
}

/// int (v, d x v) over a part that moves rigidly with the twists (linear, angular) at r(0), one a column.
SuperHelixRod::Columns6 SuperHelixRod::wrench_of(const Inertia& inertia, const Matrix3& linear,
                                                 const Matrix3& angular) {
  const Matrix3 first = math::cross_matrix(inertia.first);
  Columns6 y;
  y.topRows<3>() = inertia.mass * linear - first * angular;
  y.bottomRows<3>() = first * linear + rotational_inertia(inertia.second) * angular;
  return y;
}

SuperHelixRod::Columns6 SuperHelixRod::own_wrench(int i, double density) const {
  const Joint& joint = joints_[i];
  const Matrix3 frame = density * joint.frame;
  Columns6 y;
  y.topRows<3>() = frame * moments_[i].P;
  y.bottomRows<3>() = math::cross_matrix(joint.offset) * y.topRows<3>() + frame * moments_[i].p_cross_P;
  return y;
}

/// int (dr/dv)^T (dr/dv) ds, weighted by the line density or by one. Column blocks from tip to root: above the
/// diagonal M_ij = X_i^T Y_j; below, the mirror.
void SuperHelixRod::gram_matrix(bool by_mass, Eigen::Ref<MatrixX> out) const {
  TRESSE_ASSERT(out.rows() == dof() && out.cols() == dof());
  sample();
  const int root = root_dof();
  Inertia beyond;
  const auto fill = [&](int column, const auto& y, int rows) {
    for (int k = 0; k < y.cols(); ++k) {
      const auto x = [&](int r) { return twists_.col(r).head(rows) * y(r, k); };
      out.col(column + k).head(rows) = x(0) + x(1) + x(2) + x(3) + x(4) + x(5);
    }
  };
  for (int i = count() - 1; i >= 0; --i) {
    const double density = by_mass ? elements_[i].density : 1.0;
    const int at = root + 3 * i;
    const Columns6 tail = wrench_of(beyond, links_[i].X_linear, links_[i].X_angular);
    Matrix3 own = density * moments_[i].P_P;
    own.noalias() += links_[i].X_linear.transpose() * tail.topRows<3>();
    own.noalias() += links_[i].X_angular.transpose() * tail.bottomRows<3>();
    out.block<3, 3>(at, at) = 0.5 * (own + own.transpose());
    fill(at, (tail + own_wrench(i, density)).eval(), at);
    add_inertia(moments_[i], joints_[i], density, beyond);
  }
  if (root > 0) {
    const Matrix3 first = math::cross_matrix(beyond.first);
    Eigen::Matrix<double, 6, 6> all;
    const Matrix3 turning = rotational_inertia(beyond.second);
    all << beyond.mass * Matrix3::Identity(), -first, first, 0.5 * (turning + turning.transpose());
    out.topLeftCorner<6, 6>() = all;
  }
  for (int at = dof() - 3; at >= 3; at -= 3) {
    for (int k = 0; k < at; k += 3) out.block<3, 3>(at, k) = out.block<3, 3>(k, at).transpose();
  }
}

const MatrixX& SuperHelixRod::mass_gram() const {
  if (!weighed_) {
    mass_gram_.resize(dof(), dof());
    gram_matrix(true, mass_gram_);
    weighed_ = true;
  }
  return mass_gram_;
}

void SuperHelixRod::mass_matrix(Eigen::Ref<MatrixX> out) const {
  out = mass_gram();
  if (root_condition_ == RootCondition::free) {
    const Vector3 tangent = state_.root.frame.col(0);
    out.block<3, 3>(3, 3) += spin_inertia_ * tangent * tangent.transpose();
  }
}

void SuperHelixRod::add_drag_matrix(double drag, Eigen::Ref<MatrixX> into) const {
  if (drag == 0.0) return;
  if (uniform_density_ > 0.0) {
    into += (drag / uniform_density_) * mass_gram();
    return;
  }
  MatrixX gram(dof(), dof());
  gram_matrix(false, gram);
  into += drag * gram;
}

void SuperHelixRod::add_stiffness(double stiffness_scale, double damping_scale, Eigen::Ref<MatrixX> into) const {
  TRESSE_ASSERT(into.rows() == dof() && into.cols() == dof());
  into.diagonal().tail(coordinate_count()) += (stiffness_scale + damping_scale * damping_time_) * stiffness_;
}

void SuperHelixRod::add_stiffness_times(double scale, const VectorX& x, Eigen::Ref<VectorX> into) const {
  into.tail(coordinate_count()) += scale * stiffness_.cwiseProduct(x.tail(coordinate_count()));
}

void SuperHelixRod::elastic_force(Eigen::Ref<VectorX> out) const {
  TRESSE_ASSERT(out.size() == dof());
  out.head(root_dof()).setZero();
  out.tail(coordinate_count()) = stiffness_.cwiseProduct(rest_ - state_.coordinates);
}

/// Root to tip: velocity and bias acceleration of the joints (that of the unknown accelerations zero), then the line
/// force rho S (g - a) - drag (v* - wind) integrated over each element, into forces_.
void SuperHelixRod::sweep_forces(const RodLoads& loads) const {
  const bool clamped = root_condition_ == RootCondition::clamped;
  const Twist prescribed = clamped ? state_.root_velocity : Twist{};
  Vector3 spin = state_.root_velocity.angular;
  Vector3 acceleration = clamped ? loads.root_acceleration.linear : Vector3::Zero();
  Vector3 spin_rate = clamped ? loads.root_acceleration.angular : Vector3::Zero();
  for (int i = 0; i < count(); ++i) {
    const Joint& joint = joints_[i];
    const Link& link = links_[i];
    const double density = elements_[i].density;
    const Vector3 wi = w(i);
    const Vector3 rate_i = rate(i);
    const auto local = [&joint](const Vector3& v) -> Vector3 { return joint.frame.transpose() * v; };

    const Vector3 spin_l = local(spin);
    const Matrix3 cross = math::cross_matrix(spin_l);
    const Matrix3 rigid = math::cross_matrix(local(spin_rate)) + cross * cross;
    Vector3 constant = density * local(loads.gravity - acceleration);
    Matrix3 position_factor = -density * rigid;
    if (loads.drag != 0.0) {
      const Vector3 wind = prescribed.linear + prescribed.angular.cross(joint.offset) - loads.wind;
      constant -= loads.drag * local(wind);
      position_factor -= loads.drag * math::cross_matrix(local(prescribed.angular));
    }
    forces_[i] = integrate_force(samples_[i], wi, rate_i, constant, position_factor, -2.0 * density * cross, density);

    const double l = elements_[i].length;
    const Vector3 step = local(joints_[i + 1].offset - joint.offset);
    const Vector3 curl = link.end_angular * rate_i;
    const Vector3 bias = rigid * step + 2.0 * spin_l.cross(link.end_linear * rate_i) +
                         vector(helix_second(l, triple(wi), triple(rate_i), link.c));
    acceleration += joint.frame * bias;
    spin_rate += joint.frame * (spin_l.cross(curl) + end_angular_rate(l, wi, rate_i, link.c));
    spin += joint.frame * curl;
  }
}

void SuperHelixRod::inertial_and_external_force(const RodLoads& loads, Eigen::Ref<VectorX> out) const {
  TRESSE_ASSERT(out.size() == dof());
  sample();
  sweep_forces(loads);
  Vector3 force = Vector3::Zero();   // on what lies beyond
  Vector3 torque = Vector3::Zero();  // about r(0)
  for (int i = count() - 1; i >= 0; --i) {
    const Joint& joint = joints_[i];
    out.segment<3>(root_dof() + 3 * i) =
        forces_[i].generalised + links_[i].X_linear.transpose() * force + links_[i].X_angular.transpose() * torque;
    const Vector3 own = joint.frame * forces_[i].resultant;
    force += own;
    torque += joint.offset.cross(own) + joint.frame * forces_[i].torque;
  }
  if (root_condition_ == RootCondition::free) {
    out.head<3>() = force;
    // The lumped spin inertia I (omega . n0) n0 changes at I (omega . n0) omega x n0 when omega is constant.
    const Vector3& spin = state_.root_velocity.angular;
    out.segment<3>(3) = torque - spin_inertia_ * root_spin() * spin.cross(state_.root.frame.col(0));
  }
}

/// Calls visit(i, momentum per unit line density, in the element's start frame).
template <typename Visit>
void SuperHelixRod::for_each_motion(Visit&& visit) const {
  sample();
  Vector3 linear = state_.root_velocity.linear;
  Vector3 spin = state_.root_velocity.angular;
  for (int i = 0; i < count(); ++i) {
    const Joint& joint = joints_[i];
    const Vector3 rate_i = rate(i);
    visit(i,
          integrate_momentum(samples_[i], {joint.frame.transpose() * linear, joint.frame.transpose() * spin, rate_i}));
    linear += spin.cross(joints_[i + 1].offset - joint.offset) + joint.frame * (links_[i].end_linear * rate_i);
    spin += joint.frame * (links_[i].end_angular * rate_i);
  }
}

double SuperHelixRod::elastic_energy() const {
  double sum = 0.0;
  for (Eigen::Index i = 0; i < stiffness_.size(); ++i) {
    const double strain = state_.coordinates[i] - rest_[i];
    sum += stiffness_[i] * strain * strain;
  }
  return 0.5 * sum;
}

const SuperHelixRod::Movement& SuperHelixRod::movement() const {
  if (moved_) return movement_;
  movement_ = {};
  RodMotion& out = movement_.motion;
  for_each_motion([&](int i, const ElementMomentum& m) {
    const Joint& joint = joints_[i];
    const double density = elements_[i].density;
    const Vector3 start = state_.root.position + joint.offset;
    const Vector3 own = joint.frame * m.linear;
    const Vector3 angular = start.cross(own) + joint.frame * m.angular;
    const Vector3 position = moments_[i].length * start + joint.frame * moments_[i].p;
    out.velocity += own;
    out.angular += angular;
    out.position += position;
    out.square += m.square;
    movement_.kinetic += 0.5 * density * m.square;
    movement_.linear += density * own;
    movement_.rotational += density * angular;
    movement_.first_moment += density * position;
  });
  movement_.kinetic += 0.5 * spin_inertia_ * root_spin() * root_spin();
  movement_.rotational += spin_inertia_ * root_spin() * state_.root.frame.col(0);
  moved_ = true;
  return movement_;
}

RodEnergies SuperHelixRod::energies(const Vector3& gravity) const {
  const Movement& m = movement();
  return {m.kinetic, elastic_energy(), -gravity.dot(m.first_moment)};
}

void SuperHelixRod::momentum(Vector3& linear, Vector3& angular) const {
  linear = movement().linear;
  angular = movement().rotational;
}

void SuperHelixRod::gravity_force(const Vector3& gravity, Eigen::Ref<VectorX> out) const {
  TRESSE_ASSERT(out.size() == dof());
  double mass = 0.0;  // of what lies beyond
  Vector3 first = Vector3::Zero();
  for (int i = count() - 1; i >= 0; --i) {
    const Joint& joint = joints_[i];
    const double density = elements_[i].density;
    const double l = elements_[i].length;
    const HelixPoint<double> moment = helix_point<3>(l, triple(w(i)), links_[i].c);  // closed: no quadrature
    out.segment<3>(root_dof() + 3 * i) =
        density * (gradient_matrix(moment).transpose() * (joint.frame.transpose() * gravity)) +
        links_[i].X_linear.transpose() * (mass * gravity) + links_[i].X_angular.transpose() * first.cross(gravity);
    mass += density * l;
    first += density * (l * joint.offset + joint.frame * vector(moment.p));
  }
  if (root_condition_ == RootCondition::free) {
    out.head<3>() = mass * gravity;
    out.segment<3>(3) = first.cross(gravity);
  }
}

void SuperHelixRod::potential_gradient(const Vector3& gravity, Eigen::Ref<VectorX> out) const {
  gravity_force(gravity, out);
  out = -out;
  out.tail(coordinate_count()) += stiffness_.cwiseProduct(state_.coordinates - rest_);
}

/// A coordinate turns what lies beyond it rigidly, so that d(dr/dq_j)/dq_i = dtheta_i x dr/dq_j for i < j; the diagonal
/// blocks are closed forms, int s^m c_m ds = s^{m+1} c_{m+1} giving the integral over the element.
void SuperHelixRod::potential_hessian(const Vector3& gravity, Eigen::Ref<MatrixX> out) const {
  const int m = coordinate_count();
  TRESSE_ASSERT(out.rows() == m && out.cols() == m);
  sample();
  out.setZero();
  Inertia beyond;
  for (int i = count() - 1; i >= 0; --i) {
    const Element& element = elements_[i];
    const Joint& joint = joints_[i];
    const double l = element.length;
    const Vector3 wi = w(i);
    const auto c = helix_stumpff<9>(l, wi);
    const Vector3 pull = joint.frame.transpose() * gravity;
    const Coefficient<double> s1{l * c[1], l * stumpff_slope<1>(c), l * stumpff_second<1>(c)};
    const Coefficient<double> s2{l * l * c[2], l * l * stumpff_slope<2>(c), l * l * stumpff_second<2>(c)};
    const double l3 = l * l * l;
    const Coefficient<double> s3{l3 * c[3], l3 * stumpff_slope<3>(c), l3 * stumpff_second<3>(c)};
    const Coefficient<double> s4{l3 * l * c[4], l3 * l * stumpff_slope<4>(c), l3 * l * stumpff_second<4>(c)};

    const Vector3 along = Vector3::UnitX();
    const Vector3 arm = joints_[i + 1].frame.transpose() * (beyond.first - beyond.mass * joints_[i + 1].offset);
    Matrix3 own = element.density * contracted_hessian(l, wi, s3, s4, along, pull);
    own += beyond.mass * contracted_hessian(l, wi, s2, s3, along, pull);
    own += contracted_hessian(l, wi, s1, s2, arm, pull);
    out.block<3, 3>(3 * i, 3 * i) = -own;

    const Columns6 y = own_wrench(i, element.density) + wrench_of(beyond, links_[i].X_linear, links_[i].X_angular);
    const Matrix3 lever = math::cross_matrix(gravity) * y.topRows<3>();  // -g . (b x p) = b . (g x p)
    for (int k = 0; k < i; ++k) {
      out.block<3, 3>(3 * k, 3 * i).noalias() = links_[k].X_angular.transpose() * lever;
      out.block<3, 3>(3 * i, 3 * k) = out.block<3, 3>(3 * k, 3 * i).transpose();
    }
    add_inertia(moments_[i], joint, element.density, beyond);
  }
  out.diagonal() += stiffness_;
}

}  // namespace tresse::rods::detail
