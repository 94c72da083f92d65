#include <fstream>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <tresse/base/errors.hpp>
#include <tresse/rods/detail/helix_element.hpp>

#include "rods/rod_cases.hpp"

namespace tresse::rods {
namespace TRESSE_TEST_FILE {

using namespace rod_cases;
using Complex = std::complex<double>;

constexpr double complex_step = 1e-30;
constexpr double rounding = 1e-13;  // closed forms against closed forms, relative to the largest entry

nlohmann::json load(const std::string& name) {
  std::ifstream file(std::string(TRESSE_TEST_DATA) + "/" + name);
  return nlohmann::json::parse(file);
}

Vector3 vector3(const nlohmann::json& j) { return {j[0].get<double>(), j[1].get<double>(), j[2].get<double>()}; }

std::unique_ptr<Rod> uniform_rod(int elements, double length, const Vector3& curvature) {
  std::vector<SuperHelixElement> parts(
      elements, {.length = length / elements, .section = CrossSection::circle(1e-4), .rest_curvature = curvature});
  return make_super_helix(parts, {.density = 1000.0, .young_modulus = 1e9, .poisson_ratio = 0.3},
                          RootCondition::clamped);
}

// Helices of curvature 0 to 1e4 1/m, 50 digits (tests/data/helix). Relative to the arc length: the position itself may
// be near 0.
TEST(SuperHelixKinematics, EndOfAHelixAtAnyCurvature) {
  double worst_position = 0.0;
  double worst_frame = 0.0;
  const nlohmann::json data = load("helix/helix.json");
  for (const auto& e : data["helices"]) {
    const double length = e["length"];
    const auto rod = uniform_rod(1, length, vector3(e["curvature"]));
    const RodSection end = rod->section(length);
    Matrix3 frame;
    for (int r = 0; r < 3; ++r) frame.row(r) = vector3(e["frame"][r]).transpose();
    worst_position =
        std::max(worst_position, (end.position - vector3(e["position"])).norm() / vector3(e["position"]).norm());
    worst_frame = std::max(worst_frame, (end.frame - frame).cwiseAbs().maxCoeff());
  }
  if (printing()) std::printf("helix ends: position %.1e of its norm, frame %.1e\n", worst_position, worst_frame);
  EXPECT_LT(worst_position, rounding);
  EXPECT_LT(worst_frame, rounding);
}

TEST(SuperHelixKinematics, StraightReferenceEntry) {
  const nlohmann::json data = load("darboux/darboux.json");
  for (const auto& e : data["elements"]) {
    if (e["category"] != "straight") continue;
    const auto rod = uniform_rod(3, e["length"], Vector3::Zero());
    EXPECT_LT((rod->section(e["length"]).position - vector3(e["r_end"])).norm(), 1e-14 * double(e["length"]));
  }
}

// The centreline must not jump where one evaluation of the Stumpff functions takes over from another.
TEST(SuperHelixKinematics, ContinuousAcrossTheSwitches) {
  const Vector3 direction = Vector3(0.3, -0.5, 0.8).normalized();
  for (const double turn : {1.0, 3.0}) {
    const auto below = uniform_rod(1, 1.0, direction * turn * (1.0 - 1e-15));
    const auto above = uniform_rod(1, 1.0, direction * turn * (1.0 + 1e-15));
    EXPECT_LT((below->section(1.0).position - above->section(1.0).position).norm(), 1e-14);
    Matrix3X jb(3, 3);
    Matrix3X ja(3, 3);
    below->jacobian(0, 1.0, jb);
    above->jacobian(0, 1.0, ja);
    EXPECT_LT(relative(jb, ja), 2e-14);
  }
}

TEST(SuperHelixKinematics, FramesStayRotationsAlongManyElements) {
  for (const double curvature : {0.0, 3.0, 700.0, 1e4}) {
    const auto rod = uniform_rod(2000, 4.0, curvature * Vector3(0.6, -0.48, 0.64));
    for (const double s : {0.1, 1.0, 2.5, 4.0}) {
      EXPECT_LT(math::orthonormality_defect(rod->section(s).frame), 1e-14) << curvature << " at " << s;
    }
  }
}

TEST(SuperHelixKinematics, AgreesWithPlainTrigonometry) {
  for (unsigned seed = 1; seed <= 20; ++seed) {
    const Case c = make_case({.elements = 5, .turn = seed % 3 == 0 ? 8.0 : 1.0, .seed = seed});
    integrate(c, [&](int piece, double u, double) {
      const Vector3 expected =
          centreline<double>(c.state.root.position, c.state.root.frame, c.lengths, c.state.coordinates, piece, u);
      const RodSection found = c.rod->section(c.rod->piece_begin(piece) + u);
      ASSERT_LT((found.position - expected).norm(), 1e-13);
    });
  }
}

TEST(SuperHelixKinematics, JacobianByComplexStep) {
  double worst = 0.0;
  for (unsigned seed = 1; seed <= 12; ++seed) {
    const RootCondition root = seed % 2 ? RootCondition::free : RootCondition::clamped;
    const Case c = make_case({.elements = 4, .turn = seed % 3 == 0 ? 7.0 : 1.0, .root = root, .seed = seed});
    for (int piece = 0; piece < 4; ++piece) {
      const double u = 0.7 * c.lengths[piece];
      Matrix3X found(3, c.rod->dof());
      const int columns = c.rod->jacobian(piece, u, found);
      EXPECT_EQ(columns, c.rod->root_dof() + 3 * (piece + 1));
      Matrix3X expected(3, columns);
      for (int k = 0; k < columns; ++k) {
        Vec<Complex> position = c.state.root.position.cast<Complex>();
        Mat<Complex> frame = c.state.root.frame.cast<Complex>();
        Eigen::VectorXcd q = c.state.coordinates.cast<Complex>();
        const Complex step(0.0, complex_step);
        const int own = k - c.rod->root_dof();
        if (own >= 0) {
          q[own] += step;
        } else if (k < 3) {
          position[k] += step;
        } else {
          frame += step * cross<Complex>(Vec<Complex>::Unit(k - 3)) *
                   frame;  // exact to first order, which is all that is read
        }
        expected.col(k) = centreline<Complex>(position, frame, c.lengths, q, piece, u).imag() / complex_step;
      }
      worst = std::max(worst, relative(found.leftCols(columns), expected));
      const VectorX v = VectorX::LinSpaced(c.rod->dof(), -1.0, 2.0);
      const Vector3 velocity = found.leftCols(columns) * v.head(columns);
      const Vector3 prescribed = c.rod->velocity(piece, u, VectorX::Zero(c.rod->dof()));
      EXPECT_LT((c.rod->velocity(piece, u, v) - velocity - prescribed).norm(), 1e-13 * (1.0 + velocity.norm()));
    }
  }
  if (printing()) std::printf("jacobian against complex step: %.1e\n", worst);
  EXPECT_LT(worst, rounding);
}

// The kernels themselves with a complex argument, both of the first and of the second derivative.
TEST(HelixElement, DerivativesByComplexStep) {
  std::mt19937 random(3);
  std::uniform_real_distribution<double> uniform(-1.0, 1.0);
  for (int trial = 0; trial < 200; ++trial) {
    const double s = 0.5;
    const Vector3 w = 3.0 * Vector3(uniform(random), uniform(random), uniform(random));
    const Vector3 d = Vector3(uniform(random), uniform(random), uniform(random));
    Triple<Complex> wc;
    Triple<double> wd;
    Triple<double> dd;
    Complex x = 0.0;
    for (int k = 0; k < 3; ++k) {
      wc[k] = Complex(w[k], complex_step * d[k]);
      wd[k] = w[k];
      dd[k] = d[k];
      x += wc[k] * wc[k] * s * s;
    }
    std::array<Complex, 8> cc;
    math::stumpff_series<8>(x, cc);
    const auto moved = detail::helix_point(Complex(s), wc, cc);
    const auto c = detail::helix_stumpff<8>(s, w);
    const auto point = detail::helix_point(s, wd, c);
    const auto second = detail::helix_second(s, wd, dd, c);
    for (int r = 0; r < 3; ++r) {
      double first = 0.0;
      double along = 0.0;
      for (int k = 0; k < 3; ++k) {
        first += point.P[r][k] * d[k];
        along += moved.P[r][k].imag() / complex_step * d[k];
      }
      EXPECT_NEAR(first, moved.p[r].imag() / complex_step, 1e-15);
      EXPECT_NEAR(second[r], along, 1e-15);
    }
  }
}

TEST(SuperHelixKinematics, PiecesCarryTheCentreline) {
  const Case c = make_case({.elements = 3});
  ASSERT_EQ(c.rod->piece_count(), 3);
  EXPECT_EQ(c.rod->piece_begin(0), 0.0);
  EXPECT_EQ(c.rod->piece_begin(3), c.rod->length());
  for (int i = 0; i < 3; ++i) {
    const auto arc = std::get<geometry::HelixArc>(c.rod->piece(i));
    const RodSection at = c.rod->section(c.rod->piece_begin(i));
    EXPECT_EQ(arc.length, c.lengths[i]);
    EXPECT_LT((arc.position - at.position).norm(), 1e-15);
    EXPECT_LT((arc.frame - at.frame).norm(), 1e-15);
    EXPECT_EQ(arc.curvature, Vector3(c.state.coordinates.segment<3>(3 * i)));
  }
}

// A clamped root that translates and spins: the velocity against the difference of positions of the moved rod.
TEST(SuperHelixKinematics, CurvaturesAtRestMoveWithTheRoot) {
  const Case c = make_case({.elements = 3, .seed = 4});
  const Twist root = c.state.root_velocity;
  const auto moved = [&](double h) {
    RodState state = c.state;
    state.root.position += h * root.linear;
    state.root.frame = math::rotation_exp(h * root.angular) * state.root.frame;
    auto rod = c.rod->clone();
    rod->update(state);
    return rod->section(c.rod->piece_begin(2) + 0.01).position;
  };
  const VectorX at_rest = VectorX::Zero(c.rod->dof());
  EXPECT_LT((c.rod->velocity(2, 0.01, at_rest) - difference(moved, 1e-3)).norm(), 1e-11);
}

TEST(SuperHelixKinematics, AdvancedMovesAFreeRootByTheExponentialMap) {
  const Case c = make_case({.elements = 2, .root = RootCondition::free});
  VectorX v = generalised_velocity(*c.rod, c.state);
  RodState state = c.state;
  for (int i = 0; i < 10000; ++i) state = c.rod->advanced(state, v, 1e-3, {}, {});
  const Vector3 turn = 10.0 * c.state.root_velocity.angular;
  EXPECT_LT((state.root.frame - math::rotation_exp(turn) * c.state.root.frame).norm(), 1e-11);
  EXPECT_LT(math::orthonormality_defect(state.root.frame), 1e-15);
  EXPECT_LT((state.root.position - c.state.root.position - 10.0 * c.state.root_velocity.linear).norm(), 1e-11);
  EXPECT_LT(relative(state.coordinates, c.state.coordinates + 10.0 * c.state.rates), 1e-11);
}

TEST(SuperHelixKinematics, AdvancedTakesThePrescribedRootOver) {
  const Case c = make_case({.elements = 2});
  const Pose next{Vector3(1, 2, 3), math::rotation_exp({0.1, 0.2, 0.3})};
  const Twist twist{Vector3(4, 5, 6), Vector3(7, 8, 9)};
  const RodState state = c.rod->advanced(c.state, generalised_velocity(*c.rod, c.state), 0.1, next, twist);
  EXPECT_EQ(state.root.position, next.position);
  EXPECT_EQ(state.root.frame, next.frame);
  EXPECT_EQ(state.root_velocity.linear, twist.linear);
  EXPECT_EQ(state.root_velocity.angular, twist.angular);
}

TEST(Rods, PieceAtAnArcLength) {
  const auto rod = uniform_rod(4, 0.5, Vector3::Zero());
  const auto at = [&](double s) { return piece_at(*rod->model(), s); };
  EXPECT_EQ(at(0.0), std::pair(0, 0.0));
  EXPECT_EQ(at(0.2), std::pair(1, 0.2 - 0.125));
  EXPECT_EQ(at(0.25), std::pair(1, 0.125));  // where two pieces meet it is the first
  EXPECT_EQ(at(0.5), std::pair(3, 0.125));
  EXPECT_EQ(at(0.5 + 1e-12), std::pair(3, 0.125));  // a length as a person writes it
}

}  // namespace TRESSE_TEST_FILE
}  // namespace tresse::rods
