#include <filesystem>
#include <functional>
#include <iterator>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <tresse/base/errors.hpp>
#include <tresse/files/atomic_file.hpp>
#include <tresse/importers/mesh_file.hpp>
#include <tresse/importers/polyline_file.hpp>

/// Files that the fuzzers start from (tests/data/fuzz_seeds), cut after every byte and with every byte changed: each is
/// read or refused in one line. The bytes are in a block of their own length, so that the address sanitizer sees a look
/// past their end.
namespace tresse::record {
namespace TRESSE_TEST_FILE {

using Reader = std::function<void(std::string_view, const std::filesystem::path&)>;

void read_as_polylines(std::string_view bytes, const std::filesystem::path& file) {
  EXPECT_FALSE(importers::parse_polylines(bytes, file).rows.empty());
}

void read_as_mesh(std::string_view bytes, const std::filesystem::path& file) {
  const std::string name = file.filename().string();
  const importers::MeshData mesh = file.extension() == ".obj"   ? importers::parse_obj(bytes, name)
                                   : file.extension() == ".ply" ? importers::parse_ply(bytes, name)
                                                                : importers::parse_gltf(bytes, name, {});
  EXPECT_FALSE(mesh.faces.empty());
}

/// Whether the bytes were read; refused otherwise.
bool reads(const Reader& reader, const std::vector<char>& bytes, const std::filesystem::path& file) {
  try {
    reader({bytes.data(), bytes.size()}, file);
    return true;
  } catch (const InvalidInput& error) {
    EXPECT_EQ(std::string(error.what()).find('\n'), std::string::npos) << error.what();
    return false;
  }
}

void expect_read_or_refused(const char* folder, const Reader& reader) {
  int files = 0;
  for (const auto& entry :
       std::filesystem::directory_iterator(std::filesystem::path(TRESSE_TEST_DATA) / "fuzz_seeds" / folder)) {
    SCOPED_TRACE(entry.path().filename());
    const std::string whole = files::read_file(entry.path());
    const bool cut = entry.path().stem().string().starts_with("cut_");
    EXPECT_NE(reads(reader, {whole.begin(), whole.end()}, entry.path()), cut);
    for (std::size_t length = 0; length < whole.size(); ++length)
      reads(reader, {whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(length)}, entry.path());
    for (std::size_t place = 0; place < whole.size(); ++place) {
      for (const char c : {'\0', '\\', '"', '(', '-', '9', '\n', '\xff'}) {
        std::vector<char> bytes(whole.begin(), whole.end());
        bytes[place] = c;
        reads(reader, bytes, entry.path());
      }
    }
    ++files;
  }
  EXPECT_GE(files, 3);
}

TEST(DamagedFiles, OfPolylinesAreReadOrRefused) { expect_read_or_refused("polyline_fuzz", read_as_polylines); }

TEST(DamagedFiles, OfMeshesAreReadOrRefused) { expect_read_or_refused("mesh_fuzz", read_as_mesh); }

}  // namespace TRESSE_TEST_FILE
}  // namespace tresse::record
