#include <tresse/scene_file/detail/strand_fits.hpp>

#include <array>
#include <atomic>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include <tresse/base/blocks.hpp>
#include <tresse/base/errors.hpp>
#include <tresse/files/kept_results.hpp>
#include <tresse/scene_file/scene_file.hpp>

namespace tresse::scene_file {
namespace {
std::atomic<std::size_t> fits_done = 0;
std::atomic<std::size_t> fits_asked = 0;
}  // namespace

FitCount fit_count() noexcept { return {fits_done, fits_asked}; }

namespace detail {
namespace {

double polyline_length(const std::vector<Vector3>& row) {
  double out = 0.0;
  for (std::size_t p = 1; p < row.size(); ++p) out += (row[p] - row[p - 1]).norm();
  return out;
}

StrandFit fit(const std::vector<Vector3>& row, const FitOrder& order) {
  rods::FitOptions options = order.options;
  if (options.elements == 0 && options.tolerance == 0.0) options.tolerance = 1e-3 * polyline_length(row);
  try {
    return {order.polygon ? rods::fit_polygon(row, options) : rods::fit_curve(row, options), options.tolerance, {}};
  } catch (const InvalidInput& error) {
    return {{}, options.tolerance, error.what()};
  }
}

template <typename T>
void put(std::string& out, const T& value) {
  static_assert(std::is_arithmetic_v<T>);
  std::array<char, sizeof value> bytes;
  std::memcpy(bytes.data(), &value, bytes.size());
  out.append(bytes.data(), bytes.size());
}

void put_count(std::string& out, std::size_t count) { put(out, static_cast<std::uint64_t>(count)); }

void put_numbers(std::string& out, const double* numbers, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) put(out, numbers[i]);
}

/// Takes values from the front of bytes; `good` until there are too few.
struct Bytes {
  std::string_view rest;
  bool good = true;

  template <typename T>
  void take(T& value) {
    good = good && rest.size() >= sizeof value;
    if (!good) return;
    std::memcpy(&value, rest.data(), sizeof value);
    rest.remove_prefix(sizeof value);
  }
  void take_numbers(double* numbers, std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) take(numbers[i]);
  }
  /// Of what takes so many bytes each; 0 where fewer are left.
  std::size_t take_count(std::size_t bytes_each) {
    std::uint64_t count = 0;
    take(count);
    good = good && count <= rest.size() / bytes_each;
    return good ? static_cast<std::size_t>(count) : 0;
  }
};

void put_fit(std::string& out, const StrandFit& fit) {
  const rods::FittedCurve& curve = fit.curve;
  put_numbers(out, curve.root.position.data(), 3);
  put_numbers(out, curve.root.frame.data(), 9);
  put_count(out, curve.lengths.size());
  put_numbers(out, curve.lengths.data(), curve.lengths.size());
  put_count(out, curve.curvature.size());
  for (const Vector3& curvature : curve.curvature) put_numbers(out, curvature.data(), 3);
  for (const double value :
       {curve.largest_distance, curve.mean_distance, curve.deviation, curve.length_ratio, fit.tolerance})
    put(out, value);
  put(out, static_cast<std::int32_t>(curve.status));
  put_count(out, fit.refused.size());
  out += fit.refused;
}

StrandFit take_fit(Bytes& bytes) {
  StrandFit fit;
  rods::FittedCurve& curve = fit.curve;
  bytes.take_numbers(curve.root.position.data(), 3);
  bytes.take_numbers(curve.root.frame.data(), 9);
  curve.lengths.resize(bytes.take_count(sizeof(double)));
  bytes.take_numbers(curve.lengths.data(), curve.lengths.size());
  curve.curvature.resize(bytes.take_count(3 * sizeof(double)));
  for (Vector3& curvature : curve.curvature) bytes.take_numbers(curvature.data(), 3);
  for (double* value :
       {&curve.largest_distance, &curve.mean_distance, &curve.deviation, &curve.length_ratio, &fit.tolerance})
    bytes.take(*value);
  std::int32_t status = 0;
  bytes.take(status);
  bytes.good = bytes.good && status >= 0 && status <= static_cast<std::int32_t>(Status::not_finite);
  if (bytes.good) curve.status = static_cast<Status>(status);
  const std::size_t refused = bytes.take_count(1);
  fit.refused = bytes.rest.substr(0, refused);
  bytes.rest.remove_prefix(refused);
  return fit;
}

}  // namespace

std::string order_bytes(const FitOrder& order) {
  const rods::FitOptions& options = order.options;
  std::string out = "fits of strands\n";
  put(out, order.polygon);
  put(out, options.affine);
  put(out, options.elements);
  put(out, options.tolerance);
  put_count(out, options.parts.size());
  put_numbers(out, options.parts.data(), options.parts.size());
  put(out, options.clamped_root);
  put(out, options.max_iterations);
  put_count(out, order.rows.size());
  for (const std::vector<Vector3>& row : order.rows) {
    put_count(out, row.size());
    for (const Vector3& point : row) put_numbers(out, point.data(), 3);
  }
  return out;
}

std::string fit_bytes(const std::vector<StrandFit>& fits) {
  std::string out;
  for (const StrandFit& fit : fits) put_fit(out, fit);
  return out;
}

std::optional<std::vector<StrandFit>> read_fit_bytes(std::string_view bytes, std::size_t count) {
  std::vector<StrandFit> out;
  Bytes from{bytes};
  for (std::size_t i = 0; i < count && from.good; ++i) out.push_back(take_fit(from));
  if (!from.good || !from.rest.empty()) return std::nullopt;
  return out;
}

std::vector<StrandFit> fit_strands(const FitOrder& order) {
  const std::size_t count = order.rows.size();
  const std::string input = order_bytes(order);
  if (const std::optional<std::string> kept = files::kept_result(input)) {
    if (std::optional<std::vector<StrandFit>> fits = read_fit_bytes(*kept, count)) return std::move(*fits);
  }
  fits_done = 0;
  fits_asked = count;
  std::vector<StrandFit> out(count);
  for_blocks(count, std::size_t{1}, [&](std::size_t, std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) out[i] = fit(order.rows[i], order);
    fits_done += end - begin;
  });
  files::keep_result(input, fit_bytes(out));
  return out;
}

}  // namespace detail
}  // namespace tresse::scene_file
