#include <tresse/assembly/contact_problem.hpp>

#include <algorithm>
#include <variant>

#include <tresse/base/blocks.hpp>

namespace tresse::assembly {
namespace {

/// One side of a contact: a place of a fibre, a point of a free body, or neither.
struct Side {
  int fibre = -1;
  int element = 0;
  double u = 0.0;
  int body = -1;  ///< of the free bodies
  Vector3 arm;    ///< from its centre of mass to where the contact acts [m]

  bool moves() const { return fibre >= 0 || body >= 0; }
};

Side side_of(const World& world, const FreeMotion& motion, Instant instant, const contact::Piece& piece, double s,
             const Vector3& point) {
  Side out;
  if (piece.fibre) {
    out.fibre = piece.body;
    out.element = piece.element;
    out.u = s;
  } else if (piece.free) {
    out.body = free_body_of(world, piece.owner);
    out.arm = point - obstacle_place(motion, piece.owner, instant).position;
  }
  return out;
}

struct Sides {
  Side a, b;
};

Sides sides_of(const World& world, const contact::Geometry& geometry, const contact::Contact& contact,
               const FreeMotion& motion, Instant instant) {
  const contact::Piece& a = geometry.pieces[contact.a];
  const Vector3 point = a.fibre && contact.b >= 0 && geometry.pieces[contact.b].fibre
                            ? contact.point_a
                            : surface_point(geometry, contact);
  Sides out;
  out.a = side_of(world, motion, instant, a, contact.s_a, point);
  if (contact.b >= 0) out.b = side_of(world, motion, instant, geometry.pieces[contact.b], contact.s_b, point);
  return out;
}

/// Number among the bodies of the problem: trees, then free bodies; -1: none, its motion is prescribed.
int body_of(const Forest& forest, const Side& side) {
  if (side.fibre >= 0) return forest.tree_of[side.fibre];
  return side.body >= 0 ? static_cast<int>(forest.trees.size()) + side.body : -1;
}

int material_of(const World& world, bool fibre, int owner) {
  return fibre ? world.fibres[owner].material : world.obstacle_material[owner];
}

/// Leading unknowns of its tree, or of its body, that a side's contact depends on: those that move it, and what is
/// held.
int leading_of(const World& world, const FreeMotion& motion, const Side& side) {
  if (side.fibre < 0) return side.body >= 0 ? 6 : 0;
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
  if (sides[0].body >= 0) {
    const FreeBodyMotion& body = motion.bodies[sides[0].body];
    for (int k = 0; k < 3; ++k) {
      const Vector3 direction = signs[0] * frame.col(k);
      columns.col(k) = whitened(body, stacked(direction, sides[0].arm.cross(direction)));
    }
    return;
  }
  columns.setZero();
  for (int k = 0; k < count; ++k) add_side(world, motion, sides[k], signs[k] * frame, columns);
  const TreeHold& held = motion.holds[where.body];
  motion.matrices[where.body].whiten(columns.topRows(where.columns - held.equations));
  held.project(columns);
}

}  // namespace

const Pose& obstacle_place(const FreeMotion& motion, int obstacle, Instant instant) {
  return instant == Instant::begin ? motion.obstacles_begin[obstacle] : motion.obstacles_end[obstacle];
}

namespace {

/// Mean velocity over the step of an obstacle's material point at `x`, as if it were rigid.
Vector3 obstacle_velocity(const FreeMotion& motion, int obstacle, const Vector3& x, Instant instant) {
  const Pose& begin = motion.obstacles_begin[obstacle];
  const Pose& end = motion.obstacles_end[obstacle];
  const Pose& here = obstacle_place(motion, obstacle, instant);
  const Vector3 local = here.frame.transpose() * (x - here.position);
  return (end.position - begin.position + (end.frame - begin.frame) * local) / motion.dt;
}

}  // namespace

Vector3 surface_velocity(const World& world, const contact::Geometry& geometry, const contact::Contact& contact,
                         const FreeMotion& motion, Instant instant) {
  const int obstacle = contact::owner_at(geometry, contact.b);
  Vector3 rigid = obstacle_velocity(motion, obstacle, surface_point(geometry, contact), instant);
  const auto* mesh = std::get_if<bodies::Mesh>(&world.obstacles[obstacle].shape);
  if (!mesh || !mesh->surface->moves()) return rigid;
  // In its own axes the point goes from there to here, and they are carried along.
  Vector3 shift = Vector3::Zero();
  const geometry::Face& face = mesh->surface->topology->faces()[static_cast<std::size_t>(contact.face)];
  for (int k = 0; k < 3; ++k) {
    const auto at = [&](double time) { return mesh->surface->vertex(face[static_cast<std::size_t>(k)], time); };
    shift += contact.weights[k] * (at(motion.begin + motion.dt) - at(motion.begin));
  }
  const std::vector<Pose>& other = instant == Instant::begin ? motion.obstacles_end : motion.obstacles_begin;
  return rigid + other[obstacle].frame * shift / motion.dt;
}

Vector3 surface_point(const contact::Geometry& geometry, const contact::Contact& contact) {
  const Vector3 normal = contact.frame.col(0);
  const Vector3 of_b = contact.point_b - contact::skin_at(geometry, contact.b) * normal;
  const contact::Piece& a = geometry.pieces[contact.a];
  return a.fibre ? of_b : Vector3(0.5 * (of_b + contact.point_a + a.radius * normal));
}

namespace {

Vector3 velocity_of(const World& world, const std::vector<VectorX>& velocities, const Side& side) {
  if (side.fibre >= 0) return world.fibres[side.fibre].rod->velocity(side.element, side.u, velocities[side.fibre]);
  const VectorX& twist = velocities[world.fibres.size() + static_cast<std::size_t>(side.body)];
  return twist.head<3>() + Vector3(twist.tail<3>()).cross(side.arm);
}

}  // namespace

Vector3 relative_velocity(const World& world, const contact::Geometry& geometry, const contact::Contact& contact,
                          const std::vector<VectorX>& velocities, const FreeMotion& motion, Instant instant) {
  const auto [a, b] = sides_of(world, geometry, contact, motion, instant);
  const Vector3 velocity_b =
      b.moves() ? velocity_of(world, velocities, b) : surface_velocity(world, geometry, contact, motion, instant);
  return contact.frame.transpose() * (velocity_b - velocity_of(world, velocities, a));
}

friction::FactoredProblem contact_problem(const World& world, const contact::Geometry& geometry,
                                          const std::vector<contact::Contact>& contacts, const FreeMotion& motion,
                                          const std::vector<double>& bias, Instant instant,
                                          std::vector<double> storage) {
  friction::FactoredProblem problem;
  const Forest& forest = motion.forest;
  problem.body_begin.reserve(forest.trees.size() + motion.bodies.size() + 1);
  problem.body_begin.push_back(0);
  for (std::size_t t = 0; t < forest.trees.size(); ++t) {
    const int unknowns = forest.trees[t].dof + motion.holds[t].equations;
    problem.body_begin.push_back(problem.body_begin.back() + unknowns);
  }
  for (std::size_t k = 0; k < motion.bodies.size(); ++k) problem.body_begin.push_back(problem.body_begin.back() + 6);
  const Eigen::Index count = static_cast<Eigen::Index>(contacts.size());
  problem.contacts.resize(contacts.size());
  problem.q.resize(3 * count);
  problem.mu.resize(count);
  constexpr std::size_t block = 32;  // fewer are not worth a scheduler's trouble
  const auto for_each = [](std::size_t number, const auto& visit) {
    for_blocks(number, block, [&](std::size_t, std::size_t first, std::size_t last) {
      for (std::size_t i = first; i < last; ++i) visit(i);
    });
  };
  for_each(contacts.size(), [&](std::size_t i) {
    const auto [a, b] = sides_of(world, geometry, contacts[i], motion, instant);
    const int leading_a = leading_of(world, motion, a);
    const int leading_b = leading_of(world, motion, b);
    const bool both = body_of(forest, a) == body_of(forest, b);
    problem.contacts[i][0] = {body_of(forest, a), both ? std::max(leading_a, leading_b) : leading_a, 0};
    if (b.moves() && !both) problem.contacts[i][1] = {body_of(forest, b), leading_b, 0};
  });
  int size = 0;
  const std::size_t bodies = problem.body_begin.size() - 1;
  std::vector<int> begin(bodies + 1, 0);  // of each body's in `of_body`, as far as these are filled
  for (std::array<friction::ContactRows, 2>& rows : problem.contacts) {
    for (friction::ContactRows& side : rows) {
      if (side.body < 0) continue;
      side.offset = size;
      size += 3 * side.columns;
      ++begin[static_cast<std::size_t>(side.body) + 1];
    }
  }
  problem.rows = std::move(storage);
  const auto needed = static_cast<std::size_t>(size);
  if (problem.rows.capacity() < needed) {
    problem.rows = {};
    problem.rows.reserve(needed + needed / 16);  // the next step has a few more, or repairs add them
  }
  problem.rows.resize(needed);

  // Body by body: its matrix and its elements are read once, and stay near.
  struct OfBody {
    std::size_t contact, which;
  };
  for (std::size_t t = 0; t < bodies; ++t) begin[t + 1] += begin[t];
  std::vector<OfBody> of_body(static_cast<std::size_t>(begin.back()));
  for (std::size_t i = 0; i < contacts.size(); ++i) {
    for (std::size_t which = 0; which < 2; ++which) {
      const int body = problem.contacts[i][which].body;
      if (body >= 0) of_body[static_cast<std::size_t>(begin[static_cast<std::size_t>(body)]++)] = {i, which};
    }
  }
  Matrix3X velocity_a(3, count), velocity_b(3, count);
  for_each(of_body.size(), [&](std::size_t k) {
    const auto [i, which] = of_body[k];
    const contact::Contact& contact = contacts[i];
    const auto [a, b] = sides_of(world, geometry, contact, motion, instant);
    const Side sides[2] = {a, b};
    constexpr double signs[2] = {-1.0, 1.0};
    const bool both = body_of(forest, b) == body_of(forest, a);
    fill_rows(world, motion, contact.frame, sides + which, signs + which, both ? 2 : 1, problem.contacts[i][which],
              problem.rows);
    const auto column = static_cast<Eigen::Index>(i);
    if (which == 0) velocity_a.col(column) = velocity_of(world, motion.velocities, a);
    if (which == 1 || both) velocity_b.col(column) = velocity_of(world, motion.velocities, b);
  });
  for_each(contacts.size(), [&](std::size_t k) {
    const contact::Contact& contact = contacts[k];
    const auto [a, b] = sides_of(world, geometry, contact, motion, instant);
    const auto i = static_cast<Eigen::Index>(k);
    if (!b.moves()) velocity_b.col(i) = surface_velocity(world, geometry, contact, motion, instant);
    problem.q.segment<3>(3 * i) = contact.frame.transpose() * (velocity_b.col(i) - velocity_a.col(i));
    problem.q[3 * i] += bias[k];
    problem.mu[i] = world.friction(material_of(world, a.fibre >= 0, geometry.pieces[contact.a].owner),
                                   material_of(world, b.fibre >= 0, contact::owner_at(geometry, contact.b)));
  });
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
    // Where on a free body is of no matter here.
    const auto [a, b] = sides_of(world, geometry, contacts[i], motion, Instant::begin);
    if (a.fibre >= 0 && motion.forest.tree_of[a.fibre] == tree) add_side(world, motion, a, -loads, sum);
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
  for (std::size_t k = 0; k < motion.bodies.size(); ++k) change.push_back(VectorX::Zero(6));
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
  const std::size_t trees = motion.forest.trees.size();
  for (std::size_t t = 0; t < trees; ++t) {
    change[t].conservativeResize(motion.forest.trees[t].dof);
    motion.matrices[t].velocity_from_whitened(change[t]);
    set_rod_velocities(world, motion.forest.trees[t], motion.roots[t], change[t], false, out);
  }
  for (std::size_t k = 0; k < motion.bodies.size(); ++k)
    out[world.fibres.size() + k] = whitened(motion.bodies[k], change[trees + k]);
  for (std::size_t f = 0; f < out.size(); ++f) out[f] += motion.velocities[f];
  return out;
}

}  // namespace tresse::assembly
