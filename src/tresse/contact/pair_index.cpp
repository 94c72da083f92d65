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

}  // namespace tresse::contact
