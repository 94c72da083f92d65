#pragma once

#include <vector>

#include <tresse/assembly/kinematics.hpp>
#include <tresse/contact/detection.hpp>

/// Fibres that grow on fibres. A branch is a rod with a carried root, whose frame is fixed in a material frame of its
/// parent; then the velocities of every rod, its six of the root and its own coordinates', follow from the unknowns of
/// the tree: those of the trunk's rod, then the coordinates of each branch, parents before children.
/// docs/theory/dynamics.md.
namespace tresse::assembly {

/// A trunk and all that grows on it: one body of a friction problem. A fibre without branches is its own trunk.
struct Tree {
  std::vector<int> fibres;  ///< trunk first, parents before children
  std::vector<int> begin;   ///< (fibres) where its own unknowns begin among the tree's
  int dof = 0;
};

inline const Fibre& fibre_of(const World& world, const Tree& tree, int k) { return world.fibres[tree.fibres[k]]; }

struct Forest {
  std::vector<Tree> trees;
  std::vector<int> tree_of;   ///< (fibres)
  std::vector<int> place_of;  ///< (fibres) in Tree::fibres
};

/// Throws InvalidInput unless every parent stands before its branches, at a place that it has, and just the branches
/// have carried roots.
Forest make_forest(const World& world);

/// Own unknowns of rod `k` of a tree: all of a trunk's, the coordinates of a branch.
int own_count(const World& world, const Tree& tree, int k);

/// Root pose and velocity of a branch where its parent is.
void carry_root(const Kinematics& kinematics, int fibre, rods::RodState& state);
/// Updates the rods of a tree, parents first; the roots of branches in `states`, (fibres of the world), follow.
void update_tree(Kinematics& at, const Tree& tree, std::vector<rods::RodState>& states);

/// How the root frame of a branch moves, where the tree is: its velocity is twist * (leading unknowns of the
/// tree) + prescribed, and bias is its acceleration at constant unknowns. For a trunk, what is prescribed to it.
struct RootMotion {
  Matrix6X twist;    ///< (6, leading), linear above angular; none of a trunk
  Twist prescribed;  ///< of a trunk that is clamped, and of what hangs on it
  Twist bias;
};

/// (fibres of the tree); `root_acceleration` is that prescribed to a clamped trunk. Reuses the storage of `out`.
void root_motions(const Kinematics& kinematics, const Tree& tree, const Twist& root_acceleration,
                  std::vector<RootMotion>& out);

/// What rod `k` of the tree moves by: its root's six (branches and free trunks), its coordinates; (dof of the rod).
/// With the prescribed part when `whole`, which Rod::velocity() of a branch wants; without it these are linear in v
/// (dof).
void rod_velocity(const World& world, const Tree& tree, const std::vector<RootMotion>& roots, int k, const VectorX& v,
                  bool whole, VectorX& out);
/// The same of every rod of the tree, into its places among `velocities` (fibres).
void set_rod_velocities(const World& world, const Tree& tree, const std::vector<RootMotion>& roots, const VectorX& v,
                        bool whole, std::vector<VectorX>& velocities);
/// The tree's unknowns, (dof), out of what its rods move by. Allocates.
VectorX tree_velocity(const World& world, const Tree& tree, const std::vector<VectorX>& velocities);
/// Adds the generalised force on rod `k` (dof of the rod) to the tree's, (dof): the transpose of rod_velocity().
void add_rod_force(const World& world, const Tree& tree, const std::vector<RootMotion>& roots, int k,
                   const Eigen::Ref<const VectorX>& force, Eigen::Ref<VectorX> into);
/// Adds to the rows of the leading unknowns, (leading or more, 3), those of `basis`^T J with J (3, touched) of rod `k`.
void add_rod_rows(const Tree& tree, const std::vector<RootMotion>& roots, int k,
                  const Eigen::Ref<const Matrix3X, 0, Eigen::OuterStride<>>& jacobian, const Matrix3& basis,
                  Eigen::Ref<Eigen::Matrix<double, Eigen::Dynamic, 3>> columns);
/// Leading unknowns of the tree that move a rod's leading `touched`.
int leading_unknowns(const Tree& tree, int k, int touched);
/// The loads that inertial_and_external_force() of rod `k` takes, in air of velocity `wind`.
rods::RodLoads rod_loads(const World& world, const Tree& tree, const std::vector<RootMotion>& roots, int k,
                         const Vector3& wind);

/// Length of the way along the fibres of a tree from a place of one to a place of another; infinite between trees. [m]
double way_between(const Kinematics& kinematics, int fibre_a, double s_a, int fibre_b, double s_b);

/// Whether a contact is between fibres of a tree near where one leaves the other: there the two overlap, and so do
/// branches that start together. Up to a way of ten (sums of) radii along the fibres.
bool joined(const Kinematics& at, const contact::Geometry& geometry, const contact::Contact& contact);

}  // namespace tresse::assembly
