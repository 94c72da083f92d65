#include <tresse/exporters/detail/export_file.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <system_error>

#include <tresse/base/errors.hpp>

namespace tresse::exporters::detail {

void StagedFile::finish() {
  file_.close();
  place_.commit();
}

Spool::Spool(const std::filesystem::path& output, std::size_t channels)
    : path_(output.string() + ".spool.tmp"), file_(files::AppendFile::create(path_)), chunks_(channels) {}

Spool::~Spool() {
  std::error_code error;
  std::filesystem::remove(path_, error);
}

void Spool::append(std::size_t channel, std::string_view bytes) {
  chunks_[channel].push_back({file_.length(), bytes.size()});
  file_.append(bytes);
}

void Spool::copy(std::size_t channel, StagedFile& into) {
  if (!reader_.is_open()) {
    file_.flush();
    reader_.open(path_, std::ios::binary);
  }
  std::string block;
  for (const Chunk& chunk : chunks_[channel]) {
    reader_.seekg(static_cast<std::streamoff>(chunk.begin));
    for (std::uint64_t left = chunk.size; left > 0; left -= block.size()) {
      block.resize(static_cast<std::size_t>(std::min<std::uint64_t>(left, 1U << 20U)));
      if (!reader_.read(block.data(), static_cast<std::streamsize>(block.size())))
        throw SystemFailure(fmt::format("{}: cannot read back what was written", path_.string()));
      into.append(block);
    }
  }
}

}  // namespace tresse::exporters::detail
