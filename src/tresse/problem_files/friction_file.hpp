#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <Eigen/SparseCore>

#include <tresse/friction/problem.hpp>

namespace tresse::problem_files {

/// A frictional contact problem as read. Planar problems (dimension 2: normal and one tangent) are embedded in three:
/// the second tangent is free of coupling and velocity, so that its impulse is zero in every solution.
struct FrictionFile {
  friction::FrictionProblem problem;
  int dimension = 3;  ///< 2 or 3: of the file's vectors
};

/// Reads FCLIB HDF5 (fclib_local; fclib_global after eliminating M) or Siconos text, told apart by HDF5's signature.
/// Throws InvalidInput, one line with the file and the line and column (text) or the dataset (HDF5), before memory is
/// asked for that the file can't fill. @cite acary2014
FrictionFile read_friction_problem(const std::filesystem::path& file);

/// The text form: dimension, contacts, W, q, mu, at most one token more; or dimension, contacts, M, H, q, b, mu of
/// M v = q + H r, u = H^T v + b, which is reduced. A matrix is its storage (0 dense, 1 sparse blocks, 2 as CSparse
/// prints it, by triplets or compressed columns), its sizes and entries. `name` stands for the file in messages.
FrictionFile parse_friction_text(std::string_view text, const std::string& name);

/// (d n) entries of a (3n) vector: what the file's own dimension holds.
VectorX in_file_dimension(const FrictionFile& file, const VectorX& v);

/// M v = H r + f, u = H^T v + w with u and r as in FrictionProblem: a problem whose M isn't eliminated. d is
/// `dimension`, n the contacts, m the velocities. @cite acary2014
struct GlobalFrictionProblem {
  Eigen::SparseMatrix<double> M;  ///< mass (m, m) [kg]
  Eigen::SparseMatrix<double> H;  ///< (m, d n) [-]
  VectorX f;                      ///< (m) [kg m/s]
  VectorX w;                      ///< (d n) [m/s]
  VectorX mu;                     ///< friction coefficients (n), >= 0 [-]
  int dimension = 3;              ///< 2 or 3
};

/// M and H of an fclib_global file as they are stored; zeros that are stored stay. Throws like read_friction_problem.
GlobalFrictionProblem read_global_friction_problem(const std::filesystem::path& path);

/// W = X X^T seen as M = 1, H = X^T, f = 0, w = q: exact, sparse, and what v is then is the `y` of the factored form.
GlobalFrictionProblem global_form(const friction::FactoredProblem& problem);

/// A guess, or a solution that is claimed, in the file's dimension.
struct FrictionAnswer {
  VectorX v;  ///< (m), empty in local problems [m/s]
  VectorX u;  ///< (d n) [m/s]
  VectorX r;  ///< (d n) [N s]
};

/// What FCLIB keeps beside a problem; texts may be empty.
struct FrictionNotes {
  std::string title, description, math_info;
  std::vector<FrictionAnswer> guesses;
  std::optional<FrictionAnswer> solution;
};

/// The notes of an FCLIB file; what it lacks is empty.
FrictionNotes read_friction_notes(const std::filesystem::path& path);

/// Writes fclib_local, W by compressed columns, every entry of every stored block: reading gives the same bits and the
/// same blocks. `dimension` 2 takes an embedded planar problem back to the plane. The file appears whole or not at all.
/// Throws InvalidInput when the problem is not valid or sizes disagree, SystemFailure when the system refuses.
void write_friction_problem(const std::filesystem::path& file, const friction::FrictionProblem& problem,
                            const FrictionNotes& notes = {}, int dimension = 3);
/// Writes fclib_global, M and H by compressed columns.
void write_friction_problem(const std::filesystem::path& file, const GlobalFrictionProblem& problem,
                            const FrictionNotes& notes = {});

}  // namespace tresse::problem_files
