"""MATLAB files are read in a process of its own: the libraries that read them can run for ever, take all memory, open
other files, or end the process, on a file that is damaged or made to harm.

The process opens the file, lists its variables, is told which are wanted, and sends their arrays. It may use so much of
the processor and of memory, and it can open nothing more. What it says is one line of JSON at a time, then the bytes of
arrays. Sizes are added up here, before anything is asked for.
"""

from __future__ import annotations

import codecs
import json
import math
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from typing import IO, Any

import numpy as np

from ..errors import InputError
from ..problem.memory import available
from .json_text import check_size
from .matlab_variables import PER_CELL, ByH5py, BySciPy, cells
from .readings import CELLS, OTHER, Chosen, Listing, Variable

PROGRAM = "import json, sys; sys.path[:] = json.loads(sys.argv[1]); from mklcvx.io.matlab_apart import serve; serve()"
FIRST_BYTES_OF_HDF5 = b"\x89HDF"
SECONDS = 5  # of the processor, for the smallest file
PACE = 2e6  # bytes of a file for which there is a second more
ROOM = 2e9  # bytes of addresses, beside the memory that is available
CODECS = ("ascii", "latin-1", "utf-8", "utf-16-le", "utf-16-be", "utf-32-le", "utf-32-be")


def read_apart(path: Path, choose: Callable[[Listing], Chosen], limit: float | None) -> tuple[dict[str, Any], Chosen]:
    """The variables by name, None for those that are not read; and which of them are what."""
    if is_hdf5(path):
        try:
            import h5py  # noqa: F401
        except ImportError:
            remedy = "install mklcvx[matlab], or save with -v7"
            raise InputError(f"{path}: a MATLAB v7.3 file, which needs h5py: {remedy}") from None
    with _process(path) as (say, hear):
        listing = {name: _variable(*about) for name, about in _answer(hear).items()}
        chosen = choose(listing)
        wanted = [name for names in chosen.values() for name in names]
        size = sum(_size(listing[name]) for name in wanted)
        check_size(str(path), size, limit, "unpacks to")
        check_size(str(path), 2 * size, None, "would need")  # a stack is a copy
        say.write(json.dumps(wanted).encode() + b"\n")
        say.flush()
        values = {name: _received(form, hear) for name, form in _answer(hear).items()}
        return {name: values.get(name) for name in listing}, chosen


def is_hdf5(path: Path) -> bool:
    """Whether a file is of version 7.3, by its first bytes."""
    with path.open("rb") as file:
        head = file.read(520)
    return head.startswith(FIRST_BYTES_OF_HDF5) or head[512:516] == FIRST_BYTES_OF_HDF5


def _size(variable: Variable) -> int:
    """Bytes of the numbers of a variable, at eight each."""
    if variable.kind == CELLS:
        return sum(PER_CELL + 8 * math.prod(shape) for shape in variable.inner())
    return 0 if variable.kind == OTHER else 8 * math.prod(variable.shape)


@contextmanager
def _process(path: Path) -> Iterator[tuple[IO[bytes], IO[bytes]]]:
    words = [sys.executable, "-I", "-W", "ignore", "-c", PROGRAM, json.dumps(sys.path), os.path.abspath(path)]
    quiet = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.DEVNULL}
    with subprocess.Popen(words, **quiet) as process:  # type: ignore[call-overload]
        try:
            yield process.stdin, process.stdout
        finally:
            process.kill()


def _answer(hear: IO[bytes]) -> Any:
    """What the process says next."""
    line = hear.readline()
    if not line:
        raise ValueError("its reader came to no end")
    said = json.loads(line)
    if "fault" in said:
        raise ValueError(said["fault"])
    return said["content"]


def _variable(shape: list[int], kind: str, inner: list[list[int]]) -> Variable:
    return Variable(tuple(shape), kind, lambda: [tuple(cell) for cell in inner])


def _received(form: Any, hear: IO[bytes]) -> Any:
    """The value of this form: none, cells, or an array, which follows."""
    if form is None or isinstance(form, list):
        return None if form is None else cells(_received(cell, hear) for cell in form)
    array = np.empty(form["shape"], form["dtype"], order="F")
    content: Any = memoryview(array.reshape(-1, order="F").view(np.uint8))  # type: ignore[arg-type]
    while len(content):
        count = hear.readinto(content)  # type: ignore[attr-defined]
        if not count:
            raise ValueError("its reader came to no end")
        content = content[count:]
    return array


# --------------------------------------------------------------------------------------------------- the process
def serve() -> None:
    """List the variables of the file that the arguments name, hear which are wanted, and send them."""
    path = Path(sys.argv[2])
    hear, say = sys.stdin.buffer, sys.stdout.buffer

    def tell(**said: object) -> None:
        say.write(json.dumps(said).encode() + b"\n")
        say.flush()

    try:
        kind = ByH5py if is_hdf5(path) else BySciPy
        import_module(kind.library)
        with path.open("rb") as content:
            _confine(os.path.getsize(path))
            file = kind(content)
            tell(content={name: (v.shape, v.kind, _inner(v)) for name, v in file.listing().items()})
            values = file.values(json.loads(hear.readline()))
        tell(content={name: _form(value) for name, value in values.items()})
        for value in values.values():
            _send(value, say)
        say.flush()
    except Exception as fault:  # a damaged file can fail anywhere inside the readers
        tell(fault=f"{type(fault).__name__}: {fault}")


def _confine(size: int) -> None:
    """Limit this process; what it may need later is loaded before it can open nothing more."""
    for codec in CODECS:
        codecs.lookup(codec)
    if sys.platform == "win32":
        return
    import resource

    seconds = int(SECONDS + size / PACE)
    resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    room, (_, most) = available() + ROOM, resource.getrlimit(resource.RLIMIT_AS)
    if room < sys.maxsize and (most == resource.RLIM_INFINITY or room < most):
        resource.setrlimit(resource.RLIMIT_AS, (int(room), most))
    resource.setrlimit(resource.RLIMIT_NOFILE, (0, 0))


def _inner(variable: Variable) -> list[Any]:
    """The shapes in cells; none if they cannot be found out."""
    try:
        return [*variable.inner()] if variable.kind == CELLS else []
    except Exception:  # a damaged item can fail anywhere inside the reader
        return []


def _form(value: Any) -> Any:
    if value is not None and value.dtype == object:
        return [_form(cell) for cell in value]
    return None if value is None else {"dtype": value.dtype.str, "shape": value.shape}


def _send(value: Any, say: IO[bytes]) -> None:
    if value is not None and value.dtype == object:
        for cell in value:
            _send(cell, say)
    elif value is not None:
        say.write(value.reshape(-1, order="F").view(np.uint8))
