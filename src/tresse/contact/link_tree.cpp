#include <algorithm>
#include <cmath>
#include <limits>

#include <oneapi/tbb/blocked_range.h>
#include <oneapi/tbb/parallel_for.h>
#include <oneapi/tbb/parallel_sort.h>
#include <Eigen/Eigenvalues>

#include <tresse/contact/detail/link_tree.hpp>
#include <tresse/geometry/capsule_chain.hpp>

namespace tresse::contact::detail {
namespace {

constexpr float infinite = std::numeric_limits<float>::infinity();

/// Rows: the axes of the boxes, along which the chords mostly run, as slanted ones fill large boxes.
Matrix3 main_axes(const std::vector<Link>& links) {
  Matrix3 sum = Matrix3::Zero();
  for (const Link& link : links) sum += (link.to - link.from) * (link.to - link.from).transpose();
  return Eigen::SelfAdjointEigenSolver<Matrix3>(sum).eigenvectors().transpose();
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

/// Shorter chords hold slanted fibres in smaller boxes, but there are more of them: measured on combed wisps.
int parts_of(const Piece& piece) {
  constexpr double chord_radii = 160.0;
  constexpr double sagitta_radii = 1.5;
  if (!piece.id.is_fibre()) return geometry::chain_parts(piece.curve, piece.interval, piece.radius, 4.0 * piece.radius);
  return geometry::chain_parts(piece.curve, piece.interval, sagitta_radii * piece.radius, chord_radii * piece.radius);
}

std::vector<Link> links_of(const Geometry& scene, const std::vector<double>& beyond) {
  const std::size_t count = scene.pieces.size();
  std::vector<std::size_t> first(count + 1, 0);
  oneapi::tbb::parallel_for(std::size_t{0}, count,
                            [&](std::size_t i) { first[i + 1] = static_cast<std::size_t>(parts_of(scene.pieces[i])); });
  for (std::size_t i = 0; i < count; ++i) first[i + 1] += first[i];
  std::vector<Link> links(first.back());
  const auto add_links = [&](std::size_t i, geometry::CapsuleChain& chain) {
    const Piece& piece = scene.pieces[i];
    const double reach = piece.radius + piece.travel.reach + (beyond.empty() ? 0.0 : beyond[i]);
    geometry::make_chain(piece.curve, piece.interval, static_cast<int>(first[i + 1] - first[i]), chain);
    for (std::size_t k = first[i]; k < first[i + 1]; ++k) {
      Link& link = links[k];
      link.from = chain.points[k - first[i]];
      link.to = chain.points[k - first[i] + 1];
      link.radius = chain.radius;
      link.piece = static_cast<int>(i);
      const Vector3 arm = 0.5 * (link.from + link.to) - piece.travel.middle;
      link.travel = piece.travel.drift + piece.travel.spin.cross(arm);
      const double size = 0.5 * (link.to - link.from).norm() + link.radius;
      link.growth = reach + piece.travel.spin.norm() * size;
    }
  };
  oneapi::tbb::parallel_for(oneapi::tbb::blocked_range<std::size_t>(0, count), [&](const auto& some) {
    geometry::CapsuleChain chain;
    for (std::size_t i = some.begin(); i < some.end(); ++i) add_links(i, chain);
  });
  return links;
}

}  // namespace

LinkTree::LinkTree(const Geometry& scene, const std::vector<double>& beyond) {
  const std::vector<Link> links = links_of(scene, beyond);
  Vector3 low = Vector3::Constant(std::numeric_limits<double>::infinity());
  Vector3 high = -low;
  double most_radius = 0.0;
  double farthest = 0.0;
  for (const Link& link : links) {
    low = low.cwiseMin(link.from).cwiseMin(link.to);
    high = high.cwiseMax(link.from).cwiseMax(link.to);
    most_radius = std::max(most_radius, link.radius + link.growth);
    farthest = std::max(farthest, link.travel.norm());
  }
  if (!links.empty()) {
    centre_ = 0.5 * (low + high);
    // Coordinates and half chords, their differences, the products of three, root and quotient; what is travelled,
    // differences of it over the levels, their root: 32 roundings at most.
    constexpr double unit = std::numeric_limits<float>::epsilon();
    rounding_ = static_cast<float>(32.0 * unit * ((high - low).norm() + most_radius + farthest));
  }
  const Matrix3 axes = main_axes(links);
  std::vector<Box> boxes(links.size());
  oneapi::tbb::parallel_for(std::size_t{0}, links.size(), [&](std::size_t i) {
    const Link& link = links[i];
    const Vector3 from = axes * (link.from - centre_);
    const Vector3 to = axes * (link.to - centre_);
    const Vector3 travel = axes * link.travel;
    const double grow = link.radius + link.growth + static_cast<double>(rounding_);
    for (Eigen::Index axis = 0; axis < 3; ++axis) {
      const auto k = static_cast<std::size_t>(axis);
      boxes[i].lower[k] = static_cast<float>(std::min(from[axis], to[axis]) - grow);
      boxes[i].upper[k] = static_cast<float>(std::max(from[axis], to[axis]) + grow);
      boxes[i].travel[k] = static_cast<float>(travel[axis]);
    }
  });
  build_nodes(links, boxes);
}

/// Box numbers in Morton order.
std::vector<std::uint32_t> LinkTree::along_curve(const std::vector<Box>& boxes) {
  std::array<float, 3> lower{infinite, infinite, infinite};
  std::array<float, 3> upper{-infinite, -infinite, -infinite};
  for (const Box& box : boxes) {
    for (std::size_t k = 0; k < 3; ++k) {
      lower[k] = std::min(lower[k], box.lower[k]);
      upper[k] = std::max(upper[k], box.upper[k]);
    }
  }
  struct Key {
    std::uint64_t code;
    std::uint32_t box;
    bool operator<(const Key& other) const { return code != other.code ? code < other.code : box < other.box; }
  };
  std::vector<Key> keys(boxes.size());
  oneapi::tbb::parallel_for(std::size_t{0}, boxes.size(), [&](std::size_t i) {
    std::uint64_t code = 0;
    for (std::size_t k = 0; k < 3; ++k) {
      const float size = std::max(upper[k] - lower[k], std::numeric_limits<float>::min());
      const float place = (0.5F * (boxes[i].lower[k] + boxes[i].upper[k]) - lower[k]) / size;
      code |= every_third_bit(static_cast<std::uint64_t>(std::clamp(place, 0.0F, 1.0F) * 0x1fffff)) << k;
    }
    keys[i] = {code, static_cast<std::uint32_t>(i)};
  });
  oneapi::tbb::parallel_sort(keys.begin(), keys.end());
  std::vector<std::uint32_t> order(keys.size());
  for (std::size_t i = 0; i < keys.size(); ++i) order[i] = keys[i].box;
  return order;
}

/// Around eight boxes, each as far as it travels beside their mean.
LinkTree::Box LinkTree::united(const Boxes& boxes) {
  Floats beside = spread(0.0F);
  Box out;
  for (std::size_t k = 0; k < 3; ++k) {
    float sum = 0.0F;
    int count = 0;
    for (int lane = 0; lane < 8; ++lane) {
      if (boxes.lower[k][lane] > boxes.upper[k][lane]) continue;
      sum += boxes.travel[k][lane];
      ++count;
    }
    out.travel[k] = count > 0 ? sum / static_cast<float>(count) : 0.0F;
    const Floats along = boxes.travel[k] - spread(out.travel[k]);
    beside += along * along;
  }
  beside = sqrt(beside);
  for (std::size_t k = 0; k < 3; ++k) {
    out.lower[k] = infinite;
    out.upper[k] = -infinite;
    for (int lane = 0; lane < 8; ++lane) {
      out.lower[k] = std::min(out.lower[k], boxes.lower[k][lane] - beside[lane]);
      out.upper[k] = std::max(out.upper[k], boxes.upper[k][lane] + beside[lane]);
    }
  }
  return out;
}

void LinkTree::build_nodes(const std::vector<Link>& links, const std::vector<Box>& boxes) {
  const auto set = [](Boxes& into, std::size_t lane, const Box& box) {
    const auto l = static_cast<int>(lane);
    for (std::size_t k = 0; k < 3; ++k) {
      into.lower[k][l] = box.lower[k];
      into.upper[k][l] = box.upper[k];
      into.travel[k][l] = box.travel[k];
    }
  };
  constexpr std::size_t width = 8;
  Boxes none;
  for (std::size_t k = 0; k < 3; ++k)
    none.lower[k] = spread(infinite), none.upper[k] = spread(-infinite), none.travel[k] = spread(0.0F);
  const std::vector<std::uint32_t> order = along_curve(boxes);
  leaves_.resize(std::max<std::size_t>(1, (order.size() + width - 1) / width));
  std::vector<Box> below(leaves_.size());
  oneapi::tbb::parallel_for(std::size_t{0}, leaves_.size(), [&](std::size_t n) {
    Leaf& leaf = leaves_[n];
    leaf = Leaf();
    leaf.box = none;
    for (std::size_t lane = 0; lane < width && width * n + lane < order.size(); ++lane) {
      const std::uint32_t index = order[width * n + lane];
      const Link& link = links[index];
      set(leaf.box, lane, boxes[index]);
      const Vector3 middle = 0.5 * (link.from + link.to) - centre_;
      const Vector3 half = 0.5 * (link.to - link.from);
      const auto l = static_cast<int>(lane);
      for (Eigen::Index k = 0; k < 3; ++k) {
        leaf.middle[static_cast<std::size_t>(k)][l] = static_cast<float>(middle[k]);
        leaf.half[static_cast<std::size_t>(k)][l] = static_cast<float>(half[k]);
      }
      leaf.radius[l] = static_cast<float>(link.radius);
      leaf.growth[l] = static_cast<float>(link.growth);
      leaf.piece[lane] = link.piece;
    }
    below[n] = united(leaf.box);
  });
  while (levels_.empty() || levels_.back().size() > 1) {
    std::vector<Boxes> level((below.size() + width - 1) / width, none);
    for (std::size_t n = 0; n < below.size(); ++n) set(level[n / width], n % width, below[n]);
    below.resize(level.size());
    for (std::size_t n = 0; n < level.size(); ++n) below[n] = united(level[n]);
    levels_.push_back(std::move(level));
  }
}

}  // namespace tresse::contact::detail
