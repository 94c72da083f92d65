#pragma once

#include <vector>

#include <tresse/contact/pieces.hpp>

namespace tresse::contact {

/// A body that lies inside a closed mesh, or whose centreline goes through a surface: what a search for contacts near
/// the surface does not see. Where it is deepest, or where it goes through an open mesh first.
struct Intrusion {
  int piece = 0;       ///< of Geometry::pieces
  double s = 0.0;      ///< parameter on its curve [m]
  int surface = -1;    ///< -1 - k: surface k, a mesh
  double depth = 0.0;  ///< of the body's skin under that of the mesh; > 0 [m]
};

/// One for each body that moves and each mesh that it is in, in the order of bodies. Centrelines are taken as chains of
/// chords to within a quarter of the radius: what a contact can tell is not looked for. Pieces that are embedded in the
/// mesh's body are left out.
std::vector<Intrusion> intrusions(const Geometry& scene);

}  // namespace tresse::contact
