#include <tresse/dynamics/detail/tangent_motion.hpp>

#include <algorithm>
#include <cmath>
#include <cstdio>

#include <Eigen/QR>

#include <tresse/base/errors.hpp>
#include <tresse/friction/coulomb.hpp>
#include <tresse/math/rotations.hpp>

namespace tresse::dynamics::detail {
namespace {

/// (twist, 1, 2) by coordinate.
VectorX by_component(const rods::Rod& rod, const Vector3& relative, const VectorX& of) {
  VectorX out = of;
  for (Eigen::Index i = rod.root_dof(); i < out.size(); ++i) out[i] *= relative[(i - rod.root_dof()) % 3];
  return out;
}

/// Coordinates as generalised numbers: nothing for a free root.
VectorX padded(const rods::Rod& rod, const VectorX& coordinates) {
  VectorX out = VectorX::Zero(rod.dof());
  out.tail(rod.coordinate_count()) = coordinates;
  return out;
}

double damping_time_of(const rods::Rod& rod) {
  MatrixX stiffness = MatrixX::Zero(rod.dof(), rod.dof()), damping = stiffness;
  rod.add_stiffness(1.0, 0.0, stiffness);
  rod.add_stiffness(0.0, 1.0, damping);
  return damping.trace() / stiffness.trace();
}

bool same_shape(const rods::RodState& a, const rods::RodState& b) {
  return a.coordinates == b.coordinates && a.root.position == b.root.position && a.root.frame == b.root.frame;
}

/// The way over h with velocities v, to a displacement at its end: of a free root the rotation is composed.
VectorX advanced(const rods::Rod& rod, const VectorX& displacement, const VectorX& v, const VectorX& v_change,
                 double h) {
  VectorX out = displacement + h * v_change;
  if (rod.root_dof() == 0) return out;
  const Vector3 turn = h * v.segment<3>(3);
  out.segment<3>(3) = math::rotation_exp(turn) * displacement.segment<3>(3) +
                      math::rotation_exp_integral(turn) * (h * v_change.segment<3>(3));
  return out;
}

void check_sizes(const assembly::World& world, const Variation& variation) {
  if (variation.fibres.empty()) return;
  require(variation.fibres.size() == world.fibres.size(), "gradients: a variation needs one entry a fibre");
  for (std::size_t f = 0; f < world.fibres.size(); ++f) {
    const FibreVariation& of = variation.fibres[f];
    const rods::RodModel& model = *world.fibres[f].model;
    const auto fits = [](const VectorX& x, int size) { return x.size() == 0 || x.size() == size; };
    require(of.root.angular.isZero(0.0) || world.fibres[f].root_motion.at_rest() || !clamped(world.fibres[f]),
            "gradients: a turn of a root that moves; expected a shift");
    require(fits(of.natural, model.coordinate_count()) && fits(of.curvature, model.coordinate_count()) &&
                fits(of.velocity, model.dof()),
            "gradients: a variation does not match its rod");
  }
}

void check_world(const assembly::World& world, const StepOptions& options) {
  require(options.scheme == Scheme::carried, "gradients: another scheme than 'carried'; they know no other");
  require(!options.penalty, "gradients: a penalty law; expected the exact law of contact");
  require(!options.step_error, "gradients: a step error cuts steps where it likes; expected none");
  require(!world.fluid, "gradients: a fluid; they do not know its forces");
  require(world.holds.empty(), "gradients: held points; expected none");
  require(world.free_bodies.empty(), "gradients: bodies with a mass; expected fibres and prescribed obstacles");
  require(options.detection.method == geometry::DetectionMethod::certified,
          "gradients: another detection than 'certified'; expected that");
  for (const assembly::Fibre& fibre : world.fibres) {
    require(rods::ChainField::possible(*fibre.model),
            "gradients: a rod of nodes; expected super-helices or super-clothoids");
    require(fibre.attachment.parent < 0, "gradients: branches; expected fibres without");
    require(fibre.rest_onset == 0.0 && fibre.growth.final_scale == 1.0, "gradients: growth; expected none");
  }
}

}  // namespace

TangentMotion::TangentMotion(const Part& part, std::vector<Variation> variations)
    : part_(part), variations_(std::move(variations)) {
  check_world(part.world, part.options);
  changes_.resize(count());
  slip_change_.assign(count(), std::vector<Vector3>(part.state.warm.size(), Vector3::Zero()));
  for (std::size_t k = 0; k < count(); ++k) {
    check_sizes(part.world, variations_[k]);
    for (std::size_t f = 0; f < fibres(); ++f) {
      const rods::Rod& rod = part.start.rod(static_cast<int>(f));
      FibreChange change{VectorX::Zero(rod.dof()), {}, VectorX::Zero(rod.dof())};
      if (const FibreVariation* of = variation_of(k, f)) {
        if (of->curvature.size() > 0) change.displacement = padded(rod, of->curvature);
        if (of->velocity.size() > 0) change.velocity = of->velocity;
        if (rod.root_dof() > 0) {
          change.displacement.head<3>() = of->root.linear;
          change.displacement.segment<3>(3) = of->root.angular;
        } else {
          change.root = of->root;
        }
      }
      changes_[k].push_back(std::move(change));
    }
  }
  for (std::size_t f = 0; f < fibres(); ++f) {
    const rods::Rod& rod = part.start.rod(static_cast<int>(f));
    damping_times_.push_back(damping_time_of(rod));
    matrices_.push_back(rod.make_step_matrix());
    masses_.push_back(rod.make_step_matrix());
  }
  start_.resize(fibres());
  at_.resize(fibres());
  end_.resize(fibres());
  contact_shapes_.resize(fibres());
  carried_.resize(fibres());
  carried_change_.resize(fibres());
  roots_.resize(fibres());
}

void TangentMotion::refuse(const std::string& why) {
  if (!report_.refused.empty()) return;
  char when[64];
  static_cast<void>(std::snprintf(when, sizeof when, " at %.6g s", part_.span.end));
  report_.refused = why + when;
}

void TangentMotion::note(const Pass& pass, const std::vector<rods::RodState>& shapes) {
  Noted noted{pass.at,
              pass.contacts,
              pass.warm_of,
              pass.bias,
              pass.slips,
              pass.solution.impulse,
              pass.solution.velocity,
              pass.problem.mu,
              pass.problem.q,
              pass.velocities,
              shapes,
              true};
  noted.whole = pass.turned == 0 && (pass.instants.empty() || std::all_of(pass.instants.begin(), pass.instants.end(),
                                                                          [&](assembly::Instant at) {
                                                                            return at == pass.instants.front();
                                                                          }));
  passes_.push_back(std::move(noted));
}

struct TangentMotion::Linearised {
  /// M^-1 J^T E of the loaded contacts' sides.
  std::vector<std::vector<MatrixX>> solved;
  MatrixX W;  ///< (3 loaded, 3 loaded)
};

/// The shapes of the start and the field of velocities that is carried from there.
void TangentMotion::begin_fibres() {
  for (std::size_t f = 0; f < fibres(); ++f) {
    const rods::Rod& rod = part_.start.rod(static_cast<int>(f));
    std::vector<VectorX> displacements;
    std::vector<Twist> roots;
    for (std::size_t k = 0; k < count(); ++k) {
      displacements.push_back(changes_[k][f].displacement);
      roots.push_back(changes_[k][f].root);
    }
    start_[f] = std::make_shared<ShapeTangent>(rod, part_.start_rods[f], std::move(displacements), std::move(roots));
    at_[f] = start_[f];
    roots_[f] = rod.root_dof() > 0 ? Twist{} : part_.start_rods[f].root_velocity;
    const rods::ChainField& field = *start_[f]->field;
    // What the state's own root velocity was: a prescribed one may change from part to part.
    const Twist before = rod.root_dof() > 0 ? Twist{} : part_.state.rods[f].root_velocity;
    const VectorX v = rods::generalised_velocity(rod, part_.state.rods[f]);
    const rods::FieldMotion motion = field.motion(v, before);
    carried_[f] = field.samples(motion);
    carried_change_[f].clear();
    for (std::size_t k = 0; k < count(); ++k) {
      const rods::FieldMotion& along = start_[f]->along[k];
      carried_change_[f].push_back(field.samples_change(motion, field.change(v, before, along), along) +
                                   field.samples(field.motion(changes_[k][f].velocity, {})));
    }
  }
}

/// A fibre where `velocities` lead from the start, at `at`; they change by velocity_change_.
std::shared_ptr<const ShapeTangent> TangentMotion::shape_after(std::size_t f, const rods::RodState& at,
                                                               const std::vector<VectorX>& velocities) const {
  const ShapeTangent& start = *start_[f];
  std::vector<VectorX> displacements;
  for (std::size_t k = 0; k < count(); ++k)
    displacements.push_back(advanced(*start.rod, start.displacement[k], velocities[f], velocity_change_[k][f],
                                     part_.motion.dt));
  return std::make_shared<ShapeTangent>(*start.rod, at, std::move(displacements), start.root);
}

/// Brings contact_shapes_ and at_ to those of a pass; velocity_change_ is that of the one before.
void TangentMotion::take_shapes(const Noted& pass, bool first) {
  if (first) {
    contact_shapes_ = start_;
    at_ = start_;
    return;
  }
  const Noted& before = *(&pass - 1);
  const double h = part_.motion.dt;
  for (std::size_t f = 0; f < fibres(); ++f) {
    const rods::RodState& start = part_.start_rods[f];
    const rods::RodState there =
        start_[f]->rod->advanced(start, before.velocities[f], h, part_.next_roots[f], start.root_velocity);
    contact_shapes_[f] = shape_after(f, there, before.velocities);
    if (same_shape(pass.shapes[f], before.shapes[f])) continue;  // its matrix was left as it was
    if (same_shape(pass.shapes[f], there)) {
      at_[f] = contact_shapes_[f];
    } else {
      refuse("a pass that was linearised elsewhere");
    }
  }
}

/// The contacts of a pass that carry a force, and what their sides are.
void TangentMotion::take_contacts(const Noted& pass, Linearised& out) {
  contacts_.clear();
  loaded_.clear();
  for (std::size_t i = 0; i < pass.contacts.size(); ++i) {
    if (!(pass.impulse[3 * static_cast<Eigen::Index>(i)] > 0.0)) continue;
    if (!ContactTangent::possible(pass.at->geometry, pass.contacts[i])) {
      refuse("a contact with a mesh, or of bodies whose axes meet,");
      continue;
    }
    contacts_.emplace_back(part_.world, pass.at->geometry, pass.contacts[i], contact_shapes_);
    loaded_.push_back(i);
  }
  const auto n = static_cast<Eigen::Index>(contacts_.size());
  out.W.setZero(3 * n, 3 * n);
  out.solved.resize(contacts_.size());
  for (std::size_t c = 0; c < contacts_.size(); ++c) {
    for (const ContactTangent::Side& side : contacts_[c].sides()) {
      MatrixX solved = side.columns;
      for (int k = 0; k < 3; ++k) {
        VectorX column = solved.col(k);
        matrices_[static_cast<std::size_t>(side.fibre)]->solve(column);
        solved.col(k) = column;
      }
      out.solved[c].push_back(std::move(solved));
    }
  }
  for (std::size_t c = 0; c < contacts_.size(); ++c) {
    for (std::size_t d = 0; d < contacts_.size(); ++d) {
      for (const ContactTangent::Side& of : contacts_[c].sides()) {
        for (std::size_t s = 0; s < contacts_[d].sides().size(); ++s) {
          if (contacts_[d].sides()[s].fibre != of.fibre) continue;
          out.W.block<3, 3>(3 * static_cast<Eigen::Index>(c), 3 * static_cast<Eigen::Index>(d)) +=
              of.columns.transpose() * out.solved[d][s];
        }
      }
    }
  }
}

/// Rate of change of what a fibre's equation lacks,
///   int J^T (rho (w - w_0 - h g) + h c (w - wind)) ds + h K (eta v + q_0 + h v - q_rest),
/// at the same velocities.
VectorX TangentMotion::fibre_residual_change(std::size_t f, const VectorX& v, std::size_t k) const {
  const double h = part_.motion.dt;
  const ShapeTangent& shape = *at_[f];
  const rods::ChainField& field = *shape.field;
  const rods::FieldMotion& along = shape.along[k];
  const rods::Rod& rod = *shape.rod;
  static const FibreVariation none;
  const FibreVariation* given = variation_of(k, f);
  const FibreVariation& own = given != nullptr ? *given : none;
  const rods::FieldMotion motion = field.motion(v, roots_[f]);
  const rods::TwistColumns w = field.samples(motion);
  const rods::TwistColumns w_change = field.samples_change(motion, field.change(v, roots_[f], along), along);
  const rods::TwistColumns gained = w - carried_[f] - field.uniform(h * assembly::gravity_of(part_.world));
  const rods::TwistColumns resisted = w - field.uniform(part_.air);
  const double drag = h * assembly::drag_of(part_.world, static_cast<int>(f));
  const rods::TwistColumns forces = field.weighted(gained, 1.0, 0.0) + field.weighted(resisted, 0.0, drag);
  const rods::TwistColumns changes =
      field.weighted(w_change - carried_change_[f][k] - field.uniform(h * variations_[k].gravity), 1.0, 0.0) +
      field.weighted(gained, own.density, 0.0) +
      field.weighted(w_change - field.uniform(variations_[k].wind), 0.0, drag) +
      field.weighted(resisted, 0.0, h * own.drag);
  VectorX out = field.force_change(forces, changes, along);
  const double eta = damping_times_[f];
  const VectorX strained =
      (eta + h) * v + padded(rod, part_.start_rods[f].coordinates - rod.rest_curvature());
  VectorX elastic = by_component(rod, own.stiffness, strained) + own.damping_time * v +
                    padded(rod, start_[f]->displacement[k].tail(rod.coordinate_count()));
  if (own.natural.size() > 0) elastic -= padded(rod, own.natural);
  elastic.head(rod.root_dof()).setZero();
  rod.add_stiffness_times(h, elastic, out);
  return out;
}

/// How a slip that a contact of a pass takes back changes.
Vector3 TangentMotion::slip_along(const Noted& pass, std::size_t i, std::size_t k, const ContactChange& change) const {
  const Vector3 normal = pass.contacts[i].frame.col(0), normal_change = change.turned.cross(normal);
  const Vector3 slip = *pass.slips[i], own = pass_slip_change_[k][i];
  return own - normal * (normal.dot(own) + normal_change.dot(slip));
}

/// Rate of change of the relative velocities of loaded contacts, biases included, at the same unknowns.
void TangentMotion::take_biases(const Noted& pass, const Noted* previous, std::size_t k, VectorX& out) const {
  const double h = part_.motion.dt;
  const assembly::Instant instant = previous != nullptr ? assembly::Instant::end : assembly::Instant::begin;
  for (std::size_t c = 0; c < contacts_.size(); ++c) {
    const std::size_t i = loaded_[c];
    const ContactTangent& contact = contacts_[c];
    const ContactChange& change = contact_change_[k][c];
    auto own = out.segment<3>(3 * static_cast<Eigen::Index>(c));
    own = contact.velocity_change(pass.velocities, roots_, change, k, part_.motion, instant);
    own[0] += change.gap / h;
    if (previous != nullptr) {
      own[0] -= contact.velocity_change(previous->velocities, roots_, change, k, part_.motion, instant)[0];
      for (const ContactTangent::Side& side : contact.sides())
        own[0] -= side.columns.col(0).dot(velocity_change_[k][static_cast<std::size_t>(side.fibre)]);
    }
    if (!pass.slips[i]) continue;
    const Matrix3 axes = pass.contacts[i].frame.transpose();
    const Vector3 slip = *pass.slips[i], slip_change = slip_along(pass, i, k, change);
    const double size = slip.norm();
    if (!(size > h * part_.options.push_out_speed)) {
      own += axes * (slip_change - change.turned.cross(slip)) / h;
    } else {
      const Vector3 unit = slip / size;
      const Vector3 turned = (slip_change - unit * unit.dot(slip_change)) / size;
      own += part_.options.push_out_speed * (axes * (turned - change.turned.cross(unit)));
    }
  }
}

/// The derivative of a pass: velocity_change_ becomes that of its velocities.
void TangentMotion::linearise(const Noted& pass, const Noted* previous) {
  const double h = part_.motion.dt;
  if (!pass.whole) refuse("a contact that was linearised again by itself");
  take_shapes(pass, previous == nullptr);
  for (std::size_t f = 0; f < fibres(); ++f) {
    VectorX momentum;
    const double drag = assembly::implicit_drag(part_.world, static_cast<int>(f));
    if (!matrices_[f]->factor(*at_[f]->rod, {h * h, h, h * drag}, VectorX::Zero(at_[f]->rod->dof()), momentum))
      refuse("a matrix that is not positive definite");
  }
  // The slips of a pass are those of the warm contacts that it began with.
  std::vector<std::vector<Vector3>> slips(count(), std::vector<Vector3>(pass.contacts.size(), Vector3::Zero()));
  std::vector<std::size_t> warm;
  for (std::size_t i = 0; previous != nullptr && i < previous->contacts.size(); ++i) {
    const Vector3 impulse = previous->impulse.segment<3>(3 * static_cast<Eigen::Index>(i));
    if (!impulse.isZero(0.0) || previous->contacts[i].gap <= part_.options.margin) warm.push_back(i);
  }
  for (std::size_t k = 0; k < count(); ++k) {
    for (std::size_t i = 0; i < pass.contacts.size(); ++i) {
      if (pass.warm_of[i] < 0) continue;
      const auto from = static_cast<std::size_t>(pass.warm_of[i]);
      slips[k][i] = previous != nullptr ? pass_slip_change_[k][warm[from]] : slip_change_[k][from];
    }
  }
  pass_slip_change_ = std::move(slips);
  Linearised system;
  take_contacts(pass, system);
  contact_change_.assign(count(), {});
  const auto n = static_cast<Eigen::Index>(contacts_.size());
  // What is said of each impulse: nothing moves where it sticks, it is on the cone and against the slip where it slides.
  MatrixX A = system.W;
  std::vector<Vector3> by_friction(contacts_.size(), Vector3::Zero());
  std::vector<Eigen::Matrix2d> turning(contacts_.size(), Eigen::Matrix2d::Zero());
  std::vector<char> slides(contacts_.size(), 0);
  for (std::size_t c = 0; c < contacts_.size(); ++c) {
    const auto row = 3 * static_cast<Eigen::Index>(c), at = 3 * static_cast<Eigen::Index>(loaded_[c]);
    const Vector3 r = pass.impulse.segment<3>(at), u = pass.velocity.segment<3>(at);
    const double mu = pass.mu[at / 3];
    if (friction::classify(r, mu) != friction::ContactCase::slide) continue;
    slides[c] = 1;
    const double scale = system.W.block<3, 3>(row, row).trace() / 3.0;
    const Eigen::Vector2d slip = u.tail<2>();
    const double speed = slip.norm();
    if (mu > 0.0 && !(speed > 0.0)) refuse("a contact at the edge of its cone that does not slide");
    const Eigen::Vector2d along = speed > 0.0 ? Eigen::Vector2d(slip / speed) : Eigen::Vector2d::Zero();
    if (speed > 0.0) turning[c] = mu * r[0] / speed * (Eigen::Matrix2d::Identity() - along * along.transpose());
    A.middleRows<2>(row + 1) = scale * (turning[c] * system.W.middleRows<2>(row + 1));
    A.block<2, 2>(row + 1, row + 1) += scale * Eigen::Matrix2d::Identity();
    A.block<2, 1>(row + 1, row) += scale * mu * along;
    turning[c] *= scale;
    by_friction[c].tail<2>() = scale * mu * r[0] * along;
  }
  const Eigen::ColPivHouseholderQR<MatrixX> solver(A);
  std::vector<std::vector<VectorX>> changes(count());
  for (std::size_t k = 0; k < count(); ++k) {
    std::vector<VectorX>& own = changes[k];
    for (std::size_t f = 0; f < fibres(); ++f) own.push_back(-fibre_residual_change(f, pass.velocities[f], k));
    for (std::size_t c = 0; c < contacts_.size(); ++c) {
      contact_change_[k].push_back(contacts_[c].change(k));
      contacts_[c].add_impulse_change(pass.impulse.segment<3>(3 * static_cast<Eigen::Index>(loaded_[c])),
                                      contact_change_[k][c], k, own);
    }
    for (std::size_t f = 0; f < fibres(); ++f) matrices_[f]->solve(own[f]);
    if (n == 0) continue;
    VectorX off(3 * n);
    take_biases(pass, previous, k, off);
    for (std::size_t c = 0; c < contacts_.size(); ++c) {
      const auto row = 3 * static_cast<Eigen::Index>(c);
      for (const ContactTangent::Side& side : contacts_[c].sides())
        off.segment<3>(row) += side.columns.transpose() * own[static_cast<std::size_t>(side.fibre)];
      if (!slides[c]) continue;
      off.segment<2>(row + 1) =
          (turning[c] * off.segment<2>(row + 1) + variations_[k].friction * by_friction[c].tail<2>()).eval();
    }
    const VectorX impulse = solver.solve(-off);
    for (std::size_t c = 0; c < contacts_.size(); ++c) {
      const Vector3 r = impulse.segment<3>(3 * static_cast<Eigen::Index>(c));
      for (std::size_t s = 0; s < contacts_[c].sides().size(); ++s)
        own[static_cast<std::size_t>(contacts_[c].sides()[s].fibre)] += system.solved[c][s] * r;
    }
  }
  velocity_change_ = std::move(changes);
}

/// Notes how near contacts are to another case, and biases that are not those of a gap and a slip.
void TangentMotion::watch(const Noted& pass) {
  std::vector<int> cases{0, 0};
  const double speeds = pass.q.size() > 0 ? pass.q.lpNorm<Eigen::Infinity>() : 0.0;
  double largest = 0.0;
  for (Eigen::Index at = 0; at < pass.impulse.size(); at += 3) largest = std::max(largest, pass.impulse[at]);
  for (std::size_t i = 0; i < pass.contacts.size(); ++i) {
    const auto at = 3 * static_cast<Eigen::Index>(i);
    const Vector3 r = pass.impulse.segment<3>(at), u = pass.velocity.segment<3>(at);
    const double mu = pass.mu[at / 3];
    double off = 1.0;
    switch (friction::classify(r, mu)) {
      case friction::ContactCase::open:
        off = speeds > 0.0 ? u[0] / speeds : 1.0;
        break;
      case friction::ContactCase::stick:
        ++cases[0];
        off = std::min(r[0] / largest, 1.0 - friction::tangential_norm(r) / (mu * r[0]));
        break;
      case friction::ContactCase::slide:
        ++cases[1];
        off = std::min(r[0] / largest, mu > 0.0 && speeds > 0.0 ? friction::tangential_norm(u) / speeds : 1.0);
        break;
    }
    off = std::max(0.0, off);
    if (off >= report_.nearest_kink) continue;
    report_.nearest_kink = off;
    report_.kink_time = part_.span.end;
  }
  if (!cases_.empty()) report_.changes += std::abs(cases[0] - cases_[0]) + std::abs(cases[1] - cases_[1]);
  cases_ = std::move(cases);
}

/// The velocities at the end: those whose field is nearest to that of the pass,
///   int J^T rho (w - w_end) ds = 0.
void TangentMotion::carry_to_end(const Noted& pass) {
  for (std::size_t f = 0; f < fibres(); ++f) {
    end_[f] = shape_after(f, part_.end_rods[f], pass.velocities);
    const ShapeTangent &from = *at_[f], &to = *end_[f];
    const VectorX& v = pass.velocities[f];
    const VectorX last = rods::generalised_velocity(*to.rod, part_.end_rods[f]);
    const rods::FieldMotion motion = from.field->motion(v, roots_[f]), end = to.field->motion(last, roots_[f]);
    const rods::TwistColumns lost = to.field->weighted(from.field->samples(motion) - to.field->samples(end), 1.0, 0.0);
    VectorX momentum;
    if (!masses_[f]->factor(*to.rod, {}, VectorX::Zero(to.rod->dof()), momentum))
      refuse("a mass matrix that is singular");
    for (std::size_t k = 0; k < count(); ++k) {
      const rods::FieldMotion &along = from.along[k], &there = to.along[k];
      const rods::TwistColumns change =
          from.field->samples_change(motion, from.field->change(v, roots_[f], along), along) +
          from.field->samples(from.field->motion(velocity_change_[k][f], {})) -
          to.field->samples_change(end, to.field->change(last, roots_[f], there), there);
      VectorX own = to.field->force_change(lost, to.field->weighted(change, 1.0, 0.0), there);
      masses_[f]->solve(own);
      changes_[k][f] = {to.displacement[k], to.root[k], std::move(own)};
    }
  }
}

/// What contacts that stick have slipped, as note_slips() has it. `end`: the pass with its slips at the end.
void TangentMotion::carry_slips(const Noted& pass, const Pass& end) {
  const assembly::Instant instant = passes_.data() == &pass ? assembly::Instant::begin : assembly::Instant::end;
  std::vector<std::vector<Vector3>> next(count());
  std::size_t c = 0;
  for (std::size_t i = 0; i < pass.contacts.size(); ++i) {
    while (c < loaded_.size() && loaded_[c] < i) ++c;
    const bool loaded = c < loaded_.size() && loaded_[c] == i;
    const Vector3 impulse = pass.impulse.segment<3>(3 * static_cast<Eigen::Index>(i));
    if (impulse.isZero(0.0) && pass.contacts[i].gap > part_.options.margin) continue;  // as warm_contacts()
    for (std::size_t k = 0; k < count(); ++k) {
      Vector3 change = Vector3::Zero();
      if (loaded && pass.slips[i] && end.slips[i]) {
        const ContactChange& of = contact_change_[k][c];
        const Vector3 normal = pass.contacts[i].frame.col(0), normal_change = of.turned.cross(normal);
        const Vector3 slip = *end.slips[i];
        const ContactTangent::Way way = contacts_[c].way(start_, end_, of, k, part_.motion, instant);
        const Vector3 all = slip_along(pass, i, k, of) + way.change;
        // Its part along the surface.
        change = all - normal * normal.dot(all) - normal * normal_change.dot(slip) -
                 normal_change * normal.dot(way.value);
      }
      next[k].push_back(change);
    }
  }
  slip_change_ = std::move(next);
}

void TangentMotion::accept(const Pass& pass, bool slowed) {
  if (slowed) refuse("a step that gained energy and was slowed");
  std::size_t last = passes_.size();
  while (last > 0 && passes_[last - 1].velocities != pass.velocities) --last;
  if (last == 0) {
    refuse("a step that ended in none of its passes");
    return;
  }
  begin_fibres();
  velocity_change_.assign(count(), {});
  for (std::size_t i = 0; i < last; ++i) linearise(passes_[i], i > 0 ? &passes_[i - 1] : nullptr);
  const Noted& kept = passes_[last - 1];
  watch(kept);
  carry_to_end(kept);
  carry_slips(kept, pass);
}

}  // namespace tresse::dynamics::detail
