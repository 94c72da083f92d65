#include <functional>
#include <string>

#include <gtest/gtest.h>

#include <Eigen/Eigenvalues>

#include <tresse/rods/discrete_elastic_rod.hpp>
#include <tresse/rods/mass_spring.hpp>

#include "rods/rod_cases.hpp"

// Lowest frequencies of small vibrations of clamped rods, every model: straight against the beam of Euler and
// Bernoulli, curved against a Rayleigh-Ritz computation of this file's own.
namespace tresse::rods {
namespace TRESSE_TEST_FILE {

using namespace rod_cases;

constexpr double asked = 2e-3;

/// Length 1.
struct Beam {
  Material material{.density = 1000.0, .young_modulus = 1e9, .poisson_ratio = 0.3};
  CrossSection section = CrossSection::circle(1e-3);
  Vector3 natural = Vector3::Zero();
  bool rotary = true;  ///< whether the reference has the inertia of turning sections
};

struct Model {
  const char* name;
  int elements;
  std::function<std::unique_ptr<Rod>(const Beam&, int)> make;
};

std::unique_ptr<Rod> helix(const Beam& beam, int n) {
  const SuperHelixElement part{.length = 1.0 / n, .section = beam.section, .rest_curvature = beam.natural};
  return make_super_helix(std::vector<SuperHelixElement>(static_cast<std::size_t>(n), part), beam.material,
                          RootCondition::clamped);
}

std::unique_ptr<Rod> clothoid(const Beam& beam, int n) {
  const auto count = static_cast<std::size_t>(n);
  return make_super_clothoid(std::vector<SuperClothoidElement>(count, {1.0 / n, beam.section}),
                             std::vector<Vector3>(count + 1, beam.natural), beam.material, RootCondition::clamped);
}

std::vector<RodEdge> edges(const Beam& beam, int n) {
  return std::vector<RodEdge>(static_cast<std::size_t>(n), {1.0 / n, beam.section, beam.natural});
}

std::unique_ptr<Rod> discrete(const Beam& beam, int n) {
  return make_discrete_elastic_rod(edges(beam, n), beam.material, RootCondition::clamped);
}

std::unique_ptr<Rod> mass_spring(const Beam& beam, int n) {
  return make_mass_spring(edges(beam, n), beam.material, RootCondition::clamped);
}

/// Angular frequencies, lowest first: M x = K x / omega^2, as without rotary inertia a straight rod's twist has no
/// mass.
VectorX frequencies(const MatrixX& mass, const MatrixX& stiffness) {
  const VectorX values = Eigen::GeneralizedSelfAdjointEigenSolver<MatrixX>(mass, stiffness).eigenvalues();
  return values.reverse().cwiseMax(1e-300).cwiseSqrt().cwiseInverse();
}

VectorX frequencies(const Rod& rod) {
  const int n = rod.dof();
  MatrixX mass(n, n), stiffness = MatrixX::Zero(n, n);
  rod.mass_matrix(mass);
  rod.add_stiffness(1.0, 0.0, stiffness);
  return frequencies(mass, stiffness);
}

/// Rayleigh-Ritz about the natural shape, a helix of curvature `natural`: variations of the three curvatures are
/// Legendre polynomials, d theta = int R d kappa, d r = int d theta x t, by Simpson's rule on a fine grid. Plain
/// trigonometry; shares no code with the library but the section's constants.
VectorX exact_frequencies(const Beam& beam) {
  constexpr int points = 801, degrees = 12;
  constexpr double h = 1.0 / (points - 1);
  const Vector3 stiffness = bending_stiffness(beam.section, beam.material);
  const double density = beam.material.density * area(beam.section);
  const auto of_squares = mean_squares(beam.section);
  const auto frame = [&](double s) {
    const Vector3 turn = s * beam.natural;
    return turn.isZero(0.0) ? Matrix3(Matrix3::Identity()) : rodrigues<double>(turn);
  };
  const auto weight = [](int i) { return h / 3.0 * (i == 0 || i == points - 1 ? 1.0 : i % 2 == 1 ? 4.0 : 2.0); };
  // Half steps, so that Simpson's rule advances by one grid step.
  const auto integral = [](const std::function<Vector3(int)>& at) {  // at half steps 0 .. 2 points - 2
    std::vector<Vector3> out(points, Vector3::Zero());
    for (int i = 1; i < points; ++i) out[i] = out[i - 1] + h / 6.0 * (at(2 * i - 2) + 4.0 * at(2 * i - 1) + at(2 * i));
    return out;
  };
  std::vector<Matrix3> frames;
  for (int i = 0; i < 2 * points - 1; ++i) frames.push_back(frame(0.5 * h * i));
  std::vector<std::vector<Vector3>> moved, turned;
  for (int k = 0; k < 3 * degrees; ++k) {
    const auto bend = [&](int i) -> Vector3 {
      const double x = h * i - 1.0;
      return frames[i] * Vector3::Unit(k % 3) * std::legendre(static_cast<unsigned>(k / 3), x);
    };
    const std::vector<Vector3> turn = integral(bend);
    // Between grid points by Hermite's cubic, whose slope is known.
    const auto turn_at = [&](int i) -> Vector3 {
      if (i % 2 == 0) return turn[i / 2];
      return 0.5 * (turn[i / 2] + turn[i / 2 + 1]) + h / 8.0 * (bend(i - 1) - bend(i + 1));
    };
    turned.push_back(turn);
    moved.push_back(integral([&](int i) -> Vector3 { return turn_at(i).cross(frames[i].col(0)); }));
  }
  const Vector3 squares(of_squares[0] + of_squares[1], of_squares[1], of_squares[0]);  // about n0, n1, n2
  MatrixX mass(3 * degrees, 3 * degrees), springs = MatrixX::Zero(3 * degrees, 3 * degrees);
  for (int a = 0; a < 3 * degrees; ++a) {
    springs(a, a) = stiffness[a % 3] / (2.0 * (a / 3) + 1.0);
    for (int b = 0; b < 3 * degrees; ++b) {
      mass(a, b) = 0.0;
      for (int i = 0; i < points; ++i) {
        const auto in_axes = [&](int k) -> Vector3 { return frames[2 * i].transpose() * turned[k][i]; };
        const double rotary = beam.rotary ? in_axes(a).dot(squares.cwiseProduct(in_axes(b))) : 0.0;
        mass(a, b) += density * weight(i) * (moved[a][i].dot(moved[b][i]) + rotary);
      }
    }
  }
  return frequencies(mass, springs);
}

const Model super_helix{"SuperHelix", 24, helix}, super_clothoid{"SuperClothoid", 4, clothoid},
    discrete_elastic_rod{"DiscreteElasticRod", 40, discrete}, mass_spring_chain{"MassSpring", 40, mass_spring};
const auto name_of = [](const ::testing::TestParamInfo<Model>& tested) { return std::string(tested.param.name); };

class StraightFrequencies : public ::testing::TestWithParam<Model> {};
INSTANTIATE_TEST_SUITE_P(Models, StraightFrequencies,
                         ::testing::Values(super_helix, super_clothoid, discrete_elastic_rod, mass_spring_chain),
                         name_of);
class CurvedFrequencies : public ::testing::TestWithParam<Model> {};  // points alone do not twist
INSTANTIATE_TEST_SUITE_P(Models, CurvedFrequencies,
                         ::testing::Values(super_helix, super_clothoid, discrete_elastic_rod), name_of);

// f = 1.8751^2 sqrt(EI / (rho S)) / (2 pi L^2), in both planes; and it converges.
TEST_P(StraightFrequencies, AreTheBeams) {
  const Beam beam;
  const double ei = bending_stiffness(beam.section, beam.material)[1];
  const double expected =
      std::pow(1.875104068711961, 2) * std::sqrt(ei / (beam.material.density * area(beam.section))) / (2.0 * M_PI);
  const auto error = [&](int n, int plane) {
    return frequencies(*GetParam().make(beam, n))[plane] / (2.0 * M_PI) / expected - 1.0;
  };
  const int n = GetParam().elements;
  const double coarse = std::abs(error(n / 2, 0)), fine = std::abs(error(n, 0));
  if (printing())
    std::printf("%s, %d elements: %.2e, order %.2f\n", GetParam().name, n, fine, std::log2(coarse / fine));
  EXPECT_LT(fine, asked);
  EXPECT_NEAR(error(n, 1), error(n, 0), 1e-6);
  EXPECT_GT(std::log2(coarse / fine), 1.9);
  const Beam thin{.rotary = false};
  EXPECT_NEAR(exact_frequencies(thin)[0] / (2.0 * M_PI) / expected, 1.0, 1e-9) << "the reference itself";
}

// The three lowest of a helix with an elliptic section, where bending and twist mix.
TEST_P(CurvedFrequencies, AreThoseOfRayleighAndRitz) {
  const Beam beam{.section = {1e-3, 1.6e-3}, .natural = {2.0, 1.0, 3.0}};
  const VectorX expected = exact_frequencies(beam);
  const int n = GetParam().elements;
  const VectorX coarse = frequencies(*GetParam().make(beam, n)), fine = frequencies(*GetParam().make(beam, 2 * n));
  for (int k = 0; k < 3; ++k) {
    const double before = std::abs(coarse[k] / expected[k] - 1.0), error = std::abs(fine[k] / expected[k] - 1.0);
    if (printing())
      std::printf("%s, %d elements, mode %d: %.2e, order %.2f\n", GetParam().name, 2 * n, k, error,
                  std::log2(before / error));
    EXPECT_LT(error, asked) << k;
    EXPECT_GT(std::log2(before / error), 1.9) << k;
  }
}

// f = sqrt(G / rho) / (4 L) for a circle; a flat section is stiffer against twist by less than it has more inertia.
TEST(TorsionalFrequency, IsThatOfShearWaves) {
  constexpr double torsion_asked = 2e-3;
  const double a = 1e-3;
  for (const double b : {1e-3, 2.5e-3}) {
    const Beam beam{.section = {a, b}};
    const double shear = beam.material.young_modulus / (2.0 * (1.0 + beam.material.poisson_ratio));
    const double flat = 2.0 * a * b / (a * a + b * b);  // sqrt(J / (I1 + I2)), 1 for a circle
    const double expected = flat * std::sqrt(shear / beam.material.density) / 4.0;
    const auto error = [&](const auto& make, int n) {
      const auto rod = make(beam, n);
      // Of the straight rod, twist alone.
      MatrixX mass(rod->dof(), rod->dof()), stiffness = MatrixX::Zero(rod->dof(), rod->dof());
      rod->mass_matrix(mass);
      rod->add_stiffness(1.0, 0.0, stiffness);
      const auto twist = [](const MatrixX& of) -> MatrixX {
        return of(Eigen::seq(0, Eigen::last, 3), Eigen::seq(0, Eigen::last, 3));
      };
      return std::abs(frequencies(twist(mass), twist(stiffness))[0] / (2.0 * M_PI) / expected - 1.0);
    };
    for (const auto& make : {helix, clothoid}) {
      EXPECT_LT(error(make, 4), torsion_asked);
      EXPECT_GT(std::log2(error(make, 4) / error(make, 8)), 3.9);
      if (printing()) std::printf("torsion, section 1 : %.1f, 8 elements: %.1e\n", b / a, error(make, 8));
    }
  }
}

// A rod so thick that its sections' inertia slows its third bending mode by several per cent.
TEST(BendingFrequencies, OfAThickRodAreThoseWithRotaryInertia) {
  constexpr int mode = 2;  // of each plane; twist is faster
  const Beam beam{.section = {0.04, 0.04001}, .natural = {1e-9, 0.0, 0.0}};
  Beam thin = beam;
  thin.rotary = false;
  const double expected = exact_frequencies(beam)[2 * mode];
  EXPECT_LT(expected, 0.97 * exact_frequencies(thin)[2 * mode]);
  EXPECT_NEAR(frequencies(*helix(beam, 48))[2 * mode] / expected, 1.0, asked);
  EXPECT_NEAR(frequencies(*clothoid(beam, 12))[2 * mode] / expected, 1.0, asked);
}

}  // namespace TRESSE_TEST_FILE
}  // namespace tresse::rods
