#pragma once

#include <span>
#include <vector>

#include <Eigen/Geometry>

#include <tresse/contact/pieces.hpp>

namespace tresse::contact::detail {

/// Where a piece is, and what it may do during the step.
struct Track {
  Travel travel;
  double radius = 0.0;                                        ///< [m]
  Eigen::Quaterniond frame = Eigen::Quaterniond::Identity();  ///< turns with the piece
  double deformation = 0.0;  ///< all that its points ever moved beyond its rigid motion, summed over the searches [m]
};

/// Bound of |P x - Q x| over unit x.
inline double turned(const Eigen::Quaterniond& p, const Eigen::Quaterniond& q) {
  return 2.0 * std::min((p.coeffs() - q.coeffs()).norm(), (p.coeffs() + q.coeffs()).norm());
}

/// Pieces side by side do nearly the same: in groups of neighbours, each with a rigid motion of its own, little is left
/// to a piece, and little between two groups that touch. What is kept of the pairs of pieces stays complete until a
/// piece or two groups have used up their skin. docs/contact.md, "From step to step".
class Groups {
 public:
  /// Another group near one.
  struct Neighbour {
    int group = 0;
    double range = 0.0;  ///< its pairs are complete below the two pieces' own() and this [m]
    double gap = 0.0;    ///< that the two groups' boxes leave [m]
  };

  /// Groups the pieces where they are now.
  void form(const Geometry& scene, const std::vector<Track>& tracks);
  bool formed() const { return !then_.empty(); }
  void clear() { then_.clear(); }

  /// A piece that has left its group.
  struct Stray {
    int piece = 0;
    double used = 0.0;  ///< of own() [m]
    double left = 0.0;  ///< that it may do on its own in this step [m]
  };
  /// Two neighbours whose motions have parted.
  struct Parting {
    int a = 0;             ///< one that moves
    std::size_t near = 0;  ///< of a's neighbours
    double used = 0.0;     ///< of their range [m]
    double closing = 0.0;  ///< that their motions may bring them nearer in this step [m]
  };
  struct Changes {
    std::vector<Stray> strays;
    std::vector<Parting> partings;
  };
  /// Whether no two pieces farther apart than own() + own() + range when the groups were formed can meet in this step,
  /// of groups that are no neighbours none at all; but for the `changes`, in order, which are few.
  bool hold(const std::vector<Track>& tracks, Changes& changes) const;
  /// Gives a stray a new skin: pairs are complete again once those within its own() are added.
  void widen(const Stray& stray);
  /// The same of two groups, and those within their range.
  void widen(const Parting& parting);

  int count() const { return static_cast<int>(begin_.size()) - 1; }
  std::span<const int> members(int group) const {
    const auto g = static_cast<std::size_t>(group);
    return {members_.begin() + begin_[g], members_.begin() + begin_[g + 1]};
  }
  int group_of(int piece) const { return group_[static_cast<std::size_t>(piece)]; }
  /// Radius, what the piece may do beyond its group's motion, and its skin. [m]
  double own(int piece) const { return own_[static_cast<std::size_t>(piece)]; }
  /// Whether any two pieces of a group and its neighbour can be so near that they make a pair.
  bool touch(int group, const Neighbour& near) const {
    return near.gap <= largest_own_[static_cast<std::size_t>(group)] +
                           largest_own_[static_cast<std::size_t>(near.group)] + near.range;
  }
  /// Itself among them.
  const std::vector<Neighbour>& neighbours(int group) const { return neighbours_[static_cast<std::size_t>(group)]; }

 private:
  /// Of a group: its rigid motion since it was formed, and the rigid part of what its pieces may do in the step.
  struct Motion {
    Vector3 before = Vector3::Zero();  ///< mean of the middles then (3) [m]
    Vector3 middle = Vector3::Zero();  ///< and now (3) [m]
    Eigen::Quaterniond turn = Eigen::Quaterniond::Identity();
    Vector3 drift = Vector3::Zero();  ///< of the middle (3) [m]
    Vector3 spin = Vector3::Zero();   ///< (3) [rad]
    double size = 0.0;                ///< all its pieces are within this of the middle, then and now [m]
    double farthest = 0.0;            ///< that any of them may go in the step [m]
  };
  /// Of all pieces, or the fibres' alone; without any, the free bodies'.
  struct Largest {
    double radius = 0.0, farthest = 0.0;
    double fibre_radius = 0.0, extent = 0.0;
  };

  void sort_into_groups(const Geometry& scene, const std::vector<Track>& tracks);
  void find_neighbours(const Geometry& scene, const std::vector<Track>& tracks, const std::vector<Motion>& motions);
  template <typename Motions>
  static Motion mean(const Motions& motions);
  Motion motion(std::span<const int> members, const std::vector<Track>& tracks) const;
  std::vector<Motion> motions(const std::vector<Track>& tracks) const;
  Largest largest(const std::vector<Track>& tracks) const;
  bool of_fibres(std::size_t group) const { return static_cast<int>(group) < fibre_groups_; }
  bool moves(std::size_t group) const { return static_cast<int>(group) < moving_groups_; }
  static double left_over(const Track& track, const Motion& motion, const Largest& largest);
  double apart_in_step(std::size_t g, const Motion& a, std::size_t h, const Motion& b) const;
  static double apart_since(const Motion& a, const Motion& b);
  double moved(std::size_t piece, const Track& now, const Motion& motion) const;

  std::vector<int> group_;                          // (pieces)
  std::vector<int> begin_;                          // (groups + 1) into members_
  std::vector<int> members_;                        // pieces, group by group
  std::vector<Track> then_;                         // (pieces) when the groups were formed
  std::vector<double> own_;                         // (pieces)
  std::vector<double> largest_own_;                 // (groups)
  std::vector<std::vector<Neighbour>> neighbours_;  // (groups)
  int fibre_groups_ = 0;                            // they come before the obstacles'
  int moving_groups_ = 0;                           // those of fibres, then one of each free body
  double fibre_radius_ = 0.0;                       // the largest
  double horizon_ = 0.0;                            // groups whose boxes leave more are no neighbours
};

}  // namespace tresse::contact::detail
