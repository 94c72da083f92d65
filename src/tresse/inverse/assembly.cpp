#include <tresse/inverse/assembly.hpp>

#include <algorithm>
#include <cmath>
#include <random>
#include <string>

#include <Eigen/QR>

#include <tresse/assembly/contact_problem.hpp>
#include <tresse/base/blocks.hpp>
#include <tresse/base/errors.hpp>
#include <tresse/contact/contact_search.hpp>
#include <tresse/inverse/cone_forces.hpp>
#include <tresse/inverse/fibre_system.hpp>
#include <tresse/inverse/rest_shapes.hpp>
#include <tresse/math/reverse_cholesky.hpp>

namespace tresse::inverse {
namespace {

template <typename Visit>
void for_each(std::size_t count, const Visit& visit) {
  constexpr std::size_t block = 8;
  for_blocks(count, block, [&](std::size_t, std::size_t first, std::size_t last) {
    for (std::size_t i = first; i < last; ++i) visit(i);
  });
}

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

/// One side of a contact on a fibre, -1: on an obstacle.
struct Side {
  int fibre = -1;
  double sign = 1.0;
  PointLoad at;                   ///< without force and moment
  Vector3 arm = Vector3::Zero();  ///< from the axis to where the contact acts (3) [m]
};

std::array<Side, 2> sides_of(const assembly::Kinematics& at, const contact::Geometry& geometry,
                             const contact::Contact& contact) {
  const assembly::ActingPoints acting = assembly::acting_points(at.world(), geometry, contact);
  std::array<Side, 2> out;
  const auto fill = [&](Side& side, int number, double s, double sign, const Vector3& centre, const Vector3& point) {
    if (number < 0) return;
    const contact::Piece& piece = geometry.pieces[static_cast<std::size_t>(number)];
    if (!piece.id.is_fibre()) return;
    side.fibre = piece.body;
    side.sign = sign;
    side.at.piece = piece.element;
    side.at.u = std::clamp(piece.span.in_material(s), 0.0, at.rod(piece.body).span(piece.element).rest);
    side.arm = point - centre;
  };
  fill(out[0], contact.a, contact.s_a, -1.0, contact.point_a, acting.a);
  fill(out[1], contact.b, contact.s_b, 1.0, contact.point_b, acting.b);
  return out;
}

/// How the unknowns of fibres are measured, and with respect to what.
struct Measure {
  Guess guess = Guess::shape;
  Norm norm = Norm::energy;
};

/// A fibre's part: z = w - X^T r is the deviation of its natural shape from the guess, measured; above it, of a free
/// root, what the forces on it lack to balance.
struct FibrePart {
  int root = 0;                     ///< unknowns of the root: 0 or 6
  math::ReverseCholesky stiffness;  ///< of its coordinates
  MatrixX common;                   ///< (coordinates, 3) orthonormal: what a uniform guess takes out; else empty
  VectorX w;                        ///< (dof)
  Eigen::Array<double, 6, 1> root_scale = Eigen::Array<double, 6, 1>::Zero();
};

VectorX guess_of(const rods::Rod& rod, Guess guess) {
  VectorX q = rod.curvature();
  if (guess == Guess::zero || guess == Guess::uniform) q.setZero();
  if (guess == Guess::tip) q = q.tail<3>().replicate(q.size() / 3, 1).eval();
  return q;
}

/// Forces on the coordinates, (coordinates, k), as changes of the measured deviation.
void measure_forces(const FibrePart& part, Norm norm, Eigen::Ref<MatrixX> columns) {
  if (norm == Norm::energy) {
    part.stiffness.whiten(columns);
  } else {
    for (Eigen::Index k = 0; k < columns.cols(); ++k) part.stiffness.solve(columns.col(k));
  }
  if (part.common.size() > 0) columns -= (part.common * (part.common.transpose() * columns)).eval();
}

FibrePart part_of(const rods::Rod& rod, const Vector3& gravity, const Measure& measure) {
  FibrePart out;
  out.root = rod.root_dof();
  const Eigen::Index own = rod.coordinate_count();
  MatrixX all = MatrixX::Zero(rod.dof(), rod.dof());
  rod.add_stiffness(1.0, 0.0, all);
  const MatrixX K = all.bottomRightCorner(own, own);
  MatrixX used = K;
  require(out.stiffness.factor(used), "inverse: the stiffness of a fibre is not positive");
  const bool energy = measure.norm == Norm::energy;
  if (measure.guess == Guess::uniform) {
    MatrixX shapes = Matrix3::Identity().replicate(own / 3, 1);
    if (energy) {  // U^T B = U^-1 K B
      shapes = (K * shapes).eval();
      out.stiffness.whiten(shapes);
    }
    const Eigen::HouseholderQR<MatrixX> qr(shapes);
    out.common = qr.householderQ() * MatrixX::Identity(own, 3);
  }
  const VectorX load = generalised_load(rod, {.gravity = gravity});
  const VectorX away = rod.curvature() - guess_of(rod, measure.guess);
  out.w.resize(rod.dof());
  out.w.head(out.root) = -load.head(out.root);
  MatrixX deviation = -load.tail(own);
  if (energy) {
    deviation += K * away;
    measure_forces(out, measure.norm, deviation);
  } else {
    out.stiffness.solve(deviation.col(0));
    deviation += away;
    if (out.common.size() > 0) deviation -= (out.common * (out.common.transpose() * deviation)).eval();
  }
  out.w.tail(own) = deviation;
  return out;
}

/// All parts and rows, scaled for free roots.
struct System {
  std::vector<FibrePart> parts;
  friction::FactoredProblem rows;
  VectorX w;
  double mean_diagonal = 0.0;  ///< of X X^T without free roots
  bool free_roots = false;
};

System make_system(const assembly::Kinematics& at, const contact::Geometry& geometry,
                   const std::vector<contact::Contact>& contacts, const Measure& measure) {
  const assembly::World& world = at.world();
  const Vector3 gravity = assembly::gravity_of(world);
  System out;
  out.parts.resize(world.fibres.size());
  for_each(out.parts.size(),
           [&](std::size_t f) { out.parts[f] = part_of(at.rod(static_cast<int>(f)), gravity, measure); });
  friction::FactoredProblem& rows = out.rows;
  rows.body_begin.push_back(0);
  for (const FibrePart& part : out.parts)
    rows.body_begin.push_back(rows.body_begin.back() + static_cast<int>(part.w.size()));
  const bool leading = measure.norm == Norm::energy && measure.guess != Guess::uniform;
  std::vector<std::array<Side, 2>> sides(contacts.size());
  rows.contacts.resize(contacts.size());
  rows.q.setZero(3 * static_cast<Eigen::Index>(contacts.size()));
  rows.mu.resize(static_cast<Eigen::Index>(contacts.size()));
  for_each(contacts.size(), [&](std::size_t i) {
    sides[i] = sides_of(at, geometry, contacts[i]);
    rows.mu[static_cast<Eigen::Index>(i)] =
        assembly::coefficients(at, geometry, contacts[i], {}, assembly::Instant::begin).friction;
    const auto columns = [&](const Side& side) {
      const rods::Rod& rod = at.rod(side.fibre);
      return leading ? rod.touched(side.at.piece) : rod.dof();
    };
    const bool both = sides[i][0].fibre >= 0 && sides[i][0].fibre == sides[i][1].fibre;
    for (std::size_t k = 0; k < 2; ++k) {
      const Side& side = sides[i][k];
      if (side.fibre < 0 || (both && k == 1)) continue;
      rows.contacts[i][k] = {side.fibre, both ? std::max(columns(side), columns(sides[i][1])) : columns(side), 0};
    }
  });
  rows.rows.assign(static_cast<std::size_t>(friction::lay_out_rows(rows.contacts)), 0.0);
  std::vector<double> squares(contacts.size(), 0.0);
  for_each(contacts.size(), [&](std::size_t i) {
    const std::array<Side, 2>& pair = sides[i];
    for (std::size_t k = 0; k < 2; ++k) {
      const friction::ContactRows& where = rows.contacts[i][k];
      if (where.body < 0) continue;
      Eigen::Map<MatrixX> columns(rows.rows.data() + where.offset, where.columns, 3);
      for (const Side& side : pair) {
        if (side.fibre != where.body) continue;
        const rods::Rod& rod = at.rod(side.fibre);
        Matrix3X jacobian(3, rod.dof());
        const int touched = rod.jacobian(side.at.piece, side.at.u, side.arm, jacobian);
        columns.topRows(touched) += side.sign * jacobian.leftCols(touched).transpose() * contacts[i].frame;
      }
      const FibrePart& part = out.parts[static_cast<std::size_t>(where.body)];
      auto own = columns.bottomRows(where.columns - part.root);
      MatrixX measured = own;
      measure_forces(part, measure.norm, measured);
      own = measured;
      squares[i] += measured.squaredNorm();
    }
  });
  double sum = 0.0;
  for (const double square : squares) sum += square;
  out.mean_diagonal = contacts.empty() ? 0.0 : sum / (3.0 * static_cast<double>(contacts.size()));
  return out;
}

/// Gives the equations of free roots the weight of `stiff` times the mean compliance of what touches.
void scale_roots(const assembly::Kinematics& at, double stiff, System& system) {
  const double scale = std::sqrt(stiff * system.mean_diagonal);
  for (std::size_t f = 0; f < system.parts.size(); ++f) {
    FibrePart& part = system.parts[f];
    if (part.root == 0) continue;
    system.free_roots = true;
    const double length = at.rod(static_cast<int>(f)).length();
    part.root_scale << scale, scale, scale, scale / length, scale / length, scale / length;
    part.w.head<6>().array() *= part.root_scale;
  }
  for (const auto& pair : system.rows.contacts) {
    for (const friction::ContactRows& side : pair) {
      if (side.body < 0) continue;
      const FibrePart& part = system.parts[static_cast<std::size_t>(side.body)];
      if (part.root == 0) continue;
      Eigen::Map<MatrixX> columns(system.rows.rows.data() + side.offset, side.columns, 3);
      for (Eigen::Index k = 0; k < 3; ++k) columns.col(k).head<6>().array() *= part.root_scale;
    }
  }
  system.w.resize(system.rows.body_begin.back());
  for (std::size_t f = 0; f < system.parts.size(); ++f)
    system.w.segment(system.rows.body_begin[f], system.parts[f].w.size()) = system.parts[f].w;
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

std::vector<Loads> loads_of(const assembly::Kinematics& at, const contact::Geometry& geometry,
                            const std::vector<contact::Contact>& contacts, const std::vector<Vector3>& forces) {
  std::vector<Loads> out(at.world().fibres.size());
  for (Loads& loads : out) loads.gravity = assembly::gravity_of(at.world());
  for (std::size_t i = 0; i < contacts.size(); ++i) {
    if (forces[i].isZero(0.0)) continue;
    for (Side& side : sides_of(at, geometry, contacts[i])) {
      if (side.fibre < 0) continue;
      side.at.force = side.sign * forces[i];
      side.at.moment = side.arm.cross(side.at.force);
      out[static_cast<std::size_t>(side.fibre)].points.push_back(side.at);
    }
  }
  return out;
}

/// Natural shapes under the forces, and how well they balance.
void take_forces(const assembly::Kinematics& at, const std::vector<Loads>& loads, RestingAssembly& out) {
  constexpr double held = 1e-9;
  std::vector<double> residuals(loads.size(), 0.0);
  out.rest.resize(loads.size());
  out.loose.assign(loads.size(), 0);
  for_each(loads.size(), [&](std::size_t f) {
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

/// The solution, with the multipliers that keep free roots in balance.
ConeForces balanced_forces(const System& system, const AssemblyOptions& options, int& iterations) {
  constexpr int rounds = 40;
  constexpr double balanced = 1e-14;  // of what acts on a root, both measured
  constexpr double finer = 1e-5;      // than asked, where the balance of roots hangs on it
  constexpr double again = 1e-3;      // rho, from the last solution on
  const std::vector<MatrixX> none;
  const FibreSystem rows(system.rows, none);
  const ContactCompliance compliance(system.rows);
  const VectorX mu = options.friction_margin * system.rows.mu;
  ConeOptions cone{.gamma = options.regularisation * system.mean_diagonal,
                   .tolerance = (system.free_roots ? finer : 1.0) * options.tolerance,
                   .max_iterations = options.max_iterations};
  VectorX w = system.w;
  ConeForces out;
  out.r.setZero(3 * mu.size());
  for (int k = 0; k <= rounds; ++k) {
    out = solve_cones(compliance, -rows.rows_times(w), mu, out.r, cone);
    iterations += out.iterations;
    if (!system.free_roots) break;
    const VectorX left = system.w - rows.transposed_times(out.r);
    double worst = 0.0;
    for (std::size_t f = 0; f < system.parts.size(); ++f) {
      if (system.parts[f].root == 0) continue;
      const int begin = system.rows.body_begin[f];
      worst = std::max(worst, left.segment<6>(begin).norm() / system.w.segment<6>(begin).norm());
      w.segment<6>(begin) += left.segment<6>(begin);
    }
    if (!(worst > balanced)) break;
    cone.first_rho = again;
  }
  if (out.error <= options.tolerance) out.status = Status::converged;
  return out;
}

}  // namespace

std::vector<contact::Contact> closed_contacts(const assembly::Kinematics& at,
                                              const contact::BroadPhaseOptions& broad_phase,
                                              const contact::DetectionOptions& detection, double tolerance,
                                              contact::Geometry& geometry) {
  assembly::contact_geometry(at, 0.0, geometry);
  for (contact::Piece& piece : geometry.pieces) piece.travel.reach = tolerance * piece.radius;
  std::vector<contact::Contact> out = contact::ContactSearch(broad_phase, detection).find(geometry, {});
  std::erase_if(out, [&](const contact::Contact& contact) {
    const contact::Piece& a = geometry.pieces[static_cast<std::size_t>(contact.a)];
    const bool touches_fibre = a.id.is_fibre() || contact::id_at(geometry, contact.b).is_fibre();
    return contact.gap > tolerance * a.radius || !touches_fibre || assembly::joined(at, geometry, contact);
  });
  return out;
}

RestingAssembly resting_assembly(const assembly::Kinematics& at, const contact::Geometry& geometry,
                                 const std::vector<contact::Contact>& contacts, const AssemblyOptions& options) {
  validate(at.world(), options);
  RestingAssembly out;
  out.forces.assign(contacts.size(), Vector3::Zero());
  out.status = Status::converged;
  System system = make_system(at, geometry, contacts, {options.guess, options.norm});
  if (!contacts.empty() && system.mean_diagonal > 0.0) {
    constexpr double stiff = 1e3;  // of free roots
    scale_roots(at, stiff, system);
    const ConeForces solved = balanced_forces(system, options, out.iterations);
    out.kkt_error = solved.error;
    out.status = solved.status;
    for (std::size_t i = 0; i < contacts.size(); ++i)
      out.forces[i] = contacts[i].frame * solved.r.segment<3>(3 * static_cast<Eigen::Index>(i));
  }
  take_forces(at, loads_of(at, geometry, contacts, out.forces), out);
  out.weight_on_obstacles = weight_on_obstacles(at, geometry, contacts, out.forces);
  return out;
}

namespace {

/// Minus the derivative of all forces on a rod in its unknowns, measured as a system has them.
MatrixX measured_hessian(const rods::Rod& rod, const VectorX& rest, const Loads& loads, const FibrePart& part) {
  constexpr double turn = 1e-5;  // of a root, and of a rod from end to end [rad]
  const auto moved = rod.clone();
  moved->set_rest_curvature(rest);
  const rods::RodState& still = rod.state();
  MatrixX out(rod.dof(), rod.dof());
  VectorX motion = VectorX::Zero(rod.dof()), elastic(rod.dof());
  const auto forces = [&](Eigen::Index k, double step) {
    motion[k] = step;
    moved->update(moved->advanced(still, motion, 1.0, still.root, {}));
    motion[k] = 0.0;
    moved->elastic_force(elastic);
    return VectorX(generalised_load(*moved, loads) + elastic);
  };
  for (Eigen::Index k = 0; k < rod.dof(); ++k) {
    const bool moves = part.root > 0 && k < 3;
    const double step = moves ? turn * rod.length() : (k < part.root ? turn : turn / rod.length());
    out.col(k) = (forces(k, -step) - forces(k, step)) / (2.0 * step);
  }
  out = (0.5 * (out + out.transpose())).eval();
  const Eigen::Index own = rod.coordinate_count();
  const auto measure_rows = [&](MatrixX& matrix) {
    for (Eigen::Index k = 0; k < part.root; ++k) matrix.row(k) *= part.root_scale[k];
    MatrixX lower = matrix.bottomRows(own);
    part.stiffness.whiten(lower);
    matrix.bottomRows(own) = lower;
  };
  measure_rows(out);
  MatrixX turned = out.transpose();
  measure_rows(turned);
  return turned;
}

}  // namespace

bool is_stable(const assembly::Kinematics& at, const contact::Geometry& geometry,
               const std::vector<contact::Contact>& contacts, const RestingAssembly& found) {
  std::vector<contact::Contact> loaded;
  std::vector<Vector3> forces;
  for (std::size_t i = 0; i < contacts.size(); ++i) {
    if (found.forces[i].isZero(0.0)) continue;
    loaded.push_back(contacts[i]);
    forces.push_back(found.forces[i]);
  }
  System system = make_system(at, geometry, loaded, {});
  scale_roots(at, 1.0, system);
  const std::vector<Loads> loads = loads_of(at, geometry, loaded, forces);
  std::vector<MatrixX> blocks(loads.size());
  constexpr double nothing = 1e-7;  // more than what differences leave of a motion that costs nothing
  for_each(blocks.size(), [&](std::size_t f) {
    blocks[f] = measured_hessian(at.rod(static_cast<int>(f)), found.rest[f], loads[f], system.parts[f]);
    blocks[f].diagonal().array() += nothing;
  });
  constexpr double springs = 1e6;
  FibreSystem matrix(system.rows, blocks);
  const double spring = loaded.empty() ? 0.0 : springs / system.mean_diagonal;
  if (!matrix.factor(std::vector<Matrix3>(loaded.size(), spring * Matrix3::Identity()))) return false;
  std::mt19937 random(1);
  VectorX b(system.rows.body_begin.back());
  for (double& x : b) x = static_cast<double>(random()) / static_cast<double>(std::mt19937::max()) - 0.5;
  constexpr double tolerance = 1e-6;
  constexpr int most = 3000;
  return matrix.solve(b, tolerance, most).positive;
}

}  // namespace tresse::inverse
