#pragma once

#include <functional>
#include <string>

namespace tresse {

enum class LogLevel { debug, info, warning };

/// Where the library's messages go; the library itself never prints. The default sink drops everything.
/// Not thread-safe: set it before work starts.
using LogSink = std::function<void(LogLevel, const std::string&)>;
void set_log_sink(LogSink sink);
void log(LogLevel level, const std::string& message);

}  // namespace tresse
