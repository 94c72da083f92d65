#pragma once

#include <vector>

#include <tresse/contact/detection.hpp>

namespace tresse::contact {

/// The contacts of the pairs that overlap by more than `depth` (>= 0) [m], and maybe some that do by less, as detect()
/// finds them but at a fraction of its cost: nearly every pair is rejected at once. Same result for any number of
/// threads.
std::vector<Contact> overlaps(const Geometry& scene, const std::vector<CandidatePair>& pairs, double depth,
                              const DetectionOptions& options);

}  // namespace tresse::contact
