#include <tresse/contact/broad_phase.hpp>

#include <algorithm>
#include <array>
#include <atomic>
#include <string>

#include <tresse/base/blocks.hpp>
#include <tresse/base/errors.hpp>
#include <tresse/contact/detail/link_tree.hpp>
#include <tresse/geometry/box.hpp>

namespace tresse::contact {
namespace {

int count_of_moving_pieces(const Geometry& scene) {
  // They stand before those whose motion is prescribed.
  const auto first =
      std::find_if(scene.pieces.begin(), scene.pieces.end(), [](const Piece& p) { return !p.id.moves(); });
  return static_cast<int>(first - scene.pieces.begin());
}

/// Whether two pieces that near may be a pair, i before j.
bool may_meet(const Geometry& scene, const BroadPhaseOptions& options, int i, int j) {
  const Piece& a = scene.pieces[static_cast<std::size_t>(i)];
  const Piece& b = scene.pieces[static_cast<std::size_t>(j)];
  if (a.body == b.body) return a.id.is_fibre() && options.self_contact && can_touch_itself(scene, i, j);
  return b.id.is_fibre() ? options.fibre_contact : a.embedded_in != b.body;
}

/// How far the pieces of a geometry reach, each by so much more than its travel says.
class Reach {
 public:
  Reach(const Geometry& scene, const std::vector<double>& beyond) : scene_(scene), beyond_(beyond) {}
  double beyond(std::size_t piece) const { return beyond_.empty() ? 0.0 : beyond_[piece]; }
  /// Whether two pieces at least that far apart may meet.
  bool meet(int i, int j, double apart) const {
    const auto a = static_cast<std::size_t>(i), b = static_cast<std::size_t>(j);
    const Piece& one = scene_.pieces[a];
    const Piece& other = scene_.pieces[b];
    const double left = apart - beyond(a) - beyond(b);
    const double standing = one.radius + other.radius + one.travel.reach + other.travel.reach;
    return left <= standing || left <= meeting_distance(one, other);
  }

 private:
  const Geometry& scene_;
  const std::vector<double>& beyond_;
};

/// Of a few pieces: all pairs whose boxes are near enough. A tree would cost more than it saves.
std::vector<CandidatePair> pairs_of_few(const Geometry& scene, const BroadPhaseOptions& options, const Reach& reach) {
  const int moving_pieces = count_of_moving_pieces(scene);
  if (!options.self_contact && (scene.pieces.empty() || scene.pieces.front().body == scene.pieces.back().body))
    return {};
  std::vector<geometry::Box> boxes, reached;  // of the centrelines; of all that each can reach, whatever others do
  boxes.reserve(scene.pieces.size());
  reached.reserve(scene.pieces.size());
  for (std::size_t i = 0; i < scene.pieces.size(); ++i) {
    const Piece& piece = scene.pieces[i];
    boxes.push_back(geometry::quick_box(piece.curve, piece.interval));
    reached.push_back(boxes.back().grown(piece.radius + piece.travel.farthest() + reach.beyond(i)));
  }
  std::vector<CandidatePair> pairs;
  for (int i = 0; i < moving_pieces; ++i) {
    const int first = options.self_contact ? i + 1 : scene.body_begin[scene.pieces[i].body + 1];
    for (int j = first; j < static_cast<int>(boxes.size()); ++j) {
      if (!reached[i].overlaps(reached[j])) continue;
      if (!reach.meet(i, j, boxes[i].distance(boxes[j]))) continue;
      if (may_meet(scene, options, i, j)) pairs.push_back({i, j});
    }
  }
  return pairs;
}

/// Each pair once, in order.
std::vector<CandidatePair> sorted(const std::vector<std::vector<CandidatePair>>& found, std::size_t pieces) {
  std::vector<std::size_t> end(pieces + 1, 0);
  for (const std::vector<CandidatePair>& part : found)
    for (const CandidatePair& pair : part) ++end[static_cast<std::size_t>(pair.a) + 1];
  for (std::size_t i = 0; i < pieces; ++i) end[i + 1] += end[i];
  std::vector<int> partners(end.back());  // of each piece in turn; its begin in `end` becomes its end
  for (const std::vector<CandidatePair>& part : found)
    for (const CandidatePair& pair : part) partners[end[static_cast<std::size_t>(pair.a)]++] = pair.b;
  constexpr std::size_t block = 256;
  std::vector<std::vector<CandidatePair>> out((pieces + block - 1) / block);
  for_blocks(pieces, block, [&](std::size_t k, std::size_t first, std::size_t last) {
    for (std::size_t i = first; i < last; ++i) {
      const auto begin = partners.begin() + static_cast<std::ptrdiff_t>(i == 0 ? 0 : end[i - 1]);
      const auto past = partners.begin() + static_cast<std::ptrdiff_t>(end[i]);
      std::sort(begin, past);
      for (auto b = begin; b != past; ++b) {
        if (b == begin || *b != *(b - 1)) out[k].push_back({static_cast<int>(i), *b});
      }
    }
  });
  return joined(out);
}

/// Remembers pairs that were found lately: two pieces side by side meet along many capsules, one after the other.
class FoundPairs {
 public:
  FoundPairs() { last_.fill({-1, -1}); }
  bool holds(const CandidatePair& pair) const { return same(last_[slot(pair)], pair); }
  void keep(const CandidatePair& pair) { last_[slot(pair)] = pair; }

 private:
  static constexpr std::size_t size = 1024;
  static bool same(const CandidatePair& x, const CandidatePair& y) { return x.a == y.a && x.b == y.b; }
  static std::size_t slot(const CandidatePair& pair) {
    constexpr std::size_t odd = 37;
    return (odd * static_cast<std::size_t>(pair.a) + static_cast<std::size_t>(pair.b)) % size;
  }
  std::array<CandidatePair, size> last_;
};

/// Far more pairs than any pile has: fibres that overlap all over, or that fly past all others in one step. The search
/// would take minutes and gigabytes.
void require_affordable(std::size_t pairs, std::size_t pieces) {
  constexpr std::size_t of_one_piece = 500, of_all = 2'000'000;
  const std::size_t most = of_one_piece * pieces + of_all;
  require(pairs <= most, [&] {
    return "contact: more than " + std::to_string(most) + " pairs of " + std::to_string(pieces) +
           " pieces may touch within a step; expected fibres that do not overlap all over, and a time_step in which "
           "they "
           "do not fly past each other";
  });
}

std::vector<CandidatePair> pairs_of_many(const Geometry& scene, const BroadPhaseOptions& options, const Reach& reach,
                                         const std::vector<double>& beyond) {
  const detail::LinkTree tree(scene, beyond);
  const int moving_pieces = count_of_moving_pieces(scene);
  constexpr std::size_t block = 16;
  std::vector<std::vector<CandidatePair>> found((tree.leaf_count() + block - 1) / block);
  std::atomic<std::size_t> count = 0;
  for_blocks(tree.leaf_count(), block, [&](std::size_t k, std::size_t begin, std::size_t end) {
    FoundPairs known;
    const auto visit = [&](int i, int j, double bound) {
      const auto [a, b] = std::minmax(i, j);
      if (a >= moving_pieces || known.holds({a, b}) || !reach.meet(a, b, bound)) return;
      if (!may_meet(scene, options, a, b)) return;
      known.keep({a, b});
      found[k].push_back({a, b});
    };
    std::size_t counted = 0;
    for (std::size_t n = begin; n < end; ++n) {
      tree.join(n, visit);
      count += found[k].size() - counted;
      counted = found[k].size();
      require_affordable(count, scene.pieces.size());
    }
  });
  return sorted(found, scene.pieces.size());
}

}  // namespace

bool few_pieces(const Geometry& scene) {
  constexpr std::size_t few = 100;
  return scene.pieces.size() <= few;
}

bool can_touch_itself(const Geometry& scene, int a, int b) {
  if (b - a < 2) return false;
  const auto piece = [&](int i) -> const Piece& { return scene.pieces[i]; };
  const double longest =
      arc_length_at(piece(b), piece(b).interval.end) - arc_length_at(piece(a), piece(a).interval.begin);
  const double margin = closing(piece(a).travel, piece(b).travel);
  const double radius = std::max(piece(a).radius, piece(b).radius);
  // The first that bends enough decides: pairs of a fibre that winds up are many.
  double curvature = 0.0;
  for (int k = a; k <= b; ++k) {
    if (piece(k).curvature <= curvature) continue;
    curvature = piece(k).curvature;
    if (longest > self_contact_free_length(curvature, radius, margin)) return true;
  }
  return false;
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
      if (!piece.id.moves()) continue;
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

std::vector<CandidatePair> piece_pairs(const Geometry& scene, const BroadPhaseOptions& options,
                                       const std::vector<double>& beyond) {
  const Reach reach(scene, beyond);
  return few_pieces(scene) ? pairs_of_few(scene, options, reach) : pairs_of_many(scene, options, reach, beyond);
}

std::vector<CandidatePair> pairs_with(const Geometry& scene, const std::vector<int>& some,
                                      const BroadPhaseOptions& options) {
  const int moving_pieces = count_of_moving_pieces(scene);
  std::vector<geometry::Box> boxes(scene.pieces.size()), reached(scene.pieces.size());  // as those of pairs_of_few()
  constexpr std::size_t many = 512, few = 4;
  for_blocks(boxes.size(), many, [&](std::size_t, std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) {
      const Piece& piece = scene.pieces[i];
      boxes[i] = geometry::quick_box(piece.curve, piece.interval);
      reached[i] = boxes[i].grown(piece.radius + piece.travel.farthest());
    }
  });
  std::vector<std::vector<CandidatePair>> found((some.size() + few - 1) / few);
  for_blocks(some.size(), few, [&](std::size_t k, std::size_t begin, std::size_t end) {
    for (std::size_t n = begin; n < end; ++n) {
      const int i = some[n];
      for (int j = 0; j < static_cast<int>(boxes.size()); ++j) {
        if (!reached[i].overlaps(reached[j])) continue;
        // Two of them pair up once.
        if (j == i || (j < i && std::binary_search(some.begin(), some.end(), j))) continue;
        const auto [a, b] = std::minmax(i, j);
        if (a >= moving_pieces) continue;
        if (boxes[a].distance(boxes[b]) > meeting_distance(scene.pieces[a], scene.pieces[b])) continue;
        if (may_meet(scene, options, a, b)) found[k].push_back({a, b});
      }
    }
  });
  return joined(found);
}

std::vector<CandidatePair> candidate_pairs(const Geometry& scene, const BroadPhaseOptions& options) {
  std::vector<CandidatePair> pairs = piece_pairs(scene, options);
  const std::vector<CandidatePair> surfaces = surface_pairs(scene);
  const auto middle = pairs.insert(pairs.end(), surfaces.begin(), surfaces.end());
  std::inplace_merge(pairs.begin(), middle, pairs.end());
  return pairs;
}

}  // namespace tresse::contact
