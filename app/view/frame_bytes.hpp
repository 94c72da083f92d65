#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <tresse/observe/frame.hpp>

/// What the page of `tresse view` gets instead of a trajectory's double numbers: little-endian buffers that it puts on
/// the graphics card as they are. Layout in docs/reference/viewer_protocol.md.
namespace tresse::app::view {

/// Which point belongs to which fibre, radii, arc lengths, the obstacles' shapes, and the faces of surfaces.
std::string layout_bytes(const observe::TrajectoryLayout& layout);

/// What of the meshes stays: whose they are, their numbers of vertices and key frames, their faces.
std::string meshes_bytes(const observe::TrajectoryLayout& layout);

/// (vertices, 3) float32 of key frame `key` of a mesh, at the reference pose [m]. @throws InvalidInput when there is no
/// such mesh or key.
std::string vertices_bytes(const observe::TrajectoryLayout& layout, std::size_t mesh, std::size_t key);

/// Points, obstacle poses, contacts and the vertices of surfaces of one frame.
std::string frame_bytes(const observe::TrajectoryLayout& layout, const observe::Frame& frame);

/// A number a centreline point to colour fibres by.
enum class Quantity { curvature, speed, tension, shear, bending, twist };

std::optional<Quantity> quantity_of(std::string_view name);

/// (P) float32. Curvature is that of the circle through three neighbouring points [1/m]; speed the way from `before`,
/// the frame before, over the time between [m/s], zeros where that is not known; tension [N], shear [N], bending and
/// twist [N m] are the internal ones, shear and bending their absolute values.
std::string quantity_bytes(const observe::TrajectoryLayout& layout, const observe::Frame& frame,
                           const observe::Frame* before, Quantity quantity);

}  // namespace tresse::app::view
