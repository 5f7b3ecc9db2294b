"""Interrupts at the command line: the work is done in a thread of its own, and what it has found so far is kept.

Conic solvers and long factorisations run outside of Python, where no interrupt reaches them; SCS even takes the
interrupt for itself. So the main thread only waits. An interrupt ends the waiting at once, the thread is left to
itself, and the best point that it has certified becomes the answer. Elsewhere than at the command line nothing of this
happens.
"""

from __future__ import annotations

import contextvars
import signal
import threading
from collections.abc import Callable
from contextvars import ContextVar
from dataclasses import dataclass, field

from ..certificate import CertifiedPoint
from ..certificate.run import Ending, Run
from ..defaults import SOLVING_THREAD
from ..errors import is_at_command_line

LOOK = 0.05  # seconds between two looks of the main thread
Outcome = tuple[CertifiedPoint, Run]


@dataclass
class Kept:
    """The best point so far, and the run that found it; `left` once nobody waits for more."""

    outcome: Outcome | None = None
    left: bool = False
    ended: threading.Event = field(default_factory=threading.Event)


_interrupted = threading.Event()
_kept: ContextVar[Kept | None] = ContextVar("kept", default=None)


class Left(BaseException):
    """Ends a thread that nobody waits for."""


def keep(point: CertifiedPoint, run: Run) -> None:
    """Remember a point in case of an interrupt, if it is better than the last."""
    kept = _kept.get()
    if kept is None:
        return
    if kept.left:
        raise Left
    if kept.outcome is None or not kept.outcome[0].certificate.gap <= point.certificate.gap:
        kept.outcome = point, run


def stop_if_interrupted() -> None:
    """Raise the interrupt that has ended the last piece of work: no other one is begun then."""
    if _interrupted.is_set():
        _interrupted.clear()
        raise KeyboardInterrupt


def interruptible(work: Callable[[], Outcome]) -> Outcome:
    """The outcome of the work, or, after an interrupt, what it has kept; with nothing kept, the interrupt is raised."""
    main = threading.current_thread() is threading.main_thread()
    if not (main and is_at_command_line()):
        return work()
    kept, found = Kept(), _Found()
    _interrupted.clear()

    def run() -> None:
        try:
            _kept.set(kept)
            found.outcome = work()
        except BaseException as fault:  # raised again where it is waited for
            found.fault = fault
        finally:
            kept.ended.set()

    context = contextvars.copy_context()
    thread = threading.Thread(target=context.run, args=(run,), name=SOLVING_THREAD, daemon=True)
    try:
        thread.start()  # an interrupt may come before it has returned
        _wait(kept.ended)
    except KeyboardInterrupt:
        kept.left = True
        if kept.outcome is None:
            raise
        _interrupted.set()
        point, so_far = kept.outcome
        so_far.end(Ending.INTERRUPTED)
        return point, so_far
    if found.fault is not None:
        raise found.fault
    assert found.outcome is not None
    return found.outcome


@dataclass
class _Found:
    outcome: Outcome | None = None
    fault: BaseException | None = None


def _wait(ended: threading.Event) -> None:
    """Wait, and take interrupts back from a solver that has taken them for itself."""
    ours = signal.getsignal(signal.SIGINT)
    while not ended.wait(LOOK):
        if ours is not None:
            signal.signal(signal.SIGINT, ours)
