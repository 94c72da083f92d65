#include <tresse/assembly/load.hpp>

#include <cmath>
#include <numbers>

#include <tresse/assembly/world.hpp>

namespace tresse::assembly {

Vector3 Air::wind(double time) const {
  if (gust_.isZero(0.0)) return mean_;
  const double phase = 2.0 * std::numbers::pi * time / period_;
  return mean_ + 0.5 * (1.0 - std::cos(phase)) * gust_;
}

double Air::drag(const Fibre& fibre) const { return fibre.drag; }

}  // namespace tresse::assembly
