#pragma once

#include <vector>

#include <tresse/contact/detection.hpp>

namespace tresse::contact::detail {

/// A contact under construction: the flags say why it may be dropped.
struct Candidate {
  Contact contact;
  bool at_junction = false;  ///< sits at the common end of two pieces, and the neighbour is nearer still
  bool followed = false;     ///< from an earlier configuration
};

/// Appends the contacts of two rigid bodies' capsules, or of one and a plane, within what they may close in: both ends
/// on a plane; between capsules the ends of each where the other is nearest to them, and the nearest points in between.
/// Every one is a place where the two must not overlap, and a capsule that lies on another, or on a plane, has two.
void append_rigid_contacts(const Geometry& scene, const CandidatePair& pair, std::vector<Candidate>& out);

/// Appends the contacts of one pair: local minima of the distance within the meeting distance; against a plane, every
/// local minimum of the height and the ends.
void append_contacts(const Geometry& scene, const CandidatePair& pair, const DetectionOptions& options,
                     std::vector<Candidate>& out);

/// A contact of an earlier configuration where it is now: the nearest points within `follow_radii` radii of its place
/// along a, and as far as that can carry it along b. May pass one junction on each side.
Candidate follow_one(const Geometry& scene, const Place& place);

/// Appends them, marked as followed.
void append_followed(const Geometry& scene, const std::vector<Place>& places, const DetectionOptions& options,
                     std::vector<Candidate>& out);

/// The contacts, but for those that a nearer one of the same two bodies stands for; docs/contact.md, "Junctions".
std::vector<Contact> without_duplicates(const Geometry& scene, const std::vector<Candidate>& candidates);

}  // namespace tresse::contact::detail
