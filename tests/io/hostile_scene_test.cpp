#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include <tresse/base/errors.hpp>
#include <tresse/io/scene_file.hpp>

/// Scenes that must be refused: one line that says where, what was found and what was expected. An @ marks the position
/// that the message must name; it is taken out before the text is read. Without an @ only the file is named.
namespace tresse::io {
namespace {

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

std::string fibre(const std::string& more) { return kFibre + more; }

const std::vector<Hostile> kCases{
    {"empty_file", "@", {"no [[fibres]]", "at least one"}},
    {"not_toml", "a = @= 3", {"not valid TOML"}},
    {"binary",
     std::string("\x7f"
                 "ELF\x00\x01\x02\xff\xfe",
                 9),
     {}},
    {"unclosed_string", "title = \"abc\n", {}},
    {"duplicate_key", "seed = 1\nseed = 2\n", {}},
    {"unknown_table",
     "[@simulatoin]\ntime_step = 1\n" + kFibre,
     {"unknown key \"simulatoin\"", "did you mean \"simulation\""}},
    {"unknown_key",
     "[simulation]\n@timestep = 1e-3\n" + kFibre,
     {"unknown key \"timestep\" in simulation", "did you mean \"time_step\""}},
    {"unknown_key_in_fibre", fibre("@lenght = 3\n"), {"unknown key \"lenght\" in fibres.hair", "\"length\""}},
    {"unknown_key_in_root", fibre("root = { @postion = [0, 0, 0] }\n"), {"\"postion\"", "\"position\""}},
    {"key_of_another_shape",
     kFibre + "[[obstacles]]\nname = \"a\"\nshape = \"sphere\"\ncenter = [0,0,0]\nradius = 1\n@axis = [0,0,1]\n",
     {"unknown key \"axis\"", "obstacles.a"}},
    {"wrong_type_number", "[simulation]\ntime_step = @true\n" + kFibre, {"time_step is true", "expected a time [s]"}},
    {"wrong_type_string", "[simulation]\nscheme = @3\n" + kFibre, {"scheme is 3", "\"semi-implicit\""}},
    {"wrong_type_table", "simulation = @3\n" + kFibre, {"simulation is 3", "expected a table"}},
    {"wrong_type_date", "[simulation]\nduration = @2026-11-21\n" + kFibre, {"a date or time", "expected a time"}},
    {"wrong_type_boolean", "[contact]\nself_contact = @1\n" + kFibre, {"self_contact is 1", "true or false"}},
    {"fibres_not_an_array", "@[fibres]\nname = \"a\"\n", {"is a table", "[[fibres]]"}},
    {"wrong_dimension",
     "[simulation]\ntime_step = @\"3 mm\"\n" + kFibre,
     {"\"3 mm\" is a length [m]", "expected a time [s]"}},
    {"angle_for_a_ratio", "[friction]\ndefault = @\"30 deg\"\n" + kFibre, {"an angle [rad]", "plain number"}},
    {"unknown_unit", "[simulation]\ntime_step = \"3 @sec\"\n" + kFibre, {"unknown unit \"sec\"", "expected a time"}},
    {"unit_misspelt",
     "[simulation]\ntime_step = \"3 @mms\"\n" + kFibre,
     {"unknown unit \"mms\"", "did you mean \"mm\""}},
    {"no_number", "[simulation]\ntime_step = \"@\"\n" + kFibre, {"an empty string"}},
    {"a_word_for_a_number", "[simulation]\ntime_step = \"@fast\"\n" + kFibre, {"the word \"fast\"", "expected a time"}},
    {"bad_syntax", "[simulation]\ntime_step = \"1e-3 * @* 2\"\n" + kFibre, {"unexpected \"* 2\""}},
    {"unbalanced", "[simulation]\ntime_step = \"(1 + 2@\"\n" + kFibre, {"a ) is missing"}},
    {"adds_lengths_and_times",
     fibre("natural_curvature = \"1 1/cm @+ 2 s\"\n"),
     {"cannot add a curvature [1/m] and a time [s]"}},
    {"division_by_zero", "[simulation]\ntime_step = \"1 @/ 0\"\n" + kFibre, {"division by zero"}},
    {"overflow", "[simulation]\nduration = \"1e308 @* 1e308\"\n" + kFibre, {"not finite"}},
    {"root_of_negative", "[simulation]\nduration = \"@sqrt(-1)\"\n" + kFibre, {"negative"}},
    {"unknown_function", "[simulation]\nduration = \"@sqt(4)\"\n" + kFibre, {"unknown function \"sqt\"", "\"sqrt\""}},
    {"nan", "[simulation]\nduration = @nan\n" + kFibre, {"duration is nan", "expected a time"}},
    {"infinity", "[simulation]\nduration = @inf\n" + kFibre, {"duration is inf"}},
    {"negative_step",
     "[simulation]\ntime_step = @-1e-3\n" + kFibre,
     {"time_step is -0.001", "expected a time [s] from"}},
    {"zero_step", "[simulation]\ntime_step = @0\n" + kFibre, {"time_step is 0"}},
    {"endless", "[simulation]\nduration = 1e8\ntime_step = @1e-9\n" + kFibre, {"steps"}},
    {"negative_friction", "[friction]\ndefault = @-0.1\n" + kFibre, {"friction.default is -0.1", "from 0 to"}},
    {"poisson_ratio",
     "[materials.m]\npreset = \"nylon\"\npoisson_ratio = @0.6\n" + kFibre,
     {"poisson_ratio is 0.6", "at most 0.5"}},
    {"no_density",
     "@[materials.m]\nyoung_modulus = 1e9\npoisson_ratio = 0.3\n" + kFibre,
     {"no \"density\"", "human-hair"}},
    {"unknown_preset", "[materials.m]\npreset = @\"hair\"\n" + kFibre, {"\"hair\"", "expected \"human-hair\""}},
    {"unknown_material",
     "[[fibres]]\nname = \"a\"\nmaterial = @\"nyln\"\nlength = 1\nelements = 2\nradius = 1e-3\n",
     {"\"nyln\"", "\"nylon\""}},
    {"unknown_model",
     fibre("model = @\"superhelix\"\n"),
     {"\"superhelix\"", "super-clothoid", "did you mean \"super-helix\""}},
    {"unknown_solver", "[solver]\nname = @\"gauss-seidel\"\n" + kFibre, {"\"gauss-seidel\"", "hybrid-gauss-seidel"}},
    {"no_radius", "@[[fibres]]\nname = \"a\"\nmaterial = \"nylon\"\nlength = 1\nelements = 2\n", {"no \"radius\""}},
    {"no_length", "@[[fibres]]\nname = \"a\"\nmaterial = \"nylon\"\nelements = 2\nradius = 1e-3\n", {"no \"length\""}},
    {"no_elements",
     "@[[fibres]]\nname = \"a\"\nmaterial = \"nylon\"\nlength = 1\nradius = 1e-3\n",
     {"no \"elements\""}},
    {"no_name", "@[[fibres]]\nmaterial = \"nylon\"\n", {"fibres[0] has no \"name\""}},
    {"same_name_twice",
     kFibre + "[[fibres]]\nname = @\"hair\"\nmaterial = \"nylon\"\nlength = 1\nelements = 1\nradius = 1e-3\n",
     {"fibres[1].name is \"hair\"", "of its own"}},
    {"same_obstacle_twice",
     kFibre + "[[obstacles]]\nname = \"a\"\nshape = \"plane\"\npoint = [0,0,0]\nnormal = [0,0,1]\n[[obstacles]]\nname "
              "= @\"a\"\nshape = \"plane\"\npoint = "
              "[0,0,0]\nnormal = [0,0,1]\n",
     {"obstacles[1].name is \"a\""}},
    {"half_an_element",
     "[[fibres]]\nname = \"a\"\nmaterial = \"nylon\"\nlength = 1\nelements = @2.5\nradius = 1e-3\n",
     {"2.5", "whole number"}},
    {"too_many_elements",
     "[[fibres]]\nname = \"a\"\nmaterial = \"nylon\"\nlength = 1\nelements = @100000000\nradius = 1e-3\n",
     {"100000000", "to 10000"}},
    {"too_many_fibres", fibre("grid = { count = @1_000_000_000, spacing = 1 }\n"), {"1000000000", "to 1000000"}},
    {"too_many_unknowns",
     "@[[fibres]]\nname = \"a\"\nmaterial = \"nylon\"\nlength = 1\nelements = 10000\nradius = 1e-3\ngrid = { count = "
     "1000000, spacing = 1 }\n",
     {"unknowns", "100000000"}},
    {"too_many_fibres_together",
     fibre("grid = { count = 600000, spacing = 1 }\n") +
         "@[[fibres]]\nname = \"b\"\nmaterial = \"nylon\"\nlength = 1\nelements = 1\nradius = 1e-3\ngrid = { count = "
         "600000, spacing = 1 }\n",
     {"1200000 fibres in all"}},
    {"too_many_teeth",
     kFibre + "[[obstacles]]\nname = \"c\"\nshape = \"comb\"\nbase = [0,0,0]\ntooth_direction = [1,0,0]\nrow_direction "
              "= [0,1,0]\nteeth = @1e9\n",
     {"teeth is", "whole number from 1"}},
    {"seed_too_large", "[simulation]\nseed = 18446744073709551615\n" + kFibre, {}},
    {"negative_seed", "[simulation]\nseed = @-1\n" + kFibre, {"seed is -1"}},
    {"empty_array", fibre("natural_curvature = @[]\n"), {"an empty array", "triplet"}},
    {"two_components", "[simulation]\ngravity = @[0, 0]\n" + kFibre, {"an array of 2", "array of 3"}},
    {"list_of_wrong_length", fibre("natural_curvature = @[[0,0,1],[0,0,2]]\n"), {"an array of 2", "4 triplets"}},
    {"taper_of_wrong_length",
     "[[fibres]]\nname = \"a\"\nmaterial = \"nylon\"\nlength = 1\nelements = 3\nradius = @[1e-3, 1e-3]\n",
     {"array of 2", "3, one for each element"}},
    {"lengths_and_length",
     "[[fibres]]\nname = \"a\"\nmaterial = \"nylon\"\nlength = @1\nelement_lengths = [1, 1]\nradius = 1e-3\n",
     {"only one of them"}},
    {"lengths_against_elements",
     "[[fibres]]\nname = \"a\"\nmaterial = \"nylon\"\nelements = @3\nelement_lengths = [1, 1]\nradius = 1e-3\n",
     {"elements is 3", "expected 2"}},
    {"zero_length_element",
     "[[fibres]]\nname = \"a\"\nmaterial = \"nylon\"\nelement_lengths = [1, @0]\nradius = 1e-3\n",
     {"element_lengths[1] is 0"}},
    {"zero_direction",
     kFibre + "[[obstacles]]\nname = \"p\"\nshape = \"plane\"\npoint = [0,0,0]\nnormal = @[0,0,0]\n",
     {"a zero vector", "direction"}},
    {"frame_no_rotation", fibre("root = { frame = @[[1,0,0],[0,1,0],[0,1,0]] }\n"), {"frame is no rotation"}},
    {"frame_mirrored", fibre("root = { frame = @[[1,0,0],[0,1,0],[0,0,-1]] }\n"), {"frame is no rotation"}},
    {"normal_along_tangent", fibre("root = { tangent = [0,1,0], normal = @[0,2,0] }\n"), {"along the tangent"}},
    {"comb_not_orthogonal",
     kFibre + "[[obstacles]]\nname = \"c\"\nshape = \"comb\"\nbase = [0,0,0]\ntooth_direction = [1,0,0]\nrow_direction "
              "= @[1,1,0]\n",
     {"right angle"}},
    {"no_shape", kFibre + "@[[obstacles]]\nname = \"c\"\n", {"no \"shape\"", "\"comb\""}},
    {"unknown_shape",
     kFibre + "[[obstacles]]\nname = \"c\"\nshape = @\"cilinder\"\n",
     {"\"cilinder\"", "\"cylinder\""}},
    {"keyframes_backwards",
     kFibre + "[[obstacles]]\nname = \"p\"\nshape = \"plane\"\npoint = [0,0,0]\nnormal = [0,0,1]\nmotion = { keyframes "
              "= [{ time = 1 }, @{ time = 1 }] }\n",
     {"keyframes[1].time is 1 s", "after the keyframe before it"}},
    {"stop_before_start",
     kFibre + "[[obstacles]]\nname = \"p\"\nshape = \"plane\"\npoint = [0,0,0]\nnormal = [0,0,1]\nmotion = { start = "
              "2, stop = @1 }\n",
     {"stop is 1 s", "after start"}},
    {"motion_of_a_free_root",
     fibre("root = { condition = \"free\", motion = @{ velocity = [1,0,0] } }\n"),
     {"free root", "clamped one only"}},
    {"velocity_of_a_clamped_root", fibre("root = { velocity = @[1,0,0] }\n"), {"clamped root", "condition = \"free\""}},
    {"jitter_too_large",
     fibre("grid = { count = 4, spacing = 1e-3, jitter = @1e-3 }\n"),
     {"jitter is 0.001 m", "half the spacing"}},
    {"grid_without_spacing", fibre("grid = @{ count = 4 }\n"), {"no \"spacing\""}},
    {"friction_pair_unknown",
     "[friction]\npairs = [{ between = [\"nylon\", @\"nilon\"], coefficient = 0.1 }]\n" + kFibre,
     {"\"nilon\"", "did you mean \"nylon\""}},
    {"friction_pair_twice",
     "[friction]\npairs = [{ between = [\"nylon\", \"nylon\"], coefficient = 0.1 }, @{ between = [\"nylon\", "
     "\"nylon\"], coefficient = 0.1 }]\n" +
         kFibre,
     {"a second time"}},
    {"friction_pair_of_three",
     "[friction]\npairs = [{ between = @[\"a\", \"b\", \"c\"], coefficient = 0.1 }]\n" + kFibre,
     {"two materials"}},
    {"unknown_parameter",
     "[parameters]\nstep = 1\n[simulation]\ntime_step = \"2 * @${stp}\"\n" + kFibre,
     {"unknown parameter \"stp\"", "did you mean \"step\""}},
    {"parameter_in_a_circle", "[parameters]\na = @\"${b}\"\nb = \"${a}\"\n" + kFibre, {"circle"}},
    {"parameter_of_itself", "[parameters]\na = @\"${a} + 1\"\n" + kFibre, {"circle"}},
    {"parameter_is_a_table", "[parameters]\n@a = { b = 1 }\n" + kFibre, {"\"a\" is a table"}},
    {"parameter_is_nan", "[parameters]\n@a = nan\n" + kFibre, {"\"a\" is nan", "finite"}},
    {"parameter_with_a_bad_name", "[parameters]\n@\"a b\" = 1\n" + kFibre, {"\"a b\" is no name"}},
    {"parameter_is_a_word",
     "[parameters]\na = \"fast\"\n[simulation]\ntime_step = \"@${a}\"\n" + kFibre,
     {"the word \"fast\""}},
    {"parameter_unclosed", "[simulation]\ntime_step = \"@${a\"\n" + kFibre, {"${name}"}},
    {"parameter_out_of_range",
     "[parameters]\nmu = -2\n[friction]\ndefault = @\"${mu} / 4\"\n" + kFibre,
     {"\"${mu} / 4\" = -0.5 (mu = -2)"}},
    {"parameter_with_wrong_unit",
     "[parameters]\nmu = \"2 cm\"\n[friction]\ndefault = @\"${mu}\"\n" + kFibre,
     {"is a length [m]", "plain number"}},
};

INSTANTIATE_TEST_SUITE_P(Scenes, HostileScene, testing::ValuesIn(kCases),
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

}  // namespace
}  // namespace tresse::io
