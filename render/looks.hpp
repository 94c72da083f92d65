#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <tresse/observe/frame.hpp>

#include "render/coated_surface.hpp"
#include "render/hair_scattering.hpp"

namespace tresse::render {

/// How the fibres of a group look: hair, and paper where their section is elliptic.
struct FibreLook {
  HairMaterial hair;
  CoatedSurface::Material paper = {.albedo = Color(0.72F, 0.62F, 0.45F), .reflectance = 0.03F, .roughness = 0.5F};
};

/// How everything in a trajectory looks.
struct Looks {
  std::vector<CoatedSurface::Material> obstacles;  ///< one each, and after them one of each surface
  std::vector<FibreLook> groups;                   ///< one each
};

/// Neighbours in the list of obstacles, and of groups, differ: pale meshes and spheres, dark bars and combs, grey
/// planes; the first group is brown-blond. Surfaces are matt, as fabric is.
Looks default_looks(const observe::TrajectoryLayout& layout);

/// "#c8a080", as on a screen (sRGB). Throws InvalidInput for any other text.
Color read_colour(std::string_view text);

/// "brown" and the like, "#c8a080" for the colour of a thick strand, or "1.1,0.2" for the concentrations of eumelanin
/// and pheomelanin. Throws InvalidInput for any other text.
HairMaterial read_hair(std::string_view text);

/// "head=#c8a080", the name of an obstacle or a surface first. Throws InvalidInput, also for one that is not there.
void set_obstacle(Looks& looks, const observe::TrajectoryLayout& layout, const std::string& text);

/// "fringe=red", the group's name first, or "red" for all groups; a colour with # is that of paper too. Throws
/// InvalidInput, also for a group that is not there.
void set_group(Looks& looks, const observe::TrajectoryLayout& layout, const std::string& text);

}  // namespace tresse::render
