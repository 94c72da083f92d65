#pragma once

#include <tresse/rods/chain_field.hpp>

/// Arithmetic on the rows of a field.
namespace tresse::rods::detail {

/// out += a x b by row, each (n, 3).
template <typename A, typename B, typename Out>
void add_cross(const A& a, const B& b, Out&& out) {
  out.col(0) += a.col(1) * b.col(2) - a.col(2) * b.col(1);
  out.col(1) += a.col(2) * b.col(0) - a.col(0) * b.col(2);
  out.col(2) += a.col(0) * b.col(1) - a.col(1) * b.col(0);
}

template <typename Rows>
auto linear(Rows&& rows) {
  return rows.template leftCols<3>();
}
template <typename Rows>
auto angular(Rows&& rows) {
  return rows.template rightCols<3>();
}

/// A column of rows at as many places of each element: (elements, places).
template <int N>
auto by_element(const FieldRows<N>& rows, Eigen::Index column, Eigen::Index elements) {
  return Eigen::Map<const MatrixX>(rows.col(column).data(), elements, rows.rows() / elements);
}
template <int N>
auto by_element(FieldRows<N>& rows, Eigen::Index column, Eigen::Index elements) {
  return Eigen::Map<MatrixX>(rows.col(column).data(), elements, rows.rows() / elements);
}

}  // namespace tresse::rods::detail
