#include <algorithm>
#include <cmath>

#include <fmt/format.h>
#include <oneapi/tbb/global_control.h>

#include <tresse/dynamics/stepper.hpp>

#include "bench.hpp"
#include "messages.hpp"

/// Cost of a step against the number of fibres at constant density: the middle of the wavy wisp, the whole, and four
/// of them side by side.
namespace tresse::app::bench {
namespace {

struct Measured {
  double contacts = 0.0, step = 0.0, detection = 0.0, assembly = 0.0, solve = 0.0;
};

/// Fibres of a state with the contacts between them, moved aside.
void append(const StateCase& from, const std::vector<int>& chosen, const Vector3& shift, scene::Case& to) {
  const assembly::World& world = from.built.world;
  std::vector<int> number(world.fibres.size(), -1);
  for (const int f : chosen) {
    number[static_cast<std::size_t>(f)] = static_cast<int>(to.world.fibres.size());
    to.world.fibres.push_back(world.fibres[static_cast<std::size_t>(f)]);
    to.world.fibres.back().root.position += shift;
    to.state.rods.push_back(from.built.state.rods[static_cast<std::size_t>(f)]);
    to.state.rods.back().root.position += shift;
  }
  for (dynamics::WarmContact contact : from.built.state.warm) {
    const auto of = [&](int body) {
      return body < static_cast<int>(number.size()) ? number[static_cast<std::size_t>(body)] : -1;
    };
    contact.place.body_a = of(contact.place.body_a);
    contact.place.body_b = of(contact.place.body_b);
    if (contact.place.body_a >= 0 && contact.place.body_b >= 0) to.state.warm.push_back(contact);
  }
}

/// `fibres` of them without the comb: near the wisp's middle, or whole wisps in a row.
scene::Case part_of(const StateCase& whole, int fibres) {
  scene::Case out;
  out.options = whole.built.options;
  out.world.loads = whole.built.world.loads;
  out.world.law = whole.built.world.law;
  out.world.obstacle_material = {};
  const auto& all = whole.built.world.fibres;
  std::vector<int> order(all.size());
  Vector3 middle = Vector3::Zero();
  for (std::size_t f = 0; f < all.size(); ++f) {
    order[f] = static_cast<int>(f);
    middle += all[f].root.position / static_cast<double>(all.size());
  }
  const auto off = [&](int f) {
    return (all[static_cast<std::size_t>(f)].root.position - middle).lpNorm<Eigen::Infinity>();
  };
  std::stable_sort(order.begin(), order.end(), [&](int f, int g) { return off(f) < off(g); });
  constexpr double apart = 0.5;  // [m] between whole wisps
  for (int done = 0; done < fibres; done += static_cast<int>(all.size())) {
    order.resize(std::min<std::size_t>(order.size(), static_cast<std::size_t>(fibres - done)));
    append(whole, order, apart * (done / static_cast<double>(all.size())) * Vector3::UnitY(), out);
  }
  out.state.step = whole.built.state.step;
  return out;
}

Measured measure(const StateCase& whole, int fibres, int threads, int steps) {
  const oneapi::tbb::global_control limit(oneapi::tbb::global_control::max_allowed_parallelism,
                                          static_cast<std::size_t>(threads));
  scene::Case part = part_of(whole, fibres);
  part.options.solver.tolerance = 1e-9;
  part.options.solver.max_iterations = 100;  // of each size alike: what grows is the cost of a sweep
  dynamics::Stepper stepper(std::move(part.world), part.options, std::move(part.state));
  for (int k = 0; k < 2; ++k) static_cast<void>(stepper.step());
  Measured out;
  for (int k = 0; k < steps; ++k) {
    const dynamics::StepReport report = stepper.step();
    out.contacts += static_cast<double>(report.contacts) / steps;
    out.step += report.t_step / steps;
    out.detection += report.t_detection / steps;
    out.assembly += report.t_assembly / steps;
    out.solve += report.t_solve / steps;
  }
  return out;
}

/// Exponent of the least-squares power law.
double growth(const std::vector<double>& n, const std::vector<double>& t) {
  double sx = 0, sy = 0, sxx = 0, sxy = 0;
  const auto count = static_cast<double>(n.size());
  for (std::size_t i = 0; i < n.size(); ++i) {
    const double x = std::log(n[i]), y = std::log(t[i]);
    sx += x, sy += y, sxx += x * x, sxy += x * y;
  }
  return (count * sxy - sx * sy) / (count * sxx - sx * sx);
}

}  // namespace

nlohmann::ordered_json scaling(const Arguments& arguments) {
  const StateCase whole = load_state(arguments, "wavy");
  const std::vector<int> sizes =
      arguments.quick ? std::vector<int>{100, 450, 2025} : std::vector<int>{100, 225, 450, 900, 2025, 4050, 8100};
  print("{:>7} {:>8} {:>9} {:>10} {:>10} {:>10} {:>10}", "fibres", "threads", "contacts", "step [s]", "detection",
        "assembly", "solve");
  nlohmann::ordered_json rows = nlohmann::ordered_json::array();
  nlohmann::ordered_json exponents;
  std::vector<double> n, detection, assembly;
  std::vector<double> ratios;
  for (const int fibres : sizes) {
    double alone = 0.0;
    for (const int threads : {1, 2}) {
      const Measured m = measure(whole, fibres, threads, arguments.quick ? 3 : 10);
      rows.push_back({{"fibres", fibres},
                      {"threads", threads},
                      {"contacts", m.contacts},
                      {"step_s", m.step},
                      {"detection_s", m.detection},
                      {"assembly_s", m.assembly},
                      {"solve_s", m.solve}});
      print("{:7} {:8} {:9.0f} {:10.4f} {:10.4f} {:10.4f} {:10.4f}", fibres, threads, m.contacts, m.step, m.detection,
            m.assembly, m.solve);
      finish_output();
      if (threads == 1) {
        n.push_back(fibres);
        detection.push_back(m.detection);
        assembly.push_back(m.assembly);
        alone = m.step;
      } else {
        ratios.push_back(alone / m.step);
      }
    }
  }
  const double by_detection = growth(n, detection);
  const double by_assembly = growth(n, assembly);
  print("growth with the number of fibres: detection n^{:.2f}, assembly n^{:.2f}; two threads: {:.2f} times one",
        by_detection, by_assembly, ratios.back());
  return {{"rows", rows},
          {"detection_exponent", by_detection},
          {"assembly_exponent", by_assembly},
          {"two_threads", ratios.back()}};
}

}  // namespace tresse::app::bench
