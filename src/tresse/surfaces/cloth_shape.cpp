#include <tresse/surfaces/cloth_shape.hpp>

#include <algorithm>
#include <cmath>
#include <map>
#include <numbers>
#include <utility>

#include <Eigen/Geometry>

#include <tresse/base/errors.hpp>

namespace tresse::surfaces {
namespace {

bool positive(double x) { return x > 0.0 && std::isfinite(x); }

}  // namespace

ClothShape rectangle(double length, double width, const std::array<int, 2>& cells) {
  require(positive(length) && positive(width), "cloth: sides must be positive");
  require(cells[0] >= 1 && cells[1] >= 1, "cloth: needs a cell along each side");
  ClothShape out;
  const int n = cells[0];
  std::vector<int> first;  // of each row
  for (int j = 0; j <= cells[1]; ++j) {
    first.push_back(static_cast<int>(out.vertices.size()));
    const int count = j % 2 == 0 ? n + 1 : n + 2;
    for (int i = 0; i < count; ++i) {
      const double place = j % 2 == 0 ? i : std::clamp(i - 0.5, 0.0, static_cast<double>(n));
      out.vertices.emplace_back(length * place / n, width * j / cells[1], 0.0);
    }
  }
  for (int j = 0; j < cells[1]; ++j) {
    const bool even = j % 2 == 0;
    const int low = first[static_cast<std::size_t>(j)], high = first[static_cast<std::size_t>(j + 1)];
    const int plain = even ? low : high, shifted = even ? high : low;
    const auto add = [&](int a, int b, int c) {
      out.faces.push_back(even ? geometry::Face{a, b, c} : geometry::Face{a, c, b});
    };
    for (int i = 0; i <= n; ++i) {
      add(plain + i, shifted + i + 1, shifted + i);
      if (i < n) add(plain + i, plain + i + 1, shifted + i + 1);
    }
  }
  out.warp.assign(out.faces.size(), Vector3::UnitX());
  return out;
}

ClothShape disc(double radius, int rings) {
  require(positive(radius), "cloth: radius must be positive");
  require(rings >= 1, "cloth: needs a ring at least");
  ClothShape out;
  out.vertices.push_back(Vector3::Zero());
  const auto first = [](int ring) { return ring == 0 ? 0 : 1 + 3 * ring * (ring - 1); };
  const auto at = [&](int ring, int place) { return ring == 0 ? 0 : first(ring) + place % (6 * ring); };
  for (int ring = 1; ring <= rings; ++ring) {
    for (int k = 0; k < 6 * ring; ++k) {
      const double angle = 2.0 * std::numbers::pi * k / (6 * ring);
      out.vertices.emplace_back(radius * ring / rings * std::cos(angle), radius * ring / rings * std::sin(angle), 0.0);
    }
    // A sixth after the other: `ring` triangles with their tip inwards, and one less with it outwards.
    for (int sixth = 0; sixth < 6; ++sixth) {
      for (int k = 0; k < ring; ++k) {
        const int outer = sixth * ring + k, inner = sixth * (ring - 1) + k;
        out.faces.push_back({at(ring, outer), at(ring, outer + 1), at(ring - 1, inner)});
        if (k + 1 < ring) out.faces.push_back({at(ring - 1, inner), at(ring, outer + 1), at(ring - 1, inner + 1)});
      }
    }
  }
  out.warp.assign(out.faces.size(), Vector3::UnitX());
  return out;
}

ClothShape sleeve(double low, double high, double height, const std::array<int, 2>& cells) {
  require(positive(low) && positive(high) && positive(height), "cloth: radii and height must be positive");
  require(cells[0] >= 3 && cells[1] >= 1, "cloth: needs three cells around, and one along");
  ClothShape out;
  const auto at = [&](int i, int j) { return j * cells[0] + i % cells[0]; };
  for (int j = 0; j <= cells[1]; ++j) {
    const double share = static_cast<double>(j) / cells[1], radius = low + share * (high - low);
    for (int i = 0; i < cells[0]; ++i) {
      const double angle = 2.0 * std::numbers::pi * (i + 0.5 * (j % 2)) / cells[0];
      out.vertices.emplace_back(radius * std::cos(angle), radius * std::sin(angle), share * height);
    }
  }
  for (int j = 0; j < cells[1]; ++j) {
    const int shift = j % 2;  // of the vertex above that two neighbours have between them
    for (int i = 0; i < cells[0]; ++i) {
      out.faces.push_back({at(i, j), at(i + 1, j), at(i + shift, j + 1)});
      out.faces.push_back({at(i + 1 - shift, j), at(i + 1, j + 1), at(i, j + 1)});
    }
  }
  // Along the lines of the cone, in the plane of each face.
  for (const geometry::Face& face : out.faces) {
    Vector3 middle = Vector3::Zero();
    for (const int v : face) middle += out.vertices[static_cast<std::size_t>(v)] / 3.0;
    const Vector3 outwards = Vector3(middle.x(), middle.y(), 0.0).normalized();
    out.warp.emplace_back(((high - low) * outwards + height * Vector3::UnitZ()).normalized());
  }
  return out;
}

ClothShape sheet(std::vector<Vector3> vertices, std::vector<geometry::Face> faces, const Vector3& warp) {
  ClothShape out{std::move(vertices), std::move(faces), {}};
  constexpr double across = 1e-3;  // of the direction that is left in the plane
  for (const geometry::Face& face : out.faces) {
    std::array<Vector3, 3> x;
    for (std::size_t k = 0; k < 3; ++k) {
      require(face[k] >= 0 && static_cast<std::size_t>(face[k]) < out.vertices.size(),
              "cloth: a face names a vertex that is not there");
      x[k] = out.vertices[static_cast<std::size_t>(face[k])];
    }
    const Vector3 normal = geometry::triangle_normal(x);
    const Vector3 in_plane = warp - warp.dot(normal) * normal;
    out.warp.push_back(in_plane.norm() > across * warp.norm() ? in_plane.normalized() : (x[1] - x[0]).normalized());
  }
  return out;
}

std::vector<Hinge> hinges(const std::vector<geometry::Face>& faces) {
  struct Side {
    int face = -1, across = -1;
    bool taken = false;
  };
  std::map<std::pair<int, int>, Side> sides;  // by the directed edge
  for (std::size_t f = 0; f < faces.size(); ++f) {
    for (std::size_t k = 0; k < 3; ++k) {
      const std::pair<int, int> edge(faces[f][k], faces[f][(k + 1) % 3]);
      require(sides.emplace(edge, Side{static_cast<int>(f), faces[f][(k + 2) % 3]}).second,
              "cloth: two faces run through one edge the same way; expected a sheet with two sides");
    }
  }
  std::vector<Hinge> out;
  for (const geometry::Face& face : faces) {
    for (std::size_t k = 0; k < 3; ++k) {
      const std::pair<int, int> edge(face[k], face[(k + 1) % 3]), back(edge.second, edge.first);
      const auto other = sides.find(back);
      Side& own = sides.find(edge)->second;
      if (other == sides.end() || own.taken) continue;
      own.taken = other->second.taken = true;
      out.push_back({{edge.first, edge.second, own.across, other->second.across}});
    }
  }
  return out;
}

}  // namespace tresse::surfaces
