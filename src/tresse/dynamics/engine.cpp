#include <tresse/dynamics/detail/engine.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include <tresse/base/best.hpp>
#include <tresse/base/stopwatch.hpp>
#include <tresse/dynamics/detail/contact_reports.hpp>
#include <tresse/dynamics/detail/pass_mixing.hpp>

// A step, from top to bottom: step(), its parts, and the passes of a part.
namespace tresse::dynamics::detail {

StepReport Engine::step() {
  previous_ = state_;
  if (astray_) restore(state_);
  astray_ = true;
  try {
    StepReport report = take_step();
    astray_ = false;
    return report;
  } catch (...) {
    stop_derivatives();
    state_ = previous_;
    throw;
  }
}

/// From previous_, which is the state. A part that does not end well enough is cut in two, and parts grow again where
/// the estimate of their error allows it.
StepReport Engine::take_step() {
  finder_.seconds = 0.0;
  StepReport report;
  {
    Stopwatch watch(report.t_step);
    if (redirected_)
      here_ = finder_.find(part_.start, time(), velocities_of(part_.start, state_.rods, state_.bodies), state_.warm);
    redirected_ = false;
    report.obstacles.assign(world_.obstacles.size(), {});
    report.holds.assign(world_.holds.size(), {});
    report.roots.assign(world_.fibres.size(), {});
    if (fluid_.present()) report.fluid.assign(world_.fibres.size(), {});
    // Parts of the step are counted in its smallest ones. Where bodies may have gone through each other, a part that is
    // cut for nothing else any more is cut further.
    constexpr int most_for_crossings = 8, most_parts = 512;
    const int shortest = options_.max_halvings > 0 ? 1 << most_for_crossings : 1;
    const int whole = shortest << options_.max_halvings;
    const auto time_at = [&](int part) {
      return (static_cast<double>(state_.step) + static_cast<double>(part) / whole) * options_.dt;
    };
    constexpr double in_half = 4.0;  // of the estimate, where the motion is smooth
    const double most_error = options_.step_error.value_or(0.0);
    int size = whole;
    int smaller = 0;  // parts than those that are cut for nothing else
    for (int begin = 0; begin < whole && report.finite;) {
      const bool last = size == 1 || (size <= shortest && (smaller > most_parts || report.crossing || report.touch));
      const Span span{time_at(begin), time_at(begin + size), size <= shortest, last};
      const SubstepResult outcome = attempt(span, report);
      if (outcome == SubstepResult::not_finite) report.finite = false;
      if (outcome == SubstepResult::cut) {
        update_start(part_, state_.rods);
        do {
          size /= 2;
          error_ /= in_half;
        } while (size > shortest && error_ > most_error);
        continue;
      }
      ++report.parts;
      smaller += size < shortest ? 1 : 0;
      begin += size;
      if (size < whole && begin % (2 * size) == 0 && in_half * error_ <= most_error) size *= 2;
    }
    if (report.finite) report.finite = surfaces_.advance(world_, options_, time(), state_.surfaces, report);
    if (report.finite) report.finite = grains_.advance(world_, options_, state_.grains, report);
    report.step = previous_.step + 1;
    report.time = static_cast<double>(report.step) * options_.dt;
    if (report.finite) {
      ++state_.step;
    } else {
      stop_derivatives();
      state_ = previous_;
      restore(state_);
    }
    if (fluid_.present()) {
      const bool iterated = options_.penalty.has_value();
      report.nonlinear_residual = std::max(iterated ? report.nonlinear_residual : 0.0, report.fluid_residual);
    }
    for (const ClothReport& cloth : report.cloths) state_.work_external += report.finite ? cloth.work : 0.0;
    energies_ = all_energies();
    report.energies = energies_;
    report.energy_excess = std::max(report.energy_excess, state_.energy_excess);
    report.work_external = state_.work_external;
    report.least_gap = state_.least_gap;
  }
  report.t_detection += finder_.seconds;
  return report;
}

/// Solves a part of the step: its free motion, a first pass at its start, and further ones. Nothing is changed when
/// none ends well enough and the part can still be cut.
SubstepResult Engine::attempt(const Span& span, StepReport& report) {
  const bool solved = begin(span, report);
  if (!sound(part_, part_.motion.velocities)) return span.shortest ? SubstepResult::not_finite : SubstepResult::cut;
  if (!solved && !span.shortest) return SubstepResult::cut;
  const bool repairable = repairs_.possible() && !holds_.iterated() && !fluid_.present();
  Pass pass = linearise(here_, nullptr, repairable ? Repairs::roughly : 0.0, report);
  error_ = estimated_error(part_, pass.velocities);
  if (options_.step_error && error_ > *options_.step_error && !span.shortest) return SubstepResult::cut;
  report.step_error = std::max(report.step_error, error_);
  return iterate(std::move(pass), report);
}

/// Begins a part and finds its motion without contact and holds. Whether that was solved for.
bool Engine::begin(const Span& span, StepReport& report) {
  begin_part(part_, span);
  each_recorder([](PartRecorder& recorder) { recorder.begin(); });
  trees_.begin();
  fluid_.begin(state_.fluid);
  bodies_.begin(part_.start, part_.motion);
  holds_.begin(span.end);
  if (options_.keep_gaps) {
    const auto keeps = [](const WarmContact& contact) { return contact.kept_gap.has_value(); };
    if (state_.step == 0 && span.begin == 0.0 && std::ranges::none_of(state_.warm, keeps)) {
      overlaps_.kept().begin(*here_);
    } else {
      overlaps_.kept().take(*here_, state_.warm, world_);
    }
  }
  overlaps_.note(*here_, part_.motion.dt, options_);
  holds_.note_offsets(part_.start, state_.hold_forces);
  Stopwatch watch(report.t_assembly);
  bodies_.assemble(nullptr, part_.motion);
  trees_.assemble_at_start(holds_);
  return std::all_of(trees_.results().begin(), trees_.results().end(),
                     [](const FreeMotionResult& free) { return free.status == Status::converged; });
}

/// The pass of a part that overlaps, or misses its holds, least.
struct Engine::BestPass {
  Pass pass;
  std::vector<rods::RodState> shapes;  ///< in which it was linearised
  double missed = std::numeric_limits<double>::infinity();
  int stuck = 0;  ///< passes in a row that brought little

  bool known() const { return pass.at != nullptr; }
  /// Takes a pass if it is better; `enough`: whether it could be the last.
  void consider(const Pass& other, const std::vector<rods::RodState>& its_shapes, double its_missed, bool enough,
                bool shortest) {
    const bool better = (enough || shortest) && (!known() || is_better(its_missed, missed));
    if (enough) stuck = better && its_missed < 0.7 * missed ? 0 : stuck + 1;
    if (!better) return;
    missed = its_missed;
    pass = other;
    shapes = its_shapes;
  }
};

namespace {

/// Of all contacts; infinite without any. [m]
double nearest_gap(const Configuration& at) {
  double out = std::numeric_limits<double>::infinity();
  for (const contact::Contact& contact : at.contacts) out = std::min(out, contact.gap);
  return out;
}

}  // namespace

/// Further passes at the end that the last predicts, as many as asked for, and more while that end overlaps. A single
/// one does where contacts slide a little; one whose normal turns on the way is linearised again alone, where that can
/// be, or all are. The shortest part keeps the pass that overlaps, or misses its holds, least.
SubstepResult Engine::iterate(Pass pass, StepReport& report) {
  const bool nonlinear = options_.scheme == Scheme::nonlinear;
  const bool penalty = options_.penalty.has_value();
  const bool shortest = part_.span.shortest;
  // A free motion solved to its end is far from the held one where elasticity is not linear: iterated as well.
  const bool iterated = holds_.iterated();
  const bool repairable = repairs_.possible() && !iterated && !fluid_.present();
  const bool may_follow = options_.detection.method != geometry::DetectionMethod::segments && !penalty;
  constexpr double hold_tolerance = 1e-10;
  constexpr double hold_fair = 1e-7;  // of the length
  constexpr int most_for_holds = 16, iterations = 20;
  const int wanted = nonlinear ? options_.max_nonlinear_iterations
                     : penalty ? options_.penalty->max_iterations
                               : options_.relinearisations;
  const int limit =
      nonlinear || penalty
          ? wanted
          : std::max({wanted, options_.max_relinearisations, iterated || fluid_.present() ? iterations : 0});
  const auto go_on = [&](const Pass& to) {
    if (!sound(part_, to.velocities)) return false;
    go_to_end(to);
    return true;
  };
  BestPass best;
  bool settled = false;
  HeldPoints::Miss off;
  bool slow = false;  // whether passes do not bring held points home
  holds_.begin_passes();
  PassMixing mixing;
  for (int done = 0;; ++done) {
    if (!go_on(pass)) return accept_unsound(pass, best, report);
    if (done == 0 && repairable) {
      const SubstepResult mended = repairs_.mend(pass, go_on, report);
      if (mended != SubstepResult::accepted) return mended;
    }
    each_recorder([&](PartRecorder& recorder) { recorder.note(pass, trees_.carried().shapes()); });
    const double fluid_off = fluid_.update(pass.velocities);
    const bool fluid_settled = fluid_off <= options_.fluid_tolerance;
    // Without a load nothing is left to linearise again, unless the fibres' own terms are iterated.
    bool free = !nonlinear && pass.solution.impulse.isZero(0.0);
    const bool moving = iterated && (done == 0 || report.nonlinear_residual > hold_tolerance);
    const double off_before = off.farthest;
    off = holds_.miss(part_.end, pass.holds);
    const bool last = done >= (off.relative > hold_fair ? std::max(limit, most_for_holds) : limit);
    const bool enough =
        last || ((settled || done >= wanted || free) && !moving && fluid_settled && off.relative <= hold_tolerance);
    const auto contacts_in_between = [&] {
      return may_follow ? finder_.follow(part_.end, part_.span.end, passes_.ways(pass), *pass.at)
                        : find_contacts_at_end(pass);
    };
    SharedConfiguration end = enough ? find_contacts_at_end(pass) : contacts_in_between();
    if (!part_.span.last && overlaps_.sides_lost(*end)) return SubstepResult::cut;
    const double overlapping = overlaps_.shortfall(*end);
    const bool lost = off.relative > HeldPoints::lost;
    if (last && !fluid_settled && !shortest) return SubstepResult::cut;
    // What came near without having been a contact of the first pass is one of the next.
    const bool came = penalty && free && done == 0 && !last && nearest_gap(*end) < options_.penalty->law.delta;
    free = free && !came;
    if (penalty && enough && !lost && !came) {
      if (!settled && !free && !shortest) return SubstepResult::cut;
      if (free) report.nonlinear_residual = 0.0;
      return accept(pass, std::move(end), report);
    }
    if (last && lost && !shortest) return SubstepResult::cut;
    if (overlapping <= options_.overlap_tolerance && enough && !lost && !came)
      return accept(pass, std::move(end), report);
    best.consider(pass, trees_.carried().shapes(), std::max(overlapping, off.farthest), enough && !came, shortest);
    if (last || best.stuck >= 2) {
      if (best.missed > options_.halving_overlap && !shortest) return SubstepResult::cut;
      return accept_earlier(best, report);
    }
    if (repairable && enough && repairs_.repair(*end, 0.0, pass, report)) continue;
    slow = slow || (done > 0 && off.relative > hold_tolerance && off.farthest > 0.5 * off_before);
    std::vector<VectorX> predicted;
    if (holds_.relax(slow, pass.velocities, predicted)) {
      go_to_end(pass);
      end = contacts_in_between();
    }
    {
      Stopwatch watch(report.t_assembly);
      bodies_.assemble(&pass.body_impulses, part_.motion);
      std::vector<char> touched = touched_trees(part_, pass, holds_);
      if (fluid_.present()) std::fill(touched.begin(), touched.end(), 1);
      trees_.assemble_at_end(pass.velocities, touched, free && !fluid_.present(), slow, holds_);
    }
    Pass next = linearise(end, &pass, 0.0, report);
    report.nonlinear_residual =
        velocity_change(part_, predicted.empty() ? pass.velocities : predicted, next.velocities);
    if (nonlinear) settled = report.nonlinear_residual <= options_.nonlinear_tolerance;
    if (penalty) {
      settled = report.nonlinear_residual <= options_.penalty->tolerance;
      if (!settled && !iterated && mixing.mix(report.nonlinear_residual, pass.velocities, next.velocities))
        next.body_impulses = bodies_.impulses(next.velocities, part_.motion);
    }
    pass = std::move(next);
  }
}

/// Contacts of a configuration, linearised and solved: at the start of the part, or at the end of `previous`.
Pass Engine::linearise(const SharedConfiguration& at, const Pass* previous, double tolerance, StepReport& report) {
  const assembly::Kinematics& bodies = previous ? part_.end : part_.start;
  std::vector<VectorX> before = previous ? previous->velocities : std::vector<VectorX>();
  if (part_.motion.forest.trees.size() < world_.fibres.size()) {
    find_root_motions(part_, bodies);
    take_root_motions(part_, part_.motion.velocities);
    if (previous) take_root_motions(part_, before);
  }
  holds_.keep(bodies, previous ? &before : nullptr);
  Pass pass = passes_.linearise(at, previous ? &before : nullptr,
                                previous ? warm_contacts(part_, *previous, true) : state_.warm, report);
  overlaps_.note_jammed(at->geometry, pass.jammed);
  if (observer_) observer_(pass.problem, pass.guess);
  ++report.evaluations;
  passes_.solve(pass, tolerance, 0, report);
  pass.holds = holds_.impulses(bodies, at->geometry, pass.contacts, pass.solution.impulse);
  return pass;
}

/// Moves the fibres and the free bodies to the end that a pass predicts.
void Engine::go_to_end(const Pass& pass) {
  bodies_.go_to_end(pass.body_impulses, options_.theta, part_.motion, part_.end);
  move_fibres_to_end(part_, pass.velocities);
}

/// With the velocities that the state at the end will have, so that a run that goes on from there finds the same.
SharedConfiguration Engine::find_contacts_at_end(const Pass& pass) {
  trees_.carried().carry_to_end(pass.velocities);
  return finder_.find(part_.end, part_.span.end, velocities_of(part_.start, part_.end_rods, part_.end.bodies),
                      warm_contacts(part_, pass), here_);
}

/// Of a pass that ends in no state to go on from. Contacts that can hardly be moved may ask for impulses without bound,
/// of a state that is as sound as before: then the shortest part keeps an earlier pass, or nothing moves in it.
SubstepResult Engine::accept_unsound(Pass& pass, BestPass& best, StepReport& report) {
  if (!part_.span.shortest) return SubstepResult::cut;
  if (best.known()) return accept_earlier(best, report);
  if (options_.scheme != Scheme::carried || !stand_still(part_, pass)) return SubstepResult::not_finite;
  go_to_end(pass);
  return accept(pass, find_contacts_at_end(pass), report);
}

/// Trees that end so far from where they are held that it tells nothing stay where they are, at rest.
SubstepResult Engine::accept_earlier(BestPass& best, StepReport& report) {
  Pass& pass = best.pass;
  trees_.carried().set_shapes(std::move(best.shapes));
  go_to_end(pass);
  static_cast<void>(fluid_.update(pass.velocities));
  const std::vector<int> lost = holds_.lost_trees(part_.end, pass.holds);
  for (const int t : lost) stand_still(part_, t, pass);
  if (!lost.empty()) go_to_end(pass);
  return accept(pass, find_contacts_at_end(pass), report);
}

/// Makes the end of this part the new state.
SubstepResult Engine::accept(Pass& pass, SharedConfiguration end, StepReport& report) {
  const bool sinks = !options_.penalty && overlaps_.sinks(*end, options_.halving_overlap);
  if (!part_.span.last && sinks) return SubstepResult::cut;
  if (!prove_way(*end, report)) return SubstepResult::cut;
  for (const FreeMotionResult& free : trees_.results()) {
    report.motion_iterations = std::max(report.motion_iterations, free.iterations);
    if (report.motion_status == Status::converged) report.motion_status = free.status;
  }
  contacts_ = describe_contacts(part_, pass);
  PartWorks works = works_of(pass);
  rods::RodEnergies energies = energies_of(part_.end);
  bool slowed = false;
  if (options_.scheme == Scheme::carried) {
    const SubstepResult settled = settle_energy(pass, works, energies, report, slowed);
    if (settled != SubstepResult::accepted) return settled;
    if (slowed) {
      end = finder_.find(part_.end, part_.span.end, velocities_of(part_.start, part_.end_rods, part_.end.bodies),
                         warm_contacts(part_, pass));
      if (under_barrier() && !prove_way(*end, report)) return SubstepResult::cut;
    }
  }
  if (kept_observer_) kept_observer_({pass.problem, pass.guess, pass.solution, part_.motion.dt});
  report.nearest = std::min(report.nearest, nearest_gap(*end));
  note_slips(part_, *here_, *end, pass);
  if (tangent_) tangent_->accept(pass, slowed, known_matrices());
  if (tape_) tape_->accept(pass, slowed);
  report_contacts(part_, pass, contacts_, report);
  report_overlap(*here_, overlaps_, report);
  report_holds(part_, pass, report);
  momentum_.report_roots(pass, contacts_, report);
  state_.energy_excess = std::max(0.0, state_.energy_excess + energy_.gain(energies, works) - works.uncertain);
  state_.work_external += works.total();
  state_.warm = warm_contacts(part_, pass);
  overlaps_.kept().hand_on(pass.at->geometry, world_, state_.warm);
  state_.hold_forces = holds_.forces(pass.holds);
  fluid_.accept(state_.fluid, report);
  energy_.begin(energies);
  // Of a whole step it is that length, whatever rounding makes of the difference of its times.
  last_part_.dt = part_.motion.dt > 0.75 * options_.dt ? options_.dt : part_.motion.dt;
  std::swap(last_part_.start, state_.rods);
  last_part_.fluid = part_.fluid_on_nodes;
  std::swap(state_.rods, part_.end_rods);
  state_.bodies = part_.end.bodies;
  std::swap(part_.start, part_.end);
  here_ = std::move(end);
  passes_.reuse(pass);
  return SubstepResult::accepted;
}

bool Engine::under_barrier() const { return options_.penalty && options_.penalty->law.law == laws::Law::ipc; }

/// Whether the way of this part to its end is proved: that nothing passes through anything, and under a barrier that
/// nothing touches. What cannot be proved is told of parts that are cut no more, and these pass.
bool Engine::prove_way(const Configuration& end, StepReport& report) {
  Stopwatch watch(report.t_detection);
  const contact::SearchedWay* searched = finder_.searched_way(end);
  if (under_barrier()) {
    const std::optional<FoundTouch> touch = find_touch(part_, holds_, *here_, end, searched);
    if (!touch) return true;
    if (!touch->from_begin && !part_.span.last) return false;
    if (!report.touch) report.touch = touch->between;
  }
  // Half their touching distance is where two bodies may change sides; that they did is sure of less only.
  constexpr double doubtful = 0.5, through = 0.1;
  const double share = part_.span.shortest ? through : doubtful;
  double least_gap = state_.least_gap;
  const auto crossing = find_crossing(part_, holds_, overlaps_, *here_, end, share, searched, least_gap);
  if (crossing && !part_.span.last) return false;
  if (crossing && !report.crossing) report.crossing = crossing;
  state_.least_gap = least_gap;
  return true;
}

/// Over this part. After contacts_ were described.
PartWorks Engine::works_of(const Pass& pass) {
  PartWorks out = detail::works_of(part_, pass, contacts_, overlaps_, holds_, energy_.there());
  momentum_.balance();
  momentum_.add_work(pass, contacts_, out);
  return out;
}

/// Of a part whose end this is: takes what energy it gained from nothing beyond what it may, or has the part cut. Where
/// the shortest part has nothing to take it from, as its shape took the energy, nothing moves in it. `slowed`: whether
/// the velocities at the end are others now.
SubstepResult Engine::settle_energy(Pass& pass, PartWorks& works, rods::RodEnergies& energies, StepReport& report,
                                    bool& slowed) {
  const bool shortest = part_.span.shortest;
  const auto surplus_of = [&](const rods::RodEnergies& end) {
    return state_.energy_excess + energy_.gain(end, works) - energy_.allowed_excess(end, works);
  };
  const double surplus = surplus_of(energies);
  slowed = !(surplus <= 0.0);
  if (!slowed) return SubstepResult::accepted;
  // A shorter part is nearer to the truth than a slower one.
  constexpr double much = 0.01, rounding = 1e-6;
  const double there = energy_.there();
  if (!shortest && !(surplus <= much * there)) return SubstepResult::cut;
  if (!std::isfinite(surplus)) return SubstepResult::not_finite;
  damp(part_, surplus);
  energies = energies_of(part_.end);
  const double left = surplus_of(energies);
  if (!shortest && left > rounding * surplus) return SubstepResult::cut;
  if (left > there + works.push_out && stand_still(part_, pass)) {
    report.energy_excess = std::max(report.energy_excess, surplus);
    go_to_end(pass);
    trees_.carried().carry_to_end(pass.velocities);
    contacts_ = describe_contacts(part_, pass);
    works = {};
    energies = energies_of(part_.end);
  }
  return SubstepResult::accepted;
}

}  // namespace tresse::dynamics::detail
