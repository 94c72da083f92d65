#pragma once

#include <vector>

#include <tresse/contact/detail/pair_search.hpp>

namespace tresse::contact::detail {

/// A contact under construction: the flags say why it may be dropped.
struct Candidate {
  Contact contact;
  bool at_junction = false;  ///< sits at the common end of two pieces, and the neighbour is nearer still
  bool followed = false;     ///< from an earlier configuration
  bool level = false;        ///< on a mesh, where a stretch that lies level passes from face to face
  bool line_end = false;     ///< holds a line that ends with an element, and is no station
  bool stays = false;        ///< fixed as it was there before, and no station
  bool fixed = false;        ///< at a point of a's material, where the distance along a need not have a minimum
  bool beyond = false;       ///< a station whose nearest point leaves its piece of b through a junction
  double farther = 0.0;      ///< of a station: than the nearest points of its piece [m]
};

/// Whether two places of one fibre are near because little of it lies between them: bent less than half a turn at its
/// sharpest, it comes back to itself nowhere (self_contact_free_length()). A contact that is followed may slide there.
bool beside_itself(const Geometry& scene, const Contact& contact);
/// Position of a parameter in a piece's interval: -1 at its begin, 1 at its end, 0 inside.
int side_of(const Piece& piece, double s);
/// Whether the point is an end of the body itself, not a junction of two pieces.
inline bool body_end(const Piece& piece, int side) { return (side < 0 && piece.first) || (side > 0 && piece.last); }
/// The piece after (side 1) or before (-1) one of the same body, -1 at the body's end, or for side 0.
int neighbour(const Geometry& scene, int piece, int side);
/// The contact of two pieces at near points of theirs, but for its frame.
Contact contact_between(const Geometry& scene, const CandidatePair& pair, const geometry::ClosestPoints& at,
                        const CurvePoint& on_a, const CurvePoint& on_b);
/// That of a piece and a plane, at the parameter of a point of the piece.
Contact contact_over_plane(const Geometry& scene, const CandidatePair& pair, double s, const CurvePoint& on_a);
/// Whether the distance falls further on in the neighbour, past this junction. `gap_slope` is the derivative of the
/// distance with the parameter.
bool leaves_through_junction(const Piece& piece, int side, double gap_slope);

/// Appends the contacts of two rigid bodies' tubes, or of one and a plane, within what they may close in: both ends on
/// a plane, and the lowest points of a bent one; between tubes the ends of each where the other is nearest to them, and
/// the nearest points in between. Every one is a place where the two must not overlap: a capsule that lies on another,
/// or on a plane, has two. The tubes of a loop have no ends, but count where they begin, so that a ring that lies flat
/// has as many contacts as tubes.
void append_rigid_contacts(const Geometry& scene, const CandidatePair& pair, std::vector<Candidate>& out);

/// Appends the contacts of one pair: local minima of the distance within the meeting distance; against a plane, every
/// local minimum of the height and the ends. Returns the least distance of two pieces, where it found and proved it,
/// else 0. [m]
double append_contacts(const Geometry& scene, const CandidatePair& pair, const DetectionOptions& options,
                       std::vector<Candidate>& out);

/// Those of one pair that overlap by more than `depth` [m], and maybe some that do by less.
void append_overlaps(const Geometry& scene, const CandidatePair& pair, double depth, const DetectionOptions& options,
                     std::vector<Candidate>& out);

/// The contact of two pieces at near points of theirs, with its frame. `along_gap`: the normal is the direction of the
/// gap, as at an end.
Candidate make_candidate(const Geometry& scene, const CandidatePair& pair, const geometry::ClosestPoints& nearest,
                         bool along_gap);

/// Whether a station of a piece is on a line with b: so much farther from it than the nearest points of the piece. [m]
bool is_along(const Piece& a, double farther);
/// Appends the stations of a piece of a fibre where it lies along another piece, nearly as near as at one of `minima`,
/// nearest points of the two; docs/theory/holding.md, "Lines of contact".
void append_stations(const Geometry& scene, const CandidatePair& pair,
                     const std::vector<geometry::ClosestPoints>& minima, std::vector<Candidate>& out);
/// The same over a plane; `lowest`: parameters of the piece.
void append_stations_over_plane(const Geometry& scene, const CandidatePair& pair, const std::vector<double>& lowest,
                                std::vector<Candidate>& out);
/// A contact of an earlier configuration at the same point of a: the point of b near its old place there that is
/// nearest to it.
Candidate follow_fixed(const Geometry& scene, const OnPiece& on_a, const Place& place);
/// Whether a contact of an earlier configuration may stay at its point of a, though the distance has its minimum
/// elsewhere now: the valley is so flat that this makes no difference.
bool may_stay(const Geometry& scene, const Candidate& fixed, const Candidate& minimum);
/// Of contacts of two bodies, `members`: drops fixed ones found twice or without a neighbour on their line, and the
/// minima that fixed ones stand for; gives the slack of those that are nearly as deep as may be.
void thin_lines(const Geometry& scene, std::vector<Candidate>& candidates, const std::vector<int>& members,
                std::vector<char>& keep);

/// Of contacts of two bodies, `members`, for a potential: drops what was found twice, and gives each the reach that
/// docs/theory/penalty.md, "Which contacts", has. `softness`: distance over which the potential acts. [m]
void give_reach(const Geometry& scene, std::vector<Candidate>& candidates, const std::vector<int>& members,
                std::vector<char>& keep, double softness);

/// The contacts of many pairs, in their order, on all threads.
void append_all(const Geometry& scene, const std::vector<CandidatePair>& pairs, const DetectionOptions& options,
                std::vector<Candidate>& out);

/// Appends the contacts of a piece and a mesh: places over a face where the height above it has a local minimum, and
/// those nearest to edges and corners that stand out; besides the stations of a fibre over faces that it lies along.
/// See docs/theory/contact.md, "Meshes".
void append_mesh_contacts(const Geometry& scene, const CandidatePair& pair, std::vector<Candidate>& out);
/// A contact of an earlier configuration with the mesh `surface`, which was at `on_a` of the other body: over faces the
/// same place along a; beside an edge, within follow_radii radii of it. The side of an open mesh stays what it was.
Candidate follow_on_mesh(const Geometry& scene, const OnPiece& on_a, int surface, const Place& place);
/// Whether two contacts with a mesh hold in different directions, as on the two sides of a groove.
bool bear_apart(const Contact& contact, const Contact& other, double radius);

/// How far along a contact is followed from one configuration to the next, in radii.
constexpr double follow_radii = 2.0;

/// Appends a contact of an earlier configuration where it is now: the nearest points within
/// `follow_radii` radii of its place along a, and as far as that can carry it along b. May pass one junction on each
/// side. Besides, where it might stay, the contact at the same point of a.
void follow_one(const Geometry& scene, const Place& place, std::vector<Candidate>& out);

/// Appends them, marked as followed.
void append_followed(const Geometry& scene, const std::vector<Place>& places, const DetectionOptions& options,
                     std::vector<Candidate>& out);

/// The contacts, but for those that a nearer one of the same two bodies stands for; docs/theory/contact.md,
/// "Junctions"; or for a potential, with DetectionOptions::softness.
std::vector<Contact> without_duplicates(const Geometry& scene, std::vector<Candidate> candidates, double softness);

}  // namespace tresse::contact::detail
