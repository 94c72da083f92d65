#pragma once

#include <vector>

#include <tresse/rods/rod.hpp>
#include <tresse/rods/section.hpp>

namespace tresse::rods {

/// One edge of a discrete elastic rod.
struct RodEdge {
  double length = 0.0;                       ///< at rest; > 0 [m]
  CrossSection section;                      ///< half-axes > 0
  Vector3 rest_curvature = Vector3::Zero();  ///< (twist, k1, k2); less than 3 rad of twist and of bend a node [1/m]
};

/// Discrete elastic rod: nodes, twist angles of edges, time-parallel reference frames. @cite bergou2010
/// N edges have 4N coordinates with a clamped root, 4N + 3 with a free one (root_dof() is 0 for both), from root to tip
/// (x_0 when free,) theta_0, x_1, theta_1, x_2, ...; [m], [rad]. A clamped root holds x_0 and a frame there, from which
/// the first edge bends and twists like any edge from the one before it; that node stands for half an edge. Curvatures
/// are those of the nodes that bend, 0 to N - 1 when clamped, 1 to N - 1 when free; the means of the neighbouring
/// edges' natural curvatures, weighted by length. Second order in the length of the edges. Equations:
/// docs/theory/rod_models.md.
std::unique_ptr<Rod> make_discrete_elastic_rod(const std::vector<RodEdge>& edges, const Material& material,
                                               RootCondition root_condition);

}  // namespace tresse::rods
