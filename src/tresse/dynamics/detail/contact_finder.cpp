#include <tresse/dynamics/detail/contact_finder.hpp>

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include <tresse/assembly/tree.hpp>
#include <tresse/base/stopwatch.hpp>
#include <tresse/dynamics/detail/fibre_loop.hpp>

namespace tresse::dynamics::detail {

ContactFinder::ContactFinder(const assembly::World& world, const StepOptions& options)
    : world_(world),
      options_(options),
      branched_(std::any_of(world.fibres.begin(), world.fibres.end(),
                            [](const assembly::Fibre& fibre) { return fibre.attachment.parent >= 0; })),
      search_(options.broad_phase, options.detection) {}

/// Lets boxes and search distances cover what the pieces may travel in a step that starts here with these velocities.
/// What accelerates faster than gravity is met at the end of the step, and by the next pass.
void ContactFinder::set_reaches(const assembly::Kinematics& at, const std::vector<VectorX>& velocities, double time,
                                contact::Geometry& geometry) const {
  constexpr double safety = 1.2;
  const double dt = options_.dt;
  const double least = 0.5 * options_.margin;
  const Vector3 fall = dt * dt * assembly::gravity_of(world_);
  // Of a few pieces none is worth more than the mean of its ends' travel.
  const bool simple = contact::few_pieces(geometry);
  const auto between = [least](const Vector3& first, const Vector3& last) {
    contact::Travel out;
    out.drift = 0.5 * (first + last);
    out.reach = least + 0.5 * (last - first).norm();
    return out;
  };
  const auto points_of = [](const contact::Piece& piece, double middle) -> contact::ThreePoints {
    return {geometry::position(piece.curve, piece.interval.begin), geometry::position(piece.curve, middle),
            geometry::position(piece.curve, piece.interval.end)};
  };
  for_each_fibre(world_.fibres.size(), [&](std::size_t f) {
    const rods::Rod& rod = at.rod(static_cast<int>(f));
    RodMemory memory;
    auto ends = memory.matrix<Matrix3X>(3, rod.piece_count() + 1);
    rod.end_velocities(velocities[f], ends);
    for (int i = geometry.body_begin[f]; i < geometry.body_begin[f + 1]; ++i) {
      contact::Piece& piece = geometry.pieces[i];
      const bool cut = i + 1 < geometry.body_begin[f + 1] && geometry.pieces[i + 1].element == piece.element;
      const auto travel = [&](const Vector3& velocity) -> Vector3 { return safety * dt * velocity + fall; };
      const auto velocity = [&](double s) {
        return rod.velocity(piece.element, piece.span.in_material(s), velocities[f]);
      };
      const Vector3 first =
          travel(piece.interval.begin > 0.0 ? velocity(piece.interval.begin) : Vector3(ends.col(piece.element)));
      const Vector3 last = travel(cut ? velocity(piece.interval.end) : Vector3(ends.col(piece.element + 1)));
      if (simple) {
        piece.travel = between(first, last);
        continue;
      }
      const double length = piece.interval.end - piece.interval.begin;
      const double middle = piece.interval.begin + 0.5 * length;
      piece.travel = contact::rigid_travel(points_of(piece, middle), {first, travel(velocity(middle)), last},
                                           piece.curvature * length * length / 32.0, least);
    }
  });
  for (std::size_t k = 0; k < world_.obstacles.size(); ++k) {
    const int free = assembly::free_body_of(world_, static_cast<int>(k));
    const BodyId id = assembly::obstacle_id(world_, static_cast<int>(k));
    const auto body = static_cast<std::size_t>(assembly::body_number(world_, id));
    if (geometry.body_begin[body] == geometry.body_begin[body + 1]) continue;
    const Pose now = assembly::obstacle_pose(at, static_cast<int>(k), time);
    const Pose next = assembly::obstacle_pose(at, static_cast<int>(k), time + dt);
    const Matrix3 turn = next.frame * now.frame.transpose();
    for (int i = geometry.body_begin[body]; i < geometry.body_begin[body + 1]; ++i) {
      contact::Piece& piece = geometry.pieces[i];
      const auto travel = [&](const Vector3& x) -> Vector3 {
        const Vector3 arm = x - now.position;
        if (free >= 0) {
          const VectorX& twist = velocities[world_.fibres.size() + static_cast<std::size_t>(free)];
          return safety * dt * (twist.head<3>() + Vector3(twist.tail<3>()).cross(arm)) + fall;
        }
        return safety * (next.position - now.position + turn * arm - arm);
      };
      if (simple && piece.curvature == 0.0) {
        piece.travel = between(travel(geometry::position(piece.curve, piece.interval.begin)),
                               travel(geometry::position(piece.curve, piece.interval.end)));
        continue;
      }
      const contact::ThreePoints points = points_of(piece, 0.5 * (piece.interval.begin + piece.interval.end));
      const double length = piece.interval.end - piece.interval.begin;
      piece.travel = contact::rigid_travel(points, {travel(points.begin), travel(points.middle), travel(points.end)},
                                           piece.curvature * length * length / 32.0, least);
    }
  }
  for (contact::Mesh& mesh : geometry.meshes) {
    const bodies::Obstacle& obstacle = world_.obstacles[mesh.id.index];
    const Pose next = assembly::obstacle_pose(obstacle, time + dt);
    mesh.next = {assembly::moved(obstacle, next, Vector3::Zero()), next.frame};
    mesh.reach = least + safety * assembly::farthest_vertex(*bodies::surface_of(obstacle.shape), mesh, time + dt);
  }
  geometry.common = {};
  if (!simple) contact::take_off_common_travel(geometry);
}

std::shared_ptr<Configuration> ContactFinder::place(const assembly::Kinematics& at, double time,
                                                    const std::vector<VectorX>& velocities) {
  auto unused = std::find_if(pool_.begin(), pool_.end(), [](const auto& entry) { return entry.use_count() == 1; });
  if (unused == pool_.end()) unused = pool_.insert(pool_.end(), std::make_shared<Configuration>());
  if (unused->get() == searched_) searched_ = nullptr;
  assembly::contact_geometry(at, time, (*unused)->geometry);
  set_reaches(at, velocities, time, (*unused)->geometry);
  return *unused;
}

SharedConfiguration ContactFinder::find(const assembly::Kinematics& at, double time,
                                        const std::vector<VectorX>& velocities,
                                        const std::vector<WarmContact>& followed, SharedConfiguration from) {
  Stopwatch watch(seconds);
  from_ = std::move(from);
  way_ = {};
  auto out = place(at, time, velocities);
  if (from_ && !contact::few_pieces(out->geometry)) way_.ways = contact::ways_between(from_->geometry, out->geometry);
  std::vector<contact::Place> places;
  places.reserve(followed.size());
  // A potential has the same contacts wherever bodies came from.
  if (!options_.penalty)
    for (const WarmContact& contact : followed) places.push_back(contact.place);
  searched_ = nullptr;
  out->contacts = search_.find(out->geometry, places, way_.ways.beyond);
  searched_ = out.get();
  leave_out_joined(at, *out);
  return out;
}

const contact::SearchedWay* ContactFinder::searched_way(const Configuration& at) {
  if (&at != searched_ || way_.ways.pieces.empty()) return nullptr;
  std::optional<std::vector<contact::KnownPair>> pairs = search_.known_pairs();
  if (!pairs) return nullptr;
  way_.pairs = std::move(*pairs);
  return &way_;
}

SharedConfiguration ContactFinder::follow(const assembly::Kinematics& at, double time,
                                          const std::vector<VectorX>& velocities, const Configuration& earlier) {
  Stopwatch watch(seconds);
  auto out = place(at, time, velocities);
  std::vector<contact::Place> places;
  places.reserve(earlier.contacts.size());
  for (const contact::Contact& contact : earlier.contacts)
    places.push_back(contact::place_of(earlier.geometry, contact));
  out->contacts = contact::follow(out->geometry, places);
  leave_out_joined(at, *out);
  return out;
}

void ContactFinder::leave_out_joined(const assembly::Kinematics& at, Configuration& configuration) const {
  if (!branched_) return;
  std::erase_if(configuration.contacts,
                [&](const contact::Contact& contact) { return assembly::joined(at, configuration.geometry, contact); });
}

}  // namespace tresse::dynamics::detail
