#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <string>

#include <tresse/base/errors.hpp>
#include <tresse/grains/flow.hpp>

namespace tresse::grains {
namespace TRESSE_TEST_FILE {

constexpr double g = 9.81;           // [m/s^2]
constexpr double long_step = 1e3;    // so long that one step is nearly steady [s]
constexpr int steps_to_steady = 10;  // each takes what is left of the start by a factor of a hundred

/// A layer on a rough slope, the same along it; in space also across.
Medium layer(int cells, bool in_space) {
  Medium out;
  out.cells = {2, in_space ? 2 : 0, cells};
  out.high = {0.02, 0.02, 0.1};
  out.sides = {Side::periodic, Side::periodic, Side::periodic, Side::periodic, Side::no_slip, Side::open};
  return out;
}

Vector3 tilted(double degrees) {
  const double slope = degrees * std::numbers::pi / 180.0;
  return {g * std::sin(slope), 0.0, -g * std::cos(slope)};
}

/// Steady flow down the slope, against rho g (sin - mu cos) (h y - y^2 / 2) / eta and the weight of what lies above.
void expect_profile(const Medium& medium, double degrees) {
  Flow flow(medium);
  GrainState state = at_rest(medium);
  FlowStep how{tilted(degrees), long_step, 1e-11};
  GrainReport report;
  for (int step = 0; step < steps_to_steady; ++step) {
    report = flow.step(how, state);
    EXPECT_EQ(report.status, Status::converged);
    EXPECT_LE(report.residual, how.tolerance);
  }
  const double h = medium.high[2];
  const double pull = medium.density * (how.gravity[0] + medium.friction * how.gravity[2]);
  const double top = pull * 0.5 * h * h / medium.viscosity;
  constexpr double profile_tolerance = 1e-9, pressure_tolerance = 3e-9;  // what is asked; both are exact on this grid
  for (int node = 0; node < node_count(medium); ++node) {
    const double y = node_place(medium, node)[2];
    const Vector3 v = state.velocity.segment<3>(3 * node);
    EXPECT_NEAR(v[0], pull * (h * y - 0.5 * y * y) / medium.viscosity, profile_tolerance * top);
    EXPECT_NEAR(v.tail<2>().norm(), 0.0, profile_tolerance * top);
  }
  const VectorX pressure = flow.pressure(state);
  const double most = -medium.density * how.gravity[2] * h;
  for (int cell = 0; cell < cell_count(medium); ++cell)
    EXPECT_NEAR(pressure[cell], most * (1.0 - cell_centre(medium, cell)[2] / h), pressure_tolerance * most);
}

TEST(Flow, DownAnInclineInThePlane) { expect_profile(layer(10, false), 25.0); }
TEST(Flow, DownAnInclineOnAFinerGrid) { expect_profile(layer(24, false), 22.0); }
TEST(Flow, DownAnInclineInSpace) { expect_profile(layer(8, true), 25.0); }
TEST(Flow, DownAnInclineOfMoreFrictionAndViscosity) {
  Medium medium = layer(10, false);
  medium.friction = 0.5;
  medium.viscosity = 30.0;
  expect_profile(medium, 35.0);
}

/// Of slopes below atan(mu), 16.7 degrees here, for any time step.
void expect_rest(const Medium& medium, double degrees) {
  for (const double dt : {1e-3, 1e-2, 1.0}) {
    Flow flow(medium);
    GrainState state = at_rest(medium);
    for (int step = 0; step < 5; ++step) {
      const GrainReport report = flow.step({tilted(degrees), dt, 1e-12}, state);
      EXPECT_EQ(report.status, Status::converged);
      EXPECT_LT(report.top_speed, 1e-10);  // what is asked [m/s]
      EXPECT_GE(report.least_pressure, 0.0);
    }
  }
}

TEST(Flow, RestsOnAGentleSlopeInThePlane) { expect_rest(layer(10, false), 10.0); }
TEST(Flow, RestsOnAGentleSlopeInSpace) { expect_rest(layer(6, true), 10.0); }

/// Half of a channel: a rough plate, and in the middle an open face that a pressure acts on, so that it is P0
/// everywhere and the grains yield at mu P0 like Bingham's fluid. Driven along the plate with f per volume, a plug of
/// half width mu P0 / f slides on a sheared layer of width w: u = f (w y - y^2 / 2) / eta in it.
TEST(Flow, PlugInAChannelAsOfBinghamsFluid) {
  constexpr int cells = 16, sheared = 6;
  Medium medium = layer(cells, false);
  const double h = medium.high[2], w = h * sheared / cells;
  const double f = 0.5 * medium.density * g;
  medium.pressure = f * (h - w) / medium.friction;
  Flow flow(medium);
  GrainState state = at_rest(medium);
  for (int step = 0; step < steps_to_steady; ++step)
    EXPECT_EQ(flow.step({Vector3(f / medium.density, 0.0, 0.0), long_step, 1e-11}, state).status, Status::converged);
  const double top = 0.5 * f * w * w / medium.viscosity;
  constexpr double tolerance = 1e-9;  // what is asked; the nodes are exact where the plug begins at one
  for (int node = 0; node < node_count(medium); ++node) {
    const double y = std::min(node_place(medium, node)[2], w);
    EXPECT_NEAR(state.velocity[3 * node], f * (w * y - 0.5 * y * y) / medium.viscosity, tolerance * top);
  }
  const VectorX shear = flow.shear_rate(state), pressure = flow.pressure(state), stress = flow.friction_stress(state);
  for (int cell = 0; cell < cell_count(medium); ++cell) {
    EXPECT_EQ(shear[cell] > tolerance * top / h, cell / 2 < sheared) << "cell " << cell;
    // The plug's stress along the plate is not unique, and so neither is its mean.
    EXPECT_NEAR(stress[9 * cell + 8], -medium.pressure, tolerance * medium.pressure);
    if (cell / 2 < sheared) {
      EXPECT_NEAR(pressure[cell], medium.pressure, tolerance * medium.pressure);
    }
  }
}

/// Volume in and out, momentum and forces, and the work of gravity beside what the energy rises by, in a flow around a
/// block.
TEST(Flow, BooksOfVolumeAndMomentumClose) {
  Medium medium;
  medium.cells = {8, 0, 12};
  medium.high = {0.2, 0.05, 0.3};
  medium.viscosity = 20.0;
  medium.sides = {Side::no_slip, Side::slip, Side::no_slip, Side::no_slip, Side::open, Side::open};
  medium.obstacles = 1;
  medium.solid.assign(static_cast<std::size_t>(cell_count(medium)), -1);
  for (const int cell : {5 * 8 + 3, 5 * 8 + 4, 6 * 8 + 3, 6 * 8 + 4}) medium.solid[static_cast<std::size_t>(cell)] = 0;
  Flow flow(medium);
  GrainState state = at_rest(medium);
  const FlowStep how{{0.0, 0.0, -g}, 5e-3};
  double before = 0.0;
  const double first = flow.mass() / medium.density;
  for (int step = 0; step < 4; ++step) {
    const GrainReport report = flow.step(how, state);
    constexpr double books = 1e-10;  // what is asked, of the largest entry
    const Vector3 gained = (report.momentum - report.carried_momentum) / how.dt;
    EXPECT_NEAR((gained - report.given_force - report.wall_force).norm(), 0.0, books * report.given_force.norm());
    EXPECT_NEAR(report.given_force[2], -flow.mass() * g, books * flow.mass() * g);
    EXPECT_NEAR(report.dilation, report.discharge, books * report.top_speed * 0.2 * 0.05);
    EXPECT_NEAR(report.volume, first - state.outflow, books * first);
    EXPECT_LE(report.kinetic - before, report.work * (1.0 + books));
    EXPECT_GT(report.top_speed, 1e-4);
    EXPECT_LT(report.obstacle_force[0][2], 0.0);
    before = report.kinetic;
  }
}

/// A bin 0.5 m wide and 0.75 m high with a hole in its floor, full of grains that new ones follow from above.
Medium silo(int across, int up, double hole) {
  Medium out;
  out.cells = {across, 0, up};
  out.low = {-0.25, 0.0, 0.0};
  out.high = {0.25, 0.01, 0.75};
  out.viscosity = 1.0;
  out.sides = {Side::no_slip, Side::no_slip, Side::no_slip, Side::no_slip, Side::open, Side::open};
  out.obstacles = 1;
  for (int cell = 0; cell < cell_count(out); ++cell) {
    const Vector3 at = cell_centre(out, cell);
    out.solid.push_back(at[2] < cell_size(out)[2] && std::abs(at[0]) > 0.5 * hole ? 0 : -1);
  }
  return out;
}

/// From rest, with corners that stay at rest beside what falls: each step is solved, no pressure is negative, what
/// leaves below is what comes from above, and both halves of the bin do the same.
TEST(Flow, OutOfASilo) {
  const Medium medium = silo(10, 15, 0.2);
  Flow flow(medium);
  GrainState state = at_rest(medium);
  double before = 0.0;
  for (int step = 0; step < 10; ++step) {
    const GrainReport report = flow.step({{0.0, 0.0, -g}, 1e-3, 1e-8}, state);
    EXPECT_EQ(report.status, Status::converged);
    EXPECT_LE(report.residual, 1e-8);
    EXPECT_GE(report.least_pressure, 0.0);
    EXPECT_GT(report.leaving, before);
    EXPECT_NEAR(report.discharge, 0.0, 1e-6 * report.leaving);  // the law's residual allows that
    before = report.leaving;
  }
  const int row = medium.cells[0] + 1;
  for (int node = 0; node < node_count(medium); ++node) {
    const int mirrored = node / row * row + (row - 1 - node % row);
    constexpr double symmetric = 1e-6;  // of a speed of 0.2 m/s, likewise
    EXPECT_NEAR(state.velocity[3 * node], -state.velocity[3 * mirrored], symmetric);
    EXPECT_NEAR(state.velocity[3 * node + 2], state.velocity[3 * mirrored + 2], symmetric);
  }
}

/// What hangs from a rough ceiling and is open below is stretched by its weight, and friction carries none of it. So
/// viscous that no cell is a layer of its own: a sharp one makes the consistent mass overshoot.
TEST(Flow, NoPressureWhereGrainsPart) {
  Medium medium;
  medium.viscosity = 1000.0;
  medium.cells = {2, 0, 8};
  medium.high = {0.02, 0.02, 0.08};
  medium.sides = {Side::slip, Side::slip, Side::no_slip, Side::no_slip, Side::open, Side::no_slip};
  Flow flow(medium);
  GrainState state = at_rest(medium);
  const GrainReport report = flow.step({{0.0, 0.0, -g}, 1e-3}, state);
  EXPECT_EQ(report.status, Status::converged);
  EXPECT_GE(report.least_pressure, 0.0);
  EXPECT_LE(report.most_pressure, 1e-9 * medium.density * g * 0.08);
  EXPECT_GT(report.dilation, 0.0);
  EXPECT_NEAR(report.discharge, report.dilation, 1e-10 * report.dilation);
}

/// A state that is carried on in another flow goes on with the same bits.
TEST(Flow, GoesOnFromAStateWithTheSameBits) {
  const Medium medium = silo(6, 9, 0.2);
  Flow first(medium), second(medium);
  GrainState whole = at_rest(medium), parts = whole;
  const FlowStep how{{0.0, 0.0, -g}, 1e-3, 1e-8};
  for (int step = 0; step < 4; ++step) {
    static_cast<void>(first.step(how, whole));
    Flow another(medium);
    static_cast<void>((step < 2 ? second : another).step(how, parts));
  }
  EXPECT_EQ(whole.velocity, parts.velocity);
  EXPECT_EQ(whole.stress, parts.stress);
}

TEST(Flow, RefusesWhatDoesNotFit) {
  Flow flow(layer(4, false));
  GrainState other = at_rest(layer(5, false)), state = at_rest(layer(4, false));
  const auto message = [&](const FlowStep& how, GrainState& at) {
    try {
      static_cast<void>(flow.step(how, at));
    } catch (const InvalidInput& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  EXPECT_EQ(message({}, other), "grains: the state is of another grid");
  EXPECT_EQ(message({.dt = 0.0}, state), "grains: time step: must be positive and finite");
  EXPECT_EQ(message({.tolerance = 0.0}, state), "grains: tolerance and iterations: must be positive");
}

std::string message_of(const Medium& medium) {
  try {
    validate(medium);
  } catch (const InvalidInput& error) {
    return error.what();
  }
  return "";
}

TEST(Medium, RefusesWhatCannotBe) {
  const auto with = [](auto&& change) {
    Medium medium = layer(4, false);
    change(medium);
    return message_of(medium);
  };
  EXPECT_EQ(with([](Medium&) {}), "");
  EXPECT_EQ(with([](Medium& m) { m.cells[0] = 0; }),
            "grains: cells: two counts are 0; expected at most one, the axis of a plane flow");
  EXPECT_EQ(with([](Medium& m) { m.cells[0] = -1; }), "grains: cells: expected counts of 0 or more");
  EXPECT_EQ(with([](Medium& m) { m.high[1] = m.low[1]; }),
            "grains: domain: expected a second corner beyond the first along every axis");
  EXPECT_EQ(with([](Medium& m) { m.sides[0] = Side::open; }),
            "grains: sides: one face is periodic and the opposite one is not; expected both or none");
  EXPECT_EQ(with([](Medium& m) { m.sides[4] = m.sides[5] = Side::periodic; }),
            "grains: sides: all are periodic; expected one axis at least with walls or open faces");
  EXPECT_EQ(with([](Medium& m) { m.density = 0.0; }), "grains: density: expected more than 0");
  EXPECT_EQ(with([](Medium& m) { m.viscosity = -1.0; }), "grains: viscosity: expected more than 0");
  EXPECT_EQ(with([](Medium& m) { m.friction = -0.1; }), "grains: friction: expected 0 or more");
  EXPECT_EQ(with([](Medium& m) { m.pressure = -1.0; }), "grains: pressure: expected 0 or more");
  EXPECT_EQ(with([](Medium& m) { m.solid_side = Side::open; }), "grains: obstacles: expected \"no-slip\" or \"slip\"");
  EXPECT_EQ(with([](Medium& m) {
              m.cells = {3000, 0, 3000};
            }),
            "grains: cells: the factors of a step would take more than 8 GB; expected fewer cells");
  EXPECT_EQ(with([](Medium& m) { m.solid = {-1}; }), "grains: solid: expected one a cell");
  EXPECT_EQ(with([](Medium& m) { m.normals.resize(1); }), "grains: normals: expected one a node");
  EXPECT_EQ(with([](Medium& m) { m.solid.assign(8, 0); }), "grains: solid: names an obstacle that is not there");
  EXPECT_EQ(with([](Medium& m) {
              m.obstacles = 1;
              m.solid.assign(8, 0);
            }),
            "grains: domain: obstacles fill all of it; expected room for grains");
}

}  // namespace TRESSE_TEST_FILE
}  // namespace tresse::grains
