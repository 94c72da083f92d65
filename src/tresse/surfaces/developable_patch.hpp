#pragma once

#include <array>
#include <optional>

#include <Eigen/Core>

#include <tresse/surfaces/surface.hpp>

namespace tresse::surfaces {

/// A point of a patch in the axes of its frame, and its derivatives with the curvature k [1/m] and the angle t of the
/// direction that is curved. (3 each)
struct PatchPoint {
  Vector3 x, x_k, x_t, x_kk, x_kt, x_tt;
};

/// Of the material point (a, b) [m] of a patch whose curvature is k along (cos t, sin t): with u, v the coordinates of
/// (a, b) along and across that direction, and the unit vectors t_u, t_v along them,
///   x = v t_v + sin(k u)/k t_u + (1 - cos(k u))/k e_3.
/// By Stumpff functions, without a branch at k = 0. @cite blumentals2016; docs/theory/surfaces.md
PatchPoint patch_point(double a, double b, double k, double t);

/// What a patch is made of.
struct PatchMaterial {
  double length = 0.0;             ///< along the first axis of its frame; > 0 [m]
  double width = 0.0;              ///< along the second; > 0 [m]
  double area_density = 0.0;       ///< rho h; > 0 [kg/m^2]
  double rigidity = 0.0;           ///< D = E h^3 / 12 (1 - nu^2); > 0 [N m]
  double poisson_ratio = 0.0;      ///< in (-1, 0.5]
  double damping_time = 0.0;       ///< of Kelvin and Voigt; >= 0 [s]
  double natural_curvature = 0.0;  ///< k_0 [1/m]
  double natural_angle = 0.0;      ///< t_0, of the direction that is curved, from the first axis [rad]
  bool clamped = true;             ///< whether the frame is fixed; otherwise it is free
};

/// Coordinates of a patch and how they move, apart.
struct PatchState {
  double curvature = 0.0;       ///< k [1/m]
  double angle = 0.0;           ///< t [rad]
  Pose frame = {};              ///< its corner and axes
  double curvature_rate = 0.0;  ///< [1/(m s)]
  double angle_rate = 0.0;      ///< [rad/s]
  Twist velocity = {};          ///< of the frame, world axes; zero where it is clamped
};

/// Velocities of a patch in one vector: (k', t', linear and angular velocity of the frame in its own axes).
using PatchVector = Eigen::Matrix<double, 8, 1>;
using PatchMatrix = Eigen::Matrix<double, 8, 8>;

/// Integrals over a patch in one shape, at one velocity, all in the axes of its frame.
struct PatchIntegrals {
  PatchMatrix mass;                                ///< M, of kinetic energy v^T M v / 2
  Eigen::Vector2d kinetic_slope;                   ///< d(v^T M v / 2)/d(k, t)
  PatchVector inertia;                             ///< A = M' v at constant v: int rho h J^T (dJ/dt) v dA
  Eigen::Matrix<double, 3, 2> first_moment_slope;  ///< d(first_moment)/d(k, t)
  Vector3 first_moment;                            ///< int rho h x dA
};

/// An equilibrium of a clamped patch.
struct PatchRest {
  PatchState state;
  Status status = Status::max_iterations;
  int iterations = 0;
  double residual = 0.0;             ///< of the forces, over D and the weight times the diagonal [-]
  double smallest_eigenvalue = 0.0;  ///< of the second derivative of the potential with (k d, t), d the diagonal [J]
  bool stable() const { return smallest_eigenvalue > 0.0; }
};

/// The inextensible developable patch: a rectangle whose middle surface is a cylinder at every time, of curvature k
/// along a direction at the angle t, both the same all over. Its energy is
///   E = D a b / 2 [(k - k_0)^2 + 2 (1 - nu) k k_0 sin^2(t - t_0)].
/// It touches nothing. @cite bertails2018hdr sec. 2.5; docs/theory/surfaces.md
class DevelopablePatch final : public Surface {
 public:
  /// Throws InvalidInput for what is out of range.
  explicit DevelopablePatch(const PatchMaterial& material);

  const PatchMaterial& material() const { return material_; }
  SurfaceState state_of(const PatchState& state) const;
  PatchState patch_state(const SurfaceState& state) const;

  double elastic_energy(double k, double t) const;
  /// Of elastic_energy(), with (k, t).
  Eigen::Vector2d elastic_slope(double k, double t) const;
  PatchIntegrals integrals(double k, double t, const PatchVector& velocity) const;

  int position_count() const override { return 14; }
  int velocity_count() const override { return 8; }
  const std::vector<geometry::Face>& faces() const override { return faces_; }
  int vertex_count() const override;
  std::vector<Vector3> vertices(const SurfaceState& state) const override;
  SurfaceEnergies energies(const SurfaceState& state, const Vector3& gravity) const override;
  /// Momenta P = dT/dv and p_k, p_t go on with the forces at the stage s = start + theta dt v: with theta = 1/2 the
  /// implicit midpoint rule of Hamilton's equations, with 1 implicit Euler. Where the patch goes through the flat
  /// state, in which t has no meaning, t is chosen anew by Gauss' principle of least constraint.
  [[nodiscard]] SurfaceStepResult advance(const SurfaceState& start, const SurfaceStep& step) const override;

  /// The equilibrium that Newton's method with damping leads to from a shape; its frame stays. Clamped patches only.
  [[nodiscard]] PatchRest rest(const PatchState& from, const Vector3& gravity) const;
  /// The direction in which a patch leaves the flat state: of all t the one along which a step of `dt` from there
  /// departs least from the free motion of its points. `velocity`: of its points before, in the shape (0, from.angle).
  double angle_out_of_flat(const PatchState& from, const SurfaceStep& step) const;
  double diagonal() const;  ///< [m]

 private:
  PatchMaterial material_;
  std::vector<geometry::Face> faces_;
};

}  // namespace tresse::surfaces
