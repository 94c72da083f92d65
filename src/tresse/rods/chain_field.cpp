#include <tresse/rods/chain_field.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <memory>
#include <mutex>

#include <tresse/base/errors.hpp>
#include <tresse/math/gauss_legendre.hpp>
#include <tresse/rods/detail/chain_rod.hpp>

namespace tresse::rods {
namespace {

using Vector6 = ChainField::Vector6;

Vector6 stacked(const Vector3& linear, const Vector3& angular) {
  Vector6 out;
  out.head<3>() = linear;
  out.tail<3>() = angular;
  return out;
}

/// How a twist `s` that is fixed in the material changes when that moves by `along`.
Vector6 carried(const Vector6& along, const Vector6& s) {
  const Vector3 v = along.head<3>(), w = along.tail<3>(), linear = s.head<3>(), angular = s.tail<3>();
  return stacked(w.cross(linear) + v.cross(angular), w.cross(angular));
}

/// Its transpose: the wrench F' with F' . s = F . carried(along, s).
Vector6 carried_back(const Vector6& along, const Vector6& wrench) {
  const Vector3 v = along.head<3>(), w = along.tail<3>(), force = wrench.head<3>(), moment = wrench.tail<3>();
  return stacked(force.cross(w), force.cross(v) + moment.cross(w));
}

/// Of twists about the origin, at the places `offset` from it.
Vector3 velocity_at(const Vector6& twist, const Vector3& offset) {
  return twist.head<3>() + Vector3(twist.tail<3>()).cross(offset);
}

/// Legendre's polynomials of orders 0 to n at 2 u - 1.
VectorX legendre(double u, Eigen::Index n) {
  const double t = 2.0 * u - 1.0;
  VectorX P(n + 1);
  P[0] = 1.0;
  P[1] = t;
  for (Eigen::Index k = 1; k < n; ++k) {
    const auto order = static_cast<double>(k);
    P[k + 1] = ((2.0 * order + 1.0) * t * P[k] - order * P[k - 1]) / (order + 1.0);
  }
  return P;
}

/// The polynomials that are 1 at one of n Gauss points and 0 at the others, by their Legendre series.
class PointPolynomials {
 public:
  explicit PointPolynomials(Eigen::Index n) : weights_(n), at_points_(n, n) {
    const math::GaussRule& rule = math::gauss_legendre(static_cast<int>(n));
    for (Eigen::Index j = 0; j < n; ++j) {
      const auto node = static_cast<std::size_t>(j);
      weights_[j] = rule.weights[node];
      at_points_.col(j) = legendre(rule.nodes[node], n).head(n);
    }
  }
  /// int_0^u of each.
  Eigen::RowVectorXd integrals_to(double u) const {
    const Eigen::Index n = weights_.size();
    const VectorX there = legendre(u, n);
    VectorX series(n);
    series[0] = u;
    series.tail(n - 1) = 0.5 * (there.tail(n - 1) - there.head(n - 1));
    return (at_points_.transpose() * series).cwiseProduct(weights_).transpose();
  }

 private:
  VectorX weights_;
  MatrixX at_points_;  ///< (orders, points)
};

constexpr Eigen::Index fewest_nodes = 7, most_nodes = 60;

/// Those of n points. Computed once per n, then shared; thread-safe.
const PointPolynomials& point_polynomials(Eigen::Index n) {
  static std::array<std::once_flag, most_nodes + 1> flags;
  static std::array<std::unique_ptr<const PointPolynomials>, most_nodes + 1> all;
  const auto at = static_cast<std::size_t>(n);
  std::call_once(flags[at], [&] { all[at] = std::make_unique<const PointPolynomials>(n); });
  return *all[at];
}

struct DiscPlace {
  double share;
  bool at_start;
};

/// Where the discs of a model's elements are, and what they weigh: calls visit(elements, disc places).
template <typename Visit>
bool with_chain(const RodModel& model, const Visit& visit) {
  using detail::ChainModel, detail::HelixShape, detail::ClothoidShape;
  if (const auto* helix = dynamic_cast<const ChainModel<HelixShape>*>(&model)) {
    constexpr double inner = detail::HelixDiscs<double>::inner_place;
    visit(helix->elements(), std::vector<DiscPlace>{{0.0, true}, {inner, false}});
    return true;
  }
  if (const auto* clothoid = dynamic_cast<const ChainModel<ClothoidShape>*>(&model)) {
    const auto& places = ClothoidShape::disc_places;
    visit(clothoid->elements(), std::vector<DiscPlace>{{0.0, true}, {places[0], false}, {places[1], false}});
    return true;
  }
  return false;
}

}  // namespace

bool ChainField::possible(const RodModel& model) {
  return with_chain(model, [](const auto&, const auto&) {});
}

ChainField::ChainField(const Rod& rod, Eigen::Index nodes)
    : origin_(rod.state().root.position),
      root_dof_(rod.root_dof()),
      coordinates_(rod.coordinate_count()),
      width_(rod.coordinate_count() == 3 * rod.piece_count() ? 3 : 6),
      rod_(&rod) {
  require(possible(*rod.model()), "gradients: a rod of nodes; expected super-helices or super-clothoids");
  for (int i = 0; i < rod.piece_count(); ++i) lengths_.push_back(rod.span(i).rest);
  take_rule(nodes > 0 ? nodes : nodes_for(rod, 0.0));
  take_points(rod);
}

/// Errors of integrals from an element's start are below 1e-11 of their size: of degree n - 1 through n points, on
/// exp(i turn s), with a margin for products.
Eigen::Index ChainField::nodes_for(const Rod& rod, double margin) {
  double turn = 0.0;
  const VectorX& c = rod.state().coordinates;
  const int width = rod.coordinate_count() == 3 * rod.piece_count() ? 3 : 6;
  for (int i = 0; i < rod.piece_count(); ++i) {
    for (int k = 0; k < width; k += 3) turn = std::max(turn, rod.span(i).rest * c.segment<3>(3 * i + k).norm());
  }
  require(turn <= most_turn, "gradients: an element turns by more than 12 rad; expected more elements");
  const double more = std::ceil(4.0 * std::max(0.0, turn + margin - 0.25));
  return std::min(most_nodes, fewest_nodes + static_cast<Eigen::Index>(more));
}

void ChainField::take_rule(Eigen::Index nodes) {
  nodes_ = nodes;
  const math::GaussRule& rule = math::gauss_legendre(static_cast<int>(nodes_));
  shares_ = rule.nodes;
  with_chain(*rod_->model(), [&](const auto&, const std::vector<DiscPlace>& discs) {
    for (const DiscPlace& disc : discs) shares_.push_back(disc.share);
  });
  points_per_element_ = static_cast<Eigen::Index>(shares_.size());
  integrals_.resize(points_per_element_ + 1, nodes_);
  for (Eigen::Index p = 0; p < points_per_element_; ++p)
    integrals_.row(p) = point_polynomials(nodes_).integrals_to(shares_[static_cast<std::size_t>(p)]);
  integrals_.row(points_per_element_) = Eigen::Map<const Eigen::RowVectorXd>(rule.weights.data(), nodes_);
}

void ChainField::take_points(const Rod& rod) {
  const Eigen::Index count = points();
  offsets_.resize(3, count);
  axis_1_.setZero(3, count);
  axis_2_.setZero(3, count);
  mass_.setZero(count);
  length_weight_.setZero(count);
  disc_.setZero(2, count);
  density_.setZero(count);
  const math::GaussRule& rule = math::gauss_legendre(static_cast<int>(nodes_));
  with_chain(*rod.model(), [&](const auto& elements, const std::vector<DiscPlace>& discs) {
    for (std::size_t i = 0; i < lengths_.size(); ++i) {
      const auto& element = elements[i];
      for (Eigen::Index p = 0; p < points_per_element_; ++p) {
        const Eigen::Index at = static_cast<Eigen::Index>(i) * points_per_element_ + p;
        const double begin = rod.piece_begin(static_cast<int>(i));
        const RodSection section = rod.section(begin + shares_[static_cast<std::size_t>(p)] * lengths_[i]);
        offsets_.col(at) = section.position - origin_;
        density_[at] = element.density;
        if (p < nodes_) {
          node_frames_.push_back(section.frame);
          length_weight_[at] = rule.weights[static_cast<std::size_t>(p)] * lengths_[i];
          mass_[at] = element.density * length_weight_[at];
          continue;
        }
        const bool at_start = discs[static_cast<std::size_t>(p - nodes_)].at_start;
        const double share = at_start ? 1.0 : 1.0 / static_cast<double>(discs.size() - 1);
        const std::array<double, 2>& spread = at_start ? element.discs.start : element.discs.spread;
        disc_.col(at) << share * spread[0], share * spread[1];
        // A disc at an element's start stands there, not at the end of the one before.
        axis_1_.col(at) = section.frame.col(1);
        axis_2_.col(at) = section.frame.col(2);
      }
    }
  });
}

/// What a rate of the coordinates adds to the twist beyond, per length, at the nodes of an element: (6, nodes).
Matrix6X ChainField::screws(int element, const VectorX& v) const {
  Matrix6X out(6, nodes_);
  const auto own = v.segment(root_dof_ + 3 * element, width_);
  for (Eigen::Index j = 0; j < nodes_; ++j) {
    const double u = shares_[static_cast<std::size_t>(j)];
    const Vector3 rate = width_ == 3 ? Vector3(own.head<3>()) : Vector3((1.0 - u) * own.head<3>() + u * own.tail<3>());
    const Vector3 angular = node_frames_[static_cast<std::size_t>(element * nodes_ + j)] * rate;
    const Vector3 offset = offsets_.col(element * points_per_element_ + j);
    out.col(j) = stacked(offset.cross(angular), angular);
  }
  return out;
}

FieldMotion ChainField::integrated(const Vector6& root, const std::vector<Matrix6X>& by_element) const {
  FieldMotion out{TwistColumns(6, points()), TwistColumns(6, static_cast<Eigen::Index>(lengths_.size()) + 1)};
  out.at_starts.col(0) = root;
  for (std::size_t i = 0; i < lengths_.size(); ++i) {
    const auto element = static_cast<Eigen::Index>(i);
    // Small: the product with blocks for caches is slower than the sums themselves.
    Matrix6X grown = by_element[i].lazyProduct(integrals_.transpose());
    grown *= lengths_[i];
    grown.colwise() += out.at_starts.col(element);
    out.at_points.middleCols(element * points_per_element_, points_per_element_) = grown.leftCols(points_per_element_);
    out.at_starts.col(element + 1) = grown.col(points_per_element_);
  }
  return out;
}

FieldMotion ChainField::motion(const VectorX& v, const Twist& root) const {
  std::vector<Matrix6X> by_element;
  for (int i = 0; i < static_cast<int>(lengths_.size()); ++i) by_element.push_back(screws(i, v));
  return integrated(root_dof_ > 0 ? Vector6(v.head<6>()) : stacked(root.linear, root.angular), by_element);
}

FieldMotion ChainField::change(const VectorX& v, const Twist& root, const FieldMotion& along) const {
  std::vector<Matrix6X> by_element;
  for (int i = 0; i < static_cast<int>(lengths_.size()); ++i) {
    Matrix6X own = screws(i, v);
    for (Eigen::Index j = 0; j < nodes_; ++j)
      own.col(j) = carried(along.at_points.col(i * points_per_element_ + j), own.col(j));
    by_element.push_back(std::move(own));
  }
  // The root's linear velocity is that of r(0), which moves away from the origin.
  const Vector3 spin = root_dof_ > 0 ? Vector3(v.segment<3>(3)) : root.angular;
  const Vector3 moved = along.at_starts.col(0).head<3>();
  return integrated(stacked(moved.cross(spin), Vector3::Zero()), by_element);
}

TwistColumns ChainField::samples(const FieldMotion& motion) const {
  TwistColumns out(6, points());
  for (Eigen::Index p = 0; p < points(); ++p) {
    const Vector6 twist = motion.at_points.col(p);
    if (p % points_per_element_ < nodes_) {
      out.col(p) = stacked(velocity_at(twist, offsets_.col(p)), Vector3::Zero());
    } else {
      const Vector3 spin = twist.tail<3>();
      out.col(p) = stacked(spin.cross(Vector3(axis_1_.col(p))), spin.cross(Vector3(axis_2_.col(p))));
    }
  }
  return out;
}

TwistColumns ChainField::samples_change(const FieldMotion& motion, const FieldMotion& changed,
                                        const FieldMotion& along) const {
  TwistColumns out(6, points());
  for (Eigen::Index p = 0; p < points(); ++p) {
    const Vector3 spin = motion.at_points.col(p).tail<3>(), change = changed.at_points.col(p).tail<3>();
    const Vector6 moved = along.at_points.col(p);
    if (p % points_per_element_ < nodes_) {
      const Vector3 way = velocity_at(moved, offsets_.col(p));
      out.col(p) = stacked(velocity_at(changed.at_points.col(p), offsets_.col(p)) + spin.cross(way), Vector3::Zero());
    } else {
      const Vector3 turned = moved.tail<3>(), first = axis_1_.col(p), second = axis_2_.col(p);
      out.col(p) = stacked(change.cross(first) + spin.cross(turned.cross(first)),
                           change.cross(second) + spin.cross(turned.cross(second)));
    }
  }
  return out;
}

TwistColumns ChainField::weighted(const TwistColumns& samples, double scale, double drag) const {
  TwistColumns out = samples;
  for (Eigen::Index p = 0; p < points(); ++p) {
    if (p % points_per_element_ < nodes_) {
      out.col(p) *= scale * mass_[p] + drag * length_weight_[p];
    } else {
      const double per_length = scale * density_[p] + drag;
      out.col(p).head<3>() *= per_length * disc_(0, p);
      out.col(p).tail<3>() *= per_length * disc_(1, p);
    }
  }
  return out;
}

TwistColumns ChainField::uniform(const Vector3& acceleration) const {
  TwistColumns out = TwistColumns::Zero(6, points());
  for (Eigen::Index p = 0; p < points(); ++p) {
    if (p % points_per_element_ < nodes_) out.col(p).head<3>() = acceleration;
  }
  return out;
}

/// Adds a wrench at each node of an element, (6, nodes), to the generalised force.
void ChainField::spread(int element, const Matrix6X& wrenches, VectorX& into) const {
  const Eigen::Index begin = root_dof_ + 3 * element;
  for (Eigen::Index j = 0; j < nodes_; ++j) {
    const Vector3 force = wrenches.col(j).head<3>(), moment = wrenches.col(j).tail<3>();
    const Vector3 offset = offsets_.col(element * points_per_element_ + j);
    const Vector3 work =
        node_frames_[static_cast<std::size_t>(element * nodes_ + j)].transpose() * (moment - offset.cross(force));
    if (width_ == 3) {
      into.segment<3>(begin) += work;
    } else {
      const double u = shares_[static_cast<std::size_t>(j)];
      into.segment<3>(begin) += (1.0 - u) * work;
      into.segment<3>(begin + 3) += u * work;
    }
  }
}

/// The generalised force of wrenches at the points, or its rate of change along a displacement.
VectorX ChainField::collected(const Matrix6X& wrenches, const Matrix6X* changed, const FieldMotion* along) const {
  VectorX out = VectorX::Zero(dof());
  Vector6 beyond = Vector6::Zero(), beyond_changed = Vector6::Zero();
  Matrix6X own(6, points_per_element_ + 1);
  for (int i = static_cast<int>(lengths_.size()) - 1; i >= 0; --i) {
    const auto summed = [&](const Matrix6X& of, Vector6& from) -> Matrix6X {
      own.leftCols(points_per_element_) = of.middleCols(i * points_per_element_, points_per_element_);
      own.col(points_per_element_) = from;
      from += own.leftCols(points_per_element_).rowwise().sum();
      return lengths_[static_cast<std::size_t>(i)] * own.lazyProduct(integrals_);
    };
    Matrix6X at_nodes = summed(wrenches, beyond);
    if (along != nullptr) {
      for (Eigen::Index j = 0; j < nodes_; ++j)
        at_nodes.col(j) = carried_back(along->at_points.col(i * points_per_element_ + j), at_nodes.col(j));
      at_nodes += summed(*changed, beyond_changed);
    }
    spread(i, at_nodes, out);
  }
  if (root_dof_ == 0) return out;
  out.head<6>() = along != nullptr ? beyond_changed : beyond;
  if (along != nullptr) {
    const Vector3 moved = along->at_starts.col(0).head<3>(), force = beyond.head<3>();
    out.segment<3>(3) -= moved.cross(force);
  }
  return out;
}

VectorX ChainField::force(const TwistColumns& forces) const {
  Matrix6X wrenches(6, points());
  for (Eigen::Index p = 0; p < points(); ++p) {
    const Vector3 first = forces.col(p).head<3>(), second = forces.col(p).tail<3>();
    if (p % points_per_element_ < nodes_) {
      wrenches.col(p) = stacked(first, Vector3(offsets_.col(p)).cross(first));
    } else {
      wrenches.col(p) =
          stacked(Vector3::Zero(), Vector3(axis_1_.col(p)).cross(first) + Vector3(axis_2_.col(p)).cross(second));
    }
  }
  return collected(wrenches, nullptr, nullptr);
}

VectorX ChainField::force_change(const TwistColumns& forces, const TwistColumns& changed,
                                 const FieldMotion& along) const {
  Matrix6X wrenches(6, points()), changes(6, points());
  for (Eigen::Index p = 0; p < points(); ++p) {
    const Vector3 first = forces.col(p).head<3>(), second = forces.col(p).tail<3>();
    const Vector3 first_change = changed.col(p).head<3>(), second_change = changed.col(p).tail<3>();
    const Vector6 moved = along.at_points.col(p);
    if (p % points_per_element_ < nodes_) {
      const Vector3 offset = offsets_.col(p);
      wrenches.col(p) = stacked(first, offset.cross(first));
      changes.col(p) = stacked(first_change, offset.cross(first_change) + velocity_at(moved, offset).cross(first));
    } else {
      const Vector3 axis_1 = axis_1_.col(p), axis_2 = axis_2_.col(p), turned = moved.tail<3>();
      const Vector3 turned_1 = turned.cross(axis_1), turned_2 = turned.cross(axis_2);
      wrenches.col(p) = stacked(Vector3::Zero(), axis_1.cross(first) + axis_2.cross(second));
      changes.col(p) = stacked(Vector3::Zero(), axis_1.cross(first_change) + axis_2.cross(second_change) +
                                                    turned_1.cross(first) + turned_2.cross(second));
    }
  }
  return collected(wrenches, &changes, &along);
}

FieldPlace ChainField::place(int element, double u) const {
  const double length = lengths_[static_cast<std::size_t>(element)], share = u / length;
  const RodSection section = rod_->section(rod_->piece_begin(element) + u);
  FieldPlace out;
  out.element = element;
  out.weights = length * point_polynomials(nodes_).integrals_to(share);
  out.values.resize(width_ / 3);
  if (width_ == 3) {
    out.values << 1.0;
  } else {
    out.values << 1.0 - share, share;
  }
  out.offset = section.position - origin_;
  out.frame = section.frame;
  for (Eigen::Index k = 0; k < out.values.size(); ++k)
    out.curvature += out.values[k] * rod_->state().coordinates.segment<3>(3 * (element + k));
  return out;
}

Vector6 ChainField::twist(const FieldPlace& place, const FieldMotion& motion, const VectorX& v) const {
  return motion.at_starts.col(place.element) + screws(place.element, v) * place.weights.transpose();
}

Vector6 ChainField::twist_change(const FieldPlace& place, const FieldMotion& changed, const VectorX& v,
                                 const FieldMotion& along) const {
  Matrix6X own = screws(place.element, v);
  for (Eigen::Index j = 0; j < nodes_; ++j)
    own.col(j) = carried(along.at_points.col(place.element * points_per_element_ + j), own.col(j));
  return changed.at_starts.col(place.element) + own * place.weights.transpose();
}

/// What a unit curvature there does to the twist beyond, per length.
Eigen::Matrix<double, 6, 3> ChainField::screw_at(const FieldPlace& place) const {
  Eigen::Matrix<double, 6, 3> out;
  for (int k = 0; k < 3; ++k) {
    const Vector3 axis = place.frame.col(k);
    out.col(k) = stacked(place.offset.cross(axis), axis);
  }
  return out;
}

Vector6 ChainField::twist_slope(const FieldPlace& place, const VectorX& v) const {
  const auto own = v.segment(root_dof_ + 3 * place.element, width_);
  Vector3 rate = Vector3::Zero();
  for (Eigen::Index k = 0; k < place.values.size(); ++k) rate += place.values[k] * own.segment<3>(3 * k);
  return screw_at(place) * rate;
}

void ChainField::add_wrench(const FieldPlace& place, const Vector6& wrench, VectorX& into) const {
  spread(place.element, wrench * place.weights, into);
  const Eigen::RowVectorXd whole = integrals_.row(points_per_element_);
  for (int i = 0; i < place.element; ++i) spread(i, wrench * (lengths_[static_cast<std::size_t>(i)] * whole), into);
  if (root_dof_ > 0) into.head<6>() += wrench;
}

void ChainField::add_wrench_change(const FieldPlace& place, const Vector6& wrench, const Vector6& changed, double slid,
                                   const FieldMotion& along, VectorX& into) const {
  const Eigen::RowVectorXd whole = integrals_.row(points_per_element_);
  for (int i = 0; i <= place.element; ++i) {
    const Eigen::RowVectorXd weights =
        i == place.element ? place.weights : Eigen::RowVectorXd(lengths_[static_cast<std::size_t>(i)] * whole);
    Matrix6X own(6, nodes_);
    for (Eigen::Index j = 0; j < nodes_; ++j) {
      own.col(j) = weights[j] * (changed + carried_back(along.at_points.col(i * points_per_element_ + j), wrench));
    }
    spread(i, own, into);
  }
  const Vector3 work = screw_at(place).transpose() * wrench * slid;
  auto own = into.segment(root_dof_ + 3 * place.element, width_);
  for (Eigen::Index k = 0; k < place.values.size(); ++k) own.segment<3>(3 * k) += place.values[k] * work;
  if (root_dof_ == 0) return;
  const Vector3 moved = along.at_starts.col(0).head<3>(), force = wrench.head<3>();
  into.head<6>() += changed;
  into.segment<3>(3) -= moved.cross(force);
}

}  // namespace tresse::rods
