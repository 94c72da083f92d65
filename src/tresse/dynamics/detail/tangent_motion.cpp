#include <tresse/dynamics/detail/tangent_motion.hpp>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <utility>

#include <tresse/base/errors.hpp>
#include <tresse/friction/coulomb.hpp>
#include <tresse/math/rotations.hpp>

namespace tresse::dynamics::detail {
namespace {

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
        if (of->curvature.size() > 0) change.displacement.tail(rod.coordinate_count()) = of->curvature;
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
  nodes_.resize(fibres());
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
  noted.whole = pass.turned == 0 && (pass.instants.empty() ||
                                     std::all_of(pass.instants.begin(), pass.instants.end(),
                                                 [&](assembly::Instant at) { return at == pass.instants.front(); }));
  passes_.push_back(std::move(noted));
}

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
    constexpr double margin = 0.25;  // no element turns by more in a step [rad]
    nodes_[f] = rods::ChainField::nodes_for(rod, margin);
    start_[f] =
        std::make_shared<ShapeTangent>(rod, part_.start_rods[f], std::move(displacements), std::move(roots), nodes_[f]);
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
    displacements.push_back(
        advanced(*start.rod, start.displacement[k], velocities[f], velocity_change_[k][f], part_.motion.dt));
  return std::make_shared<ShapeTangent>(*start.rod, at, std::move(displacements), start.root, nodes_[f]);
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

/// Notes how near contacts are to another case, and how many changed it.
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
    if (rods::ChainField::nodes_for(*end_[f]->rod, 0.0) > nodes_[f])
      refuse("an element that turned by a quarter of a radian");
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
        change =
            all - normal * normal.dot(all) - normal * normal_change.dot(slip) - normal_change * normal.dot(way.value);
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
