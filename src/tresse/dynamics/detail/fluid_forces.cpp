#include <tresse/dynamics/detail/fluid_forces.hpp>

#include <algorithm>
#include <cmath>

#include <Eigen/Geometry>

#include <tresse/dynamics/detail/fibre_loop.hpp>

namespace tresse::dynamics::detail {
namespace {

VectorX flat(const std::vector<Vector3>& nodes) {
  VectorX out(3 * static_cast<Eigen::Index>(nodes.size()));
  for (std::size_t i = 0; i < nodes.size(); ++i) out.segment<3>(3 * static_cast<Eigen::Index>(i)) = nodes[i];
  return out;
}

std::vector<Vector3> unflat(const VectorX& values) {
  std::vector<Vector3> out(static_cast<std::size_t>(values.size() / 3));
  for (std::size_t i = 0; i < out.size(); ++i) out[i] = values.segment<3>(3 * static_cast<Eigen::Index>(i));
  return out;
}

}  // namespace

FluidForces::FluidForces(Part& part) : part_(part) {
  const assembly::World& world = part.world;
  if (!world.fluid || world.fibres.empty()) return;
  resistance_.emplace(world.fluid->viscosity, world.fluid->coupling);
  chains_.begin = {0};
  first_dof_ = {0};
  for (const assembly::Fibre& fibre : world.fibres) {
    chains_.begin.push_back(chains_.begin.back() + fibre.model->piece_count() + 1);
    chains_.epsilon.push_back(world.fluid->regularisation * fibre.model->contact_radius());
    first_dof_.push_back(first_dof_.back() + fibre.model->dof());
  }
  part_.fluid_force.resize(world.fibres.size());
  part_.fluid_on_nodes.resize(world.fibres.size());
}

std::vector<Vector3> FluidForces::nodes(const assembly::Kinematics& at) const {
  std::vector<Vector3> out(static_cast<std::size_t>(chains_.begin.back()));
  for_each_fibre(part_.world.fibres.size(), [&](std::size_t f) {
    const int begin = chains_.begin[f], count = chains_.begin[f + 1] - begin;
    RodMemory memory;
    auto ends = memory.matrix<Matrix3X>(3, count);
    at.rod(static_cast<int>(f)).end_positions(ends);
    for (int k = 0; k < count; ++k) out[static_cast<std::size_t>(begin + k)] = ends.col(k);
  });
  return out;
}

void FluidForces::place(const std::vector<Vector3>& nodes) {
  chains_.nodes = nodes;
  resistance_->place(chains_);
}

void FluidForces::begin(const FluidState& from) {
  if (!present()) return;
  start_ = nodes(part_.start);
  spent_ = from.spent;
  const VectorX here = flat(start_);
  const VectorX& wanted = from.factored_at.size() == here.size() ? from.factored_at : here;
  if (factored_at_.size() != wanted.size() || factored_at_ != wanted) {
    place(unflat(wanted));
    resistance_->factor();
    factored_at_ = wanted;
  }
  place(start_);
  mixing_.clear();
  const auto expected = [&](const VectorX& last, const VectorX& before) -> VectorX {
    if (before.size() != last.size()) return last;
    return last + part_.motion.dt / from.dt * (last - before);
  };
  if (from.force.size() == first_dof_.back() && from.densities.size() == here.size()) {
    densities_ = expected(from.densities, from.densities_before);
    found_ = expected(from.force, from.force_before);
  } else {
    std::vector<VectorX> velocities;
    VectorX of_nodes(here.size());
    for (std::size_t f = 0; f < part_.world.fibres.size(); ++f) {
      const rods::Rod& rod = part_.start.rod(static_cast<int>(f));
      velocities.push_back(rods::generalised_velocity(rod, part_.start_rods[f]));
      Matrix3X ends(3, chains_.begin[f + 1] - chains_.begin[f]);
      rod.end_velocities(velocities.back(), ends);
      of_nodes.segment(3 * static_cast<Eigen::Index>(chains_.begin[f]), ends.size()) = ends.reshaped();
    }
    densities_ = VectorX::Zero(here.size());
    find(of_nodes, velocities, part_.start);
  }
  used_ = found_;
  hand_out();
}

/// Forces of velocities of the nodes, and what they are beyond the drag in the matrix.
void FluidForces::find(const VectorX& velocities_of_nodes, const std::vector<VectorX>& velocities,
                       const assembly::Kinematics& at) {
  // Finer than the passes are, whose changes tell when they end.
  constexpr double share = 0.03;
  const fluid::ResistanceResult result =
      resistance_->solve(velocities_of_nodes, share * part_.options.fluid_tolerance, densities_);
  spent_ += std::max(0, result.iterations - 1);
  const VectorX forces = resistance_->forces(densities_);
  found_.resize(first_dof_.back());
  for_each_fibre(part_.world.fibres.size(), [&](std::size_t f) {
    const rods::Rod& rod = at.rod(static_cast<int>(f));
    const auto begin = 3 * static_cast<Eigen::Index>(chains_.begin[f]);
    Matrix3X& on_nodes = part_.fluid_on_nodes[f];
    on_nodes = -Eigen::Map<const Matrix3X>(forces.data() + begin, 3, chains_.begin[f + 1] - chains_.begin[f]);
    RodMemory memory;
    auto own = memory.matrix<VectorX>(rod.dof());
    auto other = memory.matrix<VectorX>(rod.dof());
    rod.resistance(0.0, velocities[f], own);
    rod.resistance(part_.world.fibres[f].fluid_drag, velocities[f], other);
    own -= other;
    rod.add_end_forces(on_nodes, own);
    found_.segment(first_dof_[f], rod.dof()) = own;
  });
}

double FluidForces::update(const std::vector<VectorX>& velocities) {
  if (!present()) return 0.0;
  const std::vector<Vector3> end = nodes(part_.end);
  VectorX of_nodes(3 * static_cast<Eigen::Index>(end.size()));
  for (std::size_t i = 0; i < end.size(); ++i)
    of_nodes.segment<3>(3 * static_cast<Eigen::Index>(i)) = (end[i] - start_[i]) / part_.motion.dt;
  find(of_nodes, velocities, part_.end);
  off_ = relative_size(found_ - used_, velocities);
  used_ = mixing_.next(used_, found_);
  hand_out();
  return off_;
}

void FluidForces::hand_out() {
  for (std::size_t f = 0; f < part_.fluid_force.size(); ++f)
    part_.fluid_force[f] = used_.segment(first_dof_[f], first_dof_[f + 1] - first_dof_[f]);
}

double FluidForces::relative_size(const VectorX& change, const std::vector<VectorX>& velocities) const {
  const assembly::FreeMotion& motion = part_.motion;
  double off = 0.0, size = 0.0;
  for (int t = 0; t < part_.tree_count(); ++t) {
    const assembly::Tree& tree = part_.tree(t);
    VectorX of_tree = VectorX::Zero(tree.dof);
    for (std::size_t k = 0; k < tree.fibres.size(); ++k) {
      const auto f = static_cast<std::size_t>(tree.fibres[k]);
      const VectorX own = part_.stage() * change.segment(first_dof_[f], first_dof_[f + 1] - first_dof_[f]);
      if (part_.branched(t)) {
        assembly::add_rod_force(part_.world, tree, motion.roots[static_cast<std::size_t>(t)], static_cast<int>(k), own,
                                of_tree);
      } else {
        of_tree = own;
      }
    }
    const assembly::TreeMatrix& matrix = motion.matrices[static_cast<std::size_t>(t)];
    matrix.solve(of_tree);
    off += matrix.squared_norm(of_tree);
    size += matrix.squared_norm(assembly::tree_velocity(part_.world, tree, velocities));
  }
  return off > 0.0 ? std::sqrt(off / std::max(off, size)) : 0.0;
}

void FluidForces::accept(FluidState& state, StepReport& report) const {
  if (!present()) return;
  report.fluid_residual = std::max(report.fluid_residual, off_);
  const double share = part_.motion.dt / part_.options.dt;
  for (std::size_t f = 0; f < part_.world.fibres.size(); ++f) {
    const Twist load = fluid_load(part_, static_cast<int>(f));
    const Vector3& root = part_.end.rod(static_cast<int>(f)).state().root.position;
    report.fluid[f].force += share * load.linear;
    report.fluid[f].torque += share * (load.angular - root.cross(load.linear));
  }
  state.densities_before = std::move(state.densities);
  state.force_before = std::move(state.force);
  state.densities = densities_;
  state.force = found_;
  state.dt = part_.motion.dt;
  // A factor costs about as much as so many iterations do.
  constexpr int dear = 25;
  state.factored_at = spent_ > dear ? flat(nodes(part_.end)) : factored_at_;
  state.spent = spent_ > dear ? 0 : spent_;
}

Twist fluid_load(const Part& part, int f) {
  Twist out;
  if (part.fluid_on_nodes.empty()) return out;
  const Matrix3X& forces = part.fluid_on_nodes[static_cast<std::size_t>(f)];
  Matrix3X ends(3, forces.cols());
  part.end.rod(f).end_positions(ends);
  for (Eigen::Index k = 0; k < forces.cols(); ++k) {
    out.linear += forces.col(k);
    out.angular += ends.col(k).cross(forces.col(k));
  }
  return out;
}

}  // namespace tresse::dynamics::detail
