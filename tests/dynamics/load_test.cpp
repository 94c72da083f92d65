#include <tresse/assembly/load.hpp>

#include <gtest/gtest.h>

#include <cmath>

#include "support/worlds.hpp"

/// The list of loads of a world, and a load that is made up here.
namespace tresse::assembly {
namespace TRESSE_TEST_FILE {

const rods::Material soft{.density = 1000.0, .young_modulus = 1e7, .poisson_ratio = 0.4};
const Vector3 g(0.0, 0.0, -9.81);

/// A tank of water that is pushed to and fro: it resists fibres by their thickness, flows, and carries part of their
/// weight.
class Tank final : public Load {
 public:
  Vector3 acceleration() const override { return {0.0, 0.0, 4.0}; }
  Vector3 wind(double time) const override { return {0.1 * std::sin(20.0 * time), 0.0, 0.0}; }
  double drag(const Fibre& fibre) const override { return 5.0 * fibre.model->contact_radius(); }
};

struct Falling {
  World world;
  dynamics::SimulationState state;

  Falling() {
    world.law = std::make_shared<Coulomb>(MatrixX::Zero(1, 1));
    test::add(world, state, test::fibre(4, 0.2, 1e-3, soft, {}, rods::RootCondition::free));
  }
};

TEST(Load, AWorldAddsUpWhatItsLoadsSay) {
  Falling falling;
  World& world = falling.world;
  world.fibres[0].drag = 0.02;
  EXPECT_EQ(gravity_of(world), Vector3::Zero());
  EXPECT_EQ(wind_at(world, 0.3), Vector3::Zero());
  EXPECT_EQ(drag_of(world, 0), 0.02) << "a world has still air from the start";
  set_load(world, Gravity(g));
  set_load(world, Air({1.0, 0.0, 0.0}));
  set_load(world, Tank());
  EXPECT_EQ(world.loads.size(), 3U);
  EXPECT_EQ(gravity_of(world), Vector3(g + Tank().acceleration()));
  EXPECT_EQ(wind_at(world, 0.3), Vector3(Vector3(1.0, 0.0, 0.0) + Tank().wind(0.3)));
  EXPECT_EQ(drag_of(world, 0), 0.02 + 5e-3);
  set_load(world, Gravity(Vector3::Zero()));
  EXPECT_EQ(world.loads.size(), 3U) << "a load takes the place of one of its kind";
  EXPECT_EQ(gravity_of(world), Tank().acceleration());
}

TEST(Load, GustsRiseAndFall) {
  const Air air({1.0, 0.0, 0.0}, {0.0, 2.0, 0.0}, 0.5);
  EXPECT_EQ(air.wind(0.0), Vector3(1.0, 0.0, 0.0));
  EXPECT_LT((air.wind(0.25) - Vector3(1.0, 2.0, 0.0)).norm(), 1e-15);
  EXPECT_LT((air.wind(0.125) - Vector3(1.0, 1.0, 0.0)).norm(), 1e-15);
  EXPECT_LT((air.wind(1.5) - air.wind(0.0)).norm(), 1e-14);
}

/// A fibre that falls without turning moves as a point does: m v' = m a - drag L (v - wind), which implicit steps of a
/// constant wind follow exactly.
TEST(Load, AMadeUpLoadMovesAFibreWithoutAnEditElsewhere) {
  Falling falling;
  set_load(falling.world, Gravity(g));
  set_load(falling.world, Tank());
  const Fibre& fibre = falling.world.fibres[0];
  const double mass = fibre.model->mass();
  const double resistance = Tank().drag(fibre) * fibre.model->length();
  const dynamics::StepOptions options = test::step_options(1e-3);
  dynamics::Stepper stepper(falling.world, options, falling.state);
  Vector3 v = Vector3::Zero();
  double lost = 0.0;  // implicit Euler takes the energy of each change of velocity
  const double before = stepper.energies().kinetic + stepper.energies().gravity;
  for (int step = 0; step < 100; ++step) {
    const dynamics::StepReport report = stepper.step();
    ASSERT_TRUE(report.finite);
    const Vector3 wind = Tank().wind(options.dt * (step + 1));
    const Vector3 last = v;
    v = (v + options.dt * (g + Tank().acceleration() + resistance / mass * wind)) /
        (1.0 + options.dt * resistance / mass);
    ASSERT_LT((stepper.state().rods[0].root_velocity.linear - v).norm(), 1e-9 * v.norm()) << "step " << step;
    lost += 0.5 * mass * (v - last).squaredNorm();
    const double books = report.energies.kinetic + report.energies.gravity - report.work_external + lost;
    EXPECT_NEAR(books, before, 1e-9 * std::abs(report.work_external)) << "its work is in the books";
  }
  EXPECT_GT(v.norm(), 0.1);
}

}  // namespace TRESSE_TEST_FILE
}  // namespace tresse::assembly
