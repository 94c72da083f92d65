#include <tresse/dynamics/detail/repairs.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <utility>

#include <oneapi/tbb/parallel_sort.h>

#include <tresse/base/blocks.hpp>
#include <tresse/base/stopwatch.hpp>
#include <tresse/contact/overlaps.hpp>

namespace tresse::dynamics::detail {
namespace {

using Pairs = std::vector<contact::CandidatePair>;

/// A piece, and its neighbours along the body where `s` is near them.
struct Around {
  std::array<int, 3> pieces;
  int count = 0;

  Around(const contact::Geometry& geometry, int piece, double s) {
    if (piece >= 0) {
      constexpr double near_radii = 100.0;  // where two hairs are nearly parallel, their contact jumps as far
      const contact::Piece& at = geometry.pieces[piece];
      const double near = near_radii * at.radius;
      if (!at.first && s < at.interval.begin + near) pieces[count++] = piece - 1;
      if (!at.last && s > at.interval.end - near) pieces[count++] = piece + 1;
    }
    pieces[count++] = piece;
  }
};

/// Appends the pairs of pieces between which a contact may come to be.
void append_pairs(const contact::Geometry& geometry, const contact::Contact& contact, Pairs& out) {
  const Around a(geometry, contact.a, contact.s_a);
  const Around b(geometry, contact.b, contact.s_b);
  for (int i = 0; i < a.count; ++i) {
    for (int j = 0; j < b.count; ++j) {
      const contact::CandidatePair pair{a.pieces[i], b.pieces[j]};
      const contact::Piece& piece = geometry.pieces[pair.a];
      const int body_b = contact::body_at(geometry, pair.b);
      const bool may_meet = piece.body == body_b ? contact::can_touch_itself(geometry, pair.a, pair.b)
                                                 : piece.embedded_in < 0 || piece.embedded_in != body_b;
      if (may_meet) out.push_back(pair);
    }
  }
}

/// In order, each once.
void sort_out(Pairs& pairs) {
  oneapi::tbb::parallel_sort(pairs.begin(), pairs.end());
  pairs.erase(std::unique(pairs.begin(), pairs.end(), [](const auto& x, const auto& y) { return !(x < y); }),
              pairs.end());
}

/// Of what is tolerated: what overlaps nearly as deep would be next.
constexpr double nearly = 0.5;

/// Whether each body, owners of surfaces included, is one of a contact's among the last `count`.
std::vector<char> bodies_of_last(const contact::Geometry& geometry, const std::vector<contact::Contact>& contacts,
                                 std::size_t count) {
  std::vector<char> out;
  for (std::size_t i = contacts.size() - count; i < contacts.size(); ++i) {
    for (const int piece : {contacts[i].a, contacts[i].b}) {
      const auto body = static_cast<std::size_t>(contact::body_at(geometry, piece));
      if (body >= out.size()) out.resize(body + 1, 0);
      out[body] = 1;
    }
  }
  return out;
}

/// A contact at the end of a pass that overlaps, and the contact of that pass whose place it takes.
struct Turned {
  BodyPair bodies;
  const contact::Contact* contact = nullptr;
  int replaces = -1;
  double away = 0.0;  ///< that is, along the bodies [m]
};

/// Finds for each the nearest contact of its two bodies, within some radii.
void find_replaced(const contact::Geometry& geometry, const std::vector<contact::Contact>& contacts,
                   std::vector<Turned>& turned) {
  constexpr double near_radii = 20.0;
  contact::PairIndex by_pair;
  for (std::size_t k = 0; k < turned.size(); ++k) by_pair.add(turned[k].bodies, 0.0, static_cast<int>(k));
  by_pair.sort();
  for (std::size_t i = 0; i < contacts.size(); ++i) {
    const contact::Contact& contact = contacts[i];
    // A contact is replaced once: by the nearest that it is nearest to.
    Turned* best = nullptr;
    double least = near_radii * geometry.pieces[contact.a].radius;
    for (const auto& entry : by_pair.of(contact::bodies_of(geometry, contact))) {
      Turned& one = turned[static_cast<std::size_t>(entry.index)];
      const double away = contact::distance_along(geometry, *one.contact, contact);
      if (away < least && (one.replaces < 0 || away < one.away)) best = &one, least = away;
    }
    if (best) best->replaces = static_cast<int>(i), best->away = least;
  }
}

/// Whether as many sweeps again, at the rate of their last half, would bring a solve that ran out of them to its
/// tolerance.
bool would_converge(const friction::FrictionSolution& solution, double tolerance) {
  if (solution.history.empty()) return true;
  const int sweeps = solution.history.back().sweeps;
  double half = std::numeric_limits<double>::infinity(), least = half;
  for (const friction::FrictionSolution::Check& check : solution.history) {
    least = std::min(least, check.error);
    if (check.sweeps <= sweeps / 2) half = least;
  }
  return std::log(least / tolerance) < 2.0 * std::log(half / least);
}

}  // namespace

bool Repairs::possible() const {
  const StepOptions& options = part_.options;
  return !options.penalty && options.relinearisations == 0 && options.max_relinearisations > 0 &&
         options.scheme != Scheme::nonlinear && part_.world.holds.empty() && part_.world.free_bodies.empty() &&
         part_.motion.forest.trees.size() == part_.world.fibres.size();
}

SharedConfiguration Repairs::find_turned(const Pass& pass, StepReport& report) {
  Stopwatch watch(report.t_detection);
  auto out = finder_.place(part_.end, part_.span.end, pass.velocities);
  out->contacts.clear();
  if (out->geometry.body_begin != pass.at->geometry.body_begin) return out;  // cut otherwise: pairs have other numbers
  const std::vector<contact::Contact>& contacts = pass.at->contacts;
  constexpr std::size_t block = 256;
  std::vector<Pairs> found((contacts.size() + block - 1) / block);
  const std::vector<char> repaired = bodies_of_last(out->geometry, pass.contacts, pass.turned);
  const auto is_repaired = [&](int piece) {
    const auto body = static_cast<std::size_t>(contact::body_at(out->geometry, piece));
    return body < repaired.size() && repaired[body] != 0;
  };
  for_blocks(contacts.size(), block, [&](std::size_t k, std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) {
      const contact::Contact& contact = contacts[i];
      if (pass.turned == 0 || is_repaired(contact.a) || is_repaired(contact.b))
        append_pairs(out->geometry, contact, found[k]);
    }
    sort_out(found[k]);
  });
  Pairs pairs = joined(found);
  sort_out(pairs);
  const StepOptions& options = part_.options;
  out->contacts = contact::overlaps(out->geometry, pairs, nearly * options.overlap_tolerance, options.detection);
  return out;
}

bool Repairs::repair(const Configuration& end, double tolerance, Pass& pass, StepReport& report) {
  const contact::Geometry& geometry = end.geometry;
  // While repairs are cheap, before the solve that counts, more is repaired than must be.
  const double tolerated = (tolerance > 0.0 ? nearly : 1.0) * part_.options.overlap_tolerance;
  if (geometry.body_begin != pass.at->geometry.body_begin || overlaps_.shortfall(end) <= tolerated) return false;
  std::vector<Turned> turned;
  for (const contact::Contact& contact : end.contacts) {
    const double enough = nearly * part_.options.overlap_tolerance;
    if (-contact.gap <= enough || overlaps_.wanted_gap(geometry, contact) - contact.gap <= enough) continue;
    if (holds_.cannot_give_way(part_.start, geometry, contact)) continue;
    turned.push_back({contact::bodies_of(geometry, contact), &contact});
  }
  if (turned.empty()) return false;
  std::stable_sort(turned.begin(), turned.end(), [](const Turned& x, const Turned& y) { return x.bodies < y.bodies; });
  find_replaced(geometry, pass.contacts, turned);

  std::vector<char> left_out(pass.contacts.size(), 0);
  Pass anew;
  anew.guess = VectorX::Zero(3 * static_cast<Eigen::Index>(turned.size()));
  const double dt = part_.motion.dt;
  for (std::size_t k = 0; k < turned.size(); ++k) {
    const contact::Contact& contact = *turned[k].contact;
    const double travelled = dt * assembly::relative_velocity(part_.end, geometry, contact, pass.velocities,
                                                              part_.motion, assembly::Instant::end)[0];
    solver_.append(part_.end, geometry, contact, contact.gap - travelled, assembly::Instant::end, anew);
    if (turned[k].replaces < 0) continue;
    const auto i = static_cast<std::size_t>(turned[k].replaces);
    left_out[i] = 1;
    if (pass.slips[i]) anew.slips[k] = along_surface(contact, *pass.slips[i]);
    solver_.take_back(k, anew);
    if (!pass.slid.empty()) anew.slid[k] = pass.slid[i];
    anew.guess.segment<3>(3 * static_cast<Eigen::Index>(k)) =
        contact.frame.transpose() * pass.contacts[i].frame *
        pass.solution.impulse.segment<3>(3 * static_cast<Eigen::Index>(i));
  }

  // Sweeps that would not reach the tolerance anyway only bring the few new contacts to where the last solve stopped.
  constexpr double few = 0.25;
  const int most = part_.options.solver.max_iterations;
  const bool hopeless = tolerance == 0.0 && pass.solution.status != Status::converged &&
                        !would_converge(pass.solution, part_.options.solver.tolerance);
  Pass next = solver_.replaced(pass, left_out, anew, geometry, report);
  solver_.solve(next, tolerance, hopeless ? most - std::max(1, static_cast<int>(few * most)) : 0, report);
  pass = std::move(next);
  return true;
}

SubstepResult Repairs::mend(Pass& pass, const std::function<bool(const Pass&)>& go_to_end, StepReport& report) {
  constexpr int rounds = 4;
  for (int round = 0; round < rounds; ++round) {
    const SharedConfiguration end = find_turned(pass, report);
    if (!part_.span.last && overlaps_.sides_lost(*end)) return SubstepResult::cut;
    if (!repair(*end, roughly, pass, report)) break;
    if (!go_to_end(pass)) return SubstepResult::not_finite;
  }
  if (pass.solution.scaled_error <= part_.options.solver.tolerance) return SubstepResult::accepted;
  const int taken = pass.solution.iterations;
  pass.guess = pass.solution.impulse;
  solver_.solve(pass, 0.0, taken, report);
  return go_to_end(pass) ? SubstepResult::accepted : SubstepResult::not_finite;
}

}  // namespace tresse::dynamics::detail
