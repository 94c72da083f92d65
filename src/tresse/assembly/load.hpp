#pragma once

#include <tresse/base/types.hpp>

namespace tresse::assembly {

struct Fibre;

/// What acts on the bodies of a world besides elasticity, contact and holds. A world has a list of loads, which add up.
/// Each says what it does in the terms that the equations take: a term that it leaves alone is zero.
class Load {
 public:
  virtual ~Load() = default;

  /// What it gives every mass, everywhere and always the same: it has a potential, which energies count. (3) [m/s^2]
  virtual Vector3 acceleration() const { return Vector3::Zero(); }
  /// Velocity of the air at `time`, the same everywhere. (3) [m/s]
  virtual Vector3 wind(double /*time*/) const { return Vector3::Zero(); }
  /// Resistance of a fibre to the air, a force per unit length and velocity: -drag (r_t - wind). >= 0 [N s/m^2]
  virtual double drag(const Fibre& /*fibre*/) const { return 0.0; }

 protected:
  Load() = default;
  Load(const Load&) = default;
  Load& operator=(const Load&) = default;
  Load(Load&&) = default;
  Load& operator=(Load&&) = default;
};

class Gravity final : public Load {
 public:
  explicit Gravity(const Vector3& acceleration) : acceleration_(acceleration) {}
  Vector3 acceleration() const override { return acceleration_; }

 private:
  Vector3 acceleration_;
};

/// Air that stands still, blows, or blows in gusts, which rise and fall as a raised cosine, the first from time zero.
/// It resists what each fibre says.
class Air final : public Load {
 public:
  /// `mean`: between gusts; `gust`: what one adds at its height (3) [m/s]; `period`: from one to the next [s].
  explicit Air(const Vector3& mean = Vector3::Zero(), const Vector3& gust = Vector3::Zero(), double period = 0.0)
      : mean_(mean), gust_(gust), period_(period) {}
  Vector3 wind(double time) const override;
  double drag(const Fibre& fibre) const override;

 private:
  Vector3 mean_;
  Vector3 gust_;
  double period_;
};

}  // namespace tresse::assembly
