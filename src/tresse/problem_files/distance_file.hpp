#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include <tresse/assembly/pair_trace.hpp>
#include <tresse/geometry/closest_points.hpp>

/// The files of `tresse distance`: pairs of curves in, closest points out (JSON).

namespace tresse::problem_files {

struct CurvePair {
  geometry::Curve a;
  geometry::Curve b;
};

/// Reads `{"pairs": [{"a": CURVE, "b": CURVE}, ...]}`; a pair may carry a "category" (text), which is ignored, and the
/// file "about" and "answers". CURVE is one of
///   {"type": "helix", "position": [3], "frame": [[n0], [n1], [n2]], "curvature": [3], "length": L}
///   {"type": "clothoid", the same and "curvature_slope": [3]}
///   {"type": "bezier", "points": [[3] x 4]}
///   {"type": "segment", "from": [3], "to": [3]}
/// in SI units, frame orthonormal to 1e-9. Throws InvalidInput (one line: file, pair, field, found, expected; line and
/// column where the JSON itself is broken) and SystemFailure when the file can't be read.
std::vector<CurvePair> read_curve_pairs(const std::filesystem::path& path);
/// The same from text; `name` stands for the file in messages.
std::vector<CurvePair> parse_curve_pairs(std::string_view text, const std::string& name);

/// "certified", "branch-and-bound", "segments"; throws InvalidInput on another name, `where` in its message.
geometry::DetectionMethod detection_method_of(std::string_view name, std::string_view where);
/// ClosestPointsOptions::tolerance of a user who names none.
double default_tolerance(geometry::DetectionMethod method);
/// Whole curves, in parallel where the caller's arena has threads.
std::vector<geometry::ClosestPoints> closest_points(const std::vector<CurvePair>& pairs,
                                                    const geometry::ClosestPointsOptions& options);

/// A trace of the narrow phase: the same file, each pair with "upper_bound" [m] and, if it has one, "guess": [s_a,
/// s_b].
std::vector<assembly::PairQuery> read_pair_trace(const std::filesystem::path& path);
/// Throws SystemFailure.
void write_pair_trace(const std::filesystem::path& path, const std::vector<assembly::PairQuery>& queries);

/// Writes `{"results": [{"distance", "s_a", "s_b", "certified", "steps"}, ...], "seconds"}`, 17 significant digits, in
/// one piece: to a temporary file beside `path`, renamed at the end. Throws SystemFailure.
void write_distances(const std::filesystem::path& path, const std::vector<geometry::ClosestPoints>& results,
                     double seconds);

}  // namespace tresse::problem_files
