#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

#include <tresse/base/enum_words.hpp>
#include <tresse/base/status.hpp>
#include <tresse/base/types.hpp>

/// Dense grains as a continuum on a regular grid of boxes. docs/theory/grains.md has the equations.
namespace tresse::grains {

/// What holds at a face of the domain.
enum class Side {
  no_slip,   ///< the velocity is zero
  slip,      ///< no velocity through the face, no shear at it
  open,      ///< no stress but the pressure from outside: grains come and go
  periodic,  ///< the opposite face is the same place; both faces have to say so
};

/// What flows, and where. Nodes and cells are numbered along x first, then y, then z.
struct Medium {
  std::array<int, 3> cells{};      ///< along x, y, z; one of them may be 0: a plane flow, the same all along that axis
  Vector3 low = Vector3::Zero();   ///< corner of the domain (3) [m]
  Vector3 high = Vector3::Ones();  ///< the opposite one; along the axis of a plane flow how thick it is (3) [m]
  double density = 1500.0;         ///< > 0 [kg/m^3]
  double friction = 0.3;           ///< |Dev stress| <= friction * pressure; >= 0 [-]
  double viscosity = 1.0;          ///< of shear: the stress has 2 viscosity D(u); > 0 [Pa s]
  std::array<Side, 6> sides{Side::no_slip, Side::no_slip, Side::no_slip,
                            Side::no_slip, Side::no_slip, Side::open};  ///< x low, x high, y low, ...
  double pressure = 0.0;                                                ///< on open faces, from outside [Pa]
  std::vector<int> solid;           ///< (cells) obstacle that fills the cell, -1: grains do; empty: grains everywhere
  Side solid_side = Side::no_slip;  ///< or slip
  std::vector<Vector3> normals;     ///< (nodes) outward ones of obstacles, unit, where solid_side is slip; or empty
  int obstacles = 0;                ///< that `solid` may name
  bool convection = true;           ///< whether grains carry their velocity along
};

/// How many nodes a grid has along each axis, and in all.
std::array<int, 3> node_counts(const Medium& medium);
std::array<int, 3> cell_counts(const Medium& medium);  ///< 1 along the axis of a plane flow
int node_count(const Medium& medium);
int cell_count(const Medium& medium);
Vector3 cell_size(const Medium& medium);  ///< (3) [m]
Vector3 node_place(const Medium& medium, int node);
Vector3 cell_centre(const Medium& medium, int cell);
/// How much memory the factors of a step take. [bytes]
double factor_bytes(const Medium& medium);

/// Throws InvalidInput, one line, unless the numbers are in range, sizes agree, one axis that flow goes along is not
/// periodic, some cell holds grains, and the factors of a step would fit into 8 GB.
void validate(const Medium& medium);

struct GrainState {
  VectorX velocity;  ///< (3 nodes) [m/s]
  /// Minus the stress of the friction between grains, in coordinates of cone.hpp, 3 a cell in a plane flow and 6 in
  /// space: where the next step starts from. [Pa]
  VectorX stress;
  double outflow = 0.0;  ///< volume that has left through open faces, less what came in [m^3]
};

GrainState at_rest(const Medium& medium);

/// Of the grains, recomputed from the state after a step.
struct GrainReport {
  Status status = Status::converged;
  int iterations = 0;      ///< of Newton's method: factors of the matrix
  double residual = 0.0;   ///< flow_error() [-]
  double kinetic = 0.0;    ///< [J]
  double volume = 0.0;     ///< what is left of the first volume, less the net outflow [m^3]
  double leaving = 0.0;    ///< through open faces of cells where the flow is outward, at the end of the step [m^3/s]
  double discharge = 0.0;  ///< through open faces, outward, net, at the end of the step [m^3/s]
  double dilation = 0.0;   ///< integral of div u at the end of the step [m^3/s]
  double leak = 0.0;       ///< into obstacles whose skin the grid's steps only follow roughly: dilation - discharge
  double top_speed = 0.0;  ///< at a node [m/s]
  double least_pressure = 0.0;  ///< of all cells of grains [Pa]
  double most_pressure = 0.0;   ///< [Pa]
  double work = 0.0;  ///< of given forces, and what carried velocity changes of the kinetic energy, in the step [J]
  Vector3 momentum = Vector3::Zero();          ///< at the end (3) [N s]
  Vector3 carried_momentum = Vector3::Zero();  ///< before the forces of the step acted (3) [N s]
  Vector3 given_force = Vector3::Zero();       ///< of gravity and of the pressure on open faces (3) [N]
  Vector3 wall_force = Vector3::Zero();        ///< that all walls and obstacles exert on the grains (3) [N]
  std::vector<Vector3> obstacle_force;         ///< (obstacles) that the grains exert on each (3) [N]
  std::vector<Vector3> obstacle_torque;        ///< (obstacles) about the origin (3) [N m]
  bool finite = true;
};

}  // namespace tresse::grains

namespace tresse {

template <>
struct Words<grains::Side> {
  static constexpr std::array<std::string_view, 4> list{"no-slip", "slip", "open", "periodic"};
};

}  // namespace tresse
