#include <tresse/rods/detail/helix_integrals.hpp>

#include <cstring>
#include <utility>

#include <tresse/math/stumpff.hpp>

namespace tresse::rods::detail {
namespace {

using lanes::Doubles;

constexpr int entry_count = HelixIntegrals<double>::entries;

enum Profile { one, s, a, b, a1, b1, a2, b2 };

struct Pair {
  Profile first, second;
};
/// The products that are wanted: a column of force or position each, by rows of what it is multiplied with.
constexpr std::array<Pair, entry_count> pairs = {{
    {one, s}, {one, a}, {one, b}, {one, a1}, {one, b1}, {one, a2}, {one, b2},  //
    {s, s},   {s, a},   {s, b},   {s, a1},   {s, b1},   {s, a2},   {s, b2},    //
    {a, a},   {a, b},   {a, a1},  {a, b1},   {a, a2},   {a, b2},               //
    {b, b},   {b, a1},  {b, b1},  {b, a2},   {b, b2},                          //
    {a1, a1}, {a1, b1}, {a1, a2}, {a1, b2},                                    //
    {b1, b1}, {b1, a2}, {b1, b2},
}};

constexpr std::size_t find_place(Profile first, Profile second) {
  if (first > second) std::swap(first, second);
  std::size_t k = 0;
  while (pairs[k].first != first || pairs[k].second != second) ++k;
  return k;
}
/// Where the integral of a product stands.
template <Profile first, Profile second>
constexpr std::size_t place = find_place(first, second);

constexpr int most_terms = 17;  // at X = 9 the next is below 1e-17 of the sum

/// A profile is s^power sum_k term(k) (-X s^2)^k.
constexpr int power(Profile f) {
  constexpr int powers[] = {0, 1, 2, 3, 4, 5, 6, 7};
  return powers[f];
}
constexpr double term(Profile f, int k) {
  if (f == one || f == s) return k == 0 ? 1.0 : 0.0;
  const double series = math::detail::inverse_factorial(2 * k + power(f));
  if (f == a || f == b) return series;
  if (f == a1 || f == b1) return -2.0 * (k + 1) * series;
  return 4.0 * (k + 2) * (k + 1) * series;
}

/// Coefficients of (-X)^n, those of all products side by side.
using Coefficients = std::array<std::array<double, entry_count>, most_terms>;
constexpr Coefficients make_coefficients() {
  std::array<std::array<double, most_terms>, 8> terms{};
  for (int f = one; f <= b2; ++f) {
    for (int k = 0; k < most_terms; ++k) terms[f][k] = term(static_cast<Profile>(f), k);
  }
  Coefficients out{};
  for (int entry = 0; entry < entry_count; ++entry) {
    const auto [first, second] = pairs[entry];
    for (int n = 0; n < most_terms; ++n) {
      double sum = 0.0;
      for (int i = 0; i <= n; ++i) sum += terms[first][i] * terms[second][n - i];
      out[n][entry] = sum / (power(first) + power(second) + 2 * n + 1);
    }
  }
  return out;
}
alignas(32) constexpr Coefficients coefficients = make_coefficients();

/// The series of the first `Count` products of one element, in as many terms as their argument asks for.
template <int Terms, int Count>
TRESSE_HOT void sum_series(double y, std::array<double, entry_count>& out) {
  constexpr int groups = Count / lanes::count;
  const Doubles factor = lanes::spread(y);
  Doubles sums[groups];
  std::memcpy(sums, coefficients[Terms - 1].data(), sizeof sums);
  for (int n = Terms - 2; n >= 0; --n) {
    Doubles next[groups];
    std::memcpy(next, coefficients[n].data(), sizeof next);
    for (int g = 0; g < groups; ++g) sums[g] = sums[g] * factor + next[g];
  }
  std::memcpy(out.data(), sums, sizeof sums);
}

/// Of four elements, eight products at a time.
template <int Terms, int Count>
TRESSE_HOT void sum_series(const Doubles& y, std::array<Doubles, entry_count>& out) {
  constexpr int together = 8;
  for (std::size_t first = 0; first < Count; first += together) {
    Doubles sums[together];
    for (std::size_t k = 0; k < together; ++k) sums[k] = lanes::spread(coefficients[Terms - 1][first + k]);
    for (std::size_t n = Terms - 1; n-- > 0;) {
      for (std::size_t k = 0; k < together; ++k) sums[k] = sums[k] * y + lanes::spread(coefficients[n][first + k]);
    }
    for (std::size_t k = 0; k < together; ++k) out[first + k] = sums[k];
  }
}

bool all_at_most(double x, double limit) { return x <= limit; }
bool all_at_most(const Doubles& x, double limit) { return !lanes::any(x > lanes::spread(limit)); }

/// What the next term would add is below 1e-17 of the sum, at 0.1, 1 and 9.
template <int Count, typename Scalar>
void sum_series(const Scalar& x, std::array<Scalar, entry_count>& out) {
  if (all_at_most(x, 0.1)) {
    sum_series<7, Count>(-x, out);
  } else if (all_at_most(x, 1.0)) {
    sum_series<11, Count>(-x, out);
  } else {
    sum_series<most_terms, Count>(-x, out);
  }
}

/// Vectors and matrices of the element in units of its length.
template <typename Scalar>
struct Shape {
  Triple<Scalar> w, u, z;

  TRESSE_HOT explicit Shape(const Triple<Scalar>& turn)
      : w(turn), u{Scalar{}, w[2], -w[1]}, z{-(w[1] * w[1] + w[2] * w[2]), w[0] * w[1], w[0] * w[2]} {}
  /// d x e
  TRESSE_HOT static Triple<Scalar> across(const Triple<Scalar>& d) { return {Scalar{}, d[2], -d[1]}; }
  /// z_d = d x u + w x (d x e)
  TRESSE_HOT Triple<Scalar> bend(const Triple<Scalar>& d) const {
    return {-2.0 * (w[1] * d[1] + w[2] * d[2]), w[1] * d[0] + w[0] * d[1], w[2] * d[0] + w[0] * d[2]};
  }
  /// d . back(f, g) = f . across(d) + g . bend(d), for all d.
  TRESSE_HOT Triple<Scalar> back(const Triple<Scalar>& of_across, const Triple<Scalar>& of_bend) const {
    const Triple<Scalar>& f = of_bend;
    return {w[1] * f[1] + w[2] * f[2], (w[0] * f[1] - 2.0 * (w[1] * f[0])) - of_across[2],
            (w[0] * f[2] - 2.0 * (w[2] * f[0])) + of_across[1]};
  }
};

/// e x f
template <typename Scalar>
TRESSE_HOT Triple<Scalar> along_cross(const Triple<Scalar>& f) {
  return {Scalar{}, -f[2], f[1]};
}

/// a x + b y
template <typename Scalar>
TRESSE_HOT Triple<Scalar> blend(const Scalar& a, const Triple<Scalar>& x, const Scalar& b, const Triple<Scalar>& y) {
  return {a * x[0] + b * y[0], a * x[1] + b * y[1], a * x[2] + b * y[2]};
}

/// int profile P
template <Profile f, typename Scalar>
TRESSE_HOT Columns<Scalar> gradient(const Shape<Scalar>& shape, const std::array<Scalar, entry_count>& g) {
  const Scalar across = g[place<f, a>], bend = g[place<f, b>], twice = 2.0 * bend;
  const Triple<Scalar> turned = blend(g[place<f, a1>], shape.u, g[place<f, b1>], shape.z);
  const Triple<Scalar>& w = shape.w;
  Columns<Scalar> m = {w[0] * turned, w[1] * turned, w[2] * turned};
  m[0][1] += bend * w[1];
  m[0][2] += bend * w[2];
  m[1][0] -= twice * w[1];
  m[1][1] += bend * w[0];
  m[1][2] -= across;
  m[2][0] -= twice * w[2];
  m[2][1] += across;
  m[2][2] += bend * w[0];
  return m;
}

/// int profile p
template <Profile f, typename Scalar>
TRESSE_HOT Triple<Scalar> position(const Shape<Scalar>& shape, const std::array<Scalar, entry_count>& g) {
  Triple<Scalar> v = blend(g[place<f, a>], shape.u, g[place<f, b>], shape.z);
  v[0] += g[place<f, s>];
  return v;
}

}  // namespace

template <typename Scalar>
void HelixIntegrals<Scalar>::set(const Scalar& length, const Triple<Scalar>& w) {
  length_ = length;
  w_ = length * w;
  sum_series<entries>(dot(w_, w_), products_);
}

template <typename Scalar>
void HelixIntegrals<Scalar>::set_first(const Scalar& length, const Triple<Scalar>& w) {
  length_ = length;
  w_ = length * w;
  sum_series<first_entries>(dot(w_, w_), products_);
}

template <typename Scalar>
void HelixIntegrals<Scalar>::first_moments(Triple<Scalar>& p, Columns<Scalar>& P) const {
  const Shape<Scalar> shape(w_);
  const Scalar l2 = length_ * length_, l3 = l2 * length_;
  p = l2 * position<one>(shape, products_);
  const Columns<Scalar> m = gradient<one>(shape, products_);
  for (std::size_t k = 0; k < 3; ++k) P[k] = l3 * m[k];
}

template <typename Scalar>
void HelixIntegrals<Scalar>::moments(HelixMoments<Scalar>& out) const {
  const Shape<Scalar> shape(w_);
  const auto& g = products_;
  const Scalar l = length_, l2 = l * l, l3 = l2 * l, l5 = l2 * l3;
  const Triple<Scalar>&u = shape.u, &z = shape.z;
  first_moments(out.p, out.P);
  const Triple<Scalar> s_p = position<s>(shape, g), a_p = position<a>(shape, g), b_p = position<b>(shape, g);
  for (std::size_t r = 0; r < 3; ++r) {
    for (std::size_t k = 0; k <= r; ++k) {
      Scalar value = u[r] * a_p[k] + z[r] * b_p[k];
      if (r == 0) value += s_p[k];
      out.p_p[r][k] = out.p_p[k][r] = l3 * value;
    }
  }
  const Columns<Scalar> of_s = gradient<s>(shape, g), of_a = gradient<a>(shape, g), of_b = gradient<b>(shape, g);
  const Columns<Scalar> of_a1 = gradient<a1>(shape, g), of_b1 = gradient<b1>(shape, g);
  for (std::size_t k = 0; k < 3; ++k) {
    out.p_cross_P[k] = l2 * l2 * (along_cross(of_s[k]) + (cross(u, of_a[k]) + cross(z, of_b[k])));
    const Scalar turned = dot(u, of_a1[k]) + dot(z, of_b1[k]);
    const Triple<Scalar> column = turned * shape.w + shape.back(of_a[k], of_b[k]);
    for (std::size_t r = 0; r <= k; ++r) out.P_P[r][k] = out.P_P[k][r] = l5 * column[r];
  }
}

template <typename Scalar>
void HelixIntegrals<Scalar>::force(const LineForce<Scalar>& line, const Triple<Scalar>& rate,
                                   HelixForce<Scalar>& out) const {
  const Shape<Scalar> shape(w_);
  const auto& g = products_;
  const Scalar l = length_;
  const Triple<Scalar> d = l * rate;
  const Scalar turning = dot(w_, d);
  const Triple<Scalar> across = Shape<Scalar>::across(d);
  const Triple<Scalar> bend = shape.bend(d);
  const Triple<Scalar> twice = {-(d[1] * d[1] + d[2] * d[2]), d[0] * d[1], d[0] * d[2]};  // d x (d x e)
  const Scalar square = dot(d, d);
  const Scalar inertia = -(l * line.density);
  const Triple<Scalar> rate_u = times(line.rate, shape.u), rate_z = times(line.rate, shape.z);
  const Scalar l_turning = l * turning, both = 2.0 * turning * inertia, squared = square * inertia;
  // The line force is the sum of each profile times its vector.
  const Triple<Scalar> of_s = l * line.position[0];
  const Triple<Scalar> of_a = l * (times(line.position, shape.u) + times(line.rate, across));
  const Triple<Scalar> of_b = l * (times(line.position, shape.z) + times(line.rate, bend)) + 2.0 * inertia * twice;
  const Triple<Scalar> of_a1 = l_turning * rate_u + blend(both, across, squared, shape.u);
  const Triple<Scalar> of_b1 = l_turning * rate_z + blend(both, bend, squared, shape.z);
  const Scalar second = inertia * turning * turning;
  /// int profile f; a2 and b2 together multiply second u and second z.
  const auto times_profile = [&]<Profile f>() -> Triple<Scalar> {
    Triple<Scalar> out_f = line.constant;
    if constexpr (f != one) out_f = g[place<one, f>] * line.constant;
    const Scalar by_u = g[place<f, a2>] * second, by_z = g[place<f, b2>] * second;
    for (std::size_t k = 0; k < 3; ++k) {
      out_f[k] += (g[place<f, s>] * of_s[k] + g[place<f, a>] * of_a[k]) +
                  (g[place<f, b>] * of_b[k] + g[place<f, a1>] * of_a1[k]) +
                  (g[place<f, b1>] * of_b1[k] + by_u * shape.u[k]) + by_z * shape.z[k];
    }
    return out_f;
  };
  const Triple<Scalar> by_a = times_profile.template operator()<a>();
  const Triple<Scalar> by_b = times_profile.template operator()<b>();
  const Scalar turned =
      dot(shape.u, times_profile.template operator()<a1>()) + dot(shape.z, times_profile.template operator()<b1>());
  const Scalar l2 = l * l, l3 = l2 * l;
  out.resultant = l * times_profile.template operator()<one>();
  out.torque =
      l2 * (along_cross(times_profile.template operator()<s>()) + (cross(shape.u, by_a) + cross(shape.z, by_b)));
  out.generalised = l3 * (turned * shape.w + shape.back(by_a, by_b));
}

template class HelixIntegrals<double>;
template class HelixIntegrals<Doubles>;

}  // namespace tresse::rods::detail
