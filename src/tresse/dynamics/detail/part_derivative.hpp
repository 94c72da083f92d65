#pragma once

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <Eigen/QR>

#include <tresse/dynamics/detail/contact_tangent.hpp>
#include <tresse/dynamics/detail/recorded_part.hpp>
#include <tresse/dynamics/sensitivity.hpp>

namespace tresse::dynamics::detail {

/// How a state changes, or the derivative by it.
struct StateChange {
  std::vector<FibreChange> fibres;  ///< (fibres)
  std::vector<Vector3> slips;       ///< (warm contacts) [m]
};

/// Factored matrices that the step itself has of a part, (fibres): of the last pass, and of the masses at the end.
/// Null: none.
struct KnownMatrices {
  std::vector<const rods::StepMatrix*> last_pass, end;
};

/// The derivative of one part of a step: a linear map from changes of the state that it starts from, and of what is
/// varied, to changes of the state that it ends in, and its transpose. Each pass is an implicit equation, and its
/// linearisation gives the change of its velocities and impulses. docs/theory/gradients.md.
class PartDerivative {
 public:
  /// `at`: rods with the natural shapes of the run.
  PartDerivative(const assembly::World& world, const StepOptions& options, const assembly::Kinematics& at);

  /// Takes the map of a part, which must outlive it as what is `known` must. What the last part has in common with it
  /// is used again. Returns what the map leaves out, or nothing.
  [[nodiscard]] std::string take(const RecordedPart& part, const KnownMatrices& known = {});

  StateChange forward(const Variation& variation, const StateChange& start) const;
  /// `end`: the derivative of something by the state at the end. Adds that by what is varied to `gradient`, but for
  /// the state at the start, by which it returns the derivative.
  StateChange backward(const StateChange& end, Variation& gradient) const;

 private:
  /// The equation of a fibre in a pass: its motion, what its samples gain and are resisted by, and the forces of both.
  struct FibreTerms {
    std::size_t shape = 0;  ///< in which it was linearised
    VectorX x;              ///< whole velocities
    rods::FieldMotion motion;
    rods::FieldSamples gained, resisted, forces;
    double drag = 0.0;
    VectorX strained;  ///< (m) what the stiffness meets
    const rods::StepMatrix* matrix = nullptr;
  };
  /// Of a contact: how its relative velocity, bias included, depends on how it changes, and on a slip.
  struct ContactTerms {
    ContactTangent::Rows<12> by_change;
    Matrix3 by_slip = Matrix3::Zero();
    std::vector<MatrixX> solved;  ///< (sides on fibres) M^-1 J^T E
    /// Of what slides: how its tangential row turns with the slip. None: it sticks, and that is the identity
    std::optional<Eigen::Matrix2d> turning;
  };
  struct PassTerms {
    std::vector<FibreTerms> fibres;
    std::vector<ContactTangent> contacts;
    std::vector<ContactTerms> of_contacts;
    /// (fibres) motions of this pass and of the one before in the shape of the contacts; where there are some.
    std::vector<std::optional<rods::FieldMotion>> motions, motions_before;
    /// A (change of r) = -T (change of u without it) - change by friction. (3 contacts, 3 contacts)
    MatrixX W, A;
    Eigen::ColPivHouseholderQR<MatrixX> solver;
    VectorX by_friction;  ///< (3 contacts) for a relative change of the coefficients
  };
  struct EndTerms {
    VectorX x;
    rods::FieldMotion motion;
    rods::FieldSamples lost;
  };
  struct SlipTerms {
    ContactTangent::Way way;
    Matrix3 along = Matrix3::Identity(), by_turned = Matrix3::Zero();
  };
  /// What a variation has of each fibre, in the shape after each number of passes.
  struct Along {
    std::vector<std::vector<VectorX>> displacement;                     ///< (shapes) (fibres)
    std::vector<std::vector<std::optional<rods::FieldMotion>>> motion;  ///< where it is asked for
  };
  /// What contacts bring to the equation of a fibre, and how the motions of the pass and of the one before change in
  /// the shape of the contacts.
  struct OfContacts {
    std::vector<rods::PlacedWrench> wrenches;
    rods::FieldMotion turn, turn_before;
  };
  struct Backward;

  std::size_t fibres() const { return rods_.size(); }
  bool clamped_root(std::size_t f) const { return rods_[f]->root_dof() == 0; }
  VectorX whole(std::size_t f, const Twist& root, const VectorX& v) const;
  Shapes::value_type shape_of(std::size_t f, std::size_t k);
  const rods::StepMatrix* matrix_of(std::size_t f, std::size_t shape, bool last);
  void take_start();
  void take_pass(std::size_t p);
  void take_fibre(std::size_t p, std::size_t f, FibreTerms& out);
  void take_contacts(std::size_t p, PassTerms& out);
  void take_contact_terms(std::size_t p, std::size_t c, PassTerms& out) const;
  void take_operator(PassTerms& out) const;
  void take_cases(PassTerms& out);
  void take_end();
  void take_slips();
  void refuse(const std::string& why);

  const rods::FieldMotion& along_at(Along& along, std::size_t shape, std::size_t f) const;
  ContactTangent::Change contact_change(const ContactTangent& contact, std::size_t shape, Along& along) const;
  VectorX advanced(std::size_t f, const VectorX& displacement, const VectorX& v, const VectorX& v_change) const;
  void advanced_back(std::size_t f, const VectorX& v, const VectorX& by, VectorX& displacement,
                     VectorX& v_change) const;
  std::vector<VectorX> pass_forward(std::size_t p, const Variation& variation, const StateChange& start,
                                    const std::vector<rods::FieldSamples>& carried, Along& along,
                                    const std::vector<VectorX>& before) const;
  VectorX fibre_forward(std::size_t p, std::size_t f, const Variation& variation, const rods::FieldSamples& carried,
                        Along& along, OfContacts& contacts) const;
  FibreChange end_forward(std::size_t f, Along& along, const VectorX& v_change) const;
  void slips_forward(const StateChange& start, Along& along, std::vector<Vector3>& out) const;
  void slips_back(const StateChange& end, Backward& on) const;
  void end_back(std::size_t f, const FibreChange& end, Backward& on) const;
  void pass_back(std::size_t p, Backward& on, Variation& gradient) const;
  VectorX impulses_back(std::size_t p, Backward& on, Variation& gradient) const;
  void contacts_back(std::size_t p, const VectorX& off, Backward& on) const;
  void fibre_back(std::size_t p, std::size_t f, Backward& on, Variation& gradient) const;

  const assembly::World& world_;
  const StepOptions& options_;
  std::vector<std::unique_ptr<rods::Rod>> rods_;  ///< (fibres) with their natural shapes
  std::vector<double> damping_times_;             ///< (fibres)
  std::vector<std::unique_ptr<rods::StepMatrix>> masses_;
  std::vector<std::vector<std::unique_ptr<rods::StepMatrix>>> matrices_;  ///< (fibres) as many as were ever wanted

  // Of the part.
  const RecordedPart* part_ = nullptr;
  std::string refused_;
  std::vector<Eigen::Index> nodes_;                             ///< (fibres)
  std::vector<Shapes> shapes_;                                  ///< (passes + 1) (fibres); null: not asked for
  Shapes last_start_, last_end_;                                ///< of the last part
  std::vector<std::vector<std::shared_ptr<FibreShape>>> pool_;  ///< (fibres) for reuse once nobody else holds them
  const KnownMatrices* known_ = nullptr;
  std::vector<std::vector<std::pair<std::size_t, const rods::StepMatrix*>>> factored_;  ///< (fibres) by shape
  std::vector<const rods::StepMatrix*> mass_;                                           ///< (fibres)
  std::vector<Twist> roots_;                      ///< (fibres) velocities of clamped roots
  std::vector<VectorX> x_before_;                 ///< (fibres) whole velocities of the start
  std::vector<rods::FieldMotion> motion_before_;  ///< (fibres)
  std::vector<rods::FieldSamples> carried_;       ///< (fibres) its samples
  std::vector<PassTerms> passes_;
  std::vector<EndTerms> end_;                    ///< (fibres)
  std::vector<std::optional<SlipTerms>> slips_;  ///< (slips of the end)
};

}  // namespace tresse::dynamics::detail
