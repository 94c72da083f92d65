#include <tresse/dynamics/detail/energy_books.hpp>

#include <algorithm>
#include <cmath>

#include <tresse/dynamics/detail/fibre_loop.hpp>

namespace tresse::dynamics::detail {
namespace {

/// How a tree moves whose root nothing drives.
struct TreeEnergy {
  bool free_to_slow = false;
  Vector3 mean = Vector3::Zero();  ///< velocity of a free tree's centre of mass [m/s]
  double kinetic = 0.0;            ///< energy of the motion beside that [J]
};

/// Of the trees at the end; those whose root is moved are not free to slow down.
std::vector<TreeEnergy> energies_of_trees(const Part& part) {
  std::vector<TreeEnergy> out(part.motion.forest.trees.size());
  for (int t = 0; t < part.tree_count(); ++t) {
    TreeEnergy& own = out[static_cast<std::size_t>(t)];
    own.free_to_slow = !part.driven(t);
    if (!own.free_to_slow) continue;
    Vector3 momentum = Vector3::Zero();
    double mass = 0.0;
    for (const int f : part.tree(t).fibres) {
      const rods::Rod& rod = part.end.rod(f);
      Vector3 linear, angular;
      rod.momentum(linear, angular);
      momentum += linear;
      mass += rod.mass();
      own.kinetic += rod.energies(Vector3::Zero()).kinetic;
    }
    if (clamped(part.trunk(t))) continue;
    own.mean = momentum / mass;
    own.kinetic -= 0.5 * momentum.squaredNorm() / mass;
  }
  return out;
}

/// The work of contacts in a part where some rebound: by the mean of the velocities before and after the impact. What
/// the free motion adds to the approach is work of other forces, and may be given back.
void take_impacts(const Part& part, const Pass& pass, double there, PartWorks& out) {
  double given_back = 0.0;
  out.contact = 0.0;
  for (std::size_t i = 0; i < pass.contacts.size(); ++i) {
    const auto at = 3 * static_cast<Eigen::Index>(i);
    const Vector3 local = pass.solution.impulse.segment<3>(at) / part.options.theta;
    const Vector3& bias = pass.bias[i];
    const Vector3 after = pass.solution.velocity.segment<3>(at) - bias;
    Vector3 before = pass.problem.q.segment<3>(at) - bias;
    before[0] = 2.0 * pass.approach[i] - before[0];
    const Vector3 mean = 0.5 * (before + after);
    out.contact += local.dot(mean);
    given_back += std::max(0.0, local[0] * mean[0]);
  }
  out.given_back += std::min(given_back, there);
}

}  // namespace

rods::RodEnergies energies_of(const assembly::Kinematics& at) {
  const assembly::World& world = at.world();
  std::vector<rods::RodEnergies> of_fibres(world.fibres.size());
  for_each_fibre(of_fibres.size(), [&](std::size_t f) {
    of_fibres[f] = at.rod(static_cast<int>(f)).energies(assembly::gravity_of(world));
  });
  rods::RodEnergies out;
  for (const rods::RodEnergies& own : of_fibres) {
    out.kinetic += own.kinetic;
    out.elastic += own.elastic;
    out.gravity += own.gravity;
  }
  out.kinetic += assembly::kinetic_energy(at);
  out.gravity += assembly::gravity_energy(at);
  return out;
}

PartWorks works_of(const Part& part, const Pass& pass, const std::vector<ContactReport>& contacts,
                   const StartOverlaps& overlaps, const HeldPoints& holds, double there) {
  const assembly::FreeMotion& motion = part.motion;
  const auto grows = [&](int fibre) {
    return fibre >= 0 && assembly::grows(part.world.fibres[fibre], part.span.end - motion.dt, part.span.end);
  };
  PartWorks out;
  out.growth = part.growth_work;
  double bent = 0.0;  // what passes through contacts [J]
  for (std::size_t i = 0; i < pass.contacts.size(); ++i) {
    const contact::Contact& contact = pass.contacts[i];
    const ContactReport& of = contacts[i];
    const auto at = 3 * static_cast<Eigen::Index>(i);
    const Vector3 local = pass.solution.impulse.segment<3>(at) / part.options.theta;  // over the whole part
    Vector3 velocity = pass.solution.velocity.segment<3>(at);
    velocity -= pass.bias[i];
    const double by_potential = part.options.penalty ? local[0] * velocity[0] : 0.0;
    out.potential += by_potential;
    out.contact += local.dot(velocity) - by_potential;
    // A fibre that grew leans into what it touches: what brings it back across is work of growing.
    if (grows(of.a.body.fibre()) || grows(of.b.body.fibre())) out.growth -= local[0] * pass.bias[i][0];
    double speed = velocity.norm();
    if (of.b.body.kind == BodyKind::obstacle) {
      const Vector3 surface =
          assembly::surface_velocity(part.world, pass.at->geometry, contact, motion, pass.instants[i]);
      out.obstacles -= (contact.frame * local).dot(surface);
      speed += surface.norm();
    }
    const double push = std::max(0.0, local[0]);
    out.push_out += push * overlaps.depth_at_start(of.bodies()) / motion.dt;
    bent += push * speed;
  }
  // A force that grows without bound must not vouch for itself: both stay below what energy there is.
  constexpr double bend = 0.01, most_bend = 0.05;
  out.given_back = std::min(out.push_out, there) + std::min(bend * bent, most_bend * there);
  if (pass.rebounds > 0) take_impacts(part, pass, there, out);
  for (const assembly::HoldImpulse& impulse : pass.holds) out.holds += holds.work(part.end, impulse, pass.velocities);
  out.uncertain = std::abs(out.growth);
  return out;
}

void damp(Part& part, double surplus) {
  const std::vector<TreeEnergy> trees = energies_of_trees(part);
  double all = 0.0;
  for (const TreeEnergy& own : trees) all += own.kinetic;
  if (!(all > 0.0)) return;
  const double scale = std::sqrt(std::max(0.0, 1.0 - surplus / all));
  for (int t = 0; t < part.tree_count(); ++t) {
    const TreeEnergy& own = trees[static_cast<std::size_t>(t)];
    if (!own.free_to_slow) continue;
    for (const int f : part.tree(t).fibres) {
      rods::RodState& state = part.end_rods[f];
      state.rates *= scale;
      if (clamped(part.world.fibres[f])) continue;
      state.root_velocity.linear = own.mean + scale * (state.root_velocity.linear - own.mean);
      state.root_velocity.angular *= scale;
    }
    assembly::update_tree(part.end, part.tree(t), part.end_rods);
  }
}

double EnergyBooks::gain(const rods::RodEnergies& end, const PartWorks& works) const {
  const double change =
      (end.kinetic - energies_.kinetic) + (end.elastic - energies_.elastic) + (end.gravity - energies_.gravity);
  return change - std::min(works.contact, works.given_back) - works.total();
}

double EnergyBooks::allowed_excess(const rods::RodEnergies& end, const PartWorks& works) const {
  constexpr double small = 2e-7;
  constexpr double rounding = 1e-13;
  const double moving = std::max(end.kinetic + end.elastic, energies_.kinetic + energies_.elastic);
  return small * (moving + floor_) + rounding * std::abs(end.gravity) + works.uncertain;
}

}  // namespace tresse::dynamics::detail
