#include <functional>

#include <gtest/gtest.h>

#include <tresse/base/errors.hpp>

#include "rods/rod_cases.hpp"

namespace tresse::rods {
namespace TRESSE_TEST_FILE {

TEST(CrossSection, StiffnessOfACircleAndAnEllipse) {
  const Material m{.density = 1.0, .young_modulus = 3e9, .poisson_ratio = 0.25};
  const double shear = 3e9 / 2.5;
  const double r = 2e-3;
  const Vector3 circle = bending_stiffness(CrossSection::circle(r), m);
  const double i = M_PI * std::pow(r, 4) / 4.0;
  EXPECT_NEAR(circle[0], shear * 2.0 * i, 1e-15 * circle[0]);
  EXPECT_NEAR(circle[1], 3e9 * i, 1e-15 * circle[1]);
  EXPECT_NEAR(circle[2], 3e9 * i, 1e-15 * circle[2]);
  EXPECT_NEAR(area(CrossSection::circle(r)), M_PI * r * r, 1e-20);

  // Second moments by summation over the ellipse: bending about n1 spreads along n2.
  const CrossSection e{2e-3, 1e-3};
  const Vector3 ellipse = bending_stiffness(e, m);
  double i1 = 0.0;
  double i2 = 0.0;
  constexpr int n = 400;
  for (int k = 0; k < n; ++k) {
    for (int l = 0; l < n; ++l) {
      const double rho = (k + 0.5) / n;
      const double angle = 2.0 * M_PI * (l + 0.5) / n;
      const double x = e.half_axis_1 * rho * std::cos(angle);
      const double y = e.half_axis_2 * rho * std::sin(angle);
      const double weight = e.half_axis_1 * e.half_axis_2 * rho * (1.0 / n) * (2.0 * M_PI / n);
      i1 += weight * y * y;
      i2 += weight * x * x;
    }
  }
  EXPECT_NEAR(ellipse[1], 3e9 * i1, 1e-4 * ellipse[1]);
  EXPECT_NEAR(ellipse[2], 3e9 * i2, 1e-4 * ellipse[2]);
  // Saint-Venant: 1 / J = (1 / I1 + 1 / I2) / (4 A^2 / (4 I1 I2)) in the form J = 4 I1 I2 / (I1 + I2).
  EXPECT_NEAR(ellipse[0], shear * 4.0 * i1 * i2 / (i1 + i2), 1e-3 * ellipse[0]);
}

void expect_message(const std::function<void()>& call, const std::string& part) {
  try {
    call();
    FAIL() << "no error; expected one with: " << part;
  } catch (const InvalidInput& error) {
    const std::string message = error.what();
    EXPECT_NE(message.find(part), std::string::npos) << message;
    EXPECT_EQ(message.find('\n'), std::string::npos);
  }
}

TEST(SuperHelixInput, OneLineSaysWhatIsWrong) {
  const Material good{.density = 1000.0, .young_modulus = 1e9, .poisson_ratio = 0.3};
  const SuperHelixElement part{.length = 0.1, .section = CrossSection::circle(1e-3)};
  const auto make = [](const std::vector<SuperHelixElement>& parts, const Material& m) {
    return [=] { make_super_helix(parts, m, RootCondition::clamped); };
  };
  const auto with = [&](auto&& change) {
    Material m = good;
    change(m);
    return m;
  };
  const auto part_with = [&](auto&& change) {
    SuperHelixElement e = part;
    change(e);
    return std::vector<SuperHelixElement>{part, e};
  };
  expect_message(make({}, good), "no element");
  expect_message(make({part}, with([](Material& m) { m.density = 0.0; })), "density is 0");
  expect_message(make({part}, with([](Material& m) { m.young_modulus = NAN; })), "Young's modulus is nan");
  expect_message(make({part}, with([](Material& m) { m.poisson_ratio = 0.7; })), "Poisson's ratio is 0.7");
  expect_message(make({part}, with([](Material& m) { m.damping_time = -1.0; })), "damping time is -1");
  expect_message(make(part_with([](SuperHelixElement& e) { e.length = -2.0; }), good), "element 1: length is -2");
  expect_message(make(part_with([](SuperHelixElement& e) { e.section.half_axis_1 = 0.0; }), good), "half-axis 1");
  expect_message(make(part_with([](SuperHelixElement& e) { e.section.half_axis_2 = INFINITY; }), good), "half-axis 2");
  expect_message(make(part_with([](SuperHelixElement& e) { e.rest_curvature.y() = NAN; }), good), "rest curvature");

  const auto rod = make_super_helix({part}, good, RootCondition::clamped);
  RodState wrong = rod->state();
  wrong.coordinates.resize(6);
  expect_message([&] { rod->update(wrong); }, "has 6 curvatures");
  expect_message([&] { (void)rod->piece_begin(2); }, "no such piece 2");
  expect_message([&] { (void)rod->advanced(rod->state(), VectorX::Zero(5), 0.1, {}, {}); }, "advanced");
}

TEST(SuperHelixInput, SectionOfATaperedRodReadsItsOwnElement) {
  const auto c = rod_cases::make_case({.elements = 3});
  const Material m{.density = 1200.0, .young_modulus = 2e6, .poisson_ratio = 0.4};
  for (int i = 0; i < 3; ++i) {
    const RodSection at = c.rod->section(c.rod->piece_begin(i) + 0.5 * c.lengths[i]);
    const double taper = 1.0 / (1.0 + 0.1 * i);
    const Vector3 k3 = bending_stiffness({1e-3 * taper, 1.5e-3 * taper}, m);
    const Vector3 strain = (c.state.coordinates - c.rod->rest_curvature()).segment<3>(3 * i);
    EXPECT_LT((at.moment - k3.cwiseProduct(strain)).norm(), 1e-14 * at.moment.norm());
    EXPECT_EQ(at.curvature, Vector3(c.state.coordinates.segment<3>(3 * i)));
  }
  EXPECT_EQ(c.rod->contact_radius(), 1.5e-3);
}

}  // namespace TRESSE_TEST_FILE
}  // namespace tresse::rods
