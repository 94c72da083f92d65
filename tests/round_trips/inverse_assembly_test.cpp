#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include <tresse/dynamics/start_contacts.hpp>
#include <tresse/inverse/assembly.hpp>
#include <tresse/inverse/rest_shapes.hpp>
#include <tresse/scene/build.hpp>
#include <tresse/scene_file/scene_file.hpp>

// Many fibres that touch, inverted: what their natural shapes and forces say of themselves.
namespace tresse {
namespace TRESSE_TEST_FILE {

/// A straight strand on a slope, and one beside it that touches nothing.
std::string strand(const std::string& condition, double slope_deg, const std::string& model) {
  const std::string slope = std::to_string(slope_deg) + " deg";
  const std::string normal = "[\"sin(" + slope + ")\", 0, \"cos(" + slope + ")\"]";
  const std::string position = "[\"0.2 mm * sin(" + slope + ")\", 0, \"0.2 mm * cos(" + slope + ")\"]";
  return "materials.rod.preset = \"nylon\"\nfriction.default = 0.5\n"
         "[[fibres]]\nname = \"strand\"\nmaterial = \"rod\"\nlength = \"5 cm\"\nelements = 8\nradius = \"0.2 mm\"\n"
         "model = \"" +
         model + "\"\nroot = { condition = \"" + condition + "\", position = " + position + ", tangent = [\"cos(" +
         slope + ")\", 0, \"-sin(" + slope + ")\"], normal = " + normal +
         " }\n[[obstacles]]\nname = \"bar\"\nshape = \"plane\"\npoint = [0, 0, 0]\nnormal = " + normal + "\n";
}

struct Inverted {
  explicit Inverted(const std::string& text, const inverse::AssemblyOptions& options = {}, bool apart = false)
      : built(scene::build(scene_file::parse_scene(text, "test.toml"))), at(scene::kinematics_at_start(built)) {
    if (!apart)
      contacts = inverse::closed_contacts(dynamics::start_contacts(at, built.options, geometry), geometry, 0.01);
    found = inverse::resting_assembly(at, geometry, contacts, options);
  }
  scene::Case built;
  assembly::Kinematics at;
  contact::Geometry geometry;
  std::vector<contact::Contact> contacts;
  inverse::RestingAssembly found;
};

class InverseAssembly : public ::testing::TestWithParam<const char*> {};
INSTANTIATE_TEST_SUITE_P(Models, InverseAssembly, ::testing::Values("super-helix", "super-clothoid"),
                         [](const auto& tested) { return tested.index == 0 ? "helix" : "clothoid"; });

TEST_P(InverseAssembly, WithoutContactsIsThatOfSingleFibresToTheBit) {
  const Inverted one(strand("clamped", 20.0, GetParam()), {}, true);
  const auto alone = inverse::resting_rods(one.at, {});
  ASSERT_EQ(one.found.rest.size(), alone.size());
  EXPECT_TRUE((one.found.rest[0].array() == alone[0].model->rest_curvature().array()).all());
}

TEST_P(InverseAssembly, AStraightStrandAlongABarNeedsNoCurvature) {
  const Inverted one(strand("free", 0.0, GetParam()), {.guess = inverse::Guess::zero});
  ASSERT_GT(one.contacts.size(), 4U);
  EXPECT_EQ(one.found.status, Status::converged);
  // A super-clothoid has one curvature more, and no more places where it is pushed up: its equations leave a rest.
  const bool clothoid = GetParam() == std::string("super-clothoid");
  EXPECT_LE(one.found.rest[0].lpNorm<Eigen::Infinity>() * 0.05, clothoid ? 1e-4 : 1e-6);
  EXPECT_NEAR(one.found.weight_on_obstacles, 1.0, 1e-6);
  EXPECT_LE(one.found.kkt_error, 1e-8);
  EXPECT_LE(one.found.residual, 1e-12);
  EXPECT_THAT(inverse::unstable_fibres(one.at, one.geometry, one.contacts, one.found), testing::IsEmpty());
}

TEST_P(InverseAssembly, EveryGuessAndNormBalances) {
  for (const auto guess : {inverse::Guess::shape, inverse::Guess::zero, inverse::Guess::tip, inverse::Guess::uniform}) {
    for (const auto norm : {inverse::Norm::energy, inverse::Norm::curvature}) {
      const Inverted one(strand("clamped", 10.0, GetParam()), {.guess = guess, .norm = norm});
      EXPECT_EQ(one.found.status, Status::converged);
      EXPECT_LE(one.found.kkt_error, 1e-8);
      EXPECT_LE(one.found.residual, 1e-12);
    }
  }
}

/// Those of upright strands in a row, each touching the next, that are not stable: Young's moduli in GPa. By Greenhill
/// a strand alone needs 0.1377 GPa, strands that bend together need it on average.
std::vector<int> topple(const std::vector<double>& moduli) {
  std::string text;
  for (std::size_t i = 0; i < moduli.size(); ++i) {
    const std::string number = std::to_string(i);
    text += "[materials.m" + number + "]\ndensity = 1100\npoisson_ratio = 0.4\nyoung_modulus = \"" +
            std::to_string(moduli[i]) + " GPa\"\n[[fibres]]\nname = \"f" + number + "\"\nmaterial = \"m" + number +
            "\"\nlength = \"10 cm\"\nelements = 6\nradius = \"0.2 mm\"\nroot = { condition = \"clamped\", position = "
            "[0, \"" +
            number + " * 0.4 mm\", 0], tangent = [0, 0, 1], normal = [1, 0, 0] }\n";
  }
  Inverted one(text);
  // Loaded, and next to nothing beside the weight: each pair is held together.
  for (std::size_t i = 0; i < one.contacts.size(); ++i) one.found.forces[i] = 1e-15 * one.contacts[i].frame.col(0);
  EXPECT_GE(one.contacts.size(), 5 * (moduli.size() - 1));
  return inverse::unstable_fibres(one.at, one.geometry, one.contacts, one.found);
}

TEST(InverseAssemblyStability, IsThatOfStrandsTogether) {
  EXPECT_THAT(topple({0.15}), testing::IsEmpty());
  EXPECT_THAT(topple({0.12}), testing::ElementsAre(0));
  EXPECT_THAT(topple({0.12, 0.12}), testing::ElementsAre(0, 1));
  EXPECT_THAT(topple({0.12, 0.17}), testing::IsEmpty());
  EXPECT_THAT(topple({0.12, 0.145}), testing::ElementsAre(0));
  // Three and four strands away from what holds them; two that are weak by themselves on both sides of it.
  EXPECT_THAT(topple({0.1, 0.1, 0.1, 0.3}), testing::IsEmpty());
  EXPECT_THAT(topple({0.1, 0.1, 0.1, 0.2}), testing::ElementsAre(0, 1, 2));
  EXPECT_THAT(topple({0.1, 0.14, 0.14, 0.14, 0.2}), testing::IsEmpty());
  EXPECT_THAT(topple({0.1, 0.14, 0.3, 0.14, 0.1}), testing::IsEmpty());
  EXPECT_THAT(topple({0.1, 0.14, 0.16, 0.14, 0.1}), testing::ElementsAre(0, 4));
}

TEST(InverseAssemblySlope, WhatFrictionWithItsMarginCannotHoldIsTold) {
  // tan 24.2 deg is 0.9 times 0.5.
  EXPECT_EQ(Inverted(strand("free", 23.5, "super-helix")).found.loose[0], 0);
  EXPECT_EQ(Inverted(strand("free", 25.0, "super-helix")).found.loose[0], 1);
  EXPECT_EQ(Inverted(strand("free", 25.0, "super-helix"), {.friction_margin = 1.0}).found.loose[0], 0);
}

}  // namespace TRESSE_TEST_FILE
}  // namespace tresse
