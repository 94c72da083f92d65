#include <tresse/rods/detail/nodal_model.hpp>

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

#include <tresse/base/errors.hpp>
#include <tresse/rods/detail/banded_step_matrix.hpp>
#include <tresse/rods/detail/discrete_elastic_rod_kinematics.hpp>
#include <tresse/rods/detail/mass_spring_kinematics.hpp>

namespace tresse::rods::detail {

NodalModel::NodalModel(Edge kind, const std::vector<RodEdge>& edges, const Material& material,
                       RootCondition root_condition)
    : stride(static_cast<int>(kind)),
      damping_time(material.damping_time),
      root_condition_(root_condition),
      edges_(edges),
      material_(material) {
  first = clamped() ? 0 : 3;
  const std::size_t n = edges.size();
  begin.push_back(0.0);
  node_mass.assign(n + 1, 0.0);
  node_length.assign(n + 1, 0.0);
  for (std::size_t j = 0; j < n; ++j) {
    const RodEdge& edge = edges[j];
    const double l = edge.length;
    const double a = edge.section.half_axis_1, b = edge.section.half_axis_2;
    const double edge_mass = material.density * area(edge.section) * l;
    lengths.push_back(l);
    begin.push_back(begin.back() + l);
    axial.push_back(material.young_modulus * area(edge.section));
    if (has_angles()) spin_inertia.push_back(edge_mass * (a * a + b * b) / 4.0);
    for (const std::size_t node : {j, j + 1}) {
      node_mass[node] += 0.5 * edge_mass;
      node_length[node] += 0.5 * l;
    }
    mass_ += edge_mass;
    surface_reach_ = surface_reach_.cwiseMax(Vector3(std::max(a, b), b, a));
    // Half of each neighbouring edge, one behind the other.
    Vector3 compliance = (0.5 * l * bending_stiffness(edge.section, material).cwiseInverse());
    double part = 0.5 * l;
    if (j > 0) {
      compliance += 0.5 * edges[j - 1].length * bending_stiffness(edges[j - 1].section, material).cwiseInverse();
      part += 0.5 * edges[j - 1].length;
    }
    Joint& joint = joints.emplace_back(Joint{compliance.cwiseInverse(), part});
    if (!has_angles()) joint.stiffness[0] = 0.0;
  }
  inertia.setZero(dof());
  for (int node = 0; node <= piece_count(); ++node) {
    if (node_at(node) >= 0) inertia.segment<3>(node_at(node)).setConstant(node_mass[node]);
  }
  for (int j = 0; has_angles() && j < piece_count(); ++j) inertia[angle_at(j)] = spin_inertia[j];
  VectorX elements(3 * static_cast<Eigen::Index>(n));
  for (std::size_t j = 0; j < n; ++j) elements.segment<3>(3 * static_cast<Eigen::Index>(j)) = edges[j].rest_curvature;
  rest_ = curvature_of_elements(elements);
}

double NodalModel::piece_begin(int piece) const {
  require(piece >= 0 && piece <= piece_count(),
          [&] { return std::string(name()) + ": no such piece " + std::to_string(piece); });
  return begin[piece];
}

VectorX NodalModel::curvature_of_elements(const VectorX& elements) const {
  require(elements.size() == 3 * piece_count(),
          [&] { return std::string(name()) + ": needs three curvatures an edge"; });
  VectorX out(3 * (piece_count() - first_joint()));
  for (int i = first_joint(); i < piece_count(); ++i) {
    Vector3 mean = elements.segment<3>(3 * i);
    if (i > 0)
      mean = (lengths[i] * mean + lengths[i - 1] * elements.segment<3>(3 * (i - 1))) / (lengths[i] + lengths[i - 1]);
    out.segment<3>(3 * (i - first_joint())) = mean;
  }
  return out;
}

std::shared_ptr<const RodModel> NodalModel::with_rest_curvature(const VectorX& rest) const {
  auto out = std::make_shared<NodalModel>(*this);
  out->rest_ = rest;
  return out;
}

std::shared_ptr<const RodModel> NodalModel::with_lengths(const std::vector<double>& made) const {
  require(made.size() == edges_.size(), [&] { return std::string(name()) + ": needs a length an edge"; });
  std::vector<RodEdge> edges = edges_;
  for (std::size_t j = 0; j < edges.size(); ++j) {
    require(std::isfinite(made[j]) && made[j] > 0.0, [&] {
      return std::string(name()) + ": edge " + std::to_string(j) + ": length is " + std::to_string(made[j]) +
             ", expected a positive number";
    });
    edges[j].length = made[j];
  }
  auto out = std::make_shared<NodalModel>(static_cast<Edge>(stride), edges, material_, root_condition_);
  out->rest_ = rest_;
  return out;
}

std::unique_ptr<Rod> NodalModel::make_rod() const {
  auto self = std::static_pointer_cast<const NodalModel>(shared_from_this());
  if (has_angles()) return std::make_unique<DiscreteElasticRod>(std::move(self));
  return std::make_unique<MassSpringChain>(std::move(self));
}

std::unique_ptr<StepMatrix> NodalModel::make_step_matrix() const { return std::make_unique<BandedStepMatrix>(); }

}  // namespace tresse::rods::detail
