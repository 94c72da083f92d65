#pragma once

#include <tresse/base/status.hpp>
#include <tresse/grains/detail/flow_problem.hpp>

namespace tresse::grains::detail {

struct FlowOptions {
  double tolerance = 1e-10;   ///< on FlowProblem::error(); > 0
  int max_iterations = 2000;  ///< factors; >= 1
};

template <int d>
struct FlowSolution {
  Nodal<d> velocity;
  typename FlowProblem<d>::Stresses stress;
  Status status = Status::max_iterations;
  int iterations = 0;
  double error = 0.0;
};

/// Solves a step from a guess by the method of multipliers: with lambda_k given, the velocity v is sought at which
///     (M / dt + A) v = f + B^T force(lambda_k - rho gamma(v)),
/// and lambda_k+1 is that force. Every lambda_k+1 keeps to the cone; what is left is the law, which gains a factor that
/// grows with rho each time. rho is small far from the solution and grows as the error falls. The velocity is found by
/// Newton's method with a line search on the norm of what is left over; where that makes no progress, the friction disc
/// is frozen at that of lambda_k (Law::frozen): then v is the minimum of a convex function, and Newton's method with a
/// line search on it gets there from everywhere.
template <int d>
class FlowNewton {
 public:
  explicit FlowNewton(const FlowProblem<d>& problem) : problem_(problem), matrix_(problem.grid().layer_sizes) {}
  FlowSolution<d> solve(const Nodal<d>& velocity, const typename FlowProblem<d>::Stresses& stress,
                        const FlowOptions& options);

 private:
  using Problem = FlowProblem<d>;
  using Stresses = typename Problem::Stresses;
  struct Trial {
    VectorX unknowns;
    Stresses force;
    VectorX left_over;  ///< (M / dt + A) v - f - B^T force
    double merit = 0.0;
    double scale = 0.0;  ///< largest of the terms of left_over [N]
  };

  Trial evaluate(const VectorX& unknowns, Law law, bool derive);
  double convex_value(const Nodal<d>& v, const Nodal<d>& motion, const Stresses& trial) const;
  bool step(Trial& here, Law law);
  void next_multiplier(Trial& here, const FlowOptions& options, FlowSolution<d>& out);
  bool minimise(Trial& here, Law law, double wanted, int& steps, int most);

  const Problem& problem_;
  LayeredLU matrix_;
  Stresses lambda_;
  Stresses derivatives_;
  double rho_ = 0.0;
};

extern template class FlowNewton<2>;
extern template class FlowNewton<3>;

}  // namespace tresse::grains::detail
