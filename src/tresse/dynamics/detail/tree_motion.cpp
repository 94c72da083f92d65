#include <tresse/dynamics/detail/tree_motion.hpp>

#include <cmath>

#include <tresse/dynamics/detail/fibre_loop.hpp>
#include <tresse/dynamics/detail/implicit_motion.hpp>
#include <tresse/math/gmres.hpp>

namespace tresse::dynamics::detail {

TreeMotion::TreeMotion(Part& part) : part_(part), carried_(part) {
  tried_.resize(part.world.fibres.size());
  results_.assign(part.world.fibres.size(), {Status::converged, 0});
}

bool TreeMotion::inertia_linearised(int t) const {
  return part_.options.scheme == Scheme::linearised && part_.linear(t);
}

/// Whether a pass of a tree without a load leaves its matrix and its rows as they were and corrects held points alone.
/// Rows that turn, or a tip that does, as that of a limp cord, leave a miss that no such pass changes.
bool TreeMotion::corrects_alone(int t, bool slow) const {
  return part_.carries(t) ? !slow : part_.options.scheme == Scheme::semi_implicit && part_.linear(t);
}

void TreeMotion::assemble_at_start(HeldPoints& holds) {
  find_root_motions(part_, part_.start);
  for_each_fibre(part_.motion.forest.trees.size(), [&](std::size_t index) {
    const int t = static_cast<int>(index);
    for (const int f : part_.tree(t).fibres)
      rods::generalised_velocity(part_.start.rod(f), part_.start_rods[f], part_.start_velocities[f]);
    if (part_.carries(t)) {
      carried_.note_shapes(t, part_.start_rods);
      carried_.assemble(t, nullptr);
    } else {
      assemble_tree(t, part_.start_velocities, false);
      if (inertia_linearised(t)) linearise_free_motion(t);
    }
    holds.note_free(t);
    holds.linearise(part_.start, t);
  });
}

void TreeMotion::assemble_at_end(const std::vector<VectorX>& velocities, const std::vector<char>& touched, bool free,
                                 bool slow, HeldPoints& holds) {
  find_root_motions(part_, part_.end);
  for_each_fibre(part_.motion.forest.trees.size(), [&](std::size_t index) {
    const int t = static_cast<int>(index);
    const bool corrected = free && corrects_alone(t, slow);
    holds.note_corrected(t, corrected);
    if (corrected) {
      holds.let_go(t);
    } else if (touched[index] || part_.options.scheme == Scheme::nonlinear) {
      assemble_tree_at_end(t, velocities, holds);
    }
  });
}

/// Linearises the dynamics of a tree: M (v - v_0) = h (forces in that shape) with elasticity, damping and drag
/// implicit in v, the mean velocity of the step, and h = theta dt. At the end of h (`at_end`), reached with `v_at`, the
/// elastic force is the rods' plus h K (v_at - v).
void TreeMotion::assemble_tree(int t, const std::vector<VectorX>& v_at, bool at_end) {
  const assembly::World& world = part_.world;
  const assembly::Tree& tree = part_.tree(t);
  const assembly::Kinematics& at = at_end ? part_.linearised : part_.start;
  assembly::FreeMotion& motion = part_.motion;
  if (!part_.branched(t)) {
    if (!at_end && !part_.linear(t)) {
      solve_fibre(t);
    } else {
      assemble_fibre(t, v_at[tree.fibres.front()], at_end);
    }
    return;
  }
  const std::vector<assembly::RootMotion>& roots = motion.roots[t];
  const double h = part_.stage();
  VectorX v;
  const VectorX start = assembly::tree_velocity(world, tree, part_.start_velocities);
  if (motion.matrices[t].factor(at, tree, roots, h, start, v)) {
    for (int k = 0; k < static_cast<int>(tree.fibres.size()); ++k) {
      const rods::Rod& rod = at.rod(tree.fibres[k]);
      RodMemory memory;
      auto force = memory.matrix<VectorX>(rod.dof());
      auto own = memory.matrix<VectorX>(rod.dof());
      own.setZero();
      rod.elastic_force(force);
      own += h * force;
      rod.inertial_and_external_force(assembly::rod_loads(world, tree, roots, k, part_.air), force);
      own += h * force;
      if (!part_.fluid_force.empty()) own += h * part_.fluid_force[tree.fibres[k]];
      if (at_end) rod.add_stiffness_times(h * h, v_at[tree.fibres[k]], own);
      assembly::add_rod_force(world, tree, roots, k, own, v);
    }
    motion.matrices[t].solve(v);
  } else {
    v.setConstant(tree.dof, std::nan(""));  // reported as a state that stopped being finite
  }
  assembly::set_rod_velocities(world, tree, roots, v, true, motion.velocities);
}

/// assemble_tree() of a lone fibre.
void TreeMotion::assemble_fibre(int t, const VectorX& v_at, bool at_end) {
  const int f = part_.tree(t).fibres.front();
  const assembly::Kinematics& at = at_end ? part_.linearised : part_.start;
  const rods::Rod& rod = at.rod(f);
  assembly::FreeMotion& motion = part_.motion;
  const double h = part_.stage();
  VectorX& v = motion.velocities[f];
  if (!motion.matrices[t].factor(at, part_.tree(t), {}, h, part_.start_velocities[f], v)) {
    v.setConstant(rod.dof(), std::nan(""));
    return;
  }
  RodMemory memory;
  auto force = memory.matrix<VectorX>(rod.dof());
  rod.elastic_force(force);
  v += h * force;
  rod.inertial_and_external_force(part_.lone_loads(f), force);
  v += h * force;
  if (!part_.fluid_force.empty()) v += h * part_.fluid_force[f];
  if (at_end) rod.add_stiffness_times(h * h, v_at, v);
  motion.matrices[t].solve(v);
}

/// Elasticity that is not linear: the free motion is solved to its end, where the matrix then is.
void TreeMotion::solve_fibre(int t) {
  const int f = part_.tree(t).fibres.front();
  assembly::FreeMotion& motion = part_.motion;
  const FreeStep step{part_.start_rods[f], part_.stage_roots[f],
                      part_.stage(),       assembly::implicit_drag(part_.world, f),
                      part_.lone_loads(f), part_.fluid_force.empty() ? nullptr : &part_.fluid_force[f]};
  results_[f] = solve_free_motion(part_.trial->rod(f), motion.matrices[t].lone(), step, part_.options.motion_tolerance,
                                  part_.options.max_motion_iterations, motion.velocities[f]);
}

/// For another pass at the end that the last predicts. All that acts on a tree is taken at one
/// shape: matrix, inertia, gravity, contact and holds. Light motions, such as a turn of a curved rod about its own
/// centreline, feel differences of forces that nearly cancel. Taken at two shapes these differences would be wrong, and
/// passes and steps would drift apart: docs/theory/dynamics.md, "One shape".
void TreeMotion::assemble_tree_at_end(int t, const std::vector<VectorX>& velocities, HeldPoints& holds) {
  const assembly::Tree& tree = part_.tree(t);
  assembly::Kinematics& at = part_.linearised;
  // Where rates alone do not tell the momentum.
  const bool carried = part_.options.scheme != Scheme::nonlinear && part_.linear(t);
  if (carried) carried_.sample_start(t);
  if (part_.carries(t)) carried_.note_shapes(t, part_.end_rods);
  const bool whole = part_.options.theta == 1.0;
  if (!whole) {
    for (const int f : tree.fibres) {
      const rods::RodState& start = part_.start_rods[f];
      tried_[f] = at.rod(f).advanced(start, velocities[f], part_.stage(), part_.stage_roots[f], start.root_velocity);
    }
  }
  assembly::update_tree(at, tree, whole ? part_.end_rods : tried_);
  find_root_motions(part_, at, t);
  if (carried) {
    carried_.assemble(t, &velocities);
  } else {
    assemble_tree(t, velocities, true);
  }
  holds.note_free(t);
  holds.linearise(at, t);
  if (!whole) find_root_motions(part_, part_.end, t);
}

/// The free motion with the inertial force linearised, from that with the force of the start.
void TreeMotion::linearise_free_motion(int t) {
  const assembly::World& world = part_.world;
  const assembly::Tree& tree = part_.tree(t);
  assembly::FreeMotion& motion = part_.motion;
  const VectorX start = assembly::tree_velocity(world, tree, part_.start_velocities);
  VectorX v = assembly::tree_velocity(world, tree, motion.velocities) - start;
  results_[tree.fibres.front()] = linearise_inertia(t, v);
  find_root_motions(part_, part_.start, t);
  v += start;
  assembly::set_rod_velocities(world, tree, motion.roots[t], v, true, motion.velocities);
}

/// Generalised inertial force -A and what else is constant, (dof), of a tree that moves with `v` where it started.
void TreeMotion::inertial_force(int t, const VectorX& v, VectorX& out) {
  const assembly::World& world = part_.world;
  const assembly::Tree& tree = part_.tree(t);
  assembly::Kinematics& trial = *part_.trial;
  const int trunk = tree.fibres.front();
  for (std::size_t k = 0; k < tree.fibres.size(); ++k) {
    const int f = tree.fibres[k];
    tried_[f] = part_.start_rods[f];
    if (k == 0) {
      const rods::Rod& rod = trial.rod(f);
      rods::set_generalised_velocity(rod, v.head(rod.dof()), tried_[f]);
    } else {
      tried_[f].rates = v.segment(tree.begin[k], tried_[f].rates.size());  // its parent moves its root
    }
  }
  assembly::update_tree(trial, tree, tried_);
  find_root_motions(part_, trial, t);
  out.setZero(tree.dof);
  if (!part_.branched(t)) {
    trial.rod(trunk).inertial_and_external_force(part_.lone_loads(trunk), out);
    return;
  }
  const std::vector<assembly::RootMotion>& roots = part_.motion.roots[t];
  for (int k = 0; k < static_cast<int>(tree.fibres.size()); ++k) {
    const rods::Rod& rod = trial.rod(tree.fibres[k]);
    RodMemory memory;
    auto own = memory.matrix<VectorX>(rod.dof());
    rod.inertial_and_external_force(assembly::rod_loads(world, tree, roots, k, part_.air), own);
    assembly::add_rod_force(world, tree, roots, k, own, out);
  }
}

/// change := (1 + h M^-1 A')^-1 change, with A' = dA/dv at the start: what the inertial force, linearised there, leaves
/// of a change of a tree's velocity. A is quadratic in v, so that central differences give A' exactly. A' is not
/// symmetric: by GMRES, in whitened coordinates, without writing it out.
FreeMotionResult TreeMotion::linearise_inertia(int t, VectorX& change) {
  const assembly::TreeMatrix& matrix = part_.motion.matrices[t];
  const VectorX start = assembly::tree_velocity(part_.world, part_.tree(t), part_.start_velocities);
  const double speed = std::sqrt(matrix.squared_norm(start));
  VectorX forward;
  VectorX backward;
  // out = h U^-1 A' w
  const auto whitened_force = [&](const VectorX& w, VectorX& out) {
    const double size = std::sqrt(matrix.squared_norm(w));
    const double scale = speed > 0.0 && size > 0.0 ? speed / size : 1.0;
    inertial_force(t, start + scale * w, forward);
    inertial_force(t, start - scale * w, backward);
    out = part_.stage() / (2.0 * scale) * (backward - forward);
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
