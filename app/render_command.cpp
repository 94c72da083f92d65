#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <numbers>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <Eigen/Geometry>

#include <tresse/base/errors.hpp>
#include <tresse/base/words.hpp>
#include <tresse/exporters/export.hpp>
#include <tresse/record/outputs.hpp>
#include <tresse/record/run_frames.hpp>

#include "commands.hpp"
#include "messages.hpp"
#include "progress_bar.hpp"
#include "render/between_frames.hpp"
#include "render/contact_arrows.hpp"
#include "render/looks.hpp"
#include "render/ray_tracer.hpp"
#include "render/trajectory_scene.hpp"
#include "slow_work.hpp"
#include "video.hpp"

namespace tresse::app {
namespace {

struct RenderArguments {
  std::string folder;
  std::string output;
  std::optional<long long> frame;
  std::optional<std::string> frames;
  double rate = 25.0;
  std::optional<double> speed;
  std::vector<double> camera;
  std::vector<double> target;
  std::vector<double> camera_to;
  std::vector<double> target_to;
  double orbit_deg = 0.0;
  bool contacts = false;
  std::vector<double> up;
  double field_of_view = 24.0;
  std::string framing = "auto";
  std::string side;
  std::vector<std::string> hair;
  std::vector<std::string> colours;
  bool ground = false;
  bool quiet = false;
  std::optional<double> least_pixels;
  std::string environment;
  double environment_light = 1.0;
  double environment_turn_deg = 0.0;
  render::RenderOptions options;
};

/// Where the fibres push hardest on the obstacles; the last frame where they never do.
std::size_t most_telling_frame(record::RunFrames& frames) {
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

using SetLook = void (*)(render::Looks&, const observe::TrajectoryLayout&, const std::string&);

/// One after the other: the last that names a thing counts.
void set_looks(RenderArguments& arguments, const observe::TrajectoryLayout& layout) {
  arguments.options.looks = render::default_looks(layout);
  const auto set = [&](const char* option, const std::vector<std::string>& texts, SetLook one) {
    for (const std::string& text : texts) {
      try {
        one(arguments.options.looks, layout, text);
      } catch (const InvalidInput& error) {
        throw InvalidInput(fmt::format("{}: {}", option, error.what()));
      }
    }
  };
  set("--hair", arguments.hair, render::set_group);
  set("--colour", arguments.colours, render::set_obstacle);
}

render::Camera choose_camera(const render::Scene& scene, const RenderArguments& arguments) {
  const render::RenderOptions& options = arguments.options;
  const bool close = arguments.framing == "close-up" ||
                     (arguments.framing == "auto" && scene.fibres.size() <= render::close_up_fibres);
  require(options.width > 0 && options.height > 0, "width and height: expected at least 1 pixel");
  render::Camera camera = render::frame(scene, {.aspect = static_cast<double>(options.width) / options.height,
                                                .field_of_view_deg = arguments.field_of_view,
                                                .close_up = close,
                                                .side = arguments.side});
  if (!arguments.camera.empty()) camera.position = to_vector(arguments.camera);
  if (!arguments.target.empty()) camera.target = to_vector(arguments.target);
  if (!arguments.up.empty()) camera.up = to_vector(arguments.up);
  return camera;
}

/// Of forces up to `largest` [N]: the longest is a seventh of the picture's height.
void add_contact_arrows(render::Scene& scene, const observe::Frame& frame, const render::Camera& camera,
                        double largest) {
  const double height = 2.0 * std::tan(0.5 * camera.field_of_view_deg * std::numbers::pi / 180.0) *
                        (camera.position - camera.target).norm();
  scene.markers = render::contact_arrows(
      frame, {.metres_per_newton = largest > 0.0 ? height / 7.0 / largest : 0.0, .radius = 0.0045 * height});
}

void render_picture(RenderArguments& arguments, record::RunFrames& frames) {
  const std::size_t index =
      arguments.frame
          ? exporters::chosen_frames({.first = *arguments.frame, .last = *arguments.frame}, frames.frame_count())
                .front()
          : most_telling_frame(frames);
  const observe::Frame frame = frames.frame(index);
  render::Scene scene = render::scene_of(frames.layout(), frame);
  arguments.options.least_pixels = arguments.least_pixels.value_or(render::default_least_pixels(scene.fibres.size()));
  const render::Camera camera = choose_camera(scene, arguments);
  if (arguments.ground) scene.ground = render::ground_under(scene, camera.up);
  if (arguments.contacts) add_contact_arrows(scene, frame, camera, render::largest_contact_force(frame));
  {
    const SlowPiece slow(arguments.quiet, [&] { return "drawing " + arguments.output; });
    render::write_png(render::render(scene, camera, arguments.options), arguments.output);
  }
  if (arguments.quiet) return;
  say("{}: frame {} of {}, t = {:.4g} s, seen from {:.4g},{:.4g},{:.4g}", arguments.output, index, frames.frame_count(),
      frame.time, camera.position.x(), camera.position.y(), camera.position.z());
}

/// What is seen in any of the frames, of some of them where there are many.
render::Scene seen_in(record::RunFrames& frames, const std::vector<std::size_t>& chosen) {
  render::Scene out;
  const std::size_t stride = std::max<std::size_t>(1, chosen.size() / 16);
  for (std::size_t i = 0; i < chosen.size(); i += stride) {
    const render::Scene scene = render::scene_of(frames.layout(), frames.frame(chosen[i]));
    out.fibres.insert(out.fibres.end(), scene.fibres.begin(), scene.fibres.end());
    out.capsules.insert(out.capsules.end(), scene.capsules.begin(), scene.capsules.end());
    out.contacts.insert(out.contacts.end(), scene.contacts.begin(), scene.contacts.end());
    out.planes = scene.planes;
    out.meshes = scene.meshes;
  }
  return out;
}

/// Where the camera is after the part `u` of its way, from 0 to 1.
render::Camera on_its_way(render::Camera camera, const RenderArguments& arguments, double u) {
  const double eased = u * u * (3.0 - 2.0 * u);  // from rest to rest
  if (!arguments.camera_to.empty()) camera.position += eased * (to_vector(arguments.camera_to) - camera.position);
  if (!arguments.target_to.empty()) camera.target += eased * (to_vector(arguments.target_to) - camera.target);
  const double turn = u * arguments.orbit_deg * std::numbers::pi / 180.0;  // steady, so that a whole turn is a loop
  camera.position = camera.target + Eigen::AngleAxisd(turn, camera.up.normalized()) * (camera.position - camera.target);
  return camera;
}

/// "comb.png" of picture 12: "comb_0012.png".
std::string numbered(const std::string& file, std::size_t picture) {
  return fmt::format("{}_{:04}.png", file.substr(0, file.size() - 4), picture);
}

/// The frames that are shown, and where the pictures are between them.
struct Sequence {
  std::vector<std::size_t> frames;
  std::vector<render::Moment> moments;
};

/// In real time, slower or faster, or a picture a frame.
Sequence sequence(const RenderArguments& arguments, const record::RunFrames& frames) {
  Sequence out;
  out.frames =
      exporters::chosen_frames(exporters::read_frame_selection(arguments.frames.value_or("::")), frames.frame_count());
  const double speed = arguments.speed.value_or(arguments.output.ends_with(".mp4") ? 1.0 : 0.0);
  if (speed == 0.0) {
    for (std::size_t i = 0; i < out.frames.size(); ++i) out.moments.push_back({i, 0.0});
    return out;
  }
  std::vector<double> times;
  for (const std::size_t index : out.frames) times.push_back(frames.times()[index]);
  const double step = speed / arguments.rate;
  constexpr double most = 1e5;
  require((times.back() - times.front()) / step < most,
          fmt::format("a video of {:g} s at {:g} pictures a second and speed {:g}: expected at most {:g} pictures",
                      times.back() - times.front(), arguments.rate, speed, most));
  out.moments = render::moments(times, step);
  return out;
}

void render_sequence(RenderArguments& arguments, record::RunFrames& frames) {
  const auto [chosen, moments] = sequence(arguments, frames);
  double largest = 0.0;
  for (const std::size_t index : chosen) {
    if (arguments.contacts) largest = std::max(largest, render::largest_contact_force(frames.frame(index)));
  }
  // What moves has to stay in the picture.
  if (arguments.framing == "auto") arguments.framing = "whole";
  const render::Scene all = seen_in(frames, chosen);
  const render::Camera first = choose_camera(all, arguments);
  std::optional<render::Ground> ground;
  if (arguments.ground) ground = render::ground_under(all, first.up);
  const std::string pictures = counted(static_cast<std::int64_t>(moments.size()), "picture");
  std::optional<Video> video;
  if (arguments.output.ends_with(".mp4"))
    video.emplace(arguments.output, arguments.options.width, arguments.options.height, arguments.rate);
  std::optional<ProgressBar> progress(std::in_place, arguments.quiet);
  for (std::size_t i = 0; i < moments.size(); ++i) {
    observe::Frame frame = frames.frame(chosen[moments[i].before]);
    if (moments[i].weight > 0.0)
      frame = render::between(frame, frames.frame(chosen[moments[i].before + 1]), moments[i].weight);
    render::Scene scene = render::scene_of(frames.layout(), frame);
    arguments.options.least_pixels = arguments.least_pixels.value_or(render::default_least_pixels(scene.fibres.size()));
    const double way = moments.size() > 1 ? static_cast<double>(i) / static_cast<double>(moments.size() - 1) : 0.0;
    const render::Camera camera = on_its_way(first, arguments, way);
    scene.ground = ground;
    if (arguments.contacts) add_contact_arrows(scene, frame, first, largest);
    const render::Image image = render::render(scene, camera, arguments.options);
    if (video)
      video->add(render::encode(image));
    else
      render::write_png(image, numbered(arguments.output, i));
    progress->update(static_cast<double>(i + 1), static_cast<double>(moments.size()),
                     [&] { return fmt::format("{} of {}", i + 1, pictures); });
  }
  progress.reset();
  if (video) video->finish();
  if (arguments.quiet) return;
  say("{}: {} of frames {} to {} of {}, t = {:.4g} to {:.4g} s",
      video ? arguments.output : numbered(arguments.output, moments.size() - 1), pictures, chosen.front(),
      chosen.back(), frames.frame_count(), frames.times()[chosen.front()], frames.times()[chosen.back()]);
}

void set_environment(RenderArguments& arguments) {
  const double light = arguments.environment_light;
  const double turn = arguments.environment_turn_deg;
  require(std::isfinite(light) && light > 0.0 && light <= 1e6, "--environment-light: expected above 0, at most 1e6");
  require(std::isfinite(turn), "--environment-turn: expected a finite angle");
  if (arguments.environment.empty()) {
    require(light == 1.0 && turn == 0.0, "--environment-light, --environment-turn: expected with --environment");
    return;
  }
  constexpr float studio = 0.8F;  // about as light as the studio
  const auto radians = static_cast<float>(std::remainder(turn, 360.0) * std::numbers::pi / 180.0);
  try {
    arguments.options.environment = std::make_shared<const render::Environment>(
        render::read_hdr(arguments.environment), studio * static_cast<float>(light), radians);
  } catch (const InvalidInput& error) {
    const std::string what = error.what();
    throw InvalidInput(what.starts_with(arguments.environment) ? what : arguments.environment + ": " + what);
  }
}

void render_frames(RenderArguments& arguments) {
  const bool video = arguments.output.ends_with(".mp4");
  require(video || arguments.output.ends_with(".png"),
          fmt::format("{}: expected a name that ends in .png or .mp4", arguments.output));
  require(std::isfinite(arguments.rate) && arguments.rate > 0.0 && arguments.rate <= 1000.0,
          fmt::format("--rate: found {:g}, expected more than 0 and at most 1000", arguments.rate));
  if (const auto speed = arguments.speed)
    require(*speed == 0.0 || (*speed >= 1e-9 && *speed <= 1e9),
            fmt::format("--speed: found {:g}, expected 0, or 1e-9 to 1e9", *speed));
  require(std::isfinite(arguments.orbit_deg), "--orbit: expected a finite angle");
  const bool sequence = video || arguments.frames;
  const bool moving = arguments.orbit_deg != 0.0 || !arguments.camera_to.empty() || !arguments.target_to.empty();
  require(sequence || !moving, "a camera that moves: expected --frames or a video, FILE.mp4");
  require(sequence || !arguments.speed, "--speed: expected --frames or a video, FILE.mp4");
  require(!sequence || !arguments.frame, "--frame: expected --frames for several pictures");
  set_environment(arguments);
  record::RunFrames frames(arguments.folder);
  record::FileList inputs = record::files_of_run(arguments.folder);
  inputs.insert(inputs.end(), {frames.file(), arguments.environment});
  record::require_outputs({sequence && !video ? numbered(arguments.output, 0) : arguments.output}, inputs);
  set_looks(arguments, frames.layout());
  if (sequence)
    render_sequence(arguments, frames);
  else
    render_picture(arguments, frames);
}

void add_camera_options(CLI::App& command, RenderArguments& a) {
  const auto point = [&](const char* name, std::vector<double>& into, const char* help) {
    return command.add_option(name, into, help)->delimiter(',')->expected(3);
  };
  command
      .add_option("--framing", a.framing, "close-up: about the contacts; auto: close-up for one picture of few fibres")
      ->check(CLI::IsMember({"auto", "close-up", "whole"}))
      ->capture_default_str();
  auto* from = command.add_option("--from", a.side, "straight from a side, z up: front is the eye at -y, side at +x");
  from->check(CLI::IsMember(std::vector<std::string>(render::sides.begin(), render::sides.end())));
  point("--camera", a.camera, "position of the eye: X,Y,Z [m]")->excludes(from);
  point("--target", a.target, "middle of the picture: X,Y,Z [m]");
  point("--up", a.up, "direction: X,Y,Z");
  point("--camera-to", a.camera_to, "where the eye moves to by the last picture: X,Y,Z [m]");
  point("--target-to", a.target_to, "where the middle moves to by the last picture: X,Y,Z [m]");
  command.add_option("--orbit", a.orbit_deg, "turn of the eye about the middle by the last picture [deg]");
  command.add_option("--field-of-view", a.field_of_view, "of the picture's height [deg]")->capture_default_str();
}

void add_options(CLI::App& command, RenderArguments& a) {
  command.add_option("DIR", a.folder, "folder of a run, also one under way, or a trajectory.h5")->required();
  command.add_option("-o,--output", a.output, "picture to write, FILE.png, or video, FILE.mp4 (by ffmpeg)")->required();
  command.add_option("--frame", a.frame, "from 0; -1 is the last (default: where the force on obstacles is largest)");
  command.add_option(
      "--frames", a.frames,
      "several: FIRST:LAST:STRIDE, negative from the end; FILE_0000.png and so on, or one video of them");
  command.add_option("--rate", a.rate, "pictures a second of a video")->capture_default_str();
  command.add_option(
      "--speed", a.speed,
      "of a video: 1: real time, the default, 0.25: slow motion, 0: a picture a frame (default for .png)");
  command.add_flag("--contacts", a.contacts, "draw the forces on fibres: blue sticks, red slides");
  command.add_option("--width", a.options.width, "pixels")->capture_default_str();
  command.add_option("--height", a.options.height, "pixels")->capture_default_str();
  command.add_option("--samples", a.options.samples, "most rays a pixel")->capture_default_str();
  command
      .add_option("--noise", a.options.noise,
                  "error of its brightness, of 1, at which a pixel takes no more rays; 0: all take --samples")
      ->capture_default_str();
  command
      .add_option("--smoothing", a.options.smoothing,
                  "of grain: by pixels around that differ by so many standard errors; 0: none")
      ->capture_default_str();
  command.add_option("--threads", a.options.threads, "0: all; the picture does not depend on it")
      ->check(CLI::Range(0, 1024))
      ->type_name("N")
      ->capture_default_str();
  add_camera_options(command, a);
  command
      .add_option("--hair", a.hair,
                  "of all fibres, or GROUP=...: blond, brown-blond, brown, red, black; #rrggbb; eumelanin,pheomelanin")
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  command.add_option("--colour,--color", a.colours, "of an obstacle or a surface: NAME=#rrggbb")
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  command.add_flag("--ground", a.ground, "a ground under everything, which takes shadows");
  command.add_option("--environment", a.environment,
                     "light from all around: FILE.hdr, a Radiance picture of all directions, z up");
  command.add_option("--environment-light", a.environment_light, "factor on it; 1: about as light as the studio")
      ->capture_default_str();
  command.add_option("--environment-turn", a.environment_turn_deg, "counterclockwise about z [deg]")
      ->capture_default_str();
  command.add_option("--thickness", a.options.thickness, "factor on the fibres' radii")->capture_default_str();
  command.add_option(
      "--least-width", a.least_pixels,
      "thinnest that a fibre is drawn [pixels] (default: 3.5 up to 20 fibres, then 0.7, less from 1000 on)");
  command.add_flag("--quiet", a.quiet, "say nothing");
}

}  // namespace

void add_render_command(CLI::App& program, int& exit_status) {
  CLI::App* command = program.add_subcommand("render", "Draw frames of a trajectory as pictures or a video");
  command->footer(
      "Example: tresse render out/comb -o comb.png --frame -1 --width 800 --height 500\n"
      "         tresse render out/comb -o comb.mp4 --frames ::4 --orbit 90 --contacts --samples 16");
  const auto arguments = std::make_shared<RenderArguments>();
  add_options(*command, *arguments);
  command->callback([arguments, &exit_status] {
    render_frames(*arguments);
    exit_status = done;
  });
}

}  // namespace tresse::app
