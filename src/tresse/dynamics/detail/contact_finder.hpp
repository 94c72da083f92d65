#pragma once

#include <memory>
#include <vector>

#include <tresse/contact/contact_search.hpp>
#include <tresse/contact/crossings.hpp>
#include <tresse/dynamics/stepper.hpp>

namespace tresse::dynamics::detail {

/// The world at one instant and the contacts found there.
struct Configuration {
  contact::Geometry geometry;
  std::vector<contact::Contact> contacts;
};
using SharedConfiguration = std::shared_ptr<const Configuration>;

/// Finds the contacts of a world in one configuration after another. The world and the options must outlive it.
class ContactFinder {
 public:
  ContactFinder(const assembly::World& world, const StepOptions& options);

  /// All contacts of the shapes `at`, from which the bodies go on with `velocities` (fibres, then free bodies). Those
  /// of `followed`, contacts of an earlier configuration, are looked for where they are now as well. With the
  /// configuration `from` which the bodies came here, searched_way() is of use.
  SharedConfiguration find(const assembly::Kinematics& at, double time, const std::vector<VectorX>& velocities,
                           const std::vector<WarmContact>& followed, SharedConfiguration from = nullptr);
  /// Those of `earlier` only, where they are now: for the passes in between, as the end of the step is searched in
  /// full.
  SharedConfiguration follow(const assembly::Kinematics& at, double time, const std::vector<VectorX>& velocities,
                             const Configuration& earlier);
  /// What can touch, without contacts.
  std::shared_ptr<Configuration> place(const assembly::Kinematics& at, double time,
                                       const std::vector<VectorX>& velocities);

  /// What the last find() leaves, if it was in this configuration, was told where the bodies came from, and kept its
  /// pairs; else null.
  const contact::SearchedWay* searched_way(const Configuration& at);

  double seconds = 0.0;  ///< that find() and follow() took since this was set to zero

 private:
  void set_reaches(const assembly::Kinematics& at, const std::vector<VectorX>& velocities, double time,
                   contact::Geometry& geometry) const;
  void leave_out_joined(const assembly::Kinematics& at, Configuration& configuration) const;

  const assembly::World& world_;
  const StepOptions& options_;
  bool branched_ = false;  ///< fibres grow on fibres
  contact::ContactSearch search_;
  const Configuration* searched_ = nullptr;           ///< in the last find(), as long as it lives
  SharedConfiguration from_;                          ///< of the last find()
  contact::SearchedWay way_;                          ///< of the last find(), its pairs only once they are asked for
  std::vector<std::shared_ptr<Configuration>> pool_;  ///< for reuse once nobody else holds them
};

}  // namespace tresse::dynamics::detail
