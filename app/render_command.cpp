#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <tresse/base/errors.hpp>
#include <tresse/io/run_frames.hpp>

#include "commands.hpp"
#include "render/ray_tracer.hpp"
#include "render/trajectory_scene.hpp"

namespace tresse::app {
namespace {

struct RenderArguments {
  std::string folder;
  std::string output;
  std::optional<long long> frame;
  std::vector<double> camera;
  std::vector<double> target;
  std::vector<double> up;
  double field_of_view = 24.0;
  std::string framing = "auto";
  std::string hair = "brown-blond";
  std::optional<double> least_pixels;
  render::RenderOptions options;
};

/// Counts from the end when negative; the frame with most contacts on obstacles when not given.
std::size_t frame_index(long long wanted, std::size_t count, const std::string& file) {
  const auto frames = static_cast<long long>(count);
  const long long index = wanted < 0 ? frames + wanted : wanted;
  if (index < 0 || index >= frames) {
    throw InvalidInput(fmt::format("{}: no frame {}: it holds {} frames, 0 to {}", file, wanted, frames, frames - 1));
  }
  return static_cast<std::size_t>(index);
}

/// Where the fibres push hardest on the obstacles; the last frame where they never do.
std::size_t most_telling_frame(io::RunFrames& frames) {
  std::size_t best = frames.frame_count() - 1;
  double best_force = 0.0;
  // A hundred frames spread over the run say enough.
  const std::size_t stride = std::max<std::size_t>(1, frames.frame_count() / 100);
  for (std::size_t i = 0; i < frames.frame_count(); i += stride) {
    double force = 0.0;
    for (const double f : frames.frame(i).obstacle_force) force += f * f;
    if (force > best_force) {
      best_force = force;
      best = i;
    }
  }
  return best;
}

Vector3 to_vector(const std::vector<double>& v) { return {v[0], v[1], v[2]}; }

void set_hair(RenderArguments& arguments) {
  render::HairMaterial& hair = arguments.options.hair;
  if (arguments.hair == "blond") hair.absorption = render::melanin_absorption(0.12F, 0.22F);
  if (arguments.hair == "brown-blond") hair.absorption = render::melanin_absorption(0.55F, 0.45F);
  if (arguments.hair == "brown") hair.absorption = render::melanin_absorption(1.1F, 0.2F);
  if (arguments.hair == "red") hair.absorption = render::melanin_absorption(0.25F, 1.3F);
  if (arguments.hair == "black") hair.absorption = render::melanin_absorption(6.0F, 0.0F);
}

render::Camera choose_camera(const render::Scene& scene, const RenderArguments& arguments) {
  const render::RenderOptions& options = arguments.options;
  const bool close = arguments.framing == "close-up" ||
                     (arguments.framing == "auto" && scene.fibres.size() <= render::close_up_fibres);
  require(options.width > 0 && options.height > 0, "width and height: expected at least 1 pixel");
  render::Camera camera = render::frame(scene, {.aspect = static_cast<double>(options.width) / options.height,
                                                .field_of_view_deg = arguments.field_of_view,
                                                .close_up = close});
  if (!arguments.camera.empty()) camera.position = to_vector(arguments.camera);
  if (!arguments.target.empty()) camera.target = to_vector(arguments.target);
  if (!arguments.up.empty()) camera.up = to_vector(arguments.up);
  return camera;
}

void render_picture(RenderArguments& arguments) {
  require(arguments.output.ends_with(".png"), fmt::format("{}: expected a name that ends in .png", arguments.output));
  render::require_writable(arguments.output);
  io::RunFrames frames(arguments.folder);
  const std::size_t index = arguments.frame
                                ? frame_index(*arguments.frame, frames.frame_count(), frames.file().string())
                                : most_telling_frame(frames);
  const io::Frame frame = frames.frame(index);
  const render::Scene scene = render::scene_of(frames.layout(), frame);
  set_hair(arguments);
  arguments.options.least_pixels = arguments.least_pixels.value_or(render::default_least_pixels(scene.fibres.size()));
  const render::Camera camera = choose_camera(scene, arguments);
  render::write_png(render::render(scene, camera, arguments.options), arguments.output);
  fmt::print(stderr, "{}: frame {} of {}, t = {:.4g} s, seen from {:.4g},{:.4g},{:.4g}\n", arguments.output, index,
             frames.frame_count(), frame.time, camera.position.x(), camera.position.y(), camera.position.z());
}

void add_options(CLI::App& command, RenderArguments& a) {
  command.add_option("DIR", a.folder, "folder of a run, also one under way, or a trajectory.h5")->required();
  command.add_option("-o,--output", a.output, "picture to write, FILE.png")->required();
  command.add_option("--frame", a.frame, "from 0; -1 is the last (default: where the force on obstacles is largest)");
  command.add_option("--width", a.options.width, "pixels")->capture_default_str();
  command.add_option("--height", a.options.height, "pixels")->capture_default_str();
  command.add_option("--samples", a.options.samples, "most rays a pixel")->capture_default_str();
  command.add_option("--threads", a.options.threads, "0: all; the picture does not depend on it")
      ->capture_default_str();
  command.add_option("--framing", a.framing, "close-up: about the contacts; auto: close-up for few fibres")
      ->check(CLI::IsMember({"auto", "close-up", "whole"}))
      ->capture_default_str();
  command.add_option("--camera", a.camera, "position of the eye: X,Y,Z [m]")->delimiter(',')->expected(3);
  command.add_option("--target", a.target, "middle of the picture: X,Y,Z [m]")->delimiter(',')->expected(3);
  command.add_option("--up", a.up, "direction: X,Y,Z")->delimiter(',')->expected(3);
  command.add_option("--field-of-view", a.field_of_view, "of the picture's height [deg]")->capture_default_str();
  command.add_option("--hair", a.hair, "colour")
      ->check(CLI::IsMember({"blond", "brown-blond", "brown", "red", "black"}))
      ->capture_default_str();
  command.add_option("--thickness", a.options.thickness, "factor on the fibres' radii")->capture_default_str();
  command.add_option("--least-width", a.least_pixels,
                     "thinnest that a fibre is drawn [pixels] (default: 3.5 for few fibres, 0.7 for many)");
}

}  // namespace

void add_render_command(CLI::App& program, int& exit_status) {
  CLI::App* command = program.add_subcommand("render", "Draw one frame of a trajectory as a PNG picture");
  command->footer("Example: tresse render out/comb -o comb.png --frame -1 --width 800 --height 500");
  const auto arguments = std::make_shared<RenderArguments>();
  add_options(*command, *arguments);
  command->callback([arguments, &exit_status] {
    render_picture(*arguments);
    exit_status = done;
  });
}

}  // namespace tresse::app
