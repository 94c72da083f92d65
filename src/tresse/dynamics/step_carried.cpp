#include <algorithm>
#include <cmath>

#include <tresse/dynamics/detail/fibre_loop.hpp>
#include <tresse/dynamics/detail/step_pass.hpp>

// The stepper's motion with the velocity of the material carried from shape to shape: docs/theory/energy.md, "Carried
// velocity".
namespace tresse::dynamics::detail {

/// Samples how the material of a tree moves at the start of this part, unless that is known.
void Engine::sample_material(int t) {
  if (knows_material_[t]) return;
  const assembly::Tree& tree = motion_.forest.trees[t];
  assembly::update_tree(start_, tree, state_.rods);
  for (const int f : tree.fibres) start_.rod(f).sample_motion(material_[f]);
  knows_material_[t] = 1;
}

/// What sampled velocities are as a momentum in the shapes `at`, (dof of the tree); with what gravity, the
/// air and the prescribed motion bring over `h`.
void Engine::carried_momentum(const assembly::Kinematics& at, int t, const std::vector<rods::MaterialMotion>& material,
                              double h, VectorX& out) const {
  const assembly::Tree& tree = motion_.forest.trees[t];
  const int trunk = tree.fibres.front();
  out.setZero(tree.dof);
  if (!branched(tree)) {
    at.rod(trunk).carried_momentum(material[trunk], lone_loads(trunk), h, out);
    return;
  }
  for (int k = 0; k < static_cast<int>(tree.fibres.size()); ++k) {
    const int f = tree.fibres[k];
    const rods::Rod& rod = at.rod(f);
    RodMemory memory;
    auto own = memory.matrix<VectorX>(rod.dof());
    rod.carried_momentum(material[f], assembly::rod_loads(world_, tree, motion_.roots[t], k, air_), h, own);
    assembly::add_rod_force(world_, tree, motion_.roots[t], k, own, out);
  }
}

/// assemble_tree() with the inertial force of the move from the start's shape to that of the linearisation, which
/// `v_at` reached (none: that is the start):
///   (M + h D + h^2 K + h C) v = int J^T rho (w + h g) ds + h (elastic force of the start + air),
/// J and M in the shape of the linearisation, w the velocity of the material at the start.
void Engine::assemble_carried(int t, const std::vector<VectorX>* v_at) {
  assembly::Kinematics& at = v_at ? linearised_ : start_;
  const assembly::Tree& tree = motion_.forest.trees[t];
  const int trunk = tree.fibres.front();
  const double h = stage();
  const bool lone = !branched(tree);
  // At the start, w is that of the velocities there: their momentum is what the factor makes beside.
  const bool plain = !v_at && lone && !driven(t) && (world_.fibres[trunk].drag == 0.0 || air_.isZero(0.0));
  if (!plain && !v_at) {
    sample_material(t);
    assembly::update_tree(start_, tree, start_rods_);
  }
  VectorX of_tree;
  VectorX start_of_tree;
  if (!lone) start_of_tree = assembly::tree_velocity(world_, tree, start_velocities_);
  VectorX& v = lone ? motion_.velocities[trunk] : of_tree;
  const VectorX& start = lone ? start_velocities_[trunk] : start_of_tree;
  if (motion_.matrices[t].factor(at, tree, motion_.roots[t], h, start, v)) {
    if (plain) {
      RodMemory memory;
      auto weight = memory.matrix<VectorX>(tree.dof);
      at.rod(trunk).gravity_force(world_.gravity, weight);
      v += h * weight;
    } else {
      carried_momentum(at, t, material_, h, v);
    }
    add_elastic_impulse(t, v_at, v);
    motion_.matrices[t].solve(v);
  } else {
    v.setConstant(tree.dof, std::nan(""));  // reported as a state that stopped being finite
  }
  if (!lone) assembly::set_rod_velocities(world_, tree, motion_.roots[t], v, true, motion_.velocities);
}

/// Adds h times the elastic force of the start to that on a tree, linearised in the shape that `v_at` reached (none:
/// that of the start).
void Engine::add_elastic_impulse(int t, const std::vector<VectorX>* v_at, VectorX& into) const {
  const assembly::Tree& tree = motion_.forest.trees[t];
  const double h = stage();
  const assembly::Kinematics& at = v_at ? linearised_ : start_;
  for (int k = 0; k < static_cast<int>(tree.fibres.size()); ++k) {
    const int f = tree.fibres[k];
    const rods::Rod& rod = at.rod(f);
    RodMemory memory;
    auto own = memory.matrix<VectorX>(rod.dof());
    rod.elastic_force(own);
    own *= h;
    if (v_at) rod.add_stiffness_times(h * h, (*v_at)[f], own);
    if (k == 0) {
      into.head(own.size()) += own;
    } else {
      assembly::add_rod_force(world_, tree, motion_.roots[t], k, own, into);
    }
  }
}

/// Whether a tree was linearised in the shape of the start.
bool Engine::linearised_at_start(int t) const {
  const std::vector<int>& fibres = motion_.forest.trees[t].fibres;
  return std::all_of(fibres.begin(), fibres.end(), [&](int f) {
    const rods::RodState& start = start_rods_[f];
    const rods::RodState& then = linearised_rods_[f];
    return start.coordinates == then.coordinates && start.root.position == then.root.position &&
           start.root.frame == then.root.frame;
  });
}

/// The field of a pass's velocities, in the shape in which the pass was linearised.
void Engine::sample_pass(int t, const Pass& pass) {
  const assembly::Tree& tree = motion_.forest.trees[t];
  assembly::Kinematics& at = linearised_at_start(t) ? start_ : linearised_;
  for (const int f : tree.fibres) {
    pass_velocities_[f] = pass.velocities[f];
    rods::set_generalised_velocity(at.rod(f), pass.velocities[f], linearised_rods_[f]);
  }
  assembly::update_tree(at, tree, linearised_rods_);
  begin_balance(at, t);
  for (const int f : tree.fibres) at.rod(f).sample_motion(pass_material_[f]);
  knows_pass_[t] = 1;
}

void Engine::carry_to_end(const Pass& pass) {
  for_each_fibre(motion_.forest.trees.size(), [&](std::size_t t) {
    if (carries(static_cast<int>(t))) carry_to_end(static_cast<int>(t), pass);
  });
}

/// The velocities at the end of this part: those whose field is nearest to that of a pass, which
/// belongs to the shape that it was linearised in. They have at most its energy.
void Engine::carry_to_end(int t, const Pass& pass) {
  const assembly::Tree& tree = motion_.forest.trees[t];
  const bool sampled = knows_pass_[t] && std::all_of(tree.fibres.begin(), tree.fibres.end(),
                                                     [&](int f) { return pass_velocities_[f] == pass.velocities[f]; });
  if (!sampled) sample_pass(t, pass);
  assembly::update_tree(end_, tree, end_rods_);
  find_root_motions(end_, t);
  const std::vector<assembly::RootMotion>& roots = motion_.roots[t];
  const VectorX none = VectorX::Zero(tree.dof);
  VectorX v;
  // A matrix and velocities of their own: the pass may be repaired, with those of the step.
  assembly::TreeMatrix& mass = masses_[static_cast<std::size_t>(t)];
  // Where sections have no rotary inertia the mass matrix may be singular: that of the step takes a little more energy.
  if (!mass.factor(end_, tree, roots, 0.0, none, v) && !mass.factor(end_, tree, roots, stage(), none, v)) return;
  carried_momentum(end_, t, pass_material_, 0.0, v);
  mass.solve(v);
  assembly::set_rod_velocities(world_, tree, roots, v, true, end_velocities_);
  for (const int f : tree.fibres) rods::set_generalised_velocity(end_.rod(f), end_velocities_[f], end_rods_[f]);
  assembly::update_tree(end_, tree, end_rods_);
  end_balance(t);
}

}  // namespace tresse::dynamics::detail
