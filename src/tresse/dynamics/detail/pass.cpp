#include <tresse/dynamics/detail/pass.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>
#include <tuple>
#include <utility>

#include <tresse/base/blocks.hpp>
#include <tresse/base/stopwatch.hpp>
#include <tresse/friction/coulomb.hpp>

namespace tresse::dynamics::detail {
namespace {

/// Whether a piece is of a fibre of a tree; -1 is none.
bool on_tree(const Part& part, const Pass& pass, int piece, int tree) {
  if (piece < 0) return false;
  const BodyId id = pass.at->geometry.pieces[piece].id;
  return id.is_fibre() && part.motion.forest.tree_of[id.index] == tree;
}

/// Impulses over the stage, (3 contacts), and the slips, of the contacts of `warm`; and whether they slid, unless that
/// list is empty. Those that are nearest to each other belong together.
void take_warm(const std::vector<WarmContact>& warm, const Part& part, const contact::Geometry& geometry,
               const std::vector<contact::Contact>& contacts, Pass& pass) {
  contact::PairIndex known;
  for (std::size_t i = 0; i < warm.size(); ++i) {
    const contact::Along at = contact::along(geometry, warm[i].place);
    known.add({geometry.pieces[at.a].id, assembly::body_of_number(part.world, warm[i].place.body_b)}, at.s_a,
              static_cast<int>(i), at.s_b);
  }
  known.sort();
  struct Match {
    double distance;  ///< along both bodies [m]
    std::size_t contact, warm;
  };
  std::vector<Match> matches;
  for (std::size_t i = 0; i < contacts.size(); ++i) {
    const double s_a = contact::along_a(geometry, contacts[i]), s_b = contact::along_b(geometry, contacts[i]);
    const double near = 10.0 * geometry.pieces[contacts[i].a].radius;
    for (const auto& entry : known.near(contact::bodies_of(geometry, contacts[i]), s_a, near))
      matches.push_back(
          {std::abs(entry.s_a - s_a) + std::abs(entry.s_b - s_b), i, static_cast<std::size_t>(entry.index)});
  }
  std::sort(matches.begin(), matches.end(), [](const Match& x, const Match& y) {
    return std::tie(x.distance, x.contact, x.warm) < std::tie(y.distance, y.contact, y.warm);
  });
  std::vector<char> used(warm.size(), 0);
  pass.guess = VectorX::Zero(3 * static_cast<Eigen::Index>(contacts.size()));
  for (const auto& [distance, i, index] : matches) {
    if (pass.warm_of[i] >= 0 || used[index] != 0) continue;
    used[index] = 1;
    pass.warm_of[i] = static_cast<int>(index);
    pass.guess.segment<3>(3 * static_cast<Eigen::Index>(i)) =
        part.stage() * (contacts[i].frame.transpose() * warm[index].force);
    if (warm[index].slip) pass.slips[i] = along_surface(contacts[i], *warm[index].slip);
    if (!pass.slid.empty()) pass.slid[i] = warm[index].slides ? 1 : 0;
  }
}

/// Whether a contact slides, rather than carries all that it can where it is.
bool slides(const Pass& pass, std::size_t contact) {
  const auto i = static_cast<Eigen::Index>(contact);
  constexpr double rounding = 1e-8;  // of the velocities of the problem
  return friction::classify(pass.solution.impulse.segment<3>(3 * i), pass.problem.mu[i]) ==
             friction::ContactCase::slide &&
         friction::tangential_norm(pass.solution.velocity.segment<3>(3 * i)) >
             rounding * pass.problem.q.lpNorm<Eigen::Infinity>();
}

/// Contacts that slid, from `first` on, have the friction of what slides.
void take_kinetic(std::size_t first, Pass& pass) {
  for (std::size_t i = first; i < pass.slid.size(); ++i) {
    if (pass.slid[i]) pass.problem.mu[static_cast<Eigen::Index>(i)] = pass.kinetic[i];
  }
}

}  // namespace

std::vector<WarmContact> warm_contacts(const Part& part, const Pass& pass, bool before) {
  std::vector<WarmContact> out;
  for (std::size_t i = 0; i < pass.contacts.size(); ++i) {
    const contact::Contact& contact = pass.contacts[i];
    const Vector3 impulse = pass.solution.impulse.segment<3>(3 * static_cast<Eigen::Index>(i));
    if (impulse.isZero(0.0) && contact.gap > part.options.margin) continue;
    const bool slid = !pass.slid.empty() && (before ? pass.slid[i] != 0 : slides(pass, i));
    out.push_back(
        {contact::place_of(pass.at->geometry, contact), contact.frame * impulse / part.stage(), pass.slips[i], slid});
  }
  return out;
}

std::vector<char> touched_trees(const Part& part, const Pass& pass, const HeldPoints& holds) {
  std::vector<char> out(part.motion.forest.trees.size(), 0);
  for (const contact::Contact& contact : pass.contacts) {
    for (const int piece : {contact.a, contact.b}) {
      if (piece < 0 || !pass.at->geometry.pieces[piece].id.is_fibre()) continue;
      out[static_cast<std::size_t>(part.motion.forest.tree_of[pass.at->geometry.pieces[piece].id.index])] = 1;
    }
  }
  for (std::size_t t = 0; t < out.size(); ++t) out[t] = out[t] || holds.held(static_cast<int>(t));
  return out;
}

void stand_still(const Part& part, int t, Pass& pass) {
  for (const int f : part.tree(t).fibres) pass.velocities[f].setZero();
  for (std::size_t i = 0; i < pass.contacts.size(); ++i) {
    if (on_tree(part, pass, pass.contacts[i].a, t) || on_tree(part, pass, pass.contacts[i].b, t))
      pass.solution.impulse.segment<3>(3 * static_cast<Eigen::Index>(i)).setZero();
  }
  for (assembly::HoldImpulse& held : pass.holds) {
    if (part.motion.forest.tree_of[part.world.holds[held.hold].fibre] == t) held = {.hold = held.hold};
  }
}

bool stand_still(const Part& part, Pass& pass) {
  bool any = false;
  for (int t = 0; t < part.tree_count(); ++t) {
    if (part.driven(t) || !part.linear(t)) continue;
    stand_still(part, t, pass);
    any = true;
  }
  if (!any) return false;
  pass.solution.status = Status::not_finite;
  pass.solution.scaled_error = pass.solution.natural_map_error = 1.0;
  return sound(part, pass.velocities);
}

PassSolver::PassSolver(const Part& part, const FreeBodies& bodies, const HeldPoints& holds,
                       const StartOverlaps& overlaps)
    : part_(part), bodies_(bodies), holds_(holds), overlaps_(overlaps) {
  if (!part.world.law) return;
  const std::set<int> materials = assembly::materials_in_use(part.world);
  const assembly::ContactLaw& law = *part.world.law;
  for (const int a : materials) {
    for (const int b : materials) {
      bounces_ = bounces_ || law.restitution(a, b) > 0.0;
      weakens_ = weakens_ || law.kinetic_friction(a, b) < law.friction(a, b);
    }
  }
  for (const assembly::Fibre& fibre : part.world.fibres) {
    for (const assembly::FrictionRegion& region : fibre.friction)
      weakens_ = weakens_ || region.kinetic < region.friction;
  }
}

Pass PassSolver::linearise(const SharedConfiguration& at, const std::vector<VectorX>* before,
                           const std::vector<WarmContact>& warm, StepReport& report) {
  Pass pass;
  pass.at = at;
  const assembly::FreeMotion& motion = part_.motion;
  const assembly::Instant instant = before ? assembly::Instant::end : assembly::Instant::begin;
  pass.places = before ? motion.obstacles_end : motion.obstacles_begin;
  const assembly::Kinematics& bodies = before ? part_.end : part_.start;
  const double dt = motion.dt;
  if (bounces_ && !before) start_velocities_ = velocities_of(part_.start, part_.start_rods, part_.state.bodies);
  struct Reach {
    double start = 0.0;  // gap at the start, linearised [m]
    bool matters = false;
    bool jammed = false;
  };
  std::vector<Reach> reaches(at->contacts.size());
  // Under a penalty what other contacts pushed together matters where it ends, too.
  const double felt =
      before && part_.options.penalty ? part_.options.penalty->law.delta : -std::numeric_limits<double>::infinity();
  constexpr std::size_t block = 256;
  for_blocks(reaches.size(), block, [&](std::size_t, std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) {
      const contact::Contact& contact = at->contacts[i];
      if (holds_.cannot_give_way(part_.start, at->geometry, contact)) continue;
      const auto relative = [&](const std::vector<VectorX>& velocities) {
        return assembly::relative_velocity(bodies, at->geometry, contact, velocities, motion, instant);
      };
      const double travelled = before ? dt * relative(*before)[0] : 0.0;
      reaches[i].start = contact.gap - travelled;
      reaches[i].matters =
          reaches[i].start <= part_.options.margin + dt * relative(motion.velocities).norm() || contact.gap <= felt;
      reaches[i].jammed = reaches[i].matters && assembly::cannot_open(bodies, at->geometry, contact, motion, instant);
    }
  });
  for (std::size_t i = 0; i < reaches.size(); ++i) {
    if (!reaches[i].matters) continue;
    const contact::Contact& contact = at->contacts[i];
    if (reaches[i].jammed) {
      pass.jammed.push_back(contact);
      continue;
    }
    append(bodies, at->geometry, contact, reaches[i].start, instant, pass);
  }
  take_warm(warm, part_, at->geometry, pass.contacts, pass);
  for (std::size_t i = 0; i < pass.contacts.size() && !part_.options.penalty; ++i) take_back(i, pass);
  Stopwatch watch(report.t_assembly);
  pass.problem = assembly::contact_problem(bodies, at->geometry, pass.contacts, motion, pass.bias, instant, workspace_,
                                           std::move(spare_));
  take_kinetic(0, pass);
  if (part_.options.penalty && !before) load_ = laws::largest_load(pass.problem, part_.options.penalty->law, dt);
  return pass;
}

laws::PenaltySolution PassSolver::solve_penalty(const Pass& pass, VectorX& stiffness) const {
  const PenaltyStep& penalty = *part_.options.penalty;
  const contact::Geometry& geometry = pass.at->geometry;
  // What nothing presses needs some stiffness, too.
  const double load = std::max(load_, 1e20 * std::numeric_limits<double>::min());
  stiffness.resize(static_cast<Eigen::Index>(pass.contacts.size()));
  VectorX reach(stiffness.size());
  for (std::size_t i = 0; i < pass.contacts.size(); ++i) {
    const contact::Contact& contact = pass.contacts[i];
    const double radius =
        0.5 * (geometry.pieces[static_cast<std::size_t>(contact.a)].radius + contact::skin_at(geometry, contact.b));
    const auto at = static_cast<Eigen::Index>(i);
    reach[at] = contact.reach;
    stiffness[at] =
        penalty.stiffness.value_or(laws::adaptive_stiffness(penalty.law.law, load, radius, penalty.law.delta));
    // A barrier bears its load at the same share of its reach.
    if (penalty.law.law == laws::Law::ipc) stiffness[at] /= contact.reach;
  }
  return laws::solve_penalty({pass.problem, penalty.law, stiffness, part_.motion.dt, std::move(reach)}, pass.guess);
}

void PassSolver::append(const assembly::Kinematics& at, const contact::Geometry& geometry,
                        const contact::Contact& contact, double gap, assembly::Instant instant, Pass& pass) const {
  const double dt = part_.motion.dt;
  double bias = (part_.options.penalty ? gap : gap - overlaps_.wanted_gap(geometry, contact)) / dt;
  pass.contacts.push_back(contact);
  pass.instants.push_back(instant);
  if (bounces_) {
    const auto normal = [&](const std::vector<VectorX>& velocities) {
      return assembly::relative_velocity(at, geometry, contact, velocities, part_.motion, instant)[0];
    };
    const double before = normal(start_velocities_);
    const double free = normal(part_.motion.velocities);
    const double approach = pass.approach.emplace_back(std::max(before, free));
    const double e = assembly::coefficients(at, geometry, contact, part_.motion, instant).restitution;
    // What is slower comes to rest: as slow as a few steps' fall, or as what its own forces do in as many.
    constexpr double steps = 4.0;
    const StepOptions& options = part_.options;
    const double fall = steps * options.dt * assembly::gravity_of(part_.world).norm();
    const double slow =
        std::max(options.restitution_threshold.value_or(fall), steps * options.dt / dt * std::abs(free - before));
    if (e > 0.0 && gap + dt * free < 0.0 && -approach > slow) {
      bias = std::min(bias, e * approach);
      ++pass.rebounds;
    }
  }
  pass.bias.emplace_back(bias, 0.0, 0.0);
  pass.slips.emplace_back();
  pass.warm_of.push_back(-1);
  if (!weakens_) return;
  pass.kinetic.push_back(assembly::coefficients(at, geometry, contact, part_.motion, instant).kinetic);
  pass.slid.push_back(0);
}

void PassSolver::take_back(std::size_t contact, Pass& pass) const {
  const std::optional<Vector3>& slip = pass.slips[contact];
  const double size = slip ? slip->norm() : 0.0;
  if (!(size > 0.0)) return;
  const double speed = std::min(size / part_.motion.dt, part_.options.push_out_speed);
  pass.bias[contact] += pass.contacts[contact].frame.transpose() * *slip * (speed / size);
}

void PassSolver::solve(Pass& pass, double tolerance, int taken, StepReport& report) {
  Stopwatch watch(report.t_solve);
  if (part_.options.penalty) {
    VectorX stiffness;
    laws::PenaltySolution found = solve_penalty(pass, stiffness);
    report.least_step_length = std::min(report.least_step_length, found.least_step_length);
    if (stiffness.size() > 0) report.stiffness = std::max(report.stiffness, stiffness.maxCoeff());
    pass.solution = std::move(found);
  } else {
    solve_exactly(pass, tolerance, taken);
  }
  report.iterations += pass.solution.iterations;
  report.linear_solves += pass.solution.newton_steps;
  std::vector<VectorX>& memory = pass.velocities.empty() ? spare_velocities_ : pass.velocities;
  pass.velocities = assembly::constrained_velocities(part_.world, pass.problem, pass.solution.impulse, part_.motion,
                                                     workspace_, std::move(memory));
  pass.body_impulses = bodies_.impulses(pass.velocities, part_.motion);
}

void PassSolver::solve_exactly(Pass& pass, double tolerance, int taken) const {
  const friction::SolverOptions& wanted = part_.options.solver;
  friction::SolverOptions options = wanted;
  options.tolerance = std::max(options.tolerance, tolerance);
  options.max_iterations = std::max(1, options.max_iterations - taken);
  pass.solution = friction::solve(pass.problem, pass.guess, options);
  constexpr std::size_t few = 250;  // as many as a path through the smoothed law is followed for
  if (pass.solution.status == Status::max_iterations && tolerance <= wanted.tolerance &&
      options.solver == friction::Solver::hybrid_gauss_seidel && options.facets == 0 && pass.contacts.size() <= few) {
    options.solver = friction::Solver::automatic;
    friction::FrictionSolution other = friction::solve(pass.problem, VectorX::Zero(pass.guess.size()), options);
    other.iterations += pass.solution.iterations;
    if (other.scaled_error < pass.solution.scaled_error) pass.solution = std::move(other);
  }
  if (weakens_ && (options.tolerance == wanted.tolerance || pass.solution.scaled_error <= wanted.tolerance))
    weaken(pass, options);
}

void PassSolver::weaken(Pass& pass, friction::SolverOptions options) const {
  options.tolerance = part_.options.solver.tolerance;
  constexpr int rounds = 10;  // in the last all contacts are taken as sliding: then none slides with a larger friction
  for (int round = 1; round <= rounds; ++round) {
    bool any = false;
    VectorX guess = pass.solution.impulse;
    for (std::size_t i = 0; i < pass.contacts.size(); ++i) {
      double& mu = pass.problem.mu[static_cast<Eigen::Index>(i)];
      if (!(pass.kinetic[i] < mu) || !(round == rounds || slides(pass, i))) continue;
      guess.segment<2>(3 * static_cast<Eigen::Index>(i) + 1) *= pass.kinetic[i] / mu;
      mu = pass.kinetic[i];
      any = true;
    }
    if (!any) return;
    const int taken = pass.solution.iterations;
    pass.solution = friction::solve(pass.problem, guess, options);
    pass.solution.iterations += taken;
  }
}

Pass PassSolver::replaced(Pass& pass, const std::vector<char>& left_out, const Pass& turned,
                          const contact::Geometry& geometry, StepReport& report) {
  Pass next;
  next.at = pass.at;
  next.places = pass.places;
  next.jammed = std::move(pass.jammed);
  {
    Stopwatch watch(report.t_assembly);
    next.problem = friction::replaced(std::move(pass.problem), left_out,
                                      assembly::contact_problem(part_.end, geometry, turned.contacts, part_.motion,
                                                                turned.bias, assembly::Instant::end, workspace_));
  }
  next.guess.resize(next.problem.q.size());
  for (std::size_t i = 0; i < pass.contacts.size(); ++i) {
    if (left_out[i]) continue;
    next.guess.segment<3>(3 * static_cast<Eigen::Index>(next.contacts.size())) =
        pass.solution.impulse.segment<3>(3 * static_cast<Eigen::Index>(i));
    next.contacts.push_back(pass.contacts[i]);
    next.instants.push_back(pass.instants[i]);
    next.bias.push_back(pass.bias[i]);
    next.slips.push_back(pass.slips[i]);
    next.warm_of.push_back(pass.warm_of[i]);
    if (bounces_) next.approach.push_back(pass.approach[i]);
    if (!weakens_) continue;
    next.kinetic.push_back(pass.kinetic[i]);
    next.slid.push_back(pass.slid[i]);
  }
  next.guess.tail(turned.guess.size()) = turned.guess;
  next.turned = turned.contacts.size();
  next.rebounds = pass.rebounds + turned.rebounds;
  next.contacts.insert(next.contacts.end(), turned.contacts.begin(), turned.contacts.end());
  next.instants.insert(next.instants.end(), next.turned, assembly::Instant::end);
  next.bias.insert(next.bias.end(), turned.bias.begin(), turned.bias.end());
  next.slips.insert(next.slips.end(), turned.slips.begin(), turned.slips.end());
  next.warm_of.insert(next.warm_of.end(), turned.warm_of.begin(), turned.warm_of.end());
  next.approach.insert(next.approach.end(), turned.approach.begin(), turned.approach.end());
  next.kinetic.insert(next.kinetic.end(), turned.kinetic.begin(), turned.kinetic.end());
  next.slid.insert(next.slid.end(), turned.slid.begin(), turned.slid.end());
  take_kinetic(next.contacts.size() - next.turned, next);
  return next;
}

std::vector<VectorX> PassSolver::ways(const Pass& pass) const {
  std::vector<VectorX> out = pass.velocities;
  for (std::size_t i = 0; pass.rebounds > 0 && i < out.size(); ++i) out[i] -= start_velocities_[i];
  return out;
}

void PassSolver::reuse(Pass& pass) {
  spare_ = std::move(pass.problem);
  spare_velocities_ = std::move(pass.velocities);
}

}  // namespace tresse::dynamics::detail
