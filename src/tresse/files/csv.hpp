#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

/// Rows of comma-separated values. Numbers carry 17 significant digits, so that reading them gives back the same bits.
namespace tresse::files {

/// Appends `value` as printf's %.17g; "nan", "inf" and "-inf" where not finite.
void append_number(std::string& out, double value);

/// Appends `text`, quoted where it holds a comma, a quote or a line end.
void append_text(std::string& out, std::string_view text);

/// The fields of a line, without its end, as append_text() wrote them; other programs separate them by other marks.
std::vector<std::string> row_fields(std::string_view line, char separator = ',');

/// Length in bytes of the header and the first `rows` rows of a file without quoted line ends.
/// @throws InvalidInput when the header is another or the rows are fewer.
std::uint64_t length_of_rows(const std::filesystem::path& file, std::string_view header, std::uint64_t rows);

}  // namespace tresse::files
