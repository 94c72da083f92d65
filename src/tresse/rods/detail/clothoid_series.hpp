#pragma once

#include <algorithm>
#include <array>
#include <span>
#include <vector>

#include <tresse/geometry/curves.hpp>
#include <tresse/rods/detail/element_integrals.hpp>

/// Power series of one piece of a clothoid element: r, R and their derivatives with respect to the element's six
/// coordinates. @cite casati2013 sec. 5 gives the recursion of R; the derivatives are taken in the moving frame, where
/// their equations are linear with the same affine coefficient, so that no product of series is formed:
///   (R^T x)' = -kappa x (R^T x)      for a fixed vector x: the rows of R
///   a' = -kappa x a + dkappa         a = R^T dtheta
///   b' = -kappa x b + a x e_x        b = R^T dr
/// A term carries its power of s. Pieces turn little enough for the terms to fall from the first.
namespace tresse::rods::detail {

constexpr int clothoid_nodes = point_lanes;  ///< Gauss points of a piece
constexpr int clothoid_max_terms = 40;       ///< of the series of a piece
constexpr double clothoid_turn = 1.5;        ///< largest turn of a piece [rad]: its rounding is that of e^1.5

/// Values that every piece hands on to the next one, in the frame of the element's start.
struct ClothoidState {
  Vector3 position = Vector3::Zero();
  Matrix3 frame = Matrix3::Identity();
  Gradient<6> a = Gradient<6>::Zero();  ///< R^T dtheta/dc [m]
  Gradient<6> b = Gradient<6>::Zero();  ///< R^T dr/dc [m^2]
};

/// Velocity products at constant rates, in the moving frame.
struct ClothoidBias {
  Vector3 angular = Vector3::Zero();  ///< R^T of the angular acceleration
  Vector3 linear = Vector3::Zero();   ///< R^T of the acceleration
};

/// Where on the element a piece is, and its curvature there.
struct ClothoidPiece {
  double begin;           ///< arc length on the element [m]
  double length;          ///< [m]
  double element_length;  ///< [m]
  Vector3 curvature;      ///< at `begin` [1/m]
  Vector3 slope;          ///< [1/m^2]
};

/// Calls visit(piece) for the pieces of [0, u] on an element with coordinates c, in order.
template <typename Visit>
void for_each_clothoid_piece(double element_length, const Coordinates<6>& c, double u, Visit&& visit);

class ClothoidSeries {
 public:
  /// `products`: whether products of two series will be formed, which need more terms.
  ClothoidSeries(const ClothoidPiece& piece, const ClothoidState& start, bool products);

  ClothoidState end() const { return at(1.0); }
  /// At a part of the piece, 0 to 1.
  ClothoidState at(double part) const;
  /// Values at the Gauss points.
  void position_at_nodes(Triple<NodeLanes>& p) const;
  void frame_at_nodes(std::array<Triple<NodeLanes>, 3>& R) const;
  void a_at_nodes(std::array<std::array<NodeLanes, 6>, 3>& a) const { columns_at_nodes(0, a); }
  void b_at_nodes(std::array<std::array<NodeLanes, 6>, 3>& b) const { columns_at_nodes(b_lane, b); }
  /// int_begin^s position ds at the Gauss points; returns it at the end.
  Vector3 position_integral_at_nodes(Triple<NodeLanes>& integral) const;
  /// Acceleration in the moving frame at the Gauss points, for the rates of the six coordinates; `bias` goes from the
  /// piece's begin to its end, and the angular acceleration at `parts` of the piece is appended to `angular`.
  void bias_at_nodes(const Coordinates<6>& rate, ClothoidBias& bias, Triple<NodeLanes>& linear,
                     std::span<const double> parts = {}, std::vector<Vector3>* angular = nullptr) const;

 private:
  /// Lanes of the columns: 0 to 5 a, 8 to 13 b, and the rows of R where a lane is left.
  static constexpr int width = 16;
  static constexpr int b_lane = 8;
  static constexpr std::array<int, 3> row_lane = {6, 7, 14};
  using Term = Eigen::Array<double, width, 3>;

  void columns_at_nodes(int lane, std::array<std::array<NodeLanes, 6>, 3>& out) const;
  Vector3 position_term(int n) const;  ///< n >= 1

  ClothoidPiece piece_;
  Vector3 turn_;   ///< curvature over the piece [rad]
  Vector3 twirl_;  ///< its change over the piece [rad]
  Vector3 start_;
  int terms_ = 0;
  std::array<Term, clothoid_max_terms> y_;
};

template <typename Visit>
void for_each_clothoid_piece(double element_length, const Coordinates<6>& c, double u, Visit&& visit) {
  const Vector3 slope = (c.tail<3>() - c.head<3>()) / element_length;
  const double g = slope.norm();
  double begin = 0.0;
  while (begin < u) {
    // Between the ends, so that the slope's rounding does not add up to a phase over many turns.
    const double part = begin / element_length;
    const Vector3 curvature = (1.0 - part) * c.head<3>() + part * c.tail<3>();
    const double longest = geometry::turning_length(curvature.norm(), g, clothoid_turn, element_length);
    const double left = u - begin;
    // The last two share what is left, so that no sliver remains. Lengths are differences of the ends, so that they sum
    // to u: what rounding took from one would be a phase after many turns.
    const double end = longest < left ? begin + std::min(longest, std::max(0.5 * left, left - longest)) : u;
    visit(ClothoidPiece{begin, end - begin, element_length, curvature, slope});
    begin = end;
  }
}

}  // namespace tresse::rods::detail
