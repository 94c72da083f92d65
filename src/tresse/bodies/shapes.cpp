#include <tresse/bodies/shapes.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include <tresse/base/errors.hpp>

namespace tresse::bodies {
namespace {

struct ToCapsules {
  std::vector<Capsule> operator()(const Plane&) const { return {}; }
  std::vector<Capsule> operator()(const Mesh&) const { return {}; }
  std::vector<Capsule> operator()(const Sphere& sphere) const {
    return {{sphere.center, sphere.center, sphere.radius}};
  }
  std::vector<Capsule> operator()(const Capsule& capsule) const { return {capsule}; }
  std::vector<Capsule> operator()(const Cylinder& cylinder) const {
    const Vector3 half = 0.5 * cylinder.length * cylinder.axis;
    return {{cylinder.center - half, cylinder.center + half, cylinder.radius}};
  }
  std::vector<Capsule> operator()(const Comb& comb) const {
    const double pitch = comb.tooth_diameter + comb.tooth_spacing;
    const double half_width = 0.5 * pitch * (comb.teeth - 1);
    std::vector<Capsule> parts;
    parts.push_back({comb.base - half_width * comb.row_direction, comb.base + half_width * comb.row_direction,
                     0.5 * comb.handle_diameter});
    for (int tooth = 0; tooth < comb.teeth; ++tooth) {
      const Vector3 root = comb.base + (pitch * tooth - half_width) * comb.row_direction;
      parts.push_back({root, root + comb.tooth_length * comb.tooth_direction, 0.5 * comb.tooth_diameter});
    }
    return parts;
  }
};

/// Between which frames a time is, and how far.
struct FramePlace {
  std::size_t before, after;
  double weight;
};

FramePlace frame_at(const Surface& surface, double time) {
  const std::size_t last = surface.frames.size() - 1;
  const double place = std::clamp(time * surface.rate, 0.0, static_cast<double>(last));
  const auto before = std::min(static_cast<std::size_t>(place), last);
  return {before, std::min(before + 1, last), place - static_cast<double>(before)};
}

}  // namespace

Surface::Surface(std::shared_ptr<const geometry::MeshTopology> of, std::vector<std::vector<Vector3>> places,
                 double frame_rate)
    : topology(std::move(of)), frames(std::move(places)), rate(frame_rate) {
  require(!frames.empty(), "mesh: needs a frame");
  require(rate > 0.0 && std::isfinite(rate), "mesh: the rate must be positive and finite");
  for (const std::vector<Vector3>& frame : frames) {
    require(frame.size() == frames.front().size(), "mesh: frames have different numbers of vertices");
    for (const Vector3& x : frame) require(x.allFinite(), "mesh: a vertex is not finite");
  }
  first = std::make_shared<const geometry::TriangleMesh>(topology, frames.front());
}

Vector3 Surface::vertex(int index, double time) const {
  const auto [before, after, weight] = frame_at(*this, time);
  const auto v = static_cast<std::size_t>(index);
  return frames[before][v] + weight * (frames[after][v] - frames[before][v]);
}

double signed_distance(const Shape& shape, const Vector3& point) {
  if (const auto* plane = std::get_if<Plane>(&shape)) return plane->normal.dot(point - plane->point);
  if (const auto* mesh = std::get_if<Mesh>(&shape))
    return geometry::signed_distance(*mesh->surface->first, point) - mesh->thickness;
  double out = std::numeric_limits<double>::infinity();
  for (const Capsule& part : capsules(shape)) {
    const Vector3 axis = part.to - part.from;
    const double length2 = axis.squaredNorm();
    const double share = length2 > 0.0 ? std::clamp((point - part.from).dot(axis) / length2, 0.0, 1.0) : 0.0;
    out = std::min(out, (point - part.from - share * axis).norm() - part.radius);
  }
  return out;
}

std::shared_ptr<const geometry::TriangleMesh> surface_at(const Surface& surface, double time) {
  if (!surface.moves() || time <= 0.0) return surface.first;
  std::vector<Vector3> vertices;
  vertices.reserve(surface.frames.front().size());
  for (int v = 0; v < static_cast<int>(surface.frames.front().size()); ++v) vertices.push_back(surface.vertex(v, time));
  return std::make_shared<const geometry::TriangleMesh>(surface.topology, std::move(vertices));
}

std::vector<Capsule> capsules(const Shape& shape) { return std::visit(ToCapsules{}, shape); }

}  // namespace tresse::bodies
