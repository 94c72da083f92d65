#include <cmath>

#include <tresse/dynamics/detail/fibre_loop.hpp>
#include <tresse/dynamics/detail/step_pass.hpp>

// The stepper's motion without contact: linearised, or solved where elasticity is not linear, tree by tree.
namespace tresse::dynamics {

bool Stepper::branched(const assembly::Tree& tree) { return tree.fibres.size() > 1; }

/// How the roots of branches move where the rods are.
void Stepper::find_root_motions() {
  detail::for_each_fibre(motion_.roots.size(), [&](std::size_t t) { find_root_motions(static_cast<int>(t)); });
}

void Stepper::find_root_motions(int t) {
  const assembly::Tree& tree = motion_.forest.trees[t];
  if (branched(tree)) {
    assembly::root_motions(world_, tree, root_accelerations_[tree.fibres.front()], motion_.roots[t]);
  }
}

/// Lets the roots of branches move by the same unknowns as find_root_motions() last saw them.
void Stepper::take_root_motions(std::vector<VectorX>& velocities) const {
  for (std::size_t t = 0; t < motion_.roots.size(); ++t) {
    const assembly::Tree& tree = motion_.forest.trees[t];
    if (!branched(tree)) continue;
    const VectorX v = assembly::tree_velocity(world_, tree, velocities);
    assembly::set_rod_velocities(world_, tree, motion_.roots[t], v, true, velocities);
  }
}

/// Linearises the dynamics of a tree: M (v - v_0) = h (forces where the rods are) with elasticity, damping and drag
/// implicit in v, the mean velocity of the step, and h = theta dt. At the end of h (`at_end`), reached with `v_at`, the
/// elastic force is the rods' plus h K (v_at - v).
void Stepper::assemble_tree(int t, const std::vector<VectorX>& v_at, bool at_end) {
  const assembly::Tree& tree = motion_.forest.trees[t];
  const int trunk = tree.fibres.front();
  if (!branched(tree)) {
    if (!at_end && !world_.fibres[trunk].rod->linear_elasticity()) {
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
  if (motion_.matrices[t].factor(world_, tree, roots, h, start, v)) {
    thread_local VectorX force;
    thread_local VectorX own;
    for (int k = 0; k < static_cast<int>(tree.fibres.size()); ++k) {
      const rods::Rod& rod = *world_.fibres[tree.fibres[k]].rod;
      own.setZero(rod.dof());
      force.resize(rod.dof());
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

/// assemble_tree() of a lone fibre.
void Stepper::assemble_fibre(int f, int t, const VectorX& v_at, bool at_end) {
  assembly::Fibre& fibre = world_.fibres[f];
  rods::Rod& rod = *fibre.rod;
  const double h = stage();
  VectorX& v = motion_.velocities[f];
  if (!motion_.matrices[t].factor(world_, motion_.forest.trees[t], {}, h, start_velocities_[f], v)) {
    v.setConstant(rod.dof(), std::nan(""));
    return;
  }
  thread_local VectorX force;
  force.resize(rod.dof());
  rod.elastic_force(force);
  v += h * force;
  rod.inertial_and_external_force({world_.gravity, root_accelerations_[f], fibre.drag, air_, {}}, force);
  v += h * force;
  if (at_end) rod.add_stiffness_times(h * h, v_at, v);
  motion_.matrices[t].solve(v);
}

/// Elasticity that is not linear: the free motion is solved to its end, where the matrix then is; the rod stays.
void Stepper::assemble_free_motion(int f, int t) {
  const assembly::Fibre& fibre = world_.fibres[f];
  const FreeStep step{start_rods_[f],
                      stage_roots_[f],
                      stage(),
                      fibre.drag,
                      {world_.gravity, root_accelerations_[f], fibre.drag, air_, {}}};
  free_results_[f] = solve_free_motion(*fibre.rod, motion_.matrices[t].lone(), step, options_.motion_tolerance,
                                       options_.max_motion_iterations, motion_.velocities[f]);
  fibre.rod->update(start_rods_[f]);
}

/// For another pass at the end that the last predicts.
void Stepper::assemble_at_end(int t, const Pass& pass, bool relinearise_holds) {
  if (options_.scheme == Scheme::nonlinear || !linear(t)) {
    assemble_at_stage(t, pass.velocities);
  } else if (!world_.gravity.isZero(0.0) || held(t)) {
    assemble_gravity_at_end(t);
    if (relinearise_holds) linearise_holds(t);
  }
}

/// Whether the elasticity of a tree is.
bool Stepper::linear(int t) const {
  return world_.fibres[motion_.forest.trees[t].fibres.front()].rod->linear_elasticity();
}

/// assemble_tree() at theta, reached with `v_mean`; the rods are left at the end.
void Stepper::assemble_at_stage(int t, const std::vector<VectorX>& v_mean) {
  if (options_.theta == 1.0) {
    assemble_tree(t, v_mean, true);
    linearise_holds(t);
    return;
  }
  const assembly::Tree& tree = motion_.forest.trees[t];
  stage_rods_.resize(world_.fibres.size());
  for (const int f : tree.fibres) {
    stage_rods_[f] = world_.fibres[f].rod->advanced(start_rods_[f], v_mean[f], stage(), stage_roots_[f],
                                                    start_rods_[f].root_velocity);
  }
  assembly::update_tree(world_, tree, stage_rods_);
  find_root_motions(t);
  assemble_tree(t, v_mean, true);
  linearise_holds(t);
  assembly::update_tree(world_, tree, end_rods_);
  find_root_motions(t);
}

/// Generalised force of gravity where the rods are, (dof of the tree).
void Stepper::gravity_on_tree(int t, VectorX& out) const {
  const assembly::Tree& tree = motion_.forest.trees[t];
  out.setZero(tree.dof);
  if (!branched(tree)) {
    world_.fibres[tree.fibres.front()].rod->gravity_force(world_.gravity, out);
    return;
  }
  thread_local VectorX own;
  for (int k = 0; k < static_cast<int>(tree.fibres.size()); ++k) {
    const rods::Rod& rod = *world_.fibres[tree.fibres[k]].rod;
    own.resize(rod.dof());
    rod.gravity_force(world_.gravity, own);
    assembly::add_rod_force(world_, tree, motion_.roots[t], k, own, out);
  }
}

/// Velocity without contact with gravity's force where the rods are, the end that the last pass predicts. Contact
/// forces act there too: taken at different ends of the step the two, which nearly cancel in a fibre that hangs over
/// something, would drive oscillations.
void Stepper::assemble_gravity_at_end(int t) {
  thread_local VectorX v;
  gravity_on_tree(t, v);
  v = options_.theta * stage() * (v - first_gravity_[t]);
  motion_.matrices[t].solve(v);
  v += first_free_[t];
  assembly::set_rod_velocities(world_, motion_.forest.trees[t], motion_.roots[t], v, true, motion_.velocities);
}

}  // namespace tresse::dynamics
