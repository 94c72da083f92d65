#include <utility>
#include <vector>

#include <Eigen/Geometry>

#include <tresse/dynamics/detail/fibre_loop.hpp>
#include <tresse/dynamics/detail/step_pass.hpp>

// What clamps of roots carry, by the balance of momentum of what grows from them.
namespace tresse::dynamics::detail {
namespace {

/// int rho S r x g ds: its component along an axis is what the rod falls in the field that g makes across it.
Vector3 moment_of_weight(const rods::Rod& rod, const Vector3& gravity) {
  Vector3 out = Vector3::Zero();
  for (int axis = 0; axis < 3; ++axis) {
    const Vector3 field = gravity.cross(Vector3::Unit(axis));
    if (!field.isZero(0.0)) out[axis] = -rod.energies(field).gravity;
  }
  return out;
}

}  // namespace

/// Whether a fibre grows, maybe by others, from a clamped root.
bool Engine::rooted(int f) const {
  return clamped(world_.fibres[motion_.forest.trees[motion_.forest.tree_of[f]].fibres.front()]);
}

/// Of the rods that grow from clamped roots, about the world's origin.
std::vector<Twist> Engine::momenta_of(const assembly::Kinematics& at) const {
  std::vector<Twist> out(world_.fibres.size());
  for_each_fibre(out.size(), [&](std::size_t f) {
    if (rooted(static_cast<int>(f))) at.rod(static_cast<int>(f)).momentum(out[f].linear, out[f].angular);
  });
  return out;
}

/// Of an accepted part: a clamp carries what acts on its tree from outside and does not
/// change its momentum.
void Engine::report_roots(const Pass& pass, StepReport& report) {
  const std::vector<Twist> before = std::exchange(momenta_, momenta_of(end_));
  std::vector<Twist> impulse(before.size());  // on a fibre, about the world's origin [N s], [N m s]
  for_each_fibre(impulse.size(), [&](std::size_t f) {
    if (!rooted(static_cast<int>(f))) return;
    const rods::Rod& rod = end_.rod(static_cast<int>(f));
    impulse[f].linear = motion_.dt * rod.mass() * world_.gravity - (momenta_[f].linear - before[f].linear);
    impulse[f].angular = motion_.dt * moment_of_weight(rod, world_.gravity) - (momenta_[f].angular - before[f].angular);
    if (world_.fibres[f].drag <= 0.0) return;
    const rods::RodMotion& motion = balances_[f].motion;
    const double drag = motion_.dt * world_.fibres[f].drag;
    impulse[f].linear -= drag * (motion.velocity - rod.length() * air_);
    impulse[f].angular -= drag * (motion.angular - motion.position.cross(air_));
  });
  const auto add = [&](BodyId body, const Vector3& point, const Vector3& linear) {
    if (!body.is_fibre()) return;
    impulse[body.index].linear += linear;
    impulse[body.index].angular += point.cross(linear);
  };
  for (const ContactReport& contact : contact_reports_) {
    add(contact.a.body, contact.point_a, -motion_.dt * contact.force);
    add(contact.b.body, contact.point_b, motion_.dt * contact.force);
  }
  for (const assembly::HoldImpulse& held : pass.holds) {
    const assembly::Hold& hold = world_.holds[held.hold];
    const geometry::Curve curve = end_.rod(hold.fibre).piece(hold.piece);
    add({BodyKind::fibre, hold.fibre}, geometry::position(curve, assembly::held_parameter(end_, hold)),
        held.linear / options_.theta);
    impulse[hold.fibre].angular += held.angular / options_.theta;
  }
  for (const assembly::Tree& tree : motion_.forest.trees) {
    const int trunk = tree.fibres.front();
    if (!rooted(trunk)) continue;
    RootLoad& load = report.roots[trunk];
    for (const int f : tree.fibres) {
      const Vector3 arm = end_.rod(trunk).state().root.position;
      load.force += impulse[f].linear / options_.dt;
      load.torque += (impulse[f].angular - arm.cross(impulse[f].linear)) / options_.dt;
    }
  }
}

}  // namespace tresse::dynamics::detail
