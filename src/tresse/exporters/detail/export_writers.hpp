#pragma once

#include <filesystem>
#include <iterator>
#include <span>
#include <string>
#include <vector>

#include <fmt/format.h>

#include <tresse/exporters/detail/export_source.hpp>

/// One function a format, and what they share.
namespace tresse::exporters::detail {

struct ExportJob {
  ExportSource& source;
  const ExportOptions& options;
  const std::filesystem::path& output;
};

using Files = std::vector<std::filesystem::path>;

Files export_csv(const ExportJob& job);
Files export_obj(const ExportJob& job);
Files export_usda(const ExportJob& job);
Files export_gltf(const ExportJob& job);
/// XML files (.vtp) beside a collection (.pvd), or HDF5 files (.vtkhdf) beside series.
Files export_vtk(const ExportJob& job);

/// Shortest text that reads back as the same number in single precision.
inline void append_float(std::string& out, double value) {
  fmt::format_to(std::back_inserter(out), "{}", static_cast<float>(value));
}

/// Names made of letters, digits and '_' alone, not starting with a digit, all different.
std::vector<std::string> plain_names(std::span<const std::string> names);

/// `output` with "_0007" before its extension: frame `number` of a sequence. As it is when `size` is 1.
std::filesystem::path numbered(const std::filesystem::path& output, std::size_t number, std::size_t size);

/// Whether the fibre of a contact is in the run.
inline bool has_fibre(const observe::TrajectoryLayout& layout, std::int32_t fibre) {
  return fibre >= 0 && static_cast<std::size_t>(fibre) < layout.fibre_count();
}

}  // namespace tresse::exporters::detail
