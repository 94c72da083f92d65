#pragma once

#include <utility>
#include <vector>

#include <Eigen/Geometry>

#include <tresse/contact/pieces.hpp>

/// Tubes for tests of contact, without rods.
namespace tresse::test {

/// One element of a smooth fibre: the next starts where it ends.
struct Arc {
  Vector3 curvature = Vector3::Zero();  ///< (twist, k1, k2) [1/m]
  double length = 0.0;                  ///< [m]
};

/// The elements as curves in the world.
inline std::vector<geometry::HelixArc> chain(const Pose& root, const std::vector<Arc>& arcs) {
  std::vector<geometry::HelixArc> out;
  Pose at = root;
  for (const Arc& arc : arcs) {
    const geometry::HelixArc helix{at.position, at.frame, arc.curvature, arc.length};
    out.push_back(helix);
    at.position = geometry::position(helix, arc.length);
    const double rate = arc.curvature.norm();
    if (rate > 0.0) {
      at.frame = at.frame * Eigen::AngleAxisd(rate * arc.length, arc.curvature / rate).toRotationMatrix();
    }
  }
  return out;
}

/// Frame of a chain at an arc length; its position by the library's own curve.
inline Pose pose_on(const std::vector<geometry::HelixArc>& chain, double s) {
  std::size_t i = 0;
  for (; i + 1 < chain.size() && s > chain[i].length; ++i) s -= chain[i].length;
  const double rate = chain[i].curvature.norm();
  const Matrix3 turn = rate > 0.0 ? Eigen::AngleAxisd(rate * s, chain[i].curvature / rate).toRotationMatrix()
                                  : Matrix3(Matrix3::Identity());
  return {geometry::position(chain[i], s), chain[i].frame * turn};
}

inline double length_of(const std::vector<geometry::HelixArc>& chain) {
  double length = 0.0;
  for (const geometry::HelixArc& arc : chain) length += arc.length;
  return length;
}

/// Builds a contact geometry body by body, fibres first.
class Tubes {
 public:
  int fibre(const std::vector<geometry::HelixArc>& arcs, double radius) {
    const std::size_t first = scene.pieces.size();
    double begin = 0.0;
    for (std::size_t e = 0; e < arcs.size(); ++e) {
      contact::Piece piece;
      piece.curve = geometry::prepare(arcs[e]);
      piece.span = {arcs[e].length, arcs[e].length};
      piece.curvature = geometry::second_derivative_bound(piece.curve, {0.0, arcs[e].length});
      piece.radius = radius;
      piece.material_begin = piece.curve_begin = begin;
      piece.element = static_cast<int>(e);
      piece.first = piece.last = false;
      const int parts = contact::pieces_per_element(piece.curvature, arcs[e].length);
      for (int part = 0; part < parts; ++part) {
        piece.interval = {arcs[e].length * part / parts, arcs[e].length * (part + 1) / parts};
        append(piece);
      }
      begin += arcs[e].length;
    }
    scene.pieces[first].first = true;
    scene.pieces.back().last = true;
    return end_body();
  }

  /// A fibre of one piece, whatever the curve.
  int curve(const geometry::Curve& of, double radius) {
    contact::Piece piece;
    piece.curve = geometry::prepare(of);
    piece.interval = geometry::domain(piece.curve);
    piece.span = {piece.interval.end, piece.interval.end};
    piece.curvature = geometry::second_derivative_bound(piece.curve, piece.interval);
    piece.radius = radius;
    append(piece);
    return end_body();
  }

  int capsule(const Vector3& from, const Vector3& to, double radius) {
    contact::Piece piece;
    piece.curve = geometry::prepare(geometry::LineSegment{from, to});
    piece.interval = geometry::domain(piece.curve);
    piece.radius = radius;
    piece.id.kind = BodyKind::obstacle;
    append(piece);
    return end_body();
  }

  /// A fibre of straight pieces from point to point.
  int polyline(const std::vector<Vector3>& points, double radius) {
    const std::size_t first = scene.pieces.size();
    double begin = 0.0;
    for (std::size_t e = 0; e + 1 < points.size(); ++e) {
      contact::Piece piece;
      piece.curve = geometry::prepare(geometry::LineSegment{points[e], points[e + 1]});
      piece.interval = geometry::domain(piece.curve);
      piece.radius = radius;
      piece.material_begin = piece.curve_begin = begin;
      piece.element = static_cast<int>(e);
      piece.first = piece.last = false;
      append(piece);
      begin += piece.interval.end;
    }
    scene.pieces[first].first = true;
    scene.pieces.back().last = true;
    return end_body();
  }

  int plane(const Vector3& point, const Vector3& normal) {
    scene.planes.push_back({point, normal, {BodyKind::obstacle, bodies_}, bodies_});
    return end_body();
  }

  int mesh(std::shared_ptr<const geometry::TriangleMesh> surface, const Pose& pose = {}, double thickness = 0.0) {
    scene.meshes.push_back({std::move(surface), pose, thickness, pose, 0.0, {BodyKind::obstacle, bodies_}, bodies_});
    return end_body();
  }

  /// The same reach for all. [m]
  void set_reach(double reach) {
    for (contact::Piece& piece : scene.pieces) piece.travel.reach = reach;
  }

  contact::Geometry scene{{}, {}, {0}, {}};

 private:
  void append(contact::Piece piece) {
    piece.body = piece.id.index = bodies_;
    scene.pieces.push_back(std::move(piece));
  }
  int end_body() {
    scene.body_begin.push_back(static_cast<int>(scene.pieces.size()));
    return bodies_++;
  }

  int bodies_ = 0;
};

}  // namespace tresse::test
