#pragma once

#include <array>
#include <string_view>
#include <vector>

#include <tresse/assembly/kinematics.hpp>
#include <tresse/base/enum_words.hpp>
#include <tresse/base/status.hpp>
#include <tresse/contact/detection.hpp>

/// Natural shapes and contact forces with which many fibres that touch are at rest where they are. Equations:
/// docs/theory/inverse_assemblies.md.
namespace tresse::inverse {

/// What natural shapes are wanted to be like.
enum class Guess {
  shape,    ///< the shapes that the fibres have: contacts carry what they can
  zero,     ///< straight
  tip,      ///< the curvature of the tip, all along
  uniform,  ///< one curvature all along each fibre, whichever suits best
};

/// In what the distance from the guess is measured.
enum class Norm {
  energy,     ///< twice the elastic energy between both shapes
  curvature,  ///< the sum of squares of the curvatures, whatever the lengths of their elements
};

/// What forces weigh beside the distance from a guess, of the mean diagonal entry of W. Near the shape itself contacts
/// carry little, and 1e-3 is solved several times as fast; other guesses want the forces that the truth has: 1e-6.
double default_regularisation(Guess guess);

struct AssemblyOptions {
  Guess guess = Guess::shape;
  Norm norm = Norm::energy;
  /// Forces stay in cones whose friction is this many times the law's; 0 to 1 [-]
  double friction_margin = 0.9;
  double regularisation = 1e-6;  ///< gamma, of the mean diagonal entry of W; > 0 [-]
  double tolerance = 1e-8;       ///< on RestingAssembly::kkt_error; > 0
  int max_iterations = 600;      ///< Newton steps of one group of fibres that touch; >= 1
};

struct RestingAssembly {
  std::vector<VectorX> rest;    ///< (fibres) natural curvatures (k) [1/m]
  std::vector<Vector3> forces;  ///< (contacts) of a on b (3) [N]
  std::vector<char> loose;      ///< (fibres) 1: free, and neither contacts nor its own balance hold it
  Status status = Status::max_iterations;
  int iterations = 0;  ///< Newton steps, of all groups of fibres that touch
  /// |r - P(r - (W r + b))|, P onto the cones, over the largest of |r|, |b|, |W r + b|, each contact scaled so that its
  /// block of W has the mean diagonal 1. Recomputed. [-]
  double kkt_error = 0.0;
  /// What the forces on a fibre lack to balance, recomputed by the forward code, over the largest of them; the worst of
  /// the fibres that are not loose. [-]
  double residual = 0.0;
  double weight_on_obstacles = 0.0;  ///< of all weight; 0 without gravity [-]
};

/// Whether a contact is closed to within `tolerance` of the radius of its first body, overlaps included; and of many
/// those that are.
bool is_closed(const contact::Contact& contact, const contact::Geometry& geometry, double tolerance);
std::vector<contact::Contact> closed_contacts(const std::vector<contact::Contact>& contacts,
                                              const contact::Geometry& geometry, double tolerance);

/// Of all forces in the cones of friction, those with which the natural shapes are nearest to the guess:
///   min over r of 1/2 |q_nat(r) - q0|_N^2 + gamma/2 |r|^2,   q_nat(r) = q + K^-1 (G - H^T r).
/// Contacts that share no fibres are solved apart, by solve_cones(). Roots that are free add six equations each, which
/// multipliers enforce. A clamped fibre is at rest under any such forces. @cite bertails2018hdr sec. 4.2.3;
/// docs/theory/inverse_assemblies.md. Throws InvalidInput for options out of range, fibres that grow on others or whose
/// model has other unknowns than curvatures, holds and bodies that move freely.
RestingAssembly resting_assembly(const assembly::Kinematics& at, const contact::Geometry& geometry,
                                 const std::vector<contact::Contact>& contacts, const AssemblyOptions& options);

/// Fibres, ascending, that do not stay: none where no small motion that keeps the loaded contacts (those with a force)
/// where they stick lets energy go, with the natural curvatures that were found: the Hessian with contacts as stiff
/// springs is positive definite. Cholesky factors of fibres, and of small groups of them, tell; where such a group has
/// thousands of unknowns, conjugate gradients that meet no direction of negative curvature do, and then fibres that
/// others may hold count too. Motions that cost nothing, such as rolling, count as stable.
std::vector<int> unstable_fibres(const assembly::Kinematics& at, const contact::Geometry& geometry,
                                 const std::vector<contact::Contact>& contacts, const RestingAssembly& found);

}  // namespace tresse::inverse

namespace tresse {

template <>
struct Words<inverse::Guess> {
  static constexpr std::array<std::string_view, 4> list{"shape", "zero", "tip", "uniform"};
};
template <>
struct Words<inverse::Norm> {
  static constexpr std::array<std::string_view, 2> list{"energy", "curvature"};
};

}  // namespace tresse
