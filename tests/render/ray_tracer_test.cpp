#include "render/ray_tracer.hpp"

#include <gtest/gtest.h>
#include <png.h>

#include <filesystem>
#include <fstream>

#include <tresse/base/errors.hpp>
#include <tresse/observe/snapshot.hpp>
#include <tresse/scene/build.hpp>
#include <tresse/scene_file/scene_file.hpp>

#include "render/lighting.hpp"
#include "render/trajectory_scene.hpp"
#include "render/world.hpp"

namespace TRESSE_TEST_FILE {

using tresse::InvalidInput;
using tresse::SystemFailure;
using tresse::Vector3;
using tresse::VectorX;
namespace render = tresse::render;

render::Scene small_scene() {
  render::Scene scene;
  render::Fibre fibre;
  fibre.points.resize(3, 40);
  for (int i = 0; i < 40; ++i) fibre.points.col(i) << 0.003 * std::sin(0.3 * i), 0.003 * std::cos(0.3 * i), 0.001 * i;
  fibre.radii = VectorX::Constant(40, 4e-4);
  scene.fibres.push_back(fibre);
  scene.capsules.push_back({Vector3(-0.01, 0.005, 0.02), Vector3(0.01, 0.005, 0.02), 0.002});
  return scene;
}

std::vector<std::uint8_t> picture(int threads) {
  const render::Scene scene = small_scene();
  render::RenderOptions options;
  options.width = 48;
  options.height = 32;
  options.samples = 32;
  options.threads = threads;
  return render::encode(render::render(scene, render::frame(scene, {.aspect = 1.5}), options));
}

TEST(Render, same_bytes_for_any_number_of_threads) {
  const auto one = picture(1);
  EXPECT_EQ(one, picture(2));
  EXPECT_EQ(one, picture(4));
}

TEST(World, rays_meet_a_capsule_where_geometry_says) {
  render::Scene scene;
  scene.capsules.push_back({Vector3(0, 0, -0.01), Vector3(0, 0, 0.01), 0.002});
  const render::World world(scene, Vector3::Zero(), {});
  // In centimetres: the side at x = -0.2, the cap's top at z = 1.2, just past either nothing.
  const auto side = world.intersect({-5, 0, 0}, render::Vec3::UnitX());
  ASSERT_TRUE(side);
  EXPECT_NEAR(side->point.x(), -0.2F, 1e-4F);
  EXPECT_NEAR(side->normal.x(), -1.0F, 1e-4F);
  // Towards the centre of the round end, at an angle: Embree's round cones miss rays that run exactly along their axis.
  const render::Vec3 centre(0, 0, 1);
  const render::Vec3 down = render::Vec3(0.3F, 0.1F, -1).normalized();
  const auto cap = world.intersect(centre - 4.0F * down, down);
  ASSERT_TRUE(cap);
  EXPECT_LT((cap->point - (centre - 0.2F * down)).norm(), 1e-4F);
  EXPECT_TRUE(world.intersect({-5, 0.199F, 0}, render::Vec3::UnitX()));
  EXPECT_FALSE(world.intersect({-5, 0.201F, 0}, render::Vec3::UnitX()));
  EXPECT_TRUE(world.intersect({-5, 0, 1.199F}, render::Vec3::UnitX()));
  EXPECT_FALSE(world.intersect({-5, 0, 1.201F}, render::Vec3::UnitX()));
}

/// A run of one step of a ribbon that lies along x, thin along n1 = z, wide along n2 = -y.
const char* const ribbon = R"(
[[fibres]]
name = "ribbon"
material = "nylon"
model = "super-clothoid"
length = "4 cm"
elements = 2
section = { half_axis_1 = "0.1 mm", half_axis_2 = "5 mm" }
natural_curvature = [0, 0, 20]
root = { tangent = [1, 0, 0], normal = [0, 0, 1] }
)";

render::Scene drawn(const std::string& text) {
  const tresse::scene::Scene scene = tresse::scene_file::parse_scene(text, "ribbon.toml");
  tresse::scene::Case built = tresse::scene::build(scene);
  const tresse::observe::TrajectoryLayout layout = tresse::observe::snapshot_layout(scene, built.world, text, "test");
  const tresse::dynamics::Stepper stepper(std::move(built.world), built.options, std::move(built.state));
  return render::scene_of(layout, tresse::observe::snapshot(scene, stepper, {}, layout));
}

// The frames of a natural arc of curvature 20 1/m are known: turned by 20 s about n2.
TEST(TrajectoryScene, a_flat_fibre_has_its_section_in_the_material_frame) {
  const render::Scene scene = drawn(ribbon);
  const render::Fibre& fibre = scene.fibres.at(0);
  ASSERT_EQ(fibre.half_axis_1.cols(), fibre.points.cols());
  for (Eigen::Index i = 0; i < fibre.points.cols(); ++i) {
    const double turned = 20.0 * 0.04 * static_cast<double>(i) / static_cast<double>(fibre.points.cols() - 1);
    const Vector3 n1(-std::sin(turned), 0, std::cos(turned));
    EXPECT_LT((fibre.half_axis_1.col(i) - 1e-4 * n1).norm(), 1e-15) << i;
    EXPECT_LT((fibre.half_axis_2.col(i) - Vector3(0, -5e-3, 0)).norm(), 1e-15) << i;
    EXPECT_LT((fibre.tangents.col(i) - Vector3(std::cos(turned), 0, std::sin(turned))).norm(), 1e-12) << i;
  }
  std::string round = ribbon;
  round.replace(round.find("section"), round.find('}') + 1 - round.find("section"), "radius = \"1 mm\"");
  EXPECT_EQ(drawn(round).fibres.at(0).half_axis_1.cols(), 0);
}

// A run's folder is drawn wherever the files of its meshes are now: the frames hold them.
TEST(TrajectoryScene, meshes_come_from_the_frames_and_sections_without_their_files) {
  const auto file = std::filesystem::temp_directory_path() / "tresse_drawn_mesh.obj";
  std::ofstream(file) << "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n";
  const std::string text = std::string(ribbon) + "[[obstacles]]\nname = \"sheet\"\nshape = \"mesh\"\nfile = \"" +
                           file.string() + "\"\nposition = [0, 0, -1]\nmotion = { velocity = [0, 0, 2] }\n";
  const tresse::scene::Scene scene = tresse::scene_file::parse_scene(text, "ribbon.toml");
  tresse::scene::Case built = tresse::scene::build(scene);
  const auto layout = tresse::observe::snapshot_layout(scene, built.world, text, "test");
  const tresse::dynamics::Stepper stepper(std::move(built.world), built.options, std::move(built.state));
  tresse::observe::Frame frame = tresse::observe::snapshot(scene, stepper, {}, layout);
  frame.obstacle_position[2] += 0.5;
  std::filesystem::remove(file);
  const render::Scene seen = render::scene_of(layout, frame);
  EXPECT_GT(seen.fibres.at(0).half_axis_1.cols(), 0);
  ASSERT_EQ(seen.meshes.size(), 1U);
  EXPECT_EQ(seen.meshes[0].vertices.at(1), Vector3(1, 0, -0.5));
  EXPECT_EQ(seen.meshes[0].faces.size(), 1U);
}

TEST(World, rays_meet_a_flat_fibre_on_its_faces_and_beside_its_edge_nothing) {
  const render::World world(drawn(ribbon), Vector3::Zero(), {});
  // In centimetres. At the root the strip is 0.02 thick along z and 1 wide along y.
  const auto top = world.intersect({0.001F, 0.01F, 5}, -render::Vec3::UnitZ());
  ASSERT_TRUE(top);
  EXPECT_EQ(top->kind, render::Hit::Kind::strip);
  EXPECT_NEAR(top->point.z(), 0.01F, 2e-4F);
  EXPECT_GT(top->normal.z(), 0.99F);
  const auto under = world.intersect({0.001F, 0.01F, -5}, render::Vec3::UnitZ());
  ASSERT_TRUE(under);
  EXPECT_NEAR(under->point.z(), -0.01F, 2e-4F);
  EXPECT_LT(under->normal.z(), -0.99F);
  EXPECT_TRUE(world.intersect({0.001F, 0.49F, 5}, -render::Vec3::UnitZ()));
  EXPECT_FALSE(world.intersect({0.001F, 0.501F, 5}, -render::Vec3::UnitZ()));
  const auto end = world.intersect({-5, 0.1F, 0}, render::Vec3::UnitX());
  ASSERT_TRUE(end) << "the ends are closed";
  EXPECT_NEAR(end->point.x(), 0.0F, 1e-4F);
}

TEST(Render, refuses_a_flat_fibre_without_its_axes) {
  render::Scene scene = drawn(ribbon);
  scene.fibres[0].half_axis_2.resize(3, 0);
  EXPECT_THROW(render::validate(scene), InvalidInput);
  scene = drawn(ribbon);
  scene.fibres[0].half_axis_1.col(3).setZero();
  EXPECT_THROW(render::validate(scene), InvalidInput);
}

TEST(World, a_coarse_circle_is_round) {
  // 24 points of a circle of radius 1 cm: Hermite arcs stray by 1e-5 of it, chords would by 9e-3.
  render::Fibre fibre;
  fibre.points.resize(3, 25);
  fibre.tangents.resize(3, 25);
  for (int i = 0; i < 25; ++i) {
    const double a = 2.0 * 3.14159265358979323846 * i / 24.0;
    fibre.points.col(i) << 0.01 * std::cos(a), 0.01 * std::sin(a), 0.0;
    fibre.tangents.col(i) << -std::sin(a), std::cos(a), 0.0;
  }
  fibre.radii = VectorX::Constant(25, 1e-4);
  render::Scene scene;
  scene.fibres.push_back(fibre);
  for (const bool given : {true, false}) {
    if (!given) scene.fibres[0].tangents.resize(3, 0);
    const render::World world(scene, Vector3::Zero(), {});
    for (const double a : {0.13, 1.0, 2.2, 4.0}) {
      const render::Vec3 out(static_cast<float>(std::cos(a)), static_cast<float>(std::sin(a)), 0.0F);
      const auto hit = world.intersect(5.0F * out, -out);
      ASSERT_TRUE(hit);
      EXPECT_NEAR(hit->point.norm(), 1.01F, 5e-4F);
      EXPECT_NEAR(std::abs(hit->tangent.dot(render::Vec3(-out.y(), out.x(), 0))), 1.0F, 1e-4F);
    }
  }
}

TEST(Render, silhouette_of_a_sphere_is_as_large_as_perspective_says) {
  render::Scene scene;
  scene.capsules.push_back({Vector3::Zero(), Vector3::Zero(), 0.01});
  const render::Camera camera{.position = {0, -0.05, 0}, .target = {0, 0, 0}, .field_of_view_deg = 40};
  render::RenderOptions options;
  options.width = options.height = 64;
  options.samples = 1;
  options.solid.albedo.setZero();
  options.solid.reflectance = 0.0F;
  const render::Image image = render::render(scene, camera, options);
  int dark = 0;
  for (const render::Color& c : image.pixels) dark += c.maxCoeff() < 0.2F;
  // The tangent cone: tan = R / sqrt(d^2 - R^2) on the film at unit distance.
  const double radius = 0.01 / std::sqrt(0.05 * 0.05 - 0.01 * 0.01) / std::tan(0.349065850398866) * 32.0;
  EXPECT_NEAR(dark, 3.14159 * radius * radius, 0.06 * 3.14159 * radius * radius);
}

/// Straight fibres side by side from far below a picture of 1 cm to far above it, `layers` of them behind each other.
render::Scene curtain(int fibres, int layers, double radius) {
  render::Scene scene;
  render::Random random(5);
  for (int i = 0; i < fibres * layers; ++i) {
    render::Fibre fibre;
    fibre.points.resize(3, 4);
    const double x = 0.01 * ((i % fibres + double{random.next()}) / fibres - 0.5);
    for (int k = 0; k < 4; ++k) fibre.points.col(k) << x, 2e-4 * random.next() + 5e-4 * (i / fibres), 0.02 * (k - 1.5);
    fibre.radii = VectorX::Constant(4, radius);
    scene.fibres.push_back(fibre);
  }
  return scene;
}

/// 24 pixels a side; all samples are taken.
render::Image seen(const render::Scene& scene, double covered_pixels, int samples,
                   const render::HairMaterial& hair = {}) {
  const render::Camera camera{.position = {0, -0.1, 0}, .target = {0, 0, 0}, .field_of_view_deg = 5.7};
  render::RenderOptions options;
  options.width = options.height = 24;
  options.samples = samples;
  options.noise = 0.0;
  options.smoothing = 0.0;
  options.least_pixels = 0.0;
  options.covered_pixels = covered_pixels;
  options.hair = hair;
  return render::render(scene, camera, options);
}

double mean(const render::Image& image) {
  double sum = 0.0;
  for (const render::Color& c : image.pixels) sum += render::luminance(c);
  return sum / static_cast<double>(image.pixels.size());
}

/// Mean square of the step from a pixel to the one below, where the scene is the same.
double beads(const render::Image& image) {
  double sum = 0.0;
  for (int y = 0; y + 1 < image.height; ++y) {
    for (int x = 0; x < image.width; ++x) {
      const double step = render::luminance(image.at(x, y + 1)) - render::luminance(image.at(x, y));
      sum += step * step;
    }
  }
  return sum;
}

// A tenth and a seventh of a pixel wide. The means of so many samples are known to half a percent.
TEST(Render, thin_fibres_cover_as_much_as_they_are_wide) {
  for (const render::Scene& scene : {curtain(8, 1, 2e-5), curtain(40, 8, 3e-5)}) {
    const double wanted = mean(seen(scene, 0.0, 1024));
    EXPECT_NEAR(mean(seen(scene, 1.0, 64)), wanted, 0.02 * wanted) << scene.fibres.size();
  }
  render::Scene nothing = curtain(1, 1, 2e-5);
  nothing.fibres[0].points.row(0).array() += 1.0;
  const render::HairMaterial black = {.absorption = render::Color::Constant(50.0F)};
  const double light = mean(seen(nothing, 1.0, 16, black));
  EXPECT_LT(mean(seen(curtain(8, 1, 2e-5), 1.0, 64, black)), 0.985 * light) << "3 % are covered";
}

TEST(Render, the_more_fibres_the_less_they_are_widened) {
  EXPECT_GT(render::default_least_pixels(20), 3.0);
  EXPECT_DOUBLE_EQ(render::default_least_pixels(225), render::default_least_pixels(1000));
  EXPECT_LT(render::default_least_pixels(20000), 0.05);
}

TEST(Render, thin_fibres_have_fewer_beads_with_as_many_samples) {
  for (const render::Scene& scene : {curtain(8, 1, 2e-5), curtain(40, 8, 3e-5)}) {
    const double as_they_are = beads(seen(scene, 0.0, 16));
    EXPECT_LT(beads(seen(scene, 1.0, 16)), 0.5 * as_they_are) << scene.fibres.size();
  }
}

// Seen from within its drawn width, a fibre is met only if it is ahead.
TEST(World, a_ray_from_within_a_wide_fibre_meets_what_is_ahead) {
  render::Scene scene = curtain(1, 1, 1e-5);
  scene.fibres[0].points.row(0).setZero();
  const render::World world(scene, Vector3::Zero(), {.viewer = {0, -0.1, 0}, .drawn_per_metre = 1e-2});
  const render::Vec3 eye(0.013F, -5, 0.1F);
  const auto front = world.intersect(eye, render::Vec3::UnitY(), {.all = true});
  ASSERT_TRUE(front);
  EXPECT_NEAR(front->coverage, 0.01F, 2e-3F);
  const render::Vec3 within = front->point + 0.01F * render::Vec3::UnitY();
  EXPECT_TRUE(world.intersect(within, render::Vec3::UnitY(), {.all = true}));
  EXPECT_FALSE(world.intersect(within, -render::Vec3::UnitY(), {.all = true}));
  render::Crossing past{.all = true, .passed_count = 1};
  past.passed[0] = front->arc;
  EXPECT_FALSE(world.intersect(eye, render::Vec3::UnitY(), past));
  int met = 0;
  for (unsigned key = 0; key < 4000; ++key) met += world.occluded(eye, render::Vec3::UnitY(), {.key = key});
  EXPECT_NEAR(met / 4000.0, front->coverage, 0.006);  // four standard errors
}

TEST(Lighting, density_of_the_lights_integrates_to_one) {
  const render::Lighting lighting(-render::Vec3::UnitY(), render::Vec3::UnitZ());
  render::Random random(3);
  double mean = 0.0;
  constexpr int n = 400000;
  for (int i = 0; i < n; ++i) {
    const float z = 2.0F * random.next() - 1.0F;
    const float phi = 2.0F * render::pi * random.next();
    const float r = std::sqrt(1.0F - z * z);
    mean += 4.0 * render::pi * lighting.density({r * std::cos(phi), r * std::sin(phi), z}) / n;
  }
  EXPECT_NEAR(mean, 1.0, 0.02);
}

TEST(Camera, sees_every_point_of_the_scene) {
  const render::Scene scene = small_scene();
  const render::Camera camera = render::frame(scene, {.aspect = 1.5});
  const Vector3 forward = (camera.target - camera.position).normalized();
  const Vector3 right = forward.cross(camera.up).normalized();
  const Vector3 up = right.cross(forward);
  const double tangent = std::tan(0.5 * camera.field_of_view_deg * 3.14159265358979 / 180.0);
  for (Eigen::Index i = 0; i < scene.fibres[0].points.cols(); ++i) {
    const Vector3 p = scene.fibres[0].points.col(i) - camera.position;
    ASSERT_GT(p.dot(forward), 0.0);
    EXPECT_LT(std::abs(p.dot(right) / p.dot(forward)), 1.5 * tangent);
    EXPECT_LT(std::abs(p.dot(up) / p.dot(forward)), tangent);
  }
}

TEST(Png, reads_back_as_written) {
  render::Image image(7, 5);
  for (auto& c : image.pixels) c = render::Color(0.2F, 0.4F, 0.1F);
  const auto file = std::filesystem::temp_directory_path() / "tresse_png_test.png";
  render::write_png(image, file);
  png_image header = {};
  header.version = PNG_IMAGE_VERSION;
  ASSERT_TRUE(png_image_begin_read_from_file(&header, file.c_str()));
  header.format = PNG_FORMAT_RGB;
  std::vector<std::uint8_t> samples(PNG_IMAGE_SIZE(header));
  ASSERT_TRUE(png_image_finish_read(&header, nullptr, samples.data(), 0, nullptr));
  EXPECT_EQ(header.width, 7U);
  EXPECT_EQ(header.height, 5U);
  EXPECT_EQ(samples, render::encode(image));
  std::filesystem::remove(file);
}

TEST(Errors, name_what_was_wrong) {
  const auto message = [](const auto& f) -> std::string {
    try {
      f();
    } catch (const InvalidInput& e) {
      return e.what();
    } catch (const SystemFailure& e) {
      return e.what();
    }
    return "nothing thrown";
  };
  const render::Scene scene = small_scene();
  const render::Camera camera = render::frame(scene, {});
  EXPECT_EQ(message([&] { render::render({}, camera, {}); }), "nothing to draw");
  render::RenderOptions no_samples;
  no_samples.samples = 0;
  EXPECT_EQ(message([&] { render::render(scene, camera, no_samples); }), "samples 0: expected 1 to 65536");
  render::RenderOptions unending;
  unending.noise = 2.0;
  EXPECT_EQ(message([&] { render::render(scene, camera, unending); }), "noise 2: expected 0 to 1");
  render::RenderOptions smoothed;
  smoothed.smoothing = -1.0;
  EXPECT_EQ(message([&] { render::render(scene, camera, smoothed); }), "smoothing -1: expected 0 to 10");
  render::RenderOptions covered;
  covered.covered_pixels = -1.0;
  EXPECT_EQ(message([&] { render::render(scene, camera, covered); }), "covered width -1 pixels: expected 0 to 1000");
  render::Camera blind;
  blind.position = blind.target;
  EXPECT_EQ(message([&] { render::render(scene, blind, {}); }), "the camera stands at its target");
  render::Scene bad = scene;
  bad.fibres[0].radii[3] = -1.0;
  EXPECT_EQ(message([&] { render::validate(bad); }), "fibre 0: a radius is not a positive number");
  EXPECT_EQ(message([&] { render::write_png(render::Image(1, 1), "no/such/folder/x.png"); }),
            "no/such/folder/x.png: cannot create: No such file or directory");
}

}  // namespace TRESSE_TEST_FILE
