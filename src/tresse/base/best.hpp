#pragma once

#include <cmath>
#include <limits>
#include <optional>
#include <utility>

namespace tresse {

/// True where `value` is less than `than`, and where `than` is no number but `value` is: what compares with a NaN by
/// `<` alone keeps the NaN for ever, or never keeps anything.
inline bool is_better(double value, double than) { return value < than || (std::isnan(than) && !std::isnan(value)); }

/// The candidate of least error so far. The first is always kept, whatever its error is, so that there is something to
/// return; a later one is kept where it is_better().
template <class Candidate>
class Best {
 public:
  /// Whether it is kept.
  bool offer(double error, const Candidate& candidate) {
    if (kept_ && !is_better(error, error_)) return false;
    error_ = error;
    kept_ = candidate;
    return true;
  }
  bool any() const { return kept_.has_value(); }
  double error() const { return error_; }                ///< infinite before the first
  const Candidate& candidate() const { return *kept_; }  ///< one was offered

 private:
  double error_ = std::numeric_limits<double>::infinity();
  std::optional<Candidate> kept_;
};

}  // namespace tresse
