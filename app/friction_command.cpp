#include "commands.hpp"

namespace tresse::app {

void add_friction_command(CLI::App& program, int& exit_status) {
  static_cast<void>(program);
  static_cast<void>(exit_status);
}

}  // namespace tresse::app
