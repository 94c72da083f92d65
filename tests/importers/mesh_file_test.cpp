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
#include <tresse/files/atomic_file.hpp>
#include <tresse/importers/mesh_file.hpp>

#include "support/gltf.hpp"
#include "support/messages.hpp"

namespace tresse::importers {
namespace TRESSE_TEST_FILE {

using geometry::Face;
using test::error_of;
using test::glb;
using test::gltf_buffer;
using test::gltf_document;
using test::put;
using testing::HasSubstr;

/// Two triangles over the unit square, the same in every format.
void expect_square(const MeshData& mesh) {
  ASSERT_EQ(mesh.vertices.size(), 4U);
  EXPECT_EQ(mesh.vertices[2], Vector3(1.0, 1.0, 0.5));
  EXPECT_EQ(mesh.faces, (std::vector<Face>{{0, 1, 2}, {0, 2, 3}}));
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

}  // namespace TRESSE_TEST_FILE
}  // namespace tresse::importers
