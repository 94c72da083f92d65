#include <tresse/assembly/contact_problem.hpp>

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

/// Appends 3 x columns whitened rows, row-major, of sum sign * frame^T J over the given sides, all of one fibre.
friction::ContactRows append_rows(const World& world, const FreeMotion& motion, const Matrix3& frame, const Side* sides,
                                  const double* signs, int count, std::vector<double>& rows) {
  const int fibre = sides[0].fibre;
  const rods::Rod& rod = *world.fibres[fibre].rod;
  const int dof = rod.dof();
  Matrix3X jacobian(3, dof);
  MatrixX columns = MatrixX::Zero(dof, 3);
  int leading = 0;
  for (int k = 0; k < count; ++k) {
    const int touched = rod.jacobian(sides[k].element, sides[k].u, jacobian);
    columns.topRows(touched).noalias() += signs[k] * jacobian.leftCols(touched).transpose() * frame;
    leading = std::max(leading, touched);
  }
  motion.matrices[fibre].whiten(columns.topRows(leading));
  friction::ContactRows out{fibre, leading, static_cast<int>(rows.size())};
  for (int row = 0; row < 3; ++row) rows.insert(rows.end(), columns.col(row).data(), columns.col(row).data() + leading);
  return out;
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
  problem.body_begin.push_back(0);
  for (const Fibre& fibre : world.fibres) problem.body_begin.push_back(problem.body_begin.back() + fibre.rod->dof());
  const Eigen::Index count = static_cast<Eigen::Index>(contacts.size());
  problem.contacts.resize(contacts.size());
  problem.q.resize(3 * count);
  problem.mu.resize(count);
  for (Eigen::Index i = 0; i < count; ++i) {
    const contact::Contact& contact = contacts[i];
    const Side sides[2] = {side_a(geometry, contact), side_b(geometry, contact)};
    constexpr double signs[2] = {-1.0, 1.0};
    auto& rows = problem.contacts[i];
    if (sides[1].fibre == sides[0].fibre) {
      rows[0] = append_rows(world, motion, contact.frame, sides, signs, 2, problem.rows);
    } else {
      rows[0] = append_rows(world, motion, contact.frame, sides, signs, 1, problem.rows);
      if (sides[1].fibre >= 0)
        rows[1] = append_rows(world, motion, contact.frame, sides + 1, signs + 1, 1, problem.rows);
    }
    problem.q.segment<3>(3 * i) = relative_velocity(world, geometry, contact, motion.velocities, motion, instant);
    problem.q[3 * i] += bias[i];
    const int material_b = sides[1].fibre >= 0 ? world.fibres[sides[1].fibre].material
                                               : world.obstacle_material[obstacle_of(world, geometry, contact)];
    problem.mu[i] = world.friction(world.fibres[sides[0].fibre].material, material_b);
  }
  return problem;
}

std::vector<VectorX> constrained_velocities(const friction::FactoredProblem& problem, const VectorX& impulse,
                                            const FreeMotion& motion) {
  std::vector<VectorX> change;
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
    motion.matrices[f].velocity_from_whitened(change[f]);
    change[f] += motion.velocities[f];
  }
  return change;
}

}  // namespace tresse::assembly
