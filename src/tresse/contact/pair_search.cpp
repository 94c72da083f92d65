#include <algorithm>
#include <cmath>
#include <variant>

#include <Eigen/Geometry>

#include <tresse/contact/detail/pair_search.hpp>

namespace tresse::contact::detail {
namespace {

/// Sine of the angle below which a contact counts as a parallel stretch.
constexpr double parallel_sine = 0.1;

bool nearly_parallel(const Vector3& tangent_a, const Vector3& tangent_b) {
  return !tangent_b.isZero(0.0) && tangent_a.cross(tangent_b).norm() < parallel_sine;
}

/// The contacts of one pair of pieces: the nearest points, and the other local minima of the distance along a, as when
/// an element bends around a bar more than the bar does and rests on it at two places.
class PairSearch {
 public:
  PairSearch(const Piece& a, const Piece& b, const DetectionOptions& options)
      : a_(a), b_(b), bound_(meeting_distance(a, b)) {
    query_ = {.method = options.method,
              .tolerance = options.tolerance,
              .upper_bound = bound_,
              .max_steps = b.fibre && along_each_other(a, b) ? boxes_in_valley : largest_boxes};
    // Within this of a local minimum the distance to a bar stays below the bound: d^2 = s^2 across it.
    const double radii = a.radius + b.radius;
    separation_ = 2.0 * a.radius + 2.0 * std::sqrt(2.0 * radii * (bound_ - radii));
  }

  std::vector<geometry::ClosestPoints> run() {
    const geometry::ClosestPoints nearest = closest(a_.interval);
    if (!nearest.found) return {};
    found_.push_back(nearest);
    if (nearly_parallel(point_of(a_.curve, nearest.s_a).tangent, point_of(b_.curve, nearest.s_b).tangent)) {
      // The distance is flat along the stretch: a few contacts carry it.
      separation_ = std::max(separation_, (a_.interval.end - a_.interval.begin) / largest_contacts);
    }
    // In a valley that could not be proved one contact a pair has to do.
    if (nearest.certified || query_.method != geometry::DetectionMethod::certified)
      search_beside(a_.interval, nearest.s_a);
    return std::move(found_);
  }

 private:
  static constexpr int largest_boxes = 500;         // of one query
  static constexpr int boxes_in_valley = 32;        // of pieces that run along each other: Newton's method settles it
  static constexpr double largest_contacts = 12.0;  // along a parallel stretch
  static constexpr int largest_queries = 32;        // of one pair

  /// Whether the pieces' chords are nearly parallel, as those of neighbours in a wisp.
  static bool along_each_other(const Piece& a, const Piece& b) {
    const Vector3 p = geometry::position(a.curve, a.interval.end) - geometry::position(a.curve, a.interval.begin);
    const Vector3 q = geometry::position(b.curve, b.interval.end) - geometry::position(b.curve, b.interval.begin);
    return p.cross(q).norm() < 2.0 * parallel_sine * p.norm() * q.norm();
  }

  geometry::ClosestPoints closest(const geometry::Interval& interval) {
    ++queries_;
    return geometry::closest_points(a_.curve, interval, b_.curve, b_.interval, query_);
  }

  void search_beside(const geometry::Interval& interval, double s) {
    search({interval.begin, s - separation_});
    search({s + separation_, interval.end});
  }

  /// Local minima inside an interval one or both of whose ends are cuts beside known contacts.
  void search(const geometry::Interval& interval) {
    if (interval.end - interval.begin < separation_ || queries_ >= largest_queries) return;
    const geometry::ClosestPoints nearest = closest(interval);
    if (!nearest.found) return;
    const double rounding = 1e-9 * (interval.end - interval.begin);
    const bool at_cut = (nearest.s_a <= interval.begin + rounding && interval.begin > a_.interval.begin) ||
                        (nearest.s_a >= interval.end - rounding && interval.end < a_.interval.end);
    if (at_cut) {
      const double middle = 0.5 * (interval.begin + interval.end);
      search({interval.begin, middle});
      search({middle, interval.end});
    } else {
      found_.push_back(nearest);
      search_beside(interval, nearest.s_a);
    }
  }

  const Piece& a_;
  const Piece& b_;
  double bound_;
  double separation_;
  int queries_ = 0;
  geometry::ClosestPointsOptions query_;
  std::vector<geometry::ClosestPoints> found_;
};

}  // namespace

CurvePoint point_of(const geometry::PreparedCurve& curve, double s) {
  return std::visit(
      [s](const auto& c) -> CurvePoint {
        const geometry::CurveJet jet = c.jet(s);
        const double size = jet.first.norm();
        return {c.origin + jet.offset, size > 0.0 ? Vector3(jet.first / size) : Vector3(Vector3::Zero())};
      },
      curve);
}

std::vector<geometry::ClosestPoints> nearest_points(const Piece& a, const Piece& b, const DetectionOptions& options) {
  return PairSearch(a, b, options).run();
}

}  // namespace tresse::contact::detail
