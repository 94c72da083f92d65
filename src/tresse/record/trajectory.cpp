#include <tresse/record/trajectory.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include <tresse/base/errors.hpp>
#include <tresse/files/atomic_file.hpp>
#include <tresse/observe/frame_arrays.hpp>
#include <tresse/record/trajectory_log.hpp>

namespace tresse::record {
namespace {

constexpr const char* format_name = "tresse trajectory";
constexpr std::int64_t format_version = 1;
constexpr std::size_t chunk_bytes = 64U << 10U;
constexpr int gzip_level = 1;  // higher ones take several times longer for a few per cent

void describe(files::Hdf5Writer& file, const observe::Field& field) {
  if (*field.unit != '\0') file.attribute(field.name, "unit", field.unit);
  if (*field.meaning != '\0') file.attribute(field.name, "meaning", field.meaning);
}

files::Shape joined(files::Shape head, const files::Shape& tail) {
  head.insert(head.end(), tail.begin(), tail.end());
  return head;
}

template <class T>
std::uint32_t crc_of(const std::vector<T>& values, std::uint32_t crc) {
  return files::crc32({reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T)}, crc);
}

void require_same(const files::Hdf5Reader& file, const std::string& name, bool same) {
  if (same) return;
  throw SystemFailure(
      fmt::format("{}: '{}' does not read back as it was written; the old file stands", file.path().string(), name));
}

/// Rows of one dataset on their way to the file, a chunk at a time: HDF5 then packs every chunk once.
class Column {
 public:
  template <class T>
  void open(files::Hdf5Writer& file, const observe::Field& field, const files::Shape& shape) {
    name_ = field.name;
    row_ = 1;
    for (std::size_t i = 1; i < shape.size(); ++i) row_ *= shape[i];
    const std::size_t row_bytes = std::max<std::size_t>(row_ * sizeof(T), 1);
    rows_ = std::clamp<std::size_t>(chunk_bytes / row_bytes, 1, std::max<std::size_t>(shape[0], 1));
    files::Shape chunk = shape;
    chunk[0] = rows_;
    file.create<T>(name_, shape, {.chunk = chunk, .gzip = gzip_level});
    describe(file, field);
  }

  template <class T>
  void add(files::Hdf5Writer& file, const std::vector<T>& values) {
    if (row_ == 0 || values.empty()) return;
    const auto* bytes = reinterpret_cast<const std::byte*>(values.data());
    crc_ = crc_of(values, crc_);
    pending_.insert(pending_.end(), bytes, bytes + values.size() * sizeof(T));
    const std::size_t ready = pending_.size() / (row_ * sizeof(T)) / rows_ * rows_;
    if (ready > 0) write<T>(file, ready);
  }

  template <class T>
  void finish(files::Hdf5Writer& file) {
    if (!pending_.empty()) write<T>(file, pending_.size() / (row_ * sizeof(T)));
  }

  /// Compares what is in the file with what was given.
  template <class T>
  void read_back(const files::Hdf5Reader& file) const {
    std::uint32_t found = 0;
    const std::size_t block = 16 * rows_;  // each call opens the dataset anew
    for (std::size_t first = 0; first < written_; first += block)
      found = crc_of(file.read_rows<T>(name_, first, std::min(block, written_ - first)), found);
    require_same(file, name_, found == crc_);
  }

 private:
  template <class T>
  void write(files::Hdf5Writer& file, std::size_t rows) {
    const std::size_t size = rows * row_ * sizeof(T);
    // From new[]: aligned for every T.
    file.write_rows<T>(name_, written_, rows, reinterpret_cast<const T*>(pending_.data()));
    pending_.erase(pending_.begin(), pending_.begin() + static_cast<std::ptrdiff_t>(size));
    written_ += rows;
  }

  std::string name_;
  std::size_t row_ = 1;      ///< values in a row
  std::size_t rows_ = 1;     ///< rows in a chunk
  std::size_t written_ = 0;  ///< rows
  std::uint32_t crc_ = 0;    ///< of all that was added
  std::vector<std::byte> pending_;
};

void write_layout(files::Hdf5Writer& file, const observe::TrajectoryLayout& layout) {
  file.attribute("/", "format", format_name);
  file.attribute("/", "format_version", format_version);
  file.attribute("/", "version", layout.version);
  file.write_string("scene", layout.scene);
  file.write_strings("fibres/group_names", layout.group_names);
  file.write_strings("obstacles/names", layout.obstacle_names);
  const auto write = [&]<class T>(const observe::Field& field, const std::vector<T>& array) {
    file.write(field.name, array.data(), joined({array.size() / observe::width(field)}, field.inner));
    describe(file, field);
  };
  observe::for_each_array(layout, write);
  if (layout.has_grains()) observe::for_each_grain_array(layout, write);
  if (layout.surface_count() == 0) return;
  file.write_strings("surfaces/names", layout.surface_names);
  observe::for_each_surface_array(layout, write);
}

/// The vertices of one surface, frame after frame.
observe::Field vertices_field(const std::string& name) {
  return {name.c_str(), observe::Per::surface, {3}, "m", "of the surface"};
}
std::string vertices_name(const observe::TrajectoryLayout& layout, std::size_t surface) {
  return "surfaces/" + layout.surface_names[surface] + "/vertices";
}

/// What was written of the frames, so as to know it again.
struct Written {
  std::vector<Column> surfaces;  ///< (surfaces) their vertices
  std::vector<Column> columns;   ///< in the order of the arrays of a frame
  std::vector<Column> grains;    ///< likewise of those about grains; empty without any
  std::vector<double> times;
  std::vector<std::int64_t> steps;
  std::vector<std::int64_t> offsets = {0};
};

Written write_frames(files::Hdf5Writer& file, const observe::TrajectoryLayout& layout, std::uint64_t frames,
                     std::uint64_t contacts, const std::function<void(observe::Frame&)>& next) {
  Written out;
  observe::Frame frame;
  observe::for_each_array_of_frame(frame, [&]<class T>(const observe::Field& field, const std::vector<T>&) {
    const files::Shape head =
        field.per == observe::Per::contact ? files::Shape{contacts} : files::Shape{frames, rows(field.per, layout, 0)};
    out.columns.emplace_back().open<T>(file, field, joined(head, field.inner));
  });
  for (std::size_t i = 0; i < layout.surface_count(); ++i) {
    const std::string name = vertices_name(layout, i);
    out.surfaces.emplace_back().open<double>(file, vertices_field(name),
                                             {frames, static_cast<std::size_t>(layout.surface_vertices[i]), 3});
  }
  if (layout.has_grains()) {
    observe::for_each_grain_array_of_frame(frame, [&]<class T>(const observe::Field& field, const std::vector<T>&) {
      out.grains.emplace_back().open<T>(file, field, joined({frames, rows(field.per, layout, 0)}, field.inner));
    });
  }
  for (std::uint64_t i = 0; i < frames; ++i) {
    next(frame);
    observe::validate(frame, layout);
    out.times.push_back(frame.time);
    out.steps.push_back(frame.step);
    out.offsets.push_back(out.offsets.back() + static_cast<std::int64_t>(frame.contact_count()));
    auto column = out.columns.begin();
    observe::for_each_array_of_frame(
        frame, [&]<class T>(const observe::Field&, const std::vector<T>& array) { (column++)->add(file, array); });
    auto grains = out.grains.begin();
    observe::for_each_grain_array_of_frame(frame, [&]<class T>(const observe::Field&, const std::vector<T>& array) {
      if (grains != out.grains.end()) (grains++)->add(file, array);
    });
    auto vertex = frame.surface_vertex.cbegin();
    for (std::size_t s = 0; s < layout.surface_count(); ++s) {
      const auto end = vertex + 3 * layout.surface_vertices[s];
      out.surfaces[s].add(file, std::vector<double>(vertex, end));
      vertex = end;
    }
  }
  require(out.offsets.back() == static_cast<std::int64_t>(contacts),
          "trajectory: frames hold another number of contacts than announced");
  auto column = out.columns.begin();
  observe::for_each_array_of_frame(
      frame, [&]<class T>(const observe::Field&, const std::vector<T>&) { (column++)->template finish<T>(file); });
  for (Column& one : out.surfaces) one.finish<double>(file);
  for (Column& one : out.grains) one.finish<double>(file);
  file.write("time", out.times);
  file.attribute("time", "unit", "s");
  file.write("step", out.steps);
  file.write("contacts/frame_offsets", out.offsets);
  file.attribute("contacts/frame_offsets", "meaning", "contacts of frame i: from entry i to entry i + 1");
  return out;
}

/// Before anything that it replaces goes.
void read_back(const std::filesystem::path& file, const observe::TrajectoryLayout& layout, const Written& written) {
  const TrajectoryReader trajectory(file);
  const files::Hdf5Reader in(file);
  require_same(in, "scene", trajectory.layout() == layout);
  require_same(in, "time", trajectory.times() == written.times);
  require_same(in, "step", in.read<std::int64_t>("step") == written.steps);
  require_same(in, "contacts/frame_offsets", in.read<std::int64_t>("contacts/frame_offsets") == written.offsets);
  auto column = written.columns.begin();
  const observe::Frame types;
  observe::for_each_array_of_frame(
      types, [&]<class T>(const observe::Field&, const std::vector<T>&) { (column++)->template read_back<T>(in); });
  for (const Column& one : written.surfaces) one.read_back<double>(in);
  for (const Column& one : written.grains) one.read_back<double>(in);
}

}  // namespace

void write_trajectory(const std::filesystem::path& file, const observe::TrajectoryLayout& layout, std::uint64_t frames,
                      std::uint64_t contacts, const std::function<void(observe::Frame&)>& next) {
  observe::validate(layout);
  Written written;
  files::write_hdf5(
      file,
      [&](files::Hdf5Writer& writer) {
        write_layout(writer, layout);
        written = write_frames(writer, layout, frames, contacts, next);
      },
      [&](const std::filesystem::path& whole) { read_back(whole, layout, written); });
}

void write_trajectory(const std::filesystem::path& file, const observe::TrajectoryLayout& layout,
                      const std::vector<observe::Frame>& frames) {
  std::uint64_t contacts = 0;
  for (const observe::Frame& frame : frames) contacts += frame.contact_count();
  auto at = frames.begin();
  write_trajectory(file, layout, frames.size(), contacts, [&](observe::Frame& frame) { frame = *at++; });
}

void write_trajectory_from_log(const std::filesystem::path& file, const std::filesystem::path& log) {
  TrajectoryLogReader reader(log);
  write_trajectory(file, reader.layout(), reader.frame_count(), reader.contact_total(), [&](observe::Frame& frame) {
    require(reader.next(frame), "trajectory log: fewer frames than counted");
  });
}

TrajectoryReader::TrajectoryReader(const std::filesystem::path& file) : file_(file) {
  if (!file_.has_attribute("/", "format") || file_.string_attribute("/", "format") != format_name) {
    throw InvalidInput(fmt::format("{}: not a trajectory of tresse", file.string()));
  }
  layout_.version = file_.string_attribute("/", "version");
  layout_.scene = file_.read_string("scene");
  layout_.group_names = file_.read_strings("fibres/group_names");
  layout_.obstacle_names = file_.read_strings("obstacles/names");
  const bool meshes = file_.has("obstacles/meshes");
  observe::for_each_array(layout_, [&]<class T>(const observe::Field& field, std::vector<T>& array) {
    if (meshes || !observe::of_meshes(field)) array = file_.read<T>(field.name);
  });
  if (file_.has("surfaces")) {
    layout_.surface_names = file_.read_strings("surfaces/names");
    observe::for_each_surface_array(layout_, [&]<class T>(const observe::Field& field, std::vector<T>& array) {
      array = file_.read<T>(field.name);
    });
  }
  if (file_.has("grains")) {
    observe::for_each_grain_array(layout_, [&]<class T>(const observe::Field& field, std::vector<T>& array) {
      array = file_.read<T>(field.name);
    });
  }
  times_ = file_.read<double>("time");
  steps_ = file_.read<std::int64_t>("step", {times_.size()});
  contact_offsets_ = file_.read<std::int64_t>("contacts/frame_offsets", {times_.size() + 1});
  const bool rising = std::is_sorted(contact_offsets_.begin(), contact_offsets_.end()) && contact_offsets_.front() == 0;
  try {
    require(rising, "trajectory: 'contacts/frame_offsets' must rise from 0");
    observe::validate(layout_);
  } catch (const InvalidInput& error) {
    throw InvalidInput(fmt::format("{}: {}", file.string(), error.what()));
  }
}

observe::Frame TrajectoryReader::frame(std::size_t index) const {
  if (index >= frame_count()) {
    throw InvalidInput(fmt::format("{}: frame {} of {}", file_.path().string(), index, frame_count()));
  }
  observe::Frame out;
  out.time = times_[index];
  out.step = steps_[index];
  const auto first = static_cast<std::size_t>(contact_offsets_[index]);
  const std::size_t contacts = static_cast<std::size_t>(contact_offsets_[index + 1]) - first;
  observe::for_each_array_of_frame(out, [&]<class T>(const observe::Field& field, std::vector<T>& array) {
    const bool contact = field.per == observe::Per::contact;
    array = file_.read_rows<T>(field.name, contact ? first : index, contact ? contacts : 1);
  });
  for (std::size_t i = 0; i < layout_.surface_count(); ++i) {
    const std::vector<double> vertices = file_.read_rows<double>(vertices_name(layout_, i), index, 1);
    out.surface_vertex.insert(out.surface_vertex.end(), vertices.begin(), vertices.end());
  }
  if (layout_.has_grains()) {
    observe::for_each_grain_array_of_frame(out, [&]<class T>(const observe::Field& field, std::vector<T>& array) {
      array = file_.read_rows<T>(field.name, index, 1);
    });
  }
  try {
    observe::validate(out, layout_);
  } catch (const InvalidInput& error) {
    throw InvalidInput(fmt::format("{}: frame {}: {}", file_.path().string(), index, error.what()));
  }
  return out;
}

}  // namespace tresse::record
