"""What an interrupt leaves of a solve, and the thread in which the command line solves.

A solver says at its beginning how its best point is to be had (`keep`); `solve` asks for it once it is interrupted.
Conic solvers and long factorisations run outside of Python, where no interrupt reaches them. At the command line the
main thread only waits for such work: an interrupt ends the waiting at once, and the thread is left to itself.
"""

from __future__ import annotations

import contextvars
import signal
import threading
from collections.abc import Callable
from concurrent.futures import Future, wait
from typing import TypeAlias, TypeVar

from ..certificate import CertifiedPoint
from ..certificate.run import Run
from ..defaults import SOLVING_THREAD
from ..errors import is_at_command_line

LOOK = 0.05  # seconds between two looks of the main thread
Outcome: TypeAlias = tuple[CertifiedPoint, Run]
Keep: TypeAlias = Callable[[Callable[[], Outcome]], object]
Result = TypeVar("Result")


def interruptible(work: Callable[[], Result]) -> Result:
    """The result of the work; at the command line it is done in a thread of its own."""
    main = threading.current_thread() is threading.main_thread()
    if not (main and is_at_command_line()):
        return work()
    future = Future[Result]()

    def run() -> None:
        try:
            future.set_result(work())
        except BaseException as fault:  # raised again where it is waited for
            future.set_exception(fault)

    context, ours = contextvars.copy_context(), signal.getsignal(signal.SIGINT)
    thread = threading.Thread(target=context.run, args=(run,), name=SOLVING_THREAD, daemon=True)
    try:
        thread.start()
    except RuntimeError:  # the system gives no thread: the interrupt has to wait
        return work()
    while not wait([future], LOOK).done:
        if ours is not None:
            signal.signal(signal.SIGINT, ours)  # SCS takes interrupts for itself
    return future.result()
