#include <string>

#include <tresse/fluid/stokeslet_segments.hpp>
#include <tresse/laws/penalty.hpp>

#include "bindings.hpp"

namespace tresse::python {
namespace {

/// (energy, slope, curvature) of each distance; `touching` (n), or one for all. [m]
py::tuple energy(const std::string& law, const VectorX& distance, const VectorX& touching, double delta) {
  const std::optional<laws::Law> found = find_word<laws::Law>(law);
  require(found && *found != laws::Law::coulomb, [&] { return "law: found " + law + ", expected imc or ipc"; });
  VectorX value(distance.size()), slope(distance.size()), curvature(distance.size());
  for (Eigen::Index i = 0; i < distance.size(); ++i) {
    const laws::Energy at = laws::energy(*found, distance[i], touching[touching.size() == 1 ? 0 : i], delta);
    value[i] = at.value;
    slope[i] = at.slope;
    curvature[i] = at.curvature;
  }
  return py::make_tuple(value, slope, curvature);
}

std::vector<Vector3> vectors(const Points& rows) {
  std::vector<Vector3> out;
  out.reserve(static_cast<std::size_t>(rows.rows()));
  for (Eigen::Index i = 0; i < rows.rows(); ++i) out.emplace_back(rows.row(i));
  return out;
}

Points velocity(const Points& y0, const Points& y1, const Points& f0, const Points& f1, double epsilon,
                double viscosity, const Points& points, std::optional<int> threads) {
  std::vector<fluid::Segment> segments;
  for (Eigen::Index i = 0; i < y0.rows(); ++i) segments.push_back({y0.row(i), y1.row(i)});
  std::vector<Vector3> found;
  {
    const py::gil_scoped_release released;
    Threads(threads).run(
        [&] { found = fluid::velocity(segments, vectors(f0), vectors(f1), epsilon, viscosity, vectors(points)); });
  }
  Points out(points.rows(), 3);
  for (Eigen::Index i = 0; i < out.rows(); ++i) out.row(i) = found[static_cast<std::size_t>(i)];
  return out;
}

}  // namespace

void bind_laws(py::module_& module) {
  module.def("penalty_energy", &energy, py::arg("law"), py::arg("distance"), py::arg("touching"), py::arg("delta"));
  module.def("fluid_velocity", &velocity, py::arg("y0"), py::arg("y1"), py::arg("f0"), py::arg("f1"),
             py::arg("epsilon"), py::arg("viscosity"), py::arg("points"), py::arg("threads"));
}

}  // namespace tresse::python
