#pragma once

#include <memory>
#include <string>
#include <vector>

#include <tresse/dynamics/stepper.hpp>
#include <tresse/rods/discrete_elastic_rod.hpp>
#include <tresse/rods/super_clothoid.hpp>
#include <tresse/rods/super_helix.hpp>

/// Small worlds for tests, without scene files.
namespace tresse::test {

inline dynamics::StepOptions step_options(double dt) {
  dynamics::StepOptions options;
  options.dt = dt;
  options.margin = 2.5e-6;
  options.overlap_tolerance = 1e-7;
  options.halving_overlap = 5e-7;
  options.solver.tolerance = 1e-12;
  return options;
}

/// Uniform fibre with a round section.
inline assembly::Fibre fibre(int elements, double length, double radius, const rods::Material& material,
                             const Pose& root, rods::RootCondition condition) {
  const rods::SuperHelixElement element{length / elements, rods::CrossSection::circle(radius), Vector3::Zero()};
  assembly::Fibre out;
  out.model = rods::make_super_helix(std::vector<rods::SuperHelixElement>(static_cast<std::size_t>(elements), element),
                                     material, condition)
                  ->model();
  out.root = root;
  return out;
}

/// A straight uniform rod with a round section, of the model that scenes call so.
inline std::unique_ptr<rods::Rod> straight_rod(const std::string& model, int elements, double length, double radius,
                                               const rods::Material& material, rods::RootCondition condition) {
  const auto n = static_cast<std::size_t>(elements);
  const auto section = rods::CrossSection::circle(radius);
  const double l = length / elements;
  if (model == "super-clothoid") {
    return rods::make_super_clothoid(std::vector<rods::SuperClothoidElement>(n, {l, section}),
                                     std::vector<Vector3>(n + 1, Vector3::Zero()), material, condition);
  }
  if (model == "discrete-elastic-rod") {
    return rods::make_discrete_elastic_rod(std::vector<rods::RodEdge>(n, {l, section, Vector3::Zero()}), material,
                                           condition);
  }
  return rods::make_super_helix(std::vector<rods::SuperHelixElement>(n, {l, section, Vector3::Zero()}), material,
                                condition);
}

/// Adds a fibre at rest in its natural shape, and its state.
inline void add(assembly::World& world, dynamics::SimulationState& state, assembly::Fibre added) {
  const int m = added.model->coordinate_count();
  state.rods.push_back({added.root, {}, added.model->rest_curvature(), VectorX::Zero(m), {}});
  world.fibres.push_back(std::move(added));
}

inline void add(assembly::World& world, bodies::Obstacle obstacle) {
  world.obstacles.push_back(std::move(obstacle));
  world.obstacle_material.push_back(0);
}

/// Frees the obstacles that have a mass, once all are there.
inline void free_bodies(assembly::World& world, dynamics::SimulationState& state) {
  world.free_bodies = assembly::find_free_bodies(world.obstacles);
  for (const assembly::FreeBody& body : world.free_bodies) state.bodies.push_back(body.start);
}

}  // namespace tresse::test
