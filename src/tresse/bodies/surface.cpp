#include <tresse/bodies/surface.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <utility>

#include <tresse/base/errors.hpp>

namespace tresse::bodies {
namespace {

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

std::shared_ptr<const geometry::TriangleMesh> surface_at(const Surface& surface, double time) {
  if (!surface.moves() || time <= 0.0) return surface.first;
  std::vector<Vector3> vertices;
  vertices.reserve(surface.frames.front().size());
  for (int v = 0; v < static_cast<int>(surface.frames.front().size()); ++v) vertices.push_back(surface.vertex(v, time));
  return std::make_shared<const geometry::TriangleMesh>(surface.topology, std::move(vertices));
}

}  // namespace tresse::bodies
