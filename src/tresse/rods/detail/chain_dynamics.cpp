#include <tresse/base/assert.hpp>
#include <tresse/base/hot.hpp>
#include <tresse/math/rotations.hpp>
#include <tresse/rods/detail/chain_rod.hpp>
#include <tresse/rods/detail/wrench_columns.hpp>

// Mass, forces, energies: moments per element, then sums over what lies beyond a joint, which a coordinate moves
// rigidly.
namespace tresse::rods::detail {
namespace {

/// [d]x^T [d]x integrated, from int d d^T.
Matrix3 rotational_inertia(const Matrix3& second) { return second.trace() * Matrix3::Identity() - second; }

/// Written out and inlined: the compiler makes calls of Eigen's, which take most of a mass matrix.
TRESSE_HOT Vector3 times(const Matrix3& m, const Vector3& v) {
  return {m(0, 0) * v[0] + m(0, 1) * v[1] + m(0, 2) * v[2], m(1, 0) * v[0] + m(1, 1) * v[1] + m(1, 2) * v[2],
          m(2, 0) * v[0] + m(2, 1) * v[1] + m(2, 2) * v[2]};
}
TRESSE_HOT Vector3 cross(const Vector3& a, const Vector3& b) {
  return {a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]};
}

}  // namespace

template <typename Shape>
void ChainRod<Shape>::sample() const {
  if (sampled_) return;
  for (int i = 0; i < count(); ++i) shapes_[i].sample(rate(i));
  sampled_ = true;
}

template <typename Shape>
void ChainRod<Shape>::add_inertia(const ElementMoments<width>& m, const Joint& joint, double density, Inertia& sum) {
  const Vector3 p = times(joint.frame, m.p);
  const Vector3& o = joint.offset;
  const Vector3 arm = p + 0.5 * m.length * o;
  sum.mass += density * m.length;
  sum.first += density * (m.length * o + p);
  Matrix3 half;
  for (int k = 0; k < 3; ++k) half.col(k) = times(joint.frame, m.p_p.col(k));
  for (int k = 0; k < 3; ++k) {
    for (int r = 0; r < 3; ++r) {
      const double turned =
          half(r, 0) * joint.frame(k, 0) + half(r, 1) * joint.frame(k, 1) + half(r, 2) * joint.frame(k, 2);
      sum.second(r, k) += density * ((o[r] * arm[k] + o[k] * arm[r]) + turned);
    }
  }
}

/// The mass matrix of a part that moves rigidly, of twists at r(0).
template <typename Shape>
Eigen::Matrix<double, 6, 6> ChainRod<Shape>::rigid_form(const Inertia& inertia) {
  const Matrix3 first = math::cross_matrix(inertia.first);
  const Matrix3 turning = rotational_inertia(inertia.second);
  Eigen::Matrix<double, 6, 6> all;
  all << inertia.mass * Matrix3::Identity(), -first, first, 0.5 * (turning + turning.transpose());
  return all;
}

/// int (v, d x v) over a part that moves rigidly with an element's twists.
template <typename Shape>
typename ChainRod<Shape>::Columns6 ChainRod<Shape>::wrench_of(const Inertia& inertia, const Link& link) {
  const Matrix3 rotational = rotational_inertia(inertia.second);
  Columns6 y;
  for (int k = 0; k < width; ++k) {
    const Vector3 linear = link.X_linear.col(k), angular = link.X_angular.col(k);
    const Vector3 force = cross(inertia.first, angular), torque = cross(inertia.first, linear);
    const Vector3 turning = times(rotational, angular);
    for (int r = 0; r < 3; ++r) {
      y(r, k) = inertia.mass * linear[r] - force[r];
      y(r + 3, k) = torque[r] + turning[r];
    }
  }
  return y;
}

template <typename Shape>
typename ChainRod<Shape>::Columns6 ChainRod<Shape>::own_wrench(int i, double density) const {
  const Joint& joint = joints_[i];
  const Matrix3 frame = density * joint.frame;
  const ElementMoments<width>& moments = shapes_[i].moments();
  Columns6 y;
  for (int k = 0; k < width; ++k) {
    const Vector3 force = times(frame, moments.P.col(k));
    const Vector3 own = times(frame, moments.p_cross_P.col(k)), torque = cross(joint.offset, force);
    for (int r = 0; r < 3; ++r) {
      y(r, k) = force[r];
      y(r + 3, k) = torque[r] + own[r];
    }
  }
  return y;
}

/// int (dr/dv)^T (dr/dv) ds, weighted by the line density or by one, times `scale`. Column blocks from tip to root:
/// with X the twists of what lies beyond an element and Y = (its own wrench + the wrench of what lies beyond), M_ij =
/// X_i^T Y_j above the diagonal. A node that two elements share has the sum of both: elements e and e + 1 both move it
/// past e - 1, e itself and its last node see each other through e + 1 alone.
template <typename Shape>
void ChainRod<Shape>::upper_gram(bool by_mass, double scale, Eigen::Ref<MatrixX> out) const {
  TRESSE_ASSERT(out.rows() == dof() && out.cols() == dof());
  if constexpr (width == 3) {
    if (turns_little_) return gram_in_lanes(by_mass, scale, out);
  }
  sample();
  const int root = root_dof();
  Inertia beyond;
  // Up to three rows more than asked for: the diagonal block, which is written next.
  const auto fill = [&](int column, const Eigen::Matrix<double, 6, 3>& y, int rows) {
    fill_columns(twists_.data(), twists_.rows(), y, rows, out.col(column).data(), out.outerStride());
  };
  Eigen::Matrix<double, 6, 3> later = Eigen::Matrix<double, 6, 3>::Zero();  // of the next element's first node
  Matrix3 later_own = Matrix3::Zero();
  for (int i = count() - 1; i >= 0; --i) {
    const double density = by_mass ? scale * elements()[i].density : scale;
    const int at = root + 3 * i;
    const Link& link = links_[i];
    const Columns6 tail = wrench_of(beyond, link);
    Square<width> own = density * shapes_[i].moments().P_P;
    own.noalias() += link.X_linear.transpose() * tail.template topRows<3>();
    own.noalias() += link.X_angular.transpose() * tail.template bottomRows<3>();
    own = (0.5 * (own + own.transpose())).eval();
    const Columns6 y = tail + own_wrench(i, density);
    if constexpr (width == 3) {
      fill(at, y, at);
      out.block<3, 3>(at, at) = own;
    } else {
      const Eigen::Matrix<double, 6, 3> node = y.template rightCols<3>() + later;
      fill(at + 3, node, at);
      Eigen::Matrix<double, 6, 6> x;  // twists of this element's nodes
      x << link.X_linear, link.X_angular;
      const Matrix3 first_last = own.template topRightCorner<3, 3>() + x.template leftCols<3>().transpose() * later;
      const Matrix3 seen = x.template rightCols<3>().transpose() * later;
      out.block<3, 3>(at, at + 3) = first_last;
      if (i > 0) {
        Eigen::Matrix<double, 6, 3> before;
        before << links_[i - 1].X_linear.template rightCols<3>(), links_[i - 1].X_angular.template rightCols<3>();
        out.block<3, 3>(at, at + 3).noalias() += before.transpose() * node;
      }
      out.block<3, 3>(at + 3, at + 3) = own.template bottomRightCorner<3, 3>() + later_own + (seen + seen.transpose());
      later = y.template leftCols<3>();
      later_own = own.template topLeftCorner<3, 3>();
      if (i == 0) {
        fill(at, later, at);
        out.block<3, 3>(at, at) = later_own;
      }
    }
    add_inertia(shapes_[i].moments(), joints_[i], density, beyond);
  }
  if (root > 0) out.topLeftCorner<6, 6>() = rigid_form(beyond);
}

template <typename Shape>
void ChainRod<Shape>::gram_matrix(bool by_mass, Eigen::Ref<MatrixX> out) const {
  upper_gram(by_mass, 1.0, out);
  for (int at = dof() - 3; at >= 3; at -= 3) {
    for (int k = 0; k < at; k += 3) out.block<3, 3>(at, k) = out.block<3, 3>(k, at).transpose();
  }
}

template <typename Shape>
const MatrixX& ChainRod<Shape>::mass_gram() const {
  if (!weighed_) {
    mass_gram_.resize(dof(), dof());
    gram_matrix(true, mass_gram_);
    weighed_ = true;
  }
  return mass_gram_;
}

template <typename Shape>
void ChainRod<Shape>::step_matrix(const StepTerms& terms, const VectorX& velocity, VectorX& momentum,
                                  Eigen::Ref<MatrixX> out) const {
  const bool uniform = made_->uniform_density() > 0.0;
  const double weight = uniform ? 1.0 + terms.drag / made_->uniform_density() : 1.0;  // drag is as good as more mass
  const MatrixX& mass = mass_gram();
  momentum.noalias() = mass * velocity;
  out = weight * mass;
  add_stiffness(terms.stiffness, terms.damping, out);
  if (!uniform) add_drag_matrix(terms.drag, out);
}

template <typename Shape>
void ChainRod<Shape>::mass_matrix(Eigen::Ref<MatrixX> out) const {
  out = mass_gram();
}

template <typename Shape>
void ChainRod<Shape>::add_drag_matrix(double drag, Eigen::Ref<MatrixX> into) const {
  if (drag == 0.0) return;
  if (made_->uniform_density() > 0.0) {
    into += (drag / made_->uniform_density()) * mass_gram();
    return;
  }
  MatrixX gram(dof(), dof());
  gram_matrix(false, gram);
  into += drag * gram;
}

template <typename Shape>
void ChainRod<Shape>::add_stiffness(double stiffness_scale, double damping_scale, Eigen::Ref<MatrixX> into) const {
  TRESSE_ASSERT(into.rows() == dof() && into.cols() == dof());
  const double scale = stiffness_scale + damping_scale * made_->damping_time();
  for (int i = 0; i < count(); ++i) {
    Shape::add_stiffness(elements()[i].length, scale * elements()[i].stiffness,
                         into.block<width, width>(root_dof() + 3 * i, root_dof() + 3 * i));
  }
}

/// Adds scale * K coordinates, both of them curvatures.
template <typename Shape>
void ChainRod<Shape>::add_elastic(double scale, const VectorX& coordinates, Eigen::Ref<VectorX> into) const {
  for (int i = 0; i < count(); ++i) {
    into.segment<width>(3 * i) += Shape::stiffness_times(elements()[i].length, scale * elements()[i].stiffness,
                                                         coordinates.template segment<width>(3 * i));
  }
}

template <typename Shape>
void ChainRod<Shape>::add_stiffness_times(double scale, const VectorX& x, Eigen::Ref<VectorX> into) const {
  TRESSE_ASSERT(x.size() == dof() && into.size() == dof());
  add_elastic(scale, x.tail(coordinate_count()), into.tail(coordinate_count()));
}

template <typename Shape>
void ChainRod<Shape>::elastic_force(Eigen::Ref<VectorX> out) const {
  TRESSE_ASSERT(out.size() == dof());
  out.setZero();
  add_elastic(1.0, rest_ - state_.coordinates, out.tail(coordinate_count()));
}

/// What no unknown brings of the root's velocity.
template <typename Shape>
Twist ChainRod<Shape>::prescribed_twist(const RodLoads& loads) const {
  if (root_condition() == RootCondition::free) return {};
  return root_condition() == RootCondition::carried ? loads.root_velocity : state_.root_velocity;
}

/// Root to tip: velocity and bias acceleration of the joints (that of the unknown accelerations zero), then the line
/// force rho S (g - a) - drag (v* - wind) integrated over each element.
template <typename Shape>
void ChainRod<Shape>::sweep_forces(const RodLoads& loads, ElementForces forces) const {
  const bool free = root_condition() == RootCondition::free;
  const Twist prescribed = prescribed_twist(loads);
  Vector3 spin = state_.root_velocity.angular;
  Vector3 acceleration = free ? Vector3::Zero() : loads.root_acceleration.linear;
  Vector3 spin_rate = free ? Vector3::Zero() : loads.root_acceleration.angular;
  for (int i = 0; i < count(); ++i) {
    const Joint& joint = joints_[i];
    const Shape& shape = shapes_[i];
    const double density = elements()[i].density;
    const Local rate_i = rate(i);
    const auto local = [&joint](const Vector3& v) -> Vector3 { return joint.frame.transpose() * v; };

    const Vector3 spin_l = local(spin);
    const Matrix3 cross = math::cross_matrix(spin_l);
    const Vector3 spin_rate_l = local(spin_rate);
    const Matrix3 rigid = math::cross_matrix(spin_rate_l) + cross * cross;
    const Vector3 air = loads.drag * local(prescribed.angular);
    Vector3 constant = density * local(loads.gravity - acceleration);
    Matrix3 position = -density * rigid;
    if (loads.drag != 0.0) {
      const Vector3 wind = prescribed.linear + prescribed.angular.cross(joint.offset) - loads.wind;
      constant -= loads.drag * local(wind);
      position -= math::cross_matrix(air);
    }
    forces[i] = shape.force({triple(constant), columns(position), columns(-2.0 * density * cross), density,
                             triple(spin_l), triple(spin_rate_l), triple(air)});

    const Vector3 step = local(joints_[i + 1].offset - joint.offset);
    const Vector3 curl = shape.end_angular() * rate_i;
    const EndBias end = shape.end_bias();
    acceleration += joint.frame * (rigid * step + 2.0 * spin_l.cross(shape.end_linear() * rate_i) + end.linear);
    spin_rate += joint.frame * (spin_l.cross(curl) + end.angular);
    spin += joint.frame * curl;
  }
}

template <typename Shape>
void ChainRod<Shape>::inertial_and_external_force(const RodLoads& loads, Eigen::Ref<VectorX> out) const {
  TRESSE_ASSERT(out.size() == dof());
  if constexpr (width == 3) {
    if (turns_little_) return force_in_lanes(loads, out);
  }
  sample();
  ForceMemory memory;
  const ElementForces forces = memory.template array<ElementForce<width>>(elements().size());
  sweep_forces(loads, forces);
  collect_forces(forces, out);
}

/// Tip to root: what the forces on the elements are on the unknowns.
template <typename Shape>
void ChainRod<Shape>::collect_forces(ElementForces forces, Eigen::Ref<VectorX> out) const {
  Vector3 force = Vector3::Zero();   // on what lies beyond
  Vector3 torque = Vector3::Zero();  // about r(0)
  out.setZero();
  for (int i = count() - 1; i >= 0; --i) {
    const Joint& joint = joints_[i];
    out.segment<width>(root_dof() + 3 * i) +=
        forces[i].generalised + links_[i].X_linear.transpose() * force + links_[i].X_angular.transpose() * torque;
    const Vector3 own = joint.frame * forces[i].resultant;
    force += own;
    torque += joint.offset.cross(own) + joint.frame * forces[i].torque;
  }
  if (root_dof() > 0) {
    out.template head<3>() = force;
    out.template segment<3>(3) = torque;
  }
}

/// Calls visit(i, momentum per unit line density, in the element's start frame).
template <typename Shape>
template <typename Visit>
void ChainRod<Shape>::for_each_motion(Visit&& visit) const {
  sample();
  Vector3 linear = state_.root_velocity.linear;
  Vector3 spin = state_.root_velocity.angular;
  for (int i = 0; i < count(); ++i) {
    const Joint& joint = joints_[i];
    const Local rate_i = rate(i);
    visit(i, momentum_of<width>(shapes_[i].moments(), rate_i, joint.frame.transpose() * linear,
                                joint.frame.transpose() * spin));
    linear += spin.cross(joints_[i + 1].offset - joint.offset) + joint.frame * (shapes_[i].end_linear() * rate_i);
    spin += joint.frame * (shapes_[i].end_angular() * rate_i);
  }
}

template <typename Shape>
double ChainRod<Shape>::elastic_energy() const {
  double sum = 0.0;
  for (int i = 0; i < count(); ++i) {
    const Local strain = (state_.coordinates - rest_).template segment<width>(3 * i);
    sum += strain.dot(Shape::stiffness_times(elements()[i].length, elements()[i].stiffness, strain));
  }
  return 0.5 * sum;
}

/// What movement() adds up over the elements.
template <typename Shape>
void ChainRod<Shape>::add_movement() const {
  if constexpr (width == 3) {
    if (turns_little_) return move_in_lanes();
  }
  RodMotion& out = movement_.motion;
  for_each_motion([&](int i, const ElementMomentum& m) {
    const Joint& joint = joints_[i];
    const double density = elements()[i].density;
    const ElementMoments<width>& moments = shapes_[i].moments();
    const Vector3 start = state_.root.position + joint.offset;
    const Vector3 own = joint.frame * m.linear;
    const Vector3 angular = start.cross(own) + joint.frame * m.angular;
    const Vector3 position = moments.length * start + joint.frame * moments.p;
    out.velocity += own;
    out.angular += angular;
    out.position += position;
    out.square += m.square;
    movement_.kinetic += 0.5 * density * m.square;
    movement_.linear += density * own;
    movement_.rotational += density * angular;
    movement_.first_moment += density * position;
  });
}

template <typename Shape>
const typename ChainRod<Shape>::Movement& ChainRod<Shape>::movement() const {
  if (moved_) return movement_;
  movement_ = {};
  add_movement();
  moved_ = true;
  return movement_;
}

template <typename Shape>
RodEnergies ChainRod<Shape>::energies(const Vector3& gravity) const {
  const Movement& m = movement();
  return {m.kinetic, elastic_energy(), -gravity.dot(m.first_moment)};
}

template <typename Shape>
void ChainRod<Shape>::momentum(Vector3& linear, Vector3& angular) const {
  linear = movement().linear;
  angular = movement().rotational;
}

template <typename Shape>
void ChainRod<Shape>::gravity_force(const Vector3& gravity, Eigen::Ref<VectorX> out) const {
  TRESSE_ASSERT(out.size() == dof());
  if constexpr (width == 3) {
    if (turns_little_) return gravity_in_lanes(gravity, out);
  }
  if constexpr (!Shape::closed_moments) sample();
  double mass = 0.0;  // of what lies beyond
  Vector3 first = Vector3::Zero();
  out.setZero();
  for (int i = count() - 1; i >= 0; --i) {
    const Joint& joint = joints_[i];
    const double density = elements()[i].density;
    const double l = elements()[i].length;
    const FirstMoments<width> moment = shapes_[i].first_moments();
    out.segment<width>(root_dof() + 3 * i) += density * (moment.P.transpose() * (joint.frame.transpose() * gravity)) +
                                              links_[i].X_linear.transpose() * (mass * gravity) +
                                              links_[i].X_angular.transpose() * first.cross(gravity);
    mass += density * l;
    first += density * (l * joint.offset + joint.frame * moment.p);
  }
  if (root_dof() > 0) {
    out.head<3>() = mass * gravity;
    out.segment<3>(3) = first.cross(gravity);
  }
}

template <typename Shape>
void ChainRod<Shape>::potential_gradient(const Vector3& gravity, Eigen::Ref<VectorX> out) const {
  gravity_force(gravity, out);
  out = -out;
  add_elastic(1.0, state_.coordinates - rest_, out.tail(coordinate_count()));
}

/// K (rest - q) = -load. K is diagonal, or of nodes tridiagonal in each of the three curvatures: elimination from the
/// root.
template <typename Shape>
RestShape ChainRod<Shape>::rest_shape_under(const Eigen::Ref<const VectorX>& load) const {
  TRESSE_ASSERT(load.size() == dof());
  RestShape out{-load.tail(coordinate_count()), {}};
  VectorX& x = out.curvature;
  if constexpr (width == 3) {
    for (int i = 0; i < count(); ++i)
      x.template segment<3>(3 * i).array() /= elements()[i].length * elements()[i].stiffness.array();
  } else {
    Matrix3X pivot(3, count() + 1);
    pivot.setZero();
    const auto sixth = [&](int i) {
      return Eigen::Array3d(elements()[i].length / 6.0 * elements()[i].stiffness.array());
    };
    for (int i = 0; i < count(); ++i) {
      pivot.col(i).array() += 2.0 * sixth(i);
      pivot.col(i + 1).array() += 2.0 * sixth(i);
    }
    for (int i = 0; i < count(); ++i) {
      const Eigen::Array3d share = sixth(i) / pivot.col(i).array();
      pivot.col(i + 1).array() -= share * sixth(i);
      x.template segment<3>(3 * i + 3).array() -= share * x.template segment<3>(3 * i).array();
    }
    for (int i = count(); i >= 0; --i) {
      auto node = x.template segment<3>(3 * i).array();
      if (i < count()) node -= sixth(i) * x.template segment<3>(3 * i + 3).array();
      node /= pivot.col(i).array();
    }
  }
  x += state_.coordinates;
  return out;
}

/// A coordinate turns what lies beyond its element rigidly, so that d(dr/dq_j)/dq_i = dtheta_i x dr/dq_j for i < j; an
/// element's own block is its shape's.
template <typename Shape>
void ChainRod<Shape>::potential_hessian(const Vector3& gravity, Eigen::Ref<MatrixX> out) const {
  TRESSE_ASSERT(out.rows() == coordinate_count() && out.cols() == coordinate_count());
  sample();
  out.setZero();
  Inertia beyond;
  for (int i = count() - 1; i >= 0; --i) {
    const Element& element = elements()[i];
    const Joint& joint = joints_[i];
    const Vector3 arm = joints_[i + 1].frame.transpose() * (beyond.first - beyond.mass * joints_[i + 1].offset);
    out.block<width, width>(3 * i, 3 * i) -=
        shapes_[i].pull_hessian({joint.frame.transpose() * gravity, element.density, beyond.mass, arm});

    const Columns6 y = own_wrench(i, element.density) + wrench_of(beyond, links_[i]);
    const Gradient<width> lever = math::cross_matrix(gravity) * y.template topRows<3>();  // -g . (b x p) = b . (g x p)
    for (int k = 0; k < i; ++k) {
      const Square<width> block = links_[k].X_angular.transpose() * lever;
      out.block<width, width>(3 * k, 3 * i) += block;
      out.block<width, width>(3 * i, 3 * k) += block.transpose();
    }
    add_inertia(shapes_[i].moments(), joint, element.density, beyond);
    Shape::add_stiffness(element.length, element.stiffness, out.block<width, width>(3 * i, 3 * i));
  }
}

template class ChainRod<HelixShape>;
template class ChainRod<ClothoidShape>;

}  // namespace tresse::rods::detail
