#pragma once

#include <array>
#include <limits>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include <tresse/base/enum_words.hpp>
#include <tresse/geometry/curves.hpp>
#include <tresse/geometry/lowest_points.hpp>
#include <tresse/geometry/prepared_curve.hpp>

namespace tresse::geometry {

enum class DetectionMethod {
  certified,         ///< branch and bound with an early, proved stop
  branch_and_bound,  ///< algorithm 1 of crespel2024 as published
  segments,          ///< polyline proxies, the baseline of crespel2024 sec. 6.5
};

/// Parameters to start from.
struct ClosestPointsGuess {
  double s_a = 0.0;
  double s_b = 0.0;
};

struct ClosestPointsOptions {
  DetectionMethod method = DetectionMethod::certified;
  /// Certified: the distance found is within this of the global minimum, relative to the longer curve; > 0. Branch and
  /// bound: size of the smallest interval, same units as the parameter; > 0. Segments: length of a proxy segment [m]; >
  /// 0, and at least 1e-6 of the curve.
  double tolerance = 1e-12;
  /// Only pairs of points nearer than this are wanted [m]; a pair of curves proved farther apart is rejected early.
  double upper_bound = std::numeric_limits<double>::infinity();
  int max_steps = 1'000'000;  ///< boxes examined before giving up (the answer is then not certified); >= 1
  /// Warm start: a pair of parameters likely to be near the answer, clamped to the intervals. Changes the time it
  /// takes, not the answer.
  std::optional<ClosestPointsGuess> guess = std::nullopt;
};

struct ClosestPoints {
  double distance = std::numeric_limits<double>::infinity();  ///< [m]; infinity when proved beyond upper_bound
  double s_a = 0.0;                                           ///< parameter on a
  double s_b = 0.0;                                           ///< parameter on b
  bool found = false;                                         ///< a pair nearer than upper_bound exists
  bool certified = false;  ///< the answer is proved: global minimum to the tolerance, or nothing within upper_bound
  int steps = 0;           ///< boxes examined
};

/// Global minimum of |a(s_a) - b(s_b)| over the two intervals. `distance` is that of the two points of the curves at
/// s_a and s_b, whatever the method. Several minimisers as good as each other to the tolerance: any of them. Certified
/// and branch and bound follow crespel2024 sec. 5, with the additions and bounds of docs/theory/geometry.md. Throws
/// InvalidInput for a parameter that is not finite, an interval that is empty, or an option out of its range.
[[nodiscard]] ClosestPoints closest_points(const Curve& a, Interval interval_a, const Curve& b, Interval interval_b,
                                           const ClosestPointsOptions& options = {});

/// The same for curves prepared once for many queries. What a certified query keeps of a few dozen boxes stands on the
/// stack; a larger one, and the other methods, allocate.
[[nodiscard]] ClosestPoints closest_points(const PreparedCurve& a, Interval interval_a, const PreparedCurve& b,
                                           Interval interval_b, const ClosestPointsOptions& options = {});

/// Memory of queries, for a thread that makes many.
struct ClosestPointsMemory {
  ClosestPointsMemory();
  ClosestPointsMemory(const ClosestPointsMemory&) = delete;
  ClosestPointsMemory& operator=(const ClosestPointsMemory&) = delete;
  ClosestPointsMemory(ClosestPointsMemory&& other) noexcept;
  ClosestPointsMemory& operator=(ClosestPointsMemory&& other) noexcept;
  ~ClosestPointsMemory();

  struct Parts;
  std::unique_ptr<Parts> parts;
};

/// The same in memory that was there before: no allocation once it has met a query as large.
[[nodiscard]] ClosestPoints closest_points(const PreparedCurve& a, Interval interval_a, const PreparedCurve& b,
                                           Interval interval_b, const ClosestPointsOptions& options,
                                           ClosestPointsMemory& memory);

/// The local minimum of |a(s_a) - b(s_b)| over the two intervals that Newton's method finds from a pair of parameters
/// (clamped to the intervals): `distance`, `s_a`, `s_b`; nothing is proved. For following a contact.
[[nodiscard]] ClosestPoints closest_points_near(const PreparedCurve& a, Interval interval_a, const PreparedCurve& b,
                                                Interval interval_b, const ClosestPointsGuess& guess);

struct SeparationOptions {
  double enough = 0.0;  ///< a bound of this is all that is wanted; > 0 [m]
  double least = 0.0;   ///< a bound below this is of no use: 0 is returned instead; >= 0, <= enough [m]
  int few_steps = 24;   ///< boxes examined to improve on a bound that is of use; >= 1
  int max_steps = 400;  ///< boxes examined to reach one that is; >= 1
};

/// A proved lower bound of |a(s_a) - b(s_b)| over the two intervals, `enough` or what came for free beyond it; 0 when
/// two points nearer than `least` were met or the proof takes too long. Unlike the minimum itself, it's cheap for
/// curves side by side. [m]
[[nodiscard]] double separation(const PreparedCurve& a, Interval interval_a, const PreparedCurve& b,
                                Interval interval_b, const SeparationOptions& options);

struct FlankOptions {
  double upper_bound = 0.0;   ///< only points of a nearer to b than this are of interest; > 0, finite [m]
  double width = 0.0;         ///< parts no longer than this are not divided further; > 0 [m]
  ClosestPointsGuess near;    ///< a pair of near points
  bool with = true;           ///< whether the curves have the same direction there
  bool begin_counts = false;  ///< whether the distance has a minimum where it rises from the interval's begin
  bool end_counts = false;    ///< and where it falls to its end
};

/// Parts of interval_a, in order, outside of which the distance from a(s) to b (over interval_b) has no local minimum
/// below `upper_bound` as s runs through interval_a: it is proved to be beyond, to rise or to fall. Of
/// curves of unit speed alongside each other; of other pairs, the whole. For the search of other minima than the
/// nearest points, cheap.
void append_undecided(const PreparedCurve& a, Interval interval_a, const PreparedCurve& b, Interval interval_b,
                      const FlankOptions& options, std::vector<Interval>& out);

}  // namespace tresse::geometry

namespace tresse {

template <>
struct Words<geometry::DetectionMethod> {
  static constexpr std::array<std::string_view, 3> list{"certified", "branch-and-bound", "segments"};
};

}  // namespace tresse
