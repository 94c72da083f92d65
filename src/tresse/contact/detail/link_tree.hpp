#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

#include <tresse/base/triple.hpp>
#include <tresse/contact/pieces.hpp>

namespace tresse::contact::detail {

using lanes::abs;
using lanes::Floats;
using lanes::mask_bits;
using lanes::max;
using lanes::min;
using lanes::spread;
using lanes::sqrt;

/// A capsule around a chord of a piece, and what it may do during the step.
struct Link {
  Vector3 from, to;
  double radius = 0.0;  ///< sagitta: the piece's centreline is within this of the chord [m]
  int piece = 0;
  Vector3 travel;       ///< of the middle (3) [m]
  double growth = 0.0;  ///< the piece's radius, and how far its points may go beside `travel` [m]
};

/// All pieces of a geometry as short capsules in a tree of boxes, eight children a node, complete over the capsules in
/// Morton order. A box covers its capsules grown by their growth, and as far as they travel beside the mean of their
/// node, so that two nodes may meet only where their boxes do once grown by what their means differ: what a wisp does
/// together costs nothing.
class LinkTree {
 public:
  /// `beyond`: how much farther than its travel each piece reaches [m]; empty: no piece does.
  explicit LinkTree(const Geometry& scene, const std::vector<double>& beyond = {});

  std::size_t leaf_count() const { return leaves_.size(); }

  /// Calls visit(piece, other, bound) for capsules of two pieces, the first in leaf `n`, the second there or in a later
  /// one, that may meet during the step; `bound`: a proved lower bound of the two capsules' distance [m]. All leaves
  /// together: every two, some of them twice, in any order.
  template <typename Visit>
  void join(std::size_t n, const Visit& visit) const {
    const Leaf& own = leaves_[n];
    const FloatBox around(levels_.front()[n / 8], n % 8);
    struct Entry {
      std::uint32_t level, node;
    };
    std::array<Entry, 8 * most_levels> stack;
    std::size_t height = 0;
    stack[height++] = {static_cast<std::uint32_t>(levels_.size()), 0};
    while (height > 0) {
      const Entry top = stack[--height];
      if (top.level == 0) {
        const unsigned lanes = FloatBox(levels_.front()[top.node / 8], top.node % 8).overlapping(own.box);
        join(own, lanes, leaves_[top.node], n == top.node, visit);
        continue;
      }
      unsigned children = around.overlapping(levels_[top.level - 1][top.node]);
      for (; children != 0; children &= children - 1) {
        const std::uint32_t child = 8 * top.node + static_cast<std::uint32_t>(std::countr_zero(children));
        const std::size_t past = (std::size_t{child} + 1) << (3 * (top.level - 1));  // its last leaf
        if (past > n) stack[height++] = {top.level - 1, child};
      }
    }
  }

 private:
  static constexpr std::size_t most_levels = 11;  // 8^11 leaves

  /// In single precision, rounded outwards.
  struct Box {
    std::array<float, 3> lower, upper;
    std::array<float, 3> travel;  ///< that the box does not cover
  };
  /// Eight boxes; those of none are empty.
  struct alignas(32) Boxes {
    Triple<Floats> lower, upper, travel;
  };
  /// Eight capsules.
  struct alignas(32) Leaf {
    Boxes box;
    Triple<Floats> middle, half;  // of the chords, from the tree's centre
    Floats radius, growth;
    std::array<int, 8> piece;
  };
  /// One box, against eight.
  struct FloatBox {
    FloatBox(const Boxes& boxes, std::size_t lane) {
      const auto l = static_cast<int>(lane);
      for (std::size_t k = 0; k < 3; ++k) {
        lower[k] = spread(boxes.lower[k][l]);
        upper[k] = spread(boxes.upper[k][l]);
        travel[k] = spread(boxes.travel[k][l]);
      }
    }
    /// How far the travel of each differs from this one's.
    Floats parting(const Boxes& other) const {
      Floats sum = spread(0.0F);
      for (std::size_t k = 0; k < 3; ++k) sum += (travel[k] - other.travel[k]) * (travel[k] - other.travel[k]);
      return sqrt(sum);
    }
    /// Those that overlap it, grown by `parting`.
    unsigned overlapping(const Boxes& other, Floats parting) const {
      const auto along = [&](std::size_t k) {
        return (lower[k] - parting <= other.upper[k]) & (other.lower[k] - parting <= upper[k]);
      };
      return mask_bits(along(0) & along(1) & along(2));
    }
    unsigned overlapping(const Boxes& other) const { return overlapping(other, parting(other)); }
    Triple<Floats> lower, upper, travel;
  };
  /// One chord, against eight.
  struct FloatSegment {
    FloatSegment(const Leaf& leaf, int lane) {
      for (std::size_t k = 0; k < 3; ++k)
        middle[k] = spread(leaf.middle[k][lane]), half[k] = spread(leaf.half[k][lane]);
    }
    Floats distances(const Leaf& leaf, float rounding) const;
    Triple<Floats> middle, half;
  };

  template <typename Visit>
  void join(const Leaf& own, unsigned lanes, const Leaf& other, bool same, const Visit& visit) const {
    for (; lanes != 0; lanes &= lanes - 1) {
      const int lane = std::countr_zero(lanes);
      const FloatBox box(own.box, static_cast<std::size_t>(lane));
      const Floats parting = box.parting(other.box);
      unsigned found = box.overlapping(other.box, parting);
      if (same) found &= ~0U << (lane + 1);
      if (found == 0) continue;
      const Floats bound = FloatSegment(own, lane).distances(other, rounding_) - spread(own.radius[lane]);
      found &= mask_bits(bound <= spread(own.growth[lane]) + other.growth + parting);
      for (; found != 0; found &= found - 1) {
        const int k = std::countr_zero(found);
        const int piece = other.piece[static_cast<std::size_t>(k)];
        if (piece != own.piece[static_cast<std::size_t>(lane)])
          visit(own.piece[static_cast<std::size_t>(lane)], piece, static_cast<double>(bound[k]));
      }
    }
  }
  static std::vector<std::uint32_t> along_curve(const std::vector<Box>& boxes);
  static Box united(const Boxes& boxes);
  void build_nodes(const std::vector<Link>& links, const std::vector<Box>& boxes);

  std::vector<Leaf> leaves_;                // eight links each, in Morton order
  std::vector<std::vector<Boxes>> levels_;  // of the leaves' boxes, of those' and so on; one node at last
  Vector3 centre_ = Vector3::Zero();
  float rounding_ = 0.0F;  // of a distance between capsules in single precision [m]
};

/// The gap between the projections on one direction, that of the nearest points: a bound whichever it is.
inline Floats LinkTree::FloatSegment::distances(const Leaf& leaf, float rounding) const {
  const Triple<Floats>& p = half;
  const Triple<Floats>& q = leaf.half;
  const Triple<Floats> w = middle - leaf.middle;
  const Floats tiny = spread(1e-30F);
  const Floats one = spread(1.0F);
  const auto clamp = [&](Floats x) { return min(max(x, -one), one); };
  const Floats pp = max(dot(p, p), tiny);
  const Floats qq = max(dot(q, q), tiny);
  const Floats pq = dot(p, q);
  const Floats pw = dot(p, w);
  const Floats qw = dot(q, w);
  Floats u = clamp((pq * qw - pw * qq) / max(pp * qq - pq * pq, tiny));
  const Floats v = clamp((pq * u + qw) / qq);
  u = clamp((pq * v - pw) / pp);
  const Triple<Floats> d = w + u * p - v * q;
  const Floats gap = dot(d, w) - abs(dot(d, p)) - abs(dot(d, q));
  return gap / max(sqrt(dot(d, d)), tiny) - leaf.radius - spread(rounding);
}

}  // namespace tresse::contact::detail
