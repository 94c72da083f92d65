#include <memory>
#include <string>

#include <fmt/format.h>

#include <tresse/files/atomic_file.hpp>
#include <tresse/scene_file/scene_schema.hpp>

#include "commands.hpp"
#include "messages.hpp"

namespace tresse::app {

void add_schema_command(CLI::App& program, int& exit_status) {
  CLI::App* command = program.add_subcommand("schema", "Print the JSON schema of scenes, for editors");
  command->footer("Example: tresse schema -o scene.schema.json");
  const auto output = std::make_shared<std::string>();
  command->add_option("-o,--output", *output, "file to write (default: standard output)")->type_name("FILE");
  command->callback([output, &exit_status] {
    const std::string schema = scene_file::scene_schema();
    if (output->empty())
      print_text(schema);
    else
      files::write_atomically(*output, schema);
    exit_status = done;
  });
}

}  // namespace tresse::app
