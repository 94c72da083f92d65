#pragma once

#include <cmath>
#include <functional>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include <tresse/bodies/shapes.hpp>

/// Surfaces of triangles for tests.
namespace tresse::test {

struct Triangles {
  std::vector<Vector3> vertices;
  std::vector<geometry::Face> faces;
};

/// The square |x|, |y| <= half at z = 0, seen from above, of 2 n^2 triangles.
inline Triangles plate(double half, int n) {
  Triangles out;
  for (int j = 0; j <= n; ++j) {
    for (int i = 0; i <= n; ++i) out.vertices.emplace_back(half * (2.0 * i / n - 1.0), half * (2.0 * j / n - 1.0), 0.0);
  }
  const auto at = [n](int i, int j) { return j * (n + 1) + i; };
  for (int j = 0; j < n; ++j) {
    for (int i = 0; i < n; ++i) {
      out.faces.push_back({at(i, j), at(i + 1, j), at(i + 1, j + 1)});
      out.faces.push_back({at(i, j), at(i + 1, j + 1), at(i, j + 1)});
    }
  }
  return out;
}

/// A closed box of twelve triangles.
inline Triangles box(const Vector3& lower, const Vector3& upper) {
  Triangles out;
  for (int k = 0; k < 8; ++k)
    out.vertices.emplace_back((k & 1) ? upper.x() : lower.x(), (k & 2) ? upper.y() : lower.y(),
                              (k & 4) ? upper.z() : lower.z());
  out.faces = {{0, 2, 3}, {0, 3, 1}, {4, 5, 7}, {4, 7, 6}, {0, 1, 5}, {0, 5, 4},
               {2, 6, 7}, {2, 7, 3}, {0, 4, 6}, {0, 6, 2}, {1, 3, 7}, {1, 7, 5}};
  return out;
}

/// A ball of 20 * 4^levels triangles, its radius given for every direction.
inline Triangles ball(int levels, const std::function<double(const Vector3&)>& radius) {
  const double g = 0.5 * (1.0 + std::sqrt(5.0));
  Triangles out;
  out.vertices = {{-1, g, 0},  {1, g, 0},  {-1, -g, 0}, {1, -g, 0}, {0, -1, g},  {0, 1, g},
                  {0, -1, -g}, {0, 1, -g}, {g, 0, -1},  {g, 0, 1},  {-g, 0, -1}, {-g, 0, 1}};
  out.faces = {{0, 11, 5},  {0, 5, 1},  {0, 1, 7},  {0, 7, 10}, {0, 10, 11}, {1, 5, 9}, {5, 11, 4},
               {11, 10, 2}, {10, 7, 6}, {7, 1, 8},  {3, 9, 4},  {3, 4, 2},   {3, 2, 6}, {3, 6, 8},
               {3, 8, 9},   {4, 9, 5},  {2, 4, 11}, {6, 2, 10}, {8, 6, 7},   {9, 8, 1}};
  for (int level = 0; level < levels; ++level) {
    std::map<std::pair<int, int>, int> middles;
    const auto middle = [&](int i, int j) {
      const auto [it, added] = middles.try_emplace(std::minmax(i, j), static_cast<int>(out.vertices.size()));
      if (added) out.vertices.emplace_back(out.vertices[i].normalized() + out.vertices[j].normalized());
      return it->second;
    };
    std::vector<geometry::Face> finer;
    for (const auto& [a, b, c] : out.faces) {
      const int ab = middle(a, b), bc = middle(b, c), ca = middle(c, a);
      finer.insert(finer.end(), {{a, ab, ca}, {ab, b, bc}, {ca, bc, c}, {ab, bc, ca}});
    }
    out.faces = std::move(finer);
  }
  for (Vector3& x : out.vertices) {
    const Vector3 direction = x.normalized();
    x = radius(direction) * direction;
  }
  return out;
}
inline Triangles ball(int levels, double radius) {
  return ball(levels, [radius](const Vector3&) { return radius; });
}

inline std::shared_ptr<const geometry::MeshTopology> topology_of(const Triangles& triangles) {
  return std::make_shared<const geometry::MeshTopology>(triangles.faces, triangles.vertices);
}

inline std::shared_ptr<const geometry::TriangleMesh> surface_of(const Triangles& triangles) {
  return std::make_shared<const geometry::TriangleMesh>(topology_of(triangles), triangles.vertices);
}

inline bodies::Mesh mesh_of(const Triangles& triangles, double thickness = 0.0) {
  return {std::make_shared<const bodies::Surface>(topology_of(triangles),
                                                  std::vector<std::vector<Vector3>>{triangles.vertices}, 1.0),
          thickness};
}

}  // namespace tresse::test
