#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>
#include <utility>

#include <tresse/base/lanes.hpp>

namespace tresse::friction::detail {

/// So many numbers of one kind, for one instruction each.
template <typename Real, int count>
struct LanesOf {
  using type __attribute__((vector_size(count * sizeof(Real)))) = Real;
};
template <typename Real, int count>
using Lanes = typename LanesOf<Real, count>::type;

/// `count` numbers, converted.
template <typename Real, int count, typename From>
Lanes<Real, count> load_lanes(const From* p) {
  Lanes<From, count> out;
  std::memcpy(&out, p, sizeof out);
  if constexpr (std::is_same_v<Real, From>) {
    return out;
  } else {
    return __builtin_convertvector(out, Lanes<Real, count>);
  }
}

/// Entry by entry, as g++ 12 makes one instruction of this and five of a conversion of the whole.
inline Lanes<float, 8> load_short(const std::int16_t* p) {
  const Lanes<int, 8> out = {p[0], p[1], p[2], p[3], p[4], p[5], p[6], p[7]};
  return __builtin_convertvector(out, Lanes<float, 8>);
}

template <typename Real>
Real sum_of(const Lanes<Real, 4>& s) {
  return (s[0] + s[1]) + (s[2] + s[3]);
}

/// The sums of four at once.
inline Lanes<float, 4> sums_of(const Lanes<float, 8>& a, const Lanes<float, 8>& b, const Lanes<float, 8>& c,
                               const Lanes<float, 8>& d) {
  const auto halves = [](const Lanes<float, 8>& s) {
    return __builtin_shufflevector(s, s, 0, 1, 2, 3) + __builtin_shufflevector(s, s, 4, 5, 6, 7);
  };
  const auto pairs = [](const Lanes<float, 4>& s, const Lanes<float, 4>& t) {
    return __builtin_shufflevector(s, t, 0, 2, 4, 6) + __builtin_shufflevector(s, t, 1, 3, 5, 7);
  };
  return pairs(pairs(halves(a), halves(b)), pairs(halves(c), halves(d)));
}

/// a b over n entries, summed in double precision.
template <typename Real>
double dot(const Real* a, const Real* b, std::ptrdiff_t n) {
  constexpr int count = 4;
  Lanes<double, count> even{}, odd{};
  std::ptrdiff_t i = 0;
  for (; i + 2 * count <= n; i += 2 * count) {
    even += load_lanes<double, count>(a + i) * load_lanes<double, count>(b + i);
    odd += load_lanes<double, count>(a + i + count) * load_lanes<double, count>(b + i + count);
  }
  double sum = sum_of<double>(even + odd);
  for (; i < n; ++i) sum += static_cast<double>(a[i]) * static_cast<double>(b[i]);
  return sum;
}

/// a b and a c over n entries, summed in double precision.
template <typename Real>
std::pair<double, double> dots(const Real* a, const double* b, const double* c, std::ptrdiff_t n) {
  constexpr int count = 4;
  Lanes<double, count> b_even{}, b_odd{}, c_even{}, c_odd{};
  std::ptrdiff_t i = 0;
  for (; i + 2 * count <= n; i += 2 * count) {
    const auto even = load_lanes<double, count>(a + i), odd = load_lanes<double, count>(a + i + count);
    b_even += even * load_lanes<double, count>(b + i);
    b_odd += odd * load_lanes<double, count>(b + i + count);
    c_even += even * load_lanes<double, count>(c + i);
    c_odd += odd * load_lanes<double, count>(c + i + count);
  }
  double by_b = sum_of<double>(b_even + b_odd), by_c = sum_of<double>(c_even + c_odd);
  for (; i < n; ++i) {
    by_b += static_cast<double>(a[i]) * b[i];
    by_c += static_cast<double>(a[i]) * c[i];
  }
  return {by_b, by_c};
}

}  // namespace tresse::friction::detail
