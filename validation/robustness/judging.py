"""What a read may end in: an object, or a refusal of one line that names the input; from the given file alone, within
a budget of time and memory.

Files that are opened are heard of by an audit hook. HDF5 opens files in C, which no hook hears: what its traps lead to
would have a new time of access.
"""

from __future__ import annotations

import os
import resource
import shutil
import signal
import sys
import traceback
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from mklcvx import InputError
from mklcvx.io import matlab_apart
from mutating import FOLDER, PIPE
from readers import Reader, Refusal, unfolded

MEMORY = "200MB"  # that readers are told there is
GROWTH = 400e6  # bytes that a process may grow by
SECONDS = matlab_apart.SECONDS + 2.0  # of the processor, for a read: that of MATLAB files has so many, and starts
PATIENCE = 60  # seconds until a read that waits is ended
LONGEST = 1010  # characters of a refusal
NAMED = ("given", "answer", "instance", "data set", "model", "not a point", "preprocessing", "parameter", "formulation")
CODE = (
    "pickle.find_class",
    "subprocess.Popen",
    "os.system",
    "os.exec",
    "os.posix_spawn",
    "socket.connect",
    "ctypes.dlopen",
)
SYSTEM = ("/proc/", "/sys/fs/cgroup", sys.prefix, sys.base_prefix, str(Path(__file__).parents[2]), "/dev/null")


class Outcome(NamedTuple):
    """`fault` is empty if the read ended as it may."""

    refused: bool
    fault: str


class Ear:
    """Hears what is opened and run while it listens."""

    def __init__(self) -> None:
        self.heard: list[str] = []
        self.place: Path | None = None
        sys.addaudithook(self._hear)

    def _hear(self, event: str, given: tuple[object, ...]) -> None:
        if self.place is None:
            return
        if event == "subprocess.Popen" and given[0] == sys.executable:
            return  # HDF5 is read in a process of its own
        if event in CODE:
            self.heard.append(f"{event} {given[:1]}")
        elif event == "open" and isinstance(given[0], str | bytes):
            name = os.fsdecode(given[0])
            if not os.path.abspath(name).startswith((str(self.place), *SYSTEM)):
                self.heard.append(f"opened {name}")

    @contextmanager
    def listening(self, place: Path) -> Iterator[None]:
        self.place, self.heard = place, []
        try:
            yield
        finally:
            self.place = None


class Judge:
    """Puts damaged files into a folder and has them read."""

    def __init__(self, folder: Path) -> None:
        os.environ["MKLCVX_MEMORY"] = MEMORY
        self.folder, self.ear = folder / "case", Ear()
        self.beside = folder
        self.largest = _taken()

    def judged(self, reader: Reader, data: bytes) -> Outcome:
        shutil.rmtree(self.folder, ignore_errors=True)
        self.folder.mkdir()
        path = self.folder / f"given{reader.ending.removeprefix('.h5')}"
        _put(reader, data, path)
        canaries = list(self.beside.glob("canary*"))
        for one in canaries:
            os.utime(one, ns=(0, one.stat().st_mtime_ns))  # an old time of access: the next one is noted
        started = _spent()
        with self.ear.listening(self.beside), warnings.catch_warnings(), _alarm():
            warnings.simplefilter("ignore")
            refused, fault = _read(reader, path)
        seconds = _spent() - started
        if self.ear.heard:
            return Outcome(refused, f"outside: {self.ear.heard[0]}")
        if any(one.stat().st_atime_ns for one in canaries):
            return Outcome(refused, "outside: another file was read")
        if seconds > SECONDS:
            return Outcome(refused, f"slow: {seconds:.1f} s")
        now = _taken()
        grown, self.largest = now - self.largest, max(now, self.largest)
        return Outcome(refused, f"memory: {grown / 1e6:.0f} MB more" if grown > GROWTH else fault)


def _put(reader: Reader, data: bytes, path: Path) -> None:
    if reader.ending == "":
        unfolded(data, path)
    elif data == PIPE:
        os.mkfifo(path)
    elif data == FOLDER:
        path.mkdir()
    else:
        path.write_bytes(data)


USED_BY = (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)  # HDF5 is read by a child


def _spent() -> float:
    """Seconds of the processor, those of children that have ended among them."""
    used = [resource.getrusage(one) for one in USED_BY]
    return sum(one.ru_utime + one.ru_stime for one in used)


def _taken() -> int:
    """The most memory that this process, or a child of it, has had."""
    return max(resource.getrusage(one).ru_maxrss for one in USED_BY) * 1024


class Hung(Exception):
    """A reader waits, for example for a pipe."""


@contextmanager
def _alarm() -> Iterator[None]:
    """End a read that waits."""

    def ring(*_: object) -> None:
        raise Hung(f"it waits longer than {PATIENCE} s")

    before = signal.signal(signal.SIGALRM, ring)
    signal.alarm(PATIENCE)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


def _read(reader: Reader, path: Path) -> tuple[bool, str]:
    """Whether the reader refused, and what is wrong with how it ended."""
    try:
        reader.read(path)
    except (InputError, Refusal) as refusal:
        text = str(refusal)
        if len(text) > LONGEST or not text.isprintable():
            return True, f"message: {text[:200]!r}"
        return True, "" if any(word in text for word in NAMED) else f"message names no input: {text}"
    except Exception as fault:
        last = traceback.extract_tb(fault.__traceback__)[-1]
        place = f"{Path(last.filename).name}:{last.lineno}"
        return False, f"traceback: {type(fault).__name__} at {place}: {' '.join(str(fault).split())[:120]}"
    return False, ""
