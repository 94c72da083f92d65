#pragma once

#include <array>
#include <vector>

#include <tresse/friction/problem.hpp>

namespace tresse::inverse {

/// W = S + G over the contacts of many fibres, each contact scaled so that its block of W has the mean diagonal 1. S is
/// the sum of the matrices S_f = X_f X_f^T, one for each fibre over the contacts that it has, all dense and small; G is
/// diagonal, gamma over the square of a contact's scale. S is never assembled.
class ContactCompliance {
 public:
  /// `rows`: X of each contact; their q and mu are not read.
  explicit ContactCompliance(const friction::FactoredProblem& rows);

  int contacts() const { return static_cast<int>(places_.size()); }
  /// s (n): forces r become s r, velocities u become u / s.
  const VectorX& scales() const { return scales_; }

  /// S r, (3n).
  VectorX times(const VectorX& r) const;

  struct Place {
    int fibre = -1;  ///< -1: none
    int at = 0;      ///< which of the fibre's contacts
  };
  struct Fibre {
    std::vector<int> contacts;
    MatrixX compliance;  ///< S_f, (3m, 3m)
  };
  const std::vector<Fibre>& fibres() const { return fibres_; }
  /// (n) where a contact stands among those of its fibres.
  const std::vector<std::array<Place, 2>>& places() const { return places_; }

 private:
  std::vector<VectorX> gathered(const VectorX& r) const;

  std::vector<Fibre> fibres_;
  std::vector<std::array<Place, 2>> places_;
  VectorX scales_;
};

/// Where Newton's method changes forces: the directions in which one contact's force is free to change, (3, 0 to 3)
/// orthonormal, and what is added to W there, (columns) >= 0.
struct FreeDirections {
  Eigen::Matrix<double, 3, Eigen::Dynamic, 0, 3, 3> axes{3, 0};
  Vector3 added = Vector3::Zero();
};

/// The matrix V^T S V + diag(added) of all contacts' free directions. Solved by conjugate gradients, whose
/// preconditioner solves for all contacts of a fibre together, fibre by fibre, and takes the mean of both fibres of a
/// contact.
class FreeForces {
 public:
  /// False where rounding has left a block that is not positive definite.
  [[nodiscard]] bool factor(const ContactCompliance& compliance, const std::vector<FreeDirections>& directions);

  struct Solve {
    VectorX x;
    int iterations = 0;
  };
  /// To `tolerance` times |b|, both in the norm of the preconditioner.
  Solve solve(const VectorX& b, double tolerance, int max_iterations) const;

  Eigen::Index size() const { return begin_.empty() ? 0 : begin_.back(); }
  /// Forces V x, (3n), and V^T u.
  VectorX forces(const VectorX& x) const;
  VectorX along(const VectorX& u) const;

 private:
  struct Block {
    std::vector<int> contacts;  ///< those with free directions
    std::vector<int> begin;     ///< (contacts + 1) of each in the block
    MatrixX matrix;             ///< V^T S_f V
    Eigen::MatrixXf inverse;    ///< of all of the matrix on these contacts
    Eigen::Index first = 0;     ///< of its entries in `gather_`
  };
  void fill(const ContactCompliance& compliance, std::size_t f);
  void complete(const ContactCompliance& compliance, std::size_t f, MatrixX& whole) const;
  bool invert(const ContactCompliance& compliance, std::size_t f);
  void lay_out();
  template <typename Apply>
  void by_fibre(const VectorX& x, VectorX& own, VectorX& out, const Apply& apply) const;
  void times(const VectorX& x, VectorX& own, VectorX& out) const;
  void precondition(const VectorX& x, VectorX& own, VectorX& out) const;

  const std::vector<FreeDirections>* directions_ = nullptr;
  const std::vector<std::array<ContactCompliance::Place, 2>>* places_ = nullptr;
  std::vector<int> begin_;                 ///< (n + 1) of each contact's directions
  std::vector<std::array<int, 2>> place_;  ///< (n) which of its block's contacts it is
  std::vector<Block> blocks_;
  std::vector<int> gather_;                  ///< of the entries of all blocks, one after the other, in x
  std::vector<std::array<int, 2>> scatter_;  ///< (size) where x stands in them, -1: nowhere else
  VectorX added_;                            ///< (size)
};

}  // namespace tresse::inverse
