#include <tresse/contact/broad_phase.hpp>

#include <algorithm>
#include <limits>
#include <utility>

#include <oneapi/tbb/enumerable_thread_specific.h>

#include <tresse/base/blocks.hpp>
#include <tresse/contact/detail/groups.hpp>
#include <tresse/contact/detail/link_tree.hpp>
#include <tresse/contact/detail/near_pairs.hpp>
#include <tresse/geometry/box.hpp>
#include <tresse/geometry/capsule_chain.hpp>

namespace tresse::contact {
namespace {

int count_of_moving_pieces(const Geometry& scene) {
  // They stand before those whose motion is prescribed.
  const auto first = std::find_if(scene.pieces.begin(), scene.pieces.end(), [](const Piece& p) { return !p.moves(); });
  return static_cast<int>(first - scene.pieces.begin());
}

/// Pairs that may meet in the step that starts here.
class WithinMeetingDistance {
 public:
  WithinMeetingDistance(const Geometry& scene, const BroadPhaseOptions& options) : scene_(scene), options_(options) {}

  /// Of a piece's boxes [m].
  double growth(int i) const { return piece(i).radius + piece(i).travel.farthest(); }
  /// Of the boxes that it asks with; the pairs asked for are its own from here on.
  double more(int) { return 0.0; }
  /// Up to which the pair is wanted [m].
  double range(int i, int j) const { return meeting_distance(piece(i), piece(j)); }
  bool may_meet(int i, int j) const {
    if (piece(i).body == piece(j).body) return options_.self_contact && can_touch_itself(scene_, i, j);
    return piece(j).fibre ? options_.fibre_contact : piece(i).embedded_in != piece(j).body;
  }

 private:
  const Piece& piece(int i) const { return scene_.pieces[static_cast<std::size_t>(i)]; }
  const Geometry& scene_;
  const BroadPhaseOptions& options_;
};

/// Whether two pieces, i < j, can be a pair at all; those of one fibre may once they are nearer.
bool may_be_kept(const Geometry& scene, const BroadPhaseOptions& options, int i, int j) {
  const Piece& a = scene.pieces[static_cast<std::size_t>(i)];
  const Piece& b = scene.pieces[static_cast<std::size_t>(j)];
  if (a.body == b.body) return options.self_contact && j - i >= 2;
  return b.fibre ? options.fibre_contact : a.embedded_in != b.body;
}

/// Pairs to be kept for some steps.
class WithinGroupsRange {
 public:
  WithinGroupsRange(const Geometry& scene, const BroadPhaseOptions& options, const detail::Groups& groups)
      : scene_(scene), options_(options), groups_(groups), range_(static_cast<std::size_t>(groups.count()), none) {}

  double growth(int i) const { return groups_.own(i); }
  double more(int i) {
    if (groups_.group_of(i) != asking_) {
      if (asking_ >= 0)
        for (const auto& near : groups_.neighbours(asking_)) range_[static_cast<std::size_t>(near.group)] = none;
      asking_ = groups_.group_of(i);
      more_ = 0.0;
      for (const auto& near : groups_.neighbours(asking_)) {
        if (!groups_.touch(asking_, near)) continue;
        range_[static_cast<std::size_t>(near.group)] = near.range;
        more_ = std::max(more_, near.range);
      }
    }
    return more_;
  }
  double range(int i, int j) const {
    return groups_.own(i) + groups_.own(j) + range_[static_cast<std::size_t>(groups_.group_of(j))];
  }
  bool may_meet(int i, int j) const { return may_be_kept(scene_, options_, i, j); }

 private:
  static constexpr double none = -std::numeric_limits<double>::infinity();
  const Geometry& scene_;
  const BroadPhaseOptions& options_;
  const detail::Groups& groups_;
  std::vector<double> range_;  // (groups) from the group that asks
  int asking_ = -1;
  double more_ = 0.0;
};

/// Of a few pieces: all pairs whose boxes are near enough. A tree would cost more than it saves.
std::vector<CandidatePair> pairs_of_few(const Geometry& scene, const WithinMeetingDistance& near) {
  const int moving_pieces = count_of_moving_pieces(scene);
  std::vector<geometry::Box> boxes;
  boxes.reserve(scene.pieces.size());
  for (const Piece& piece : scene.pieces) boxes.push_back(geometry::quick_box(piece.curve, piece.interval));
  std::vector<CandidatePair> pairs;
  for (int i = 0; i < moving_pieces; ++i) {
    for (int j = i + 1; j < static_cast<int>(boxes.size()); ++j) {
      const double apart = boxes[i].distance(boxes[j]);
      if (apart > near.growth(i) + near.growth(j)) continue;
      if (apart > near.range(i, j)) continue;
      if (near.may_meet(i, j)) pairs.push_back({i, j});
    }
  }
  return pairs;
}

/// Partners of pieces. `Near` as WithinMeetingDistance.
template <typename Near>
class PartnerSearch {
 public:
  PartnerSearch(const detail::LinkTree& tree, Near near, std::size_t pieces)
      : tree_(tree), near_(std::move(near)), seen_(pieces, -1) {}

  /// Those that come after a moving piece, in order.
  void append(int piece, std::vector<CandidatePair>& pairs) {
    const std::size_t begin = pairs.size();
    visit(
        piece, 0.0, [&](int j) { return j > piece; },
        [&](int j) {
          pairs.push_back({piece, j});
        });
    std::sort(pairs.begin() + static_cast<std::ptrdiff_t>(begin), pairs.end());
  }

  /// All of them, for a piece whose boxes in the tree are smaller by `more` than they should be.
  void append_all(int piece, bool moves, double more, std::vector<CandidatePair>& pairs) {
    visit(
        piece, more, [&](int j) { return j != piece && (moves || j < piece); },
        [&](int j) {
          const auto [a, b] = std::minmax(piece, j);
          pairs.push_back({a, b});
        });
  }

 private:
  template <typename Wanted, typename Visit>
  void visit(int piece, double grown, const Wanted& wanted, const Visit& visit) {
    const double more = near_.more(piece) + grown;
    const auto unseen = [&](int j) { return wanted(j) && seen_[static_cast<std::size_t>(j)] != piece; };
    for (const detail::Link* link = tree_.begin(piece); link != tree_.end(piece); ++link) {
      tree_.near(*link, more, unseen, [&](int j, double bound) {
        if (seen_[static_cast<std::size_t>(j)] == piece || bound > near_.range(piece, j)) return;
        if (!near_.may_meet(std::min(piece, j), std::max(piece, j))) return;
        seen_[static_cast<std::size_t>(j)] = piece;
        visit(j);
      });
    }
  }

  const detail::LinkTree& tree_;
  Near near_;
  std::vector<int> seen_;  // (pieces) the piece for which each was met last
};

template <typename Near>
std::vector<double> growth_of_boxes(const Geometry& scene, const Near& near) {
  std::vector<double> growth(scene.pieces.size());
  for (std::size_t i = 0; i < growth.size(); ++i) growth[i] = near.growth(static_cast<int>(i));
  return growth;
}

template <typename Near>
std::vector<CandidatePair> pairs_within(const Geometry& scene, const detail::LinkTree& tree, const Near& near) {
  const auto moving_pieces = static_cast<std::size_t>(count_of_moving_pieces(scene));
  constexpr std::size_t block = 64;
  std::vector<std::vector<CandidatePair>> found((moving_pieces + block - 1) / block);
  oneapi::tbb::enumerable_thread_specific<PartnerSearch<Near>> searches(
      [&] { return PartnerSearch<Near>(tree, near, scene.pieces.size()); });
  for_blocks(moving_pieces, block, [&](std::size_t k, std::size_t begin, std::size_t end) {
    PartnerSearch<Near>& search = searches.local();
    for (std::size_t i = begin; i < end; ++i) search.append(static_cast<int>(i), found[k]);
  });
  return joined(found);
}

}  // namespace

std::vector<CandidatePair> detail::NearPairs::gather(const Geometry& scene, const BroadPhaseOptions& options,
                                                     const Groups& groups) {
  const WithinGroupsRange near(scene, options, groups);
  growth_ = growth_of_boxes(scene, near);
  tree_.emplace(scene, growth_);
  return pairs_within(scene, *tree_, near);
}

/// Of two groups, each piece of one against each of the other: a tree would find all the other groups' on the way.
std::vector<CandidatePair> detail::NearPairs::between(const Geometry& scene, const BroadPhaseOptions& options,
                                                      const Groups& groups, const Groups::Parting& parting) const {
  const Groups::Neighbour& near = groups.neighbours(parting.a)[parting.near];
  const auto meet = [&](int i, int j) {
    const double range = groups.own(i) + groups.own(j) + near.range;
    const double more = near.range + lacks(groups, i) + lacks(groups, j);
    for (const Link* x = tree_->begin(i); x != tree_->end(i); ++x) {
      const LinkBox box = tree_->box(*x).grown(more);
      for (const Link* y = tree_->begin(j); y != tree_->end(j); ++y) {
        if (box.overlaps(tree_->box(*y)) &&
            geometry::segment_separation(x->from, x->to, y->from, y->to) - x->radius - y->radius <= range)
          return true;
      }
    }
    return false;
  };
  std::vector<CandidatePair> pairs;
  for (const int i : groups.members(parting.a)) {
    for (const int j : groups.members(near.group)) {
      const auto [a, b] = std::minmax(i, j);
      if (may_be_kept(scene, options, a, b) && meet(i, j)) pairs.push_back({a, b});
    }
  }
  return pairs;
}

std::vector<CandidatePair> detail::NearPairs::after(const Geometry& scene, const BroadPhaseOptions& options,
                                                    const Groups& groups, const Groups::Changes& changes) const {
  std::vector<std::vector<CandidatePair>> found(changes.partings.size());
  for_blocks(found.size(), std::size_t{1}, [&](std::size_t k, std::size_t, std::size_t) {
    found[k] = between(scene, options, groups, changes.partings[k]);
  });
  std::vector<CandidatePair> pairs = joined(found);
  if (!changes.strays.empty()) {
    // Two strays: both boxes in the tree are the small ones, so one looks farther by what the other lacks.
    double most = 0.0;
    for (std::size_t i = 0; i < growth_.size(); ++i) most = std::max(most, lacks(groups, static_cast<int>(i)));
    using Search = PartnerSearch<WithinGroupsRange>;
    oneapi::tbb::enumerable_thread_specific<Search> searches(
        [&] { return Search(*tree_, WithinGroupsRange(scene, options, groups), scene.pieces.size()); });
    constexpr std::size_t block = 16;
    const std::size_t strays = changes.strays.size();
    std::vector<std::vector<CandidatePair>> of_strays((strays + block - 1) / block);
    for_blocks(strays, block, [&](std::size_t k, std::size_t begin, std::size_t end) {
      for (std::size_t n = begin; n < end; ++n) {
        const int piece = changes.strays[n].piece;
        const bool moves = scene.pieces[static_cast<std::size_t>(piece)].moves();
        searches.local().append_all(piece, moves, lacks(groups, piece) + most, of_strays[k]);
      }
    });
    const std::vector<CandidatePair> more = joined(of_strays);
    pairs.insert(pairs.end(), more.begin(), more.end());
  }
  std::sort(pairs.begin(), pairs.end());
  pairs.erase(std::unique(pairs.begin(), pairs.end(),
                          [](const CandidatePair& p, const CandidatePair& q) { return !(p < q) && !(q < p); }),
              pairs.end());
  return pairs;
}

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

namespace {

bool may_reach(const Geometry& scene, const Piece& piece, const geometry::Box& box, const HalfSpace& plane) {
  const Vector3 centre = 0.5 * (box.lower + box.upper);
  const double half_width = 0.5 * (box.upper - box.lower).dot(plane.normal.cwiseAbs());
  return plane.normal.dot(centre - plane.point) <= half_width + piece.radius + travel_to_plane(scene, piece, plane);
}

bool may_reach(const Geometry& scene, const Piece& piece, const geometry::Box& box, const Mesh& mesh) {
  const Vector3 half = 0.5 * (box.upper - box.lower);
  const Vector3 centre = mesh.pose.frame.transpose() * (0.5 * (box.lower + box.upper) - mesh.pose.position);
  const Vector3 turned = mesh.pose.frame.transpose().cwiseAbs() * half;
  const double reach = piece.radius + mesh.thickness + closing(scene, piece, mesh);
  return mesh.surface->may_meet(geometry::Box{centre - turned, centre + turned}.grown(reach));
}

}  // namespace

std::vector<CandidatePair> surface_pairs(const Geometry& scene) {
  if (scene.planes.empty() && scene.meshes.empty()) return {};
  constexpr std::size_t block = 512;
  std::vector<std::vector<CandidatePair>> found((scene.pieces.size() + block - 1) / block);
  for_blocks(scene.pieces.size(), block, [&](std::size_t k, std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) {
      const Piece& piece = scene.pieces[i];
      if (!piece.moves()) continue;
      const geometry::Box box = geometry::quick_box(piece.curve, piece.interval);
      int b = -1 - static_cast<int>(scene.planes.size() + scene.meshes.size());
      for (auto mesh = scene.meshes.rbegin(); mesh != scene.meshes.rend(); ++mesh) {
        ++b;
        if (piece.embedded_in != mesh->body && may_reach(scene, piece, box, *mesh))
          found[k].push_back({static_cast<int>(i), b});
      }
      for (auto plane = scene.planes.rbegin(); plane != scene.planes.rend(); ++plane) {
        ++b;
        if (piece.embedded_in != plane->body && may_reach(scene, piece, box, *plane))
          found[k].push_back({static_cast<int>(i), b});
      }
    }
  });
  return joined(found);
}

std::vector<CandidatePair> candidate_pairs(const Geometry& scene, const BroadPhaseOptions& options) {
  const WithinMeetingDistance near(scene, options);
  std::vector<CandidatePair> pairs =
      few_pieces(scene) ? pairs_of_few(scene, near)
                        : pairs_within(scene, detail::LinkTree(scene, growth_of_boxes(scene, near)), near);
  const std::vector<CandidatePair> surfaces = surface_pairs(scene);
  const auto middle = pairs.insert(pairs.end(), surfaces.begin(), surfaces.end());
  std::inplace_merge(pairs.begin(), middle, pairs.end());
  return pairs;
}

}  // namespace tresse::contact
