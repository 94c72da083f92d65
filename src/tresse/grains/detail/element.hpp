#pragma once

#include <tresse/grains/detail/grid.hpp>

namespace tresse::grains::detail {

/// The matrices of a cell, all cells being alike. Rows and columns: corner by corner, d components each.
template <int d>
struct Element {
  static constexpr int corners = Grid<d>::corners;
  static constexpr int dof = d * corners;
  using Matrix = Eigen::Matrix<double, dof, dof>;
  using Vector = Eigen::Matrix<double, dof, 1>;

  /// By Gauss points that integrate products of multilinear functions exactly.
  explicit Element(const Grid<d>& grid);

  Matrix mass;       ///< int density v . w [kg]
  Matrix viscosity;  ///< int 2 viscosity D(v) : D(w) [N s/m]
  /// The mean of 2 chi^-1(D(v)) over the cell: with it int lambda : D(v) = volume * lambda . gamma. [1/m]
  Eigen::Matrix<double, cone_dimension<d>, dof> strain;
  Eigen::Matrix<double, 1, dof> divergence;  ///< the mean of div v [1/m]
};

/// Multilinear functions of the corners at a point of the unit cell, or their derivative along axis `by`.
template <int d>
double shape(int corner, const Eigen::Matrix<double, d, 1>& point, int by = -1) {
  double out = 1.0;
  for (int j = 0; j < d; ++j) {
    const bool far = (corner >> j & 1) != 0;
    if (j == by)
      out *= far ? 1.0 : -1.0;
    else
      out *= far ? point[j] : 1.0 - point[j];
  }
  return out;
}

template <int d>
Element<d>::Element(const Grid<d>& grid) : mass(Matrix::Zero()), viscosity(Matrix::Zero()) {
  using Point = Eigen::Matrix<double, d, 1>;
  const auto gradient = [&](int corner, const Point& at) -> Point {
    Point out;
    for (int j = 0; j < d; ++j) out[j] = shape<d>(corner, at, j) / grid.size[j];
    return out;
  };
  const double weight = grid.volume / corners;
  for (int g = 0; g < corners; ++g) {
    Point at;
    for (int j = 0; j < d; ++j) at[j] = 0.5 + ((g >> j & 1) != 0 ? 0.5 : -0.5) / std::sqrt(3.0);
    for (int a = 0; a < corners; ++a) {
      for (int b = 0; b < corners; ++b) {
        const Point ga = gradient(a, at), gb = gradient(b, at);
        mass.template block<d, d>(d * a, d * b) +=
            grid.medium.density * weight * shape<d>(a, at) * shape<d>(b, at) * Tensor<d>::Identity();
        viscosity.template block<d, d>(d * a, d * b) +=
            grid.medium.viscosity * weight * (ga.dot(gb) * Tensor<d>::Identity() + gb * ga.transpose());
      }
    }
  }
  for (int a = 0; a < corners; ++a) {
    const Point g = gradient(a, Point::Constant(0.5));
    for (int k = 0; k < cone_dimension<d>; ++k)
      strain.template block<1, d>(k, d * a) = (cone_basis<d>()[static_cast<std::size_t>(k)] * g).transpose();
    divergence.template segment<d>(d * a) = g.transpose();
  }
}

}  // namespace tresse::grains::detail
