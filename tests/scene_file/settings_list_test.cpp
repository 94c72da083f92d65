#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <optional>
#include <string>

#include <nlohmann/json.hpp>

#include <tresse/base/errors.hpp>
#include <tresse/scene/check_fields.hpp>
#include <tresse/scene_file/detail/scene_entries.hpp>
#include <tresse/scene_file/detail/scene_reader.hpp>

/// What a new setting takes: a member, and a line in the list of its table.
namespace tresse {

enum class Sail { none, jib, spinnaker };

template <>
struct Words<Sail> {
  static constexpr std::array<std::string_view, 3> list{"none", "jib", "spinnaker"};
};

/// The settings of [output], and some that the program does not have.
struct Extended : scene::Output {
  double pause = 0.25;
  std::optional<int> heralds;
  Sail sail = Sail::jib;
  double slant = 0.0;
};

template <>
struct scene::Table<Extended> : scene::Table<scene::Output> {
  static void fields(auto& x, auto&& visit) {
    scene::Table<scene::Output>::fields(x, visit);
    visit({.key = "pause", .unit = "s", .range = {0.0, 2.0}, .meaning = "before the first frame"}, x.pause);
    visit({.key = "heralds", .range = {1, 9}, .meaning = "0: as many as fit", .none = 0.0}, x.heralds);
    visit({.key = "sail", .meaning = "what pulls"}, x.sail);
    visit({.key = "slant", .unit = "rad", .range = {0.0, 1.0}, .meaning = "of it", .in_degrees = "the same in degrees"},
          x.slant);
  }
};

namespace scene_file::detail {
namespace {

Extended read(const std::string& text) {
  TomlNode root = parse_toml(text, "kite.toml");
  const ParameterOverrides none;
  const Parameters parameters(nullptr, text, "kite.toml", none);
  ReaderContext context{"kite.toml", parameters, none, {}, {}};
  Extended out;
  TableReader(context, *root.find("output"), "output", description<Extended>()).read<Extended>(out);
  return out;
}

std::string refused(const std::function<void()>& call) {
  try {
    call();
  } catch (const InvalidInput& error) {
    return error.what();
  }
  return "accepted";
}

TEST(SettingsList, AnotherSettingIsRead) {
  const Extended out =
      read("[output]\nevery = 3\npause = \"1500 ms\"\nheralds = 4\nsail = \"spinnaker\"\nslant_deg = 30\n");
  EXPECT_EQ(out.every, 3);
  EXPECT_EQ(out.pause, 1.5);
  EXPECT_EQ(out.heralds, 4);
  EXPECT_EQ(out.sail, Sail::spinnaker);
  EXPECT_NEAR(out.slant, 0.5235987755982988, 1e-15);
  EXPECT_EQ(read("[output]\nheralds = 0\n").heralds, std::nullopt);
}

TEST(SettingsList, WhatItCannotBeIsRefusedWithItsPlace) {
  const auto message = [](const std::string& line) { return refused([&] { read("[output]\n" + line + "\n"); }); };
  EXPECT_EQ(message("pause = 3"), "kite.toml:2:9: output.pause is 3; expected a time [s] from 0 s to 2 s");
  EXPECT_EQ(message("pause = \"3 m\""),
            "kite.toml:2:9: output.pause = \"3 m\" is a length [m]; expected a time [s] from 0 s to 2 s");
  EXPECT_EQ(message("heralds = 10"), "kite.toml:2:11: output.heralds is 10; expected a whole number from 1 to 9, or 0");
  EXPECT_EQ(
      message("sail = \"jibe\""),
      "kite.toml:2:8: output.sail is \"jibe\"; expected \"none\", \"jib\" or \"spinnaker\" (did you mean \"jib\"?)");
  EXPECT_EQ(message("pauses = 1"), "kite.toml:2:1: unknown key \"pauses\" in output; did you mean \"pause\"?");
  EXPECT_THAT(message("slant = 1\nslant_deg = 1"), testing::HasSubstr("stands beside \"slant\""));
}

TEST(SettingsList, AnotherSettingIsWrittenAndReadsBack) {
  Extended x;
  x.pause = 0.5;
  const std::string text = Entries("\n").add<Extended>(x).text();
  EXPECT_THAT(text, testing::EndsWith("points_per_element = 8\npause = 0.5\nheralds = 0\nsail = \"jib\"\nslant = 0.0"));
  const Extended again = read("[output]\n" + text + "\n");
  EXPECT_EQ(again.pause, x.pause);
  EXPECT_EQ(again.heralds, x.heralds);
  EXPECT_EQ(again.sail, x.sail);
}

TEST(SettingsList, AnotherSettingIsChecked) {
  const auto message = [](const std::function<void(Extended&)>& change) {
    Extended x;
    change(x);
    return refused([&] { scene::FieldCheck("output").table<Extended>(x); });
  };
  EXPECT_EQ(message([](Extended&) {}), "accepted");
  EXPECT_EQ(message([](Extended& x) { x.pause = 3.0; }), "output.pause is 3; expected at least 0 and at most 2");
  EXPECT_EQ(message([](Extended& x) { x.heralds = 0; }), "output.heralds is 0; expected at least 1 and at most 9");
  EXPECT_THAT(message([](Extended& x) { x.sail = static_cast<Sail>(3); }), testing::StartsWith("output.sail is no"));
  EXPECT_THAT(message([](Extended& x) { x.every = 0; }), testing::StartsWith("output.every is 0"));
}

/// tests/app/schema_test.py has the row that tools/scene_tables makes of the first of these.
TEST(SettingsList, AnotherSettingStandsInTheSchema) {
  const nlohmann::ordered_json keys = table_schema(description<Extended>()).at("properties");
  EXPECT_EQ(keys.at("pause"), nlohmann::ordered_json::parse(R"({
    "description": "before the first frame [s]. Default: 0.25",
    "x-tresse": {"meaning": "before the first frame", "unit": "s"},
    "default": 0.25,
    "anyOf": [{"type": "number", "minimum": 0.0, "maximum": 2.0}, {"type": "string"}]})"));
  EXPECT_EQ(keys.at("heralds").at("default"), 0);
  EXPECT_EQ(keys.at("heralds").at("anyOf").at(0), nlohmann::ordered_json::parse(R"({
    "type": "integer", "minimum": 0, "maximum": 9})"));
  EXPECT_EQ(keys.at("sail").at("default"), "jib");
  EXPECT_EQ(keys.at("sail").at("anyOf").at(0).at("enum"), (std::vector<std::string>{"none", "jib", "spinnaker"}));
  EXPECT_EQ(keys.at("slant_deg").at("x-tresse").at("unit"), "deg");
  EXPECT_TRUE(keys.contains("every"));
}

}  // namespace
}  // namespace scene_file::detail
}  // namespace tresse
