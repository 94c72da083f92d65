#pragma once

#include <array>
#include <memory>
#include <span>
#include <vector>

#include <tresse/geometry/box.hpp>

namespace tresse::geometry {

/// Vertices of a triangle, counterclockwise seen from outside.
using Face = std::array<int, 3>;

/// A side of one or two faces; of more where sheets meet in a line.
struct MeshEdge {
  std::array<int, 2> vertices;       ///< the lower first
  std::array<int, 2> faces{-1, -1};  ///< the first two; -1: none, the edge is at the rim of a sheet
  bool several = false;              ///< more than two faces meet here
  bool agree = true;                 ///< the two faces run through it in opposite directions, as on a surface
};

/// How the vertices of a surface of triangles hang together, and a binary tree over its faces for boxes.
class MeshTopology {
 public:
  /// Faces that are all but degenerate (height below 1e-12 of the longest side) are left out. Faces that run round
  /// against their neighbours are turned, as few as it takes, where the surface has two sides. The outer parts of a
  /// closed surface look outwards then, and what is inside them keeps its sides against them. Throws InvalidInput for
  /// an index out of range, a vertex that is not finite, or when no face is left.
  MeshTopology(std::vector<Face> faces, const std::vector<Vector3>& vertices);

  const std::vector<Face>& faces() const { return faces_; }
  const std::vector<MeshEdge>& edges() const { return edges_; }
  /// Edges of a face: from vertex 0 to 1, 1 to 2, 2 to 0.
  const std::array<int, 3>& face_edges(int face) const { return face_edges_[static_cast<std::size_t>(face)]; }
  std::span<const int> faces_at(int vertex) const;
  int vertex_count() const { return static_cast<int>(vertex_faces_begin_.size()) - 1; }
  /// Every edge has two faces that agree: the surface has an inside.
  bool closed() const { return closed_; }
  int degenerate() const { return degenerate_; }        ///< faces left out
  int turned() const { return turned_; }                ///< faces turned round
  int rim_edges() const { return rim_edges_; }          ///< with one face
  int several_edges() const { return several_edges_; }  ///< with more than two

  /// Node 0 is the root.
  struct Node {
    int begin = 0;  ///< of the faces in order()
    int end = 0;
    int left = -1;  ///< the right child follows the left one's subtree; -1: a leaf
    int right = -1;
  };
  const std::vector<Node>& nodes() const { return nodes_; }
  const std::vector<int>& order() const { return order_; }

 private:
  void find_edges();
  void find_faces_at(std::size_t vertices);
  using Part = std::vector<int>;  ///< faces that hang together
  std::vector<Part> parts_alike();
  bool wind_alike(Part& part, std::vector<char>& seen, std::vector<char>& against) const;
  void turn_outwards(const std::vector<Part>& parts, const std::vector<Vector3>& vertices);
  void turn(int face);
  void build_tree(const std::vector<Vector3>& vertices);
  int add_node(const std::vector<Vector3>& middles, int begin, int end);

  std::vector<Face> faces_;
  std::vector<MeshEdge> edges_;
  std::vector<std::array<int, 3>> face_edges_;
  std::vector<int> vertex_faces_begin_;
  std::vector<int> vertex_faces_;
  std::vector<Node> nodes_;
  std::vector<int> order_;
  bool closed_ = false;
  int degenerate_ = 0;
  int turned_ = 0;
  int rim_edges_ = 0;
  int several_edges_ = 0;
};

/// A surface of triangles at one instant, in axes of its own.
struct TriangleMesh {
  std::shared_ptr<const MeshTopology> topology;
  std::vector<Vector3> vertices;  ///< (vertices)(3) [m]
  std::vector<Box> boxes;         ///< of the topology's nodes

  /// Throws InvalidInput unless there are as many vertices as the topology has.
  TriangleMesh(std::shared_ptr<const MeshTopology> of, std::vector<Vector3> places);

  std::array<Vector3, 3> corners(int face) const;
  /// Appends the faces whose box overlaps `box`, in the order of the tree.
  void append_faces(const Box& box, std::vector<int>& out) const;
  /// Whether append_faces() would.
  bool may_meet(const Box& box) const;
};

/// Faces and vertices as they come from a file: vertices at the same place become one, as where two parts of a picture
/// meet on a surface; `merged[i]` is what vertex i became.
struct Welded {
  std::vector<Face> faces;
  std::vector<Vector3> vertices;
  std::vector<int> merged;
};
Welded weld(const std::vector<Face>& faces, const std::vector<Vector3>& vertices);

/// Unit normal of the triangle with corners x, by the right-hand rule. (3)
Vector3 triangle_normal(const std::array<Vector3, 3>& x);

/// The point of a triangle nearest to another.
struct TrianglePoint {
  Vector3 weights;      ///< of the corners, >= 0, their sum is 1 (3) [-]
  Vector3 point;        ///< (3) [m]
  double distance = 0;  ///< [m]
  int inside() const { return static_cast<int>((weights.array() > 0.0).count()); }  ///< 3: not on a side
};
/// Of the triangle with corners x, to p.
TrianglePoint nearest_on_triangle(const std::array<Vector3, 3>& x, const Vector3& p);

/// A point of a face.
struct MeshPoint {
  int face = -1;     ///< -1: none is as near as was asked for
  TrianglePoint at;  ///< infinitely far then
};
/// The point of a surface nearest to another, if it is nearer than `within`. [m]
MeshPoint nearest_on_mesh(const TriangleMesh& mesh, const Vector3& p, double within);

/// How often a closed surface goes round a point: 0 outside. It is the number of faces that a ray along x leaves the
/// solid by, less those that it enters by; faces that share an edge agree to the bit on which side of it the ray goes.
int winding_number(const TriangleMesh& mesh, const Vector3& p);

/// Whether a closed surface has a point inside. An open one has no inside.
bool is_inside(const TriangleMesh& mesh, const Vector3& p);

/// From a point to the surface; negative inside a closed one. [m]
double signed_distance(const TriangleMesh& mesh, const Vector3& p);

}  // namespace tresse::geometry
