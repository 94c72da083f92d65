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
namespace {

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

class Fields : public testing::TestWithParam<Case> {
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
  /// Velocities, of a free root first.
  VectorX velocities() {
    VectorX out = vector(rod_->dof(), 30.0);
    if (GetParam().free) out.head<6>() /= 30.0;
    return out;
  }
  /// The rod moved by a displacement; `root` of a clamped root.
  std::unique_ptr<Rod> moved(const VectorX& by, const Twist& root) const {
    RodState there = state_;
    const Twist twist = GetParam().free ? Twist{by.head<3>(), by.segment<3>(3)} : root;
    there.root.position += twist.linear;
    there.root.frame = math::rotation_exp(twist.angular) * there.root.frame;
    there.coordinates += by.tail(rod_->coordinate_count());
    std::unique_ptr<Rod> out = rod_->clone();
    out->update(there);
    return out;
  }
  /// By fourth-order differences, of a function of the moved rod.
  template <typename Of>
  auto difference(const VectorX& by, const Twist& root, const Of& of) const {
    const double h = 2e-3;
    const auto at = [&](double scale) { return of(*moved(scale * by, {scale * root.linear, scale * root.angular})); };
    return ((8.0 * (at(h) - at(-h)) - (at(2 * h) - at(-2 * h))) / (12.0 * h)).eval();
  }
  static Twist none() { return {}; }
  Twist root() const { return GetParam().free ? Twist{} : state_.root_velocity; }
  Twist root_displacement() const { return GetParam().free ? Twist{} : Twist{{0.3, 0.1, -0.2}, {0.5, 0.2, 0.4}}; }

  std::mt19937 random_{5};
  std::unique_ptr<Rod> rod_;
  RodState state_;
};
INSTANTIATE_TEST_SUITE_P(Models, Fields,
                         testing::Values(Case{false, false}, Case{false, true}, Case{true, false}, Case{true, true}));

constexpr double rounding = 2e-11;    // integrals by points are good to 1e-12 of their size
constexpr double differences = 1e-8;  // of fourth order with a step of 2e-3

TEST_P(Fields, GiveVelocitiesAndMomentum) {
  const ChainField field(*rod_);
  const VectorX v = velocities();
  const FieldMotion motion = field.motion(v, root());
  for (int element = 0; element < 3; ++element) {
    const FieldPlace place = field.place(element, 0.021);
    const auto twist = field.twist(place, motion, v);
    const Vector3 spin = twist.tail<3>();
    EXPECT_LT((twist.head<3>() + spin.cross(place.offset) - rod_->velocity(element, 0.021, v)).norm(), rounding);
    EXPECT_LT((spin - rod_->angular_velocity(element, 0.021, v)).norm(), 10 * rounding);
  }
  MatrixX mass(rod_->dof(), rod_->dof());
  rod_->mass_matrix(mass);
  const VectorX momentum = field.force(field.weighted(field.samples(field.motion(v, none())), 1.0, 0.0));
  EXPECT_LT((momentum - mass * v).norm(), rounding * (mass * v).norm());
  MatrixX drag = MatrixX::Zero(rod_->dof(), rod_->dof());
  rod_->add_drag_matrix(0.3, drag);
  const VectorX resisted = field.force(field.weighted(field.samples(field.motion(v, none())), 0.0, 0.3));
  EXPECT_LT((resisted - drag * v).norm(), rounding * (drag * v).norm());
  const Vector3 gravity(1.0, 2.0, -9.0);
  VectorX weight(rod_->dof());
  rod_->gravity_force(gravity, weight);
  EXPECT_LT((field.force(field.weighted(field.uniform(gravity), 1.0, 0.0)) - weight).norm(), rounding * weight.norm());
}

TEST_P(Fields, WrenchesAtPlacesAreTheTransposeOfTwistsThere) {
  const ChainField field(*rod_);
  const VectorX v = velocities();
  const FieldPlace place = field.place(1, 0.03);
  ChainField::Vector6 wrench;
  wrench << 0.3, -0.2, 0.5, 0.02, 0.01, -0.03;
  VectorX force = VectorX::Zero(rod_->dof());
  field.add_wrench(place, wrench, force);
  EXPECT_NEAR(force.dot(v), wrench.dot(field.twist(place, field.motion(v, none()), v)), 1e-11);
}

TEST_P(Fields, ChangesAreThoseOfDifferences) {
  const ChainField field(*rod_);
  const VectorX v = velocities(), by = vector(rod_->dof(), GetParam().free ? 1.0 : 10.0);
  const FieldMotion along = field.motion(by, root_displacement());
  const FieldMotion motion = field.motion(v, root()), changed = field.change(v, root(), along);
  const TwistColumns samples = field.samples(motion);
  const auto samples_of = [&](const Rod& rod) {
    const ChainField there(rod);
    return there.samples(there.motion(v, root()));
  };
  const TwistColumns expected = difference(by, root_displacement(), samples_of);
  const TwistColumns samples_changed = field.samples_change(motion, changed, along);
  EXPECT_LT((samples_changed - expected).norm(), differences * expected.norm());
  // Of the generalised force of forces that change as well.
  const TwistColumns forces = field.weighted(samples, 1.0, 0.2);
  const TwistColumns force_changed = field.weighted(samples_changed, 1.0, 0.2);
  const auto force_of = [&](const Rod& rod) {
    const ChainField there(rod);
    return there.force(there.weighted(there.samples(there.motion(v, root())), 1.0, 0.2));
  };
  const VectorX expected_force = difference(by, root_displacement(), force_of);
  EXPECT_LT((field.force_change(forces, force_changed, along) - expected_force).norm(),
            differences * expected_force.norm());
}

TEST_P(Fields, ChangesAtPlacesThatSlideAreThoseOfDifferences) {
  const ChainField field(*rod_);
  const VectorX v = velocities(), by = vector(rod_->dof(), GetParam().free ? 1.0 : 10.0);
  const FieldMotion along = field.motion(by, root_displacement());
  const FieldPlace place = field.place(1, 0.03);
  const double slid = 0.004;
  ChainField::Vector6 wrench, wrench_change;
  wrench << 0.3, -0.2, 0.5, 0.02, 0.01, -0.03;
  wrench_change << 0.1, 0.4, -0.2, 0.01, -0.02, 0.03;
  // About the origin of the shape that is differentiated in: the root moves from it.
  const double h = 2e-3;
  const auto at = [&](double scale) {
    const std::unique_ptr<Rod> rod =
        moved(scale * by, {scale * root_displacement().linear, scale * root_displacement().angular});
    const ChainField there(*rod);
    const FieldPlace placed = there.place(1, 0.03 + scale * slid);
    const Vector3 shift = there.origin() - field.origin();
    ChainField::Vector6 twist = there.twist(placed, there.motion(v, root()), v);
    const Vector3 spin = twist.tail<3>();
    twist.head<3>() -= spin.cross(shift);
    ChainField::Vector6 own = wrench + scale * wrench_change;
    own.tail<3>() -= shift.cross(Vector3(own.head<3>()));
    VectorX force = VectorX::Zero(rod_->dof());
    there.add_wrench(placed, own, force);
    VectorX both(6 + rod_->dof());
    both << twist, force;
    return both;
  };
  const VectorX expected = (8.0 * (at(h) - at(-h)) - (at(2 * h) - at(-2 * h))) / (12.0 * h);
  const FieldMotion changed = field.change(v, root(), along);
  VectorX force = VectorX::Zero(rod_->dof());
  field.add_wrench_change(place, wrench, wrench_change, slid, along, force);
  const ChainField::Vector6 twist = field.twist_change(place, changed, v, along) + slid * field.twist_slope(place, v);
  EXPECT_LT((twist - expected.head<6>()).norm(), differences * expected.head<6>().norm());
  EXPECT_LT((force - expected.tail(rod_->dof())).norm(), differences * expected.tail(rod_->dof()).norm());
}

TEST(ChainField, RefusesTurnsThatItDoesNotIntegrate) {
  const std::unique_ptr<Rod> rod = rod_of({false, false});
  rod->update(rod->shaped({}, {}, VectorX::Constant(9, 200.0), VectorX::Zero(9)));
  EXPECT_EQ(test::error_of([&] { const ChainField field(*rod); }),
            "gradients: an element turns by more than 12 rad; expected more elements");
}

}  // namespace
}  // namespace tresse::rods
