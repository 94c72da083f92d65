#include <unistd.h>

#include <filesystem>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <tresse/base/errors.hpp>
#include <tresse/files/atomic_file.hpp>
#include <tresse/scene_file/scene_file.hpp>

#include "support/gltf.hpp"
#include "support/messages.hpp"

namespace tresse::scene_file {
namespace TRESSE_TEST_FILE {

using test::error_of;
using testing::HasSubstr;

class MeshScene : public testing::Test {
 protected:
  MeshScene() { std::filesystem::create_directories(folder); }
  ~MeshScene() override { std::filesystem::remove_all(folder); }

  void write(const std::string& name, const std::string& text) const { files::write_atomically(folder / name, text); }
  SceneDocument read(const std::string& keys) const {
    write("scene.toml",
          "[[fibres]]\nname = \"hair\"\nmaterial = \"nylon\"\nlength = 0.1\nelements = 2\nradius = 1e-3\n"
          "[materials.nylon]\npreset = \"nylon\"\n"
          "[[obstacles]]\nname = \"head\"\nshape = \"mesh\"\n" +
              keys);
    return read_scene_document(folder / "scene.toml");
  }
  static const bodies::Surface& surface(const SceneDocument& document) {
    return *std::get<bodies::Mesh>(document.scene.obstacles[0].body.shape).surface;
  }

  std::filesystem::path folder = std::filesystem::temp_directory_path() / fmt::format("tresse_mesh_{}", ::getpid());
};

const char* const square = "v 0 0 0\nv 1 0 0\nv 1 1 0\nv 0 1 0\nf 1 2 3 4\n";

TEST_F(MeshScene, PlacesTheFileInTheScene) {
  write("head.obj", "v 1 2 3\nv 2 2 3\nv 1 2 4\nv 1 2 4\nf 1 2 4\nf 1 1 2\n");
  const auto document = read("file = \"head.obj\"\nunit = \"1 cm\"\nup = \"y\"\nposition = [1, 0, 0]\n");
  EXPECT_NEAR((surface(document).frames[0][0] - Vector3(1.01, -0.03, 0.02)).norm(), 0.0, 1e-15);
  EXPECT_EQ(surface(document).topology->faces().size(), 1U);
  EXPECT_EQ(surface(document).topology->degenerate(), 1);
  EXPECT_EQ(surface(document).frames[0].size(), 3U);  // two at one place
  EXPECT_EQ(document.scene.obstacles[0].body.reference, Vector3(1.0, 0.0, 0.0));
}

TEST_F(MeshScene, GltfPointsUpAlongY) {
  write("head.glb", test::glb(test::gltf_document("", 60), test::gltf_buffer()));
  const auto plain = read("file = \"head.glb\"\nup = \"z\"\n");
  const auto upright = read("file = \"head.glb\"\n");
  const Vector3 x = surface(plain).frames[0][0];
  EXPECT_NEAR((surface(upright).frames[0][0] - Vector3(x.x(), -x.z(), x.y())).norm(), 0.0, 1e-15);
  EXPECT_NE(x.z(), 0.0);
}

TEST_F(MeshScene, TheResolvedSceneIsTheSameAndHoldsToItsFiles) {
  for (int k = 3; k <= 5; ++k)
    write(fmt::format("head.{:03}.obj", k), fmt::format("v 0 0 {}\nv 1 0 0\nv 1 1 0\nv 0 1 0\nf 1 2 3 4\n", k));
  const auto document = read("file = \"head.###.obj\"\nfirst = 3\nlast = 5\nrate = 10\nthickness = 1e-3\n");
  ASSERT_EQ(surface(document).frames.size(), 3U);
  EXPECT_EQ(surface(document).vertex(0, 0.05).z(), 3.5);
  EXPECT_EQ(surface(document).vertex(0, 9.0).z(), 5.0);
  const std::string resolved = write_resolved(document);
  const auto again = parse_scene_document(resolved, "elsewhere/scene.toml");
  EXPECT_EQ(write_resolved(again.scene, document.parameters), resolved);
  write("head.004.obj", square);
  EXPECT_THAT(error_of([&] { parse_scene_document(resolved, "scene.toml"); }),
              HasSubstr("expected the mesh that the run began with"));
}

TEST_F(MeshScene, RefusesWhatIsNotAMesh) {
  const auto error = [&](const std::string& keys) { return error_of([&] { read(keys); }); };
  EXPECT_THAT(error(""), HasSubstr("file"));
  EXPECT_THAT(error("file = \"head.stl\"\n"), HasSubstr("expected .obj, .ply, .gltf or .glb"));
  EXPECT_THAT(error("file = \"none.obj\"\n"), HasSubstr("none.obj"));
  write("flat.obj", "v 0 0 0\nv 1 0 0\nv 2 0 0\nf 1 2 3\n");
  EXPECT_THAT(error("file = \"flat.obj\"\n"), HasSubstr("no face that is not degenerate"));
  write("head.obj", square);
  EXPECT_THAT(error("file = \"head.obj\"\nrate = 3\n"), HasSubstr("without #"));
  EXPECT_THAT(error("file = \"head.obj\"\nmass = 3\n"), HasSubstr("a plane, a comb or a mesh"));
  EXPECT_THAT(error("file = \"head.obj\"\nthickness = -1\n"), HasSubstr("thickness"));
  write("head.1.obj", square);
  write("head.2.obj", "v 0 0 0\nv 1 0 0\nv 1 1 0\nf 1 2 3\n");
  EXPECT_THAT(error("file = \"head.#.obj\"\n"), HasSubstr("last"));
  EXPECT_THAT(error("file = \"head.#.obj\"\nfirst = 1\nlast = 2\n"), HasSubstr("head.2.obj: has other faces"));
  EXPECT_THAT(error("file = \"head.#.obj\"\nfirst = 2\nlast = 1\n"), HasSubstr("expected first"));
}

}  // namespace TRESSE_TEST_FILE
}  // namespace tresse::scene_file
