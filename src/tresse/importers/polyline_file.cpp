#include <tresse/importers/polyline_file.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cstdint>
#include <optional>
#include <utility>

#include <tresse/base/errors.hpp>
#include <tresse/base/words.hpp>
#include <tresse/files/atomic_file.hpp>
#include <tresse/files/lines.hpp>
#include <tresse/files/text.hpp>
#include <tresse/importers/detail/polyline_readers.hpp>

namespace tresse::importers {
namespace detail {

double read_number(std::string_view word, const std::string& name, std::size_t line) {
  const std::optional<double> out = files::real_in(word);
  if (!out) files::fail(name, line, fmt::format("{}; expected a number", files::in_quotes(word, 40)));
  return *out;
}

std::string few_of(const std::vector<std::string>& texts, std::string_view between) {
  constexpr std::size_t told = 3;
  std::string out;
  for (std::size_t i = 0; i < std::min(told, texts.size()); ++i) {
    if (i > 0) out += between;
    out += texts[i];
  }
  return texts.size() > told ? fmt::format("{} and {} more", out, texts.size() - told) : out;
}

std::size_t frame_index(int frame, std::size_t count, const std::string& name) {
  const auto above = static_cast<int>(count);
  const int index = frame < 0 ? above + frame : frame;
  if (index < 0 || index >= above) throw InvalidInput(fmt::format("{}: no frame {}: it holds {}", name, frame, above));
  return static_cast<std::size_t>(index);
}

namespace {

/// Drops points that repeat the one before; how many.
std::size_t drop_repeated(std::vector<Vector3>& row, std::vector<double>* radii) {
  std::size_t kept = 0;
  for (std::size_t p = 0; p < row.size(); ++p) {
    if (p > 0 && row[p] == row[kept - 1]) continue;
    row[kept] = row[p];
    if (radii != nullptr) (*radii)[kept] = (*radii)[p];
    ++kept;
  }
  const std::size_t dropped = row.size() - kept;
  row.resize(kept);
  if (radii != nullptr) radii->resize(kept);
  return dropped;
}

/// Why points are no strand, as the rest of a sentence about it; empty where they are.
std::string flaw_of(const std::vector<Vector3>& row) {
  for (std::size_t p = 0; p < row.size(); ++p) {
    if (!row[p].allFinite() || row[p].cwiseAbs().maxCoeff() > 1e9)
      return fmt::format("has a point {} that is not finite or beyond 1e9; expected finite coordinates", p);
  }
  if (row.size() < 2)
    return fmt::format("has {}; expected at least two", counted(static_cast<std::int64_t>(row.size()), "point"));
  return {};
}

/// The same of its radii. A tip may be sharp, but no stretch may have no thickness at all.
std::string flaw_of(const std::vector<double>& radii) {
  for (std::size_t p = 0; p < radii.size(); ++p) {
    if (!(radii[p] >= 0.0 && radii[p] < 1e9))
      return fmt::format("has radius {} at point {}; expected more than 0", radii[p], p);
    if (p > 0 && radii[p] == 0.0 && radii[p - 1] == 0.0)
      return fmt::format("has radius 0 at points {} and {}; expected more than 0", p - 1, p);
  }
  return {};
}

/// The rows that are strands, with remarks on the others.
Polylines sifted(RawPolylines&& raw, const std::string& name, bool radii) {
  Polylines out = std::move(raw.lines);
  if (!radii) out.radii.clear();
  std::vector<std::string> bad, repeating;
  std::size_t kept = 0, repeated = 0;
  const std::size_t count = out.rows.size();
  for (std::size_t i = 0; i < count; ++i) {
    std::vector<double>* thickness = out.radii.empty() ? nullptr : &out.radii[i];
    const std::string strand =
        raw.places.empty() ? fmt::format("strand {}", i) : fmt::format("strand {} (line {})", i, raw.places[i]);
    const auto found = raw.flaws.find(i);
    const std::size_t dropped = drop_repeated(out.rows[i], thickness);
    std::string flaw = found != raw.flaws.end() ? found->second : flaw_of(out.rows[i]);
    if (flaw.empty() && thickness != nullptr) {
      const auto thin = raw.thickness_flaws.find(i);
      flaw = thin != raw.thickness_flaws.end() ? thin->second : flaw_of(*thickness);
    }
    if (!flaw.empty()) {
      bad.push_back(fmt::format("{} {}", strand, flaw));
      continue;
    }
    if (dropped > 0) repeating.push_back(strand);
    repeated += dropped;
    out.numbers.push_back(i);
    if (kept != i) {
      out.rows[kept] = std::move(out.rows[i]);
      if (thickness != nullptr) out.radii[kept] = std::move(*thickness);
    }
    ++kept;
  }
  out.rows.resize(kept);
  if (!out.radii.empty()) out.radii.resize(kept);
  if (kept == 0) {
    std::string why = count > 0 ? few_of(bad, "; ") : "expected at least one";
    for (const std::string& remark : out.remarks) why += "; " + remark;
    throw InvalidInput(
        fmt::format("{}: holds no {}; {}", name, count > 0 ? "strand that can be read" : "polyline", why));
  }
  if (!bad.empty()) {
    out.remarks.push_back(fmt::format("{} of {} strands {} left out: {}", bad.size(), count,
                                      bad.size() == 1 ? "is" : "are", few_of(bad, "; ")));
  }
  if (repeated > 0) {
    out.remarks.push_back(fmt::format(
        "{} that {} the one before {} left out, of {}", counted(static_cast<std::int64_t>(repeated), "point"),
        repeated == 1 ? "repeats" : "repeat", repeated == 1 ? "is" : "are", few_of(repeating)));
  }
  return out;
}

/// The end of a file's name in lower case, as other systems may write it in capitals.
std::string ending(const std::filesystem::path& file) {
  std::string out = file.extension().string();
  for (char& c : out) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return out;
}

}  // namespace
}  // namespace detail

Polylines parse_polylines(std::string_view bytes, const std::filesystem::path& file, int frame, bool radii) {
  const std::string name = file.string(), end = detail::ending(file);
  if (frame != 0 && frame != -1 && (end == ".hair" || end == ".obj"))
    throw InvalidInput(fmt::format("{}: no frame {}: such a file holds one", name, frame));
  if (end != ".hair" && (bytes.starts_with("\xff\xfe") || bytes.starts_with("\xfe\xff")))
    throw InvalidInput(fmt::format("{}: is text in UTF-16; expected UTF-8", name));
  detail::RawPolylines raw;
  if (end == ".hair") raw = detail::read_hair(bytes, name);
  if (end == ".obj") raw = detail::read_obj_lines(bytes);
  if (end == ".csv") raw = detail::read_csv_lines(bytes, name, frame);
  if (end == ".usda") raw = detail::read_usda_curves(bytes, name, frame);
  return detail::sifted(std::move(raw), name, radii);
}

Polylines read_polylines(const std::filesystem::path& file, int frame, bool radii) {
  const std::string end = detail::ending(file);
  if (end == ".usd" || end == ".usdc" || end == ".usdz")
    throw InvalidInput(fmt::format("{}: expected USD as text, a name that ends in .usda", file.string()));
  if (end != ".hair" && end != ".obj" && end != ".csv" && end != ".usda")
    throw InvalidInput(fmt::format("{}: expected a name that ends in .hair, .obj, .csv or .usda", file.string()));
  return parse_polylines(files::read_file(file, "a file of polylines"), file, frame, radii);
}

}  // namespace tresse::importers
