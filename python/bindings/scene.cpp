#include <algorithm>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include <tresse/record/results_place.hpp>
#include <tresse/rods/section.hpp>
#include <tresse/scene_file/scene_file.hpp>
#include <tresse/scene_file/scene_schema.hpp>

#include "bindings.hpp"

namespace tresse::python {

namespace {

/// As tresse.FibreGroup has them, by name.
py::dict groups(const scene_file::SceneDocument& document) {
  py::dict out;
  for (const scene::FibreGroup& group : document.scene.fibres) {
    double length = 0.0, mass = 0.0, radius = 0.0;
    for (std::size_t i = 0; i < group.element_lengths.size(); ++i) {
      const rods::CrossSection& section = group.sections[i];
      length += group.element_lengths[i];
      mass += group.element_lengths[i] * group.material.density * rods::area(section);
      radius = std::max({radius, section.half_axis_1, section.half_axis_2});
    }
    const Vector3 stiffness = rods::bending_stiffness(group.sections.front(), group.material);
    out[py::str(group.name)] =
        py::make_tuple(std::string(word(group.model)), group.material_name, group.element_lengths.size(), length,
                       radius, mass, VectorX(stiffness.tail<2>()), stiffness[0]);
  }
  return out;
}

}  // namespace

void bind_scene(py::module_& module) {
  module.def("require_results", [](const std::filesystem::path& folder) {
    static_cast<void>(record::find_results(folder, {{"summary.json"}}));
  });
  module.def("scene_schema", &scene_file::scene_schema);
  using scene_file::SceneDocument;
  using Settings = std::vector<std::pair<std::string, std::string>>;
  const auto overrides = [](const Settings& set) {
    scene_file::ParameterOverrides out(set.begin(), set.end());
    out.given_as = "argument";
    return out;
  };
  py::class_<SceneDocument>(module, "Scene")
      .def_static("load",
                  [overrides](const std::filesystem::path& file, const Settings& set) {
                    const py::gil_scoped_release released;
                    return scene_file::read_scene_document(file, overrides(set));
                  })
      .def_static("parse",
                  [overrides](const std::string& text, const std::string& name, const Settings& set) {
                    const py::gil_scoped_release released;
                    return scene_file::parse_scene_document(text, name, overrides(set));
                  })
      .def("resolved", [](const SceneDocument& document) { return scene_file::write_resolved(document); })
      .def_property_readonly("title", [](const SceneDocument& d) { return d.scene.title; })
      .def_property_readonly("time_step", [](const SceneDocument& d) { return d.scene.simulation.time_step; })
      .def_property_readonly("time_step_reason", [](const SceneDocument& d) { return d.time_step_reason; })
      .def_property_readonly("duration", [](const SceneDocument& d) { return d.scene.simulation.duration; })
      .def("groups", groups)
      .def("parameters", [](const SceneDocument& d) {
        py::list out;
        for (const scene_file::Parameter& p : d.parameters) {
          out.append(py::make_tuple(p.name, p.value, p.resolved, p.unit, p.description));
        }
        return out;
      });
}

}  // namespace tresse::python
