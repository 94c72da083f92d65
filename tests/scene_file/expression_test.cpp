#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cmath>
#include <numbers>
#include <string>
#include <vector>

#include <tresse/scene_file/expression.hpp>

namespace tresse::scene_file {
namespace TRESSE_TEST_FILE {

using Kind = Quantity::Kind;
using testing::HasSubstr;

Quantity parameter(std::string_view name) {
  if (name == "length") return {0.3, files::dimensions::length, Kind::declared};
  if (name == "plain") return {2.0, {}, Kind::undeclared};
  throw ExpressionError{0, "unknown parameter"};
}

Quantity value(const std::string& text) { return evaluate(text, parameter); }

std::string error_of(const std::string& text) {
  try {
    static_cast<void>(value(text));
  } catch (const ExpressionError& error) {
    EXPECT_LE(error.offset, text.size()) << text;
    return error.message;
  }
  return "accepted";
}

TEST(Expression, ArithmeticHasTheUsualPrecedence) {
  const std::vector<std::pair<std::string, double>> cases{
      {"1 + 2 * 3", 7},
      {"(1 + 2) * 3", 9},
      {"2 ^ 3 ^ 2", 512},
      {"-2 ^ 2", -4},
      {"8 / 4 / 2", 1},
      {"2 - 3 - 4", -5},
      {"--3", 3},
      {"-(-3)", 3},
      {"1e-3", 1e-3},
      {".5", 0.5},
      {"min(3, 1, 2)", 1},
      {"max(3, 1, 2)", 3},
      {"sqrt(16) + abs(-2)", 6},
      {"floor(2.7) * ceil(2.1)", 6},
      {"pi", std::numbers::pi},
      {"2 * pi / 2", std::numbers::pi},
      {"2^-2", 0.25},
      {"round(2.5)", 3},
      {"exp(log(5))", 5},
      {" 3 ", 3},
  };
  for (const auto& [text, expected] : cases) EXPECT_DOUBLE_EQ(value(text).value, expected) << text;
}

TEST(Expression, UnitsConvertToSi) {
  struct Case {
    std::string text;
    double value;
    files::Dimension dimension;
  };
  const std::vector<Case> cases{
      {"70 um", 70e-6, files::dimensions::length},
      {"70um", 70e-6, files::dimensions::length},
      {"3 GPa", 3e9, files::dimensions::pressure},
      {"0.6 1/cm", 60.0, files::dimensions::curvature},
      {"0.6 rad/cm", 60.0, files::dimensions::curvature},
      {"30 deg", std::numbers::pi / 6, files::dimensions::angle},
      {"1 g/cm^3", 1000.0, files::dimensions::density},
      {"5 mm/s", 5e-3, files::dimensions::velocity},
      {"9.81 m / s^2", 9.81, files::dimensions::acceleration},
      {"2 N s/m^2", 2.0, files::dimensions::drag},
      {"2 kg m^-3", 2.0, files::dimensions::density},
      {"3 m / 2", 1.5, files::dimensions::length},
      {"6 m / 2 s", 3.0, files::dimensions::velocity},
      {"3 m / sqrt(9)", 1.0, files::dimensions::length},
      {"3 m * pi", 3 * std::numbers::pi, files::dimensions::length},
      {"1 m / min(2, 4)", 0.5, files::dimensions::length},
      {"1 m / min", 1.0 / 60.0, files::dimensions::velocity},
      {"(1 + 2) cm", 0.03, files::dimensions::length},
      {"${plain} cm", 0.02, files::dimensions::length},
      {"-${length} / 3", -0.1, files::dimensions::length},
      {"${length}^2", 0.09, {{2, 0, 0, 0}}},
      {"sqrt(${length}^2)", 0.3, files::dimensions::length},
      {"1 cm + 1 mm", 0.011, files::dimensions::length},
      {"${length} + 1", 1.3, files::dimensions::length},
      {"max(${length}, 0)", 0.3, files::dimensions::length},
      {"atan2(1 m, 1 m)", std::numbers::pi / 4, files::dimensions::angle},
  };
  for (const Case& c : cases) {
    const Quantity found = value(c.text);
    EXPECT_NEAR(found.value, c.value, 1e-15 * std::abs(c.value)) << c.text;
    EXPECT_TRUE(found.dimension.same_units(c.dimension)) << c.text << " is " << describe(found.dimension);
    EXPECT_EQ(found.kind, Kind::declared) << c.text;
  }
}

TEST(Expression, DecimalUnitsRoundOnce) {
  EXPECT_EQ(value("12.3 cm").value, 0.123);
  EXPECT_EQ(value("0.13 mm").value, 0.13e-3);
  EXPECT_EQ(value("1.7e+2 um").value, 1.7e-4);
  EXPECT_EQ(value("6.45 g/cm^3").value, 6450.0);
  EXPECT_EQ(value("0.6 1/cm").value, 60.0);
}

TEST(Expression, PlainParametersWaiveTheCheckOfDimension) {
  EXPECT_EQ(value("${plain} / 5 mm/s").kind, Kind::undeclared);
  EXPECT_DOUBLE_EQ(value("${plain} / 5 mm/s").value, 400.0);
  EXPECT_EQ(value("${plain} + 3 cm").kind, Kind::declared);
}

TEST(Expression, AnglesPassThroughTrigonometry) {
  EXPECT_NEAR(value("sin(30 deg)").value, 0.5, 1e-15);
  EXPECT_EQ(value("sin(30 deg)").kind, Kind::plain);
  EXPECT_TRUE(value("atan(1)").dimension.angle());
  EXPECT_TRUE(value("2 * 30 deg").dimension.angle());
}

TEST(Expression, RefusesWhatIsNone) {
  const std::vector<std::pair<std::string, std::string>> cases{
      {"", "empty"},
      {"   ", "empty"},
      {"1 +", "expected a number"},
      {"1 2", "unexpected \"2\""},
      {"(1", ") is missing"},
      {"1)", "unexpected \")\""},
      {"1.2.3", "no number"},
      {"1 + x", "the word \"x\""},
      {"m", "write 1 before a unit"},
      {"3 furlong", "unknown unit"},
      {"3 cm kg^x", "one digit"},
      {"3 m + 2 s", "cannot add a length [m] and a time [s]"},
      {"min(1 m, 1 s)", "cannot compare"},
      {"2 ^ (3 m)", "an exponent that is a length"},
      {"sin(1 m)", "sin of a length"},
      {"sqrt(-4)", "negative"},
      {"sqrt(1, 2)", "takes 1 argument"},
      {"sqrt()", "expected a number"},
      {"1 / 0", "division by zero"},
      {"10 ^ 400", "not finite"},
      {"1e400", "out of range"},
      {"0 ^ -1", "not finite"},
      {"(-8) ^ 0.5", "not finite"},
      {"nan", "the word \"nan\""},
      {"inf", "the word \"inf\""},
      {"0x10", "unknown unit"},
      {"${nothing}", "unknown parameter"},
      {"${length", "${name}"},
      {"$length", "${name}"},
      {"${length} cm", "carries one already"},
      {"m^99", "write 1"},
      {"1 m^99", "one digit"},
      {"1 m^9 * 1 m^9 * 1 m^9 * 1 m^9 * 1 m^9 * 1 m^9 * 1 m^9 * 1 m^9 * 1 m^9 * 1 m^9 * 1 m^9 * 1 m^9", "beyond 100"},
      {std::string(3000, '1'), "at most 2000"},
      {std::string(60, '(') + "1" + std::string(60, ')'), "nested brackets"},
      {"1; drop", "unexpected \"; drop\""},
  };
  for (const auto& [text, words] : cases) EXPECT_THAT(error_of(text), HasSubstr(words)) << text;
}

/// Any number printed and read back is the same number.
RC_GTEST_PROP(Expression, ReadsBackNumbers, (double x)) {
  RC_PRE(std::isfinite(x));
  char text[64];
  std::snprintf(text, sizeof text, "%.17g", x);
  RC_ASSERT(value(text).value == x);
}

/// Any text gives a finite value or an error whose offset lies in it.
RC_GTEST_PROP(Expression, AnyTextIsAValueOrAnError, ()) {
  const std::string alphabet = "0123456789.eE+-*/^(), ${}plainlengthcmskgPsqrtx%\xc2\xb5";
  const auto text = *rc::gen::container<std::string>(rc::gen::elementOf(alphabet));
  try {
    RC_ASSERT(std::isfinite(evaluate(text, parameter).value));
  } catch (const ExpressionError& error) {
    RC_ASSERT(error.offset <= text.size());
    RC_ASSERT(!error.message.empty());
  }
}

}  // namespace TRESSE_TEST_FILE
}  // namespace tresse::scene_file
