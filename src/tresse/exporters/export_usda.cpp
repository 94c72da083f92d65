#include <fmt/format.h>

#include <algorithm>

#include <Eigen/Geometry>

#include <tresse/exporters/detail/export_file.hpp>
#include <tresse/exporters/detail/export_shapes.hpp>
#include <tresse/exporters/detail/export_writers.hpp>
#include <tresse/math/vectors.hpp>

/// USD as text: BasisCurves a fibre group, an Xform an obstacle, Points for contacts.
namespace tresse::exporters::detail {
namespace {

/// Where the samples of a group, then those of the contacts, wait in the spool.
enum GroupChannel { points_of, velocities_of, extents_of, group_channels };
enum ContactChannel { contact_points, contact_forces, contact_normals, contact_gaps, contact_states, contact_channels };

void append_vector(std::string& out, double x, double y, double z) {
  out += '(';
  append_float(out, x);
  out += ", ";
  append_float(out, y);
  out += ", ";
  append_float(out, z);
  out += ')';
}

void append_vector(std::string& out, const Vector3& v) { append_vector(out, v.x(), v.y(), v.z()); }

/// Items in brackets with commas; `item(out, i)` writes one.
template <class Item>
std::string array(std::size_t count, const Item& item) {
  std::string out = "[";
  for (std::size_t i = 0; i < count; ++i) {
    if (i > 0) out += ", ";
    item(out, i);
  }
  return out + ']';
}

/// USD's vectors are rows: the transpose of `pose`.
std::string matrix(const Pose& pose) {
  std::string out = "( ";
  for (int i = 0; i < 3; ++i) {
    const Vector3 axis = pose.frame.col(i);
    out += fmt::format("({}, {}, {}, 0), ", axis.x(), axis.y(), axis.z());
  }
  const Vector3& x = pose.position;
  return out + fmt::format("({}, {}, {}, 1) )", x.x(), x.y(), x.z());
}

std::string text(const std::string& name) {
  std::string out = "\"";
  for (const char c : name) {
    if (c == '"' || c == '\\') out += '\\';
    out += static_cast<unsigned char>(c) < 0x20 ? ' ' : c;
  }
  return out + '"';
}

class UsdaWriter {
 public:
  explicit UsdaWriter(const ExportJob& job)
      : job_(job),
        source_(job.source),
        layout_(job.source.layout()),
        overview_(survey(job.source)),
        meshes_(observe::meshes_of(layout_)),
        surfaces_(observe::surfaces_of(layout_)),
        file_(job.output),
        spool_(job.output, group_channels * job.source.sets().size() + contact_channels) {
    std::vector<std::string> names;
    for (const FibreSet& set : source_.sets()) names.push_back(set.name);
    names.insert(names.end(), layout_.obstacle_names.begin(), layout_.obstacle_names.end());
    names.insert(names.end(), layout_.surface_names.begin(), layout_.surface_names.end());
    names.emplace_back("contacts");
    names_ = plain_names(names);
  }

  void write() {
    for (std::size_t i = 0; i < source_.size(); ++i) spool_frame(i);
    put_header();
    for (std::size_t g = 0; g < source_.sets().size(); ++g) put_group(g);
    for (std::size_t o = 0; job_.options.obstacles && o < layout_.obstacle_count(); ++o) put_obstacle(o);
    for (std::size_t s = 0; s < surfaces_.size(); ++s) put_surface(s);
    if (job_.options.contacts) put_contacts();
    file_.append("}\n");
    file_.finish();
  }

 private:
  std::string code(std::size_t i) const {
    return fmt::format("{}", overview_.times[i] * job_.options.time_codes_per_second);
  }

  void sample(std::size_t channel, std::size_t i, const std::string& value) {
    spool_.append(channel, fmt::format("            {}: {},\n", code(i), value));
  }

  /// The vectors of a set's points.
  std::string set_array(const FibreSet& set, const std::vector<double>& values) const {
    std::string out = "[";
    for (const std::size_t fibre : set.fibres) {
      for (std::size_t p = source_.point_begin(fibre); p < source_.point_end(fibre); ++p) {
        if (out.size() > 1) out += ", ";
        append_vector(out, values[3 * p], values[3 * p + 1], values[3 * p + 2]);
      }
    }
    return out + ']';
  }

  void spool_frame(std::size_t i) {
    const std::vector<double> velocities = source_.velocities(i);
    const observe::Frame& frame = source_.frame(i);
    for (std::size_t g = 0; g < source_.sets().size(); ++g) {
      const FibreSet& set = source_.sets()[g];
      const std::size_t channel = group_channels * g;
      sample(channel + points_of, i, set_array(set, frame.points));
      sample(channel + velocities_of, i, set_array(set, velocities));
      const geometry::Box box = overview_.boxes[i][g].grown(largest_radius(set));
      sample(channel + extents_of, i,
             array(2, [&](std::string& out, std::size_t k) { append_vector(out, k == 0 ? box.lower : box.upper); }));
    }
    if (job_.options.contacts) spool_contacts(i, frame);
  }

  void spool_contacts(std::size_t i, const observe::Frame& frame) {
    const std::size_t count = frame.contact_count();
    const std::size_t first = group_channels * source_.sets().size();
    const auto vectors = [&](const std::vector<double>& values) {
      return array(count, [&](std::string& out, std::size_t k) { append_vector(out, observe::vector_at(values, k)); });
    };
    sample(first + contact_points, i, vectors(frame.contact_point_a));
    sample(first + contact_forces, i, vectors(frame.contact_force));
    sample(first + contact_normals, i, vectors(frame.contact_normal));
    sample(first + contact_gaps, i,
           array(count, [&](std::string& out, std::size_t k) { append_float(out, frame.contact_gap[k]); }));
    sample(first + contact_states, i,
           array(count, [&](std::string& out, std::size_t k) { out += fmt::format("{}", frame.contact_state[k]); }));
  }

  double largest_radius(const FibreSet& set) const {
    double out = 0.0;
    for (const std::size_t fibre : set.fibres) {
      for (std::size_t p = source_.point_begin(fibre); p < source_.point_end(fibre); ++p)
        out = std::max(out, layout_.radius[p]);
    }
    return out;
  }

  void put_header() {
    const double rate = job_.options.time_codes_per_second;
    file_.append(
        fmt::format("#usda 1.0\n(\n    defaultPrim = \"run\"\n    metersPerUnit = 1\n    upAxis = \"Z\"\n"
                    "    timeCodesPerSecond = {0}\n    framesPerSecond = {0}\n"
                    "    startTimeCode = {1}\n    endTimeCode = {2}\n)\n\ndef Xform \"run\"\n{{\n",
                    rate, code(0), code(source_.size() - 1)));
  }

  void put_samples(std::size_t channel, const char* attribute) {
    file_.append(fmt::format("        {}.timeSamples = {{\n", attribute));
    spool_.copy(channel, file_);
    file_.append("        }\n");
  }

  void put_group(std::size_t g) {
    const FibreSet& set = source_.sets()[g];
    file_.append(fmt::format("    def BasisCurves \"{}\"\n    {{\n", names_[g]));
    file_.append(fmt::format("        custom string tresse:name = {}\n", text(set.name)));
    file_.append("        uniform token type = \"linear\"\n        uniform token wrap = \"nonperiodic\"\n");
    file_.append("        color3f[] primvars:displayColor = [(0.33, 0.2, 0.12)]\n");
    const std::string counts = array(set.fibres.size(), [&](std::string& out, std::size_t k) {
      out += fmt::format("{}", source_.point_end(set.fibres[k]) - source_.point_begin(set.fibres[k]));
    });
    file_.append(fmt::format("        int[] curveVertexCounts = {}\n", counts));
    std::string widths = "[";
    for (const std::size_t fibre : set.fibres) {
      for (std::size_t p = source_.point_begin(fibre); p < source_.point_end(fibre); ++p) {
        if (widths.size() > 1) widths += ", ";
        append_float(widths, 2.0 * layout_.radius[p]);
      }
    }
    file_.append(
        fmt::format("        float[] widths = {}] (\n            interpolation = \"vertex\"\n        )\n", widths));
    put_samples(group_channels * g + points_of, "point3f[] points");
    put_samples(group_channels * g + velocities_of, "vector3f[] velocities");
    put_samples(group_channels * g + extents_of, "float3[] extent");
    file_.append("    }\n");
  }

  void put_obstacle(std::size_t o) {
    file_.append(fmt::format("    def Xform \"{}\"\n    {{\n        custom string tresse:name = {}\n",
                             names_[source_.sets().size() + o], text(layout_.obstacle_names[o])));
    file_.append("        matrix4d xformOp:transform.timeSamples = {\n");
    for (std::size_t i = 0; i < source_.size(); ++i)
      file_.append(fmt::format("            {}: {},\n", code(i), matrix(overview_.obstacles[i][o])));
    file_.append("        }\n        uniform token[] xformOpOrder = [\"xformOp:transform\"]\n");
    for (std::size_t c = 0; c < layout_.capsule_radius.size(); ++c) {
      if (static_cast<std::size_t>(layout_.capsule_obstacle[c]) == o) put_capsule(c);
    }
    for (std::size_t q = 0; q < layout_.plane_obstacle.size(); ++q) {
      if (static_cast<std::size_t>(layout_.plane_obstacle[q]) == o) put_plane(q);
    }
    for (std::size_t m = 0; m < meshes_.size(); ++m) {
      if (meshes_[m].obstacle == o) put_mesh(m);
    }
    file_.append("    }\n");
  }

  void put_capsule(std::size_t c) {
    const Vector3 from = observe::vector_at(layout_.capsule_from, c), to = observe::vector_at(layout_.capsule_to, c);
    const double radius = layout_.capsule_radius[c], height = math::safe_norm(to - from);
    Pose pose{.position = 0.5 * (from + to), .frame = Matrix3::Identity()};
    Vector3 upper = Vector3::Constant(radius);
    if (height > 0.0) {
      pose.frame.col(2) = (to - from) / height;
      const auto [u, v] = across(pose.frame.col(2));
      pose.frame.col(0) = u;
      pose.frame.col(1) = v;
      upper.z() += 0.5 * height;
    }
    std::string extent;
    append_vector(extent, -upper);
    extent += ", ";
    append_vector(extent, upper);
    file_.append(fmt::format("        def {} \"capsule_{}\"\n        {{\n", height > 0.0 ? "Capsule" : "Sphere", c));
    if (height > 0.0)
      file_.append(fmt::format("            uniform token axis = \"Z\"\n            double height = {}\n", height));
    file_.append(fmt::format("            double radius = {}\n            float3[] extent = [{}]\n", radius, extent));
    file_.append(
        fmt::format("            matrix4d xformOp:transform = {}\n"
                    "            uniform token[] xformOpOrder = [\"xformOp:transform\"]\n        }}\n",
                    matrix(pose)));
  }

  void put_plane(std::size_t q) {
    const auto corners = plane_corners(layout_, q, overview_);
    const std::string points =
        array(corners.size(), [&](std::string& out, std::size_t k) { append_vector(out, corners[k]); });
    file_.append(
        fmt::format("        def Mesh \"plane_{}\"\n        {{\n            int[] faceVertexCounts = [4]\n"
                    "            int[] faceVertexIndices = [0, 1, 2, 3]\n            point3f[] points = {}\n"
                    "            uniform token subdivisionScheme = \"none\"\n        }}\n",
                    q, points));
  }

  void put_mesh(std::size_t m) {
    const observe::LayoutMesh& mesh = meshes_[m];
    file_.append(
        fmt::format("        def Mesh \"mesh_{}\"\n        {{\n            uniform bool doubleSided = 1\n"
                    "            uniform token subdivisionScheme = \"none\"\n",
                    m));
    file_.append(fmt::format("            int[] faceVertexCounts = {}\n",
                             array(mesh.faces(), [](std::string& out, std::size_t) { out += '3'; })));
    file_.append(fmt::format("            int[] faceVertexIndices = {}\n",
                             array(mesh.face.size(), [&](std::string& out, std::size_t k) {
                               fmt::format_to(std::back_inserter(out), "{}", mesh.face[k]);
                             })));
    put_of_mesh(mesh, "point3f[] points", [](const std::vector<Vector3>& x) {
      return array(x.size(), [&](std::string& out, std::size_t v) { append_vector(out, x[v]); });
    });
    put_of_mesh(mesh, "float3[] extent", [](const std::vector<Vector3>& x) {
      const geometry::Box box = box_about(x);
      return array(2, [&](std::string& out, std::size_t k) { append_vector(out, k == 0 ? box.lower : box.upper); });
    });
    file_.append("        }\n");
  }

  /// What `text` makes of a mesh's vertices: once, or, where these move, in every frame.
  template <class Text>
  void put_of_mesh(const observe::LayoutMesh& mesh, const char* attribute, const Text& text) {
    if (!mesh.moves()) {
      file_.append(fmt::format("            {} = {}\n", attribute, text(observe::vertices_at(mesh, 0.0))));
      return;
    }
    file_.append(fmt::format("            {}.timeSamples = {{\n", attribute));
    for (std::size_t i = 0; i < source_.size(); ++i)
      file_.append(
          fmt::format("                {}: {},\n", code(i), text(observe::vertices_at(mesh, overview_.times[i]))));
    file_.append("            }\n");
  }

  void put_surface(std::size_t s) {
    const observe::LayoutSurface& surface = surfaces_[s];
    file_.append(
        fmt::format("    def Mesh \"{}\"\n    {{\n        uniform bool doubleSided = 1\n"
                    "        uniform token subdivisionScheme = \"none\"\n",
                    names_[source_.sets().size() + layout_.obstacle_count() + s]));
    file_.append(fmt::format("        int[] faceVertexCounts = {}\n",
                             array(surface.face.size() / 3, [](std::string& out, std::size_t) { out += '3'; })));
    file_.append(fmt::format("        int[] faceVertexIndices = {}\n",
                             array(surface.face.size(), [&](std::string& out, std::size_t k) {
                               fmt::format_to(std::back_inserter(out), "{}", surface.face[k]);
                             })));
    file_.append("        point3f[] points.timeSamples = {\n");
    for (std::size_t i = 0; i < source_.size(); ++i) {
      const observe::Frame& frame = source_.frame(i);
      file_.append(
          fmt::format("            {}: {},\n", code(i), array(surface.vertices, [&](std::string& out, std::size_t v) {
                        append_vector(out, surface.vertex(frame, v));
                      })));
    }
    file_.append("        }\n    }\n");
  }

  void put_contacts() {
    const std::size_t first = group_channels * source_.sets().size();
    file_.append(fmt::format("    def Points \"{}\"\n    {{\n", names_.back()));
    std::string width;
    append_float(width, layout_.radius.empty() ? 1e-3 : 2.0 * *std::ranges::max_element(layout_.radius));
    file_.append(
        fmt::format("        float[] widths = [{}] (\n            interpolation = \"constant\"\n        )\n", width));
    put_samples(first + contact_points, "point3f[] points");
    for (const auto& [channel, type] :
         {std::pair{contact_forces, "vector3f[] primvars:force"},
          std::pair{contact_normals, "vector3f[] primvars:normal"}, std::pair{contact_gaps, "float[] primvars:gap"},
          std::pair{contact_states, "int[] primvars:state"}}) {
      file_.append(fmt::format("        {} = [] (\n            interpolation = \"vertex\"\n        )\n", type));
      put_samples(first + channel, type);
    }
    file_.append("    }\n");
  }

  const ExportJob& job_;
  ExportSource& source_;
  const observe::TrajectoryLayout& layout_;
  ExportOverview overview_;
  std::vector<observe::LayoutMesh> meshes_;
  std::vector<observe::LayoutSurface> surfaces_;
  StagedFile file_;
  Spool spool_;
  std::vector<std::string> names_;
};

}  // namespace

Files export_usda(const ExportJob& job) {
  UsdaWriter(job).write();
  return {job.output};
}

}  // namespace tresse::exporters::detail
