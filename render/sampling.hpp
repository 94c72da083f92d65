#pragma once

#include <array>
#include <cmath>
#include <cstdint>
#include <numbers>

#include <Eigen/Core>
#include <Eigen/Geometry>

/// Random numbers that depend on nothing but pixel and sample, and the small maps from them to directions.
namespace tresse::render {

using Vec3 = Eigen::Vector3f;
using Color = Eigen::Array3f;  ///< linear RGB

inline constexpr float pi = std::numbers::pi_v<float>;

constexpr std::uint32_t hash(std::uint32_t x) {
  x ^= x >> 16;
  x *= 0x7feb352dU;
  x ^= x >> 15;
  x *= 0x846ca68bU;
  x ^= x >> 16;
  return x;
}
constexpr std::uint32_t hash(std::uint32_t a, std::uint32_t b) { return hash(a ^ (hash(b) + 0x9e3779b9U)); }

/// In [0, 1).
constexpr float to_unit(std::uint32_t bits) { return static_cast<float>(bits >> 8) * 0x1p-24F; }

/// A stream of numbers in [0, 1): hashes of a counter, so that streams of different keys are unrelated.
class Random {
 public:
  explicit Random(std::uint32_t key) : key_(key) {}
  /// The same, but the first numbers of the streams 0, 1, 2, ... of one `family` fill their range evenly: additive
  /// recurrences, shifted by a hash of the family.
  Random(std::uint32_t key, std::uint32_t family, std::uint32_t stream) : key_(key), family_(family), stream_(stream) {}
  std::uint32_t bits() { return hash(key_, counter_++); }
  float next() {
    const float shift = to_unit(bits());
    if (evened_ >= evenly.size() || stream_ == no_stream) return shift;
    const double step = evenly[evened_] * stream_;
    const float start = to_unit(hash(family_, 0x7000U + evened_++));
    const float out = static_cast<float>(step - std::floor(step)) + start;
    return out < 1.0F ? out : out - 1.0F;
  }
  Eigen::Vector2f next2() {
    const float x = next();
    return {x, next()};
  }

 private:
  static constexpr std::uint32_t no_stream = ~0U;
  // Powers of 1 / x for the root x of x^7 = x + 1: of the additive recurrences of six numbers the most even.
  static constexpr std::array<double, 6> evenly = {0.8986537126286993, 0.8075784952213448, 0.7257334129697598,
                                                   0.6521830259439717, 0.5860866975779693, 0.5266889867007359};
  std::uint32_t key_;
  std::uint32_t family_ = 0;
  std::uint32_t stream_ = no_stream;
  std::uint32_t counter_ = 0;
  std::uint32_t evened_ = 0;
};

inline float fraction(float x) { return x - std::floor(x); }

/// i-th point of the additive recurrence on the plastic number, shifted by `shift`: fills the square evenly for any
/// count.
inline Eigen::Vector2f even_point(std::uint32_t i, const Eigen::Vector2f& shift) {
  constexpr double a1 = 0.7548776662466927;
  constexpr double a2 = 0.5698402909980532;
  const double x = a1 * i;
  const double y = a2 * i;
  return {fraction(static_cast<float>(x - std::floor(x)) + shift[0]),
          fraction(static_cast<float>(y - std::floor(y)) + shift[1])};
}

/// Any two unit vectors that complete `n` to an orthonormal basis (t, b, n).
inline void complete_basis(const Vec3& n, Vec3& t, Vec3& b) {
  t = (std::abs(n.x()) < 0.6F ? Vec3::UnitX() : Vec3::UnitY()).cross(n).normalized();
  b = n.cross(t);
}

inline float luminance(const Color& c) { return 0.2126F * c[0] + 0.7152F * c[1] + 0.0722F * c[2]; }

}  // namespace tresse::render
