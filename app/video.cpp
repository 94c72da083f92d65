#include "video.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <spawn.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <string>
#include <system_error>
#include <utility>

#include <tresse/base/errors.hpp>

#include "child_process.hpp"

namespace tresse::app {
namespace {

/// Starts `words` with `input` as its standard input; an error number, or 0.
int start(const std::vector<std::string>& words, int input, pid_t& child) {
  const std::vector<char*> argv = argument_pointers(words);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, input, STDIN_FILENO);
  const int error = posix_spawnp(&child, argv[0], &actions, nullptr, argv.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  return error;
}

}  // namespace

Video::Video(std::filesystem::path file, int width, int height, double rate) : place_(std::move(file)) {
  require(width % 2 == 0 && height % 2 == 0,
          fmt::format("a video of {} x {} pixels: expected even numbers, which its format wants", width, height));
  int ends[2] = {-1, -1};
  if (pipe2(ends, O_CLOEXEC) != 0) throw SystemFailure(fmt::format("no pipe to ffmpeg: {}", std::strerror(errno)));
  const int error =
      start({"ffmpeg", "-y", "-nostdin", "-loglevel", "error", "-f", "rawvideo", "-pix_fmt", "rgb24", "-video_size",
             fmt::format("{}x{}", width, height), "-framerate", fmt::format("{}", rate), "-i", "pipe:0",
             // Said in the file too: players guess by the size otherwise, and show other colours.
             "-vf", "scale=out_color_matrix=bt709:out_range=tv", "-colorspace", "bt709", "-color_primaries", "bt709",
             "-color_trc", "iec61966-2-1", "-color_range", "tv", "-c:v", "libx264", "-crf", "18", "-pix_fmt", "yuv420p",
             "-movflags", "+faststart", "-f", "mp4", "file:" + place_.temporary().string()},
            ends[0], encoder_);
  close(ends[0]);
  pipe_ = ends[1];
  if (error != 0) {
    encoder_ = -1;
    close(std::exchange(pipe_, -1));
    throw SystemFailure(fmt::format("ffmpeg: {}; videos need it: install ffmpeg, or write pictures, -o NAME.png",
                                    std::strerror(error)));
  }
}

Video::~Video() {
  if (encoder_ >= 0) wait();
}

void Video::add(const std::vector<std::uint8_t>& pixels) {
  for (std::size_t done = 0; done < pixels.size();) {
    const ssize_t written = write(pipe_, pixels.data() + done, pixels.size() - done);
    if (written < 0 && errno == EINTR) continue;
    if (written < 0)
      throw SystemFailure(fmt::format("{}: ffmpeg gave up: {}", place_.file().string(), std::strerror(errno)));
    done += static_cast<std::size_t>(written);
  }
}

int Video::wait() {
  close(std::exchange(pipe_, -1));
  return wait_for(std::exchange(encoder_, -1));
}

void Video::finish() {
  if (const int status = wait(); status != 0)
    throw SystemFailure(fmt::format("{}: ffmpeg could not write it (exit status {})", place_.file().string(), status));
  place_.commit();
}

}  // namespace tresse::app
