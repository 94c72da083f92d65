#include <tresse/rods/fit_curve.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <string>
#include <utility>

#include <tresse/base/errors.hpp>
#include <tresse/math/rotations.hpp>
#include <tresse/rods/detail/curve_course.hpp>
#include <tresse/rods/detail/curve_start.hpp>
#include <tresse/rods/detail/rod_input.hpp>
#include <tresse/rods/detail/rounded_polyline.hpp>

namespace tresse::rods {
namespace {

using namespace detail;

constexpr int most_elements = 1000;
constexpr int usual_elements = 200;       ///< at most, unless more are asked for
constexpr std::size_t few_points = 16;    ///< tell too little of noise for a tolerance to be missed because of it
constexpr double most_bend = 2.5;         ///< between two points [rad]
constexpr double same_length = 0.01;      ///< of the polyline's
constexpr double usual_tolerance = 1e-3;  ///< of the length, where none is given
constexpr double exact = 1e-11;           ///< of the length: rounding of the points and of the fit
constexpr double never = std::numeric_limits<double>::infinity();

double polyline_length(const std::vector<Vector3>& points) {
  double out = 0.0;
  for (std::size_t j = 1; j < points.size(); ++j) out += (points[j] - points[j - 1]).norm();
  return out;
}

/// Points moved and scaled so that the first is at zero and the polyline has length one; of those that lie nearer to
/// each other than a fit tells, one.
struct Row {
  std::vector<Vector3> points;
  Vector3 first;
  double scale = 1.0;  ///< [m]
  double near = 0.0;   ///< how far points may be from the ones that stand for them
  PointBends bends;
  CurveBounds bounds;
};

Row row_of(const std::vector<Vector3>& points, double tolerance) {
  constexpr double apart = 0.01;   // of the tolerance
  constexpr double longer = 1.05;  // than by circles through three points
  Row out{{}, points.front(), polyline_length(points), 0.0, {}, {}};
  const double near = std::max(apart * tolerance / out.scale, 1e-9);
  for (const Vector3& point : points) {
    const Vector3 x = (point - out.first) / out.scale;
    if (out.points.empty() || (x - out.points.back()).norm() >= near) {
      out.points.push_back(x);
    } else {
      out.near = 2.0 * near;
    }
  }
  const Vector3 last = (points.back() - out.first) / out.scale;
  if (out.points.size() > 1 && (last - out.points.back()).norm() < near) out.points.pop_back();
  out.points.push_back(last);
  out.bends = bends_of(out.points);
  out.bounds = {most_bend * static_cast<double>(out.points.size() - 1), longer * out.bends.arc.back()};
  return out;
}

CurveModel equal_elements(int count, bool affine) {
  return {affine, std::vector<double>(static_cast<std::size_t>(count), 1.0 / count)};
}

struct Attempt {
  CurveState state;
  double improbability = never;
  Status status = Status::max_iterations;
};

Attempt improve(const Row& row, const CurveModel& model, CurveShape shape, int steps, double hopeless) {
  CurveFit fit(row.points, model, places_of(row.bends), row.bounds);
  fit.set_mu(mild_mu(row.points.size(), model));
  fit.start(std::move(shape));
  fit.descend(CurveFit::Freedom::all, 6, 0.1);
  fit.find_feet();
  Attempt out;
  if (fit.settle(steps, hopeless)) out.status = Status::converged;
  out.state = fit.state();
  out.improbability = fit.improbability();
  return out;
}

/// `tolerance` is in units of the row; once met, no other start is tried.
Attempt fit_elements(const Row& row, const CurveModel& model, int steps, double tolerance) {
  Attempt out = improve(row, model, start_without_twist(row.points, row.bends, model), steps, never);
  if (distances(out.state).largest <= std::max(tolerance, exact)) return out;
  if (const auto grown = start_grown(row.points, row.bends, model, row.bounds, never)) {
    Attempt other = improve(row, model, *grown, steps, never);
    if (distances(other.state).largest <= tolerance || other.improbability < out.improbability) out = std::move(other);
  }
  return out;
}

/// Whether elements grown from the root meet a tolerance; given up early where they will not.
bool would_meet(const Row& row, const CurveModel& model, int steps, double tolerance) {
  constexpr double hopeless = 2.0, growing = 4.0;                      // tolerances
  const double places = 0.5 / static_cast<double>(row.points.size());  // what guessed arc lengths may be off
  const auto grown = start_grown(row.points, row.bends, model, row.bounds, growing * tolerance + places);
  return grown && distances(improve(row, model, *grown, steps, hopeless * tolerance).state).largest <= tolerance;
}

/// A fit and how it follows its points.
struct Candidate {
  CurveModel model;
  Attempt attempt;
  double largest = 0.0;  ///< distance of a point
  Course course;

  double length() const { return attempt.state.shape.length; }
  /// Whether it is what a tolerance asks for, 0: none.
  bool as_asked(double tolerance) const {
    return (tolerance == 0.0 || largest <= tolerance) && std::abs(length() - 1.0) <= same_length;
  }
};

Candidate candidate(const Row& row, CurveModel model, Attempt attempt, double near) {
  const double largest = distances(attempt.state).largest;
  const Course course = course_of(row.points, model, attempt.state, near);
  return {std::move(model), std::move(attempt), largest, course};
}

/// Whether a fit of least squares is hardly what the points mean.
bool doubtful(const Row& row, const Candidate& fit, double tolerance) {
  const double apart = 1.0 / static_cast<double>(row.points.size() - 1);
  const bool noise = row.points.size() > few_points && fit.largest < 0.5 * apart && turns_like_noise(row.points);
  const bool off = (tolerance > 0.0 && fit.largest > tolerance) || fit.length() < 1.0 - same_length;
  return fit.course.strays || (off && !noise) || (fit.length() > 1.0 + same_length && has_corners(row.points));
}

/// The fit, or the polyline with rounded corners where that is nearer to what is asked for.
Candidate checked(const Row& row, const FitOptions& options, Candidate fit, double tolerance) {
  if (!options.parts.empty() || !doubtful(row, fit, tolerance)) return fit;
  const double near = tolerance > 0.0 ? tolerance : usual_tolerance;
  const auto rounded =
      rounded_polyline(row.points, {.affine = options.affine,
                                    .tolerance = near,
                                    .elements = options.elements > 0 ? options.elements : usual_elements,
                                    .all = tolerance == 0.0});
  if (!rounded) return fit;
  CurveFit feet(row.points, rounded->model, rounded->at, {never, never});
  feet.start(rounded->shape);
  feet.find_feet();
  Candidate other = candidate(row, rounded->model, {feet.state(), never, Status::converged}, near);
  const auto off = [](const Candidate& one) { return one.course.deviation + std::abs(one.length() - 1.0); };
  const bool better = other.as_asked(tolerance) || (!fit.as_asked(tolerance) && !(off(fit) <= off(other)));
  return better ? other : fit;
}

FittedCurve curve_of(const Row& row, const Candidate& fit) {
  const auto& [model, attempt, largest, course] = fit;
  const CurveShape& shape = attempt.state.shape;
  FittedCurve out;
  out.root = {row.first + row.scale * shape.root.position, shape.root.frame};
  for (const double part : model.parts) out.lengths.push_back(row.scale * shape.length * part);
  for (Eigen::Index i = 0; i < shape.turn.size(); i += 3)
    out.curvature.emplace_back(shape.turn.segment<3>(i) / (row.scale * shape.length));
  const Distances found = distances(attempt.state);
  out.largest_distance = row.scale * (found.largest + row.near);
  out.mean_distance = row.scale * found.mean;
  out.deviation = row.scale * (std::max(course.deviation, found.largest) + row.near);
  out.length_ratio = shape.length;
  out.status = attempt.status;
  return out;
}

void validate(const std::vector<Vector3>& points, const FitOptions& options) {
  check_points(points);
  const bool parts = !options.parts.empty();
  require(options.elements >= 0 && options.elements <= most_elements && options.parts.size() <= most_elements,
          "fit: elements; expected 0 to 1000");
  require(parts || options.elements > 0 || options.tolerance > 0.0, "fit: neither elements nor a tolerance are given");
  require(!parts || (options.elements == 0 && options.tolerance == 0.0),
          "fit: parts beside elements or a tolerance; expected one of them");
  for (const double part : options.parts) require(part > 0.0 && part <= 1e9, "fit: parts; expected numbers above 0");
  require(options.tolerance >= 0.0 && std::isfinite(options.tolerance), "fit: tolerance; expected at least 0");
  require(options.max_iterations >= 1, "fit: max_iterations; expected at least 1");
}

/// The least number up to `most` for which `meets`, found by growth and bisection; `most` when none is.
template <typename Meets>
int least_elements(int most, const Meets& meets) {
  int failed = 0, count = 1;
  while (!meets(count)) {
    if (count >= most) return most;
    failed = count;
    count = std::min(most, count + std::max(1, count / 2));
  }
  while (count - failed > 1) {
    const int middle = (count + failed) / 2;
    (meets(middle) ? count : failed) = middle;
  }
  return count;
}

/// As many elements as there are numbers to determine them: two a point, three an end; six are the pose and the length.
/// Of few points one from each to the next, so that all can be met.
int determined_elements(std::size_t points, bool affine) {
  const int count = static_cast<int>(points);
  const int triplets = points <= few_points ? count - 1 : (2 * count - 4) / 3;
  return std::clamp(triplets - (affine ? 1 : 0), 1, usual_elements);
}

/// Nodes of `edges` edges.
std::vector<Vector3> polygon(const std::vector<Vector3>& points, const std::vector<double>& arc, int edges) {
  if (points.size() == static_cast<std::size_t>(edges) + 1) return points;
  std::vector<Vector3> out;
  std::size_t j = 1;
  for (int i = 0; i <= edges; ++i) {
    const double at = arc.back() * i / edges;
    while (j + 1 < points.size() && arc[j] < at) ++j;
    const double share = std::clamp((at - arc[j - 1]) / (arc[j] - arc[j - 1]), 0.0, 1.0);
    out.emplace_back(points[j - 1] + share * (points[j] - points[j - 1]));
  }
  out.back() = points.back();
  return out;
}

double distance(const Vector3& x, const Vector3& from, const Vector3& to) {
  const Vector3 edge = to - from;
  const double share = edge.isZero(0.0) ? 0.0 : std::clamp((x - from).dot(edge) / edge.squaredNorm(), 0.0, 1.0);
  return (x - from - share * edge).norm();
}

/// From the points to the edges that span their arc lengths, or those beside.
Distances polygon_distances(const std::vector<Vector3>& points, const std::vector<double>& arc,
                            const std::vector<Vector3>& nodes) {
  Distances out;
  const int edges = static_cast<int>(nodes.size()) - 1;
  if (nodes.size() == points.size()) return out;
  for (std::size_t j = 0; j < points.size(); ++j) {
    const int own = std::min(static_cast<int>(arc[j] / arc.back() * edges), edges - 1);
    double nearest = never;
    for (int i = std::max(0, own - 1); i <= std::min(own + 1, edges - 1); ++i) {
      const auto k = static_cast<std::size_t>(i);
      nearest = std::min(nearest, distance(points[j], nodes[k], nodes[k + 1]));
    }
    out.largest = std::max(out.largest, nearest);
    out.mean += nearest / static_cast<double>(points.size());
  }
  return out;
}

/// From the points to the places at their arc lengths.
double polygon_deviation(const std::vector<Vector3>& points, const std::vector<double>& arc,
                         const std::vector<Vector3>& nodes) {
  double out = 0.0;
  if (nodes.size() == points.size()) return out;
  const int edges = static_cast<int>(nodes.size()) - 1;
  for (std::size_t j = 0; j < points.size(); ++j) {
    const double at = arc[j] / arc.back() * edges;
    const int own = std::min(static_cast<int>(at), edges - 1);
    const Vector3& from = nodes[static_cast<std::size_t>(own)];
    const Vector3& to = nodes[static_cast<std::size_t>(own) + 1];
    out = std::max(out, (points[j] - from - (at - own) * (to - from)).norm());
  }
  return out;
}

/// Curvatures by edge whose means, weighted by length, are those of the nodes between: one is free, and is such that
/// neighbours differ little.
std::vector<Vector3> edge_curvatures(const std::vector<double>& lengths, const std::vector<Vector3>& between) {
  std::vector<Vector3> offset{Vector3::Zero()};
  std::vector<double> sign{1.0};
  Vector3 sum = Vector3::Zero();
  double weight = 0.0;
  for (std::size_t j = 1; j < lengths.size(); ++j) {
    const double ratio = lengths[j - 1] / lengths[j];
    offset.emplace_back((1.0 + ratio) * between[j - 1] - ratio * offset.back());
    sign.push_back(-ratio * sign.back());
    const double change = sign[j] - sign[j - 1];
    sum -= change * (offset[j] - offset[j - 1]);
    weight += change * change;
  }
  const Vector3 first = weight > 0.0 ? Vector3(sum / weight) : Vector3::Zero();
  for (std::size_t j = 0; j < offset.size(); ++j) offset[j] += sign[j] * first;
  return offset;
}

FittedCurve chain_through(const std::vector<Vector3>& nodes, bool clamped_root) {
  constexpr double most_turn = 3.0;  // what discrete rods take
  FittedCurve out;
  std::vector<Vector3> tangents;
  for (std::size_t i = 1; i < nodes.size(); ++i) {
    const Vector3 edge = nodes[i] - nodes[i - 1];
    out.lengths.push_back(edge.norm());
    require(out.lengths.back() > 0.0, [&] { return "fit: nodes " + std::to_string(i - 1) + " and the next coincide"; });
    tangents.push_back(edge / out.lengths.back());
  }
  out.root = {nodes.front(), frame_along(tangents.front())};
  Matrix3 frame = out.root.frame;
  std::vector<Vector3> between;
  for (std::size_t i = 1; i < tangents.size(); ++i) {
    const Matrix3 turn = math::rotation_between(tangents[i - 1], tangents[i]);
    Vector3 angle = frame.transpose() * math::rotation_log(turn);
    angle.x() = 0.0;  // but for rounding
    require(angle.norm() < most_turn, [&] {
      return "fit: the points turn back at node " + std::to_string(i) + ", by " + std::to_string(angle.norm()) +
             " rad; expected less than 3";
    });
    between.emplace_back(2.0 / (out.lengths[i - 1] + out.lengths[i]) * angle);
    frame = math::orthonormalised(turn * frame);
  }
  out.curvature = edge_curvatures(out.lengths, between);
  // The root is half an edge before the first edge's middle, curved as that edge or, if free, as the next node.
  Vector3 at_root = Vector3::Zero();
  if (clamped_root) {
    at_root = out.curvature.front();
  } else if (!between.empty()) {
    at_root = between.front();
  }
  out.root.frame = out.root.frame * math::rotation_exp(-0.5 * out.lengths.front() * at_root);
  out.status = Status::converged;
  return out;
}

}  // namespace

FittedCurve fit_polygon(const std::vector<Vector3>& points, const FitOptions& options) {
  validate(points, options);
  std::vector<double> arc{0.0};
  for (std::size_t j = 1; j < points.size(); ++j) arc.push_back(arc.back() + (points[j] - points[j - 1]).norm());
  int edges = options.elements;
  if (options.tolerance > 0.0) {
    const auto segments = static_cast<int>(std::min<std::size_t>(points.size() - 1, most_elements));
    edges = least_elements(options.elements > 0 ? options.elements : segments, [&](int count) {
      return polygon_distances(points, arc, polygon(points, arc, count)).largest <= options.tolerance;
    });
  }
  const std::vector<Vector3> nodes = polygon(points, arc, edges);
  FittedCurve out = chain_through(nodes, options.clamped_root);
  const Distances found = polygon_distances(points, arc, nodes);
  out.largest_distance = found.largest;
  out.mean_distance = found.mean;
  out.deviation = polygon_deviation(points, arc, nodes);
  out.length_ratio = polyline_length(nodes) / arc.back();
  return out;
}

FittedCurve fit_curve(const std::vector<Vector3>& points, const FitOptions& options) {
  validate(points, options);
  const Row row = row_of(points, options.tolerance);
  CurveModel model{options.affine, options.parts};
  const double whole = std::accumulate(model.parts.begin(), model.parts.end(), 0.0);
  for (double& part : model.parts) part /= whole;
  if (model.parts.empty()) model = equal_elements(std::max(options.elements, 1), options.affine);
  const double tolerance = std::max(options.tolerance / row.scale - row.near, 0.0);
  if (options.tolerance > 0.0) {
    const int most = options.elements > 0 ? options.elements : determined_elements(row.points.size(), options.affine);
    const int found = least_elements(most, [&](int elements) {
      return would_meet(row, equal_elements(elements, options.affine), options.max_iterations, tolerance);
    });
    model = equal_elements(found, options.affine);
  }
  Attempt attempt = fit_elements(row, model, options.max_iterations, tolerance);
  return curve_of(row, checked(row, options, candidate(row, model, std::move(attempt), usual_tolerance), tolerance));
}

}  // namespace tresse::rods
