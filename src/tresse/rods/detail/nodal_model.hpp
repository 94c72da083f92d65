#pragma once

#include <memory>
#include <vector>

#include <tresse/rods/discrete_elastic_rod.hpp>

namespace tresse::rods::detail {

/// What a rod of nodes joined by edges is made of: masses lumped at nodes, edges that stretch, joints between edges
/// that bend and, where edges have angles, twist. N edges, N + 1 nodes.
class NodalModel final : public RodModel {
 public:
  /// Coordinates of an edge: its angle and the node at its end (a discrete elastic rod), or that node alone (a
  /// mass-spring chain).
  enum class Edge { node = 3, angle_and_node = 4 };
  /// A node that bends and twists: the one before edge `edge`.
  struct Joint {
    Vector3 stiffness;  ///< of the integrated strains (twist, c1, c2); no twist without angles [N m]
    double length;      ///< of its part of the rod [m]
  };

  NodalModel(Edge kind, const std::vector<RodEdge>& edges, const Material& material, RootCondition root_condition);

  RootCondition root_condition() const override { return root_condition_; }
  int coordinate_count() const override { return first + stride * piece_count(); }
  int root_dof() const override { return 0; }
  int piece_count() const override { return static_cast<int>(lengths.size()); }
  int touched(int piece) const override { return first + stride * (piece + 1); }
  bool linear_elasticity() const override { return false; }
  bool twists() const override { return has_angles(); }
  double length() const override { return begin.back(); }
  double piece_begin(int piece) const override;
  double mass() const override { return mass_; }
  double contact_radius() const override { return surface_reach_.x(); }
  Vector3 surface_reach() const override { return surface_reach_; }
  const VectorX& rest_curvature() const override { return rest_; }
  VectorX curvature_of_elements(const VectorX& elements) const override;
  std::shared_ptr<const RodModel> with_rest_curvature(const VectorX& rest) const override;
  std::shared_ptr<const RodModel> with_lengths(const std::vector<double>& made) const override;
  std::unique_ptr<Rod> make_rod() const override;
  std::unique_ptr<StepMatrix> make_step_matrix() const override;

  bool clamped() const { return root_condition_ == RootCondition::clamped; }
  bool has_angles() const { return stride == static_cast<int>(Edge::angle_and_node); }
  const char* name() const { return has_angles() ? "discrete elastic rod" : "mass-spring chain"; }
  int first_joint() const { return clamped() ? 0 : 1; }
  Eigen::Index angle_at(int edge) const { return first + stride * edge; }
  Eigen::Index node_at(int node) const { return first + stride * node - 3; }  ///< negative for a clamped root's

  int stride = 0;                    ///< coordinates of an edge
  int first = 0;                     ///< coordinates before edge 0's: the first node's 3 when free
  double damping_time = 0.0;         ///< [s]
  std::vector<double> lengths;       ///< (N) at rest [m]
  std::vector<double> begin;         ///< (N + 1) arc length of the nodes at rest [m]
  std::vector<double> axial;         ///< (N) E A [N]
  std::vector<double> spin_inertia;  ///< (N) rho (I1 + I2) l; none without angles [kg m^2]
  std::vector<double> node_mass;     ///< (N + 1) [kg]
  std::vector<double> node_length;   ///< (N + 1) half of each neighbour [m]
  std::vector<Joint> joints;         ///< (N); a free rod's first is not used
  VectorX inertia;                   ///< diagonal of M (dof)

 private:
  RootCondition root_condition_;
  std::vector<RodEdge> edges_;
  Material material_;
  double mass_ = 0.0;
  Vector3 surface_reach_ = Vector3::Zero();
  VectorX rest_;
};

}  // namespace tresse::rods::detail
