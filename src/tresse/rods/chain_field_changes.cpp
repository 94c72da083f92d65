#include <utility>

#include <Eigen/Geometry>

#include <tresse/rods/chain_field.hpp>
#include <tresse/rods/detail/field_rows.hpp>

// Motions and forces of a field, and how they change.
namespace tresse::rods {

using detail::add_cross;
using detail::angular;
using detail::by_element;
using detail::linear;

namespace {

using Vector6 = ChainField::Vector6;

Vector6 stacked(const Vector3& linear, const Vector3& angular) {
  Vector6 out;
  out.head<3>() = linear;
  out.tail<3>() = angular;
  return out;
}

}  // namespace

FieldSamples& FieldSamples::operator+=(const FieldSamples& other) {
  points += other.points;
  axes += other.axes;
  return *this;
}

FieldSamples& FieldSamples::operator-=(const FieldSamples& other) {
  points -= other.points;
  axes -= other.axes;
  return *this;
}

FieldSamples operator+(FieldSamples a, const FieldSamples& b) { return std::move(a += b); }
FieldSamples operator-(FieldSamples a, const FieldSamples& b) { return std::move(a -= b); }

FieldSamples operator*(double scale, FieldSamples a) {
  a.points *= scale;
  a.axes *= scale;
  return a;
}

double dot(const FieldSamples& a, const FieldSamples& b) {
  return (a.points * b.points).sum() + (a.axes * b.axes).sum();
}

Vector6 ChainField::carried(const Vector6& along, const Vector6& by) {
  const Vector3 v = along.head<3>(), w = along.tail<3>(), linear = by.head<3>(), angular = by.tail<3>();
  return stacked(w.cross(linear) + v.cross(angular), w.cross(angular));
}

Vector6 ChainField::carried_back(const Vector6& along, const Vector6& wrench) {
  const Vector3 v = along.head<3>(), w = along.tail<3>(), force = wrench.head<3>(), moment = wrench.tail<3>();
  return stacked(force.cross(w), force.cross(v) + moment.cross(w));
}

FieldRows<6> ChainField::growth(const VectorX& x) const {
  using Strided = Eigen::Map<const Eigen::ArrayXd, 0, Eigen::InnerStride<3>>;
  FieldRows<6> out(gauss_points(), 6);
  Eigen::ArrayXd rate(elements());
  for (Eigen::Index j = 0; j < nodes_; ++j) {
    const Eigen::Index begin = j * elements();
    const double u = rule_->shares[static_cast<std::size_t>(j)];
    for (Eigen::Index k = 0; k < 3; ++k) {
      if (width_ == 3) {
        rate = Strided(x.data() + 6 + k, elements());
      } else {
        rate = (1.0 - u) * Strided(x.data() + 6 + k, elements()) + u * Strided(x.data() + 9 + k, elements());
      }
      for (Eigen::Index c = 0; c < 3; ++c) {
        auto own = out.col(3 + c).segment(begin, elements());
        const auto frame = frames_.col(3 * k + c).segment(begin, elements());
        if (k == 0) {
          own = frame * rate;
        } else {
          own += frame * rate;
        }
      }
    }
  }
  linear(out).setZero();
  add_cross(offsets_, angular(out), linear(out));
  return out;
}

FieldMotion ChainField::integrated(const Vector6& root, FieldRows<6> growth) const {
  FieldMotion out{FieldRows<6>(points_per_element_ * elements(), 6), FieldRows<6>(elements() + 1, 6),
                  std::move(growth)};
  for (Eigen::Index c = 0; c < 6; ++c) {
    const auto own = by_element(out.growth, c, elements());
    auto at_points = by_element(out.at_points, c, elements());
    auto starts = out.at_starts.col(c);
    // Small: the product with blocks for caches is slower than the sums themselves.
    at_points = own.lazyProduct(rule_->integrals);
    at_points.array().colwise() *= lengths_;
    starts[0] = root[c];
    starts.tail(elements()) = lengths_ * own.lazyProduct(rule_->whole).array();
    for (Eigen::Index i = 0; i < elements(); ++i) starts[i + 1] += starts[i];
    at_points.array().colwise() += starts.head(elements());
  }
  return out;
}

FieldMotion ChainField::motion(const VectorX& x) const { return integrated(x.head<6>(), growth(x)); }

FieldMotion ChainField::change(const VectorX& x, const FieldMotion& along) const {
  const FieldRows<6> own = growth(x);
  const auto moved = along.at_points.topRows(gauss_points());
  FieldRows<6> changed = FieldRows<6>::Zero(gauss_points(), 6);
  add_cross(angular(moved), linear(own), linear(changed));
  add_cross(linear(moved), angular(own), linear(changed));
  add_cross(angular(moved), angular(own), angular(changed));
  // The root's linear velocity is that of r(0), which moves away from the origin.
  const Vector3 spin = x.segment<3>(3), root_moved = along.at_starts.row(0).head<3>().transpose();
  return integrated(stacked(root_moved.cross(spin), Vector3::Zero()), std::move(changed));
}

FieldSamples ChainField::samples(const FieldMotion& motion) const {
  const auto at = motion.at_points.topRows(gauss_points());
  const auto of_discs = motion.at_points.bottomRows(axes_.rows());
  FieldSamples out{linear(at), FieldRows<6>::Zero(axes_.rows(), 6)};
  add_cross(angular(at), offsets_, out.points);
  add_cross(angular(of_discs), linear(axes_), linear(out.axes));
  add_cross(angular(of_discs), angular(axes_), angular(out.axes));
  return out;
}

FieldSamples ChainField::samples_change(const FieldMotion& motion, const FieldMotion& changed,
                                        const FieldMotion& along) const {
  FieldSamples out = samples(changed);
  const FieldSamples moved = samples(along);
  const auto of_discs = motion.at_points.bottomRows(axes_.rows());
  add_cross(angular(motion.at_points.topRows(gauss_points())), moved.points, out.points);
  add_cross(angular(of_discs), linear(moved.axes), linear(out.axes));
  add_cross(angular(of_discs), angular(moved.axes), angular(out.axes));
  return out;
}

FieldSamples ChainField::weighted(FieldSamples samples, double scale, double drag) const {
  samples.points.colwise() *= scale * mass_ + drag * length_weight_;
  const Eigen::ArrayXd per_length = scale * disc_density_ + drag;
  linear(samples.axes).colwise() *= per_length * disc_.col(0);
  angular(samples.axes).colwise() *= per_length * disc_.col(1);
  return samples;
}

double ChainField::length_product(const FieldSamples& a, const FieldSamples& b) const {
  const FieldRows<6> of_axes = a.axes * b.axes;
  return ((a.points * b.points).rowwise().sum() * length_weight_).sum() +
         (linear(of_axes).rowwise().sum() * disc_.col(0)).sum() +
         (angular(of_axes).rowwise().sum() * disc_.col(1)).sum();
}

FieldSamples ChainField::uniform(const Vector3& acceleration) const {
  return {acceleration.transpose().array().replicate(gauss_points(), 1), FieldRows<6>::Zero(axes_.rows(), 6)};
}

void ChainField::take_wrenches(const FieldSamples& forces, FieldRows<6>& out) const {
  out.setZero(points_per_element_ * elements(), 6);
  auto at = out.topRows(gauss_points());
  linear(at) = forces.points;
  add_cross(offsets_, forces.points, angular(at));
  auto of_discs = angular(out.bottomRows(axes_.rows()));
  add_cross(linear(axes_), linear(forces.axes), of_discs);
  add_cross(angular(axes_), angular(forces.axes), of_discs);
}

void ChainField::take_wrench_changes(const FieldSamples& forces, const FieldSamples* changed, const FieldMotion& along,
                                     FieldRows<6>& out) const {
  if (changed != nullptr) {
    take_wrenches(*changed, out);
  } else {
    out.setZero(points_per_element_ * elements(), 6);
  }
  const FieldSamples moved = samples(along);
  add_cross(moved.points, forces.points, angular(out.topRows(gauss_points())));
  auto of_discs = angular(out.bottomRows(axes_.rows()));
  add_cross(linear(moved.axes), linear(forces.axes), of_discs);
  add_cross(angular(moved.axes), angular(forces.axes), of_discs);
}

/// What the growth of a twist meets at the Gauss points, per length, of wrenches at the points and at places, or of
/// their changes; returns their sum.
Vector6 ChainField::collect(const FieldRows<6>* at_points, Wrenches placed, bool changes,
                            FieldRows<6>& at_nodes) const {
  FieldRows<6>& sums = memory_.sums;
  sums.setZero(elements(), 6);
  at_nodes.setZero(gauss_points(), 6);
  for (Eigen::Index c = 0; at_points != nullptr && c < 6; ++c) {
    const auto own = by_element(*at_points, c, elements());
    by_element(at_nodes, c, elements()) = own.lazyProduct(rule_->integrals.transpose());
    sums.col(c) = own.rowwise().sum();
  }
  for (const PlacedWrench& one : placed) {
    const Vector6& wrench = changes ? one.change : one.wrench;
    const int i = one.place->element;
    sums.row(i) += wrench.transpose().array();
    for (Eigen::Index c = 0; c < 6; ++c)
      by_element(at_nodes, c, elements()).row(i) += wrench[c] / lengths_[i] * one.place->weights.transpose();
  }
  Vector6 beyond = Vector6::Zero();
  for (Eigen::Index i = elements() - 1; i >= 0; --i) {
    const Vector6 own = sums.row(i).transpose();
    sums.row(i) = beyond.transpose();
    beyond += own;
  }
  for (Eigen::Index c = 0; c < 6; ++c)
    by_element(at_nodes, c, elements()) += sums.col(c).matrix() * rule_->whole.transpose();
  return beyond;
}

/// Adds a wrench at each Gauss point, per length, to the generalised force.
void ChainField::spread(const FieldRows<6>& at_nodes, VectorX& into) const {
  using Strided = Eigen::Map<Eigen::ArrayXd, 0, Eigen::InnerStride<3>>;
  FieldRows<3>& moment = memory_.moment;
  moment = angular(at_nodes);
  add_cross(linear(at_nodes), offsets_, moment);
  Eigen::ArrayXd work(elements());
  for (Eigen::Index j = 0; j < nodes_; ++j) {
    const Eigen::Index begin = j * elements();
    const double u = rule_->shares[static_cast<std::size_t>(j)];
    for (Eigen::Index k = 0; k < 3; ++k) {
      work.setZero();
      for (Eigen::Index c = 0; c < 3; ++c)
        work += frames_.col(3 * k + c).segment(begin, elements()) * moment.col(c).segment(begin, elements());
      work *= lengths_;
      if (width_ == 3) {
        Strided(into.data() + 6 + k, elements()) += work;
      } else {
        Strided(into.data() + 6 + k, elements()) += (1.0 - u) * work;
        Strided(into.data() + 9 + k, elements()) += u * work;
      }
    }
  }
}

VectorX ChainField::force(const FieldSamples* forces, Wrenches wrenches) const {
  VectorX out = VectorX::Zero(size());
  if (forces != nullptr) take_wrenches(*forces, memory_.at_points);
  out.head<6>() = collect(forces != nullptr ? &memory_.at_points : nullptr, wrenches, false, memory_.at_nodes);
  spread(memory_.at_nodes, out);
  return out;
}

VectorX ChainField::force_change(const FieldSamples* forces, const FieldSamples* changed, Wrenches wrenches,
                                 const FieldMotion& along) const {
  VectorX out = VectorX::Zero(size());
  FieldRows<6>&at_nodes = memory_.at_nodes, &changed_at_nodes = memory_.changed_at_nodes;
  if (forces != nullptr) {
    take_wrenches(*forces, memory_.at_points);
    take_wrench_changes(*forces, changed, along, memory_.changes);
  }
  const Vector6 all = collect(forces != nullptr ? &memory_.at_points : nullptr, wrenches, false, at_nodes);
  out.head<6>() = collect(forces != nullptr ? &memory_.changes : nullptr, wrenches, true, changed_at_nodes);
  const auto moved = along.at_points.topRows(gauss_points());
  add_cross(linear(at_nodes), angular(moved), linear(changed_at_nodes));
  add_cross(linear(at_nodes), linear(moved), angular(changed_at_nodes));
  add_cross(angular(at_nodes), angular(moved), angular(changed_at_nodes));
  spread(changed_at_nodes, out);
  const Vector3 root_moved = along.at_starts.row(0).head<3>().transpose(), all_force = all.head<3>();
  out.segment<3>(3) -= root_moved.cross(all_force);
  for (const PlacedWrench& one : wrenches) {
    if (one.slid == 0.0) continue;
    const Vector3 work = screw_at(*one.place).transpose() * one.wrench * one.slid;
    for (Eigen::Index k = 0; k < one.place->values.size(); ++k)
      out.segment<3>(6 + 3 * (one.place->element + k)) += one.place->values[k] * work;
  }
  return out;
}

/// change() and samples_change() read backward: what grows meets the wrench beyond it, and what is carried along by a
/// displacement works on that.
VectorX ChainField::change_back(const VectorX& x, const FieldMotion& motion, const FieldSamples* forces,
                                Wrenches wrenches) const {
  VectorX out = VectorX::Zero(size());
  FieldRows<6>&on_along = memory_.changes, &at_nodes = memory_.at_nodes;
  if (forces != nullptr) {
    take_wrenches(*forces, memory_.at_points);
    const auto of_discs = motion.at_points.bottomRows(axes_.rows());
    FieldSamples turned{FieldRows<3>::Zero(gauss_points(), 3), FieldRows<6>::Zero(axes_.rows(), 6)};
    add_cross(forces->points, angular(motion.at_points.topRows(gauss_points())), turned.points);
    add_cross(linear(forces->axes), angular(of_discs), linear(turned.axes));
    add_cross(angular(forces->axes), angular(of_discs), angular(turned.axes));
    take_wrenches(turned, on_along);
  } else {
    on_along.setZero(points_per_element_ * elements(), 6);
  }
  const Vector6 all = collect(forces != nullptr ? &memory_.at_points : nullptr, wrenches, false, at_nodes);
  for (Eigen::Index c = 0; c < 6; ++c) by_element(at_nodes, c, elements()).array().colwise() *= lengths_;
  auto carried = on_along.topRows(gauss_points());
  add_cross(angular(motion.growth), linear(at_nodes), linear(carried));
  add_cross(linear(motion.growth), linear(at_nodes), angular(carried));
  add_cross(angular(motion.growth), angular(at_nodes), angular(carried));
  out.head<6>() = collect(&on_along, wrenches, true, at_nodes);
  spread(at_nodes, out);
  const Vector3 spin = x.segment<3>(3), force = all.head<3>();
  out.head<3>() += spin.cross(force);
  return out;
}

Vector6 ChainField::twist(const FieldPlace& place, const FieldMotion& motion) const {
  Vector6 out = motion.at_starts.row(place.element).transpose();
  for (Eigen::Index c = 0; c < 6; ++c)
    out[c] += by_element(motion.growth, c, elements()).row(place.element).dot(place.weights);
  return out;
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

Vector6 ChainField::twist_slope(const FieldPlace& place, const VectorX& x) const {
  Vector3 rate = Vector3::Zero();
  for (Eigen::Index k = 0; k < place.values.size(); ++k)
    rate += place.values[k] * x.segment<3>(6 + 3 * (place.element + k));
  return screw_at(place) * rate;
}

}  // namespace tresse::rods
