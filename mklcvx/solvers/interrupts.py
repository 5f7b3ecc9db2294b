"""What an interrupt leaves of a solve, and the thread in which the command line solves.

A solver says at its beginning how its best point is to be had (`keep`); `solve` asks for it once it is interrupted.
Conic solvers and long factorisations run outside of Python, where no interrupt reaches them. At the command line the
main thread only waits for such work: an interrupt ends the waiting at once, and the thread is left to itself.
"""

from __future__ import annotations

import contextvars
import functools
import signal
import threading
from collections.abc import Callable
from concurrent.futures import Future, wait
from typing import ParamSpec, TypeAlias, TypeVar

from ..certificate import CertifiedPoint
from ..certificate.run import Run
from ..errors import is_at_command_line
from ..problem.threads import begin

LOOK = 0.05  # seconds between two looks of the main thread
Outcome: TypeAlias = tuple[CertifiedPoint, Run]
Keep: TypeAlias = Callable[[Callable[[], Outcome]], object]
Result = TypeVar("Result")
Given = ParamSpec("Given")


def in_own_context(work: Callable[Given, Result]) -> Callable[Given, Result]:
    """The function in a copy of the context, which the interpreter takes back whole: an interrupt between two lines of
    `np.errstate` itself would leave it set."""

    @functools.wraps(work)
    def run(*arguments: Given.args, **named: Given.kwargs) -> Result:
        return contextvars.copy_context().run(work, *arguments, **named)

    return run


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
    if begin(lambda: context.run(run)) is None:  # the interrupt has to wait
        return work()
    while not wait([future], LOOK).done:
        if ours is not None:
            signal.signal(signal.SIGINT, ours)  # SCS takes interrupts for itself
    return future.result()
