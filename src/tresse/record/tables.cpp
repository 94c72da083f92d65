#include <tresse/record/tables.hpp>

#include <fmt/format.h>

#include <initializer_list>
#include <iterator>

#include <tresse/files/csv.hpp>

namespace tresse::record {
namespace {

void append_numbers(std::string& out, const auto& values) {
  for (const double value : values) {
    out += ',';
    files::append_number(out, value);
  }
}
void append_numbers(std::string& out, std::initializer_list<double> values) {
  append_numbers<std::initializer_list<double>>(out, values);
}

}  // namespace

void append_step_row(std::string& out, const dynamics::StepReport& report) {
  files::append_number(out, report.time);
  fmt::format_to(std::back_inserter(out), ",{},{}", report.contacts, report.iterations);
  append_numbers(out, {report.residual, report.max_penetration, report.energies.kinetic, report.energies.elastic,
                       report.energies.gravity, report.work_external, report.largest_stick_drift});
  fmt::format_to(std::back_inserter(out), ",{},{}", report.evaluations, report.linear_solves);
  append_numbers(out, {report.least_step_length, report.nearest, report.stiffness, report.t_detection,
                       report.t_assembly, report.t_solve, report.t_step});
  out += '\n';
}

void append_force_rows(std::string& out, const dynamics::StepReport& report, const std::vector<std::string>& names) {
  std::string time;
  files::append_number(time, report.time);
  for (std::size_t i = 0; i < names.size(); ++i) {
    const dynamics::ObstacleLoad& load = report.obstacles.at(i);
    out += time;
    out += ',';
    out += names[i];
    append_numbers(out, load.force);
    fmt::format_to(std::back_inserter(out), ",{}\n", load.contacts);
  }
}

void append_hold_rows(std::string& out, const dynamics::StepReport& report, const std::vector<std::string>& names) {
  std::string time;
  files::append_number(time, report.time);
  for (std::size_t i = 0; i < names.size(); ++i) {
    const dynamics::HoldLoad& load = report.holds.at(i);
    out += time;
    out += ',';
    out += names[i];
    append_numbers(out, load.force);
    append_numbers(out, load.torque);
    out += ',';
    files::append_number(out, load.error);
    out += '\n';
  }
}

void append_root_rows(std::string& out, double time, const std::vector<dynamics::RootLoad>& loads,
                      const std::vector<std::string>& names) {
  std::string when;
  files::append_number(when, time);
  for (std::size_t i = 0; i < names.size(); ++i) {
    out += when;
    out += ',';
    out += names[i];
    append_numbers(out, loads.at(i).force);
    append_numbers(out, loads.at(i).torque);
    out += '\n';
  }
}

void append_fluid_rows(std::string& out, const dynamics::StepReport& report) {
  std::string time;
  files::append_number(time, report.time);
  for (std::size_t f = 0; f < report.fluid.size(); ++f) {
    fmt::format_to(std::back_inserter(out), "{},{}", time, f);
    append_numbers(out, report.fluid[f].force);
    append_numbers(out, report.fluid[f].torque);
    out += '\n';
  }
}

void append_grains_row(std::string& out, const dynamics::StepReport& report) {
  const grains::GrainReport& grains = report.grains.value();
  files::append_number(out, report.time);
  append_numbers(out, {grains.kinetic, grains.volume, grains.top_speed, grains.residual});
  fmt::format_to(std::back_inserter(out), ",{}", grains.iterations);
  append_numbers(out, {grains.discharge, grains.leaving, grains.dilation, grains.leak, grains.least_pressure,
                       grains.most_pressure});
  append_numbers(out, Vector3(-grains.wall_force));
  out += '\n';
}

void append_cloth_rows(std::string& out, const dynamics::StepReport& report, const std::vector<std::string>& names) {
  std::string time;
  files::append_number(time, report.time);
  for (std::size_t i = 0; i < names.size(); ++i) {
    const dynamics::ClothReport& cloth = report.cloths.at(i);
    fmt::format_to(std::back_inserter(out), "{},{}", time, names[i]);
    append_numbers(out, {cloth.energies.kinetic, cloth.energies.elastic, cloth.energies.gravity, cloth.work,
                         cloth.top_speed, cloth.residual});
    fmt::format_to(std::back_inserter(out), ",{},{},{},{}", cloth.iterations, cloth.passes, cloth.contacts,
                   cloth.loaded);
    append_numbers(out, {cloth.penetration});
    append_numbers(out, cloth.pin_force);
    out += '\n';
  }
}

void append_remark_row(std::string& out, const observe::Remark& remark) {
  fmt::format_to(std::back_inserter(out), "{},", remark.step);
  files::append_number(out, remark.time);
  fmt::format_to(std::back_inserter(out), ",{},", observe::to_string(remark.kind));
  files::append_text(out, remark.message);
  out += '\n';
}

}  // namespace tresse::record
