#pragma once

#include <array>
#include <memory>
#include <vector>

#include <tresse/friction/nodal.hpp>
#include <tresse/surfaces/cloth_shape.hpp>
#include <tresse/surfaces/surface.hpp>

namespace tresse::surfaces {
namespace detail {
struct RestTriangle;
}

/// What a cloth is made of. Stiffnesses of the membrane are forces per width.
struct ClothMaterial {
  double area_density = 0.0;       ///< > 0 [kg/m^2]
  double warp_stiffness = 0.0;     ///< tension of a strip along the warp over its strain; > 0 [N/m]
  double weft_stiffness = 0.0;     ///< likewise along the weft; > 0 [N/m]
  double shear_stiffness = 0.0;    ///< > 0 [N/m]
  double poisson_ratio = 0.0;      ///< geometric mean of the two; in (-1, 1) [-]
  double bending_stiffness = 0.0;  ///< moment per width over curvature; >= 0 [N m]
  double damping_time = 0.0;       ///< of Kelvin and Voigt; >= 0 [s]
  double drag = 0.0;               ///< of the air: pressure over the speed along the normal; >= 0 [N s/m^3]
};

/// A vertex whose motion is given.
struct PinnedVertex {
  int vertex = 0;
  Vector3 velocity = Vector3::Zero();  ///< over the step (3) [m/s]
};

/// What a cloth is exposed to over a step.
struct ClothStep {
  double dt = 0.0;                    ///< > 0 [s]
  Vector3 gravity = Vector3::Zero();  ///< (3) [m/s^2]
  Vector3 wind = Vector3::Zero();     ///< (3) [m/s]
  std::vector<PinnedVertex> pins{};   ///< vertices ascending
  /// At vertices that are not pinned, those of one vertex beside each other: u = frame^T v + offset.
  std::vector<friction::NodalContact> contacts{};
  friction::NodalOptions solver{};
  friction::NodalMemory* memory = nullptr;  ///< from step to step of the same cloth: saves time
};

struct ClothStepResult {
  SurfaceState end;
  VectorX impulse;                   ///< of the contacts on the cloth (3 contacts), (normal, t1, t2) each [N s]
  VectorX contact_velocity;          ///< u (3 contacts) [m/s]
  std::vector<Vector3> pin_impulse;  ///< (pins) on the cloth (3) [N s]
  double air_work = 0.0;             ///< done on the cloth by the air [J]
  Status status = Status::max_iterations;
  int iterations = 0;     ///< Newton's steps
  double residual = 0.0;  ///< friction::primal_error() of `end` and `impulse`, computed anew
};

/// Which second derivatives a matrix holds.
enum class Stiffness {
  exact,
  definite,  ///< nothing that could make it indefinite: no compressive stress, no turning of hinges
};

/// Cloth: a mass at each vertex, triangles of uniform strain with the energy of St Venant and Kirchhoff, and edges that
/// resist bending by their angle. @cite grinspun2003; docs/theory/cloth.md. States hold the places and the velocities
/// of the vertices. Same bits for any number of threads.
class Cloth final : public Surface {
 public:
  /// Throws InvalidInput for what is out of range, a face without area and a vertex without a face.
  Cloth(ClothShape shape, const ClothMaterial& material);

  const ClothShape& shape() const { return shape_; }
  const ClothMaterial& material() const { return material_; }
  const VectorX& masses() const { return masses_; }   ///< (n) [kg]
  double area() const { return area_; }               ///< at rest [m^2]
  double shortest_edge() const { return shortest_; }  ///< at rest [m]

  /// Of the vertices' places (3n). [J]
  double elastic_energy(const VectorX& x) const;
  /// Its derivative (3n) [N]
  VectorX elastic_slope(const VectorX& x) const;
  /// Its second derivative (3n, 3n) [N/m]
  friction::BlockMatrix stiffness(const VectorX& x, Stiffness kind) const;

  int position_count() const override { return 3 * vertex_count(); }
  int velocity_count() const override { return position_count(); }
  const std::vector<geometry::Face>& faces() const override { return shape_.faces; }
  int vertex_count() const override { return static_cast<int>(shape_.vertices.size()); }
  std::vector<Vector3> vertices(const SurfaceState& state) const override;
  SurfaceEnergies energies(const SurfaceState& state, const Vector3& gravity) const override;
  /// Without contacts and pins, by implicit Euler whatever `theta` is.
  [[nodiscard]] SurfaceStepResult advance(const SurfaceState& start, const SurfaceStep& step) const override;

  /// A step of implicit Euler, linearised once where it starts:
  ///   (M + dt D + dt^2 K) v = M v_0 + dt F(x_0) + H^T r,  x = x_0 + dt v,
  /// with K and D without what could make them indefinite, and Coulomb's law at the contacts, exactly. Not converged:
  /// the best iterate, with its residual. Throws InvalidInput for pins or contacts out of range.
  [[nodiscard]] ClothStepResult step(const SurfaceState& start, const ClothStep& how) const;

 private:
  struct Terms;
  struct Weights;
  Terms terms(const VectorX& x, bool exact) const;
  VectorX slope(const Terms& at) const;
  friction::BlockMatrix matrix(const Terms& at, const Weights& weights) const;
  /// What the air resists at a vertex: impulse -matrix (v - wind).
  std::vector<Matrix3> air(const VectorX& x, double dt) const;
  void find_uses();

  /// A triangle or a hinge that a vertex is a corner of, and where the blocks of its row stand.
  struct Corner {
    int element = 0, corner = 0;
    std::array<int, 4> place{};
  };

  ClothShape shape_;
  ClothMaterial material_;
  Matrix3 elasticity_;                                                  ///< stress over strain [N/m]
  std::shared_ptr<const std::vector<detail::RestTriangle>> triangles_;  ///< (f)
  std::vector<Hinge> hinges_;                                           ///< (h)
  std::vector<double> hinge_stiffness_;                                 ///< (h) second derivative with the angle [N m]
  std::vector<double> rest_angle_;                                      ///< (h) [rad]
  VectorX masses_;
  double area_ = 0.0, shortest_ = 0.0;
  friction::BlockMatrix pattern_;                      ///< blocks are zero
  std::vector<std::vector<Corner>> of_vertex_;         ///< (n) triangles
  std::vector<std::vector<Corner>> hinges_of_vertex_;  ///< (n)
};

}  // namespace tresse::surfaces
