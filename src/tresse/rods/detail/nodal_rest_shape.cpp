#include <algorithm>
#include <string>

#include <Eigen/QR>

#include <tresse/base/assert.hpp>
#include <tresse/base/errors.hpp>
#include <tresse/rods/detail/discrete_shape.hpp>
#include <tresse/rods/detail/nodal_rod.hpp>

namespace tresse::rods::detail {
namespace {

/// What is left of a load, of all of it, for its balance to be kept.
constexpr double balanced = 1e-9;

}  // namespace

/// From the tip: the moment of a joint and the tension of the edge after it are what the node at the end of that edge,
/// and the edge's angle, still lack. docs/theory/inverse.md, "Nodal rods".
RestShape NodalRod::rest_shape_under(const Eigen::Ref<const VectorX>& load) const {
  TRESSE_ASSERT(load.size() == dof());
  const auto told = [&](int i) { return std::string(made_.name()) + ": node " + std::to_string(i); };
  VectorX left = load;
  // A moment at a node is compared with forces over the edge beside it.
  const double scale = load.lpNorm<1>();
  RestShape out{VectorX::Zero(rest_.size()), std::vector<double>(made_.lengths.size())};
  std::vector<Vector3> strains(made_.lengths.size(), Vector3::Zero());
  for (int j = count() - 1; j >= 0; --j) {
    const EdgeFrame& edge = frames_[j];
    const bool bends = j >= first_joint();
    const Matrix3X free = bends ? free_strains(j) : Matrix3X(3, 0);
    const Eigen::Index rows = has_angles() ? 4 : 3;
    MatrixX of_unknowns(rows, free.cols() + 1);
    VectorX wanted(rows);
    wanted.head<3>() = left.segment<3>(node_at(j + 1));
    if (has_angles()) wanted[3] = left[angle_at(j)];
    of_unknowns.rightCols<1>().setZero();
    of_unknowns.rightCols<1>().head<3>() = edge.tangent;
    if (free.cols() > 0)
      of_unknowns.leftCols(free.cols()) = (free.transpose() * stencils_[j].gradient).transpose().middleRows(4, rows);
    const VectorX found = of_unknowns.colPivHouseholderQr().solve(wanted);
    const Vector3 moment = free * found.head(free.cols());
    const double tension = found[free.cols()];
    if (bends) {
      add_joint(j, -(stencils_[j].gradient.transpose() * moment), left);
      const Vector3 stiffness = made_.joints[j].stiffness;
      strains[j] = stencils_[j].strain;
      for (int k = 0; k < 3; ++k) strains[j][k] -= stiffness[k] > 0.0 ? moment[k] / stiffness[k] : 0.0;
      if (!has_angles()) strains[j][0] = 0.0;
      require(may_rest_at(j, strains[j]),
              [&] { return told(j) + " would have to bend the other way at rest, which points do not tell"; });
    }
    if (node_at(j) >= 0) left.segment<3>(node_at(j)) += tension * edge.tangent;
    left.segment<3>(node_at(j + 1)) -= tension * edge.tangent;
    double rest = left.segment<3>(node_at(j + 1)).norm();
    if (has_angles()) rest = std::max(rest, std::abs(left[angle_at(j)]) / edge.length);
    require(rest <= balanced * scale || !bends, [&] {
      return told(j) + " does not hold its load: the moment there is not in the plane of its bend, or it is straight";
    });
    const double stretch = 1.0 + tension / made_.axial[j];
    require(stretch > 0.0,
            [&] { return std::string(made_.name()) + ": edge " + std::to_string(j) + " would be pressed to nothing"; });
    out.lengths[j] = edge.length / stretch;
  }
  require(clamped() || left.lpNorm<1>() <= balanced * scale, [&] {
    return std::string(made_.name()) + ": the loads on a free rod do not balance; no natural shape holds it";
  });
  for (int i = first_joint(); i < count(); ++i) {
    const double part = 0.5 * (out.lengths[i] + (i > 0 ? out.lengths[i - 1] : 0.0));
    out.curvature.segment<3>(3 * (i - first_joint())) = turn_of_strain(strains[i]) / part;
  }
  return out;
}

}  // namespace tresse::rods::detail
