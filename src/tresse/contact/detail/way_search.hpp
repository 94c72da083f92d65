#pragma once

#include <array>
#include <functional>
#include <vector>

#include <tresse/contact/ways.hpp>

/// How near two bodies come while their points go straight and evenly from one configuration to another. See
/// docs/theory/passing.md.
namespace tresse::contact::detail {

/// Whether places of two pieces, by their parameters, do not count; the second is 0 for a mesh. Where that holds at all
/// ends of two stretches, it holds in between.
using LeftOut = std::function<bool(double s_a, double s_b)>;

/// What is asked of a search.
struct WayGoal {
  double enough = 0.0;                ///< a distance that is proved to be this or more is all that is wanted [m]
  double limit = 0.0;                 ///< what comes nearer is not looked at further; <= enough [m]
  double tolerance = 0.0;             ///< how exact the least distance has to be; >= 0 [m]
  const LeftOut* left_out = nullptr;  ///< null: all places count
};

/// What a search found.
struct Approach {
  bool apart = false;  ///< proved not to come nearer than `bound`, which is `limit` or more
  double bound = 0.0;  ///< `enough`, or within `tolerance` of the least distance where that is less [m]
  double s_a = 0.0;    ///< not apart: where and when they come too near, or the proof fails
  double s_b = 0.0;
  double time = 0.0;  ///< 0 to 1
};

/// A point of a piece on its way.
struct WayPoint {
  double s = 0.0;
  Vector3 from, to;
  Vector3 at(double time) const { return from + time * (to - from); }
};

/// A stretch of each of two pieces over a stretch of time.
struct WayBox {
  double bound = 0.0;  ///< proved, of the distance [m]
  double upper = 0.0;  ///< somewhere they are no farther apart [m]
  std::array<WayPoint, 2> a, b;
  double begin = 0.0, end = 1.0;                    ///< of the time
  double s_a = 0.0, s_b = 0.0;                      ///< near where they are nearest, in the middle of the time
  double loss_a = 0.0, loss_b = 0.0, loss_t = 0.0;  ///< what the bound would gain of shorter stretches [m]
};

/// Branch and bound, the least bound first. `memory`: kept by the caller for the next search.
Approach nearest_on_way(const WayPiece& a, const WayPiece& b, const WayGoal& goal, std::vector<WayBox>& memory);
/// Of a piece and a mesh, seen from the mesh, in whose axes the points go straight.
Approach nearest_on_way(const WayPiece& a, const Mesh& before, const Mesh& now, const WayGoal& goal,
                        std::vector<WayBox>& memory);

}  // namespace tresse::contact::detail
