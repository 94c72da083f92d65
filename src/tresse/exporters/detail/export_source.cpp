#include <tresse/exporters/detail/export_source.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include <tresse/base/errors.hpp>
#include <tresse/files/text.hpp>

namespace tresse::exporters::detail {
namespace {

constexpr double largest = std::numeric_limits<float>::max();

void check(const std::vector<double>& values, const char* name, std::size_t frame, const std::string& file) {
  for (const double x : values) {
    // Also false for what is not a number.
    if (std::abs(x) <= largest) continue;
    throw InvalidInput(fmt::format("{}: frame {}: '{}' holds {}; expected numbers that single precision can hold", file,
                                   frame, name, files::number(x)));
  }
}

void check(const observe::Frame& frame, std::size_t index, const std::string& file) {
  check({frame.time}, "time", index, file);
  check(frame.points, "fibres/points", index, file);
  check(frame.force, "fibres/force", index, file);
  check(frame.moment, "fibres/moment", index, file);
  check(frame.curvature, "fibres/curvature", index, file);
  check(frame.root_frame, "fibres/root_frame", index, file);
  check(frame.obstacle_position, "obstacles/position", index, file);
  check(frame.obstacle_frame, "obstacles/frame", index, file);
  check(frame.obstacle_force, "obstacles/force", index, file);
  check(frame.contact_s_a, "contacts/s_a", index, file);
  check(frame.contact_s_b, "contacts/s_b", index, file);
  check(frame.contact_point_a, "contacts/point_a", index, file);
  check(frame.contact_point_b, "contacts/point_b", index, file);
  check(frame.contact_normal, "contacts/normal", index, file);
  check(frame.contact_force, "contacts/force", index, file);
  check(frame.contact_gap, "contacts/gap", index, file);
}

void check(const observe::TrajectoryLayout& layout, const std::string& file) {
  check(layout.radius, "fibres/radius", 0, file);
  check(layout.arc_length, "fibres/arc_length", 0, file);
  check(layout.obstacle_reference, "obstacles/reference", 0, file);
  check(layout.capsule_from, "obstacles/capsules/from", 0, file);
  check(layout.capsule_to, "obstacles/capsules/to", 0, file);
  check(layout.capsule_radius, "obstacles/capsules/radius", 0, file);
  check(layout.plane_point, "obstacles/planes/point", 0, file);
  check(layout.plane_normal, "obstacles/planes/normal", 0, file);
  check(layout.mesh_vertex, "obstacles/meshes/vertex", 0, file);
}

std::vector<FibreSet> sets_of(const observe::TrajectoryLayout& layout) {
  std::vector<FibreSet> out;
  for (const std::string& name : layout.group_names) out.push_back({.name = name, .fibres = {}});
  for (std::size_t i = 0; i < layout.fibre_count(); ++i) {
    FibreSet& set = out[static_cast<std::size_t>(layout.group[i])];
    const auto points = static_cast<std::size_t>(layout.point_offsets[i + 1] - layout.point_offsets[i]);
    if (points < 2) continue;  // nothing to draw
    set.fibres.push_back(i);
    set.points += points;
  }
  std::erase_if(out, [](const FibreSet& set) { return set.fibres.empty(); });
  return out;
}

geometry::Box nothing() {
  const double inf = std::numeric_limits<double>::infinity();
  return {Vector3::Constant(inf), Vector3::Constant(-inf)};
}

void include(geometry::Box& box, const Vector3& lower, const Vector3& upper) {
  box.lower = box.lower.cwiseMin(lower);
  box.upper = box.upper.cwiseMax(upper);
}

std::vector<Pose> poses_of(const observe::Frame& frame, const observe::TrajectoryLayout& layout) {
  std::vector<Pose> out(layout.obstacle_count());
  for (std::size_t i = 0; i < out.size(); ++i) {
    out[i].frame = observe::matrix_at(frame.obstacle_frame, i);
    out[i].position = observe::vector_at(frame.obstacle_position, i) -
                      out[i].frame * observe::vector_at(layout.obstacle_reference, i);
  }
  return out;
}

void include_capsules(geometry::Box& box, const observe::TrajectoryLayout& layout, const std::vector<Pose>& poses) {
  for (std::size_t c = 0; c < layout.capsule_radius.size(); ++c) {
    const Pose& pose = poses[static_cast<std::size_t>(layout.capsule_obstacle[c])];
    const Vector3 reach = Vector3::Constant(layout.capsule_radius[c]);
    for (const std::vector<double>* ends : {&layout.capsule_from, &layout.capsule_to}) {
      const Vector3 end = pose.position + pose.frame * observe::vector_at(*ends, c);
      include(box, end - reach, end + reach);
    }
  }
}

/// A mesh's box over all of its animation, at the reference pose.
struct MeshBox {
  std::size_t obstacle;
  geometry::Box box;
};

std::vector<MeshBox> mesh_boxes(const observe::TrajectoryLayout& layout) {
  std::vector<MeshBox> out;
  for (const observe::LayoutMesh& mesh : observe::meshes_of(layout)) {
    geometry::Box& box = out.emplace_back(MeshBox{mesh.obstacle, nothing()}).box;
    for (std::size_t key = 0; key < mesh.keys; ++key) {
      for (std::size_t v = 0; v < mesh.vertices; ++v) include(box, mesh.vertex(key, v), mesh.vertex(key, v));
    }
  }
  return out;
}

void include_boxes(geometry::Box& box, const std::vector<MeshBox>& boxes, const std::vector<Pose>& poses) {
  for (const MeshBox& one : boxes) {
    const Pose& pose = poses[one.obstacle];
    for (int corner = 0; corner < 8; ++corner) {
      Vector3 x = one.box.lower;
      for (int k = 0; k < 3; ++k) {
        if (((corner >> k) & 1) != 0) x[k] = one.box.upper[k];
      }
      const Vector3 moved = pose.position + pose.frame * x;
      include(box, moved, moved);
    }
  }
}

}  // namespace

geometry::Box box_about(const std::vector<Vector3>& points) {
  geometry::Box out = nothing();
  for (const Vector3& x : points) include(out, x, x);
  return out;
}

ExportSource::ExportSource(const std::filesystem::path& run, const ExportOptions& options)
    : run_(run),
      chosen_(chosen_frames(options.frames, run_.frame_count())),
      progress_(options.progress),
      sets_(sets_of(run_.layout())) {
  check(layout(), run_.file().string());
}

const observe::Frame& ExportSource::read(std::size_t index) {
  auto& place = cache_[index % cache_.size()];
  if (!place || place->first != index) {
    place.emplace(index, run_.frame(index));
    check(place->second, index, run_.file().string());
  }
  return place->second;
}

std::vector<double> ExportSource::velocities(std::size_t i) {
  const std::size_t middle = chosen_[i];
  const observe::Frame& before = read(middle > 0 ? middle - 1 : middle);
  const observe::Frame& after = read(std::min(middle + 1, run_.frame_count() - 1));
  const double time = after.time - before.time;
  std::vector<double> out(after.points.size(), 0.0);
  if (!(time > 0.0)) return out;
  for (std::size_t k = 0; k < out.size(); ++k)
    out[k] = std::clamp((after.points[k] - before.points[k]) / time, -largest, largest);
  return out;
}

ExportOverview survey(ExportSource& source) {
  ExportOverview out;
  out.extent = nothing();
  const std::vector<MeshBox> boxes_of_meshes = mesh_boxes(source.layout());
  for (std::size_t i = 0; i < source.size(); ++i) {
    const observe::Frame& frame = source.frame(i);
    if (i > 0 && !(frame.time > out.times.back())) {
      throw InvalidInput(fmt::format("frame {}: its time {} s does not come after {} s; expected times that increase",
                                     source.number(i), files::number(frame.time), files::number(out.times.back())));
    }
    out.times.push_back(frame.time);
    out.contacts = std::max(out.contacts, frame.contact_count());
    std::vector<geometry::Box>& boxes = out.boxes.emplace_back();
    for (const FibreSet& set : source.sets()) {
      geometry::Box& box = boxes.emplace_back(nothing());
      for (const std::size_t fibre : set.fibres) {
        for (std::size_t p = source.point_begin(fibre); p < source.point_end(fibre); ++p) {
          include(box, observe::vector_at(frame.points, p), observe::vector_at(frame.points, p));
        }
      }
      include(out.extent, box.lower, box.upper);
    }
    for (std::size_t v = 0; 3 * v < frame.surface_vertex.size(); ++v) {
      const Vector3 x = observe::vector_at(frame.surface_vertex, v);
      include(out.extent, x, x);
    }
    out.obstacles.push_back(poses_of(frame, source.layout()));
    include_capsules(out.extent, source.layout(), out.obstacles.back());
    include_boxes(out.extent, boxes_of_meshes, out.obstacles.back());
  }
  if (!(out.extent.lower.x() <= out.extent.upper.x())) out.extent = {Vector3::Constant(-0.5), Vector3::Constant(0.5)};
  return out;
}

}  // namespace tresse::exporters::detail
