#pragma once

#include <optional>

#include <tresse/base/types.hpp>

namespace tresse::geometry {

/// A helix by what leads along it: tangents t(s) = exp(s [darboux]x) t(0), world axes.
struct ShortHelix {
  Vector3 darboux = Vector3::Zero();  ///< (3) [1/m]
  double length = 0.0;                ///< > 0 [m]
  double turn = 0.0;                  ///< |darboux| * length, at most 2 pi less the angle between the tangents [rad]
};

/// The one helix of least turn that leads along `chord` from unit tangent t0 to unit tangent t1. It exists where chord
/// . (t1 - t0) = 0, unless the tangents are equal and the chord is not parallel to them: theorem 4.1 of
/// @cite bertails2018hdr. Nothing otherwise; a billionth of the chord is taken for rounding, and the helix misses its
/// end by as much. Bracketed Newton in one unknown, about 0.5 us. Ends where it should to 1e-13 of the chord, but for
/// what the tangents round: docs/theory/inverse.md, tests/geometry/short_helix_test.cpp.
std::optional<ShortHelix> short_helix(const Vector3& chord, const Vector3& t0, const Vector3& t1);

}  // namespace tresse::geometry
