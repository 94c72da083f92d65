#include <algorithm>
#include <cmath>
#include <tuple>

#include <Eigen/Geometry>

#include <tresse/dynamics/detail/fibre_loop.hpp>
#include <tresse/dynamics/detail/step_pass.hpp>

// The stepper's books of energy and what follows from them: docs/theory/energy.md, "Books".
namespace tresse::dynamics::detail {
namespace {

/// int rho S r ds
Vector3 first_moment(const rods::Rod& rod) {
  Vector3 out;
  for (int axis = 0; axis < 3; ++axis) out[axis] = -rod.energies(Vector3::Unit(axis)).gravity;
  return out;
}

/// What the rod's momentum is beyond that of sampled velocities in its shape, about the world origin.
void gain_momentum(const rods::Rod& rod, const rods::MaterialMotion& before, Twist& out) {
  Vector3 linear, angular;
  rod.momentum(out.linear, out.angular);
  rod.material_momentum(before, linear, angular);
  out.linear -= linear;
  out.angular -= angular;
}

}  // namespace

/// Begins the balance of a carried tree, `at` the shape in which a pass was linearised, with the velocity of that pass;
/// material_ holds the velocities of the start.
void Engine::begin_balance(const assembly::Kinematics& at, int t) {
  for (const int f : motion_.forest.trees[t].fibres) {
    FibreBalance& own = carried_[f];
    own = {};
    const rods::Rod& rod = at.rod(f);
    if (world_.fibres[f].drag > 0.0 || driven(t)) own.motion = rod.motion();
    if (!driven(t)) continue;
    own.first_moment = first_moment(rod);
    gain_momentum(rod, material_[f], own.gained);
  }
}

/// Ends it.
void Engine::end_balance(int t) {
  if (!driven(t)) return;
  for (const int f : motion_.forest.trees[t].fibres) gain_momentum(end_.rod(f), pass_material_[f], carried_[f].carried);
}

/// Of the fibres and free bodies where they are.
rods::RodEnergies Engine::energies_of(const assembly::Kinematics& at) const {
  std::vector<rods::RodEnergies> of_fibres(world_.fibres.size());
  for_each_fibre(of_fibres.size(),
                 [&](std::size_t f) { of_fibres[f] = at.rod(static_cast<int>(f)).energies(world_.gravity); });
  rods::RodEnergies out;
  for (const rods::RodEnergies& own : of_fibres) {
    out.kinetic += own.kinetic;
    out.elastic += own.elastic;
    out.gravity += own.gravity;
  }
  out.kinetic += assembly::kinetic_energy(at);
  out.gravity += assembly::gravity_energy(at);
  return out;
}

bool Engine::grows(int fibre) const {
  return fibre >= 0 && assembly::grows(world_.fibres[fibre], end_time_ - motion_.dt, end_time_);
}

/// Over this part. After describe_contacts().
Engine::PartWorks Engine::works_of(const Pass& pass) {
  PartWorks out;
  out.growth = growth_work_;
  double bent = 0.0;  // what passes through contacts [J]
  for (std::size_t i = 0; i < pass.contacts.size(); ++i) {
    const contact::Contact& contact = pass.contacts[i];
    const ContactReport& of = contact_reports_[i];
    const auto at = 3 * static_cast<Eigen::Index>(i);
    const Vector3 local = pass.solution.impulse.segment<3>(at) / options_.theta;  // over the whole part
    Vector3 velocity = pass.solution.velocity.segment<3>(at);
    velocity[0] -= pass.bias[i];
    out.contact += local.dot(velocity);
    // A fibre that grew leans into what it touches: what brings it back across is work of growing.
    if (grows(of.a.body.fibre()) || grows(of.b.body.fibre())) out.growth -= local[0] * pass.bias[i];
    double speed = velocity.norm();
    if (of.b.body.kind == BodyKind::obstacle) {
      const Vector3 surface = assembly::surface_velocity(world_, pass.at->geometry, contact, motion_, pass.instants[i]);
      out.obstacles -= (contact.frame * local).dot(surface);
      speed += surface.norm();
    }
    const double push = std::max(0.0, local[0]);
    out.push_out += push * overlaps_.depth_at_start(of.bodies()) / motion_.dt;
    bent += push * speed;
  }
  // A force that grows without bound must not vouch for itself: both stay below what energy there is.
  const double there = energies_.kinetic + energies_.elastic + energy_floor_;
  constexpr double bend = 0.01, most_bend = 0.05;
  out.given_back = std::min(out.push_out, there) + std::min(bend * bent, most_bend * there);
  for (const assembly::HoldImpulse& impulse : pass.holds) out.holds += holds_.work(end_, impulse, pass.velocities);
  out.uncertain = std::abs(out.growth);
  add_root_and_air_work(pass, out);
  return out;
}

/// Energy that this part gained from nothing, if positive. Contact takes energy; what it may give is what pushing out
/// the overlaps of the start needs, and a small share of what passes through it. A contact whose gap is far from linear
/// over the part gives more.
double Engine::gain(const rods::RodEnergies& end, const PartWorks& works) const {
  const double change =
      (end.kinetic - energies_.kinetic) + (end.elastic - energies_.elastic) + (end.gravity - energies_.gravity);
  return change - std::min(works.contact, works.given_back) - works.total();
}

/// Of a part whose end this is: takes what energy it gained from nothing beyond what it may, or has the part cut. Where
/// the shortest part has nothing to take it from, as its shape took the energy, nothing moves in it. `slowed`: whether
/// the velocities at the end are others now.
Engine::SubstepResult Engine::settle_energy(const Span& span, Pass& pass, PartWorks& works, rods::RodEnergies& energies,
                                            StepReport& report, bool& slowed) {
  const auto surplus_of = [&](const rods::RodEnergies& end) {
    return state_.energy_excess + gain(end, works) - allowed_excess(end, works);
  };
  const double surplus = surplus_of(energies);
  slowed = !(surplus <= 0.0);
  if (!slowed) return SubstepResult::accepted;
  // A shorter part is nearer to the truth than a slower one.
  constexpr double much = 0.01, rounding = 1e-6;
  const double there = energies_.kinetic + energies_.elastic + energy_floor_;
  if (!span.shortest && !(surplus <= much * there)) return SubstepResult::cut;
  if (!std::isfinite(surplus)) return SubstepResult::not_finite;
  damp(surplus);
  energies = energies_of(end_);
  const double left = surplus_of(energies);
  if (!span.shortest && left > rounding * surplus) return SubstepResult::cut;
  if (left > there + works.push_out && stand_still(pass)) {
    report.energy_excess = std::max(report.energy_excess, surplus);
    go_to_end(pass);
    carry_to_end(pass);
    describe_contacts(pass);
    works = {};
    energies = energies_of(end_);
  }
  return SubstepResult::accepted;
}

/// What SimulationState::energy_excess may come to at an end: a small part of the energy that moves, what rounding
/// makes of the potential, and what the books leave open.
double Engine::allowed_excess(const rods::RodEnergies& end, const PartWorks& works) const {
  constexpr double small = 2e-7;
  constexpr double rounding = 1e-13;
  const double moving = std::max(end.kinetic + end.elastic, energies_.kinetic + energies_.elastic);
  return small * (moving + energy_floor_) + rounding * std::abs(end.gravity) + works.uncertain;
}

/// Whether the root of a tree is moved.
bool Engine::driven(int t) const {
  const assembly::Fibre& trunk = world_.fibres[motion_.forest.trees[t].fibres.front()];
  return clamped(trunk) && !trunk.root_motion.at_rest();
}

/// Of the trees at the end; those whose root is moved are not free to slow down.
std::vector<Engine::TreeMotion> Engine::motions_of_trees() const {
  std::vector<TreeMotion> out(motion_.forest.trees.size());
  for (std::size_t t = 0; t < out.size(); ++t) {
    const assembly::Tree& tree = motion_.forest.trees[t];
    out[t].free_to_slow = !driven(static_cast<int>(t));
    if (!out[t].free_to_slow) continue;
    Vector3 momentum = Vector3::Zero();
    double mass = 0.0;
    for (const int f : tree.fibres) {
      const rods::Rod& rod = end_.rod(f);
      Vector3 linear, angular;
      rod.momentum(linear, angular);
      momentum += linear;
      mass += rod.mass();
      out[t].kinetic += rod.energies(Vector3::Zero()).kinetic;
    }
    if (clamped(world_.fibres[tree.fibres.front()])) continue;
    out[t].mean = momentum / mass;
    out[t].kinetic -= 0.5 * momentum.squaredNorm() / mass;
  }
  return out;
}

/// Takes `surplus` from the kinetic energy of the trees at the end, or all that can be taken if that is
/// less: their velocities shrink, but for the mean velocity of free ones.
void Engine::damp(double surplus) {
  const std::vector<TreeMotion> motions = motions_of_trees();
  double all = 0.0;
  for (const TreeMotion& motion : motions) all += motion.kinetic;
  if (!(all > 0.0)) return;
  const double scale = std::sqrt(std::max(0.0, 1.0 - surplus / all));
  for (std::size_t t = 0; t < motions.size(); ++t) {
    if (!motions[t].free_to_slow) continue;
    const assembly::Tree& tree = motion_.forest.trees[t];
    for (const int f : tree.fibres) {
      rods::RodState& state = end_rods_[f];
      state.rates *= scale;
      if (clamped(world_.fibres[f])) continue;
      state.root_velocity.linear = motions[t].mean + scale * (state.root_velocity.linear - motions[t].mean);
      state.root_velocity.angular *= scale;
    }
    assembly::update_tree(end_, tree, end_rods_);
  }
}

/// Work of the air and of moving roots over this part of the step. The root's share is what the balance of momentum of
/// its tree leaves. Of carried trees the books are
/// those of the equations that were solved, of others they are of first order.
void Engine::add_root_and_air_work(const Pass& pass, PartWorks& into) {
  balances_.assign(world_.fibres.size(), {});
  for_each_fibre(balances_.size(), [&](std::size_t f) {
    const int tree = motion_.forest.tree_of[f];
    if (world_.fibres[f].drag <= 0.0 && !driven(tree)) return;
    balances_[f] = carries(tree) ? carried_[f] : balance_of(static_cast<int>(f));
  });
  const auto add = [&](int tree, double work) {
    into.roots_and_air += work;
    if (!carries(tree)) into.uncertain += std::abs(work);
  };
  for (std::size_t f = 0; f < world_.fibres.size(); ++f) {
    const double drag = world_.fibres[f].drag;
    const rods::RodMotion& motion = balances_[f].motion;
    if (drag > 0.0) add(motion_.forest.tree_of[f], -motion_.dt * drag * (motion.square - air_.dot(motion.velocity)));
  }
  for (int t = 0; t < static_cast<int>(motion_.forest.trees.size()); ++t) {
    if (driven(t)) add(t, root_work(t, pass));
  }
}

/// Of a fibre between the state and the end.
Engine::FibreBalance Engine::balance_of(int f) {
  const rods::Rod& rod = end_.rod(f);
  FibreBalance out;
  out.motion = mean_motion(f);
  out.first_moment = first_moment(rod);
  Vector3 linear, angular;
  rod.momentum(out.gained.linear, out.gained.angular);
  start_.rod(f).update(state_.rods[f]);
  start_.rod(f).momentum(linear, angular);
  out.gained.linear -= linear;
  out.gained.angular -= angular;
  return out;
}

/// Of a rod at the end that moves with the mean velocity of this part.
rods::RodMotion Engine::mean_motion(int f) {
  if (options_.theta == 1.0) return end_.rod(f).motion();
  rods::Rod& rod = trial_->rod(f);
  rods::RodState mean = end_.rod(f).state();
  const VectorX last = rods::generalised_velocity(rod, mean);
  rods::set_generalised_velocity(rod, start_velocities_[f] + options_.theta * (last - start_velocities_[f]), mean);
  rod.update(mean);
  return rod.motion();
}

double Engine::root_work(int t, const Pass& pass) const {
  const assembly::Tree& tree = motion_.forest.trees[t];
  const double dt = motion_.dt;
  Vector3 impulse = Vector3::Zero();
  Vector3 moment = Vector3::Zero();
  Twist carried;  // impulse and moment of carrying the velocity to the end
  for (const int f : tree.fibres) {
    const assembly::Fibre& fibre = world_.fibres[f];
    const FibreBalance& own = balances_[f];
    const Vector3 air = -fibre.drag * (own.motion.velocity - end_.rod(f).length() * air_);
    const Vector3 air_moment = -fibre.drag * (own.motion.angular - own.motion.position.cross(air_));
    impulse += own.gained.linear - dt * (end_.rod(f).mass() * world_.gravity + air);
    moment += own.gained.angular - dt * (own.first_moment.cross(world_.gravity) + air_moment);
    carried.linear += own.carried.linear;
    carried.angular += own.carried.angular;
    for (const ContactReport& contact : contact_reports_) {
      for (const auto& [at, point, sign] : {std::tuple(contact.a.body.fibre(), contact.point_a, -1.0),
                                            std::tuple(contact.b.body.fibre(), contact.point_b, 1.0)}) {
        if (at != f) continue;
        impulse -= sign * dt * contact.force;
        moment -= sign * dt * point.cross(contact.force);
      }
    }
  }
  for (const assembly::HoldImpulse& held : pass.holds) {
    const assembly::Hold& hold = world_.holds[held.hold];
    if (motion_.forest.tree_of[hold.fibre] != t) continue;
    const Vector3 point =
        geometry::position(end_.rod(hold.fibre).piece(hold.piece), assembly::held_parameter(end_, hold));
    impulse -= held.linear / options_.theta;
    moment -= (point.cross(held.linear) + held.angular) / options_.theta;
  }
  const int trunk = tree.fibres.front();
  const rods::RodState& end = end_.rod(trunk).state();
  const auto work = [&](const Vector3& root, const Vector3& linear, const Vector3& angular) {
    return linear.dot(end.root_velocity.linear) + (angular - root.cross(linear)).dot(end.root_velocity.angular);
  };
  const Vector3& linearised = carries(t) ? linearised_rods_[trunk].root.position : end.root.position;
  return work(linearised, impulse, moment) + work(end.root.position, carried.linear, carried.angular);
}

}  // namespace tresse::dynamics::detail
