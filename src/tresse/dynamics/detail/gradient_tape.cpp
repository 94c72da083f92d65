#include <tresse/dynamics/detail/gradient_tape.hpp>

#include <utility>

#include <tresse/base/errors.hpp>

namespace tresse::dynamics::detail {

GradientTape::GradientTape(const Part& part) : part_(part), recorder_(part), by_states_(1) {}

void GradientTape::accept(const Pass& pass, bool slowed) {
  RecordedPart recorded;
  if (!whole_ || !recorder_.accept(pass, slowed, recorded)) {
    whole_ = false;
    return;
  }
  parts_.push_back(std::move(recorded));
  by_states_.emplace_back();
}

void GradientTape::add(const std::vector<FibreChange>& by_state) {
  const assembly::World& world = part_.world;
  require(by_state.size() == world.fibres.size(), "gradients: a derivative by a state needs one entry a fibre");
  std::vector<FibreChange>& own = by_states_.back();
  for (std::size_t f = 0; f < world.fibres.size(); ++f) {
    const Eigen::Index size = 6 + world.fibres[f].model->coordinate_count();
    require(by_state[f].displacement.size() == size && by_state[f].velocity.size() == size,
            "gradients: a derivative by a state does not match its rod");
    if (own.size() <= f) own.push_back({VectorX::Zero(size), VectorX::Zero(size)});
    own[f].displacement += by_state[f].displacement;
    own[f].velocity += by_state[f].velocity;
  }
}

Variation GradientTape::gradient(DerivativeReport& report) const {
  report = recorder_.report();
  PartDerivative derivative(part_.world, part_.options, part_.start);
  Variation out;
  StateChange by;
  for (const assembly::Fibre& fibre : part_.world.fibres) {
    const Eigen::Index m = fibre.model->coordinate_count();
    by.fibres.push_back({VectorX::Zero(6 + m), VectorX::Zero(6 + m)});
    out.fibres.push_back({.natural = VectorX::Zero(m)});
  }
  by.slips.assign(parts_.empty() ? 0 : parts_.back().slips.size(), Vector3::Zero());
  const auto add_to = [&](const std::vector<FibreChange>& more) {
    for (std::size_t f = 0; f < more.size(); ++f) {
      by.fibres[f].displacement += more[f].displacement;
      by.fibres[f].velocity += more[f].velocity;
    }
  };
  std::string refused;
  double when = 0.0;
  for (std::size_t k = parts_.size(); k-- > 0;) {
    add_to(by_states_[k + 1]);
    const std::string own = derivative.take(parts_[k]);
    if (!own.empty()) {
      refused = own;
      when = parts_[k].span.end;
    }
    by = derivative.backward(by, out);
  }
  add_to(by_states_.front());
  for (std::size_t f = 0; f < by.fibres.size(); ++f) {
    FibreVariation& own = out.fibres[f];
    const FibreChange& of = by.fibres[f];
    own.root = {of.displacement.head<3>(), of.displacement.segment<3>(3)};
    const assembly::Fibre& fibre = part_.world.fibres[f];
    if (clamped(fibre) && !fibre.root_motion.at_rest()) own.root.angular.setZero();  // it turns the motion as well
    own.curvature = of.displacement.tail(own.natural.size());
    own.velocity = of.velocity.tail(part_.world.fibres[f].model->dof());
  }
  if (report.refused.empty() && !refused.empty()) {
    PartRecorder teller(part_);
    teller.refuse(refused, when);
    report.refused = teller.report().refused;
  }
  return out;
}

}  // namespace tresse::dynamics::detail
