#include "render/looks.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <optional>
#include <span>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <tresse/base/errors.hpp>
#include <tresse/base/words.hpp>

namespace tresse::render {
namespace {

struct NamedHair {
  std::string_view name;
  float eumelanin, pheomelanin;
};
constexpr std::array hairs = {NamedHair{"brown-blond", 0.55F, 0.45F}, NamedHair{"brown", 1.1F, 0.2F},
                              NamedHair{"red", 0.25F, 1.3F}, NamedHair{"blond", 0.12F, 0.22F},
                              NamedHair{"black", 6.0F, 0.0F}};

constexpr std::array pale = {"#9c9184", "#84909c", "#97806c", "#839179", "#94838d"};
constexpr std::array dark = {"#1d1f22", "#33506b", "#7d3b2c", "#4c6350", "#6b5a7d"};
constexpr std::array fabric = {"#7d4436", "#8d7a55", "#34585d", "#5d4669"};
const Color plane_albedo(0.55F, 0.55F, 0.54F);

float linear(int byte) {
  const float x = static_cast<float>(byte) / 255.0F;
  return x <= 0.04045F ? x / 12.92F : std::pow((x + 0.055F) / 1.055F, 2.4F);
}

std::optional<float> number(std::string_view text) {
  float out = 0.0F;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), out);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return out;
}

/// Absorption of fibres of which a thick strand has a colour. @cite chiang2016
Color absorption_of(const Color& colour, float azimuthal_roughness) {
  const float b = azimuthal_roughness;
  const float scale = 5.969F - 0.215F * b + 2.532F * b * b - 10.73F * std::pow(b, 3.0F) + 5.574F * std::pow(b, 4.0F) +
                      0.245F * std::pow(b, 5.0F);
  return (colour.max(1e-3F).log() / scale).square();
}

/// Index of `name`, of an obstacle or the like.
std::size_t found(std::span<const std::string> names, const std::string& name, std::string_view what) {
  const auto place = std::find(names.begin(), names.end(), name);
  if (place != names.end()) return static_cast<std::size_t>(place - names.begin());
  const std::string near = nearest_word(name, names);
  throw InvalidInput(fmt::format("no {} \"{}\"; {}", what, one_line(name),
                                 names.empty()  ? std::string("there are none")
                                 : near.empty() ? one_line(fmt::format("expected {}", fmt::join(names, ", ")), 200)
                                                : fmt::format("did you mean \"{}\"?", one_line(near))));
}

/// Meshes, and spheres, which are single capsules without length.
bool is_pale(const observe::TrajectoryLayout& layout, std::size_t obstacle) {
  const auto index = static_cast<std::int32_t>(obstacle);
  if (std::ranges::count(layout.mesh_obstacle, index) > 0) return true;
  const auto capsule = std::ranges::find(layout.capsule_obstacle, index) - layout.capsule_obstacle.begin();
  return std::ranges::count(layout.capsule_obstacle, index) == 1 &&
         observe::vector_at(layout.capsule_from, capsule) == observe::vector_at(layout.capsule_to, capsule);
}

}  // namespace

Looks default_looks(const observe::TrajectoryLayout& layout) {
  Looks out;
  std::size_t pales = 0;
  std::size_t darks = 0;
  for (std::size_t i = 0; i < layout.obstacle_count(); ++i) {
    if (std::ranges::count(layout.plane_obstacle, static_cast<std::int32_t>(i)) > 0)
      out.obstacles.push_back({.albedo = plane_albedo, .reflectance = 0.03F, .roughness = 0.4F});
    else if (is_pale(layout, i))
      out.obstacles.push_back(
          {.albedo = read_colour(pale[pales++ % pale.size()]), .reflectance = 0.03F, .roughness = 0.45F});
    else
      out.obstacles.push_back({.albedo = read_colour(dark[darks++ % dark.size()])});
  }
  for (std::size_t i = 0; i < layout.surface_count(); ++i)
    out.obstacles.push_back(
        {.albedo = read_colour(fabric[i % fabric.size()]), .reflectance = 0.02F, .roughness = 0.7F});
  for (std::size_t i = 0; i < layout.group_names.size(); ++i)
    out.groups.push_back({.hair = read_hair(hairs[i % hairs.size()].name)});
  return out;
}

Color read_colour(std::string_view text) {
  const bool form = text.size() == 7 && text[0] == '#' &&
                    text.find_first_not_of("0123456789abcdefABCDEF", 1) == std::string_view::npos;
  require(form, fmt::format("{}: expected a colour like #c8a080", one_line(text)));
  int bytes = 0;
  std::from_chars(text.data() + 1, text.data() + 7, bytes, 16);
  return {linear(bytes >> 16), linear(bytes >> 8 & 255), linear(bytes & 255)};
}

HairMaterial read_hair(std::string_view text) {
  HairMaterial out;
  for (const auto& [name, eumelanin, pheomelanin] : hairs) {
    if (text != name) continue;
    out.absorption = melanin_absorption(eumelanin, pheomelanin);
    return out;
  }
  if (text.starts_with('#')) {
    out.absorption = absorption_of(read_colour(text), out.azimuthal_roughness);
    return out;
  }
  const std::size_t comma = text.find(',');
  const auto eumelanin = number(text.substr(0, comma));
  const auto pheomelanin = number(comma == std::string_view::npos ? "" : text.substr(comma + 1));
  const auto in = [](std::optional<float> x) { return x && *x >= 0.0F && *x <= 100.0F; };
  require(in(eumelanin) && in(pheomelanin),
          fmt::format("{}: expected blond, brown-blond, brown, red, black, a colour like #c8a080, or concentrations of "
                      "eumelanin and pheomelanin, 0 to 100, like 1.1,0.2",
                      one_line(text)));
  out.absorption = melanin_absorption(*eumelanin, *pheomelanin);
  return out;
}

void set_obstacle(Looks& looks, const observe::TrajectoryLayout& layout, const std::string& text) {
  const std::size_t equals = text.rfind('=');
  require(equals != std::string::npos, fmt::format("{}: expected OBSTACLE=#c8a080", one_line(text)));
  const std::string name = text.substr(0, equals);
  std::vector<std::string> names = layout.obstacle_names;
  names.insert(names.end(), layout.surface_names.begin(), layout.surface_names.end());
  const std::size_t index = found(names, name, layout.surface_count() > 0 ? "obstacle or surface" : "obstacle");
  looks.obstacles[index].albedo = read_colour(std::string_view(text).substr(equals + 1));
}

void set_group(Looks& looks, const observe::TrajectoryLayout& layout, const std::string& text) {
  const std::size_t equals = text.rfind('=');
  const std::string_view look = equals == std::string::npos ? text : std::string_view(text).substr(equals + 1);
  FibreLook chosen = {.hair = read_hair(look)};
  if (look.starts_with('#')) chosen.paper.albedo = read_colour(look);
  if (equals == std::string::npos) {
    std::ranges::fill(looks.groups, chosen);
    return;
  }
  const std::string name = text.substr(0, equals);
  looks.groups[found(layout.group_names, name, "fibre group")] = chosen;
}

}  // namespace tresse::render
