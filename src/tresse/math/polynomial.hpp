#pragma once

#include <array>
#include <cstddef>

namespace tresse::math {

/// Real roots, ascending, each once whatever its multiplicity.
template <typename Scalar>
struct RealRoots {
  std::array<Scalar, 4> value{};
  int count = 0;
  const Scalar* begin() const { return value.data(); }
  const Scalar* end() const { return value.data() + count; }
};

/// The real roots of c[0] + c[1] x + c[2] x^2 + c[3] x^3 + c[4] x^4; leading zeros lower the degree, and the zero
/// polynomial has none. The critical points split the line into monotone pieces, each searched by bracketed Newton
/// steps: a simple root comes out within the rounding of the polynomial's value there, none is missed. A touching root
/// counts when the value at the critical point is within rounding of zero. Coefficients must be finite. Scalar: double
/// or long double.
template <typename Scalar>
RealRoots<Scalar> real_roots(const std::array<Scalar, 5>& coefficients);

extern template RealRoots<double> real_roots(const std::array<double, 5>&);
extern template RealRoots<long double> real_roots(const std::array<long double, 5>&);

}  // namespace tresse::math
