#include <tresse/rods/detail/helix_integrals.hpp>

#include <cstring>
#include <utility>

#include <tresse/base/lanes.hpp>

namespace tresse::rods::detail {
namespace {

enum Profile { one, s, a, b, a1, b1, a2, b2 };

struct Pair {
  Profile first, second;
};
/// The products that are wanted: a column of force or position each, by rows of what it is multiplied with.
constexpr std::array<Pair, HelixIntegrals::entries> pairs = {{
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
  const auto inverse_factorial = [](int n) {
    double value = 1.0;
    for (int i = 2; i <= n; ++i) value /= i;
    return value;
  };
  if (f == one || f == s) return k == 0 ? 1.0 : 0.0;
  const double series = inverse_factorial(2 * k + power(f));
  if (f == a || f == b) return series;
  if (f == a1 || f == b1) return -2.0 * (k + 1) * series;
  return 4.0 * (k + 2) * (k + 1) * series;
}

/// Coefficients of (-X)^n, those of all products side by side.
using Coefficients = std::array<std::array<double, HelixIntegrals::entries>, most_terms>;
constexpr Coefficients make_coefficients() {
  std::array<std::array<double, most_terms>, 8> terms{};
  for (int f = one; f <= b2; ++f) {
    for (int k = 0; k < most_terms; ++k) terms[f][k] = term(static_cast<Profile>(f), k);
  }
  Coefficients out{};
  for (int entry = 0; entry < HelixIntegrals::entries; ++entry) {
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

/// The series of all products at once, in as many terms as their argument asks for.
template <int Terms>
void sum_series(double y, double* out) {
  using lanes::Doubles;
  constexpr int groups = HelixIntegrals::entries / lanes::count;
  const Doubles factor = lanes::spread(y);
  Doubles sums[groups];
  std::memcpy(sums, coefficients[Terms - 1].data(), sizeof sums);
  for (int n = Terms - 2; n >= 0; --n) {
    Doubles next[groups];
    std::memcpy(next, coefficients[n].data(), sizeof next);
    for (int g = 0; g < groups; ++g) sums[g] = sums[g] * factor + next[g];
  }
  std::memcpy(out, sums, sizeof sums);
}

/// Vectors and matrices of the element in units of its length.
struct Shape {
  double w0, w1, w2;
  Vector3 u, z;

  explicit Shape(const Vector3& w)
      : w0(w[0]), w1(w[1]), w2(w[2]), u(0.0, w2, -w1), z(-(w1 * w1 + w2 * w2), w0 * w1, w0 * w2) {}
  /// d x e
  static Vector3 across(const Vector3& d) { return {0.0, d[2], -d[1]}; }
  /// z_d = d x u + w x (d x e)
  Vector3 bend(const Vector3& d) const {
    return {-2.0 * (w1 * d[1] + w2 * d[2]), w1 * d[0] + w0 * d[1], w2 * d[0] + w0 * d[2]};
  }
  /// The transposes of both.
  static Vector3 across_back(const Vector3& f) { return {0.0, -f[2], f[1]}; }
  Vector3 bend_back(const Vector3& f) const {
    return {w1 * f[1] + w2 * f[2], w0 * f[1] - 2.0 * w1 * f[0], w0 * f[2] - 2.0 * w2 * f[0]};
  }
};

/// e x f
Vector3 along_cross(const Vector3& f) { return {0.0, -f[2], f[1]}; }

}  // namespace

void HelixIntegrals::set(double length, const Vector3& w) {
  length_ = length;
  w_ = length * w;
  const double x = w_.squaredNorm();
  // What the next term would add is below 1e-17 of the sum, at 0.1, 1 and 9.
  if (x <= 0.1) {
    sum_series<7>(-x, products_.data());
  } else if (x <= 1.0) {
    sum_series<11>(-x, products_.data());
  } else {
    sum_series<most_terms>(-x, products_.data());
  }
}

ElementMoments<3> HelixIntegrals::moments() const {
  const Shape shape(w_);
  const auto& g = products_;
  /// int profile P
  const auto gradient = [&]<Profile f>() -> Matrix3 {
    const double across = g[place<f, a>], bend = g[place<f, b>];
    const Vector3 turned = g[place<f, a1>] * shape.u + g[place<f, b1>] * shape.z;
    Matrix3 m = turned * w_.transpose();
    m(1, 2) += across;
    m(2, 1) -= across;
    m(0, 1) -= 2.0 * bend * shape.w1;
    m(0, 2) -= 2.0 * bend * shape.w2;
    m(1, 0) += bend * shape.w1;
    m(1, 1) += bend * shape.w0;
    m(2, 0) += bend * shape.w2;
    m(2, 2) += bend * shape.w0;
    return m;
  };
  /// int profile p
  const auto position = [&]<Profile f>() -> Vector3 {
    Vector3 v = g[place<f, a>] * shape.u + g[place<f, b>] * shape.z;
    v[0] += g[place<f, s>];
    return v;
  };
  const double l = length_, l2 = l * l, l3 = l2 * l, l5 = l2 * l3;
  ElementMoments<3> out;
  out.length = l;
  out.p = l2 * position.template operator()<one>();
  const Vector3 s_p = position.template operator()<s>();
  const Vector3 a_p = position.template operator()<a>();
  const Vector3 b_p = position.template operator()<b>();
  for (int r = 0; r < 3; ++r) {
    for (int k = 0; k <= r; ++k) {
      const double along = r == 0 ? s_p[k] : 0.0;
      out.p_p(r, k) = out.p_p(k, r) = l3 * (along + shape.u[r] * a_p[k] + shape.z[r] * b_p[k]);
    }
  }
  out.P = l3 * gradient.template operator()<one>();
  const Matrix3 s_gradient = gradient.template operator()<s>();
  const Matrix3 a_gradient = gradient.template operator()<a>();
  const Matrix3 b_gradient = gradient.template operator()<b>();
  const Matrix3 a1_gradient = gradient.template operator()<a1>();
  const Matrix3 b1_gradient = gradient.template operator()<b1>();
  for (int k = 0; k < 3; ++k) {
    const Vector3 cross = along_cross(s_gradient.col(k)) + shape.u.cross(Vector3(a_gradient.col(k))) +
                          shape.z.cross(Vector3(b_gradient.col(k)));
    out.p_cross_P.col(k) = l2 * l2 * cross;
    const double turned = shape.u.dot(a1_gradient.col(k)) + shape.z.dot(b1_gradient.col(k));
    const Vector3 column = turned * w_ + Shape::across_back(a_gradient.col(k)) + shape.bend_back(b_gradient.col(k));
    for (int r = 0; r <= k; ++r) out.P_P(r, k) = out.P_P(k, r) = l5 * column[r];
  }
  return out;
}

ElementForce<3> HelixIntegrals::force(const LineForce& line, const Vector3& rate) const {
  const Shape shape(w_);
  const auto& g = products_;
  const double l = length_;
  const Vector3 d = l * rate;
  const double turning = w_.dot(d);
  const Vector3 across = Shape::across(d);
  const Vector3 bend = shape.bend(d);
  const Vector3 twice(-(d[1] * d[1] + d[2] * d[2]), d[0] * d[1], d[0] * d[2]);  // d x (d x e)
  const double square = d.squaredNorm();
  const double density = line.density;
  // The line force is the sum of each profile times its vector.
  const Vector3 of_s = l * line.position.col(0);
  const Vector3 of_a = l * (line.position * shape.u + line.rate * across);
  const Vector3 of_b = l * (line.position * shape.z + line.rate * bend - 2.0 * density * twice);
  const Vector3 of_a1 = l * (turning * (line.rate * shape.u) - density * (2.0 * turning * across + square * shape.u));
  const Vector3 of_b1 = l * (turning * (line.rate * shape.z) - density * (2.0 * turning * bend + square * shape.z));
  const double second = -density * l * turning * turning;
  const Vector3 of_a2 = second * shape.u;
  const Vector3 of_b2 = second * shape.z;
  /// int profile f
  const auto times = [&]<Profile f>() -> Vector3 {
    Vector3 sum = line.constant;
    if constexpr (f != one) sum *= g[place<one, f>];
    return sum + g[place<f, s>] * of_s + g[place<f, a>] * of_a + g[place<f, b>] * of_b + g[place<f, a1>] * of_a1 +
           g[place<f, b1>] * of_b1 + g[place<f, a2>] * of_a2 + g[place<f, b2>] * of_b2;
  };
  const Vector3 by_a = times.template operator()<a>();
  const Vector3 by_b = times.template operator()<b>();
  const double turned = shape.u.dot(times.template operator()<a1>()) + shape.z.dot(times.template operator()<b1>());
  ElementForce<3> out;
  out.resultant = l * times.template operator()<one>();
  out.torque = l * l * (along_cross(times.template operator()<s>()) + shape.u.cross(by_a) + shape.z.cross(by_b));
  out.generalised = l * l * l * (turned * w_ + Shape::across_back(by_a) + shape.bend_back(by_b));
  return out;
}

}  // namespace tresse::rods::detail
