#include "render/contact_arrows.hpp"

#include <algorithm>

namespace tresse::render {
namespace {

// Okabe and Ito's green and orange, which colour-blind readers tell apart; linear.
const Eigen::Array3f stick_color(0.0F, 0.34F, 0.17F);
const Eigen::Array3f slide_color(0.79F, 0.34F, 0.0F);
constexpr double ball = 1.8;  ///< radius over the shaft's

Vector3 vector_at(const std::vector<double>& rows, std::size_t i) {
  return {rows[3 * i], rows[3 * i + 1], rows[3 * i + 2]};
}

}  // namespace

std::vector<Marker> contact_arrows(const io::Frame& frame, const ArrowStyle& style) {
  std::vector<Marker> out;
  for (std::size_t i = 0; i < frame.contact_count(); ++i) {
    if (frame.contact_state[i] == 0) continue;
    const Eigen::Array3f& color = frame.contact_state[i] == 1 ? stick_color : slide_color;
    const Vector3 at = vector_at(frame.contact_point_a, i);
    const Vector3 force_on_a = -vector_at(frame.contact_force, i);
    out.push_back({{at, at, ball * style.radius}, color});
    out.push_back({{at, at + style.metres_per_newton * force_on_a, style.radius}, color});
  }
  return out;
}

double largest_contact_force(const io::Frame& frame) {
  double out = 0.0;
  for (std::size_t i = 0; i < frame.contact_count(); ++i) out = std::max(out, vector_at(frame.contact_force, i).norm());
  return out;
}

}  // namespace tresse::render
