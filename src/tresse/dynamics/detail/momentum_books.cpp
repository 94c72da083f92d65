#include <tresse/dynamics/detail/momentum_books.hpp>

#include <cmath>
#include <tuple>
#include <utility>

#include <Eigen/Geometry>

#include <tresse/dynamics/detail/fibre_loop.hpp>
#include <tresse/dynamics/detail/fluid_forces.hpp>

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
bool MomentumBooks::rooted(int f) const { return clamped(part_.trunk(part_.motion.forest.tree_of[f])); }

/// Of the rods that grow from clamped roots, about the world's origin.
std::vector<Twist> MomentumBooks::momenta_of(const assembly::Kinematics& at) const {
  std::vector<Twist> out(part_.world.fibres.size());
  for_each_fibre(out.size(), [&](std::size_t f) {
    if (rooted(static_cast<int>(f))) at.rod(static_cast<int>(f)).momentum(out[f].linear, out[f].angular);
  });
  return out;
}

void MomentumBooks::balance() {
  balances_.assign(part_.world.fibres.size(), {});
  for_each_fibre(balances_.size(), [&](std::size_t f) {
    const int tree = part_.motion.forest.tree_of[f];
    const int fibre = static_cast<int>(f);
    if (assembly::drag_of(part_.world, fibre) <= 0.0 && !part_.driven(tree)) return;
    balances_[f] = part_.carries(tree) ? carried_.balance(fibre) : balance_of(fibre);
  });
}

/// Of a fibre between the state and the end.
FibreBalance MomentumBooks::balance_of(int f) {
  const rods::Rod& end = part_.end.rod(f);
  rods::Rod& start = part_.linearised.rod(f);
  FibreBalance out;
  out.motion = mean_motion(f);
  out.first_moment = first_moment(end);
  Vector3 linear, angular;
  end.momentum(out.gained.linear, out.gained.angular);
  start.update(part_.state.rods[f]);
  start.momentum(linear, angular);
  out.gained.linear -= linear;
  out.gained.angular -= angular;
  return out;
}

/// Of a rod at the end that moves with the mean velocity of this part.
rods::RodMotion MomentumBooks::mean_motion(int f) {
  const rods::Rod& end = part_.end.rod(f);
  const double theta = part_.options.theta;
  if (theta == 1.0) return end.motion();
  rods::Rod& rod = part_.trial->rod(f);
  rods::RodState mean = end.state();
  const VectorX& first = part_.start_velocities[f];
  const VectorX last = rods::generalised_velocity(rod, mean);
  rods::set_generalised_velocity(rod, first + theta * (last - first), mean);
  rod.update(mean);
  return rod.motion();
}

void MomentumBooks::add_work(const Pass& pass, const std::vector<ContactReport>& contacts, PartWorks& into) const {
  const auto add = [&](int tree, double work) {
    into.roots_and_air += work;
    if (!part_.carries(tree)) into.uncertain += std::abs(work);
  };
  for (std::size_t f = 0; f < balances_.size(); ++f) {
    if (!part_.fluid_on_nodes.empty()) add(part_.motion.forest.tree_of[f], fluid_work(static_cast<int>(f)));
    const double drag = assembly::drag_of(part_.world, static_cast<int>(f));
    if (drag <= 0.0) continue;
    const rods::RodMotion& motion = balances_[f].motion;
    add(part_.motion.forest.tree_of[f], -part_.motion.dt * drag * (motion.square - part_.air.dot(motion.velocity)));
  }
  for (int t = 0; t < part_.tree_count(); ++t) {
    if (part_.driven(t)) add(t, root_work(t, pass, contacts));
  }
}

/// Of the fluid on a fibre. [J]
double MomentumBooks::fluid_work(int f) const {
  const Matrix3X& forces = part_.fluid_on_nodes[static_cast<std::size_t>(f)];
  Matrix3X before(3, forces.cols()), after(3, forces.cols());
  part_.start.rod(f).end_positions(before);
  part_.end.rod(f).end_positions(after);
  return forces.cwiseProduct(after - before).sum();
}

double MomentumBooks::root_work(int t, const Pass& pass, const std::vector<ContactReport>& contacts) const {
  const assembly::World& world = part_.world;
  const assembly::Kinematics& at = part_.end;
  const assembly::Tree& tree = part_.tree(t);
  const double dt = part_.motion.dt;
  Vector3 impulse = Vector3::Zero();
  Vector3 moment = Vector3::Zero();
  Twist carried;  // impulse and moment of carrying the velocity to the end
  for (const int f : tree.fibres) {
    const double drag = assembly::drag_of(world, f);
    const FibreBalance& own = balances_[f];
    const Vector3 air = -drag * (own.motion.velocity - at.rod(f).length() * part_.air);
    const Vector3 air_moment = -drag * (own.motion.angular - own.motion.position.cross(part_.air));
    const Twist fluid = fluid_load(part_, f);
    impulse += own.gained.linear - dt * (at.rod(f).mass() * assembly::gravity_of(world) + air + fluid.linear);
    moment +=
        own.gained.angular - dt * (own.first_moment.cross(assembly::gravity_of(world)) + air_moment + fluid.angular);
    carried.linear += own.carried.linear;
    carried.angular += own.carried.angular;
    for (std::size_t i = 0; i < contacts.size(); ++i) {
      const ContactReport& contact = contacts[i];
      if (contact.a.body.fibre() != f && contact.b.body.fibre() != f) continue;
      const assembly::ActingPoints points = acting_points(world, pass.at->geometry, pass.contacts[i]);
      for (const auto& [on, point, sign] :
           {std::tuple(contact.a.body.fibre(), points.a, -1.0), std::tuple(contact.b.body.fibre(), points.b, 1.0)}) {
        if (on != f) continue;
        impulse -= sign * dt * contact.force;
        moment -= sign * dt * point.cross(contact.force);
      }
    }
  }
  for (const assembly::HoldImpulse& held : pass.holds) {
    const assembly::Hold& hold = world.holds[held.hold];
    if (part_.motion.forest.tree_of[hold.fibre] != t) continue;
    const Vector3 point = geometry::position(at.rod(hold.fibre).piece(hold.piece), assembly::held_parameter(at, hold));
    impulse -= held.linear / part_.options.theta;
    moment -= (point.cross(held.linear) + held.angular) / part_.options.theta;
  }
  const int trunk = tree.fibres.front();
  const rods::RodState& end = at.rod(trunk).state();
  const auto work = [&](const Vector3& root, const Vector3& linear, const Vector3& angular) {
    return linear.dot(end.root_velocity.linear) + (angular - root.cross(linear)).dot(end.root_velocity.angular);
  };
  const Vector3& linearised = part_.carries(t) ? carried_.shapes()[trunk].root.position : end.root.position;
  return work(linearised, impulse, moment) + work(end.root.position, carried.linear, carried.angular);
}

void MomentumBooks::report_roots(const Pass& pass, const std::vector<ContactReport>& contacts, StepReport& report) {
  const assembly::World& world = part_.world;
  const assembly::Kinematics& end = part_.end;
  const double dt = part_.motion.dt;
  const std::vector<Twist> before = std::exchange(momenta_, momenta_of(end));
  std::vector<Twist> impulse(before.size());  // on a fibre, about the world's origin [N s], [N m s]
  for_each_fibre(impulse.size(), [&](std::size_t f) {
    if (!rooted(static_cast<int>(f))) return;
    const rods::Rod& rod = end.rod(static_cast<int>(f));
    impulse[f].linear = dt * rod.mass() * assembly::gravity_of(world) - (momenta_[f].linear - before[f].linear);
    impulse[f].angular =
        dt * moment_of_weight(rod, assembly::gravity_of(world)) - (momenta_[f].angular - before[f].angular);
    const Twist fluid = fluid_load(part_, static_cast<int>(f));
    impulse[f].linear += dt * fluid.linear;
    impulse[f].angular += dt * fluid.angular;
    const double drag = dt * assembly::drag_of(world, static_cast<int>(f));
    if (drag <= 0.0) return;
    const rods::RodMotion& motion = balances_[f].motion;
    impulse[f].linear -= drag * (motion.velocity - rod.length() * part_.air);
    impulse[f].angular -= drag * (motion.angular - motion.position.cross(part_.air));
  });
  const auto add = [&](BodyId body, const Vector3& point, const Vector3& linear) {
    if (!body.is_fibre()) return;
    impulse[body.index].linear += linear;
    impulse[body.index].angular += point.cross(linear);
  };
  for (std::size_t i = 0; i < contacts.size(); ++i) {
    const assembly::ActingPoints points = acting_points(world, pass.at->geometry, pass.contacts[i]);
    add(contacts[i].a.body, points.a, -dt * contacts[i].force);
    add(contacts[i].b.body, points.b, dt * contacts[i].force);
  }
  for (const assembly::HoldImpulse& held : pass.holds) {
    const assembly::Hold& hold = world.holds[held.hold];
    const geometry::Curve curve = end.rod(hold.fibre).piece(hold.piece);
    add({BodyKind::fibre, hold.fibre}, geometry::position(curve, assembly::held_parameter(end, hold)),
        held.linear / part_.options.theta);
    impulse[hold.fibre].angular += held.angular / part_.options.theta;
  }
  for (const assembly::Tree& tree : part_.motion.forest.trees) {
    const int trunk = tree.fibres.front();
    if (!rooted(trunk)) continue;
    RootLoad& load = report.roots[trunk];
    for (const int f : tree.fibres) {
      const Vector3 arm = end.rod(trunk).state().root.position;
      load.force += impulse[f].linear / part_.options.dt;
      load.torque += (impulse[f].angular - arm.cross(impulse[f].linear)) / part_.options.dt;
    }
  }
}

}  // namespace tresse::dynamics::detail
