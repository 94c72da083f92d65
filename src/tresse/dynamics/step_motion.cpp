#include <algorithm>
#include <cmath>

#include <tresse/dynamics/detail/fibre_loop.hpp>
#include <tresse/dynamics/detail/implicit_motion.hpp>
#include <tresse/dynamics/detail/step_pass.hpp>
#include <tresse/math/gmres.hpp>

// The stepper's motion without contact: linearised, or solved where elasticity is not linear, tree by tree.
namespace tresse::dynamics::detail {

bool Engine::branched(const assembly::Tree& tree) { return tree.fibres.size() > 1; }

/// How the roots of branches move in the shapes `at`.
void Engine::find_root_motions(const assembly::Kinematics& at) {
  for_each_fibre(motion_.roots.size(), [&](std::size_t t) { find_root_motions(at, static_cast<int>(t)); });
}

void Engine::find_root_motions(const assembly::Kinematics& at, int t) {
  const assembly::Tree& tree = motion_.forest.trees[t];
  if (branched(tree)) {
    assembly::root_motions(at, tree, root_accelerations_[tree.fibres.front()], motion_.roots[t]);
  }
}

/// Lets the roots of branches move by the same unknowns as find_root_motions() last saw them.
void Engine::take_root_motions(std::vector<VectorX>& velocities) const {
  for (std::size_t t = 0; t < motion_.roots.size(); ++t) {
    const assembly::Tree& tree = motion_.forest.trees[t];
    if (!branched(tree)) continue;
    const VectorX v = assembly::tree_velocity(world_, tree, velocities);
    assembly::set_rod_velocities(world_, tree, motion_.roots[t], v, true, velocities);
  }
}

/// Linearises the dynamics of a tree: M (v - v_0) = h (forces in that shape) with elasticity, damping and drag
/// implicit in v, the mean velocity of the step, and h = theta dt. At the end of h (`at_end`), reached with `v_at`, the
/// elastic force is the rods' plus h K (v_at - v).
void Engine::assemble_tree(int t, const std::vector<VectorX>& v_at, bool at_end) {
  const assembly::Tree& tree = motion_.forest.trees[t];
  const assembly::Kinematics& at = at_end ? linearised_ : start_;
  const int trunk = tree.fibres.front();
  if (!branched(tree)) {
    if (!at_end && !linear(t)) {
      assemble_free_motion(trunk, t);
    } else {
      assemble_fibre(trunk, t, v_at[trunk], at_end);
    }
    return;
  }
  const std::vector<assembly::RootMotion>& roots = motion_.roots[t];
  const double h = stage();
  VectorX v;
  const VectorX start = assembly::tree_velocity(world_, tree, start_velocities_);
  if (motion_.matrices[t].factor(at, tree, roots, h, start, v)) {
    for (int k = 0; k < static_cast<int>(tree.fibres.size()); ++k) {
      const rods::Rod& rod = at.rod(tree.fibres[k]);
      RodMemory memory;
      auto force = memory.matrix<VectorX>(rod.dof());
      auto own = memory.matrix<VectorX>(rod.dof());
      own.setZero();
      rod.elastic_force(force);
      own += h * force;
      rod.inertial_and_external_force(assembly::rod_loads(world_, tree, roots, k, air_), force);
      own += h * force;
      if (at_end) rod.add_stiffness_times(h * h, v_at[tree.fibres[k]], own);
      assembly::add_rod_force(world_, tree, roots, k, own, v);
    }
    motion_.matrices[t].solve(v);
  } else {
    v.setConstant(tree.dof, std::nan(""));  // reported as a state that stopped being finite
  }
  assembly::set_rod_velocities(world_, tree, roots, v, true, motion_.velocities);
}

rods::RodLoads Engine::lone_loads(int f) const {
  return {world_.gravity, root_accelerations_[f], world_.fibres[f].drag, air_, {}};
}

/// assemble_tree() of a lone fibre.
void Engine::assemble_fibre(int f, int t, const VectorX& v_at, bool at_end) {
  const assembly::Kinematics& at = at_end ? linearised_ : start_;
  const rods::Rod& rod = at.rod(f);
  const double h = stage();
  VectorX& v = motion_.velocities[f];
  if (!motion_.matrices[t].factor(at, motion_.forest.trees[t], {}, h, start_velocities_[f], v)) {
    v.setConstant(rod.dof(), std::nan(""));
    return;
  }
  RodMemory memory;
  auto force = memory.matrix<VectorX>(rod.dof());
  rod.elastic_force(force);
  v += h * force;
  rod.inertial_and_external_force(lone_loads(f), force);
  v += h * force;
  if (at_end) rod.add_stiffness_times(h * h, v_at, v);
  motion_.matrices[t].solve(v);
}

/// The free motion with the inertial force linearised, from that with the force of the start.
void Engine::linearise_free_motion(int t) {
  const assembly::Tree& tree = motion_.forest.trees[t];
  const VectorX start = assembly::tree_velocity(world_, tree, start_velocities_);
  VectorX v = assembly::tree_velocity(world_, tree, motion_.velocities) - start;
  free_results_[tree.fibres.front()] = linearise_inertia(t, v);
  find_root_motions(start_, t);
  v += start;
  assembly::set_rod_velocities(world_, tree, motion_.roots[t], v, true, motion_.velocities);
}

/// Elasticity that is not linear: the free motion is solved to its end, where the matrix then is.
void Engine::assemble_free_motion(int f, int t) {
  const assembly::Fibre& fibre = world_.fibres[f];
  const FreeStep step{start_rods_[f], stage_roots_[f], stage(), fibre.drag, lone_loads(f)};
  free_results_[f] = solve_free_motion(trial_->rod(f), motion_.matrices[t].lone(), step, options_.motion_tolerance,
                                       options_.max_motion_iterations, motion_.velocities[f]);
}

/// For another pass at the end that the last predicts. All that acts on a tree is taken at one
/// shape: matrix, inertia, gravity, contact and holds. Light motions, such as a turn of a curved rod about its own
/// centreline, feel differences of forces that nearly cancel. Taken at two shapes these differences would be wrong, and
/// passes and steps would drift apart: docs/theory/dynamics.md, "One shape".
void Engine::assemble_at_end(int t, const Pass& pass) {
  const assembly::Tree& tree = motion_.forest.trees[t];
  const bool carried = options_.scheme != Scheme::nonlinear && linear(t);  // where rates alone do not tell the momentum
  const auto assemble = [&] {
    if (carried) {
      assemble_carried(t, &pass.velocities);
    } else {
      assemble_tree(t, pass.velocities, true);
    }
    holds_.note_free(t);
    holds_.linearise(linearised_, t);
  };
  if (carried) sample_material(t);
  if (carries(t)) {
    for (const int f : tree.fibres) linearised_rods_[f] = end_rods_[f];
    knows_pass_[t] = 0;
  }
  if (options_.theta == 1.0) {
    assembly::update_tree(linearised_, tree, end_rods_);
    find_root_motions(linearised_, t);
    assemble();
    return;
  }
  for (const int f : tree.fibres) {
    stage_rods_[f] = linearised_.rod(f).advanced(start_rods_[f], pass.velocities[f], stage(), stage_roots_[f],
                                                 start_rods_[f].root_velocity);
  }
  assembly::update_tree(linearised_, tree, stage_rods_);
  find_root_motions(linearised_, t);
  assemble();
  find_root_motions(end_, t);
}

/// Whether the elasticity of a tree is.
bool Engine::linear(int t) const {
  return world_.fibres[motion_.forest.trees[t].fibres.front()].model->linear_elasticity();
}

/// Generalised inertial force -A and what else is constant, (dof), of a tree that moves with `v` where it started.
void Engine::inertial_force(int t, const VectorX& v, VectorX& out) {
  const assembly::Tree& tree = motion_.forest.trees[t];
  const int trunk = tree.fibres.front();
  for (std::size_t k = 0; k < tree.fibres.size(); ++k) {
    const int f = tree.fibres[k];
    stage_rods_[f] = start_rods_[f];
    if (k == 0) {
      const rods::Rod& rod = trial_->rod(f);
      rods::set_generalised_velocity(rod, v.head(rod.dof()), stage_rods_[f]);
    } else {
      stage_rods_[f].rates = v.segment(tree.begin[k], stage_rods_[f].rates.size());  // its parent moves its root
    }
  }
  assembly::update_tree(*trial_, tree, stage_rods_);
  find_root_motions(*trial_, t);
  out.setZero(tree.dof);
  if (!branched(tree)) {
    trial_->rod(trunk).inertial_and_external_force(lone_loads(trunk), out);
    return;
  }
  for (int k = 0; k < static_cast<int>(tree.fibres.size()); ++k) {
    const rods::Rod& rod = trial_->rod(tree.fibres[k]);
    RodMemory memory;
    auto own = memory.matrix<VectorX>(rod.dof());
    rod.inertial_and_external_force(assembly::rod_loads(world_, tree, motion_.roots[t], k, air_), own);
    assembly::add_rod_force(world_, tree, motion_.roots[t], k, own, out);
  }
}

/// change := (1 + h M^-1 A')^-1 change, with A' = dA/dv at the start: what the inertial force, linearised there, leaves
/// of a change of a tree's velocity. A is quadratic in v, so that central differences give A' exactly. A' is not
/// symmetric: by GMRES, in whitened coordinates, without writing it out.
FreeMotionResult Engine::linearise_inertia(int t, VectorX& change) {
  const assembly::TreeMatrix& matrix = motion_.matrices[t];
  const VectorX start = assembly::tree_velocity(world_, motion_.forest.trees[t], start_velocities_);
  const double speed = std::sqrt(matrix.squared_norm(start));
  VectorX forward;
  VectorX backward;
  // out = h U^-1 A' w
  const auto whitened_force = [&](const VectorX& w, VectorX& out) {
    const double size = std::sqrt(matrix.squared_norm(w));
    const double scale = speed > 0.0 && size > 0.0 ? speed / size : 1.0;
    inertial_force(t, start + scale * w, forward);
    inertial_force(t, start - scale * w, backward);
    out = stage() / (2.0 * scale) * (backward - forward);
    matrix.whiten(out);
  };
  VectorX rhs;
  whitened_force(change, rhs);
  const auto apply = [&](const VectorX& x, VectorX& out) {
    VectorX w = x;
    matrix.velocity_from_whitened(w);
    whitened_force(w, out);
    out += x;
  };
  constexpr double tolerance = 1e-13;
  constexpr int most = 40;
  VectorX less;
  const math::GmresResult result = math::gmres(apply, rhs, tolerance, most, less);
  matrix.velocity_from_whitened(less);
  change -= less;
  constexpr double enough = 1e-9;  // rounding of the differences may keep it above the tolerance
  return {result.residual <= enough ? Status::converged : Status::max_iterations, result.iterations};
}

}  // namespace tresse::dynamics::detail
