#include <tresse/friction/residual.hpp>

#include <algorithm>
#include <cmath>
#include <random>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "support/coulomb_law.hpp"
#include "support/friction_cases.hpp"

namespace TRESSE_TEST_FILE {

using namespace tresse::friction;
using tresse::MatrixX;
using tresse::Vector3;
using tresse::VectorX;

double number() { return *rc::gen::inRange(-1000, 1001) * 1e-2; }

/// The projection is the nearest point of the cone: x - p is in the polar cone and orthogonal to p. @cite moreau1962
RC_GTEST_PROP(Cone, projection_by_moreaus_conditions, ()) {
  const Vector3 x(number(), number(), number());
  const double mu = *rc::gen::inRange(0, 200) * 1e-2;
  const Vector3 p = project_on_cone(x, mu);
  const double tolerance = 1e-13 * (1.0 + x.norm());
  RC_ASSERT(std::hypot(p[1], p[2]) <= mu * p[0] + tolerance);
  const Vector3 polar = x - p;  // polar . r <= 0 for every r in the cone: polar_N + mu |polar_T| <= 0
  RC_ASSERT(polar[0] + mu * std::hypot(polar[1], polar[2]) <= tolerance);
  RC_ASSERT(std::abs(polar.dot(p)) <= tolerance * (1.0 + x.norm()));
}

FrictionProblem two_contacts() {
  MatrixX W = MatrixX::Identity(6, 6);
  W.bottomRightCorner<3, 3>() *= 4.0;
  return {block_matrix(W), VectorX::Zero(6), VectorX::Constant(2, 0.5)};
}

// Without friction and without a tangential part: a contact that opens is solved by no impulse.
TEST(Cone, of_no_width_is_a_half_line) {
  EXPECT_EQ(project_on_cone({-2.0, 0.0, 0.0}, 0.0), Vector3(0.0, 0.0, 0.0));
  EXPECT_EQ(project_on_cone({2.0, 0.0, 0.0}, 0.0), Vector3(2.0, 0.0, 0.0));
  EXPECT_EQ(project_on_cone({2.0, 3.0, -1.0}, 0.0), Vector3(2.0, 0.0, 0.0));
  EXPECT_EQ(project_on_cone({-2.0, 3.0, -1.0}, 0.0), Vector3(0.0, 0.0, 0.0));
  EXPECT_EQ(natural_map(Vector3::Zero(), {0.0114, 0.0, 0.0}, 0.0), Vector3(0.0, 0.0, 0.0));
}

TEST(Residual, values_by_hand) {
  FrictionProblem p = two_contacts();
  p.q << -3.0, 0, 0, 0, 0, 0;
  VectorX r = VectorX::Zero(6);
  EXPECT_DOUBLE_EQ(natural_map_error(p, r), 1.0);  // r - P(r - u) = -3, over |q| = 3
  EXPECT_DOUBLE_EQ(scaled_error(p, r), 1.0);
  r[0] = 3.0;
  EXPECT_EQ(natural_map_error(p, r), 0.0);
  // Contact 1 pushed with impulse 1 (u_N = 4): raw map 1 - P(1 - 4) = 1 over |u| = 4; scaled r = 2, u = 2: 2 over |q|
  // = 3.
  r[3] = 1.0;
  EXPECT_DOUBLE_EQ(natural_map_error(p, r), 1.0 / 4.0);
  EXPECT_DOUBLE_EQ(scaled_error(p, r), 2.0 / std::sqrt(13.0));
}

TEST(Residual, sliding_by_hand) {
  FrictionProblem p = two_contacts();
  p.q << -2.0, 5.0, 0, 1.0, 0, 0;
  VectorX r = VectorX::Zero(6);
  r[0] = 2.0;
  r[1] = -1.0;  // u_T = 4 > 0, opposed, on the cone
  EXPECT_LE(natural_map_error(p, r), 1e-16);
  EXPECT_LE(scaled_error(p, r), 1e-16);
  EXPECT_LE(alart_curnier_error(p, r), 1e-16);
  r[1] = -0.9;
  EXPECT_GT(natural_map_error(p, r), 1e-2);
  EXPECT_NEAR(alart_curnier_error(p, r), 0.1 / std::sqrt(29.25), 1e-12);
  r[1] = 1.0;  // pushes along
  EXPECT_GT(alart_curnier_error(p, r), 0.1);
}

TEST(Residual, nothing_at_all_is_no_error_and_nan_is_nan) {
  FrictionProblem p = two_contacts();
  VectorX r = VectorX::Zero(6);
  EXPECT_EQ(natural_map_error(p, r), 0.0);
  EXPECT_EQ(scaled_error(p, r), 0.0);
  r[2] = std::nan("");
  EXPECT_TRUE(std::isnan(natural_map_error(p, r)));
  EXPECT_TRUE(std::isnan(scaled_error(p, r)));
}

TEST(Residual, a_contact_that_nothing_moves_borrows_the_largest_scale) {
  FrictionProblem p = two_contacts();
  p.W.block[0].setZero();
  const VectorX scales = contact_scales(diagonal_blocks(p));
  EXPECT_DOUBLE_EQ(scales[0], 2.0);
  EXPECT_DOUBLE_EQ(scales[1], 2.0);
  p.q[0] = -1.0;
  EXPECT_DOUBLE_EQ(scaled_error(p, VectorX::Zero(6)), 1.0);
  p.W.block[1].setZero();
  EXPECT_DOUBLE_EQ(contact_scales(diagonal_blocks(p))[0], 1.0);
}

/// The scaled measure has no unit: W / m, r m leave it alone; the raw one changes.
RC_GTEST_PROP(Residual, scaled_error_has_no_unit, ()) {
  const auto seed = static_cast<unsigned>(*rc::gen::inRange(0, 1000));
  FrictionProblem p = assembled(tresse_test::chain(4, 2, 6, 0.3, seed));
  VectorX r = VectorX::Random(p.q.size());
  const double before = scaled_error(p, r);
  const double mass = std::pow(10.0, *rc::gen::inRange(-8, 9));
  for (auto& block : p.W.block) block /= mass;
  RC_ASSERT(std::abs(scaled_error(p, r * mass) - before) <= 1e-12 * before);
}

TEST(Residual, both_forms_agree) {
  const FactoredProblem p = tresse_test::chain(6, 2, 9, 0.4, 3);
  const FrictionProblem whole = assembled(p);
  const VectorX r = VectorX::Random(p.q.size());
  EXPECT_LE((velocity(p, r) - velocity(whole, r)).norm(), 1e-13 * velocity(p, r).norm());
  EXPECT_NEAR(natural_map_error(p, r), natural_map_error(whole, r), 1e-13);
  EXPECT_NEAR(scaled_error(p, r), scaled_error(whole, r), 1e-13);
  EXPECT_NEAR(alart_curnier_error(p, r), alart_curnier_error(whole, r), 1e-13);
}

TEST(Residual, both_sides_on_one_body) {
  FactoredProblem p = tresse_test::chain(2, 1, 8, 0.3, 5);
  p.contacts[0][1].body = 0;
  p.contacts[0][1].columns = 5;  // shorter rows, as nearer the root
  const FrictionProblem whole = assembled(p);
  EXPECT_LE((diagonal_blocks(p)[0] - diagonal_blocks(whole)[0]).norm(), 1e-13);
  const VectorX r = VectorX::Random(3);
  EXPECT_LE((velocity(p, r) - velocity(whole, r)).norm(), 1e-13);
}

/// Contacts put in the place of others: the velocity is that of all contacts, those left out without an impulse.
TEST(Replaced, problem_holds_the_contacts_of_both) {
  const FactoredProblem first = tresse_test::chain(4, 2, 6, 0.3, 1);
  const FactoredProblem second = tresse_test::chain(4, 2, 6, 0.5, 2);
  ASSERT_EQ(first.body_begin, second.body_begin);
  std::vector<char> left_out(first.contacts.size(), 0);
  for (std::size_t i = 0; i < left_out.size(); i += 3) left_out[i] = 1;
  const FactoredProblem mixed = replaced(first, left_out, second);
  EXPECT_NO_THROW(validate(mixed));
  const auto n = static_cast<Eigen::Index>(first.contacts.size());
  const auto m = static_cast<Eigen::Index>(second.contacts.size());
  const VectorX impulse = VectorX::Random(3 * static_cast<Eigen::Index>(mixed.contacts.size()));
  VectorX of_first = VectorX::Zero(3 * n);
  std::vector<Eigen::Index> kept;
  for (Eigen::Index i = 0; i < n; ++i) {
    if (left_out[static_cast<std::size_t>(i)]) continue;
    of_first.segment<3>(3 * i) = impulse.segment<3>(3 * static_cast<Eigen::Index>(kept.size()));
    kept.push_back(i);
  }
  ASSERT_EQ(static_cast<Eigen::Index>(mixed.contacts.size()), static_cast<Eigen::Index>(kept.size()) + m);
  // Each set of contacts alone, and what the bodies carry from one to the other.
  const VectorX together = velocity(mixed, impulse);
  const FactoredProblem all = replaced(first, std::vector<char>(first.contacts.size(), 0), second);
  VectorX of_all(3 * (n + m));
  of_all << of_first, impulse.tail(3 * m);
  const VectorX expected = velocity(assembled(all), of_all);
  for (std::size_t k = 0; k < kept.size(); ++k) {
    const auto at = static_cast<Eigen::Index>(k);
    EXPECT_LT((together.segment<3>(3 * at) - expected.segment<3>(3 * kept[k])).norm(), 1e-13 * expected.norm());
    EXPECT_EQ(mixed.mu[at], first.mu[kept[k]]);
  }
  EXPECT_LT((together.tail(3 * m) - expected.tail(3 * m)).norm(), 1e-13 * expected.norm());
  EXPECT_EQ(VectorX(mixed.mu.tail(m)), second.mu);
  EXPECT_EQ(VectorX(mixed.q.tail(3 * m)), second.q);
}

/// The law written out (which accepts a direction that deviates in whichever of impulse and velocity is smaller) is as
/// strict as the natural map, in both directions and at every scale: each bounds the other. A measure of the angle
/// between u_T and r_T wouldn't be: where r is 1e-20 of the problem's largest, its direction is rounding noise and no
/// solver can give it.
TEST(Coulomb, the_law_written_out_and_the_natural_map_bound_each_other) {
  std::mt19937 generator(31);
  std::normal_distribution<double> normal;
  std::uniform_real_distribution<double> uniform;
  const auto any = [&] { return Vector3(normal(generator), normal(generator), normal(generator)); };
  const auto decade = [&](double lowest) { return std::pow(10.0, lowest * uniform(generator)); };
  constexpr double factor = 8.0;      // constants of the law's Lipschitz bounds, mu <= 1
  constexpr double rounding = 1e-15;  // of the larger of r and u
  int clear = 0;
  for (int trial = 0; trial < 30000; ++trial) {
    const double mu = trial % 7 == 0 ? 0.0 : uniform(generator);
    Vector3 r = decade(-12.0) * any(), u = decade(-12.0) * any();
    if (trial % 3 != 0) {  // near one of the cases
      const double angle = 7.0 * uniform(generator);
      const Vector3 d(0.0, std::cos(angle), std::sin(angle));
      r = decade(-12.0) * (trial % 3 == 1 ? Vector3(Vector3::UnitX() - mu * d) : Vector3(Vector3::UnitX()));
      u = decade(-12.0) * (trial % 3 == 1 ? d : Vector3::Zero());
      if (trial % 5 == 0) {
        r.setZero();
        u = std::abs(normal(generator)) * Vector3::UnitX() + decade(-12.0) * d;
      }
      r += decade(-14.0) * r.norm() * any();
      u += decade(-14.0) * std::max(r.norm(), u.norm()) * any();
    }
    const double law = tresse_test::coulomb_violation(u, r, mu);
    const double map = natural_map(r, u, mu).norm();
    const double noise = rounding * std::max(r.norm(), u.norm());
    EXPECT_LE(law, factor * map + noise) << trial << " mu " << mu << " r " << r.transpose() << " u " << u.transpose();
    EXPECT_LE(map, factor * law + noise) << trial << " mu " << mu << " r " << r.transpose() << " u " << u.transpose();
    clear += law > 10.0 * noise;
  }
  EXPECT_GT(clear, 20000);
}

TEST(Coulomb, cases) {
  EXPECT_EQ(classify({0, 0, 0}, 0.3), ContactCase::open);
  EXPECT_EQ(classify({1, 0.1, 0}, 0.3), ContactCase::stick);
  EXPECT_EQ(classify({1, 0.3, 0}, 0.3), ContactCase::slide);
  EXPECT_EQ(classify({1, 0, 0}, 0.0), ContactCase::slide);
}

}  // namespace TRESSE_TEST_FILE
