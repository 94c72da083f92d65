#include <functional>
#include <vector>

#include <pybind11/functional.h>

#include <tresse/inverse/framing.hpp>

#include "bindings.hpp"

namespace tresse::python {
namespace {

using Curvature = std::function<Vector3(double)>;

/// (angle, residual, energy, second variation) of each.
py::list framings(double length, const Curvature& curvature, const Curvature& natural, const Vector3& stiffness,
                  double root_angle, int elements) {
  py::list out;
  for (const inverse::Framing& found :
       inverse::framings({length, curvature}, {natural, stiffness, root_angle}, {.elements = elements}))
    out.append(py::make_tuple(found.angle, found.residual, found.energy, found.second_variation));
  return out;
}

/// `frames`: a row each, the nine numbers of (3, 3) row by row.
Points natural_curvatures(const VectorX& s, const Points& positions, const RowMatrix& frames, const Points& curvatures,
                          const Vector3& stiffness, const Vector3& load) {
  std::vector<inverse::FramedPlace> places;
  for (Eigen::Index i = 0; i < s.size(); ++i) {
    const Eigen::Matrix<double, 9, 1> frame = frames.row(i);
    places.push_back({s[i], positions.row(i),
                      Eigen::Map<const Eigen::Matrix<double, 3, 3, Eigen::RowMajor>>(frame.data()), curvatures.row(i)});
  }
  const std::vector<Vector3> natural = inverse::natural_curvatures(places, stiffness, load);
  Points out(static_cast<Eigen::Index>(natural.size()), 3);
  for (std::size_t i = 0; i < natural.size(); ++i) out.row(static_cast<Eigen::Index>(i)) = natural[i];
  return out;
}

}  // namespace

void bind_inverse(py::module_& module) {
  module.def("framings", &framings);
  module.def("natural_curvatures", &natural_curvatures);
}

}  // namespace tresse::python
