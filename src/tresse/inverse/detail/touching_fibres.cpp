#include <tresse/inverse/detail/touching_fibres.hpp>

#include <algorithm>
#include <cmath>

#include <Eigen/QR>

#include <tresse/assembly/contact_problem.hpp>
#include <tresse/base/errors.hpp>

namespace tresse::inverse::detail {
namespace {

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

}  // namespace

TouchingFibres touching_fibres(const assembly::Kinematics& at, const contact::Geometry& geometry,
                               const std::vector<contact::Contact>& contacts, const Measure& measure) {
  const assembly::World& world = at.world();
  const Vector3 gravity = assembly::gravity_of(world);
  TouchingFibres out;
  out.parts.resize(world.fibres.size());
  for_each_fibre(out.parts.size(),
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
  for_each_fibre(contacts.size(), [&](std::size_t i) {
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
  for_each_fibre(contacts.size(), [&](std::size_t i) {
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

void scale_roots(const assembly::Kinematics& at, double stiff, TouchingFibres& fibres) {
  const double scale = std::sqrt(stiff * fibres.mean_diagonal);
  for (std::size_t f = 0; f < fibres.parts.size(); ++f) {
    FibrePart& part = fibres.parts[f];
    if (part.root == 0) continue;
    const double length = at.rod(static_cast<int>(f)).length();
    part.root_scale << scale, scale, scale, scale / length, scale / length, scale / length;
    part.w.head<6>().array() *= part.root_scale;
  }
  for (const auto& pair : fibres.rows.contacts) {
    for (const friction::ContactRows& side : pair) {
      if (side.body < 0) continue;
      const FibrePart& part = fibres.parts[static_cast<std::size_t>(side.body)];
      if (part.root == 0) continue;
      Eigen::Map<MatrixX> columns(fibres.rows.rows.data() + side.offset, side.columns, 3);
      for (Eigen::Index k = 0; k < 3; ++k) columns.col(k).head<6>().array() *= part.root_scale;
    }
  }
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

}  // namespace tresse::inverse::detail
