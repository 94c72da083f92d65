#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include <nlohmann/json.hpp>

#include <tresse/scene_file/scene_file.hpp>
#include <tresse/scene_file/scene_schema.hpp>

namespace tresse::scene_file {
namespace TRESSE_TEST_FILE {

using nlohmann::json;

const json& schema() {
  static const json parsed = json::parse(scene_schema());
  return parsed;
}

/// Of every table that takes other keys for other uses, all of these.
std::vector<json> variants(const json& table) {
  return table.contains("anyOf") ? table.at("anyOf").get<std::vector<json>>() : std::vector<json>{table};
}

/// visit(table, key, property) for every property of every table.
template <class Visit>
void for_each_property(Visit&& visit) {
  const auto of = [&](const std::string& name, const json& table) {
    for (const json& variant : variants(table)) {
      for (const auto& [key, property] : variant.at("properties").items()) visit(name, key, property);
    }
  };
  of("", schema());
  for (const auto& [name, table] : schema().at("definitions").items()) of(name, table);
}

json property(const std::string& table, const std::string& key) {
  for (const json& variant : variants(schema().at("definitions").at(table))) {
    if (variant.at("properties").contains(key)) return variant.at("properties").at(key);
  }
  return {};
}

TEST(SceneSchema, EveryKeyHasAFormAndAMeaning) {
  for_each_property([](const std::string& table, const std::string& key, const json& property) {
    EXPECT_TRUE(property.contains("anyOf") || property.contains("allOf") || property.contains("type"))
        << table << "." << key;
    EXPECT_NE(property.at("x-tresse").at("meaning"), "") << table << "." << key;
  });
  for (const auto& [name, table] : schema().at("definitions").items()) EXPECT_NE(table.at("description"), "") << name;
}

TEST(SceneSchema, DefaultsUnitsAndRangesAreTheReaders) {
  const json step = property("simulation", "time_step");
  EXPECT_EQ(step.at("default"), "auto");
  EXPECT_EQ(step.at("anyOf").at(2).at("enum"), json({"auto"}));
  EXPECT_EQ(step.at("x-tresse").at("unit"), "s");
  EXPECT_EQ(step.at("anyOf").at(0).at("minimum"), 1e-12);
  EXPECT_EQ(step.at("anyOf").at(0).at("maximum"), 1e3);
  EXPECT_EQ(property("simulation", "gravity").at("default"), json({0.0, 0.0, -9.81}));
  EXPECT_EQ(property("contact", "tolerance").at("x-tresse").at("unit"), "1 or m");
  EXPECT_EQ(property("statics", "tolerance").at("anyOf").at(0).at("exclusiveMinimum"), 0.0);
  EXPECT_EQ(property("fibres_root", "roll_deg").at("x-tresse").at("unit"), "deg");
}

TEST(SceneSchema, WhatHangsOnTheSceneHasNoBoundAndNoDefault) {
  const json at = property("fibres_holds", "at");
  EXPECT_FALSE(at.contains("default"));
  EXPECT_FALSE(at.at("anyOf").at(0).contains("maximum"));
  EXPECT_FALSE(property("fibres_holds", "release").contains("default"));  // never
  EXPECT_FALSE(property("obstacles", "reference").contains("default"));
}

TEST(SceneSchema, KeysThatAVariantRefusesAreNotOffered) {
  for (const json& variant : schema().at("definitions").at("obstacles").at("anyOf")) {
    const json& keys = variant.at("properties");
    const std::string shape = keys.at("shape").at("anyOf").at(0).at("const");
    EXPECT_EQ(keys.contains("mass"), shape != "plane" && shape != "comb" && shape != "mesh") << shape;
  }
  for (const json& variant : schema().at("definitions").at("fibres_root").at("anyOf"))
    EXPECT_NE(variant.at("properties").contains("parent"), variant.at("properties").contains("condition"));
}

}  // namespace TRESSE_TEST_FILE
}  // namespace tresse::scene_file
