#pragma once

#include <vector>

#include <tresse/dynamics/detail/carried_motion.hpp>
#include <tresse/dynamics/detail/pass.hpp>

namespace tresse::dynamics::detail {

/// The balance of momentum of fibres in air or on clamped roots: what roots carry, and what the air and moving roots
/// work. Everything that it is given must outlive it.
class MomentumBooks {
 public:
  MomentumBooks(Part& part, const CarriedMotion& carried) : part_(part), carried_(carried) {}

  /// Begins at the state that `at` is in.
  void begin(const assembly::Kinematics& at) { momenta_ = momenta_of(at); }
  /// Balances the fibres of a part which ends where the rods of the end are. Moves those of Part::linearised.
  void balance();
  /// Adds the work of the air, of the fluid and of moving roots over the part. The root's share is what the balance of
  /// momentum of its tree leaves. Of carried trees the books are those of the equations that were solved, of others
  /// they are of first order. After balance().
  void add_work(const Pass& pass, const std::vector<ContactReport>& contacts, PartWorks& into) const;
  /// Of an accepted part: a clamp carries what acts on its tree from outside and does not change its momentum. Goes on
  /// to the end. After balance().
  void report_roots(const Pass& pass, const std::vector<ContactReport>& contacts, StepReport& report);

 private:
  bool rooted(int fibre) const;
  std::vector<Twist> momenta_of(const assembly::Kinematics& at) const;
  FibreBalance balance_of(int fibre);
  rods::RodMotion mean_motion(int fibre);
  double fluid_work(int fibre) const;
  double root_work(int tree, const Pass& pass, const std::vector<ContactReport>& contacts) const;

  Part& part_;
  const CarriedMotion& carried_;
  std::vector<Twist> momenta_;          ///< (fibres) of the state, about the world's origin, of those of clamped trees
  std::vector<FibreBalance> balances_;  ///< (fibres) of the part, of those in air or of a moved tree
};

}  // namespace tresse::dynamics::detail
