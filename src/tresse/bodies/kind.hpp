#pragma once

#include <concepts>
#include <string_view>

#include <tresse/base/field.hpp>
#include <tresse/bodies/parts.hpp>

/// What a kind of rigid body must say of itself. shapes.hpp lists the kinds.
namespace tresse::bodies {

/// Mass and inertia of a solid of revolution of even density, about its centre of mass.
struct Solid {
  double mass = 0.0;                 ///< > 0 [kg]
  Vector3 centre = Vector3::Zero();  ///< of mass, at the reference pose (3) [m]
  Vector3 axis = Vector3::UnitX();   ///< of revolution, unit, at the reference pose (3) [-]
  double axial_inertia = 0.0;        ///< about the axis [kg m^2]
  double transverse_inertia = 0.0;   ///< about any line across it [kg m^2]
};

/// A kind whose keys a scene keeps beside it, as they name files: `from_file` is true.
template <class K>
concept FromFile = K::from_file;

/// Its keys in a scene: `fields(x, visit)` calls visit(Field, member of x) for each, as scene/fields.hpp has it.
/// `check(complain)`, which it need not have, tells Complain where they do not fit together.
template <class K>
concept HasKeys = requires(K& x) {
  K::fields(x, [](const Field&, const auto&) {});
};

/// A shape at its reference pose: its word in scenes, the point that rotations turn about unless told otherwise, and
/// what it is made of. It may have more: FreeKind, and `part_name(tube)`, "tooth 2", for messages.
template <class K>
concept Kind = (FromFile<K> || HasKeys<K>)&&std::default_initializable<K>&& requires(const K& x) {
  { K::word } -> std::convertible_to<std::string_view>;
  { x.own_point() } -> std::same_as<Vector3>;
  { x.parts() } -> std::same_as<Parts>;
};

/// A shape that may be free: a solid of revolution with an end, with its volume [m^3] and what a mass [kg] makes of it.
template <class K>
concept FreeKind = Kind<K> && requires(const K& x, double mass) {
  { x.volume() } -> std::same_as<double>;
  { x.solid(mass) } -> std::same_as<Solid>;
};

}  // namespace tresse::bodies
