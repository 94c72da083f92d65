#include <fmt/format.h>

#include <tresse/exporters/detail/export_shapes.hpp>
#include <tresse/exporters/detail/export_writers.hpp>
#include <tresse/files/atomic_file.hpp>

/// Wavefront OBJ, a file a frame: fibres as polylines, obstacles as triangles.
namespace tresse::exporters::detail {
namespace {

void append_vertex(std::string& out, const Vector3& x) {
  out += 'v';
  for (const double value : x) {
    out += ' ';
    append_float(out, value);
  }
  out += '\n';
}

/// `next`: number of the next vertex in the file.
void append_fibres(std::string& out, const ExportJob& job, const FibreSet& set, const observe::Frame& frame,
                   std::size_t& next) {
  for (const std::size_t fibre : set.fibres) {
    const std::size_t begin = job.source.point_begin(fibre), end = job.source.point_end(fibre);
    for (std::size_t p = begin; p < end; ++p) append_vertex(out, observe::vector_at(frame.points, p));
    const std::size_t last = next + (end - begin) - 1;
    if (job.options.polylines) {
      out += 'l';
      for (std::size_t v = next; v <= last; ++v) fmt::format_to(std::back_inserter(out), " {}", v);
      out += '\n';
    } else {
      for (std::size_t v = next; v < last; ++v) fmt::format_to(std::back_inserter(out), "l {} {}\n", v, v + 1);
    }
    next = last + 1;
  }
}

void append_mesh(std::string& out, const TriangleMesh& mesh, const Pose& pose, std::size_t& next) {
  for (const Vector3& x : mesh.points) append_vertex(out, pose.position + pose.frame * x);
  for (const auto& t : mesh.triangles)
    fmt::format_to(std::back_inserter(out), "f {} {} {}\n", next + t[0], next + t[1], next + t[2]);
  next += mesh.points.size();
}

void append_surface(std::string& out, const observe::LayoutSurface& surface, const observe::Frame& frame,
                    std::size_t& next) {
  for (std::size_t v = 0; v < surface.vertices; ++v) append_vertex(out, surface.vertex(frame, v));
  for (std::size_t f = 0; f < surface.face.size(); f += 3) {
    const auto corner = [&](std::size_t k) { return next + static_cast<std::size_t>(surface.face[f + k]); };
    fmt::format_to(std::back_inserter(out), "f {} {} {}\n", corner(0), corner(1), corner(2));
  }
  next += surface.vertices;
}

}  // namespace

Files export_obj(const ExportJob& job) {
  ExportSource& source = job.source;
  const observe::TrajectoryLayout& layout = source.layout();
  const ExportOverview overview = survey(source);
  std::vector<std::string> names;
  for (const FibreSet& set : source.sets()) names.push_back(set.name);
  names.insert(names.end(), layout.obstacle_names.begin(), layout.obstacle_names.end());
  names.insert(names.end(), layout.surface_names.begin(), layout.surface_names.end());
  names = plain_names(names);
  const std::vector<observe::LayoutSurface> sheets = observe::surfaces_of(layout);
  ObstacleSurfaces surfaces(layout, overview);

  Files files;
  for (std::size_t i = 0; i < source.size(); ++i) {
    std::string out = fmt::format("# tresse: frame {}, t = {} s; metres, z up\n", source.number(i), overview.times[i]);
    std::size_t next = 1;
    for (std::size_t g = 0; g < source.sets().size(); ++g) {
      out += fmt::format("o {}\n", names[g]);
      append_fibres(out, job, source.sets()[g], source.frame(i), next);
    }
    const std::vector<TriangleMesh>& bodies = surfaces.at(i);
    for (std::size_t o = 0; job.options.obstacles && o < bodies.size(); ++o) {
      out += fmt::format("o {}\n", names[source.sets().size() + o]);
      append_mesh(out, bodies[o], overview.obstacles[i][o], next);
    }
    for (std::size_t s = 0; s < sheets.size(); ++s) {
      out += fmt::format("o {}\n", names[source.sets().size() + layout.obstacle_count() + s]);
      append_surface(out, sheets[s], source.frame(i), next);
    }
    files.push_back(numbered(job.output, source.number(i), source.size()));
    files::write_atomically(files.back(), out);
  }
  return files;
}

}  // namespace tresse::exporters::detail
