#include <tresse/rods/detail/rounded_polyline.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>

#include <Eigen/Geometry>

#include <tresse/math/gauss_legendre.hpp>
#include <tresse/math/rotations.hpp>
#include <tresse/rods/detail/curve_start.hpp>

namespace tresse::rods::detail {
namespace {

constexpr double turned_back = 2.2;       ///< a corner that turns by more gets two vertices [rad]
constexpr double sharpest = 2.8;          ///< that is rounded [rad]
constexpr double shortening = 0.004;      ///< of the length, by all corners
constexpr double most_coarse = 0.25;      ///< of the length, that is left out at most
constexpr double least_leg = 1e-12;       ///< of the length
constexpr double share_of_corner = 0.45;  ///< of a leg, at either end

double angle_between(const Vector3& a, const Vector3& b) { return std::atan2(a.cross(b).norm(), a.dot(b)); }

/// Whether the points between two stay by the segment that joins those, and in order.
bool follows(std::span<const Vector3> points, std::size_t from, std::size_t to, double near) {
  const Vector3 leg = points[to] - points[from];
  const double length = leg.norm();
  const Vector3 direction = length > 0.0 ? Vector3(leg / length) : Vector3::Zero();
  double reached = 0.0;
  for (std::size_t j = from + 1; j < to; ++j) {
    const Vector3 x = points[j] - points[from];
    const double along = x.dot(direction);
    if ((x - std::clamp(along, 0.0, length) * direction).norm() > near || along < reached - near) return false;
    reached = std::max(reached, along);
  }
  return true;
}

/// Indices of points whose polyline has the others near.
std::vector<std::size_t> simplified(std::span<const Vector3> points, double near) {
  std::vector<std::size_t> out{0};
  const std::size_t last = points.size() - 1;
  while (out.back() < last) {
    std::size_t to = out.back() + 1;
    while (to < last && follows(points, out.back(), to + 1, near)) ++to;
    out.push_back(to);
  }
  if (out.size() > 2 && (points[last] - points[out[out.size() - 2]]).norm() < near) out.erase(out.end() - 2);
  return out;
}

/// Vertices of the polyline that is rounded, and which of them each kept point became: first and last.
struct Vertices {
  std::vector<Vector3> positions;
  std::vector<std::size_t> first, last;
};

Vertices vertices_of(std::span<const Vector3> points, const std::vector<std::size_t>& kept, double offset) {
  Vertices out;
  for (std::size_t i = 0; i < kept.size(); ++i) {
    const Vector3& here = points[kept[i]];
    out.first.push_back(out.positions.size());
    Vector3 aside = Vector3::Zero();
    if (i > 0 && i + 1 < kept.size()) {
      const Vector3 before = (here - points[kept[i - 1]]).normalized();
      const Vector3 after = (points[kept[i + 1]] - here).normalized();
      if (angle_between(before, after) > turned_back) {
        const Vector3 back = (before - after).normalized();
        aside = after - after.dot(back) * back;
        aside = aside.norm() > 1e-6 ? aside.normalized() : back.unitOrthogonal();
      }
    }
    if (!aside.isZero(0.0)) out.positions.emplace_back(here - offset * aside);
    out.last.push_back(out.positions.size());
    out.positions.emplace_back(here + offset * aside);
  }
  return out;
}

/// A corner whose halves have length one.
struct CornerShape {
  double reach = 0.0;  ///< from the vertex to where it begins
  double off = 0.0;    ///< from the vertex to its middle
};

CornerShape corner_shape(double angle, bool affine) {
  const math::GaussRule& rule = math::gauss_legendre(12);
  double along = 0.0, across = 0.0;
  for (std::size_t g = 0; g < rule.nodes.size(); ++g) {
    const double u = rule.nodes[g], turned = 0.5 * angle * (affine ? u * u : u);
    along += rule.weights[g] * std::cos(turned);
    across += rule.weights[g] * std::sin(turned);
  }
  return {along + across * std::tan(0.5 * angle), across / std::cos(0.5 * angle)};
}

struct Corner {
  Vector3 turn = Vector3::Zero();  ///< rotation vector, world axes [rad]
  double half = 0.0;               ///< length of either half
  double reach = 0.0;
};

/// Of the vertices between the ends, as large as the legs and the tolerance allow. Empty for none; nothing where one
/// turns back or a leg has no length.
std::optional<std::vector<Corner>> corners_of(const std::vector<Vector3>& vertices, bool affine, double off) {
  std::vector<Corner> out;
  double shorter = 0.0;
  for (std::size_t i = 1; i < vertices.size(); ++i) {
    const Vector3 leg = vertices[i] - vertices[i - 1];
    if (!(leg.norm() > least_leg)) return std::nullopt;
    if (i + 1 == vertices.size()) break;
    const Vector3 next = vertices[i + 1] - vertices[i];
    if (!(next.norm() > least_leg)) return std::nullopt;
    const double angle = angle_between(leg, next);
    if (angle > sharpest) return std::nullopt;
    const CornerShape shape = corner_shape(angle, affine);
    double half = share_of_corner * std::min(leg.norm(), next.norm()) / shape.reach;
    if (shape.off * half > off) half = off / shape.off;
    out.push_back(
        {math::rotation_log(math::rotation_between(leg.normalized(), next.normalized())), half, shape.reach * half});
    shorter += 2.0 * (out.back().reach - half);
  }
  const double scale = shorter > shortening ? shortening / shorter : 1.0;
  for (Corner& corner : out) {
    corner.half *= scale;
    corner.reach *= scale;
  }
  return out;
}

/// How many elements each leg's straight has, such that the sum is as given: the longest are cut.
std::vector<int> straight_counts(const std::vector<double>& straights, int elements) {
  std::vector<int> out(straights.size(), 1);
  for (int left = elements - static_cast<int>(straights.size()); left > 0; --left) {
    std::size_t longest = 0;
    for (std::size_t i = 1; i < straights.size(); ++i) {
      if (straights[i] / out[i] > straights[longest] / out[longest]) longest = i;
    }
    ++out[longest];
  }
  return out;
}

/// The elements one after another, by length and curvature.
class Builder {
 public:
  Builder(bool affine, const Vector3& begin, const Vector3& direction)
      : affine_(affine), root_{begin, frame_along(direction)}, frame_(root_.frame) {
    if (affine_) curvature_.emplace_back(Vector3::Zero());
  }

  double length() const { return length_; }

  void straight(double length, int elements) {
    for (int i = 0; i < elements; ++i) add(length / elements, Vector3::Zero());
  }

  void corner(const Corner& corner) {
    Vector3 turn = frame_.transpose() * corner.turn;
    turn.x() = 0.0;  // but for rounding
    if (affine_) {
      add(corner.half, turn / corner.half);
      add(corner.half, Vector3::Zero());
    } else {
      add(2.0 * corner.half, turn / (2.0 * corner.half));
    }
    frame_ = math::orthonormalised(math::rotation_exp(corner.turn) * frame_);
  }

  RoundedPolyline built() const {
    RoundedPolyline out{{affine_, {}}, {root_, length_, {}}, {}};
    for (const double part : lengths_) out.model.parts.push_back(part / length_);
    out.shape.turn.resize(3 * static_cast<Eigen::Index>(curvature_.size()));
    for (std::size_t i = 0; i < curvature_.size(); ++i)
      out.shape.turn.segment<3>(3 * static_cast<Eigen::Index>(i)) = length_ * curvature_[i];
    return out;
  }

 private:
  /// With its curvature, or that at its end.
  void add(double length, const Vector3& curvature) {
    lengths_.push_back(length);
    curvature_.push_back(curvature);
    length_ += length;
  }

  bool affine_;
  Pose root_;
  Matrix3 frame_;
  std::vector<double> lengths_;
  std::vector<Vector3> curvature_;
  double length_ = 0.0;
};

/// x of all points from those of the kept ones, by where they lie along the legs.
std::vector<double> places(std::span<const Vector3> points, const std::vector<std::size_t>& kept,
                           const std::vector<double>& at) {
  std::vector<double> out{0.0};
  for (std::size_t i = 1; i < kept.size(); ++i) {
    const Vector3 leg = points[kept[i]] - points[kept[i - 1]];
    double share = 0.0;
    for (std::size_t j = kept[i - 1] + 1; j < kept[i]; ++j) {
      share = std::clamp((points[j] - points[kept[i - 1]]).dot(leg) / leg.squaredNorm(), share, 1.0);
      out.push_back(at[i - 1] + share * (at[i] - at[i - 1]));
    }
    out.push_back(at[i]);
  }
  return out;
}

}  // namespace

std::optional<RoundedPolyline> rounded_polyline(std::span<const Vector3> points, const RoundingOptions& options) {
  constexpr double left_out = 0.15,
                   rounded = 0.5;  // of the tolerance; vertices are set aside as far as points left out
  const std::size_t of_corner = options.affine ? 2 : 1;
  double coarse = left_out * options.tolerance;
  std::vector<std::size_t> kept;
  Vertices vertices;
  for (;; coarse *= 1.5) {
    if (coarse > most_coarse) return std::nullopt;
    kept = simplified(points, coarse);
    vertices = vertices_of(points, kept, coarse);
    const std::size_t count = vertices.positions.size() - 1 + of_corner * (vertices.positions.size() - 2);
    if (count <= static_cast<std::size_t>(options.elements)) break;
  }
  const auto corners = corners_of(vertices.positions, options.affine, std::max(rounded * options.tolerance, coarse));
  if (!corners) return std::nullopt;
  std::vector<double> straights;
  for (std::size_t i = 1; i < vertices.positions.size(); ++i) {
    const double before = i > 1 ? (*corners)[i - 2].reach : 0.0;
    const double after = i <= corners->size() ? (*corners)[i - 1].reach : 0.0;
    straights.push_back((vertices.positions[i] - vertices.positions[i - 1]).norm() - before - after);
  }
  const int left = options.all ? options.elements - static_cast<int>(of_corner * corners->size()) : 0;
  const std::vector<int> counts = straight_counts(straights, left);
  Builder builder(options.affine, points.front(), (vertices.positions[1] - vertices.positions[0]).normalized());
  std::vector<double> middles{0.0};  // arc length at the vertices
  for (std::size_t i = 0; i < straights.size(); ++i) {
    builder.straight(straights[i], counts[i]);
    middles.push_back(builder.length());
    if (i == corners->size()) break;
    middles.back() += (*corners)[i].half;
    builder.corner((*corners)[i]);
  }
  RoundedPolyline out = builder.built();
  std::vector<double> at;
  for (std::size_t i = 0; i < kept.size(); ++i)
    at.push_back(0.5 * (middles[vertices.first[i]] + middles[vertices.last[i]]) / builder.length());
  out.at = places(points, kept, at);
  return out;
}

}  // namespace tresse::rods::detail
