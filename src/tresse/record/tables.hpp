#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <tresse/dynamics/report.hpp>
#include <tresse/observe/watch.hpp>

/// Headers and rows of steps.csv, forces.csv, holds.csv, roots.csv, fluid.csv, grains.csv, cloth.csv and
/// remarks.csv.
namespace tresse::record {

inline constexpr std::string_view steps_header =
    "time,contacts,iterations,residual,max_penetration,kinetic,elastic,gravity,work_external,largest_stick_drift,"
    "evaluations,linear_solves,least_step_length,least_gap,stiffness,"
    "t_detection,t_assembly,t_solve,t_step\n";
inline constexpr std::string_view forces_header = "time,obstacle,fx,fy,fz,contacts\n";
inline constexpr int column_of_forces = 2;  ///< fx in forces.csv
inline constexpr std::string_view holds_header = "time,hold,fibre,fx,fy,fz,mx,my,mz,error\n";
inline constexpr std::string_view roots_header = "time,group,roots,fx,fy,fz,mx,my,mz\n";
inline constexpr int column_of_loads = 3;  ///< fx in holds.csv and roots.csv
inline constexpr std::string_view fluid_header = "time,fibre,fx,fy,fz,tx,ty,tz\n";
inline constexpr std::string_view cloth_header =
    "time,surface,kinetic,elastic,gravity,work,top_speed,residual,iterations,passes,contacts,loaded,penetration,"
    "pin_fx,pin_fy,pin_fz\n";
inline constexpr std::string_view grains_header =
    "time,kinetic,volume,top_speed,residual,iterations,discharge,leaving,dilation,leak,least_pressure,most_pressure,"
    "fx,fy,fz\n";
inline constexpr std::string_view remarks_header = "step,time,kind,message\n";

void append_step_row(std::string& out, const dynamics::StepReport& report);

/// One row an obstacle. `names`: (obstacles), as append_text writes them.
void append_force_rows(std::string& out, const dynamics::StepReport& report, const std::vector<std::string>& names);

/// One row a hold. `names`: (holds), its name as append_text() writes it and the number of its fibre.
void append_hold_rows(std::string& out, const dynamics::StepReport& report, const std::vector<std::string>& names);
/// One row a group. `names`: (loads), its name likewise and how many roots it has.
void append_root_rows(std::string& out, double time, const std::vector<dynamics::RootLoad>& loads,
                      const std::vector<std::string>& names);

/// One row a fibre.
void append_fluid_rows(std::string& out, const dynamics::StepReport& report);

/// One row, of a step with grains.
void append_grains_row(std::string& out, const dynamics::StepReport& report);
/// A row for each cloth; `names` in the order of StepReport::cloths.
void append_cloth_rows(std::string& out, const dynamics::StepReport& report, const std::vector<std::string>& names);

void append_remark_row(std::string& out, const observe::Remark& remark);

}  // namespace tresse::record
