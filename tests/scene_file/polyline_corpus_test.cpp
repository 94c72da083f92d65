#include <algorithm>
#include <filesystem>
#include <set>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <tresse/base/errors.hpp>
#include <tresse/files/atomic_file.hpp>
#include <tresse/importers/polyline_file.hpp>

/// Files as other programs write them, each with what it should give: tests/data/corpus/manifest.json. An entry has the
/// number of strands and of their points, the first and the last point ("from", "to"), a point or a radius in between
/// ("at", "radius_at": strand, point, value), the first and the last radius, what the remarks begin with or hold, or
/// else what the error holds.
namespace tresse::scene_file {
namespace TRESSE_TEST_FILE {

using Json = nlohmann::json;

const std::filesystem::path folder = std::filesystem::path(TRESSE_TEST_DATA) / "corpus";

// Coordinates are in single precision in .hair, and of at most a few units elsewhere.
constexpr double near = 1e-6;

void expect_point(const Vector3& found, const Json& expected) {
  for (int k = 0; k < 3; ++k) EXPECT_NEAR(found[k], expected.at(static_cast<std::size_t>(k)).get<double>(), near);
}

void expect_points(const importers::Polylines& found, const Json& entry) {
  if (const auto points = entry.find("points"); points != entry.end() && !points->is_null()) {
    for (std::size_t i = 0; i < found.rows.size(); ++i)
      EXPECT_EQ(found.rows[i].size(), (points->is_array() ? points->at(i) : *points).get<std::size_t>()) << i;
  }
  if (entry.contains("from")) expect_point(found.rows.front().front(), entry["from"]);
  if (entry.contains("to")) expect_point(found.rows.back().back(), entry["to"]);
  if (entry.contains("at")) {
    const Json& at = entry["at"];
    expect_point(found.rows.at(at.at(0)).at(at.at(1)), at.at(2));
  }
  std::vector<std::size_t> numbers;
  for (std::size_t i = 0; i < found.rows.size(); ++i) numbers.push_back(i);
  if (entry.contains("numbers")) numbers = entry["numbers"].get<std::vector<std::size_t>>();
  if (entry["remarks"].empty() || entry.contains("numbers")) {
    EXPECT_EQ(found.numbers, numbers);
  }
}

void expect_radii(const importers::Polylines& found, const Json& entry) {
  const Json& radii = entry.at("radii");
  EXPECT_EQ(found.radii.empty(), radii.is_null());
  if (found.radii.empty() || radii.is_null()) {
    const std::string why = entry.value("no_radii", "");
    EXPECT_NE(found.why_no_radii.find(why), std::string::npos) << found.why_no_radii;
    return;
  }
  ASSERT_EQ(found.radii.size(), found.rows.size());
  for (std::size_t i = 0; i < found.rows.size(); ++i) EXPECT_EQ(found.radii[i].size(), found.rows[i].size());
  const double relative = 1e-6;
  EXPECT_NEAR(found.radii.front().front(), radii.at(0).get<double>(), relative * radii.at(0).get<double>());
  EXPECT_NEAR(found.radii.back().back(), radii.at(1).get<double>(), relative * radii.at(1).get<double>());
  if (entry.contains("radius_at")) {
    const Json& at = entry["radius_at"];
    const double expected = at.at(2).get<double>();
    EXPECT_NEAR(found.radii.at(at.at(0)).at(at.at(1)), expected, relative * expected);
  }
}

void expect_read(const importers::Polylines& found, const Json& entry) {
  EXPECT_EQ(found.rows.size(), entry.at("strands").get<std::size_t>());
  EXPECT_EQ(found.in_metres, entry.value("in_metres", false));
  EXPECT_EQ(found.y_up, entry.value("y_up", false));
  if (found.rows.size() == entry.at("strands").get<std::size_t>()) expect_points(found, entry);
  expect_radii(found, entry);
  const Json& remarks = entry.at("remarks");
  EXPECT_EQ(found.remarks.size(), remarks.size());
  for (std::size_t i = 0; i < found.remarks.size(); ++i) {
    const std::string expected = i < remarks.size() ? remarks.at(i).get<std::string>() : "nothing";
    EXPECT_NE(found.remarks[i].find(expected), std::string::npos) << found.remarks[i] << "\nexpected: " << expected;
  }
}

Json manifest() { return Json::parse(files::read_file(folder / "manifest.json")); }

TEST(PolylineCorpus, EveryFileGivesWhatItShould) {
  for (const Json& entry : manifest()) {
    const auto file = entry.at("file").get<std::string>();
    SCOPED_TRACE(file);
    try {
      const importers::Polylines found = importers::read_polylines(folder / file, entry.value("frame", 0));
      if (entry.contains("error"))
        ADD_FAILURE() << "read, where it should be refused";
      else
        expect_read(found, entry);
    } catch (const InvalidInput& error) {
      const std::string message = error.what();
      EXPECT_NE(message.find(entry.value("error", "it should be read")), std::string::npos) << message;
      EXPECT_EQ(message.find('\n'), std::string::npos) << message;
    }
  }
}

TEST(PolylineCorpus, HasEveryFileOnce) {
  std::multiset<std::string> listed, there;
  for (const Json& entry : manifest()) listed.insert(entry.at("file").get<std::string>());
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    const std::string name = entry.path().filename().string();
    if (name != "manifest.json" && name != "SOURCE.md") there.insert(name);
  }
  EXPECT_EQ(listed, there);
  EXPECT_GE(there.size(), 90U);
}

/// Where the scene gives a radius, no strand is left out for the file's own.
TEST(PolylineCorpus, ThicknessThatIsNotWantedIsNotLookedAt) {
  for (const char* file :
       {"negative_thickness.hair", "no_thickness_at_end.hair", "widths_negative.usda", "radius_of_words.csv"}) {
    SCOPED_TRACE(file);
    const importers::Polylines found = importers::read_polylines(folder / file, 0, false);
    EXPECT_EQ(found.rows.size(), 2U);
    EXPECT_TRUE(found.radii.empty());
    EXPECT_TRUE(found.remarks.empty());
  }
}

}  // namespace TRESSE_TEST_FILE
}  // namespace tresse::scene_file
