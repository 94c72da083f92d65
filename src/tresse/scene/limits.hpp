#pragma once

#include <tresse/base/field.hpp>

/// Ranges that several values of a scene have, and the largest counts: wide enough for any fibre, narrow enough that no
/// product of them overflows and that a mistyped number is refused before memory is asked for. What one value alone has
/// stands in its list (setting_fields.hpp and its like), what shapes need stands in base/field.hpp.
namespace tresse::scene::limits {

using tresse::limits::coordinate;
using tresse::limits::length;
using tresse::limits::radius;
using tresse::limits::Range;
using tresse::limits::unbounded;
using tresse::limits::unit_error;

inline constexpr Range distance{0.0, 1e6};           // [m]
inline constexpr Range along{0.0, unbounded};        // arc length, at most that of a fibre [m]
inline constexpr Range curvature{-1e9, 1e9};         // [1/m]
inline constexpr Range curvature_rate{-1e12, 1e12};  // [1/(m s)]
inline constexpr Range density{1e-3, 1e6};           // [kg/m^3]
inline constexpr Range mass{1e-30, 1e20};            // of a free body [kg]
inline constexpr Range friction{0.0, 1e3};           // of Coulomb's law
inline constexpr Range restitution{0.0, 1.0};
inline constexpr Range speed{-1e6, 1e6};                  // per component [m/s]
inline constexpr Range rotation{-1e6, 1e6};               // [rad], [rad/s]
inline constexpr Range twist{0.0, 1e3};                   // [rad]
inline constexpr Range onset{0.0, 1e9};                   // [s]
inline constexpr Range moment{-1e9, 1e9};                 // [s]
inline constexpr Range tolerance{0.0, 1.0, true};         // of what is relative
inline constexpr Range iterations{1.0, 1'000'000'000.0};  // a count

inline constexpr int fibres = 1'000'000;       // of all groups together
inline constexpr Range copies{1.0, fibres};    // of one fibre, on a grid or a cap
inline constexpr int elements = 10'000;        // of one fibre
inline constexpr int fitted_elements = 1'000;  // of one fibre from a file
inline constexpr double unknowns = 1e8;        // of the whole scene
inline constexpr int groups = 10'000;
inline constexpr int obstacles = 10'000;
inline constexpr int surfaces = 10'000;
inline constexpr int cloth_vertices = 200'000;  // of one cloth
inline constexpr int pins = 1'000;              // of one cloth
inline constexpr int holds = 1'000;             // of one group
inline constexpr int branches = 100'000;        // of one parent, in one group
inline constexpr int keyframes = 100'000;       // of one motion
inline constexpr int mesh_frames = 100'000;
inline constexpr Range frame_number{0.0, 100.0 * mesh_frames};
inline constexpr double steps = 1e12;

}  // namespace tresse::scene::limits
