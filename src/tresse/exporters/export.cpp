#include <tresse/exporters/export.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <set>

#include <tresse/base/errors.hpp>
#include <tresse/exporters/detail/export_writers.hpp>
#include <tresse/files/text.hpp>
#include <tresse/record/outputs.hpp>

namespace tresse::exporters {
namespace {

namespace fs = std::filesystem;

[[noreturn]] void refuse_selection(std::string_view text) {
  throw InvalidInput(fmt::format(
      "frames: {}; expected a frame such as \"12\" or \"-1\", or \"first:last:stride\", any of them left out",
      files::in_quotes(text, 40)));
}

void read_part(std::string_view part, std::string_view text, long long& into) {
  if (part.empty()) return;
  const auto [end, error] = std::from_chars(part.data(), part.data() + part.size(), into);
  if (error != std::errc() || end != part.data() + part.size()) refuse_selection(text);
}

std::size_t resolve(long long wanted, std::size_t count) {
  const auto frames = static_cast<long long>(count);
  if (wanted >= frames || wanted < -frames)
    throw InvalidInput(fmt::format("frames: no frame {}: the run holds {}, 0 to {}", wanted, frames, frames - 1));
  return static_cast<std::size_t>(wanted < 0 ? wanted + frames : wanted);
}

struct Format {
  const char* name;
  std::vector<std::string> extensions;
  detail::Files (*write)(const detail::ExportJob&);
};

const std::vector<Format>& formats() {
  static const std::vector<Format> all{
      {"usda", {".usda"}, detail::export_usda},         {"vtk", {".pvd"}, detail::export_vtk},
      {"vtkhdf", {".vtkhdf"}, detail::export_vtk},      {"obj", {".obj"}, detail::export_obj},
      {"gltf", {".glb", ".gltf"}, detail::export_gltf}, {"csv", {".csv"}, detail::export_csv}};
  return all;
}

const Format& find_format(const std::string& name) {
  for (const Format& format : formats()) {
    if (format.name == name) return format;
  }
  throw InvalidInput(
      fmt::format("format: {}; expected {}", files::in_quotes(name, 40), files::alternatives(export_formats())));
}

/// The format that `options` name, or that the ending of the output tells.
const Format& chosen_format(const ExportOptions& options, const fs::path& output) {
  if (!options.format.empty()) return find_format(options.format);
  const std::string ending = output.extension().string();
  std::vector<std::string> all;
  for (const Format& format : formats()) {
    if (std::ranges::find(format.extensions, ending) != format.extensions.end()) return format;
    all.insert(all.end(), format.extensions.begin(), format.extensions.end());
  }
  throw InvalidInput(fmt::format("{}: expected a format (--format), or a name that ends in {}",
                                 output.empty() ? "the output" : output.string(), fmt::join(all, ", ")));
}

void validate(const ExportOptions& options) {
  require(options.time_codes_per_second > 0.0 && options.time_codes_per_second <= 1e9,
          [&] { return fmt::format("fps: {}; expected more than 0, at most 1e9", options.time_codes_per_second); });
  require(options.tube_sides == 0 || (options.tube_sides >= 3 && options.tube_sides <= 64),
          [&] { return fmt::format("tubes: {}; expected 3 to 64 sides, or 0", options.tube_sides); });
}

/// The file to write: `output`, or in a folder "export" with the format's extension.
fs::path place(const fs::path& run, const fs::path& output, const Format& format) {
  std::error_code error;
  fs::path wanted = !output.empty() ? output : fs::is_directory(run, error) ? run : run.parent_path();
  if (output.empty() || fs::is_directory(wanted, error)) return wanted / ("export" + format.extensions.front());
  if (std::ranges::find(format.extensions, wanted.extension().string()) == format.extensions.end())
    throw InvalidInput(fmt::format("{}: expected a folder, or a name that ends in {}", wanted.string(),
                                   fmt::join(format.extensions, " or ")));
  return wanted;
}

}  // namespace

FrameSelection read_frame_selection(std::string_view text) {
  FrameSelection out;
  const std::size_t colon = text.find(':');
  if (text.empty()) refuse_selection(text);
  read_part(text.substr(0, colon), text, out.first);
  if (colon == std::string_view::npos) {
    out.last = out.first;
    return out;
  }
  const std::string_view rest = text.substr(colon + 1);
  const std::size_t second = rest.find(':');
  read_part(rest.substr(0, second), text, out.last);
  if (second != std::string_view::npos) read_part(rest.substr(second + 1), text, out.stride);
  if (out.stride < 1) refuse_selection(text);
  return out;
}

std::vector<std::size_t> chosen_frames(const FrameSelection& selection, std::size_t count) {
  require(selection.stride >= 1, "frames: the stride is below 1; expected at least 1");
  const std::size_t first = resolve(selection.first, count), last = resolve(selection.last, count);
  require(first <= last, [&] {
    return fmt::format("frames: first {} comes after last {} (the run holds {}); expected none before the other", first,
                       last, count);
  });
  const auto stride = static_cast<std::size_t>(selection.stride);
  std::vector<std::size_t> out;
  for (std::size_t i = first; i <= last; i += stride) {
    out.push_back(i);
    if (stride > last - i) break;
  }
  return out;
}

const std::vector<std::string>& export_formats() {
  static const std::vector<std::string> names = [] {
    std::vector<std::string> out;
    for (const Format& format : formats()) out.emplace_back(format.name);
    return out;
  }();
  return names;
}

ExportReport export_run(const fs::path& run, const fs::path& output, const ExportOptions& options) {
  validate(options);
  const Format& format = chosen_format(options, output);
  ExportOptions chosen = options;
  chosen.format = format.name;
  const fs::path file = place(run, output, format);
  std::error_code error;
  record::FileList inputs = record::files_of_run(fs::is_directory(run, error) ? run : run.parent_path());
  inputs.push_back(run);
  record::require_outputs({file}, inputs);
  detail::ExportSource source(run, options);
  return {.format = format.name, .frames = source.size(), .files = format.write({source, chosen, file})};
}

namespace detail {

std::vector<std::string> plain_names(std::span<const std::string> names) {
  std::set<std::string> taken;
  std::vector<std::string> out;
  for (const std::string& name : names) {
    std::string plain;
    for (const char c : name) {
      const bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
      plain += letter ? c : '_';
    }
    if (plain.empty() || (plain.front() >= '0' && plain.front() <= '9')) plain.insert(0, "_");
    std::string unique = plain;
    for (int i = 2; !taken.insert(unique).second; ++i) unique = fmt::format("{}_{}", plain, i);
    out.push_back(unique);
  }
  return out;
}

fs::path numbered(const fs::path& output, std::size_t number, std::size_t size) {
  if (size == 1) return output;
  return output.parent_path() / fmt::format("{}_{:04}{}", output.stem().string(), number, output.extension().string());
}

}  // namespace detail
}  // namespace tresse::exporters
