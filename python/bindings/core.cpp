#include <fmt/format.h>

#include <tresse/base/errors.hpp>

#include "bindings.hpp"
#include "version.hpp"

namespace tresse::python {

namespace {

int checked(std::optional<int> count) {
  constexpr int most = 1024;
  if (!count) return oneapi::tbb::task_arena::automatic;
  require(*count >= 1 && *count <= most,
          [&] { return fmt::format("threads: found {}, expected 1 to {}", *count, most); });
  return *count;
}

}  // namespace

Threads::Threads(std::optional<int> count) : arena_(checked(count)) { arena_.initialize(); }

}  // namespace tresse::python

PYBIND11_MODULE(_core, module) {
  namespace py = pybind11;
  module.doc() = "The compiled part of tresse. Use the package: import tresse.";
  module.attr("version") = fmt::format("{} ({})", TRESSE_VERSION, TRESSE_COMMIT);
  py::register_exception<tresse::InvalidInput>(module, "InvalidInput", PyExc_ValueError);
  py::register_exception<tresse::SystemFailure>(module, "SystemFailure", PyExc_OSError);
  for (const char* name : {"InvalidInput", "SystemFailure"}) module.attr(name).attr("__module__") = "tresse";
  tresse::python::bind_rods(module);
  tresse::python::bind_geometry(module);
  tresse::python::bind_friction(module);
  tresse::python::bind_scene(module);
  tresse::python::bind_dynamics(module);
}
