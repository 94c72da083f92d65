#include <tresse/scene/detail/embedding.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include <tresse/base/errors.hpp>
#include <tresse/contact/intrusions.hpp>
#include <tresse/scene/detail/fibre_rod.hpp>

namespace tresse::scene::detail {
namespace {

/// The skin of the obstacle that a fibre is embedded in, at time zero.
struct Skin {
  const bodies::Obstacle& obstacle;
  Pose pose;

  /// From it to the fibre's own, at an arc length; negative inside. [m]
  double gap(const rods::Rod& rod, double s) const {
    const Vector3 from_centre = pose.frame.transpose() * (rod.section(s).position - pose.position);
    return bodies::signed_distance(obstacle.shape, obstacle.reference + from_centre) - rod.contact_radius();
  }
};

/// Arc lengths at which fibres go through open meshes first, each with its obstacle; 0 where they don't.
class WaysThrough {
 public:
  explicit WaysThrough(const assembly::Kinematics& at) {
    const assembly::World& world = at.world();
    const bool sheets = std::any_of(world.obstacles.begin(), world.obstacles.end(), is_sheet);
    if (!sheets) return;
    contact::Geometry geometry;
    assembly::contact_geometry(at, 0.0, geometry);
    for (const contact::Intrusion& one : contact::intrusions(geometry)) {
      const contact::Piece& piece = geometry.pieces[static_cast<std::size_t>(one.piece)];
      const int obstacle = contact::id_at(geometry, one.surface).index;
      if (piece.id.is_fibre() && is_sheet(world.obstacles[static_cast<std::size_t>(obstacle)]))
        ways_[{piece.id.index, obstacle}] = contact::material_at(piece, one.s);
    }
  }

  double of(std::size_t fibre, int obstacle) const {
    const auto found = ways_.find({static_cast<int>(fibre), obstacle});
    return found == ways_.end() ? 0.0 : found->second;
  }

 private:
  static bool is_sheet(const bodies::Obstacle& obstacle) {
    const bodies::Surface* surface = bodies::surface_of(obstacle.shape);
    return surface != nullptr && !surface->topology->closed();
  }
  std::map<std::pair<int, int>, double> ways_;
};

/// Arc length at which a fibre comes out of an obstacle first, from inside its root or from `begin`, where it goes
/// through a sheet; 0 where neither is. Infinite: nowhere. Steps are as long as the distance to the skin allows.
double embedded_length(const Skin& skin, const rods::Rod& rod, double begin) {
  const double radius = rod.contact_radius(), length = rod.length();
  // Along the skin of a long fibre's obstacle the distance allows no step worth taking.
  const double least = std::max(0.01 * radius, 1e-5 * length);
  double s = begin;
  while (s < length) {
    const double gap = skin.gap(rod, s);
    if (gap > -1e-3 * radius) return s;
    s += std::max(-gap, least);
  }
  return std::numeric_limits<double>::infinity();
}

/// Whether an element that comes out at arc length s, `inside` of it embedded and `outside` not, must be divided there.
/// One curvature for both would keep a fibre straight that comes out at a flat angle, where contact holds it, and have
/// it bend inside as much as outside. What comes out steeply and is hardly inside loses nothing.
bool to_be_divided(const Skin& skin, const rods::Rod& rod, double s, double inside, double outside) {
  constexpr double flat = 0.55;    // sine of the angle with the skin; steeper than 0.5 there is no contact
  constexpr double shallow = 4.0;  // of the radius
  constexpr double least = 0.01;   // likewise
  const double radius = rod.contact_radius();
  if (inside < least * radius || outside < least * radius) return false;
  if (inside > shallow * radius) return true;
  const double back = std::min(inside, 0.1 * radius);
  return skin.gap(rod, s) - skin.gap(rod, s - back) < flat * back;
}

/// Divides the element `piece` of fibre f, of whose group or strand it is.
void divide(const FibreGroup& group, Case& out, std::size_t f, int piece, double length) {
  assembly::Fibre& fibre = out.world.fibres[f];
  const FibreGroup two = divided(group, static_cast<std::size_t>(piece), length);
  out.state.rods[f] = set_shape(two, *make_rod(two), fibre);
}

}  // namespace

void add_embeddings(const Scene& scene, Case& out) {
  std::vector<int> obstacles;
  for (const FibreGroup& group : scene.fibres) obstacles.push_back(embedding_obstacle(scene, group));
  if (std::all_of(obstacles.begin(), obstacles.end(), [](int within) { return within < 0; })) return;
  assembly::Kinematics at(out.world);
  for (std::size_t f = 0; f < out.world.fibres.size(); ++f) at.rod(static_cast<int>(f)).update(start_of(out, f));
  const WaysThrough ways(at);
  for (std::size_t f = 0; f < out.world.fibres.size(); ++f) {
    assembly::Fibre& fibre = out.world.fibres[f];
    const FibreGroup& group = scene.fibres[static_cast<std::size_t>(fibre.group)];
    const int within = obstacles[static_cast<std::size_t>(fibre.group)];
    if (within < 0) continue;
    const bodies::Obstacle& obstacle = out.world.obstacles[static_cast<std::size_t>(within)];
    const Skin skin{obstacle, assembly::obstacle_pose(obstacle, 0.0)};
    const rods::Rod& rod = at.rod(static_cast<int>(f));
    const double s = embedded_length(skin, rod, ways.of(f, within));
    require(s + rod.contact_radius() < rod.length(), [&] {
      return fmt::format("fibres.{}: fibre {} lies in '{}' from its root to its tip; expected it to come out",
                         group.name, fibre.member, group.root.embedded_in);
    });
    const auto [piece, u] = rods::piece_at(*rod.model(), s);
    const double length = rod.piece_begin(piece + 1) - rod.piece_begin(piece);
    fibre.embedding = {within, piece, u / length};
    if (!to_be_divided(skin, rod, s, u, length - u)) continue;
    divide(group.strands.empty() ? group : strand_group(group, static_cast<std::size_t>(fibre.member)), out, f, piece,
           u);
    fibre.embedding = {within, piece, 1.0, true};
  }
}

}  // namespace tresse::scene::detail
