#pragma once

#include <optional>
#include <vector>

#include <tresse/dynamics/detail/pass.hpp>

/// What a step tells of contacts, overlaps and holds.
namespace tresse::dynamics::detail {

/// Of two bodies that are not proved to stay apart on the way between two configurations, by `share` of their touching
/// distance. `searched`: see contact::PassageOptions. `least_gap`: the least gap that was proved so far, lowered to
/// what is proved of this way [m].
std::optional<ContactReport> find_crossing(const Part& part, const HeldPoints& holds, const StartOverlaps& overlaps,
                                           const Configuration& start, const Configuration& end, double share,
                                           const contact::SearchedWay* searched, double& least_gap);
/// Of two bodies that are not proved to keep a gap above zero on the way between two configurations, one that did not
/// touch at its begin if there is such.
struct FoundTouch {
  ContactReport between;
  bool from_begin = false;  ///< contact::Touch::from_begin
};
std::optional<FoundTouch> find_touch(const Part& part, const HeldPoints& holds, const Configuration& start,
                                     const Configuration& end, const contact::SearchedWay* searched);
/// Of two bodies, the deepest; >= 0 [m]
double largest_overlap(const Configuration& at);
/// The contacts of a pass with their forces over the part.
std::vector<ContactReport> describe_contacts(const Part& part, const Pass& pass);
/// Adds an accepted part to what the step tells: its contacts, as described, and the loads of obstacles.
void report_contacts(const Part& part, const Pass& pass, const std::vector<ContactReport>& contacts,
                     StepReport& report);
/// Names the deepest contact of the configuration that a part started from, if it is deeper than those of earlier
/// parts. Overlaps that are kept count by how much deeper they are.
void report_overlap(const Configuration& start, const StartOverlaps& overlaps, StepReport& report);
/// Brings the slips of a pass to the end of the part: what stuck adds what its two points moved over each other, and
/// what did not forgets. `start` and `end`: the configurations that the part went between.
void note_slips(const Part& part, const Configuration& start, const Configuration& end, Pass& pass);
void report_holds(const Part& part, const Pass& pass, StepReport& report);

}  // namespace tresse::dynamics::detail
