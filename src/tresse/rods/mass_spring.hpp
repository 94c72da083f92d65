#pragma once

#include <memory>
#include <vector>

#include <tresse/rods/discrete_elastic_rod.hpp>

namespace tresse::rods {

/// Mass-spring chain: the positions of nodes, springs between neighbours and against bending; it does not twist. The
/// maximal-coordinate model of @cite bertails2011.
/// N edges have 3N coordinates with a clamped root, 3N + 3 with a free one (root_dof() is 0 for both), from root to tip
/// (x_0 when free,) x_1, x_2, ... [m]. A clamped root holds x_0 and a tangent there, from which the first edge bends
/// over half its length. Sections are round, and of a natural curvature only the bend counts, without its direction:
/// a curl may lie in any plane, and a straight joint does not know which way to curl. Throws InvalidInput for natural
/// twist and for elliptic sections. Second order in the length of the edges. Equations: docs/theory/rod_models.md.
std::unique_ptr<Rod> make_mass_spring(const std::vector<RodEdge>& edges, const Material& material,
                                      RootCondition root_condition);

}  // namespace tresse::rods
