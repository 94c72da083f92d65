#pragma once

#include <vector>

#include <tresse/base/types.hpp>
#include <tresse/math/anderson.hpp>

namespace tresse::dynamics::detail {

/// What passes come closer by where they do so slowly, as they do when contact forces turn with the shape.
class PassMixing {
 public:
  /// Of a pass that began at velocities `from` and leads to `to`, (fibres, then free bodies): makes `to` those that the
  /// next pass begins at. `change`: their difference, relative. Whether it did: where a pass is much nearer than the
  /// last, `to` is left alone.
  bool mix(double change, const std::vector<VectorX>& from, std::vector<VectorX>& to);

 private:
  math::AndersonMixing mixing_{6};
  double change_ = 0.0;  ///< of the pass before; 0: none
  bool active_ = false;
};

}  // namespace tresse::dynamics::detail
