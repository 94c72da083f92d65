#include <cmath>
#include <optional>
#include <utility>

#include <Eigen/QR>

#include <tresse/dynamics/detail/tangent_motion.hpp>
#include <tresse/friction/coulomb.hpp>

// The derivative of one pass: docs/theory/gradients.md, "The pass".
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

}  // namespace

struct TangentMotion::Linearised {
  std::vector<std::vector<MatrixX>> solved;  ///< (loaded contacts) (sides) M^-1 J^T E
  MatrixX W, A;                              ///< (3 loaded, 3 loaded)
  Eigen::ColPivHouseholderQR<MatrixX> solver;
  /// (loaded contacts) of what slides: how its tangential row turns with the slip. None: it sticks, T is the identity
  std::vector<std::optional<Eigen::Matrix2d>> turning;
  VectorX by_friction;            ///< (3 loaded) for a relative change of the coefficients
  std::vector<FibreTerms> terms;  ///< (fibres)
};

/// The contacts of a pass that carry a force, and what their sides are.
void TangentMotion::take_contacts(const Noted& pass) {
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
    // Overlaps that are corrected slowly, contacts of a line and rebounds want another gap than none.
    const double h = part_.motion.dt;
    double wanted = pass.contacts[i].gap / h;
    if (passes_.data() != &pass)
      wanted -= contacts_.back().velocity((&pass - 1)->velocities, roots_, part_.motion, assembly::Instant::end)[0];
    constexpr double rounding = 1e-8;
    if (std::abs(wanted - pass.bias[i][0]) > rounding * pass.q.lpNorm<Eigen::Infinity>())
      refuse("an overlap at the start, a line of contacts or a rebound");
  }
}

/// Their W, and what it is made of.
void TangentMotion::take_operator(Linearised& out) const {
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

/// What the equation of a fibre is made of at the velocities of a pass, whatever is varied.
void TangentMotion::take_terms(const Noted& pass, Linearised& out) const {
  const double h = part_.motion.dt;
  out.terms.resize(fibres());
  for (std::size_t f = 0; f < fibres(); ++f) {
    FibreTerms& own = out.terms[f];
    const rods::ChainField& field = *at_[f]->field;
    const VectorX& v = pass.velocities[f];
    own.motion = field.motion(v, roots_[f]);
    const rods::TwistColumns w = field.samples(own.motion);
    own.gained = w - carried_[f] - field.uniform(h * assembly::gravity_of(part_.world));
    own.resisted = w - field.uniform(part_.air);
    own.drag = h * assembly::drag_of(part_.world, static_cast<int>(f));
    own.forces = field.weighted(own.gained, 1.0, 0.0) + field.weighted(own.resisted, 0.0, own.drag);
    own.strained = (damping_times_[f] + h) * v +
                   padded(*at_[f]->rod, part_.start_rods[f].coordinates - at_[f]->rod->rest_curvature());
  }
}

/// Rate of change of what a fibre's equation lacks,
///   int J^T (rho (w - w_0 - h g) + h c (w - wind)) ds + h K (eta v + q_0 + h v - q_rest),
/// at the same velocities.
VectorX TangentMotion::fibre_residual_change(const FibreTerms& terms, std::size_t f, const VectorX& v,
                                             std::size_t k) const {
  const double h = part_.motion.dt;
  const ShapeTangent& shape = *at_[f];
  const rods::ChainField& field = *shape.field;
  const rods::FieldMotion& along = shape.along[k];
  const rods::Rod& rod = *shape.rod;
  static const FibreVariation none;
  const FibreVariation* given = variation_of(k, f);
  const FibreVariation& own = given != nullptr ? *given : none;
  const rods::TwistColumns w_change = field.samples_change(terms.motion, field.change(v, roots_[f], along), along);
  rods::TwistColumns changes =
      field.weighted(w_change - carried_change_[f][k] - field.uniform(h * variations_[k].gravity), 1.0, 0.0);
  if (own.density != 0.0) changes += field.weighted(terms.gained, own.density, 0.0);
  if (terms.drag != 0.0) changes += field.weighted(w_change - field.uniform(variations_[k].wind), 0.0, terms.drag);
  if (own.drag != 0.0) changes += field.weighted(terms.resisted, 0.0, h * own.drag);
  VectorX out = field.force_change(terms.forces, changes, along);
  VectorX elastic = by_component(rod, own.stiffness, terms.strained) + own.damping_time * v +
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

void TangentMotion::factor_matrices() {
  const double h = part_.motion.dt;
  for (std::size_t f = 0; f < fibres(); ++f) {
    VectorX momentum;
    const double drag = assembly::implicit_drag(part_.world, static_cast<int>(f));
    if (!matrices_[f]->factor(*at_[f]->rod, {h * h, h, h * drag}, VectorX::Zero(at_[f]->rod->dof()), momentum))
      refuse("a matrix that is not positive definite");
  }
}

/// The slips of a pass are those of the warm contacts that it began with: warm_contacts() of the pass before, or those
/// of the state.
void TangentMotion::take_slips(const Noted& pass, const Noted* previous) {
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
}

/// What is said of each impulse: nothing moves where it sticks, it is on the cone and against the slip where it slides.
void TangentMotion::take_cases(const Noted& pass, Linearised& out) {
  out.A = out.W;
  out.by_friction.setZero(out.W.rows());
  out.turning.assign(contacts_.size(), std::nullopt);
  for (std::size_t c = 0; c < contacts_.size(); ++c) {
    const auto row = 3 * static_cast<Eigen::Index>(c), at = 3 * static_cast<Eigen::Index>(loaded_[c]);
    const Vector3 r = pass.impulse.segment<3>(at), u = pass.velocity.segment<3>(at);
    const double mu = pass.mu[at / 3];
    if (friction::classify(r, mu) != friction::ContactCase::slide) continue;
    const double scale = out.W.block<3, 3>(row, row).trace() / 3.0;  // rows in the units of the others
    const Eigen::Vector2d slip = u.tail<2>();
    const double speed = slip.norm();
    if (mu > 0.0 && !(speed > 0.0)) refuse("a contact at the edge of its cone that does not slide");
    const Eigen::Vector2d along = speed > 0.0 ? Eigen::Vector2d(slip / speed) : Eigen::Vector2d::Zero();
    Eigen::Matrix2d turning = Eigen::Matrix2d::Zero();
    if (speed > 0.0) turning = scale * mu * r[0] / speed * (Eigen::Matrix2d::Identity() - along * along.transpose());
    out.A.middleRows<2>(row + 1) = turning * out.W.middleRows<2>(row + 1);
    out.A.block<2, 2>(row + 1, row + 1) += scale * Eigen::Matrix2d::Identity();
    out.A.block<2, 1>(row + 1, row) += scale * mu * along;
    out.by_friction.segment<2>(row + 1) = scale * mu * r[0] * along;
    out.turning[c] = turning;
  }
  if (out.A.rows() > 0) out.solver.compute(out.A);
}

/// How the velocities of a pass change along a variation.
std::vector<VectorX> TangentMotion::changed_velocities(const Noted& pass, const Noted* previous,
                                                       const Linearised& system, std::size_t variation) {
  std::vector<VectorX> out;
  for (std::size_t f = 0; f < fibres(); ++f)
    out.push_back(-fibre_residual_change(system.terms[f], f, pass.velocities[f], variation));
  contact_change_[variation].clear();
  for (std::size_t c = 0; c < contacts_.size(); ++c) {
    const Vector3 r = pass.impulse.segment<3>(3 * static_cast<Eigen::Index>(loaded_[c]));
    contact_change_[variation].push_back(contacts_[c].change(variation));
    contacts_[c].add_impulse_change(r, contact_change_[variation][c], variation, out);
  }
  for (std::size_t f = 0; f < fibres(); ++f) matrices_[f]->solve(out[f]);
  if (contacts_.empty()) return out;
  VectorX off(system.A.rows());
  take_biases(pass, previous, variation, off);
  for (std::size_t c = 0; c < contacts_.size(); ++c) {
    const auto row = 3 * static_cast<Eigen::Index>(c);
    for (const ContactTangent::Side& side : contacts_[c].sides())
      off.segment<3>(row) += side.columns.transpose() * out[static_cast<std::size_t>(side.fibre)];
    if (system.turning[c]) off.segment<2>(row + 1) = (*system.turning[c] * off.segment<2>(row + 1)).eval();
  }
  const VectorX impulse = system.solver.solve(-off - variations_[variation].friction * system.by_friction);
  for (std::size_t c = 0; c < contacts_.size(); ++c) {
    const Vector3 r = impulse.segment<3>(3 * static_cast<Eigen::Index>(c));
    for (std::size_t s = 0; s < contacts_[c].sides().size(); ++s)
      out[static_cast<std::size_t>(contacts_[c].sides()[s].fibre)] += system.solved[c][s] * r;
  }
  return out;
}

/// The derivative of a pass: velocity_change_ becomes that of its velocities.
void TangentMotion::linearise(const Noted& pass, const Noted* previous) {
  if (!pass.whole) refuse("a contact that was linearised again by itself");
  take_shapes(pass, previous == nullptr);
  factor_matrices();
  take_slips(pass, previous);
  Linearised system;
  take_contacts(pass);
  take_operator(system);
  take_cases(pass, system);
  take_terms(pass, system);
  contact_change_.assign(count(), {});
  std::vector<std::vector<VectorX>> changes;
  for (std::size_t k = 0; k < count(); ++k) changes.push_back(changed_velocities(pass, previous, system, k));
  velocity_change_ = std::move(changes);
}

}  // namespace tresse::dynamics::detail
