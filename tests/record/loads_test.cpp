#include <tresse/record/loads.hpp>
#include <tresse/record/tables.hpp>

#include <cmath>
#include <limits>

#include <tresse/base/errors.hpp>
#include <tresse/files/atomic_file.hpp>
#include <tresse/files/csv.hpp>

#include "record/synthetic_run.hpp"

namespace tresse::record {
namespace TRESSE_TEST_FILE {

using namespace synthetic;

class Loads : public FolderTest {};

TEST_F(Loads, forces_of_one_name_are_summed_before_their_size_is_taken) {
  LoadTallies tallies({"end", "root", "end"});
  tallies.add(0.1, {{3, 0, 0}, {0, 1, 0}, {0, 4, 0}});
  tallies.add(0.2, {{1, 0, 0}, {0, 7, 0}, {-1, 0, 0}});
  ASSERT_EQ(tallies.all().size(), 2U);
  const LoadTally& end = tallies.all()[0];
  EXPECT_EQ(end.name, "end");
  EXPECT_EQ(end.mean(), 2.5);
  EXPECT_EQ(end.largest, 5.0);
  EXPECT_EQ(end.largest_time, 0.1);
  EXPECT_EQ(tallies.all()[1].largest_time, 0.2);
  tallies.add(0.3, {{std::numeric_limits<double>::quiet_NaN(), 0, 0}, {0, 0, 0}, {0, 0, 0}});
  tallies.add(0.4, {{9, 0, 0}, {0, 0, 0}, {0, 0, 0}});
  EXPECT_TRUE(std::isnan(tallies.all()[0].largest));
  EXPECT_EQ(tallies.all()[1].largest, 7.0);
  EXPECT_THROW(tallies.add(0.5, {{9, 0, 0}}), InvalidInput);
}

TEST_F(Loads, a_table_gives_the_bits_that_its_steps_gave) {
  const std::vector<std::string> obstacles = {"comb", "floor"}, holds = {"end", "end"}, groups = {"hair", "fur"};
  LoadTallies told_forces(obstacles), told_loads(holds), forces(obstacles), loads(holds), told_roots(groups),
      roots(groups);
  std::string force_table(forces_header), load_table(holds_header), root_table(roots_header);
  for (int step = 1; step <= 5; ++step) {
    dynamics::StepReport report;
    report.time = 0.1 * step;
    report.obstacles = {{.force = {1.0 / step, 0.1, 0}}, {.force = {0, 0, std::sqrt(step)}}};
    report.holds = {{.force = {0.3, -1.0 / step, 0}}, {.force = {1e-9, 0.7, std::exp(-step)}}};
    append_force_rows(force_table, report, obstacles);
    append_hold_rows(load_table, report, {"end,0", "end,1"});
    const std::vector<dynamics::RootLoad> of_groups = {{.force = {0.0, 1.0 / 3.0, -0.1 * step}}, {.force = {7, 0, 0}}};
    append_root_rows(root_table, report.time, of_groups, {"hair,300", "fur,1"});
    if (step > 3) continue;
    told_forces.add(report.time, {report.obstacles[0].force, report.obstacles[1].force});
    told_loads.add(report.time, {report.holds[0].force, report.holds[1].force});
    told_roots.add(report.time, {of_groups[0].force, of_groups[1].force});
  }
  files::write_atomically(folder / "forces.csv", force_table);
  files::write_atomically(folder / "holds.csv", load_table);
  // The first three steps alone.
  forces.add_table(folder / "forces.csv", files::length_of_rows(folder / "forces.csv", forces_header, 6),
                   column_of_forces);
  loads.add_table(folder / "holds.csv", files::length_of_rows(folder / "holds.csv", holds_header, 6), column_of_loads);
  files::write_atomically(folder / "roots.csv", root_table);
  roots.add_table(folder / "roots.csv", files::length_of_rows(folder / "roots.csv", roots_header, 6), column_of_loads);
  for (const auto& [told, read] :
       {std::pair(&told_forces, &forces), std::pair(&told_loads, &loads), std::pair(&told_roots, &roots)}) {
    for (std::size_t i = 0; i < told->all().size(); ++i) {
      EXPECT_EQ(told->all()[i].steps, read->all()[i].steps);
      EXPECT_EQ(told->all()[i].sum, read->all()[i].sum);
      EXPECT_EQ(told->all()[i].largest, read->all()[i].largest);
      EXPECT_EQ(told->all()[i].largest_time, read->all()[i].largest_time);
    }
  }
  files::write_atomically(folder / "forces.csv", std::string(forces_header) + "0.1,comb,1,x,0,1\n");
  EXPECT_THROW(forces.add_table(folder / "forces.csv", 1000, column_of_forces), InvalidInput);
}

}  // namespace TRESSE_TEST_FILE
}  // namespace tresse::record
