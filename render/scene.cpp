#include "render/scene.hpp"

#include <fmt/format.h>

#include <tresse/base/errors.hpp>

namespace tresse::render {
namespace {

void validate(const Fibre& fibre, std::size_t index) {
  const Eigen::Index n = fibre.points.cols();
  require(n >= 2, fmt::format("fibre {}: {} centreline points, expected at least 2", index, n));
  require(fibre.radii.size() == n, fmt::format("fibre {}: {} radii for {} points", index, fibre.radii.size(), n));
  require(fibre.tangents.cols() == 0 || fibre.tangents.cols() == n,
          fmt::format("fibre {}: {} tangents for {} points", index, fibre.tangents.cols(), n));
  require(fibre.points.allFinite() && fibre.tangents.allFinite(),
          fmt::format("fibre {}: a point or tangent is not finite", index));
  require(fibre.radii.allFinite() && (fibre.radii.array() > 0).all(),
          fmt::format("fibre {}: a radius is not a positive number", index));
  if (fibre.half_axis_1.cols() == 0 && fibre.half_axis_2.cols() == 0) return;
  require(
      fibre.half_axis_1.cols() == n && fibre.half_axis_2.cols() == n && fibre.tangents.cols() == n,
      fmt::format("fibre {}: an elliptic section needs tangents and both half-axes at each of {} points", index, n));
  const auto squares =
      fibre.half_axis_1.colwise().squaredNorm().cwiseProduct(fibre.half_axis_2.colwise().squaredNorm());
  require(squares.allFinite() && (squares.array() > 0).all(),
          fmt::format("fibre {}: a half-axis is not finite or zero", index));
}

}  // namespace

void validate(const Scene& scene) {
  require(!scene.fibres.empty() || !scene.capsules.empty() || !scene.planes.empty() || !scene.meshes.empty(),
          "nothing to draw");
  for (std::size_t i = 0; i < scene.fibres.size(); ++i) validate(scene.fibres[i], i);
  for (std::size_t i = 0; i < scene.capsules.size(); ++i) {
    const bodies::Bar& c = scene.capsules[i];
    require(c.from.allFinite() && c.to.allFinite() && std::isfinite(c.radius) && c.radius > 0,
            fmt::format("capsule {}: expected finite ends and a positive radius", i));
  }
  const auto fits = [](std::size_t looks, std::size_t solids) { return looks == 0 || looks == solids; };
  require(fits(scene.capsule_obstacle.size(), scene.capsules.size()) &&
              fits(scene.plane_obstacle.size(), scene.planes.size()),
          "obstacles of capsules or planes: expected one each");
  for (std::size_t i = 0; i < scene.markers.size(); ++i) {
    const bodies::Bar& c = scene.markers[i].shape;
    require(c.from.allFinite() && c.to.allFinite() && std::isfinite(c.radius) && c.radius > 0,
            fmt::format("marker {}: expected finite ends and a positive radius", i));
  }
  for (const Mesh& mesh : scene.meshes) {
    for (const Vector3& x : mesh.vertices) require(x.allFinite(), "a vertex of a mesh is not finite");
    for (const auto& face : mesh.faces) {
      for (const int v : face)
        require(v >= 0 && v < static_cast<int>(mesh.vertices.size()),
                "a face of a mesh names a vertex that is not there");
    }
  }
  for (const bodies::HalfSpace& p : scene.planes) {
    require(p.point.allFinite() && std::abs(p.normal.norm() - 1.0) < 1e-6, "a plane's normal is not of unit length");
  }
  if (const auto& ground = scene.ground) {
    require(ground->point.allFinite() && std::abs(ground->normal.norm() - 1.0) < 1e-6 && ground->radius > 0 &&
                std::isfinite(ground->radius),
            "the ground: expected a finite point, a normal of unit length and a positive radius");
  }
}

}  // namespace tresse::render
