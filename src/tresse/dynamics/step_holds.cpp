#include <algorithm>
#include <cmath>

#include <tresse/dynamics/detail/step_pass.hpp>
#include <tresse/dynamics/stepper.hpp>

namespace tresse::dynamics {

/// Whether both sides of a contact are obstacles or within a tenth of a radius of a clamped root or a held point: it
/// can't give way, and what little it gives would make its force any size. Hair that grows out of a head touches it so.
bool Stepper::cannot_give_way(const contact::Geometry& geometry, const contact::Contact& contact) const {
  const auto held = [&](int index, double s) {
    if (index < 0 || !geometry.pieces[index].moves()) return true;
    if (geometry.pieces[index].free) return false;
    const contact::Piece& piece = geometry.pieces[index];
    const double near = 0.1 * piece.radius;
    const double along = contact::material_at(piece, s);
    if (along < near && clamped(world_.fibres[piece.body])) return true;
    const std::vector<int>& holds = motion_.holds[motion_.forest.tree_of[piece.body]].holds;
    return std::any_of(holds.begin(), holds.end(), [&](int i) {
      const assembly::Hold& hold = world_.holds[i];
      const double at = assembly::held_arc_length(world_, hold);
      return hold.fibre == piece.body && hold.slide.isZero(0.0) && std::abs(along - at) < near;
    });
  };
  return held(contact.a, contact.s_a) && held(contact.b, contact.s_b);
}

void Stepper::linearise_holds(int t) {
  if (held(t)) assembly::linearise_holds(world_, motion_, t, end_time_);
}

void Stepper::keep_holds(const std::vector<VectorX>* reached) {
  for (int t = 0; t < static_cast<int>(motion_.holds.size()); ++t) {
    if (held(t)) assembly::keep_holds(world_, motion_, t, end_time_, reached);
  }
}

/// Velocities of a held tree without what holds it, as it was last linearised.
void Stepper::let_go(int t) {
  if (!held(t)) return;
  assembly::set_rod_velocities(world_, motion_.forest.trees[t], motion_.roots[t], free_[t], true, motion_.velocities);
}

void Stepper::keep_free_velocity(int t) {
  if (held(t)) free_[t] = assembly::tree_velocity(world_, motion_.forest.trees[t], motion_.velocities);
}

void Stepper::find_hold_impulses(Pass& pass) const {
  for (int t = 0; t < static_cast<int>(motion_.holds.size()); ++t) {
    if (!held(t)) continue;
    const VectorX contact =
        assembly::contact_impulse(world_, pass.at->geometry, pass.contacts, pass.solution.impulse, motion_, t);
    const auto own = assembly::hold_impulses(world_, motion_, t, contact);
    pass.holds.insert(pass.holds.end(), own.begin(), own.end());
  }
}

/// Whether something holds a fibre whose elasticity is not linear.
bool Stepper::iterates_holds() const {
  for (int t = 0; t < static_cast<int>(motion_.holds.size()); ++t) {
    if (held(t) && !linear(t)) return true;
  }
  return false;
}

/// How far off held points are where the rods are, relative to the fibre's length.
double Stepper::hold_error(const Pass& pass) const {
  double largest = 0.0;
  for (const assembly::HoldImpulse& held : pass.holds) {
    const double error = assembly::hold_error(world_, held, end_time_, stage());
    largest = std::max(largest, error / world_.fibres[world_.holds[held.hold].fibre].rod->length());
  }
  return largest;
}

}  // namespace tresse::dynamics
