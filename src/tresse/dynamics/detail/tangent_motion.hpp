#pragma once

#include <memory>
#include <string>
#include <vector>

#include <tresse/dynamics/detail/contact_tangent.hpp>
#include <tresse/dynamics/detail/part.hpp>
#include <tresse/dynamics/detail/pass.hpp>
#include <tresse/dynamics/sensitivity.hpp>

namespace tresse::dynamics::detail {

/// The derivative of the steps of an engine along variations of what they depend on, carried from step to step beside
/// them: each pass is an implicit equation, and its linearisation gives the change of its velocities and impulses.
/// docs/theory/gradients.md. The part must outlive it.
class TangentMotion {
 public:
  /// Throws InvalidInput where something moves that has no derivative here, and for sizes that do not fit.
  TangentMotion(const Part& part, std::vector<Variation> variations);

  /// Begins a part; passes noted before are forgotten.
  void begin() { passes_.clear(); }
  /// Notes a pass that was solved, linearised in `shapes`.
  void note(const Pass& pass, const std::vector<rods::RodState>& shapes);
  /// The part ends with this pass, whose slips are those of its end; `slowed`: and with velocities that energy rules
  /// made smaller.
  void accept(const Pass& pass, bool slowed);

  const std::vector<std::vector<FibreChange>>& changes() const { return changes_; }  ///< (variations) (fibres)
  const DerivativeReport& report() const { return report_; }

 private:
  /// What is kept of a pass.
  struct Noted {
    SharedConfiguration at;
    std::vector<contact::Contact> contacts;
    std::vector<int> warm_of;
    std::vector<Vector3> bias;
    std::vector<std::optional<Vector3>> slips;
    VectorX impulse, velocity, mu, q;
    std::vector<VectorX> velocities;
    std::vector<rods::RodState> shapes;
    bool whole = true;  ///< all contacts linearised at one instant
  };
  /// The system of its loaded contacts: A (change of r) = -T (change of u without it) - change by friction.
  struct Linearised;
  /// Of the equation of a fibre: its motion, what its samples gain and are resisted by, and the forces of both.
  struct FibreTerms {
    rods::FieldMotion motion;
    rods::TwistColumns gained, resisted, forces;
    double drag = 0.0;
    VectorX strained;  ///< (dof) what the stiffness meets
  };

  std::size_t count() const { return variations_.size(); }
  std::size_t fibres() const { return part_.world.fibres.size(); }
  const FibreVariation* variation_of(std::size_t k, std::size_t f) const {
    return variations_[k].fibres.empty() ? nullptr : &variations_[k].fibres[f];
  }
  void refuse(const std::string& why);
  void begin_fibres();
  std::shared_ptr<const ShapeTangent> shape_after(std::size_t f, const rods::RodState& at,
                                                  const std::vector<VectorX>& velocities) const;
  void take_shapes(const Noted& pass, bool first);
  void take_contacts(const Noted& pass);
  void take_operator(Linearised& out) const;
  void take_biases(const Noted& pass, const Noted* previous, std::size_t k, VectorX& out) const;
  void take_terms(const Noted& pass, Linearised& out) const;
  VectorX fibre_residual_change(const FibreTerms& terms, std::size_t f, const VectorX& v, std::size_t k) const;
  void factor_matrices();
  void take_slips(const Noted& pass, const Noted* previous);
  void take_cases(const Noted& pass, Linearised& out);
  std::vector<VectorX> changed_velocities(const Noted& pass, const Noted* previous, const Linearised& system,
                                          std::size_t variation);
  void linearise(const Noted& pass, const Noted* previous);
  void watch(const Noted& pass);
  void carry_to_end(const Noted& pass);
  void carry_slips(const Noted& pass, const Pass& end);
  Vector3 slip_along(const Noted& pass, std::size_t i, std::size_t k, const ContactChange& change) const;

  const Part& part_;
  std::vector<Variation> variations_;
  std::vector<std::vector<FibreChange>> changes_;
  DerivativeReport report_;
  std::vector<double> damping_times_;  ///< (fibres)
  std::vector<std::unique_ptr<rods::StepMatrix>> matrices_, masses_;

  std::vector<Noted> passes_;
  // Of the part under way.
  std::vector<Eigen::Index> nodes_;          ///< (fibres) Gauss points of an element
  std::vector<Twist> roots_;                 ///< (fibres) velocities of clamped roots
  Shapes start_, at_, end_;                  ///< of the start, in which a fibre was linearised, of the end
  Shapes contact_shapes_;                    ///< in which the contacts of the pass were found
  std::vector<rods::TwistColumns> carried_;  ///< (fibres) samples of the start's velocities
  std::vector<std::vector<rods::TwistColumns>> carried_change_;  ///< (fibres) (variations)
  std::vector<std::vector<VectorX>> velocity_change_;            ///< (variations) (fibres) of the last pass
  std::vector<std::vector<ContactChange>> contact_change_;       ///< (variations) (contacts that carry a force)
  std::vector<ContactTangent> contacts_;                         ///< those
  std::vector<std::size_t> loaded_;                              ///< which of the pass they are
  // From step to step.
  std::vector<std::vector<Vector3>> slip_change_;       ///< (variations) (warm contacts of the state)
  std::vector<std::vector<Vector3>> pass_slip_change_;  ///< (variations) (contacts of the pass)
  std::vector<int> cases_;                              ///< how many stuck, how many slid
};

}  // namespace tresse::dynamics::detail
