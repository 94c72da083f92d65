#include "render/ray_tracer.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <optional>

#include <fmt/format.h>
#include <tbb/blocked_range2d.h>
#include <tbb/parallel_for.h>
#include <tbb/partitioner.h>
#include <tbb/task_arena.h>

#include <tresse/base/errors.hpp>

#include "render/film.hpp"
#include "render/lighting.hpp"
#include "render/world.hpp"

namespace tresse::render {
namespace {

constexpr int layers = 4;          // of thin fibres that a ray from the camera splits at
constexpr int first_samples = 16;  // before a pixel may be called finished
const Vec3 tangent_side(0.48F, 0.36F, 0.8F);
constexpr float brightest = 6.0F;      // of light that came by more than one bounce: fireflies end here
constexpr float offset = 2e-2F;        // of new rays off a fibre, per radius
constexpr float solid_offset = 2e-4F;  // of new rays off a solid [cm]

void check(const Camera& camera, const RenderOptions& options) {
  const auto in = [](double x, double low, double high) { return x >= low && x <= high; };
  require(in(options.width, 1, 16384) && in(options.height, 1, 16384),
          fmt::format("a picture of {} x {} pixels: expected 1 to 16384 each", options.width, options.height));
  require(in(options.samples, 1, 65536), fmt::format("samples {}: expected 1 to 65536", options.samples));
  require(in(options.smoothing, 0, 10), fmt::format("smoothing {}: expected 0 to 10", options.smoothing));
  require(in(options.noise, 0, 1), fmt::format("noise {}: expected 0 to 1", options.noise));
  require(in(options.threads, 0, 1024), fmt::format("threads {}: expected 0 to 1024", options.threads));
  require(options.max_bounces >= 1, "max_bounces: expected at least 1");
  require(in(options.thickness, 1e-6, 1e6), fmt::format("thickness {}: expected a positive factor", options.thickness));
  require(in(options.least_pixels, 0, 1e3),
          fmt::format("least width {} pixels: expected 0 to 1000", options.least_pixels));
  require(in(options.covered_pixels, 0, 1e3),
          fmt::format("covered width {} pixels: expected 0 to 1000", options.covered_pixels));
  require(in(options.hair_variation, 0, 0.99), "hair_variation: expected 0 to 0.99");
  require(camera.field_of_view_deg > 0 && camera.field_of_view_deg < 170,
          fmt::format("field of view {} degrees: expected between 0 and 170", camera.field_of_view_deg));
  const Vector3 view = camera.target - camera.position;
  require(view.norm() > 0 && view.allFinite(), "the camera stands at its target");
  require(view.normalized().cross(camera.up).norm() > 1e-9 * camera.up.norm() && camera.up.norm() > 0,
          "the camera looks along its up direction");
}

/// Directions through the picture in the coordinates of World.
struct Projection {
  Vec3 eye, forward, right, up;
  float half_width, half_height;
  float distance;  // of the target

  Projection(const Camera& camera, const RenderOptions& options, const World& world)
      : eye(world.to_world(camera.position)) {
    const Vector3 f = (camera.target - camera.position).normalized();
    const Vector3 r = f.cross(camera.up).normalized();
    forward = f.cast<float>();
    right = r.cast<float>();
    up = r.cross(f).cast<float>();
    half_height = static_cast<float>(std::tan(0.5 * camera.field_of_view_deg * std::numbers::pi / 180.0));
    distance = static_cast<float>((camera.target - camera.position).norm() * World::scale);
    half_width = half_height * static_cast<float>(options.width) / static_cast<float>(options.height);
  }

  Vec3 direction(float x, float y) const {
    return (forward + x * half_width * right + y * half_height * up).normalized();
  }
};

/// Offset within the pixel's filter: a tent two pixels wide.
float tent(float u) { return u < 0.5F ? std::sqrt(2.0F * u) - 1.0F : 1.0F - std::sqrt(2.0F - 2.0F * u); }

class Tracer {
 public:
  Tracer(const Scene& scene, const World& world, const Projection& view, const RenderOptions& options)
      : scene_(scene),
        world_(world),
        view_(view),
        options_(options),
        lighting_(-view.forward, view.up, options.environment.get()) {}

  /// Adds samples to a pixel until there are `count`, or a first few where there is nothing at all.
  void sample(FilmPixel& pixel, int x, int y, int count) const {
    const std::uint32_t key = hash(static_cast<std::uint32_t>(x), static_cast<std::uint32_t>(y));
    const Eigen::Vector2f shift(to_unit(hash(key, 1)), to_unit(hash(key, 2)));
    while (pixel.count < count) {
      const auto n = static_cast<std::uint32_t>(pixel.count);
      const Eigen::Vector2f u = even_point(n, shift);
      const float px = (static_cast<float>(x) + 0.5F + tent(u[0])) / static_cast<float>(options_.width);
      const float py = (static_cast<float>(y) + 0.5F + tent(u[1])) / static_cast<float>(options_.height);
      Random random(hash(key, n + 17U), key, n);
      pixel.add(radiance(2.0F * px - 1.0F, 1.0F - 2.0F * py, random));
    }
  }

 private:
  /// Thin fibres in front are seen and seen through, each by its part; what is behind them by chance.
  FilmSample radiance(float x, float y, Random& random) const {
    const Vec3 direction = view_.direction(x, y);
    FilmSample out;
    float rest = 1.0F;
    Crossing crossing = {.all = true};
    for (int layer = 0; layer <= layers; ++layer) {
      if (layer == layers) crossing.all = false;
      crossing.key = random.bits();
      const std::optional<Hit> hit = world_.intersect(view_.eye, direction, crossing);
      if (!hit) {
        out.radiance += rest * lighting_.behind(x, y, direction);
        out.features[5] += rest;
        break;
      }
      const float part = crossing.all ? hit->coverage : 1.0F;
      out.radiance += rest * part * path(*hit, direction, random);
      out.features += rest * part * features(*hit);
      rest *= 1.0F - part;
      if (part >= 1.0F) break;
      crossing.passed[crossing.passed_count++] = hit->arc;
      crossing.begin = hit->distance;
    }
    return out;
  }

  Features features(const Hit& hit) const {
    const bool is_hair = hit.kind == Hit::Kind::fibre;
    // Hair's colour is known by its light; along the fibre both ways are the same.
    const float albedo = is_hair ? 0.5F : luminance(solid(hit).albedo);
    const Vec3 along = is_hair ? Vec3(hit.tangent * (hit.tangent.dot(tangent_side) < 0.0F ? -1.0F : 1.0F)) : hit.normal;
    Features out;
    out << albedo, 0.5F * along.array(), hit.distance / view_.distance, 0.0F;
    return out;
  }

  /// What is seen of a point in `direction`: the light that gets there on a path by chance.
  Color path(Hit hit, Vec3 direction, Random& random) const {
    Vec3 from;
    Color sum = Color::Zero();
    Color weight = Color::Ones();
    float last_density = 0.0F;
    for (int bounce = 0;; ++bounce) {
      const Vec3 to_viewer = -direction;
      if (hit.kind == Hit::Kind::fibre) {
        const HairScattering hair(material(hit.index), hit.tangent, hit.normal, to_viewer);
        scatter(hair, hit, bounce, random, sum, weight, from, direction, last_density);
      } else {
        const CoatedSurface surface(solid(hit), hit.normal, to_viewer);
        scatter(surface, hit, bounce, random, sum, weight, from, direction, last_density);
      }
      if (bounce == options_.max_bounces || !survives(weight, bounce, random)) break;
      const std::optional<Hit> next = world_.intersect(from, direction, {.key = random.bits()});
      if (!next) {
        sum += bounded(weight * escaped(direction, last_density), bounce + 1);
        break;
      }
      hit = *next;
    }
    return sum;
  }

  /// Adds the light that one point sends to the viewer directly; moves the path on by one scattering.
  template <class Surface>
  void scatter(const Surface& surface, const Hit& hit, int bounce, Random& random, Color& sum, Color& weight,
               Vec3& from, Vec3& direction, float& last_density) const {
    const float pick = random.next();
    const Vec3 to_light = lighting_.sample(pick, random.next2());
    const Color out = surface.scattered(to_light);
    if (out.maxCoeff() > 0.0F) {
      const float p_light = lighting_.density(to_light);
      const float p_surface = surface.density(to_light);
      const Color light = lighting_.lights(to_light);
      if (p_light > 0.0F && light.maxCoeff() > 0.0F &&
          !world_.occluded(leave(hit, to_light), to_light, {.key = random.bits()})) {
        const float balance = p_light / (p_light * p_light + p_surface * p_surface);
        sum += bounded(weight * out * light * balance, bounce);
      }
    }
    const auto next = surface.sample(random);
    weight *= next.weight;
    last_density = next.density;
    direction = next.direction;
    from = leave(hit, direction);
  }

  /// Sky in full; lights by what scattering samples better than lighting_.sample() does.
  Color escaped(const Vec3& direction, float density) const {
    const float p_light = lighting_.density(direction);
    const float share = density * density / (density * density + p_light * p_light);
    return lighting_.sky(direction) + share * lighting_.lights(direction);
  }

  static Color bounded(const Color& c, int bounce) {
    const float peak = c.maxCoeff();
    return bounce < 2 || peak <= brightest ? c : Color(c * (brightest / peak));
  }

  static bool survives(Color& weight, int bounce, Random& random) {
    const float peak = weight.maxCoeff();
    if (!(peak > 1e-4F)) return false;
    if (bounce < 3) return true;
    const float chance = std::min(0.95F, peak);
    if (random.next() >= chance) return false;
    weight /= chance;
    return true;
  }

  /// Where a ray in `direction` leaves: beside the surface, or across the fibre, whose inside the scattering stands
  /// for.
  static Vec3 leave(const Hit& hit, const Vec3& direction) {
    if (hit.kind != Hit::Kind::fibre) return hit.point + solid_offset * hit.facet;
    const float outwards = direction.dot(hit.normal);
    const float step = offset * hit.radius;
    if (outwards >= 0.0F) return hit.point + step * hit.normal;
    const float along = direction.dot(hit.tangent);
    const float across_squared = std::max(1.0F - along * along, 1e-3F);
    const float chord = -2.0F * hit.radius * outwards / across_squared;
    const Vec3 exit = hit.point + chord * direction;
    const Vec3 centre = hit.point - hit.radius * hit.normal + chord * along * hit.tangent;
    return exit + step * (exit - centre).normalized();
  }

  HairMaterial material(int fibre) const {
    const auto& groups = options_.looks.groups;
    const auto group = static_cast<std::size_t>(scene_.fibres[fibre].group);
    HairMaterial out = group < groups.size() ? groups[group].hair : options_.hair;
    const float u = 2.0F * to_unit(hash(static_cast<std::uint32_t>(fibre), 0x6a17U)) - 1.0F;
    out.absorption *= 1.0F + static_cast<float>(options_.hair_variation) * u;
    return out;
  }

  CoatedSurface::Material look(int obstacle, const CoatedSurface::Material& otherwise) const {
    const auto& obstacles = options_.looks.obstacles;
    const auto index = static_cast<std::size_t>(obstacle);
    return index < obstacles.size() ? obstacles[index] : otherwise;
  }

  CoatedSurface::Material solid(const Hit& hit) const {
    const auto obstacle = [&](const std::vector<int>& of) { return of.empty() ? 0 : of[hit.index]; };
    switch (hit.kind) {
      case Hit::Kind::capsule: {
        const auto capsules = static_cast<int>(scene_.capsules.size());
        if (hit.index < capsules) return look(obstacle(scene_.capsule_obstacle), options_.solid);
        return {.albedo = scene_.markers[hit.index - capsules].color, .reflectance = 0.03F, .roughness = 0.5F};
      }
      case Hit::Kind::strip: {
        const auto& groups = options_.looks.groups;
        const auto group = static_cast<std::size_t>(scene_.fibres[hit.index].group);
        return group < groups.size() ? groups[group].paper : options_.paper;
      }
      case Hit::Kind::mesh:
        return look(scene_.meshes[hit.index].obstacle, options_.solid);
      case Hit::Kind::ground:
        return {.albedo = Color(0.38F, 0.38F, 0.38F), .reflectance = 0.0F, .roughness = 0.6F};
      default:
        return look(obstacle(scene_.plane_obstacle),
                    {.albedo = Color(0.55F, 0.55F, 0.54F), .reflectance = 0.03F, .roughness = 0.4F});
    }
  }

  const Scene& scene_;
  const World& world_;
  const Projection& view_;
  const RenderOptions& options_;
  Lighting lighting_;
};

/// The first samples everywhere, then more where neighbourhoods are not smooth yet, doubled in each round. Where a
/// round goes on depends on whole rounds before it, so not on the order of tiles.
void expose(Film& film, const Tracer& tracer, const RenderOptions& options) {
  std::vector<int> wanted(film.pixels.size(),
                          std::min(options.noise > 0.0 ? first_samples : options.samples, options.samples));
  for (bool more = true; more;) {
    tbb::parallel_for(
        tbb::blocked_range2d<int>(0, film.height, 16, 0, film.width, 16),
        [&](const tbb::blocked_range2d<int>& tile) {
          for (int y = tile.rows().begin(); y < tile.rows().end(); ++y) {
            for (int x = tile.cols().begin(); x < tile.cols().end(); ++x)
              tracer.sample(film.at(x, y), x, y, wanted[static_cast<std::size_t>(y) * film.width + x]);
          }
        },
        tbb::simple_partitioner());
    more = false;
    const std::vector<float> errors = shown_errors(film);
    for (std::size_t i = 0; i < wanted.size(); ++i) {
      if (wanted[i] >= options.samples || errors[i] <= static_cast<float>(options.noise)) continue;
      wanted[i] = std::min(2 * wanted[i], options.samples);
      more = true;
    }
  }
}

}  // namespace

double default_least_pixels(std::size_t fibres) {
  if (fibres <= close_up_fibres) return 3.5;
  constexpr double wide = 0.7;
  constexpr double sparse = 1000.0;
  return wide * std::min(1.0, sparse / static_cast<double>(fibres));
}

Image render(const Scene& scene, const Camera& camera, const RenderOptions& options) {
  validate(scene);
  check(camera, options);
  const double pixel = 2.0 * std::tan(0.5 * camera.field_of_view_deg * std::numbers::pi / 180.0) / options.height;
  const World world(scene, camera.target,
                    {.factor = options.thickness,
                     .viewer = camera.position,
                     .radius_per_metre = 0.5 * options.least_pixels * pixel,
                     .drawn_per_metre = 0.5 * options.covered_pixels * pixel});
  const Projection view(camera, options, world);
  const Tracer tracer(scene, world, view, options);
  Film film(options.width, options.height);
  Image image(options.width, options.height);
  tbb::task_arena arena(options.threads > 0 ? options.threads : tbb::task_arena::automatic);
  arena.execute([&] {
    expose(film, tracer, options);
    image = developed(film, static_cast<float>(options.smoothing));
  });
  return image;
}

}  // namespace tresse::render
