#pragma once

#include <functional>

#include <tresse/friction/detail/complementarity.hpp>
#include <tresse/friction/detail/newton_system.hpp>
#include <tresse/friction/detail/sweep_policy.hpp>

/// One Newton frame for all complementarity functions, on u = W r + q scaled to mean diagonal 1, W dense or in blocks.
namespace tresse::friction::detail {

/// Halving until |F| falls a little, or Goldstein and Price's rule on |F|^2/2, by bisection.
/// @cite bertails2011 sec. 4
enum class LineSearch { none, halving, goldstein_price };

/// Told of every iterate (proximal(): every point), its velocity and the steps taken so far; true: stop here.
using Watch = std::function<bool(const VectorX& r, const VectorX& u, int steps)>;

struct NewtonSettings {
  Complementarity function = Complementarity::alart_curnier;
  /// Added to W's diagonal in the derivative alone, where contacts may be redundant.
  double lift = 0.0;
  LinearSolve linear = LinearSolve::elimination;
  LineSearch search = LineSearch::none;
  double weight = 1.0;  ///< of u in Alart and Curnier's function, whose zeros don't depend on it
  double target = 0.0;  ///< of the natural map's norm
  int max_steps = 30;
  double first_rho = newton_policy.proximal.first_rho;  ///< of proximal()
  Watch watch = {};                                     ///< may be empty
};

/// Semismooth Newton. r is the start, and the best iterate by the natural map on return. Returns the steps taken.
/// @cite alart1991; bertails2011 sec. 4
template <typename Matrix>
int newton(const Matrix& W, const VectorX& q, const VectorX& mu, const NewtonSettings& settings, VectorX& r);

/// Goldstein and Price's search with a lift that falls in proportion to |F|, tenfold on each refusal: quadratic
/// convergence where the derivative is regular, and a method of Levenberg and Marquardt's kind where it isn't.
/// `settings.lift`, `linear` and `search` are not read. Arguments and return value as newton().
/// @cite bertails2011 sec. 4; fan2005
template <typename Matrix>
int controlled_newton(const Matrix& W, const VectorX& q, const VectorX& mu, const NewtonSettings& settings, VectorX& r);

/// Proximal-point iteration for problems with redundant contacts, where Newton's method alone and sweeps stall: each
/// step solves the regular problem (W + rho I) r + (q - rho r_k) by Newton's method from r_k, with a rho that falls
/// while that succeeds. The limit solves the problem itself. Without a search in the settings, a point that the plain
/// method misses is tried again with halving. @cite rockafellar1976
template <typename Matrix>
int proximal(const Matrix& W, const VectorX& q, const VectorX& mu, const NewtonSettings& settings, VectorX& r);

/// Settings of proximal() from near the solution, where contacts are nearly redundant: some slide by 1e-10 of the other
/// velocities, and which do is a choice that the function sees only if u has a large weight in it. The weight that
/// suits is 1 / rho, the derivative of r by u where all contacts stick.
NewtonSettings weighted_settings();

/// t of a step along which phi(t) falls from phi(0) at the rate `slope` < 0; 0 where none is found.
double goldstein_price(const std::function<double(double)>& phi, double at_zero, double slope);

}  // namespace tresse::friction::detail
