#include <algorithm>
#include <cmath>
#include <limits>

#include <oneapi/tbb/parallel_for.h>
#include <oneapi/tbb/parallel_sort.h>
#include <Eigen/Eigenvalues>

#include <tresse/contact/detail/link_tree.hpp>
#include <tresse/geometry/capsule_chain.hpp>

namespace tresse::contact::detail {
namespace {

constexpr float infinite = std::numeric_limits<float>::infinity();
constexpr LinkBox empty_box{{infinite, infinite, infinite}, {-infinite, -infinite, -infinite}};

/// Rows: the axes of the boxes, along which the chords mostly run, as slanted ones fill large boxes.
Matrix3 main_axes(const std::vector<Link>& links) {
  Matrix3 sum = Matrix3::Zero();
  for (const Link& link : links) sum += (link.to - link.from) * (link.to - link.from).transpose();
  return Eigen::SelfAdjointEigenSolver<Matrix3>(sum).eigenvectors().transpose();
}

LinkBox box_of(const Link& link, const Matrix3& axes, double grow) {
  LinkBox out;
  const Vector3 from = axes * link.from;
  const Vector3 to = axes * link.to;
  const double rounding = 4.0 * std::numeric_limits<double>::epsilon() * (from.norm() + to.norm());
  for (int axis = 0; axis < 3; ++axis) {
    const double low = std::min(from[axis], to[axis]) - link.radius - grow - rounding;
    const double high = std::max(from[axis], to[axis]) + link.radius + grow + rounding;
    const auto k = static_cast<std::size_t>(axis);
    out.lower[k] = std::nextafter(static_cast<float>(low), -infinite);
    out.upper[k] = std::nextafter(static_cast<float>(high), infinite);
  }
  return out;
}

LinkBox united(const LinkBox& a, const LinkBox& b) {
  LinkBox out;
  for (std::size_t k = 0; k < 3; ++k) {
    out.lower[k] = std::min(a.lower[k], b.lower[k]);
    out.upper[k] = std::max(a.upper[k], b.upper[k]);
  }
  return out;
}

/// Spreads the lowest 21 bits to every third.
std::uint64_t every_third_bit(std::uint64_t x) {
  x &= 0x1fffff;
  x = (x | x << 32) & 0x1f00000000ffff;
  x = (x | x << 16) & 0x1f0000ff0000ff;
  x = (x | x << 8) & 0x100f00f00f00f00f;
  x = (x | x << 4) & 0x10c30c30c30c30c3;
  x = (x | x << 2) & 0x1249249249249249;
  return x;
}

/// Shorter chords hold slanted fibres in smaller boxes, but there are more of them: measured on a wisp of straight
/// fibres.
int parts_of(const Piece& piece) {
  constexpr double chord_radii = 160.0;
  constexpr double sagitta_radii = 1.5;
  if (!piece.fibre) return geometry::chain_parts(piece.curve, piece.interval, piece.radius, 4.0 * piece.radius);
  return geometry::chain_parts(piece.curve, piece.interval, sagitta_radii * piece.radius, chord_radii * piece.radius);
}

}  // namespace

LinkBox LinkBox::grown(double by) const {
  LinkBox out;
  for (std::size_t k = 0; k < 3; ++k) {
    out.lower[k] = std::nextafter(static_cast<float>(lower[k] - by), -infinite);
    out.upper[k] = std::nextafter(static_cast<float>(upper[k] + by), infinite);
  }
  return out;
}

LinkTree::LinkTree(const Geometry& scene, const std::vector<double>& growth) {
  const std::size_t count = scene.pieces.size();
  piece_begin_.assign(count + 1, 0);
  oneapi::tbb::parallel_for(std::size_t{0}, count, [&](std::size_t i) {
    piece_begin_[i + 1] = static_cast<std::size_t>(parts_of(scene.pieces[i]));
  });
  for (std::size_t i = 0; i < count; ++i) piece_begin_[i + 1] += piece_begin_[i];
  links_.resize(piece_begin_.back());
  boxes_.resize(links_.size());
  oneapi::tbb::parallel_for(std::size_t{0}, count, [&](std::size_t i) {
    thread_local geometry::CapsuleChain chain;
    const Piece& piece = scene.pieces[i];
    const std::size_t first = piece_begin_[i];
    geometry::make_chain(piece.curve, piece.interval, static_cast<int>(piece_begin_[i + 1] - first), chain);
    for (std::size_t k = first; k < piece_begin_[i + 1]; ++k)
      links_[k] = {chain.points[k - first], chain.points[k - first + 1], chain.radius, static_cast<int>(i)};
  });
  const Matrix3 axes = main_axes(links_);
  oneapi::tbb::parallel_for(std::size_t{0}, links_.size(), [&](std::size_t k) {
    boxes_[k] = box_of(links_[k], axes, growth[static_cast<std::size_t>(links_[k].piece)]);
  });
  Vector3 low = Vector3::Constant(std::numeric_limits<double>::infinity());
  Vector3 high = -low;
  double most_radius = 0.0;
  for (const Link& link : links_) {
    low = low.cwiseMin(link.from).cwiseMin(link.to);
    high = high.cwiseMax(link.from).cwiseMax(link.to);
    most_radius = std::max(most_radius, link.radius);
  }
  if (!links_.empty()) {
    centre_ = 0.5 * (low + high);
    // Coordinates and half chords, their differences, the products of three, root and quotient: 16 roundings at most.
    constexpr double unit = std::numeric_limits<float>::epsilon();
    rounding_ = static_cast<float>(16.0 * unit * ((high - low).norm() + most_radius));
  }
  build_nodes(along_curve());
}

/// The links in Morton order.
std::vector<std::uint32_t> LinkTree::along_curve() const {
  LinkBox whole = empty_box;
  for (const LinkBox& box : boxes_) whole = united(whole, box);
  struct Key {
    std::uint64_t code;
    std::uint32_t link;
    bool operator<(const Key& other) const { return code != other.code ? code < other.code : link < other.link; }
  };
  std::vector<Key> keys(links_.size());
  oneapi::tbb::parallel_for(std::size_t{0}, links_.size(), [&](std::size_t i) {
    std::uint64_t code = 0;
    for (std::size_t k = 0; k < 3; ++k) {
      const float size = std::max(whole.upper[k] - whole.lower[k], std::numeric_limits<float>::min());
      const float place = (0.5F * (boxes_[i].lower[k] + boxes_[i].upper[k]) - whole.lower[k]) / size;
      code |= every_third_bit(static_cast<std::uint64_t>(std::clamp(place, 0.0F, 1.0F) * 0x1fffff)) << k;
    }
    keys[i] = {code, static_cast<std::uint32_t>(i)};
  });
  oneapi::tbb::parallel_sort(keys.begin(), keys.end());
  std::vector<std::uint32_t> order(keys.size());
  for (std::size_t i = 0; i < keys.size(); ++i) order[i] = keys[i].link;
  return order;
}

void LinkTree::build_nodes(const std::vector<std::uint32_t>& order) {
  const auto add = [](Boxes& boxes, std::size_t lane, const LinkBox& box) {
    for (std::size_t k = 0; k < 3; ++k) {
      boxes.lower[k][static_cast<int>(lane)] = box.lower[k];
      boxes.upper[k][static_cast<int>(lane)] = box.upper[k];
    }
  };
  constexpr std::size_t width = 8;
  Boxes none;
  for (std::size_t lane = 0; lane < width; ++lane) add(none, lane, empty_box);
  const std::size_t count = std::max<std::size_t>(1, (order.size() + width - 1) / width);
  leaves_.resize(count);
  std::vector<LinkBox> united_boxes(count, empty_box);
  oneapi::tbb::parallel_for(std::size_t{0}, count, [&](std::size_t n) {
    Leaf& leaf = leaves_[n];
    leaf = Leaf();
    leaf.box = none;
    for (std::size_t lane = 0; lane < width && width * n + lane < order.size(); ++lane) {
      const std::uint32_t index = order[width * n + lane];
      const Link& link = links_[index];
      const FloatSegment segment(link, centre_);
      add(leaf.box, lane, boxes_[index]);
      const auto l = static_cast<int>(lane);
      for (std::size_t k = 0; k < 3; ++k) {
        leaf.middle[k][l] = segment.middle[k][0];
        leaf.half[k][l] = segment.half[k][0];
      }
      leaf.radius[l] = static_cast<float>(link.radius);
      leaf.piece[lane] = link.piece;
      united_boxes[n] = united(united_boxes[n], boxes_[index]);
    }
  });
  levels_.clear();
  while (levels_.empty() || levels_.back().size() > 1) {
    std::vector<Boxes> level((united_boxes.size() + width - 1) / width, none);
    std::vector<LinkBox> above(level.size(), empty_box);
    for (std::size_t n = 0; n < united_boxes.size(); ++n) {
      add(level[n / width], n % width, united_boxes[n]);
      above[n / width] = united(above[n / width], united_boxes[n]);
    }
    levels_.push_back(std::move(level));
    united_boxes = std::move(above);
  }
}

}  // namespace tresse::contact::detail
