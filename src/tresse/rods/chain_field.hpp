#pragma once

#include <vector>

#include <tresse/rods/rod.hpp>

/// How the material of a rod in curvature coordinates moves, and how that changes with its shape: first and second
/// derivatives of its kinematics. Equations: docs/theory/gradients.md, "Fields".
namespace tresse::rods {

/// Twists and wrenches about one fixed origin, where r(0) is in the shape of the field: (linear, angular) [m/s, rad/s]
/// and (force, moment) [N, N m], columns by point.
using TwistColumns = Matrix6X;

/// A motion of a rod, or a small displacement of it.
struct FieldMotion {
  TwistColumns at_points;  ///< (6, points)
  TwistColumns at_starts;  ///< (6, elements + 1) of the elements' starts, and of the tip
};

/// A place on the axis, made ready by ChainField::place().
struct FieldPlace {
  int element = 0;
  Eigen::RowVectorXd weights;           ///< (nodes) of the integral from the element's start [m]
  Eigen::RowVectorXd values;            ///< (coordinates of an element / 3) shares of its curvatures
  Vector3 offset = Vector3::Zero();     ///< from the origin [m]
  Matrix3 frame = Matrix3::Identity();  ///< columns n0 (tangent), n1, n2
  Vector3 curvature = Vector3::Zero();  ///< [1/m]
};

/// A super-helix or super-clothoid in one shape, by Gauss points in each element, as many as its turn asks for, and the
/// discs of its rotary inertia. Where a rate of change along a displacement is taken, the unknown velocities, forces
/// and masses stay what they are.
class ChainField {
 public:
  /// Whether there is one for a model.
  static bool possible(const RodModel& model);
  /// Where the rod's last update left it. `nodes`: Gauss points of an element, nodes_for() it by default. Samples and
  /// forces of two shapes have to do with each other only if both have as many. Throws InvalidInput unless possible(),
  /// and as nodes_for().
  explicit ChainField(const Rod& rod, Eigen::Index nodes = 0);
  /// Enough for the shape, and for those whose elements turn by `margin` more [rad]. Throws InvalidInput where an
  /// element turns by more than most_turn.
  static Eigen::Index nodes_for(const Rod& rod, double margin);
  static constexpr double most_turn = 12.0;  ///< [rad]

  int dof() const { return root_dof_ + coordinates_; }
  Eigen::Index points() const { return points_per_element_ * static_cast<Eigen::Index>(lengths_.size()); }
  const Vector3& origin() const { return origin_; }  ///< in the world (3) [m]

  /// The motion with velocities v, (dof); `root`: of a clamped root.
  FieldMotion motion(const VectorX& v, const Twist& root) const;
  /// Its rate of change along a displacement, at the same v and root.
  FieldMotion change(const VectorX& v, const Twist& root, const FieldMotion& along) const;

  /// Velocities of the material, (6, points): of a Gauss point (velocity, 0), of a disc those of its axes n1 and n2.
  /// They stay with the material from shape to shape.
  TwistColumns samples(const FieldMotion& motion) const;
  /// Their rate of change; `changed`: that of the motion.
  TwistColumns samples_change(const FieldMotion& motion, const FieldMotion& changed, const FieldMotion& along) const;
  /// Samples times the mass that has them, at `scale` times the density plus `drag` per length [kg/m].
  TwistColumns weighted(const TwistColumns& samples, double scale, double drag) const;
  /// The samples of one acceleration, everywhere the same.
  TwistColumns uniform(const Vector3& acceleration) const;

  /// The generalised force, (dof), of forces at the points that work on samples.
  VectorX force(const TwistColumns& forces) const;
  /// Its rate of change, when the forces change by `changed`.
  VectorX force_change(const TwistColumns& forces, const TwistColumns& changed, const FieldMotion& along) const;

  /// `u`: local arc length of an element [m].
  FieldPlace place(int element, double u) const;
  using Vector6 = Eigen::Matrix<double, 6, 1>;
  /// The twist at a place, its rate of change, and its derivative by arc length.
  Vector6 twist(const FieldPlace& place, const FieldMotion& motion, const VectorX& v) const;
  Vector6 twist_change(const FieldPlace& place, const FieldMotion& changed, const VectorX& v,
                       const FieldMotion& along) const;
  Vector6 twist_slope(const FieldPlace& place, const VectorX& v) const;
  /// Adds the generalised force of a wrench at a place, (dof).
  void add_wrench(const FieldPlace& place, const Vector6& wrench, VectorX& into) const;
  /// Adds its rate of change, when the wrench changes by `changed` and the place moves along the material by `slid`.
  void add_wrench_change(const FieldPlace& place, const Vector6& wrench, const Vector6& changed, double slid,
                         const FieldMotion& along, VectorX& into) const;

 private:
  Matrix6X screws(int element, const VectorX& v) const;
  Eigen::Matrix<double, 6, 3> screw_at(const FieldPlace& place) const;
  void spread(int element, const Matrix6X& wrenches, VectorX& into) const;
  FieldMotion integrated(const Vector6& root, const std::vector<Matrix6X>& by_element) const;
  VectorX collected(const Matrix6X& wrenches, const Matrix6X* changed, const FieldMotion* along) const;
  void take_rule(Eigen::Index nodes);
  void take_points(const Rod& rod);

  Vector3 origin_;
  int root_dof_ = 0;
  int coordinates_ = 0;
  int width_ = 3;  ///< coordinates of an element
  Eigen::Index nodes_ = 0, points_per_element_ = 0;
  std::vector<double> shares_;  ///< (points of an element) where they are, of its length
  MatrixX integrals_;  ///< (points of an element + 1, nodes) from the start to each, and to the end; of length 1
  std::vector<double> lengths_;
  std::vector<Matrix3> node_frames_;  ///< (elements, nodes)
  Matrix3X offsets_;                  ///< (3, points)
  Matrix3X axis_1_, axis_2_;          ///< (3, points) of discs
  VectorX mass_;                      ///< (points) of Gauss points [kg]
  VectorX length_weight_;             ///< (points) [m]
  Eigen::Matrix2Xd disc_;             ///< (2, points) int y^2 and int z^2 over the discs' stretches [m^3]
  VectorX density_;                   ///< (points) [kg/m]
  const Rod* rod_ = nullptr;          ///< in the same shape as long as places are made
};

}  // namespace tresse::rods
