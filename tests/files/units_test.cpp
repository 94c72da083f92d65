#include <gtest/gtest.h>

#include <cmath>
#include <numbers>
#include <string>
#include <vector>

#include <tresse/files/units.hpp>

namespace tresse::files {
namespace TRESSE_TEST_FILE {

TEST(Units, AgreeWithTheirDefinitions) {
  struct Case {
    const char* symbol;
    double value;
    Dimension dimension;
  };
  const std::vector<Case> cases{
      {"um", 1e-6, dimensions::length},
      {"µm", 1e-6, dimensions::length},
      {"cm", 1e-2, dimensions::length},
      {"in", 0.0254, dimensions::length},
      {"kg", 1.0, {{0, 1, 0, 0}}},
      {"g", 1e-3, {{0, 1, 0, 0}}},
      {"ms", 1e-3, dimensions::time},
      {"min", 60.0, dimensions::time},
      {"GPa", 1e9, dimensions::pressure},
      {"mN", 1e-3, {{1, 1, -2, 0}}},
      {"tex", 1e-6, {{-1, 1, 0, 0}}},
      {"dtex", 1e-7, {{-1, 1, 0, 0}}},
      {"deg", std::numbers::pi / 180, dimensions::angle},
  };
  for (const Case& c : cases) {
    const auto unit = find_unit(c.symbol);
    ASSERT_TRUE(unit) << c.symbol;
    EXPECT_DOUBLE_EQ(unit->to_si(1.0), c.value) << c.symbol;
    EXPECT_EQ(unit->dimension.exponents, c.dimension.exponents) << c.symbol;
  }
}

TEST(Units, PowersOfTenRoundOnce) {
  EXPECT_EQ(find_unit("um")->to_si(50.0), 5e-5);
  EXPECT_EQ(find_unit("GPa")->to_si(83.0), 83e9);
  const Unit density = *find_unit("g") / power(*find_unit("cm"), 3);
  EXPECT_EQ(density.to_si(6.45), 6450.0);
}

TEST(Units, UnknownOnesAreNotGuessed) {
  for (const char* symbol : {"", "x", "sec", "mm2", "kdeg", "mmin", "Kg", "kkg"})
    EXPECT_FALSE(find_unit(symbol)) << symbol;
  EXPECT_EQ(nearest_unit("degg"), "deg");
}

TEST(Dimensions, AreDescribedInWords) {
  EXPECT_EQ(describe(dimensions::length), "a length [m]");
  EXPECT_EQ(describe(dimensions::angle), "an angle [rad]");
  EXPECT_EQ(describe(dimensions::ratio), "a plain number");
  EXPECT_EQ(describe(dimensions::pressure), "a pressure [Pa]");
  EXPECT_EQ(describe(dimensions::density), "a density [kg/m^3]");
  EXPECT_EQ(si_unit(dimensions::drag), "kg/(m s)");
  EXPECT_EQ(describe({{1, 1, 0, 0}}), "a quantity in kg m");
}

}  // namespace TRESSE_TEST_FILE
}  // namespace tresse::files
