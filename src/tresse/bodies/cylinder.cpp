#include <tresse/bodies/cylinder.hpp>

namespace tresse::bodies {

Capsule Cylinder::capsule() const {
  const Vector3 half = 0.5 * length * axis;
  return {center - half, center + half, radius};
}

}  // namespace tresse::bodies
