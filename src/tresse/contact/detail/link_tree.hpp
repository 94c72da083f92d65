#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <vector>

#include <tresse/contact/broad_phase.hpp>
#include <tresse/contact/detail/float_lanes.hpp>

namespace tresse::contact::detail {

/// A capsule around a chord of a piece.
struct Link {
  Vector3 from, to;
  double radius = 0.0;  ///< sagitta: the piece's centreline is within this of the chord [m]
  int piece = 0;
};

/// Axis-aligned box in single precision, rounded outwards.
struct LinkBox {
  std::array<float, 3> lower, upper;

  LinkBox grown(double by) const;
  bool overlaps(const LinkBox& other) const {
    return (lower[0] <= other.upper[0]) & (other.lower[0] <= upper[0]) & (lower[1] <= other.upper[1]) &
           (other.lower[1] <= upper[1]) & (lower[2] <= other.upper[2]) & (other.lower[2] <= upper[2]);
  }
};

/// All pieces of a geometry as short capsules in a tree of boxes, eight children a node, complete over the capsules in
/// Morton order.
class LinkTree {
 public:
  /// `growth` (pieces): of each piece's boxes, >= 0 [m].
  LinkTree(const Geometry& scene, const std::vector<double>& growth);

  /// The capsules of one piece.
  const Link* begin(int piece) const { return links_.data() + piece_begin_[static_cast<std::size_t>(piece)]; }
  const Link* end(int piece) const { return links_.data() + piece_begin_[static_cast<std::size_t>(piece) + 1]; }

  /// Grown as it was told.
  const LinkBox& box(const Link& link) const { return boxes_[static_cast<std::size_t>(&link - links_.data())]; }

  /// Calls visit(piece, bound) for capsules of wanted(piece) whose box overlaps that of `link`, one of this tree's,
  /// grown by `more` [m]; `bound`: a proved lower bound of the two capsules' distance [m].
  template <typename Wanted, typename Visit>
  void near(const Link& link, double more, const Wanted& wanted, const Visit& visit) const {
    const FloatBox box(boxes_[static_cast<std::size_t>(&link - links_.data())].grown(more));
    const FloatSegment segment(link, centre_);
    struct Entry {
      std::uint32_t level, node;
    };
    std::array<Entry, 8 * most_levels> stack;
    std::size_t height = 0;
    stack[height++] = {static_cast<std::uint32_t>(levels_.size()), 0};
    while (height > 0) {
      const Entry top = stack[--height];
      if (top.level > 0) {
        unsigned children = box.overlapping(levels_[top.level - 1][top.node]);
        for (; children != 0; children &= children - 1)
          stack[height++] = {top.level - 1, 8 * top.node + static_cast<std::uint32_t>(std::countr_zero(children))};
        continue;
      }
      const Leaf& leaf = leaves_[top.node];
      unsigned found = 0;
      for (unsigned lanes = box.overlapping(leaf.box); lanes != 0; lanes &= lanes - 1) {
        const int lane = std::countr_zero(lanes);
        if (wanted(leaf.piece[lane])) found |= 1U << lane;
      }
      if (found == 0) continue;
      alignas(32) std::array<float, 8> bound;
      segment.distances(leaf, rounding_, bound.data());
      for (; found != 0; found &= found - 1) {
        const int lane = std::countr_zero(found);
        visit(leaf.piece[lane], static_cast<double>(bound[static_cast<std::size_t>(lane)]) - link.radius);
      }
    }
  }

 private:
  static constexpr std::size_t most_levels = 11;  // 8^11 leaves

  /// Eight boxes; those of none are empty.
  struct alignas(32) Boxes {
    std::array<FloatLanes, 3> lower, upper;
  };
  /// Eight capsules.
  struct alignas(32) Leaf {
    Boxes box;
    std::array<FloatLanes, 3> middle, half;  // of the chords, from the tree's centre
    FloatLanes radius;
    std::array<int, 8> piece;
  };
  struct FloatBox {
    explicit FloatBox(const LinkBox& box) {
      for (std::size_t k = 0; k < 3; ++k) lower[k] = spread(box.lower[k]), upper[k] = spread(box.upper[k]);
    }
    unsigned overlapping(const Boxes& other) const {
      return mask_bits((lower[0] <= other.upper[0]) & (other.lower[0] <= upper[0]) & (lower[1] <= other.upper[1]) &
                       (other.lower[1] <= upper[1]) & (lower[2] <= other.upper[2]) & (other.lower[2] <= upper[2]));
    }
    std::array<FloatLanes, 3> lower, upper;
  };
  struct FloatSegment {
    FloatSegment(const Link& link, const Vector3& centre);
    void distances(const Leaf& leaf, float rounding, float* out) const;
    std::array<FloatLanes, 3> middle, half;
  };

  std::vector<std::uint32_t> along_curve() const;
  void build_nodes(const std::vector<std::uint32_t>& order);

  std::vector<Link> links_;     // piece by piece
  std::vector<LinkBox> boxes_;  // of the links
  std::vector<std::size_t> piece_begin_;
  std::vector<Leaf> leaves_;                // eight links each, in Morton order
  std::vector<std::vector<Boxes>> levels_;  // of the leaves' boxes, of those' and so on; one node at last
  Vector3 centre_ = Vector3::Zero();
  float rounding_ = 0.0F;  // of a distance between capsules in single precision [m]
};

inline LinkTree::FloatSegment::FloatSegment(const Link& link, const Vector3& centre) {
  const Vector3 at = 0.5 * (link.from + link.to) - centre;
  const Vector3 along = 0.5 * (link.to - link.from);
  for (std::size_t k = 0; k < 3; ++k) {
    middle[k] = spread(static_cast<float>(at[static_cast<Eigen::Index>(k)]));
    half[k] = spread(static_cast<float>(along[static_cast<Eigen::Index>(k)]));
  }
}

/// As geometry::segment_separation: the gap between the projections on one direction is a bound whichever it is.
inline void LinkTree::FloatSegment::distances(const Leaf& leaf, float rounding, float* out) const {
  const auto dot = [](const std::array<FloatLanes, 3>& x, const std::array<FloatLanes, 3>& y) {
    return x[0] * y[0] + x[1] * y[1] + x[2] * y[2];
  };
  const std::array<FloatLanes, 3>& p = half;
  const std::array<FloatLanes, 3>& q = leaf.half;
  const std::array<FloatLanes, 3> w = {middle[0] - leaf.middle[0], middle[1] - leaf.middle[1],
                                       middle[2] - leaf.middle[2]};
  const FloatLanes tiny = spread(1e-30F);
  const FloatLanes one = spread(1.0F);
  const auto clamp = [&](FloatLanes x) { return min(max(x, -one), one); };
  const FloatLanes pp = max(dot(p, p), tiny);
  const FloatLanes qq = max(dot(q, q), tiny);
  const FloatLanes pq = dot(p, q);
  const FloatLanes pw = dot(p, w);
  const FloatLanes qw = dot(q, w);
  FloatLanes u = clamp((pq * qw - pw * qq) / max(pp * qq - pq * pq, tiny));
  const FloatLanes v = clamp((pq * u + qw) / qq);
  u = clamp((pq * v - pw) / pp);
  const std::array<FloatLanes, 3> d = {w[0] + u * p[0] - v * q[0], w[1] + u * p[1] - v * q[1],
                                       w[2] + u * p[2] - v * q[2]};
  const FloatLanes gap = dot(d, w) - abs(dot(d, p)) - abs(dot(d, q));
  store(gap / max(sqrt(dot(d, d)), tiny) - leaf.radius - spread(rounding), out);
}

}  // namespace tresse::contact::detail
