#pragma once

#include <cmath>
#include <cstdint>
#include <cstring>

#include <tresse/base/lanes.hpp>

/// Eight numbers in single precision at once, for bounds that hold whatever the rounding.
namespace tresse::contact::detail {

using FloatLanes = float __attribute__((vector_size(32)));
using FloatLaneMask = std::int32_t __attribute__((vector_size(32)));

inline FloatLanes spread(float x) { return FloatLanes{x, x, x, x, x, x, x, x}; }
inline FloatLanes min(FloatLanes x, FloatLanes y) { return x < y ? x : y; }
inline FloatLanes max(FloatLanes x, FloatLanes y) { return x > y ? x : y; }
inline FloatLanes abs(FloatLanes x) { return max(x, -x); }
inline FloatLanes sqrt(FloatLanes x) {
#ifdef __AVX__
  return _mm256_sqrt_ps(x);
#else
  for (int k = 0; k < 8; ++k) x[k] = std::sqrt(x[k]);
  return x;
#endif
}
inline void store(FloatLanes x, float* out) { std::memcpy(out, &x, sizeof x); }

/// Bit k: whether lane k, all ones or all zeros, is set.
inline unsigned mask_bits(FloatLaneMask mask) {
#ifdef __AVX__
  return static_cast<unsigned>(_mm256_movemask_ps(_mm256_castsi256_ps(reinterpret_cast<__m256i>(mask))));
#else
  unsigned bits = 0;
  for (int k = 0; k < 8; ++k) bits |= mask[k] != 0 ? 1U << k : 0U;
  return bits;
#endif
}

}  // namespace tresse::contact::detail
