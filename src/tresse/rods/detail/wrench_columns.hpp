#pragma once

#include <array>

#include <tresse/base/lanes.hpp>
#include <tresse/base/types.hpp>

namespace tresse::rods::detail {

/// Three columns := twists * wrenches, with twists (rows, 6) in columns `stride` apart; up to three rows more.
inline void fill_columns(const double* twists, Eigen::Index stride, const Eigen::Matrix<double, 6, 3>& wrenches,
                         int rows, double* columns, Eigen::Index column_stride) {
  using Rows = Eigen::Array<double, lanes::count, 1>;
  for (int i = 0; i < rows; i += lanes::count) {
    std::array<Rows, 6> x;
    for (int r = 0; r < 6; ++r) x[static_cast<std::size_t>(r)] = Eigen::Map<const Rows>(twists + r * stride + i);
    for (int k = 0; k < 3; ++k) {
      const double* y = wrenches.data() + 6 * static_cast<std::ptrdiff_t>(k);
      Eigen::Map<Rows>(columns + k * column_stride + i) =
          (x[0] * y[0] + x[1] * y[1] + x[2] * y[2]) + (x[3] * y[3] + x[4] * y[4] + x[5] * y[5]);
    }
  }
}

}  // namespace tresse::rods::detail
