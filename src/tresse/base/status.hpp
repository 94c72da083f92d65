#pragma once

namespace tresse {

/// How an iterative solve ended. A failure is a value, never an exception and never hidden.
enum class Status {
  converged,       ///< the tolerance was met
  max_iterations,  ///< the iteration limit came first
  stalled,         ///< no progress although iterations were left
  no_solution,     ///< proved that none exists
  not_finite,      ///< a NaN or an infinity appeared
};

constexpr const char* to_string(Status status) {
  switch (status) {
    case Status::converged:
      return "converged";
    case Status::max_iterations:
      return "max_iterations";
    case Status::stalled:
      return "stalled";
    case Status::no_solution:
      return "no_solution";
    case Status::not_finite:
      return "not_finite";
  }
  return "unknown";
}

}  // namespace tresse
