#include <tresse/contact/contact_search.hpp>

#include <algorithm>

#include <oneapi/tbb/parallel_for.h>
#include <Eigen/SVD>

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

/// Bound of |P x - Q x| over unit x.
double ContactSearch::turned(const Eigen::Quaterniond& p, const Eigen::Quaterniond& q) {
  return 2.0 * std::min((p.coeffs() - q.coeffs()).norm(), (p.coeffs() + q.coeffs()).norm());
}

/// Whether two pieces that were too far apart to be kept as a pair could meet by now.
bool ContactSearch::must_gather() const {
  if (gathered_.empty()) return true;
  // A rigid motion of all brings nobody nearer: the one that fits best is taken off. @cite kabsch1976
  const auto count = static_cast<double>(tracks_.size());
  Vector3 then_middle = Vector3::Zero();
  Vector3 now_middle = Vector3::Zero();
  for (std::size_t i = 0; i < tracks_.size(); ++i) {
    then_middle += gathered_[i].travel.middle / count;
    now_middle += tracks_[i].travel.middle / count;
  }
  Matrix3 covariance = Matrix3::Zero();
  for (std::size_t i = 0; i < tracks_.size(); ++i)
    covariance += (tracks_[i].travel.middle - now_middle) * (gathered_[i].travel.middle - then_middle).transpose();
  const Eigen::JacobiSVD<Matrix3> svd(covariance, Eigen::ComputeFullU | Eigen::ComputeFullV);
  Matrix3 turn = svd.matrixU() * svd.matrixV().transpose();
  if (turn.determinant() < 0.0) {
    turn = svd.matrixU() * Vector3(1.0, 1.0, -1.0).asDiagonal() * svd.matrixV().transpose();
  }
  const Eigen::Quaterniond rotation(turn);
  for (std::size_t i = 0; i < tracks_.size(); ++i) {
    const Track& now = tracks_[i];
    const Track& then = gathered_[i];
    const Vector3 moved = now.travel.middle - now_middle - turn * (then.travel.middle - then_middle);
    const double used = moved.norm() + turned(now.frame, rotation * then.frame) * now.travel.extent +
                        (now.deformation - then.deformation) + now.travel.farthest() - then.travel.reach;
    if (!(used < skins_.of(pieces_[i]))) return true;
  }
  return false;
}

/// Pairs nearer than the skin, with what is known of those that were kept already.
void ContactSearch::gather(const Geometry& scene) {
  // Worth some steps at the present speed, but no more pairs than neighbours nearby make. Obstacles are few: theirs may
  // be wide.
  constexpr double steps = 10.0;
  constexpr double least_radii = 1.0;
  constexpr double most_radii = 2.0;
  constexpr double most_radii_of_obstacles = 20.0;
  double radius = 0.0;
  Skins travel;
  for (const Piece& piece : scene.pieces) {
    double& farthest = piece.fibre ? travel.fibre : travel.obstacle;
    farthest = std::max(farthest, piece.travel.farthest());
    if (piece.fibre) radius = std::max(radius, piece.radius);
  }
  skins_.fibre = std::clamp(steps * travel.fibre, least_radii * radius, most_radii * radius);
  skins_.obstacle = std::clamp(steps * travel.obstacle, least_radii * radius, most_radii_of_obstacles * radius);
  const std::vector<CandidatePair> near = near_pairs(scene, broad_phase_, skins_);
  std::vector<NearPair> pairs;
  pairs.reserve(near.size());
  auto old = pairs_.begin();
  for (const CandidatePair& pair : near) {
    while (old != pairs_.end() && old->pair < pair) ++old;
    if (old != pairs_.end() && !(pair < old->pair)) {
      pairs.push_back(*old);
    } else {
      pairs.push_back({pair, 0.0, {}});
    }
  }
  pairs_ = std::move(pairs);
  gathered_ = tracks_;
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
         turned(now.turn, near.view.turn) * tracks_[near.pair.b].travel.extent +
         (now.deformation - near.view.deformation);
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
      const double travel = closing(a.travel, b.travel);
      constexpr double rounding = 1e-12;  // between this meeting distance and that of the query
      const double meeting = (a.radius + b.radius + travel) * (1.0 + rounding);
      if (near.apart > 0.0 && near.apart - closed_in(near) > meeting) continue;
      const Piece& piece_a = scene.pieces[near.pair.a];
      const Piece& piece_b = scene.pieces[near.pair.b];
      if (piece_a.body == piece_b.body && !can_touch_itself(scene, near.pair.a, near.pair.b)) continue;
      ++examined[begin / block];
      // Look farther than asked for by what the pair travels in some steps: for so long it will not be looked at again.
      constexpr double steps = 12.0;
      const double slack = std::clamp(steps * travel, 0.1 * piece_a.radius, 4.0 * piece_a.radius);
      const auto measure = [&] {
        near.apart = geometry::separation(piece_a.curve, piece_a.interval, piece_b.curve, piece_b.interval,
                                          {.enough = meeting + slack, .least = meeting});
        near.view = view_of(near.pair);
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
