#include <tresse/assembly/contact_problem.hpp>

#include <algorithm>

#include <oneapi/tbb/parallel_for.h>

namespace tresse::assembly {
namespace {

/// Fibre and place of one side of a contact; fibre -1: an obstacle.
struct Side {
  int fibre = -1;
  int element = 0;
  double u = 0.0;
};

Side side_a(const contact::Geometry& geometry, const contact::Contact& contact) {
  const contact::Piece& piece = geometry.pieces[contact.a];
  return {piece.body, piece.element, contact.s_a};
}

Side side_b(const contact::Geometry& geometry, const contact::Contact& contact) {
  if (contact.b < 0 || !geometry.pieces[contact.b].fibre) return {};
  const contact::Piece& piece = geometry.pieces[contact.b];
  return {piece.body, piece.element, contact.s_b};
}

int obstacle_of(const World& world, const contact::Geometry& geometry, const contact::Contact& contact) {
  const int body = contact.b < 0 ? geometry.planes[-1 - contact.b].body : geometry.pieces[contact.b].body;
  return body - static_cast<int>(world.fibres.size());
}

/// Leading unknowns of its tree that a side's contact depends on: those that move it, and what is held.
int leading_of(const World& world, const FreeMotion& motion, const Side& side) {
  const int touched = world.fibres[side.fibre].rod->touched(side.element);
  const int t = motion.forest.tree_of[side.fibre];
  const Tree& tree = motion.forest.trees[t];
  if (!motion.holds[t].holds.empty()) return tree.dof + motion.holds[t].equations;
  return leading_unknowns(tree, motion.forest.place_of[side.fibre], touched);
}

/// Adds sign * frame^T J of a side to the rows of its tree's unknowns, (leading or more, 3).
void add_side(const World& world, const FreeMotion& motion, const Side& side, const Matrix3& frame,
              Eigen::Ref<Eigen::Matrix<double, Eigen::Dynamic, 3>> columns) {
  thread_local Matrix3X jacobian;
  const rods::Rod& rod = *world.fibres[side.fibre].rod;
  if (jacobian.cols() < rod.dof()) jacobian.resize(3, rod.dof());
  const int touched = rod.jacobian(side.element, side.u, jacobian);
  const int t = motion.forest.tree_of[side.fibre];
  add_rod_rows(motion.forest.trees[t], motion.roots[t], motion.forest.place_of[side.fibre], jacobian.leftCols(touched),
               frame, columns);
}

/// Whitened rows, (3, columns) row-major, of sum sign * frame^T J over the given sides, all of one tree. What a
/// branch's root does goes on to the unknowns before it.
void fill_rows(const World& world, const FreeMotion& motion, const Matrix3& frame, const Side* sides,
               const double* signs, int count, const friction::ContactRows& where, std::vector<double>& rows) {
  Eigen::Map<Eigen::Matrix<double, Eigen::Dynamic, 3>> columns(rows.data() + where.offset, where.columns, 3);
  columns.setZero();
  for (int k = 0; k < count; ++k) add_side(world, motion, sides[k], signs[k] * frame, columns);
  const TreeHold& held = motion.holds[where.body];
  motion.matrices[where.body].whiten(columns.topRows(where.columns - held.equations));
  held.project(columns);
}

}  // namespace

Vector3 obstacle_velocity(const FreeMotion& motion, int obstacle, const Vector3& x, Instant instant) {
  const Pose& begin = motion.obstacles_begin[obstacle];
  const Pose& end = motion.obstacles_end[obstacle];
  const Pose& here = instant == Instant::begin ? begin : end;
  const Vector3 local = here.frame.transpose() * (x - here.position);
  return (end.position - begin.position + (end.frame - begin.frame) * local) / motion.dt;
}

Vector3 surface_point(const contact::Geometry& geometry, const contact::Contact& contact) {
  if (contact.b < 0) return contact.point_b;
  return contact.point_b - geometry.pieces[contact.b].radius * contact.frame.col(0);
}

Vector3 relative_velocity(const World& world, const contact::Geometry& geometry, const contact::Contact& contact,
                          const std::vector<VectorX>& velocities, const FreeMotion& motion, Instant instant) {
  const Side a = side_a(geometry, contact);
  const Side b = side_b(geometry, contact);
  const Vector3 velocity_a = world.fibres[a.fibre].rod->velocity(a.element, a.u, velocities[a.fibre]);
  const Vector3 velocity_b = b.fibre >= 0 ? world.fibres[b.fibre].rod->velocity(b.element, b.u, velocities[b.fibre])
                                          : obstacle_velocity(motion, obstacle_of(world, geometry, contact),
                                                              surface_point(geometry, contact), instant);
  return contact.frame.transpose() * (velocity_b - velocity_a);
}

friction::FactoredProblem contact_problem(const World& world, const contact::Geometry& geometry,
                                          const std::vector<contact::Contact>& contacts, const FreeMotion& motion,
                                          const std::vector<double>& bias, Instant instant) {
  friction::FactoredProblem problem;
  const Forest& forest = motion.forest;
  problem.body_begin.reserve(forest.trees.size() + 1);
  problem.body_begin.push_back(0);
  for (std::size_t t = 0; t < forest.trees.size(); ++t) {
    const int unknowns = forest.trees[t].dof + motion.holds[t].equations;
    problem.body_begin.push_back(problem.body_begin.back() + unknowns);
  }
  const auto body_of = [&](const Side& side) { return side.fibre < 0 ? -1 : forest.tree_of[side.fibre]; };
  const Eigen::Index count = static_cast<Eigen::Index>(contacts.size());
  problem.contacts.resize(contacts.size());
  problem.q.resize(3 * count);
  problem.mu.resize(count);
  int size = 0;
  const auto reserve = [&](const Side& side, int columns) {
    friction::ContactRows out{body_of(side), columns, size};
    size += 3 * columns;
    return out;
  };
  for (Eigen::Index i = 0; i < count; ++i) {
    const Side a = side_a(geometry, contacts[i]);
    const Side b = side_b(geometry, contacts[i]);
    const int leading_a = leading_of(world, motion, a);
    const int leading_b = b.fibre >= 0 ? leading_of(world, motion, b) : 0;
    auto& rows = problem.contacts[i];
    rows[0] = reserve(a, body_of(a) == body_of(b) ? std::max(leading_a, leading_b) : leading_a);
    if (b.fibre >= 0 && body_of(b) != body_of(a)) rows[1] = reserve(b, leading_b);
  }
  problem.rows.resize(static_cast<std::size_t>(size));
  const auto fill = [&](Eigen::Index i) {
    const contact::Contact& contact = contacts[i];
    const Side sides[2] = {side_a(geometry, contact), side_b(geometry, contact)};
    constexpr double signs[2] = {-1.0, 1.0};
    const auto& rows = problem.contacts[i];
    const bool both = body_of(sides[1]) == body_of(sides[0]);
    fill_rows(world, motion, contact.frame, sides, signs, both ? 2 : 1, rows[0], problem.rows);
    if (rows[1].body >= 0) fill_rows(world, motion, contact.frame, sides + 1, signs + 1, 1, rows[1], problem.rows);
    problem.q.segment<3>(3 * i) = relative_velocity(world, geometry, contact, motion.velocities, motion, instant);
    problem.q[3 * i] += bias[i];
    const int material_b = sides[1].fibre >= 0 ? world.fibres[sides[1].fibre].material
                                               : world.obstacle_material[obstacle_of(world, geometry, contact)];
    problem.mu[i] = world.friction(world.fibres[sides[0].fibre].material, material_b);
  };
  constexpr Eigen::Index few = 32;  // not worth a scheduler's trouble
  if (count <= few) {
    for (Eigen::Index i = 0; i < count; ++i) fill(i);
  } else {
    oneapi::tbb::parallel_for(Eigen::Index{0}, count, fill);
  }
  return problem;
}

VectorX contact_impulse(const World& world, const contact::Geometry& geometry,
                        const std::vector<contact::Contact>& contacts, const VectorX& impulse, const FreeMotion& motion,
                        int tree) {
  // Three columns at a time, of which the sum is wanted.
  Eigen::Matrix<double, Eigen::Dynamic, 3> sum;
  sum.setZero(motion.forest.trees[tree].dof, 3);
  for (std::size_t i = 0; i < contacts.size(); ++i) {
    const Vector3 r = impulse.segment<3>(3 * static_cast<Eigen::Index>(i));
    if (r.isZero(0.0)) continue;
    const Matrix3 loads = Vector3(contacts[i].frame * r).asDiagonal();
    const Side a = side_a(geometry, contacts[i]);
    const Side b = side_b(geometry, contacts[i]);
    if (motion.forest.tree_of[a.fibre] == tree) add_side(world, motion, a, -loads, sum);
    if (b.fibre >= 0 && motion.forest.tree_of[b.fibre] == tree) add_side(world, motion, b, loads, sum);
  }
  return sum.rowwise().sum();
}

std::vector<VectorX> constrained_velocities(const World& world, const friction::FactoredProblem& problem,
                                            const VectorX& impulse, const FreeMotion& motion) {
  std::vector<VectorX> change;
  change.reserve(motion.forest.trees.size());
  for (std::size_t t = 0; t < motion.forest.trees.size(); ++t)
    change.push_back(VectorX::Zero(motion.forest.trees[t].dof + motion.holds[t].equations));
  for (std::size_t i = 0; i < problem.contacts.size(); ++i) {
    const Vector3 r = impulse.segment<3>(3 * static_cast<Eigen::Index>(i));
    for (const friction::ContactRows& side : problem.contacts[i]) {
      if (side.body < 0) continue;
      const double* row = problem.rows.data() + side.offset;
      auto head = change[side.body].head(side.columns);
      for (int k = 0; k < 3; ++k, row += side.columns) head += r[k] * Eigen::Map<const VectorX>(row, side.columns);
    }
  }
  std::vector<VectorX> out(motion.velocities.size());
  for (std::size_t t = 0; t < change.size(); ++t) {
    change[t].conservativeResize(motion.forest.trees[t].dof);
    motion.matrices[t].velocity_from_whitened(change[t]);
    set_rod_velocities(world, motion.forest.trees[t], motion.roots[t], change[t], false, out);
  }
  for (std::size_t f = 0; f < out.size(); ++f) out[f] += motion.velocities[f];
  return out;
}

}  // namespace tresse::assembly
