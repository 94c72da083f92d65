#include <tresse/grains/detail/grid.hpp>

#include <algorithm>

namespace tresse::grains::detail {
namespace {

bool periodic(const Medium& medium, int axis) { return medium.sides[at(2 * axis)] == Side::periodic; }

std::array<int, 3> steps_of(int number, const std::array<int, 3>& counts) {
  return {number % counts[0], number / counts[0] % counts[1], number / (counts[0] * counts[1])};
}

/// Directions that the walls leave free, orthonormal: `count` of them first.
template <int d>
int complement(const std::vector<Eigen::Matrix<double, d, 1>>& normals, Tensor<d>& basis) {
  std::vector<Eigen::Matrix<double, d, 1>> found;
  constexpr double independent = 1e-6;
  const auto rest = [&](Eigen::Matrix<double, d, 1> v) {
    for (const auto& other : found) v -= other.dot(v) * other;
    return v;
  };
  for (const auto& normal : normals) {
    const auto left = rest(normal);
    if (left.norm() > independent) found.push_back(left.normalized());
  }
  const std::size_t blocked = found.size();
  basis.setZero();
  int count = 0;
  // The axis that lies least along what is blocked comes first, so that nothing is lost in the differences.
  while (found.size() < d) {
    Eigen::Matrix<double, d, 1> best = Eigen::Matrix<double, d, 1>::Zero();
    for (int j = 0; j < d; ++j) {
      const auto left = rest(Eigen::Matrix<double, d, 1>::Unit(j));
      if (left.norm() > best.norm() + independent) best = left;
    }
    found.push_back(best.normalized());
    basis.col(count++) = found.back();
  }
  return d - static_cast<int>(blocked);
}

}  // namespace

template <int d>
Grid<d>::Grid(const Medium& the_medium) : medium(the_medium) {
  if (medium.solid.empty()) medium.solid.assign(at(cell_count(medium)), -1);
  int found = 0;
  for (int axis = 0; axis < 3; ++axis)
    if (medium.cells[at(axis)] > 0) axes[at(found++)] = axis;
  size = narrowed(cell_size(medium));
  volume = cell_size(medium).prod();
  number_corners();
  for (int cell = 0; cell < cell_count(medium); ++cell)
    if (medium.solid[at(cell)] < 0) flowing.push_back(cell);
  find_open_faces();
  find_free();
  number_unknowns();
}

template <int d>
void Grid<d>::number_corners() {
  const std::array<int, 3> cells = cell_counts(medium), nodes = node_counts(medium);
  for (int cell = 0; cell < cell_count(medium); ++cell) {
    for (int c = 0; c < corners; ++c) {
      std::array<int, 3> step = steps_of(cell, cells);
      for (int j = 0; j < d; ++j) step[at(axes[at(j)])] += c >> j & 1;
      for (int axis = 0; axis < 3; ++axis) step[at(axis)] %= nodes[at(axis)];
      corner.push_back(step[0] + nodes[0] * (step[1] + nodes[1] * step[2]));
    }
  }
}

template <int d>
void Grid<d>::find_open_faces() {
  const std::array<int, 3> cells = cell_counts(medium);
  for (const int cell : flowing) {
    const std::array<int, 3> step = steps_of(cell, cells);
    for (int j = 0; j < d; ++j) {
      const int axis = axes[at(j)];
      for (const bool far : {false, true}) {
        const bool there = step[at(axis)] == (far ? cells[at(axis)] - 1 : 0);
        if (there && medium.sides[at(2 * axis + (far ? 1 : 0))] == Side::open) open_faces.push_back({cell, j, far});
      }
    }
  }
}

template <int d>
void Grid<d>::find_free() {
  const int count = node_count(medium);
  const std::array<int, 3> nodes = node_counts(medium);
  std::vector<char> wet(at(count), 0);
  obstacle.assign(at(count), -1);
  for (int cell = 0; cell < cell_count(medium); ++cell) {
    const int filler = medium.solid[at(cell)];
    for (int c = 0; c < corners; ++c) {
      const auto node = at(corners_of(cell)[c]);
      if (filler < 0) wet[node] = 1;
      if (filler >= 0 && (obstacle[node] < 0 || filler < obstacle[node])) obstacle[node] = filler;
    }
  }
  basis.assign(at(count), Tensor<d>::Zero());
  free.assign(at(count), 0);
  for (int node = 0; node < count; ++node) {
    if (!wet[at(node)]) continue;
    const std::array<int, 3> step = steps_of(node, nodes);
    std::vector<Vector> normals;
    bool stuck = false;
    for (int j = 0; j < d; ++j) {
      const int axis = axes[at(j)];
      const bool low = step[at(axis)] == 0, high = step[at(axis)] == nodes[at(axis)] - 1;
      if (periodic(medium, axis) || (!low && !high)) continue;
      const Side side = medium.sides[at(2 * axis + (high ? 1 : 0))];
      stuck = stuck || side == Side::no_slip;
      if (side == Side::slip) normals.push_back(Vector::Unit(j));
    }
    if (obstacle[at(node)] >= 0) {
      const bool slips = medium.solid_side == Side::slip && !medium.normals.empty();
      stuck = stuck || !slips;
      if (slips) normals.push_back(narrowed(medium.normals[at(node)]));
    }
    if (!stuck) free[at(node)] = complement<d>(normals, basis[at(node)]);
  }
}

template <int d>
void Grid<d>::number_unknowns() {
  const std::array<int, 3> nodes = node_counts(medium);
  int across = -1;
  for (const int axis : axes)
    if (!periodic(medium, axis) && (across < 0 || nodes[at(axis)] > nodes[at(across)])) across = axis;
  std::vector<std::vector<int>> layers(at(nodes[at(across)]));
  for (int node = 0; node < node_count(medium); ++node) layers[at(steps_of(node, nodes)[at(across)])].push_back(node);
  unknown.assign(at(node_count(medium)), 0);
  for (const std::vector<int>& layer : layers) {
    const int first = unknowns;
    for (const int node : layer) {
      unknown[at(node)] = unknowns;
      unknowns += free[at(node)];
    }
    layer_sizes.push_back(unknowns - first);
  }
}

template struct Grid<2>;
template struct Grid<3>;

}  // namespace tresse::grains::detail
