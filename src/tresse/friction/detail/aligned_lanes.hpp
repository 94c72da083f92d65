#pragma once

#include <limits>

#include <tresse/base/lanes.hpp>
#include <tresse/friction/local_solver.hpp>

namespace tresse::friction::detail {

/// The blocks of four contacts that are solved at once: one contact's square root and divisions wait for each other.
struct AlignedLanes {
  using Lanes = lanes::Doubles;
  Lanes mu, inverse_normal, row[2], schur[2], cosine, sine;

  AlignedLanes(const AlignedContact& a, const AlignedContact& b, const AlignedContact& c, const AlignedContact& d)
      : mu{a.mu, b.mu, c.mu, d.mu},
        inverse_normal{a.inverse_normal, b.inverse_normal, c.inverse_normal, d.inverse_normal},
        row{{a.row[0], b.row[0], c.row[0], d.row[0]}, {a.row[1], b.row[1], c.row[1], d.row[1]}},
        schur{{a.schur[0], b.schur[0], c.schur[0], d.schur[0]}, {a.schur[1], b.schur[1], c.schur[1], d.schur[1]}},
        cosine{a.cosine, b.cosine, c.cosine, d.cosine},
        sine{a.sine, b.sine, c.sine, d.sine} {}

  /// `solve_secular` of each from the velocity u that goes with its r. The block serves only to tell how u changes with
  /// r: where nothing has to change the answer is r, however roughly the block is known. A mask of the contacts solved;
  /// of those that the block is not fit for, or did not converge, r and alpha stay.
  TRESSE_HOT lanes::Mask solve(const Lanes (&u)[3], double near, Lanes& alpha, Lanes (&r)[3]) const;
};

TRESSE_HOT lanes::Mask AlignedLanes::solve(const Lanes (&u)[3], double near, Lanes& alpha, Lanes (&r)[3]) const {
  using lanes::Mask, lanes::select, lanes::spread;
  constexpr double precision = 2.0 * std::numeric_limits<double>::epsilon();
  constexpr int most_steps = 60;
  const Lanes zero = spread(0.0), infinite = spread(std::numeric_limits<double>::infinity());
  // In the contacts' own axes. Of q = u - W r: elimination takes r_N out of what is tangential.
  const Lanes old1 = cosine * r[1] + sine * r[2], old2 = cosine * r[2] - sine * r[1];
  const Lanes loaded = r[0] + row[0] * old1 + row[1] * old2 - u[0] * inverse_normal;
  const Lanes b1 = cosine * u[1] + sine * u[2] - row[0] * u[0] - schur[0] * old1;
  const Lanes b2 = cosine * u[2] - sine * u[1] - row[1] * u[0] - schur[1] * old2;
  const Mask fit = inverse_normal > zero;
  Mask solved = fit & (loaded <= zero);  // open
  Mask done = solved | ~fit;
  Lanes own0 = zero, own1 = zero, own2 = zero;
  Lanes a = alpha, low = zero, high = infinite;
  Mask slides{};  // known: alpha = 0 lies outside the cone
  for (int step = 0; step < most_steps && lanes::any(~done); ++step) {
    const Lanes m1 = schur[0] + a, m2 = schur[1] + a;
    const Lanes inverse = 1.0 / (m1 * m2);
    const Lanes p1 = m2 * inverse, p2 = m1 * inverse;
    const Lanes r1 = -p1 * b1, r2 = -p2 * b2;
    const Lanes rn = loaded - row[0] * r1 - row[1] * r2;
    const Lanes square = r1 * r1 + r2 * r2;
    const Lanes length = lanes::sqrt(square);
    const Lanes limit = mu * rn;
    const Mask inside = length <= limit;  // the cone: alpha is too large, or the contact sticks
    const Mask sticks = inside & (a == zero);
    high = select(inside, a, high);
    low = select(inside, low, a);
    slides |= ~inside;
    const Lanes d1 = -p1 * r1, d2 = -p2 * r2;  // by alpha
    const Lanes dn = -row[0] * d1 - row[1] * d2;
    const Lanes along = r1 * d1 + r2 * d2;
    const Lanes newton = a - (limit - length) * square / (mu * dn * square - limit * along);
    const Lanes otherwise = select(high < infinite, 0.5 * (low + high), 2.0 * low + schur[0] + schur[1]);
    // Newton may aim below zero from inside the cone: zero decides between stick and slide.
    const Lanes next =
        select(~slides & ~(newton > zero), zero, select((newton > low) & (newton < high), newton, otherwise));
    // r to first order at Newton's next alpha, on the cone; 1 / |r_T| there by its series in what |r_T|^2 changes by.
    const Lanes move = next - a;
    const Lanes n = rn + move * dn, t1 = r1 + move * d1, t2 = r2 + move * d2;
    const Lanes grown = ((t1 * t1 + t2 * t2) - square) / square;
    const Mask close = ~sticks & (lanes::abs(move) < near * a) & (next > low) & (next < high) & (n > zero);
    const Mask exact =
        ~sticks & ~close &
        ((lanes::abs(limit - length) <= precision * length) | (next == a) | (high - low <= precision * low));
    const Mask good = ~done & (sticks | close | (exact & (rn > zero) & (length > zero)));
    const Lanes inverse_length = 1.0 / length;
    const Lanes on_cone = select(close, mu * n * inverse_length * (1.0 - grown * (0.5 - 0.375 * grown)),
                                 select(sticks, spread(1.0), limit * inverse_length));
    own0 = select(good, select(close, n, rn), own0);
    own1 = select(good, on_cone * select(close, t1, r1), own1);
    own2 = select(good, on_cone * select(close, t2, r2), own2);
    alpha = select(good, select(close, next, a), alpha);
    solved |= good;
    done |= good | exact;
    a = next;
  }
  r[0] = select(solved, own0, r[0]);
  r[1] = select(solved, cosine * own1 - sine * own2, r[1]);
  r[2] = select(solved, sine * own1 + cosine * own2, r[2]);
  return solved;
}

}  // namespace tresse::friction::detail
