#include <tresse/contact/contact_search.hpp>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <string>
#include <utility>

#include <tresse/base/blocks.hpp>
#include <tresse/base/errors.hpp>
#include <tresse/contact/detail/candidate.hpp>
#include <tresse/geometry/curve_motion.hpp>

namespace tresse::contact {
namespace {

/// Bound of |P x - Q x| over unit x.
double turned(const Eigen::Quaterniond& p, const Eigen::Quaterniond& q) {
  return 2.0 * std::min((p.coeffs() - q.coeffs()).norm(), (p.coeffs() + q.coeffs()).norm());
}

}  // namespace

bool ContactSearch::same_pieces(const Geometry& scene) const {
  // The length of a capsule that turns changes by roundings, which count as deformation.
  constexpr double rounding = 1e-12;
  const auto same_interval = [](const Piece& x, const Piece& y) {
    if (x.id.is_fibre()) return x.interval.begin == y.interval.begin && x.interval.end == y.interval.end;
    return std::abs(x.interval.end - y.interval.end) <= rounding * (x.interval.end + x.radius);
  };
  const auto same = [&](const Piece& x, const Piece& y) {
    return x.body == y.body && x.element == y.element && x.id == y.id && same_interval(x, y) && x.radius == y.radius;
  };
  return std::equal(pieces_.begin(), pieces_.end(), scene.pieces.begin(), scene.pieces.end(), same);
}

void ContactSearch::move_to(const Geometry& scene) {
  const bool known = same_pieces(scene);
  if (!known) {
    pairs_.clear();
    tracks_.assign(scene.pieces.size(), {});
  }
  constexpr std::size_t block = 128;
  for_blocks(scene.pieces.size(), block, [&](std::size_t, std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) {
      const Piece& piece = scene.pieces[i];
      Track& track = tracks_[i];
      if (known) {
        const geometry::CurveMotion motion = geometry::motion_between(pieces_[i].curve, piece.curve, piece.interval);
        track.deformation += motion.spread;
        track.frame = (Eigen::Quaterniond(motion.turn) * track.frame).normalized();
      }
      track.travel = piece.travel;
      const double length = piece.interval.end - piece.interval.begin;
      const Vector3 middle = geometry::position(piece.curve, piece.interval.begin + 0.5 * length);
      track.travel.middle = middle;
      track.travel.to_begin = geometry::position(piece.curve, piece.interval.begin) - middle;
      track.travel.to_end = geometry::position(piece.curve, piece.interval.end) - middle;
      track.travel.sagitta = piece.curvature * length * length / 32.0;
      track.radius = piece.radius;
    }
  });
  pieces_ = scene.pieces;
}

/// The pairs of this search, with what is known of those that were among the last one's.
void ContactSearch::take_pairs(const std::vector<CandidatePair>& near) {
  before_.swap(pairs_);
  pairs_.clear();
  pairs_.reserve(near.size());
  auto known = before_.cbegin();
  for (const CandidatePair& pair : near) {
    while (known != before_.cend() && known->pair < pair) ++known;
    const bool same = known != before_.cend() && !(pair < known->pair);
    pairs_.push_back(same ? *known : NearPair{pair, 0.0, {}, 0.0, false});
  }
}

ContactSearch::View ContactSearch::view_of(const CandidatePair& pair) const {
  const Track& a = tracks_[pair.a];
  const Track& b = tracks_[pair.b];
  const Eigen::Quaterniond back = a.frame.conjugate();
  return {back * (b.travel.middle - a.travel.middle), back * b.frame, a.deformation + b.deformation};
}

/// A bound of what the pair's distance lost since its separation was proved. [m]
double ContactSearch::closed_in(const NearPair& near) const {
  const View now = view_of(near.pair);
  return (now.offset - near.view.offset).norm() +
         turned(now.turn, near.view.turn) * tracks_[near.pair.b].travel.extent() +
         (now.deformation - near.view.deformation);
}

/// Appends the contacts of one pair, and notes what is proved when there are none. Whether it was looked at.
bool ContactSearch::examine(const Geometry& scene, NearPair& near, std::vector<detail::Candidate>& out) {
  near.left = 0.0;
  near.exact = false;
  if (!scene.pieces[near.pair.a].id.is_fibre()) {  // two capsules: looked at sooner than anything is proved of them
    static_cast<void>(detail::append_contacts(scene, near.pair, detection_, out));
    return true;
  }
  const Track& a = tracks_[near.pair.a];
  const Track& b = tracks_[near.pair.b];
  const double travel = closing(a.travel, b.travel);
  constexpr double rounding = 1e-12;  // between this meeting distance and that of the query
  const double meeting = (a.radius + b.radius + travel) * (1.0 + rounding);
  if (near.apart > 0.0) {
    near.left = near.apart - closed_in(near);
    if (near.left > meeting) return false;
  }
  const Piece& piece_a = scene.pieces[near.pair.a];
  const Piece& piece_b = scene.pieces[near.pair.b];
  // Look farther than asked for by what the pair travels in some steps: for so long it will not be looked at again.
  constexpr double steps = 12.0;
  const double slack = std::clamp(steps * travel, 0.5 * piece_a.radius, 4.0 * piece_a.radius);
  const auto measure = [&] {
    near.apart = geometry::separation(piece_a.curve, piece_a.interval, piece_b.curve, piece_b.interval,
                                      {.enough = meeting + slack, .least = meeting});
    near.left = near.apart;
    near.view = view_of(near.pair);
  };
  const bool was_contact = near.apart == 0.0;
  if (!was_contact) measure();
  if (near.apart > 0.0 && !was_contact) return true;
  const std::size_t count = out.size();
  const double distance = detail::append_contacts(scene, near.pair, detection_, out);
  if (distance > 0.0) {
    near.left = distance;
    near.exact = true;
  } else if (was_contact && out.size() == count) {
    measure();
  }
  return true;
}

std::vector<detail::Candidate> ContactSearch::examine_all(const Geometry& scene) {
  constexpr std::size_t block = 256;
  std::vector<std::vector<detail::Candidate>> found((pairs_.size() + block - 1) / block);
  std::vector<std::size_t> examined(found.size(), 0);
  for_blocks(pairs_.size(), block, [&](std::size_t k, std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) examined[k] += examine(scene, pairs_[i], found[k]) ? 1 : 0;
  });
  effort_.examined = std::accumulate(examined.begin(), examined.end(), std::size_t{0});
  return joined(found);
}

/// Whether nothing is kept from search to search: what the other methods find is not what is proved of the curves.
bool ContactSearch::looks_at_all(const Geometry& scene) const {
  return detection_.method != geometry::DetectionMethod::certified || few_pieces(scene);
}

std::vector<Contact> ContactSearch::find(const Geometry& scene, const std::vector<Place>& followed,
                                         const std::vector<double>& beyond) {
  for (const Place& place : followed) {
    require(is_place(scene, place), [&] {
      return "state: holds a contact of bodies " + std::to_string(place.body_a) + " and " +
             std::to_string(place.body_b) + "; expected places on bodies that can touch";
    });
  }
  if (looks_at_all(scene)) {
    const std::vector<CandidatePair> all = candidate_pairs(scene, broad_phase_);
    effort_ = {all.size(), all.size()};
    pairs_.clear();
    pieces_.clear();
    return detect(scene, all, detection_, followed);
  }
  move_to(scene);
  take_pairs(piece_pairs(scene, broad_phase_, beyond));
  effort_.pairs = pairs_.size();
  std::vector<detail::Candidate> candidates = examine_all(scene);
  detail::append_all(scene, surface_pairs(scene), detection_, candidates);
  detail::append_followed(scene, followed, detection_, candidates);
  return detail::without_duplicates(scene, std::move(candidates), detection_.softness);
}

std::optional<std::vector<KnownPair>> ContactSearch::known_pairs() const {
  if (pieces_.empty()) return {};
  std::vector<KnownPair> out(pairs_.size());
  std::transform(pairs_.begin(), pairs_.end(), out.begin(), [](const NearPair& near) -> KnownPair {
    return {near.pair, near.left, near.exact};
  });
  return out;
}

}  // namespace tresse::contact
