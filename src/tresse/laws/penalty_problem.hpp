#pragma once

#include <tresse/friction/solver.hpp>
#include <tresse/laws/penalty.hpp>

namespace tresse::laws {

/// A penalty law and its two lengths of softness.
struct Penalty {
  Law law = Law::imc;           ///< not Coulomb's
  double delta = 1e-5;          ///< gap from which on it acts; > 0 [m]
  double slip_velocity = 1e-4;  ///< nu, from which on a contact slides; > 0 [m/s]
};

/// Throws InvalidInput unless the law has a potential and both lengths are positive.
void validate(const Penalty& penalty);

/// One implicit step of contacts that obey a penalty law: impulses r with u = W r + q and, of each contact,
///     r = dt f(dt u_N, u),
/// where dt u_N is the gap at the end of the step and f the force of contact_force(). @cite tong2024 sec. 3
struct PenaltyProblem {
  const friction::FactoredProblem& contacts;  ///< W and q; the friction coefficients
  Penalty penalty;
  VectorX stiffness;  ///< (n) k, > 0 [N/m]
  double dt = 0.0;    ///< > 0 [s]
  VectorX reach{};    ///< (n) share of delta below which the contact is felt, in (0, 1]; empty: 1 [-]
};

/// The force without which the contacts that would act would not stop in this step: the largest |q_i| / (dt tr W_ii /
/// 3) of those that end nearer than delta, or of all where none does. 0 without contacts. [N]
double largest_load(const friction::FactoredProblem& contacts, const Penalty& penalty, double dt);

struct PenaltySolution : friction::FrictionSolution {
  double least_step_length = 1.0;  ///< of the searches along Newton's steps [-]
};

/// By Newton's method from the impulses `guess` (3n), island by island, on the norm of what y = X^T r misses.
/// `iterations`: those of the island that took most. `scaled_error`: that miss over the norm of y. The result does not
/// depend on the number of threads.
[[nodiscard]] PenaltySolution solve_penalty(const PenaltyProblem& problem, const VectorX& guess,
                                            double tolerance = 1e-10, int max_iterations = 200);

}  // namespace tresse::laws
