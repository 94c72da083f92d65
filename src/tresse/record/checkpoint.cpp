#include <tresse/record/checkpoint.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include <tresse/base/errors.hpp>
#include <tresse/files/atomic_file.hpp>
#include <tresse/files/hdf5.hpp>
#include <tresse/observe/frame.hpp>
#include <tresse/scene/limits.hpp>

namespace tresse::record {
namespace {

constexpr const char* checkpoint_format = "tresse checkpoint";
constexpr std::int64_t checkpoint_version = 1;
constexpr std::size_t key_size = 4;  // body and element of a, of b

template <class T>
std::uint32_t checksum(const std::vector<T>& values, std::uint32_t crc) {
  return files::crc32({reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T)}, crc);
}

/// visit(name, member) for every number of the tally and the position; both are structs of doubles and 64-bit integers.
template <class AnyCheckpoint, class Visit>
void for_each_number(AnyCheckpoint& x, Visit&& visit) {
  visit("tally/steps", x.tally.steps);
  visit("tally/time", x.tally.time);
  visit("tally/contacts_total", x.tally.contacts_total);
  visit("tally/contacts_max", x.tally.contacts_max);
  visit("tally/worst_residual", x.tally.worst_residual);
  visit("tally/worst_residual_step", x.tally.worst_residual_step);
  visit("tally/missed_steps", x.tally.missed_steps);
  visit("tally/worst_penetration", x.tally.worst_penetration);
  visit("tally/worst_penetration_step", x.tally.worst_penetration_step);
  visit("tally/not_finite_step", x.tally.not_finite_step);
  visit("tally/first_gravity", x.tally.first_gravity);
  visit("tally/energy_scale", x.tally.energy_scale);
  visit("tally/lowest_energy", x.tally.lowest_energy);
  visit("tally/worst_rise", x.tally.worst_rise);
  visit("tally/worst_rise_step", x.tally.worst_rise_step);
  visit("position/step_rows", x.position.step_rows);
  visit("position/force_rows", x.position.force_rows);
  visit("position/frames", x.position.frames);
  visit("position/log_bytes", x.position.log_bytes);
  visit("state/step", x.state.step);
  visit("state/work_external", x.state.work_external);
}

/// The same for numbers that checkpoints of earlier versions do not have: they stay zero.
template <class AnyCheckpoint, class Visit>
void for_each_later_number(AnyCheckpoint& x, Visit&& visit) {
  visit("tally/worst_nonlinear_residual", x.tally.worst_nonlinear_residual);
  visit("tally/worst_excess", x.tally.worst_excess);
  visit("tally/worst_excess_step", x.tally.worst_excess_step);
  visit("state/energy_excess", x.state.energy_excess);
  visit("tally/least_gap", x.tally.least_gap);
  visit("state/least_gap", x.state.least_gap);
  visit("tally/worst_grain_residual", x.tally.worst_grain_residual);
  visit("tally/worst_grain_residual_step", x.tally.worst_grain_residual_step);
  visit("tally/missed_grain_steps", x.tally.missed_grain_steps);
  visit("tally/missed_apart", x.tally.missed_apart);
  visit("tally/worst_cloth_residual", x.tally.worst_cloth_residual);
  visit("tally/worst_cloth_residual_step", x.tally.worst_cloth_residual_step);
  visit("tally/missed_cloth_steps", x.tally.missed_cloth_steps);
}

/// So do these.
constexpr const char* watch_name = "tally/watch";
constexpr const char* remarks_name = "position/remarks";
constexpr std::size_t watch_width = 8;

/// (kinds, 8): the fields of a TroubleTally in turn. Counts are exact in a double.
template <class AnyTally, class Visit>
void for_each_count(AnyTally& tally, Visit&& visit) {
  for (auto& count : tally.watch) {
    visit(count.steps);
    visit(count.first_step);
    visit(count.last_step);
    visit(count.in_a_row);
    visit(count.told);
    visit(count.worst);
    visit(count.worst_step);
    visit(count.advised);
  }
}

/// An earlier version knew fewer kinds, or fields.
std::vector<double> of_this_version(const std::vector<double>& watched, const files::Shape& shape) {
  std::vector<double> out(observe::trouble_count * watch_width, 0.0);
  const std::size_t width = shape.size() == 2 ? shape[1] : 0;
  for (std::size_t kind = 0; width > 0 && kind < std::min<std::size_t>(shape[0], observe::trouble_count); ++kind) {
    const auto row = watched.begin() + static_cast<std::ptrdiff_t>(kind * width);
    std::copy_n(row, std::min(width, watch_width), out.begin() + static_cast<std::ptrdiff_t>(kind * watch_width));
  }
  return out;
}

/// A SimulationState as flat arrays, row-major. n rods, m curvatures over all of them, w warm contacts.
struct FlatState {
  std::vector<double> root_position;            // (n, 3)
  std::vector<double> root_frame;               // (n, 3, 3)
  std::vector<double> root_velocity;            // (n, 3)
  std::vector<double> root_angular_velocity;    // (n, 3)
  std::vector<std::int64_t> curvature_offsets;  // (n + 1)
  std::vector<double> curvature;                // (m)
  std::vector<double> curvature_rate;           // (m)
  std::vector<std::int64_t> memory_offsets;     // (n + 1), empty when no rod has a memory
  std::vector<double> memory;
  std::vector<double> body_position;          // (b, 3) of the free bodies
  std::vector<double> body_frame;             // (b, 3, 3)
  std::vector<double> body_velocity;          // (b, 3)
  std::vector<double> body_angular_velocity;  // (b, 3)
  std::vector<std::int32_t> warm_key;         // (w, 4) body and element of a, of b
  std::vector<double> warm_abscissa;          // (w, 2)
  std::vector<double> warm_force;             // (w, 3)
  std::vector<std::int32_t> warm_sticks;      // (w) 0 or 1
  std::vector<double> warm_slip;              // (w, 3) 0 of what does not stick
  std::vector<std::int32_t> warm_slides;      // (w) 1: it slid; empty where none did
  std::vector<std::int32_t> warm_keeps;       // (w) 1: it keeps a gap; empty where none does
  std::vector<double> warm_kept_gap;          // (w) 0 of what keeps none; empty where none does
  std::vector<double> hold_force;             // (holds, 3)
  // Empty without surfaces.
  std::vector<std::int64_t> surface_position_offsets;  // (surfaces + 1)
  std::vector<double> surface_position;
  std::vector<std::int64_t> surface_velocity_offsets;  // (surfaces + 1)
  std::vector<double> surface_velocity;
  // Empty without grains.
  std::vector<double> grain_velocity;  // (nodes, 3)
  std::vector<double> grain_stress;
  std::vector<double> grain_outflow;  // (1)
  // Empty without a fluid.
  std::vector<double> fluid_densities;         // (nodes, 3)
  std::vector<double> fluid_densities_before;  // (nodes, 3)
  std::vector<double> fluid_force;             // (dof of all fibres)
  std::vector<double> fluid_force_before;      // (dof of all fibres)
  std::vector<double> fluid_factored_at;       // (nodes, 3)
  std::vector<double> fluid_numbers;           // (2) length of the last part, iterations
};

/// Of models with a memory, free bodies, holds, surfaces, grains, a fluid, and contacts that slide with another
/// friction, alone; what sticks, not of earlier versions.
bool optional(std::string_view name) {
  return name.starts_with("state/memory") || name.starts_with("state/bodies") || name.starts_with("state/holds") ||
         name.starts_with("state/fluid") || name.starts_with("state/surfaces") || name.starts_with("state/grains") ||
         name == "state/warm/sticks" || name == "state/warm/slip" || name == "state/warm/slides" ||
         name == "state/warm/keeps" || name == "state/warm/kept_gap";
}

/// visit(name, extents of a row, array).
template <class AnyState, class Visit>
void for_each_array(AnyState& x, Visit&& visit) {
  visit("state/root_position", files::Shape{3}, x.root_position);
  visit("state/root_frame", files::Shape{3, 3}, x.root_frame);
  visit("state/root_velocity", files::Shape{3}, x.root_velocity);
  visit("state/root_angular_velocity", files::Shape{3}, x.root_angular_velocity);
  visit("state/curvature_offsets", files::Shape{}, x.curvature_offsets);
  visit("state/curvature", files::Shape{}, x.curvature);
  visit("state/curvature_rate", files::Shape{}, x.curvature_rate);
  visit("state/memory_offsets", files::Shape{}, x.memory_offsets);
  visit("state/memory", files::Shape{}, x.memory);
  visit("state/bodies/position", files::Shape{3}, x.body_position);
  visit("state/bodies/frame", files::Shape{3, 3}, x.body_frame);
  visit("state/bodies/velocity", files::Shape{3}, x.body_velocity);
  visit("state/bodies/angular_velocity", files::Shape{3}, x.body_angular_velocity);
  visit("state/warm/key", files::Shape{key_size}, x.warm_key);
  visit("state/warm/abscissa", files::Shape{2}, x.warm_abscissa);
  visit("state/warm/force", files::Shape{3}, x.warm_force);
  visit("state/warm/sticks", files::Shape{}, x.warm_sticks);
  visit("state/warm/slip", files::Shape{3}, x.warm_slip);
  visit("state/warm/slides", files::Shape{}, x.warm_slides);
  visit("state/warm/keeps", files::Shape{}, x.warm_keeps);
  visit("state/warm/kept_gap", files::Shape{}, x.warm_kept_gap);
  visit("state/holds/force", files::Shape{3}, x.hold_force);
  visit("state/surfaces/position_offsets", files::Shape{}, x.surface_position_offsets);
  visit("state/surfaces/position", files::Shape{}, x.surface_position);
  visit("state/surfaces/velocity_offsets", files::Shape{}, x.surface_velocity_offsets);
  visit("state/surfaces/velocity", files::Shape{}, x.surface_velocity);
  visit("state/grains/velocity", files::Shape{3}, x.grain_velocity);
  visit("state/grains/stress", files::Shape{}, x.grain_stress);
  visit("state/grains/outflow", files::Shape{}, x.grain_outflow);
  visit("state/fluid/densities", files::Shape{3}, x.fluid_densities);
  visit("state/fluid/densities_before", files::Shape{3}, x.fluid_densities_before);
  visit("state/fluid/force", files::Shape{}, x.fluid_force);
  visit("state/fluid/force_before", files::Shape{}, x.fluid_force_before);
  visit("state/fluid/factored_at", files::Shape{3}, x.fluid_factored_at);
  visit("state/fluid/numbers", files::Shape{}, x.fluid_numbers);
}

void append_vector(std::vector<double>& into, const VectorX& values) {
  into.insert(into.end(), values.begin(), values.end());
}

/// Appends values, and where they end to offsets that begin with 0.
void append_ragged(std::vector<std::int64_t>& offsets, std::vector<double>& into, const VectorX& values) {
  if (offsets.empty()) offsets.push_back(0);
  append_vector(into, values);
  offsets.push_back(static_cast<std::int64_t>(into.size()));
}

bool consistent_ragged(const std::vector<std::int64_t>& offsets, const std::vector<double>& values) {
  if (offsets.empty()) return values.empty();
  return offsets.front() == 0 && std::is_sorted(offsets.begin(), offsets.end()) &&
         offsets.back() == static_cast<std::int64_t>(values.size());
}

FlatState flatten(const dynamics::SimulationState& state) {
  FlatState out;
  out.curvature_offsets.push_back(0);
  for (const rods::RodState& rod : state.rods) {
    observe::append(out.root_position, rod.root.position);
    observe::append(out.root_frame, rod.root.frame);
    observe::append(out.root_velocity, rod.root_velocity.linear);
    observe::append(out.root_angular_velocity, rod.root_velocity.angular);
    append_vector(out.curvature, rod.coordinates);
    append_vector(out.curvature_rate, rod.rates);
    require(rod.coordinates.size() == rod.rates.size(), "checkpoint: a rod has as many curvatures as rates");
    out.curvature_offsets.push_back(static_cast<std::int64_t>(out.curvature.size()));
    append_vector(out.memory, rod.memory);
  }
  if (!out.memory.empty()) {
    out.memory_offsets.push_back(0);
    for (const rods::RodState& rod : state.rods)
      out.memory_offsets.push_back(out.memory_offsets.back() + static_cast<std::int64_t>(rod.memory.size()));
  }
  for (const bodies::BodyState& body : state.bodies) {
    observe::append(out.body_position, body.pose.position);
    observe::append(out.body_frame, body.pose.frame);
    observe::append(out.body_velocity, body.velocity.linear);
    observe::append(out.body_angular_velocity, body.velocity.angular);
  }
  for (const dynamics::WarmContact& contact : state.warm) {
    const contact::Place& place = contact.place;
    out.warm_key.insert(out.warm_key.end(), {place.body_a, place.element_a, place.body_b, place.element_b});
    out.warm_abscissa.insert(out.warm_abscissa.end(), {place.s_a, place.s_b});
    observe::append(out.warm_force, contact.force);
    out.warm_sticks.push_back(contact.slip ? 1 : 0);
    observe::append(out.warm_slip, contact.slip.value_or(Vector3::Zero()));
    out.warm_slides.push_back(contact.slides ? 1 : 0);
    out.warm_keeps.push_back(contact.kept_gap ? 1 : 0);
    out.warm_kept_gap.push_back(contact.kept_gap.value_or(0.0));
  }
  if (std::count(out.warm_slides.begin(), out.warm_slides.end(), 1) == 0) out.warm_slides.clear();
  if (std::count(out.warm_keeps.begin(), out.warm_keeps.end(), 1) == 0) {
    out.warm_keeps.clear();
    out.warm_kept_gap.clear();
  }
  for (const Vector3& force : state.hold_forces) observe::append(out.hold_force, force);
  for (const surfaces::SurfaceState& surface : state.surfaces) {
    append_ragged(out.surface_position_offsets, out.surface_position, surface.position);
    append_ragged(out.surface_velocity_offsets, out.surface_velocity, surface.velocity);
  }
  if (const grains::GrainState& grains = state.grains; grains.velocity.size() > 0) {
    append_vector(out.grain_velocity, grains.velocity);
    append_vector(out.grain_stress, grains.stress);
    out.grain_outflow = {grains.outflow};
  }
  if (const dynamics::FluidState& fluid = state.fluid; fluid.densities.size() > 0) {
    append_vector(out.fluid_densities, fluid.densities);
    append_vector(out.fluid_densities_before, fluid.densities_before);
    append_vector(out.fluid_force, fluid.force);
    append_vector(out.fluid_force_before, fluid.force_before);
    append_vector(out.fluid_factored_at, fluid.factored_at);
    out.fluid_numbers = {fluid.dt, static_cast<double>(fluid.spent)};
  }
  return out;
}

VectorX slice(const std::vector<double>& values, std::int64_t begin, std::int64_t end) {
  return Eigen::Map<const VectorX>(values.data() + begin, end - begin);
}

bool consistent_memory(const FlatState& x) {
  if (x.memory_offsets.empty()) return x.memory.empty();
  return x.memory_offsets.size() == x.curvature_offsets.size() && x.memory_offsets.front() == 0 &&
         std::is_sorted(x.memory_offsets.begin(), x.memory_offsets.end()) &&
         x.memory_offsets.back() == static_cast<std::int64_t>(x.memory.size());
}

bool consistent_bodies(const FlatState& x) {
  const std::size_t bodies = x.body_position.size() / 3;
  return x.body_position.size() == 3 * bodies && x.body_frame.size() == 9 * bodies &&
         x.body_velocity.size() == 3 * bodies && x.body_angular_velocity.size() == 3 * bodies;
}

bool consistent_sticking(const FlatState& x, std::size_t contacts) {
  if (x.warm_sticks.empty()) return x.warm_slip.empty();
  return x.warm_sticks.size() == contacts && x.warm_slip.size() == 3 * contacts;
}

bool consistent_fluid(const FlatState& x) {
  if (x.fluid_densities.empty()) return x.fluid_numbers.empty();
  constexpr double most = 1e6;  // iterations
  const auto absent_or = [](const std::vector<double>& values, std::size_t size) {
    return values.empty() || values.size() == size;
  };
  return absent_or(x.fluid_densities_before, x.fluid_densities.size()) &&
         absent_or(x.fluid_force_before, x.fluid_force.size()) &&
         x.fluid_factored_at.size() == x.fluid_densities.size() && x.fluid_numbers.size() == 2 &&
         x.fluid_numbers[0] > 0.0 && x.fluid_numbers[1] >= 0.0 && x.fluid_numbers[1] <= most;
}

bool consistent(const FlatState& x) {
  if (x.curvature_offsets.empty() || x.curvature_offsets.front() != 0) return false;
  const std::size_t rods = x.curvature_offsets.size() - 1;
  const std::size_t contacts = x.warm_key.size() / key_size;
  return std::is_sorted(x.curvature_offsets.begin(), x.curvature_offsets.end()) &&
         x.curvature_offsets.back() == static_cast<std::int64_t>(x.curvature.size()) &&
         x.curvature_rate.size() == x.curvature.size() && x.root_position.size() == 3 * rods &&
         x.root_frame.size() == 9 * rods && x.root_velocity.size() == 3 * rods &&
         x.root_angular_velocity.size() == 3 * rods && x.warm_key.size() == key_size * contacts &&
         x.warm_abscissa.size() == 2 * contacts && x.warm_force.size() == 3 * contacts &&
         consistent_sticking(x, contacts) && (x.warm_slides.empty() || x.warm_slides.size() == contacts) &&
         (x.warm_keeps.empty() || x.warm_keeps.size() == contacts) && x.warm_kept_gap.size() == x.warm_keeps.size() &&
         consistent_ragged(x.surface_position_offsets, x.surface_position) &&
         consistent_ragged(x.surface_velocity_offsets, x.surface_velocity) &&
         x.surface_position_offsets.size() == x.surface_velocity_offsets.size() && consistent_memory(x) &&
         consistent_bodies(x) && consistent_fluid(x) && x.hold_force.size() % 3 == 0 &&
         x.grain_velocity.size() % 3 == 0 && x.grain_outflow.size() == (x.grain_velocity.empty() ? 0 : 1);
}

/// `flat` is consistent.
void unflatten(const FlatState& flat, dynamics::SimulationState& state) {
  for (std::size_t i = 0; i + 1 < flat.curvature_offsets.size(); ++i) {
    rods::RodState& rod = state.rods.emplace_back();
    rod.root.position = observe::vector_at(flat.root_position, i);
    rod.root.frame = observe::matrix_at(flat.root_frame, i);
    rod.root_velocity.linear = observe::vector_at(flat.root_velocity, i);
    rod.root_velocity.angular = observe::vector_at(flat.root_angular_velocity, i);
    rod.coordinates = slice(flat.curvature, flat.curvature_offsets[i], flat.curvature_offsets[i + 1]);
    rod.rates = slice(flat.curvature_rate, flat.curvature_offsets[i], flat.curvature_offsets[i + 1]);
    if (!flat.memory_offsets.empty())
      rod.memory = slice(flat.memory, flat.memory_offsets[i], flat.memory_offsets[i + 1]);
  }
  for (std::size_t i = 0; 3 * i < flat.body_position.size(); ++i) {
    state.bodies.push_back(
        {{observe::vector_at(flat.body_position, i), observe::matrix_at(flat.body_frame, i)},
         {observe::vector_at(flat.body_velocity, i), observe::vector_at(flat.body_angular_velocity, i)}});
  }
  for (std::size_t i = 0; i + 1 < flat.surface_position_offsets.size(); ++i) {
    state.surfaces.push_back(
        {slice(flat.surface_position, flat.surface_position_offsets[i], flat.surface_position_offsets[i + 1]),
         slice(flat.surface_velocity, flat.surface_velocity_offsets[i], flat.surface_velocity_offsets[i + 1])});
  }
  for (std::size_t i = 0; key_size * i < flat.warm_key.size(); ++i) {
    dynamics::WarmContact& contact = state.warm.emplace_back();
    const std::int32_t* key = flat.warm_key.data() + key_size * i;
    contact.place = {key[0], key[1], key[2], key[3], flat.warm_abscissa[2 * i], flat.warm_abscissa[2 * i + 1]};
    contact.force = observe::vector_at(flat.warm_force, i);
    if (!flat.warm_sticks.empty() && flat.warm_sticks[i] != 0) contact.slip = observe::vector_at(flat.warm_slip, i);
    contact.slides = !flat.warm_slides.empty() && flat.warm_slides[i] != 0;
    if (!flat.warm_keeps.empty() && flat.warm_keeps[i] != 0) contact.kept_gap = flat.warm_kept_gap[i];
  }
  for (std::size_t i = 0; 3 * i < flat.hold_force.size(); ++i)
    state.hold_forces.push_back(observe::vector_at(flat.hold_force, i));
  const auto whole = [](const std::vector<double>& values) {
    return slice(values, 0, static_cast<std::int64_t>(values.size()));
  };
  if (!flat.grain_velocity.empty())
    state.grains = {whole(flat.grain_velocity), whole(flat.grain_stress), flat.grain_outflow.front()};
  if (flat.fluid_densities.empty()) return;
  state.fluid = {whole(flat.fluid_densities),
                 whole(flat.fluid_densities_before),
                 whole(flat.fluid_force),
                 whole(flat.fluid_force_before),
                 flat.fluid_numbers[0],
                 whole(flat.fluid_factored_at),
                 static_cast<int>(flat.fluid_numbers[1])};
}

/// A number that no run writes, whoever made the checksum right again.
[[noreturn]] void refuse(const std::filesystem::path& file, std::string_view name, const std::string& found,
                         const char* expected) {
  throw InvalidInput(fmt::format("{}: {} holds {}, expected {}", file.string(), name, found, expected));
}

void validate_number(const std::filesystem::path& file, std::string_view name, std::int64_t value) {
  const bool step = name == "state/step";
  if (value < 0 || (step && static_cast<double>(value) > scene::limits::steps))
    refuse(file, name, fmt::format("{}", value), "a count");
}

/// What was worst may have been anything.
void validate_number(const std::filesystem::path& file, std::string_view name, double value) {
  const bool worst = name.starts_with("tally/worst_");
  if (!std::isfinite(value) && !worst) refuse(file, name, fmt::format("{}", value), "a finite number");
}

/// Counts that are kept as doubles, but for the measure of what was worst, which may have been anything.
void validate_watched(const std::filesystem::path& file, const std::vector<double>& watched) {
  constexpr double most = 9e18;  // fits into 64 bits
  constexpr std::size_t worst = 5;
  for (std::size_t i = 0; i < watched.size(); ++i) {
    if (i % watch_width != worst && !(watched[i] >= 0.0 && watched[i] <= most))
      refuse(file, watch_name, fmt::format("{}", watched[i]), "counts");
  }
}

void validate_array(const std::filesystem::path& file, std::string_view name, const std::vector<double>& values) {
  for (const double x : values) {
    if (!std::isfinite(x)) refuse(file, name, fmt::format("{}", x), "finite numbers");
  }
}

/// Offsets and keys: consistent() and the world see to them.
void validate_array(const std::filesystem::path& /*file*/, std::string_view /*name*/,
                    const std::vector<std::int64_t>& /*values*/) {}
void validate_array(const std::filesystem::path& /*file*/, std::string_view /*name*/,
                    const std::vector<std::int32_t>& /*values*/) {}

/// Cut to so many significant bits: never past the end of an element.
void round_to(int bits, std::vector<double>& values) {
  for (double& x : values) {
    int exponent = 0;
    const double mantissa = std::frexp(x, &exponent);
    x = std::ldexp(std::trunc(std::ldexp(mantissa, bits)), exponent - bits);
  }
}

void round_for_packing(FlatState& flat) {
  round_to(30, flat.curvature);
  round_to(16, flat.curvature_rate);
  round_to(16, flat.warm_abscissa);
  round_to(10, flat.warm_force);
}

/// Writes all but the file's last steps: close, sync, rename.
void fill(files::Hdf5Writer& out, const Checkpoint& checkpoint, bool packed) {
  out.attribute("/", "format", checkpoint_format);
  out.attribute("/", "format_version", checkpoint_version);
  out.attribute("/", "version", checkpoint.version);
  out.write_string("scene", checkpoint.scene);
  std::uint32_t crc = files::crc32(checkpoint.scene);
  for_each_number(checkpoint, [&]<class T>(const char* name, const T& value) {
    out.write_scalar(name, value);
    crc = checksum(std::vector<T>{value}, crc);
  });
  for_each_later_number(checkpoint, [&]<class T>(const char* name, const T& value) {
    out.write_scalar(name, value);
    crc = checksum(std::vector<T>{value}, crc);
  });
  out.write_scalar(remarks_name, checkpoint.position.remarks);
  crc = checksum(std::vector{checkpoint.position.remarks}, crc);
  std::vector<double> watched;
  for_each_count(checkpoint.tally, [&](const auto& count) { watched.push_back(static_cast<double>(count)); });
  out.write(watch_name, watched.data(), {observe::trouble_count, watch_width});
  crc = checksum(watched, crc);
  FlatState flat = flatten(checkpoint.state);
  if (packed) round_for_packing(flat);
  for_each_array(flat, [&]<class T>(const char* name, files::Shape shape, const std::vector<T>& array) {
    if (optional(name) && array.empty()) return;
    std::size_t width = 1;
    for (const std::size_t extent : shape) width *= extent;
    shape.insert(shape.begin(), array.size() / width);
    files::Hdf5Layout layout;
    if (packed && !array.empty()) layout = {.chunk = shape, .gzip = 9};
    out.write(name, array.data(), shape, layout);
    crc = checksum(array, crc);
  });
  out.write_scalar<std::uint64_t>("checksum", crc);
}

}  // namespace

void write_checkpoint(const std::filesystem::path& file, const Checkpoint& checkpoint) {
  files::write_hdf5(file, [&](files::Hdf5Writer& out) { fill(out, checkpoint, false); });
}

void write_packed_checkpoint(const std::filesystem::path& file, const Checkpoint& checkpoint) {
  files::write_hdf5(file, [&](files::Hdf5Writer& out) { fill(out, checkpoint, true); });
}

Checkpoint read_checkpoint(const std::filesystem::path& file) {
  const files::Hdf5Reader in(file);
  if (!in.has_attribute("/", "format") || in.string_attribute("/", "format") != checkpoint_format) {
    throw InvalidInput(fmt::format("{}: not a checkpoint of tresse", file.string()));
  }
  Checkpoint out;
  out.version = in.string_attribute("/", "version");
  out.scene = in.read_string("scene");
  std::uint32_t crc = files::crc32(out.scene);
  for_each_number(out, [&]<class T>(const char* name, T& value) {
    value = in.read_scalar<T>(name);
    crc = checksum(std::vector<T>{value}, crc);
  });
  for_each_later_number(out, [&]<class T>(const char* name, T& value) {
    if (!in.contains(name)) return;
    value = in.read_scalar<T>(name);
    crc = checksum(std::vector<T>{value}, crc);
  });
  if (in.contains(watch_name)) {
    out.position.remarks = in.read_scalar<std::int64_t>(remarks_name);
    crc = checksum(std::vector{out.position.remarks}, crc);
    std::vector<double> watched = in.read<double>(watch_name);
    crc = checksum(watched, crc);
    watched = of_this_version(watched, in.shape(watch_name));
    validate_watched(file, watched);
    auto at = watched.begin();
    for_each_count(out.tally, [&]<class T>(T& count) { count = static_cast<T>(*at++); });
  }
  FlatState flat;
  for_each_array(flat, [&]<class T>(const char* name, const files::Shape&, std::vector<T>& array) {
    if (optional(name) && !in.contains(name)) return;
    array = in.read<T>(name);
    crc = checksum(array, crc);
  });
  if (in.read_scalar<std::uint64_t>("checksum") != crc || !consistent(flat)) {
    throw InvalidInput(fmt::format("{}: damaged, its checksum does not match", file.string()));
  }
  const auto check = [&](const char* name, const auto& value) { validate_number(file, name, value); };
  for_each_number(out, check);
  for_each_later_number(out, check);
  validate_number(file, remarks_name, out.position.remarks);
  for_each_array(flat,
                 [&](const char* name, const files::Shape&, const auto& array) { validate_array(file, name, array); });
  unflatten(flat, out.state);
  return out;
}

}  // namespace tresse::record
