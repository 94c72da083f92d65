#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <functional>
#include <numbers>

#include <fmt/format.h>

#include <tresse/geometry/curves.hpp>
#include <tresse/math/rotations.hpp>
#include <tresse/rods/discrete_elastic_rod.hpp>
#include <tresse/rods/super_clothoid.hpp>
#include <tresse/rods/super_helix.hpp>
#include <tresse/statics/equilibrium.hpp>

#include "bench.hpp"
#include "messages.hpp"

/// What a rod's shape costs: the end of one curve of affine curvature by several integrators (casati2013 fig. 6), and
/// the equilibrium of two heavy rods by three models against unknowns and seconds (fig. 9).
namespace tresse::app::bench {
namespace {

using nlohmann::ordered_json;

/// Seconds of one call, the best of three batches long enough to be timed.
double seconds_of(const std::function<void()>& call) {
  double best = INFINITY;
  for (int batch = 0; batch < 3; ++batch) {
    for (int count = 1;; count *= 2) {
      const auto start = std::chrono::steady_clock::now();
      for (int i = 0; i < count; ++i) call();
      const double seconds = seconds_since(start);
      if (seconds < 0.01) continue;
      best = std::min(best, seconds / count);
      break;
    }
  }
  return best;
}

// --- the end of a clothoid arc -------------------------------------------------------------------------------------

using Step = void (*)(const geometry::ClothoidArc& arc, double s, double h, Pose& pose);

Vector3 curvature_at(const geometry::ClothoidArc& arc, double s) { return arc.curvature + s * arc.curvature_slope; }

Matrix3 slope_of(const geometry::ClothoidArc& arc, double s, const Matrix3& frame) {
  return frame * math::cross_matrix(curvature_at(arc, s));
}

void euler(const geometry::ClothoidArc& arc, double s, double h, Pose& pose) {
  pose.position += h * pose.frame.col(0);
  pose.frame += h * slope_of(arc, s, pose.frame);
}

void lie_euler(const geometry::ClothoidArc& arc, double s, double h, Pose& pose) {
  pose.position += h * pose.frame.col(0);
  pose.frame = pose.frame * math::rotation_exp(h * curvature_at(arc, s));
}

void runge_kutta_2(const geometry::ClothoidArc& arc, double s, double h, Pose& pose) {
  const Matrix3 middle = pose.frame + 0.5 * h * slope_of(arc, s, pose.frame);
  pose.position += h * middle.col(0);
  pose.frame += h * slope_of(arc, s + 0.5 * h, middle);
}

void runge_kutta_4(const geometry::ClothoidArc& arc, double s, double h, Pose& pose) {
  const Matrix3 middle = math::cross_matrix(curvature_at(arc, s + 0.5 * h));
  const Matrix3 a = slope_of(arc, s, pose.frame);
  const Matrix3 second = pose.frame + 0.5 * h * a;
  const Matrix3 b = second * middle;
  const Matrix3 third = pose.frame + 0.5 * h * b;
  const Matrix3 c = third * middle;
  const Matrix3 fourth = pose.frame + h * c;
  const Matrix3 d = slope_of(arc, s + h, fourth);
  pose.position += h / 6.0 * (pose.frame.col(0) + 2.0 * second.col(0) + 2.0 * third.col(0) + fourth.col(0));
  pose.frame += h / 6.0 * (a + 2.0 * b + 2.0 * c + d);
}

Pose integrated(const geometry::ClothoidArc& arc, Step step, int count) {
  Pose pose{arc.position, arc.frame};
  const double h = arc.length / count;
  for (int i = 0; i < count; ++i) step(arc, i * h, h, pose);
  return pose;
}

/// Of the position, relative to the length, and of the frame.
double error_of(const Pose& pose, const Pose& exact, double length) {
  return std::max((pose.position - exact.position).norm() / length, (pose.frame - exact.frame).cwiseAbs().maxCoeff());
}

/// Where log(seconds) reaches a value of log(error) along a line through the two nearest rows; NaN when none does.
double at_error(const std::vector<std::pair<double, double>>& rows, double error) {
  for (std::size_t i = 0; i + 1 < rows.size(); ++i) {
    const auto& [e0, y0] = rows[i];
    const auto& [e1, y1] = rows[i + 1];
    if (!(e0 >= error && e1 <= error && e1 < e0)) continue;
    return y0 * std::pow(y1 / y0, std::log(e0 / error) / std::log(e0 / e1));
  }
  return NAN;
}

ordered_json darboux(bool quick) {
  constexpr double wanted = 1e-10;
  ordered_json out = ordered_json::array();
  print("The end of a curve of affine curvature: error of position and frame, and seconds to {:.0e}", wanted);
  print("{:>6} {:>14} {:>10} {:>12} {:>14}", "turns", "method", "error", "us", "us to 1e-10");
  for (const double turns : {1.0, 10.0, 50.0}) {
    const double turn = 2.0 * std::numbers::pi * turns;
    const geometry::ClothoidArc arc{Vector3::Zero(), Matrix3::Identity(), turn * Vector3(0.07, 0.14, 0.63),
                                    turn * Vector3(-0.14, 0.28, 0.14), 1.0};
    const Pose exact = geometry::end_pose(arc);
    const double series = seconds_of([&] { (void)geometry::end_pose(arc); });
    // Against the same arc cut in seven: nothing is shared but the recursion.
    Pose cut{arc.position, arc.frame};
    for (int i = 0; i < 7; ++i) {
      cut = geometry::end_pose({cut.position, cut.frame, curvature_at(arc, i / 7.0), arc.curvature_slope, 1.0 / 7.0});
    }
    const double own_error = error_of(cut, exact, arc.length);
    const auto rod =
        rods::make_super_clothoid({{1.0, rods::CrossSection::circle(1e-3)}}, {arc.curvature, curvature_at(arc, 1.0)},
                                  {1e3, 1e9, 0.3, 0.0}, rods::RootCondition::clamped);
    const rods::RodState state = rod->state();
    const double with_derivatives = seconds_of([&] { rod->update(state); });
    print("{:>6} {:>14} {:>10.1e} {:>12.2f}", turns, "series", own_error, 1e6 * series);
    print("{:>6} {:>14} {:>10} {:>12.2f}", turns, "and dr/dq", "", 1e6 * with_derivatives);
    ordered_json row = {{"turns", turns},
                        {"series", {{"error", own_error}, {"seconds", series}}},
                        {"series_with_derivatives", {{"seconds", with_derivatives}}}};
    const std::pair<const char*, Step> methods[] = {
        {"euler", euler}, {"lie_euler", lie_euler}, {"rk2", runge_kutta_2}, {"rk4", runge_kutta_4}};
    for (const auto& method : methods) {
      const char* name = method.first;
      const Step step = method.second;
      std::vector<std::pair<double, double>> found;
      ordered_json table = ordered_json::array();
      const double most = quick ? 0.02 : 0.2;  // seconds of one integration
      double seconds = 0.0;
      for (int count = 16; seconds < most && (found.empty() || found.back().first > 0.1 * wanted); count *= 2) {
        const double error = error_of(integrated(arc, step, count), exact, arc.length);
        seconds = seconds_of([&] { (void)integrated(arc, step, count); });
        found.emplace_back(error, seconds);
        table.push_back({{"steps", count}, {"error", error}, {"seconds", seconds}});
      }
      const double reach = at_error(found, wanted);
      row[name] = {{"rows", table}, {"seconds_at_1e-10", std::isnan(reach) ? ordered_json() : ordered_json(reach)}};
      print("{:>6} {:>14} {:>10.1e} {:>12.2f} {:>14}", turns, name, found.back().first, 1e6 * found.back().second,
            std::isnan(reach) ? "out of reach" : fmt::format("{:.0f} ({:.0f}x)", 1e6 * reach, reach / series));
    }
    out.push_back(row);
  }
  return out;
}

// --- equilibria ----------------------------------------------------------------------------------------------------

constexpr double length = 0.2;  // [m]

struct Heavy {
  const char* name;
  Vector3 curvature;  ///< natural [1/m]
  double young_modulus;
};

std::unique_ptr<rods::Rod> rod_of(const std::string& model, int elements, const Heavy& heavy) {
  const auto n = static_cast<std::size_t>(elements);
  const rods::CrossSection section = rods::CrossSection::circle(5e-4);
  const rods::Material material{1000.0, heavy.young_modulus, 0.4, 0.0};
  const auto clamped = rods::RootCondition::clamped;
  const double l = length / elements;
  if (model == "super-helix")
    return rods::make_super_helix(std::vector<rods::SuperHelixElement>(n, {l, section, heavy.curvature}), material,
                                  clamped);
  if (model == "super-clothoid")
    return rods::make_super_clothoid(std::vector<rods::SuperClothoidElement>(n, {l, section}),
                                     std::vector<Vector3>(n + 1, heavy.curvature), material, clamped);
  return rods::make_discrete_elastic_rod(std::vector<rods::RodEdge>(n, {l, section, heavy.curvature}), material,
                                         clamped);
}

std::vector<Vector3> shape_of(const rods::Rod& rod) {
  constexpr int points = 200;
  std::vector<Vector3> out;
  for (int i = 1; i <= points; ++i) out.push_back(rod.section(rod.length() * i / points).position);
  return out;
}

struct Solved {
  std::vector<Vector3> shape;
  double seconds = 0.0;
  int unknowns = 0;
  bool converged = false;
};

Solved equilibrium_of(const std::string& model, int elements, const Heavy& heavy) {
  const auto rod = rod_of(model, elements, heavy);
  const rods::RodState start = rod->state();
  // The best of several while they are short: other programs only ever add to a time.
  constexpr double enough = 0.5;  // seconds in all
  Solved out{{}, INFINITY, rod->dof(), true};
  double spent = 0.0;
  for (int round = 0; round < 20 && spent < enough; ++round) {
    const auto began = std::chrono::steady_clock::now();
    const statics::Equilibrium found =
        statics::solve_equilibrium(*rod, start, Vector3(0, 0, -9.81), {.tolerance = 1e-9, .max_iterations = 500});
    const double seconds = seconds_since(began);
    spent += seconds;
    out.seconds = std::min(out.seconds, seconds);
    out.converged = out.converged && found.stable();
  }
  out.shape = shape_of(*rod);
  return out;
}

double distance(const std::vector<Vector3>& a, const std::vector<Vector3>& b) {
  double sum = 0.0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += (a[i] - b[i]).squaredNorm();
  return std::sqrt(sum / static_cast<double>(a.size())) / length;
}

ordered_json convergence(bool quick) {
  constexpr std::array<double, 2> tolerances = {1e-3, 1e-4};  // of the length: seen at a glance, seen up close
  ordered_json out = ordered_json::array();
  const Heavy rods[] = {{"straight", Vector3::Zero(), 1e7},
                        {"curly", 2.0 * std::numbers::pi / length * Vector3(0.3, 0.0, 4.0), 2e7}};
  for (const Heavy& heavy : rods) {
    print("");
    print("Equilibrium of the {} heavy rod: RMS error of the shape over its length", heavy.name);
    print("{:>22} {:>9} {:>9} {:>10} {:>10} {:>7}", "model", "elements", "unknowns", "error", "ms", "order");
    const std::vector<Vector3> exact = equilibrium_of("super-clothoid", quick ? 48 : 96, heavy).shape;
    ordered_json models;
    std::array<double, 2> clothoid_unknowns{};
    for (const std::string model : {"super-clothoid", "super-helix", "discrete-elastic-rod"}) {
      const int most = model == "super-clothoid" ? 32 : model == "super-helix" ? 128 : quick ? 128 : 256;
      std::vector<std::pair<double, double>> unknowns;
      ordered_json rows = ordered_json::array();
      double before = NAN;
      for (int elements = model == "discrete-elastic-rod" ? 32 : 2; elements <= most; elements *= 2) {
        const Solved solved = equilibrium_of(model, elements, heavy);
        const double error = distance(solved.shape, exact);
        const double order = std::log2(before / error);
        before = error;
        unknowns.emplace_back(error, solved.unknowns);
        print("{:>22} {:>9} {:>9} {:>10.2e} {:>10.2f} {:>7} {}", model, elements, solved.unknowns, error,
              1e3 * solved.seconds, std::isnan(order) ? "" : fmt::format("{:.2f}", order),
              solved.converged ? "" : "not converged");
        rows.push_back({{"elements", elements},
                        {"unknowns", solved.unknowns},
                        {"error", error},
                        {"seconds", solved.seconds},
                        {"order", std::isnan(order) ? ordered_json() : ordered_json(order)},
                        {"converged", solved.converged}});
      }
      ordered_json needed;
      for (std::size_t t = 0; t < tolerances.size(); ++t) {
        const double count = at_error(unknowns, tolerances[t]);
        if (model == "super-clothoid") clothoid_unknowns[t] = count;
        const bool reached = !std::isnan(count);
        print("{:>22} {} unknowns to {:.0e}{}", model, reached ? fmt::format("{:.0f}", count) : "more", tolerances[t],
              reached ? fmt::format(", {:.1f} times the clothoids'", count / clothoid_unknowns[t]) : "");
        needed.push_back({{"error", tolerances[t]}, {"unknowns", reached ? ordered_json(count) : ordered_json()}});
      }
      models[model] = {{"rows", rows}, {"unknowns", needed}};
    }
    out.push_back({{"rod", heavy.name}, {"models", models}});
  }
  return out;
}

}  // namespace

ordered_json rods(const Arguments& arguments) {
  return {{"darboux", darboux(arguments.quick)}, {"equilibria", convergence(arguments.quick)}};
}

}  // namespace tresse::app::bench
