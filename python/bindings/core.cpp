#include <fmt/format.h>

#include <map>
#include <memory>
#include <mutex>
#include <utility>

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

using Arena = oneapi::tbb::task_arena;

/// Those that nobody uses, by their number of threads.
struct Arenas {
  std::mutex mutex;
  std::multimap<int, std::unique_ptr<Arena>> unused;
};

Arenas& arenas() {
  static auto* instance = new Arenas;  // whatever ends last may give one back
  return *instance;
}

}  // namespace

Threads::Threads(std::optional<int> count) : wanted_(checked(count)) {
  const std::lock_guard lock(arenas().mutex);
  if (auto found = arenas().unused.extract(wanted_)) {
    arena_ = std::move(found.mapped());
  } else {
    arena_ = std::make_unique<Arena>(wanted_);
    arena_->initialize();
  }
}

Threads::~Threads() {
  const std::lock_guard lock(arenas().mutex);
  arenas().unused.emplace(wanted_, std::move(arena_));
}

}  // namespace tresse::python

PYBIND11_MODULE(_core, module) {
  namespace py = pybind11;
  module.doc() = "The compiled part of tresse. Use the package: import tresse.";
  module.attr("version") = fmt::format("{} ({})", TRESSE_VERSION, TRESSE_COMMIT);
  py::register_exception<tresse::InvalidInput>(module, "InvalidInput", PyExc_ValueError);
  py::register_exception<tresse::SystemFailure>(module, "SystemFailure", PyExc_OSError);
  for (const char* name : {"InvalidInput", "SystemFailure"}) module.attr(name).attr("__module__") = "tresse";
  tresse::python::bind_rods(module);
  tresse::python::bind_inverse(module);
  tresse::python::bind_geometry(module);
  tresse::python::bind_friction(module);
  tresse::python::bind_laws(module);
  tresse::python::bind_scene(module);
  tresse::python::bind_dynamics(module);
}
