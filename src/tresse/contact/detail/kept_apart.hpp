#pragma once

#include <vector>

#include <tresse/contact/detail/way_search.hpp>

/// Proofs that two pieces stay apart all the way, tight where they all but touch. See docs/theory/penalty.md, "Proof
/// that nothing touches".
namespace tresse::contact::detail {

/// Whether two points that go straight, seen from each other, stay `least` apart: they are `first` and `last` apart or
/// more at the ends of the way, and move by `way` at most. All in metres; least > 0.
bool passes_beside(double first, double last, double way, double least);

/// Proves of two pieces that they stay `least` apart.
class PairProof {
 public:
  /// `left_out`: of parameters of both pieces, places that do not count. All must outlive it.
  PairProof(const WayPiece& a, const WayPiece& b, double least, const LeftOut& left_out, std::vector<WayBox>& memory);

  /// Whether it is proved. `last`: their distance at the end, if it is known, else 0 [m].
  bool run(double last);
  /// Where it is not.
  const Approach& place() const { return place_; }

 private:
  /// A stretch of a piece, and how its ends move.
  struct Stretch {
    geometry::Interval interval;
    Vector3 begin, end;  ///< (3) [m]

    double length() const { return interval.end - interval.begin; }
    double middle() const { return 0.5 * (interval.begin + interval.end); }
  };
  struct Side {
    const WayPiece& piece;
    double change;  ///< >= |d2/ds2| of what the points move [1/m]

    Vector3 way(double s) const { return piece.end(s) - piece.begin(s); }
    /// The points of a stretch move as the straight line between its ends says, but for this. [m]
    double beside(const Stretch& stretch) const { return change * stretch.length() * stretch.length() / 8.0; }
    /// By how much the motions of two points of a stretch differ at most. [m]
    double swing(const Stretch& stretch) const { return (stretch.end - stretch.begin).norm() + 2.0 * beside(stretch); }
    Stretch whole() const { return {piece.interval, way(piece.interval.begin), way(piece.interval.end)}; }
  };

  bool apart(const Stretch& a, const Stretch& b, double last);
  bool apart_in_halves(const Stretch& a, const Stretch& b, bool of_a);
  bool apart_by_ends(const Stretch& a, const Stretch& b, double way, double last) const;
  bool apart_by_search(const Stretch& a, const Stretch& b);
  double farthest(const Stretch& a, const Stretch& b) const;
  int corners_left_out(const Stretch& a, const Stretch& b) const;

  Side a_, b_;
  double least_;
  const LeftOut& left_out_;
  std::vector<WayBox>& memory_;
  int stretches_ = 0;  ///< looked at so far
  Approach place_;
};

}  // namespace tresse::contact::detail
