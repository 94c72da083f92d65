#pragma once

#include <vector>

#include <tresse/base/status.hpp>
#include <tresse/base/types.hpp>
#include <tresse/geometry/triangle_mesh.hpp>

/// Bodies that are surfaces: docs/theory/surfaces.md.
namespace tresse::surfaces {

/// Where a surface is and how it moves, in the coordinates of its model.
struct SurfaceState {
  VectorX position;
  VectorX velocity;
};

struct SurfaceEnergies {
  double kinetic = 0.0;  ///< [J]
  double elastic = 0.0;  ///< [J]
  double gravity = 0.0;  ///< -int rho h g . r dA [J]
};

/// What a surface is exposed to over a step.
struct SurfaceStep {
  double dt = 0.0;                    ///< > 0 [s]
  double theta = 1.0;                 ///< where in the step forces are taken; 0.5 to 1
  Vector3 gravity = Vector3::Zero();  ///< (3) [m/s^2]
};

struct SurfaceStepResult {
  SurfaceState end;
  Status status = Status::max_iterations;
  int iterations = 0;
  double residual = 0.0;  ///< relative, recomputed at `end`
};

/// What a surface is made of: immutable, shared by those who read it.
class Surface {
 public:
  virtual ~Surface() = default;

  virtual int position_count() const = 0;
  virtual int velocity_count() const = 0;
  /// Triangles over the vertices that are drawn and written.
  virtual const std::vector<geometry::Face>& faces() const = 0;
  virtual int vertex_count() const = 0;
  virtual std::vector<Vector3> vertices(const SurfaceState& state) const = 0;
  virtual SurfaceEnergies energies(const SurfaceState& state, const Vector3& gravity) const = 0;
  /// One step. Not converged: the best iterate, with its residual.
  [[nodiscard]] virtual SurfaceStepResult advance(const SurfaceState& start, const SurfaceStep& step) const = 0;

 protected:
  Surface() = default;
  Surface(const Surface&) = default;
  Surface& operator=(const Surface&) = default;
};

}  // namespace tresse::surfaces
