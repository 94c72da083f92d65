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

}  // namespace tresse::dynamics::detail
