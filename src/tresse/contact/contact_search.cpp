#include <tresse/contact/contact_search.hpp>

#include <algorithm>
#include <limits>

#include <oneapi/tbb/parallel_for.h>

#include <tresse/contact/detail/candidate.hpp>
#include <tresse/geometry/curve_motion.hpp>

namespace tresse::contact {
namespace {

/// Calls visit(begin, end) for blocks of 0..count, on all threads when there are several.
template <typename Visit>
void for_blocks(std::size_t count, std::size_t block, const Visit& visit) {
  const std::size_t blocks = (count + block - 1) / block;
  const auto one = [&](std::size_t k) { visit(k * block, std::min(count, (k + 1) * block)); };
  if (blocks <= 1) {
    if (blocks == 1) one(0);
  } else {
    oneapi::tbb::parallel_for(std::size_t{0}, blocks, one);
  }
}

}  // namespace

bool ContactSearch::same_pieces(const Geometry& scene) const {
  const auto same = [](const Piece& x, const Piece& y) {
    return x.body == y.body && x.element == y.element && x.fibre == y.fibre && x.interval.begin == y.interval.begin &&
           x.interval.end == y.interval.end && x.radius == y.radius;
  };
  return std::equal(pieces_.begin(), pieces_.end(), scene.pieces.begin(), scene.pieces.end(), same);
}

void ContactSearch::move_to(const Geometry& scene) {
  const bool known = same_pieces(scene);
  if (!known) {
    pairs_.clear();
    gathered_.clear();
    tracks_.assign(scene.pieces.size(), {});
  }
  constexpr std::size_t block = 128;
  for_blocks(scene.pieces.size(), block, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) {
      const Piece& piece = scene.pieces[i];
      Track& track = tracks_[i];
      if (known) track.deformation += geometry::motion_between(pieces_[i].curve, piece.curve, piece.interval).spread;
      track.centre = geometry::position(piece.curve, 0.5 * (piece.interval.begin + piece.interval.end));
      track.drift = piece.drift;
      track.range = piece.radius + piece.reach;
    }
  });
  pieces_ = scene.pieces;
}

/// Whether two pieces that were too far apart to be kept as a pair could meet by now.
bool ContactSearch::must_gather() const {
  if (gathered_.empty()) return true;
  // What all pieces have in common brings none nearer to another.
  Vector3 shift = Vector3::Zero();
  Vector3 drift = Vector3::Zero();
  for (std::size_t i = 0; i < tracks_.size(); ++i) {
    shift += tracks_[i].centre - gathered_[i].centre;
    drift += tracks_[i].drift;
  }
  shift /= static_cast<double>(tracks_.size());
  drift /= static_cast<double>(tracks_.size());
  for (std::size_t i = 0; i < tracks_.size(); ++i) {
    const Track& now = tracks_[i];
    const Track& then = gathered_[i];
    const double used = (now.centre - then.centre - shift).norm() + (now.deformation - then.deformation) +
                        (now.range - then.range) + (now.drift - drift).norm();
    if (!(used < 0.5 * skin_)) return true;
  }
  return false;
}

/// Pairs nearer than the skin, with what is known of those that were kept already.
void ContactSearch::gather(const Geometry& scene) {
  // Worth some steps at the present speed, but no more pairs than neighbours nearby make.
  constexpr double steps = 10.0;
  constexpr double least_radii = 2.0;
  constexpr double most_radii = 4.0;
  double radius = 0.0;
  double travel = 0.0;
  Vector3 drift = Vector3::Zero();
  for (const Track& track : tracks_) drift += track.drift / static_cast<double>(tracks_.size());
  for (std::size_t i = 0; i < tracks_.size(); ++i) {
    if (scene.pieces[i].fibre) radius = std::max(radius, scene.pieces[i].radius);
    travel = std::max(travel, scene.pieces[i].reach + (tracks_[i].drift - drift).norm());
  }
  skin_ = std::clamp(2.0 * steps * travel, least_radii * radius, most_radii * radius);
  const std::vector<CandidatePair> near = near_pairs(scene, broad_phase_, skin_);
  std::vector<NearPair> pairs;
  pairs.reserve(near.size());
  auto old = pairs_.begin();
  for (const CandidatePair& pair : near) {
    while (old != pairs_.end() && old->pair < pair) ++old;
    if (old != pairs_.end() && !(pair < old->pair)) {
      pairs.push_back(*old);
    } else {
      pairs.push_back({pair});
    }
  }
  pairs_ = std::move(pairs);
  gathered_ = tracks_;
}

/// A bound of what the pair's distance lost since its separation was proved. [m]
double ContactSearch::closed_in(const NearPair& near) const {
  const Track& a = tracks_[near.pair.a];
  const Track& b = tracks_[near.pair.b];
  return (b.centre - a.centre - near.offset).norm() + (a.deformation + b.deformation - near.deformation);
}

std::vector<Contact> ContactSearch::find(const Geometry& scene, const std::vector<Place>& followed) {
  if (detection_.method != geometry::DetectionMethod::certified || few_pieces(scene)) {
    // What the other methods find is not what is proved of the curves.
    const std::vector<CandidatePair> pairs = candidate_pairs(scene, broad_phase_);
    effort_ = {pairs.size(), pairs.size(), true};
    return detect(scene, pairs, detection_, followed);
  }
  move_to(scene);
  effort_.rebuilt = must_gather();
  if (effort_.rebuilt) gather(scene);

  constexpr std::size_t block = 256;
  std::vector<std::vector<detail::Candidate>> found((pairs_.size() + block - 1) / block);
  std::vector<std::size_t> examined(found.size(), 0);
  for_blocks(pairs_.size(), block, [&](std::size_t begin, std::size_t end) {
    for (std::size_t k = begin; k < end; ++k) {
      NearPair& near = pairs_[k];
      const Track& a = tracks_[near.pair.a];
      const Track& b = tracks_[near.pair.b];
      const double meeting = a.range + b.range + (a.drift - b.drift).norm();
      if (near.apart > 0.0 && near.apart - closed_in(near) > meeting) continue;
      const Piece& piece_a = scene.pieces[near.pair.a];
      const Piece& piece_b = scene.pieces[near.pair.b];
      if (piece_a.body == piece_b.body && !can_touch_itself(scene, near.pair.a, near.pair.b)) continue;
      ++examined[begin / block];
      // Look farther than asked for by what the pair travels in some steps: for so long it will not be looked at again.
      constexpr double steps = 12.0;
      const double travel = piece_a.reach + piece_b.reach + (a.drift - b.drift).norm();
      const double slack = std::clamp(steps * travel, 0.1 * piece_a.radius, 4.0 * piece_a.radius);
      constexpr double rounding = 1e-12;
      const auto measure = [&] {
        near.apart = geometry::separation(piece_a.curve, piece_a.interval, piece_b.curve, piece_b.interval,
                                          {.enough = meeting + slack, .least = meeting * (1.0 + rounding)});
        near.offset = b.centre - a.centre;
        near.deformation = a.deformation + b.deformation;
      };
      const bool was_contact = near.apart == 0.0;
      if (!was_contact) measure();
      if (near.apart > 0.0 && !was_contact) continue;
      std::vector<detail::Candidate>& out = found[begin / block];
      const std::size_t count = out.size();
      detail::append_contacts(scene, near.pair, detection_, out);
      if (was_contact && out.size() == count) measure();
    }
  });
  std::vector<detail::Candidate> candidates;
  std::size_t count = 0;
  for (const auto& part : found) count += part.size();
  candidates.reserve(count + followed.size());
  for (const auto& part : found) candidates.insert(candidates.end(), part.begin(), part.end());
  for (const CandidatePair& pair : plane_pairs(scene)) detail::append_contacts(scene, pair, detection_, candidates);
  detail::append_followed(scene, followed, detection_, candidates);
  effort_.pairs = pairs_.size();
  effort_.examined = 0;
  for (const std::size_t n : examined) effort_.examined += n;
  return detail::without_duplicates(scene, candidates);
}

}  // namespace tresse::contact
