#pragma once

#include <memory>
#include <optional>

#include <oneapi/tbb/task_arena.h>
#include <pybind11/eigen.h>
#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>
#include <pybind11/stl/filesystem.h>

#include <tresse/base/types.hpp>

/// The module tresse._core: one function a folder of src/tresse. Arguments come checked for shape from the Python
/// package, ranges are checked here or in the library.
namespace tresse::python {

namespace py = pybind11;

void bind_rods(py::module_& module);
void bind_inverse(py::module_& module);
void bind_geometry(py::module_& module);
void bind_friction(py::module_& module);
void bind_laws(py::module_& module);
void bind_scene(py::module_& module);
void bind_dynamics(py::module_& module);

/// Doubles by rows, converted and copied where they are something else.
using Numbers = py::array_t<double, py::array::c_style | py::array::forcecast>;
using RowMatrix = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
/// Points by rows; of fixed width, since g++ 12 warns about assigning a Vector3 to a row of unknown width.
using Points = Eigen::Matrix<double, Eigen::Dynamic, 3, Eigen::RowMajor>;

/// Work on so many threads; none given: all cores. An arena of TBB is used again by who comes next: each new one would
/// leave some kilobytes behind.
class Threads {
 public:
  explicit Threads(std::optional<int> count);
  ~Threads();
  Threads(const Threads&) = delete;
  Threads& operator=(const Threads&) = delete;
  int count() const { return arena_->max_concurrency(); }
  template <typename Work>
  void run(const Work& work) {
    arena_->execute(work);
  }

 private:
  int wanted_;
  std::unique_ptr<oneapi::tbb::task_arena> arena_;
};

}  // namespace tresse::python
