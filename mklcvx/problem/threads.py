"""Threads that begin, or are known not to, however little memory there is.

`threading.Thread.start` waits until the thread says that it has begun: for ever, if memory ends before it can.
"""

from __future__ import annotations

import _thread
from collections.abc import Callable
from contextlib import suppress
from threading import Event, Lock

BEGINS = 5.0  # seconds; a thread that comes later finds that it is no longer wanted
at_work: set[Event] = set()  # the ends of threads that have begun


def begin(work: Callable[[], object]) -> Event | None:
    """Do the work in a thread of its own. What is returned is set once it has ended; None where no thread began."""
    turn, begun, ended = Lock(), Lock(), Event()
    begun.acquire()

    def run() -> None:
        if turn.acquire(blocking=False):
            begun.release()
            try:
                work()
            finally:
                at_work.discard(ended)
                ended.set()

    at_work.add(ended)
    with suppress(RuntimeError, MemoryError):  # the system gives no thread
        _thread.start_new_thread(run, ())
        if begun.acquire(timeout=BEGINS) or not turn.acquire(blocking=False):
            return ended
    at_work.discard(ended)
    return None
