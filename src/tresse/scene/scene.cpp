#include <tresse/scene/scene.hpp>

namespace tresse::scene {

double FrictionTable::coefficient(const std::string& a, const std::string& b) const {
  const auto found = pairs.find({a, b});
  return found == pairs.end() ? default_coefficient : found->second;
}

}  // namespace tresse::scene
