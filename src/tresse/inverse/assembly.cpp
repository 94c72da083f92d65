#include <tresse/inverse/assembly.hpp>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <string>

#include <tresse/assembly/contact_problem.hpp>
#include <tresse/base/blocks.hpp>
#include <tresse/base/errors.hpp>
#include <tresse/inverse/cone_forces.hpp>
#include <tresse/inverse/detail/touching_fibres.hpp>
#include <tresse/inverse/fibre_system.hpp>
#include <tresse/inverse/rest_shapes.hpp>

namespace tresse::inverse {
namespace {

using detail::FibrePart;
using detail::for_each_fibre;
using detail::TouchingFibres;

void validate(const assembly::World& world, const AssemblyOptions& options) {
  require(options.friction_margin >= 0.0 && options.friction_margin <= 1.0,
          "inverse: expected a margin of friction from 0 to 1");
  require(options.regularisation > 0.0 && std::isfinite(options.regularisation),
          "inverse: expected a regularisation above 0");
  require(options.tolerance > 0.0 && options.max_iterations >= 1,
          "inverse: expected a tolerance and iterations above 0");
  require(world.holds.empty(), "inverse: points are held, which contacts cannot share the load with; expected none");
  require(world.free_bodies.empty(), "inverse: bodies move freely, whose rest no natural shape decides; expected none");
  for (std::size_t f = 0; f < world.fibres.size(); ++f) {
    const auto is = [&](const char* what) { return "inverse: fibre " + std::to_string(f) + what; };
    require(world.fibres[f].attachment.parent < 0,
            [&] { return is(" grows on another, which contacts do not reach here; expected trunks alone"); });
    require(world.fibres[f].model->linear_elasticity(), [&] {
      return is(" is a rod of nodes, which contacts do not reach here; expected a super-helix or a super-clothoid");
    });
  }
}

/// What of the forces on a free root does not balance, over all of them.
double imbalance(const rods::Rod& rod, const Loads& loads) {
  if (rod.root_dof() == 0) return 0.0;
  double scale = rod.mass() * loads.gravity.norm();
  for (const PointLoad& load : loads.points) scale += load.force.norm();
  const VectorX load = generalised_load(rod, loads);
  const double left = std::max(load.head<3>().norm(), load.segment<3>(3).norm() / rod.length());
  return scale > 0.0 ? left / scale : 0.0;
}

/// Natural shapes under the forces, and how well they balance.
void take_forces(const assembly::Kinematics& at, const std::vector<Loads>& loads, RestingAssembly& out) {
  constexpr double held = 1e-9;
  std::vector<double> residuals(loads.size(), 0.0);
  out.rest.resize(loads.size());
  out.loose.assign(loads.size(), 0);
  for_each_fibre(loads.size(), [&](std::size_t f) {
    const rods::Rod& rod = at.rod(static_cast<int>(f));
    if (imbalance(rod, loads[f]) > held) {
      out.loose[f] = 1;
      out.rest[f] = rod.rest_shape_under(generalised_load(rod, loads[f])).curvature;
      return;
    }
    const RestingRod found = resting_rod(rod, loads[f]);
    out.rest[f] = found.model->rest_curvature();
    residuals[f] = std::max(found.residual, imbalance(rod, loads[f]));
  });
  for (const double residual : residuals) out.residual = std::max(out.residual, residual);
}

/// Along the way up, of what obstacles exert on fibres.
double weight_on_obstacles(const assembly::Kinematics& at, const contact::Geometry& geometry,
                           const std::vector<contact::Contact>& contacts, const std::vector<Vector3>& forces) {
  const Vector3 gravity = assembly::gravity_of(at.world());
  double mass = 0.0;
  for (std::size_t f = 0; f < at.world().fibres.size(); ++f) mass += at.rod(static_cast<int>(f)).mass();
  if (gravity.isZero(0.0)) return 0.0;
  Vector3 sum = Vector3::Zero();
  for (std::size_t i = 0; i < contacts.size(); ++i) {
    if (!geometry.pieces[static_cast<std::size_t>(contacts[i].a)].id.is_fibre()) sum += forces[i];
    if (!contact::id_at(geometry, contacts[i].b).is_fibre()) sum -= forces[i];
  }
  return -sum.dot(gravity) / (mass * gravity.squaredNorm());
}

/// Contacts that share fibres, with those fibres: no force elsewhere acts on them.
struct Island {
  std::vector<int> contacts, fibres;  ///< of the whole, ascending
  friction::FactoredProblem rows;     ///< of these alone
  VectorX w;
  bool free_roots = false;
};

Island island_of(const TouchingFibres& system, const std::vector<int>& contacts) {
  Island out{.contacts = contacts, .fibres = {}, .rows = {}, .w = {}};
  for (const int i : contacts) {
    for (const friction::ContactRows& side : system.rows.contacts[static_cast<std::size_t>(i)])
      if (side.body >= 0) out.fibres.push_back(side.body);
  }
  std::ranges::sort(out.fibres);
  out.fibres.erase(std::unique(out.fibres.begin(), out.fibres.end()), out.fibres.end());
  out.rows.body_begin.push_back(0);
  for (const int f : out.fibres) {
    const FibrePart& part = system.parts[static_cast<std::size_t>(f)];
    out.rows.body_begin.push_back(out.rows.body_begin.back() + static_cast<int>(part.w.size()));
    out.free_roots = out.free_roots || part.root > 0;
  }
  out.w.resize(out.rows.body_begin.back());
  for (std::size_t k = 0; k < out.fibres.size(); ++k) {
    const VectorX& w = system.parts[static_cast<std::size_t>(out.fibres[k])].w;
    out.w.segment(out.rows.body_begin[k], w.size()) = w;
  }
  const auto n = static_cast<Eigen::Index>(contacts.size());
  out.rows.q.setZero(3 * n);
  out.rows.mu = system.rows.mu(contacts);
  for (const int i : contacts) out.rows.contacts.push_back(system.rows.contacts[static_cast<std::size_t>(i)]);
  out.rows.rows.resize(static_cast<std::size_t>(friction::lay_out_rows(out.rows.contacts)));
  for (std::size_t k = 0; k < contacts.size(); ++k) {
    for (std::size_t side = 0; side < 2; ++side) {
      const friction::ContactRows& from = system.rows.contacts[static_cast<std::size_t>(contacts[k])][side];
      friction::ContactRows& to = out.rows.contacts[k][side];
      if (to.body < 0) continue;
      std::copy_n(system.rows.rows.begin() + from.offset, 3 * from.columns, out.rows.rows.begin() + to.offset);
      to.body = static_cast<int>(std::ranges::lower_bound(out.fibres, from.body) - out.fibres.begin());
    }
  }
  return out;
}

/// The solution of an island, with the multipliers that keep free roots in balance.
ConeForces balanced_forces(const Island& island, const TouchingFibres& system, const AssemblyOptions& options,
                           double tolerance) {
  constexpr int rounds = 40;
  constexpr double balanced = 1e-14;  // of what acts on a root, both measured
  constexpr double finer = 1e-5;      // than asked, where the balance of roots hangs on it
  constexpr double again = 1e-3;      // rho, from the last solution on
  const std::vector<MatrixX> none;
  const FibreSystem rows(island.rows, none);
  const ContactCompliance compliance(island.rows);
  const VectorX mu = options.friction_margin * island.rows.mu;
  ConeOptions cone{.gamma = options.regularisation * system.mean_diagonal,
                   .tolerance = (island.free_roots ? finer : 1.0) * tolerance,
                   .max_iterations = options.max_iterations};
  VectorX w = island.w;
  ConeForces out;
  out.r.setZero(3 * mu.size());
  int iterations = 0;
  for (int k = 0; k <= rounds; ++k) {
    out = solve_cones(compliance, -rows.rows_times(w), mu, out.r, cone);
    iterations += out.iterations;
    if (!island.free_roots) break;
    const VectorX left = island.w - rows.transposed_times(out.r);
    double worst = 0.0;
    for (std::size_t f = 0; f < island.fibres.size(); ++f) {
      if (system.parts[static_cast<std::size_t>(island.fibres[f])].root == 0) continue;
      const int begin = island.rows.body_begin[f];
      worst = std::max(worst, left.segment<6>(begin).norm() / island.w.segment<6>(begin).norm());
      w.segment<6>(begin) += left.segment<6>(begin);
    }
    if (!(worst > balanced)) break;
    cone.first_rho = again;
  }
  out.iterations = iterations;
  if (out.error <= tolerance) out.status = Status::converged;
  return out;
}

/// Forces of all islands, and their error together.
void solve_islands(const TouchingFibres& system, const std::vector<contact::Contact>& contacts,
                   const AssemblyOptions& options, RestingAssembly& out) {
  const std::vector<std::vector<int>> islands = friction::islands(system.rows);
  std::vector<ConeForces> solved(islands.size());
  // Errors of islands add up as squares, over the largest of three such sums.
  const double tolerance = options.tolerance / std::sqrt(std::min(3.0, static_cast<double>(islands.size())));
  for_blocks(islands.size(), std::size_t{1}, [&](std::size_t k, std::size_t, std::size_t) {
    solved[k] = balanced_forces(island_of(system, islands[k]), system, options, tolerance);
  });
  friction::ErrorSums sums;
  for (std::size_t k = 0; k < islands.size(); ++k) {
    const ConeForces& found = solved[k];
    out.iterations += found.iterations;
    sums += found.sums;
    if (found.status == Status::not_finite) out.status = found.status;
    for (std::size_t j = 0; j < islands[k].size(); ++j) {
      const auto i = static_cast<std::size_t>(islands[k][j]);
      out.forces[i] = contacts[i].frame * found.r.segment<3>(3 * static_cast<Eigen::Index>(j));
    }
  }
  out.kkt_error = sums.relative();
  if (!(out.kkt_error <= options.tolerance) && out.status == Status::converged) out.status = Status::max_iterations;
}

}  // namespace

double default_regularisation(Guess guess) { return guess == Guess::shape ? 1e-3 : 1e-6; }

bool is_closed(const contact::Contact& contact, const contact::Geometry& geometry, double tolerance) {
  return contact.gap <= tolerance * geometry.pieces[static_cast<std::size_t>(contact.a)].radius;
}

std::vector<contact::Contact> closed_contacts(const std::vector<contact::Contact>& contacts,
                                              const contact::Geometry& geometry, double tolerance) {
  std::vector<contact::Contact> out;
  std::ranges::copy_if(contacts, std::back_inserter(out),
                       [&](const contact::Contact& contact) { return is_closed(contact, geometry, tolerance); });
  return out;
}

RestingAssembly resting_assembly(const assembly::Kinematics& at, const contact::Geometry& geometry,
                                 const std::vector<contact::Contact>& contacts, const AssemblyOptions& options) {
  validate(at.world(), options);
  RestingAssembly out;
  out.forces.assign(contacts.size(), Vector3::Zero());
  out.status = Status::converged;
  TouchingFibres system = detail::touching_fibres(at, geometry, contacts, {options.guess, options.norm});
  if (!contacts.empty() && system.mean_diagonal > 0.0) {
    constexpr double stiff = 1e3;  // of free roots
    detail::scale_roots(at, stiff, system);
    solve_islands(system, contacts, options, out);
  }
  take_forces(at, detail::loads_of(at, geometry, contacts, out.forces), out);
  out.weight_on_obstacles = weight_on_obstacles(at, geometry, contacts, out.forces);
  return out;
}

}  // namespace tresse::inverse
