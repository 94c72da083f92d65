#include "commands.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

#include <tresse/base/blocks.hpp>
#include <tresse/base/enum_words.hpp>
#include <tresse/base/errors.hpp>
#include <tresse/base/words.hpp>
#include <tresse/files/atomic_file.hpp>
#include <tresse/importers/polyline_file.hpp>
#include <tresse/record/outputs.hpp>
#include <tresse/rods/floating_tangents.hpp>

#include "common_options.hpp"
#include "messages.hpp"
#include "scene_arguments.hpp"
#include "slow_work.hpp"
#include "version.hpp"

namespace tresse::app {

enum class FitMethod { floating, least_squares };

}  // namespace tresse::app

namespace tresse {

template <>
struct Words<app::FitMethod> {
  static constexpr std::array<std::string_view, 2> list{"floating", "least-squares"};
};

}  // namespace tresse

namespace tresse::app {
namespace {

namespace fs = std::filesystem;
using nlohmann::ordered_json;

struct FitArguments {
  std::string curves;
  std::string folder;
  FitMethod method = FitMethod::floating;
  int elements = 0;
  int frame = 0;
  double unit = 1.0;  ///< [m]
  int threads = 0;    ///< 0: never given, all cores
  bool quiet = false;
};

struct Strand {
  std::string name;
  rods::FloatingFit fit;
  double seconds = 0.0;
  std::string refused;  ///< why there is no fit
};

bool is_mark(const std::string& name) { return name == "fit.json"; }

importers::Polylines read_curves(const FitArguments& arguments) {
  importers::Polylines out = importers::read_polylines(arguments.curves, arguments.frame);
  require(!out.in_metres || arguments.unit == 1.0,
          [&] { return fmt::format("--unit: is given for {}, which names its own; expected none", arguments.curves); });
  for (std::vector<Vector3>& row : out.rows) {
    for (Vector3& x : row) x *= arguments.unit;
  }
  for (std::vector<double>& radii : out.radii) {
    for (double& radius : radii) radius *= arguments.unit;
  }
  return out;
}

rods::FloatingFit fit(const std::vector<Vector3>& row, const FitArguments& arguments) {
  if (arguments.method == FitMethod::floating) return rods::fit_floating(row, arguments.elements);
  return {.curve = rods::fit_curve(row, {.elements = arguments.elements}), .least_squares = true};
}

void require_longer_than_thick(const std::vector<Vector3>& row, const std::vector<double>& radii) {
  double length = 0.0;
  for (std::size_t j = 1; j < row.size(); ++j) length += (row[j] - row[j - 1]).norm();
  const double radius = *std::max_element(radii.begin(), radii.end());
  require(length > radius, [&] {
    return fmt::format("is {:.3g} m long and has a radius of {:.3g} m; expected it longer", length, radius);
  });
}

std::vector<Strand> fit_all(const importers::Polylines& lines, const FitArguments& arguments) {
  std::vector<Strand> out(lines.rows.size());
  constexpr std::size_t block = 4;
  for_blocks(out.size(), block, [&](std::size_t, std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) {
      Strand& strand = out[i];
      strand.name = fmt::format("strand {}", lines.numbers[i]);
      const auto start = std::chrono::steady_clock::now();
      try {
        if (!lines.radii.empty()) require_longer_than_thick(lines.rows[i], lines.radii[i]);
        strand.fit = fit(lines.rows[i], arguments);
      } catch (const InvalidInput& error) {
        strand.refused = error.what();
      }
      strand.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    }
  });
  return out;
}

ordered_json as_json(const Vector3& v) { return {v[0], v[1], v[2]}; }

ordered_json as_json(const Strand& strand) {
  const rods::FittedCurve& curve = strand.fit.curve;
  ordered_json curvatures = ordered_json::array();
  for (const Vector3& curvature : curve.curvature) curvatures.push_back(as_json(curvature));
  const Matrix3& frame = curve.root.frame;
  return {{"name", strand.name},
          {"position", as_json(curve.root.position)},
          {"frame", {as_json(frame.col(0)), as_json(frame.col(1)), as_json(frame.col(2))}},
          {"lengths", curve.lengths},
          {"curvatures", curvatures},
          {"mean_error", curve.mean_distance},
          {"max_error", curve.largest_distance},
          {"length_ratio", curve.length_ratio},
          {"least_squares", strand.fit.least_squares},
          {"relaxed", strand.fit.relaxed},
          {"seconds", strand.seconds}};
}

/// What is left out, the first of many line by line.
void tell_refused(const std::string& file, const std::vector<Strand>& strands) {
  std::size_t told = 0;
  for (const Strand& strand : strands) {
    if (strand.refused.empty()) continue;
    if (told++ < told_one_by_one) say("{}: {} is left out: {}", file, strand.name, strand.refused);
  }
  if (told > told_one_by_one) say("{}: {} strands are left out", file, told);
}

struct Totals {
  std::size_t count = 0, squares = 0;
  double mean = 0.0, largest = 0.0, seconds = 0.0;
};

Totals totals(const std::vector<Strand>& strands) {
  Totals out;
  for (const Strand& strand : strands) {
    if (!strand.refused.empty()) continue;
    ++out.count;
    out.squares += strand.fit.least_squares ? 1 : 0;
    out.mean += strand.fit.curve.mean_distance;
    out.largest = std::max(out.largest, strand.fit.curve.largest_distance);
    out.seconds += strand.seconds;
  }
  out.mean /= static_cast<double>(std::max<std::size_t>(out.count, 1));
  return out;
}

void run(const FitArguments& arguments) {
  require(std::isfinite(arguments.unit) && arguments.unit > 0.0, "--unit: expects a length above 0 [m]");
  require(arguments.elements >= 1 && arguments.elements <= 1000,
          [&] { return fmt::format("--elements: found {}; expected 1 to 1000", arguments.elements); });
  const ThreadLimit limit(arguments.threads);
  const importers::Polylines lines = read_curves(arguments);
  const fs::path folder(arguments.folder), file = folder / "fit.json";
  record::require_apart({file}, {arguments.curves});
  record::make_folder(folder);
  const files::FolderLock lock(folder);
  record::require_folder_of(folder, "a fit of tresse", is_mark);
  SlowPiece slow(arguments.quiet,
                 [&] { return fmt::format("fits of {} strands of {}", lines.rows.size(), arguments.curves); });
  const std::vector<Strand> strands = fit_all(lines, arguments);
  slow.ends();
  const Totals all = totals(strands);
  if (all.count == 0)
    throw InvalidInput(fmt::format("{}: {}: {}", arguments.curves, strands.front().name, strands.front().refused));
  ordered_json fitted = ordered_json::array();
  for (const Strand& strand : strands) {
    if (strand.refused.empty()) fitted.push_back(as_json(strand));
  }
  const ordered_json out = {{"version", fmt::format("{} ({})", TRESSE_VERSION, TRESSE_COMMIT)},
                            {"method", word(arguments.method)},
                            {"elements", arguments.elements},
                            {"mean_error", all.mean},
                            {"max_error", all.largest},
                            {"seconds", all.seconds},
                            {"strands", fitted}};
  lock.check();
  files::write_atomically(file, out.dump(1) + "\n");
  for (const std::string& remark : lines.remarks) say("{}: {}", arguments.curves, remark);
  tell_refused(arguments.curves, strands);
  if (arguments.quiet) return;
  const std::string squares = arguments.method == FitMethod::floating && all.squares > 0
                                  ? fmt::format(", {} of them by least squares for their noise or kinks", all.squares)
                                  : "";
  say("{}: {}{}, mean error {:.2g} m, largest {:.2g} m, {:.3g} s", file.string(),
      counted(static_cast<std::int64_t>(all.count), "strand"), squares, all.mean, all.largest, all.seconds);
}

}  // namespace

void add_fit_command(CLI::App& program, int& exit_status) {
  auto arguments = std::make_shared<FitArguments>();
  CLI::App* command = program.add_subcommand("fit", "Rods from curves: chains of helices through polylines and grooms");
  command->footer("Example: tresse fit groom.hair -o out/groom --elements 15");
  command->add_option("curves", arguments->curves, "Polylines: .hair, .usda, .obj or .csv")->required();
  command->add_option("-o,--output", arguments->folder, "Folder for fit.json")->required();
  command->add_option("--elements", arguments->elements, "Helices a strand, 1 to 1000")->required();
  command
      ->add_option_function<std::string>(
          "--method",
          [arguments](const std::string& text) {
            const std::optional<FitMethod> found = find_word<FitMethod>(text);
            require(found.has_value(), [&] {
              return fmt::format("--method: found {}; expected {} or {}", text, word(FitMethod::floating),
                                 word(FitMethod::least_squares));
            });
            arguments->method = *found;
          },
          "floating (default): tangents of a smoothing spline stay; least-squares: nearest to the points, slower")
      ->type_name("NAME");
  command->add_option("--frame", arguments->frame, "Of a file that holds several: its number, -1 the last");
  command->add_option("--unit", arguments->unit, "What one unit of the file is [m], where it does not say; 1");
  add_threads(*command, arguments->threads);
  command->add_flag("--quiet", arguments->quiet, "Remarks only");
  command->callback([arguments, &exit_status] {
    run(*arguments);
    exit_status = done;
  });
}

}  // namespace tresse::app
