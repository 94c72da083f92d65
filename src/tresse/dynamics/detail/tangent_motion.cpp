#include <tresse/dynamics/detail/tangent_motion.hpp>

#include <utility>

#include <tresse/base/errors.hpp>

namespace tresse::dynamics::detail {

std::vector<FibreChange> changes_of_start(const assembly::World& world, const Variation& variation) {
  require(variation.fibres.empty() || variation.fibres.size() == world.fibres.size(),
          "gradients: a variation needs one entry a fibre");
  std::vector<FibreChange> out;
  for (std::size_t f = 0; f < world.fibres.size(); ++f) {
    const rods::RodModel& model = *world.fibres[f].model;
    const Eigen::Index m = model.coordinate_count();
    FibreChange& change = out.emplace_back(FibreChange{VectorX::Zero(6 + m), VectorX::Zero(6 + m)});
    if (variation.fibres.empty()) continue;
    const FibreVariation& of = variation.fibres[f];
    const auto fits = [](const VectorX& x, Eigen::Index size) { return x.size() == 0 || x.size() == size; };
    require(of.root.angular.isZero(0.0) || world.fibres[f].root_motion.at_rest() || !clamped(world.fibres[f]),
            "gradients: a turn of a root that moves; expected a shift");
    require(fits(of.natural, m) && fits(of.curvature, m) && fits(of.velocity, model.dof()),
            "gradients: a variation does not match its rod");
    change.displacement.head<3>() = of.root.linear;
    change.displacement.segment<3>(3) = of.root.angular;
    if (of.curvature.size() > 0) change.displacement.tail(m) = of.curvature;
    if (of.velocity.size() > 0) change.velocity.tail(model.dof()) = of.velocity;
  }
  return out;
}

TangentMotion::TangentMotion(const Part& part, std::vector<Variation> variations)
    : part_(part),
      variations_(std::move(variations)),
      slips_(variations_.size(), std::vector<Vector3>(part.state.warm.size(), Vector3::Zero())),
      recorder_(part),
      derivative_(part.world, part.options, part.start) {
  for (const Variation& variation : variations_) changes_.push_back(changes_of_start(part.world, variation));
}

void TangentMotion::accept(const Pass& pass, bool slowed, KnownMatrices known) {
  if (!recorder_.accept(pass, slowed, recorded_)) return;
  if (!recorded_.to_the_last) known.last_pass.clear();
  const std::string refused = derivative_.take(recorded_, known);
  if (!refused.empty()) recorder_.refuse(refused, part_.span.end);
  for (std::size_t k = 0; k < variations_.size(); ++k) {
    StateChange end = derivative_.forward(variations_[k], {std::move(changes_[k]), std::move(slips_[k])});
    changes_[k] = std::move(end.fibres);
    slips_[k] = std::move(end.slips);
  }
}

}  // namespace tresse::dynamics::detail
