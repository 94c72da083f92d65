#include <tresse/record/trajectory_log.hpp>

#include <fmt/format.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <optional>
#include <string_view>
#include <type_traits>
#include <utility>

#include <tresse/base/errors.hpp>
#include <tresse/files/regular_file.hpp>
#include <tresse/observe/frame_arrays.hpp>

namespace tresse::record {
namespace {

constexpr std::string_view file_mark = "tresse trajectory log 1\n";
constexpr std::uint32_t record_mark = 0x4d525254U;  // "TRRM"

enum class Kind : std::uint32_t { layout = 1, frame = 2 };

/// Stands before every record.
struct RecordHeader {
  std::uint32_t mark = record_mark;
  Kind kind = Kind::frame;
  std::uint64_t size = 0;      ///< of the payload [bytes]
  std::uint64_t contacts = 0;  ///< of a frame
  std::uint32_t payload_crc = 0;
  std::uint32_t header_crc = 0;  ///< of the fields above
};
static_assert(sizeof(RecordHeader) == 32 && std::is_trivially_copyable_v<RecordHeader>);

template <class T>
std::string_view bytes_of(const T* values, std::size_t count) {
  return {reinterpret_cast<const char*>(values), count * sizeof(T)};
}

std::uint32_t crc_of(const RecordHeader& header) {
  return files::crc32(bytes_of(&header, 1).substr(0, offsetof(RecordHeader, header_crc)));
}

template <class T>
char type_code() {
  if constexpr (std::is_same_v<T, double>) return 'd';
  if constexpr (std::is_same_v<T, std::int64_t>) return 'l';
  if constexpr (std::is_same_v<T, std::int32_t>) return 'i';
  if constexpr (std::is_same_v<T, std::uint8_t>) return 'b';
  if constexpr (std::is_same_v<T, char>) return 's';
}

/// Appends named arrays: length of the name (1 byte), name, type (1), number of values (8), values.
struct Encoder {
  std::string& out;

  template <class T>
  void put(const char* name, const T* values, std::size_t count) {
    const std::string_view text(name);
    out.push_back(static_cast<char>(text.size()));
    out.append(text);
    out.push_back(type_code<T>());
    const std::uint64_t size = count;
    out.append(bytes_of(&size, 1));
    if (count > 0) out.append(bytes_of(values, count));
  }
  template <class T>
  void operator()(const observe::Field& field, const std::vector<T>& array) {
    put(field.name, array.data(), array.size());
  }
  void text(const char* name, const std::string& value) { put(name, value.data(), value.size()); }
  void texts(const char* name, const std::vector<std::string>& values) {
    std::string joined;  // each ended by a NUL: a name holds none
    for (const std::string& value : values) joined.append(value).push_back('\0');
    text(name, joined);
  }
};

/// The inverse; `good` turns false at the first mismatch.
struct Decoder {
  std::string_view in;
  bool good = true;

  /// Whether the name of the next array begins so.
  bool begins_with(std::string_view text) const { return !in.empty() && in.substr(1).starts_with(text); }
  template <class Array>
  void get(const char* name, Array& array) {
    using T = typename Array::value_type;
    const std::string_view text(name);
    const std::size_t head = 2 + text.size() + sizeof(std::uint64_t);
    good = good && in.size() >= head && static_cast<unsigned char>(in[0]) == text.size() &&
           in.substr(1, text.size()) == text && in[1 + text.size()] == type_code<T>();
    std::uint64_t count = 0;
    if (good) std::memcpy(&count, in.data() + 2 + text.size(), sizeof(count));
    good = good && count <= (in.size() - head) / sizeof(T);
    if (!good) return;
    array.resize(count);
    if (count > 0) std::memcpy(array.data(), in.data() + head, count * sizeof(T));
    in.remove_prefix(head + count * sizeof(T));
  }
  template <class T>
  void operator()(const observe::Field& field, std::vector<T>& array) {
    if (in.empty() && observe::of_meshes(field)) return;
    get(field.name, array);
  }
  void texts(const char* name, std::vector<std::string>& values) {
    std::string joined;
    get(name, joined);
    values.clear();
    for (std::size_t begin = 0; begin < joined.size(); begin += values.back().size() + 1) {
      values.emplace_back(joined.c_str() + begin);
    }
  }
};

std::string encoded(const observe::TrajectoryLayout& layout) {
  std::string out;
  Encoder encoder{out};
  encoder.text("scene", layout.scene);
  encoder.text("version", layout.version);
  encoder.texts("fibres/group_names", layout.group_names);
  encoder.texts("obstacles/names", layout.obstacle_names);
  observe::for_each_array(layout, encoder);
  if (layout.surface_count() > 0) {
    encoder.texts("surfaces/names", layout.surface_names);
    observe::for_each_surface_array(layout, encoder);
  }
  if (layout.has_grains()) observe::for_each_grain_array(layout, encoder);
  return out;
}

bool decode(std::string_view payload, observe::TrajectoryLayout& layout) {
  Decoder decoder{payload};
  decoder.get("scene", layout.scene);
  decoder.get("version", layout.version);
  decoder.texts("fibres/group_names", layout.group_names);
  decoder.texts("obstacles/names", layout.obstacle_names);
  observe::for_each_array(layout, decoder);
  if (decoder.begins_with("surfaces/")) {
    decoder.texts("surfaces/names", layout.surface_names);
    observe::for_each_surface_array(layout, decoder);
  }
  if (!decoder.in.empty()) observe::for_each_grain_array(layout, decoder);
  return decoder.good && decoder.in.empty();
}

void encode(const observe::Frame& frame, std::string& out) {
  out.clear();
  Encoder encoder{out};
  encoder.put("time", &frame.time, 1);
  encoder.put("step", &frame.step, 1);
  observe::for_each_array_of_frame(frame, encoder);
  if (!frame.surface_vertex.empty())
    encoder.put("surfaces/vertices", frame.surface_vertex.data(), frame.surface_vertex.size());
  if (!frame.grain_velocity.empty()) observe::for_each_grain_array_of_frame(frame, encoder);
}

bool decode(std::string_view payload, observe::Frame& frame) {
  Decoder decoder{payload};
  std::vector<double> time;
  std::vector<std::int64_t> step;
  decoder.get("time", time);
  decoder.get("step", step);
  observe::for_each_array_of_frame(frame, decoder);
  frame.surface_vertex.clear();
  if (decoder.begins_with("surfaces/")) decoder.get("surfaces/vertices", frame.surface_vertex);
  observe::for_each_grain_array_of_frame(frame, [](const observe::Field&, auto& array) { array.clear(); });
  if (!decoder.in.empty()) observe::for_each_grain_array_of_frame(frame, decoder);
  if (!decoder.good || !decoder.in.empty() || time.size() != 1 || step.size() != 1) return false;
  frame.time = time[0];
  frame.step = step[0];
  return true;
}

RecordHeader header_of(Kind kind, const std::string& payload, std::size_t contacts) {
  RecordHeader header{.kind = kind, .size = payload.size(), .contacts = contacts, .payload_crc = files::crc32(payload)};
  header.header_crc = crc_of(header);
  return header;
}

[[noreturn]] void damaged(const std::filesystem::path& file, std::uint64_t offset) {
  throw InvalidInput(fmt::format("{}: damaged or cut short at byte {}", file.string(), offset));
}

/// Reads as many bytes, or fewer where the file ends.
void read_bytes(std::ifstream& in, const std::filesystem::path& path, char* into, std::size_t count) {
  errno = 0;
  in.read(into, static_cast<std::streamsize>(count));
  if (in.bad()) throw SystemFailure(fmt::format("{}: cannot read: {}", path.string(), std::strerror(errno)));
}

/// Reads the header at the stream's place; nothing where it is not one, or where the file of `size` bytes ends before
/// its record.
std::optional<RecordHeader> read_header(std::ifstream& in, const std::filesystem::path& path, std::uint64_t size) {
  const auto offset = static_cast<std::uint64_t>(in.tellg());
  RecordHeader header;
  read_bytes(in, path, reinterpret_cast<char*>(&header), sizeof(header));
  if (!in || header.mark != record_mark || header.header_crc != crc_of(header)) return {};
  if (header.size > size - offset - sizeof(header)) return {};
  return header;
}

/// The time of the frame whose payload begins at the stream's place, its first array; unchecked by any checksum.
std::optional<double> read_time(std::ifstream& in, const std::filesystem::path& path) {
  constexpr std::size_t length = 1 + std::string_view("time").size() + 1 + sizeof(std::uint64_t) + sizeof(double);
  std::string begin(length, '\0');
  read_bytes(in, path, begin.data(), length);
  Decoder decoder{std::string_view(begin).substr(0, static_cast<std::size_t>(in.gcount()))};
  std::vector<double> time;
  decoder.get("time", time);
  return decoder.good && time.size() == 1 ? std::optional(time[0]) : std::nullopt;
}

RecordHeader read_record(std::ifstream& in, const std::filesystem::path& path, std::uint64_t size,
                         std::string& payload) {
  const auto offset = static_cast<std::uint64_t>(in.tellg());
  const auto header = read_header(in, path, size);
  if (!header) damaged(path, offset);
  payload.resize(header->size);
  read_bytes(in, path, payload.data(), payload.size());
  if (!in || files::crc32(payload) != header->payload_crc) damaged(path, offset);
  return *header;
}

}  // namespace

TrajectoryLogWriter TrajectoryLogWriter::create(files::AppendFile file, const observe::TrajectoryLayout& layout) {
  observe::validate(layout);
  TrajectoryLogWriter writer(std::move(file));
  const std::string payload = encoded(layout);
  const RecordHeader header = header_of(Kind::layout, payload, 0);
  writer.file_.append(file_mark);
  writer.file_.append(bytes_of(&header, 1));
  writer.file_.append(payload);
  writer.flush();  // whoever follows the run begins with it
  return writer;
}

TrajectoryLogWriter TrajectoryLogWriter::resume(const std::filesystem::path& file,
                                                const observe::TrajectoryLayout& layout, std::uint64_t length) {
  TrajectoryLogWriter writer(files::AppendFile::reopen(file, length));
  observe::TrajectoryLayout written = TrajectoryLogReader(file).layout();
  written.version = layout.version;  // a newer version may go on; whoever resumes has said so
  if (!(written == layout)) {
    throw InvalidInput(fmt::format("{}: made for other fibres or obstacles", file.string()));
  }
  return writer;
}

void TrajectoryLogWriter::append(const observe::Frame& frame) {
  encode(frame, record_);
  const RecordHeader header = header_of(Kind::frame, record_, frame.contact_count());
  record_.insert(0, bytes_of(&header, 1));
  file_.append(record_);
}

TrajectoryLogReader::TrajectoryLogReader(const std::filesystem::path& file, LogEnd end) : path_(file) {
  files::require_regular_file(file, "a trajectory log");
  std::error_code error;
  size_ = std::filesystem::file_size(file, error);
  in_.open(file, std::ios::binary);
  if (error || !in_) throw InvalidInput(fmt::format("{}: cannot be read", file.string()));
  std::array<char, file_mark.size()> mark{};
  read_bytes(in_, path_, mark.data(), mark.size());
  if (!in_ || std::string_view(mark.data(), mark.size()) != file_mark) {
    throw InvalidInput(fmt::format("{}: not a trajectory log", file.string()));
  }
  const RecordHeader header = read_record(in_, path_, size_, payload_);
  if (header.kind != Kind::layout || !decode(payload_, layout_)) damaged(path_, file_mark.size());
  try {
    observe::validate(layout_);
  } catch (const InvalidInput& bad) {
    throw InvalidInput(fmt::format("{}: {}", file.string(), bad.what()));
  }
  payload_ = {};  // that of the layout may be far larger than a frame's
  count_records(static_cast<std::uint64_t>(in_.tellg()), end);
}

bool TrajectoryLogReader::grow() {
  std::error_code error;
  const std::uint64_t size = std::filesystem::file_size(path_, error);
  if (error || size < size_) return false;
  const std::uint64_t begin = std::exchange(size_, size);
  if (size > begin) count_records(begin, LogEnd::open);
  return true;
}

void TrajectoryLogReader::count_records(std::uint64_t begin, LogEnd end) {
  in_.clear();
  in_.seekg(static_cast<std::streamoff>(begin));
  for (std::uint64_t offset = begin; offset < size_;) {
    const auto header = read_header(in_, path_, size_);
    const auto time = header && header->kind == Kind::frame ? read_time(in_, path_) : std::nullopt;
    if (!time) {
      if (end == LogEnd::whole) damaged(path_, offset);
      size_ = offset;
      break;
    }
    offsets_.push_back(offset);
    times_.push_back(*time);
    contacts_ += header->contacts;
    offset += sizeof(RecordHeader) + header->size;
    in_.seekg(static_cast<std::streamoff>(offset));
  }
  in_.clear();
  in_.seekg(static_cast<std::streamoff>(begin));
}

observe::Frame TrajectoryLogReader::frame(std::size_t index) {
  if (index >= offsets_.size()) {
    throw InvalidInput(fmt::format("{}: frame {} of {}", path_.string(), index, offsets_.size()));
  }
  in_.clear();
  in_.seekg(static_cast<std::streamoff>(offsets_[index]));
  observe::Frame out;
  next(out);
  return out;
}

bool TrajectoryLogReader::next(observe::Frame& frame) {
  const auto offset = static_cast<std::uint64_t>(in_.tellg());
  if (offset >= size_) return false;
  const RecordHeader header = read_record(in_, path_, size_, payload_);
  if (!decode(payload_, frame) || frame.contact_count() != header.contacts) damaged(path_, offset);
  observe::validate(frame, layout_);
  return true;
}

}  // namespace tresse::record
