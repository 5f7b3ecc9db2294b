"""Processes in which work meets what a sequence asks for: forked from this one, which has imported everything, or of
their own. Both end in what they left: status, streams, files, answer, state."""

from __future__ import annotations

import _thread
import contextlib
import gc
import itertools
import os
import pickle
import select
import signal
import subprocess
import sys
import tempfile
import threading
import time
import traceback
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from queue import SimpleQueue
from typing import Any

from mklcvx.__main__ import _leave
from mklcvx.__main__ import main as command_line
from seam_conditions import Condition, changed, lift_limits, make_streams, state
from seam_works import Posed, Work, carried, half_fitted, tree_of

PATIENCE = 60.0  # seconds on the clock, of which the work needs a hundredth
SECOND = 0.02  # seconds at most between two interrupts
ITSELF = "the test itself"
BY_CALLS = ("after calls", "twice", "count")
OLD = b"what was there before\n"
ALONE = Path(__file__).with_name("seam_alone.py")


@dataclass(frozen=True)
class Seam:
    """A sequence: a work on a problem, when it is interrupted, in how many threads, and under which conditions.
    `share` is the share of its calls, or of its time, after which it is interrupted; `amounts` are for conditions."""

    number: int
    place: str
    work: Work
    problem: int
    storage: str
    size: int
    interrupt: str = "none"
    share: float = 0.0
    pause: float = 0.0
    threads: int = 1
    conditions: tuple[Condition, ...] = ()
    amounts: tuple[float, ...] = ()
    old: bool = False  # whether the output is there before

    def posed(self, folder: Path) -> Posed:
        return Posed(self.work.problems[self.problem], self.storage, self.size, folder)


@dataclass
class Ended:
    """How a process ended. `fired` says that an interrupt surely came during the work."""

    status: int | None = None  # None: not within PATIENCE
    fired: bool = False
    calls: int = 0
    seconds: float = 0.0
    answers: list[Any] = field(default_factory=list)  # of the threads, this one's first if it has one
    fault: str = ""
    message: str = ""
    inside: bool = False  # whether it arose within mklcvx
    carried: list[Any] | None = None
    is_half_fitted: bool = False
    in_errstate: bool = False  # whether it arose within `np.errstate` itself
    changes: list[str] = field(default_factory=list)
    again: Any = None
    out: str = ""
    err: str = ""
    files: dict[str, bytes] = field(default_factory=dict)


# ------------------------------------------------------------------------------------------------------- in the parent
def run(seam: Seam, inputs: Path, calls: int = 1, seconds: float = 0.0) -> Ended:
    """Run a sequence whose undisturbed work takes so many calls and seconds."""
    at, moment = max(1, int(seam.share * calls)), max(seam.share * seconds, 0.002)
    with tempfile.TemporaryDirectory(dir=inputs) as place:
        os.chmod(place, 0o755)
        folder = Path(place) / "here"
        folder.mkdir()
        if seam.old and seam.work.output.written:
            (folder / seam.work.output.written).write_bytes(OLD)
        begin = _alone if seam.place == "process" else _forked
        child, ear = begin(seam, inputs, folder, at, moment)
        ended = _watched(child, ear, seam, moment)
        ended.out, ended.err = (_text(Path(place) / name) for name in ("out", "err"))
        ended.files = {one.name: one.read_bytes() for one in folder.iterdir() if one.is_file()}
    return ended


def _text(file: Path) -> str:
    return file.read_text(encoding="utf-8", errors="replace") if file.exists() else ""


def _watched(child: int, ear: int, seam: Seam, moment: float) -> Ended:
    """Wait for a process, interrupt it when it is time, and kill it if it hangs."""
    started, due, got = time.monotonic(), list[float](), b""
    while (now := time.monotonic()) < started + PATIENCE:
        if due and now >= due[0]:
            del due[0]
            os.kill(child, signal.SIGINT)
        if not select.select([ear], [], [], max(0.0, min([*due, started + PATIENCE]) - now))[0]:
            continue
        if not (chunk := os.read(ear, 2**16)):
            break
        got, now = got + chunk, time.monotonic()
        if got == b"b" and "moment" in seam.interrupt:
            due = [now + moment, now + moment + seam.pause * SECOND][: 1 + ("twice" in seam.interrupt)]
        if got == b"bf" and seam.interrupt == "twice":
            due = [now + seam.pause * SECOND]
    os.close(ear)
    return _reaped(child, started, got)


def _reaped(child: int, started: float, got: bytes) -> Ended:
    status: int | None = None
    while status is None and time.monotonic() < started + PATIENCE:
        done, code = os.waitpid(child, os.WNOHANG)
        status = os.waitstatus_to_exitcode(code) if done else time.sleep(0.001)
    if status is None:
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
    fired, report = got[:2] == b"bf", got.lstrip(b"bf")
    ended = Ended(**pickle.loads(report)) if report else Ended()
    ended.status, ended.fired = 130 if status == -signal.SIGINT else status, fired  # as a shell has it
    return ended


def _alone(seam: Seam, inputs: Path, folder: Path, _: int, __: float) -> tuple[int, int]:
    """The command in a process of its own."""
    ear, mouth = os.pipe()
    variables = {name: value for one in seam.conditions for name, value in one.variables.items()}
    words = seam.work.command(seam.posed(inputs))
    with (folder.parent / "out").open("wb") as out, (folder.parent / "err").open("wb") as err:
        child = subprocess.Popen(
            [sys.executable, "-P", ALONE, str(mouth), *words], stdin=subprocess.DEVNULL, stdout=out, stderr=err,
            cwd=folder, env={**os.environ, **variables}, pass_fds=[mouth], preexec_fn=lambda: _apply(seam),
        )  # fmt: skip
    os.close(mouth)
    child.returncode = 0  # it is waited for elsewhere
    return child.pid, ear


def _apply(seam: Seam, *, limits: bool | None = None) -> None:
    for condition, amount in zip(seam.conditions, seam.amounts, strict=True):
        if limits is None or condition.is_limit is limits:
            condition.apply(amount)


def _forked(seam: Seam, inputs: Path, folder: Path, calls: int, moment: float) -> tuple[int, int]:
    ear, mouth = os.pipe()
    child = os.fork()
    if child:
        os.close(mouth)
        return child, ear
    status = 99
    try:
        os.close(ear)
        status = _in_the_child(seam, inputs, folder, _Interrupts(seam.interrupt, calls, moment, mouth))
    except BaseException:
        with contextlib.suppress(BaseException):
            lift_limits()
            _report(mouth, Ended(fault=ITSELF, message=traceback.format_exc()))
    finally:
        os._exit(status)


# -------------------------------------------------------------------------------------------------------- in the child
def _in_the_child(seam: Seam, inputs: Path, folder: Path, interrupts: _Interrupts) -> int:
    os.chdir(folder)
    for number, name in ((1, "out"), (2, "err")):
        with (folder.parent / name).open("wb") as file:
            os.dup2(file.fileno(), number)
    posed = seam.posed(inputs)
    if seam.work.run is not None:
        posed.store()
    variables = {name: value for one in seam.conditions for name, value in one.variables.items()}
    os.environ.update(variables)
    _apply(seam, limits=False)
    make_streams(variables)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    return (_by_command if seam.work.run is None else _in_python)(seam, posed, interrupts)


def _in_python(seam: Seam, posed: Posed, interrupts: _Interrupts) -> int:
    """Do the work; then note what it was, what it left, and whether it can be done again."""
    run, ended = seam.work.run, Ended()
    assert run is not None
    gate, before = SimpleQueue[None](), state()  # an event that is interrupted may not give its lock back
    helpers = [_Helper(lambda: run(posed.beside()), gate) for _ in range(seam.threads - 1)]
    result, fault, heard = None, None, before["signal handlers"][signal.SIGINT]
    for helper in helpers:
        helper.start()
    started = time.perf_counter()
    try:
        try:
            os.write(interrupts.mouth, b"b")
            with interrupts:
                _apply(seam, limits=True)
                gate.put(None)
                result = run(posed)
        finally:
            heard = signal.signal(signal.SIGINT, signal.SIG_IGN)
    except BaseException as raised:
        fault = raised
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # an interrupt may have come between
    ended.seconds, ended.calls = time.perf_counter() - started, interrupts.heard
    lift_limits()
    gate.put(None)
    for helper in helpers:
        helper.join()
    if fault is not None:
        _note(ended, fault, posed)
        fault = None  # its frames hold what the work has opened
    else:
        ended.answers.append(tree_of(result, posed))
    ended.answers += [helper.answer(posed) for helper in helpers]
    del result, helpers
    ended.changes = _changes(before, heard)
    if ended.fault:
        again = _Helper(lambda: run(posed), gate)
        again.run()
        ended.again = again.answer(posed)
    with contextlib.suppress(Exception):
        sys.stdout.flush()
    if posed.client is not None:
        posed.client.close()
    _report(interrupts.mouth, ended)
    return 0


def _changes(before: dict[str, Any], heard: Any) -> list[str]:
    """What is no longer as it was; `heard` is what an interrupt met when the work was over."""

    def after() -> dict[str, Any]:
        found = state()
        found["signal handlers"][signal.SIGINT] = heard
        return found

    found = changed(before, after())
    if "descriptors" in found:  # what has ended may still hold files
        gc.collect()
        found = changed(before, after())
    return found


def _note(ended: Ended, fault: BaseException, posed: Posed) -> None:
    frames = traceback.extract_tb(fault.__traceback__)
    is_interrupt = isinstance(fault, KeyboardInterrupt)
    ended.fault, ended.message = "KeyboardInterrupt" if is_interrupt else type(fault).__name__, str(fault)
    ended.inside = any("/mklcvx/" in frame.filename or "/formulations/" in frame.filename for frame in frames)
    last = next((frame.filename for frame in reversed(frames) if frame.filename != __file__), "")
    ended.in_errstate = last.endswith("_ufunc_config.py")
    ended.carried = carried(fault)
    ended.is_half_fitted = posed.estimator is not None and half_fitted(posed.estimator)


class _Helper(threading.Thread):
    """Does the same work beside this thread, once the gate is open, or after it."""

    def __init__(self, work: Callable[[], Any], gate: SimpleQueue[None]) -> None:
        super().__init__()
        self.work, self.gate, self.result, self.fault = work, gate, None, ""

    def run(self) -> None:
        self.gate.put(self.gate.get())  # for the next
        try:
            self.result = self.work()
        except BaseException as fault:
            self.fault = f"{type(fault).__name__}: {fault}"

    def answer(self, posed: Posed) -> Any:
        return {"raised": self.fault} if self.fault else tree_of(self.result, posed)


def _by_command(seam: Seam, posed: Posed, interrupts: _Interrupts) -> int:
    """The command as its process would run it, to the interpreter's end."""
    sys.argv = ["mklcvx", *seam.work.command(posed)]
    status, ended, started = 0, Ended(), time.perf_counter()
    signal.signal(signal.SIGINT, _leave)  # as the command will do
    os.write(interrupts.mouth, b"b")
    try:
        with interrupts:
            _apply(seam, limits=True)
            command_line()
    except SystemExit as left:
        status = int(left.code or 0)
    except BaseException:
        with contextlib.suppress(Exception):
            traceback.print_exc()
        status = 1
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    for stream in (sys.stdout, sys.stderr):
        try:
            if stream is not None:
                stream.flush()
        except Exception:
            status = 120 if stream is sys.stdout else status
    lift_limits()
    ended.calls, ended.seconds = interrupts.heard, time.perf_counter() - started
    _report(interrupts.mouth, ended)
    return status


def _report(mouth: int, ended: Ended) -> None:
    content = pickle.dumps(vars(ended))
    while content:
        content = content[os.write(mouth, content) :]


# ------------------------------------------------------------------------------------------------------ the interrupts
class _Interrupts:
    """Interrupt the work within it as the sequence asks, unless this is done from outside.

    Calls of functions are counted, so that the same sequence is interrupted at the same place again: where one of
    Python's begins or one in C has ended, as the interpreter does it. Before one in C nothing is interrupted: a lock
    would not be given back."""

    def __init__(self, kind: str, calls: int, moment: float, mouth: int) -> None:
        self.kind, self.mouth, self.heard = kind, mouth, 0
        self.at = 0 if kind == "count" else calls
        self.counter, self.timer = itertools.count(1), threading.Timer(moment, _thread.interrupt_main)

    def __enter__(self) -> None:
        if self.kind in BY_CALLS:
            threading.setprofile(self.hear)
            sys.setprofile(self.hear)
        elif self.kind == "from a thread":
            self.timer.start()

    def hear(self, _frame: Any, event: str, _argument: Any) -> None:
        if event not in ("call", "c_return"):
            return
        self.heard = next(self.counter)
        if self.heard == self.at:
            os.write(self.mouth, b"f")
            os.kill(os.getpid(), signal.SIGINT)

    def __exit__(self, *_: object) -> None:
        sys.setprofile(None)
        threading.setprofile(None)  # type: ignore[arg-type]
        if self.timer.is_alive():
            self.timer.cancel()
            self.timer.join()
