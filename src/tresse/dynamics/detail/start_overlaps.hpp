#pragma once

#include <map>
#include <utility>
#include <vector>

#include <tresse/dynamics/detail/contact_finder.hpp>
#include <tresse/dynamics/detail/kept_gaps.hpp>

namespace tresse::dynamics::detail {

/// What a part of a step must know of the contacts that it starts from: overlaps, which are undone at a bounded speed,
/// and contacts that no force can open, which are left alone.
class StartOverlaps {
 public:
  /// Before note(): the gaps that pairs keep from the start of a run on.
  KeptGaps& kept() { return kept_; }
  const KeptGaps& kept() const { return kept_; }
  /// Begins a part of `dt` [s], of a step of options.dt.
  void note(const Configuration& start, double dt, const StepOptions& options);
  /// Of a linearisation of this part: no force opens them.
  void note_jammed(const contact::Geometry& geometry, const std::vector<contact::Contact>& contacts);

  /// Whether a contact is one that no force could open where it was linearised.
  bool is_jammed(const contact::Geometry& geometry, const contact::Contact& contact) const;
  /// The gap that the end must reach: zero, or less where the start overlaps or others hold, or the one that a pair
  /// keeps. [m]
  double wanted_gap(const contact::Geometry& geometry, const contact::Contact& contact) const;
  /// Largest shortfall of a gap from the wanted one. [m]
  double shortfall(const Configuration& end) const;
  /// Whether an axis came so near another that which side it is on is no more to be trusted: nothing is to be
  /// linearised there.
  bool sides_lost(const Configuration& end) const;
  /// Whether a contact ends deeper than wanted by more than `tolerated` [m], and by a tenth of its first body's radius.
  bool sinks(const Configuration& end, double tolerated) const;
  /// The deepest overlap of two bodies at the start, 0 where none is known. [m]
  double depth_at_start(const BodyPair& bodies) const;

 private:
  KeptGaps kept_;
  contact::PairIndex deep_;          ///< contacts so deep at the start that their gaps are to grow, but not to vanish
  std::vector<double> wanted_gaps_;  ///< of these, at push_out_speed [m]
  contact::PairIndex jammed_;        ///< any gap will do
  std::map<BodyPair, double> deepest_;  ///< overlap of two bodies at the start [m]
};

}  // namespace tresse::dynamics::detail
