#include <algorithm>
#include <cmath>

#include <tresse/dynamics/detail/step_pass.hpp>

namespace tresse::dynamics::detail {

void Engine::Pass::take_forces(const assembly::World& world, const std::vector<WarmContact>& warm, double dt) {
  const contact::Geometry& geometry = at->geometry;
  contact::PairIndex known;
  for (std::size_t i = 0; i < warm.size(); ++i) {
    const contact::Place& place = warm[i].place;
    const contact::OnPiece on_a = contact::piece_at(geometry, place.body_a, place.element_a, place.s_a);
    const contact::Piece& a = geometry.pieces[on_a.piece];
    known.add({a.id, assembly::body_of_number(world, place.body_b)}, contact::material_at(a, on_a.s),
              static_cast<int>(i));
  }
  known.sort();
  std::vector<char> used(warm.size(), 0);
  guess = VectorX::Zero(3 * static_cast<Eigen::Index>(contacts.size()));
  for (std::size_t i = 0; i < contacts.size(); ++i) {
    const double s = contact::along_a(geometry, contacts[i]);
    const double near = 10.0 * geometry.pieces[contacts[i].a].radius;
    const contact::PairIndex::Entry* best = nullptr;
    for (const auto& entry : known.near(contact::bodies_of(geometry, contacts[i]), s, near)) {
      const bool nearer = !best || std::abs(entry.s_a - s) < std::abs(best->s_a - s);
      if (nearer && used[static_cast<std::size_t>(entry.index)] == 0) best = &entry;
    }
    if (!best) continue;
    const auto index = static_cast<std::size_t>(best->index);
    used[index] = 1;
    guess.segment<3>(3 * static_cast<Eigen::Index>(i)) = dt * (contacts[i].frame.transpose() * warm[index].force);
  }
}

std::vector<WarmContact> Engine::Pass::forces(double dt, double margin) const {
  std::vector<WarmContact> out;
  for (std::size_t i = 0; i < contacts.size(); ++i) {
    const Vector3 impulse = solution.impulse.segment<3>(3 * static_cast<Eigen::Index>(i));
    if (impulse.isZero(0.0) && contacts[i].gap > margin) continue;
    out.push_back({contact::place_of(at->geometry, contacts[i]), contacts[i].frame * impulse / dt});
  }
  return out;
}

/// Trees that end so far from where they are held that it tells nothing stay where they are, at rest. Whether there are
/// such.
bool Engine::stop_lost(Pass& pass) const {
  const std::vector<int> lost = holds_.lost_trees(end_, pass.holds);
  for (const int t : lost) stand_still(t, pass);
  return !lost.empty();
}

/// Makes a pass one that leaves a tree where it is, at rest and without a load.
void Engine::stand_still(int t, Pass& pass) const {
  const auto on_tree = [&](int piece) {
    return piece >= 0 && pass.at->geometry.pieces[piece].id.is_fibre() &&
           motion_.forest.tree_of[pass.at->geometry.pieces[piece].id.index] == t;
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

}  // namespace tresse::dynamics::detail
