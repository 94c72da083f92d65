#pragma once

#include <concepts>
#include <stdexcept>
#include <string>

namespace tresse {

/// Bad input: a file, a scene, or an argument of a public function. The message is one line that says where, what was
/// found and what was expected. Thrown once, at the public entry, in every build type.
class InvalidInput : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// The system refused: unreadable file, full disk. Same one-line messages.
class SystemFailure : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Throws InvalidInput with `message` unless `condition` holds.
inline void require(bool condition, const char* message) {
  if (!condition) throw InvalidInput(message);
}
inline void require(bool condition, const std::string& message) {
  if (!condition) throw InvalidInput(message);
}
/// The same where composing the message would cost more than the check.
template <std::invocable Message>
void require(bool condition, const Message& message) {
  if (!condition) throw InvalidInput(message());
}

}  // namespace tresse
