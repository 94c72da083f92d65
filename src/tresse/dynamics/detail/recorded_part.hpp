#pragma once

#include <optional>
#include <string>
#include <vector>

#include <tresse/dynamics/detail/part.hpp>
#include <tresse/dynamics/detail/pass.hpp>
#include <tresse/dynamics/sensitivity.hpp>

// What the derivative of a part of a step needs of it: docs/theory/gradients.md.
namespace tresse::dynamics::detail {

/// A side of a contact: a place on a fibre, or the curve of an obstacle there.
struct RecordedSide {
  int fibre = -1, element = 0;                                  ///< -1: of an obstacle
  double u = 0.0;                                               ///< local arc length of the material [m]
  Vector3 tangent = Vector3::Zero(), second = Vector3::Zero();  ///< derivatives of an obstacle's curve
  Vector3 acting = Vector3::Zero();                             ///< where the contact acts (3) [m]
};

/// A contact that carries a force.
struct RecordedContact {
  contact::Contact contact;
  RecordedSide a, b;
  int obstacle = -1;      ///< on side b
  bool plane = false;     ///< which is one
  double thinnest = 0.0;  ///< radius of the thinner tube [m]
  Vector3 impulse, velocity;
  double mu = 0.0;
  double gap_bias = 0.0;        ///< of its normal velocity [m/s]
  std::optional<Vector3> slip;  ///< that it takes back [m]
  int slip_from = -1;           ///< whose slip of the state that is; -1: nobody's
};

struct RecordedPass {
  std::vector<VectorX> velocities;        ///< (fibres) generalised
  std::vector<int> shape_of;              ///< (fibres) after how many passes is the shape that it was linearised in
  std::vector<RecordedContact> contacts;  ///< those that carry a force
  double largest_bias = 0.0;              ///< of the free relative velocities [m/s]
};

/// A contact that goes on in the next state.
struct RecordedSlip {
  int contact = -1;                ///< of the last pass; -1: one whose slip does not change
  Vector3 slip = Vector3::Zero();  ///< at the end [m]
};

struct RecordedPart {
  Span span;
  double h = 0.0;                                    ///< [s]
  std::vector<Pose> obstacles_begin, obstacles_end;  ///< (obstacles)
  Vector3 air = Vector3::Zero();                     ///< its velocity [m/s]
  std::vector<rods::RodState> start, end;            ///< (fibres) with the root velocities of the part
  std::vector<Twist> roots_before;                   ///< (fibres) root velocities of the state at the start
  std::vector<Pose> next_roots;                      ///< (fibres)
  std::vector<RecordedPass> passes;                  ///< those that led to the end, in order
  bool to_the_last = true;                           ///< these are all passes that were made
  std::size_t slips_before = 0;                      ///< warm contacts of the state at the start
  std::vector<RecordedSlip> slips;                   ///< of the state at the end
};

/// Records the parts of a stepper's steps, one at a time, and tells how near contacts come to another case. The part
/// must outlive it.
class PartRecorder {
 public:
  /// Throws InvalidInput where something moves that has no derivative.
  explicit PartRecorder(const Part& part);

  /// Begins a part; passes noted before are forgotten.
  void begin() { passes_.clear(); }
  /// Notes a pass that was solved, linearised in `shapes`.
  void note(const Pass& pass, const std::vector<rods::RodState>& shapes);
  /// The part ends with this pass, whose slips are those of its end; `slowed`: and with velocities that energy rules
  /// made smaller. False where it ended in none of its passes.
  [[nodiscard]] bool accept(const Pass& pass, bool slowed, RecordedPart& out);

  const DerivativeReport& report() const { return report_; }
  /// Tells what the derivative leaves out, if it is the first.
  void refuse(const std::string& why, double time);

 private:
  struct Noted {
    RecordedPass pass;
    std::vector<rods::RodState> shapes;
    std::vector<int> slip_from;     ///< (contacts) whose slip of the state each has
    std::vector<std::size_t> warm;  ///< contacts that the next pass knows
    VectorX impulse, velocity, mu;
  };
  void record_contacts(const Pass& pass, Noted& out);
  void take_shape_counts(Noted& out);
  void watch(const Noted& pass);

  const Part& part_;
  DerivativeReport report_;
  std::vector<Noted> passes_;
  std::vector<int> cases_;  ///< how many stuck, how many slid
};

/// The state of a fibre where velocities lead from the start of a part.
rods::RodState state_after(const RecordedPart& part, const rods::Rod& rod, std::size_t fibre,
                           const VectorX& velocities);

}  // namespace tresse::dynamics::detail
