#include <fmt/format.h>

#include <string>

#include <tresse/files/text.hpp>
#include <tresse/scene_file/detail/scene_reader.hpp>

namespace tresse::scene_file::detail {

scene::Surface read_surface(ReaderContext& context, const TomlNode& node, std::size_t index,
                            const Materials& materials) {
  const std::string place = fmt::format("surfaces[{}]", index);
  if (!node.is(TomlNode::Kind::table))
    context.fail(node, fmt::format("{} is {}; expected a table", place, describe(node)));
  const TomlNode& name = require_member(context, node, place, "name", "a name of its own");
  scene::Surface out;
  out.location = node.location;
  out.name = read_text(context, name, place + ".name");
  const std::string own = "surfaces." + one_line(out.name, 40);
  const TomlNode& model = require_member(context, node, own, "model", "a model");
  out.model =
      *find_word<scene::SurfaceModel>(read_word(context, model, own + ".model", Words<scene::SurfaceModel>::list));
  if (scene::is_cloth(out)) {
    read_cloth(TableReader(context, node, own, description<scene::ClothSurface>()), materials, out);
    return out;
  }
  const TableReader table(context, node, own, description<scene::Surface>());
  table.read<scene::Surface>(out);
  out.material = find_material(table, out.material_name, materials);
  return out;
}

}  // namespace tresse::scene_file::detail
