#pragma once

#include <memory>

#include <tresse/grains/medium.hpp>

namespace tresse::grains {

struct FlowStep {
  Vector3 gravity = Vector3::Zero();  ///< (3) [m/s^2]
  double dt = 1e-3;                   ///< > 0 [s]
  double tolerance = 1e-10;           ///< on GrainReport::residual; > 0
  int max_iterations = 2000;          ///< factors of the matrix; >= 1
};

/// Dense grains that flow through a grid: incompressible but for dilation, viscous, and held by friction within the
/// cone of Drucker and Prager. Steps are implicit in viscosity and friction; the velocity is first carried along the
/// paths of the grains. docs/theory/grains.md. The same bits for any number of threads.
class Flow {
 public:
  /// Throws as validate().
  explicit Flow(const Medium& medium);
  Flow(const Flow&) = delete;
  Flow& operator=(const Flow&) = delete;
  Flow(Flow&&) noexcept;
  Flow& operator=(Flow&&) noexcept;
  ~Flow();

  const Medium& medium() const;
  /// Advances the state. Where the new one or its residual holds a NaN or an infinity the report says so and the state
  /// stays. Throws InvalidInput where sizes or numbers are wrong, and Interrupted; then the state stays too.
  [[nodiscard]] GrainReport step(const FlowStep& how, GrainState& state);

  /// Of a state: pressure (cells) [Pa], 0 in solid cells; stress of the friction, tension positive (cells, 3, 3) by
  /// rows [Pa]; |Dev D|, Frobenius' norm over sqrt(2) (cells) [1/s]; div v (cells) [1/s].
  VectorX pressure(const GrainState& state) const;
  VectorX friction_stress(const GrainState& state) const;
  VectorX shear_rate(const GrainState& state) const;
  VectorX divergence(const GrainState& state) const;
  double kinetic(const GrainState& state) const;  ///< [J]
  double mass() const;                            ///< of the cells with grains [kg]
  int unknown_count() const;                      ///< velocities that walls leave free

  class Implementation;

 private:
  std::unique_ptr<Implementation> implementation_;
};

}  // namespace tresse::grains
