#include <tresse/contact/pair_index.hpp>

#include <algorithm>

namespace tresse::contact {
namespace {

bool is_before(const PairIndex::Entry& x, const PairIndex::Entry& y) {
  if (x.bodies != y.bodies) return x.bodies < y.bodies;
  return x.s_a != y.s_a ? x.s_a < y.s_a : x.index < y.index;
}

}  // namespace

void PairIndex::sort() { std::sort(entries_.begin(), entries_.end(), is_before); }

std::span<const PairIndex::Entry> PairIndex::of(const BodyPair& bodies) const {
  const auto [first, last] = std::equal_range(entries_.begin(), entries_.end(), Entry{bodies},
                                              [](const Entry& x, const Entry& y) { return x.bodies < y.bodies; });
  return {first, last};
}

std::span<const PairIndex::Entry> PairIndex::near(const BodyPair& bodies, double s_a, double reach) const {
  const std::span<const Entry> all = of(bodies);
  const auto below = [](const Entry& x, double s) { return x.s_a < s; };
  const auto first = std::lower_bound(all.begin(), all.end(), s_a - reach, below);
  return {first, std::lower_bound(first, all.end(), s_a + reach, below)};
}

BodyPair bodies_of(const Geometry& scene, const Contact& contact) {
  return {scene.pieces[static_cast<std::size_t>(contact.a)].id, id_at(scene, contact.b)};
}

double along_b(const Geometry& scene, const Contact& contact) {
  return contact.b < 0 ? 0.0 : material_at(scene.pieces[static_cast<std::size_t>(contact.b)], contact.s_b);
}

Along along(const Geometry& scene, const Place& place) {
  const auto material = [&](const OnPiece& on) {
    return material_at(scene.pieces[static_cast<std::size_t>(on.piece)], on.s);
  };
  const OnPiece on_a = piece_at(scene, place.body_a, place.element_a, place.s_a);
  const auto b = static_cast<std::size_t>(place.body_b);
  const bool surface = scene.body_begin[b] == scene.body_begin[b + 1];
  return {.a = on_a.piece,
          .s_a = material(on_a),
          .s_b = surface ? 0.0 : material(piece_at(scene, place.body_b, place.element_b, place.s_b))};
}

}  // namespace tresse::contact
