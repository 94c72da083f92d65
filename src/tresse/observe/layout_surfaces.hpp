#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include <tresse/observe/frame.hpp>

namespace tresse::observe {

/// A surface of a layout, which must outlive it.
struct LayoutSurface {
  std::string name;
  std::size_t first = 0;               ///< its first vertex in Frame::surface_vertex
  std::size_t vertices = 0;            ///< how many
  std::span<const std::int32_t> face;  ///< (3 faces) its own vertices

  Vector3 vertex(const Frame& frame, std::size_t v) const { return vector_at(frame.surface_vertex, first + v); }
};

/// In the layout's order; it must be valid.
std::vector<LayoutSurface> surfaces_of(const TrajectoryLayout& layout);

}  // namespace tresse::observe
