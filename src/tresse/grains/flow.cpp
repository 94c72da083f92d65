#include <tresse/grains/flow.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include <Eigen/Geometry>

#include <tresse/base/errors.hpp>
#include <tresse/grains/detail/carry.hpp>
#include <tresse/grains/detail/flow_newton.hpp>

namespace tresse::grains {
using detail::at;

class Flow::Implementation {
 public:
  virtual ~Implementation() = default;
  virtual const Medium& medium() const = 0;
  virtual GrainReport step(const FlowStep& how, GrainState& state) = 0;
  virtual VectorX pressure(const GrainState& state) const = 0;
  virtual VectorX friction_stress(const GrainState& state) const = 0;
  virtual VectorX shear_rate(const GrainState& state) const = 0;
  virtual VectorX divergence(const GrainState& state) const = 0;
  virtual double kinetic(const GrainState& state) const = 0;
  virtual double mass() const = 0;
  virtual int unknown_count() const = 0;
};

namespace {

template <int d>
class FlowOf final : public Flow::Implementation {
 public:
  static constexpr int dimension = cone_dimension<d>;
  using Problem = detail::FlowProblem<d>;
  using Stresses = typename Problem::Stresses;
  using Velocities = detail::Nodal<d>;

  explicit FlowOf(const Medium& medium) : grid_(medium), problem_(grid_), newton_(problem_) {}

  const Medium& medium() const override { return grid_.medium; }
  double mass() const override {
    return grid_.medium.density * grid_.volume * static_cast<double>(grid_.flowing.size());
  }
  int unknown_count() const override { return grid_.unknowns; }
  double kinetic(const GrainState& state) const override { return problem_.kinetic(velocities(state)); }

  GrainReport step(const FlowStep& how, GrainState& state) override {
    const Velocities before = velocities(state);
    const Velocities carried = grid_.medium.convection ? detail::carried<d>(grid_, before, how.dt) : before;
    problem_.prepare(carried, how.gravity, how.dt);
    const auto found = newton_.solve(before, stresses(state), {how.tolerance, how.max_iterations});
    GrainReport report;
    report.status = found.status;
    report.iterations = found.iterations;
    report.residual = found.error;
    report.finite = std::isfinite(found.error) && found.velocity.allFinite() && found.stress.allFinite();
    if (!report.finite) return report;
    fill(found.velocity, found.stress, report);
    report.carried_momentum = problem_.momentum(carried);
    report.work = problem_.kinetic(carried) - problem_.kinetic(before) +
                  how.dt * problem_.given().cwiseProduct(found.velocity).sum();
    fill_forces(problem_.matrix_times(found.velocity) - problem_.load() - problem_.stress_forces(found.stress), report);
    state.outflow += how.dt * report.discharge;
    report.volume = grid_.volume * static_cast<double>(grid_.flowing.size()) - state.outflow;
    for (int node = 0; node < found.velocity.cols(); ++node)
      state.velocity.template segment<3>(3 * node) = grid_.widened(found.velocity.col(node));
    state.stress = Eigen::Map<const VectorX>(found.stress.data(), found.stress.size());
    return report;
  }

  VectorX pressure(const GrainState& state) const override {
    return std::sqrt(2.0 / d) * stresses(state).row(0).transpose();
  }
  VectorX friction_stress(const GrainState& state) const override {
    const Stresses lambda = stresses(state);
    VectorX out = VectorX::Zero(9 * lambda.cols());
    for (int cell = 0; cell < lambda.cols(); ++cell) {
      const Tensor<d> sigma = -tensor<d>(lambda.col(cell));
      for (int i = 0; i < d; ++i)
        for (int j = 0; j < d; ++j) out[9 * cell + 3 * grid_.axes[at(i)] + grid_.axes[at(j)]] = sigma(i, j);
    }
    return out;
  }
  VectorX shear_rate(const GrainState& state) const override {
    // gamma is 2 chi^-1(D), and chi keeps |.|.
    return 0.5 * problem_.strains(velocities(state)).bottomRows(dimension - 1).colwise().norm().transpose();
  }
  VectorX divergence(const GrainState& state) const override {
    return std::sqrt(0.5 * d) * problem_.strains(velocities(state)).row(0).transpose();
  }

 private:
  Velocities velocities(const GrainState& state) const {
    Velocities out(d, node_count(grid_.medium));
    for (int node = 0; node < out.cols(); ++node)
      out.col(node) = grid_.narrowed(state.velocity.template segment<3>(3 * node));
    return out;
  }
  Stresses stresses(const GrainState& state) const {
    return Eigen::Map<const Stresses>(state.stress.data(), dimension, cell_count(grid_.medium));
  }

  void fill(const Velocities& v, const Stresses& lambda, GrainReport& report) const {
    report.kinetic = problem_.kinetic(v);
    report.momentum = problem_.momentum(v);
    report.top_speed = v.colwise().norm().maxCoeff();
    report.least_pressure = std::numeric_limits<double>::infinity();
    report.most_pressure = -report.least_pressure;
    for (const int cell : grid_.flowing) {
      const double p = grains::pressure<d>(lambda.col(cell));
      report.least_pressure = std::min(report.least_pressure, p);
      report.most_pressure = std::max(report.most_pressure, p);
    }
    report.dilation = grid_.volume * std::sqrt(0.5 * d) * problem_.strains(v).row(0).sum();
    discharge(v, report);
    report.leak = report.dilation - report.discharge;
  }

  /// Through open faces: of a multilinear velocity the mean of the corners is exact.
  void discharge(const Velocities& v, GrainReport& report) const {
    constexpr int of_face = detail::Grid<d>::corners / 2;
    for (const detail::OpenFace& face : grid_.open_faces) {
      double sum = 0.0;
      for (int c = 0; c < detail::Grid<d>::corners; ++c)
        if (detail::Grid<d>::on_face(c, face)) sum += v(face.j, grid_.corners_of(face.cell)[c]);
      const double mean = (face.far ? sum : -sum) / of_face;
      const double flow = mean * grid_.volume / grid_.size[face.j];
      report.discharge += flow;
      report.leaving += std::max(0.0, flow);
    }
  }

  /// `left_over`: of the equation of motion at all nodes, what holds the grains there.
  void fill_forces(const Velocities& left_over, GrainReport& report) const {
    report.given_force = grid_.widened(problem_.given().rowwise().sum());
    report.obstacle_force.assign(at(grid_.medium.obstacles), Vector3::Zero());
    report.obstacle_torque = report.obstacle_force;
    for (int node = 0; node < left_over.cols(); ++node) {
      const Vector3 force = grid_.widened(left_over.col(node));
      report.wall_force += force;
      if (grid_.obstacle[at(node)] < 0) continue;
      report.obstacle_force[at(grid_.obstacle[at(node)])] -= force;
      report.obstacle_torque[at(grid_.obstacle[at(node)])] -= node_place(grid_.medium, node).cross(force);
    }
  }

  detail::Grid<d> grid_;
  Problem problem_;
  detail::FlowNewton<d> newton_;
};

std::unique_ptr<Flow::Implementation> implementation(const Medium& medium) {
  validate(medium);
  const bool plane = std::count(medium.cells.begin(), medium.cells.end(), 0) > 0;
  if (plane) return std::make_unique<FlowOf<2>>(medium);
  return std::make_unique<FlowOf<3>>(medium);
}

}  // namespace

Flow::Flow(const Medium& medium) : implementation_(implementation(medium)) {}
Flow::Flow(Flow&&) noexcept = default;
Flow& Flow::operator=(Flow&&) noexcept = default;
Flow::~Flow() = default;

const Medium& Flow::medium() const { return implementation_->medium(); }

GrainReport Flow::step(const FlowStep& how, GrainState& state) {
  const GrainState wanted = at_rest(medium());
  require(state.velocity.size() == wanted.velocity.size() && state.stress.size() == wanted.stress.size(),
          "grains: the state is of another grid");
  require(how.dt > 0.0 && std::isfinite(how.dt), "grains: time step: must be positive and finite");
  require(how.tolerance > 0.0 && how.max_iterations >= 1, "grains: tolerance and iterations: must be positive");
  return implementation_->step(how, state);
}

VectorX Flow::pressure(const GrainState& state) const { return implementation_->pressure(state); }
VectorX Flow::friction_stress(const GrainState& state) const { return implementation_->friction_stress(state); }
VectorX Flow::shear_rate(const GrainState& state) const { return implementation_->shear_rate(state); }
VectorX Flow::divergence(const GrainState& state) const { return implementation_->divergence(state); }
double Flow::kinetic(const GrainState& state) const { return implementation_->kinetic(state); }
double Flow::mass() const { return implementation_->mass(); }
int Flow::unknown_count() const { return implementation_->unknown_count(); }

}  // namespace tresse::grains
