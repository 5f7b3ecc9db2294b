"""Ctrl-C ends a command within a second, wherever it is.

An interrupt becomes a KeyboardInterrupt in Python code at once, which carries what a solver has found by then
(`errors.Interrupted`). Code outside of Python, such as a long factorisation, does not hear of it: if nothing has
reacted after PATIENCE seconds, the process ends. Outputs are written whole or not at all, so nothing is left half done.
"""

from __future__ import annotations

import contextlib
import os
import signal
import threading
from collections.abc import Iterator

from ..problem.threads import begin

INTERRUPTED = 130  # the exit status
PATIENCE = 0.7  # seconds
WORDS = "interrupted"


class Stopped(Exception):
    """An interrupt after which something is kept; the message says what."""


@contextlib.contextmanager
def heard() -> Iterator[None]:
    """Within it, an interrupt is heard, whatever the process is doing; unless it is to be ignored, as by `nohup`."""
    is_ignored = signal.getsignal(signal.SIGINT) is signal.SIG_IGN
    if is_ignored or threading.current_thread() is not threading.main_thread():
        yield
        return
    reacted = threading.Event()

    def react(*_: object) -> None:
        reacted.set()
        raise KeyboardInterrupt

    ear, mouth = os.pipe()
    os.set_blocking(mouth, False)
    before = signal.signal(signal.SIGINT, react)
    woken = signal.set_wakeup_fd(mouth, warn_on_full_buffer=False)
    listened = None
    try:
        listened = begin(lambda: _listen(ear, reacted))  # without it, Python code hears all the same
        yield
    finally:
        signal.set_wakeup_fd(woken)
        signal.signal(signal.SIGINT, before)
        os.close(mouth)
        if listened is not None:
            listened.wait()


def _listen(ear: int, reacted: threading.Event) -> None:
    """Read the numbers of signals as they arrive, until the other end is closed."""
    with open(ear, "rb", buffering=0) as signals:
        while number := signals.read(1):
            if number[0] == signal.SIGINT and not reacted.wait(PATIENCE):
                leave()
            reacted.clear()


def leave(*_: object) -> None:
    """End the process at once."""
    with contextlib.suppress(OSError):
        os.write(2, f"mklcvx: {WORDS}\n".encode())
    os._exit(INTERRUPTED)
