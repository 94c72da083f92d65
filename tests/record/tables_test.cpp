#include <tresse/record/tables.hpp>

#include <algorithm>
#include <string>

#include <gtest/gtest.h>

#include <tresse/files/csv.hpp>

namespace tresse::record {
namespace TRESSE_TEST_FILE {

TEST(Tables, holds_the_columns_of_its_header) {
  dynamics::StepReport report;
  report.step = 3;
  report.time = 0.25;
  report.contacts = 7;
  report.iterations = 11;
  report.residual = 0.5;
  report.max_penetration = 1.5;
  report.energies = {2.5, 3.5, 4.5};
  report.work_external = 5.5;
  report.largest_stick_drift = 6.0;
  report.evaluations = 3;
  report.linear_solves = 8;
  report.least_step_length = 0.25;
  report.nearest = 6.125;
  report.stiffness = 6.25;
  report.t_detection = 6.5;
  report.t_assembly = 7.5;
  report.t_solve = 8.5;
  report.t_step = 9.5;
  report.obstacles = {{.force = {1, -2, 0.5}, .torque = {9, 9, 9}, .contacts = 4}, {}};
  std::string row;
  append_step_row(row, report);
  EXPECT_EQ(row, "0.25,7,11,0.5,1.5,2.5,3.5,4.5,5.5,6,3,8,0.25,6.125,6.25,6.5,7.5,8.5,9.5\n");
  EXPECT_EQ(std::count(row.begin(), row.end(), ','), std::count(steps_header.begin(), steps_header.end(), ','));
  row.clear();
  append_force_rows(row, report, {"comb", "\"a,b\""});
  EXPECT_EQ(row, "0.25,comb,1,-2,0.5,4\n0.25,\"a,b\",0,0,0,0\n");
  row.clear();
  append_root_rows(row, 0.25, {{.force = {1, -2, 0.5}, .torque = {9, 8, 7}}, {}}, {"hair,300", "fur,1"});
  EXPECT_EQ(row, "0.25,hair,300,1,-2,0.5,9,8,7\n0.25,fur,1,0,0,0,0,0,0\n");
  row.clear();
  files::append_text(row, "a,\"b\"");
  EXPECT_EQ(row, "\"a,\"\"b\"\"\"");
}

TEST(Tables, a_remark_quotes_its_message) {
  std::string row;
  append_remark_row(row, {12, 0.5, observe::Trouble::contact_lost, "fibre 1 and 'a, \"b\"': lost"});
  EXPECT_EQ(row, "12,0.5,contact-lost,\"fibre 1 and 'a, \"\"b\"\"': lost\"\n");
}

}  // namespace TRESSE_TEST_FILE
}  // namespace tresse::record
