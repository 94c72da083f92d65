#pragma once

#include <string>
#include <string_view>

#include <tresse/io/polyline_file.hpp>

/// One reader a format; rows are checked by read_polylines(). `name` is that of the file, for messages.
namespace tresse::io::detail {

Polylines read_hair(std::string_view bytes, const std::string& name);
Polylines read_obj_lines(std::string_view text, const std::string& name);
Polylines read_csv_lines(std::string_view text, const std::string& name, int frame);
Polylines read_usda_curves(std::string_view text, const std::string& name, int frame);

/// A number of the whole of `word`. @throws InvalidInput "name:line: ...".
double read_number(std::string_view word, const std::string& name, std::size_t line);

}  // namespace tresse::io::detail
