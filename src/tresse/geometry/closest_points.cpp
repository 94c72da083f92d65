#include <tresse/geometry/closest_points.hpp>

#include <cmath>
#include <type_traits>
#include <utility>

#include <tresse/base/errors.hpp>
#include <tresse/base/local_memory.hpp>
#include <tresse/geometry/detail/branch_and_bound.hpp>
#include <tresse/geometry/detail/certified.hpp>
#include <tresse/geometry/detail/flanks.hpp>
#include <tresse/geometry/detail/proxy_segments.hpp>

namespace tresse::geometry {

struct ClosestPointsMemory::Parts {
  detail::BoxQueue queue{std::pmr::get_default_resource()};
  std::vector<detail::IntervalPair> heap;
  detail::ProxyTree tree_a, tree_b;
};

ClosestPointsMemory::ClosestPointsMemory() : parts(std::make_unique<Parts>()) {}
ClosestPointsMemory::ClosestPointsMemory(ClosestPointsMemory&&) noexcept = default;
ClosestPointsMemory& ClosestPointsMemory::operator=(ClosestPointsMemory&&) noexcept = default;
ClosestPointsMemory::~ClosestPointsMemory() = default;

namespace {

using QueryMemory = LocalMemory<detail::BoxQueue::usual_size>;

/// Not inlined: the intervals stay in registers.
[[gnu::noinline]] void validate(Interval a, Interval b, const ClosestPointsOptions& options) {
  const auto sound = [](Interval i) { return std::isfinite(i.begin) && std::isfinite(i.end) && i.begin <= i.end; };
  require(sound(a) && sound(b), "closest_points: intervals must be finite with begin <= end");
  require(options.tolerance > 0.0 && std::isfinite(options.tolerance), "closest_points: tolerance must be positive");
  require(!std::isnan(options.upper_bound), "closest_points: upper_bound must be a number");
  require(options.max_steps >= 1, "closest_points: max_steps must be at least 1");
}

/// Place of an evaluator among the alternatives of PreparedCurve.
template <typename C, std::size_t I = 0>
constexpr std::size_t place() {
  if constexpr (std::is_same_v<C, std::variant_alternative_t<I, PreparedCurve>>) {
    return I;
  } else {
    return place<C, I + 1>();
  }
}
template <typename C>
constexpr std::size_t rank = place<C>();

/// With the memory of `parts`, or with its own where there is none.
template <CurveEvaluator A, CurveEvaluator B>
ClosestPoints query(const A& a, Interval ia, const B& b, Interval ib, const ClosestPointsOptions& options,
                    ClosestPointsMemory::Parts* parts) {
  if (options.method == DetectionMethod::certified) {
    detail::CertifiedQuery<A, B> certified(a, ia, b, ib, options);
    if (parts) return certified.run(parts->queue);
    QueryMemory memory;
    detail::BoxQueue own(memory.resource());
    return certified.run(own);
  }
  if (!parts) {
    const ClosestPointsMemory own;
    return query(a, ia, b, ib, options, own.parts.get());
  }
  switch (options.method) {
    case DetectionMethod::certified:
      break;
    case DetectionMethod::branch_and_bound:
      return detail::branch_and_bound(a, ia, b, ib, options, parts->heap);
    case DetectionMethod::segments:
      return detail::proxy_segments(a, ia, b, ib, options, parts->tree_a, parts->tree_b);
  }
  throw InvalidInput("closest_points: unknown method");
}

/// Calls visit(x, y) with the evaluators of a and b, which stand in the order of the variant's types.
template <typename Result, typename Visit>
Result with_evaluators(const PreparedCurve& a, const PreparedCurve& b, const Visit& visit) {
  return std::visit(
      [&](const auto& x) {
        return std::visit(
            [&](const auto& y) -> Result {
              if constexpr (rank<std::decay_t<decltype(x)>> <= rank<std::decay_t<decltype(y)>>) {
                return visit(x, y);
              } else {
                throw InvalidInput("closest_points: curves out of order");  // excluded by the callers
              }
            },
            b);
      },
      a);
}

ClosestPoints query(const PreparedCurve& a, Interval interval_a, const PreparedCurve& b, Interval interval_b,
                    const ClosestPointsOptions& options, ClosestPointsMemory::Parts* parts) {
  validate(interval_a, interval_b, options);
  // Without a table of functions for what nearly all queries are about.
  if (const auto* x = std::get_if<HelixEvaluator>(&a)) {
    if (const auto* y = std::get_if<HelixEvaluator>(&b)) return query(*x, interval_a, *y, interval_b, options, parts);
  }
  if (a.index() > b.index()) {
    // One order of the types: half the code.
    ClosestPointsOptions swapped = options;
    if (swapped.guess) std::swap(swapped.guess->s_a, swapped.guess->s_b);
    ClosestPoints out = query(b, interval_b, a, interval_a, swapped, parts);
    std::swap(out.s_a, out.s_b);
    return out;
  }
  return with_evaluators<ClosestPoints>(
      a, b, [&](const auto& x, const auto& y) { return query(x, interval_a, y, interval_b, options, parts); });
}

}  // namespace

ClosestPoints closest_points(const PreparedCurve& a, Interval interval_a, const PreparedCurve& b, Interval interval_b,
                             const ClosestPointsOptions& options) {
  return query(a, interval_a, b, interval_b, options, nullptr);
}

ClosestPoints closest_points(const PreparedCurve& a, Interval interval_a, const PreparedCurve& b, Interval interval_b,
                             const ClosestPointsOptions& options, ClosestPointsMemory& memory) {
  return query(a, interval_a, b, interval_b, options, memory.parts.get());
}

double separation(const PreparedCurve& a, Interval interval_a, const PreparedCurve& b, Interval interval_b,
                  const SeparationOptions& options) {
  const ClosestPointsOptions query{.max_steps = options.max_steps};
  validate(interval_a, interval_b, query);
  require(options.enough > 0.0 && options.least >= 0.0 && options.least <= options.enough,
          "separation: expected 0 <= least <= enough, enough > 0");
  if (a.index() > b.index()) return separation(b, interval_b, a, interval_a, options);
  return with_evaluators<double>(a, b, [&](const auto& x, const auto& y) {
    QueryMemory memory;
    detail::BoxQueue queue(memory.resource());
    using X = std::decay_t<decltype(x)>;
    using Y = std::decay_t<decltype(y)>;
    return detail::CertifiedQuery<X, Y>(x, interval_a, y, interval_b, query).separation(queue, options);
  });
}

ClosestPoints closest_points(const Curve& a, Interval interval_a, const Curve& b, Interval interval_b,
                             const ClosestPointsOptions& options) {
  return closest_points(prepare(a), interval_a, prepare(b), interval_b, options);
}

ClosestPoints closest_points_near(const PreparedCurve& a, Interval interval_a, const PreparedCurve& b,
                                  Interval interval_b, const ClosestPointsGuess& guess) {
  return std::visit(
      [&](const auto& x, const auto& y) {
        const Vector3 base = x.origin - y.origin;
        const double rounding = detail::position_rounding(x, interval_a, y, interval_b, base);
        const detail::LocalMinimum near = detail::local_minimum(
            x, interval_a, y, interval_b, base, std::clamp(guess.s_a, interval_a.begin, interval_a.end),
            std::clamp(guess.s_b, interval_b.begin, interval_b.end), rounding);
        ClosestPoints out;
        out.distance = near.distance;
        out.s_a = near.s_a;
        out.s_b = near.s_b;
        out.found = true;
        return out;
      },
      a, b);
}

void append_undecided(const PreparedCurve& a, Interval interval_a, const PreparedCurve& b, Interval interval_b,
                      const FlankOptions& options, std::vector<Interval>& out) {
  std::visit(
      [&](const auto& x, const auto& y) {
        using X = std::decay_t<decltype(x)>;
        using Y = std::decay_t<decltype(y)>;
        if constexpr (detail::StripCurve<X> && detail::StripCurve<Y>) {
          const double rounding = detail::position_rounding(x, interval_a, y, interval_b, x.origin - y.origin);
          detail::Parts parts;
          detail::FlankSearch<X, Y>(x, y, interval_b, options, rounding).run(interval_a, parts);
          out.insert(out.end(), parts.part.begin(), parts.part.begin() + parts.count);
        } else {
          out.push_back(interval_a);
        }
      },
      a, b);
}

}  // namespace tresse::geometry
