#include <tresse/dynamics/stepper.hpp>

#include <utility>

#include <tresse/base/errors.hpp>
#include <tresse/dynamics/detail/contact_reports.hpp>
#include <tresse/dynamics/detail/engine.hpp>

namespace tresse::dynamics {

Stepper::Stepper(assembly::World world, const StepOptions& options, SimulationState initial)
    : engine_(std::make_unique<detail::Engine>(std::move(world), options, std::move(initial))) {}

Stepper::Stepper(Stepper&&) noexcept = default;
Stepper& Stepper::operator=(Stepper&&) noexcept = default;
Stepper::~Stepper() = default;

StepReport Stepper::step() { return engine_->step(); }
void Stepper::set_state(SimulationState state) { engine_->set_state(std::move(state)); }

void Stepper::differentiate(std::vector<Variation> variations) { engine_->differentiate(std::move(variations)); }
const std::vector<std::vector<FibreChange>>& Stepper::changes() const {
  static const std::vector<std::vector<FibreChange>> none;
  return engine_->tangent() != nullptr ? engine_->tangent()->changes() : none;
}
DerivativeReport Stepper::derivative_report() const {
  return engine_->tangent() != nullptr ? engine_->tangent()->report() : DerivativeReport{};
}
void Stepper::keep_for_gradient() { engine_->keep_for_gradient(); }
void Stepper::add_by_state(const std::vector<FibreChange>& by_state) {
  require(engine_->tape() != nullptr, "gradients: nothing is kept for one; call keep_for_gradient() before the steps");
  engine_->tape()->add(by_state);
}
Variation Stepper::gradient(DerivativeReport& report) const {
  const detail::Engine& engine = *engine_;
  require(engine.tape() != nullptr, "gradients: nothing is kept for one; call keep_for_gradient() before the steps");
  return engine.tape()->gradient(report);
}

void Stepper::drive_obstacle(int obstacle, const Twist& velocity, double duration) {
  engine_->drive_obstacle(obstacle, velocity, duration);
}

void Stepper::drive_root(int fibre, const Twist& velocity, double duration) {
  engine_->drive_root(fibre, velocity, duration);
}

double Stepper::time() const { return engine_->time(); }
const SimulationState& Stepper::state() const { return engine_->state(); }
const SimulationState& Stepper::previous_state() const { return engine_->previous_state(); }
const rods::RodEnergies& Stepper::energies() const { return engine_->energies(); }
const assembly::World& Stepper::world() const { return engine_->world(); }
const assembly::Kinematics& Stepper::kinematics() const { return engine_->kinematics(); }
const StepOptions& Stepper::options() const { return engine_->options(); }
double Stepper::largest_overlap() const { return detail::largest_overlap(engine_->here()); }
const contact::Geometry& Stepper::geometry() const { return engine_->here().geometry; }
const grains::Flow* Stepper::grains() const { return engine_->grains(); }
const LastPart& Stepper::last_part() const { return engine_->last_part(); }
const std::vector<ContactReport>& Stepper::contacts() const { return engine_->contacts(); }
void Stepper::observe_problems(ProblemObserver observer) { engine_->observe_problems(std::move(observer)); }
void Stepper::observe_kept_problems(KeptObserver observer) { engine_->observe_kept_problems(std::move(observer)); }

}  // namespace tresse::dynamics
