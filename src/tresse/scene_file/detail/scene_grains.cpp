#include <fmt/format.h>

#include <string>

#include <tresse/base/errors.hpp>
#include <tresse/files/text.hpp>
#include <tresse/scene_file/detail/scene_reader.hpp>

namespace tresse::scene_file::detail {
namespace {

void refuse_particles(const TableReader& table) {
  const TomlNode* model = table.find("model");
  if (model != nullptr && read_text(table.context(), *model, table.path("model")) == "particles")
    table.fail("model", "is \"particles\", a model that tresse does not have; expected \"dense\"");
}

void read_domain(const TableReader& table, scene::Grains& grains) {
  const TomlNode& node = table.require("domain");
  const std::string path = table.path("domain");
  if (!node.is(TomlNode::Kind::array) || node.items.size() != 2)
    table.context().fail(node,
                         fmt::format("{} is {}; expected two corners, [[x, y, z], [x, y, z]]", path, describe(node)));
  for (std::size_t i = 0; i < node.items.size(); ++i)
    grains.domain.push_back(
        read_vector(table.context(), node.items[i], fmt::format("{}[{}]", path, i), table.wanted("domain")));
}

void read_cells(const TableReader& table, scene::Grains& grains) {
  const TomlNode& node = table.require("cells");
  const std::string path = table.path("cells");
  if (!node.is(TomlNode::Kind::array) || node.items.size() != 3)
    table.context().fail(node, fmt::format("{} is {}; expected three counts, [nx, ny, nz]", path, describe(node)));
  for (std::size_t i = 0; i < node.items.size(); ++i)
    grains.cells.push_back(static_cast<int>(
        read_whole(table.context(), node.items[i], fmt::format("{}[{}]", path, i), table.wanted("cells"))));
}

}  // namespace

scene::Grains read_grains(ReaderContext& context, const TomlNode& node, const std::vector<scene::Obstacle>& obstacles) {
  const TableReader table(context, node, "grains", description<scene::Grains>());
  scene::Grains out;
  out.location = node.location;
  refuse_particles(table);
  read_domain(table, out);
  read_cells(table, out);
  table.read<scene::Grains>(out);
  if (context.leave_meshes) return out;
  try {
    grains::validate(scene::medium_of(out, obstacles));
  } catch (const InvalidInput&) {
    table.fail("domain", "holds no cell whose centre is outside the obstacles; expected room for grains");
  }
  return out;
}

}  // namespace tresse::scene_file::detail
