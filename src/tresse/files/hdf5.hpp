#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

/// HDF5 files through a few typed calls. Bad files throw InvalidInput, refused writes SystemFailure; either with one
/// line that names the file and the dataset. HDF5's own error messages stay off. One thread at a time.
namespace tresse::files {

using Shape = std::vector<std::size_t>;  ///< extents, outermost first; empty: a scalar

/// "(3, 4)".
std::string to_string(const Shape& shape);

/// Element types of the calls below: double, float, std::int32_t, std::int64_t, std::uint64_t, std::uint8_t.
/// Numbers are converted on reading where the file's type differs.
class Hdf5Reader {
 public:
  explicit Hdf5Reader(const std::filesystem::path& file);
  ~Hdf5Reader();
  Hdf5Reader(const Hdf5Reader&) = delete;
  Hdf5Reader& operator=(const Hdf5Reader&) = delete;

  const std::filesystem::path& path() const { return path_; }
  bool contains(const std::string& name) const;                       ///< a group or dataset, e.g. "fclib_local/W/x"
  std::vector<std::string> children(const std::string& group) const;  ///< sorted by name
  Shape shape(const std::string& dataset) const;

  /// All values, row-major.
  template <class T>
  std::vector<T> read(const std::string& dataset) const;
  /// The same, refused unless the dataset has the shape `expected`.
  template <class T>
  std::vector<T> read(const std::string& dataset, const Shape& expected) const;
  /// Rows [first, first + count) of the outermost extent.
  template <class T>
  std::vector<T> read_rows(const std::string& dataset, std::size_t first, std::size_t count) const;
  /// The value of a dataset that holds just one, whatever its rank.
  template <class T>
  T read_scalar(const std::string& dataset) const;

  std::string read_string(const std::string& dataset) const;
  std::vector<std::string> read_strings(const std::string& dataset) const;  ///< one-dimensional

  bool has(const std::string& object) const;  ///< a dataset or group
  bool has_attribute(const std::string& object, const std::string& name) const;
  std::string string_attribute(const std::string& object, const std::string& name) const;

 private:
  std::filesystem::path path_;
  std::int64_t file_ = -1;
};

/// How a dataset is stored.
struct Hdf5Layout {
  Shape chunk;   ///< as many extents as the dataset, each >= 1; empty: contiguous
  int gzip = 0;  ///< 0: none, to 9; needs a chunk; bytes are shuffled first
};

/// A new file, deterministic: the same calls leave the same bytes. Groups along a dataset's name are created when
/// missing. Every call throws when something of its own or of an earlier call could not be written.
class Hdf5Writer {
 public:
  /// Replaces the file, which is whole only after close().
  explicit Hdf5Writer(std::filesystem::path path);
  ~Hdf5Writer();
  Hdf5Writer(Hdf5Writer&& other) noexcept;
  Hdf5Writer& operator=(Hdf5Writer&&) = delete;
  Hdf5Writer(const Hdf5Writer&) = delete;
  Hdf5Writer& operator=(const Hdf5Writer&) = delete;

  /// Writes prod(shape) values, row-major.
  template <class T>
  void write(const std::string& dataset, const T* values, const Shape& shape, const Hdf5Layout& layout = {});
  template <class T>
  void write(const std::string& dataset, const std::vector<T>& values, const Hdf5Layout& layout = {}) {
    write(dataset, values.data(), {values.size()}, layout);
  }
  template <class T>
  void write_scalar(const std::string& dataset, const T& value) {
    write(dataset, &value, {});
  }

  /// A dataset to be filled by write_rows.
  template <class T>
  void create(const std::string& dataset, const Shape& shape, const Hdf5Layout& layout = {});
  /// Rows [first, first + count) of the outermost extent of a dataset created before.
  template <class T>
  void write_rows(const std::string& dataset, std::size_t first, std::size_t count, const T* values);

  /// UTF-8, stored with fixed length (numpy bytes).
  void write_string(const std::string& dataset, const std::string& text);
  void write_strings(const std::string& dataset, const std::vector<std::string>& texts);

  void attribute(const std::string& object, const std::string& name, const std::string& text);
  void attribute(const std::string& object, const std::string& name, double value);
  void attribute(const std::string& object, const std::string& name, std::int64_t value);
  void attribute(const std::string& object, const std::string& name, const std::vector<std::int64_t>& values);
  /// Text in ASCII, for readers that know no other.
  void ascii_attribute(const std::string& object, const std::string& name, const std::string& text);

  void close();  ///< flushes and closes; nothing can be written afterwards

 private:
  void write_fixed_strings(const std::string& dataset, const std::vector<std::string>& texts, const Shape& shape);

  std::filesystem::path path_;
  std::int64_t file_ = -1;
};

/// Replaces `file` whole by what fill(writer) writes: until then, and when it throws, the old file stands. `check` may
/// look at the new file before it takes its place, and throw.
void write_hdf5(const std::filesystem::path& file, const std::function<void(Hdf5Writer&)>& fill,
                const std::function<void(const std::filesystem::path&)>& check = {});

}  // namespace tresse::files
