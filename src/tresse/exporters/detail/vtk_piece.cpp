#include <tresse/exporters/detail/vtk_piece.hpp>

#include <fmt/format.h>

#include <bit>
#include <cstring>
#include <string_view>

#include <tresse/files/atomic_file.hpp>
#include <tresse/files/hdf5.hpp>

namespace tresse::exporters::detail {
namespace {

static_assert(std::endian::native == std::endian::little, "the files say that they are little-endian");

template <class T>
constexpr std::string_view vtk_type() {
  if constexpr (std::is_same_v<T, float>) return "Float32";
  if constexpr (std::is_same_v<T, std::int32_t>) return "Int32";
  return "Int64";
}

/// The XML that describes arrays, and the bytes that they refer to.
struct Appended {
  std::string xml;
  std::string bytes;

  template <class T>
  void add(std::string_view name, int components, const std::vector<T>& values) {
    xml += fmt::format(R"(<DataArray type="{}" Name="{}" NumberOfComponents="{}" format="appended" offset="{}"/>)",
                       vtk_type<T>(), name, components, bytes.size());
    xml += '\n';
    const std::uint64_t size = values.size() * sizeof(T);
    bytes.append(reinterpret_cast<const char*>(&size), sizeof size);
    bytes.append(reinterpret_cast<const char*>(values.data()), size);
  }
  void add(const VtkArray& array) {
    std::visit([&](const auto& values) { add(array.name, array.components, values); }, array.values);
  }
};

std::string_view section_of(VtkPiece::Cell cell) {
  switch (cell) {
    case VtkPiece::Cell::vertex:
      return "Verts";
    case VtkPiece::Cell::polyline:
      return "Lines";
    case VtkPiece::Cell::triangle:
      break;
  }
  return "Polys";
}

void write_data(files::Hdf5Writer& file, const std::string& group, const std::vector<VtkArray>& arrays) {
  for (const VtkArray& array : arrays) {
    std::visit(
        [&](const auto& values) {
          const auto components = static_cast<std::size_t>(array.components);
          files::Shape shape{values.size() / components};
          if (components > 1) shape.push_back(components);
          file.write("VTKHDF/" + group + "/" + array.name, values.data(), shape);
        },
        array.values);
  }
}

}  // namespace

void write_vtp(const std::filesystem::path& file, const VtkPiece& piece) {
  Appended data;
  const auto section = [&](std::string_view name, const auto& fill) {
    data.xml += fmt::format("<{}>\n", name);
    fill();
    data.xml += fmt::format("</{}>\n", name);
  };
  section("Points", [&] { data.add("Points", 3, piece.points); });
  section(section_of(piece.cell), [&] {
    data.add("connectivity", 1, piece.connectivity);
    data.add("offsets", 1, piece.ends);
  });
  section("PointData", [&] {
    for (const VtkArray& array : piece.point_data) data.add(array);
  });
  section("CellData", [&] {
    for (const VtkArray& array : piece.cell_data) data.add(array);
  });
  std::string out = fmt::format(
      "<?xml version=\"1.0\"?>\n"
      "<VTKFile type=\"PolyData\" version=\"1.0\" byte_order=\"LittleEndian\" header_type=\"UInt64\">\n<PolyData>\n"
      "<FieldData>\n<DataArray type=\"Float64\" Name=\"TimeValue\" NumberOfTuples=\"1\" format=\"ascii\">{}"
      "</DataArray>\n</FieldData>\n<Piece NumberOfPoints=\"{}\" NumberOf{}=\"{}\">\n",
      piece.time, piece.points.size() / 3, section_of(piece.cell), piece.ends.size());
  out += data.xml + "</Piece>\n</PolyData>\n<AppendedData encoding=\"raw\">\n_";
  out += data.bytes + "\n</AppendedData>\n</VTKFile>\n";
  files::write_atomically(file, out);
}

void write_vtkhdf(const std::filesystem::path& file, const VtkPiece& piece) {
  files::write_hdf5(file, [&](files::Hdf5Writer& out) {
    const auto count = [](std::size_t n) { return std::vector<std::int64_t>{static_cast<std::int64_t>(n)}; };
    out.write("VTKHDF/NumberOfPoints", count(piece.points.size() / 3));
    out.write("VTKHDF/NumberOfCells", count(piece.ends.size()));
    out.write("VTKHDF/NumberOfConnectivityIds", count(piece.connectivity.size()));
    out.write("VTKHDF/Points", piece.points.data(), {piece.points.size() / 3, 3});
    out.write("VTKHDF/Connectivity", piece.connectivity);
    std::vector<std::int64_t> offsets{0};
    offsets.insert(offsets.end(), piece.ends.begin(), piece.ends.end());
    out.write("VTKHDF/Offsets", offsets);
    out.write("VTKHDF/Types", std::vector<std::uint8_t>(piece.ends.size(), static_cast<std::uint8_t>(piece.cell)));
    write_data(out, "PointData", piece.point_data);
    write_data(out, "CellData", piece.cell_data);
    out.write("VTKHDF/FieldData/TimeValue", std::vector<double>{piece.time});
    out.attribute("VTKHDF", "Version", std::vector<std::int64_t>{1, 0});
    out.ascii_attribute("VTKHDF", "Type", "UnstructuredGrid");
  });
}

}  // namespace tresse::exporters::detail
