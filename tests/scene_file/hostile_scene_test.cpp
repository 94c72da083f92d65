#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include <tresse/base/errors.hpp>
#include <tresse/scene_file/scene_file.hpp>

/// Scenes that must be refused: one line that says where, what was found and what was expected. An @ marks the position
/// that the message must name; it is taken out before the text is read. Without an @ only the file is named.
namespace tresse::scene_file {
namespace TRESSE_TEST_FILE {

using testing::HasSubstr;
using testing::StartsWith;

const std::string kFibre = R"(
[[fibres]]
name = "hair"
material = "nylon"
length = "10 cm"
elements = 4
radius = "1 mm"
)";

struct Hostile {
  std::string name;
  std::string text;
  std::vector<std::string> words;
};

void PrintTo(const Hostile& scene, std::ostream* out) { *out << scene.name; }

std::string take_mark(std::string& text) {
  const std::size_t mark = text.find('@');
  if (mark == std::string::npos) return "scene.toml:";
  int line = 1, column = 1;
  for (std::size_t i = 0; i < mark; ++i) {
    ++column;
    if (text[i] == '\n') {
      ++line;
      column = 1;
    }
  }
  text.erase(mark, 1);
  return "scene.toml:" + std::to_string(line) + ":" + std::to_string(column) + ": ";
}

std::string message_of(const std::string& text, const ParameterOverrides& set = {}) {
  try {
    static_cast<void>(parse_scene(text, "scene.toml", set));
  } catch (const InvalidInput& error) {
    return error.what();
  }
  return "accepted";
}

class HostileScene : public testing::TestWithParam<Hostile> {};

TEST_P(HostileScene, IsRefusedInOneUsefulLine) {
  std::string text = GetParam().text;
  const std::string position = take_mark(text);
  const std::string message = message_of(text);
  EXPECT_THAT(message, StartsWith(position));
  for (const std::string& word : GetParam().words) EXPECT_THAT(message, HasSubstr(word));
  EXPECT_EQ(message.find_first_of("\n\r\t"), std::string::npos);
  EXPECT_LT(message.size(), 700U);
}

/// The list that tests/app/hostile_input.py gives to the program as well.
std::vector<Hostile> cases() {
  std::ifstream file(TRESSE_TEST_DATA "/hostile_scenes/cases.json");
  const auto data = nlohmann::json::parse(file);
  const auto joined = [](const nlohmann::json& lines) {
    std::string text;
    for (const std::string line : lines) text += (text.empty() ? "" : "\n") + line;
    return text;
  };
  const std::string fibre = joined(data.at("fibre"));
  const std::string twig = joined(data.at("twig"));
  std::vector<Hostile> out;
  for (const nlohmann::json& one : data.at("cases")) {
    std::string text = joined(one.at("text"));
    if (const std::size_t place = text.find("{fibre}"); place != std::string::npos) text.replace(place, 7, fibre);
    if (const std::size_t place = text.find("{twig}"); place != std::string::npos) text.replace(place, 6, twig);
    out.push_back({one.at("name"), text, one.at("words")});
  }
  out.push_back({"binary",
                 std::string("\x7f"
                             "ELF\x00\x01\x02\xff\xfe",
                             9),
                 {}});
  return out;
}

INSTANTIATE_TEST_SUITE_P(Scenes, HostileScene, testing::ValuesIn(cases()),
                         [](const auto& scene) { return scene.param.name; });

TEST(HostileScenes, DeepNestingIsRefusedNotFollowed) {
  const std::string deep(100000, '[');
  EXPECT_THAT(message_of("a = " + deep), HasSubstr("nested more than"));
  std::string dotted = "a";
  for (int i = 0; i < 100000; ++i) dotted += ".a";
  EXPECT_THAT(message_of(dotted + " = 1"), HasSubstr("nested more than"));
  EXPECT_THAT(message_of("[" + dotted + "]"), HasSubstr("nested more than"));
  std::string quoted = "\"a\"";
  for (int i = 0; i < 100000; ++i) quoted += " . 'a'";
  EXPECT_THAT(message_of(quoted + " = 1"), HasSubstr("nested more than"));
  const std::string brackets = "[simulation]\ntime_step = \"" + std::string(1000, '(') + "1\"\n" + kFibre;
  EXPECT_THAT(message_of(brackets), HasSubstr("nested brackets"));
}

TEST(HostileScenes, LongChainsOfParametersAreRefused) {
  std::string text = "[parameters]\n";
  for (int i = 0; i < 900; ++i) text += "p" + std::to_string(i) + " = \"${p" + std::to_string(i + 1) + "}\"\n";
  EXPECT_THAT(message_of(text + "p900 = 1\n" + kFibre), HasSubstr("in a row"));
}

TEST(HostileScenes, NamesWithControlCharactersStayOnOneLine) {
  const std::string message = message_of("\"a\\nb\\u001b[31m\" = 1\n" + kFibre);
  EXPECT_THAT(message, HasSubstr("a\\nb\\x1b"));
  EXPECT_EQ(message.find('\n'), std::string::npos);
}

TEST(HostileScenes, HugeFilesAreRefused) {
  const std::string text(std::size_t{65} << 20, '#');
  EXPECT_THAT(message_of(text), HasSubstr("at most 67108864"));
}

struct BadOverride {
  std::string name, value;
  std::vector<std::string> words;
};

TEST(Overrides, AreRefusedWithTheirOwnText) {
  const std::string text =
      "[parameters]\nlength = \"3 cm\"\nsteps = 10\nself = true\nmodel = \"super-helix\"\n" + kFibre;
  const std::vector<BadOverride> cases{
      {"lenght", "1", {"--set lenght=1", "no parameter \"lenght\"", "did you mean \"length\""}},
      {"zzzzzz", "1", {"it has \"length\", \"steps\", \"self\" or \"model\""}},
      {"length", "", {"no value"}},
      {"length", "3 kg", {"--set length=3 kg", "a mass [kg]", "expected a length [m]", "3 cm"}},
      {"length", "long", {"expected a number, as in the file (3 cm)"}},
      {"length", "true", {"expected a number"}},
      {"length", "3 cn", {"unknown unit \"cn\""}},
      {"steps", "nan", {"expected a number"}},
      {"steps", "1e999", {"out of range"}},
      {"steps", "${steps}", {"circle"}},
      {"self", "2", {"true or false"}},
  };
  for (const BadOverride& bad : cases) {
    const std::string message = message_of(text, {{bad.name, bad.value}});
    for (const std::string& word : bad.words) EXPECT_THAT(message, HasSubstr(word)) << bad.name << "=" << bad.value;
  }
  EXPECT_THAT(message_of(kFibre, {{"a", "1"}}), HasSubstr("no parameters at all"));
}

TEST(Overrides, AreNamedWhereTheirValueIsRefused) {
  const std::string text = R"(
[parameters]
long = 0.03
model = "super-helix"
steps = 1e-3
[simulation]
time_step = "${steps}"
[[fibres]]
name = "hair"
material = "nylon"
length = "${long}"
model = "${model}"
elements = 4
radius = "1 mm"
)";
  const std::vector<BadOverride> cases{
      {"long", "-1", {"scene.toml:", "fibres.hair.length is \"${long}\" = -1 (--set long=-1); expected a length"}},
      {"long", "3 kg", {"fibres.hair.length = \"${long}\" is a mass [kg] (--set long=3 kg); expected a length"}},
      {"model", "abc", {"fibres.hair.model is \"abc\", from \"${model}\" (--set model=abc); expected \"super-helix\""}},
      {"steps", "0", {"simulation.time_step is \"${steps}\" = 0 (--set steps=0); expected a time"}},
      {"simulation.time_step",
       "1 m",
       {"scene.toml: --set simulation.time_step=1 m: ", "is a length [m]; expected a time"}},
      {"simulation.tmie_step",
       "1",
       {"scene.toml: --set simulation.tmie_step=1: unknown key \"tmie_step\"", "\"time_step\""}},
  };
  for (const BadOverride& bad : cases) {
    const std::string message = message_of(text, {{bad.name, bad.value}});
    for (const std::string& word : bad.words) EXPECT_THAT(message, HasSubstr(word)) << bad.name << "=" << bad.value;
  }
}

TEST(HostileScenes, MissingFilesAndFoldersAreNamed) {
  EXPECT_THROW(
      {
        try {
          static_cast<void>(read_scene("/nowhere/scene.toml"));
        } catch (const InvalidInput& error) {
          EXPECT_THAT(error.what(), HasSubstr("/nowhere/scene.toml: No such file"));
          throw;
        }
      },
      InvalidInput);
  EXPECT_THROW(static_cast<void>(read_scene("/tmp")), InvalidInput);
}

}  // namespace TRESSE_TEST_FILE
}  // namespace tresse::scene_file
