#pragma once

#include <tresse/assembly/contact_problem.hpp>
#include <tresse/dynamics/detail/fibre_shape.hpp>
#include <tresse/dynamics/detail/recorded_part.hpp>

namespace tresse::dynamics::detail {

/// Derivatives of one contact between two fibres, or a fibre and an obstacle whose motion is prescribed, by the shapes
/// of the fibres: docs/theory/gradients.md, "Contacts". How a contact changes is twelve numbers: by how much its two
/// places slide along the material [m], how its axes turn (3) [rad], its gap [m], and where it acts on a and on b (3,
/// 3) [m]. What depends on them are small matrices, for which a derivative forward and one backward are the same work.
class ContactTangent {
 public:
  using Change = Eigen::Matrix<double, 12, 1>;
  using Vector6 = rods::ChainField::Vector6;
  template <int N>
  using Rows = Eigen::Matrix<double, 3, N>;
  static constexpr int slid_a = 0, slid_b = 1, turned = 2, gap = 5, acting_a = 6, acting_b = 9;  ///< in a Change

  struct Side {
    int fibre = -1;     ///< -1: of an obstacle
    double sign = 1.0;  ///< of the relative velocity, b minus a
    rods::FieldPlace on;
    MatrixX columns;                         ///< J^T E, (dof, 3), of its sign
    Eigen::Matrix<double, 12, 6> change_by;  ///< of the contact, by the twist of its material
    Vector6 wrench = Vector6::Zero();        ///< about the field's origin, of the impulse on this side [N s]
    Vector3 acting = Vector3::Zero(), offset = Vector3::Zero();  ///< where it acts, in the world and from the origin
  };

  /// `shapes`: in which the contact was found; only its fibres' are read. `instant`: where obstacles stood then.
  ContactTangent(const assembly::World& world, const RecordedPart& part, const RecordedContact& of,
                 const Shapes& shapes, assembly::Instant instant);

  const RecordedContact& recorded() const { return *of_; }
  const Side& a() const { return a_; }
  const Side& b() const { return b_; }

  /// The motion of a side at velocities: its twist, and the twist's derivative by arc length.
  struct SideMotion {
    Vector6 twist = Vector6::Zero(), slope = Vector6::Zero();
  };
  /// E^T (velocity of b - velocity of a).
  Vector3 velocity(const SideMotion& a, const SideMotion& b) const;
  /// How it changes with the contact, (3, 12), at velocities that stay the same in the material's twists; a change of
  /// these adds velocity_by(side) times it.
  Rows<12> velocity_by_change(const SideMotion& a, const SideMotion& b) const;
  Rows<6> velocity_by(const Side& side) const;
  /// How the work of the impulse on a motion changes with the contact; a change of the motion's twists adds the work of
  /// the sides' wrenches on it.
  Change work_by_change(const SideMotion& a, const SideMotion& b) const;
  /// The rate of change of the wrench of a side.
  Vector6 wrench_change(const Side& side, const Change& change) const;

  /// By how much the material of b moves over that of a from the start of the part to its end, which note_slips() adds
  /// to a slip; and how that depends on the contact, on how the material of a moves in the contact's shape, and on how
  /// the material of the sides moves at the start and at the end.
  struct Way {
    Vector3 value;
    Rows<12> by_change;
    Rows<6> by_a;
    struct OfSide {
      rods::FieldPlace start, end;
      Rows<6> by_start, by_end;
    };
    OfSide a, b;
  };
  Way way(const Shapes& start, const Shapes& end) const;

 private:
  void take_change();
  Matrix3 obstacle_turn() const;
  Vector3 obstacle_velocity(const Vector3& x) const;
  Vector3 side_velocity(const Side& side, const SideMotion& motion) const;

  const RecordedPart* part_;
  const RecordedContact* of_;
  assembly::Instant instant_;
  Side a_, b_;
  Vector3 tangent_a_ = Vector3::Zero(), tangent_b_ = Vector3::Zero();  ///< first and second derivatives of the curves
  Vector3 second_a_ = Vector3::Zero(), second_b_ = Vector3::Zero();
  bool surface_ = true;  ///< it acts at surfaces
};

}  // namespace tresse::dynamics::detail
