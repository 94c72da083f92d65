#include <tresse/assembly/world.hpp>

#include <algorithm>
#include <cmath>
#include <numbers>

#include <Eigen/Geometry>

#include <tresse/base/errors.hpp>

namespace tresse::assembly {
double length_scale_at(const Fibre& fibre, double time) {
  const Growth& g = fibre.growth;
  if (time >= g.end) return g.final_scale;
  return time <= g.begin ? 1.0 : 1.0 + (g.final_scale - 1.0) * (time - g.begin) / (g.end - g.begin);
}

void set_natural_shape(const Fibre& fibre, double time, rods::Rod& rod) {
  if (fibre.rest_onset > 0.0) rod.set_rest_curvature(rest_curvature_at(fibre, time));
  if (fibre.growth.final_scale != 1.0) rod.set_length_scale(length_scale_at(fibre, time));
}

bool grows(const Fibre& fibre, double begin, double end) {
  const Growth& g = fibre.growth;
  return begin < fibre.rest_onset || (g.final_scale != 1.0 && begin < g.end && end > g.begin);
}

VectorX rest_curvature_at(const Fibre& fibre, double time) {
  const double weight = std::min(1.0, time / fibre.rest_onset);
  return (1.0 - weight) * fibre.first_rest_curvature + weight * fibre.last_rest_curvature;
}

std::set<int> materials_in_use(const World& world) {
  std::set<int> out(world.obstacle_material.begin(), world.obstacle_material.end());
  for (const Fibre& fibre : world.fibres) out.insert(fibre.material);
  return out;
}

Vector3 gravity_of(const World& world) {
  Vector3 out = Vector3::Zero();
  for (const auto& load : world.loads) out += load->acceleration();
  return out;
}

Vector3 wind_at(const World& world, double time) {
  Vector3 out = Vector3::Zero();
  for (const auto& load : world.loads) out += load->wind(time);
  return out;
}

double drag_of(const World& world, int fibre) {
  double out = 0.0;
  for (const auto& load : world.loads) out += load->drag(world.fibres[static_cast<std::size_t>(fibre)]);
  return out;
}

double implicit_drag(const World& world, int fibre) {
  return drag_of(world, fibre) + world.fibres[static_cast<std::size_t>(fibre)].fluid_drag;
}

void immerse(World& world, const Fluid& fluid) {
  require(fluid.viscosity > 0.0 && std::isfinite(fluid.viscosity), "fluid: the viscosity must be positive");
  require(fluid.regularisation > 0.0 && std::isfinite(fluid.regularisation),
          "fluid: the regularisation must be positive");
  world.fluid = fluid;
  for (Fibre& fibre : world.fibres) {
    // A long straight fibre whose nodes move across it by turns, so far along x = pi epsilon / element: the flow of its
    // forces, spread over epsilon, is 4 pi viscosity / (K0(x) + x K1(x) / 2). Half of that bounds the passes' error
    // by what they begin with; a little more lets fibres that move apart be as quick.
    const rods::RodModel& model = *fibre.model;
    const double element = model.length() / model.piece_count();
    const double x = std::min(std::numbers::pi * fluid.regularisation * model.contact_radius() / element, 1.0);
    const double most = 4.0 * std::numbers::pi / (std::cyl_bessel_k(0.0, x) + 0.5 * x * std::cyl_bessel_k(1.0, x));
    constexpr double share = 0.6;
    fibre.fluid_drag = share * most * fluid.viscosity;
  }
}

Pose root_pose(const Fibre& fibre, double time) {
  const Pose shift = bodies::displacement(fibre.root_motion, time);
  return {fibre.root.position + shift.position + (shift.frame * fibre.root_arm - fibre.root_arm),
          shift.frame * fibre.root.frame};
}

Pose hold_pose(const Hold& hold, double time) {
  const Pose shift = bodies::displacement(hold.motion, time);
  return {hold.pose.position + shift.position, shift.frame * hold.pose.frame};
}

Twist mean_twist(const Pose& from, const Pose& to, double dt) {
  const Eigen::AngleAxisd rotation(Matrix3(to.frame * from.frame.transpose()));
  return {(to.position - from.position) / dt, rotation.axis() * (rotation.angle() / dt)};
}

Pose obstacle_pose(const bodies::Obstacle& obstacle, double time) {
  const Pose shift = bodies::displacement(obstacle.motion, time);
  return {obstacle.reference + shift.position, shift.frame};
}

Vector3 moved(const bodies::Obstacle& obstacle, const Pose& pose, const Vector3& reference_point) {
  return pose.position + pose.frame * (reference_point - obstacle.reference);
}

geometry::Curve moved(const bodies::Obstacle& obstacle, const Pose& pose, const geometry::Curve& reference_curve) {
  const auto move = [&](Vector3& point) { point = moved(obstacle, pose, point); };
  geometry::Curve out = reference_curve;
  std::visit(
      [&]<class C>(C& curve) {
        if constexpr (requires { curve.frame; }) {
          move(curve.position);
          curve.frame = pose.frame * curve.frame;
        } else if constexpr (requires { curve.points; }) {
          std::for_each(curve.points.begin(), curve.points.end(), move);
        } else {
          move(curve.from);
          move(curve.to);
        }
      },
      out);
  return out;
}

std::vector<FreeBody> find_free_bodies(const std::vector<bodies::Obstacle>& obstacles) {
  std::vector<FreeBody> out;
  for (int k = 0; k < static_cast<int>(obstacles.size()); ++k) {
    const bodies::Obstacle& obstacle = obstacles[k];
    if (obstacle.mass == 0.0) continue;
    const bodies::Solid solid = bodies::solid(obstacle.shape, obstacle.mass);
    require(bodies::is_centre(obstacle.shape, obstacle.reference, 1e-9),
            "free body: the reference must be the centre of mass");
    out.push_back({k, solid, {{obstacle.reference, Matrix3::Identity()}, obstacle.velocity}});
  }
  return out;
}

namespace {

/// Free bodies before an obstacle, in the order of obstacles.
int free_before(const World& world, int obstacle) {
  const auto first = std::lower_bound(world.free_bodies.begin(), world.free_bodies.end(), obstacle,
                                      [](const FreeBody& body, int k) { return body.obstacle < k; });
  return static_cast<int>(first - world.free_bodies.begin());
}

}  // namespace

int free_body_of(const World& world, int obstacle) {
  const int place = free_before(world, obstacle);
  const bool free = place < static_cast<int>(world.free_bodies.size()) && world.free_bodies[place].obstacle == obstacle;
  return free ? place : -1;
}

BodyId obstacle_id(const World& world, int obstacle) {
  return {free_body_of(world, obstacle) >= 0 ? BodyKind::rigid_body : BodyKind::obstacle, obstacle};
}

int body_number(const World& world, BodyId body) {
  if (body.is_fibre()) return body.index;
  const int fibres = static_cast<int>(world.fibres.size());
  const int free = free_before(world, body.index);
  if (body.kind == BodyKind::rigid_body) return fibres + free;
  return fibres + body.index + static_cast<int>(world.free_bodies.size()) - free;
}

BodyId body_of_number(const World& world, int number) {
  const int index = number - static_cast<int>(world.fibres.size());
  if (index < 0) return {BodyKind::fibre, number};
  const int free = static_cast<int>(world.free_bodies.size());
  if (index < free) return {BodyKind::rigid_body, world.free_bodies[index].obstacle};
  int obstacle = index - free;
  for (const FreeBody& before : world.free_bodies) obstacle += before.obstacle <= obstacle ? 1 : 0;
  return {BodyKind::obstacle, obstacle};
}

Vector3 pinned_place(const ClothPins& pins, std::size_t i, double time) {
  const Pose moved = bodies::displacement(pins.motion, time);
  return pins.reference + moved.position + moved.frame * (pins.places[i] - pins.reference);
}

double energy_floor(const World& world, double dt) {
  constexpr double still = 1e-9;  // of a length in a step
  const double gravity = gravity_of(world).norm();
  const auto floor_of = [&](double mass, double radius, double length) {
    const double speed = still * length / dt;
    return mass * (gravity * radius + speed * speed);
  };
  double out = 0.0;
  for (const Fibre& fibre : world.fibres)
    out += floor_of(fibre.model->mass(), fibre.model->contact_radius(), fibre.model->length());
  for (const FreeBody& body : world.free_bodies) {
    const double radius = bodies::radius(world.obstacles[static_cast<std::size_t>(body.obstacle)].shape);
    out += floor_of(body.solid.mass, radius, radius);
  }
  return out;
}

}  // namespace tresse::assembly
