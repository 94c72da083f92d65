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

/// Whitened rows, (3, columns) row-major, of sum sign * frame^T J over the given sides, all of one fibre.
void fill_rows(const World& world, const FreeMotion& motion, const Matrix3& frame, const Side* sides,
               const double* signs, int count, const friction::ContactRows& where, std::vector<double>& rows) {
  const rods::Rod& rod = *world.fibres[where.body].rod;
  thread_local Matrix3X jacobian;
  if (jacobian.cols() < where.columns) jacobian.resize(3, where.columns);
  Eigen::Map<Eigen::Matrix<double, Eigen::Dynamic, 3>> columns(rows.data() + where.offset, where.columns, 3);
  columns.setZero();
  for (int k = 0; k < count; ++k) {
    const int touched = rod.jacobian(sides[k].element, sides[k].u, jacobian);
    columns.topRows(touched).noalias() += jacobian.leftCols(touched).transpose() * (signs[k] * frame);
  }
  motion.matrices[where.body]->whiten(columns);
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
  problem.body_begin.reserve(world.fibres.size() + 1);
  problem.body_begin.push_back(0);
  for (const Fibre& fibre : world.fibres) problem.body_begin.push_back(problem.body_begin.back() + fibre.rod->dof());
  const Eigen::Index count = static_cast<Eigen::Index>(contacts.size());
  problem.contacts.resize(contacts.size());
  problem.q.resize(3 * count);
  problem.mu.resize(count);
  int size = 0;
  const auto reserve = [&](const Side& side, int columns) {
    friction::ContactRows out{side.fibre, columns, size};
    size += 3 * columns;
    return out;
  };
  for (Eigen::Index i = 0; i < count; ++i) {
    const Side a = side_a(geometry, contacts[i]);
    const Side b = side_b(geometry, contacts[i]);
    const int touched_a = world.fibres[a.fibre].rod->touched(a.element);
    const int touched_b = b.fibre >= 0 ? world.fibres[b.fibre].rod->touched(b.element) : 0;
    auto& rows = problem.contacts[i];
    rows[0] = reserve(a, a.fibre == b.fibre ? std::max(touched_a, touched_b) : touched_a);
    if (b.fibre >= 0 && b.fibre != a.fibre) rows[1] = reserve(b, touched_b);
  }
  problem.rows.resize(static_cast<std::size_t>(size));
  const auto fill = [&](Eigen::Index i) {
    const contact::Contact& contact = contacts[i];
    const Side sides[2] = {side_a(geometry, contact), side_b(geometry, contact)};
    constexpr double signs[2] = {-1.0, 1.0};
    const auto& rows = problem.contacts[i];
    const bool both = sides[1].fibre == sides[0].fibre;
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

std::vector<VectorX> constrained_velocities(const friction::FactoredProblem& problem, const VectorX& impulse,
                                            const FreeMotion& motion) {
  std::vector<VectorX> change;
  change.reserve(motion.velocities.size());
  for (const VectorX& velocity : motion.velocities) change.push_back(VectorX::Zero(velocity.size()));
  for (std::size_t i = 0; i < problem.contacts.size(); ++i) {
    const Vector3 r = impulse.segment<3>(3 * static_cast<Eigen::Index>(i));
    for (const friction::ContactRows& side : problem.contacts[i]) {
      if (side.body < 0) continue;
      const double* row = problem.rows.data() + side.offset;
      auto head = change[side.body].head(side.columns);
      for (int k = 0; k < 3; ++k, row += side.columns) head += r[k] * Eigen::Map<const VectorX>(row, side.columns);
    }
  }
  for (std::size_t f = 0; f < change.size(); ++f) {
    motion.matrices[f]->velocity_from_whitened(change[f]);
    change[f] += motion.velocities[f];
  }
  return change;
}

}  // namespace tresse::assembly
