#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include <tresse/base/local_memory.hpp>
#include <tresse/base/triple.hpp>
#include <tresse/rods/detail/articulated_matrix.hpp>
#include <tresse/rods/detail/clothoid_shape.hpp>
#include <tresse/rods/detail/helix_groups.hpp>
#include <tresse/rods/detail/helix_shape.hpp>
#include <tresse/rods/rod.hpp>
#include <tresse/rods/section.hpp>

namespace tresse::rods::detail {

/// What the elements of a chain are made of.
struct ChainElement {
  double length = 0.0;   ///< > 0 [m]
  CrossSection section;  ///< half-axes > 0
};

/// What a chain in curvature coordinates is made of.
template <typename Shape>
class ChainModel final : public RodModel {
 public:
  struct Element {
    double length;
    double begin;
    double density;      ///< rho S [kg/m]
    Vector3 stiffness;   ///< diag K3 [N m^2]
    ElementDiscs discs;  ///< of its rotary inertia
  };

  /// `rest`: natural curvatures, (coordinate_count()).
  ChainModel(const std::vector<ChainElement>& elements, const VectorX& rest, const Material& material,
             RootCondition root_condition);

  RootCondition root_condition() const override { return root_condition_; }
  int coordinate_count() const override { return 3 * piece_count() + Shape::width - 3; }
  int piece_count() const override { return static_cast<int>(elements_.size()); }
  int touched(int piece) const override { return root_dof() + 3 * piece + Shape::width; }
  bool stations_at_nodes() const override { return Shape::width > 3; }
  double length() const override { return length_; }
  double piece_begin(int piece) const override;
  double mass() const override { return mass_; }
  double contact_radius() const override { return surface_reach_.x(); }
  Vector3 surface_reach() const override { return surface_reach_; }
  const VectorX& rest_curvature() const override { return rest_; }
  std::shared_ptr<const RodModel> with_rest_curvature(const VectorX& rest) const override;
  std::unique_ptr<Rod> make_rod() const override;
  std::unique_ptr<StepMatrix> make_step_matrix() const override;
  std::unique_ptr<LimbMatrix> make_limb_matrix(std::span<const LimbPlace> places) const override;

  const std::vector<Element>& elements() const { return elements_; }
  double damping_time() const { return damping_time_; }
  double uniform_density() const { return uniform_density_; }  ///< rho S of every element, 0 when they differ [kg/m]
  /// The elements when every one is `scale` times as long; writes the rod's length and mass.
  std::vector<Element> grown(double scale, double& length, double& mass) const;

 private:
  void lump_rotary_inertia(const std::vector<ChainElement>& elements, bool in_sections);

  RootCondition root_condition_;
  std::vector<Element> elements_;
  double damping_time_ = 0.0;
  double length_ = 0.0;
  double uniform_density_ = 0.0;
  double mass_ = 0.0;
  Vector3 surface_reach_ = Vector3::Zero();
  VectorX rest_;
};

/// A chain of elements in curvature coordinates behind the interface Rod; Shape is HelixShape (a super-helix, elements
/// with coordinates of their own) or ClothoidShape (a super space clothoid: an element has the curvatures at its two
/// nodes, and shares them with its neighbours). Element i has the coordinates 3 i to 3 i + Shape::width - 1.
///
/// update() computes frames and the rigid twists of the coordinates; the element moments follow when a mass matrix, a
/// force or an energy first asks, those of helices that turn little each time (chain_lanes.cpp). Calls that read
/// kinematics alone (piece, section, velocity, jacobian) may run on several threads between updates; the others may
/// not.
template <typename Shape>
class ChainRod final : public Rod {
 public:
  explicit ChainRod(std::shared_ptr<const ChainModel<Shape>> model);

  std::unique_ptr<Rod> clone() const override { return std::make_unique<ChainRod>(*this); }
  double length() const override { return length_; }
  double mass() const override { return mass_; }
  const VectorX& rest_curvature() const override { return rest_; }
  void set_rest_curvature(const VectorX& rest) override { rest_ = rest; }
  void set_length_scale(double scale) override;
  void share_memory(const Rod& other) override;
  VectorX curvature() const override { return state_.coordinates; }
  RodState shaped(const Pose& root, const Twist& root_velocity, const VectorX& curvature,
                  const VectorX& curvature_rate) const override {
    return {root, root_velocity, curvature, curvature_rate, {}};
  }

  double piece_begin(int piece) const override;
  geometry::Curve piece(int piece) const override;

  void update(const RodState& state) override;
  const RodState& state() const override { return state_; }

  geometry::MaterialSpan span(int piece) const override { return {elements()[piece].length, elements()[piece].length}; }
  RodSection section(double s) const override;
  Vector3 velocity(int piece, double u, const Eigen::Ref<const VectorX>& v) const override;
  void end_velocities(const Eigen::Ref<const VectorX>& v, Eigen::Ref<Matrix3X> out) const override;
  void end_positions(Eigen::Ref<Matrix3X> out) const override;
  void add_end_forces(const Eigen::Ref<const Matrix3X>& forces, Eigen::Ref<VectorX> into) const override;
  Vector3 angular_velocity(int piece, double u, const Eigen::Ref<const VectorX>& v) const override;
  using Rod::jacobian;
  int jacobian(int piece, double u, Eigen::Ref<Matrix3X> out) const override;
  void point_rows(std::span<const RodPoint> points, std::span<FourRows> rows,
                  std::span<Vector3> prescribed) const override;
  int twist_jacobian(int piece, double u, Eigen::Ref<Matrix6X> out) const override;
  Twist bias_acceleration(int piece, double u, const Twist& root_acceleration) const override;

  /// What a unit rate of a piece's own coordinates does to the material frame at `u`: the twist at r(0), world axes.
  Eigen::Matrix<double, 6, Shape::width> piece_twist(int piece, double u) const;
  /// Fills `out` with this chain's elements, to factor M + stiffness K + damping D + drag.
  void articulate(const StepTerms& terms, ArticulatedMatrix<Shape::width>& out) const;
  /// The upper triangle of M + stiffness K + damping D + drag, and M velocity. What `out` (dof, dof) has below the
  /// diagonal is of no use.
  void step_matrix(const StepTerms& terms, const VectorX& velocity, VectorX& momentum, Eigen::Ref<MatrixX> out) const;
  void mass_matrix(Eigen::Ref<MatrixX> out) const override;
  void add_stiffness(double stiffness_scale, double damping_scale, Eigen::Ref<MatrixX> into) const override;
  void add_stiffness_times(double scale, const VectorX& x, Eigen::Ref<VectorX> into) const override;
  void elastic_force(Eigen::Ref<VectorX> out) const override;
  void gravity_force(const Vector3& gravity, Eigen::Ref<VectorX> out) const override;
  void inertial_and_external_force(const RodLoads& loads, Eigen::Ref<VectorX> out) const override;
  void add_drag_matrix(double drag, Eigen::Ref<MatrixX> into) const override;
  void sample_motion(MaterialMotion& out) const override;
  void carried_momentum(const MaterialMotion& motion, const RodLoads& loads, double dt,
                        Eigen::Ref<VectorX> out) const override;
  void material_momentum(const MaterialMotion& motion, Vector3& linear, Vector3& angular) const override;

  double elastic_energy() const override;
  RodEnergies energies(const Vector3& gravity) const override;
  RodMotion motion() const override { return movement().motion; }
  void momentum(Vector3& linear, Vector3& angular) const override;
  void potential_hessian(const Vector3& gravity, Eigen::Ref<MatrixX> out) const override;
  void potential_gradient(const Vector3& gravity, Eigen::Ref<VectorX> out) const override;
  RestShape rest_shape_under(const Eigen::Ref<const VectorX>& load) const override;

 private:
  static constexpr int width = Shape::width;
  using Local = Coordinates<width>;

  using Element = typename ChainModel<Shape>::Element;
  /// Pose at the start of an element; offset is from r(0), the common origin of every twist and moment.
  struct Joint {
    Vector3 offset = Vector3::Zero();
    Matrix3 frame = Matrix3::Identity();
  };
  /// What a unit rate of an element's coordinates does to everything beyond: the rigid twist at r(0), world axes.
  struct Link {
    Gradient<width> X_linear;
    Gradient<width> X_angular;
  };
  /// Mass, int d, int d d^T of a part of the rod, d = r - r(0).
  struct Inertia {
    double mass = 0.0;
    Vector3 first = Vector3::Zero();
    Matrix3 second = Matrix3::Zero();
  };
  /// Integrals of positions and velocities, plain and weighted by density.
  struct Movement {
    RodMotion motion;
    double kinetic = 0.0;
    Vector3 linear = Vector3::Zero();
    Vector3 rotational = Vector3::Zero();
    Vector3 first_moment = Vector3::Zero();
  };
  using Columns6 = Eigen::Matrix<double, 6, width>;
  using Rows6 = Eigen::Matrix<double, Eigen::Dynamic, 6>;

  const std::vector<Element>& elements() const { return grown_.empty() ? made_->elements() : grown_; }
  int count() const { return static_cast<int>(made_->elements().size()); }
  Local coordinates(int i) const { return state_.coordinates.template segment<width>(3 * i); }
  Local rate(int i) const { return state_.rates.template segment<width>(3 * i); }
  void check_piece(int piece) const;
  int jacobian_at(int piece, const Vector3& p, const Gradient<width>& P, Eigen::Ref<Matrix3X> out) const;

  void sample() const;  ///< quadrature and moments of the current state, unless they are there
  static void add_inertia(const ElementMoments<width>& m, const Joint& joint, double density, Inertia& sum);
  static Columns6 wrench_of(const Inertia& inertia, const Link& link);
  Columns6 own_wrench(int i, double density) const;
  static Eigen::Matrix<double, 6, 6> rigid_form(const Inertia& inertia);
  Twist prescribed_twist(const RodLoads& loads) const;
  using ElementForces = std::span<ElementForce<width>>;  ///< (N)
  /// Where functions keep them while they run.
  using ForceMemory = LocalMemory<16 * sizeof(ElementForce<width>)>;
  void sweep_forces(const RodLoads& loads, ElementForces forces) const;
  void collect_forces(ElementForces forces, Eigen::Ref<VectorX> out) const;
  int parts(int i) const;
  void press(const MaterialMotion& motion, const RodLoads& loads, const Twist& prescribed, double dt,
             ElementForces forces) const;
  /// What chain_material.cpp looks at in an element, while the rod is where it is.
  struct MaterialPoints {
    int parts = 0;  ///< 0: none are known
    std::vector<PointBatch<width>> batches;
    std::vector<SectionDisc<width>> discs;
  };
  const MaterialPoints& material_points(int i, int parts) const;
  /// The section in which a share of an element's rotary inertia is lumped at its start.
  SectionDisc<width> disc_at_start(int i) const {
    return {Matrix3::Identity(), Gradient<width>::Zero(), about_axes(elements()[i].discs.start)};
  }
  /// Upper triangle alone; elements weigh `scale` times their line density, or times one.
  void upper_gram(bool by_mass, double scale, Eigen::Ref<MatrixX> out) const;
  void gram_matrix(bool by_mass, Eigen::Ref<MatrixX> out) const;
  bool is_at(const RodState& state) const;
  void place(int i);
  void add_elastic(double scale, const VectorX& coordinates, Eigen::Ref<VectorX> into) const;
  const MatrixX& mass_gram() const;
  void add_movement() const;

  // Of helices alone, all but the last of those that turn little (chain_lanes.cpp).
  int groups() const { return (count() + lanes::count - 1) / lanes::count; }
  static void gather_joints(const std::array<const Joint*, lanes::count>& joints, Triple<lanes::Doubles>& offset,
                            Columns<lanes::Doubles>& frame);
  void gather(int g, HelixGroup& out) const;
  const HelixGroups& gathered() const;  ///< of the last update(); until the next call on this thread
  void scatter(int g, const Triple<lanes::Doubles>& from, double* out) const;
  void gram_in_lanes(bool by_mass, double scale, Eigen::Ref<MatrixX> out) const;
  void force_in_lanes(const RodLoads& loads, Eigen::Ref<VectorX> out) const;
  void gravity_in_lanes(const Vector3& gravity, Eigen::Ref<VectorX> out) const;
  void move_in_lanes() const;
  void rows_in_lanes(std::span<const RodPoint> points, std::span<FourRows> rows, std::span<Vector3> prescribed) const;

  const Movement& movement() const;
  template <typename Visit>
  void for_each_motion(Visit&& visit) const;

  std::shared_ptr<const ChainModel<Shape>> made_;  ///< the model
  std::vector<Element> grown_;                     ///< the elements at another length than made; else empty
  double length_ = 0.0;
  double mass_ = 0.0;
  VectorX rest_;

  RodState state_;
  std::vector<Joint> joints_;          ///< (N + 1)
  mutable std::vector<Shape> shapes_;  ///< (N)
  std::vector<Link> links_;            ///< (N)
  Rows6 twists_;  ///< X^T, (dof, 6): row of a coordinate is its twist (linear, angular), of all elements

  bool turns_little_ = false;     ///< all elements by HelixIntegrals' largest turn at most
  bool placed_ = false;           ///< the kinematics are those of the state's coordinates and root
  mutable bool sampled_ = false;  ///< elements have their integrals, at the state's rates
  mutable bool weighed_ = false;  ///< mass_gram_ is of the current coordinates and root
  mutable bool moved_ = false;    ///< movement_ is
  mutable Movement movement_;
  mutable MatrixX mass_gram_;                            ///< int rho S (dr/dv)^T (dr/dv) ds
  mutable std::vector<MaterialPoints> material_points_;  ///< (N), or none yet
  std::shared_ptr<HelixMemory> memory_;                  ///< of gathered(), with other rods
  std::uint64_t state_number_ = 0;  ///< of the last update(); others' are others, but for clones; 0: changed since
};

extern template class ChainModel<HelixShape>;
extern template class ChainModel<ClothoidShape>;
extern template class ChainRod<HelixShape>;
extern template class ChainRod<ClothoidShape>;

}  // namespace tresse::rods::detail
