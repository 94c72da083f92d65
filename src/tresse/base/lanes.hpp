#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <type_traits>

#ifdef __AVX__
#include <immintrin.h>
#endif

#include <tresse/base/hot.hpp>

// Without AVX the compiler warns that lanes passed between functions depend on it; here everything is inlined, and
// nothing with lanes leaves the folder that uses them.
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic ignored "-Wpsabi"
#endif

/// Packs: some numbers at once, in GCC's and Clang's vector extension, which becomes AVX, SSE2 or plain code as the
/// target has it, with the same bits.
namespace tresse::lanes {

namespace detail {
template <typename Real, int size>
struct PackOf {
  using type __attribute__((vector_size(size * sizeof(Real)))) = Real;
};
}  // namespace detail

template <typename Real, int size>
using Pack = typename detail::PackOf<Real, size>::type;

/// Four in double precision. Masks are all ones or all zeros in each lane.
using Doubles = Pack<double, 4>;
using Mask = Pack<std::int64_t, 4>;
constexpr int count = 4;
/// Eight in single precision, for what need not be known well.
using Floats = Pack<float, 8>;
using FloatMask = Pack<std::int32_t, 8>;

TRESSE_HOT Doubles spread(double x) { return Doubles{x, x, x, x}; }
TRESSE_HOT Floats spread(float x) { return Floats{x, x, x, x, x, x, x, x}; }
/// `size` numbers, converted.
template <typename Real, int size, typename From>
TRESSE_HOT Pack<Real, size> load_pack(const From* from) {
  Pack<From, size> out;
  std::memcpy(&out, from, sizeof out);
  if constexpr (std::is_same_v<Real, From>) {
    return out;
  } else {
    return __builtin_convertvector(out, Pack<Real, size>);
  }
}
TRESSE_HOT Doubles load(const double* from) {
  Doubles out;
  std::memcpy(&out, from, sizeof out);
  return out;
}
TRESSE_HOT void store(Doubles x, double* to) { std::memcpy(to, &x, sizeof x); }
/// The instructions stand here where the compiler, mindful of zeros' signs and of what is not a number, makes two or
/// three of one; the bits are those of the plain code.
TRESSE_HOT Doubles select(Mask mask, Doubles yes, Doubles no) {
#ifdef __AVX__
  return _mm256_blendv_pd(no, yes, _mm256_castsi256_pd(reinterpret_cast<__m256i>(mask)));
#else
  return mask ? yes : no;
#endif
}
TRESSE_HOT Doubles max(Doubles x, Doubles y) {
#ifdef __AVX__
  return _mm256_max_pd(x, y);
#else
  return x > y ? x : y;
#endif
}
TRESSE_HOT Doubles min(Doubles x, Doubles y) {
#ifdef __AVX__
  return _mm256_min_pd(x, y);
#else
  return x < y ? x : y;
#endif
}
TRESSE_HOT Doubles abs(Doubles x) {
  constexpr std::int64_t but_sign = 0x7fffffffffffffff;
  return reinterpret_cast<Doubles>(reinterpret_cast<Mask>(x) & Mask{but_sign, but_sign, but_sign, but_sign});
}
TRESSE_HOT Doubles sqrt(Doubles x) {
#ifdef __AVX__
  return _mm256_sqrt_pd(x);
#else
  return Doubles{std::sqrt(x[0]), std::sqrt(x[1]), std::sqrt(x[2]), std::sqrt(x[3])};
#endif
}
TRESSE_HOT Floats min(Floats x, Floats y) { return x < y ? x : y; }
TRESSE_HOT Floats max(Floats x, Floats y) { return x > y ? x : y; }
TRESSE_HOT Floats abs(Floats x) { return max(x, -x); }
TRESSE_HOT Floats sqrt(Floats x) {
#ifdef __AVX__
  return _mm256_sqrt_ps(x);
#else
  for (int k = 0; k < 8; ++k) x[k] = std::sqrt(x[k]);
  return x;
#endif
}
TRESSE_HOT bool any(Mask mask) {
#ifdef __AVX__
  return _mm256_movemask_pd(_mm256_castsi256_pd(reinterpret_cast<__m256i>(mask))) != 0;
#else
  return (mask[0] | mask[1] | mask[2] | mask[3]) != 0;
#endif
}

TRESSE_HOT double largest(Doubles x) { return std::max(std::max(x[0], x[1]), std::max(x[2], x[3])); }
TRESSE_HOT double least(Doubles x) { return std::min(std::min(x[0], x[1]), std::min(x[2], x[3])); }
TRESSE_HOT double sum(Doubles x) { return (x[0] + x[1]) + (x[2] + x[3]); }
/// Bit k: whether lane k is set.
TRESSE_HOT unsigned mask_bits(FloatMask mask) {
#ifdef __AVX__
  return static_cast<unsigned>(_mm256_movemask_ps(_mm256_castsi256_ps(reinterpret_cast<__m256i>(mask))));
#else
  unsigned bits = 0;
  for (int k = 0; k < 8; ++k) bits |= mask[k] != 0 ? 1U << k : 0U;
  return bits;
#endif
}

/// Four vectors as the rows of a matrix, to its columns.
TRESSE_HOT std::array<Doubles, count> transposed(const std::array<Doubles, count>& x) {
  const Doubles low_01 = __builtin_shufflevector(x[0], x[1], 0, 4, 2, 6);
  const Doubles high_01 = __builtin_shufflevector(x[0], x[1], 1, 5, 3, 7);
  const Doubles low_23 = __builtin_shufflevector(x[2], x[3], 0, 4, 2, 6);
  const Doubles high_23 = __builtin_shufflevector(x[2], x[3], 1, 5, 3, 7);
  return {__builtin_shufflevector(low_01, low_23, 0, 1, 4, 5), __builtin_shufflevector(high_01, high_23, 0, 1, 4, 5),
          __builtin_shufflevector(low_01, low_23, 2, 3, 6, 7), __builtin_shufflevector(high_01, high_23, 2, 3, 6, 7)};
}

}  // namespace tresse::lanes
