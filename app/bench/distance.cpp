#include <algorithm>
#include <cmath>
#include <random>

#include <fmt/format.h>

#include <tresse/assembly/pair_trace.hpp>
#include <tresse/dynamics/stepper.hpp>
#include <tresse/geometry/capsule_chain.hpp>
#include <tresse/problem_files/distance_file.hpp>

#include "bench.hpp"
#include "messages.hpp"

/// The three narrow phases on a recorded trace: cost against the error reached (crespel2024 figure 17), against the gap
/// (figure 18), and between cubic Beziers.
namespace tresse::app::bench {
namespace {

using assembly::PairQuery;
using geometry::ClosestPoints;
using geometry::ClosestPointsOptions;
using geometry::DetectionMethod;

constexpr double best_tolerance = 1e-12;

/// A query prepared as the program's own are.
struct Query {
  geometry::PreparedCurve a, b;
  geometry::Interval ia, ib;
  ClosestPointsOptions options;
  ClosestPoints truth;

  explicit Query(const PairQuery& from)
      : a(geometry::prepare(from.a)), b(geometry::prepare(from.b)), ia(geometry::domain(a)), ib(geometry::domain(b)) {
    options.upper_bound = from.upper_bound;
    options.guess = from.guess;
    geometry::ClosestPointsMemory memory;
    truth = run(DetectionMethod::certified, best_tolerance, memory);
  }
  ClosestPoints run(DetectionMethod method, double tolerance, geometry::ClosestPointsMemory& memory) const {
    ClosestPointsOptions asked = options;
    asked.method = method;
    asked.tolerance = tolerance;
    asked.max_steps = 100000;  // algorithm 1 never ends on curves that run along each other
    return geometry::closest_points(a, ia, b, ib, asked, memory);
  }
  bool colliding() const { return truth.found; }
};

std::vector<Query> prepared(const std::vector<PairQuery>& trace) {
  std::vector<Query> out;
  out.reserve(trace.size());
  for (const PairQuery& query : trace) out.emplace_back(query);
  return out;
}

/// The wavy wisp's, after two steps, so that its warm starts are those of a run.
std::vector<PairQuery> trace_of_state(const Arguments& arguments) {
  StateCase start = load_state(arguments, "wavy");
  start.built.options.solver.tolerance = 1e-6;
  dynamics::Stepper stepper(std::move(start.built.world), start.built.options, std::move(start.built.state));
  static_cast<void>(stepper.step());
  std::vector<contact::Place> followed;
  for (const dynamics::WarmContact& contact : stepper.state().warm) followed.push_back(contact.place);
  static_cast<void>(stepper.step());
  return assembly::narrow_phase_trace(stepper.kinematics(), stepper.geometry(), followed,
                                      arguments.quick ? 60000 : 200000);
}

double now() {
  return std::chrono::duration<double, std::nano>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

/// Nanoseconds of one call, over a few in a row, without the clock's own.
template <typename Call>
double nanoseconds(int repeats, const Call& call) {
  static const double clock = [] {
    double least = 1e9;
    for (int k = 0; k < 1000; ++k) {
      const double begin = now();
      least = std::min(least, now() - begin);
    }
    return least;
  }();
  const double begin = now();
  for (int k = 0; k < repeats; ++k) call();
  return std::max(0.0, now() - begin - clock) / repeats;
}

struct Cost {
  double median_ns = 0.0;
  double mean_ns = 0.0;
  double error = 0.0;         ///< mean over pairs with one nearest place of the larger distance along [m]
  double median_error = 0.0;  ///< [m]
  std::size_t queries = 0;
};

/// Whether the nearest places are one: on curves that run along each other any of a stretch is as good.
bool distinct(const Query& query) {
  geometry::ClosestPointsMemory memory;
  const ClosestPoints other = query.run(DetectionMethod::branch_and_bound, 1e-10, memory);
  return std::abs(other.s_a - query.truth.s_a) < 1e-7 && std::abs(other.s_b - query.truth.s_b) < 1e-7;
}

Cost cost(const std::vector<const Query*>& queries, DetectionMethod method, double tolerance, double budget,
          const std::vector<char>& unique) {
  Cost out;
  std::vector<double> times, errors;
  geometry::ClosestPointsMemory memory;
  volatile double sink = 0.0;
  const auto begin = std::chrono::steady_clock::now();
  for (std::size_t i = 0; i < queries.size(); ++i) {
    if (i > 4 && seconds_since(begin) > budget) break;
    const Query& query = *queries[i];
    ClosestPoints found;
    const double once = nanoseconds(1, [&] { found = query.run(method, tolerance, memory); });
    const int repeats = static_cast<int>(std::clamp(20000.0 / std::max(1.0, once), 1.0, 16.0));
    times.push_back(nanoseconds(repeats, [&] { sink = query.run(method, tolerance, memory).distance; }));
    if (!query.colliding() || unique.empty() || !unique[i] || !found.found) continue;
    errors.push_back(std::max(std::abs(found.s_a - query.truth.s_a), std::abs(found.s_b - query.truth.s_b)));
  }
  out.queries = times.size();
  if (times.empty()) return out;
  for (const double t : times) out.mean_ns += t / static_cast<double>(times.size());
  out.median_ns = median(std::move(times));
  if (errors.empty()) return out;
  for (const double e : errors) out.error += e / static_cast<double>(errors.size());
  out.median_error = median(std::move(errors));
  return out;
}

/// One distance between two segments, as the baseline evaluates it.
double segment_test_nanoseconds() {
  std::mt19937 engine(1);
  std::uniform_real_distribution<double> unit(-1.0, 1.0);
  const auto vector = [&] { return Vector3(unit(engine), unit(engine), unit(engine)); };
  struct Pair {
    Vector3 p0, p1, q0, q1;
  };
  std::vector<Pair> pairs(256);
  for (Pair& pair : pairs) {
    pair = {vector(), vector(), vector(), vector()};
    pair.p1 = pair.p0 + 0.3 * pair.p1;
    pair.q1 = pair.q0 + 0.3 * pair.q1;
  }
  volatile double sink = 0.0;
  std::vector<double> times;
  for (int k = 0; k < 201; ++k) {
    times.push_back(nanoseconds(1,
                                [&] {
                                  double sum = 0.0;
                                  for (const Pair& pair : pairs)
                                    sum += geometry::segment_distance(pair.p0, pair.p1, pair.q0, pair.q1);
                                  sink = sum;
                                }) /
                    static_cast<double>(pairs.size()));
  }
  return median(std::move(times));
}

/// Figure 17. Returns the median cost of segments where their mean error is 1e-6 m (interpolated), 0 if never.
double against_error(const std::vector<const Query*>& colliding, double budget, nlohmann::ordered_json& rows) {
  std::vector<char> unique;
  std::size_t ambiguous = 0;
  for (const Query* query : colliding) {
    unique.push_back(distinct(*query) ? 1 : 0);
    ambiguous += unique.back() ? 0 : 1;
  }
  print("");
  print(
      "cost of a colliding query against the error reached ({} queries, {} of them with no single nearest "
      "place, left out of the errors)",
      colliding.size(), ambiguous);
  print("{:18} {:>10} {:>12} {:>12} {:>12} {:>12}", "method", "tolerance", "median [ns]", "mean [ns]", "mean error",
        "median error");
  double at_1e6 = 0.0;
  double last_error = 0.0;
  double last_ns = 0.0;
  const auto add = [&](const char* name, DetectionMethod method, double tolerance) {
    const Cost c = cost(colliding, method, tolerance, budget, unique);
    print("{:18} {:10.1e} {:12.0f} {:12.0f} {:12.2e} {:12.2e}", name, tolerance, c.median_ns, c.mean_ns, c.error,
          c.median_error);
    finish_output();
    rows.push_back({{"method", name},
                    {"tolerance", tolerance},
                    {"median_ns", c.median_ns},
                    {"mean_ns", c.mean_ns},
                    {"mean_error", c.error},
                    {"median_error", c.median_error},
                    {"queries", c.queries}});
    if (method == DetectionMethod::segments && c.error > 0.0) {
      constexpr double wanted = 1e-6;
      if (at_1e6 == 0.0 && c.error <= wanted) {
        const double share = last_error > 0.0 ? std::log(last_error / wanted) / std::log(last_error / c.error) : 1.0;
        at_1e6 = last_error > 0.0 ? last_ns * std::pow(c.median_ns / last_ns, share) : c.median_ns;
      }
      last_error = c.error;
      last_ns = c.median_ns;
    }
  };
  for (const double t : {1e-4, 1e-6, 1e-8, 1e-10, 1e-12}) add("certified", DetectionMethod::certified, t);
  for (const double t : {1e-3, 1e-4, 1e-5, 1e-6, 1e-7, 1e-8, 1e-9})
    add("branch-and-bound", DetectionMethod::branch_and_bound, t);
  for (const double t : {3e-3, 1e-3, 3e-4, 1e-4, 3e-5, 1e-5, 3e-6, 1e-6}) {
    if (at_1e6 == 0.0) add("segments", DetectionMethod::segments, t);
  }
  return at_1e6;
}

/// Figure 18: b moved along the common normal so that the surfaces are so many radii apart.
void against_gap(const std::vector<PairQuery>& trace, const std::vector<Query>& queries, double budget,
                 nlohmann::ordered_json& rows) {
  print("");
  print("cost against the gap between the surfaces");
  print("{:>12} {:>16} {:>22}", "gap [radii]", "certified [ns]", "branch-and-bound [ns]");
  constexpr std::size_t most = 400;
  for (const double radii : {-0.5, -0.1, -0.01, 0.01, 0.1, 0.5, 1.0, 3.0, 10.0, 30.0, 100.0}) {
    std::vector<Query> moved;
    for (std::size_t i = 0; i < trace.size() && moved.size() < most; ++i) {
      if (!queries[i].colliding()) continue;
      const double radius = 0.5 * trace[i].upper_bound;
      const Vector3 apart = geometry::position(queries[i].b, queries[i].truth.s_b) -
                            geometry::position(queries[i].a, queries[i].truth.s_a);
      const double wanted = (2.0 + radii) * radius;
      PairQuery query = trace[i];
      query.guess.reset();
      const Vector3 shift = apart.normalized() * (wanted - apart.norm());
      std::visit(
          [&](auto& curve) {
            if constexpr (requires { curve.position; }) {
              curve.position += shift;
            } else if constexpr (requires { curve.from; }) {
              curve.from += shift;
              curve.to += shift;
            }
          },
          query.b);
      moved.emplace_back(query);
    }
    std::vector<const Query*> all;
    for (const Query& query : moved) all.push_back(&query);
    const Cost certified = cost(all, DetectionMethod::certified, best_tolerance, budget, {});
    const Cost published = cost(all, DetectionMethod::branch_and_bound, 1e-8, budget, {});
    print("{:12g} {:16.0f} {:22.0f}", radii, certified.median_ns, published.median_ns);
    rows.push_back(
        {{"gap_radii", radii}, {"certified_ns", certified.median_ns}, {"branch_and_bound_ns", published.median_ns}});
  }
}

/// Random cubics as long as an element of hair, near each other.
std::vector<PairQuery> bezier_pairs(int count) {
  std::mt19937 engine(3);
  std::uniform_real_distribution<double> unit(-1.0, 1.0);
  const auto vector = [&](double size) {
    return Vector3(size * unit(engine), size * unit(engine), size * unit(engine));
  };
  const auto cubic = [&] {
    geometry::CubicBezier out;
    const Vector3 along = vector(0.01);
    Vector3 at = vector(0.005) - 1.5 * along;
    for (Vector3& point : out.points) {
      point = at + vector(0.002);
      at += along;
    }
    return out;
  };
  std::vector<PairQuery> out;
  for (int k = 0; k < count; ++k) out.push_back({cubic(), cubic(), 1e-3});
  return out;
}

struct Split {
  std::vector<const Query*> colliding, rejected;
};

Split split(const std::vector<Query>& queries) {
  Split out;
  for (const Query& query : queries) (query.colliding() ? out.colliding : out.rejected).push_back(&query);
  return out;
}

}  // namespace

nlohmann::ordered_json distance(const Arguments& arguments) {
  const double budget = arguments.quick ? 1.5 : 12.0;
  const std::vector<PairQuery> trace =
      arguments.trace.empty() ? trace_of_state(arguments) : problem_files::read_pair_trace(arguments.trace);
  const std::vector<Query> queries = prepared(trace);
  const Split all = split(queries);
  nlohmann::ordered_json out;
  out["queries"] = queries.size();
  out["colliding"] = all.colliding.size();
  const double test = segment_test_nanoseconds();
  const Cost colliding = cost(all.colliding, DetectionMethod::certified, best_tolerance, budget, {});
  const Cost rejected = cost(all.rejected, DetectionMethod::certified, best_tolerance, budget, {});
  const Cost published = cost(all.colliding, DetectionMethod::branch_and_bound, 1e-8, budget, {});
  const Cost published_rejected = cost(all.rejected, DetectionMethod::branch_and_bound, 1e-8, budget, {});
  print("{} queries, {} of them colliding; one segment-segment distance {:.1f} ns", queries.size(),
        all.colliding.size(), test);
  print("certified to 1e-12: colliding {:.0f} ns ({:.0f} segment tests), rejected {:.0f} ns ({:.1f})",
        colliding.median_ns, colliding.median_ns / test, rejected.median_ns, rejected.median_ns / test);
  print("algorithm 1 to 1e-8: colliding {:.0f} ns ({:.0f} times certified), rejected {:.0f} ns", published.median_ns,
        published.median_ns / colliding.median_ns, published_rejected.median_ns);
  nlohmann::ordered_json by_error = nlohmann::ordered_json::array();
  const double segments = against_error(all.colliding, budget, by_error);
  if (segments > 0.0) {
    print("segments at a mean error of 1e-6 m: {:.0f} ns, {:.0f} times certified", segments,
          segments / colliding.median_ns);
  }
  out["segment_test_ns"] = test;
  out["certified_colliding_ns"] = colliding.median_ns;
  out["certified_rejected_ns"] = rejected.median_ns;
  out["branch_and_bound_colliding_ns"] = published.median_ns;
  out["branch_and_bound_rejected_ns"] = published_rejected.median_ns;
  out["segments_colliding_ns"] = segments;
  out["against_error"] = by_error;
  nlohmann::ordered_json by_gap = nlohmann::ordered_json::array();
  against_gap(trace, queries, 0.2 * budget, by_gap);
  out["against_gap"] = by_gap;
  const std::vector<Query> beziers = prepared(bezier_pairs(arguments.quick ? 2000 : 20000));
  const Split cubic = split(beziers);
  print("");
  print("cubic Bezier pairs ({} colliding of {})", cubic.colliding.size(), beziers.size());
  nlohmann::ordered_json bezier;
  for (const auto& [name, method, tolerance] :
       {std::tuple{"certified", DetectionMethod::certified, best_tolerance},
        std::tuple{"branch_and_bound", DetectionMethod::branch_and_bound, 1e-8}}) {
    const double hit = cost(cubic.colliding, method, tolerance, budget, {}).median_ns;
    const double miss = cost(cubic.rejected, method, tolerance, budget, {}).median_ns;
    print("{:18} colliding {:8.0f} ns, rejected {:8.0f} ns", name, hit, miss);
    bezier[std::string(name) + "_colliding_ns"] = hit;
    bezier[std::string(name) + "_rejected_ns"] = miss;
  }
  out["bezier"] = bezier;
  return out;
}

}  // namespace tresse::app::bench
