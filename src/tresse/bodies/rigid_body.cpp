#include <tresse/bodies/rigid_body.hpp>

#include <cmath>
#include <cstddef>
#include <string>
#include <vector>

#include <Eigen/Geometry>

#include <tresse/base/errors.hpp>
#include <tresse/math/rotations.hpp>

namespace tresse::bodies {
namespace {

/// What `get` says of a shape whose kind may be free.
template <class T, class Get>
T of_free(const Shape& shape, const Get& get) {
  return std::visit(
      [&]<class K>(const K& x) -> T {
        if constexpr (FreeKind<K>) return get(x);
        throw InvalidInput("free body: must be " + free_kinds());
      },
      shape);
}

template <Kind... K>
std::string kinds(KindList<K...>, bool free) {
  std::vector<std::string> words;
  ((FreeKind<K> == free ? words.push_back("a " + std::string(K::word)) : void()), ...);
  std::string out = words.front();
  for (std::size_t i = 1; i < words.size(); ++i) out += (i + 1 < words.size() ? ", " : " or ") + words[i];
  return out;
}

}  // namespace

bool can_be_free(const Shape& shape) {
  return std::visit([]<class K>(const K&) { return FreeKind<K>; }, shape);
}

std::string free_kinds() { return kinds(Kinds{}, true); }
std::string fixed_kinds() { return kinds(Kinds{}, false); }

double volume(const Shape& shape) {
  return of_free<double>(shape, [](const auto& x) { return x.volume(); });
}

double radius(const Shape& shape) {
  return of_free<double>(shape, [](const auto& x) { return x.parts().tubes.front().radius; });
}

bool is_centre(const Shape& shape, const Vector3& reference, double tolerance) {
  const Vector3 centre = solid(shape, 1.0).centre;
  return (reference - centre).norm() <= tolerance * (reference.norm() + extent(shape, centre));
}

Solid solid(const Shape& shape, double mass) {
  require(mass > 0.0 && std::isfinite(mass), "free body: the mass must be positive and finite");
  return of_free<Solid>(shape, [mass](const auto& x) { return x.solid(mass); });
}

Matrix3 inertia_power(const Solid& solid, const Matrix3& frame, double exponent) {
  const Vector3 axis = frame * solid.axis;
  const double across = std::pow(solid.transverse_inertia, exponent);
  const double along = std::pow(solid.axial_inertia, exponent);
  return across * Matrix3::Identity() + (along - across) * axis * axis.transpose();
}

Vector3 angular_momentum(const Solid& solid, const Matrix3& frame, const Vector3& angular_velocity) {
  const Vector3 axis = frame * solid.axis;
  return solid.transverse_inertia * angular_velocity +
         (solid.axial_inertia - solid.transverse_inertia) * axis.dot(angular_velocity) * axis;
}

Vector3 angular_velocity(const Solid& solid, const Matrix3& frame, const Vector3& angular_momentum) {
  const Vector3 axis = frame * solid.axis;
  return angular_momentum / solid.transverse_inertia +
         (1.0 / solid.axial_inertia - 1.0 / solid.transverse_inertia) * axis.dot(angular_momentum) * axis;
}

Turn turn_freely(const Solid& solid, const Matrix3& frame, const Vector3& angular_momentum, double dt) {
  // In world axes with the frame of the start, a the axis and m = m_a a + m_t: I_a m_a = P_a, and across it
  // I_t m_t + c a x m_t = P_t with c = dt/2 (I_t - I_a) m_a, since m x I m = (I_a - I_t) m_a (m_t x a).
  const Vector3 a = frame * solid.axis;
  const double along = a.dot(angular_momentum);
  const Vector3 across = angular_momentum - along * a;
  const double spin = along / solid.axial_inertia;
  const double inertia = solid.transverse_inertia;
  const double c = 0.5 * dt * (inertia - solid.axial_inertia) * spin;
  Turn out;
  out.mean = spin * a + (inertia * across - c * a.cross(across)) / (inertia * inertia + c * c);
  // cay(x) = 1 + (x^ + x^^2 / 2) / (1 + |x|^2 / 4), a rotation by 2 atan(|x| / 2).
  const Vector3 x = dt * out.mean;
  const Matrix3 hat = math::cross_matrix(x);
  const Matrix3 turn = Matrix3::Identity() + (hat + 0.5 * hat * hat) / (1.0 + 0.25 * x.squaredNorm());
  out.frame = math::orthonormalised_once(turn * frame);
  return out;
}

double kinetic_energy(const Solid& solid, const BodyState& state) {
  const Vector3& w = state.velocity.angular;
  return 0.5 * solid.mass * state.velocity.linear.squaredNorm() +
         0.5 * w.dot(angular_momentum(solid, state.pose.frame, w));
}

}  // namespace tresse::bodies
