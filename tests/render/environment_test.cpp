#include "render/environment.hpp"

#include <gtest/gtest.h>

#include <array>
#include <filesystem>
#include <fstream>

#include <tresse/base/errors.hpp>

#include "render/ray_tracer.hpp"

namespace TRESSE_TEST_FILE {

using tresse::InvalidInput;
using tresse::Vector3;
using tresse::VectorX;
namespace render = tresse::render;
using render::Color;
using render::Image;
using render::Vec3;

/// A dim sky and one bright patch.
Image sky() {
  Image image(32, 16);
  for (int y = 0; y < image.height; ++y) {
    for (int x = 0; x < image.width; ++x)
      image.at(x, y) =
          Color(0.2F, 0.3F, 0.5F) * (1.0F + 0.02F * static_cast<float>(x)) / (1.0F + static_cast<float>(y));
  }
  image.at(20, 5) = image.at(21, 5) = Color(90.0F, 80.0F, 60.0F);
  return image;
}

/// Calls visit(direction, solid angle) over a fine grid of the sphere.
template <typename Visit>
void over_sphere(const Visit& visit) {
  constexpr int rows = 400;
  for (int i = 0; i < rows; ++i) {
    const float polar = render::pi * (static_cast<float>(i) + 0.5F) / rows;
    for (int j = 0; j < 2 * rows; ++j) {
      const float azimuth = render::pi * (static_cast<float>(j) + 0.5F) / rows;
      visit(Vec3(std::sin(polar) * std::cos(azimuth), std::sin(polar) * std::sin(azimuth), std::cos(polar)),
            std::sin(polar) * (render::pi / rows) * (render::pi / rows));
    }
  }
}

TEST(Environment, its_middle_is_x_and_its_right_clockwise) {
  Image image(4, 2);
  for (Color& c : image.pixels) c = Color::Constant(1e-3F);
  image.at(3, 0) = Color(0.0F, 8.0F, 0.0F);  // a quarter to half a turn right of the middle, up
  const render::Environment plain(image, 1.0F, 0.0F);
  const auto bright = [](const render::Environment& e, float x, float y, float z) {
    return e.radiance(Vec3(x, y, z).normalized())[1] > 1.0F;
  };
  EXPECT_TRUE(bright(plain, -1, -1, 1));
  EXPECT_FALSE(bright(plain, -1, 1, 1));
  EXPECT_FALSE(bright(plain, 1, -1, 1));
  EXPECT_FALSE(bright(plain, -1, -1, -4));
  const render::Environment turned(image, 1.0F, 0.5F * render::pi);
  EXPECT_TRUE(bright(turned, 1, -1, 1));
}

TEST(Environment, is_as_bright_as_asked) {
  const render::Environment environment(sky(), 0.7F, 0.3F);
  double sum = 0.0;
  over_sphere([&](const Vec3& d, float area) { sum += render::luminance(environment.radiance(d)) * area; });
  EXPECT_NEAR(sum / (4.0 * render::pi), 0.7, 0.01);
}

/// The density is one, and what sampling makes of an integral is the integral: the light that falls on planes.
TEST(Environment, is_sampled_by_its_density) {
  const render::Environment environment(sky(), 1.0F, 0.3F);
  double whole = 0.0;
  over_sphere([&](const Vec3& d, float area) { whole += environment.density(d) * area; });
  EXPECT_NEAR(whole, 1.0, 5e-3);
  for (const Vec3& normal : {Vec3(0, 0, 1), Vec3(0.6F, 0, 0.8F), Vec3(0, -1, 0)}) {
    double exact = 0.0;
    over_sphere([&](const Vec3& d, float area) {
      exact += std::max(0.0F, d.dot(normal)) * render::luminance(environment.radiance(d)) * area;
    });
    double sampled = 0.0;
    constexpr std::uint32_t count = 100000;
    for (std::uint32_t i = 0; i < count; ++i) {
      const Vec3 d = environment.sample(render::even_point(i, {0.1F, 0.2F}));
      const float density = environment.density(d);
      ASSERT_GT(density, 0.0F);
      sampled += std::max(0.0F, d.dot(normal)) * render::luminance(environment.radiance(d)) / density / count;
    }
    EXPECT_NEAR(sampled, exact, 0.01 * exact);
  }
}

/// A white matte ball under even light sends back what its coat (Schlick's Fresnel term, F0 = 0) lets through:
/// int (1 - (1 - c)^5) 2 c dc = 20 / 21 in the middle, and behind it is the light itself.
TEST(Environment, lights_a_white_ball_evenly) {
  Image even(8, 4);
  for (Color& c : even.pixels) c = Color::Ones();
  render::Scene scene;
  scene.capsules.push_back({Vector3::Zero(), Vector3(0, 0, 1e-6), 0.01});
  render::RenderOptions options;
  options.width = options.height = 25;
  options.samples = 4096;
  options.solid = {.albedo = Color::Ones(), .reflectance = 0.0F, .roughness = 0.5F};
  options.environment = std::make_shared<const render::Environment>(even, 0.5F, 0.0F);
  const Image image = render::render(scene, render::frame(scene, {.aspect = 1.0}), options);
  EXPECT_NEAR(render::luminance(image.at(0, 0)), 0.5, 1e-5);
  EXPECT_GT(render::luminance(image.at(12, 12)), 0.5 * 20.0 / 21.0 - 0.005) << "noise of a display step";
  EXPECT_LT(render::luminance(image.at(12, 12)), 0.5) << "what the coat reflects is less than it keeps out";
}

TEST(Environment, refuses_light_that_is_none) {
  Image black(4, 2);
  for (Color& c : black.pixels) c.setZero();
  EXPECT_THROW(render::Environment(black, 1.0F, 0.0F), InvalidInput);
  Image image = sky();
  image.at(1, 1)[0] = -1.0F;
  EXPECT_THROW(render::Environment(image, 1.0F, 0.0F), InvalidInput);
  image.at(1, 1)[0] = std::nanf("");
  EXPECT_THROW(render::Environment(image, 1.0F, 0.0F), InvalidInput);
}

class HdrFile : public testing::Test {
 protected:
  void SetUp() override {
    std::filesystem::create_directories(folder_);
    file_ = folder_ / "a.hdr";
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  void write(const std::string& bytes) const { std::ofstream(file_, std::ios::binary) << bytes; }
  std::string refusal(const std::string& bytes) const {
    write(bytes);
    try {
      static_cast<void>(render::read_hdr(file_));
    } catch (const InvalidInput& error) {
      return error.what();
    }
    return "read";
  }

  const std::filesystem::path folder_ =
      std::filesystem::path(testing::TempDir()) / testing::UnitTest::GetInstance()->current_test_info()->name();
  std::filesystem::path file_;
};

const std::string header = "#?RADIANCE\n# made by hand\nFORMAT=32-bit_rle_rgbe\n\n";

TEST_F(HdrFile, reads_flat_pixels) {
  using namespace std::string_literals;
  write(header + "-Y 1 +X 2\n" + "\x80\x40\x20\x81"s + "\x01\x02\x03\x00"s);
  const Image image = render::read_hdr(file_);
  ASSERT_EQ(image.width, 2);
  ASSERT_EQ(image.height, 1);
  EXPECT_EQ(image.pixels[0][0], 1.0F);
  EXPECT_EQ(image.pixels[0][1], 0.5F);
  EXPECT_EQ(image.pixels[0][2], 0.25F);
  EXPECT_TRUE((image.pixels[1] == 0.0F).all());
}

TEST_F(HdrFile, reads_runs) {
  using namespace std::string_literals;
  const std::string runs = "\x02\x02\x00\x09"s + "\x89\x80"s +    // nine times 128
                           "\x84\x40\x05\x01\x02\x03\x04\x05"s +  // four times 64, then five others
                           "\x09\x01\x02\x03\x04\x05\x06\x07\x08\x09"s + "\x89\x81"s;
  write(header + "-Y 1 +X 9\n" + runs);
  const Image image = render::read_hdr(file_);
  EXPECT_EQ(image.pixels[3][0], 1.0F);
  EXPECT_EQ(image.pixels[3][1], 0.5F);
  EXPECT_EQ(image.pixels[8][1], 5.0F / 128.0F);
  EXPECT_EQ(image.pixels[8][2], 9.0F / 128.0F);
  for (std::size_t length = 0; length < runs.size(); ++length)
    EXPECT_NE(refusal(header + "-Y 1 +X 9\n" + runs.substr(0, length)).find("cut short"), std::string::npos) << length;
}

TEST_F(HdrFile, refuses_what_is_none) {
  using namespace std::string_literals;
  const auto says = [&](const std::string& bytes, const char* what) {
    const std::string said = refusal(bytes);
    EXPECT_NE(said.find(what), std::string::npos) << said;
  };
  says("", "cut short in its header");
  says("PNG\n\n", "does not begin");
  says("#?RADIANCE\n\n-Y 1 +X 1\n1234", "FORMAT");
  says("#?RADIANCE\n" + std::string(10000, 'x'), "does not end");
  says(header + "-Y 1 +X 100000\n", "100000");
  says(header + "-Y 0 +X 8\n", "0 pixels");
  says(header + "-Y 32768 +X 32768\n", "cut short");
  says(header + "+X 8 -Y 8\n", "expected \"-Y HEIGHT +X WIDTH\"");
  says(header + "-Y 8 +X 8x\n", "expected \"-Y HEIGHT +X WIDTH\"");
  says(header + "-Y 1 +X 9\n\x02\x02\x00\x08"s, "another width");
  says(header + "-Y 1 +X 9\n\x02\x02\x00\x09\x00\x01"s, "leaves its row");
  says(header + "-Y 1 +X 9\n\x02\x02\x00\x09\x8a\x01"s, "leaves its row");
}

}  // namespace TRESSE_TEST_FILE
