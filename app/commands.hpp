#pragma once

#include <CLI/CLI.hpp>

namespace tresse::app {

/// Exit statuses of the program, part of its contract.
enum ExitStatus { done = 0, bad_input = 2, missed_tolerance = 3, not_finite = 4, interrupted = 130 };

/// Each adds its subcommand to the program; its callback does the work, throws InvalidInput or SystemFailure, and
/// leaves its exit status in `exit_status`.
void add_run_command(CLI::App& program, int& exit_status);
void add_static_command(CLI::App& program, int& exit_status);
void add_check_command(CLI::App& program, int& exit_status);
void add_distance_command(CLI::App& program, int& exit_status);
void add_fit_command(CLI::App& program, int& exit_status);
void add_invert_command(CLI::App& program, int& exit_status);
void add_friction_command(CLI::App& program, int& exit_status);
void add_render_command(CLI::App& program, int& exit_status);
void add_plot_command(CLI::App& program, int& exit_status);
void add_export_command(CLI::App& program, int& exit_status);
void add_view_command(CLI::App& program, int& exit_status);
void add_bench_command(CLI::App& program, int& exit_status);
void add_sweep_command(CLI::App& program, int& exit_status);
void add_compare_command(CLI::App& program, int& exit_status);
void add_schema_command(CLI::App& program, int& exit_status);
void add_completion_command(CLI::App& program, int& exit_status);

}  // namespace tresse::app
