#include "render/camera.hpp"

#include <algorithm>
#include <limits>
#include <numbers>

#include <Eigen/Eigenvalues>

#include <tresse/base/errors.hpp>

namespace tresse::render {
namespace {

using Points = std::vector<Vector3>;

Points all_points(const Scene& scene) {
  Points out;
  for (const Fibre& fibre : scene.fibres) {
    for (Eigen::Index i = 0; i < fibre.points.cols(); ++i) out.emplace_back(fibre.points.col(i));
    for (Eigen::Index i = 0; i < fibre.half_axis_2.cols(); ++i) {  // the edges of ribbons and sheets
      for (const double side : {-1.0, 1.0}) {
        out.emplace_back(fibre.points.col(i) + side * fibre.half_axis_1.col(i));
        out.emplace_back(fibre.points.col(i) + side * fibre.half_axis_2.col(i));
      }
    }
  }
  return out;
}

Points capsule_points(const Scene& scene) {
  Points out;
  for (const bodies::Bar& c : scene.capsules) {
    for (int i = 0; i <= 8; ++i) out.emplace_back(c.from + (c.to - c.from) * (i / 8.0));
  }
  for (const Mesh& mesh : scene.meshes) {
    constexpr std::size_t enough = 500;
    const std::size_t stride = std::max<std::size_t>(1, mesh.vertices.size() / enough);
    for (std::size_t i = 0; i < mesh.vertices.size(); i += stride) out.push_back(mesh.vertices[i]);
  }
  return out;
}

Vector3 mean(const Points& points) {
  Vector3 sum = Vector3::Zero();
  for (const Vector3& p : points) sum += p;
  return sum / static_cast<double>(points.size());
}

double spread(const Points& points, const Vector3& middle) {
  double out = 0.0;
  for (const Vector3& p : points) out = std::max(out, (p - middle).norm());
  return out;
}

void keep_near(Points& points, const Vector3& middle, double radius) {
  std::erase_if(points, [&](const Vector3& p) { return (p - middle).norm() > radius; });
}

double distance_to(const Points& points, const Vector3& x) {
  double best = std::numeric_limits<double>::infinity();
  for (const Vector3& p : points) best = std::min(best, (p - x).squaredNorm());
  return std::sqrt(best);
}

/// The point about which a close-up turns: the middle of the contacts, else of the fibres' points nearest to the
/// obstacles.
Vector3 point_of_interest(const Scene& scene, const Points& fibres, const Points& solids) {
  if (!scene.contacts.empty()) return mean(scene.contacts);
  if (solids.empty()) return mean(fibres);
  if (fibres.empty()) return mean(solids);
  return *std::min_element(fibres.begin(), fibres.end(), [&](const Vector3& a, const Vector3& b) {
    return distance_to(solids, a) < distance_to(solids, b);
  });
}

Points framed_points(const Scene& scene, bool close_up) {
  Points fibres = all_points(scene);
  Points solids = capsule_points(scene);
  if (fibres.empty() && solids.empty()) {
    for (const bodies::HalfSpace& p : scene.planes) solids.push_back(p.point);
  }
  require(!fibres.empty() || !solids.empty(), "nothing to frame");
  if (close_up && !solids.empty() && !fibres.empty()) {
    const Vector3 middle = point_of_interest(scene, fibres, solids);
    const double size = spread(solids, mean(solids));
    const double radius = std::clamp(1.15 * size, 0.01, 0.024);
    keep_near(solids, middle, 0.9 * radius);
    keep_near(fibres, middle, radius);
  }
  fibres.insert(fibres.end(), solids.begin(), solids.end());
  return fibres;
}

/// Direction from the scene to the viewer, and the picture's up.
struct View {
  Vector3 towards;
  Vector3 up;
};

View choose_view(const Scene& scene, const Points& points) {
  Points everything = all_points(scene);
  const Points solids = capsule_points(scene);
  everything.insert(everything.end(), solids.begin(), solids.end());
  if (everything.empty()) everything = points;
  const Vector3 middle = mean(everything);
  Matrix3 covariance = Matrix3::Zero();
  for (const Vector3& p : everything) covariance += (p - middle) * (p - middle).transpose();
  const Eigen::SelfAdjointEigenSolver<Matrix3> axes(covariance);
  const Vector3 flat = axes.eigenvectors().col(0);
  // What is straight lies in many planes.
  const bool is_straight = axes.eigenvalues()[1] < 1e-12 * axes.eigenvalues()[2];
  const bool is_flat = !is_straight && axes.eigenvalues()[0] < 1e-3 * axes.eigenvalues()[1];
  if (is_flat && std::abs(flat.z()) > 0.9) {
    return {Vector3(0.18, 0.28, 1.0).normalized(), Vector3::UnitY()};  // a scene in the plane (x, y)
  }
  // Seen across the obstacles' longest horizontal direction, turned by a third of a right angle.
  Eigen::Matrix2d horizontal = covariance.topLeftCorner<2, 2>();
  if (!solids.empty()) {
    const Vector3 c = mean(solids);
    horizontal.setZero();
    for (const Vector3& p : solids) horizontal += (p - c).head<2>() * (p - c).head<2>().transpose();
  }
  const Eigen::SelfAdjointEigenSolver<Eigen::Matrix2d> across(horizontal);
  Eigen::Vector2d n = across.eigenvectors().col(0);
  if (n.dot(Eigen::Vector2d(0.3, -1.0)) < 0) n = -n;
  const double azimuth = std::atan2(n.y(), n.x()) + 0.6;
  const double elevation = 0.42;
  return {{std::cos(elevation) * std::cos(azimuth), std::cos(elevation) * std::sin(azimuth), std::sin(elevation)},
          Vector3::UnitZ()};
}

/// Straight from a side, upright as `view` is.
View from_side(const View& view, std::string_view side) {
  require(std::ranges::find(sides, side) != sides.end(),
          "side: expected front, back, left, right, side, top or bottom");
  const Vector3 front = view.up.z() > 0.5 ? Vector3(-Vector3::UnitY()) : Vector3::UnitZ();
  const Vector3 right = view.up.cross(front);
  if (side == "top") return {view.up, -front};
  if (side == "bottom") return {-view.up, -front};
  const bool across = side == "left" || side == "right" || side == "side";
  const double sign = side == "back" || side == "left" ? -1.0 : 1.0;
  return {sign * (across ? right : front), view.up};
}

/// The farthest points of obstacles across and along the view: one of them may be all there is, or most of it.
void add_outlines(const Scene& scene, const View& view, Points& points) {
  const Vector3 right = view.up.cross(view.towards).normalized();
  for (const bodies::Bar& c : scene.capsules) {
    for (const Vector3& end : {c.from, c.to}) {
      for (const Vector3& way : {right, Vector3(view.towards.cross(right)), view.towards}) {
        points.push_back(end + c.radius * way);
        points.push_back(end - c.radius * way);
      }
    }
  }
}

/// Moves and pulls back the camera until the points fill the frame up to a margin.
void fit(Camera& camera, const View& view, const Points& points, double aspect) {
  const double tan_y = std::tan(0.5 * camera.field_of_view_deg * std::numbers::pi / 180.0) * 0.88;
  const double tan_x = tan_y * aspect;
  const Vector3 right = view.up.cross(view.towards).normalized();
  const Vector3 up = view.towards.cross(right);
  // For a given view the fit is exact: along each axis, the nearest position from which both edges hold all points.
  double low_x = 1e300, high_x = -1e300, low_y = 1e300, high_y = -1e300;
  for (const Vector3& p : points) {
    const double depth = p.dot(view.towards);
    low_x = std::min(low_x, p.dot(right) / tan_x - depth);
    high_x = std::max(high_x, p.dot(right) / tan_x + depth);
    low_y = std::min(low_y, p.dot(up) / tan_y - depth);
    high_y = std::max(high_y, p.dot(up) / tan_y + depth);
  }
  // x(p)/tan - depth >= x/tan - distance and x(p)/tan + depth <= x/tan + distance, in each direction.
  const double distance = std::max(0.5 * (high_x - low_x), 0.5 * (high_y - low_y));
  const double x = 0.5 * (high_x + low_x) * tan_x;
  const double y = 0.5 * (high_y + low_y) * tan_y;
  const double nearest = mean(points).dot(view.towards);
  camera.position = x * right + y * up + std::max(distance, nearest + 1e-4) * view.towards;
  camera.target = x * right + y * up + nearest * view.towards;
  camera.up = view.up;
}

}  // namespace

Camera frame(const Scene& scene, const FramingOptions& options) {
  require(options.aspect > 0 && std::isfinite(options.aspect), "the picture's aspect must be positive");
  require(options.field_of_view_deg > 0 && options.field_of_view_deg < 170,
          "the field of view must be between 0 and 170 degrees");
  Points points = framed_points(scene, options.close_up);
  Camera camera;
  camera.field_of_view_deg = options.field_of_view_deg;
  View view = choose_view(scene, points);
  if (!options.side.empty()) view = from_side(view, options.side);
  if (!options.close_up) add_outlines(scene, view, points);
  fit(camera, view, points, options.aspect);
  return camera;
}

Ground ground_under(const Scene& scene, const Vector3& up) {
  constexpr double wide = 4.0;  // over the radius of the scene
  const Vector3 normal = up.normalized();
  Points points = all_points(scene);
  double lowest = std::numeric_limits<double>::infinity();
  const auto stand = [&](const Vector3& x, double radius) { lowest = std::min(lowest, normal.dot(x) - radius); };
  for (const Vector3& x : points) stand(x, 0.0);
  for (const Fibre& fibre : scene.fibres) {
    for (Eigen::Index i = 0; i < fibre.points.cols() && fibre.half_axis_1.cols() == 0; ++i)
      stand(fibre.points.col(i), fibre.radii[i]);
  }
  for (const bodies::Bar& c : scene.capsules) {
    for (const Vector3& end : {c.from, c.to}) {
      points.push_back(end + c.radius * normal);
      stand(end, c.radius);
    }
  }
  for (const Mesh& mesh : scene.meshes) {
    for (const Vector3& x : mesh.vertices) {
      points.push_back(x);
      stand(x, 0.0);
    }
  }
  require(!points.empty(), "nothing stands on the ground");
  const Vector3 middle = mean(points);
  const double radius = std::max(spread(points, middle), 1e-6);
  return {middle + (lowest - normal.dot(middle)) * normal, normal, wide * radius};
}

}  // namespace tresse::render
