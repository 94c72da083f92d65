#include <tresse/inverse/rest_shape.hpp>

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

#include <tresse/base/errors.hpp>

namespace tresse::inverse {
namespace {

/// Of a load, what may be left where it is to balance by itself.
constexpr double balanced = 1e-9;

void validate(const rods::Rod& rod, const Loads& loads) {
  require(loads.gravity.allFinite(), "inverse: gravity is not finite");
  for (std::size_t i = 0; i < loads.points.size(); ++i) {
    const PointLoad& load = loads.points[i];
    const auto here = [&] { return "inverse: load " + std::to_string(i); };
    require(load.piece >= 0 && load.piece < rod.piece_count(),
            [&] { return here() + " is at element " + std::to_string(load.piece) + "; expected one of the rod"; });
    require(load.u >= 0.0 && load.u <= rod.span(load.piece).rest,
            [&] { return here() + " is at " + std::to_string(load.u) + " m; expected a place on its element"; });
    require(load.force.allFinite() && load.moment.allFinite(), [&] { return here() + " is not finite"; });
    require(load.moment.isZero(0.0) || rod.model()->twists(),
            [&] { return here() + " has a moment, which a mass-spring chain cannot take"; });
  }
}

/// The force on the root must vanish where nothing holds it.
void check_root(const rods::Rod& rod, const Loads& loads, const VectorX& load) {
  if (rod.root_condition() != rods::RootCondition::free || rod.root_dof() == 0) return;
  double scale = rod.mass() * loads.gravity.norm();
  for (const PointLoad& point : loads.points) scale += point.force.norm() + point.moment.norm() / rod.length();
  require(load.head<3>().norm() <= balanced * scale && load.segment<3>(3).norm() <= balanced * scale * rod.length(),
          "inverse: the loads on a free rod do not balance; no natural shape holds it");
}

/// The largest of the forces that balance.
double residual(const rods::Rod& rod, const VectorX& load) {
  VectorX elastic(rod.dof());
  rod.elastic_force(elastic);
  const Eigen::Index own = rod.coordinate_count();
  const double size = std::max(load.tail(own).lpNorm<Eigen::Infinity>(), elastic.tail(own).lpNorm<Eigen::Infinity>());
  return size > 0.0 ? (load + elastic).tail(own).lpNorm<Eigen::Infinity>() / size : 0.0;
}

/// The same points on a rod whose elements are made of other lengths.
Loads moved_along(const rods::Rod& from, const rods::Rod& to, Loads loads) {
  for (PointLoad& load : loads.points)
    load.u = std::min(load.u * (to.span(load.piece).rest / from.span(load.piece).rest), to.span(load.piece).rest);
  return loads;
}

std::unique_ptr<rods::Rod> rod_of(const rods::RodModel& model, const rods::RodState& state) {
  std::unique_ptr<rods::Rod> out = model.make_rod();
  out->update(state);
  return out;
}

}  // namespace

VectorX generalised_load(const rods::Rod& rod, const Loads& loads) {
  validate(rod, loads);
  VectorX out(rod.dof());
  rod.gravity_force(loads.gravity, out);
  Matrix6X columns(6, loads.points.empty() ? 0 : rod.dof());
  for (const PointLoad& load : loads.points) {
    if (load.moment.isZero(0.0)) {
      const int touched = rod.jacobian(load.piece, load.u, columns.topRows<3>());
      out.head(touched) += columns.topLeftCorner(3, touched).transpose() * load.force;
      continue;
    }
    const int touched = rod.twist_jacobian(load.piece, load.u, columns);
    out.head(touched) += columns.topLeftCorner(3, touched).transpose() * load.force +
                         columns.bottomLeftCorner(3, touched).transpose() * load.moment;
  }
  return out;
}

VectorX rest_curvature(const rods::Rod& rod, const Loads& loads) {
  require(rod.linear_elasticity(),
          "inverse: a rod that stretches has natural lengths too; expected a super-helix or a super-clothoid");
  const VectorX load = generalised_load(rod, loads);
  check_root(rod, loads, load);
  return rod.rest_shape_under(load).curvature;
}

RestingRod resting_rod(const rods::Rod& rod, const Loads& loads) {
  constexpr int most = 50;
  constexpr double same = 1e-15;  // of a length
  RestingRod out;
  if (rod.linear_elasticity()) {
    out.model = rod.model()->with_rest_curvature(rest_curvature(rod, loads));
    out.status = Status::converged;
    const auto rests = rod.clone();
    rests->set_rest_curvature(out.model->rest_curvature());
    out.residual = residual(*rests, generalised_load(*rests, loads));
    return out;
  }
  rods::RodState still = rod.state();
  still.rates.setZero();
  still.root_velocity = {};
  static_cast<void>(generalised_load(rod, loads));  // checks them
  out.model = rod.model();
  for (int i = 0; i < most && out.status != Status::converged; ++i) {
    const auto now = rod_of(*out.model, still);
    const rods::RestShape rest = now->rest_shape_under(generalised_load(*now, moved_along(rod, *now, loads)));
    double change = 0.0;
    for (int j = 0; j < rod.piece_count(); ++j) {
      const double length = rest.lengths[static_cast<std::size_t>(j)];
      change = std::max(change, std::abs(length / now->span(j).rest - 1.0));
    }
    out.model = out.model->with_lengths(rest.lengths)->with_rest_curvature(rest.curvature);
    if (change <= same * rod.piece_count()) out.status = Status::converged;
  }
  const auto rests = rod_of(*out.model, still);
  out.residual = residual(*rests, generalised_load(*rests, moved_along(rod, *rests, loads)));
  return out;
}

}  // namespace tresse::inverse
