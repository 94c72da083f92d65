#pragma once

#include <tresse/base/types.hpp>

namespace tresse::friction::detail {

/// A function of one contact's (r, u) that vanishes exactly where its law holds, and dr, du of dF = dr dr + du du: the
/// derivative where there is one, else that of one side.
struct ContactFunction {
  Vector3 value;
  Matrix3 dr, du;
};

/// What Newton's method is applied to. `conic_map` is the convex problem's K* > u _|_ r in K, in which u has been
/// shifted by a fixed s: the others are Coulomb's law. `nodal` is Alart and Curnier's function for systems of points,
/// where the unknown is the velocity: what is called r is u and the other way round; mu < 0: nothing touches, r = 0.
enum class Complementarity { alart_curnier, fischer_burmeister, conic_map, nodal };

/// Alart and Curnier's function with the friction disc of the predicted normal impulse r_N - u_N. @cite alart1991
ContactFunction alart_curnier(const Vector3& r, const Vector3& u, double mu);

/// The Fischer-Burmeister function of the second-order cone at x = (mu r_N, r_T), y = (u_N + mu |u_T|, mu u_T); without
/// friction the scalar one of (r_N, u_N), and r_T. @cite fukushima2002
ContactFunction coulomb_fischer_burmeister(const Vector3& r, const Vector3& u, double mu);

/// r - P_K(r - u).
ContactFunction conic_map(const Vector3& r, const Vector3& u, double mu);

ContactFunction evaluate(Complementarity function, const Vector3& r, const Vector3& u, double mu);

/// The natural map of the law that the function states: Coulomb's (De Saxce's form), or the convex problem's.
Vector3 law_map(Complementarity function, const Vector3& r, const Vector3& u, double mu);

/// Its 2-norm over all contacts.
double map_norm(Complementarity function, const VectorX& r, const VectorX& u, const VectorX& mu);

}  // namespace tresse::friction::detail
