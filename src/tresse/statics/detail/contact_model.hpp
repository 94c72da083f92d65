#pragma once

#include <vector>

#include <tresse/contact/contact_search.hpp>
#include <tresse/statics/detail/scaled_potential.hpp>
#include <tresse/statics/detail/touching.hpp>
#include <tresse/statics/world_equilibrium.hpp>

namespace tresse::statics::detail {

/// Second derivatives of the contacts: of sum force * gap over the coordinates, and what sliding along the curves adds.
struct ContactCurvature {
  MatrixX fixed;    ///< points fixed in the material (n, n)
  MatrixX sliding;  ///< to be subtracted: sum force * d(slope)^T (d slope / d slide)^-1 d(slope), (n, n)
};

/// All fibres of a world in one vector of scaled coordinates z, and the touches that bound them. (n) coordinates,
/// (m) touches.
class ContactModel {
 public:
  ContactModel(assembly::Kinematics& at, const std::vector<rods::RodState>& start,
               const WorldEquilibriumOptions& options);

  const assembly::World& world() const { return at_.world(); }
  const assembly::Kinematics& kinematics() const { return at_; }
  const std::vector<ScaledPotential>& potentials() const { return potentials_; }
  const std::vector<Eigen::Index>& begin() const { return begin_; }
  Eigen::Index size() const { return begin_.back(); }
  double longest() const { return longest_; }
  std::vector<Touch>& touches() { return touches_; }

  void set_gravity(const Vector3& gravity);
  void set_time(double time);  ///< obstacles and roots; forgets the touches
  std::vector<rods::RodState> states() const;
  void set_states(const std::vector<rods::RodState>& states);
  void move(const VectorX& step);

  double value() const;
  double rounding_of_value() const;  ///< [J]
  VectorX gradient() const;
  MatrixX hessian() const;
  /// Gradients of the gaps in z, a column each (n, m), and the gaps (m).
  MatrixX rows() const;
  /// Columns of forces in z as forces on the coordinates themselves, (n, k).
  MatrixX unscaled_forces(const MatrixX& columns) const;
  VectorX gaps() const;
  VectorX forces() const;  ///< (m)
  /// Sliding of `flat` ones too, or only of those that are followed.
  ContactCurvature contact_curvature(bool flat);

  /// Finds what may touch before a fibre has moved by its reach (fibres) [m], adds it to the touches and returns the
  /// deepest overlap of all that is found. [m]
  double find(const VectorX& reach);
  /// Largest displacement of an end of a piece of each fibre, (fibres) [m].
  VectorX displacements(const VectorX& step) const;
  /// Whether an axis is so deep in another that the side it is on is lost.
  bool sides_lost() const { return sides_lost_; }
  /// Fibre's part of a vector.
  Eigen::VectorBlock<const VectorX> part(const VectorX& z, std::size_t fibre) const {
    return z.segment(begin_[fibre], begin_[fibre + 1] - begin_[fibre]);
  }

 private:
  void add(const Touch& touch);
  bool immovable(const Touch& touch) const;
  void add_flat_ends(const Touch& touch);
  VectorX difference_steps(std::size_t fibre) const;
  void scale_columns(MatrixX& columns) const;

  assembly::Kinematics& at_;  ///< at the shapes of the potentials
  WorldEquilibriumOptions options_;
  std::vector<ScaledPotential> potentials_;
  std::vector<Eigen::Index> begin_;
  std::vector<Touch> touches_;
  contact::ContactSearch search_;
  contact::Geometry geometry_;
  double time_ = 0.0;
  double longest_ = 0.0;
  bool sides_lost_ = false;
};

}  // namespace tresse::statics::detail
