#!/usr/bin/env python3
"""What tools/shell_library shows of a step: shell_library_test.py. Of a build its progress, on a terminal and while it goes on."""

import os
import pathlib
import pty
import select
import subprocess
import tempfile

LIBRARY = pathlib.Path(__file__).resolve().parents[2] / "tools/shell_library"
# The second line waits for a word from the test, which waits for the first.
SCRIPT = """
source "$1"
word=$3
build() { echo "[1/2] one"; read -r -t 60 <&"$word"; echo "[2/2] two"; echo "remark"; }
logged "make it" "$2" build
"""
SECONDS = 30


def shown_until(terminal, text, shown=""):
    while text not in shown:
        ready, _, _ = select.select([terminal], [], [], SECONDS)
        assert ready, f"no {text!r} in {SECONDS} s, but {shown!r}"
        shown += os.read(terminal, 1000).decode()
    return shown


def start(log, output):
    """The script, and where to write the word that it waits for."""
    word, go = os.pipe()
    process = subprocess.Popen(["bash", "-c", SCRIPT, "test", LIBRARY, log, str(word)], stdout=output,
                               stdin=subprocess.DEVNULL, pass_fds=[word])  # fmt: skip
    os.close(word)
    return process, go


def on_a_terminal(log):
    terminal, inner = pty.openpty()
    process, go = start(log, inner)
    try:
        shown = shown_until(terminal, "[1/2]")
    finally:
        os.write(go, b"\n")
        process.wait(SECONDS)
    shown = shown_until(terminal, "\033[Kmake it ... ", shown)
    assert shown == "make it ... \rmake it ... [1/2] \rmake it ... [2/2] \r\033[Kmake it ... ", shown
    assert log.read_text() == "[1/2] one\n[2/2] two\nremark\n"


def elsewhere(log):
    process, go = start(log, subprocess.PIPE)
    os.write(go, b"\n")
    shown, _ = process.communicate(timeout=SECONDS)
    assert shown == b"make it ... ", shown


def main():
    with tempfile.TemporaryDirectory() as folder:
        on_a_terminal(pathlib.Path(folder, "log"))
        elsewhere(pathlib.Path(folder, "log"))
    print("progress on a terminal, none elsewhere")


if __name__ == "__main__":
    main()
