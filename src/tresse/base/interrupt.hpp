#pragma once

#include <exception>

namespace tresse {

/// Leaves a long computation that was asked to end. What it worked on is as it was, or is not to be used.
class Interrupted : public std::exception {
 public:
  const char* what() const noexcept override { return "interrupted"; }
};

/// Asks what is being computed, on any thread, to end soon. May be called by a signal handler.
void request_interrupt() noexcept;

/// Takes the request back.
void clear_interrupt() noexcept;

/// Throws Interrupted when that was asked for. Loops that may go on for longer than a moment call it on their way; none
/// that writes files does.
void poll_interrupt();

}  // namespace tresse
