#include <algorithm>
#include <cmath>
#include <tuple>

#include <tresse/dynamics/detail/step_pass.hpp>

namespace tresse::dynamics::detail {
namespace {

/// A contact of the last solution, by its bodies and the material of a.
struct Known {
  int body_a, body_b;
  double s_a;
  const WarmContact* contact;
  bool used = false;

  std::tuple<int, int, double> key() const { return {body_a, body_b, s_a}; }
};

}  // namespace

void Engine::Pass::take_forces(const std::vector<WarmContact>& warm, double dt) {
  const contact::Geometry& geometry = at->geometry;
  std::vector<Known> known;
  known.reserve(warm.size());
  for (const WarmContact& w : warm) {
    const contact::OnPiece on_a = contact::piece_at(geometry, w.place.body_a, w.place.element_a, w.place.s_a);
    const double s = contact::material_at(geometry.pieces[on_a.piece], on_a.s);
    known.push_back({w.place.body_a, w.place.body_b, s, &w});
  }
  std::sort(known.begin(), known.end(), [](const Known& x, const Known& y) { return x.key() < y.key(); });
  guess = VectorX::Zero(3 * static_cast<Eigen::Index>(contacts.size()));
  for (std::size_t i = 0; i < contacts.size(); ++i) {
    const contact::Piece& a = geometry.pieces[contacts[i].a];
    const double s = contact::material_at(a, contacts[i].s_a);
    const double near = 10.0 * a.radius;
    const Known first{a.body, contact::body_at(geometry, contacts[i].b), s - near, nullptr};
    Known* best = nullptr;
    for (auto k = std::lower_bound(known.begin(), known.end(), first,
                                   [](const Known&x, const Known&y) { return x.key() < y.key(); });
         k != known.end() && k->body_a == first.body_a && k->body_b == first.body_b && k->s_a < s + near; ++k) {
      if (!k->used && (!best || std::abs(k->s_a - s) < std::abs(best->s_a - s))) best = &*k;
    }
    if (!best) continue;
    best->used = true;
    guess.segment<3>(3 * static_cast<Eigen::Index>(i)) = dt * (contacts[i].frame.transpose() * best->contact->force);
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

}  // namespace tresse::dynamics::detail
