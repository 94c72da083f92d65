#pragma once

#include <tresse/grains/detail/grid.hpp>

namespace tresse::grains::detail {

/// The velocity that grains bring to each node: that of `dt` earlier on their path, taken to be straight, by the
/// multilinear functions of the cells. A path that comes from beyond an open face or a wall begins there.
template <int d>
Nodal<d> carried(const Grid<d>& grid, const Nodal<d>& velocity, double dt);

extern template Nodal<2> carried(const Grid<2>&, const Nodal<2>&, double);
extern template Nodal<3> carried(const Grid<3>&, const Nodal<3>&, double);

}  // namespace tresse::grains::detail
