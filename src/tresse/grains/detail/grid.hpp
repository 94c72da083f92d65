#pragma once

#include <array>
#include <vector>

#include <tresse/grains/cone.hpp>
#include <tresse/grains/medium.hpp>

namespace tresse::grains::detail {

/// Of a vector.
inline std::size_t at(int i) { return static_cast<std::size_t>(i); }

/// Velocities of all nodes along the axes that flow goes along, a column each.
template <int d>
using Nodal = Eigen::Matrix<double, d, Eigen::Dynamic>;

/// A face of a cell with grains that lies in an open face of the domain.
struct OpenFace {
  int cell = 0;
  int j = 0;         ///< across Grid::axes[j]
  bool far = false;  ///< on its far side
};

/// The nodes and cells of a medium whose flow goes along d axes, and what is free to move.
template <int d>
struct Grid {
  static constexpr int corners = 1 << d;
  using Vector = Eigen::Matrix<double, d, 1>;

  explicit Grid(const Medium& medium);

  Vector3 widened(const Vector& v) const {
    Vector3 out = Vector3::Zero();
    for (int j = 0; j < d; ++j) out[axes[static_cast<std::size_t>(j)]] = v[j];
    return out;
  }
  Vector narrowed(const Vector3& v) const {
    Vector out;
    for (int j = 0; j < d; ++j) out[j] = v[axes[static_cast<std::size_t>(j)]];
    return out;
  }
  static bool on_face(int c, const OpenFace& face) { return ((c >> face.j & 1) != 0) == face.far; }
  const int* corners_of(int cell) const { return corner.data() + static_cast<std::ptrdiff_t>(cell) * corners; }

  Medium medium;
  std::array<int, d> axes{};  ///< that flow goes along
  Vector size;                ///< of a cell [m]
  double volume = 0.0;        ///< of a cell [m^3]
  std::vector<int> corner;    ///< (cells, corners) nodes; bit j of a corner: the far side along axes[j]
  std::vector<int> flowing;   ///< cells that hold grains
  std::vector<OpenFace> open_faces;
  std::vector<Tensor<d>> basis;  ///< (nodes) its first `free` columns: directions in which the node may move
  std::vector<int> free;         ///< (nodes) how many; 0 where no cell with grains is
  std::vector<int> unknown;      ///< (nodes) the first of its unknowns
  std::vector<int> layer_sizes;  ///< unknowns of the layers across the longest axis that is not periodic
  std::vector<int> obstacle;     ///< (nodes) that the node is at the skin of, -1: none
  int unknowns = 0;

 private:
  void number_corners();
  void find_open_faces();
  void find_free();
  void number_unknowns();
};

extern template struct Grid<2>;
extern template struct Grid<3>;

}  // namespace tresse::grains::detail
