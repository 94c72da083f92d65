#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <tresse/rods/fit_curve.hpp>

/// Fits of the rows of a file, which take about five milliseconds each: kept by keep_result().
namespace tresse::scene_file::detail {

/// What became of a row.
struct StrandFit {
  rods::FittedCurve curve;
  double tolerance = 0.0;  ///< 0: none [m]
  std::string refused;     ///< why there is no fit
};

struct FitOrder {
  const std::vector<std::vector<Vector3>>& rows;  ///< points [m]
  bool polygon = false;                           ///< fit_polygon() rather than fit_curve()
  rods::FitOptions options;  ///< with neither elements nor a tolerance, this is a thousandth of each row's length
};

/// A fit for each row, on all threads, or what an earlier call kept: the same bits. fit_count() tells how far it is.
std::vector<StrandFit> fit_strands(const FitOrder& order);

/// All that fits depend on; nothing else does, but for build and machine.
std::string order_bytes(const FitOrder& order);

std::string fit_bytes(const std::vector<StrandFit>& fits);
/// The inverse; none for other bytes, or when there are not `count` fits.
std::optional<std::vector<StrandFit>> read_fit_bytes(std::string_view bytes, std::size_t count);

}  // namespace tresse::scene_file::detail
