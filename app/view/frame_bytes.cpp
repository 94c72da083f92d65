#include "view/frame_bytes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>

#include <tresse/base/errors.hpp>
#include <tresse/base/types.hpp>
#include <tresse/observe/layout_meshes.hpp>

namespace tresse::app::view {
namespace {

static_assert(std::endian::native == std::endian::little, "the page reads little-endian numbers");

template <class T, class From>
void put(std::string& out, const From& value) {
  const T converted = static_cast<T>(value);
  out.append(reinterpret_cast<const char*>(&converted), sizeof(T));
}

template <class T, class From>
void put_all(std::string& out, const std::vector<From>& values) {
  for (const From& value : values) put<T>(out, value);
}

using Row = Eigen::Map<const Vector3>;

Row row(const std::vector<double>& values, std::size_t index) { return Row(values.data() + 3 * index); }

/// Index of the point of a fibre that is nearest along its arc.
std::size_t point_at(const observe::TrajectoryLayout& layout, std::size_t fibre, double s) {
  const auto begin = layout.arc_length.begin() + layout.point_offsets[fibre];
  const auto end = layout.arc_length.begin() + layout.point_offsets[fibre + 1];
  const auto at = std::lower_bound(begin, end, s);
  return static_cast<std::size_t>((at == end ? end - 1 : at) - layout.arc_length.begin());
}

double fibre_radius(const observe::TrajectoryLayout& layout, std::int32_t fibre, double s) {
  const auto index = static_cast<std::size_t>(fibre);
  if (fibre < 0 || index >= layout.fibre_count() || layout.point_offsets[index] == layout.point_offsets[index + 1])
    return 0.0;
  return layout.radius[point_at(layout, index, s)];
}

/// Midway between the two surfaces: both centrelines may be deep below them.
Vector3 contact_place(const observe::TrajectoryLayout& layout, const observe::Frame& frame, std::size_t k) {
  const Row a = row(frame.contact_point_a, k);
  const Row b = row(frame.contact_point_b, k);
  const Row normal = row(frame.contact_normal, k);
  const double gap = frame.contact_gap[k];
  double radius = fibre_radius(layout, frame.contact_fibre_a[k], frame.contact_s_a[k]);
  if (frame.contact_fibre_a[k] < 0) {
    radius = (b - a).norm() - gap - fibre_radius(layout, frame.contact_fibre_b[k], frame.contact_s_b[k]);
  }
  return a + (radius + 0.5 * gap) * normal;
}

/// Of the circle through three points. [1/m]
double circle_curvature(const Vector3& p, const Vector3& q, const Vector3& r) {
  const Vector3 u = q - p;
  const Vector3 v = r - q;
  const double sides = u.norm() * v.norm() * (u + v).norm();
  return sides > 0.0 ? 2.0 * u.cross(v).norm() / sides : 0.0;
}

void put_curvatures(std::string& out, const observe::TrajectoryLayout& layout, const observe::Frame& frame) {
  for (std::size_t fibre = 0; fibre < layout.fibre_count(); ++fibre) {
    const auto begin = static_cast<std::size_t>(layout.point_offsets[fibre]);
    const auto end = static_cast<std::size_t>(layout.point_offsets[fibre + 1]);
    for (std::size_t i = begin; i < end; ++i) {
      if (end - begin < 3) {
        put<float>(out, 0.0);
        continue;
      }
      const std::size_t middle = std::clamp(i, begin + 1, end - 2);  // an end has its neighbour's
      put<float>(out, circle_curvature(row(frame.points, middle - 1), row(frame.points, middle),
                                       row(frame.points, middle + 1)));
    }
  }
}

void put_speeds(std::string& out, const observe::Frame& frame, const observe::Frame* before) {
  const std::size_t points = frame.points.size() / 3;
  const double elapsed = before == nullptr ? 0.0 : frame.time - before->time;
  for (std::size_t i = 0; i < points; ++i) {
    put<float>(out, elapsed > 0.0 ? (row(frame.points, i) - row(before->points, i)).norm() / elapsed : 0.0);
  }
}

constexpr std::array<std::string_view, 6> quantity_names = {"curvature", "speed",   "tension",
                                                            "shear",     "bending", "twist"};

}  // namespace

std::string layout_bytes(const observe::TrajectoryLayout& layout) {
  std::string out;
  for (const std::size_t count : {layout.fibre_count(), layout.point_count(), layout.obstacle_count(),
                                  layout.capsule_radius.size(), layout.plane_obstacle.size()}) {
    put<std::uint32_t>(out, count);
  }
  put_all<std::int32_t>(out, layout.point_offsets);
  put_all<std::int32_t>(out, layout.group);
  put_all<float>(out, layout.radius);
  put_all<float>(out, layout.arc_length);
  put_all<float>(out, layout.obstacle_reference);
  put_all<float>(out, layout.capsule_from);
  put_all<float>(out, layout.capsule_to);
  put_all<float>(out, layout.capsule_radius);
  put_all<std::int32_t>(out, layout.capsule_obstacle);
  put_all<float>(out, layout.plane_point);
  put_all<float>(out, layout.plane_normal);
  put_all<std::int32_t>(out, layout.plane_obstacle);
  put<std::uint32_t>(out, layout.surface_count());
  put<std::uint32_t>(out, layout.surface_face.size() / 3);
  put_all<std::int32_t>(out, layout.surface_vertices);
  put_all<std::int32_t>(out, layout.surface_faces);
  put_all<std::int32_t>(out, layout.surface_face);
  return out;
}

std::string meshes_bytes(const observe::TrajectoryLayout& layout) {
  std::string out;
  put<std::uint32_t>(out, layout.mesh_obstacle.size());
  put<std::uint32_t>(out, layout.mesh_face.size() / 3);
  put_all<double>(out, layout.mesh_rate);
  put_all<std::int32_t>(out, layout.mesh_obstacle);
  put_all<std::int32_t>(out, layout.mesh_faces);
  put_all<std::int32_t>(out, layout.mesh_vertices);
  put_all<std::int32_t>(out, layout.mesh_frames);
  put_all<std::int32_t>(out, layout.mesh_face);
  return out;
}

std::string vertices_bytes(const observe::TrajectoryLayout& layout, std::size_t mesh, std::size_t key) {
  const std::vector<observe::LayoutMesh> meshes = observe::meshes_of(layout);
  require(mesh < meshes.size() && key < meshes[mesh].keys,
          [&] { return fmt::format("no frame {} of a mesh {}", key, mesh); });
  std::string out;
  const std::size_t count = 3 * meshes[mesh].vertices;
  out.reserve(sizeof(float) * count);
  for (const double x : meshes[mesh].places.subspan(key * count, count)) put<float>(out, x);
  return out;
}

std::string frame_bytes(const observe::TrajectoryLayout& layout, const observe::Frame& frame) {
  const std::size_t contacts = frame.contact_count();
  std::string out;
  out.reserve(32 + 12 * layout.point_count() + 60 * layout.obstacle_count() + 64 * contacts +
              4 * frame.surface_vertex.size());
  put<double>(out, frame.time);
  put<double>(out, static_cast<double>(frame.step));
  put<std::uint32_t>(out, layout.point_count());
  put<std::uint32_t>(out, layout.obstacle_count());
  put<std::uint32_t>(out, contacts);
  put<std::uint32_t>(out, 0);
  put_all<float>(out, frame.points);
  put_all<float>(out, frame.obstacle_position);
  put_all<float>(out, frame.obstacle_frame);
  put_all<float>(out, frame.obstacle_force);
  for (std::size_t k = 0; k < contacts; ++k) {
    for (const double x : contact_place(layout, frame, k)) put<float>(out, x);
  }
  put_all<float>(out, frame.contact_normal);
  put_all<float>(out, frame.contact_force);
  put_all<float>(out, frame.contact_gap);
  put_all<float>(out, frame.contact_s_a);
  put_all<float>(out, frame.contact_s_b);
  put_all<std::int32_t>(out, frame.contact_fibre_a);
  put_all<std::int32_t>(out, frame.contact_fibre_b);
  put_all<std::int32_t>(out, frame.contact_obstacle_b);
  put_all<std::int32_t>(out, frame.contact_state);
  put<std::uint32_t>(out, frame.surface_vertex.size() / 3);
  put_all<float>(out, frame.surface_vertex);
  return out;
}

std::optional<Quantity> quantity_of(std::string_view name) {
  const auto at = std::find(quantity_names.begin(), quantity_names.end(), name);
  if (at == quantity_names.end()) return std::nullopt;
  return static_cast<Quantity>(at - quantity_names.begin());
}

std::string quantity_bytes(const observe::TrajectoryLayout& layout, const observe::Frame& frame,
                           const observe::Frame* before, Quantity quantity) {
  std::string out;
  out.reserve(4 * layout.point_count());
  if (quantity == Quantity::curvature) {
    put_curvatures(out, layout, frame);
    return out;
  }
  if (quantity == Quantity::speed) {
    put_speeds(out, frame, before);
    return out;
  }
  const bool force = quantity == Quantity::tension || quantity == Quantity::shear;
  const std::vector<double>& values = force ? frame.force : frame.moment;
  const bool along = quantity == Quantity::tension || quantity == Quantity::twist;
  for (std::size_t i = 0; i < layout.point_count(); ++i) {
    const Row value = row(values, i);
    put<float>(out, along ? value[0] : std::hypot(value[1], value[2]));
  }
  return out;
}

}  // namespace tresse::app::view
