#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <tresse/base/errors.hpp>
#include <tresse/rods/discrete_elastic_rod.hpp>
#include <tresse/rods/mass_spring.hpp>

#include "rods/rod_cases.hpp"

// What a chain of points has of its own: no directions of bending, no twist. Its derivatives are in
// nodal_rods_test.cpp.
namespace tresse::rods {
namespace TRESSE_TEST_FILE {

using namespace rod_cases;

// A straight joint: the energy is |kb|^2 whatever the directors, and its Hessian that of a beam, in every plane alike.
TEST(MassSpringChain, IsSmoothWhereItIsStraight) {
  const Material material{.density = 1000.0, .young_modulus = 1e6};
  const double l = 0.1;
  const RodEdge edge{l, CrossSection::circle(1e-3), Vector3::Zero()};
  const auto rod = make_mass_spring({edge, edge, edge}, material, RootCondition::free);
  const double stiffness = bending_stiffness(edge.section, material)[1] / l;
  MatrixX straight = MatrixX::Zero(12, 12);
  rod->add_stiffness(1.0, 0.0, straight);
  for (const double angle : {0.0, 0.4, 1.1, 2.9}) {
    VectorX v = VectorX::Zero(12);
    v.segment<3>(3) = Vector3(0, std::cos(angle), std::sin(angle));
    // Moved by 1 a node turns its own two edges against each other by 2 / l, and the next joint's by 1 / l.
    EXPECT_NEAR(v.dot(straight * v), stiffness * (4.0 + 1.0) / (l * l), 1e-12 * stiffness / (l * l));
    RodState state = rod->state();
    state.coordinates += 1e-6 * v;
    const auto bent = rod->clone();
    bent->update(state);
    MatrixX beside = MatrixX::Zero(12, 12);
    bent->add_stiffness(1.0, 0.0, beside);
    EXPECT_LT(relative(beside, straight), 1e-4);  // the edges' tilt of 1e-5 mixes stretch in
  }
}

// Shaped again from its own root and curvatures it has the same nodes and velocities.
TEST(MassSpringChain, AFreeRootIsAtTheBeginning) {
  const Material material{.density = 1000.0, .young_modulus = 1e6};
  const std::vector<RodEdge> edges(8, {0.1, CrossSection::circle(1e-3), {0, 0, 2.0}});
  const auto rod = make_mass_spring(edges, material, RootCondition::free);
  const Pose root{{0.1, 0.2, 0.3}, math::rotation_exp({1.0, -0.5, 0.7})};
  const Twist motion{{0.5, -0.2, 0.4}, 1.5 * root.frame.col(2)};  // in its plane: a chain has no spin
  const VectorX& curvature = rod->rest_curvature();
  VectorX rate = VectorX::Zero(curvature.size());
  for (Eigen::Index i = 2; i < rate.size(); i += 3) rate[i] = std::sin(static_cast<double>(i));
  const RodState first = rod->shaped(root, motion, curvature, rate);
  EXPECT_LT((first.coordinates.tail<3>() - root.position -
             root.frame * Vector3(0.5 * std::sin(1.6), 0.5 * (1.0 - std::cos(1.6)), 0))
                .norm(),
            2e-3);
  for (const RodState& state : {rod->advanced(first, first.rates, 0.0, {}, {}), [&] {
                                  rod->update(first);
                                  return rod->state();
                                }()}) {
    EXPECT_LT((state.root.frame - root.frame).norm(), 1e-13);
    EXPECT_LT((state.root.position - root.position).norm(), 1e-15);
    EXPECT_LT((state.root_velocity.linear - motion.linear).norm(), 1e-14);
    EXPECT_LT((state.root_velocity.angular - motion.angular).norm(), 1e-12);
    const RodState again = rod->shaped(state.root, motion, rod->curvature(), rate);
    EXPECT_LT((again.coordinates - first.coordinates).norm(), 1e-13);
    EXPECT_LT((again.rates - first.rates).norm(), 1e-12);
  }
}

// Round sections without twist: energy, force, damping and mass are those of the discrete elastic rod whose angles are
// at rest, as long as all lies in one plane.
TEST(MassSpringChain, IsTheDiscreteElasticRodInThePlane) {
  const Material material{.density = 1200.0, .young_modulus = 2e6, .poisson_ratio = 0.4, .damping_time = 0.01};
  constexpr int n = 6;
  std::vector<RodEdge> edges;
  for (int i = 0; i < n; ++i) edges.push_back({0.04 + 0.004 * i, CrossSection::circle(1e-3), {0, 0, 7.0 - i}});
  for (const RootCondition root : {RootCondition::clamped, RootCondition::free}) {
    const auto chain = make_mass_spring(edges, material, root);
    const auto rod = make_discrete_elastic_rod(edges, material, root);
    const Eigen::Index k = rod->rest_curvature().size();
    VectorX curvature = VectorX::Zero(k), rate = VectorX::Zero(k);
    for (Eigen::Index i = 2; i < k; i += 3) {
      curvature[i] = 5.0 + 3.0 * std::sin(static_cast<double>(i));
      rate[i] = 4.0 * std::cos(2.0 * static_cast<double>(i));
    }
    chain->update(chain->shaped({}, {}, curvature, rate));
    rod->update(rod->shaped({}, {}, curvature, rate));
    EXPECT_LT(relative(chain->curvature(), curvature), 1e-12);
    EXPECT_NEAR(chain->elastic_energy() / rod->elastic_energy(), 1.0, 1e-12);
    VectorX force(chain->dof()), expected(rod->dof()), viscous(chain->dof()), expected_viscous(rod->dof());
    chain->elastic_force(force);
    rod->elastic_force(expected);
    chain->resistance(0.3, chain->state().rates, viscous);
    rod->resistance(0.3, rod->state().rates, expected_viscous);
    const int first = root == RootCondition::clamped ? 1 : 0;
    const double force_size = expected.norm(), viscous_size = expected_viscous.norm();
    for (int node = first; node <= n; ++node) {
      const int a = 3 * (node - first), b = first == 1 ? 4 * node - 3 : 4 * node;
      EXPECT_LT((force.segment<3>(a) - expected.segment<3>(b)).norm(), 1e-9 * force_size);
      EXPECT_LT((viscous.segment<3>(a) - expected_viscous.segment<3>(b)).norm(), 1e-9 * viscous_size);
    }
    const RodSection section = chain->section(0.1), other = rod->section(0.1);
    EXPECT_LT((section.moment - other.moment).norm(), 1e-10 * other.moment.norm());
    EXPECT_LT((section.frame - other.frame).norm(), 1e-12);
    EXPECT_LT((section.position - other.position).norm(), 1e-14);
  }
}

// A curl has no plane of its own: turned about the tangent of its root it costs nothing.
TEST(MassSpringChain, ACurlLiesInAnyPlane) {
  const Material material{.density = 1000.0, .young_modulus = 1e6};
  const std::vector<RodEdge> edges(8, {0.02, CrossSection::circle(1e-3), {0.0, 3.0, 4.0}});
  const auto rod = make_mass_spring(edges, material, RootCondition::clamped);
  const double size = 0.5 * bending_stiffness(edges[0].section, material)[1] * 25.0 * 0.16;
  EXPECT_LT(rod->elastic_energy(), 1e-20 * size);
  for (const double angle : {0.3, 2.0, 4.0}) {
    const VectorX curvature = Vector3(0.0, 5.0 * std::cos(angle), 5.0 * std::sin(angle)).replicate(8, 1);
    rod->update(rod->shaped({}, {}, curvature, VectorX::Zero(24)));
    EXPECT_LT(rod->elastic_energy(), 1e-20 * size);
    EXPECT_LT(rod->section(0.05).moment.norm(), 1e-10 * size);
    EXPECT_LT((rod->section(0.16).curvature - curvature.head<3>()).norm(), 1e-10);
  }
}

// An initial shape may twist: its nodes lie where those of the discrete elastic rod of these curvatures lie.
TEST(MassSpringChain, AShapeMayBeAHelix) {
  const Material material{.density = 1000.0, .young_modulus = 1e6};
  const std::vector<RodEdge> edges(8, {0.02, CrossSection::circle(1e-3), Vector3::Zero()});
  for (const RootCondition root : {RootCondition::clamped, RootCondition::free}) {
    const auto chain = make_mass_spring(edges, material, root);
    const auto rod = make_discrete_elastic_rod(edges, material, root);
    const Eigen::Index k = rod->rest_curvature().size() / 3;
    const VectorX curvature = Vector3(12.0, 9.0, -20.0).replicate(k, 1), rate = Vector3(3.0, 2.0, 5.0).replicate(k, 1);
    const Pose pose{{0.1, 0.2, 0.3}, math::rotation_exp({1.0, -0.5, 0.7})};
    const Twist motion{{0.5, -0.2, 0.4}, {1.0, 2.0, -1.5}};
    chain->update(chain->shaped(pose, motion, curvature, rate));
    rod->update(rod->shaped(pose, motion, curvature, rate));
    Matrix3X found(3, 9), expected(3, 9);
    chain->end_velocities(chain->state().rates, found);
    rod->end_velocities(rod->state().rates, expected);
    EXPECT_EQ(found, expected);
    for (int i = 0; i <= 8; ++i) {
      const Vector3 difference = chain->section(0.02 * i).position - rod->section(0.02 * i).position;
      EXPECT_LT(difference.norm(), 1e-15);
    }
  }
}

TEST(MassSpringChain, BadInputIsNamed) {
  const Material material{.density = 1000.0, .young_modulus = 1e6};
  const RodEdge edge{0.1, CrossSection::circle(1e-3), Vector3::Zero()};
  const auto message = [&](const RodEdge& wrong, RootCondition root) -> std::string {
    try {
      static_cast<void>(make_mass_spring({edge, wrong}, material, root));
    } catch (const InvalidInput& error) {
      return error.what();
    }
    return "";
  };
  using ::testing::HasSubstr;
  RodEdge bad = edge;
  bad.section.half_axis_2 = 2e-3;
  EXPECT_THAT(message(bad, RootCondition::clamped), HasSubstr("mass-spring chain edge 1: elliptic"));
  bad = edge;
  bad.rest_curvature = {1.0, 0.0, 0.0};
  EXPECT_THAT(message(bad, RootCondition::free), HasSubstr("mass-spring chain: natural twist"));
  bad.rest_curvature = {0.0, 0.0, 100.0};
  EXPECT_THAT(message(bad, RootCondition::clamped), HasSubstr("expected less than 3"));
  EXPECT_THAT(message(edge, RootCondition::carried), HasSubstr("mass-spring chain: cannot be a branch"));
  EXPECT_THROW(make_mass_spring({}, material, RootCondition::free), InvalidInput);
  const auto rod = make_mass_spring({edge, edge}, material, RootCondition::clamped);
  EXPECT_THROW(rod->update({{}, {}, VectorX::Zero(8), VectorX::Zero(8), {}}), InvalidInput);
  EXPECT_THROW(rod->set_length_scale(2.0), InvalidInput);
}

}  // namespace TRESSE_TEST_FILE
}  // namespace tresse::rods
