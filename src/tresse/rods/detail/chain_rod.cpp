#include <algorithm>
#include <string>
#include <utility>

#include <tresse/base/assert.hpp>
#include <tresse/base/errors.hpp>
#include <tresse/math/rotations.hpp>
#include <tresse/rods/detail/chain_rod.hpp>

// Kinematics; the integrals are in chain_dynamics.cpp.
namespace tresse::rods::detail {
template <typename Shape>
ChainModel<Shape>::ChainModel(const std::vector<ChainElement>& elements, const VectorX& rest, const Material& material,
                              RootCondition root_condition)
    : root_condition_(root_condition), damping_time_(material.damping_time), rest_(rest) {
  elements_.reserve(elements.size());
  for (const ChainElement& e : elements) {
    const double density = material.density * area(e.section);
    elements_.push_back({e.length, length_, density, bending_stiffness(e.section, material), {}});
    const double a = e.section.half_axis_1;
    const double b = e.section.half_axis_2;
    surface_reach_ = surface_reach_.cwiseMax(Vector3(std::max(a, b), b, a));
    length_ += e.length;
    mass_ += density * e.length;
  }
  lump_rotary_inertia(elements, material.rotary_inertia);
  TRESSE_ASSERT(rest_.size() == coordinate_count());
  uniform_density_ = elements_.front().density;
  for (const Element& e : elements_) {
    if (e.density != uniform_density_) uniform_density_ = 0.0;
  }
}

/// Where sections have none, a free rod could turn within its own centreline without moving anything: M, and of a
/// straight rod M + dt^2 K, would be singular. All rotary inertia is then in one disc at the root.
template <typename Shape>
void ChainModel<Shape>::lump_rotary_inertia(const std::vector<ChainElement>& elements, bool in_sections) {
  for (std::size_t i = 0; i < elements.size(); ++i) {
    const std::array<double, 2> of_section = mean_squares(elements[i].section);
    for (std::size_t k = 0; k < 2; ++k) {
      const double all = elements[i].length * of_section[k];
      if (in_sections) {
        elements_[i].discs.start[k] = Shape::start_share * all;
        elements_[i].discs.spread[k] = (1.0 - Shape::start_share) * all;
      } else if (root_condition_ == RootCondition::free) {
        elements_.front().discs.start[k] += elements_[i].density / elements_.front().density * all;
      }
    }
  }
}

template <typename Shape>
double ChainModel<Shape>::piece_begin(int piece) const {
  require(piece >= 0 && piece <= piece_count(),
          [&] { return std::string(Shape::model) + ": no such piece " + std::to_string(piece); });
  return piece == piece_count() ? length_ : elements_[piece].begin;
}

template <typename Shape>
std::vector<typename ChainModel<Shape>::Element> ChainModel<Shape>::grown(double scale, double& length,
                                                                          double& mass) const {
  std::vector<Element> out = elements_;
  length = mass = 0.0;
  for (Element& e : out) {
    e.begin = length;
    e.length *= scale;
    for (std::size_t k = 0; k < 2; ++k) {
      e.discs.start[k] *= scale;
      e.discs.spread[k] *= scale;
    }
    length += e.length;
    mass += e.density * e.length;
  }
  return out;
}

template <typename Shape>
std::shared_ptr<const RodModel> ChainModel<Shape>::with_rest_curvature(const VectorX& rest) const {
  auto out = std::make_shared<ChainModel>(*this);
  out->rest_ = rest;
  return out;
}

template <typename Shape>
std::unique_ptr<Rod> ChainModel<Shape>::make_rod() const {
  return std::make_unique<ChainRod<Shape>>(std::static_pointer_cast<const ChainModel>(this->shared_from_this()));
}

template <typename Shape>
ChainRod<Shape>::ChainRod(std::shared_ptr<const ChainModel<Shape>> model)
    : Rod(model),
      made_(std::move(model)),
      length_(made_->length()),
      mass_(made_->mass()),
      rest_(made_->rest_curvature()),
      memory_(std::make_shared<HelixMemory>()) {
  const auto n = static_cast<std::size_t>(count());
  joints_.resize(n + 1);
  shapes_.resize(n);
  links_.resize(n);
  twists_.setZero(dof(), 6);
  state_.coordinates = rest_;
  state_.rates = VectorX::Zero(coordinate_count());
  update(RodState(state_));
}

template <typename Shape>
void ChainRod<Shape>::share_memory(const Rod& other) {
  const auto* like = dynamic_cast<const ChainRod*>(&other);
  if (!like) return;
  memory_ = like->memory_;
  state_number_ = memory_->next_state();
}

template <typename Shape>
void ChainRod<Shape>::set_length_scale(double scale) {
  placed_ = false;
  state_number_ = 0;
  grown_ = made_->grown(scale, length_, mass_);
}

template <typename Shape>
double ChainRod<Shape>::piece_begin(int piece) const {
  require(piece >= 0 && piece <= count(),
          [&] { return std::string(Shape::model) + ": no such piece " + std::to_string(piece); });
  return piece == count() ? length_ : elements()[piece].begin;
}

template <typename Shape>
void ChainRod<Shape>::check_piece(int piece) const {
  TRESSE_ASSERT(piece >= 0 && piece < count());
}

template <typename Shape>
geometry::Curve ChainRod<Shape>::piece(int piece) const {
  check_piece(piece);
  const Joint& joint = joints_[piece];
  return Shape::curve({state_.root.position + joint.offset, joint.frame}, coordinates(piece), elements()[piece].length);
}

template <typename Shape>
void ChainRod<Shape>::update(const RodState& state) {
  require(state.coordinates.size() == coordinate_count() && state.rates.size() == coordinate_count(), [&] {
    return std::string(Shape::model) + ": the state has " + std::to_string(state.coordinates.size()) +
           " curvatures and " + std::to_string(state.rates.size()) + " rates, expected " +
           std::to_string(coordinate_count());
  });
  const bool moved_on = !is_at(state);
  state_ = state;
  state_number_ = memory_->next_state();
  sampled_ = moved_ = false;
  if (!moved_on) return;
  placed_ = true;
  weighed_ = false;
  for (MaterialPoints& points : material_points_) points.parts = 0;
  joints_[0].offset.setZero();
  joints_[0].frame = state_.root.frame;
  twists_.setZero();
  if (root_dof() > 0) twists_.template topRows<6>().setIdentity();
  for (int i = 0; i < count(); ++i) place(i);
  if constexpr (width == 3) {
    constexpr double largest = HelixIntegrals<double>::largest_turn;
    turns_little_ = true;  // not what isn't finite
    for (int i = 0; i < count(); ++i)
      turns_little_ = turns_little_ && elements()[i].length * coordinates(i).norm() <= largest;
  }
}

/// Whether the kinematics are there already: at the end of a step others than the rates seldom change.
template <typename Shape>
bool ChainRod<Shape>::is_at(const RodState& state) const {
  return placed_ && state.root.position == state_.root.position && state.root.frame == state_.root.frame &&
         state.coordinates == state_.coordinates;
}

template <typename Shape>
void ChainRod<Shape>::place(int i) {
  Shape& shape = shapes_[i];
  shape.set(elements()[i].length, elements()[i].discs, coordinates(i));
  const Joint& joint = joints_[i];
  Joint& next = joints_[i + 1];
  next.offset = joint.offset + joint.frame * shape.end();
  // One Newton step an element, so that rounding does not build up along a rod of many elements.
  next.frame = math::orthonormalised_once(joint.frame * shape.end_frame());

  Link& link = links_[i];
  link.X_angular = joint.frame * shape.end_angular();
  link.X_linear = joint.frame * shape.end_linear() + math::cross_matrix(next.offset) * link.X_angular;
  auto rows = twists_.template middleRows<width>(root_dof() + 3 * i);
  rows.template leftCols<3>() += link.X_linear.transpose();
  rows.template rightCols<3>() += link.X_angular.transpose();
}

template <typename Shape>
RodSection ChainRod<Shape>::section(double s) const {
  const auto after = std::upper_bound(elements().begin(), elements().end(), s,
                                      [](double at, const Element& e) { return at < e.begin; });
  const int i = std::max(0, static_cast<int>(after - elements().begin()) - 1);
  const double u = std::clamp(s - elements()[i].begin, 0.0, elements()[i].length);
  const double l = elements()[i].length;
  RodSection out;
  out.s = s;
  out.curvature = Shape::curvature(coordinates(i), u / l);
  out.position = state_.root.position + joints_[i].offset + joints_[i].frame * shapes_[i].position(u);
  out.frame = joints_[i].frame * shapes_[i].frame(u);
  const Vector3 rest = Shape::curvature(rest_.template segment<width>(3 * i), u / l);
  out.moment = elements()[i].stiffness.cwiseProduct(out.curvature - rest);
  return out;
}

template <typename Shape>
Vector3 ChainRod<Shape>::velocity(int piece, double u, const Eigen::Ref<const VectorX>& v) const {
  check_piece(piece);
  TRESSE_ASSERT(v.size() == dof());
  const FirstMoments<width> h = shapes_[piece].point(u);
  const Matrix3& frame = joints_[piece].frame;
  const Vector3 d = joints_[piece].offset + frame * h.p;
  Vector3 linear = Vector3::Zero();
  Vector3 angular = Vector3::Zero();
  if (root_dof() > 0) {
    linear = v.head<3>();
    angular = v.segment<3>(3);
  } else {
    linear = state_.root_velocity.linear;
    angular = state_.root_velocity.angular;
  }
  for (int i = 0; i < piece; ++i) {
    const Local vi = v.segment<width>(root_dof() + 3 * i);
    linear += links_[i].X_linear * vi;
    angular += links_[i].X_angular * vi;
  }
  const Local own = v.segment<width>(root_dof() + 3 * piece);
  return linear + angular.cross(d) + frame * (h.P * own);
}

template <typename Shape>
Vector3 ChainRod<Shape>::angular_velocity(int piece, double u, const Eigen::Ref<const VectorX>& v) const {
  check_piece(piece);
  TRESSE_ASSERT(v.size() == dof());
  Vector3 out = root_dof() > 0 ? Vector3(v.segment<3>(3)) : state_.root_velocity.angular;
  for (int i = 0; i < piece; ++i) out += links_[i].X_angular * v.segment<width>(root_dof() + 3 * i);
  const Local own = v.segment<width>(root_dof() + 3 * piece);
  return out + joints_[piece].frame * (shapes_[piece].at(u).angular * own);
}

template <typename Shape>
void ChainRod<Shape>::end_velocities(const Eigen::Ref<const VectorX>& v, Eigen::Ref<Matrix3X> out) const {
  TRESSE_ASSERT(v.size() == dof() && out.cols() == count() + 1);
  const bool clamped = root_dof() == 0;
  Vector3 linear = clamped ? state_.root_velocity.linear : Vector3(v.head<3>());
  Vector3 angular = clamped ? state_.root_velocity.angular : Vector3(v.segment<3>(3));
  out.col(0) = linear;
  for (int i = 0; i < count(); ++i) {
    const Local vi = v.segment<width>(root_dof() + 3 * i);
    linear += links_[i].X_linear * vi;
    angular += links_[i].X_angular * vi;
    out.col(i + 1) = linear + angular.cross(joints_[i + 1].offset);
  }
}

template <typename Shape>
void ChainRod<Shape>::end_positions(Eigen::Ref<Matrix3X> out) const {
  TRESSE_ASSERT(out.cols() == count() + 1);
  for (int i = 0; i <= count(); ++i) out.col(i) = state_.root.position + joints_[i].offset;
}

template <typename Shape>
void ChainRod<Shape>::add_end_forces(const Eigen::Ref<const Matrix3X>& forces, Eigen::Ref<VectorX> into) const {
  TRESSE_ASSERT(forces.cols() == count() + 1 && into.size() == dof());
  Vector3 force = Vector3::Zero();   // on what lies beyond
  Vector3 torque = Vector3::Zero();  // about r(0)
  for (int i = count() - 1; i >= 0; --i) {
    force += forces.col(i + 1);
    torque += joints_[i + 1].offset.cross(forces.col(i + 1));
    into.template segment<width>(root_dof() + 3 * i) +=
        links_[i].X_linear.transpose() * force + links_[i].X_angular.transpose() * torque;
  }
  if (root_dof() == 0) return;
  into.template head<3>() += force + forces.col(0);
  into.template segment<3>(3) += torque;
}

template <typename Shape>
int ChainRod<Shape>::jacobian(int piece, double u, Eigen::Ref<Matrix3X> out) const {
  check_piece(piece);
  const FirstMoments<width> h = shapes_[piece].point(u);
  return jacobian_at(piece, h.p, h.P, out);
}

/// Of a point of a piece, by p and dp/dc in the frame of the piece's start.
template <typename Shape>
int ChainRod<Shape>::jacobian_at(int piece, const Vector3& p, const Gradient<width>& P,
                                 Eigen::Ref<Matrix3X> out) const {
  TRESSE_ASSERT(out.cols() >= touched(piece));
  const Matrix3& frame = joints_[piece].frame;
  const Vector3 d = joints_[piece].offset + frame * p;
  const Matrix3 minus_d = -math::cross_matrix(d);
  if (root_dof() > 0) {
    out.leftCols<3>().setIdentity();
    out.middleCols<3>(3) = minus_d;
  }
  // A node before this element's first has all its elements before it; the first is shared with the element before.
  for (int i = 0; i < piece; ++i) {
    const int column = root_dof() + 3 * i;
    out.middleCols<3>(column) = twists_.template block<3, 3>(column, 0).transpose();
    out.middleCols<3>(column).noalias() += minus_d * twists_.template block<3, 3>(column, 3).transpose();
  }
  auto own = out.middleCols<width>(root_dof() + 3 * piece);
  own.noalias() = frame * P;
  if constexpr (width == 6) {
    if (piece > 0) {
      own.template leftCols<3>() += links_[piece - 1].X_linear.template rightCols<3>();
      own.template leftCols<3>().noalias() += minus_d * links_[piece - 1].X_angular.template rightCols<3>();
    }
  }
  return touched(piece);
}

template <typename Shape>
void ChainRod<Shape>::point_rows(std::span<const RodPoint> points, std::span<FourRows> rows,
                                 std::span<Vector3> prescribed) const {
  if constexpr (width == 3) {
    rows_in_lanes(points, rows, prescribed);
  } else {
    Rod::point_rows(points, rows, prescribed);
  }
}

template class ChainModel<HelixShape>;
template class ChainModel<ClothoidShape>;
template class ChainRod<HelixShape>;
template class ChainRod<ClothoidShape>;

}  // namespace tresse::rods::detail
