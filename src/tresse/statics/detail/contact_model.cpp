#include <tresse/statics/detail/contact_model.hpp>

#include <algorithm>
#include <cmath>
#include <limits>

#include <Eigen/LU>

namespace tresse::statics::detail {

ContactModel::ContactModel(assembly::Kinematics& at, const std::vector<rods::RodState>& start,
                           const WorldEquilibriumOptions& options)
    : at_(at), options_(options), search_(options.broad_phase, options.detection) {
  begin_.push_back(0);
  potentials_.reserve(world().fibres.size());
  for (std::size_t f = 0; f < world().fibres.size(); ++f) {
    rods::RodState state = start[f];
    state.root_velocity = {};
    state.rates.setZero();
    state.root = assembly::root_pose(world().fibres[f], 0.0);
    potentials_.emplace_back(at_.rod(static_cast<int>(f)), state);
    begin_.push_back(begin_.back() + potentials_.back().size());
    longest_ = std::max(longest_, at_.rod(static_cast<int>(f)).length());
  }
}

void ContactModel::set_gravity(const Vector3& gravity) {
  for (ScaledPotential& potential : potentials_) potential.set_gravity(gravity);
}

void ContactModel::set_time(double time) {
  time_ = time;
  touches_.clear();
  for (std::size_t f = 0; f < potentials_.size(); ++f) {
    if (!world().fibres[f].root_motion.at_rest()) potentials_[f].set_root(assembly::root_pose(world().fibres[f], time));
  }
}

std::vector<rods::RodState> ContactModel::states() const {
  std::vector<rods::RodState> out;
  for (const ScaledPotential& potential : potentials_) out.push_back(potential.state());
  return out;
}

void ContactModel::set_states(const std::vector<rods::RodState>& states) {
  for (std::size_t f = 0; f < states.size(); ++f) potentials_[f].set_state(states[f]);
}

void ContactModel::move(const VectorX& step) {
  for (std::size_t f = 0; f < potentials_.size(); ++f) potentials_[f].move(part(step, f));
}

double ContactModel::value() const {
  double value = 0.0;
  for (const ScaledPotential& potential : potentials_) value += potential.value();
  return value;
}

double ContactModel::rounding_of_value() const {
  double size = 0.0;
  for (const ScaledPotential& potential : potentials_) size += std::abs(potential.value());
  return 1e-14 * size;
}

VectorX ContactModel::gradient() const {
  VectorX out(size());
  for (std::size_t f = 0; f < potentials_.size(); ++f)
    out.segment(begin_[f], potentials_[f].size()) = potentials_[f].gradient();
  return out;
}

MatrixX ContactModel::hessian() const {
  MatrixX out = MatrixX::Zero(size(), size());
  for (std::size_t f = 0; f < potentials_.size(); ++f) {
    const Eigen::Index n = potentials_[f].size();
    out.block(begin_[f], begin_[f], n, n) = potentials_[f].hessian();
  }
  return out;
}

void ContactModel::scale_columns(MatrixX& columns) const {
  if (columns.cols() == 0) return;  // parts of it would refer to no memory
  for (std::size_t f = 0; f < potentials_.size(); ++f)
    potentials_[f].scale_forces(columns.middleRows(begin_[f], potentials_[f].size()));
}

MatrixX ContactModel::rows() const {
  MatrixX out(size(), static_cast<Eigen::Index>(touches_.size()));
  for (std::size_t i = 0; i < touches_.size(); ++i)
    gap_gradient(at_, begin_, touches_[i], out.col(static_cast<Eigen::Index>(i)));
  scale_columns(out);
  return out;
}

MatrixX ContactModel::unscaled_forces(const MatrixX& columns) const {
  MatrixX out(columns.rows(), columns.cols());
  if (columns.cols() == 0) return out;
  for (std::size_t f = 0; f < potentials_.size(); ++f) {
    const Eigen::Index n = potentials_[f].size();
    out.middleRows(begin_[f], n) = potentials_[f].unscaled_forces(columns.middleRows(begin_[f], n));
  }
  return out;
}

VectorX ContactModel::gaps() const {
  VectorX out(static_cast<Eigen::Index>(touches_.size()));
  for (std::size_t i = 0; i < touches_.size(); ++i) out[static_cast<Eigen::Index>(i)] = place(at_, touches_[i]).gap;
  return out;
}

VectorX ContactModel::forces() const {
  VectorX out(static_cast<Eigen::Index>(touches_.size()));
  for (std::size_t i = 0; i < touches_.size(); ++i) out[static_cast<Eigen::Index>(i)] = touches_[i].force;
  return out;
}

/// Changes of single coordinates that move no touch by more than a thousandth of the distance it keeps, and turn
/// nothing by more than a thousandth or so. (coordinates of the fibre)
VectorX ContactModel::difference_steps(std::size_t fibre) const {
  constexpr double small = 1e-3;
  const rods::Rod& rod = at_.rod(static_cast<int>(fibre));
  VectorX out = VectorX::Constant(rod.dof(), small / rod.length());
  Matrix3X jacobian(3, rod.dof());
  for (const Touch& touch : touches_) {
    if (touch.force <= 0.0) continue;
    for (const bool second : {false, true}) {
      if ((second ? touch.b : touch.a).fibre() != static_cast<int>(fibre)) continue;
      const int element = second ? touch.element_b : touch.element_a;
      const double share = second ? touch.share_b : touch.share_a;
      const int touched = rod.jacobian(element, share * rod.span(element).rest, jacobian);
      for (int j = 0; j < touched; ++j) {
        const double lever = jacobian.col(j).norm();
        if (lever > 0.0) out[j] = std::min(out[j], small * touch.radii / lever);
      }
    }
  }
  return out;
}

ContactCurvature ContactModel::contact_curvature(bool flat) {
  ContactCurvature out{MatrixX::Zero(size(), size()), MatrixX::Zero(size(), size())};
  std::vector<std::size_t> loaded;
  for (std::size_t i = 0; i < touches_.size(); ++i) {
    if (touches_[i].force > 0.0) loaded.push_back(i);
  }
  if (loaded.empty()) return out;
  std::vector<MatrixX> slopes(loaded.size(), MatrixX::Zero(2, size()));
  VectorX gradient(size());
  for (std::size_t f = 0; f < potentials_.size(); ++f) {
    const auto own = [&](const Touch& touch) {
      return touch.a.fibre() == static_cast<int>(f) || touch.b.fibre() == static_cast<int>(f);
    };
    if (std::none_of(loaded.begin(), loaded.end(), [&](std::size_t i) { return own(touches_[i]); })) continue;
    const rods::RodState here = potentials_[f].state();
    const VectorX steps = difference_steps(f);
    for (Eigen::Index j = 0; j < potentials_[f].size(); ++j) {
      const double h = steps[j];
      rods::RodState there = here;
      for (const double sign : {1.0, -1.0}) {
        there.coordinates[j] = here.coordinates[j] + sign * h;
        potentials_[f].rod().update(there);
        for (std::size_t k = 0; k < loaded.size(); ++k) {
          const Touch& touch = touches_[loaded[k]];
          if (!own(touch)) continue;
          gap_gradient(at_, begin_, touch, gradient);
          out.fixed.col(begin_[f] + j) += sign * touch.force / (2.0 * h) * gradient;
          const Eigen::Vector2d slope = gap_slope(at_, touch);
          for (int side = 0; side < 2; ++side) slopes[k](side, begin_[f] + j) += sign / (2.0 * h) * slope[side];
        }
      }
      potentials_[f].rod().update(here);
    }
  }
  const auto scale_both = [&](MatrixX& matrix) {
    scale_columns(matrix);
    matrix.transposeInPlace();
    scale_columns(matrix);
    matrix = (0.5 * (matrix + matrix.transpose())).eval();
  };
  for (std::size_t k = 0; k < loaded.size(); ++k) {
    const Touch& touch = touches_[loaded[k]];
    if (!flat && !distinct(at_, touch)) continue;
    const Eigen::Matrix2d bend = gap_bend(at_, touch);
    // Flat contacts hold at more than one point: their rows keep the slope.
    if (bend.determinant() <= 0.0 || bend.trace() <= 0.0) continue;
    out.sliding += touch.force * slopes[k].transpose() * bend.inverse() * slopes[k];
  }
  scale_both(out.fixed);
  scale_both(out.sliding);
  return out;
}

/// A contact that wandered takes its touch along with its force; other touches stay where they are.
void ContactModel::add(const Touch& touch) {
  constexpr double rounding = 1e-9;
  const rods::Rod& rod = at_.rod(touch.a.index);
  const double half = 0.5 * (rod.piece_begin(touch.element_a + 1) - rod.piece_begin(touch.element_a));
  const double s_a = arc_length_a(at_, touch);
  Touch* nearest = nullptr;
  double least = std::numeric_limits<double>::infinity();
  for (Touch& known : touches_) {
    if (same_touch(at_, known, touch, rounding * longest_)) {
      const double force = known.force;
      if (distinct(at_, touch)) known = touch;  // polished
      known.force = force;
      known.idle = 0;
      known.found = true;
      return;
    }
    const double away = std::abs(arc_length_a(at_, known) - s_a);
    if (known.found || known.force <= 0.0 || away >= least || !same_touch(at_, known, touch, half)) continue;
    least = away;
    nearest = &known;
  }
  if (!nearest || !distinct(at_, touch)) {
    touches_.push_back(touch);
    return;
  }
  const double force = nearest->force;
  *nearest = touch;
  nearest->force = force;
}

/// What lies along a plane touches it at the ends of its elements too; they don't wander as shallow minima do.
void ContactModel::add_flat_ends(const Touch& touch) {
  for (const double share : {0.0, 1.0}) {
    Touch end = touch;
    end.share_a = share;
    if (place(at_, end).gap < options_.margin) add(end);
  }
}

/// Whether it stands at clamped roots, where no shape makes a difference.
bool ContactModel::immovable(const Touch& touch) const {
  constexpr double root = 1e-12;
  const double a = arc_length_a(at_, touch);
  return a <= root * longest_ && (!touch.b.is_fibre() || arc_length_b(at_, touch) <= root * longest_);
}

double ContactModel::find(const VectorX& reach) {
  assembly::contact_geometry(at_, time_, geometry_);
  for (contact::Piece& piece : geometry_.pieces) {
    piece.travel.reach = 0.5 * options_.margin + (piece.id.is_fibre() ? reach[piece.body] : 0.0);
  }
  double overlap = 0.0;
  sides_lost_ = false;
  for (Touch& touch : touches_) touch.found = false;
  for (const contact::Contact& contact : search_.find(geometry_, {})) {
    Touch touch = touch_of(at_, geometry_, contact);
    if (immovable(touch)) continue;
    overlap = std::max(overlap, -contact.gap);
    sides_lost_ = sides_lost_ || (!touch.plane && contact.gap < -0.5 * touch.radii);
    if (contact.gap < options_.margin && distinct(at_, touch)) polish(at_, touch);
    add(touch);
    if (touch.plane && contact.gap < options_.margin) add_flat_ends(touch);
  }
  return overlap;
}

VectorX ContactModel::displacements(const VectorX& step) const {
  VectorX out(static_cast<Eigen::Index>(potentials_.size()));
  for (std::size_t f = 0; f < potentials_.size(); ++f) {
    const rods::Rod& rod = at_.rod(static_cast<int>(f));
    Matrix3X ends(3, rod.piece_count() + 1);
    rod.end_velocities(potentials_[f].unscaled(part(step, f)), ends);
    out[static_cast<Eigen::Index>(f)] = ends.colwise().norm().maxCoeff();
  }
  return out;
}

}  // namespace tresse::statics::detail
