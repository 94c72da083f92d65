#pragma once

#include <vector>

#include <tresse/dynamics/stepper.hpp>

namespace tresse::dynamics {

/// The contacts of fibres that a run which begins at rest in these shapes goes on with: those nearer than
/// StepOptions::margin, overlaps included, in the order of the search. What a run follows changes what it finds beside
/// it; given these as warm contacts it finds them again. `geometry` becomes that of the kinematics at time zero.
std::vector<contact::Contact> start_contacts(const assembly::Kinematics& at, const StepOptions& options,
                                             contact::Geometry& geometry);

}  // namespace tresse::dynamics
