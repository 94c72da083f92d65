#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include <tresse/contact/broad_phase.hpp>

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

/// All pieces of a geometry as short capsules in a tree of boxes: a complete binary one over the capsules in Morton
/// order, four a leaf.
class LinkTree {
 public:
  /// `growth` (pieces): of each piece's boxes, >= 0 [m].
  LinkTree(const Geometry& scene, const std::vector<double>& growth);

  /// The capsules of one piece.
  const Link* begin(int piece) const { return links_.data() + piece_begin_[static_cast<std::size_t>(piece)]; }
  const Link* end(int piece) const { return links_.data() + piece_begin_[static_cast<std::size_t>(piece) + 1]; }

  /// Grown as it was told.
  const LinkBox& box(const Link& link) const { return boxes_[static_cast<std::size_t>(&link - links_.data())]; }

  /// Calls visit(other) for every capsule whose box overlaps that of `link`, one of this tree's, grown by `more` [m].
  template <typename Visit>
  void overlapping(const Link& link, double more, const Visit& visit) const {
    const LinkBox box = boxes_[static_cast<std::size_t>(&link - links_.data())].grown(more);
    std::array<std::uint32_t, 64> stack;
    std::size_t height = 0;
    if (!nodes_[1].overlaps(box)) return;
    stack[height++] = 1;
    while (height > 0) {
      const std::uint32_t node = stack[--height];
      if (node >= leaves_) {
        const std::size_t first = std::size_t{leaf_size} * (node - leaves_);
        const std::size_t last = std::min(first + leaf_size, order_.size());
        for (std::size_t i = first; i < last; ++i)
          if (ordered_boxes_[i].overlaps(box)) visit(links_[order_[i]]);
        continue;
      }
      for (const std::uint32_t child : {2 * node + 1, 2 * node})
        if (nodes_[child].overlaps(box)) stack[height++] = child;
    }
  }

 private:
  static constexpr std::uint32_t leaf_size = 4;
  void sort_along_curve();
  void build_nodes();

  std::vector<Link> links_;     // piece by piece
  std::vector<LinkBox> boxes_;  // of the links
  std::vector<std::size_t> piece_begin_;
  std::vector<std::uint32_t> order_;    // links in Morton order
  std::vector<LinkBox> ordered_boxes_;  // in that order
  std::vector<LinkBox> nodes_;          // node k has children 2k and 2k + 1; the root is 1
  std::uint32_t leaves_ = 1;            // a power of two
};

}  // namespace tresse::contact::detail
