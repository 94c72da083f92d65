#pragma once

#include <tresse/rods/rod.hpp>

namespace tresse::inverse {

/// How stiff a rod must be for the shape that it has to be stable, once it is at rest there (resting_rod()).
struct CriticalStiffness {
  /// Times its stiffness: stable if and only if all elastic moduli are multiplied by more. 0: however soft it is. [-]
  double scale = 0.0;
  /// More than this is enough by the least eigenvalues of both parts, bertails2018hdr eq. (4.6); at least `scale`. [-]
  double sufficient = 0.0;
  VectorX mode;  ///< (m) displacement of the coordinates that gives way first, of unit elastic energy
};

/// Of a clamped rod under its weight alone: -min(0, least eigenvalue of H_g v = lambda K v), where K + H_g is the
/// Hessian of its potential. @cite bertails2018hdr sec. 4.2.2, whose condition is only sufficient;
/// docs/theory/inverse.md. The cost grows with the cube of the number of elements. Throws InvalidInput for another root
/// condition, gravity that is not finite, and where resting_rod() does.
CriticalStiffness critical_stiffness(const rods::Rod& rod, const Vector3& gravity);

}  // namespace tresse::inverse
