#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include <Eigen/Geometry>

#include <tresse/base/errors.hpp>
#include <tresse/exporters/detail/export_shapes.hpp>
#include <tresse/exporters/detail/export_writers.hpp>
#include <tresse/exporters/detail/vtk_piece.hpp>
#include <tresse/files/atomic_file.hpp>
#include <tresse/files/text.hpp>
#include <tresse/record/outputs.hpp>

/// For ParaView: fibres, contacts and obstacles as one data set each and frame.
namespace tresse::exporters::detail {
namespace {

namespace fs = std::filesystem;
using Floats = std::vector<float>;
using Ints = std::vector<std::int32_t>;

/// Of the circle through three points; 0 where two of them coincide.
double circle_curvature(const Vector3& a, const Vector3& b, const Vector3& c) {
  const double lengths = (b - a).norm() * (c - b).norm() * (c - a).norm();
  return lengths > 0.0 ? 2.0 * (b - a).cross(c - b).norm() / lengths : 0.0;
}

void put(Floats& into, const std::vector<double>& values, std::size_t first, std::size_t count) {
  for (std::size_t k = first; k < first + count; ++k) into.push_back(static_cast<float>(values[k]));
}

VtkPiece fibres_piece(ExportSource& source, std::size_t i) {
  const observe::TrajectoryLayout& layout = source.layout();
  const std::vector<double> speeds = source.velocities(i);
  const observe::Frame& frame = source.frame(i);
  VtkPiece out;
  Floats radius, s, tension, shear, moment, curvature, velocity;
  Ints fibre_of_point, group_of_point, fibre_of_cell, group_of_cell;
  std::int64_t next = 0;
  for (const FibreSet& set : source.sets()) {
    for (const std::size_t fibre : set.fibres) {
      const std::size_t begin = source.point_begin(fibre), end = source.point_end(fibre);
      for (std::size_t p = begin; p < end; ++p) {
        put(out.points, frame.points, 3 * p, 3);
        put(radius, layout.radius, p, 1);
        put(s, layout.arc_length, p, 1);
        put(tension, frame.force, 3 * p, 1);
        put(shear, frame.force, 3 * p + 1, 2);
        put(moment, frame.moment, 3 * p, 3);
        put(velocity, speeds, 3 * p, 3);
        // The ends take their neighbour's.
        const std::size_t middle = end - begin < 3 ? begin : std::min(std::max(p, begin + 1), end - 2);
        curvature.push_back(end - begin < 3
                                ? 0.0F
                                : static_cast<float>(circle_curvature(observe::vector_at(frame.points, middle - 1),
                                                                      observe::vector_at(frame.points, middle),
                                                                      observe::vector_at(frame.points, middle + 1))));
        fibre_of_point.push_back(static_cast<std::int32_t>(fibre));
        group_of_point.push_back(layout.group[fibre]);
        out.connectivity.push_back(next++);
      }
      out.ends.push_back(next);
      fibre_of_cell.push_back(static_cast<std::int32_t>(fibre));
      group_of_cell.push_back(layout.group[fibre]);
    }
  }
  out.point_data = {{"radius", 1, radius},     {"arc_length", 1, s},         {"tension", 1, tension},
                    {"shear", 2, shear},       {"moment", 3, moment},        {"curvature", 1, curvature},
                    {"velocity", 3, velocity}, {"fibre", 1, fibre_of_point}, {"group", 1, group_of_point}};
  out.cell_data = {{"fibre", 1, fibre_of_cell}, {"group", 1, group_of_cell}};
  return out;
}

VtkPiece contacts_piece(const observe::Frame& frame) {
  const std::size_t count = frame.contact_count();
  VtkPiece out;
  out.cell = VtkPiece::Cell::vertex;
  put(out.points, frame.contact_point_a, 0, 3 * count);
  Floats normal_force;
  Ints state;
  for (std::size_t k = 0; k < count; ++k) {
    out.connectivity.push_back(static_cast<std::int64_t>(k));
    out.ends.push_back(static_cast<std::int64_t>(k + 1));
    normal_force.push_back(static_cast<float>(
        observe::vector_at(frame.contact_force, k).dot(observe::vector_at(frame.contact_normal, k))));
    state.push_back(frame.contact_state[k]);
  }
  const auto floats = [](const std::vector<double>& values) {
    Floats converted;
    put(converted, values, 0, values.size());
    return converted;
  };
  out.point_data = {{"point_b", 3, floats(frame.contact_point_b)}, {"normal", 3, floats(frame.contact_normal)},
                    {"force", 3, floats(frame.contact_force)},     {"normal_force", 1, normal_force},
                    {"gap", 1, floats(frame.contact_gap)},         {"state", 1, state},
                    {"fibre_a", 1, frame.contact_fibre_a},         {"fibre_b", 1, frame.contact_fibre_b},
                    {"obstacle_b", 1, frame.contact_obstacle_b},   {"s_a", 1, floats(frame.contact_s_a)},
                    {"s_b", 1, floats(frame.contact_s_b)}};
  return out;
}

VtkPiece obstacles_piece(const std::vector<TriangleMesh>& meshes, const std::vector<Pose>& poses,
                         const observe::Frame& frame) {
  VtkPiece out;
  out.cell = VtkPiece::Cell::triangle;
  Ints obstacle;
  Floats force;
  for (std::size_t o = 0; o < meshes.size(); ++o) {
    const auto first = static_cast<std::int64_t>(out.points.size() / 3);
    for (const Vector3& x : meshes[o].points) {
      for (const double value : Vector3(poses[o].position + poses[o].frame * x))
        out.points.push_back(static_cast<float>(value));
    }
    for (const auto& triangle : meshes[o].triangles) {
      for (const std::uint32_t corner : triangle) out.connectivity.push_back(first + corner);
      out.ends.push_back(static_cast<std::int64_t>(out.connectivity.size()));
      obstacle.push_back(static_cast<std::int32_t>(o));
      put(force, frame.obstacle_force, 3 * o, 3);
    }
  }
  out.cell_data = {{"obstacle", 1, obstacle}, {"force", 3, force}};
  return out;
}

VtkPiece surfaces_piece(const std::vector<observe::LayoutSurface>& surfaces, const observe::Frame& frame) {
  VtkPiece out;
  out.cell = VtkPiece::Cell::triangle;
  put(out.points, frame.surface_vertex, 0, frame.surface_vertex.size());
  Ints of_cell;
  for (std::size_t s = 0; s < surfaces.size(); ++s) {
    const observe::LayoutSurface& surface = surfaces[s];
    for (std::size_t f = 0; f < surface.face.size(); f += 3) {
      for (std::size_t k = f; k < f + 3; ++k)
        out.connectivity.push_back(static_cast<std::int64_t>(surface.first) + surface.face[k]);
      out.ends.push_back(static_cast<std::int64_t>(out.connectivity.size()));
      of_cell.push_back(static_cast<std::int32_t>(s));
    }
  }
  out.cell_data = {{"surface", 1, of_cell}};
  return out;
}

/// The files of one kind of data set, and the index that gathers them.
class Sequence {
 public:
  Sequence(const ExportJob& job, const char* kind)
      : kind_(kind), hdf_(job.options.format == "vtkhdf"), output_(job.output), size_(job.source.size()) {
    if (hdf_ && std::string_view(kind) != "fibres")
      output_ = output_.parent_path() / (output_.stem().string() + "_" + kind + ".vtkhdf");
  }

  void write(std::size_t number, VtkPiece piece, double time) {
    piece.time = time;
    const fs::path file = hdf_ ? numbered(output_, number, size_)
                               : output_.parent_path() / output_.stem() / fmt::format("{}_{:04}.vtp", kind_, number);
    if (hdf_) write_vtkhdf(file, piece);
    if (!hdf_) write_vtp(file, piece);
    entries_.emplace_back(time, file);
  }

  /// Lines of a .pvd.
  std::string collection(int part) const {
    std::string out;
    for (const auto& [time, file] : entries_) {
      out += fmt::format("<DataSet timestep=\"{}\" part=\"{}\" name=\"{}\" file=\"{}/{}\"/>\n", time, part, kind_,
                         escaped(output_.stem().string()), file.filename().string());
    }
    return out;
  }

  /// Writes ParaView's index of a series of files, if they are more than one. The file to open.
  fs::path write_series() const {
    if (entries_.size() == 1) return entries_.front().second;
    nlohmann::json files = nlohmann::json::array();
    for (const auto& [time, file] : entries_) files.push_back({{"name", file.filename().string()}, {"time", time}});
    fs::path index = output_.string() + ".series";
    files::write_atomically(index, nlohmann::json{{"file-series-version", "1.0"}, {"files", files}}.dump(
                                       1, ' ', false, nlohmann::json::error_handler_t::replace) +
                                       "\n");
    return index;
  }

 private:
  static std::string escaped(const std::string& text) {
    std::string out;
    for (const char c : text) {
      if (c == '&') out += "&amp;";
      if (c == '<') out += "&lt;";
      if (c == '"') out += "&quot;";
      if (c != '&' && c != '<' && c != '"') out += c;
    }
    return out;
  }

  std::string kind_;
  bool hdf_;
  fs::path output_;
  std::size_t size_;
  std::vector<std::pair<double, fs::path>> entries_;
};

}  // namespace

Files export_vtk(const ExportJob& job) {
  ExportSource& source = job.source;
  const observe::TrajectoryLayout& layout = source.layout();
  const ExportOverview overview = survey(source);
  const bool hdf = job.options.format == "vtkhdf";
  const bool obstacles = job.options.obstacles && layout.obstacle_count() > 0;
  ObstacleSurfaces surfaces(layout, overview);
  if (!hdf) record::make_folder(job.output.parent_path() / job.output.stem());

  Sequence fibres(job, "fibres"), contacts(job, "contacts"), bodies(job, "obstacles"), sheets(job, "surfaces");
  const std::vector<observe::LayoutSurface> of_layout = observe::surfaces_of(layout);
  for (std::size_t i = 0; i < source.size(); ++i) {
    const double time = overview.times[i];
    const std::size_t number = source.number(i);
    fibres.write(number, fibres_piece(source, i), time);
    if (job.options.contacts) contacts.write(number, contacts_piece(source.frame(i)), time);
    if (!of_layout.empty()) sheets.write(number, surfaces_piece(of_layout, source.frame(i)), time);
    if (obstacles) bodies.write(number, obstacles_piece(surfaces.at(i), overview.obstacles[i], source.frame(i)), time);
  }
  if (hdf) {
    Files files{fibres.write_series()};
    if (job.options.contacts) files.push_back(contacts.write_series());
    if (obstacles) files.push_back(bodies.write_series());
    if (!of_layout.empty()) files.push_back(sheets.write_series());
    return files;
  }
  std::string index = "<?xml version=\"1.0\"?>\n<VTKFile type=\"Collection\" version=\"0.1\">\n<Collection>\n";
  index += fibres.collection(0);
  if (job.options.contacts) index += contacts.collection(1);
  if (obstacles) index += bodies.collection(2);
  if (!of_layout.empty()) index += sheets.collection(3);
  files::write_atomically(job.output, index + "</Collection>\n</VTKFile>\n");
  return {job.output};
}

}  // namespace tresse::exporters::detail
