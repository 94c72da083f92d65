#include <algorithm>
#include <cmath>
#include <numeric>
#include <variant>

#include <Eigen/Geometry>

#include <tresse/base/interrupt.hpp>
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
  PairSearch(const Piece& a, const Piece& b, const Nearness& wanted, const DetectionOptions& options)
      : a_(a), b_(b), bound_(wanted.bound) {
    query_ = {.method = options.method,
              .tolerance = std::max(options.tolerance, least_segment(a, b)),
              .upper_bound = bound_,
              .max_steps = b.id.is_fibre() && along_each_other(a, b) ? boxes_in_valley : largest_boxes};
    // Within this of a local minimum the distance to a bar stays below the bound: d^2 = s^2 across it.
    const double radii = a.radius + b.radius;
    constexpr double small_share = 0.25;
    close_ = radii + small_share * (wanted.meeting - radii);
    separation_ = 2.0 * a.radius + 2.0 * std::sqrt(2.0 * radii * (wanted.meeting - radii));
  }

  NearestPoints run() {
    const geometry::ClosestPoints nearest = closest(a_.interval);
    if (!nearest.found) return {};
    find_minima(nearest);
    return {std::move(found_), nearest.certified ? nearest.distance : 0.0};
  }

 private:
  void find_minima(const geometry::ClosestPoints& nearest) {
    found_.push_back(nearest);
    const Vector3 tangent_a = point_of(a_.curve, nearest.s_a).tangent;
    const Vector3 tangent_b = point_of(b_.curve, nearest.s_b).tangent;
    if (nearly_parallel(tangent_a, tangent_b)) {
      // The distance is flat along the stretch: a few contacts carry it.
      separation_ = std::max(separation_, (a_.interval.end - a_.interval.begin) / largest_contacts);
    }
    alongside_ = query_.method == geometry::DetectionMethod::certified;
    if (alongside_ && nearly_parallel(tangent_a, tangent_b) && straight(a_) && straight(b_)) {
      search_overlap(nearest);
      keep_separate();
      return;
    }
    flanks_ = {.upper_bound = bound_,
               .width = separation_,
               .near = {nearest.s_a, nearest.s_b},
               .with = tangent_a.dot(tangent_b) > 0.0};
    search_beside(a_.interval, nearest.s_a);
    keep_separate();
  }

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

  /// Of proxies, whatever pieces have grown or stretched to: a million of them are as good as any more. Less than what
  /// other methods are asked for. [m]
  static double least_segment(const Piece& a, const Piece& b) {
    const auto length = [](const Piece& piece) { return piece.interval.end - piece.interval.begin; };
    return 1e-6 * std::max(length(a), length(b));
  }

  static bool straight(const Piece& piece) { return std::holds_alternative<geometry::SegmentEvaluator>(piece.curve); }

  /// Straight pieces that stay so. Across a stretch along which they face each other the gap opens and closes as at its
  /// two ends, in between in proportion, and a force in between is two forces there: the ends stand for all of it. The
  /// nearest points do besides where they are farther in, as the gap falls towards them.
  void search_overlap(const geometry::ClosestPoints& nearest) {
    const auto& a = std::get<geometry::SegmentEvaluator>(a_.curve);
    const auto& b = std::get<geometry::SegmentEvaluator>(b_.curve);
    const Vector3 apart = b.origin - a.origin;
    const double along = a.direction().dot(b.direction());
    const auto on_a = [&](double s_b) { return a.direction().dot(apart) + along * s_b; };
    const auto on_b = [&](double s_a) { return along * s_a - b.direction().dot(apart); };
    std::vector<geometry::ClosestPoints> ends;
    const auto offer = [&](double s_a, double s_b) {
      geometry::ClosestPoints end{.s_a = s_a, .s_b = s_b, .found = true, .certified = true};
      end.distance = (a.origin + a.offset(s_a) - b.origin - b.offset(s_b)).norm();
      if (end.distance < bound_) ends.push_back(end);
    };
    // Nodes that face nodes are not lost to rounding between four pairs of pieces, and merged if found twice.
    const auto within = [](const geometry::Interval& interval, double s) {
      constexpr double slack = 1e-9;
      const double more = slack * (interval.end - interval.begin);
      return s >= interval.begin - more && s <= interval.end + more;
    };
    for (const double s : {a_.interval.begin, a_.interval.end})
      if (within(b_.interval, on_b(s))) offer(s, std::clamp(on_b(s), b_.interval.begin, b_.interval.end));
    for (const double s : {b_.interval.begin, b_.interval.end})
      if (within(a_.interval, on_a(s))) offer(std::clamp(on_a(s), a_.interval.begin, a_.interval.end), s);
    const auto [low, high] =
        std::minmax_element(ends.begin(), ends.end(), [](const auto& x, const auto& y) { return x.s_a < y.s_a; });
    const bool between = ends.size() >= 2 && low->s_a < nearest.s_a && nearest.s_a < high->s_a;
    if (between) {
      const double share = (nearest.s_a - low->s_a) / (high->s_a - low->s_a);
      const double chord = (1.0 - share) * low->distance + share * high->distance;
      constexpr double shallow = 1e-3;  // of the radius
      if (chord - nearest.distance < shallow * a_.radius) found_.clear();
    }
    found_.insert(found_.end(), ends.begin(), ends.end());
  }

  geometry::ClosestPoints closest(const geometry::Interval& interval) {
    poll_interrupt();
    ++queries_;
    return geometry::closest_points(a_.curve, interval, b_.curve, b_.interval, query_);
  }

  void search_beside(const geometry::Interval& interval, double s) {
    if (s - separation_ - interval.begin >= separation_) search({interval.begin, s - separation_});
    if (interval.end - separation_ - s >= separation_) search({s + separation_, interval.end});
  }

  /// Local minima inside an interval one or both of whose ends are cuts beside known contacts. What is proved to be too
  /// far or to rise or fall throughout is left out.
  void search(const geometry::Interval& interval) {
    if (!alongside_) {
      search_all(interval);
      return;
    }
    flanks_.begin_counts = interval.begin <= a_.interval.begin;
    flanks_.end_counts = interval.end >= a_.interval.end;
    const std::size_t from = undecided_.size();
    geometry::append_undecided(a_.curve, interval, b_.curve, b_.interval, flanks_, undecided_);
    for (std::size_t i = from; i < undecided_.size(); ++i) search_all(geometry::Interval(undecided_[i]));
    undecided_.resize(from);
  }

  void search_all(const geometry::Interval& interval) {
    if (queries_ >= largest_queries) return;
    const geometry::ClosestPoints nearest = closest(interval);
    if (!nearest.found) return;
    const double rounding = 1e-9 * (interval.end - interval.begin);
    const bool at_cut = (nearest.s_a <= interval.begin + rounding && interval.begin > a_.interval.begin) ||
                        (nearest.s_a >= interval.end - rounding && interval.end < a_.interval.end);
    const bool whole_is_end = !(interval.begin < interval.end);  // of a
    if (!whole_is_end && (at_cut || !is_minimum(nearest))) {
      // Finer where the tubes all but touch.
      const double least = nearest.distance < close_ ? 0.25 * separation_ : separation_;
      if (interval.end - interval.begin < least) return;
      const double middle = 0.5 * (interval.begin + interval.end);
      search({interval.begin, middle});
      search({middle, interval.end});
    } else {
      found_.push_back(nearest);
      search_beside(interval, nearest.s_a);
    }
  }

  /// Whether what could not be proved is at least a place where the distance neither rises nor falls along a.
  bool is_minimum(const geometry::ClosestPoints& nearest) const {
    if (nearest.certified || nearest.s_a <= a_.interval.begin || nearest.s_a >= a_.interval.end) return true;
    constexpr double largest_slope = 1e-6;
    const CurvePoint on_a = point_of(a_.curve, nearest.s_a);
    const Vector3 apart = on_a.position - geometry::position(b_.curve, nearest.s_b);
    return std::abs(apart.dot(on_a.tangent)) <= largest_slope * nearest.distance;
  }

  /// Drops contacts beside nearer ones: parts were searched on their own.
  void keep_separate() {
    if (found_.size() < 2) return;
    const std::vector<geometry::ClosestPoints> all = std::move(found_);
    found_.clear();
    std::vector<std::size_t> order(all.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::stable_sort(order.begin(), order.end(),
                     [&](std::size_t i, std::size_t j) { return all[i].distance < all[j].distance; });
    for (const std::size_t i : order) {
      const auto beside = [&](const geometry::ClosestPoints& nearer) {
        return std::abs(nearer.s_a - all[i].s_a) < separation_;
      };
      if (std::none_of(found_.begin(), found_.end(), beside)) found_.push_back(all[i]);
    }
  }

  const Piece& a_;
  const Piece& b_;
  double bound_;
  double separation_;
  double close_;  // distance of centrelines that all but touch
  int queries_ = 0;
  bool alongside_ = false;  // the nearest points' tangents are nearly parallel
  geometry::FlankOptions flanks_;
  std::vector<geometry::Interval> undecided_;
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

NearestPoints nearest_points(const Piece& a, const Piece& b, const Nearness& wanted, const DetectionOptions& options) {
  return PairSearch(a, b, wanted, options).run();
}

}  // namespace tresse::contact::detail
