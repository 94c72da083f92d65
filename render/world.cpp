#include "render/world.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numbers>

#include <embree3/rtcore.h>
#include <fmt/format.h>

#include <tresse/base/errors.hpp>

#include "render/mesh_normals.hpp"

namespace tresse::render {
namespace {

using Triangle = std::array<unsigned, 3>;

/// Tubes of elliptic section as triangles.
struct StripArrays {
  std::vector<Vertex> vertices;  ///< the fourth number is not used
  std::vector<Vec3> normals;     ///< of the ellipse, unit
  std::vector<Triangle> triangles;
  std::vector<int> owner;  ///< fibre of each triangle
};

/// A ray on its way through Embree.
struct Query {
  RTCIntersectContext context;  // Embree hands its address on
  const Crossing& crossing;

  explicit Query(const Crossing& of) : crossing(of) { rtcInitIntersectContext(&context); }
};

bool meets(const CurveArrays& curves, const Crossing& crossing, const RTCRay& ray, const RTCHit& hit) {
  const unsigned arc = hit.primID;
  const auto passed_end = crossing.passed.begin() + crossing.passed_count;
  if (std::find(crossing.passed.begin(), passed_end, arc) != passed_end) return false;
  const float coverage = curves.coverage(arc, hit.u);
  if (coverage >= 1.0F) return true;
  const Vec3 direction(ray.dir_x, ray.dir_y, ray.dir_z);
  const Vec3 normal = Vec3(hit.Ng_x, hit.Ng_y, hit.Ng_z).normalized();
  if (const float outwards = normal.dot(direction); outwards > 0.0F) {
    // The ray has begun within the drawn width: the fibre is still ahead, or it is not.
    const float along = curves.tangent(arc, hit.u).dot(direction);
    const float half_chord = curves.radius(arc, hit.u) * outwards / std::max(1.0F - along * along, 1e-3F);
    if (ray.tfar < half_chord) return false;
  }
  return crossing.all || to_unit(hash(crossing.key, arc)) < coverage;
}

/// A disc that fades away from its middle to its rim, seen from above alone.
struct GroundDisc {
  std::vector<Vertex> middle;  // none or one, with the radius
  std::vector<Vec3> normal;

  float coverage(const Vec3& at) const {
    constexpr float full = 0.15F;
    const float t = std::clamp(((at - middle[0].head<3>()).norm() / middle[0][3] - full) / (1.0F - full), 0.0F, 1.0F);
    return 1.0F - t * t * (3.0F - 2.0F * t);
  }

  bool meets(const Crossing& crossing, const Vec3& from, const Vec3& direction, float distance) const {
    const auto passed_end = crossing.passed.begin() + crossing.passed_count;
    if (direction.dot(normal[0]) >= 0.0F || std::find(crossing.passed.begin(), passed_end, ground_arc) != passed_end)
      return false;
    const float covered = coverage(from + distance * direction);
    return covered > 0.0F && (crossing.all || to_unit(hash(crossing.key, ground_arc)) < covered);
  }
};

void pass_ground(const RTCFilterFunctionNArguments* arguments) {
  const auto& ground = *static_cast<const GroundDisc*>(arguments->geometryUserPtr);
  const Crossing& crossing = reinterpret_cast<const Query*>(arguments->context)->crossing;
  const auto& ray = *reinterpret_cast<const RTCRay*>(arguments->ray);
  if (!ground.meets(crossing, {ray.org_x, ray.org_y, ray.org_z}, {ray.dir_x, ray.dir_y, ray.dir_z}, ray.tfar))
    arguments->valid[0] = 0;
}

/// Embree asks for each of a ray's hits on an arc whether it counts. The answer depends on ray and arc alone, so not on
/// the order of hits.
void pass_thin_fibres(const RTCFilterFunctionNArguments* arguments) {
  const auto& curves = *static_cast<const CurveArrays*>(arguments->geometryUserPtr);
  const Crossing& crossing = reinterpret_cast<const Query*>(arguments->context)->crossing;
  const auto& ray = *reinterpret_cast<const RTCRay*>(arguments->ray);  // one at a time, as World asks
  const auto& hit = *reinterpret_cast<const RTCHit*>(arguments->hit);
  if (!meets(curves, crossing, ray, hit)) arguments->valid[0] = 0;
}

}  // namespace

struct World::Data {
  RTCDevice device = nullptr;
  RTCScene scene = nullptr;
  CurveArrays curves;
  std::vector<Vertex> ends;  // of capsules, two each
  std::vector<unsigned> segments;
  std::vector<Vertex> discs;
  std::vector<Vec3> disc_normals;
  StripArrays strips;
  GroundDisc ground;
  unsigned ground_id = RTC_INVALID_GEOMETRY_ID;
  unsigned curves_id = RTC_INVALID_GEOMETRY_ID;
  unsigned strips_id = RTC_INVALID_GEOMETRY_ID;
  unsigned capsules_id = RTC_INVALID_GEOMETRY_ID;
  std::vector<Vertex> mesh_vertices;
  std::vector<Triangle> mesh_faces;
  std::vector<std::array<Vec3, 3>> mesh_normals;  // at the corners of each face
  std::vector<int> mesh_owner;                    // mesh of each face
  unsigned meshes_id = RTC_INVALID_GEOMETRY_ID;

  Data() = default;
  Data(const Data&) = delete;
  Data& operator=(const Data&) = delete;
  ~Data() {
    if (scene) rtcReleaseScene(scene);
    if (device) rtcReleaseDevice(device);
  }

  void share(RTCGeometry geometry, RTCBufferType type, RTCFormat format, const void* data, std::size_t stride,
             std::size_t count) {
    rtcSetSharedGeometryBuffer(geometry, type, 0, format, data, 0, stride, count);
  }

  unsigned attach(RTCGeometry geometry) {
    rtcCommitGeometry(geometry);
    const unsigned id = rtcAttachGeometry(scene, geometry);
    rtcReleaseGeometry(geometry);
    return id;
  }

  void attach_curves() {
    if (curves.first.empty()) return;
    const RTCGeometry geometry = rtcNewGeometry(device, RTC_GEOMETRY_TYPE_ROUND_BEZIER_CURVE);
    // Embree reads 16 bytes at a time and may look past the last vertex: the arrays carry one more.
    share(geometry, RTC_BUFFER_TYPE_VERTEX, RTC_FORMAT_FLOAT4, curves.vertices.data(), sizeof(Vertex),
          curves.vertices.size());
    if (curves.thin) {
      rtcSetGeometryUserData(geometry, &curves);
      rtcSetGeometryIntersectFilterFunction(geometry, &pass_thin_fibres);
      rtcSetGeometryOccludedFilterFunction(geometry, &pass_thin_fibres);
    }
    share(geometry, RTC_BUFFER_TYPE_INDEX, RTC_FORMAT_UINT, curves.first.data(), sizeof(unsigned), curves.first.size());
    curves_id = attach(geometry);
  }

  void attach_strips() {
    if (strips.triangles.empty()) return;
    const RTCGeometry geometry = rtcNewGeometry(device, RTC_GEOMETRY_TYPE_TRIANGLE);
    share(geometry, RTC_BUFFER_TYPE_VERTEX, RTC_FORMAT_FLOAT3, strips.vertices.data(), sizeof(Vertex),
          strips.vertices.size());
    share(geometry, RTC_BUFFER_TYPE_INDEX, RTC_FORMAT_UINT3, strips.triangles.data(), sizeof(Triangle),
          strips.triangles.size());
    strips_id = attach(geometry);
  }

  void attach_meshes() {
    if (mesh_faces.empty()) return;
    // Embree reads 16 bytes at a time and may look past the last vertex of a shared array.
    mesh_vertices.emplace_back(Vertex::Zero());
    const RTCGeometry geometry = rtcNewGeometry(device, RTC_GEOMETRY_TYPE_TRIANGLE);
    share(geometry, RTC_BUFFER_TYPE_VERTEX, RTC_FORMAT_FLOAT3, mesh_vertices.data(), sizeof(Vertex),
          mesh_vertices.size());
    share(geometry, RTC_BUFFER_TYPE_INDEX, RTC_FORMAT_UINT3, mesh_faces.data(), sizeof(Triangle), mesh_faces.size());
    meshes_id = attach(geometry);
  }

  void attach_capsules() {
    if (segments.empty()) return;
    const RTCGeometry geometry = rtcNewGeometry(device, RTC_GEOMETRY_TYPE_ROUND_LINEAR_CURVE);
    share(geometry, RTC_BUFFER_TYPE_VERTEX, RTC_FORMAT_FLOAT4, ends.data(), sizeof(Vertex), ends.size());
    share(geometry, RTC_BUFFER_TYPE_INDEX, RTC_FORMAT_UINT, segments.data(), sizeof(unsigned), segments.size());
    capsules_id = attach(geometry);
  }

  RTCGeometry new_discs(const std::vector<Vertex>& middles, const std::vector<Vec3>& normals) {
    const RTCGeometry geometry = rtcNewGeometry(device, RTC_GEOMETRY_TYPE_ORIENTED_DISC_POINT);
    share(geometry, RTC_BUFFER_TYPE_VERTEX, RTC_FORMAT_FLOAT4, middles.data(), sizeof(Vertex), middles.size());
    share(geometry, RTC_BUFFER_TYPE_NORMAL, RTC_FORMAT_FLOAT3, normals.data(), sizeof(Vec3), normals.size());
    return geometry;
  }

  void attach_discs() {
    if (!discs.empty()) attach(new_discs(discs, disc_normals));
    if (ground.middle.empty()) return;
    const RTCGeometry geometry = new_discs(ground.middle, ground.normal);
    rtcSetGeometryUserData(geometry, &ground);
    rtcSetGeometryIntersectFilterFunction(geometry, &pass_ground);
    rtcSetGeometryOccludedFilterFunction(geometry, &pass_ground);
    ground_id = attach(geometry);
  }

  /// The surface that the facet stands for: its normal on the viewer's side, and where rays leave it. From the facet
  /// they would meet its neighbours where light grazes them; so they begin at the mean of the point's projections on
  /// the planes through the corners across their normals, which is above a convex surface @cite hanika2021.
  void smooth(Hit& hit, unsigned face, float u, float v, const Vec3& direction) const {
    const std::array<float, 3> share = {1.0F - u - v, u, v};
    Vec3 normal = Vec3::Zero();
    Vec3 lift = Vec3::Zero();
    for (int k = 0; k < 3; ++k) {
      Vec3 at_corner = mesh_normals[face][k];
      if (at_corner.dot(hit.facet) < 0.0F) at_corner = -at_corner;
      const Vec3 from_corner = hit.point - mesh_vertices[mesh_faces[face][k]].head<3>();
      normal += share[k] * at_corner;
      lift -= share[k] * std::min(0.0F, from_corner.dot(at_corner)) * at_corner;
    }
    if (!(normal.norm() > 1e-3F)) return;
    normal.normalize();
    // Turned back where it would face away from the viewer.
    constexpr float least = 0.02F;
    if (const float away = normal.dot(direction); away > -least)
      normal = (normal - (away + least) * direction).normalized();
    hit.normal = normal;
    hit.point += lift;
  }

  /// Between those of the three corners, on the facet's side; the facet's own where that would face away (near the
  /// outline, and on the flat ends).
  Vec3 strip_normal(unsigned triangle, float u, float v, const Vec3& facet, const Vec3& direction) const {
    const Triangle& t = strips.triangles[triangle];
    const Vec3 smooth =
        ((1.0F - u - v) * strips.normals[t[0]] + u * strips.normals[t[1]] + v * strips.normals[t[2]]).normalized();
    const float side = smooth.dot(facet);
    const Vec3 out = side < 0.0F ? Vec3(-smooth) : smooth;
    return std::abs(side) > 0.5F && out.dot(direction) < 0.0F ? out : facet;
  }
};

namespace {

constexpr double crease = 40.0 * std::numbers::pi / 180.0;  // an edge of a mesh that turns by more is sharp
constexpr int around = 48;                                  // points of a strip's section

void append_strip(StripArrays& out, const Fibre& fibre, int owner, const Vector3& origin, double factor) {
  const auto first = static_cast<unsigned>(out.vertices.size());
  const Eigen::Index n = fibre.points.cols();
  for (Eigen::Index i = 0; i < n; ++i) {
    const Vector3 a = factor * fibre.half_axis_1.col(i);
    const Vector3 b = factor * fibre.half_axis_2.col(i);
    for (int k = 0; k < around; ++k) {
      const double angle = 2.0 * std::numbers::pi * k / around;
      const Vec3 x =
          ((fibre.points.col(i) + std::cos(angle) * a + std::sin(angle) * b - origin) * World::scale).cast<float>();
      out.vertices.emplace_back(x.x(), x.y(), x.z(), 0.0F);
      const Vector3 normal = std::cos(angle) / a.squaredNorm() * a + std::sin(angle) / b.squaredNorm() * b;
      out.normals.emplace_back(normal.normalized().cast<float>());
    }
  }
  const auto add = [&](unsigned a, unsigned b, unsigned c) {
    out.triangles.push_back({first + a, first + b, first + c});
    out.owner.push_back(owner);
  };
  const auto ring = [&](Eigen::Index i, int k) { return static_cast<unsigned>(i * around + k % around); };
  for (int k = 0; k < around; ++k) {
    for (Eigen::Index i = 0; i + 1 < n; ++i) {
      add(ring(i, k), ring(i + 1, k), ring(i, k + 1));
      add(ring(i, k + 1), ring(i + 1, k), ring(i + 1, k + 1));
    }
  }
  // The two ends are flat fans.
  for (const Eigen::Index i : {Eigen::Index{0}, n - 1}) {
    for (int k = 1; k + 1 < around; ++k) add(ring(i, 0), ring(i, k), ring(i, k + 1));
  }
}

RTCRay make_ray(const Vec3& from, const Vec3& direction, float begin) {
  RTCRay ray = {};
  ray.org_x = from.x();
  ray.org_y = from.y();
  ray.org_z = from.z();
  ray.dir_x = direction.x();
  ray.dir_y = direction.y();
  ray.dir_z = direction.z();
  ray.tnear = begin;
  ray.tfar = std::numeric_limits<float>::infinity();
  ray.mask = 0xffffffffU;
  return ray;
}

}  // namespace

World::World(const Scene& scene, const Vector3& origin, const Thickness& thickness)
    : data_(std::make_unique<Data>()), origin_(origin) {
  data_->device = rtcNewDevice(nullptr);
  if (!data_->device) throw SystemFailure("the ray tracer (Embree) could not start");
  data_->scene = rtcNewScene(data_->device);
  rtcSetSceneFlags(data_->scene, RTC_SCENE_FLAG_ROBUST);
  for (std::size_t i = 0; i < scene.fibres.size(); ++i) {
    if (scene.fibres[i].half_axis_1.cols() > 0) {
      append_strip(data_->strips, scene.fibres[i], static_cast<int>(i), origin, thickness.factor);
    } else {
      data_->curves.append(scene.fibres[i], static_cast<int>(i), origin, thickness);
    }
  }
  const auto append_capsule = [&](const bodies::Bar& capsule) {
    data_->segments.push_back(static_cast<unsigned>(data_->ends.size()));
    // Embree drops a segment of zero length: a sphere is a capsule of a ten-thousandth of its radius.
    Vector3 to = capsule.to;
    if ((to - capsule.from).norm() < 1e-4 * capsule.radius) to.z() += 1e-4 * capsule.radius;
    for (const Vector3& x : {capsule.from, to}) {
      const Vec3 p = to_world(x);
      data_->ends.emplace_back(p.x(), p.y(), p.z(), static_cast<float>(capsule.radius * scale));
    }
  };
  for (const bodies::Bar& capsule : scene.capsules) append_capsule(capsule);
  for (const Marker& marker : scene.markers) append_capsule(marker.shape);
  for (const bodies::HalfSpace& plane : scene.planes) {
    const Vector3 foot = origin - plane.normal * plane.normal.dot(origin - plane.point);
    const Vec3 p = to_world(foot);
    data_->discs.emplace_back(p.x(), p.y(), p.z(), 500.0F);
    data_->disc_normals.emplace_back(plane.normal.cast<float>());
  }
  if (scene.ground) {
    const Vec3 p = to_world(scene.ground->point);
    data_->ground.middle.emplace_back(p.x(), p.y(), p.z(), static_cast<float>(scene.ground->radius * scale));
    data_->ground.normal.emplace_back(scene.ground->normal.cast<float>());
  }
  for (const Mesh& mesh : scene.meshes) {
    const auto first = static_cast<unsigned>(data_->mesh_vertices.size());
    for (const Vector3& x : mesh.vertices) {
      const Vec3 p = to_world(x);
      data_->mesh_vertices.emplace_back(p.x(), p.y(), p.z(), 0.0F);
    }
    const auto normals = corner_normals(mesh, crease);
    data_->mesh_normals.insert(data_->mesh_normals.end(), normals.begin(), normals.end());
    data_->mesh_owner.insert(data_->mesh_owner.end(), mesh.faces.size(), static_cast<int>(&mesh - scene.meshes.data()));
    for (const auto& face : mesh.faces)
      data_->mesh_faces.push_back({first + static_cast<unsigned>(face[0]), first + static_cast<unsigned>(face[1]),
                                   first + static_cast<unsigned>(face[2])});
  }
  data_->attach_curves();
  data_->attach_meshes();
  // Embree reads 16 bytes at a time and may look past the last vertex of a shared array.
  if (!data_->strips.vertices.empty()) data_->strips.vertices.emplace_back(Vertex::Zero());
  data_->attach_strips();
  data_->attach_capsules();
  data_->attach_discs();
  rtcCommitScene(data_->scene);
  // Embree keeps the first of its errors: without a look at it something would be missing in the picture.
  if (const RTCError error = rtcGetDeviceError(data_->device); error != RTC_ERROR_NONE) {
    throw SystemFailure(error == RTC_ERROR_OUT_OF_MEMORY
                            ? "the ray tracer (Embree) is out of memory"
                            : fmt::format("the ray tracer (Embree) failed, error {}", static_cast<int>(error)));
  }
}

World::~World() = default;

std::optional<Hit> World::intersect(const Vec3& from, const Vec3& direction, const Crossing& crossing) const {
  Query way(crossing);
  RTCRayHit query = {};
  query.ray = make_ray(from, direction, crossing.begin);
  query.hit.geomID = RTC_INVALID_GEOMETRY_ID;
  rtcIntersect1(data_->scene, &way.context, &query);
  if (query.hit.geomID == RTC_INVALID_GEOMETRY_ID) return std::nullopt;
  Hit hit;
  hit.distance = query.ray.tfar;
  hit.point = from + query.ray.tfar * direction;
  hit.normal = Vec3(query.hit.Ng_x, query.hit.Ng_y, query.hit.Ng_z).normalized();
  hit.facet = hit.normal;
  if (query.hit.geomID == data_->strips_id) {
    hit.kind = Hit::Kind::strip;
    hit.index = data_->strips.owner[query.hit.primID];
    if (hit.facet.dot(direction) > 0.0F) hit.facet = -hit.facet;
    hit.normal = data_->strip_normal(query.hit.primID, query.hit.u, query.hit.v, hit.facet, direction);
    return hit;
  }
  if (query.hit.geomID == data_->curves_id) {
    hit.kind = Hit::Kind::fibre;
    hit.index = data_->curves.owner[query.hit.primID];
    hit.arc = query.hit.primID;
    hit.coverage = data_->curves.coverage(query.hit.primID, query.hit.u);
    hit.tangent = data_->curves.tangent(query.hit.primID, query.hit.u);
    hit.radius = data_->curves.radius(query.hit.primID, query.hit.u);
    const Vec3 across = hit.normal - hit.normal.dot(hit.tangent) * hit.tangent;
    if (across.norm() > 1e-3F) hit.normal = across.normalized();
    hit.facet = hit.normal;
  } else {
    hit.kind = query.hit.geomID == data_->capsules_id ? Hit::Kind::capsule
               : query.hit.geomID == data_->meshes_id ? Hit::Kind::mesh
               : query.hit.geomID == data_->ground_id ? Hit::Kind::ground
                                                      : Hit::Kind::plane;
    hit.index = static_cast<int>(query.hit.primID);
    if (hit.normal.dot(direction) > 0.0F) hit.normal = -hit.normal;
    hit.facet = hit.normal;
    if (hit.kind == Hit::Kind::ground) {
      hit.arc = ground_arc;
      hit.coverage = data_->ground.coverage(hit.point);
    }
    if (hit.kind == Hit::Kind::mesh) {
      hit.index = data_->mesh_owner[query.hit.primID];
      data_->smooth(hit, query.hit.primID, query.hit.u, query.hit.v, direction);
    }
  }
  return hit;
}

bool World::occluded(const Vec3& from, const Vec3& direction, const Crossing& crossing) const {
  Query way(crossing);
  RTCRay ray = make_ray(from, direction, crossing.begin);
  rtcOccluded1(data_->scene, &way.context, &ray);
  return ray.tfar < 0.0F;
}

}  // namespace tresse::render
