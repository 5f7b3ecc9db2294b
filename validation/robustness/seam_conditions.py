"""Where work is done: streams, locale, folder and limits of a process, and what a solve must leave as it was."""

from __future__ import annotations

import contextlib
import decimal
import gc
import io
import locale
import os
import random
import resource
import signal
import sys
import threading
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from threadpoolctl import threadpool_info, threadpool_limits

NOBODY = 65534
LIMITS = (resource.RLIMIT_FSIZE, resource.RLIMIT_AS, resource.RLIMIT_NOFILE, resource.RLIMIT_NPROC)
MOST_BYTES, MOST_ROOM, MOST_FILES = 30_000, 64 * 2**20, 6


class Condition(NamedTuple):
    """`apply` is given a number between 0 and 1 and called in the process, before its streams are made. It may excuse
    that output is lost, and that work is refused. `variables` say the same to a process of its own."""

    name: str
    places: str
    apply: Callable[[float], object] = lambda _: None
    loses: tuple[str, ...] = ()
    refuses: bool = False
    variables: dict[str, str] = {}  # noqa: RUF012  never changed

    @property
    def is_limit(self) -> bool:
        """Whether it may forbid what is done to note the state before: it comes last."""
        return self.apply in (_bytes, _room, _few_files, _no_threads)

    @property
    def is_nobody(self) -> bool:
        """Whether it is nobody's process, who may not begin an interpreter of root's, which reads MATLAB files."""
        return self.apply in (_read_only, _no_threads)


def is_of_root() -> bool:
    """Whether the interpreter lies in a folder that others may not enter."""
    return any(not folder.stat().st_mode & 0o001 for folder in Path(sys.executable).resolve().parents)


def _close(number: int) -> Callable[[float], object]:
    return lambda _: os.close(number)


def _onto(number: int, path: str) -> Callable[[float], object]:
    def apply(_: float) -> None:
        opened = os.open(path, os.O_WRONLY)
        if opened != number:  # it was closed before
            os.dup2(opened, number)
            os.close(opened)

    return apply


def _reader_left(_: float) -> None:
    ear, mouth = os.pipe()
    os.dup2(mouth, 1)
    os.close(mouth)
    os.close(ear)


def _soft(which: int, most: int) -> None:
    hard = resource.getrlimit(which)[1]
    resource.setrlimit(which, (most if hard == resource.RLIM_INFINITY else min(most, hard), hard))


def _bytes(share: float) -> None:
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)  # as Python does
    _soft(resource.RLIMIT_FSIZE, int(MOST_BYTES * share**2))


def _room(share: float) -> None:
    used = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[0]) * resource.getpagesize()
    _soft(resource.RLIMIT_AS, used + int(MOST_ROOM * share**3))


def _little_memory(share: float) -> None:
    """For a process that begins: from what the interpreter needs to what a solve does."""
    _soft(resource.RLIMIT_AS, int((100 + 900 * share) * 2**20))


def _few_files(share: float) -> None:
    _soft(resource.RLIMIT_NOFILE, len(os.listdir("/proc/self/fd")) - 1 + int(MOST_FILES * share))


def _read_only(_: float) -> None:
    os.chmod(".", 0o555)
    _become_nobody()


def _become_nobody() -> None:
    """Root may write everywhere and begin as many threads as it wants."""
    if os.geteuid() == 0:
        os.setgroups([])
        os.setresgid(NOBODY, NOBODY, NOBODY)
        os.setresuid(NOBODY, NOBODY, NOBODY)


def _no_threads(_: float) -> None:
    _become_nobody()
    _soft(resource.RLIMIT_NPROC, 0)


ASCII = {"LANG": "C", "LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
EVERYWHERE = "python command process"
CONDITIONS = (
    Condition("unbuffered", "command process", variables={"PYTHONUNBUFFERED": "1"}),
    Condition("C locale", EVERYWHERE, lambda _: locale.setlocale(locale.LC_ALL, "C"), variables=ASCII),
    Condition("stdin closed", EVERYWHERE, _close(0)),
    Condition("stdout closed", EVERYWHERE, _close(1), ("printed",)),
    Condition("stdout full", EVERYWHERE, _onto(1, "/dev/full"), ("printed",)),
    Condition("stdout's reader gone", "command process", _reader_left, ("printed",)),
    Condition("stderr closed", EVERYWHERE, _close(2), ("said",)),
    Condition("stderr full", EVERYWHERE, _onto(2, "/dev/full"), ("said",)),
    Condition("few bytes (RLIMIT_FSIZE)", EVERYWHERE, _bytes, ("printed", "said", "written")),
    Condition("little room (RLIMIT_AS)", "python command", _room, refuses=True),
    Condition("little memory (ulimit -v)", "process", _little_memory, refuses=True),
    Condition("few descriptors", "python command", _few_files, ("written",), refuses=True),
    Condition("read-only folder", "python command", _read_only, ("written",)),
    Condition("no new threads", "python command", _no_threads, ("written",), refuses=True),
    Condition("np.seterr(all='raise')", "python", lambda _: np.seterr(all="raise")),
    Condition("two BLAS threads", EVERYWHERE, lambda _: threadpool_limits(2), variables={"OPENBLAS_NUM_THREADS": "2"}),
)


def lift_limits() -> None:
    for which in LIMITS:
        hard = resource.getrlimit(which)[1]
        resource.setrlimit(which, (hard, hard))


def make_streams(variables: dict[str, str]) -> None:
    """Standard streams over descriptors 1 and 2, as the interpreter makes them when it starts."""
    unbuffered = "PYTHONUNBUFFERED" in variables
    encoding = "ascii" if "LC_ALL" in variables else "utf-8"
    kept = [sys.stdout, sys.stderr]  # what their end would flush belongs to the parent
    for number, name, errors in ((1, "stdout", "surrogateescape"), (2, "stderr", "backslashreplace")):
        stream = None
        with contextlib.suppress(OSError):
            os.fstat(number)
            raw = io.FileIO(number, "w", closefd=False)
            buffer: Any = raw if unbuffered else io.BufferedWriter(raw)
            lines = number == 2 and not unbuffered
            stream = io.TextIOWrapper(buffer, encoding, errors, line_buffering=lines, write_through=unbuffered)
        setattr(sys, name, stream)
        setattr(sys, f"__{name}__", stream)
    sys.kept_streams = kept  # type: ignore[attr-defined]


# ------------------------------------------------------------------------------------------- the state of a process
def state() -> dict[str, Any]:
    """All that a solve must leave as it was; values are compared, so lists are copied."""
    wakeup = signal.set_wakeup_fd(-1)
    signal.set_wakeup_fd(wakeup)
    umask = os.umask(0)
    os.umask(umask)
    return {
        "warning filters": (list(warnings.filters), warnings.showwarning),
        "errstate": (np.geterr(), np.geterrcall()),
        "signal handlers": {number: signal.getsignal(number) for number in signal.valid_signals()},
        "wakeup descriptor": wakeup,
        "timers": [signal.getitimer(which) for which in (signal.ITIMER_REAL, signal.ITIMER_VIRTUAL)],
        "environment": dict(os.environ),
        "working folder": os.getcwd(),
        "umask": umask,
        "descriptors": descriptors(),
        "streams": (sys.stdin, sys.stdout, sys.stderr, sys.displayhook, sys.excepthook),
        "random numbers": (random.getstate(), str(np.random.get_state(legacy=False))),  # noqa: NPY002  the global one
        "threads": {one.name for one in threading.enumerate()},
        "threads of libraries": [(one["filepath"], one["num_threads"]) for one in threadpool_info()],
        "locale": locale.setlocale(locale.LC_ALL),
        "decimal context": str(decimal.getcontext()),
        "print options": np.get_printoptions(),
        "interpreter": (sys.getrecursionlimit(), sys.getswitchinterval(), gc.isenabled(), list(sys.path)),
    }


def descriptors() -> dict[str, str]:
    found = {}
    for number in os.listdir("/proc/self/fd"):
        with contextlib.suppress(OSError):  # that of the listing itself
            found[number] = os.readlink(f"/proc/self/fd/{number}")
    return found


def changed(before: dict[str, Any], after: dict[str, Any]) -> list[str]:
    return [name for name, value in before.items() if after[name] != value]
