#pragma once

#include <vector>

#include <tresse/assembly/contact_problem.hpp>
#include <tresse/dynamics/detail/contact_finder.hpp>
#include <tresse/dynamics/detail/shape_tangent.hpp>

namespace tresse::dynamics::detail {

/// How a contact changes along a variation, at the same velocities and impulses.
struct ContactChange {
  double slid_a = 0.0, slid_b = 0.0;                               ///< of its places along the material [m]
  Vector3 turned = Vector3::Zero();                                ///< of its axes, a rotation vector [rad]
  double gap = 0.0;                                                ///< [m]
  Vector3 acting_a = Vector3::Zero(), acting_b = Vector3::Zero();  ///< of the points where it acts [m]
};

/// Derivatives of one contact between two fibres, or a fibre and an obstacle whose motion is prescribed, by the shapes
/// of the fibres: docs/theory/gradients.md, "Contacts".
class ContactTangent {
 public:
  /// `shapes`: in which the contact was found. It must be possible().
  ContactTangent(const assembly::World& world, const contact::Geometry& geometry, const contact::Contact& contact,
                 const Shapes& shapes);
  /// Whether there is one: not with meshes, free bodies and contacts whose bodies' axes meet.
  static bool possible(const contact::Geometry& geometry, const contact::Contact& contact);

  ContactChange change(std::size_t variation) const;

  /// A side on a fibre: which, and J^T E, (dof, 3), of its sign.
  struct Side {
    int fibre = -1;  ///< -1: an obstacle
    double sign = 1.0;
    MatrixX columns;
  };
  const std::vector<Side>& sides() const { return sides_; }

  /// Rate of change of E^T (velocity of b - velocity of a) along a variation at velocities (fibres) that stay the same.
  /// `roots`: (fibres) of clamped roots.
  Vector3 velocity_change(const std::vector<VectorX>& velocities, const std::vector<Twist>& roots,
                          const ContactChange& change, std::size_t variation, const assembly::FreeMotion& motion,
                          assembly::Instant instant) const;
  /// E^T (velocity of b - velocity of a).
  Vector3 velocity(const std::vector<VectorX>& velocities, const std::vector<Twist>& roots,
                   const assembly::FreeMotion& motion, assembly::Instant instant) const;
  /// Adds the rate of change of the generalised impulse of r, (fibres) (dof).
  void add_impulse_change(const Vector3& r, const ContactChange& change, std::size_t variation,
                          std::vector<VectorX>& into) const;
  /// The way of b's material over a's from shapes `start` to `end`, which note_slips() adds to a slip, and its rate of
  /// change, at places that slide along the material.
  struct Way {
    Vector3 value, change;
  };
  Way way(const Shapes& start, const Shapes& end, const ContactChange& change, std::size_t variation,
          const assembly::FreeMotion& motion, assembly::Instant instant) const;

  const contact::Contact& contact() const { return contact_; }

 private:
  struct Place {
    int fibre = -1, element = 0;
    double u = 0.0;
    const ShapeTangent* shape = nullptr;  ///< null: of an obstacle
    rods::FieldPlace on;
    Vector3 tangent = Vector3::Zero(), second = Vector3::Zero();  ///< derivatives of the curve
    Vector3 acting = Vector3::Zero();                             ///< where it acts, world
  };
  using Vector6 = rods::ChainField::Vector6;
  struct Moved {
    Vector3 point = Vector3::Zero(), tangent = Vector3::Zero();
  };
  Place place_of(const contact::Geometry& geometry, int piece, double s, const Shapes& shapes) const;
  static Moved moved(const Place& place, std::size_t variation);
  Vector3 obstacle_velocity(const Vector3& x, bool change, const assembly::FreeMotion& motion,
                            assembly::Instant instant) const;
  Vector3 side_velocity(const Place& place, const std::vector<VectorX>& velocities, const std::vector<Twist>& roots,
                        const assembly::FreeMotion& motion, assembly::Instant instant) const;

  const contact::Contact& contact_;
  Place a_, b_;
  bool plane_ = false;
  bool fixed_a_ = false, fixed_b_ = false;  ///< places that do not slide
  bool surface_ = true;                     ///< it acts at surfaces
  int obstacle_ = -1;
  double reach_a_ = 0.0, reach_b_ = 0.0;  ///< from the axes to where it acts, along the normal [m]
  double deeper_ = 0.0;                   ///< how these change with the gap: 1/2, or 0
  std::vector<Side> sides_;
};

}  // namespace tresse::dynamics::detail
