#include <tresse/contact/pieces.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

namespace tresse::contact {

int pieces_per_element(double curvature, double length) {
  constexpr double largest_turn = 0.45 * 2.0 * std::numbers::pi;
  return std::max(1, static_cast<int>(std::ceil(curvature * length / largest_turn)));
}

double self_contact_free_length(double curvature, double radius, double margin) {
  if (curvature <= 0.0) return std::numeric_limits<double>::infinity();
  const double half_chord_angle = std::asin(std::min(1.0, curvature * (radius + 0.5 * margin)));
  return 2.0 * (std::numbers::pi - half_chord_angle) / curvature;
}

int piece_at(const Geometry& scene, int body, int element, double s) {
  int piece = scene.body_begin[body];
  const int last = scene.body_begin[body + 1] - 1;
  if (scene.pieces[last].element - scene.pieces[piece].element == last - piece) {  // one piece an element
    return std::clamp(piece + element, piece, last);
  }
  while (piece < last && (scene.pieces[piece].element < element ||
                          (scene.pieces[piece + 1].element == element && scene.pieces[piece].interval.end < s)))
    ++piece;
  return piece;
}

}  // namespace tresse::contact
