#include <gtest/gtest.h>
#include <Eigen/Geometry>

#include <cmath>
#include <functional>

#include <tresse/assembly/tree.hpp>
#include <tresse/base/errors.hpp>
#include <tresse/scene/build.hpp>

namespace tresse::scene {
namespace TRESSE_TEST_FILE {

FibreGroup group(const std::string& name, int elements) {
  FibreGroup out;
  out.name = out.material_name = name;
  out.material = {.density = 1000.0, .young_modulus = 1e9, .poisson_ratio = 0.4, .damping_time = 0.0};
  out.element_lengths.assign(static_cast<std::size_t>(elements), 0.02);
  out.sections.assign(static_cast<std::size_t>(elements), rods::CrossSection::circle(1e-3));
  out.natural_curvature.assign(static_cast<std::size_t>(elements), Vector3(1.0, 3.0, 8.0));
  out.initial_curvature = out.natural_curvature;
  out.initial_curvature_rate.assign(static_cast<std::size_t>(elements), Vector3(0.0, 2.0, 1.0));
  return out;
}

FibreGroup branches(const std::string& name, const std::string& parent, const std::vector<double>& at) {
  FibreGroup out = group(name, 2);
  out.root.condition = rods::RootCondition::carried;
  out.root.parent = parent;
  out.root.at = at;
  return out;
}

/// Three trunks of 8 cm; branches within an element, at a joint and at the tip; twigs on each of these.
Scene grove() {
  Scene out;
  out.fibres.push_back(group("trunk", 4));
  out.fibres[0].grid = {.count = 3, .spacing = 0.1, .jitter = 0.01, .twist = 1.0};
  out.fibres.push_back(branches("bough", "trunk", {0.013, 0.04, 0.08}));
  out.fibres[1].root.position = {0.0, 2e-3, 0.0};
  out.fibres[1].root.frame = Eigen::AngleAxisd(0.7, Vector3::UnitZ()).toRotationMatrix();
  out.fibres[1].root.roll_step = 2.4;
  out.fibres.push_back(branches("twig", "bough", {0.04}));
  return out;
}

TEST(Branches, StartWhereTheirParentsAre) {
  const Case built = build(grove());
  const auto& fibres = built.world.fibres;
  ASSERT_EQ(fibres.size(), 3U + 9U + 9U);
  const assembly::Kinematics start = kinematics_at_start(built);
  const std::vector<double> at{0.013, 0.04, 0.08};
  for (std::size_t f = 3; f < 12; ++f) {
    const std::size_t j = (f - 3) % 3;
    EXPECT_EQ(fibres[f].attachment.parent, static_cast<int>((f - 3) / 3));
    const rods::RodSection section = start.rod(static_cast<int>(f - 3) / 3).section(at[j]);
    const Matrix3 turn = section.frame * Eigen::AngleAxisd(2.4 * double(j), Vector3::UnitX()).toRotationMatrix();
    const Pose& root = built.state.rods[f].root;
    EXPECT_LT((root.position - section.position - turn * Vector3(0.0, 2e-3, 0.0)).norm(), 1e-15);
    EXPECT_LT((root.frame - turn * grove().fibres[1].root.frame).norm(), 1e-14);
  }
  for (std::size_t f = 12; f < 21; ++f) {
    EXPECT_EQ(fibres[f].attachment.parent, static_cast<int>(f) - 9);
    const rods::RodSection section = start.rod(static_cast<int>(f) - 9).section(0.04);
    EXPECT_LT((built.state.rods[f].root.position - section.position).norm(), 1e-15);
    EXPECT_LT((built.state.rods[f].root.frame - section.frame).norm(), 1e-14);
    EXPECT_GT(built.state.rods[f].root_velocity.linear.norm(), 0.0);  // the parents bend
  }
  const assembly::Forest forest = assembly::make_forest(built.world);
  ASSERT_EQ(forest.trees.size(), 3U);
  EXPECT_EQ(forest.trees[0].dof, 3 * (4 + 3 * 2 + 3 * 2));
}

TEST(Branches, DoNotOverlapWhereTheyStart) { EXPECT_TRUE(initial_overlaps(build(grove())).empty()); }

TEST(Branches, RefusesWhatCannotGrow) {
  const auto refused = [](const std::function<void(Scene&)>& change) {
    Scene scene = grove();
    change(scene);
    EXPECT_THROW(static_cast<void>(build(scene)), InvalidInput);
  };
  refused([](Scene& s) { s.fibres[2].root.parent = "twig"; });
  refused([](Scene& s) { s.fibres[1].root.parent = "twig"; });
  refused([](Scene& s) { s.fibres[1].root.at = {}; });
  refused([](Scene& s) { s.fibres[1].root.at = {0.081}; });
  refused([](Scene& s) { s.fibres[1].root.at = {std::nan("")}; });
  refused([](Scene& s) { s.fibres[1].root.velocity = Vector3::UnitX(); });
  refused([](Scene& s) { s.fibres[1].root.motion.velocity = Vector3::UnitX(); });
  refused([](Scene& s) { s.fibres[1].root.roll_step = std::nan(""); });
  refused([](Scene& s) { s.fibres[1].grid.count = 2; });
  refused([](Scene& s) { s.fibres[1].cap = Cap{.count = 2, .radius = 1.0}; });
  refused([](Scene& s) { s.fibres[0].model = RodModel::discrete_elastic_rod; });
  refused([](Scene& s) { s.fibres[2].model = RodModel::discrete_elastic_rod; });
  refused([](Scene& s) { s.fibres[0].root.parent = "bough"; });
  refused([](Scene& s) { s.simulation.wind.period = 0.0; });
}

}  // namespace TRESSE_TEST_FILE
}  // namespace tresse::scene
