#pragma once

#include <sys/types.h>

#include <cstdint>
#include <filesystem>
#include <vector>

#include <tresse/files/atomic_file.hpp>

namespace tresse::app {

/// An MP4 file that ffmpeg encodes as pictures come. It appears when finish() was called, or not at all.
class Video {
 public:
  /// `width`, `height` even [px]; `rate` pictures a second. Throws SystemFailure when there is no ffmpeg.
  Video(std::filesystem::path file, int width, int height, double rate);
  ~Video();
  Video(const Video&) = delete;
  Video& operator=(const Video&) = delete;

  /// One picture, RGB interleaved, 8 bits. Throws SystemFailure when ffmpeg gave up.
  void add(const std::vector<std::uint8_t>& pixels);
  void finish();

 private:
  int wait();  ///< closes the pipe; ffmpeg's exit status

  files::Replacement place_;
  pid_t encoder_ = -1;
  int pipe_ = -1;
};

}  // namespace tresse::app
