#include <tresse/contact/intrusions.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>

#include <tresse/base/blocks.hpp>

namespace tresse::contact {
namespace {

/// A point of a centreline; but for the first a chord leads to it from the one before.
struct Sample {
  int piece;
  double s;
  Vector3 at;
};

/// The centreline of a body as a chain of chords.
std::vector<Sample> samples(const Geometry& scene, int first, int last) {
  std::vector<Sample> out;
  for (int i = first; i < last; ++i) {
    const Piece& piece = scene.pieces[static_cast<std::size_t>(i)];
    const double length = piece.interval.end - piece.interval.begin;
    constexpr double most = 1000.0;
    const int chords =
        static_cast<int>(std::clamp(std::ceil(length * std::sqrt(piece.curvature / (2.0 * piece.radius))), 1.0, most));
    for (int k = out.empty() ? 0 : 1; k <= chords; ++k) {
      const double s = k == chords ? piece.interval.end : piece.interval.begin + length * k / chords;
      out.push_back({i, s, geometry::position(piece.curve, s)});
    }
  }
  return out;
}

/// The same seen from a mesh, without what is embedded in it; empty where it is all far away.
std::vector<Sample> near(const Geometry& scene, const std::vector<Sample>& chain, const Mesh& mesh) {
  std::vector<Sample> out;
  geometry::Box box{Vector3::Constant(INFINITY), Vector3::Constant(-INFINITY)};
  for (Sample sample : chain) {
    if (scene.pieces[static_cast<std::size_t>(sample.piece)].embedded_in == mesh.body) continue;
    sample.at = mesh.pose.frame.transpose() * (sample.at - mesh.pose.position);
    box = {box.lower.cwiseMin(sample.at), box.upper.cwiseMax(sample.at)};
    out.push_back(sample);
  }
  if (!box.overlaps(mesh.surface->boxes.front())) out.clear();
  return out;
}

/// Where the chord from x to y goes through a triangle, as a share of it; infinite: nowhere.
double way_through(const Vector3& x, const Vector3& y, const std::array<Vector3, 3>& corners) {
  const Vector3 normal = (corners[1] - corners[0]).cross(corners[2] - corners[0]);
  const double from = normal.dot(x - corners[0]);
  const double to = normal.dot(y - corners[0]);
  if ((from > 0.0) == (to > 0.0)) return INFINITY;
  const double share = from / (from - to);
  const Vector3 at = x + share * (y - x);
  double least = 0.0;
  for (std::size_t k = 0; k < 3; ++k) {
    const Vector3 side = corners[(k + 1) % 3] - corners[k];
    least = std::min(least, normal.dot(side.cross(at - corners[k])));
  }
  constexpr double rounding = 1e-12;  // of the triangle: what passes between two faces passes through one
  return least >= -rounding * normal.squaredNorm() ? share : INFINITY;
}

/// Where the chain goes through the surface first.
std::optional<Sample> first_through(const Geometry& scene, const std::vector<Sample>& chain,
                                    const geometry::TriangleMesh& surface) {
  std::vector<int> faces;
  for (std::size_t i = 1; i < chain.size(); ++i) {
    const Sample& x = chain[i - 1];
    const Sample& y = chain[i];
    faces.clear();
    surface.append_faces({x.at.cwiseMin(y.at), x.at.cwiseMax(y.at)}, faces);
    double share = INFINITY;
    for (const int face : faces) share = std::min(share, way_through(x.at, y.at, surface.corners(face)));
    if (share > 1.0) continue;
    const double begin = x.piece == y.piece ? x.s : scene.pieces[static_cast<std::size_t>(y.piece)].interval.begin;
    return Sample{y.piece, begin + share * (y.s - begin), x.at + share * (y.at - x.at)};
  }
  return std::nullopt;
}

std::optional<Intrusion> intrusion(const Geometry& scene, const std::vector<Sample>& body, std::size_t k) {
  const Mesh& mesh = scene.meshes[k];
  const geometry::TriangleMesh& surface = *mesh.surface;
  const std::vector<Sample> chain = near(scene, body, mesh);
  if (chain.empty()) return std::nullopt;
  const std::optional<Sample> through = first_through(scene, chain, surface);
  const auto inside = [&](const Sample& sample) { return geometry::is_inside(surface, sample.at); };
  if (!through && !inside(chain.front()) && !inside(chain.back())) return std::nullopt;
  // Where it goes through it is on the surface; inside it may be deeper.
  Sample deepest = through.value_or(chain.front());
  double depth = 0.0;
  for (const Sample& sample : chain) {
    const double under = -geometry::signed_distance(surface, sample.at);
    if (under <= depth) continue;
    depth = under;
    deepest = sample;
  }
  const Piece& piece = scene.pieces[static_cast<std::size_t>(deepest.piece)];
  const int index = -1 - static_cast<int>(scene.planes.size() + k);
  return Intrusion{deepest.piece, deepest.s, index, depth + piece.radius + mesh.thickness};
}

}  // namespace

std::vector<Intrusion> intrusions(const Geometry& scene) {
  if (scene.meshes.empty()) return {};
  const std::size_t bodies = scene.body_begin.empty() ? 0 : scene.body_begin.size() - 1;
  std::vector<std::vector<Intrusion>> found(bodies);
  constexpr std::size_t block = 16;
  for_blocks(bodies, block, [&](std::size_t, std::size_t begin, std::size_t end) {
    for (std::size_t body = begin; body < end; ++body) {
      const int first = scene.body_begin[body];
      if (first == scene.body_begin[body + 1] || !scene.pieces[static_cast<std::size_t>(first)].id.moves()) continue;
      const std::vector<Sample> chain = samples(scene, first, scene.body_begin[body + 1]);
      for (std::size_t k = 0; k < scene.meshes.size(); ++k) {
        if (const auto one = intrusion(scene, chain, k)) found[body].push_back(*one);
      }
    }
  });
  return joined(found);
}

}  // namespace tresse::contact
