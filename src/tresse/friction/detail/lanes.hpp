#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>

#include <tresse/base/lanes.hpp>

namespace tresse::friction::detail {

using lanes::load_pack;
using lanes::Pack;

/// Entry by entry, as g++ 12 makes one instruction of this and five of a conversion of the whole.
inline Pack<float, 8> load_short(const std::int16_t* p) {
  const Pack<int, 8> out = {p[0], p[1], p[2], p[3], p[4], p[5], p[6], p[7]};
  return __builtin_convertvector(out, Pack<float, 8>);
}

/// The sums of four at once.
inline Pack<float, 4> sums_of(const Pack<float, 8>& a, const Pack<float, 8>& b, const Pack<float, 8>& c,
                              const Pack<float, 8>& d) {
  const auto halves = [](const Pack<float, 8>& s) {
    return __builtin_shufflevector(s, s, 0, 1, 2, 3) + __builtin_shufflevector(s, s, 4, 5, 6, 7);
  };
  const auto pairs = [](const Pack<float, 4>& s, const Pack<float, 4>& t) {
    return __builtin_shufflevector(s, t, 0, 2, 4, 6) + __builtin_shufflevector(s, t, 1, 3, 5, 7);
  };
  return pairs(pairs(halves(a), halves(b)), pairs(halves(c), halves(d)));
}

/// a b over n entries, summed in double precision.
template <typename Real>
double dot(const Real* a, const Real* b, std::ptrdiff_t n) {
  constexpr int count = 4;
  Pack<double, count> even{}, odd{};
  std::ptrdiff_t i = 0;
  for (; i + 2 * count <= n; i += 2 * count) {
    even += load_pack<double, count>(a + i) * load_pack<double, count>(b + i);
    odd += load_pack<double, count>(a + i + count) * load_pack<double, count>(b + i + count);
  }
  double sum = lanes::sum(even + odd);
  for (; i < n; ++i) sum += static_cast<double>(a[i]) * static_cast<double>(b[i]);
  return sum;
}

/// a b and a c over n entries, summed in double precision.
template <typename Real>
std::pair<double, double> dots(const Real* a, const double* b, const double* c, std::ptrdiff_t n) {
  constexpr int count = 4;
  Pack<double, count> b_even{}, b_odd{}, c_even{}, c_odd{};
  std::ptrdiff_t i = 0;
  for (; i + 2 * count <= n; i += 2 * count) {
    const auto even = load_pack<double, count>(a + i), odd = load_pack<double, count>(a + i + count);
    b_even += even * load_pack<double, count>(b + i);
    b_odd += odd * load_pack<double, count>(b + i + count);
    c_even += even * load_pack<double, count>(c + i);
    c_odd += odd * load_pack<double, count>(c + i + count);
  }
  double by_b = lanes::sum(b_even + b_odd), by_c = lanes::sum(c_even + c_odd);
  for (; i < n; ++i) {
    by_b += static_cast<double>(a[i]) * b[i];
    by_c += static_cast<double>(a[i]) * c[i];
  }
  return {by_b, by_c};
}

}  // namespace tresse::friction::detail
