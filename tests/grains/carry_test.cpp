#include <gtest/gtest.h>

#include <tresse/grains/detail/carry.hpp>

namespace tresse::grains::detail {
namespace TRESSE_TEST_FILE {

constexpr double rounding = 1e-13;  // of velocities of order one

Medium open_box(bool in_space) {
  Medium out;
  out.cells = {5, in_space ? 4 : 0, 6};
  out.low = {-1.0, 0.0, 0.5};
  out.high = {1.5, 1.0, 2.0};
  out.sides.fill(Side::open);
  return out;
}

/// Multilinear functions are exact for a velocity that is linear in space; what would come from beyond the box comes
/// from its face.
template <int d>
void expect_linear(const Medium& medium) {
  const Grid<d> grid(medium);
  using Vector = typename Grid<d>::Vector;
  Tensor<d> gradient;
  for (int i = 0; i < d; ++i)
    for (int j = 0; j < d; ++j) gradient(i, j) = 0.3 * (i + 1) - 0.5 * j;
  const Vector constant = Vector::LinSpaced(d, 0.2, -0.7);
  const auto field = [&](const Vector& x) -> Vector { return constant + gradient * x; };
  Nodal<d> v(d, node_count(medium));
  for (int node = 0; node < v.cols(); ++node) v.col(node) = field(grid.narrowed(node_place(medium, node)));
  constexpr double dt = 0.2;
  const Nodal<d> found = carried<d>(grid, v, dt);
  const Vector low = grid.narrowed(medium.low), high = grid.narrowed(medium.high);
  int inside = 0;
  for (int node = 0; node < v.cols(); ++node) {
    const Vector from = grid.narrowed(node_place(medium, node)) - dt * v.col(node);
    const Vector kept = from.cwiseMax(low).cwiseMin(high);
    inside += kept == from ? 1 : 0;
    EXPECT_NEAR((found.col(node) - field(kept)).norm(), 0.0, 10.0 * rounding);
  }
  EXPECT_GT(inside, v.cols() / 4);
  EXPECT_LT(inside, v.cols());
}

TEST(Carry, IsExactForLinearVelocitiesInThePlane) { expect_linear<2>(open_box(false)); }
TEST(Carry, IsExactForLinearVelocitiesInSpace) { expect_linear<3>(open_box(true)); }

/// A pattern that goes by one cell in a step, around a periodic axis.
TEST(Carry, GoesAroundAPeriodicAxis) {
  Medium medium = open_box(false);
  medium.sides[0] = medium.sides[1] = Side::periodic;
  const Grid<2> grid(medium);
  Nodal<2> v(2, node_count(medium));
  for (int node = 0; node < v.cols(); ++node) v.col(node) << 1.0, 0.0;
  // The second component is what is carried; it is so small that it does not lead the path astray beyond rounding.
  for (int node = 0; node < v.cols(); ++node) v(1, node) = 1e-9 * (node % 5);
  const Nodal<2> found = carried<2>(grid, v, grid.size[0]);
  for (int node = 0; node < v.cols(); ++node) EXPECT_NEAR(found(1, node), 1e-9 * ((node % 5 + 4) % 5), 1e-16);
}

}  // namespace TRESSE_TEST_FILE
}  // namespace tresse::grains::detail
