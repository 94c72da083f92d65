#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <limits>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <tresse/base/errors.hpp>
#include <tresse/io/atomic_file.hpp>
#include <tresse/io/mesh_file.hpp>
#include <tresse/io/scene_file.hpp>

namespace tresse::io {
namespace {

using geometry::Face;
using testing::HasSubstr;

template <class Call>
std::string error_of(Call&& call) {
  try {
    call();
  } catch (const InvalidInput& error) {
    EXPECT_EQ(std::string(error.what()).find('\n'), std::string::npos);
    return error.what();
  }
  return "none";
}

/// Two triangles over the unit square, the same in every format.
void expect_square(const MeshData& mesh) {
  ASSERT_EQ(mesh.vertices.size(), 4U);
  EXPECT_EQ(mesh.vertices[2], Vector3(1.0, 1.0, 0.5));
  EXPECT_EQ(mesh.faces, (std::vector<Face>{{0, 1, 2}, {0, 2, 3}}));
}

template <class T>
void put(std::string& out, T value, bool big = false) {
  std::string raw(sizeof(T), '\0');
  std::memcpy(raw.data(), &value, sizeof(T));
  if (big) std::reverse(raw.begin(), raw.end());
  out += raw;
}

std::string binary_ply(bool big) {
  std::string out = fmt::format(
      "ply\nformat binary_{}_endian 1.0\ncomment a square\nelement vertex 4\nproperty float x\nproperty float y\n"
      "property float z\nproperty uchar red\nelement face 1\nproperty list uchar int vertex_indices\nend_header\n",
      big ? "big" : "little");
  for (const auto& x : {Vector3(0, 0, 0), Vector3(1, 0, 0), Vector3(1, 1, 0.5), Vector3(0, 1, 0)}) {
    for (int k = 0; k < 3; ++k) put(out, static_cast<float>(x[k]), big);
    out.push_back('\x7f');
  }
  out.push_back('\4');
  for (int v = 0; v < 4; ++v) put(out, v, big);
  return out;
}

/// A .gltf with a buffer beside it, or a .glb; the mesh under a node that moves it by (0, 0, 0.5) up.
std::string gltf_document(const std::string& uri, std::size_t length, const std::string& extra = "") {
  return fmt::format(
      R"({{"asset":{{"version":"2.0"}},{}"scene":0,"scenes":[{{"nodes":[0]}}],)"
      R"("nodes":[{{"children":[1],"translation":[0,0,1]}},{{"mesh":0,"scale":[2,2,2]}}],)"
      R"("meshes":[{{"primitives":[{{"attributes":{{"POSITION":0}},"indices":1}}]}}],)"
      R"("buffers":[{{{}"byteLength":{}}}],)"
      R"("bufferViews":[{{"buffer":0,"byteOffset":0,"byteLength":48}},{{"buffer":0,"byteOffset":48,"byteLength":12}}],)"
      R"("accessors":[{{"bufferView":0,"componentType":5126,"count":4,"type":"VEC3"}},)"
      R"({{"bufferView":1,"componentType":5123,"count":6,"type":"SCALAR"}}]}})",
      extra, uri.empty() ? "" : fmt::format(R"("uri":"{}",)", uri), length);
}

std::string gltf_buffer() {
  std::string out;
  for (const float x : {0.F, 0.F, 0.F, 1.F, 0.F, 0.F, 1.F, 1.F, 0.5F, 0.F, 1.F, 0.F}) put(out, x);
  for (const int v : {0, 1, 2, 0, 2, 3}) put(out, static_cast<std::uint16_t>(v));
  return out;
}

std::string glb(const std::string& document, const std::string& buffer) {
  std::string out = "glTF";
  put(out, std::uint32_t{2});
  put(out, static_cast<std::uint32_t>(28 + document.size() + buffer.size()));
  put(out, static_cast<std::uint32_t>(document.size()));
  out += "JSON" + document;
  put(out, static_cast<std::uint32_t>(buffer.size()));
  out += std::string("BIN\0", 4) + buffer;
  return out;
}

TEST(MeshFile, ReadsObj) {
  expect_square(
      parse_obj("# a square\nv 0 0 0\nv 1 0 0\nv 1 1 0.5 1.0\nvn 0 0 1\nv 0 1 0\r\nf 1/1/1 2/2 3//1 -1\nl 1 2\n", "x"));
  expect_square(parse_obj("v 0 0 0\nv 1 0 0\nv 1 1 .5\nv 0 1 0\nf -4 -3 -2\nf 1 3 4", "x"));
}

TEST(MeshFile, ReadsObjWithCommentsContinuationsAndOtherLineEnds) {
  expect_square(parse_obj("\xef\xbb\xbfv 0 0 0 # first\nv 1 0 0\nv 1 1 0.5\nv 0 1 0\nf 1 2 \\\n 3 4 # all\n", "x"));
  expect_square(parse_obj("v 0 0 0\rv 1 0 0\rv 1 1 0.5\rv 0 1 0\rf 1 2 3 4\r", "x"));
}

TEST(MeshFile, RefusesABadObj) {
  const auto error = [](const char* text) { return error_of([&] { parse_obj(text, "x.obj"); }); };
  EXPECT_THAT(error(""), HasSubstr("x.obj: has no faces"));
  EXPECT_THAT(error("v 0 0 0\n"), HasSubstr("has no faces"));
  EXPECT_THAT(error("v 0 0\n"), HasSubstr("x.obj:1: a vertex needs three finite numbers"));
  EXPECT_THAT(error("v 0 nan 0\n"), HasSubstr("x.obj:1: a vertex needs three finite numbers"));
  EXPECT_THAT(error("v 0 1e999 0\n"), HasSubstr("three finite numbers"));
  EXPECT_THAT(error("v 0 0 0\nf 1 2 3\n"), HasSubstr("x.obj:2: '2' is no vertex"));
  EXPECT_THAT(error("v 0 0 0\nf 1 0 1\n"), HasSubstr("'0' is no vertex"));
  EXPECT_THAT(error("v 0 0 0\nf 1 -2 1\n"), HasSubstr("'-2' is no vertex"));
  EXPECT_THAT(error("f 1 1\n"), HasSubstr("three corners or more"));
}

TEST(MeshFile, ReadsPly) {
  expect_square(parse_ply(
      "ply\nformat ascii 1.0\nelement vertex 4\nproperty double x\nproperty double y\nproperty double z\n"
      "element face 1\nproperty list uchar uint vertex_index\nend_header\n0 0 0\n1 0 0\n1 1 0.5\n0 1 0\n4 0 1 2 3\n",
      "x"));
  expect_square(parse_ply(binary_ply(false), "x"));
  expect_square(parse_ply(binary_ply(true), "x"));
}

TEST(MeshFile, RefusesABadPly) {
  const auto error = [](const std::string& text) { return error_of([&] { parse_ply(text, "x.ply"); }); };
  EXPECT_THAT(error(""), HasSubstr("x.ply: is not a PLY file"));
  EXPECT_THAT(error("ply\nformat ascii 1.0\nelement vertex 99999999999\nend_header\n"),
              HasSubstr("x.ply:3: the number of elements"));
  EXPECT_THAT(error("ply\nformat ascii 1.0\nelement vertex 99999999\nproperty float x\nend_header\n1\n"),
              HasSubstr("shorter than its header says"));
  EXPECT_THAT(error("ply\nformat ascii 1.0\nelement vertex 99999999\nend_header\n1\n"), HasSubstr("has no properties"));
  EXPECT_THAT(error("ply\nformat utf8 1.0\nend_header\n"), HasSubstr("unknown format"));
  EXPECT_THAT(error("ply\nelement vertex 0\nend_header\n"), HasSubstr("has no format"));
  EXPECT_THAT(error("ply\nformat ascii 1.0\nelement vertex 1\nproperty what x\n"), HasSubstr("unknown type 'what'"));
  EXPECT_THAT(error("ply\nformat ascii 1.0\nrubbish\n"), HasSubstr("x.ply:3: not a line"));
  EXPECT_THAT(error("ply\nformat ascii 1.0\n"), HasSubstr("ends within the PLY header"));
  const std::string whole = binary_ply(false);
  for (std::size_t n = 0; n < whole.size(); ++n) EXPECT_NE(error(whole.substr(0, n)), "none") << n;
  std::string wrong = whole;
  wrong[wrong.size() - 1] = '\x7f';
  EXPECT_THAT(error(wrong), HasSubstr("vertex that is not there"));
  wrong = whole;
  const float nan = std::numeric_limits<float>::quiet_NaN();
  std::memcpy(wrong.data() + whole.size() - 17 - 13, &nan, 4);
  EXPECT_THAT(error(wrong), HasSubstr("not finite"));
}

TEST(MeshFile, ReadsGltf) {
  const auto expect = [](const MeshData& mesh) {
    ASSERT_EQ(mesh.vertices.size(), 4U);
    EXPECT_EQ(mesh.vertices[2], Vector3(2.0, 2.0, 2.0));  // scaled by two, then one up
    EXPECT_EQ(mesh.faces, (std::vector<Face>{{0, 1, 2}, {0, 2, 3}}));
  };
  const std::string buffer = gltf_buffer();
  expect(parse_gltf(gltf_document("square.bin", 60), "x", {buffer}));
  EXPECT_EQ(gltf_buffer_files(gltf_document("square.bin", 60), "x"), std::vector<std::string>{"square.bin"});
  expect(parse_gltf(glb(gltf_document("", 60), buffer), "x", {}));
  expect(parse_gltf(gltf_document("data:application/octet-stream;base64,"
                                  "AAAAAAAAAAAAAAAAAACAPwAAAAAAAAAAAACAPwAAgD8AAAA/AAAAAAAAgD8AAAAAAAABAAIAAAACAAMA",
                                  60),
                    "x", {""}));
}

/// Many nodes, each the child of the one before: the time grows as their number. At its square this takes a minute.
TEST(MeshFile, ReadsAGltfOfManyNodesInLinearTime) {
  constexpr int count = 400'000;
  constexpr double most = 15.0;  // [s], of which a fiftieth is needed
  std::string nodes = R"({"translation":[0,0,1],"children":[1]})";
  for (int i = 1; i < count; ++i) nodes += fmt::format(R"(,{{"children":[{}]}})", i + 1);
  std::string document = gltf_document("", 60);
  const std::string two = R"({"children":[1],"translation":[0,0,1]})";
  document.replace(document.find(two), two.size(), nodes);
  const std::clock_t begin = std::clock();
  const MeshData mesh = parse_gltf(glb(document, gltf_buffer()), "x", {});
  EXPECT_LT(static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC, most);
  EXPECT_EQ(mesh.vertices.at(2), Vector3(2.0, 2.0, 2.0));
}

TEST(MeshFile, RefusesABadGltf) {
  const auto error = [](const std::string& text, const std::string& buffer) {
    return error_of([&] { parse_gltf(text, "x.gltf", {buffer}); });
  };
  const std::string buffer = gltf_buffer();
  EXPECT_THAT(error("", buffer), HasSubstr("is no glTF document"));
  EXPECT_THAT(error("[1]", buffer), HasSubstr("is no glTF document"));
  EXPECT_THAT(error(std::string(100000, '['), buffer), HasSubstr("is no glTF document"));
  EXPECT_THAT(error("{}", buffer), HasSubstr("has no triangles"));
  const std::string document = gltf_document("square.bin", 60);
  EXPECT_THAT(error(document, buffer.substr(0, 59)), HasSubstr("buffer 0 is shorter than it says"));
  const auto replaced = [&](const std::string& from, const std::string& to) {
    std::string out = document;
    out.replace(out.find(from), from.size(), to);
    return out;
  };
  EXPECT_THAT(error(replaced("\"count\":4", "\"count\":5"), buffer), HasSubstr("reaches beyond its buffer"));
  EXPECT_THAT(error(replaced("\"count\":4", "\"count\":4e15"), buffer), HasSubstr("reaches beyond its buffer"));
  EXPECT_THAT(error(replaced("\"count\":4", "\"count\":3"), buffer), HasSubstr("names vertex 3"));
  EXPECT_THAT(error(replaced("\"count\":4", "\"sparse\":{},\"count\":4"), buffer), HasSubstr("is sparse"));
  EXPECT_THAT(error(replaced("\"mesh\":0", "\"mesh\":7"), buffer), HasSubstr("'mesh' is 7"));
  EXPECT_THAT(error(replaced("\"mesh\":0", "\"children\":[0]"), buffer), HasSubstr("stands at two places"));
  EXPECT_THAT(error(replaced("\"indices\":1", "\"extensions\":{\"KHR_draco_mesh_compression\":{}}"), buffer),
              HasSubstr("draco"));
  EXPECT_THAT(error(gltf_document("b", 60, R"("extensionsRequired":["EXT_meshopt_compression"],)"), buffer),
              HasSubstr("meshopt"));
  const std::string whole = glb(gltf_document("", 60), buffer);
  for (std::size_t n = 0; n < whole.size(); ++n) EXPECT_NE(error(whole.substr(0, n), ""), "none") << n;
}

class MeshScene : public testing::Test {
 protected:
  MeshScene() { std::filesystem::create_directories(folder); }
  ~MeshScene() override { std::filesystem::remove_all(folder); }

  void write(const std::string& name, const std::string& text) const { write_atomically(folder / name, text); }
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
  write("head.glb", glb(gltf_document("", 60), gltf_buffer()));
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

}  // namespace
}  // namespace tresse::io
