#pragma once

#include <array>
#include <cstddef>

/// What was tuned rather than derived. Nothing here changes what a solution is, only how soon it is found. The pages
/// named are those of docs/measured; "policy" is solvers_policy. "Not measured": nobody has compared other values.
namespace tresse::friction::detail {

/// Gauss-Seidel, the remedies for islands on which it is slow, and what `auto` does when.
struct SweepPolicy {
  /// A sweep and its checks.
  struct Sweeps {
    /// [contacts] from which on an island is swept in groups, by rounded rows, on several threads and with slow
    /// contacts. Fewer are solved sooner than threads wake up, their rows are near, and in a tower of 570 the slow
    /// contacts are no fewer than the rest. From 150 or 400 on: no gain (solvers_combing, tried and left).
    int large_island = 1000;
    /// [share of alpha] the local solver stops where Newton's next step changes alpha by less: one step a visit. 0.03
    /// and 0.3 make visits 5 % cheaper and no fewer (friction, sweeps tried and left).
    double near = 1e-3;
    /// [of `check_every`] far from the tolerance only one check of so many is made. With lean set-up a wavy problem
    /// takes 0.65 s, not 0.85; twice as rarely: no gain (solvers_combing).
    int rare_checks = 8;
    /// [tolerances] the error that a sweep's length foretells is far above so many. 2 and 20: within 1 % (policy).
    double far = 5.0;
    /// [roundings] y is counted from anew once a step is so few roundings of the longest. 3, 300: alike (policy).
    double seen = 30.0;
    /// [of the error] what counts as progress, and [sweeps] how long mixed sweeps may go without: policy.
    double progress = 0.5;
    int patience = 100;
    /// [contacts] a thread takes at a time where every contact is looked at once. Not measured.
    int together = 256;
    /// [numbers] whose squares are summed in one go. Sums, and with them bits, depend on it. Not measured.
    std::ptrdiff_t block = 8192;
  } sweeps;

  /// Contacts that are visited again within a sweep: solvers, accelerations compared; friction, how they are chosen.
  struct SlowContacts {
    static constexpr std::size_t levels = 3;  ///< each within the one before; two: within 10 %
    double share = 0.999;                     ///< of the square of the step, which they make up
    double part = 0.2;                        ///< of the contacts of the level before, at most; 0.125 to 0.25: alike
    int times = 2;                            ///< each is visited for every visit to the level before
    int every = 20;                           ///< [sweeps] between choices; 10: a fifth more sweeps, 30: 30 % more
    int early = 200;                          ///< [sweeps] after which they are chosen
    int every_later = 40;                     ///< so rarely, as mixing gains from long memory: curly 708 to 655 sweeps
  } slow;

  /// Anderson mixing; how many sweeps are mixed is an option.
  struct Mixing {
    double astray = 2.0;  ///< [lengths of the last step] rejects a mix; 1.2 and 5: within 10 % (solvers)
    double lift = 1e-13;  ///< of the Gram matrix' unit diagonal: the rounding of its products; 1e-4: alike (solvers)
    std::ptrdiff_t block = 4096;   ///< [numbers] summed together. Not measured.
    std::ptrdiff_t widened = 512;  ///< [numbers] of them in double precision at a time. Not measured.
  } mixing;

  /// Order of sweeps on several threads: solvers_combing, tried and left.
  struct Schedule {
    static constexpr std::size_t most_stretches = 64;  ///< of bodies: for some 30 threads. Not measured.
    std::size_t contacts_a_stretch = 300;              ///< 150: 0.64 s for 0.55; 600: half as many clusters for threads
    std::size_t bodies_a_stretch = 16;                 ///< 8: 0.62 s for 0.47, as groups stay unfilled; 24: alike
    std::size_t few_stretches = 4;                     ///< are made of fewer bodies too. Not measured.
    std::size_t open_groups = 64;   ///< looked through for one that a contact fits in. Not measured; a bound.
    std::size_t one_cluster = 100;  ///< [contacts] fewer are visited sooner than threads wake up. Not measured.
    int looks = 4096;               ///< at another thread's stretch before yielding to it. Not measured.
  } schedule;

  /// Newton's method on islands of up to `newton_contacts`, an option.
  struct Small {
    int warm_contacts = 6;  ///< up to which a guess is improved before any sweep: one costs less than a sweep there
    int warm_steps = 6;     ///< for that; 3 and 12 alike, and of none 1 % more sweeps (policy)
    int steps = 30;         ///< of any other try; with 10, 3 % more of them (policy)
    double lift = 1e-10;    ///< of the derivative's unit diagonal, the first try (policy)
    std::array<double, 4> lifts{1e-10, 1e-13, 0.0, 1e-7};  ///< the later ones, in turn. Not measured.
    int first_patience = 10;  ///< [sweeps] before the first try (policy), and twice as many before each next,
    int last_patience = 100;  ///< at most. Not measured.
    /// Sweeps go on without it from this error on, where at their rate they end within so many sweeps a contact
    /// squared: a box of 52 contacts 33 to 2.5 ms, ten combed fibres 16.4 to 5.9 s (solvers_combing).
    double trusted_error = 1e-4;
    double newton_in_sweeps = 0.1;
  } small;

  /// Newton's method on the few contacts that carry a sweep's step, the others held.
  struct Few {
    int most = 20;          ///< [contacts] more cost a sweep's time and settle nothing else (policy)
    double share = 0.999;   ///< of the square of the step
    double clearly = 0.01;  ///< of their squared error may be left: else these don't hold up the rest (policy)
  } few;

  /// Newton's method on all of a larger island. 368 contacts at rest: 5 s to 30 ms (solvers_combing); chains along each
  /// other: two to ten steps of 10 to 20 ms (friction).
  struct Large {
    int most_contacts = 10;  ///< times `newton_contacts`
    int cheap_contacts = 5;  ///< times `newton_contacts`: beyond, steps are shared out by the square of the size
    int steps = 30;          ///< of a try on an island that is cheap
    int last_steps = 100;    ///< out of sweeps: of those that end at all, with some tenths of a second
    double nearer = 0.01;    ///< of the error of the last try, from which on another is made; 0.1: alike (policy)
    double rho = 1e-3;       ///< first proximal term, from where sweeps stalled (policy)
    double last_rho = 0.1;   ///< the same, out of sweeps. Not measured.
  } large;

  /// Sweeps extrapolated by Nesterov's rule.
  int nesterov_sweeps = 100;  ///< at a time; as many as mixed sweeps may stall (policy)

  /// Jumps along a steady drift of plain sweeps.
  struct Drift {
    int sweeps = 3;                          ///< of which the last two are compared
    double cosine = 0.99;                    ///< of their angle from which on the drift is steady; 0.9: alike (policy)
    std::array<double, 2> reach{1.0, 0.25};  ///< of the way to where a contact opens, in turn. Not measured.
  } drift;

  /// The solver `auto`.
  struct Automatic {
    int run = 500;                ///< [sweeps] between looks at what they did; 250, 1000: alike
    double progress = 0.1;        ///< [of the error] which a run has to reach to be followed by another
    double well_posed = 1.0;      ///< nu up to which Newton's method is expected to converge (solvers, redundancy)
    std::size_t too_many = 3000;  ///< [contacts] for a matrix that fills up. Not measured.
    int newton_steps = 200;       ///< in which Newton's method is there, where it gets there. Not measured.
    int before_path = 15000;      ///< [sweeps], as a system of the path costs some fifty: in every second heap they
                                  ///< get there, in the rock pile after 15 900 (solvers, the path),
    int for_path = 6000;          ///< if so many iterations are left for it
    int path_dense = 250;         ///< [contacts] up to which the thousand systems of a path are afforded: 2 ms each
    int path_sparse = 500;        ///< for the rock pile of 295, 0.2 s for a tower of 570 (solvers, the path)
  } automatic;
};

/// Newton's methods of newton.hpp, on W with mean diagonal one.
struct NewtonPolicy {
  /// Which form of W is quicker to factor. Not measured alone.
  struct Form {
    std::size_t few = 60;         ///< [contacts] up to which it is dense
    std::size_t filled = 5;       ///< and where one block of so many is filled
    std::size_t whole_rows = 80;  ///< [contacts] up to which open ones stay in a dense system
  } form;

  /// newton(). Not measured.
  struct Plain {
    double decrease = 1e-4;  ///< of |F| times the step's length: what halving asks for
    double shortest = 1e-3;  ///< step that halving tries
    int worse = 8;           ///< steps in a row without a better iterate
  } plain;

  /// Goldstein and Price's rule. @cite bertails2011 sec. 4
  struct Search {
    double least = 0.1, most = 0.9;  ///< m1 and m2
    double longest = 4.0;            ///< step. Not measured.
    int trials = 25;                 ///< Not measured.
  } search;

  /// controlled_newton(): the lift is a share of |F| / |q|. Not measured.
  struct Controlled {
    double first = 1e-3, least = 1e-8, most = 1e4;  ///< shares
    double least_lift = 1e-14, most_lift = 1e3;
    double falls = 0.3, rises = 10.0;  ///< of the share after a step, and after a refusal
    double shortest = 1e-3;            ///< step: below it a longer lift turns the step instead
    double progress = 0.5;             ///< of |F|
    int patience = 25;                 ///< steps without that
  } controlled;

  /// proximal().
  struct Proximal {
    double first_rho = 0.1;  ///< unless a remedy knows better
    double solved = 1e-10;   ///< of |q|: good enough for the next point; 1e-8: alike (policy)
    double least_rho = 1e-13;
    double falls = 0.1, rises = 5.0, most_rho = 1.0;  ///< of rho after a point (policy), after a refusal (not measured)
    int run = 30;                                     ///< Newton's steps a point
    int points = 200;
    int steps = 600;             ///< all together; ropes over a bar mostly take 40 to 120 (friction)
    double near = 1e-6;          ///< error from which on weighted steps are tried: from 1e-5 they do not get there
    double weighted_rho = 1e-8;  ///< their first one: 1e-7 takes five times the steps, 1e-9 fails (solvers_policy)
    int weighted_steps = 600;    ///< all together: a pile of twenty rods takes 20 to 262 (solvers_policy)
  } proximal;

  double finest = 0.1;          ///< of the tolerance, where the measure is Newton's own; never below rounding, which
                                ///< took proximal() 36 times the steps (friction)
  double finest_other = 1e-15;  ///< of |q|, where it isn't: rounding
};

inline constexpr SweepPolicy sweep_policy{};
inline constexpr NewtonPolicy newton_policy{};

}  // namespace tresse::friction::detail
