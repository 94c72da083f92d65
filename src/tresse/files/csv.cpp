#include <tresse/files/csv.hpp>

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <cmath>
#include <cstring>
#include <fstream>

#include <tresse/base/errors.hpp>
#include <tresse/files/regular_file.hpp>

namespace tresse::files {

void append_number(std::string& out, double value) {
  if (!std::isfinite(value)) {
    out += std::isnan(value) ? "nan" : value > 0.0 ? "inf" : "-inf";
    return;
  }
  if (value == 0.0) {  // most of a row without contact
    out += std::signbit(value) ? "-0" : "0";
    return;
  }
  std::array<char, 32> digits;  // sign, 17 digits, point, e-308
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), value, std::chars_format::general, 17);
  out.append(digits.data(), end.ptr);
}

void append_text(std::string& out, std::string_view text) {
  if (text.find_first_of(",\"\n\r") == std::string_view::npos) {
    out += text;
    return;
  }
  out += '"';
  for (const char c : text) {
    if (c == '"') out += '"';
    out += c;
  }
  out += '"';
}

std::vector<std::string> row_fields(std::string_view line, char separator) {
  std::vector<std::string> fields(1);
  bool quoted = false;
  for (std::size_t i = 0; i < line.size(); ++i) {
    const char c = line[i];
    if (c == '"' && quoted && i + 1 < line.size() && line[i + 1] == '"') {
      fields.back().push_back('"');
      ++i;
    } else if (c == '"') {
      quoted = !quoted;
    } else if (c == separator && !quoted) {
      fields.emplace_back();
    } else {
      fields.back().push_back(c);
    }
  }
  return fields;
}

std::uint64_t length_of_rows(const std::filesystem::path& file, std::string_view header, std::uint64_t rows) {
  require_regular_file(file, "a table");
  std::ifstream in(file, std::ios::binary);
  if (!in) throw InvalidInput(fmt::format("{}: cannot be read", file.string()));
  std::string first(header.size(), '\0');
  in.read(first.data(), static_cast<std::streamsize>(first.size()));
  if (!in || first != header) {
    throw InvalidInput(
        fmt::format("{}: its first line is not '{}'", file.string(), header.substr(0, header.size() - 1)));
  }
  std::uint64_t length = header.size();
  std::uint64_t found = 0;
  std::vector<char> block(1U << 20U);
  while (found < rows && in) {
    in.read(block.data(), static_cast<std::streamsize>(block.size()));
    const char* const end = block.data() + in.gcount();
    const char* at = block.data();
    while (found < rows && at < end) {
      const void* line_end = std::memchr(at, '\n', static_cast<std::size_t>(end - at));
      if (line_end == nullptr) break;
      at = static_cast<const char*>(line_end) + 1;
      ++found;
    }
    length += static_cast<std::uint64_t>((found < rows ? end : at) - block.data());
  }
  if (found < rows) throw InvalidInput(fmt::format("{}: {} rows, expected at least {}", file.string(), found, rows));
  return length;
}

}  // namespace tresse::files
