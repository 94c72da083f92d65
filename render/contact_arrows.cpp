#include "render/contact_arrows.hpp"

#include <algorithm>

namespace tresse::render {
namespace {

// Okabe and Ito's blue and vermilion, which colour-blind readers tell apart, and apart from hair; linear.
const Eigen::Array3f stick_color(0.0F, 0.168F, 0.445F);
const Eigen::Array3f slide_color(0.665F, 0.112F, 0.0F);
constexpr double ball = 2.0;  ///< radius over the shaft's

}  // namespace

std::vector<Marker> contact_arrows(const observe::Frame& frame, const ArrowStyle& style) {
  std::vector<Marker> out;
  for (std::size_t i = 0; i < frame.contact_count(); ++i) {
    if (frame.contact_state[i] == 0) continue;
    const Eigen::Array3f& color = frame.contact_state[i] == 1 ? stick_color : slide_color;
    const Vector3 at = observe::vector_at(frame.contact_point_a, i);
    const Vector3 force_on_a = -observe::vector_at(frame.contact_force, i);
    out.push_back({{at, at, ball * style.radius}, color});
    out.push_back({{at, at + style.metres_per_newton * force_on_a, style.radius}, color});
  }
  return out;
}

double largest_contact_force(const observe::Frame& frame) {
  double out = 0.0;
  for (std::size_t i = 0; i < frame.contact_count(); ++i)
    out = std::max(out, observe::vector_at(frame.contact_force, i).norm());
  return out;
}

}  // namespace tresse::render
