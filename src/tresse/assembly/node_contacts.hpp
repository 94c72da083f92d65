#pragma once

#include <memory>
#include <vector>

#include <tresse/assembly/world.hpp>
#include <tresse/geometry/curves.hpp>
#include <tresse/geometry/triangle_mesh.hpp>

namespace tresse::assembly {

/// A point that is near an obstacle.
struct NodeContact {
  int node = 0;      ///< of the points
  int obstacle = 0;  ///< of World::obstacles
  int part = -1;     ///< tube of the obstacle or face of its mesh; -1: a plane
  Vector3 normal;    ///< unit, out of the obstacle (3) [-]
  Vector3 place;     ///< on the obstacle's skin (3) [m]
  Vector3 velocity;  ///< of the obstacle's material there over the step (3) [m/s]
  double gap = 0.0;  ///< from that skin to the ball around the point, < 0: they overlap [m]
};

/// The obstacles whose motion is prescribed, where they are at one time, and where a step later: what points touch.
/// Each point has a ball around it. Obstacles that are free are left out.
class NodeObstacles {
 public:
  NodeObstacles(const World& world, double time, double dt);

  /// For every point and obstacle the nearest place of it, if the gap is below the point's reach: in the order of the
  /// points, of one the smallest gap first. Of a surface with two sides the one that the point is on. Same result for
  /// any number of threads.
  std::vector<NodeContact> find(const VectorX& points, const VectorX& reach, double radius) const;

  /// Where the obstacle's moved reference point is at the begin. (3) [m]
  Vector3 reference(int obstacle) const { return now_[static_cast<std::size_t>(obstacle)].position; }

 private:
  struct Tube {
    geometry::Curve axis;
    Vector3 middle;       ///< of what it is near (3) [m]
    double extent = 0.0;  ///< of the tube's points from there, at most [m]
    double radius = 0.0;
    int part = 0;
  };
  struct Placed {
    std::vector<bodies::HalfSpace> planes;
    std::vector<Tube> tubes;
    std::vector<bodies::Shell> shells;
    std::vector<std::shared_ptr<const geometry::TriangleMesh>> meshes;  ///< (shells) in their own axes
    Pose axes;                                                          ///< of the meshes
  };
  bool nearest(std::size_t obstacle, const Vector3& at, double within, NodeContact& out) const;
  void offer_mesh(std::size_t obstacle, std::size_t shell, const Vector3& at, double& within, NodeContact& out) const;
  Vector3 velocity_at(std::size_t obstacle, const Vector3& place) const;

  double time_, dt_;
  std::vector<Pose> now_, next_;  ///< (obstacles)
  std::vector<Placed> placed_;    ///< (obstacles)
};

}  // namespace tresse::assembly
