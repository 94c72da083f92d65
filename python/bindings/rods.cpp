#include <algorithm>
#include <cmath>
#include <memory>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include <tresse/base/errors.hpp>
#include <tresse/inverse/critical_stiffness.hpp>
#include <tresse/inverse/rest_shape.hpp>
#include <tresse/inverse/stiffness.hpp>
#include <tresse/rods/fit_curve.hpp>
#include <tresse/rods/floating_tangents.hpp>
#include <tresse/rods/super_clothoid.hpp>
#include <tresse/rods/super_helix.hpp>

#include "bindings.hpp"

namespace tresse::python {
namespace {

std::vector<Vector3> triplets(const VectorX& values) {
  std::vector<Vector3> out;
  for (Eigen::Index i = 0; i + 2 < values.size(); i += 3) out.emplace_back(values.segment<3>(i));
  return out;
}

/// What a rod is made of: lengths (N), half-axes (N, 2), natural curvatures, flat.
struct RodParts {
  VectorX lengths;
  RowMatrix half_axes;
  VectorX natural;
  rods::Material material;
};

std::unique_ptr<rods::Rod> make(bool clothoid, const RodParts& parts) {
  const std::vector<Vector3> natural = triplets(parts.natural);
  std::vector<rods::SuperHelixElement> helices;
  std::vector<rods::SuperClothoidElement> clothoids;
  for (Eigen::Index i = 0; i < parts.lengths.size(); ++i) {
    const rods::CrossSection section{parts.half_axes(i, 0), parts.half_axes(i, 1)};
    clothoids.push_back({parts.lengths[i], section});
    if (!clothoid) helices.push_back({parts.lengths[i], section, natural[static_cast<std::size_t>(i)]});
  }
  constexpr rods::RootCondition root = rods::RootCondition::clamped;
  if (clothoid) return rods::make_super_clothoid(clothoids, natural, parts.material, root);
  return rods::make_super_helix(helices, parts.material, root);
}

/// A rod by itself, its root clamped and at rest.
class StudyRod {
 public:
  StudyRod(bool clothoid, const RodParts& parts, const Pose& root, const VectorX& curvature)
      : rod_(make(clothoid, parts)), root_(root) {
    set(curvature, VectorX::Zero(curvature.size()));
  }

  void set(const VectorX& curvature, const VectorX& rate) { rod_->update(rod_->shaped(root_, {}, curvature, rate)); }
  const rods::Rod& rod() const { return *rod_; }

  Points positions(const VectorX& s) const {
    Points out(s.size(), 3);
    for (Eigen::Index i = 0; i < s.size(); ++i) out.row(i) = rod_->section(checked(s[i])).position;
    return out;
  }
  py::array_t<double> frames(const VectorX& s) const {
    py::array_t<double> out({s.size(), Eigen::Index{3}, Eigen::Index{3}});
    for (Eigen::Index i = 0; i < s.size(); ++i) {
      const Matrix3 frame = rod_->section(checked(s[i])).frame;
      Eigen::Map<RowMatrix>(out.mutable_data(i), 3, 3) = frame;
    }
    return out;
  }
  py::array_t<double> jacobians(const VectorX& s) const {
    const Eigen::Index n = rod_->dof();
    py::array_t<double> out({s.size(), Eigen::Index{3}, n});
    Matrix3X columns(3, n);
    for (Eigen::Index i = 0; i < s.size(); ++i) {
      const double at = checked(s[i]);
      int piece = rod_->piece_count() - 1;
      while (piece > 0 && rod_->piece_begin(piece) > at) --piece;
      columns.setZero();
      rod_->jacobian(piece, at - rod_->piece_begin(piece), columns);
      Eigen::Map<RowMatrix>(out.mutable_data(i), 3, n) = columns;
    }
    return out;
  }
  RowMatrix mass_matrix() const {
    MatrixX out(rod_->dof(), rod_->dof());
    rod_->mass_matrix(out);
    return out;
  }
  RowMatrix stiffness() const {
    MatrixX out = MatrixX::Zero(rod_->dof(), rod_->dof());
    rod_->add_stiffness(1.0, 0.0, out);
    return out;
  }
  VectorX gravity(const Vector3& g) const {
    VectorX out(rod_->dof());
    rod_->gravity_force(g, out);
    return -out;
  }
  /// How stiff it is, from poses at rest: curvatures (poses, m) and gravity in each (poses, 3). One pose: of a natural
  /// curvature that is the same all along. (ratio, deviation, noise, whether it converged)
  py::tuple stiffness_of(const RowMatrix& curvatures, const Points& gravities) const {
    const std::unique_ptr<rods::Rod> rod = rod_->clone();
    std::vector<inverse::PoseAtRest> poses;
    for (Eigen::Index i = 0; i < curvatures.rows(); ++i) poses.push_back({curvatures.row(i), gravities.row(i)});
    const inverse::MeasuredStiffness found = poses.size() == 1 ? inverse::stiffness_of_uniform(*rod, poses.front())
                                                               : inverse::stiffness_of_poses(*rod, poses);
    return py::make_tuple(found.ratio, found.deviation, found.noise, found.status == Status::converged);
  }
  /// A of the present shape at these rates; the rod is left at rest.
  VectorX inertia(const VectorX& velocity) {
    const VectorX curvature = rod_->curvature();
    set(curvature, velocity);
    VectorX out(rod_->dof());
    rod_->inertial_and_external_force({}, out);
    set(curvature, VectorX::Zero(curvature.size()));
    return -out;
  }

 private:
  /// Sums of lengths round: what is a rounding beyond the tip is the tip.
  double checked(double s) const {
    const double length = rod_->length();
    constexpr double rounding = 1e-12;
    require(s >= -rounding * length && s <= (1.0 + rounding) * length,
            [&] { return fmt::format("s: found {:g}, expected an arc length from 0 to {:g} m", s, length); });
    return std::clamp(s, 0.0, length);
  }

  std::unique_ptr<rods::Rod> rod_;
  Pose root_;
};

Points rows(const std::vector<Vector3>& values) {
  Points out(static_cast<Eigen::Index>(values.size()), 3);
  for (Eigen::Index i = 0; i < out.rows(); ++i) out.row(i) = values[static_cast<std::size_t>(i)];
  return out;
}

/// (position, frame, lengths, curvatures, largest and mean distance, deviation, ratio of lengths, whether it converged)
template <typename Fit>
py::tuple fitted(const Points& points, const Fit& fit_row) {
  std::vector<Vector3> row;
  for (Eigen::Index i = 0; i < points.rows(); ++i) row.emplace_back(points.row(i));
  rods::FittedCurve fit;
  {
    const py::gil_scoped_release release;
    fit = fit_row(row);
  }
  return py::make_tuple(fit.root.position, RowMatrix(fit.root.frame), fit.lengths, rows(fit.curvature),
                        fit.largest_distance, fit.mean_distance, fit.deviation, fit.length_ratio,
                        fit.status == Status::converged);
}

py::tuple fit_curve(const Points& points, bool clothoid, int elements, double tolerance) {
  return fitted(points, [&](const std::vector<Vector3>& row) {
    return rods::fit_curve(row, {.affine = clothoid, .elements = elements, .tolerance = tolerance});
  });
}

py::tuple fit_floating(const Points& points, int elements) {
  return fitted(points, [&](const std::vector<Vector3>& row) { return rods::fit_floating(row, elements).curve; });
}

}  // namespace

void bind_rods(py::module_& module) {
  module.def("fit_curve", &fit_curve);
  module.def("fit_floating", &fit_floating);
  py::class_<StudyRod>(module, "Rod")
      .def(py::init([](bool clothoid, const VectorX& lengths, const VectorX& curvature, const VectorX& natural,
                       const Vector3& position, const Matrix3& frame, const RowMatrix& half_axes,
                       const std::array<double, 3>& material, bool rotary_inertia) {
        const rods::Material made{material[0], material[1], material[2], 0.0, rotary_inertia};
        return StudyRod(clothoid, {lengths, half_axes, natural, made}, {position, frame}, curvature);
      }))
      .def("set_curvature",
           [](StudyRod& rod, const VectorX& curvature) { rod.set(curvature, VectorX::Zero(curvature.size())); })
      .def("curvature", [](const StudyRod& rod) -> VectorX { return rod.rod().curvature(); })
      .def("length", [](const StudyRod& rod) { return rod.rod().length(); })
      .def("mass", [](const StudyRod& rod) { return rod.rod().mass(); })
      .def("positions", &StudyRod::positions)
      .def("frames", &StudyRod::frames)
      .def("jacobians", &StudyRod::jacobians)
      .def("mass_matrix", &StudyRod::mass_matrix)
      .def("stiffness", &StudyRod::stiffness)
      .def("gravity", &StudyRod::gravity)
      .def("inertia", &StudyRod::inertia)
      .def("rest_curvature",
           [](const StudyRod& rod, const Vector3& gravity) -> VectorX {
             return inverse::rest_curvature(rod.rod(), {.gravity = gravity});
           })
      .def("critical_scale",
           [](const StudyRod& rod, const Vector3& gravity) {
             return inverse::critical_stiffness(rod.rod(), gravity).scale;
           })
      .def("stiffness_of", &StudyRod::stiffness_of)
      .def("elastic_energy", [](const StudyRod& rod) { return rod.rod().elastic_energy(); });
}

}  // namespace tresse::python
