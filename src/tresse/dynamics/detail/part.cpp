#include <tresse/dynamics/detail/part.hpp>

#include <algorithm>
#include <cmath>

#include <tresse/dynamics/detail/fibre_loop.hpp>

namespace tresse::dynamics::detail {
namespace {

std::vector<assembly::Kinematics*> all_shapes(Part& part) {
  std::vector<assembly::Kinematics*> out{&part.start, &part.linearised, &part.end};
  if (part.trial) out.push_back(&*part.trial);
  return out;
}

/// A fibre gets at once what it grows over a part of the step; what its energy gains is work from outside.
void grow(Part& part, int f) {
  const assembly::Fibre& fibre = part.world.fibres[f];
  rods::Rod& rod = part.start.rod(f);
  const auto energy_at = [&](double time) {
    assembly::set_natural_shape(fibre, time, rod);
    rod.update(part.state.rods[f]);
    const rods::RodEnergies energies = rod.energies(assembly::gravity_of(part.world));
    return energies.kinetic + energies.elastic + energies.gravity;
  };
  const double before = energy_at(part.span.begin);
  part.growth_work += energy_at(part.span.end) - before;
  for (assembly::Kinematics* at : all_shapes(part)) {
    if (at != &part.start) assembly::set_natural_shape(fibre, part.span.end, at->rod(f));
  }
}

/// A clamped root moves over the part with the mean velocity of what is prescribed to it.
void begin_root(Part& part, int f) {
  const assembly::Fibre& fibre = part.world.fibres[f];
  part.root_accelerations[f] = {};
  if (!clamped(fibre)) return;
  const double dt = part.motion.dt;
  const rods::RodState& state = part.state.rods[f];
  const Twist& old = state.root_velocity;
  part.next_roots[f] = assembly::root_pose(fibre, part.span.end);
  part.stage_roots[f] = assembly::root_pose(fibre, part.span.begin + part.options.theta * dt);
  const Twist twist = assembly::mean_twist(state.root, part.next_roots[f], dt);
  part.root_accelerations[f] = {(twist.linear - old.linear) / dt, (twist.angular - old.angular) / dt};
  part.start_rods[f].root_velocity = twist;
  if (twist.linear != old.linear || twist.angular != old.angular) part.start.rod(f).update(part.start_rods[f]);
}

}  // namespace

Part::Part(const assembly::World& of, const StepOptions& with, const SimulationState& from)
    : world(of), options(with), state(from), start(of), linearised(start), end(start) {
  const std::size_t count = world.fibres.size();
  motion.forest = assembly::make_forest(world);
  const std::size_t trees = motion.forest.trees.size();
  for (const assembly::Tree& tree : motion.forest.trees) motion.matrices.emplace_back(world, tree);
  motion.roots.resize(trees);
  motion.holds.resize(trees);
  motion.velocities.resize(count + world.free_bodies.size());
  start_velocities.resize(count);
  next_roots.resize(count);
  stage_roots.resize(count);
  root_accelerations.resize(count);
  const bool all_linear = std::all_of(world.fibres.begin(), world.fibres.end(),
                                      [](const assembly::Fibre& fibre) { return fibre.model->linear_elasticity(); });
  if (!all_linear || options.scheme == Scheme::linearised || options.theta < 1.0) trial = start;
}

void set_natural_shapes(Part& part, double time) {
  for (assembly::Kinematics* at : all_shapes(part)) at->set_natural_shapes(time);
}

void update_start(Part& part, std::vector<rods::RodState>& states) {
  for_each_fibre(part.motion.forest.trees.size(),
                 [&](std::size_t t) { assembly::update_tree(part.start, part.motion.forest.trees[t], states); });
}

void begin_part(Part& part, const Span& span) {
  part.span = span;
  assembly::FreeMotion& motion = part.motion;
  motion.begin = span.begin;
  motion.dt = span.end - span.begin;
  motion.stage = part.options.theta * motion.dt;
  part.growth_work = 0.0;
  part.air = assembly::wind_at(part.world, span.begin + part.stage());
  const int fibres = static_cast<int>(part.world.fibres.size());
  for (int f = 0; f < fibres; ++f) {
    if (assembly::grows(part.world.fibres[f], span.begin, span.end)) grow(part, f);
  }
  motion.obstacles_begin.clear();
  motion.obstacles_end.clear();
  for (int k = 0; k < static_cast<int>(part.world.obstacles.size()); ++k) {
    motion.obstacles_begin.push_back(assembly::obstacle_pose(part.start, k, span.begin));
    motion.obstacles_end.push_back(assembly::obstacle_pose(part.start, k, span.end));
  }
  part.start_rods = part.state.rods;
  for (int f = 0; f < fibres; ++f) begin_root(part, f);
  for (int t = 0; t < part.tree_count(); ++t) {
    if (part.branched(t)) assembly::update_tree(part.start, part.tree(t), part.start_rods);
  }
}

void find_root_motions(Part& part, const assembly::Kinematics& at) {
  for_each_fibre(part.motion.roots.size(), [&](std::size_t t) { find_root_motions(part, at, static_cast<int>(t)); });
}

void find_root_motions(Part& part, const assembly::Kinematics& at, int t) {
  if (!part.branched(t)) return;
  const assembly::Tree& tree = part.tree(t);
  assembly::root_motions(at, tree, part.root_accelerations[tree.fibres.front()], part.motion.roots[t]);
}

void take_root_motions(const Part& part, std::vector<VectorX>& velocities) {
  for (int t = 0; t < part.tree_count(); ++t) {
    if (!part.branched(t)) continue;
    const VectorX v = assembly::tree_velocity(part.world, part.tree(t), velocities);
    assembly::set_rod_velocities(part.world, part.tree(t), part.motion.roots[t], v, true, velocities);
  }
}

void move_fibres_to_end(Part& part, const std::vector<VectorX>& velocities) {
  const assembly::FreeMotion& motion = part.motion;
  const double theta = part.options.theta;
  part.end_rods.resize(part.world.fibres.size());
  for_each_fibre(part.end_rods.size(), [&](std::size_t f) {
    rods::Rod& rod = part.end.rod(static_cast<int>(f));
    const rods::RodState& start = part.start_rods[f];
    part.end_rods[f] = rod.advanced(start, velocities[f], motion.dt, part.next_roots[f], start.root_velocity);
    if (theta < 1.0) {
      const VectorX& mean = velocities[f];
      const VectorX end = part.start_velocities[f] + (mean - part.start_velocities[f]) / theta;
      rods::set_generalised_velocity(rod, end, part.end_rods[f]);
    }
    if (!part.branched(motion.forest.tree_of[f])) rod.update(part.end_rods[f]);
  });
  for_each_fibre(motion.forest.trees.size(), [&](std::size_t t) {
    const int tree = static_cast<int>(t);
    if (part.branched(tree)) assembly::update_tree(part.end, part.tree(tree), part.end_rods);
  });
}

std::vector<VectorX> velocities_of(const assembly::Kinematics& at, const std::vector<rods::RodState>& rods,
                                   const std::vector<bodies::BodyState>& bodies) {
  std::vector<VectorX> out;
  out.reserve(rods.size() + bodies.size());
  for (std::size_t f = 0; f < rods.size(); ++f)
    out.push_back(tresse::rods::generalised_velocity(at.rod(static_cast<int>(f)), rods[f]));
  for (const bodies::BodyState& body : bodies)
    out.emplace_back(assembly::stacked(body.velocity.linear, body.velocity.angular));
  return out;
}

bool sound(const Part& part, const std::vector<VectorX>& velocities) {
  const auto bodies = velocities.begin() + static_cast<std::ptrdiff_t>(part.world.fibres.size());
  if (!std::all_of(bodies, velocities.end(), [](const VectorX& v) { return v.allFinite(); })) return false;
  for (std::size_t f = 0; f < part.world.fibres.size(); ++f) {
    if (!part.start.rod(static_cast<int>(f)).within_reach(part.start_rods[f], velocities[f], part.motion.dt))
      return false;
  }
  return true;
}

double estimated_error(const Part& part, const std::vector<VectorX>& velocities) {
  if (!part.options.step_error) return 0.0;
  const std::size_t fibres = part.world.fibres.size();
  std::vector<double> fastest(fibres);
  for_each_fibre(fibres, [&](std::size_t f) {
    const rods::Rod& rod = part.start.rod(static_cast<int>(f));
    RodMemory memory;
    auto before = memory.matrix<Matrix3X>(3, rod.piece_count() + 1);
    auto after = memory.matrix<Matrix3X>(3, rod.piece_count() + 1);
    rod.end_velocities(part.start_velocities[f], before);
    rod.end_velocities(velocities[f], after);
    fastest[f] = (after - before).colwise().norm().maxCoeff();
  });
  double change = 0.0;
  for (const double own : fastest) change = std::max(change, own);
  for (std::size_t k = 0; k < part.world.free_bodies.size(); ++k) {
    const Vector3 mean = velocities[fibres + k].head<3>();
    change = std::max(change, (mean - part.start.bodies[k].velocity.linear).norm());
  }
  return (1.0 - 0.5 / part.options.theta) * part.motion.dt * change;
}

double velocity_change(const Part& part, const std::vector<VectorX>& before, const std::vector<VectorX>& after) {
  const assembly::FreeMotion& motion = part.motion;
  double change = 0.0;
  double size = 0.0;
  for (int t = 0; t < part.tree_count(); ++t) {
    const assembly::TreeMatrix& matrix = motion.matrices[t];
    const auto of = [&](const std::vector<VectorX>& velocities) {
      return assembly::tree_velocity(part.world, part.tree(t), velocities);
    };
    const VectorX last = of(after);
    change += matrix.squared_norm(last - of(before));
    size += std::max(matrix.squared_norm(last), matrix.squared_norm(of(motion.velocities)));
  }
  for (std::size_t k = 0; k < motion.bodies.size(); ++k) {
    const auto squared_norm = [&](const assembly::Vector6& v) {
      return v.dot(assembly::momentum(motion.bodies[k], v));
    };
    const std::size_t i = part.world.fibres.size() + k;
    change += squared_norm(after[i] - before[i]);
    size += std::max(squared_norm(after[i]), squared_norm(motion.velocities[i]));
  }
  return size > 0.0 ? std::sqrt(change / size) : 0.0;
}

}  // namespace tresse::dynamics::detail
