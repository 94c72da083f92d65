#include <tresse/dynamics/detail/engine.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <utility>

#include <tresse/base/best.hpp>
#include <tresse/base/blocks.hpp>
#include <tresse/base/errors.hpp>
#include <tresse/base/stopwatch.hpp>
#include <tresse/dynamics/detail/fibre_loop.hpp>
#include <tresse/dynamics/detail/step_pass.hpp>

namespace tresse::dynamics::detail {

/// (fibres, then free bodies) generalised velocities of a state.
std::vector<VectorX> Engine::velocities_of(const std::vector<rods::RodState>& rods,
                                           const std::vector<bodies::BodyState>& bodies) const {
  std::vector<VectorX> out;
  out.reserve(rods.size() + bodies.size());
  for (std::size_t f = 0; f < rods.size(); ++f)
    out.push_back(tresse::rods::generalised_velocity(start_.rod(static_cast<int>(f)), rods[f]));
  for (const bodies::BodyState& body : bodies)
    out.emplace_back(assembly::stacked(body.velocity.linear, body.velocity.angular));
  return out;
}

/// The contacts that matter in this part of the step, with the bias of their normal velocity. `previous`: the pass
/// whose end `at` is.
Engine::Pass Engine::linearise(const SharedConfiguration& at, const Pass* previous, double tolerance) {
  Pass pass;
  pass.at = at;
  const assembly::Instant instant = previous ? assembly::Instant::end : assembly::Instant::begin;
  pass.places = previous ? motion_.obstacles_end : motion_.obstacles_begin;
  const assembly::Kinematics& bodies = previous ? end_ : start_;
  const double dt = motion_.dt;
  struct Reach {
    double start = 0.0;  // gap at the start, linearised [m]
    bool matters = false;
    bool jammed = false;
  };
  std::vector<VectorX> before = previous ? previous->velocities : std::vector<VectorX>();
  if (motion_.forest.trees.size() < world_.fibres.size()) {
    find_root_motions(bodies);
    take_root_motions(motion_.velocities);
    if (previous) take_root_motions(before);
  }
  holds_.keep(bodies, previous ? &before : nullptr);
  std::vector<Reach> reaches(at->contacts.size());
  constexpr std::size_t block = 256;
  for_blocks(reaches.size(), block, [&](std::size_t, std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) {
      const contact::Contact& contact = at->contacts[i];
      if (holds_.cannot_give_way(start_, at->geometry, contact)) continue;
      const auto relative = [&](const std::vector<VectorX>& velocities) {
        return assembly::relative_velocity(bodies, at->geometry, contact, velocities, motion_, instant);
      };
      const double travelled = previous ? dt * relative(before)[0] : 0.0;
      reaches[i].start = contact.gap - travelled;
      reaches[i].matters = reaches[i].start <= options_.margin + dt * relative(motion_.velocities).norm();
      reaches[i].jammed = reaches[i].matters && assembly::cannot_open(bodies, at->geometry, contact, motion_, instant);
    }
  });
  std::vector<contact::Contact> jammed;
  for (std::size_t i = 0; i < reaches.size(); ++i) {
    if (!reaches[i].matters) continue;
    const contact::Contact& contact = at->contacts[i];
    if (reaches[i].jammed) {
      jammed.push_back(contact);
      if (!pass.jammed || contact.gap < pass.jammed->gap) pass.jammed = contact;
      continue;
    }
    pass.contacts.push_back(contact);
    pass.bias.push_back((reaches[i].start - overlaps_.wanted_gap(at->geometry, contact)) / dt);
  }
  overlaps_.note_jammed(at->geometry, jammed);
  pass.instants.assign(pass.contacts.size(), instant);
  pass.take_forces(world_, previous ? previous->forces(stage(), options_.margin) : state_.warm, stage());
  {
    Stopwatch watch(timing_.t_assembly);
    pass.problem = assembly::contact_problem(bodies, at->geometry, pass.contacts, motion_, pass.bias, instant,
                                             contact_workspace_, std::move(spare_));
  }
  if (observer_) observer_(pass.problem, pass.guess);
  solve(pass, tolerance, 0);
  pass.holds = holds_.impulses(bodies, at->geometry, pass.contacts, pass.solution.impulse);
  return pass;
}

/// From `guess`, to the solver's tolerance or this one, whichever is larger, in what is left of its iterations when
/// `taken` are gone. Where Gauss-Seidel runs out of them and contacts are few, all solvers are tried in turn, from
/// zero.
void Engine::solve(Pass& pass, double tolerance, int taken) {
  Stopwatch watch(timing_.t_solve);
  friction::SolverOptions options = options_.solver;
  options.tolerance = std::max(options.tolerance, tolerance);
  options.max_iterations = std::max(1, options.max_iterations - taken);
  pass.solution = friction::solve(pass.problem, pass.guess, options);
  constexpr std::size_t few = 250;  // as many as a path through the smoothed law is followed for
  if (pass.solution.status == Status::max_iterations && tolerance <= options_.solver.tolerance &&
      options.solver == friction::Solver::hybrid_gauss_seidel && options.facets == 0 && pass.contacts.size() <= few) {
    options.solver = friction::Solver::automatic;
    friction::FrictionSolution other = friction::solve(pass.problem, VectorX::Zero(pass.guess.size()), options);
    other.iterations += pass.solution.iterations;
    if (other.scaled_error < pass.solution.scaled_error) pass.solution = std::move(other);
  }
  std::vector<VectorX>& memory = pass.velocities.empty() ? spare_velocities_ : pass.velocities;
  pass.velocities = assembly::constrained_velocities(world_, pass.problem, pass.solution.impulse, motion_,
                                                     contact_workspace_, std::move(memory));
  pass.body_impulses = bodies_.impulses(pass.velocities, motion_);
}

/// Finds the end that a pass predicts, of the fibres and the free bodies.
void Engine::go_to_end(const Pass& pass) {
  bodies_.go_to_end(pass.body_impulses, options_.theta, motion_, end_);
  end_rods_.resize(world_.fibres.size());
  for_each_fibre(end_rods_.size(), [&](std::size_t f) {
    rods::Rod& rod = end_.rod(static_cast<int>(f));
    end_rods_[f] =
        rod.advanced(start_rods_[f], pass.velocities[f], motion_.dt, next_roots_[f], start_rods_[f].root_velocity);
    if (options_.theta < 1.0) {
      const VectorX& mean = pass.velocities[f];
      const VectorX end = start_velocities_[f] + (mean - start_velocities_[f]) / options_.theta;
      rods::set_generalised_velocity(rod, end, end_rods_[f]);
    }
    if (!branched(motion_.forest.trees[motion_.forest.tree_of[f]])) rod.update(end_rods_[f]);
  });
  for_each_fibre(motion_.forest.trees.size(), [&](std::size_t t) {
    const assembly::Tree& tree = motion_.forest.trees[t];
    if (branched(tree)) assembly::update_tree(end_, tree, end_rods_);
  });
}

/// With the velocities that the state at the end will have, so that a run that goes on from there finds the same.
SharedConfiguration Engine::find_contacts_at_end(const Span& span, const Pass& pass) {
  carry_to_end(pass);
  return finder_.find(end_, span.end, velocities_of(end_rods_, end_.bodies), pass.forces(stage(), options_.margin));
}

/// Whether a step with these velocities ends in a state worth going on from.
bool Engine::sound(const std::vector<VectorX>& velocities) const {
  const auto bodies = velocities.begin() + static_cast<std::ptrdiff_t>(world_.fibres.size());
  if (!std::all_of(bodies, velocities.end(), [](const VectorX& v) { return v.allFinite(); })) return false;
  for (std::size_t f = 0; f < world_.fibres.size(); ++f) {
    if (!start_.rod(static_cast<int>(f)).within_reach(start_rods_[f], velocities[f], motion_.dt)) return false;
  }
  return true;
}

/// How far off this part of the step puts a point: it goes on with v_m = theta v+ + (1 - theta) v, where (v+ + v) / 2
/// would be of second order. [m]
double Engine::estimated_error(const std::vector<VectorX>& velocities) const {
  if (options_.step_error == 0.0) return 0.0;
  std::vector<double> fastest(world_.fibres.size());
  for_each_fibre(fastest.size(), [&](std::size_t f) {
    const rods::Rod& rod = start_.rod(static_cast<int>(f));
    RodMemory memory;
    auto before = memory.matrix<Matrix3X>(3, rod.piece_count() + 1);
    auto after = memory.matrix<Matrix3X>(3, rod.piece_count() + 1);
    rod.end_velocities(start_velocities_[f], before);
    rod.end_velocities(velocities[f], after);
    fastest[f] = (after - before).colwise().norm().maxCoeff();
  });
  double change = 0.0;
  for (const double own : fastest) change = std::max(change, own);
  for (std::size_t k = 0; k < world_.free_bodies.size(); ++k) {
    const Vector3 mean = velocities[world_.fibres.size() + k].head<3>();
    change = std::max(change, (mean - bodies_.start()[k].velocity.linear).norm());
  }
  return (1.0 - 0.5 / options_.theta) * motion_.dt * change;
}

/// |v_after - v_before| in the norm of the step matrix, relative to the larger of |v_after| and dt |M^-1 force|: the
/// residual of the implicit step at `before`, preconditioned.
double Engine::velocity_change(const Pass& before, const Pass& after) const {
  double change = 0.0;
  double size = 0.0;
  for (std::size_t t = 0; t < motion_.forest.trees.size(); ++t) {
    const assembly::TreeMatrix& matrix = motion_.matrices[t];
    const auto of = [&](const std::vector<VectorX>& velocities) {
      return assembly::tree_velocity(world_, motion_.forest.trees[t], velocities);
    };
    const VectorX last = of(after.velocities);
    change += matrix.squared_norm(last - of(before.velocities));
    size += std::max(matrix.squared_norm(last), matrix.squared_norm(of(motion_.velocities)));
  }
  for (std::size_t k = 0; k < motion_.bodies.size(); ++k) {
    const auto squared_norm = [&](const assembly::Vector6& v) {
      return v.dot(assembly::momentum(motion_.bodies[k], v));
    };
    const std::size_t i = world_.fibres.size() + k;
    change += squared_norm(after.velocities[i] - before.velocities[i]);
    size += std::max(squared_norm(after.velocities[i]), squared_norm(motion_.velocities[i]));
  }
  return size > 0.0 ? std::sqrt(change / size) : 0.0;
}

/// The motion of every tree without contact and without what holds it, linearised where the part starts.
void Engine::assemble_at_start() {
  find_root_motions(start_);
  bodies_.assemble(nullptr, motion_);
  for_each_fibre(motion_.forest.trees.size(), [&](std::size_t t) {
    for (const int f : motion_.forest.trees[t].fibres)
      rods::generalised_velocity(start_.rod(f), start_rods_[f], start_velocities_[f]);
    const int tree = static_cast<int>(t);
    if (carries(tree)) {
      for (const int f : motion_.forest.trees[t].fibres) linearised_rods_[f] = start_rods_[f];
      knows_pass_[t] = 0;
      assemble_carried(tree, nullptr);
    } else {
      assemble_tree(tree, start_velocities_, false);
      if (inertia_linearised(tree)) linearise_free_motion(tree);
    }
    holds_.note_free(tree);
    holds_.linearise(start_, tree);
  });
}

/// Whether a pass of a tree without a load leaves its matrix and its rows as they were and corrects held points alone.
/// Rows that turn, or a tip that does, as that of a limp cord, leave a miss that no such pass changes.
bool Engine::corrects_alone(int t, bool slow) const {
  return carries(t) ? !slow : options_.scheme == Scheme::semi_implicit && linear(t);
}

/// The same for another pass, at the end that the last one predicts, of the trees that something touches or holds.
/// Where no contact carries a load (`free`) held points are corrected along the rows that they have, unless that is too
/// `slow` to bring them home.
void Engine::assemble_at_end(const Pass& pass, bool free, bool slow) {
  find_root_motions(end_);
  bodies_.assemble(&pass.body_impulses, motion_);
  const std::vector<char> touched = touched_trees(pass);
  for_each_fibre(motion_.forest.trees.size(), [&](std::size_t t) {
    const int tree = static_cast<int>(t);
    const bool corrected = free && corrects_alone(tree, slow);
    holds_.note_corrected(tree, corrected);
    if (corrected) {
      holds_.let_go(tree);
    } else if (touched[t] || options_.scheme == Scheme::nonlinear) {
      assemble_at_end(tree, pass);
    }
  });
}

/// (trees) whether a contact of a pass is on them or something holds them.
std::vector<char> Engine::touched_trees(const Pass& pass) const {
  std::vector<char> out(motion_.forest.trees.size(), 0);
  const auto touch = [&](int piece) {
    if (piece < 0 || !pass.at->geometry.pieces[piece].id.is_fibre()) return;
    out[static_cast<std::size_t>(motion_.forest.tree_of[pass.at->geometry.pieces[piece].id.index])] = 1;
  };
  for (const contact::Contact& contact : pass.contacts) {
    touch(contact.a);
    touch(contact.b);
  }
  for (std::size_t t = 0; t < out.size(); ++t) out[t] = out[t] || holds_.held(static_cast<int>(t));
  return out;
}

/// Solves a part of the step: the first pass at its start, further ones at the end that the last predicts, as many as
/// asked for, and more while that end overlaps. A single one does where contacts slide a little; one whose normal turns
/// on the way is linearised again alone, where that can be, or all are. Nothing is changed when none ends well enough
/// and the part can still be cut. The shortest part keeps the pass that overlaps, or misses its holds, least.
Engine::SubstepResult Engine::attempt(const Span& span, StepReport& report) {
  begin_span(span);
  const bool nonlinear = options_.scheme == Scheme::nonlinear;
  const int wanted = nonlinear ? options_.max_nonlinear_iterations : options_.relinearisations;
  // A free motion solved to its end is far from the held one where elasticity is not linear: iterated as well.
  const bool iterated = holds_.iterated();
  constexpr int iterations = 20;
  const int limit = nonlinear ? wanted : std::max({wanted, options_.max_relinearisations, iterated ? iterations : 0});
  overlaps_.note(*here_, motion_.dt, options_);
  holds_.note_offsets(start_, state_.hold_forces);
  {
    Stopwatch watch(timing_.t_assembly);
    assemble_at_start();
  }
  const SubstepResult broken = span.shortest ? SubstepResult::not_finite : SubstepResult::cut;
  if (!sound(motion_.velocities)) return broken;
  const bool solved = std::all_of(free_results_.begin(), free_results_.end(),
                                  [](const FreeMotionResult& free) { return free.status == Status::converged; });
  if (!solved && !span.shortest) return SubstepResult::cut;
  constexpr double hold_tolerance = 1e-10;
  constexpr double hold_fair = 1e-7;  // of the length
  constexpr int most_for_holds = 16;
  const bool repairable = may_repair() && !iterated;
  bool rough = repairable;
  Pass pass = linearise(here_, nullptr, rough ? roughly : 0.0);
  report.iterations += pass.solution.iterations;
  error_ = estimated_error(pass.velocities);
  if (error_ > options_.step_error && !span.shortest) return SubstepResult::cut;
  report.step_error = std::max(report.step_error, error_);
  const bool may_follow = options_.detection.method != geometry::DetectionMethod::segments;
  struct Tried {
    Pass pass;
    std::vector<rods::RodState> shapes;  // in which it was linearised
  };
  Tried best;
  double least = std::numeric_limits<double>::infinity();
  const auto accept_earlier = [&](Tried& tried) {
    linearised_rods_ = std::move(tried.shapes);
    std::fill(knows_pass_.begin(), knows_pass_.end(), 0);
    go_to_end(tried.pass);
    if (stop_lost(tried.pass)) go_to_end(tried.pass);
    return accept(span, tried.pass, find_contacts_at_end(span, tried.pass), report);
  };
  int stuck = 0;  // passes in a row that brought little
  bool settled = false;
  HeldPoints::Miss off;
  bool slow = false;  // whether passes do not bring held points home
  holds_.begin_passes();
  for (int done = 0;; ++done) {
    if (!sound(pass.velocities)) {
      if (span.shortest && best.pass.at) return accept_earlier(best);
      // Contacts that can hardly be moved may ask for impulses without bound, of a state that is as sound as before.
      if (!span.shortest || options_.scheme != Scheme::carried || !stand_still(pass)) return broken;
      go_to_end(pass);
      return accept(span, pass, find_contacts_at_end(span, pass), report);
    }
    go_to_end(pass);
    if (rough) {
      const SubstepResult mended = mend(span, pass, report);
      if (mended != SubstepResult::accepted) return mended;
    }
    rough = false;
    // Without a load nothing is left to linearise again, unless the fibres' own terms are iterated.
    const bool free = !nonlinear && pass.solution.impulse.isZero(0.0);
    const bool moving = iterated && (done == 0 || report.nonlinear_residual > hold_tolerance);
    const double off_before = off.farthest;
    off = holds_.miss(end_, pass.holds);
    const bool last = done >= (off.relative > hold_fair ? std::max(limit, most_for_holds) : limit);
    const bool enough = last || ((settled || done >= wanted || free) && !moving && off.relative <= hold_tolerance);
    SharedConfiguration end = enough || !may_follow ? find_contacts_at_end(span, pass)
                                                    : finder_.follow(end_, span.end, pass.velocities, *pass.at);
    if (!span.shortest && overlaps_.sides_lost(*end)) return SubstepResult::cut;
    const double overlapping = overlaps_.shortfall(*end);
    const bool lost = off.relative > HeldPoints::lost;
    if (last && lost && !span.shortest) return SubstepResult::cut;
    if (overlapping <= options_.overlap_tolerance && enough && !lost) return accept(span, pass, std::move(end), report);
    const double missed = std::max(overlapping, off.farthest);
    const bool better = (enough || span.shortest) && (!best.pass.at || is_better(missed, least));
    if (enough) stuck = better && missed < 0.7 * least ? 0 : stuck + 1;
    if (better) {
      least = missed;
      best = {pass, linearised_rods_};
    }
    if (last || stuck >= 2) {
      if (least > options_.halving_overlap && !span.shortest) return SubstepResult::cut;
      return accept_earlier(best);
    }
    if (repairable && enough && repair(*end, 0.0, pass, report)) continue;
    slow = slow || (done > 0 && off.relative > hold_tolerance && off.farthest > 0.5 * off_before);
    std::vector<VectorX> predicted;
    if (holds_.relax(slow, pass.velocities, predicted)) {
      go_to_end(pass);
      end = finder_.follow(end_, span.end, pass.velocities, *pass.at);
    }
    {
      Stopwatch watch(timing_.t_assembly);
      assemble_at_end(pass, free, slow);
    }
    Pass next = linearise(end, &pass, 0.0);
    if (!predicted.empty()) pass.velocities = std::move(predicted);
    report.iterations += next.solution.iterations;
    report.nonlinear_residual = velocity_change(pass, next);
    settled = nonlinear && report.nonlinear_residual <= options_.nonlinear_tolerance;
    pass = std::move(next);
  }
}

/// Makes the end of this part the new state.
Engine::SubstepResult Engine::accept(const Span& span, Pass& pass, SharedConfiguration end, StepReport& report) {
  {
    Stopwatch watch(timing_.t_detection);
    if (const auto crossing = find_crossing(*end)) {
      if (!span.shortest) return SubstepResult::cut;
      if (!report.crossing) report.crossing = crossing;
    }
  }
  for (const FreeMotionResult& free : free_results_) {
    report.motion_iterations = std::max(report.motion_iterations, free.iterations);
    if (report.motion_status == Status::converged) report.motion_status = free.status;
  }
  describe_contacts(pass);
  PartWorks works = works_of(pass);
  rods::RodEnergies energies = energies_of(end_);
  if (options_.scheme == Scheme::carried) {
    bool slowed = false;
    const SubstepResult settled = settle_energy(span, pass, works, energies, report, slowed);
    if (settled != SubstepResult::accepted) return settled;
    if (slowed)
      end = finder_.find(end_, span.end, velocities_of(end_rods_, end_.bodies), pass.forces(stage(), options_.margin));
  }
  if (kept_observer_) kept_observer_({pass.problem, pass.guess, pass.solution, motion_.dt});
  report_contacts(pass, report);
  report_holds(pass, report);
  report_roots(pass, report);
  state_.energy_excess = std::max(0.0, state_.energy_excess + gain(energies, works) - works.uncertain);
  state_.work_external += works.total();
  state_.warm = pass.forces(stage(), options_.margin);
  state_.hold_forces = holds_.forces(pass.holds);
  energies_ = energies;
  // Of a whole step it is that length, whatever rounding makes of the difference of its times.
  last_part_.dt = motion_.dt > 0.75 * options_.dt ? options_.dt : motion_.dt;
  std::swap(last_part_.start, state_.rods);
  std::swap(state_.rods, end_rods_);
  state_.bodies = end_.bodies;
  std::swap(start_, end_);
  here_ = std::move(end);
  spare_ = std::move(pass.problem);
  spare_velocities_ = std::move(pass.velocities);
  return SubstepResult::accepted;
}

StepReport Engine::step() {
  previous_ = state_;
  if (astray_) restore(state_);
  astray_ = true;
  try {
    StepReport report = take_step();
    astray_ = false;
    return report;
  } catch (...) {
    state_ = previous_;
    throw;
  }
}

/// From previous_, which is the state.
StepReport Engine::take_step() {
  timing_ = {};
  finder_.seconds = 0.0;
  StepReport report;
  {
    Stopwatch watch(timing_.t_step);
    if (redirected_) here_ = finder_.find(start_, time(), velocities_of(state_.rods, state_.bodies), state_.warm);
    redirected_ = false;
    report.obstacles.assign(world_.obstacles.size(), {});
    report.holds.assign(world_.holds.size(), {});
    report.roots.assign(world_.fibres.size(), {});
    // Parts of the step are counted in its smallest ones.
    const int whole = 1 << options_.max_halvings;
    const auto time_at = [&](int part) {
      return (static_cast<double>(state_.step) + static_cast<double>(part) / whole) * options_.dt;
    };
    constexpr double in_half = 4.0;  // of the estimate, where the motion is smooth
    int size = whole;
    for (int begin = 0; begin < whole && report.finite;) {
      const Span span{time_at(begin), time_at(begin + size), size == 1};
      const SubstepResult outcome = attempt(span, report);
      if (outcome == SubstepResult::not_finite) report.finite = false;
      if (outcome == SubstepResult::cut) {
        update_start(state_.rods);
        do {
          size /= 2;
          error_ /= in_half;
        } while (size > 1 && error_ > options_.step_error);
        continue;
      }
      ++report.parts;
      begin += size;
      if (size < whole && begin % (2 * size) == 0 && in_half * error_ <= options_.step_error) size *= 2;
    }
    report.step = previous_.step + 1;
    report.time = static_cast<double>(report.step) * options_.dt;
    if (report.finite) {
      ++state_.step;
    } else {
      state_ = previous_;
      restore(state_);
    }
    report.energies = energies_;
    report.energy_excess = std::max(report.energy_excess, state_.energy_excess);
    report.work_external = state_.work_external;
  }
  report.t_detection = timing_.t_detection + finder_.seconds;
  report.t_assembly = timing_.t_assembly;
  report.t_solve = timing_.t_solve;
  report.t_step = timing_.t_step;
  return report;
}

}  // namespace tresse::dynamics::detail
