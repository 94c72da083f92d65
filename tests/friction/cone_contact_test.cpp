#include <tresse/friction/cone_contact.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>

#include <gtest/gtest.h>
#include <Eigen/LU>
#include <Eigen/QR>

#include <tresse/friction/enumerative.hpp>

namespace TRESSE_TEST_FILE {

using namespace tresse::friction;
using Real = long double;
template <int dimension>
using Exact = Eigen::Matrix<Real, dimension, 1>;

std::mt19937 generator(1);
double normal() { return std::normal_distribution<double>()(generator); }
double uniform(double low, double high) { return std::uniform_real_distribution<double>(low, high)(generator); }

template <int dimension>
ConeVector<dimension> any() {
  ConeVector<dimension> out;
  for (double& x : out) x = normal();
  return out;
}

/// An impulse in the cone, `depth` 0 on its axis and 1 on its surface.
template <int dimension>
ConeVector<dimension> in_cone(double mu, double depth) {
  ConeVector<dimension> out = any<dimension>();
  out[0] = 0.1 + std::abs(out[0]);
  out.template tail<dimension - 1>() *= depth * mu * out[0] / tangential_norm<dimension>(out);
  return out;
}

/// Symmetric, of that condition, in units between 1e-3 and 1e3.
template <int dimension>
Eigen::Matrix<double, dimension, dimension> block(double condition) {
  using Matrix = Eigen::Matrix<double, dimension, dimension>;
  Matrix a;
  for (double& x : a.reshaped()) x = normal();
  const Matrix q = a.householderQr().householderQ();
  ConeVector<dimension> values;
  for (double& x : values) x = std::pow(condition, -uniform(0.0, 1.0));
  values[0] = 1.0;
  values[1] = 1.0 / condition;
  const Matrix w = std::pow(10.0, uniform(-3.0, 3.0)) * q * values.asDiagonal() * q.transpose();
  return 0.5 * (w + w.transpose());
}

/// Coulomb's law case by case, in extended precision and in units in which impulses are velocities: by how much it is
/// violated, over the largest of |q|, |r| and |u|. The natural map with it.
template <int dimension>
struct Judged {
  Real law = 0, map = 0;
};

template <int dimension>
Exact<dimension> nearest_in_cone(const Exact<dimension>& x, Real mu) {
  const Real tangential = x.template tail<dimension - 1>().norm();
  if (tangential <= mu * x[0]) return x;
  if (mu * tangential <= -x[0]) return Exact<dimension>::Zero();
  Exact<dimension> ray = x * (mu / tangential);
  ray[0] = 1;
  return ray * (ray.dot(x) / ray.squaredNorm());
}

template <int dimension>
Judged<dimension> judged(const Eigen::Matrix<double, dimension, dimension>& W, const ConeVector<dimension>& q,
                         double mu, const ConeSolution<dimension>& found) {
  const Real unit = std::sqrt(W.trace() / dimension);
  const Exact<dimension> r = found.impulse.template cast<Real>() * unit;
  const Exact<dimension> free = q.template cast<Real>() / unit;
  const Exact<dimension> u = W.template cast<Real>() * (r / (unit * unit)) + free;
  const Real size = std::max({r.norm(), free.norm(), u.norm()});
  const Real slip = u.template tail<dimension - 1>().norm(), grip = r.template tail<dimension - 1>().norm();
  Judged<dimension> out;
  Exact<dimension> shifted = u;
  shifted[0] += mu * slip;
  out.map = (r - nearest_in_cone<dimension>(r - shifted, mu)).norm() / size;
  const Real stated = (found.velocity.template cast<Real>() / unit - u).norm();
  switch (found.state) {
    case ContactCase::open:
      out.law = std::max({r.norm(), -u[0], stated});
      break;
    case ContactCase::stick:
      out.law = std::max({u.norm(), -r[0], grip - mu * r[0], stated});
      break;
    case ContactCase::slide: {
      const Exact<dimension> turned = slip * r + grip * u;  // its tangents vanish
      const Real along = slip > 0 ? turned.template tail<dimension - 1>().norm() / std::max(slip, grip) : 0;
      out.law = std::max({std::abs(u[0]), -r[0], std::abs(grip - mu * r[0]), along, stated});
      break;
    }
  }
  out.law /= size;
  return out;
}

/// |r_T| - mu r_N where u_N = 0 and u_T = -alpha r_T: by elimination of the whole (dimension, dimension) system.
template <int dimension>
struct Sliding {
  Eigen::Matrix<Real, dimension, dimension> W;
  Exact<dimension> q;
  Real mu;
  Exact<dimension> impulse(Real alpha) const {
    auto system = W;
    for (int k = 1; k < dimension; ++k) system(k, k) += alpha;
    return system.fullPivLu().solve(-q);
  }
  Real excess(Real alpha) const {
    const Exact<dimension> r = impulse(alpha);
    return r.template tail<dimension - 1>().norm() - mu * r[0];
  }
};

/// How often the excess changes its sign along alpha, and one place where it does, halved to the last bit.
template <int dimension>
int zeros(const Sliding<dimension>& sliding, Real& place) {
  constexpr int samples = 400;
  const Real unit = sliding.W.trace();
  const auto alpha = [&](int k) { return unit * std::pow(10.0L, -14.0L + 22.0L * k / samples); };
  int count = 0;
  bool outside = sliding.excess(0) > 0;
  for (int k = 0; k <= samples; ++k) {
    if ((sliding.excess(alpha(k)) > 0) == outside) continue;
    ++count;
    Real low = k == 0 ? 0 : alpha(k - 1), high = alpha(k);
    for (int step = 0; step < 90; ++step) {
      const Real middle = (low + high) / 2;
      ((sliding.excess(middle) > 0) == outside ? low : high) = middle;
    }
    place = high;
    outside = !outside;
  }
  return count;
}

enum class Region { open, stick, slide, any };

template <int dimension>
ConeVector<dimension> free_velocity(const Eigen::Matrix<double, dimension, dimension>& W, double mu, Region region) {
  ConeVector<dimension> q = any<dimension>();
  switch (region) {
    case Region::open:
      q[0] = std::abs(q[0]);
      break;
    case Region::stick:
      q = -(W * in_cone<dimension>(mu, uniform(0.0, 0.9)));
      break;
    case Region::slide: {
      const ConeVector<dimension> r = in_cone<dimension>(mu, 1.0);
      q = -(W * r);
      q.template tail<dimension - 1>() -=
          std::pow(10.0, uniform(-3.0, 3.0)) * W.trace() * r.template tail<dimension - 1>();
      break;
    }
    case Region::any:
      q *= std::pow(10.0, uniform(-3.0, 3.0));
      q[0] = -std::abs(q[0]);
      break;
  }
  return q;
}

template <int n>
struct Dimension {
  static constexpr int value = n;
};
template <typename T>
class ConeContact : public ::testing::Test {};
using Dimensions = ::testing::Types<Dimension<2>, Dimension<3>, Dimension<6>>;
TYPED_TEST_SUITE(ConeContact, Dimensions);

TYPED_TEST(ConeContact, projection_is_the_nearest_point) {
  constexpr int d = TypeParam::value;
  for (const double mu : {0.0, 1e-6, 0.3, 1.0, 1e6}) {
    for (int k = 0; k < 200; ++k) {
      const ConeVector<d> x = any<d>();
      const ConeVector<d> p = project_on_cone<d>(x, mu);
      EXPECT_LE(tangential_norm<d>(p), mu * p[0] * (1.0 + 1e-15));
      EXPECT_LT((p - nearest_in_cone<d>(x.template cast<Real>(), mu).template cast<double>()).norm(),
                1e-15 * (1.0 + mu));
      // The rest stands upright on every point of the cone (Moreau).
      EXPECT_NEAR((x - p).dot(p), 0.0, 1e-14);
      for (int other = 0; other < 5; ++other) {
        ConeVector<d> y = in_cone<d>(mu, uniform(0.0, 1.0));
        EXPECT_LE((x - p).dot(y.normalized()), 1e-14);
      }
    }
  }
}

TYPED_TEST(ConeContact, natural_map_vanishes_where_the_law_holds_and_nowhere_else) {
  constexpr int d = TypeParam::value;
  constexpr int tangents = d - 1;
  for (int k = 0; k < 200; ++k) {
    const double mu = uniform(0.01, 2.0);
    const ConeVector<d> zero = ConeVector<d>::Zero();
    ConeVector<d> u = any<d>();
    u[0] = std::abs(u[0]);
    EXPECT_EQ(natural_map<d>(zero, u, mu), zero);
    EXPECT_LT(natural_map<d>(in_cone<d>(mu, 0.9), zero, mu).norm(), 1e-15);
    const ConeVector<d> r = in_cone<d>(mu, 1.0);
    ConeVector<d> slides = -uniform(0.1, 3.0) * r;
    slides[0] = 0.0;
    EXPECT_LT(natural_map<d>(r, slides, mu).norm(), 1e-14);
    ConeVector<d> pulled = slides;
    pulled.template tail<tangents>() *= -1.0;
    EXPECT_GT(natural_map<d>(r, pulled, mu).norm(), 1e-6);
    EXPECT_DOUBLE_EQ(de_saxce<d>(u, mu)[0], u[0] + mu * u.template tail<tangents>().norm());
  }
}

TYPED_TEST(ConeContact, solutions_obey_the_law) {
  constexpr int d = TypeParam::value;
  constexpr double rounding = 1e-13;  // of q, which W's inverse enlarges: may lead out of a thin cone
  int cases[3] = {};
  for (const double condition : {1.0, 10.0, 1e4, 1e8}) {
    for (const double mu : {0.0, 1e-8, 1e-3, 0.3, 1.0, 30.0, 1e6}) {
      for (const Region region : {Region::open, Region::stick, Region::slide, Region::any}) {
        for (int k = 0; k < 50; ++k) {
          const auto W = block<d>(condition);
          const ConeVector<d> q = free_velocity<d>(W, mu, region);
          const auto prepared = prepare_cone<d>(W, mu);
          ASSERT_TRUE(prepared);
          const ConeSolution<d> found = solve_cone<d>(*prepared, q);
          ++cases[static_cast<int>(found.state)];
          // Roundings of W r; the change of variable multiplies those of u_T by mu.
          const auto [law, map] = judged<d>(W, q, mu, found);
          EXPECT_LT(map, 1e-14 * (1.0 + mu)) << condition << " " << mu << " " << static_cast<int>(region);
          EXPECT_LT(law, 1e-14) << condition << " " << mu << " " << static_cast<int>(region);
          if (region == Region::open) {
            EXPECT_EQ(found.state, ContactCase::open);
          }
          if (region == Region::stick && q[0] < 0.0 && mu > rounding * condition) {
            EXPECT_EQ(found.state, ContactCase::stick);
          }
        }
      }
    }
  }
  for (const int count : cases) EXPECT_GT(count, 500);
}

TYPED_TEST(ConeContact, agrees_with_extended_precision_where_there_is_one_solution) {
  constexpr int d = TypeParam::value;
  int compared = 0, several = 0;
  for (const double condition : {1.0, 100.0, 1e6}) {
    for (const double mu : {1e-6, 0.1, 0.6, 10.0}) {
      for (int k = 0; k < 20; ++k) {
        const auto W = block<d>(condition);
        const ConeVector<d> q = free_velocity<d>(W, mu, Region::any);
        const ConeSolution<d> found = solve_cone<d>(*prepare_cone<d>(W, mu), q);
        const Sliding<d> sliding{W.template cast<Real>(), q.template cast<Real>(), mu};
        ASSERT_EQ(found.state == ContactCase::stick, sliding.excess(0) <= 0);
        Real alpha = 0;
        if (found.state == ContactCase::slide && zeros<d>(sliding, alpha) != 1) {
          ++several;
          continue;
        }
        const ConeVector<d> expected = sliding.impulse(alpha).template cast<double>();
        EXPECT_LT((found.impulse - expected).norm(), 1e-14 * condition * expected.norm()) << condition << " " << mu;
        ++compared;
      }
    }
  }
  EXPECT_GT(compared, 200);
  EXPECT_LT(several, 40);
}

TEST(ConeContact3, is_among_the_solutions_that_enumeration_finds) {
  for (int k = 0; k < 500; ++k) {
    const double mu = uniform(0.05, 1.5);
    const auto W = block<3>(100.0);
    const ConeVector<3> q = free_velocity<3>(W, mu, Region::any);
    const ConeSolution<3> found = solve_cone<3>(*prepare_cone<3>(W, mu), q);
    const ContactSolutions all = enumerate_contact(W, q, mu);
    const bool among = std::any_of(all.begin(), all.end(), [&](const ContactSolution& one) {
      return one.state == found.state && (one.impulse - found.impulse).norm() < 1e-12 * found.impulse.norm();
    });
    EXPECT_TRUE(among) << k;
  }
}

TYPED_TEST(ConeContact, a_block_that_is_not_positive_definite_is_refused) {
  constexpr int d = TypeParam::value;
  using Matrix = Eigen::Matrix<double, d, d>;
  const Matrix one = Matrix::Identity();
  EXPECT_TRUE(prepare_cone<d>(one, 0.5));
  Matrix W = one;
  W(d - 1, d - 1) = 0.0;
  EXPECT_FALSE(prepare_cone<d>(W, 0.5));
  W = one;
  W(0, 0) = -1.0;
  EXPECT_FALSE(prepare_cone<d>(W, 0.5));
  W = one;
  W(1, 1) = std::numeric_limits<double>::quiet_NaN();
  EXPECT_FALSE(prepare_cone<d>(W, 0.5));
  EXPECT_FALSE(prepare_cone<d>(one, -0.1));
  EXPECT_FALSE(prepare_cone<d>(one, std::numeric_limits<double>::infinity()));
}

}  // namespace TRESSE_TEST_FILE
