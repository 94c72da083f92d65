#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <functional>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <tresse/base/errors.hpp>
#include <tresse/problem_files/distance_file.hpp>

namespace tresse::problem_files {
namespace TRESSE_TEST_FILE {

using nlohmann::json;

class DistanceFile : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = std::filesystem::temp_directory_path() / ("tresse_distance_" + std::to_string(::getpid()) +
                                                        testing::UnitTest::GetInstance()->current_test_info()->name());
    std::filesystem::create_directories(folder_);
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  std::filesystem::path write(const std::string& text) {
    const auto path = folder_ / "pairs.json";
    std::ofstream(path) << text;
    return path;
  }
  /// The message for a file of that text.
  std::string refusal(const std::string& text) {
    try {
      read_curve_pairs(write(text));
    } catch (const InvalidInput& error) {
      EXPECT_THAT(error.what(), testing::Not(testing::HasSubstr("\n")));
      return error.what();
    }
    return "accepted";
  }
  /// The message when the first pair's second curve is changed.
  std::string refusal_of_curve(const std::function<void(json&)>& change) {
    json curve = helix();
    change(curve);
    return refusal(json{{"pairs", {{{"a", segment()}, {"b", curve}}}}}.dump());
  }
  static json helix() {
    return {{"type", "helix"},
            {"position", {1, 2, 3}},
            {"frame", {{0, 1, 0}, {0, 0, 1}, {1, 0, 0}}},
            {"curvature", {10, 20, 30}},
            {"length", 0.5}};
  }
  static json segment() { return {{"type", "segment"}, {"from", {0, 0, 0}}, {"to", {0, 3, 4}}}; }

  std::filesystem::path folder_;
};

TEST_F(DistanceFile, reads_every_type_of_curve) {
  json clothoid = helix();
  clothoid["type"] = "clothoid";
  clothoid["curvature_slope"] = {1, 2, 3};
  const json bezier = {{"type", "bezier"}, {"points", {{0, 0, 0}, {1, 0, 0}, {1, 1, 0}, {1, 1, 1}}}};
  const json text = {
      {"pairs", {{{"a", helix()}, {"b", clothoid}}, {{"a", bezier}, {"b", segment()}, {"category", "x"}}}}};
  const auto pairs = read_curve_pairs(write(text.dump()));
  ASSERT_EQ(pairs.size(), 2U);
  const auto& arc = std::get<geometry::HelixArc>(pairs[0].a);
  EXPECT_EQ(arc.frame.col(0), Vector3(0, 1, 0));  // the file lists axes, the first is the tangent
  EXPECT_EQ(arc.frame.col(2), Vector3(1, 0, 0));
  EXPECT_EQ(std::get<geometry::ClothoidArc>(pairs[0].b).curvature_slope, Vector3(1, 2, 3));
  EXPECT_EQ(std::get<geometry::CubicBezier>(pairs[1].a).points[3], Vector3(1, 1, 1));
  EXPECT_EQ(geometry::domain(pairs[1].b).end, 5.0);  // arc length
}

TEST_F(DistanceFile, accepts_no_pairs) { EXPECT_TRUE(read_curve_pairs(write(R"({"pairs": []})")).empty()); }

TEST_F(DistanceFile, refuses_with_the_place) {
  using testing::HasSubstr;
  EXPECT_THAT(refusal("{\"pairs\": [\n {,"), HasSubstr("pairs.json:2:3: broken JSON"));
  EXPECT_THAT(refusal("[]"), HasSubstr("expected an object"));
  EXPECT_THAT(refusal("{}"), HasSubstr("key 'pairs' is missing"));
  EXPECT_THAT(refusal(R"({"pairs": 3})"), HasSubstr("expected a list of pairs"));
  EXPECT_THAT(refusal(R"({"pairs": [], "more": 1})"), HasSubstr("unknown key \"more\""));
  EXPECT_THAT(refusal(R"({"pairs": [{"a": {"type": "segment", "from": [0,0,0], "to": [0,0,1]}}]})"),
              HasSubstr("pair 0: key 'b' is missing"));
  EXPECT_THAT(refusal(R"({"pairs": [{"a": 1, "b": 2}]})"), HasSubstr("pair 0: a: found 1, expected a curve"));
  EXPECT_THAT(refusal_of_curve([](json& c) { c["type"] = "spline"; }), HasSubstr("pair 0: b.type: found \"spline\""));
  EXPECT_THAT(refusal_of_curve([](json& c) { c["colour"] = 1; }), HasSubstr("pair 0: b: unknown key"));
  EXPECT_THAT(refusal_of_curve([](json& c) { c.erase("length"); }), HasSubstr("key 'length' is missing"));
  EXPECT_THAT(refusal_of_curve([](json& c) { c["length"] = 0; }),
              HasSubstr("b.length: found 0, expected a length above 0"));
  EXPECT_THAT(refusal_of_curve([](json& c) { c["length"] = "1 m"; }), HasSubstr("expected a number"));
  EXPECT_THAT(refusal_of_curve([](json& c) { c["curvature"] = {1, 2}; }), HasSubstr("expected a list of 3 numbers"));
  EXPECT_THAT(refusal_of_curve([](json& c) { c["frame"][0] = {0, 1, 1e-6}; }), HasSubstr("off orthonormal by"));
  EXPECT_THAT(refusal_of_curve([](json& c) { c["frame"][2] = {-1, 0, 0}; }), HasSubstr("left-handed"));
  EXPECT_THAT(refusal_of_curve([](json& c) {
                c["curvature"] = {2147483648, 0, 0};
              }),
              HasSubstr("expected at most 100000"));
  EXPECT_THAT(refusal(R"({"pairs": [{"a": {"type": "segment", "from": [0,0,1e999], "to": [0,0,1]}, "b": 1}]})"),
              HasSubstr("out of range"));
  EXPECT_THROW(read_curve_pairs(folder_ / "absent.json"), InvalidInput);
  EXPECT_THROW(read_curve_pairs(folder_), InvalidInput);
}

TEST_F(DistanceFile, writes_what_it_was_given_in_full) {
  geometry::ClosestPoints point{
      .distance = 0.1 + 0.2, .s_a = 1.0 / 3.0, .s_b = 2.0, .found = true, .certified = true, .steps = 7};
  const auto path = folder_ / "out.json";
  write_distances(path, {point, point}, 0.25);
  std::ifstream in(path);
  const json out = json::parse(in);
  ASSERT_EQ(out["results"].size(), 2U);
  EXPECT_EQ(out["results"][1]["distance"].get<double>(), point.distance);
  EXPECT_EQ(out["results"][1]["s_a"].get<double>(), point.s_a);
  EXPECT_TRUE(out["results"][1]["certified"].get<bool>());
  EXPECT_EQ(out["results"][1]["steps"], 7);
  EXPECT_EQ(out["seconds"], 0.25);
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder_), {}), 1);  // no temporary file stays
  EXPECT_THROW(write_distances(folder_ / "no" / "out.json", {}, 0.0), SystemFailure);
}

TEST_F(DistanceFile, gives_back_a_trace_with_its_bounds_and_guesses) {
  Matrix3 frame;
  frame << 0, 0, 1, 1, 0, 0, 0, 1, 0;
  const geometry::Curve helix = geometry::HelixArc{Vector3(0.1, -0.2, 1.0 / 3.0), frame, Vector3(1, 2, 3), 0.025};
  const geometry::Curve bar = geometry::LineSegment{Vector3(0, 0, 0.1), Vector3(0, 0.2, 0)};
  const geometry::Curve clothoid =
      geometry::ClothoidArc{Vector3(0.1, 0, 0), frame, Vector3(1, 2, 3), Vector3(4, 5, 6), 0.03};
  const geometry::Curve cubic =
      geometry::CubicBezier{{Vector3(0, 0, 0), Vector3(1, 0, 0), Vector3(1, 1, 0), Vector3(1, 1, 1)}};
  const std::vector<assembly::PairQuery> written = {{helix, bar, 1.0 / 7.0e3, geometry::ClosestPointsGuess{1e-3, 2e-3}},
                                                    {clothoid, cubic, 2e-4}};
  const auto path = folder_ / "trace.json";
  write_pair_trace(path, written);
  const std::vector<assembly::PairQuery> read = read_pair_trace(path);
  ASSERT_EQ(read.size(), written.size());
  for (std::size_t i = 0; i < read.size(); ++i) {
    EXPECT_EQ(read[i].upper_bound, written[i].upper_bound);
    EXPECT_EQ(read[i].a.index(), written[i].a.index());
    EXPECT_EQ(read[i].b.index(), written[i].b.index());
    for (const double share : {0.0, 0.4, 1.0}) {
      const double s = share * geometry::domain(written[i].a).end;
      const double t = share * geometry::domain(written[i].b).end;
      EXPECT_EQ(geometry::position(read[i].a, s), geometry::position(written[i].a, s));
      EXPECT_EQ(geometry::position(read[i].b, t), geometry::position(written[i].b, t));
    }
  }
  ASSERT_TRUE(read[0].guess.has_value());
  EXPECT_EQ(read[0].guess->s_a, 1e-3);
  EXPECT_EQ(read[0].guess->s_b, 2e-3);
  EXPECT_FALSE(read[1].guess.has_value());
  EXPECT_EQ(read_curve_pairs(path).size(), 2U);  // a trace is a list of pairs too
  EXPECT_THROW(static_cast<void>(read_pair_trace(write(R"({"pairs": [{"a": {"type": "segment", "from": [0, 0, 0],
      "to": [1, 0, 0]}, "b": {"type": "segment", "from": [0, 0, 1], "to": [1, 0, 1]}}]})"))),
               InvalidInput);
}

}  // namespace TRESSE_TEST_FILE
}  // namespace tresse::problem_files
