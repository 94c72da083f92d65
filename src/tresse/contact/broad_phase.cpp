#include <tresse/contact/broad_phase.hpp>

#include <algorithm>

#include <oneapi/tbb/enumerable_thread_specific.h>
#include <oneapi/tbb/parallel_for.h>

#include <tresse/contact/detail/link_tree.hpp>
#include <tresse/geometry/box.hpp>
#include <tresse/geometry/capsule_chain.hpp>

namespace tresse::contact {
namespace {

double near_distance(const Piece& a, const Piece& b, const Skins& skins) {
  return meeting_distance(a, b) + skins.of(a) + skins.of(b);
}

bool may_meet(const Geometry& scene, const BroadPhaseOptions& options, const Skins& skins, int i, int j) {
  const Piece& a = scene.pieces[i];
  const Piece& b = scene.pieces[j];
  if (a.body == b.body)
    return options.self_contact && j - i >= 2 && (skins.fibre > 0.0 || can_touch_itself(scene, i, j));
  return options.fibre_contact || !b.fibre;
}

/// Of a few pieces: all pairs whose boxes are near enough. A tree would cost more than it saves.
std::vector<CandidatePair> pairs_of_few(const Geometry& scene, const BroadPhaseOptions& options, const Skins& skins,
                                        int fibre_pieces) {
  struct Around {
    geometry::Box box;
    double range;  // of radius, travel and skin
  };
  std::vector<Around> around;
  around.reserve(scene.pieces.size());
  for (const Piece& piece : scene.pieces) {
    around.push_back(
        {geometry::quick_box(piece.curve, piece.interval), piece.radius + piece.travel.farthest() + skins.of(piece)});
  }
  std::vector<CandidatePair> pairs;
  for (int i = 0; i < fibre_pieces; ++i) {
    for (int j = i + 1; j < static_cast<int>(around.size()); ++j) {
      const double apart = around[i].box.distance(around[j].box);
      if (apart > around[i].range + around[j].range) continue;
      if (apart > near_distance(scene.pieces[i], scene.pieces[j], skins)) continue;
      if (may_meet(scene, options, skins, i, j)) pairs.push_back({i, j});
    }
  }
  return pairs;
}

/// Partners of fibre pieces, each piece's in order.
class PartnerSearch {
 public:
  PartnerSearch(const Geometry& scene, const BroadPhaseOptions& options, const Skins& skins,
                const detail::LinkTree& tree)
      : scene_(scene), options_(options), skins_(skins), tree_(tree), seen_(scene.pieces.size(), -1) {}

  void append(int piece, std::vector<CandidatePair>& pairs) {
    const std::size_t begin = pairs.size();
    const Piece& a = scene_.pieces[piece];
    for (const detail::Link* link = tree_.begin(piece); link != tree_.end(piece); ++link) {
      tree_.overlapping(*link, [&](const detail::Link& other) {
        const int j = other.piece;
        if (j <= piece || seen_[j] == piece) return;
        const Piece& b = scene_.pieces[j];
        if (geometry::segment_separation(link->from, link->to, other.from, other.to) - link->radius - other.radius >
            near_distance(a, b, skins_))
          return;
        seen_[j] = piece;
        if (may_meet(scene_, options_, skins_, piece, j)) pairs.push_back({piece, j});
      });
    }
    std::sort(pairs.begin() + static_cast<std::ptrdiff_t>(begin), pairs.end(),
              [](const CandidatePair& p, const CandidatePair& q) { return p.b < q.b; });
  }

 private:
  const Geometry& scene_;
  const BroadPhaseOptions& options_;
  const Skins& skins_;
  const detail::LinkTree& tree_;
  std::vector<int> seen_;  // (pieces) the piece for which each was met last
};

}  // namespace

bool few_pieces(const Geometry& scene) {
  constexpr std::size_t few = 100;
  return scene.pieces.size() <= few;
}

bool can_touch_itself(const Geometry& scene, int a, int b) {
  if (b - a < 2) return false;
  const auto piece = [&](int i) -> const Piece& { return scene.pieces[i]; };
  double curvature = 0.0;
  for (int k = a; k <= b; ++k) curvature = std::max(curvature, piece(k).curvature);
  const double longest = piece(b).begin + piece(b).interval.end - piece(a).begin - piece(a).interval.begin;
  const double margin = closing(piece(a).travel, piece(b).travel);
  return longest > self_contact_free_length(curvature, std::max(piece(a).radius, piece(b).radius), margin);
}

std::vector<CandidatePair> near_pairs(const Geometry& scene, const BroadPhaseOptions& options, const Skins& skins) {
  // The fibres' pieces stand before the obstacles'.
  const int fibre_pieces =
      static_cast<int>(std::find_if(scene.pieces.begin(), scene.pieces.end(), [](const Piece& p) { return !p.fibre; }) -
                       scene.pieces.begin());
  if (fibre_pieces == 0) return {};
  if (few_pieces(scene)) return pairs_of_few(scene, options, skins, fibre_pieces);
  const detail::LinkTree tree(scene, skins);
  constexpr int block = 64;
  const int blocks = (fibre_pieces + block - 1) / block;
  std::vector<std::vector<CandidatePair>> found(blocks);
  oneapi::tbb::enumerable_thread_specific<PartnerSearch> searches(
      [&] { return PartnerSearch(scene, options, skins, tree); });
  oneapi::tbb::parallel_for(0, blocks, [&](int k) {
    PartnerSearch& search = searches.local();
    for (int i = k * block; i < std::min(fibre_pieces, (k + 1) * block); ++i) search.append(i, found[k]);
  });
  if (blocks == 1) return std::move(found.front());
  std::vector<CandidatePair> pairs;
  std::size_t count = 0;
  for (const auto& part : found) count += part.size();
  pairs.reserve(count);
  for (const auto& part : found) pairs.insert(pairs.end(), part.begin(), part.end());
  return pairs;
}

std::vector<CandidatePair> plane_pairs(const Geometry& scene) {
  std::vector<CandidatePair> pairs;
  if (scene.planes.empty()) return pairs;
  for (int i = 0; i < static_cast<int>(scene.pieces.size()); ++i) {
    const Piece& piece = scene.pieces[i];
    if (!piece.fibre) continue;
    const geometry::Box box = geometry::quick_box(piece.curve, piece.interval);
    const Vector3 centre = 0.5 * (box.lower + box.upper);
    for (int k = 0; k < static_cast<int>(scene.planes.size()); ++k) {
      const HalfSpace& plane = scene.planes[k];
      const double half_width = 0.5 * (box.upper - box.lower).dot(plane.normal.cwiseAbs());
      const double near = half_width + piece.radius + travel_to_plane(scene, piece, plane);
      if (plane.normal.dot(centre - plane.point) <= near) pairs.push_back({i, -1 - k});
    }
  }
  return pairs;
}

std::vector<CandidatePair> candidate_pairs(const Geometry& scene, const BroadPhaseOptions& options) {
  std::vector<CandidatePair> pairs = near_pairs(scene, options, {});
  const std::vector<CandidatePair> planes = plane_pairs(scene);
  const auto middle = pairs.insert(pairs.end(), planes.begin(), planes.end());
  std::inplace_merge(pairs.begin(), middle, pairs.end());
  return pairs;
}

}  // namespace tresse::contact
