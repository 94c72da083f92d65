#include <tresse/base/log.hpp>

#include <utility>

namespace tresse {
namespace {
LogSink& sink() {
  static LogSink instance;
  return instance;
}
}  // namespace

void set_log_sink(LogSink new_sink) { sink() = std::move(new_sink); }

void log(LogLevel level, const std::string& message) {
  if (sink()) sink()(level, message);
}

}  // namespace tresse
