#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include <Eigen/Geometry>

#include <tresse/math/rotations.hpp>
#include <tresse/rods/chain_field.hpp>
#include <tresse/rods/super_clothoid.hpp>
#include <tresse/rods/super_helix.hpp>

#include "support/messages.hpp"

// Fields against the rods themselves: their values, and differences of these for what changes.
namespace tresse::rods {
namespace TRESSE_TEST_FILE {

struct Case {
  bool clothoid;
  bool free;
};

std::unique_ptr<Rod> rod_of(const Case& of) {
  const CrossSection thick{3e-3, 2e-3}, thin{2e-3, 2e-3};  // rotary inertia counts
  const Material material{.density = 1200.0, .young_modulus = 1e7, .poisson_ratio = 0.3};
  const RootCondition root = of.free ? RootCondition::free : RootCondition::clamped;
  std::unique_ptr<Rod> out;
  if (of.clothoid) {
    out = make_super_clothoid({{0.05, thick}, {0.08, thin}, {0.03, thick}}, std::vector<Vector3>(4, Vector3::Zero()),
                              material, root);
  } else {
    out = make_super_helix(
        {{0.05, thick, Vector3::Zero()}, {0.08, thin, Vector3::Zero()}, {0.03, thick, Vector3::Zero()}}, material,
        root);
  }
  return out;
}

class Fields : public ::testing::TestWithParam<Case> {
 protected:
  Fields() : rod_(rod_of(GetParam())) {
    state_.root = {Vector3(0.1, -0.2, 0.3), math::rotation_exp(Vector3(0.4, 1.0, -0.7))};
    state_.root_velocity = {Vector3(0.2, -0.1, 0.3), Vector3(1.0, -2.0, 0.5)};
    state_.coordinates = vector(rod_->coordinate_count(), 20.0);
    state_.rates = vector(rod_->coordinate_count(), 30.0);
    rod_->update(state_);
  }

  VectorX vector(Eigen::Index size, double scale) {
    std::uniform_real_distribution<double> uniform(-scale, scale);
    return VectorX::NullaryExpr(size, [&] { return uniform(random_); });
  }
  /// Whole velocities, those of the root first.
  VectorX velocities() {
    VectorX out = vector(6 + rod_->coordinate_count(), 30.0);
    out.head<6>() /= 30.0;
    return out;
  }
  /// Those that the rod itself goes by: its unknowns, and the velocity of its clamped root.
  VectorX unknowns(const VectorX& whole) const { return whole.tail(rod_->dof()); }
  void move_root(const VectorX& whole) {
    state_.root_velocity = {whole.head<3>(), whole.segment<3>(3)};
    rod_->update(state_);
  }
  VectorX displacement() {
    VectorX out = vector(6 + rod_->coordinate_count(), 10.0);
    out.head<6>() /= 20.0;
    return out;
  }
  /// The rod moved by a whole displacement.
  std::unique_ptr<Rod> moved(const VectorX& by) const {
    RodState there = state_;
    there.root.position += by.head<3>();
    there.root.frame = math::rotation_exp(by.segment<3>(3)) * there.root.frame;
    there.coordinates += by.tail(rod_->coordinate_count());
    std::unique_ptr<Rod> out = rod_->clone();
    out->update(there);
    return out;
  }
  /// By fourth-order differences, of a function of the moved rod.
  template <typename Of>
  auto difference(const VectorX& by, const Of& of) const {
    const double h = 2e-3;
    const auto at = [&](double scale) { return of(*moved(scale * by)); };
    return ((8.0 * (at(h) - at(-h)) - (at(2 * h) - at(-2 * h))) / (12.0 * h)).eval();
  }
  PlacedWrench wrench_at(const FieldPlace& place) {
    PlacedWrench out{&place};
    out.wrench << 0.3, -0.2, 0.5, 0.02, 0.01, -0.03;
    return out;
  }
  FieldSamples forces_on(const ChainField& field) {
    return field.weighted(field.samples(field.motion(velocities())), 1.0, 0.3);
  }

  std::mt19937 random_{5};
  std::unique_ptr<Rod> rod_;
  RodState state_;
};
INSTANTIATE_TEST_SUITE_P(Models, Fields,
                         ::testing::Values(Case{false, false}, Case{false, true}, Case{true, false}, Case{true, true}));

constexpr double rounding = 2e-10;    // integrals by points are good to 1e-10 of their size
constexpr double differences = 1e-8;  // of fourth order with a step of 2e-3

VectorX numbers(const FieldSamples& samples) {
  VectorX out(samples.points.size() + samples.axes.size());
  out << samples.points.reshaped().matrix(), samples.axes.reshaped().matrix();
  return out;
}

TEST_P(Fields, GiveVelocitiesAndMomentum) {
  const ChainField field(*rod_);
  const VectorX x = velocities();
  move_root(x);
  const FieldMotion motion = field.motion(x);
  for (int element = 0; element < 3; ++element) {
    const FieldPlace place = field.place(*rod_, element, 0.021);
    const auto twist = field.twist(place, motion);
    const Vector3 spin = twist.tail<3>();
    EXPECT_LT((twist.head<3>() + spin.cross(place.offset) - rod_->velocity(element, 0.021, unknowns(x))).norm(),
              rounding);
    EXPECT_LT((spin - rod_->angular_velocity(element, 0.021, unknowns(x))).norm(), 10 * rounding);
  }
  VectorX alone = x;
  alone.head(field.size() - rod_->dof()).setZero();
  const VectorX v = unknowns(x);
  const FieldSamples w = field.samples(field.motion(alone));
  MatrixX mass(rod_->dof(), rod_->dof());
  rod_->mass_matrix(mass);
  const FieldSamples by_mass = field.weighted(w, 1.0, 0.0);
  EXPECT_LT((unknowns(field.force(&by_mass)) - mass * v).norm(), rounding * (mass * v).norm());
  MatrixX drag = MatrixX::Zero(rod_->dof(), rod_->dof());
  rod_->add_drag_matrix(0.3, drag);
  const FieldSamples by_drag = field.weighted(w, 0.0, 0.3);
  EXPECT_LT((unknowns(field.force(&by_drag)) - drag * v).norm(), rounding * (drag * v).norm());
  const Vector3 gravity(1.0, 2.0, -9.0);
  VectorX weight(rod_->dof());
  rod_->gravity_force(gravity, weight);
  const FieldSamples weights = field.weighted(field.uniform(gravity), 1.0, 0.0);
  EXPECT_LT((unknowns(field.force(&weights)) - weight).norm(), rounding * weight.norm());
  EXPECT_LT((ChainField::sum(weights) - rod_->mass() * gravity).norm(), rounding * weight.norm());
}

TEST_P(Fields, ForcesAreTheTransposeOfMotions) {
  const ChainField field(*rod_);
  const VectorX x = velocities();
  const FieldPlace place = field.place(*rod_, 1, 0.03);
  const PlacedWrench wrench = wrench_at(place);
  EXPECT_NEAR(field.force(nullptr, {&wrench, 1}).dot(x), wrench.wrench.dot(field.twist(place, field.motion(x))), 1e-11);
  const FieldSamples forces = forces_on(field);
  const double work = dot(forces, field.samples(field.motion(x)));
  EXPECT_NEAR(field.force(&forces).dot(x), work, 1e-12 * std::abs(work));
}

TEST_P(Fields, ChangesAreThoseOfDifferences) {
  const ChainField field(*rod_);
  const VectorX x = velocities(), by = displacement();
  const FieldMotion along = field.motion(by);
  const FieldMotion motion = field.motion(x), changed = field.change(x, along);
  const FieldSamples samples = field.samples(motion);
  const auto samples_of = [&](const Rod& rod) {
    const ChainField there(rod);
    return numbers(there.samples(there.motion(x)));
  };
  const VectorX expected = difference(by, samples_of);
  const FieldSamples samples_changed = field.samples_change(motion, changed, along);
  EXPECT_LT((numbers(samples_changed) - expected).norm(), differences * expected.norm());
  // Of the generalised force of forces that change as well.
  const FieldSamples forces = field.weighted(samples, 1.0, 0.2);
  const FieldSamples force_changed = field.weighted(samples_changed, 1.0, 0.2);
  const auto force_of = [&](const Rod& rod) {
    const ChainField there(rod);
    const FieldSamples own = there.weighted(there.samples(there.motion(x)), 1.0, 0.2);
    return there.force(&own);
  };
  const VectorX expected_force = difference(by, force_of);
  EXPECT_LT((field.force_change(&forces, &force_changed, {}, along) - expected_force).norm(),
            differences * expected_force.norm());
}

TEST_P(Fields, ChangesAtPlacesThatSlideAreThoseOfDifferences) {
  const ChainField field(*rod_);
  const VectorX x = velocities(), by = displacement();
  const FieldMotion along = field.motion(by);
  const FieldPlace place = field.place(*rod_, 1, 0.03);
  const double slid = 0.004;
  PlacedWrench wrench = wrench_at(place);
  wrench.change << 0.1, 0.4, -0.2, 0.01, -0.02, 0.03;
  wrench.slid = slid;
  // About the origin of the shape that is differentiated in: the root moves from it.
  const double h = 2e-3;
  const auto at = [&](double scale) {
    const std::unique_ptr<Rod> rod = moved(scale * by);
    const ChainField there(*rod);
    const FieldPlace placed = there.place(*rod, 1, 0.03 + scale * slid);
    const Vector3 shift = there.origin() - field.origin();
    ChainField::Vector6 twist = there.twist(placed, there.motion(x));
    const Vector3 spin = twist.tail<3>();
    twist.head<3>() -= spin.cross(shift);
    PlacedWrench own{&placed};
    own.wrench = wrench.wrench + scale * wrench.change;
    own.wrench.tail<3>() -= shift.cross(Vector3(own.wrench.head<3>()));
    VectorX both(6 + field.size());
    both << twist, there.force(nullptr, {&own, 1});
    return both;
  };
  const VectorX expected = (8.0 * (at(h) - at(-h)) - (at(2 * h) - at(-2 * h))) / (12.0 * h);
  const VectorX force = field.force_change(nullptr, nullptr, {&wrench, 1}, along);
  const ChainField::Vector6 twist = field.twist(place, field.change(x, along)) + slid * field.twist_slope(place, x);
  EXPECT_LT((twist - expected.head<6>()).norm(), differences * expected.head<6>().norm());
  EXPECT_LT((force - expected.tail(field.size())).norm(), differences * expected.tail(field.size()).norm());
}

TEST_P(Fields, ChangesGoBack) {
  const ChainField field(*rod_);
  const VectorX x = velocities(), by = displacement();
  const FieldMotion along = field.motion(by), motion = field.motion(x), changed = field.change(x, along);
  const FieldSamples forces = forces_on(field);
  const FieldPlace place = field.place(*rod_, 1, 0.03);
  const PlacedWrench wrench = wrench_at(place);
  const double of_samples = dot(forces, field.samples_change(motion, changed, along));
  const double of_twist = wrench.wrench.dot(field.twist(place, changed));
  const double largest = std::max(std::abs(of_samples), std::abs(of_twist));
  EXPECT_NEAR(field.change_back(x, motion, &forces).dot(by), of_samples, 1e-13 * largest);
  EXPECT_NEAR(field.change_back(x, motion, nullptr, {&wrench, 1}).dot(by), of_twist, 1e-13 * largest);
  EXPECT_NEAR(field.change_back(x, motion, &forces, {&wrench, 1}).dot(by), of_samples + of_twist, 1e-13 * largest);
}

TEST(ChainField, RefusesTurnsThatItDoesNotIntegrate) {
  const std::unique_ptr<Rod> rod = rod_of({false, false});
  rod->update(rod->shaped({}, {}, VectorX::Constant(9, 200.0), VectorX::Zero(9)));
  EXPECT_EQ(test::error_of([&] { const ChainField field(*rod); }),
            "gradients: an element turns by more than 12 rad; expected more elements");
}

}  // namespace TRESSE_TEST_FILE
}  // namespace tresse::rods
