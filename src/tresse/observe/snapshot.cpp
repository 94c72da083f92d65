#include <tresse/observe/snapshot.hpp>

#include <algorithm>
#include <utility>

namespace tresse::observe {
namespace {

/// A point of a fibre: element and local arc length.
struct Place {
  int element;
  double u;
};

/// Of a rod as it is, or of a model as it was made.
template <typename Rod>
std::vector<Place> places(const Rod& rod, int points_per_element) {
  std::vector<Place> out;
  for (int element = 0; element < rod.piece_count(); ++element) {
    const double length = rod.piece_begin(element + 1) - rod.piece_begin(element);
    for (int i = 0; i < points_per_element; ++i) out.push_back({element, length * i / points_per_element});
  }
  const int last = rod.piece_count() - 1;
  out.push_back({last, rod.length() - rod.piece_begin(last)});
  return out;
}

/// Load on the tip side of a cut, acting on a fibre at one arc length.
struct PointLoad {
  double s;
  Vector3 force;
};

/// What a fibre carries, for its internal forces.
struct FibreLoads {
  std::vector<Vector3> acceleration;  ///< (points) of the material points
  std::vector<Vector3> velocity;      ///< (points)
  std::vector<PointLoad> contacts;    ///< holds, and the fluid's on nodes, any order
  Vector3 gravity;
  Vector3 wind;
  double drag = 0.0;
};

std::vector<double> arc_lengths(const rods::Rod& rod, const std::vector<Place>& at) {
  std::vector<double> out;
  out.reserve(at.size());
  for (const Place& place : at) out.push_back(rod.piece_begin(place.element) + place.u);
  return out;
}

/// T(s) = int_s^L (rho S (g - r_tt) - drag (r_t - wind)) ds + contact forces beyond s: what the part beyond s exerts on
/// the part before it. Balance of linear momentum, bertails2018hdr eq. (2.4a); trapezoidal rule between the points.
std::vector<Vector3> internal_forces(const scene::Scene& scene, const assembly::Fibre& fibre, const rods::Rod& rod,
                                     const std::vector<Place>& at, const FibreLoads& loads) {
  const scene::FibreGroup& group = scene.fibres[fibre.group];
  const std::vector<rods::CrossSection>& sections = scene::sections(group, fibre.member);
  const std::vector<double> s = arc_lengths(rod, at);
  const auto density = [&](int i, int element) -> Vector3 {
    const int of_scene = element - (fibre.embedding.divided && element > fibre.embedding.piece ? 1 : 0);
    const double linear_density = group.material.density * rods::area(sections[of_scene]);
    return linear_density * (loads.gravity - loads.acceleration[i]) - loads.drag * (loads.velocity[i] - loads.wind);
  };
  std::vector<Vector3> out(at.size(), Vector3::Zero());
  for (int i = static_cast<int>(at.size()) - 2; i >= 0; --i) {
    const int element = at[i].element;  // of the stretch from point i to point i + 1
    out[i] = out[i + 1] + 0.5 * (s[i + 1] - s[i]) * (density(i, element) + density(i + 1, element));
  }
  for (const PointLoad& load : loads.contacts) {
    for (std::size_t i = 0; i < out.size() && s[i] < load.s; ++i) out[i] += load.force;
  }
  return out;
}

/// What branches exert on their parents becomes point loads of theirs, from twigs to trunk.
void hand_down(const scene::Scene& scene, const assembly::Kinematics& kinematics, std::vector<FibreLoads>& loads) {
  for (std::size_t f = loads.size(); f-- > 0;) {
    const assembly::Fibre& fibre = kinematics.world().fibres[f];
    const int parent = fibre.attachment.parent;
    if (parent < 0) continue;
    const rods::Rod& rod = kinematics.rod(static_cast<int>(f));
    const auto forces = internal_forces(scene, fibre, rod, places(rod, scene.output.points_per_element), loads[f]);
    const double s = kinematics.rod(parent).piece_begin(fibre.attachment.piece) + fibre.attachment.u;
    loads[static_cast<std::size_t>(parent)].contacts.push_back({s, forces.front()});
  }
}

InternalLoads inside(const scene::Scene& scene, const assembly::Fibre& fibre, const rods::Rod& rod,
                     const FibreLoads& loads) {
  const std::vector<Place> at = places(rod, scene.output.points_per_element);
  InternalLoads out;
  out.arc_length = arc_lengths(rod, at);
  const auto forces = internal_forces(scene, fibre, rod, at, loads);
  for (std::size_t i = 0; i < at.size(); ++i) {
    const rods::RodSection section = rod.section(out.arc_length[i]);
    out.position.push_back(section.position);
    out.force.emplace_back(section.frame.transpose() * forces[i]);
    out.moment.push_back(section.moment);
  }
  return out;
}

void append_fibre(Frame& frame, const scene::Scene& scene, const assembly::Fibre& fibre, const rods::Rod& rod,
                  const FibreLoads& loads) {
  const InternalLoads own = inside(scene, fibre, rod, loads);
  for (std::size_t i = 0; i < own.position.size(); ++i) {
    append(frame.points, own.position[i]);
    append(frame.force, own.force[i]);
    append(frame.moment, own.moment[i]);
  }
  const rods::RodState& state = rod.state();
  frame.curvature.insert(frame.curvature.end(), state.coordinates.begin(), state.coordinates.end());
  frame.curvature_rate.insert(frame.curvature_rate.end(), state.rates.begin(), state.rates.end());
  append(frame.root_position, state.root.position);
  append(frame.root_frame, state.root.frame);
}

void append_fibres(Frame& frame, const scene::Scene& scene, const assembly::Kinematics& at,
                   std::vector<FibreLoads>& loads) {
  hand_down(scene, at, loads);
  for (std::size_t f = 0; f < loads.size(); ++f)
    append_fibre(frame, scene, at.world().fibres[f], at.rod(static_cast<int>(f)), loads[f]);
}

std::vector<Vector3> point_velocities(const rods::Rod& rod, const std::vector<Place>& at) {
  const VectorX v = rods::generalised_velocity(rod, rod.state());
  std::vector<Vector3> out;
  out.reserve(at.size());
  for (const Place& place : at) out.push_back(rod.velocity(place.element, place.u, v));
  return out;
}

/// Mean acceleration of the material points from a state of the rod before, over `dt`.
std::vector<Vector3> accelerations(const rods::Rod& rod, const rods::RodState& before, const std::vector<Place>& at,
                                   const std::vector<Vector3>& velocity, double dt) {
  const auto old = rod.clone();
  old->update(before);
  const std::vector<Vector3> start = point_velocities(*old, at);
  std::vector<Vector3> out(at.size());
  for (std::size_t i = 0; i < at.size(); ++i) out[i] = (velocity[i] - start[i]) / dt;
  return out;
}

void add_contacts(const std::vector<dynamics::ContactReport>& contacts, int fibre, FibreLoads& loads) {
  for (const dynamics::ContactReport& contact : contacts) {
    if (contact.a.body.fibre() == fibre) loads.contacts.push_back({contact.a.s, -contact.force});
    if (contact.b.body.fibre() == fibre) loads.contacts.push_back({contact.b.s, contact.force});
  }
}

/// Of a step that was cut, those over its last part, as the forces of contacts are.
void add_holds(const dynamics::Stepper& stepper, const dynamics::StepReport& report, int fibre, FibreLoads& loads) {
  for (std::size_t i = 0; i < report.holds.size(); ++i) {
    const assembly::Hold& hold = stepper.world().holds[i];
    if (hold.fibre != fibre) continue;
    const Vector3 force = report.parts > 1 ? stepper.state().hold_forces[i] : Vector3(-report.holds[i].force);
    loads.contacts.push_back({assembly::held_arc_length(stepper.kinematics(), hold), force});
  }
}

FibreLoads at_rest(const assembly::World& world, std::size_t points) {
  return {std::vector<Vector3>(points, Vector3::Zero()),
          std::vector<Vector3>(points, Vector3::Zero()),
          {},
          assembly::gravity_of(world),
          Vector3::Zero(),
          0.0};
}

/// What the fibres of a stepper carry.
std::vector<FibreLoads> loads_of(const scene::Scene& scene, const dynamics::Stepper& stepper,
                                 const dynamics::StepReport& report) {
  const assembly::World& world = stepper.world();
  const dynamics::LastPart& part = stepper.last_part();
  std::vector<FibreLoads> all;
  all.reserve(world.fibres.size());
  for (std::size_t f = 0; f < world.fibres.size(); ++f) {
    const rods::Rod& rod = stepper.kinematics().rod(static_cast<int>(f));
    const std::vector<Place> at = places(rod, scene.output.points_per_element);
    FibreLoads& loads = all.emplace_back(at_rest(world, at.size()));
    if (stepper.state().step > 0) {
      loads.velocity = point_velocities(rod, at);
      if (part.dt > 0.0) loads.acceleration = accelerations(rod, part.start[f], at, loads.velocity, part.dt);
      loads.wind = assembly::wind_at(world, stepper.time());
      loads.drag = assembly::drag_of(world, static_cast<int>(f));
    }
    if (!part.fluid.empty()) {
      for (Eigen::Index k = 0; k < part.fluid[f].cols(); ++k)
        loads.contacts.push_back({rod.piece_begin(static_cast<int>(k)), part.fluid[f].col(k)});
    }
    add_contacts(stepper.contacts(), static_cast<int>(f), loads);
    add_holds(stepper, report, static_cast<int>(f), loads);
  }
  return all;
}

}  // namespace

TrajectoryLayout snapshot_layout(const scene::Scene& scene, const assembly::World& world, std::string resolved_scene,
                                 std::string version, double time) {
  TrajectoryLayout layout;
  layout.scene = std::move(resolved_scene);
  layout.version = std::move(version);
  layout.point_offsets.push_back(0);
  layout.curvature_offsets.push_back(0);
  for (const assembly::Fibre& fibre : world.fibres) {
    const rods::RodModel& rod = *fibre.model;
    const auto add = [&](const auto& of) {
      for (const Place& place : places(of, scene.output.points_per_element)) {
        layout.arc_length.push_back(of.piece_begin(place.element) + place.u);
        layout.radius.push_back(rod.contact_radius());
      }
    };
    if (assembly::length_scale_at(fibre, time) == 1.0) {
      add(rod);
    } else {
      const auto grown = rod.make_rod();
      assembly::set_natural_shape(fibre, time, *grown);
      add(*grown);
    }
    layout.point_offsets.push_back(static_cast<std::int64_t>(layout.arc_length.size()));
    layout.curvature_offsets.push_back(layout.curvature_offsets.back() + rod.coordinate_count());
    layout.root_is_free.push_back(rod.root_condition() == rods::RootCondition::free ? 1 : 0);
    layout.group.push_back(fibre.group);
  }
  for (const scene::FibreGroup& group : scene.fibres) layout.group_names.push_back(group.name);
  for (const bodies::Obstacle& obstacle : world.obstacles) add_obstacle(layout, obstacle);
  for (const assembly::SurfaceBody& surface : world.surfaces) add_surface(layout, surface.name, *surface.model);
  if (world.grains) add_grains(layout, *world.grains);
  return layout;
}

std::vector<InternalLoads> internal_loads(const scene::Scene& scene, const dynamics::Stepper& stepper,
                                          const dynamics::StepReport& report) {
  std::vector<FibreLoads> loads = loads_of(scene, stepper, report);
  hand_down(scene, stepper.kinematics(), loads);
  std::vector<InternalLoads> out;
  for (std::size_t f = 0; f < loads.size(); ++f)
    out.push_back(inside(scene, stepper.world().fibres[f], stepper.kinematics().rod(static_cast<int>(f)), loads[f]));
  return out;
}

Frame snapshot(const scene::Scene& scene, const dynamics::Stepper& stepper, const dynamics::StepReport& report,
               const TrajectoryLayout& layout) {
  const assembly::World& world = stepper.world();
  Frame frame;
  frame.time = stepper.time();
  frame.step = stepper.state().step;
  std::vector<FibreLoads> all = loads_of(scene, stepper, report);
  append_fibres(frame, scene, stepper.kinematics(), all);
  for (std::size_t k = 0; k < world.obstacles.size(); ++k) {
    const dynamics::ObstacleLoad load = k < report.obstacles.size() ? report.obstacles[k] : dynamics::ObstacleLoad{};
    add_obstacle(frame, assembly::obstacle_pose(stepper.kinematics(), static_cast<int>(k), frame.time), load);
  }
  for (const dynamics::ContactReport& contact : stepper.contacts()) add_contact(frame, contact);
  for (std::size_t i = 0; i < world.surfaces.size(); ++i)
    add_surface(frame, *world.surfaces[i].model, stepper.state().surfaces[i]);
  if (stepper.grains() != nullptr) add_grains(frame, *stepper.grains(), stepper.state().grains);
  validate(frame, layout);
  return frame;
}

RestContacts rest_contacts(const assembly::World& world, const statics::WorldEquilibrium& found, double time) {
  RestContacts out;
  out.time = time;
  out.obstacles.resize(world.obstacles.size());
  out.contacts = found.contacts;
  for (const assembly::ContactReport& contact : found.contacts) {
    if (contact.b.body.is_fibre()) continue;
    const int obstacle = contact.b.body.index;
    dynamics::ObstacleLoad& load = out.obstacles[obstacle];
    const Pose pose = assembly::obstacle_pose(world.obstacles[obstacle], time);
    const double radius = world.fibres[contact.a.body.index].model->contact_radius() + contact.gap;
    const Vector3 surface = contact.point_a + radius * contact.normal;
    load.force += contact.force;
    load.torque += (surface - pose.position).cross(contact.force);
    ++load.contacts;
  }
  return out;
}

Frame snapshot_at_rest(const scene::Scene& scene, const assembly::Kinematics& at, const TrajectoryLayout& layout,
                       const RestContacts& rest) {
  Frame frame;
  frame.time = rest.time;
  const assembly::World& world = at.world();
  std::vector<FibreLoads> all;
  all.reserve(world.fibres.size());
  for (int f = 0; f < static_cast<int>(world.fibres.size()); ++f) {
    all.push_back(at_rest(world, places(at.rod(f), scene.output.points_per_element).size()));
    add_contacts(rest.contacts, f, all.back());
  }
  append_fibres(frame, scene, at, all);
  for (std::size_t k = 0; k < world.obstacles.size(); ++k) {
    const dynamics::ObstacleLoad load = k < rest.obstacles.size() ? rest.obstacles[k] : dynamics::ObstacleLoad{};
    add_obstacle(frame, assembly::obstacle_pose(at, static_cast<int>(k), rest.time), load);
  }
  for (const dynamics::ContactReport& contact : rest.contacts) add_contact(frame, contact);
  for (std::size_t i = 0; i < rest.surfaces.size(); ++i) add_surface(frame, *world.surfaces[i].model, rest.surfaces[i]);
  validate(frame, layout);
  return frame;
}

}  // namespace tresse::observe
