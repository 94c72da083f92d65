#include "signals.hpp"

#include <csignal>

#include <tresse/base/interrupt.hpp>

namespace tresse::app {
namespace {

volatile std::sig_atomic_t requested = 0;

void request_stop(int signal) {
  requested = 1;
  std::signal(signal, SIG_DFL);
}

void request_stop_and_interrupt(int signal) {
  request_stop(signal);
  request_interrupt();
}

}  // namespace

void obey_stop_signals(bool interrupting) {
  for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGXCPU}) {
    if (std::signal(signal, interrupting ? request_stop_and_interrupt : request_stop) == SIG_IGN)
      std::signal(signal, SIG_IGN);
  }
}

bool stop_requested() { return requested != 0; }

}  // namespace tresse::app
