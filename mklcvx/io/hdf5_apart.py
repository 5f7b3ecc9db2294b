"""HDF5 in a process of its own: its library can run for ever, or end the process, on a file that is damaged.

The process lists the variables, is told which are wanted, and sends their arrays; it may use so much of the processor
and of memory, and is ended where it needs more. What it says is one line of JSON at a time, then the bytes of arrays.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

import numpy as np

from ..errors import InputError
from ..problem.memory import available
from .hdf5 import read_hdf5
from .mat5 import cells
from .readings import CELLS, Chosen, Listing, Variable

PROGRAM = "import json, sys; sys.path[:] = json.loads(sys.argv[1]); from mklcvx.io.hdf5_apart import serve; serve()"
SECONDS = 5  # of the processor, for the smallest file
PACE = 2e6  # bytes of a file for which there is a second more
ROOM = 2e9  # bytes of addresses, beside the memory that is available


def read_apart(path: Path, choose: Callable[[Listing], Chosen], limit: float | None) -> tuple[dict[str, Any], Chosen]:
    """The variables by name, None for those that are not read; and which of them are what."""
    try:
        import h5py  # noqa: F401
    except ImportError:
        remedy = "install mklcvx[matlab], or save with -v7"
        raise InputError(f"{path}: a MATLAB v7.3 file, which needs h5py: {remedy}") from None
    with _process(path, limit) as (say, hear):
        listed = _answer(hear)
        chosen = choose({name: _variable(*about) for name, about in listed.items()})
        say.write(json.dumps([name for names in chosen.values() for name in names]).encode() + b"\n")
        say.flush()
        return {name: _received(form, hear) for name, form in _answer(hear).items()}, chosen


@contextmanager
def _process(path: Path, limit: float | None) -> Iterator[tuple[IO[bytes], IO[bytes]]]:
    words = [
        sys.executable,
        "-I",
        "-W",
        "ignore",
        "-c",
        PROGRAM,
        json.dumps(sys.path),
        os.path.abspath(path),
        json.dumps(limit),
    ]
    quiet = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.DEVNULL}
    with subprocess.Popen([*words, str(path)], **quiet) as process:  # type: ignore[call-overload]
        try:
            yield process.stdin, process.stdout
        finally:
            process.kill()


def _answer(hear: IO[bytes]) -> Any:
    """What the process says next; what it refuses is refused here."""
    line = hear.readline()
    if not line:
        raise ValueError("the reader of HDF5 came to no end")
    said = json.loads(line)
    if "refused" in said:
        raise InputError(said["refused"])
    if "fault" in said:
        raise ValueError(said["fault"])
    return said["found"]


def _variable(shape: list[int], kind: str, inner: list[list[int]]) -> Variable:
    return Variable(tuple(shape), kind, lambda: [tuple(one) for one in inner])


def _received(form: Any, hear: IO[bytes]) -> Any:
    """The value of this form: none, cells, or an array, which follows."""
    if form is None or isinstance(form, list):
        return None if form is None else cells([_received(one, hear) for one in form])
    array = np.empty(form["shape"], form["dtype"], order="F")
    content: Any = memoryview(array.reshape(-1, order="F").view(np.uint8))  # type: ignore[arg-type]
    while len(content):
        count = hear.readinto(content)  # type: ignore[attr-defined]
        if not count:
            raise ValueError("the reader of HDF5 came to no end")
        content = content[count:]
    return array


# --------------------------------------------------------------------------------------------------- the process
def serve() -> None:
    """List the variables of the file that the arguments name, hear which are wanted, and send them."""
    path, limit, shown = sys.argv[2:]
    hear, say = sys.stdin.buffer, sys.stdout.buffer

    def tell(**said: object) -> None:
        say.write(json.dumps(said).encode() + b"\n")
        say.flush()

    def choose(listing: Listing) -> Chosen:
        tell(found={name: (one.shape, one.kind, _inner(one)) for name, one in listing.items()})
        return {name: (name,) for name in json.loads(hear.readline())}

    try:
        _limited(os.path.getsize(path))
        values, _ = read_hdf5(Path(path), choose, json.loads(limit))
        tell(found={name: _form(value) for name, value in values.items()})
        for value in values.values():
            _send(value, say)
        say.flush()
    except InputError as fault:
        tell(refused=str(fault).replace(path, shown))
    except Exception as fault:  # a damaged file can fail anywhere inside the reader
        tell(fault=f"{type(fault).__name__}: {fault}")


def _limited(size: int) -> None:
    if sys.platform == "win32":
        return
    import resource

    seconds = int(SECONDS + size / PACE)
    resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    room, (_, most) = available() + ROOM, resource.getrlimit(resource.RLIMIT_AS)
    if room < sys.maxsize and (most == resource.RLIM_INFINITY or room < most):
        resource.setrlimit(resource.RLIMIT_AS, (int(room), most))


def _inner(variable: Variable) -> list[Any]:
    """The shapes in cells; none if they cannot be found out."""
    try:
        return [*variable.inner()] if variable.kind == CELLS else []
    except Exception:  # a damaged item can fail anywhere inside the reader
        return []


def _form(value: Any) -> Any:
    if value is None:
        return None
    return [_form(one) for one in value] if value.dtype == object else {"dtype": value.dtype.str, "shape": value.shape}


def _send(value: Any, say: IO[bytes]) -> None:
    if value is not None and value.dtype == object:
        for one in value:
            _send(one, say)
    elif value is not None:
        say.write(value.reshape(-1, order="F").view(np.uint8))
