#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <tresse/assembly/kinematics.hpp>
#include <tresse/dynamics/report.hpp>

/// Says in words, with the names of the bodies, what goes wrong in a run without a solver's noticing.
namespace tresse::observe {

enum class Trouble {
  penetration,       ///< an overlap beyond a tenth of the fibre's radius; measured in radii
  deep_penetration,  ///< beyond half of it
  passed_through,    ///< two bodies that pressed on each other stand the other way round; their way in radii
  contact_lost,      ///< two bodies that pressed on each other sprang apart within a step; their gap in radii
  runaway,           ///< a fibre bent or flying beyond sense; measured in what is sensible
  energy,            ///< energy rose without work from outside; relative to its scale
  cut_steps,         ///< steps had to be cut in parts; measured in parts
  hold_missed,       ///< a held point is off by a tenth of the fibre's radius or more; measured in radii
  motion_unsolved,   ///< Newton's method for a fibre without contact did not converge; measured in its iterations
  step_error,        ///< the shortest part of a step was off by more than wanted; measured in what is wanted
  jammed,            ///< a fibre is pushed along its axis and cannot give way along it; its overlap in radii
  touched,           ///< under a barrier two bodies are not proved to have stayed apart; 1 a step
};
inline constexpr std::size_t trouble_count = 12;

/// "passed-through": the name in files.
const char* to_string(Trouble kind);

/// One kind of trouble over a run.
struct TroubleTally {
  std::int64_t steps = 0;       ///< in which it was seen
  std::int64_t first_step = 0;  ///< 0: none
  std::int64_t last_step = 0;
  std::int64_t in_a_row = 0;  ///< steps, up to the last
  std::int64_t told = 0;      ///< remarks made
  double worst = 0.0;         ///< in the measure of its kind
  std::int64_t worst_step = 0;
  double advised = 0.0;  ///< least time step that its remarks called for; 0: none [s]
};
using WatchTally = std::array<TroubleTally, trouble_count>;

/// One line for a person.
struct Remark {
  std::int64_t step = 0;
  double time = 0.0;  ///< at the end of the step [s]
  Trouble kind = Trouble::penetration;
  std::string message;
};

/// What a step was and left.
struct WatchedStep {
  const dynamics::StepReport& report;
  const std::vector<dynamics::ContactReport>& contacts;
  const dynamics::SimulationState& before;
  const assembly::Kinematics& at;         ///< of the step's end
  double dt = 0.0;                        ///< [s]
  std::optional<double> step_error = {};  ///< wanted, StepOptions::step_error [m]
  bool carried = true;                    ///< whether the scheme is Scheme::carried
  double energy_rise = 0.0;  ///< beyond what is sound, relative to the energy's scale; 0: none in this step
};

/// "fibre 3 at 0.12 m and tooth 2 of 'comb'".
std::string pair_name(const dynamics::ContactReport& contact, const assembly::World& world);

/// "fibre 3": the one with most kinetic energy; "the grains" or "a surface" where there is no fibre.
std::string liveliest_fibre(const assembly::Kinematics& at);

/// Looks at every step. Of each kind the first step is told, then the tenth, the hundredth and so on, and the advice on
/// cut steps once: a run of any length makes few remarks, a sound one none. All remarks advise one time step, the least
/// that any so far called for. Nothing is kept from step to step but the tally, so that a resumed run says the same.
/// Cost: one pass over the contacts, and a sort when any carried a load.
class Watch {
 public:
  std::vector<Remark> look(const WatchedStep& step, WatchTally& tally);

 private:
  /// The worst that this step shows of one kind.
  struct Sighting {
    double measure = 0.0;    ///< 0: nothing
    std::string message;     ///< up to the advice on the time step
    double time_step = 0.0;  ///< that would help; 0: none does, and the message says what else [s]
  };

  void look_at_overlaps(const WatchedStep& step);
  void look_at_jams(const WatchedStep& step);
  void look_at_lost_contacts(const WatchedStep& step);
  void look_at_crossing(const WatchedStep& step);
  void look_at_touch(const WatchedStep& step);
  void note_parting(Trouble kind, double radii, std::string message, double dt);
  void look_at_fibres(const WatchedStep& step);
  void look_at_energy(const WatchedStep& step);
  void look_at_holds(const WatchedStep& step);
  void look_at_motion(const WatchedStep& step);
  void look_at_error(const WatchedStep& step);
  void look_at_cuts(const WatchedStep& step, const WatchTally& tally);
  void note_contacts(const WatchedStep& step);
  const dynamics::ContactReport* same_contact(const WatchedStep& step, const dynamics::ContactReport& pressed) const;
  Sighting& seen(Trouble kind) { return seen_[static_cast<std::size_t>(kind)]; }

  std::array<Sighting, trouble_count> seen_;
  contact::PairIndex known_;  ///< contacts of this step; kept for its memory
};

}  // namespace tresse::observe
