#include <fstream>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <tresse/base/errors.hpp>

#include "rods/rod_cases.hpp"

namespace tresse::rods {
namespace TRESSE_TEST_FILE {

using namespace rod_cases;

const Material material{.density = 1000.0, .young_modulus = 1e9, .poisson_ratio = 0.3};

nlohmann::json load(const std::string& name) {
  std::ifstream file(std::string(TRESSE_TEST_DATA) + "/" + name);
  return nlohmann::json::parse(file);
}

Vector3 vector3(const nlohmann::json& j) { return {j[0].get<double>(), j[1].get<double>(), j[2].get<double>()}; }

Matrix3 matrix3(const nlohmann::json& j) {
  Matrix3 m;
  for (int r = 0; r < 3; ++r) m.row(r) = vector3(j[r]).transpose();
  return m;
}

std::unique_ptr<Rod> rod_of(const std::vector<double>& lengths, const std::vector<Vector3>& nodes) {
  std::vector<SuperClothoidElement> elements;
  for (const double l : lengths) elements.push_back({l, CrossSection::circle(1e-3 * l)});
  return make_super_clothoid(elements, nodes, material, RootCondition::clamped);
}

// Elements of affine curvature, up to 89 turns, 60 digits (tests/data/darboux, centimetres).
TEST(SuperClothoidKinematics, EndsOfElementsOfAffineCurvature) {
  const nlohmann::json data = load("darboux/darboux.json");
  double worst_position = 0.0;
  double worst_frame = 0.0;
  double worst_orthogonality = 0.0;
  for (const auto& e : data["elements"]) {
    const double length = e["length"];
    const Vector3 start = vector3(e["kappa_start"]);
    const auto rod = rod_of({length}, {start, start + length * vector3(e["kappa_slope"])});
    RodState state = rod->state();
    state.root = {vector3(e["r0"]), matrix3(e["frame0"])};
    rod->update(state);
    const RodSection end = rod->section(length);
    // Relative to the arc length: the end may be near the start. At many turns the phase is known to a rounding of the
    // whole turn.
    const double position = (end.position - vector3(e["r_end"])).norm() / length;
    const double frame = (end.frame - matrix3(e["frame_end"])).cwiseAbs().maxCoeff();
    const double orthogonality = (end.frame.transpose() * end.frame - Matrix3::Identity()).cwiseAbs().maxCoeff();
    if (printing()) {
      std::printf("%-10s %5.1f turns: position %.1e frame %.1e orthogonality %.1e\n",
                  e["category"].get<std::string>().c_str(), e["turns"].get<double>(), position, frame, orthogonality);
    }
    worst_position = std::max(worst_position, position);
    worst_frame = std::max(worst_frame, frame);
    worst_orthogonality = std::max(worst_orthogonality, orthogonality);
  }
  EXPECT_LT(worst_position, 1e-13);
  EXPECT_LT(worst_frame, 1e-13);
  EXPECT_LT(worst_orthogonality, 1e-14);
}

// The same curvature at every node is a super-helix, turn by turn.
TEST(SuperClothoidKinematics, UniformCurvatureIsAHelix) {
  for (const double turn : {1e-8, 0.1, 1.0, 5.0, 60.0}) {
    const Vector3 k = turn * Vector3(0.3, -0.5, 0.8);
    const auto clothoid = rod_of({0.4, 0.6}, {k, k, k});
    const SuperHelixElement e{.length = 1.0, .section = CrossSection::circle(1e-3), .rest_curvature = k};
    const auto helix = make_super_helix({e}, material, RootCondition::clamped);
    for (const double s : {0.0, 0.1, 0.4, 0.77, 1.0}) {
      EXPECT_LT((clothoid->section(s).position - helix->section(s).position).norm(), 1e-14);
      EXPECT_LT((clothoid->section(s).frame - helix->section(s).frame).cwiseAbs().maxCoeff(), 2e-14);
    }
    // A helix's coordinate moves all nodes at once.
    Matrix3X j(3, 9);
    Matrix3X jh(3, 3);
    clothoid->jacobian(1, 0.37, j);
    helix->jacobian(0, 0.77, jh);
    EXPECT_LT(relative(j.leftCols<3>() + j.middleCols<3>(3) + j.rightCols<3>(), jh), 1e-13) << turn;
  }
}

TEST(SuperClothoidKinematics, JacobianAndVelocityAgainstDifferences) {
  double worst = 0.0;
  for (unsigned seed = 1; seed < 9; ++seed) {
    const RootCondition root = seed % 2 == 0 ? RootCondition::free : RootCondition::clamped;
    const Case c = make_case(
        {.elements = 4, .turn = seed % 3 == 0 ? 7.0 : 1.0, .root = root, .seed = seed, .model = Model::super_clothoid});
    Matrix3X j(3, c.rod->dof());
    const double scale = c.rod->velocity(3, c.lengths[3], generalised_velocity(*c.rod, c.state)).norm();
    for (int piece = 0; piece < 4; ++piece) {
      const double u = (0.2 + 0.2 * piece) * c.lengths[piece];
      const int columns = c.rod->jacobian(piece, u, j);
      EXPECT_EQ(columns, c.rod->root_dof() + 3 * piece + 6);
      VectorX v = generalised_velocity(*c.rod, c.state);
      const auto position = [&](double h) -> Vector3 {
        const auto rod = c.rod->clone();
        rod->update(displaced(c, v, h));
        return rod->section(rod->piece_begin(piece) + u).position;
      };
      const Vector3 expected = difference(position, 2e-4);
      worst = std::max(worst, (j.leftCols(columns) * v.head(columns) - expected).norm() / scale);
      if (root == RootCondition::free)
        worst = std::max(worst, (c.rod->velocity(piece, u, v) - expected).norm() / scale);
    }
    Matrix3X ends(3, 5);
    const VectorX v = generalised_velocity(*c.rod, c.state);
    c.rod->end_velocities(v, ends);
    for (int piece = 0; piece < 4; ++piece) {
      EXPECT_LT(relative(ends.col(piece + 1), c.rod->velocity(piece, c.lengths[piece], v)), 1e-13);
    }
    const EndsOff off = ends_off(*c.rod, v);
    EXPECT_LT(off.places, 1e-14);
    EXPECT_LT(off.work, 1e-12);
  }
  if (printing()) std::printf("clothoid jacobian against differences: %.1e\n", worst);
  EXPECT_LT(worst, 1e-10);  // of sixth-order differences
}

TEST(SuperClothoidKinematics, PiecesCarryTheCentreline) {
  const Case c = make_case({.elements = 3, .turn = 3.0, .model = Model::super_clothoid});
  for (int i = 0; i < 3; ++i) {
    const geometry::Curve piece = c.rod->piece(i);
    for (const double part : {0.0, 0.3, 1.0}) {
      const double u = part * c.lengths[i];
      const RodSection at = c.rod->section(std::min(c.rod->piece_begin(i) + u, c.rod->length()));
      EXPECT_LT((geometry::position(piece, u) - at.position).norm(), 1e-14);
      EXPECT_LT((geometry::derivative(piece, u) - at.frame.col(0)).norm(), 1e-13);
    }
  }
}

// Curvature and moment have no jump at a joint, whatever the section does.
TEST(SuperClothoidKinematics, CurvatureIsContinuousAtJoints) {
  const Case c = make_case({.elements = 3, .turn = 3.0, .model = Model::super_clothoid});
  const double joint = c.rod->piece_begin(1);
  const Vector3 before = c.rod->section(joint * (1.0 - 1e-12)).curvature;
  EXPECT_LT(relative(before, c.rod->section(joint).curvature), 1e-10);
  EXPECT_LT(relative(before, c.state.coordinates.segment<3>(3)), 1e-10);
}

TEST(SuperClothoidInput, OneLineSaysWhatIsWrong) {
  const auto message = [](const std::vector<SuperClothoidElement>& elements, const std::vector<Vector3>& nodes) {
    try {
      (void)make_super_clothoid(elements, nodes, material, RootCondition::clamped);
    } catch (const InvalidInput& e) {
      return std::string(e.what());
    }
    return std::string();
  };
  const SuperClothoidElement good{1.0, CrossSection::circle(0.1)};
  const Vector3 zero = Vector3::Zero();
  EXPECT_EQ(message({}, {zero}), "super-clothoid: no element, expected at least one");
  EXPECT_EQ(message({good}, {zero}), "super-clothoid: 1 rest curvatures, expected one a node, 2");
  EXPECT_EQ(message({good}, {zero, Vector3::Constant(NAN)}),
            "super-clothoid node 1: rest curvature is not finite, expected three numbers");
  EXPECT_EQ(message({{0.0, good.section}}, {zero, zero}),
            "super-clothoid element 0: length is 0.000000, expected a positive number");
}

}  // namespace TRESSE_TEST_FILE
}  // namespace tresse::rods
