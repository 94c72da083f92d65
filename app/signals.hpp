#pragma once

/// Signals that ask the program to end: Ctrl-C, SIGTERM, a terminal that closes, a limit on processor time.
namespace tresse::app {

/// From here on the first such signal makes stop_requested() true, and with `interrupting` calls request_interrupt()
/// (base/interrupt.hpp); a second of its kind ends the program at once, as the first did before. A signal that was to
/// be ignored, as nohup has it, still is.
void obey_stop_signals(bool interrupting);

bool stop_requested();

}  // namespace tresse::app
