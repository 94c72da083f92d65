#include <string>
#include <vector>

#include <tresse/problem_files/distance_file.hpp>

#include "bindings.hpp"

namespace tresse::python {
namespace {

/// (distance, s_a, s_b, certified, steps), an array of each.
py::tuple closest(const std::string& pairs, const std::string& method, std::optional<double> tolerance,
                  std::optional<int> threads) {
  std::vector<geometry::ClosestPoints> found;
  {
    const py::gil_scoped_release released;
    geometry::ClosestPointsOptions options{.method = problem_files::detection_method_of(method, "method")};
    options.tolerance = tolerance.value_or(problem_files::default_tolerance(options.method));
    const std::vector<problem_files::CurvePair> curves = problem_files::parse_curve_pairs(pairs, "closest_points");
    Threads(threads).run([&] { found = problem_files::closest_points(curves, options); });
  }
  const auto n = static_cast<py::ssize_t>(found.size());
  py::array_t<double> distance(n), s_a(n), s_b(n);
  py::array_t<bool> certified(n);
  py::array_t<int> steps(n);
  for (py::ssize_t i = 0; i < n; ++i) {
    const geometry::ClosestPoints& one = found[static_cast<std::size_t>(i)];
    distance.mutable_at(i) = one.distance;
    s_a.mutable_at(i) = one.s_a;
    s_b.mutable_at(i) = one.s_b;
    certified.mutable_at(i) = one.certified;
    steps.mutable_at(i) = one.steps;
  }
  return py::make_tuple(distance, s_a, s_b, certified, steps);
}

}  // namespace

void bind_geometry(py::module_& module) {
  module.def("closest_points", &closest, py::arg("pairs"), py::arg("method"), py::arg("tolerance"), py::arg("threads"));
}

}  // namespace tresse::python
