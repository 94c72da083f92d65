#include <tresse/dynamics/detail/cloth_motion.hpp>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <utility>
#include <vector>

#include <Eigen/Geometry>

#include <tresse/assembly/node_contacts.hpp>
#include <tresse/base/best.hpp>
#include <tresse/base/stopwatch.hpp>

namespace tresse::dynamics::detail {
namespace {

using assembly::NodeContact;

std::vector<surfaces::PinnedVertex> pins_of(const ClothPart& part, const surfaces::SurfaceState& state) {
  std::vector<surfaces::PinnedVertex> out;
  const double dt = part.options.dt, end = part.time + dt;
  for (const assembly::ClothPins& pins : part.body.pins) {
    constexpr double rounding = 1e-9;  // of a step
    if (pins.release && part.time > *pins.release - rounding * dt) continue;
    for (std::size_t i = 0; i < pins.vertices.size(); ++i) {
      const int vertex = pins.vertices[i];
      const Vector3 now = state.position.segment<3>(3 * vertex);
      out.push_back({vertex, (assembly::pinned_place(pins, i, end) - now) / dt});
    }
  }
  // A vertex of several goes with the first of them.
  std::stable_sort(out.begin(), out.end(), [](const auto& a, const auto& b) { return a.vertex < b.vertex; });
  out.erase(std::unique(out.begin(), out.end(), [](const auto& a, const auto& b) { return a.vertex == b.vertex; }),
            out.end());
  return out;
}

/// How far from each vertex an obstacle may be that it meets in the step. (n) [m]
VectorX reach_of(const ClothPart& part, const surfaces::SurfaceState& state) {
  const double dt = part.options.dt;
  const double along =
      assembly::gravity_of(part.world).norm() * dt * dt + std::max(part.options.margin, part.body.radius);
  VectorX way = VectorX::Zero(part.cloth.vertex_count());  // of what is at a vertex and moves with an obstacle
  for (const bodies::Obstacle& obstacle : part.world.obstacles) {
    const Pose begin = assembly::obstacle_pose(obstacle, part.time);
    const Pose end = assembly::obstacle_pose(obstacle, part.time + dt);
    const Matrix3 turn = end.frame * begin.frame.transpose() - Matrix3::Identity();
    const Vector3 shift = end.position - begin.position;
    for (int v = 0; v < part.cloth.vertex_count(); ++v)
      way[v] = std::max(way[v], (shift + turn * (state.position.segment<3>(3 * v) - begin.position)).norm());
  }
  VectorX out(part.cloth.vertex_count());
  for (int v = 0; v < part.cloth.vertex_count(); ++v)
    out[v] = along + way[v] + 2.0 * dt * state.velocity.segment<3>(3 * v).norm();
  return out;
}

/// A contact of the problem.
struct Bound {
  NodeContact at;
  double slack =
      0.0;  ///< u = n . (v - velocity of the obstacle) + slack is the rate of the gap, less what is left [m/s]
  double start = 0.0;  ///< gap where the step begins; known where it is below 0 [m]
  double push = 0.0;   ///< speed at which an overlap of the start is undone; >= 0 [m/s]
};

/// Of the vertices that are not pinned.
std::vector<Bound> free_ones(const std::vector<NodeContact>& found, const std::vector<surfaces::PinnedVertex>& pins) {
  std::vector<Bound> out;
  for (const NodeContact& one : found) {
    const bool pinned = std::binary_search(pins.begin(), pins.end(), surfaces::PinnedVertex{one.node, {}},
                                           [](const auto& a, const auto& b) { return a.vertex < b.vertex; });
    if (!pinned) out.push_back({one});
  }
  return out;
}

Matrix3 frame_of(const Vector3& normal) {
  Matrix3 out;
  out.col(0) = normal;
  out.col(1) = normal.unitOrthogonal();
  out.col(2) = normal.cross(out.col(1));
  return out;
}

/// A gap may close in the step; an overlap is undone at the speed that the options allow.
void bound_at_start(const ClothPart& part, std::vector<Bound>& bounds) {
  for (Bound& one : bounds) {
    one.slack = std::max(one.at.gap / part.options.dt, -part.options.push_out_speed);
    one.start = std::min(0.0, one.at.gap);
    one.push = std::max(0.0, -one.slack);
  }
}

std::vector<friction::NodalContact> nodal(const ClothPart& part, const std::vector<Bound>& bounds) {
  std::vector<friction::NodalContact> out;
  for (const Bound& bound : bounds) {
    friction::NodalContact one;
    one.node = bound.at.node;
    one.frame = frame_of(bound.at.normal);
    one.mu = part.world.law->friction(part.body.material,
                                      part.world.obstacle_material[static_cast<std::size_t>(bound.at.obstacle)]);
    one.offset = -one.frame.transpose() * bound.at.velocity;
    one.offset[0] += bound.slack;
    out.push_back(one);
  }
  return out;
}

/// What vertices overlap at the end of a step by more than is left of the start's: in place of what they had of the
/// same obstacle, linearised there. Whether there is any.
bool replace_overlapped(const std::vector<Bound>& ends, double tolerance, const ClothPart& part,
                        const surfaces::SurfaceState& end, std::vector<Bound>& bounds) {
  const double dt = part.options.dt;
  bool changed = false;
  for (const Bound& other : ends) {
    const auto beyond = std::upper_bound(bounds.begin(), bounds.end(), other.at.node,
                                         [](int node, const Bound& one) { return node < one.at.node; });
    auto place = beyond;
    for (auto one = beyond; one != bounds.begin() && std::prev(one)->at.node == other.at.node; --one) {
      if (std::prev(one)->at.obstacle == other.at.obstacle) place = std::prev(one);
    }
    const bool known = place != beyond;
    const double push = known ? place->push : 0.0;
    const double left = known && push > 0.0 ? std::min(0.0, place->start + dt * push) : 0.0;
    if (other.at.gap >= left - tolerance) continue;
    changed = true;
    Bound bound = other;
    // The gap at the end is gap + dt n . (v - v_end), and no less than what is left.
    const Vector3 relative = end.velocity.segment<3>(3 * bound.at.node) - bound.at.velocity;
    bound.slack = (bound.at.gap - left) / dt - bound.at.normal.dot(relative);
    bound.push = push;
    bound.start = known ? place->start : 0.0;
    if (known)
      *place = bound;
    else
      bounds.insert(place, bound);
  }
  return changed;
}

double deepest(const std::vector<Bound>& ends) {
  double out = 0.0;
  for (const Bound& one : ends) out = std::max(out, -one.at.gap);
  return out;
}

/// A pass: what it was solved with, and where that leads.
struct ClothPass {
  std::vector<Bound> bounds;
  std::vector<friction::NodalContact> contacts;
  surfaces::ClothStepResult result;
  std::vector<Bound> ends;  ///< what vertices are within reach of at the end
  double overlap = 0.0;
};

void report_pass(const ClothPart& part, const ClothPass& pass, const assembly::NodeObstacles& obstacles,
                 const std::vector<surfaces::PinnedVertex>& pins, StepReport& report, ClothReport& out) {
  const double dt = part.options.dt;
  out.status = pass.result.status;
  out.residual = pass.result.residual;
  out.contacts = static_cast<int>(pass.contacts.size());
  out.penetration = pass.overlap;
  for (std::size_t k = 0; k < pass.contacts.size(); ++k) {
    const Vector3 own = pass.result.impulse.segment<3>(3 * static_cast<Eigen::Index>(k));
    if (own.isZero(0.0)) continue;
    const NodeContact& at = pass.bounds[k].at;
    const Vector3 impulse = pass.contacts[k].frame * own;
    ++out.loaded;
    // What undoes an overlap is work from outside as well.
    out.work += impulse.dot(at.velocity) + own[0] * pass.bounds[k].push;
    ObstacleLoad& load = report.obstacles[static_cast<std::size_t>(at.obstacle)];
    load.force -= impulse / dt;
    load.torque -= (at.place - obstacles.reference(at.obstacle)).cross(impulse) / dt;
    ++load.contacts;
  }
  for (std::size_t k = 0; k < pins.size(); ++k) {
    out.pin_force -= pass.result.pin_impulse[k] / dt;
    out.work += pass.result.pin_impulse[k].dot(pins[k].velocity);
  }
  out.work += pass.result.air_work;
  out.energies = part.cloth.energies(pass.result.end, assembly::gravity_of(part.world));
  for (int v = 0; v < part.cloth.vertex_count(); ++v)
    out.top_speed = std::max(out.top_speed, pass.result.end.velocity.segment<3>(3 * v).norm());
}

}  // namespace

bool advance_cloth(const ClothPart& part, surfaces::SurfaceState& state, StepReport& report) {
  const double dt = part.options.dt;
  surfaces::ClothStep how{.dt = dt,
                          .gravity = assembly::gravity_of(part.world),
                          .wind = assembly::wind_at(part.world, part.time + dt),
                          .pins = pins_of(part, state),
                          .contacts = {},
                          .solver = {part.options.cloth_tolerance, part.options.max_cloth_iterations},
                          .memory = &part.memory};
  const assembly::NodeObstacles begin(part.world, part.time, dt), later(part.world, part.time + dt, -dt);
  constexpr double left_alone = 0.01;  // of the radius
  constexpr int most = 4;
  const VectorX none = VectorX::Constant(part.cloth.vertex_count(), 0.0);
  ClothReport out;
  ClothPass pass, best;
  {
    Stopwatch watch(report.t_detection);
    pass.bounds = free_ones(begin.find(state.position, reach_of(part, state), part.body.radius), how.pins);
    bound_at_start(part, pass.bounds);
  }
  for (int done = 0; done < most; ++done) {
    {
      Stopwatch watch(report.t_solve);
      how.contacts = pass.contacts = nodal(part, pass.bounds);
      pass.result = part.cloth.step(state, how);
    }
    ++out.passes;
    out.iterations += pass.result.iterations;
    if (!pass.result.end.position.allFinite() || !pass.result.end.velocity.allFinite()) return false;
    Stopwatch watch(report.t_detection);
    pass.ends = free_ones(later.find(pass.result.end.position, none, part.body.radius), how.pins);
    pass.overlap = deepest(pass.ends);
    if (done == 0 || is_better(pass.overlap, best.overlap)) best = pass;
    if (!replace_overlapped(pass.ends, left_alone * part.body.radius, part, pass.result.end, pass.bounds)) break;
  }
  report_pass(part, best, begin, how.pins, report, out);
  report.contacts += out.contacts;
  report.max_penetration = std::max(report.max_penetration, out.penetration);
  report.cloths.push_back(out);
  state = std::move(best.result.end);
  return true;
}

}  // namespace tresse::dynamics::detail
