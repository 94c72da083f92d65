#pragma once

#include <cstddef>
#include <vector>

#include <tresse/base/types.hpp>

namespace tresse::math {

/// Anderson's mixing for a fixed point x = g(x): from the last arguments and answers, the combination of them whose
/// misses g(x) - x cancel best. @cite walker2011
class AndersonMixing {
 public:
  /// `depth`: as many pairs are kept, >= 1.
  explicit AndersonMixing(std::size_t depth) : depth_(depth) {}

  void clear();
  /// The argument to try next, after `tried` had the answer `answered`, both (n); the answer itself the first time, and
  /// where the combination is not finite.
  VectorX next(const VectorX& tried, const VectorX& answered);

 private:
  std::size_t depth_;
  std::vector<VectorX> tried_, answered_;  ///< oldest first
};

}  // namespace tresse::math
