#include <tresse/dynamics/detail/pass_mixing.hpp>

namespace tresse::dynamics::detail {
namespace {

VectorX stacked(const std::vector<VectorX>& parts) {
  Eigen::Index size = 0;
  for (const VectorX& part : parts) size += part.size();
  VectorX out(size);
  Eigen::Index at = 0;
  for (const VectorX& part : parts) {
    out.segment(at, part.size()) = part;
    at += part.size();
  }
  return out;
}

}  // namespace

bool PassMixing::mix(double change, const std::vector<VectorX>& from, std::vector<VectorX>& to) {
  constexpr double slow = 0.1;  // a pass that comes nearer by less
  active_ = active_ || (change_ > 0.0 && change > slow * change_);
  change_ = change;
  const VectorX next = mixing_.next(stacked(from), stacked(to));
  if (!active_) return false;
  Eigen::Index at = 0;
  for (VectorX& part : to) {
    part = next.segment(at, part.size());
    at += part.size();
  }
  return true;
}

}  // namespace tresse::dynamics::detail
