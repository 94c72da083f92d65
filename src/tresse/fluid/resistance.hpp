#pragma once

#include <array>
#include <memory>
#include <string_view>
#include <vector>

#include <tresse/base/enum_words.hpp>
#include <tresse/fluid/chains.hpp>

namespace tresse::fluid {

namespace detail {
class InfluenceMatrix;
class RoughInverse;
}  // namespace detail

/// How force densities at nodes, linear between them, are found from the velocities there.
enum class Coupling {
  collocation,  ///< the fluid moves with the nodes: a matrix that is not symmetric
  symmetric,    ///< with the body in the mean over each node's hat function (Galerkin): symmetric, positive definite
};

/// Of a solve for densities.
struct ResistanceResult {
  int iterations = 0;     ///< products with the influence matrix, beside the first
  double residual = 0.0;  ///< |u - A f| over |u|, of the velocities or their means
};

/// What moving through a fluid at rest takes: force densities at the nodes of thin bodies, linear in their velocities.
/// The influence of all on all is written out where the bodies are; the densities follow by a Krylov method, with the
/// factors of an earlier place as preconditioner. The same bits for any number of threads. @cite cortez2018
class Resistance {
 public:
  /// Viscosity > 0 [Pa s]; throws InvalidInput.
  Resistance(double viscosity, Coupling coupling);
  Resistance(const Resistance&) = delete;
  Resistance& operator=(const Resistance&) = delete;
  Resistance(Resistance&&) noexcept;
  Resistance& operator=(Resistance&&) noexcept;
  ~Resistance();

  /// Where the bodies are. Throws InvalidInput for chains of less than two nodes or regularisations that are not
  /// positive. Costs the square of the nodes.
  void place(Chains chains);
  /// Factors the matrix of where the bodies are, for this solve and later ones: all of it where there are up to 1200
  /// nodes, beyond that the part of each chain. Costs the cube of the nodes.
  void factor();
  /// The densities (3n) [N/m] that bodies exert on the fluid when their nodes move with `velocities` (3n) [m/s]; from
  /// those given, until the residual is at most `tolerance`, in at most 100 iterations. After place() and factor().
  [[nodiscard]] ResistanceResult solve(const VectorX& velocities, double tolerance, VectorX& densities) const;
  /// The force at each node of densities: the integral of its hat function times them. (3n) [N]
  VectorX forces(const VectorX& densities) const;

 private:
  double viscosity_;
  Coupling coupling_;
  Chains chains_;
  std::unique_ptr<detail::InfluenceMatrix> influence_;
  std::unique_ptr<detail::RoughInverse> rough_;
};

}  // namespace tresse::fluid

namespace tresse {

template <>
struct Words<fluid::Coupling> {
  static constexpr std::array<std::string_view, 2> list{"collocation", "symmetric"};
};

}  // namespace tresse
