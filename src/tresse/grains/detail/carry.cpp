#include <tresse/grains/detail/carry.hpp>

#include <algorithm>
#include <cmath>

#include <tresse/grains/detail/element.hpp>

namespace tresse::grains::detail {

template <int d>
Nodal<d> carried(const Grid<d>& grid, const Nodal<d>& velocity, double dt) {
  const Medium& medium = grid.medium;
  const std::array<int, 3> cells = cell_counts(medium);
  Nodal<d> out = velocity;
  for (int node = 0; node < velocity.cols(); ++node) {
    const int count = grid.free[static_cast<std::size_t>(node)];
    if (count == 0) continue;
    const Vector3 from = node_place(medium, node) - medium.low - dt * grid.widened(velocity.col(node));
    std::array<int, 3> step{0, 0, 0};
    typename Grid<d>::Vector within;
    for (int j = 0; j < d; ++j) {
      const auto axis = static_cast<std::size_t>(grid.axes[static_cast<std::size_t>(j)]);
      const double count_of = cells[axis];
      double place = from[static_cast<Eigen::Index>(axis)] / grid.size[j];
      if (medium.sides[2 * axis] == Side::periodic) place -= count_of * std::floor(place / count_of);
      place = std::clamp(place, 0.0, count_of);
      step[axis] = std::min(static_cast<int>(place), cells[axis] - 1);
      within[j] = place - step[axis];
    }
    const int* nodes = grid.corners_of(step[0] + cells[0] * (step[1] + cells[1] * step[2]));
    typename Grid<d>::Vector sum = Grid<d>::Vector::Zero();
    for (int c = 0; c < Grid<d>::corners; ++c) sum += shape<d>(c, within) * velocity.col(nodes[c]);
    const auto basis = grid.basis[static_cast<std::size_t>(node)].leftCols(count);
    out.col(node) = basis * (basis.transpose() * sum);
  }
  return out;
}

template Nodal<2> carried(const Grid<2>&, const Nodal<2>&, double);
template Nodal<3> carried(const Grid<3>&, const Nodal<3>&, double);

}  // namespace tresse::grains::detail
