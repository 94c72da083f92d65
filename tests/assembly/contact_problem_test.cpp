#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <random>
#include <string>
#include <utility>

#include <tresse/assembly/contact_problem.hpp>
#include <tresse/math/rotations.hpp>
#include <tresse/rods/discrete_elastic_rod.hpp>
#include <tresse/rods/super_clothoid.hpp>
#include <tresse/rods/super_helix.hpp>

// Contact problems against Jacobians and matrices written out, on made-up contacts between fibres.
namespace tresse::assembly {
namespace TRESSE_TEST_FILE {

constexpr double dt = 1e-3;

struct Random {
  std::mt19937 engine{17};
  double number(double from, double to) { return std::uniform_real_distribution<double>(from, to)(engine); }
  Vector3 vector(double scale) { return scale * Vector3(number(-1, 1), number(-1, 1), number(-1, 1)); }
};

struct Made {
  std::unique_ptr<World> world = std::make_unique<World>();
  std::optional<Kinematics> at;
  FreeMotion motion;
  contact::Geometry geometry;
  std::vector<contact::Contact> contacts;
  std::vector<Vector3> bias;

  friction::FactoredProblem problem(const std::vector<contact::Contact>& of, const std::vector<Vector3>& with,
                                    friction::FactoredProblem storage = {}) const {
    ContactWorkspace workspace;
    return contact_problem(*at, geometry, of, motion, with, Instant::begin, workspace, std::move(storage));
  }
};

/// A fibre, and the state that it is in.
std::pair<Fibre, rods::RodState> make_fibre(int k, Random& random) {
  const rods::Material material{.density = 1300.0, .young_modulus = 3e9, .poisson_ratio = 0.48, .damping_time = 1e-3};
  const auto section = rods::CrossSection::circle(4e-5);
  const auto root = k % 3 == 0 ? rods::RootCondition::free : rods::RootCondition::clamped;
  Fibre out;
  if (k % 5 == 4) {
    const std::vector<rods::RodEdge> parts(4, {.length = 0.02, .section = section, .rest_curvature = Vector3::Zero()});
    out.model = rods::make_discrete_elastic_rod(parts, material, root)->model();
    rods::RodState state = out.model->make_rod()->state();
    for (double& x : state.coordinates) x *= 1.8;  // stretched
    return {out, state};
  }
  if (k % 4 == 3) {
    const std::vector<rods::SuperClothoidElement> parts(4, {.length = 0.02, .section = section});
    out.model = rods::make_super_clothoid(parts, std::vector<Vector3>(5, Vector3(0, 0, 30.0)), material, root)->model();
  } else {
    const std::vector<rods::SuperHelixElement> parts(
        static_cast<std::size_t>(4 + k), {.length = 0.02, .section = section, .rest_curvature = {0, 0, 30.0}});
    out.model = rods::make_super_helix(parts, material, root)->model();
  }
  rods::RodState state = out.model->make_rod()->state();
  state.root.position = random.vector(0.01);
  state.root.frame = math::rotation_exp(random.vector(1.0));
  state.root_velocity = {random.vector(0.1), random.vector(0.5)};
  for (double& x : state.coordinates) x += random.number(-20.0, 20.0);
  out.drag = 1e-4;
  return {out, state};
}

/// Twelve contacts on each of a few fibres, some of a fibre with itself.
Made make_problem(ContactAt at) {
  Made made;
  made.world->contact_at = at;
  Random random;
  constexpr int fibres = 5;
  std::vector<rods::RodState> states;
  for (int k = 0; k < fibres; ++k) {
    auto [fibre, state] = make_fibre(k, random);
    made.world->fibres.push_back(std::move(fibre));
    states.push_back(std::move(state));
  }
  made.at.emplace(*made.world);
  for (int k = 0; k < fibres; ++k) made.at->rod(k).update(states[static_cast<std::size_t>(k)]);
  made.world->law = std::make_shared<assembly::Coulomb>(MatrixX::Constant(1, 1, 0.3));
  FreeMotion& motion = made.motion;
  motion.dt = motion.stage = dt;
  motion.forest = make_forest(*made.world);
  motion.roots.resize(fibres);
  motion.holds.resize(fibres);
  for (int k = 0; k < fibres; ++k) {
    const rods::Rod& rod = made.at->rod(k);
    const Tree& tree = motion.forest.trees[static_cast<std::size_t>(k)];
    VectorX v(rod.dof()), momentum;
    for (double& x : v) x = random.number(-1.0, 1.0);
    motion.matrices.emplace_back(*made.world, tree);
    EXPECT_TRUE(motion.matrices.back().factor(*made.at, tree, {}, dt, v, momentum));
    motion.velocities.push_back(v);
  }
  contact_geometry(*made.at, 0.0, made.geometry);
  const auto pieces = static_cast<int>(made.geometry.pieces.size());
  for (int i = 0; i < 6 * fibres; ++i) {
    contact::Contact contact;
    contact.a = (7 * i) % pieces;
    contact.b = (contact.a + 1 + 5 * i) % pieces;
    const contact::Piece& a = made.geometry.pieces[static_cast<std::size_t>(contact.a)];
    const contact::Piece& b = made.geometry.pieces[static_cast<std::size_t>(contact.b)];
    contact.s_a = random.number(0.0, 1.0) * a.interval.end;
    contact.s_b = random.number(0.0, 1.0) * b.interval.end;
    contact.frame = math::rotation_exp(random.vector(2.0));
    contact.point_a = geometry::position(a.curve, contact.s_a);
    contact.point_b = geometry::position(b.curve, contact.s_b);
    contact.gap = i % 2 == 0 ? 0.0 : 1.0;  // one point, or two
    made.contacts.push_back(contact);
    made.bias.push_back(random.vector(1.0));
  }
  return made;
}

/// E^T J of all contacts, (3 contacts, unknowns of all fibres).
MatrixX rows_written_out(const Made& made, const std::vector<int>& begin) {
  MatrixX out = MatrixX::Zero(3 * static_cast<Eigen::Index>(made.contacts.size()), begin.back());
  for (std::size_t i = 0; i < made.contacts.size(); ++i) {
    const contact::Contact& contact = made.contacts[i];
    const ActingPoints points = acting_points(*made.world, made.geometry, contact);
    const auto add = [&](int piece, double s, const Vector3& point, double sign) {
      const contact::Piece& at = made.geometry.pieces[static_cast<std::size_t>(piece)];
      const rods::Rod& rod = made.at->rod(at.body);
      Matrix6X twist(6, rod.dof());
      const double share = s / geometry::domain(at.curve).end;
      const int touched = rod.twist_jacobian(at.element, share * rod.span(at.element).rest, twist);
      Matrix3X jacobian = twist.topRows<3>();
      for (int c = 0; c < touched; ++c)
        jacobian.col(c) += Vector3(twist.col(c).tail<3>()).cross(point - geometry::position(at.curve, s));
      out.block(3 * static_cast<Eigen::Index>(i), begin[static_cast<std::size_t>(at.body)], 3, touched) +=
          sign * contact.frame.transpose() * jacobian.leftCols(touched);
    };
    add(contact.a, contact.s_a, points.a, -1.0);
    add(contact.b, contact.s_b, points.b, 1.0);
  }
  return out;
}

class ContactProblem : public ::testing::TestWithParam<ContactAt> {};
INSTANTIATE_TEST_SUITE_P(At, ContactProblem, ::testing::Values(ContactAt::surface, ContactAt::centreline),
                         [](const auto& tested) { return std::string(word(tested.param)); });

TEST_P(ContactProblem, IsThatOfJacobiansAndMatrices) {
  constexpr double tolerance = 1e-11;  // of the largest: A is ill-conditioned
  const Made made = make_problem(GetParam());
  const friction::FactoredProblem problem = made.problem(made.contacts, made.bias);
  friction::validate(problem);
  const MatrixX rows = rows_written_out(made, problem.body_begin);
  MatrixX solved = rows.transpose();
  for (std::size_t t = 0; t < made.motion.matrices.size(); ++t) {
    const int begin = problem.body_begin[t], n = problem.body_begin[t + 1] - begin;
    for (Eigen::Index k = 0; k < solved.cols(); ++k) {
      VectorX column = solved.col(k).segment(begin, n);
      made.motion.matrices[t].solve(column);
      solved.col(k).segment(begin, n) = column;
    }
  }
  const MatrixX delassus = rows * solved;
  const friction::FrictionProblem found = friction::assembled(problem);
  MatrixX dense = MatrixX::Zero(delassus.rows(), delassus.cols());
  for (int i = 0; i < found.W.rows; ++i) {
    for (int k = found.W.row_begin[static_cast<std::size_t>(i)]; k < found.W.row_begin[static_cast<std::size_t>(i) + 1];
         ++k)
      dense.block<3, 3>(3 * i, 3 * found.W.column[static_cast<std::size_t>(k)]) =
          found.W.block[static_cast<std::size_t>(k)];
  }
  EXPECT_LT((dense - delassus).cwiseAbs().maxCoeff(), tolerance * delassus.cwiseAbs().maxCoeff());
  for (std::size_t i = 0; i < made.contacts.size(); ++i) {
    Vector3 expected = relative_velocity(*made.at, made.geometry, made.contacts[i], made.motion.velocities, made.motion,
                                         Instant::begin);
    expected += made.bias[i];
    EXPECT_LT((problem.q.segment<3>(3 * static_cast<Eigen::Index>(i)) - expected).norm(), 1e-12 * problem.q.norm());
    EXPECT_EQ(problem.mu[static_cast<Eigen::Index>(i)], 0.3);
  }
}

TEST_P(ContactProblem, AContactsBitsDependOnNoOther) {
  const Made made = make_problem(GetParam());
  const friction::FactoredProblem all = made.problem(made.contacts, made.bias);
  friction::FactoredProblem storage = all;
  for (std::size_t i = 0; i < made.contacts.size(); ++i) {
    storage = made.problem({made.contacts[i]}, {made.bias[i]}, std::move(storage));
    EXPECT_EQ((storage.q - all.q.segment<3>(3 * static_cast<Eigen::Index>(i))).norm(), 0.0);
    for (std::size_t side = 0; side < 2; ++side) {
      const friction::ContactRows& among = all.contacts[i][side];
      const friction::ContactRows& alone = storage.contacts[0][side];
      ASSERT_EQ(among.body, alone.body);
      if (among.body < 0) continue;
      ASSERT_EQ(among.columns, alone.columns);
      EXPECT_EQ((rows_of(all, among) - rows_of(storage, alone)).norm(), 0.0) << i << " " << side;
    }
  }
}

}  // namespace TRESSE_TEST_FILE
}  // namespace tresse::assembly
