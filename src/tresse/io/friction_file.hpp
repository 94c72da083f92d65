#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include <tresse/friction/problem.hpp>

namespace tresse::io {

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

/// The text form: dimension, contacts, storage (0 dense, 1 sparse blocks), sizes, W, q, mu, at most one token more.
/// `name` stands for the file in messages.
FrictionFile parse_friction_text(std::string_view text, const std::string& name);

/// (d n) entries of a (3n) vector: what the file's own dimension holds.
VectorX in_file_dimension(const FrictionFile& file, const VectorX& v);

}  // namespace tresse::io
