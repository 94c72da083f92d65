#include <tresse/statics/world_equilibrium.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include <Eigen/Eigenvalues>

#include <tresse/base/errors.hpp>
#include <tresse/math/dense_qr.hpp>
#include <tresse/statics/detail/contact_newton.hpp>

namespace tresse::statics {
namespace {

using detail::ContactModel;
using detail::Touch;

bool moves(const assembly::World& world) {
  return std::any_of(world.fibres.begin(), world.fibres.end(),
                     [](const assembly::Fibre& fibre) { return !fibre.root_motion.at_rest(); }) ||
         std::any_of(world.obstacles.begin(), world.obstacles.end(),
                     [](const bodies::Obstacle& obstacle) { return !obstacle.motion.at_rest(); });
}

/// All that a fibre may ever be: within its length of its root. [m]
double sphere(const rods::Rod& rod) { return rod.length() + rod.contact_radius(); }

double distance_to(const Vector3& x, const Vector3& from, const Vector3& to) {
  const Vector3 along = to - from;
  const double length = along.squaredNorm();
  const double share = length > 0.0 ? std::clamp(along.dot(x - from) / length, 0.0, 1.0) : 0.0;
  return (from + share * along - x).norm();
}

/// Whether no shape of any fibre reaches another body, where the roots are.
bool out_of_reach(const assembly::Kinematics& at, double margin) {
  const assembly::World& world = at.world();
  contact::Geometry geometry;
  assembly::contact_geometry(at, 0.0, geometry);
  for (std::size_t f = 0; f < world.fibres.size(); ++f) {
    const Vector3 root = assembly::root_pose(world.fibres[f], 0.0).position;
    const double reach = sphere(at.rod(static_cast<int>(f))) + margin;
    for (std::size_t g = 0; g < f; ++g) {
      const Vector3 other = assembly::root_pose(world.fibres[g], 0.0).position;
      if ((other - root).norm() <= reach + sphere(at.rod(static_cast<int>(g)))) return false;
    }
    for (const contact::HalfSpace& plane : geometry.planes) {
      if (plane.normal.dot(root - plane.point) <= reach) return false;
    }
    for (const contact::Piece& piece : geometry.pieces) {
      if (piece.id.is_fibre()) continue;
      const Vector3 from = geometry::position(piece.curve, piece.interval.begin);
      const Vector3 to = geometry::position(piece.curve, piece.interval.end);
      if (distance_to(root, from, to) <= reach + piece.radius) return false;
    }
  }
  return true;
}

/// Length of the way of the fastest point of a moving body between time zero and `time`. [m]
double way(const assembly::Kinematics& at, double time) {
  const assembly::World& world = at.world();
  constexpr int samples = 512;
  double total = 0.0;
  const auto step = [](const Pose& from, const Pose& to, double extent) {
    return (to.position - from.position).norm() + (to.frame - from.frame).norm() * extent;
  };
  for (int i = 0; i < samples; ++i) {
    const double begin = time * i / samples;
    const double end = time * (i + 1) / samples;
    double most = 0.0;
    for (std::size_t f = 0; f < world.fibres.size(); ++f) {
      const assembly::Fibre& fibre = world.fibres[f];
      most = std::max(most, step(assembly::root_pose(fibre, begin), assembly::root_pose(fibre, end),
                                 sphere(at.rod(static_cast<int>(f)))));
    }
    for (const bodies::Obstacle& obstacle : world.obstacles) {
      double extent = bodies::extent(obstacle.shape, obstacle.reference);
      for (const bodies::HalfSpace& plane : bodies::parts(obstacle.shape).planes) {
        for (std::size_t f = 0; f < world.fibres.size(); ++f)
          extent = std::max(extent,
                            (world.fibres[f].root.position - plane.point).norm() + sphere(at.rod(static_cast<int>(f))));
      }
      most = std::max(most,
                      step(assembly::obstacle_pose(obstacle, begin), assembly::obstacle_pose(obstacle, end), extent));
    }
    total += most;
  }
  return total;
}

/// Smallest eigenvalue, and its direction, of a form on what is orthogonal to the columns of `rows`.
std::pair<double, VectorX> least_on_null_space(const MatrixX& form, const MatrixX& rows) {
  const Eigen::Index n = form.rows();
  const MatrixX basis = rows.cols() > 0 ? math::orthogonal_complement(rows, 1e-9) : MatrixX(MatrixX::Identity(n, n));
  if (basis.cols() == 0) return {std::numeric_limits<double>::infinity(), VectorX::Zero(n)};
  const Eigen::SelfAdjointEigenSolver<MatrixX> eigen(basis.transpose() * form * basis);
  return {eigen.eigenvalues()[0], basis * eigen.eigenvectors().col(0)};
}

MatrixX unit_columns(MatrixX columns) {
  columns.colwise().normalize();
  return columns;
}

/// Normals of the touches with a force, scaled to unit length, (n, k).
MatrixX loaded_normals(ContactModel& model) {
  const MatrixX rows = model.rows();
  const VectorX forces = model.forces();
  const double least = 1e-9 * forces.sum();
  MatrixX out(rows.rows(), rows.cols());
  Eigen::Index count = 0;
  for (Eigen::Index i = 0; i < rows.cols(); ++i) {
    if (forces[i] > least && rows.col(i).norm() > 0.0) out.col(count++) = rows.col(i).normalized();
  }
  return out.leftCols(count);
}

MatrixX lagrangian_hessian(ContactModel& model) {
  const detail::ContactCurvature contact = model.contact_curvature(true);
  return model.hessian() - contact.fixed + contact.sliding;
}

/// Points that stand for one contact, which lies between them: their sum, at their mean.
std::vector<Touch> merged(const ContactModel& model, std::vector<Touch> touches) {
  constexpr double near = 0.02;  // of an element
  std::erase_if(touches, [](const Touch& touch) { return touch.force <= 0.0; });
  std::vector<Touch> out;
  for (const Touch& touch : touches) {
    const rods::Rod& rod = model.kinematics().rod(touch.a.index);
    const double length = rod.piece_begin(touch.element_a + 1) - rod.piece_begin(touch.element_a);
    const auto same = std::find_if(out.begin(), out.end(), [&](const Touch& known) {
      return same_touch(model.kinematics(), known, touch, near * length) && known.element_a == touch.element_a &&
             known.element_b == touch.element_b;
    });
    if (same == out.end()) {
      out.push_back(touch);
      continue;
    }
    const double force = same->force + touch.force;
    const double share = touch.force / force;
    same->share_a += share * (touch.share_a - same->share_a);
    same->share_b += share * (touch.share_b - same->share_b);
    same->s_b += share * (touch.s_b - same->s_b);
    same->point += share * (touch.point - same->point);
    same->force = force;
  }
  return out;
}

std::vector<assembly::ContactReport> contact_forces(ContactModel& model) {
  std::vector<assembly::ContactReport> out;
  for (const Touch& touch : merged(model, model.touches())) {
    const detail::TouchPlace at = place(model.kinematics(), touch);
    const double s_b = touch.plane ? 0.0 : arc_length_b(model.kinematics(), touch);
    assembly::ContactReport& contact = out.emplace_back();
    contact.a = {.body = touch.a, .s = arc_length_a(model.kinematics(), touch)};
    contact.b = {touch.b, touch.part_b, s_b};
    contact.point_a = at.point_a;
    contact.point_b = touch.plane ? Vector3(at.point_a + (at.gap + touch.radii) * at.normal) : at.point_b;
    contact.normal = at.normal;
    contact.force = touch.force * at.normal;
    contact.gap = at.gap;
    contact.state = friction::ContactCase::slide;
  }
  return out;
}

/// Each fibre's own balance and stability, the others held where they are.
std::vector<Equilibrium> per_fibre(ContactModel& model, const WorldEquilibrium& whole) {
  const MatrixX hessian = lagrangian_hessian(model);
  const VectorX contact = model.rows() * model.forces();
  const MatrixX normals = loaded_normals(model);
  std::vector<Equilibrium> out;
  for (std::size_t f = 0; f < model.potentials().size(); ++f) {
    const detail::ScaledPotential& potential = model.potentials()[f];
    const Eigen::Index first = model.begin()[f];
    const Eigen::Index n = potential.size();
    Equilibrium own;
    own.status = whole.status;
    own.iterations = whole.iterations;
    own.curvature = potential.rod().curvature();
    const VectorX pushed = contact.segment(first, n);
    own.residual = (potential.gradient() - pushed).norm() / std::max(potential.scale(), pushed.norm());
    own.relative_stiffness = least_on_null_space(hessian.block(first, first, n, n), normals.middleRows(first, n)).first;
    own.smallest_eigenvalue =
        Eigen::SelfAdjointEigenSolver<MatrixX>(potential.raw_hessian(), Eigen::EigenvaluesOnly).eigenvalues()[0];
    out.push_back(own);
  }
  return out;
}

WorldEquilibrium solve_alone(assembly::Kinematics& at, const std::vector<rods::RodState>& start,
                             const WorldEquilibriumOptions& options) {
  WorldEquilibrium out;
  out.status = Status::converged;
  out.relative_stiffness = out.smallest_eigenvalue = std::numeric_limits<double>::infinity();
  const assembly::World& world = at.world();
  for (std::size_t f = 0; f < world.fibres.size(); ++f) {
    rods::Rod& rod = at.rod(static_cast<int>(f));
    rods::RodState state = start[f];
    state.root = assembly::root_pose(world.fibres[f], 0.0);
    const Equilibrium own = solve_equilibrium(rod, state, assembly::gravity_of(world), options.search);
    out.states.push_back(rod.state());
    out.iterations += own.iterations;
    out.residual = std::max(out.residual, own.residual);
    out.relative_stiffness = std::min(out.relative_stiffness, own.relative_stiffness);
    out.smallest_eigenvalue = std::min(out.smallest_eigenvalue, own.smallest_eigenvalue);
    if (out.status == Status::converged) out.status = own.status;
    out.fibres.push_back(own);
  }
  return out;
}

bool overlaps_itself(const assembly::Kinematics& at, const WorldEquilibriumOptions& options) {
  contact::Geometry geometry;
  assembly::contact_geometry(at, 0.0, geometry);
  const auto contacts = contact::ContactSearch(options.broad_phase, options.detection).find(geometry, {});
  return std::any_of(contacts.begin(), contacts.end(), [](const contact::Contact& c) { return c.gap < 0.0; });
}

WorldEquilibrium solve_together(assembly::Kinematics& at, const std::vector<rods::RodState>& start,
                                const WorldEquilibriumOptions& options) {
  const assembly::World& world = at.world();
  ContactModel model(at, start, options);
  constexpr Eigen::Index most = 4000;
  require(model.size() <= most, "statics with contact: more than 4000 coordinates in one problem");
  detail::ContactNewton newton(model, options.search, options.margin);
  WorldEquilibrium out;
  out.together = true;
  detail::ContactNewtonResult last;
  const auto search = [&] {
    last = newton.minimise();
    out.iterations += last.iterations;
    out.status = last.status;
    return last.status != Status::not_finite;
  };
  const int loads = assembly::gravity_of(world).isZero(0.0) ? 1 : options.search.load_steps;
  bool finite = true;
  for (int load = 1; load <= loads && finite; ++load) {
    model.set_gravity(assembly::gravity_of(world) * load / loads);
    finite = search();
  }
  if (finite && options.time > 0.0 && moves(world)) {
    double radius = std::numeric_limits<double>::infinity();
    for (const assembly::Fibre& fibre : world.fibres) radius = std::min(radius, fibre.model->contact_radius());
    const double instants = std::ceil(way(at, options.time) / (0.5 * radius));
    require(instants <= 1e5, "statics: bodies move by more than 50000 radii of a fibre until the time asked for");
    for (int i = 1; i <= static_cast<int>(instants) && finite; ++i) {
      model.set_time(options.time * i / instants);
      finite = search();
      if (last.status == Status::stalled && last.overlap > 0.1 * radius) break;  // no way out: don't go through
    }
  }
  // As for a rod alone: a saddle is left downhill.
  constexpr int escapes = 3;
  for (int attempt = 0; attempt <= escapes && finite; ++attempt) {
    const auto [least, direction] = least_on_null_space(lagrangian_hessian(model), loaded_normals(model));
    out.relative_stiffness = least;
    if (least > 0.0 || attempt == escapes) break;
    model.move(1e-3 * newton.scale() * direction);
    finite = search();
  }
  out.overlap = last.overlap;
  out.residual = newton.balance(last.overlap).residual();
  out.states = model.states();
  if (!finite) {
    Equilibrium lost;
    lost.status = Status::not_finite;
    out.fibres.assign(world.fibres.size(), lost);
    return out;
  }
  out.contacts = contact_forces(model);
  out.fibres = per_fibre(model, out);
  MatrixX form = model.unscaled_forces(lagrangian_hessian(model)).transpose();
  form = model.unscaled_forces(form);
  out.smallest_eigenvalue = least_on_null_space(form, unit_columns(model.unscaled_forces(loaded_normals(model)))).first;
  return out;
}

}  // namespace

WorldEquilibrium solve_equilibrium(assembly::Kinematics& at, const std::vector<rods::RodState>& start,
                                   const WorldEquilibriumOptions& options) {
  const assembly::World& world = at.world();
  require(start.size() == world.fibres.size(), "equilibrium: needs one rod state a fibre");
  require(options.margin > 0.0, "equilibrium: the contact margin must be positive");
  require(options.time >= 0.0 && std::isfinite(options.time), "equilibrium: the time must be 0 or more");
  const EquilibriumOptions& search = options.search;
  require(search.tolerance > 0.0 && search.max_iterations >= 1 && search.load_steps >= 1,
          "equilibrium: tolerance must be positive, iterations and load steps at least 1");
  require(world.free_bodies.empty(), "equilibrium: free bodies are not supported; let `tresse run` come to rest");
  require(world.holds.empty(), "equilibrium: held points are not supported; let `tresse run` come to rest");
  for (const bodies::Obstacle& obstacle : world.obstacles)
    require(!bodies::surface_of(obstacle.shape),
            [&] { return "equilibrium: obstacle '" + obstacle.name + "' is a mesh; let `tresse run` come to rest"; });
  for (const assembly::Fibre& fibre : world.fibres) require(clamped(fibre), "equilibrium: the root must be clamped");
  if ((options.time == 0.0 || !moves(world)) && out_of_reach(at, options.margin)) {
    WorldEquilibrium alone = solve_alone(at, start, options);
    if (!options.broad_phase.self_contact || !overlaps_itself(at, options)) return alone;
  }
  return solve_together(at, start, options);
}

}  // namespace tresse::statics
