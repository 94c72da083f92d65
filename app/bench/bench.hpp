#pragma once

#include <chrono>
#include <filesystem>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include <tresse/record/checkpoint.hpp>
#include <tresse/scene/build.hpp>

/// What the benchmarks of `tresse bench` share. Each prints a table and returns what goes into its JSON file.
namespace tresse::app::bench {

struct Arguments {
  std::string output;
  std::string states;    ///< folder of the starting states; empty: those that came with the program
  std::string trace;     ///< of `distance`: a recorded one; empty: from the wavy starting state
  std::string problems;  ///< of `solvers`: folder of friction problems
  std::string wisp;      ///< of `steps`: the only one; empty: all
  int threads = 0;       ///< 0: all cores
  int steps = 0;         ///< of `steps`: as many whatever the time; 0: up to 100 in the time there is
  bool quick = false;    ///< a minute in all, rather than ten
};

nlohmann::ordered_json distance(const Arguments& arguments);
nlohmann::ordered_json steps(const Arguments& arguments);
nlohmann::ordered_json friction(const Arguments& arguments);
nlohmann::ordered_json solvers(const Arguments& arguments);
nlohmann::ordered_json scaling(const Arguments& arguments);
nlohmann::ordered_json rods(const Arguments& arguments);

/// A starting state: a wisp of the paper's table 4 in full combing contact. @cite crespel2024 tables 3 and 4
struct State {
  const char* name;
  int published_contacts;    ///< on average over its run
  double published_seconds;  ///< a step, on 8 cores at 3.5 GHz
};
inline constexpr State all_states[] = {{"straight", 21191, 12.9},
                                       {"wavy", 28709, 24.4},
                                       {"curly", 84806, 62.5},
                                       {"wavy-dirty", 29282, 23.6},
                                       {"coiled", 6946, 9.5}};

struct StateCase {
  scene::Scene scene;
  scene::Case built;
};
/// Throws InvalidInput when the state's file is missing or no checkpoint.
StateCase load_state(const Arguments& arguments, const std::string& name);

/// Name, cores and compiler of this machine.
nlohmann::ordered_json machine();
/// Limits oneTBB to so many threads for as long as it lives is the caller's; this resolves 0.
int thread_count(const Arguments& arguments);

inline double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

/// Of a list that is not empty; moves its entries.
double median(std::vector<double> values);

}  // namespace tresse::app::bench
