#pragma once

#include <compare>
#include <utility>

namespace tresse {

/// What a body is. An obstacle with a mass that no motion is prescribed for is a rigid body.
enum class BodyKind { fibre, rigid_body, obstacle };

/// One body of a world. Bodies are ordered by kind, then by index: that is the order in which they stand everywhere.
struct BodyId {
  BodyKind kind = BodyKind::obstacle;
  int index = -1;  ///< of the world's fibres, or of its obstacles, among which rigid bodies count; -1: no body

  bool is_fibre() const { return kind == BodyKind::fibre; }
  /// Whether its motion is unknown, rather than prescribed.
  bool moves() const { return kind != BodyKind::obstacle; }
  /// Index of the fibre; -1: it is none.
  int fibre() const { return is_fibre() ? index : -1; }
  /// Index of the obstacle; -1: it is none.
  int obstacle() const { return is_fibre() ? -1 : index; }

  auto operator<=>(const BodyId&) const = default;  // NOLINT(modernize-use-nullptr)
};

/// The two bodies of a contact, a's first.
using BodyPair = std::pair<BodyId, BodyId>;

/// A point of a body's material.
struct BodyPoint {
  BodyId body;
  int part = -1;  ///< capsule of an obstacle (a comb's handle is 0, its teeth follow), face of a mesh; -1: another body
  double s = 0.0;  ///< arc length as made: from a fibre's root, or along the obstacle's axis [m]
};

}  // namespace tresse
