#include <tresse/files/hdf5.hpp>

#include <fmt/format.h>
#include <hdf5.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include <tresse/base/errors.hpp>
#include <tresse/files/atomic_file.hpp>
#include <tresse/files/regular_file.hpp>

namespace tresse::files {
namespace {

/// Everything opened here is closed here. HDF5's clean-up at exit would loop and print over what a damaged file or a
/// full disk left open inside the library. A host program that uses the same HDF5 and leaves files open at exit calls
/// H5close() itself.
void no_cleanup_at_exit() {
  static const herr_t once = H5dont_atexit();
  static_cast<void>(once);
}

/// HDF5 crashes, or ends the process, when it finds no memory. Where there is none the program learns it here.
void require_memory() {
  constexpr std::size_t enough = 2U << 20U;  // for its caches, a chunk and its packing
  ::operator delete(::operator new(enough));
}

/// Turns HDF5's printing off while it lives and restores what the host program had. Notes whether a call failed, also
/// one whose result nobody looks at, such as those of destructors.
class QuietErrors {
 public:
  QuietErrors() {
    require_memory();
    H5Eget_auto2(H5E_DEFAULT, &function_, &data_);
    H5Eset_auto2(H5E_DEFAULT, note, this);
    errno = 0;
  }
  ~QuietErrors() { H5Eset_auto2(H5E_DEFAULT, function_, data_); }
  QuietErrors(const QuietErrors&) = delete;
  QuietErrors& operator=(const QuietErrors&) = delete;

  bool failed() const { return failed_; }
  int error_number() const { return error_number_; }  ///< of the first call that failed; 0 where it was not the system

 private:
  static herr_t note(hid_t /*stack*/, void* data) {
    auto& self = *static_cast<QuietErrors*>(data);
    if (!self.failed_) self.error_number_ = errno;
    self.failed_ = true;
    return 0;
  }

  H5E_auto2_t function_ = nullptr;
  void* data_ = nullptr;
  bool failed_ = false;
  int error_number_ = 0;
};

/// Owns an HDF5 identifier of any kind.
class Handle {
 public:
  explicit Handle(hid_t id) : id_(id) {}
  ~Handle() {
    if (id_ >= 0) H5Idec_ref(id_);
  }
  Handle(Handle&& other) noexcept : id_(std::exchange(other.id_, -1)) {}
  Handle(const Handle&) = delete;
  Handle& operator=(const Handle&) = delete;
  Handle& operator=(Handle&&) = delete;
  operator hid_t() const { return id_; }  // NOLINT(google-explicit-constructor): it stands for one
  bool bad() const { return id_ < 0; }

 private:
  hid_t id_;
};

template <class T>
hid_t native_type();
template <>
hid_t native_type<double>() {
  return H5T_NATIVE_DOUBLE;
}
template <>
hid_t native_type<float>() {
  return H5T_NATIVE_FLOAT;
}
template <>
hid_t native_type<std::int32_t>() {
  return H5T_NATIVE_INT32;
}
template <>
hid_t native_type<std::int64_t>() {
  return H5T_NATIVE_INT64;
}
template <>
hid_t native_type<std::uint64_t>() {
  return H5T_NATIVE_UINT64;
}
template <>
hid_t native_type<std::uint8_t>() {
  return H5T_NATIVE_UINT8;
}

[[noreturn]] void bad_dataset(const std::filesystem::path& file, const std::string& name, const std::string& what) {
  throw InvalidInput(fmt::format("{}: dataset '{}': {}", file.string(), name, what));
}

/// After a call that failed: the file may be good where the system gave a reason.
void require_readable(const std::filesystem::path& file, const std::string& name) {
  if (errno == 0) return;
  throw SystemFailure(fmt::format("{}: cannot read '{}': {}", file.string(), name, std::strerror(errno)));
}

[[noreturn]] void damaged(const std::filesystem::path& file, const std::string& name, const char* what) {
  require_readable(file, name);
  bad_dataset(file, name, what);
}

/// Runs `body`, which writes what is called `name`. Refused when any call of HDF5 in it failed, also in destructors: a
/// dataset that is closed may still have bytes to write.
template <class Body>
void write_by(const std::filesystem::path& file, const std::string& name, const Body& body) {
  const QuietErrors errors;
  body();
  if (!errors.failed()) return;
  const char* why = errors.error_number() != 0 ? std::strerror(errors.error_number()) : "HDF5 refused";
  throw SystemFailure(fmt::format("{}: cannot write '{}': {}", file.string(), name, why));
}

std::vector<hsize_t> extents(const Shape& shape) { return {shape.begin(), shape.end()}; }

Handle make_space(const Shape& shape) {
  if (shape.empty()) return Handle(H5Screate(H5S_SCALAR));
  const std::vector<hsize_t> dims = extents(shape);
  return Handle(H5Screate_simple(static_cast<int>(dims.size()), dims.data(), nullptr));
}

template <class Extents>
std::size_t count_of(const Extents& shape) {
  std::size_t count = 1;
  for (const auto extent : shape) count *= extent;
  return count;
}

/// A file may point at others, of any name on this machine: what it does not hold itself is not read.
bool is_elsewhere(hid_t dataset) {
  const Handle creation(H5Dget_create_plist(dataset));
  return creation.bad() || H5Pget_external_count(creation) != 0 || H5Pget_layout(creation) == H5D_VIRTUAL;
}

bool is_external_link(hid_t file, const std::string& name) {
  H5L_info_t info{};
  return H5Lget_info(file, name.c_str(), &info, H5P_DEFAULT) >= 0 && info.type == H5L_TYPE_EXTERNAL;
}

bool link_exists(hid_t file, const std::filesystem::path& path, const std::string& name) {
  for (std::size_t end = name.find('/', 1);; end = name.find('/', end + 1)) {
    const std::string part = name.substr(0, end);
    if (!part.empty() && part != "/" &&
        (H5Lexists(file, part.c_str(), H5P_DEFAULT) <= 0 || is_external_link(file, part))) {
      require_readable(path, name);
      return false;
    }
    if (end == std::string::npos) return true;
  }
}

/// A dataset opened for reading and what its header says.
struct OpenDataset {
  Handle dataset;
  Handle space;
  Shape shape;
};

/// A damaged header may claim any size: memory is only asked for when the file can hold the values. Deflate packs at
/// most 1032:1.
void check_size(const std::filesystem::path& file, const std::string& name, const OpenDataset& open) {
  constexpr double best_compression = 1100.0;
  double bytes = 1.0;
  for (const std::size_t extent : open.shape) bytes *= static_cast<double>(extent);
  const Handle type(H5Dget_type(open.dataset));
  bytes *= static_cast<double>(H5Tget_size(type));
  if (bytes <= best_compression * (static_cast<double>(H5Dget_storage_size(open.dataset)) + 1024.0)) return;
  bad_dataset(file, name, fmt::format("shape {} is larger than the file can hold", to_string(open.shape)));
}

OpenDataset open_dataset(hid_t file, const std::filesystem::path& path, const std::string& name) {
  if (!link_exists(file, path, name)) bad_dataset(path, name, "missing");
  OpenDataset open{Handle(H5Dopen2(file, name.c_str(), H5P_DEFAULT)), Handle(-1), {}};
  if (open.dataset.bad()) damaged(path, name, "not a dataset, or damaged");
  if (is_elsewhere(open.dataset)) bad_dataset(path, name, "its values are in another file");
  Handle space(H5Dget_space(open.dataset));
  const int rank = space.bad() ? -1 : H5Sget_simple_extent_ndims(space);
  if (rank < 0) damaged(path, name, "damaged shape");
  std::vector<hsize_t> dims(static_cast<std::size_t>(rank));
  H5Sget_simple_extent_dims(space, dims.data(), nullptr);
  OpenDataset out{std::move(open.dataset), std::move(space), {dims.begin(), dims.end()}};
  if (H5Sget_simple_extent_type(out.space) == H5S_NULL) out.shape = {0};
  check_size(path, name, out);
  return out;
}

void require_numbers(const std::filesystem::path& path, const std::string& name, hid_t dataset) {
  const Handle type(H5Dget_type(dataset));
  const H5T_class_t kind = H5Tget_class(type);
  if (kind != H5T_INTEGER && kind != H5T_FLOAT) bad_dataset(path, name, "expected numbers");
}

void require_text(const std::filesystem::path& path, const std::string& name, hid_t type) {
  if (H5Tget_class(type) != H5T_STRING) bad_dataset(path, name, "expected text");
}

std::string trimmed(const char* text, std::size_t size) { return {text, strnlen(text, size)}; }

/// Strings of fixed or variable length, `read(memory_type, buffer)` being H5Dread or H5Aread.
template <class Read>
std::vector<std::string> strings_from(hid_t type, hid_t space, std::size_t count, bool& ok, Read&& read) {
  std::vector<std::string> out;
  ok = true;
  if (count == 0) return out;
  if (H5Tis_variable_str(type) > 0) {
    std::vector<char*> texts(count, nullptr);
    ok = read(type, texts.data()) >= 0;
    for (const char* text : texts) out.emplace_back(ok && text != nullptr ? text : "");
    if (ok) H5Dvlen_reclaim(type, space, H5P_DEFAULT, texts.data());
    return out;
  }
  const std::size_t size = H5Tget_size(type);
  std::vector<char> bytes(count * size);
  ok = read(type, bytes.data()) >= 0;
  for (std::size_t i = 0; ok && i < count; ++i) out.push_back(trimmed(bytes.data() + i * size, size));
  return out;
}

Handle fixed_string_type(std::size_t size) {
  Handle type(H5Tcopy(H5T_C_S1));
  H5Tset_size(type, std::max<std::size_t>(size, 1));
  H5Tset_strpad(type, H5T_STR_NULLPAD);
  H5Tset_cset(type, H5T_CSET_UTF8);
  return type;
}

}  // namespace

std::string to_string(const Shape& shape) { return fmt::format("({})", fmt::join(shape, ", ")); }

// Reading

Hdf5Reader::Hdf5Reader(const std::filesystem::path& file) : path_(file) {
  no_cleanup_at_exit();
  const QuietErrors quiet;
  require_regular_file(file, "an HDF5 file");
  const Handle access(H5Pcreate(H5P_FILE_ACCESS));
  H5Pset_fclose_degree(access, H5F_CLOSE_STRONG);
  errno = 0;
  file_ = H5Fopen(file.c_str(), H5F_ACC_RDONLY, access);
  if (file_ < 0) {
    require_readable(file, "/");
    throw InvalidInput(fmt::format("{}: not an HDF5 file, cut short, or not readable", file.string()));
  }
}

Hdf5Reader::~Hdf5Reader() {
  const QuietErrors quiet;
  if (file_ >= 0) H5Fclose(file_);
}

bool Hdf5Reader::contains(const std::string& name) const {
  const QuietErrors quiet;
  return link_exists(file_, path_, name);
}

std::vector<std::string> Hdf5Reader::children(const std::string& group) const {
  const QuietErrors quiet;
  const Handle handle(H5Gopen2(file_, group.c_str(), H5P_DEFAULT));
  std::vector<std::string> names;
  const auto collect = [](hid_t, const char* name, const H5L_info_t*, void* into) -> herr_t {
    static_cast<std::vector<std::string>*>(into)->emplace_back(name);
    return 0;
  };
  if (handle.bad() || H5Literate(handle, H5_INDEX_NAME, H5_ITER_INC, nullptr, collect, &names) < 0) {
    require_readable(path_, group);
    throw InvalidInput(fmt::format("{}: group '{}': missing or damaged", path_.string(), group));
  }
  return names;
}

Shape Hdf5Reader::shape(const std::string& dataset) const {
  const QuietErrors quiet;
  return open_dataset(file_, path_, dataset).shape;
}

template <class T>
std::vector<T> Hdf5Reader::read(const std::string& dataset) const {
  const QuietErrors quiet;
  const OpenDataset open = open_dataset(file_, path_, dataset);
  require_numbers(path_, dataset, open.dataset);
  std::vector<T> values(count_of(open.shape));
  if (!values.empty() && H5Dread(open.dataset, native_type<T>(), H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data()) < 0) {
    damaged(path_, dataset, "damaged values");
  }
  return values;
}

template <class T>
std::vector<T> Hdf5Reader::read(const std::string& dataset, const Shape& expected) const {
  const Shape found = shape(dataset);
  if (found != expected) {
    bad_dataset(path_, dataset, fmt::format("shape {}, expected {}", to_string(found), to_string(expected)));
  }
  return read<T>(dataset);
}

template <class T>
std::vector<T> Hdf5Reader::read_rows(const std::string& dataset, std::size_t first, std::size_t count) const {
  const QuietErrors quiet;
  const OpenDataset open = open_dataset(file_, path_, dataset);
  require_numbers(path_, dataset, open.dataset);
  if (open.shape.empty() || first > open.shape[0] || count > open.shape[0] - first) {
    bad_dataset(path_, dataset,
                fmt::format("shape {} has no rows {} to {}", to_string(open.shape), first, first + count));
  }
  std::vector<hsize_t> begin(open.shape.size(), 0);
  std::vector<hsize_t> size = extents(open.shape);
  begin[0] = first;
  size[0] = count;
  std::vector<T> values(count_of(size));
  if (values.empty()) return values;
  H5Sselect_hyperslab(open.space, H5S_SELECT_SET, begin.data(), nullptr, size.data(), nullptr);
  const Handle memory(H5Screate_simple(static_cast<int>(size.size()), size.data(), nullptr));
  if (H5Dread(open.dataset, native_type<T>(), memory, open.space, H5P_DEFAULT, values.data()) < 0) {
    damaged(path_, dataset, "damaged values");
  }
  return values;
}

template <class T>
T Hdf5Reader::read_scalar(const std::string& dataset) const {
  const std::vector<T> values = read<T>(dataset);
  if (values.size() != 1) bad_dataset(path_, dataset, fmt::format("{} values, expected one", values.size()));
  return values[0];
}

std::string Hdf5Reader::read_string(const std::string& dataset) const {
  const std::vector<std::string> texts = read_strings(dataset);
  if (texts.size() != 1) bad_dataset(path_, dataset, fmt::format("{} texts, expected one", texts.size()));
  return texts[0];
}

std::vector<std::string> Hdf5Reader::read_strings(const std::string& dataset) const {
  const QuietErrors quiet;
  const OpenDataset open = open_dataset(file_, path_, dataset);
  const Handle type(H5Dget_type(open.dataset));
  require_text(path_, dataset, type);
  bool ok = true;
  auto texts = strings_from(type, open.space, count_of(open.shape), ok, [&](hid_t memory_type, void* into) {
    return H5Dread(open.dataset, memory_type, H5S_ALL, H5S_ALL, H5P_DEFAULT, into);
  });
  if (!ok) damaged(path_, dataset, "damaged values");
  return texts;
}

bool Hdf5Reader::has(const std::string& object) const {
  const QuietErrors quiet;
  return link_exists(file_, path_, object);
}

bool Hdf5Reader::has_attribute(const std::string& object, const std::string& name) const {
  const QuietErrors quiet;
  if (!link_exists(file_, path_, object)) return false;
  const htri_t found = H5Aexists_by_name(file_, object.c_str(), name.c_str(), H5P_DEFAULT);
  if (found < 0) require_readable(path_, object + "@" + name);
  return found > 0;
}

std::string Hdf5Reader::string_attribute(const std::string& object, const std::string& name) const {
  const std::string label = object + "@" + name;
  if (!has_attribute(object, name)) bad_dataset(path_, label, "missing");
  const QuietErrors quiet;
  const Handle attribute(H5Aopen_by_name(file_, object.c_str(), name.c_str(), H5P_DEFAULT, H5P_DEFAULT));
  const Handle type(H5Aget_type(attribute));
  const Handle space(H5Aget_space(attribute));
  if (attribute.bad() || type.bad() || space.bad()) damaged(path_, label, "damaged");
  require_text(path_, label, type);
  if (H5Sget_simple_extent_npoints(space) != 1) bad_dataset(path_, label, "expected one text");
  bool ok = true;
  const auto texts = strings_from(type, space, 1, ok,
                                  [&](hid_t memory_type, void* into) { return H5Aread(attribute, memory_type, into); });
  if (!ok) damaged(path_, label, "damaged");
  return texts[0];
}

// Writing

Hdf5Writer::Hdf5Writer(Hdf5Writer&& other) noexcept
    : path_(std::move(other.path_)), file_(std::exchange(other.file_, -1)) {}

Hdf5Writer::~Hdf5Writer() {
  const QuietErrors quiet;
  if (file_ >= 0) H5Fclose(file_);
}

namespace {
/// The groups along a dataset's name, without the times that HDF5 stores when it makes them by itself.
void make_groups(hid_t file, const std::string& dataset) {
  const Handle creation(H5Pcreate(H5P_GROUP_CREATE));
  H5Pset_obj_track_times(creation, false);
  for (std::size_t end = dataset.find('/', 1); end != std::string::npos; end = dataset.find('/', end + 1)) {
    const std::string group = dataset.substr(0, end);
    if (H5Lexists(file, group.c_str(), H5P_DEFAULT) > 0) continue;
    const Handle handle(H5Gcreate2(file, group.c_str(), H5P_DEFAULT, creation, H5P_DEFAULT));
  }
}

Handle make_dataset(hid_t file, const std::string& dataset, hid_t type, const Shape& shape, const Hdf5Layout& layout) {
  make_groups(file, dataset);
  const Handle creation(H5Pcreate(H5P_DATASET_CREATE));
  H5Pset_obj_track_times(creation, false);
  if (!layout.chunk.empty() && count_of(shape) > 0) {
    std::vector<hsize_t> chunk = extents(layout.chunk);
    H5Pset_chunk(creation, static_cast<int>(chunk.size()), chunk.data());
    if (layout.gzip > 0) {
      H5Pset_shuffle(creation);
      H5Pset_deflate(creation, static_cast<unsigned>(layout.gzip));
    }
  }
  const Handle space = make_space(shape);
  return Handle(H5Dcreate2(file, dataset.c_str(), type, space, H5P_DEFAULT, creation, H5P_DEFAULT));
}

std::int64_t create_file(const std::filesystem::path& path) {
  no_cleanup_at_exit();
  std::int64_t file = -1;
  write_by(path, "/", [&] {
    const Handle access(H5Pcreate(H5P_FILE_ACCESS));
    H5Pset_fclose_degree(access, H5F_CLOSE_STRONG);
    // This format has a checksum on every piece of metadata: damage is found before it is believed.
    H5Pset_libver_bounds(access, H5F_LIBVER_V110, H5F_LIBVER_V110);
    const Handle creation(H5Pcreate(H5P_FILE_CREATE));
    H5Pset_obj_track_times(creation, false);
    file = H5Fcreate(path.c_str(), H5F_ACC_TRUNC, creation, access);
  });
  return file;
}
}  // namespace

Hdf5Writer::Hdf5Writer(std::filesystem::path path) : path_(std::move(path)), file_(create_file(path_)) {}

template <class T>
void Hdf5Writer::write(const std::string& dataset, const T* values, const Shape& shape, const Hdf5Layout& layout) {
  write_by(path_, dataset, [&] {
    const Handle handle = make_dataset(file_, dataset, native_type<T>(), shape, layout);
    if (count_of(shape) > 0) H5Dwrite(handle, native_type<T>(), H5S_ALL, H5S_ALL, H5P_DEFAULT, values);
  });
}

template <class T>
void Hdf5Writer::create(const std::string& dataset, const Shape& shape, const Hdf5Layout& layout) {
  write_by(path_, dataset, [&] { make_dataset(file_, dataset, native_type<T>(), shape, layout); });
}

template <class T>
void Hdf5Writer::write_rows(const std::string& dataset, std::size_t first, std::size_t count, const T* values) {
  write_by(path_, dataset, [&] {
    const Handle handle(H5Dopen2(file_, dataset.c_str(), H5P_DEFAULT));
    const Handle space(H5Dget_space(handle));
    std::vector<hsize_t> size(static_cast<std::size_t>(std::max(H5Sget_simple_extent_ndims(space), 1)));
    H5Sget_simple_extent_dims(space, size.data(), nullptr);
    std::vector<hsize_t> begin(size.size(), 0);
    begin[0] = first;
    size[0] = count;
    if (count_of(size) == 0) return;
    const Handle memory(H5Screate_simple(static_cast<int>(size.size()), size.data(), nullptr));
    H5Sselect_hyperslab(space, H5S_SELECT_SET, begin.data(), nullptr, size.data(), nullptr);
    H5Dwrite(handle, native_type<T>(), memory, space, H5P_DEFAULT, values);
  });
}

void Hdf5Writer::write_fixed_strings(const std::string& dataset, const std::vector<std::string>& texts,
                                     const Shape& shape) {
  std::size_t size = 1;
  for (const std::string& text : texts) size = std::max(size, text.size());
  std::vector<char> bytes(texts.size() * size, '\0');
  for (std::size_t i = 0; i < texts.size(); ++i) std::copy(texts[i].begin(), texts[i].end(), &bytes[i * size]);
  write_by(path_, dataset, [&] {
    const Handle type = fixed_string_type(size);
    const Handle handle = make_dataset(file_, dataset, type, shape, {});
    if (!texts.empty()) H5Dwrite(handle, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, bytes.data());
  });
}

void Hdf5Writer::write_string(const std::string& dataset, const std::string& text) {
  write_fixed_strings(dataset, {text}, {});
}

void Hdf5Writer::write_strings(const std::string& dataset, const std::vector<std::string>& texts) {
  write_fixed_strings(dataset, texts, {texts.size()});
}

namespace {
/// `count` 0: a scalar.
void put_attribute(hid_t file, const std::string& object, const std::string& name, hid_t type, const void* value,
                   std::size_t count = 0) {
  const hsize_t extent = count;
  const Handle space(count == 0 ? H5Screate(H5S_SCALAR) : H5Screate_simple(1, &extent, nullptr));
  const Handle attribute(
      H5Acreate_by_name(file, object.c_str(), name.c_str(), type, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
  H5Awrite(attribute, type, value);
}
}  // namespace

void Hdf5Writer::attribute(const std::string& object, const std::string& name, const std::string& text) {
  write_by(path_, object + "@" + name, [&] {
    const Handle type = fixed_string_type(text.size());
    put_attribute(file_, object, name, type, text.c_str());
  });
}

void Hdf5Writer::attribute(const std::string& object, const std::string& name, double value) {
  write_by(path_, object + "@" + name, [&] { put_attribute(file_, object, name, H5T_NATIVE_DOUBLE, &value); });
}

void Hdf5Writer::attribute(const std::string& object, const std::string& name, std::int64_t value) {
  write_by(path_, object + "@" + name, [&] { put_attribute(file_, object, name, H5T_NATIVE_INT64, &value); });
}

void Hdf5Writer::attribute(const std::string& object, const std::string& name,
                           const std::vector<std::int64_t>& values) {
  write_by(path_, object + "@" + name,
           [&] { put_attribute(file_, object, name, H5T_NATIVE_INT64, values.data(), values.size()); });
}

void Hdf5Writer::ascii_attribute(const std::string& object, const std::string& name, const std::string& text) {
  write_by(path_, object + "@" + name, [&] {
    const Handle type(H5Tcopy(H5T_C_S1));
    H5Tset_size(type, std::max<std::size_t>(text.size(), 1));
    H5Tset_strpad(type, H5T_STR_NULLPAD);
    put_attribute(file_, object, name, type, text.c_str());
  });
}

void Hdf5Writer::close() {
  if (file_ < 0) return;
  write_by(path_, "/", [&] {
    H5Fflush(file_, H5F_SCOPE_GLOBAL);
    H5Fclose(std::exchange(file_, -1));
  });
}

#define TRESSE_HDF5_TYPE(T)                                                                             \
  template std::vector<T> Hdf5Reader::read<T>(const std::string&) const;                                \
  template std::vector<T> Hdf5Reader::read<T>(const std::string&, const Shape&) const;                  \
  template std::vector<T> Hdf5Reader::read_rows<T>(const std::string&, std::size_t, std::size_t) const; \
  template T Hdf5Reader::read_scalar<T>(const std::string&) const;                                      \
  template void Hdf5Writer::write<T>(const std::string&, const T*, const Shape&, const Hdf5Layout&);    \
  template void Hdf5Writer::create<T>(const std::string&, const Shape&, const Hdf5Layout&);             \
  template void Hdf5Writer::write_rows<T>(const std::string&, std::size_t, std::size_t, const T*);
TRESSE_HDF5_TYPE(double)
TRESSE_HDF5_TYPE(float)
TRESSE_HDF5_TYPE(std::int32_t)
TRESSE_HDF5_TYPE(std::int64_t)
TRESSE_HDF5_TYPE(std::uint64_t)
TRESSE_HDF5_TYPE(std::uint8_t)
#undef TRESSE_HDF5_TYPE

void write_hdf5(const std::filesystem::path& file, const std::function<void(Hdf5Writer&)>& fill,
                const std::function<void(const std::filesystem::path&)>& check) {
  Replacement place(file);
  {
    Hdf5Writer out(place.temporary());
    fill(out);
    out.close();
  }
  if (check) check(place.temporary());
  place.commit();
}

}  // namespace tresse::files
