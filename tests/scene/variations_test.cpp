#include <tresse/scene/variations.hpp>

#include <gtest/gtest.h>

#include <algorithm>

// Which fibres a number of a scene is of; derivatives by each are compared with differences in tests/app.
namespace tresse::scene {
namespace TRESSE_TEST_FILE {

FibreGroup group_of(const std::string& name, const std::string& material) {
  FibreGroup out;
  out.name = name;
  out.material_name = material;
  out.material = {.density = 1000.0, .young_modulus = 2e9, .poisson_ratio = 0.4, .damping_time = 0.01};
  out.element_lengths.assign(3, 0.01);
  out.sections.assign(3, rods::CrossSection::circle(1e-4));
  out.natural_curvature.assign(3, Vector3::Zero());
  out.initial_curvature = out.initial_curvature_rate = out.natural_curvature;
  return out;
}

const NamedVariation& named(const std::vector<NamedVariation>& all, const std::string& name) {
  const auto found = std::find_if(all.begin(), all.end(), [&](const auto& one) { return one.name == name; });
  EXPECT_NE(found, all.end()) << name;
  return found == all.end() ? all.front() : *found;
}

TEST(Variations, AreOfTheFibresThatHaveTheNumber) {
  Scene scene;
  scene.fibres = {group_of("left", "hair"), group_of("right", "hair"), group_of("bar", "steel")};
  scene.friction.default_coefficient = 0.2;
  const std::vector<NamedVariation> all = variations(scene, build(scene));
  EXPECT_EQ(all.size(), 2U * 4U + 3U * 7U + 6U + 1U);
  const NamedVariation& young = named(all, "materials.hair.young_modulus");
  EXPECT_EQ(young.value, 2e9);
  ASSERT_EQ(young.direction.fibres.size(), 3U);
  EXPECT_EQ(young.direction.fibres[0].stiffness, Vector3::Constant(0.5e-9));
  EXPECT_EQ(young.direction.fibres[1].stiffness, Vector3::Constant(0.5e-9));
  EXPECT_TRUE(young.direction.fibres[2].stiffness.isZero(0.0));
  // G = E / (2 (1 + nu)): of the twist alone.
  EXPECT_EQ(named(all, "materials.steel.poisson_ratio").direction.fibres[2].stiffness, Vector3(-1.0 / 1.4, 0.0, 0.0));
  const NamedVariation& bend = named(all, "fibres.right.natural_curvature.2");
  EXPECT_EQ(bend.direction.fibres[0].natural.size(), 0);
  ASSERT_EQ(bend.direction.fibres[1].natural.size(), 9);
  EXPECT_EQ(bend.direction.fibres[1].natural.sum(), 3.0);
  EXPECT_EQ(bend.direction.fibres[1].natural[8], 1.0);
  EXPECT_EQ(named(all, "fibres.left.root.1").direction.fibres[0].root.linear, Vector3::UnitY());
  EXPECT_EQ(named(all, "simulation.gravity.2").value, -9.81);
  EXPECT_DOUBLE_EQ(named(all, "friction.default").direction.friction, 5.0);
  scene.friction.pairs[{"hair", "steel"}] = scene.friction.pairs[{"steel", "hair"}] = 0.5;
  EXPECT_EQ(named(variations(scene, build(scene)), "friction").direction.friction, 1.0);
}

}  // namespace TRESSE_TEST_FILE
}  // namespace tresse::scene
