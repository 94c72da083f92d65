#include <tresse/contact/contact_frame.hpp>

#include <Eigen/Geometry>

#include <tresse/math/vectors.hpp>

namespace tresse::contact {
namespace {

/// Sine of the angle below which two tangents count as parallel: there the direction of a' x b' is lost to rounding and
/// to the lag of the abscissae. For exact closest points both rules give the same normal.
constexpr double parallel_sine = 0.1;

Vector3 any_orthogonal(const Vector3& direction) {
  int smallest = 0;
  direction.cwiseAbs().minCoeff(&smallest);
  return direction.cross(Vector3::Unit(smallest)).normalized();
}

Vector3 mean_tangent(const ContactSide& a, const ContactSide& b) {
  const Vector3 sum = a.tangent.dot(b.tangent) >= 0.0 ? Vector3(a.tangent + b.tangent) : Vector3(a.tangent - b.tangent);
  return math::safe_normalized(sum);
}

}  // namespace

Matrix3 frame_from_normal(const Vector3& normal, const Vector3& tangent) {
  Vector3 t1 = tangent - normal * normal.dot(tangent);
  t1 = t1.squaredNorm() > 1e-24 ? Vector3(t1.normalized()) : any_orthogonal(normal);
  t1 = (t1 - normal * normal.dot(t1)).normalized();
  Matrix3 frame;
  frame << normal, t1, t1.cross(normal);
  return frame;
}

Matrix3 contact_frame(const ContactSide& a, const ContactSide& b) {
  const Vector3 gap = b.point - a.point;
  const Vector3 mean = mean_tangent(a, b);
  Vector3 normal;
  const Vector3 cross = a.tangent.cross(b.tangent);
  if (a.end || b.end) {
    normal = gap;
  } else if (cross.norm() > parallel_sine) {
    normal = cross.dot(gap) >= 0.0 ? cross : Vector3(-cross);
  } else {
    normal = gap - mean * mean.dot(gap);
  }
  const double size = math::safe_norm(normal);
  normal = size > 0.0 ? Vector3(normal / size) : any_orthogonal(mean.isZero(0.0) ? Vector3::UnitX() : mean);
  return frame_from_normal(normal, mean);
}

}  // namespace tresse::contact
