#include <tresse/contact/contact_search.hpp>

#include <algorithm>
#include <cmath>
#include <numeric>

#include <tresse/base/blocks.hpp>
#include <tresse/contact/detail/candidate.hpp>
#include <tresse/geometry/curve_motion.hpp>

namespace tresse::contact {

bool ContactSearch::same_pieces(const Geometry& scene) const {
  // The length of a capsule that turns changes by roundings, which count as deformation.
  constexpr double rounding = 1e-12;
  const auto same_interval = [](const Piece& x, const Piece& y) {
    if (x.fibre) return x.interval.begin == y.interval.begin && x.interval.end == y.interval.end;
    return std::abs(x.interval.end - y.interval.end) <= rounding * (x.interval.end + x.radius);
  };
  const auto same = [&](const Piece& x, const Piece& y) {
    return x.body == y.body && x.element == y.element && x.fibre == y.fibre && x.free == y.free &&
           same_interval(x, y) && x.radius == y.radius;
  };
  return std::equal(pieces_.begin(), pieces_.end(), scene.pieces.begin(), scene.pieces.end(), same);
}

void ContactSearch::move_to(const Geometry& scene) {
  const bool known = same_pieces(scene);
  if (!known) {
    pairs_.clear();
    added_.clear();
    groups_.clear();
    tracks_.assign(scene.pieces.size(), {});
  }
  constexpr std::size_t block = 128;
  for_blocks(scene.pieces.size(), block, [&](std::size_t, std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) {
      const Piece& piece = scene.pieces[i];
      detail::Track& track = tracks_[i];
      if (known) {
        const geometry::CurveMotion motion = geometry::motion_between(pieces_[i].curve, piece.curve, piece.interval);
        track.deformation += motion.spread;
        track.frame = (Eigen::Quaterniond(motion.turn) * track.frame).normalized();
      }
      track.travel = piece.travel;
      const double length = piece.interval.end - piece.interval.begin;
      const Vector3 middle = geometry::position(piece.curve, piece.interval.begin + 0.5 * length);
      track.travel.middle = middle;
      track.travel.extent = std::max((geometry::position(piece.curve, piece.interval.begin) - middle).norm(),
                                     (geometry::position(piece.curve, piece.interval.end) - middle).norm()) +
                            piece.curvature * length * length / 32.0;
      track.radius = piece.radius;
    }
  });
  pieces_ = scene.pieces;
}

/// Pairs that could meet before the groups hold no longer, with what is known of those that were kept already.
void ContactSearch::gather(const Geometry& scene) {
  groups_.form(scene, tracks_);
  const std::vector<CandidatePair> near = near_pairs_.gather(scene, broad_phase_, groups_);
  gathered_.clear();
  gathered_.reserve(near.size());
  auto kept = pairs_.cbegin();
  auto added = added_.cbegin();
  const auto known = [](auto& at, const auto end, const CandidatePair& pair) {
    while (at != end && at->pair < pair) ++at;
    return at != end && !(pair < at->pair);
  };
  for (const CandidatePair& pair : near) {
    if (known(kept, pairs_.cend(), pair)) {
      gathered_.push_back(*kept);
    } else if (known(added, added_.cend(), pair)) {
      gathered_.push_back(*added);
    } else {
      gathered_.push_back({pair, 0.0, {}});
    }
  }
  pairs_.swap(gathered_);
  added_.clear();
}

/// Adds the pairs that pieces which left their groups, and groups that parted, could make.
void ContactSearch::add_pairs(const Geometry& scene, const detail::Groups::Changes& changes) {
  if (changes.strays.empty() && changes.partings.empty()) return;
  for (const detail::Groups::Stray& stray : changes.strays) groups_.widen(stray);
  for (const detail::Groups::Parting& parting : changes.partings) groups_.widen(parting);
  const auto before = [](const NearPair& x, const NearPair& y) { return x.pair < y.pair; };
  const std::size_t count = added_.size();
  for (const CandidatePair& pair : near_pairs_.after(scene, broad_phase_, groups_, changes)) {
    const NearPair near{pair, 0.0, {}};
    const auto known = added_.begin() + static_cast<std::ptrdiff_t>(count);
    if (!std::binary_search(pairs_.begin(), pairs_.end(), near, before) &&
        !std::binary_search(added_.begin(), known, near, before))
      added_.push_back(near);
  }
  std::inplace_merge(added_.begin(), added_.begin() + static_cast<std::ptrdiff_t>(count), added_.end(), before);
}

ContactSearch::View ContactSearch::view_of(const CandidatePair& pair) const {
  const detail::Track& a = tracks_[pair.a];
  const detail::Track& b = tracks_[pair.b];
  const Eigen::Quaterniond back = a.frame.conjugate();
  return {back * (b.travel.middle - a.travel.middle), back * b.frame, a.deformation + b.deformation};
}

/// A bound of what the pair's distance lost since its separation was proved. [m]
double ContactSearch::closed_in(const NearPair& near) const {
  const View now = view_of(near.pair);
  return (now.offset - near.view.offset).norm() +
         detail::turned(now.turn, near.view.turn) * tracks_[near.pair.b].travel.extent +
         (now.deformation - near.view.deformation);
}

/// Appends the contacts of one pair, and notes what is proved when there are none. Whether it was looked at.
bool ContactSearch::examine(const Geometry& scene, NearPair& near, std::vector<detail::Candidate>& out) {
  if (!scene.pieces[near.pair.a].fibre) {  // two capsules: looked at sooner than anything is proved of them
    detail::append_contacts(scene, near.pair, detection_, out);
    return true;
  }
  const detail::Track& a = tracks_[near.pair.a];
  const detail::Track& b = tracks_[near.pair.b];
  const double travel = closing(a.travel, b.travel);
  constexpr double rounding = 1e-12;  // between this meeting distance and that of the query
  const double meeting = (a.radius + b.radius + travel) * (1.0 + rounding);
  if (near.apart > 0.0 && near.apart - closed_in(near) > meeting) return false;
  const Piece& piece_a = scene.pieces[near.pair.a];
  const Piece& piece_b = scene.pieces[near.pair.b];
  if (piece_a.body == piece_b.body && !can_touch_itself(scene, near.pair.a, near.pair.b)) return false;
  // Look farther than asked for by what the pair travels in some steps: for so long it will not be looked at again.
  constexpr double steps = 12.0;
  const double slack = std::clamp(steps * travel, 0.5 * piece_a.radius, 4.0 * piece_a.radius);
  const auto measure = [&] {
    near.apart = geometry::separation(piece_a.curve, piece_a.interval, piece_b.curve, piece_b.interval,
                                      {.enough = meeting + slack, .least = meeting});
    near.view = view_of(near.pair);
  };
  const bool was_contact = near.apart == 0.0;
  if (!was_contact) measure();
  if (near.apart > 0.0 && !was_contact) return true;
  const std::size_t count = out.size();
  detail::append_contacts(scene, near.pair, detection_, out);
  if (was_contact && out.size() == count) measure();
  return true;
}

std::vector<detail::Candidate> ContactSearch::examine_all(const Geometry& scene, std::vector<NearPair>& pairs) {
  constexpr std::size_t block = 256;
  std::vector<std::vector<detail::Candidate>> found((pairs.size() + block - 1) / block);
  std::vector<std::size_t> examined(found.size(), 0);
  for_blocks(pairs.size(), block, [&](std::size_t k, std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) examined[k] += examine(scene, pairs[i], found[k]) ? 1 : 0;
  });
  effort_.examined = std::accumulate(examined.begin(), examined.end(), effort_.examined);
  return joined(found);
}

std::vector<Contact> ContactSearch::find(const Geometry& scene, const std::vector<Place>& followed) {
  if (detection_.method != geometry::DetectionMethod::certified || few_pieces(scene)) {
    // What the other methods find is not what is proved of the curves.
    const std::vector<CandidatePair> pairs = candidate_pairs(scene, broad_phase_);
    effort_ = {pairs.size(), pairs.size(), true};
    return detect(scene, pairs, detection_, followed);
  }
  move_to(scene);
  detail::Groups::Changes changes;
  const bool many_added = 4 * added_.size() > pairs_.size();
  effort_.rebuilt = !groups_.hold(tracks_, changes) || many_added;
  if (effort_.rebuilt) {
    gather(scene);
  } else {
    add_pairs(scene, changes);
  }

  effort_.pairs = pairs_.size() + added_.size();
  effort_.examined = 0;
  std::vector<detail::Candidate> candidates = examine_all(scene, pairs_);
  if (!added_.empty()) {
    const std::vector<detail::Candidate> more = examine_all(scene, added_);
    const auto middle = candidates.insert(candidates.end(), more.begin(), more.end());
    std::inplace_merge(candidates.begin(), middle, candidates.end(),
                       [](const detail::Candidate& x, const detail::Candidate& y) {
                         return CandidatePair{x.contact.a, x.contact.b} < CandidatePair{y.contact.a, y.contact.b};
                       });
  }
  const std::vector<CandidatePair> surfaces = surface_pairs(scene);
  constexpr std::size_t block = 32;
  std::vector<std::vector<detail::Candidate>> on_surfaces((surfaces.size() + block - 1) / block);
  for_blocks(surfaces.size(), block, [&](std::size_t k, std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) detail::append_contacts(scene, surfaces[i], detection_, on_surfaces[k]);
  });
  for (const std::vector<detail::Candidate>& part : on_surfaces)
    candidates.insert(candidates.end(), part.begin(), part.end());
  detail::append_followed(scene, followed, detection_, candidates);
  return detail::without_duplicates(scene, candidates);
}

}  // namespace tresse::contact
