#include "render/mesh_normals.hpp"

#include <cmath>
#include <cstdint>
#include <numeric>
#include <unordered_map>

#include <Eigen/Geometry>

namespace tresse::render {
namespace {

/// Corner 3 f + k is that of face f at its vertex k.
class Corners {
 public:
  explicit Corners(const Mesh& mesh) : mesh_(mesh), parent_(3 * mesh.faces.size()) {
    std::iota(parent_.begin(), parent_.end(), std::size_t{0});
  }

  int vertex(std::size_t corner) const { return mesh_.faces[corner / 3][corner % 3]; }

  std::size_t group(std::size_t corner) {
    while (parent_[corner] != corner) corner = parent_[corner] = parent_[parent_[corner]];
    return corner;
  }

  /// Puts together the corners of two faces at the two ends of an edge.
  void join(std::size_t face, std::size_t other, const std::array<int, 2>& edge) {
    for (const int end : edge) parent_[group(at(face, end))] = group(at(other, end));
  }

 private:
  std::size_t at(std::size_t face, int vertex) const {
    for (std::size_t k = 0; k < 2; ++k) {
      if (mesh_.faces[face][k] == vertex) return 3 * face + k;
    }
    return 3 * face + 2;
  }

  const Mesh& mesh_;
  std::vector<std::size_t> parent_;
};

/// As long as twice their areas.
std::vector<Vector3> face_normals(const Mesh& mesh) {
  std::vector<Vector3> out;
  for (const auto& [a, b, c] : mesh.faces)
    out.emplace_back((mesh.vertices[b] - mesh.vertices[a]).cross(mesh.vertices[c] - mesh.vertices[a]));
  return out;
}

}  // namespace

std::vector<std::array<Eigen::Vector3f, 3>> corner_normals(const Mesh& mesh, double crease) {
  const std::vector<Vector3> normals = face_normals(mesh);
  const double least = std::cos(crease);
  Corners corners(mesh);
  std::unordered_map<std::uint64_t, std::size_t> edges;  // of the face seen there last
  for (std::size_t face = 0; face < mesh.faces.size(); ++face) {
    for (std::size_t k = 0; k < 3; ++k) {
      const int a = mesh.faces[face][k];
      const int b = mesh.faces[face][(k + 1) % 3];
      const auto key = static_cast<std::uint64_t>(std::min(a, b)) << 32U | static_cast<std::uint64_t>(std::max(a, b));
      const auto [place, is_new] = edges.try_emplace(key, face);
      if (is_new) continue;
      const std::size_t other = place->second;
      place->second = face;
      const double cosine = normals[face].normalized().dot(normals[other].normalized());
      if (cosine >= least) corners.join(face, other, {a, b});
    }
  }
  std::vector<Vector3> sums(3 * mesh.faces.size(), Vector3::Zero());
  for (std::size_t corner = 0; corner < sums.size(); ++corner) sums[corners.group(corner)] += normals[corner / 3];
  std::vector<std::array<Eigen::Vector3f, 3>> out(mesh.faces.size());
  for (std::size_t corner = 0; corner < sums.size(); ++corner)
    out[corner / 3][corner % 3] = sums[corners.group(corner)].normalized().cast<float>();
  return out;
}

}  // namespace tresse::render
