#include <tresse/dynamics/detail/carried_motion.hpp>

#include <algorithm>
#include <cmath>
#include <utility>

#include <tresse/dynamics/detail/fibre_loop.hpp>

namespace tresse::dynamics::detail {
namespace {

/// What the rod's momentum is beyond that of sampled velocities in its shape, about the world origin.
void gain_momentum(const rods::Rod& rod, const rods::MaterialMotion& before, Twist& out) {
  Vector3 linear, angular;
  rod.momentum(out.linear, out.angular);
  rod.material_momentum(before, linear, angular);
  out.linear -= linear;
  out.angular -= angular;
}

}  // namespace

CarriedMotion::CarriedMotion(Part& part) : part_(part) {
  const std::size_t fibres = part.world.fibres.size();
  const std::size_t trees = part.motion.forest.trees.size();
  sampled_.resize(fibres);
  start_fields_.resize(fibres);
  knows_start_.resize(trees);
  shapes_.resize(fibres);
  pass_velocities_.resize(fibres);
  pass_fields_.resize(fibres);
  knows_pass_.resize(trees);
  if (part.options.scheme == Scheme::carried) {
    for (const assembly::Tree& tree : part.motion.forest.trees) masses_.emplace_back(part.world, tree);
  }
  weighed_.resize(trees);
  end_velocities_.resize(fibres);
  balances_.resize(fibres);
}

void CarriedMotion::begin() { std::fill(knows_start_.begin(), knows_start_.end(), 0); }

void CarriedMotion::note_shapes(int t, const std::vector<rods::RodState>& shapes) {
  for (const int f : part_.tree(t).fibres) shapes_[f] = shapes[f];
  knows_pass_[t] = 0;
}

void CarriedMotion::set_shapes(std::vector<rods::RodState> shapes) {
  shapes_ = std::move(shapes);
  std::fill(knows_pass_.begin(), knows_pass_.end(), 0);
}

void CarriedMotion::sample_start(int t) {
  if (knows_start_[t]) return;
  const assembly::Tree& tree = part_.tree(t);
  for (const int f : tree.fibres) sampled_[f] = part_.state.rods[f];
  assembly::update_tree(part_.linearised, tree, sampled_);
  for (const int f : tree.fibres) part_.linearised.rod(f).sample_motion(start_fields_[f]);
  knows_start_[t] = 1;
}

/// What sampled velocities are as a momentum in the shapes `at`, (dof of the tree); with what gravity, the air and the
/// prescribed motion bring over `h`.
void CarriedMotion::momentum_of(const assembly::Kinematics& at, int t,
                                const std::vector<rods::MaterialMotion>& material, double h, VectorX& out) const {
  const assembly::Tree& tree = part_.tree(t);
  const int trunk = tree.fibres.front();
  out.setZero(tree.dof);
  if (!part_.branched(t)) {
    at.rod(trunk).carried_momentum(material[trunk], part_.lone_loads(trunk), h, out);
    return;
  }
  const std::vector<assembly::RootMotion>& roots = part_.motion.roots[t];
  for (int k = 0; k < static_cast<int>(tree.fibres.size()); ++k) {
    const int f = tree.fibres[k];
    const rods::Rod& rod = at.rod(f);
    RodMemory memory;
    auto own = memory.matrix<VectorX>(rod.dof());
    rod.carried_momentum(material[f], assembly::rod_loads(part_.world, tree, roots, k, part_.air), h, own);
    assembly::add_rod_force(part_.world, tree, roots, k, own, out);
  }
}

void CarriedMotion::assemble(int t, const std::vector<VectorX>* v_at) {
  const assembly::Kinematics& at = v_at ? part_.linearised : part_.start;
  assembly::FreeMotion& motion = part_.motion;
  const assembly::World& world = part_.world;
  const assembly::Tree& tree = part_.tree(t);
  const int trunk = tree.fibres.front();
  const double h = part_.stage();
  const bool lone = !part_.branched(t);
  // At the start, w is that of the velocities there: their momentum is what the factor makes beside.
  const bool plain =
      !v_at && lone && !part_.driven(t) && (assembly::drag_of(world, trunk) == 0.0 || part_.air.isZero(0.0));
  if (!plain && !v_at) sample_start(t);
  VectorX of_tree;
  VectorX start_of_tree;
  if (!lone) start_of_tree = assembly::tree_velocity(world, tree, part_.start_velocities);
  VectorX& v = lone ? motion.velocities[trunk] : of_tree;
  const VectorX& start = lone ? part_.start_velocities[trunk] : start_of_tree;
  if (motion.matrices[t].factor(at, tree, motion.roots[t], h, start, v)) {
    if (plain) {
      RodMemory memory;
      auto weight = memory.matrix<VectorX>(tree.dof);
      at.rod(trunk).gravity_force(assembly::gravity_of(world), weight);
      v += h * weight;
    } else {
      momentum_of(at, t, start_fields_, h, v);
    }
    add_impulse(t, v_at, v);
    motion.matrices[t].solve(v);
  } else {
    v.setConstant(tree.dof, std::nan(""));  // reported as a state that stopped being finite
  }
  if (!lone) assembly::set_rod_velocities(world, tree, motion.roots[t], v, true, motion.velocities);
}

/// Adds h times the elastic force of the start, and the fluid's, to that on a tree, linearised in the shape that `v_at`
/// reached (none: that of the start).
void CarriedMotion::add_impulse(int t, const std::vector<VectorX>* v_at, VectorX& into) const {
  const assembly::Tree& tree = part_.tree(t);
  const double h = part_.stage();
  const assembly::Kinematics& at = v_at ? part_.linearised : part_.start;
  for (int k = 0; k < static_cast<int>(tree.fibres.size()); ++k) {
    const int f = tree.fibres[k];
    const rods::Rod& rod = at.rod(f);
    RodMemory memory;
    auto own = memory.matrix<VectorX>(rod.dof());
    rod.elastic_force(own);
    own *= h;
    if (!part_.fluid_force.empty()) own += h * part_.fluid_force[f];
    if (v_at) rod.add_stiffness_times(h * h, (*v_at)[f], own);
    if (k == 0) {
      into.head(own.size()) += own;
    } else {
      assembly::add_rod_force(part_.world, tree, part_.motion.roots[t], k, own, into);
    }
  }
}

/// Whether a tree was linearised in the shape of the start.
bool CarriedMotion::linearised_at_start(int t) const {
  const std::vector<int>& fibres = part_.tree(t).fibres;
  return std::all_of(fibres.begin(), fibres.end(), [&](int f) {
    const rods::RodState& start = part_.start_rods[f];
    const rods::RodState& then = shapes_[f];
    return start.coordinates == then.coordinates && start.root.position == then.root.position &&
           start.root.frame == then.root.frame;
  });
}

/// The field of a pass's velocities, in the shape in which the pass was linearised. Where that is the shape of the
/// start, the rods that stand in it take these velocities: they know its integrals.
void CarriedMotion::sample_pass(int t, const std::vector<VectorX>& velocities) {
  const assembly::Tree& tree = part_.tree(t);
  assembly::Kinematics& at = linearised_at_start(t) ? part_.start : part_.linearised;
  for (const int f : tree.fibres) {
    pass_velocities_[f] = velocities[f];
    rods::set_generalised_velocity(at.rod(f), velocities[f], shapes_[f]);
  }
  assembly::update_tree(at, tree, shapes_);
  begin_balance(at, t);
  for (const int f : tree.fibres) at.rod(f).sample_motion(pass_fields_[f]);
  knows_pass_[t] = 1;
}

void CarriedMotion::carry_to_end(const std::vector<VectorX>& velocities) {
  for_each_fibre(part_.motion.forest.trees.size(), [&](std::size_t t) {
    if (part_.carries(static_cast<int>(t))) carry_to_end(static_cast<int>(t), velocities);
  });
}

void CarriedMotion::carry_to_end(int t, const std::vector<VectorX>& velocities) {
  const assembly::Tree& tree = part_.tree(t);
  assembly::Kinematics& end = part_.end;
  const bool sampled = knows_pass_[t] && std::all_of(tree.fibres.begin(), tree.fibres.end(),
                                                     [&](int f) { return pass_velocities_[f] == velocities[f]; });
  if (!sampled) sample_pass(t, velocities);
  assembly::update_tree(end, tree, part_.end_rods);
  find_root_motions(part_, end, t);
  const std::vector<assembly::RootMotion>& roots = part_.motion.roots[t];
  const VectorX none = VectorX::Zero(tree.dof);
  VectorX v;
  // A matrix and velocities of their own: the pass may be repaired, with those of the step.
  assembly::TreeMatrix& mass = masses_[static_cast<std::size_t>(t)];
  // Where sections have no rotary inertia the mass matrix may be singular: that of the step takes a little more energy.
  weighed_[t] = mass.factor(end, tree, roots, 0.0, none, v) ? 1 : 0;
  if (weighed_[t] == 0 && !mass.factor(end, tree, roots, part_.stage(), none, v)) return;
  momentum_of(end, t, pass_fields_, 0.0, v);
  mass.solve(v);
  assembly::set_rod_velocities(part_.world, tree, roots, v, true, end_velocities_);
  for (const int f : tree.fibres) rods::set_generalised_velocity(end.rod(f), end_velocities_[f], part_.end_rods[f]);
  assembly::update_tree(end, tree, part_.end_rods);
  end_balance(t);
}

/// Begins the balance of a carried tree, `at` the shape in which a pass was linearised, with the velocity of that pass.
void CarriedMotion::begin_balance(const assembly::Kinematics& at, int t) {
  const bool driven = part_.driven(t);
  for (const int f : part_.tree(t).fibres) {
    FibreBalance& own = balances_[f];
    own = {};
    const rods::Rod& rod = at.rod(f);
    if (assembly::drag_of(part_.world, f) > 0.0 || driven) own.motion = rod.motion();
    if (!driven) continue;
    own.first_moment = first_moment(rod);
    gain_momentum(rod, start_fields_[f], own.gained);
  }
}

void CarriedMotion::end_balance(int t) {
  if (!part_.driven(t)) return;
  for (const int f : part_.tree(t).fibres) gain_momentum(part_.end.rod(f), pass_fields_[f], balances_[f].carried);
}

}  // namespace tresse::dynamics::detail
