#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <oneapi/tbb/global_control.h>

#include <tresse/base/errors.hpp>
#include <tresse/dynamics/stepper.hpp>
#include <tresse/friction/solver.hpp>
#include <tresse/scene/build.hpp>
#include <tresse/scene_file/scene_file.hpp>

/// Runs with every friction solver of the family, as `solver.name` of a scene.
namespace tresse::record {
namespace TRESSE_TEST_FILE {

const std::string comb = TRESSE_SCENES "/comb.toml";

struct CombRun {
  std::vector<Vector3> force;  ///< on the comb, step by step [N]
  std::vector<VectorX> coordinates;
  int most_contacts = 0;
  int unsolved = 0;
};

CombRun run_comb(std::string_view solver, const scene_file::ParameterOverrides& set, int steps) {
  scene_file::ParameterOverrides all = set;
  all.emplace_back("solver.name", std::string(solver));
  scene::Case built = scene::build(scene_file::read_scene(comb, all));
  dynamics::Stepper stepper(std::move(built.world), built.options, std::move(built.state));
  CombRun out;
  for (int i = 0; i < steps; ++i) {
    const dynamics::StepReport report = stepper.step();
    out.force.push_back(report.obstacles[0].force);
    out.most_contacts = std::max(out.most_contacts, report.contacts);
    out.unsolved += report.solver_status == Status::converged ? 0 : 1;
  }
  for (const rods::RodState& state : stepper.state().rods) out.coordinates.push_back(state.coordinates);
  return out;
}

/// Ten seconds of combing a hair: the solution of a step is unique, so that solvers differ by what they leave, 1e-12.
TEST(SolversInRuns, everyone_combs_a_hair_with_the_same_force) {
  constexpr int steps = 10000;
  const CombRun expected = run_comb("hybrid-gauss-seidel", {}, steps);
  double largest = 0.0;
  for (const Vector3& force : expected.force) largest = std::max(largest, force.norm());
  EXPECT_GT(largest, 1e-5);
  EXPECT_GT(expected.most_contacts, 1);  // a lone contact is solved without any of them
  for (const std::string_view solver : friction::solver_names) {
    const CombRun found = run_comb(solver, {}, steps);
    double off = 0.0;
    for (int i = 0; i < steps; ++i)
      off = std::max(off,
                     (found.force[static_cast<std::size_t>(i)] - expected.force[static_cast<std::size_t>(i)]).norm());
    if (std::getenv("TRESSE_TEST_PRINT") != nullptr)
      std::printf("%s: off by %.2g of %.2g N\n", std::string(solver).c_str(), off, largest);
    EXPECT_EQ(found.unsolved, 0) << solver;
    constexpr double steps_remember = 10.0;  // what one leaves is there in the next
    EXPECT_LT(off, steps_remember * 1e-12 * largest) << solver;
  }
}

TEST(SolversInRuns, same_bits_on_one_thread_and_two) {
  const scene_file::ParameterOverrides wisp{{"fibres", "5"}, {"settle_time", "0.4"}, {"natural_curvature", "60"}};
  constexpr int steps = 600;
  for (const std::string_view solver : friction::solver_names) {
    CombRun one, two;
    {
      const oneapi::tbb::global_control limit(oneapi::tbb::global_control::max_allowed_parallelism, 1);
      one = run_comb(solver, wisp, steps);
    }
    {
      const oneapi::tbb::global_control limit(oneapi::tbb::global_control::max_allowed_parallelism, 2);
      two = run_comb(solver, wisp, steps);
    }
    EXPECT_GT(one.most_contacts, 10);
    EXPECT_EQ(one.unsolved, 0) << solver;
    for (std::size_t f = 0; f < one.coordinates.size(); ++f)
      EXPECT_EQ(one.coordinates[f], two.coordinates[f]) << solver;
  }
}

TEST(SolversInRuns, settings_are_set_from_outside) {
  const scene::Scene scene =
      scene_file::read_scene(comb, {{"solver.name", "auto"}, {"output.every", "7"}, {"contact.margin", "3 um"}});
  EXPECT_EQ(scene.solver.name, friction::Solver::automatic);
  EXPECT_EQ(scene::build(scene).options.solver.solver, friction::Solver::automatic);
  EXPECT_EQ(scene.output.every, 7);  // not in the file
  EXPECT_EQ(scene.contact.margin, 3e-6);
  EXPECT_TRUE(scene_file::read_scene(comb, {{"contact.self_contact", "true"}}).contact.self_contact);
  const auto message = [&](const std::string& name, const std::string& value) -> std::string {
    try {
      static_cast<void>(scene_file::read_scene(comb, {{name, value}}));
    } catch (const InvalidInput& error) {
      return error.what();
    }
    return "";
  };
  for (const std::string_view solver : friction::solver_names)
    EXPECT_NE(message("solver.name", "gauss").find(solver), std::string::npos);
  EXPECT_EQ(message("solver.name", "gauss").find('\n'), std::string::npos);
  EXPECT_NE(message("solver.nme", "auto").find("did you mean \"name\""), std::string::npos);
  EXPECT_NE(message("fibres.radius", "1e-3").find("no table of settings"), std::string::npos);
  EXPECT_NE(message("solver.name", "").find("no value"), std::string::npos);
  EXPECT_NE(message("contact.margin", "3 kg").find("contact.margin"), std::string::npos);
}

}  // namespace TRESSE_TEST_FILE
}  // namespace tresse::record
