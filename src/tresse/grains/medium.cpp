#include <tresse/grains/medium.hpp>

#include <algorithm>
#include <cmath>
#include <string>

#include <tresse/base/errors.hpp>

namespace tresse::grains {
namespace {

std::size_t index(int i) { return static_cast<std::size_t>(i); }

bool periodic(const Medium& medium, int axis) { return medium.sides[index(2 * axis)] == Side::periodic; }

void demand(bool holds, const char* what) {
  require(holds, [&] { return std::string("grains: ") + what; });
}

void validate_axes(const Medium& medium) {
  int flowing = 0, bounded = 0;
  for (int axis = 0; axis < 3; ++axis) {
    const int cells = medium.cells[index(axis)];
    demand(cells >= 0, "cells: expected counts of 0 or more");
    demand(medium.high[axis] > medium.low[axis] && std::isfinite(medium.high[axis] - medium.low[axis]),
           "domain: expected a second corner beyond the first along every axis");
    if (cells == 0) continue;
    ++flowing;
    const Side low = medium.sides[index(2 * axis)], high = medium.sides[index(2 * axis + 1)];
    demand((low == Side::periodic) == (high == Side::periodic),
           "sides: one face is periodic and the opposite one is not; expected both or none");
    if (low != Side::periodic) ++bounded;
  }
  demand(flowing >= 2, "cells: two counts are 0; expected at most one, the axis of a plane flow");
  demand(bounded >= 1, "sides: all are periodic; expected one axis at least with walls or open faces");
}

Vector3 steps_of(int number, const std::array<int, 3>& counts) {
  const Eigen::Vector3i out(number % counts[0], number / counts[0] % counts[1], number / (counts[0] * counts[1]));
  return out.cast<double>();
}

}  // namespace

std::array<int, 3> node_counts(const Medium& medium) {
  std::array<int, 3> out{};
  for (int axis = 0; axis < 3; ++axis) {
    const int cells = medium.cells[index(axis)];
    out[index(axis)] = cells == 0 ? 1 : cells + (periodic(medium, axis) ? 0 : 1);
  }
  return out;
}

std::array<int, 3> cell_counts(const Medium& medium) {
  std::array<int, 3> out = medium.cells;
  for (int& count : out) count = std::max(1, count);
  return out;
}

int node_count(const Medium& medium) {
  const std::array<int, 3> n = node_counts(medium);
  return n[0] * n[1] * n[2];
}

int cell_count(const Medium& medium) {
  const std::array<int, 3> n = cell_counts(medium);
  return n[0] * n[1] * n[2];
}

Vector3 cell_size(const Medium& medium) {
  const std::array<int, 3> n = cell_counts(medium);
  return (medium.high - medium.low).cwiseQuotient(Vector3(n[0], n[1], n[2]));
}

Vector3 node_place(const Medium& medium, int node) {
  const std::array<int, 3> n = node_counts(medium);
  Vector3 steps = steps_of(node, n);
  for (int axis = 0; axis < 3; ++axis)
    if (medium.cells[index(axis)] == 0) steps[axis] = 0.5;
  return medium.low + steps.cwiseProduct(cell_size(medium));
}

Vector3 cell_centre(const Medium& medium, int cell) {
  const std::array<int, 3> n = cell_counts(medium);
  const Vector3 steps = steps_of(cell, n) + Vector3::Constant(0.5);
  return medium.low + steps.cwiseProduct(cell_size(medium));
}

double factor_bytes(const Medium& medium) {
  const std::array<int, 3> nodes = node_counts(medium);
  const int dimension = 3 - static_cast<int>(std::count(medium.cells.begin(), medium.cells.end(), 0));
  int longest = 0;
  for (int axis = 0; axis < 3; ++axis)
    if (medium.cells[index(axis)] > 0 && !periodic(medium, axis)) longest = std::max(longest, nodes[index(axis)]);
  const double layer = dimension * (static_cast<double>(nodes[0]) * nodes[1] * nodes[2] / longest);
  return 3.0 * 8.0 * longest * layer * layer;
}

void validate(const Medium& medium) {
  validate_axes(medium);
  const auto positive = [](double x) { return x > 0.0 && std::isfinite(x); };
  demand(positive(medium.density), "density: expected more than 0");
  demand(positive(medium.viscosity), "viscosity: expected more than 0");
  demand(medium.friction >= 0.0 && std::isfinite(medium.friction), "friction: expected 0 or more");
  demand(medium.pressure >= 0.0 && std::isfinite(medium.pressure), "pressure: expected 0 or more");
  demand(medium.solid_side == Side::no_slip || medium.solid_side == Side::slip,
         "obstacles: expected \"no-slip\" or \"slip\"");
  constexpr double most_nodes = 1e7, most_bytes = 8e9;
  const std::array<int, 3> n = node_counts(medium);
  const double nodes = static_cast<double>(n[0]) * n[1] * n[2];
  demand(nodes <= most_nodes && factor_bytes(medium) <= most_bytes,
         "cells: the factors of a step would take more than 8 GB; expected fewer cells");
  demand(medium.solid.empty() || medium.solid.size() == index(cell_count(medium)), "solid: expected one a cell");
  demand(medium.normals.empty() || medium.normals.size() == index(node_count(medium)), "normals: expected one a node");
  for (const int obstacle : medium.solid)
    demand(obstacle >= -1 && obstacle < medium.obstacles, "solid: names an obstacle that is not there");
  demand(medium.solid.empty() || std::count(medium.solid.begin(), medium.solid.end(), -1) > 0,
         "domain: obstacles fill all of it; expected room for grains");
}

GrainState at_rest(const Medium& medium) {
  const bool plane = std::count(medium.cells.begin(), medium.cells.end(), 0) > 0;
  return {VectorX::Zero(3 * node_count(medium)), VectorX::Zero((plane ? 3 : 6) * cell_count(medium)), 0.0};
}

}  // namespace tresse::grains
