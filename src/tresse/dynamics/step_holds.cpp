#include <algorithm>
#include <cmath>

#include <tresse/dynamics/detail/engine.hpp>
#include <tresse/dynamics/detail/step_pass.hpp>

namespace tresse::dynamics::detail {

/// Whether both sides of a contact are obstacles or within a tenth of a radius of a clamped root or a held point: it
/// can't give way, and what little it gives would make its force any size. Hair that grows out of a head touches it so.
bool Engine::cannot_give_way(const contact::Geometry& geometry, const contact::Contact& contact) const {
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
      const double at = assembly::held_arc_length(start_, hold);
      return hold.fibre == piece.body && hold.compliance == 0.0 && hold.slide.isZero(0.0) &&
             std::abs(along - at) < near;
    });
  };
  return held(contact.a, contact.s_a) && held(contact.b, contact.s_b);
}

void Engine::linearise_holds(const assembly::Kinematics& at, int t) {
  if (held(t)) assembly::linearise_holds(at, motion_, t, end_time_);
}

void Engine::keep_holds(const assembly::Kinematics& at, const std::vector<VectorX>* reached) {
  for (int t = 0; t < static_cast<int>(motion_.holds.size()); ++t) {
    if (held(t)) assembly::keep_holds(at, motion_, t, end_time_, reached);
  }
}

/// Velocities of a held tree without what holds it, as it was last linearised.
void Engine::let_go(int t) {
  if (!held(t)) return;
  assembly::set_rod_velocities(world_, motion_.forest.trees[t], motion_.roots[t], free_[t], true, motion_.velocities);
}

void Engine::keep_free_velocity(int t) {
  if (held(t)) free_[t] = assembly::tree_velocity(world_, motion_.forest.trees[t], motion_.velocities);
}

void Engine::find_hold_impulses(const assembly::Kinematics& at, Pass& pass) const {
  for (int t = 0; t < static_cast<int>(motion_.holds.size()); ++t) {
    if (!held(t)) continue;
    const VectorX contact =
        assembly::contact_impulse(at, pass.at->geometry, pass.contacts, pass.solution.impulse, motion_, t);
    const auto own = assembly::hold_impulses(world_, motion_, t, contact);
    pass.holds.insert(pass.holds.end(), own.begin(), own.end());
  }
}

/// Whether a pass of a tree without a load leaves its matrix and its rows as they were and corrects held points alone.
/// Rows that turn, or a tip that does, as that of a limp cord, leave a miss that no such pass changes.
bool Engine::corrects_alone(int t, bool slow) const {
  return carries(t) ? !slow : options_.scheme == Scheme::semi_implicit && linear(t);
}

/// Whether something holds a fibre whose elasticity is not linear.
bool Engine::iterates_holds() const {
  for (int t = 0; t < static_cast<int>(motion_.holds.size()); ++t) {
    if (held(t) && !linear(t)) return true;
  }
  return false;
}

/// How far off held points are at the end: the farthest, and the farthest relative to its fibre's length.
Engine::HoldMiss Engine::hold_miss(const Pass& pass) const {
  HoldMiss out;
  for (const assembly::HoldImpulse& held : pass.holds) {
    const Vector3& left = motion_.offsets[held.hold].left;
    const double error = assembly::hold_error(end_, held, end_time_, stage(), left);
    out.farthest = std::max(out.farthest, error);
    out.relative = std::max(out.relative, error / end_.rod(world_.holds[held.hold].fibre).length());
  }
  return out;
}

/// Before held trees are linearised where a pass ends. A taut fibre turns the way that the last linearisation lets it,
/// and overshoots: where passes are `slow` to bring held points home, its next linearisation goes a share of the way
/// alone, by the secant of the last two (Aitken); passes that corrected held points alone tell no secant. Whether that
/// is so of a tree, whose velocities in `pass` then lead there; `predicted` are then those that the pass had.
bool Engine::relax(bool slow, Pass& pass, std::vector<VectorX>& predicted) {
  for (int t = 0; t < static_cast<int>(motion_.holds.size()); ++t) {
    const assembly::Tree& tree = motion_.forest.trees[t];
    if (!held(t) || branched(tree)) continue;
    Relaxation& own = relaxed_[t];
    VectorX& v = pass.velocities[tree.fibres.front()];
    if (own.towards.size() == 0) own.towards.setZero(v.size());
    const VectorX change = v - own.towards;
    double share = 1.0;
    if (slow && own.change.size() > 0) {
      constexpr double least = 0.05;
      const assembly::TreeMatrix& matrix = motion_.matrices[t];
      const VectorX turn = change - own.change;
      const double size = matrix.squared_norm(turn);
      const double along = 0.5 * (matrix.squared_norm(turn + own.change) - size - matrix.squared_norm(own.change));
      if (size > 0.0) share = std::clamp(-own.share * along / size, least, 1.0);
    }
    own = {own.towards + share * change, own.corrected ? VectorX() : change, share};
    if (share == 1.0) continue;
    if (predicted.empty()) predicted = pass.velocities;
    v = own.towards;
  }
  return !predicted.empty();
}

/// Where a pass ends so far from where points are held that it tells nothing, as where what holds and what pushes
/// contradict each other, the tree stays where it is, at rest. Whether there is such a tree.
bool Engine::stop_lost(Pass& pass) const {
  constexpr double far = 0.01;  // of the length
  std::vector<int> lost;
  for (const assembly::HoldImpulse& held : pass.holds) {
    const int fibre = world_.holds[held.hold].fibre;
    const double error = assembly::hold_error(end_, held, end_time_, stage(), motion_.offsets[held.hold].left);
    if (error > far * end_.rod(fibre).length()) lost.push_back(motion_.forest.tree_of[fibre]);
  }
  for (const int t : lost) stand_still(t, pass);
  return !lost.empty();
}

/// Makes a pass one that leaves a tree where it is, at rest and without a load.
void Engine::stand_still(int t, Pass& pass) const {
  const auto on_tree = [&](int piece) {
    return piece >= 0 && pass.at->geometry.pieces[piece].fibre &&
           motion_.forest.tree_of[pass.at->geometry.pieces[piece].owner] == t;
  };
  for (const int f : motion_.forest.trees[t].fibres) pass.velocities[f].setZero();
  for (std::size_t i = 0; i < pass.contacts.size(); ++i) {
    if (on_tree(pass.contacts[i].a) || on_tree(pass.contacts[i].b))
      pass.solution.impulse.segment<3>(3 * static_cast<Eigen::Index>(i)).setZero();
  }
  for (assembly::HoldImpulse& held : pass.holds) {
    if (motion_.forest.tree_of[world_.holds[held.hold].fibre] == t) held = {.hold = held.hold};
  }
}

/// The same of all trees whose roots nothing moves and whose elasticity is linear, which can always go on from there;
/// the friction problem counts as unsolved. False where none is, or where what is left cannot be gone on with.
bool Engine::stand_still(Pass& pass) const {
  bool any = false;
  for (int t = 0; t < static_cast<int>(motion_.forest.trees.size()); ++t) {
    if (driven(t) || !linear(t)) continue;
    stand_still(t, pass);
    any = true;
  }
  if (!any) return false;
  pass.solution.status = Status::not_finite;
  pass.solution.scaled_error = pass.solution.natural_map_error = 1.0;
  return sound(pass.velocities);
}

/// How far off held points are at the start. As of overlaps, a part of a step undoes its share alone, and a step no
/// more than a thousandth of the length: all of it in the shortest part would take violent velocities.
void Engine::note_hold_offsets() {
  motion_.offsets.assign(world_.holds.size(), {});
  for (const assembly::TreeHold& tree : motion_.holds) {
    for (const int i : tree.holds) {
      const double most = 1e-3 * start_.rod(world_.holds[i].fibre).length();
      motion_.offsets[i] = assembly::hold_offset(start_, i, end_time_ - motion_.dt, state_.hold_forces[i],
                                                 motion_.dt / options_.dt, most);
    }
  }
}

/// (holds) on their fibres. [N]
std::vector<Vector3> Engine::hold_forces(const Pass& pass) const {
  std::vector<Vector3> out(world_.holds.size(), Vector3::Zero());
  for (const assembly::HoldImpulse& held : pass.holds) out[held.hold] = held.linear / stage();
  return out;
}

/// What a hold does over this part: the work of leading it, and of bringing its point to
/// where it is led. A point that was off can bring that much back, and a hold that gave what it had stored and no
/// longer stores: more would be energy from nothing.
double Engine::hold_work(const assembly::HoldImpulse& impulse, const Pass& pass) const {
  const assembly::Hold& hold = world_.holds[impulse.hold];
  const auto work = [&](const Twist& velocity) {
    return (impulse.linear.dot(velocity.linear) + impulse.angular.dot(velocity.angular)) / options_.theta;
  };
  const assembly::HoldOffset& offset = motion_.offsets[impulse.hold];
  const double length = end_.rod(hold.fibre).length();
  const double undone = std::min((offset.off - offset.left).norm(), hold_lost * length);
  const Vector3 force = impulse.linear / stage();
  const double stores = 0.5 * hold.compliance * force.squaredNorm();
  const double back = force.norm() * undone + offset.stored - stores;
  const double led = work(assembly::led_velocity(hold, end_time_ - motion_.dt, end_time_));
  const double done = work(assembly::held_velocity(end_, hold, pass.velocities[hold.fibre]));
  return led + std::min(done - led, back);
}

}  // namespace tresse::dynamics::detail
