#include <tresse/assembly/contact_problem.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <span>
#include <tuple>
#include <utility>
#include <variant>
#include <vector>

#include <tresse/base/blocks.hpp>
#include <tresse/base/errors.hpp>
#include <tresse/base/lanes.hpp>
#include <tresse/base/local_memory.hpp>

namespace tresse::assembly {
namespace {

/// One side of a contact: a place of a fibre, a point of a free body, or neither.
struct Side {
  int fibre = -1;
  int element = 0;
  double u = 0.0;  ///< local arc length of its material [m]
  int body = -1;   ///< of the free bodies
  Vector3 arm;     ///< from its centre of mass, or the fibre's axis, to where the contact acts [m]
  int material = 0;

  bool moves() const { return fibre >= 0 || body >= 0; }
};

int material_of(const World& world, BodyId body) {
  return body.is_fibre() ? world.fibres[body.index].material : world.obstacle_material[body.index];
}

/// Of a place `s`, `centre` on the curve of a piece, where a contact acts at `point`.
Side side_of(const World& world, const FreeMotion& motion, Instant instant, const contact::Piece& piece, double s,
             const Vector3& centre, const Vector3& point) {
  Side out;
  out.material = material_of(world, piece.id);
  if (piece.id.is_fibre()) {
    out.fibre = piece.body;
    out.element = piece.element;
    out.u = piece.span.in_material(s);
    out.arm = point - centre;
  } else if (piece.id.moves()) {
    out.body = free_body_of(world, piece.id.index);
    out.arm = point - obstacle_place(motion, piece.id.index, instant).position;
  }
  return out;
}

struct Sides {
  Side a, b;
};

Sides sides_of(const World& world, const contact::Geometry& geometry, const contact::Contact& contact,
               const FreeMotion& motion, Instant instant) {
  const ActingPoints points = acting_points(world, geometry, contact);
  Sides out;
  out.a = side_of(world, motion, instant, geometry.pieces[contact.a], contact.s_a, contact.point_a, points.a);
  if (contact.b >= 0) {
    out.b = side_of(world, motion, instant, geometry.pieces[contact.b], contact.s_b, contact.point_b, points.b);
  } else {
    out.b.material = material_of(world, contact::id_at(geometry, contact.b));
  }
  return out;
}

/// Number among the bodies of the problem: trees, then free bodies; -1: none, its motion is prescribed.
int body_of(const Forest& forest, const Side& side) {
  if (side.fibre >= 0) return forest.tree_of[side.fibre];
  return side.body >= 0 ? static_cast<int>(forest.trees.size()) + side.body : -1;
}

/// Leading unknowns of its tree, or of its body, that a side's contact depends on: those that move it, and what is
/// held.
int leading_of(const World& world, const FreeMotion& motion, const Side& side) {
  if (side.fibre < 0) return side.body >= 0 ? 6 : 0;
  const int touched = world.fibres[side.fibre].model->touched(side.element);
  const int t = motion.forest.tree_of[side.fibre];
  const Tree& tree = motion.forest.trees[t];
  if (!motion.holds[t].holds.empty()) return tree.dof + motion.holds[t].equations;
  return leading_unknowns(tree, motion.forest.place_of[side.fibre], touched);
}

/// Adds sign * frame^T J of a side to the rows of its tree's unknowns, (leading or more, 3).
void add_side(const Kinematics& at, const FreeMotion& motion, const Side& side, const Matrix3& frame,
              Eigen::Ref<Eigen::Matrix<double, Eigen::Dynamic, 3>> columns) {
  const rods::Rod& rod = at.rod(side.fibre);
  LocalMemory<64 * 3 * sizeof(double)> memory;
  auto jacobian = memory.matrix<Matrix3X>(3, rod.dof());
  const int touched = rod.jacobian(side.element, side.u, side.arm, jacobian);
  const int t = motion.forest.tree_of[side.fibre];
  add_rod_rows(motion.forest.trees[t], motion.roots[t], motion.forest.place_of[side.fibre], jacobian.leftCols(touched),
               frame, columns);
}

/// Whitened rows, (3, columns) row-major, of sum sign * frame^T J over the given sides, all of one tree. What a
/// branch's root does goes on to the unknowns before it.
void fill_rows(const Kinematics& at, const FreeMotion& motion, const Matrix3& frame, const Side* sides,
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
  for (int k = 0; k < count; ++k) add_side(at, motion, sides[k], signs[k] * frame, columns);
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
  const int obstacle = contact::id_at(geometry, contact.b).index;
  Vector3 rigid = obstacle_velocity(motion, obstacle, acting_points(world, geometry, contact).b, instant);
  const bodies::Surface* surface = bodies::surface_of(world.obstacles[obstacle].shape);
  if (!surface || !surface->moves()) return rigid;
  // In its own axes the point goes from there to here, and they are carried along.
  Vector3 shift = Vector3::Zero();
  const geometry::Face& face = surface->topology->faces()[static_cast<std::size_t>(contact.face)];
  for (int k = 0; k < 3; ++k) {
    const auto at = [&](double time) { return surface->vertex(face[static_cast<std::size_t>(k)], time); };
    shift += contact.weights[k] * (at(motion.begin + motion.dt) - at(motion.begin));
  }
  const std::vector<Pose>& other = instant == Instant::begin ? motion.obstacles_end : motion.obstacles_begin;
  return rigid + other[obstacle].frame * shift / motion.dt;
}

namespace {

/// Of the fibre of a side where it is touched; nullptr: none.
const FrictionRegion* region_of(const Kinematics& at, const Side& side) {
  if (side.fibre < 0) return nullptr;
  const std::vector<FrictionRegion>& regions = at.world().fibres[static_cast<std::size_t>(side.fibre)].friction;
  if (regions.empty()) return nullptr;
  const rods::Rod& rod = at.rod(side.fibre);
  const double share = (rod.piece_begin(side.element) + side.u) / rod.length();
  const auto found =
      std::find_if(regions.begin(), regions.end(), [&](const auto& region) { return share < region.end; });
  if (found != regions.end()) return &*found;
  return share < regions.back().end + 1e-9 ? &regions.back() : nullptr;
}

ContactCoefficients coefficients_of(const Kinematics& at, const Side& a, const Side& b) {
  const ContactLaw& law = *at.world().law;
  ContactCoefficients out{law.friction(a.material, b.material), law.kinetic_friction(a.material, b.material),
                          law.restitution(a.material, b.material)};
  const FrictionRegion* of_a = region_of(at, a);
  const FrictionRegion* of_b = region_of(at, b);
  if (!of_a) std::swap(of_a, of_b);
  if (of_a) out.friction = of_a->friction, out.kinetic = of_a->kinetic;
  if (of_b) {
    out.friction = std::max(out.friction, of_b->friction);
    out.kinetic = std::max(out.kinetic, of_b->kinetic);
  }
  return out;
}

}  // namespace

ContactCoefficients coefficients(const Kinematics& at, const contact::Geometry& geometry,
                                 const contact::Contact& contact, const FreeMotion& motion, Instant instant) {
  const auto [a, b] = sides_of(at.world(), geometry, contact, motion, instant);
  return coefficients_of(at, a, b);
}

ActingPoints acting_points(const World& world, const contact::Geometry& geometry, const contact::Contact& contact) {
  const Vector3 normal = contact.frame.col(0);
  const contact::Piece& a = geometry.pieces[contact.a];
  const BodyId id_b = contact::id_at(geometry, contact.b);
  const Vector3 of_b = contact.point_b - contact::skin_at(geometry, contact.b) * normal;
  const bool surface = world.contact_at == ContactAt::surface;
  if (a.id.is_fibre() && !surface) return {contact.point_a, id_b.is_fibre() ? contact.point_b : of_b};
  const Vector3 midway = 0.5 * (of_b + contact.point_a + a.radius * normal);
  if (!a.id.is_fibre()) return {midway, midway};
  const auto twists = [&](BodyId id) { return world.fibres[id.index].model->twists(); };
  const double thinnest = id_b.is_fibre() ? std::min(a.radius, geometry.pieces[contact.b].radius) : a.radius;
  const double half = 0.5 * contact.gap;
  const Vector3 back = (half - std::clamp(half, -0.5 * thinnest, 0.5 * thinnest)) * normal;
  return {twists(a.id) ? Vector3(midway - back) : contact.point_a,
          id_b.is_fibre() && !twists(id_b) ? contact.point_b : Vector3(midway + back)};
}

namespace {

Vector3 velocity_of(const Kinematics& at, const std::vector<VectorX>& velocities, const Side& side) {
  if (side.fibre >= 0) {
    const rods::Rod& rod = at.rod(side.fibre);
    const VectorX& v = velocities[side.fibre];
    Vector3 on_axis = rod.velocity(side.element, side.u, v);
    if (side.arm.isZero(0.0)) return on_axis;
    return on_axis + rod.angular_velocity(side.element, side.u, v).cross(side.arm);
  }
  const VectorX& twist = velocities[at.world().fibres.size() + static_cast<std::size_t>(side.body)];
  return twist.head<3>() + Vector3(twist.tail<3>()).cross(side.arm);
}

}  // namespace

Vector3 relative_velocity(const Kinematics& at, const contact::Geometry& geometry, const contact::Contact& contact,
                          const std::vector<VectorX>& velocities, const FreeMotion& motion, Instant instant) {
  const World& world = at.world();
  const auto [a, b] = sides_of(world, geometry, contact, motion, instant);
  const Vector3 velocity_b =
      b.moves() ? velocity_of(at, velocities, b) : surface_velocity(world, geometry, contact, motion, instant);
  return contact.frame.transpose() * (velocity_b - velocity_of(at, velocities, a));
}

namespace {

constexpr std::size_t block = 64;  // fewer are not worth a scheduler's trouble

template <typename Visit>
void for_each(std::size_t count, const Visit& visit) {
  for_blocks(count, block, [&](std::size_t, std::size_t first, std::size_t last) {
    for (std::size_t i = first; i < last; ++i) visit(i);
  });
}

/// One side of a contact, or both where they are of one body.
struct SideOfContact {
  int contact = 0;
  int which = 0;               ///< 0: a, or both; 1: b
  friction::ContactRows rows;  ///< those of the problem, at hand
  bool plain = false;          ///< whether it is on a fibre alone that nothing holds, and the other side is not
};

}  // namespace

struct ContactWorkspace::Arrays {
  std::vector<int> end;  ///< of gather_by_body()
  std::vector<SideOfContact> sides;
  std::vector<std::array<Side, 2>> places;  ///< (contacts)
  Matrix3X velocities;  ///< (3, 2 contacts) what each side adds to the relative velocity, in the contact's axes
  std::vector<VectorX> changes;  ///< (bodies) what the impulses change of whitened velocities
};

ContactWorkspace::ContactWorkspace() : arrays_(std::make_unique<Arrays>()) {}
ContactWorkspace::ContactWorkspace(ContactWorkspace&&) noexcept = default;
ContactWorkspace& ContactWorkspace::operator=(ContactWorkspace&&) noexcept = default;
ContactWorkspace::~ContactWorkspace() = default;

namespace {

/// All that one problem is made of.
struct Making {
  const Kinematics& at;
  const contact::Geometry& geometry;
  const std::vector<contact::Contact>& contacts;
  const FreeMotion& motion;
  Instant instant;
  friction::FactoredProblem& problem;
  ContactWorkspace::Arrays& scratch;

  auto velocity_of_side(const SideOfContact& side) const {
    return scratch.velocities.col(2 * static_cast<Eigen::Index>(side.contact) + side.which);
  }
};

/// Whether the body is a fibre alone, that nothing holds.
bool is_plain(const Making& making, std::size_t body) {
  const Forest& forest = making.motion.forest;
  return body < forest.trees.size() && forest.trees[body].fibres.size() == 1 && making.motion.holds[body].holds.empty();
}

/// Whether both sides of the contact are of this one's body.
bool is_of_both(const Making& making, const SideOfContact& side) {
  const auto i = static_cast<std::size_t>(side.contact);
  return making.problem.contacts[i][1].body < 0 && making.scratch.places[i][1].moves();
}

/// Rows and velocity of any side.
void fill_side(const Making& making, const SideOfContact& side) {
  const auto i = static_cast<std::size_t>(side.contact);
  const auto which = static_cast<std::size_t>(side.which);
  const std::array<Side, 2>& sides = making.scratch.places[i];
  constexpr double signs[2] = {-1.0, 1.0};
  const Matrix3& frame = making.contacts[i].frame;
  const int count = is_of_both(making, side) ? 2 : 1;
  fill_rows(making.at, making.motion, frame, sides.data() + which, signs + which, count, side.rows,
            making.problem.rows);
  Vector3 velocity = Vector3::Zero();
  for (std::size_t k = which; k < which + static_cast<std::size_t>(count); ++k)
    velocity += signs[k] * velocity_of(making.at, making.motion.velocities, sides[k]);
  making.velocity_of_side(side) = frame.transpose() * velocity;
}

/// From (unknowns) of rows side by side to the rows of each side, four unknowns at a time.
void write_rows(const Making& making, std::span<const SideOfContact> sides, std::span<const rods::FourRows> rows) {
  using lanes::Doubles;
  std::array<int, lanes::count> columns{};
  std::array<double*, lanes::count> out{};
  for (std::size_t k = 0; k < sides.size(); ++k) {
    columns[k] = sides[k].rows.columns;
    out[k] = making.problem.rows.data() + sides[k].rows.offset;
  }
  for (Eigen::Index c = 0; c < 3; ++c) {
    const auto read = [&](std::size_t i) {
      return lanes::load(rows[std::min(i, rows.size() - 1)].data() + rods::place_in_rows(0, c));
    };
    for (std::size_t i = 0; i < rows.size(); i += lanes::count) {
      const std::array<Doubles, lanes::count> of_side =
          lanes::transposed({read(i), read(i + 1), read(i + 2), read(i + 3)});
      for (std::size_t k = 0; k < sides.size(); ++k) {
        const int left = columns[k] - static_cast<int>(i);
        double* to = out[k] + c * columns[k] + i;
        if (left >= lanes::count) {
          lanes::store(of_side[k], to);
        } else {
          for (int n = 0; n < left; ++n) to[n] = of_side[k][n];
        }
      }
    }
  }
}

constexpr std::size_t together = 4;  // sides that point_rows() takes

/// fill_side() of up to four plain sides on one fibre: their columns go side by side.
void fill_plain_sides(const Making& making, std::span<const SideOfContact> sides) {
  std::array<rods::RodPoint, together> points;
  std::array<Vector3, together> prescribed;
  int leading = 0;
  for (std::size_t k = 0; k < sides.size(); ++k) {
    const auto i = static_cast<std::size_t>(sides[k].contact);
    const Side& side = making.scratch.places[i][static_cast<std::size_t>(sides[k].which)];
    const Matrix3& frame = making.contacts[i].frame;
    points[k] = {side.element, side.u, sides[k].which == 0 ? Matrix3(-frame) : frame, side.arm};
    leading = std::max(leading, sides[k].rows.columns);
  }
  const auto body = static_cast<std::size_t>(sides[0].rows.body);
  const auto fibre = static_cast<std::size_t>(making.motion.forest.trees[body].fibres.front());
  LocalMemory<64 * sizeof(rods::FourRows)> memory;
  const std::span rows = memory.array<rods::FourRows>(static_cast<std::size_t>(leading));
  making.at.rod(static_cast<int>(fibre)).point_rows({points.data(), sides.size()}, rows, prescribed);
  rods::FourRows velocity = rods::FourRows::Zero();
  const VectorX& v = making.motion.velocities[fibre];
  for (std::size_t i = 0; i < rows.size(); ++i) velocity += v[static_cast<Eigen::Index>(i)] * rows[i];
  making.motion.matrices[body].whiten_rows(rows);
  for (std::size_t k = 0; k < sides.size(); ++k) {
    const auto point = static_cast<Eigen::Index>(k);
    for (Eigen::Index c = 0; c < 3; ++c)
      making.velocity_of_side(sides[k])[c] = velocity[rods::place_in_rows(point, c)] + prescribed[k][c];
  }
  write_rows(making, sides, rows);
}

/// Fills the rows of sides that follow each other body by body: a body's matrix and elements are read once, and stay
/// near.
void fill_sides(const Making& making, std::span<SideOfContact> sides) {
  for (std::size_t begin = 0, end = 0; begin < sides.size(); begin = end) {
    const int body = sides[begin].rows.body;
    while (end < sides.size() && sides[end].rows.body == body) ++end;
    const std::span of_body = sides.subspan(begin, end - begin);
    const bool plain = is_plain(making, static_cast<std::size_t>(body));
    for (SideOfContact& side : of_body) side.plain = plain && !is_of_both(making, side);
    // Alike in length, so that short rows don't wait for long ones.
    std::sort(of_body.begin(), of_body.end(), [](const SideOfContact& x, const SideOfContact& y) {
      return std::tuple(!x.plain, -x.rows.columns, x.contact) < std::tuple(!y.plain, -y.rows.columns, y.contact);
    });
    const auto rest = std::find_if(of_body.begin(), of_body.end(), [](const auto& side) { return !side.plain; });
    const auto count = static_cast<std::size_t>(rest - of_body.begin());
    for (std::size_t next = 0; next < count; next += together)
      fill_plain_sides(making, of_body.subspan(next, std::min(together, count - next)));
    for (auto side = rest; side != of_body.end(); ++side) fill_side(making, *side);
  }
}

/// Which bodies the contacts are between, and where their rows go.
void lay_out(const Making& making) {
  friction::FactoredProblem& problem = making.problem;
  const Forest& forest = making.motion.forest;
  problem.body_begin.assign(1, 0);
  std::int64_t unknowns = 0;
  const auto add = [&](int own) {
    unknowns += own;
    require(unknowns <= std::numeric_limits<int>::max(),
            "the bodies have more than 2147483647 unknowns together; expected fewer fibres or elements");
    problem.body_begin.push_back(static_cast<int>(unknowns));
  };
  for (std::size_t t = 0; t < forest.trees.size(); ++t) add(forest.trees[t].dof + making.motion.holds[t].equations);
  for (std::size_t k = 0; k < making.motion.bodies.size(); ++k) add(6);
  problem.contacts.resize(making.contacts.size());
  making.scratch.places.resize(making.contacts.size());
  for_each(making.contacts.size(), [&](std::size_t i) {
    const auto [a, b] = sides_of(making.at.world(), making.geometry, making.contacts[i], making.motion, making.instant);
    making.scratch.places[i] = {a, b};
    const int leading_a = leading_of(making.at.world(), making.motion, a);
    const int leading_b = leading_of(making.at.world(), making.motion, b);
    const bool both = body_of(forest, a) == body_of(forest, b);
    problem.contacts[i] = {};
    problem.contacts[i][0] = {body_of(forest, a), both ? std::max(leading_a, leading_b) : leading_a, 0};
    if (b.moves() && !both) problem.contacts[i][1] = {body_of(forest, b), leading_b, 0};
  });
}

/// Gives every side its place in memory.
void place_rows(friction::FactoredProblem& problem) {
  const auto needed = static_cast<std::size_t>(friction::lay_out_rows(problem.contacts));
  if (problem.rows.capacity() < needed) {
    problem.rows = {};
    problem.rows.reserve(needed + needed / 16);  // the next step has a few more, or repairs add them
  }
  problem.rows.resize(needed);
}

/// The sides of each body, in order of their contacts: those before `end` (bodies) of it, from that of the body before.
/// Of the contacts that `wanted` names.
template <typename Wanted>
void gather_by_body(const friction::FactoredProblem& problem, std::size_t bodies, const Wanted& wanted,
                    std::vector<int>& end, std::vector<SideOfContact>& sides) {
  end.assign(bodies + 1, 0);
  const auto visit = [&](const auto& side_of) {
    for (std::size_t i = 0; i < problem.contacts.size(); ++i) {
      if (!wanted(i)) continue;
      for (int which = 0; which < 2; ++which) {
        const friction::ContactRows& rows = problem.contacts[i][static_cast<std::size_t>(which)];
        if (rows.body >= 0) side_of(SideOfContact{static_cast<int>(i), which, rows});
      }
    }
  };
  visit([&](const SideOfContact& side) { ++end[static_cast<std::size_t>(side.rows.body) + 1]; });
  for (std::size_t t = 0; t < bodies; ++t) end[t + 1] += end[t];
  sides.resize(static_cast<std::size_t>(end.back()));
  visit([&](const SideOfContact& side) {
    sides[static_cast<std::size_t>(end[static_cast<std::size_t>(side.rows.body)]++)] = side;
  });
}

}  // namespace

bool cannot_open(const Kinematics& at, const contact::Geometry& geometry, const contact::Contact& contact,
                 const FreeMotion& motion, Instant instant) {
  const World& world = at.world();
  constexpr double end_on = 0.99;    // cosine of the angle with the axis
  constexpr double nothing = 1e-16;  // of what a force across gives: a square
  const Vector3 normal = contact.frame.col(0);
  const auto [a, b] = sides_of(world, geometry, contact, motion, instant);
  const auto across_axis = [&](int piece, double s) {
    const Vector3 along = geometry::jet(geometry.pieces[static_cast<std::size_t>(piece)].curve, s).first;
    return std::abs(along.dot(normal)) < end_on * along.norm();
  };
  if (a.body >= 0 || b.body >= 0 || (a.fibre >= 0 && across_axis(contact.a, contact.s_a)) ||
      (b.fibre >= 0 && across_axis(contact.b, contact.s_b)))
    return false;
  double opens = 0.0;
  double gives = 0.0;
  std::vector<double> rows;
  for (const Side* side : {&a, &b}) {
    if (!side->moves()) continue;
    const double sign = 1.0;
    const friction::ContactRows where{body_of(motion.forest, *side), leading_of(world, motion, *side), 0};
    rows.resize(static_cast<std::size_t>(3 * where.columns));
    fill_rows(at, motion, contact.frame, side, &sign, 1, where, rows);
    const Eigen::Map<const Eigen::Matrix<double, Eigen::Dynamic, 3>> columns(rows.data(), where.columns, 3);
    opens += columns.col(0).squaredNorm();
    gives += columns.rightCols<2>().squaredNorm();
  }
  return opens <= nothing * gives;
}

friction::FactoredProblem contact_problem(const Kinematics& at, const contact::Geometry& geometry,
                                          const std::vector<contact::Contact>& contacts, const FreeMotion& motion,
                                          const std::vector<Vector3>& bias, Instant instant,
                                          ContactWorkspace& workspace, friction::FactoredProblem storage) {
  const World& world = at.world();
  friction::FactoredProblem problem = std::move(storage);
  ContactWorkspace::Arrays& scratch = workspace.arrays();
  const Making making{at, geometry, contacts, motion, instant, problem, scratch};
  lay_out(making);
  place_rows(problem);
  const auto all = [](std::size_t) { return true; };
  gather_by_body(problem, problem.body_begin.size() - 1, all, scratch.end, scratch.sides);
  const Eigen::Index count = static_cast<Eigen::Index>(contacts.size());
  if (scratch.velocities.cols() < 2 * count) scratch.velocities.resize(3, 2 * count + count / 8);
  for_blocks(scratch.sides.size(), block, [&](std::size_t, std::size_t first, std::size_t last) {
    fill_sides(making, std::span(making.scratch.sides).subspan(first, last - first));
  });
  problem.q.resize(3 * count);
  problem.mu.resize(count);
  for_each(contacts.size(), [&](std::size_t k) {
    const contact::Contact& contact = contacts[k];
    const auto& [a, b] = making.scratch.places[k];
    const auto i = static_cast<Eigen::Index>(k);
    Vector3 velocity = making.scratch.velocities.col(2 * i);
    if (!b.moves()) {
      velocity += contact.frame.transpose() * surface_velocity(world, geometry, contact, motion, instant);
    } else if (problem.contacts[k][1].body >= 0) {
      velocity += making.scratch.velocities.col(2 * i + 1);
    }
    velocity += bias[k];
    problem.q.segment<3>(3 * i) = velocity;
    problem.mu[i] = coefficients_of(at, a, b).friction;
  });
  return problem;
}

VectorX contact_impulse(const Kinematics& at, const contact::Geometry& geometry,
                        const std::vector<contact::Contact>& contacts, const VectorX& impulse, const FreeMotion& motion,
                        int tree) {
  const World& world = at.world();
  // Three columns at a time, of which the sum is wanted.
  Eigen::Matrix<double, Eigen::Dynamic, 3> sum;
  sum.setZero(motion.forest.trees[tree].dof, 3);
  for (std::size_t i = 0; i < contacts.size(); ++i) {
    const Vector3 r = impulse.segment<3>(3 * static_cast<Eigen::Index>(i));
    if (r.isZero(0.0)) continue;
    const Matrix3 loads = Vector3(contacts[i].frame * r).asDiagonal();
    // Where on a free body is of no matter here.
    const auto [a, b] = sides_of(world, geometry, contacts[i], motion, Instant::begin);
    if (a.fibre >= 0 && motion.forest.tree_of[a.fibre] == tree) add_side(at, motion, a, -loads, sum);
    if (b.fibre >= 0 && motion.forest.tree_of[b.fibre] == tree) add_side(at, motion, b, loads, sum);
  }
  return sum.rowwise().sum();
}

std::vector<VectorX> constrained_velocities(const World& world, const friction::FactoredProblem& problem,
                                            const VectorX& impulse, const FreeMotion& motion,
                                            ContactWorkspace& workspace, std::vector<VectorX> storage) {
  const std::size_t trees = motion.forest.trees.size();
  const std::size_t bodies = trees + motion.bodies.size();
  auto& [end, sides, places, side_velocities, changes] = workspace.arrays();
  const auto impulse_of = [&](std::size_t contact) {
    return Vector3(impulse.segment<3>(3 * static_cast<Eigen::Index>(contact)));
  };
  const auto closed = [&](std::size_t contact) { return !impulse_of(contact).isZero(0.0); };
  gather_by_body(problem, bodies, closed, end, sides);
  changes.resize(bodies);
  std::vector<VectorX> out = std::move(storage);
  out.resize(motion.velocities.size());
  const auto sum_of = [&, &ends = end, &all = sides](std::size_t body, VectorX& sum) {
    sum.setZero(body < trees ? motion.forest.trees[body].dof + motion.holds[body].equations : 6);
    for (int k = body == 0 ? 0 : ends[body - 1]; k < ends[body]; ++k) {
      const SideOfContact& side = all[static_cast<std::size_t>(k)];
      const int columns = side.rows.columns;
      const Vector3 r = impulse_of(static_cast<std::size_t>(side.contact));
      const double* row = problem.rows.data() + side.rows.offset;
      auto head = sum.head(columns);
      for (int c = 0; c < 3; ++c, row += columns) head += r[c] * Eigen::Map<const VectorX>(row, columns);
    }
  };
  constexpr std::size_t few = 16;
  for_blocks(bodies, few, [&, &of = changes](std::size_t, std::size_t first, std::size_t last) {
    for (std::size_t t = first; t < last; ++t) {
      sum_of(t, of[t]);
      if (t >= trees) continue;
      of[t].conservativeResize(motion.forest.trees[t].dof);
      motion.matrices[t].velocity_from_whitened(of[t]);
      set_rod_velocities(world, motion.forest.trees[t], motion.roots[t], of[t], false, out);
      for (const int f : motion.forest.trees[t].fibres)
        out[static_cast<std::size_t>(f)] += motion.velocities[static_cast<std::size_t>(f)];
    }
  });
  for (std::size_t k = 0; k < motion.bodies.size(); ++k) {
    const std::size_t body = world.fibres.size() + k;
    out[body] = motion.velocities[body] + whitened(motion.bodies[k], changes[trees + k]);
  }
  return out;
}

}  // namespace tresse::assembly
