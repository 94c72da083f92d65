#include "render/mesh_normals.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "render/ray_tracer.hpp"
#include "render/world.hpp"

namespace TRESSE_TEST_FILE {

using tresse::Vector3;
namespace render = tresse::render;

constexpr double crease = 40.0 * std::numbers::pi / 180.0;

/// Of radius 1 cm, `rows` from pole to pole.
render::Mesh sphere(int rows) {
  render::Mesh out;
  const int columns = 2 * rows;
  for (int i = 0; i <= rows; ++i) {
    const double theta = std::numbers::pi * i / rows;
    for (int j = 0; j < columns; ++j) {
      const double phi = 2.0 * std::numbers::pi * j / columns;
      out.vertices.emplace_back(0.01 * std::sin(theta) * std::cos(phi), 0.01 * std::sin(theta) * std::sin(phi),
                                0.01 * std::cos(theta));
    }
  }
  for (int i = 0; i < rows; ++i) {
    for (int j = 0; j < columns; ++j) {
      const int a = i * columns + j;
      const int b = i * columns + (j + 1) % columns;
      if (i + 1 < rows) out.faces.push_back({a, a + columns, b + columns});
      if (i > 0) out.faces.push_back({a, b + columns, b});
    }
  }
  return out;
}

render::Mesh cube() {
  render::Mesh out;
  for (int i = 0; i < 8; ++i) out.vertices.emplace_back(i & 1, i >> 1 & 1, i >> 2);
  out.faces = {{0, 2, 1}, {1, 2, 3}, {4, 5, 6}, {5, 7, 6}, {0, 1, 4}, {1, 5, 4},
               {2, 6, 3}, {3, 6, 7}, {0, 4, 2}, {2, 4, 6}, {1, 3, 5}, {3, 7, 5}};
  return out;
}

TEST(MeshNormals, are_those_of_the_surface_where_it_is_smooth) {
  const render::Mesh mesh = sphere(12);
  const auto normals = render::corner_normals(mesh, crease);
  ASSERT_EQ(normals.size(), mesh.faces.size());
  for (std::size_t f = 0; f < mesh.faces.size(); ++f) {
    for (std::size_t k = 0; k < 3; ++k) {
      const Vector3 out = mesh.vertices[mesh.faces[f][k]].normalized();
      if (std::abs(out.z()) > 0.999) continue;
      EXPECT_LT((normals[f][k].cast<double>() - out).norm(), 0.07) << f;
    }
  }
}

TEST(MeshNormals, break_at_sharp_edges) {
  const render::Mesh mesh = cube();
  const auto normals = render::corner_normals(mesh, crease);
  for (std::size_t f = 0; f < mesh.faces.size(); ++f) {
    const auto& [a, b, c] = mesh.faces[f];
    const Vector3 flat = (mesh.vertices[b] - mesh.vertices[a]).cross(mesh.vertices[c] - mesh.vertices[a]).normalized();
    for (const auto& normal : normals[f]) EXPECT_LT((normal.cast<double>() - flat).norm(), 1e-6) << f;
  }
}

TEST(MeshNormals, of_a_face_without_area_are_zero) {
  const render::Mesh line = {.vertices = {{0, 0, 0}, {1, 0, 0}, {2, 0, 0}}, .faces = {{0, 1, 2}}};
  EXPECT_EQ(render::corner_normals(line, crease)[0][0], Eigen::Vector3f::Zero());
}

TEST(World, rays_leave_a_coarse_mesh_from_above_the_smooth_surface) {
  render::Scene scene;
  scene.meshes.push_back(sphere(12));
  const render::World world(scene, Vector3::Zero(), {});
  render::Random random(2);
  for (int i = 0; i < 200; ++i) {
    const render::Vec3 out =
        render::Vec3(random.next() - 0.5F, random.next() - 0.5F, random.next() - 0.5F).normalized();
    if (std::abs(out.z()) > 0.95F) continue;
    const auto hit = world.intersect(5.0F * out, -out);
    ASSERT_TRUE(hit);
    EXPECT_EQ(hit->index, 0);
    EXPECT_LT((hit->normal - out).norm(), 0.05F);  // of the facet up to 0.16
    EXPECT_GT(hit->point.norm(), 0.999F);          // of the facet down to 0.983
    EXPECT_LT(hit->point.norm(), 1.02F);
  }
}

render::Image seen(const render::Mesh& mesh) {
  render::Scene scene;
  scene.meshes.push_back(mesh);
  render::RenderOptions options;
  options.width = options.height = 48;
  options.samples = 256;
  options.noise = 0.0;
  options.solid = {.albedo = render::Color::Constant(0.5F), .reflectance = 0.0F};
  return render::render(scene, {.position = {0, -0.1, 0}, .target = {0, 0, 0}, .field_of_view_deg = 13}, options);
}

TEST(Render, a_coarse_sphere_is_shaded_as_a_fine_one) {
  const render::Image coarse = seen(sphere(12));
  const render::Image fine = seen(sphere(120));
  int different = 0;
  int inside = 0;
  for (int y = 0; y < 48; ++y) {
    for (int x = 0; x < 48; ++x) {
      if (std::hypot(x - 23.5, y - 23.5) > 18.0) continue;  // of 21: not the outline, which is coarse
      ++inside;
      const float is = render::luminance(coarse.at(x, y));
      const float wanted = render::luminance(fine.at(x, y));
      different += std::abs(is - wanted) > 0.1F * wanted;
    }
  }
  EXPECT_LT(different, 0.01 * inside);
}

}  // namespace TRESSE_TEST_FILE
