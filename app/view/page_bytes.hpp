#pragma once

#include <string>
#include <string_view>

/// How buffers are packed in a page that stands alone. The page unpacks them in viewer/src/data/embedded.ts.
namespace tresse::app::view {

/// A frame's buffer whose centreline points are rounded to multiples of `spacing` [m] and stored as the second
/// differences of these integers along all points, int32 axis by axis; the spacing stands in the header's last number,
/// as float32. As it is where a point is not finite or too far away.
std::string with_packed_points(std::string frame, double spacing);

/// Float32 numbers with 12 binary digits behind the point.
std::string rounded_floats(std::string numbers);

/// Of 4-byte numbers all first bytes, then all second ones, and so on: like bytes side by side pack better.
std::string shuffled(std::string_view numbers);

std::string zipped(std::string_view bytes);  ///< gzip
std::string base64(std::string_view bytes);

}  // namespace tresse::app::view
