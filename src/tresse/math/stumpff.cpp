#include <cmath>

#include <tresse/math/stumpff.hpp>

namespace tresse::math {
namespace detail {

void stumpff_upward(double x, double cosine, double sine_over_t, int count, double* c) {
  if (count > 0) c[0] = cosine;
  if (count > 1) c[1] = sine_over_t;
  const double inverse = 1.0 / x;
  double factor = 1.0;  // 1/m!
  for (int m = 0; m + 2 < count; ++m) {
    if (m > 1) factor /= m;
    c[m + 2] = (factor - c[m]) * inverse;
  }
}

}  // namespace detail

void stumpff_trigonometric(double x, int count, double* c) {
  const double t = std::sqrt(x);
  detail::stumpff_upward(x, std::cos(t), std::sin(t) / t, count, c);
}

void stumpff_trigonometric(double angle, double correction, int count, double* c) {
  const double cosine = std::cos(angle);
  const double sine = std::sin(angle);
  detail::stumpff_upward(angle * angle, cosine - correction * sine, (sine + correction * cosine) / angle, count, c);
}

}  // namespace tresse::math
