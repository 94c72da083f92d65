#pragma once

#include <span>
#include <vector>

#include <tresse/rods/rod.hpp>

/// How the material of a rod in curvature coordinates moves, and how that changes with its shape: first and second
/// derivatives of its kinematics, and their transposes. Equations: docs/theory/gradients.md, "Fields".
namespace tresse::rods {

/// A row for each point, or element: the points with the same place in their elements stand in a row, by element.
template <int N>
using FieldRows = Eigen::Array<double, Eigen::Dynamic, N>;

/// A motion of a rod, or a small displacement of it: twists about one fixed origin, where r(0) is in the shape of the
/// field, (linear, angular) [m/s, rad/s].
struct FieldMotion {
  FieldRows<6> at_points;  ///< (Gauss points, then discs)
  FieldRows<6> at_starts;  ///< (elements + 1) of the elements' starts, and of the tip
  FieldRows<6> growth;     ///< (Gauss points) by how much the twist grows per length
};

/// Velocities of the material, which stay with it from shape to shape, or the forces that work on them.
struct FieldSamples {
  FieldRows<3> points;  ///< (Gauss points)
  FieldRows<6> axes;    ///< (discs) of their axes n1 and n2

  FieldSamples& operator+=(const FieldSamples& other);
  FieldSamples& operator-=(const FieldSamples& other);
};
FieldSamples operator+(FieldSamples a, const FieldSamples& b);
FieldSamples operator-(FieldSamples a, const FieldSamples& b);
FieldSamples operator*(double scale, FieldSamples a);
double dot(const FieldSamples& a, const FieldSamples& b);

/// A place on the axis, made ready by ChainField::place().
struct FieldPlace {
  int element = 0;
  VectorX weights;                      ///< (nodes) of the integral from the element's start [m]
  VectorX values;                       ///< (coordinates of an element / 3) shares of its curvatures
  Vector3 offset = Vector3::Zero();     ///< from the origin [m]
  Matrix3 frame = Matrix3::Identity();  ///< columns n0 (tangent), n1, n2
  Vector3 curvature = Vector3::Zero();  ///< [1/m]
};

/// A wrench about the origin at a place, (force, moment) [N, N m].
struct PlacedWrench {
  using Vector6 = Eigen::Matrix<double, 6, 1>;
  const FieldPlace* place = nullptr;
  Vector6 wrench = Vector6::Zero();
  Vector6 change = Vector6::Zero();  ///< its rate of change
  double slid = 0.0;                 ///< of its place along the material, a rate [m]
};

/// A super-helix or super-clothoid in one shape, by Gauss points in each element, as many as its turn asks for, and the
/// discs of its rotary inertia. Velocities, displacements and forces are whole: six numbers of the root, the velocity
/// of r(0) and its angular velocity, and then those of the coordinates, whether the root is free or moved. Where a rate
/// of change along a displacement is taken, the whole velocities, forces and masses stay what they are. Forces use
/// memory of the object: one thread at a time.
class ChainField {
 public:
  using Vector6 = PlacedWrench::Vector6;

  /// Whether there is one for a model.
  static bool possible(const RodModel& model);
  /// Where the rod's last update left it. `nodes`: Gauss points of an element, nodes_for() it by default. Samples and
  /// forces of two shapes have to do with each other only if both have as many. Throws InvalidInput unless possible(),
  /// and as nodes_for().
  explicit ChainField(const Rod& rod, Eigen::Index nodes = 0);
  /// Takes another shape of the same rod.
  void take(const Rod& rod, Eigen::Index nodes);
  /// Enough for a rod in this shape, and for those whose elements turn by `margin` more [rad]. Throws InvalidInput
  /// where an element turns by more than most_turn.
  static Eigen::Index nodes_for(const Rod& rod, const VectorX& coordinates, double margin);
  static constexpr double most_turn = 12.0;  ///< [rad]

  Eigen::Index size() const { return 6 + coordinates_; }
  Eigen::Index nodes() const { return nodes_; }
  const Vector3& origin() const { return origin_; }  ///< in the world (3) [m]

  FieldMotion motion(const VectorX& x) const;
  /// Its rate of change along a displacement, at the same x.
  FieldMotion change(const VectorX& x, const FieldMotion& along) const;

  FieldSamples samples(const FieldMotion& motion) const;
  /// Their rate of change; `changed`: that of the motion.
  FieldSamples samples_change(const FieldMotion& motion, const FieldMotion& changed, const FieldMotion& along) const;
  /// Samples times the mass that has them, at `scale` times the density plus `drag` per length [kg/m].
  FieldSamples weighted(FieldSamples samples, double scale, double drag) const;
  /// The integral over the length of the product of two samples, as a drag of one brings it.
  double length_product(const FieldSamples& a, const FieldSamples& b) const;
  /// The samples of one acceleration, everywhere the same; and how forces work on it.
  FieldSamples uniform(const Vector3& acceleration) const;
  static Vector3 sum(const FieldSamples& forces) { return forces.points.colwise().sum().transpose(); }

  using Wrenches = std::span<const PlacedWrench>;
  /// The generalised force, (size), of forces that work on samples (null: none), and of wrenches at places.
  VectorX force(const FieldSamples* forces, Wrenches wrenches = {}) const;
  /// Its rate of change, when the forces change by `changed` (null: not), the wrenches and their places as they say.
  VectorX force_change(const FieldSamples* forces, const FieldSamples* changed, Wrenches wrenches,
                       const FieldMotion& along) const;
  /// The transpose of rates of change, (size): what a displacement meets so that they work as much on it as the forces
  /// on the rate of change of the samples of x, and the wrenches on that of the twists of x at their places, which do
  /// not slide; and what it meets of the changes of these wrenches. `motion`: of x.
  VectorX change_back(const VectorX& x, const FieldMotion& motion, const FieldSamples* forces,
                      Wrenches wrenches = {}) const;

  /// `u`: local arc length of an element [m]. `rod`: in the shape of the field.
  FieldPlace place(const Rod& rod, int element, double u) const;
  /// The twist of a motion at a place; of change(): its rate of change.
  Vector6 twist(const FieldPlace& place, const FieldMotion& motion) const;
  /// Its derivative by arc length, of the motion of x.
  Vector6 twist_slope(const FieldPlace& place, const VectorX& x) const;

  /// The twist `by` is carried along by the twist `along`: [along, by]; and the wrench that works on `by` as `wrench`
  /// works on that.
  static Vector6 carried(const Vector6& along, const Vector6& by);
  static Vector6 carried_back(const Vector6& along, const Vector6& wrench);

 private:
  Eigen::Index elements() const { return lengths_.size(); }
  Eigen::Index gauss_points() const { return nodes_ * elements(); }
  FieldRows<6> growth(const VectorX& x) const;
  FieldMotion integrated(const Vector6& root, FieldRows<6> growth) const;
  void take_wrenches(const FieldSamples& forces, FieldRows<6>& out) const;
  void take_wrench_changes(const FieldSamples& forces, const FieldSamples* changed, const FieldMotion& along,
                           FieldRows<6>& out) const;
  Vector6 collect(const FieldRows<6>* at_points, Wrenches placed, bool changes, FieldRows<6>& at_nodes) const;
  void spread(const FieldRows<6>& at_nodes, VectorX& into) const;
  Eigen::Matrix<double, 6, 3> screw_at(const FieldPlace& place) const;
  void take_masses(const Rod& rod);
  void take_points(const Rod& rod);
  void take_helices(const Rod& rod);

  Vector3 origin_;
  Eigen::Index coordinates_ = 0;
  Eigen::Index width_ = 3;  ///< coordinates of an element
  Eigen::Index nodes_ = 0, points_per_element_ = 0;
  Eigen::ArrayXd lengths_;  ///< (elements) [m]
  /// Of an element of length 1, the same for all rods of a kind with as many nodes.
  struct Rule {
    std::vector<double> shares;  ///< (points of an element) where they are
    MatrixX integrals;           ///< (nodes, points of an element) from the start to each
    VectorX whole;               ///< (nodes) to the end
  };
  static const Rule& rule_of(const Rod& rod, Eigen::Index nodes);
  const Rule* rule_ = nullptr;
  FieldRows<9> frames_;           ///< (Gauss points) columns n0, n1, n2
  FieldRows<3> offsets_;          ///< (Gauss points) [m]
  FieldRows<6> axes_;             ///< (discs) n1 and n2
  Eigen::ArrayXd mass_;           ///< (Gauss points) [kg]
  Eigen::ArrayXd length_weight_;  ///< (Gauss points) [m]
  FieldRows<2> disc_;             ///< (discs) int y^2 and int z^2 over the discs' stretches [m^3]
  Eigen::ArrayXd disc_density_;   ///< (discs) [kg/m]
  mutable struct {
    FieldRows<6> at_points, changes, at_nodes, changed_at_nodes, sums;
    FieldRows<3> moment;
  } memory_;
};

}  // namespace tresse::rods
