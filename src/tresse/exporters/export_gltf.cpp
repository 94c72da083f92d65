#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <set>
#include <utility>

#include <Eigen/Geometry>

#include <tresse/base/errors.hpp>
#include <tresse/exporters/detail/export_shapes.hpp>
#include <tresse/exporters/detail/export_writers.hpp>
#include <tresse/exporters/detail/gltf_document.hpp>
#include <tresse/math/vectors.hpp>

/// glTF 2.0: a mesh a fibre group with a morph target a frame, a moving node an obstacle. Its y points up: (x, y, z)
/// becomes (x, z, -y).
namespace tresse::exporters::detail {
namespace {

using Floats = std::vector<float>;
using nlohmann::json;

/// A frame's weights are as many as there are frames.
constexpr std::size_t most_frames = 2000;

constexpr int mode_lines = 1, mode_triangles = 4;  // GL's numbers

void put(Floats& into, const Vector3& x) {
  into.insert(into.end(), {static_cast<float>(x.x()), static_cast<float>(x.z()), static_cast<float>(-x.y())});
}

/// Directions across the fibre's tangents, carried along from the root's material axis n1: steady in time.
std::vector<std::array<Vector3, 2>> ring_axes(const std::vector<Vector3>& points, const Vector3& n1) {
  std::vector<std::array<Vector3, 2>> out;
  Vector3 axis = n1;
  for (std::size_t i = 0; i < points.size(); ++i) {
    const Vector3& before = points[i == 0 ? 0 : i - 1];
    const Vector3& after = points[std::min(i + 1, points.size() - 1)];
    Vector3 tangent = math::safe_normalized(after - before);
    if (tangent.isZero())
      tangent = out.empty() ? Vector3(Vector3::UnitX()) : Vector3(out.back()[0].cross(out.back()[1]));
    Vector3 across_it = axis - axis.dot(tangent) * tangent;
    axis = across_it.norm() > 1e-6 ? math::safe_normalized(across_it) : Vector3(tangent.unitOrthogonal());
    out.push_back({axis, tangent.cross(axis)});
  }
  return out;
}

/// An obstacle's way through the frames.
struct Moves {
  Floats places;  ///< (F, 3)
  Floats turns;   ///< (F, 4) quaternions
};

class GltfWriter {
 public:
  explicit GltfWriter(const ExportJob& job)
      : job_(job), source_(job.source), layout_(job.source.layout()), overview_(survey(job.source)), gltf_(job.output) {
    for (const double time : overview_.times) times_.push_back(static_cast<float>(time - overview_.times.front()));
    for (std::size_t i = 1; i < times_.size(); ++i) {
      require(times_[i] > times_[i - 1], [&] {
        return fmt::format("frame {}: single precision does not tell its time from that of the one before; take fewer",
                           source_.number(i));
      });
    }
  }

  Files write() {
    add_material("fibre", {0.33, 0.2, 0.12, 1.0});
    add_material("obstacle", {0.6, 0.62, 0.65, 1.0});
    if (animated()) {
      input_ = gltf_.add_floats(times_, "SCALAR");
      weights_ = add_weights();
    }
    for (const FibreSet& set : source_.sets()) add_set(set);
    for (std::size_t o = 0; job_.options.obstacles && o < layout_.obstacle_count(); ++o) add_obstacle(o);
    for (const observe::LayoutSurface& one : observe::surfaces_of(layout_)) add_surface(one);
    require(!nodes_.empty(), "nothing to draw: no fibre, no obstacle and no surface");
    gltf_.add("scenes", {{"nodes", nodes_}});
    if (animated()) gltf_.add("animations", {{"name", "run"}, {"samplers", samplers_}, {"channels", channels_}});
    return gltf_.write();
  }

 private:
  bool animated() const { return source_.size() > 1; }

  void add_material(const char* name, const std::vector<double>& colour) {
    gltf_.add("materials", {{"name", name},
                            {"doubleSided", true},
                            {"pbrMetallicRoughness",
                             {{"baseColorFactor", colour}, {"metallicFactor", 0.0}, {"roughnessFactor", 0.6}}}});
  }

  /// Frame 0 is the mesh itself, frame i its morph target i - 1 alone.
  std::size_t add_weights() {
    const std::size_t targets = source_.size() - 1;
    Floats values(source_.size() * targets, 0.0F);
    for (std::size_t i = 1; i <= targets; ++i) values[i * targets + i - 1] = 1.0F;
    return gltf_.add_floats(values, "SCALAR");
  }

  void add_channel(std::size_t node, const char* path, std::size_t output) {
    channels_.push_back({{"sampler", samplers_.size()}, {"target", {{"node", node}, {"path", path}}}});
    samplers_.push_back({{"input", input_}, {"output", output}, {"interpolation", "LINEAR"}});
  }

  Floats vertices(const FibreSet& set, const observe::Frame& frame) const {
    Floats out;
    for (const std::size_t fibre : set.fibres) {
      std::vector<Vector3> points;
      for (std::size_t p = source_.point_begin(fibre); p < source_.point_end(fibre); ++p)
        points.push_back(observe::vector_at(frame.points, p));
      if (sides() == 0) {
        for (const Vector3& x : points) put(out, x);
        continue;
      }
      const Vector3 n1(frame.root_frame[9 * fibre + 1], frame.root_frame[9 * fibre + 4],
                       frame.root_frame[9 * fibre + 7]);
      const auto axes = ring_axes(points, math::safe_normalized(n1));
      for (std::size_t i = 0; i < points.size(); ++i) {
        const double radius = layout_.radius[source_.point_begin(fibre) + i];
        for (std::size_t k = 0; k < sides(); ++k) {
          const double angle = 2.0 * std::numbers::pi * static_cast<double>(k) / static_cast<double>(sides());
          put(out, points[i] + radius * (std::cos(angle) * axes[i][0] + std::sin(angle) * axes[i][1]));
        }
      }
    }
    return out;
  }

  std::vector<std::uint32_t> indices(const FibreSet& set) const {
    std::vector<std::uint32_t> out;
    std::size_t first = 0;
    const auto add = [&](std::initializer_list<std::size_t> corners) {
      for (const std::size_t corner : corners) out.push_back(static_cast<std::uint32_t>(first + corner));
    };
    const std::size_t n = sides();
    for (const std::size_t fibre : set.fibres) {
      const std::size_t points = source_.point_end(fibre) - source_.point_begin(fibre);
      for (std::size_t i = 0; i + 1 < points; ++i) {
        if (n == 0) add({i, i + 1});
        for (std::size_t k = 0; k < n; ++k) {
          const std::size_t a = i * n + k, b = i * n + (k + 1) % n;
          add({a, b, b + n, a, b + n, a + n});
        }
      }
      for (std::size_t k = 1; k + 1 < n; ++k) {
        const std::size_t last = (points - 1) * n;
        add({0, k + 1, k, last, last + k, last + k + 1});
      }
      first += points * std::max<std::size_t>(n, 1);
    }
    return out;
  }

  void add_set(const FibreSet& set) {
    require(set.points * std::max<std::size_t>(sides(), 1) < (std::uint64_t{1} << 32U) - 1,
            [&] { return fmt::format("fibres '{}': more points than glTF can count", set.name); });
    const Floats base = vertices(set, source_.frame(0));
    json primitive{{"attributes", {{"POSITION", gltf_.add_floats(base, "VEC3", true)}}},
                   {"indices", gltf_.add_indices(indices(set))},
                   {"mode", sides() == 0 ? mode_lines : mode_triangles},
                   {"material", 0}};
    add_morphing(set.name, base, std::move(primitive),
                 [&](const observe::Frame& frame) { return vertices(set, frame); });
  }

  /// A node whose vertices `places` gives for each frame, those of the first being `base`.
  template <class Places>
  void add_morphing(const std::string& name, const Floats& base, json primitive, const Places& places) {
    json names = json::array();
    for (std::size_t i = 1; i < source_.size(); ++i) {
      Floats moved = places(source_.frame(i));
      for (std::size_t k = 0; k < moved.size(); ++k) moved[k] -= base[k];
      primitive["targets"].push_back({{"POSITION", gltf_.add_floats(moved, "VEC3", true)}});
      names.push_back(fmt::format("frame {}", source_.number(i)));
    }
    json mesh{{"name", name}, {"primitives", json::array({primitive})}};
    if (animated()) {
      mesh["weights"] = std::vector<float>(source_.size() - 1, 0.0F);
      mesh["extras"] = {{"targetNames", names}};
    }
    const std::size_t node = gltf_.add("nodes", {{"name", name}, {"mesh", gltf_.add("meshes", mesh)}});
    nodes_.push_back(node);
    if (animated()) add_channel(node, "weights", weights_);
  }

  /// With a morph target a frame, as fibres.
  void add_surface(const observe::LayoutSurface& surface) {
    const auto places = [&](const observe::Frame& frame) {
      Floats out;
      for (std::size_t v = 0; v < surface.vertices; ++v) put(out, surface.vertex(frame, v));
      return out;
    };
    const Floats base = places(source_.frame(0));
    const std::vector<std::uint32_t> corners(surface.face.begin(), surface.face.end());
    json primitive{{"attributes", {{"POSITION", gltf_.add_floats(base, "VEC3", true)}}},
                   {"indices", gltf_.add_indices(corners)},
                   {"mode", mode_triangles},
                   {"material", 1}};
    add_morphing(surface.name, base, std::move(primitive), places);
  }

  void add_obstacle(std::size_t o) {
    const Moves moves = moves_of(o);
    const TriangleMesh solid = solid_mesh(layout_, o, overview_);
    if (!solid.triangles.empty()) add_node(o, moves, surface(layout_.obstacle_names[o], solid));
    for (const observe::LayoutMesh& mesh : observe::meshes_of(layout_)) {
      if (mesh.obstacle == o) add_mesh(mesh, moves);
    }
  }

  /// A mesh whose vertices move has a morph target for each of its own frames that the run's frames fall between.
  void add_mesh(const observe::LayoutMesh& mesh, const Moves& moves) {
    const std::string& name = layout_.obstacle_names[mesh.obstacle];
    if (!mesh.moves() || !animated()) {
      add_node(mesh.obstacle, moves, surface(name, triangles_of(mesh, overview_.times.front())));
      return;
    }
    const std::vector<std::size_t> keys = keys_of(mesh);
    TriangleMesh shape = triangles_of(mesh, 0.0);
    Floats base;
    for (std::size_t v = 0; v < mesh.vertices; ++v) put(base, shape.points[v] = mesh.vertex(keys.front(), v));
    json out = surface(name, shape);
    json& primitive = out["primitives"][0];
    json names = json::array();
    for (std::size_t k = 1; k < keys.size(); ++k) {
      Floats moved;
      for (std::size_t v = 0; v < mesh.vertices; ++v) put(moved, mesh.vertex(keys[k], v));
      for (std::size_t i = 0; i < moved.size(); ++i) moved[i] -= base[i];
      primitive["targets"].push_back({{"POSITION", gltf_.add_floats(moved, "VEC3", true)}});
      names.push_back(fmt::format("mesh frame {}", keys[k]));
    }
    if (keys.size() == 1) {
      add_node(mesh.obstacle, moves, std::move(out));
      return;
    }
    const Floats weights = weights_of(mesh, keys);
    out["weights"] = Floats(weights.begin(), weights.begin() + static_cast<std::ptrdiff_t>(keys.size() - 1));
    out["extras"] = {{"targetNames", names}};
    add_channel(add_node(mesh.obstacle, moves, std::move(out)), "weights", gltf_.add_floats(weights, "SCALAR"));
  }

  /// The mesh's own frames that are needed, in order.
  std::vector<std::size_t> keys_of(const observe::LayoutMesh& mesh) const {
    std::set<std::size_t> out;
    for (const double time : overview_.times) {
      const observe::MeshTime place = observe::time_of(mesh, time);
      out.insert({place.before, place.after});
    }
    return {out.begin(), out.end()};
  }

  /// Of all keys but the first, frame by frame.
  Floats weights_of(const observe::LayoutMesh& mesh, const std::vector<std::size_t>& keys) const {
    Floats out(overview_.times.size() * (keys.size() - 1), 0.0F);
    for (std::size_t i = 0; i < overview_.times.size(); ++i) {
      const auto [before, after, weight] = observe::time_of(mesh, overview_.times[i]);
      for (const auto& [key, share] : {std::pair{before, 1.0 - weight}, std::pair{after, weight}}) {
        const auto at = static_cast<std::size_t>(std::ranges::lower_bound(keys, key) - keys.begin());
        if (at > 0) out[i * (keys.size() - 1) + at - 1] += static_cast<float>(share);
      }
    }
    return out;
  }

  json surface(const std::string& name, const TriangleMesh& mesh) {
    Floats points;
    for (const Vector3& x : mesh.points) put(points, x);
    std::vector<std::uint32_t> corners;
    for (const auto& triangle : mesh.triangles) corners.insert(corners.end(), triangle.begin(), triangle.end());
    const json primitive{{"attributes", {{"POSITION", gltf_.add_floats(points, "VEC3", true)}}},
                         {"indices", gltf_.add_indices(corners)},
                         {"mode", mode_triangles},
                         {"material", 1}};
    return {{"name", name}, {"primitives", json::array({primitive})}};
  }

  Moves moves_of(std::size_t o) const {
    Moves out;
    Eigen::Quaterniond last = Eigen::Quaterniond::Identity();
    for (std::size_t i = 0; i < source_.size(); ++i) {
      const Pose& pose = overview_.obstacles[i][o];
      put(out.places, pose.position);
      Eigen::Quaterniond turn(pose.frame);
      const double size = turn.norm();
      if (!(size > 0.5 && size < 2.0)) turn = last;  // no rotation
      turn.normalize();
      if (turn.dot(last) < 0.0) turn.coeffs() *= -1.0;  // the shorter way from frame to frame
      last = turn;
      put(out.turns, turn.vec());
      out.turns.push_back(static_cast<float>(turn.w()));
    }
    return out;
  }

  std::size_t add_node(std::size_t o, const Moves& moves, json mesh) {
    const auto& [places, turns] = moves;
    const std::size_t index = gltf_.add("meshes", std::move(mesh));
    const std::size_t node = gltf_.add("nodes", {{"name", layout_.obstacle_names[o]},
                                                 {"mesh", index},
                                                 {"translation", {places[0], places[1], places[2]}},
                                                 {"rotation", {turns[0], turns[1], turns[2], turns[3]}}});
    nodes_.push_back(node);
    if (animated()) {
      add_channel(node, "translation", gltf_.add_floats(places, "VEC3"));
      add_channel(node, "rotation", gltf_.add_floats(turns, "VEC4"));
    }
    return node;
  }

  std::size_t sides() const { return static_cast<std::size_t>(job_.options.tube_sides); }

  const ExportJob& job_;
  ExportSource& source_;
  const observe::TrajectoryLayout& layout_;
  ExportOverview overview_;
  GltfDocument gltf_;
  Floats times_;
  std::size_t input_ = 0;
  std::size_t weights_ = 0;
  std::vector<std::size_t> nodes_;
  json samplers_ = json::array();
  json channels_ = json::array();
};

}  // namespace

Files export_gltf(const ExportJob& job) {
  require(job.source.size() <= most_frames, [&] {
    return fmt::format("gltf: {} frames; expected at most {}, since each is a morph target (see --frames)",
                       job.source.size(), most_frames);
  });
  return GltfWriter(job).write();
}

}  // namespace tresse::exporters::detail
