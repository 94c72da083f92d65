#pragma once

#include <limits>

namespace tresse::geometry {

/// How the material of a piece of a rod lies along its curve: evenly. Rods of nodes stretch, and their curves are
/// longer or shorter than the material; of all others both lengths are the same. The two conversions keep the order and
/// take any number: what lies beyond an end, such as a place that was found when the piece was longer, is that end.
struct MaterialSpan {
  double rest = std::numeric_limits<double>::infinity();   ///< length of the material, as made; > 0 [m]
  double curve = std::numeric_limits<double>::infinity();  ///< length of the curve, as it is; >= 0 [m]

  /// Arc length of the material at parameter `s` of the curve. [m]
  double in_material(double s) const { return converted(s, curve, rest); }
  /// Parameter on the curve of the material at `u`. [m]
  double on_curve(double u) const { return converted(u, rest, curve); }

 private:
  static double converted(double at, double from, double to) {
    if (!(at > 0.0)) return 0.0;
    if (at >= from) return to;
    return from == to ? at : to * (at / from);
  }
};

}  // namespace tresse::geometry
