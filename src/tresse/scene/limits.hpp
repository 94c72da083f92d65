#pragma once

/// Ranges that a scene must respect: wide enough for any fibre, narrow enough that no product of them overflows and
/// that a mistyped number is refused before memory is asked for.
namespace tresse::scene::limits {

struct Range {
  double least = 0.0;
  double most = 0.0;
  bool open = false;                                                                      ///< `least` itself is refused
  bool contains(double x) const { return (open ? x > least : x >= least) && x <= most; }  ///< false for NaN
};

inline constexpr Range radius{1e-9, 1e3};            // [m]
inline constexpr Range length{1e-9, 1e6};            // [m]
inline constexpr Range coordinate{-1e6, 1e6};        // [m]
inline constexpr Range curvature{-1e9, 1e9};         // [1/m]
inline constexpr Range curvature_rate{-1e12, 1e12};  // [1/(m s)]
inline constexpr Range density{1e-3, 1e6};           // [kg/m^3]
inline constexpr Range mass{1e-30, 1e20};            // of a free body [kg]
inline constexpr Range young_modulus{1e-3, 1e15};    // [Pa]
inline constexpr Range poisson_ratio{-1.0, 0.5, true};
inline constexpr Range damping_time{0.0, 1e6};  // [s]
inline constexpr Range friction{0.0, 1e3};
inline constexpr Range speed{-1e6, 1e6};         // per component [m/s]
inline constexpr Range rotation{-1e6, 1e6};      // [rad], [rad/s]
inline constexpr Range acceleration{-1e6, 1e6};  // per component [m/s^2]
inline constexpr Range onset{0.0, 1e9};          // [s]
inline constexpr double always = 1e9;            // of a time that never comes [s]
inline constexpr Range growth{1e-3, 1e3};
inline constexpr Range grading{1e-3, 1e3};
inline constexpr Range drag{0.0, 1e6};          // [N s/m^2]
inline constexpr Range time{0.0, 1e9};          // [s]
inline constexpr Range time_step{1e-12, 1e3};   // [s]
inline constexpr Range gust_period{1e-6, 1e9};  // [s]
inline constexpr Range tolerance{0.0, 1.0, true};
inline constexpr Range theta{0.5, 1.0};
inline constexpr Range step_error{0.0, 1e3};                 // [m]
inline constexpr Range margin{0.0, 1e3};                     // [m]
inline constexpr Range overlap{0.0, 1.0};                    // of the radius
inline constexpr Range push_out_speed{0.0, 1e6, true};       // [m/s]
inline constexpr Range twist{0.0, 1e3};                      // [rad]
inline constexpr Range cap{0.0, 3.14159265358979312, true};  // from the pole to the edge [rad]

inline constexpr Range thickness{0.0, 1e3};    // of a mesh [m]
inline constexpr Range frame_rate{1e-6, 1e9};  // [Hz]

inline constexpr int fibres = 1'000'000;       // of all groups together
inline constexpr int elements = 10'000;        // of one fibre
inline constexpr int fitted_elements = 1'000;  // of one fibre from a file
inline constexpr double unknowns = 1e8;        // of the whole scene
inline constexpr int groups = 10'000;
inline constexpr int obstacles = 10'000;
inline constexpr int holds = 1'000;        // of one group
inline constexpr int branches = 100'000;   // of one parent, in one group
inline constexpr int keyframes = 100'000;  // of one motion
inline constexpr int mesh_frames = 100'000;
inline constexpr int teeth = 10'000;
inline constexpr int proxy_segments = 100'000;
inline constexpr int iterations = 1'000'000'000;
inline constexpr int points_per_element = 1'000;
inline constexpr int relinearisations = 10;
inline constexpr int max_relinearisations = 100;
inline constexpr int max_halvings = 10;
inline constexpr int facets = 1'000;
inline constexpr double steps = 1e12;
inline constexpr double seed = 9007199254740992.0;  // 2^53, exact as a double

inline constexpr double unit_error = 1e-9;  // of axes and frames: |a|^2 - 1, a . b

}  // namespace tresse::scene::limits
