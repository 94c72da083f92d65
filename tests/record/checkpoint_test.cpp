#include <tresse/record/checkpoint.hpp>

#include <cmath>
#include <limits>

#include <tresse/base/errors.hpp>

#include "record/synthetic_run.hpp"

namespace tresse::record {
namespace TRESSE_TEST_FILE {

using namespace synthetic;

class CheckpointFile : public FolderTest {};

template <class Array>
bool same_bits(const Array& a, const Array& b) {
  return a.size() == b.size() &&
         std::memcmp(a.data(), b.data(), static_cast<std::size_t>(a.size()) * sizeof(*a.data())) == 0;
}

void expect_same(const dynamics::SimulationState& a, const dynamics::SimulationState& b) {
  EXPECT_EQ(a.step, b.step);
  EXPECT_EQ(std::memcmp(&a.work_external, &b.work_external, sizeof(double)), 0);
  ASSERT_EQ(a.rods.size(), b.rods.size());
  for (std::size_t i = 0; i < a.rods.size(); ++i) {
    EXPECT_TRUE(same_bits(a.rods[i].root.position, b.rods[i].root.position));
    EXPECT_TRUE(same_bits(a.rods[i].root.frame, b.rods[i].root.frame));
    EXPECT_TRUE(same_bits(a.rods[i].root_velocity.linear, b.rods[i].root_velocity.linear));
    EXPECT_TRUE(same_bits(a.rods[i].root_velocity.angular, b.rods[i].root_velocity.angular));
    EXPECT_TRUE(same_bits(a.rods[i].coordinates, b.rods[i].coordinates));
    EXPECT_TRUE(same_bits(a.rods[i].rates, b.rods[i].rates));
  }
  ASSERT_EQ(a.bodies.size(), b.bodies.size());
  for (std::size_t i = 0; i < a.bodies.size(); ++i) {
    EXPECT_TRUE(same_bits(a.bodies[i].pose.position, b.bodies[i].pose.position));
    EXPECT_TRUE(same_bits(a.bodies[i].pose.frame, b.bodies[i].pose.frame));
    EXPECT_TRUE(same_bits(a.bodies[i].velocity.linear, b.bodies[i].velocity.linear));
    EXPECT_TRUE(same_bits(a.bodies[i].velocity.angular, b.bodies[i].velocity.angular));
  }
  ASSERT_EQ(a.warm.size(), b.warm.size());
  for (std::size_t i = 0; i < a.warm.size(); ++i) {
    const contact::Place& p = a.warm[i].place;
    const contact::Place& q = b.warm[i].place;
    EXPECT_EQ(std::tie(p.body_a, p.element_a, p.body_b, p.element_b, p.s_a, p.s_b),
              std::tie(q.body_a, q.element_a, q.body_b, q.element_b, q.s_a, q.s_b));
    EXPECT_TRUE(same_bits(a.warm[i].force, b.warm[i].force));
    EXPECT_EQ(a.warm[i].kept_gap, b.warm[i].kept_gap);
  }
  ASSERT_EQ(a.surfaces.size(), b.surfaces.size());
  for (std::size_t i = 0; i < a.surfaces.size(); ++i) {
    EXPECT_TRUE(same_bits(a.surfaces[i].position, b.surfaces[i].position));
    EXPECT_TRUE(same_bits(a.surfaces[i].velocity, b.surfaces[i].velocity));
  }
  EXPECT_TRUE(same_bits(a.grains.velocity, b.grains.velocity));
  EXPECT_TRUE(same_bits(a.grains.stress, b.grains.stress));
  EXPECT_EQ(a.grains.outflow, b.grains.outflow);
  EXPECT_EQ(a.hold_forces, b.hold_forces);
  EXPECT_EQ(a.fluid.densities, b.fluid.densities);
  EXPECT_EQ(a.fluid.densities_before, b.fluid.densities_before);
  EXPECT_EQ(a.fluid.force, b.fluid.force);
  EXPECT_EQ(a.fluid.force_before, b.fluid.force_before);
  EXPECT_EQ(a.fluid.factored_at, b.fluid.factored_at);
  EXPECT_EQ(std::pair(a.fluid.dt, a.fluid.spent), std::pair(b.fluid.dt, b.fluid.spent));
}

Checkpoint sample() {
  Checkpoint out{
      .scene = "title = 'hair'\n", .version = "1.2.3", .state = initial_state(layout()), .tally = {}, .position = {}};
  for (int i = 0; i < 9; ++i) advance(out.state);
  // What equality of values would not tell apart, and what a text would lose.
  out.state.rods[0].coordinates[0] = -0.0;
  out.state.rods[1].coordinates[1] = std::nextafter(1.0, 2.0);
  out.state.rods[1].rates[0] = -std::numeric_limits<double>::max();
  out.state.rods[2].root.position[1] = std::numeric_limits<double>::denorm_min();
  for (const int size : {2, 5}) {
    out.state.surfaces.push_back({VectorX::LinSpaced(size, -0.1, 1.7), VectorX::LinSpaced(size + 1, 1e-300, 3.0)});
  }
  out.state.grains = {VectorX::LinSpaced(12, -2.0, 1e-300), VectorX::LinSpaced(7, -1e3, 0.3), -0.7};
  out.tally = {.steps = 9, .time = 0.1, .contacts_total = 123456789012, .worst_residual = 1e-9, .worst_rise_step = 4};
  out.position = {.step_rows = 9, .force_rows = 18, .frames = 2, .log_bytes = 4096};
  return out;
}

TEST_F(CheckpointFile, gives_back_every_bit) {
  const Checkpoint written = sample();
  write_checkpoint(folder / "a.h5", written);
  const Checkpoint read = read_checkpoint(folder / "a.h5");
  EXPECT_EQ(read.scene, written.scene);
  EXPECT_EQ(read.version, written.version);
  EXPECT_EQ(std::memcmp(&read.tally, &written.tally, sizeof(RunTally)), 0);
  EXPECT_EQ(std::memcmp(&read.position, &written.position, sizeof(OutputPosition)), 0);
  expect_same(read.state, written.state);
  EXPECT_FALSE(std::filesystem::exists(folder / "a.h5.tmp"));
}

TEST_F(CheckpointFile, keeps_free_bodies_and_holds) {
  Checkpoint written = sample();
  for (int i = 0; i < 3; ++i) {
    bodies::BodyState& body = written.state.bodies.emplace_back();
    body.pose = {vector(i, 1), Matrix3::Identity()};
    body.pose.frame.row(1) = vector(i, 2);
    body.velocity = {vector(i, 3), vector(i, 4)};
  }
  written.state.hold_forces = {vector(5, 1), vector(5, 2)};
  write_checkpoint(folder / "a.h5", written);
  expect_same(read_checkpoint(folder / "a.h5").state, written.state);
}

TEST_F(CheckpointFile, keeps_what_the_fluid_did) {
  Checkpoint written = sample();
  const auto numbers = [](Eigen::Index n, double from) {
    return VectorX(VectorX::NullaryExpr(n, [&](Eigen::Index i) { return std::sin(from + static_cast<double>(i)); }));
  };
  written.state.fluid = {numbers(9, 1.0), {}, numbers(14, 2.0), {}, 1e-3, numbers(9, 3.0), 7};
  write_checkpoint(folder / "a.h5", written);
  expect_same(read_checkpoint(folder / "a.h5").state, written.state);
  written.state.fluid.densities_before = numbers(9, 4.0);
  written.state.fluid.force_before = numbers(14, 5.0);
  write_checkpoint(folder / "a.h5", written);
  expect_same(read_checkpoint(folder / "a.h5").state, written.state);
}

TEST_F(CheckpointFile, packed_is_smaller_and_near) {
  Checkpoint written = sample();
  written.state = initial_state(layout());
  for (int i = 0; i < 9; ++i) advance(written.state);
  for (rods::RodState& rod : written.state.rods)
    for (Eigen::Index i = 0; i < rod.coordinates.size(); ++i)
      rod.coordinates[i] = 60.0 + std::sin(1.0 + static_cast<double>(i));
  for (int i = 0; i < 2000; ++i) {
    const double s = 0.025 * (1.0 - 1e-9 * i);
    written.state.warm.push_back({{i % 3, i % 5, 3, 0, s, 0.5 * s}, Vector3(1e-5 * std::sin(i), 1e-6, -2e-5)});
    if (i == 7) written.state.warm.back().kept_gap = -1e-7;
  }
  write_checkpoint(folder / "whole.h5", written);
  write_packed_checkpoint(folder / "packed.h5", written);
  EXPECT_LT(4 * std::filesystem::file_size(folder / "packed.h5"), std::filesystem::file_size(folder / "whole.h5"));
  const Checkpoint read = read_checkpoint(folder / "packed.h5");
  EXPECT_EQ(read.scene, written.scene);
  ASSERT_EQ(read.state.rods.size(), written.state.rods.size());
  for (std::size_t f = 0; f < read.state.rods.size(); ++f) {
    const VectorX& before = written.state.rods[f].coordinates;
    EXPECT_LE((read.state.rods[f].coordinates - before).lpNorm<Eigen::Infinity>(),
              std::ldexp(before.lpNorm<Eigen::Infinity>(), -29));
    EXPECT_EQ(read.state.rods[f].root.position, written.state.rods[f].root.position);
  }
  ASSERT_EQ(read.state.warm.size(), written.state.warm.size());
  for (std::size_t i = 0; i < read.state.warm.size(); ++i) {
    const double s = written.state.warm[i].place.s_a;
    EXPECT_LE(read.state.warm[i].place.s_a, s) << "past the end of an element";
    EXPECT_EQ(read.state.warm[i].kept_gap, written.state.warm[i].kept_gap);
    EXPECT_NEAR(read.state.warm[i].place.s_a, s, std::ldexp(s, -14));
    EXPECT_LE((read.state.warm[i].force - written.state.warm[i].force).norm(),
              std::ldexp(written.state.warm[i].force.norm(), -8));
  }
}

TEST_F(CheckpointFile, of_a_version_without_remarks_is_read) {
  const Checkpoint read = read_checkpoint(TRESSE_TEST_DATA "/checkpoint_without_remarks/checkpoint.h5");
  EXPECT_EQ(read.state.step, 10);
  EXPECT_EQ(read.tally.steps, 10);
  EXPECT_EQ(read.position.remarks, 0);
  for (const observe::TroubleTally& count : read.tally.watch) EXPECT_EQ(count.steps, 0);
}

TEST_F(CheckpointFile, of_a_version_whose_remarks_kept_no_advice_is_read) {
  const Checkpoint read = read_checkpoint(TRESSE_TEST_DATA "/checkpoint_without_advice/checkpoint.h5");
  const observe::TroubleTally& runaway = read.tally.watch[static_cast<std::size_t>(observe::Trouble::runaway)];
  const observe::TroubleTally& energy = read.tally.watch[static_cast<std::size_t>(observe::Trouble::energy)];
  EXPECT_EQ(std::tuple(runaway.steps, runaway.first_step, runaway.told), std::tuple(7, 1, 1));
  EXPECT_EQ(std::tuple(energy.steps, energy.first_step, energy.worst_step), std::tuple(3, 3, 6));
  for (const observe::TroubleTally& count : read.tally.watch) EXPECT_EQ(count.advised, 0.0);
}

TEST_F(CheckpointFile, of_nothing_is_fine) {
  write_checkpoint(folder / "a.h5", {});
  EXPECT_TRUE(read_checkpoint(folder / "a.h5").state.rods.empty());
}

TEST_F(CheckpointFile, same_state_leaves_the_same_bytes) {
  write_checkpoint(folder / "a.h5", sample());
  write_checkpoint(folder / "b.h5", sample());
  EXPECT_EQ(bytes_of(folder / "a.h5"), bytes_of(folder / "b.h5"));
}

/// Every number of the tally and the position must be in the file: a member that is added and forgotten shows here.
TEST_F(CheckpointFile, no_number_of_the_counters_is_forgotten) {
  Checkpoint written;
  std::vector<double> tally(sizeof(RunTally) / sizeof(double));
  std::vector<double> position(sizeof(OutputPosition) / sizeof(double));
  for (std::size_t i = 0; i < tally.size(); ++i) tally[i] = 1.0 + static_cast<double>(i);
  for (std::size_t i = 0; i < position.size(); ++i) position[i] = 100.0 + static_cast<double>(i);
  std::memcpy(static_cast<void*>(&written.tally), tally.data(), sizeof(RunTally));
  std::memcpy(static_cast<void*>(&written.position), position.data(), sizeof(OutputPosition));
  write_checkpoint(folder / "a.h5", written);
  const Checkpoint read = read_checkpoint(folder / "a.h5");
  EXPECT_EQ(std::memcmp(&read.tally, &written.tally, sizeof(RunTally)), 0);
  EXPECT_EQ(std::memcmp(&read.position, &written.position, sizeof(OutputPosition)), 0);
}

TEST_F(CheckpointFile, damage_never_passes_for_a_state) {
  const auto file = folder / "a.h5";
  write_checkpoint(file, sample());
  const std::string good = bytes_of(file);
  for (std::size_t size = 0; size < good.size(); size += 1 + good.size() / 101) {
    put_bytes(file, good.substr(0, size));
    const std::string message = message_of<InvalidInput>([&] { read_checkpoint(file); });
    EXPECT_EQ(message.rfind(file.string() + ": ", 0), 0U) << "cut at " << size << ": " << message;
  }
  int noticed = 0;
  for (std::size_t i = 0; i < good.size(); i += 31) {
    std::string bad = good;
    bad[i] = static_cast<char>(bad[i] ^ 0x04);
    put_bytes(file, bad);
    try {
      expect_same(read_checkpoint(file).state, sample().state);
    } catch (const InvalidInput& error) {
      ++noticed;
      EXPECT_EQ(std::string(error.what()).find('\n'), std::string::npos);
    }
  }
  EXPECT_GT(noticed, 0);
}

/// Whoever changes a number can make the checksum right again.
TEST_F(CheckpointFile, numbers_that_no_run_has_are_refused) {
  constexpr double nan = std::numeric_limits<double>::quiet_NaN();
  constexpr double infinity = std::numeric_limits<double>::infinity();
  const auto file = folder / "a.h5";
  const auto refused = [&](const auto& change) {
    Checkpoint checkpoint = sample();
    change(checkpoint);
    write_checkpoint(file, checkpoint);
    return message_of<InvalidInput>([&] { read_checkpoint(file); });
  };
  const std::string begin = file.string() + ": ";
  EXPECT_EQ(refused([&](Checkpoint& x) { x.state.work_external = nan; }),
            begin + "state/work_external holds nan, expected a finite number");
  EXPECT_EQ(refused([&](Checkpoint& x) { x.state.rods[0].root.position[0] = infinity; }),
            begin + "state/root_position holds inf, expected finite numbers");
  EXPECT_EQ(refused([&](Checkpoint& x) { x.state.rods[0].coordinates[0] = nan; }),
            begin + "state/curvature holds nan, expected finite numbers");
  EXPECT_EQ(refused([&](Checkpoint& x) { x.state.step = -1; }), begin + "state/step holds -1, expected a count");
  EXPECT_EQ(refused([&](Checkpoint& x) { x.state.step = std::int64_t{1} << 60U; }).rfind(begin + "state/step", 0), 0U);
  EXPECT_EQ(refused([&](Checkpoint& x) { x.tally.steps = -3; }), begin + "tally/steps holds -3, expected a count");
  EXPECT_EQ(refused([&](Checkpoint& x) { x.tally.time = nan; }),
            begin + "tally/time holds nan, expected a finite number");
  EXPECT_EQ(refused([&](Checkpoint& x) { x.position.frames = -1; }),
            begin + "position/frames holds -1, expected a count");
  EXPECT_EQ(refused([&](Checkpoint& x) { x.tally.watch[0].steps = -1; }),
            begin + "tally/watch holds -1, expected counts");
  // What a solver left behind may be of a run.
  Checkpoint checkpoint = sample();
  checkpoint.tally.worst_residual = nan;
  write_checkpoint(file, checkpoint);
  EXPECT_TRUE(std::isnan(read_checkpoint(file).tally.worst_residual));
}

TEST_F(CheckpointFile, other_files_are_named) {
  const auto file = folder / "a.h5";
  EXPECT_EQ(message_of<InvalidInput>([&] { read_checkpoint(file); }),
            file.string() + ": No such file or directory; expected an HDF5 file");
  put_bytes(file, "time,obstacle\n");
  EXPECT_EQ(message_of<InvalidInput>([&] { read_checkpoint(file); }),
            file.string() + ": not an HDF5 file, cut short, or not readable");
  EXPECT_EQ(message_of<SystemFailure>([&] { write_checkpoint(folder / "none" / "a.h5", sample()); }),
            (folder / "none" / "a.h5.tmp").string() + ": cannot write '/': No such file or directory");
}

}  // namespace TRESSE_TEST_FILE
}  // namespace tresse::record
