"""Standard output and error of a command: what cannot be written is noticed, and the exit status says so.

A stream that Python leaves unbuffered (PYTHONUNBUFFERED) gets a buffer, which is written line by line: without one,
what a full disk does not take is lost without a word. A result that nobody can read is lost: the command ends, by one
line and status 2, or silently and with status 141 where the reader has left, as of `| head`. Messages that cannot be
written are passed over: the status is all that is left.
"""

from __future__ import annotations

import errno
import io
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

READER_LEFT = 141  # as the shell has it of a process that a closed pipe has ended
STANDARD = (0, 1, 2)


class OutputLost(Exception):
    """Standard output that could not be written. It is no OSError: libraries take those of a closed pipe for an end."""

    def __init__(self, fault: OSError) -> None:
        super().__init__(f"standard output could not be written ({fault.strerror or fault}): choose another place")
        self.status = READER_LEFT if fault.errno == errno.EPIPE else 2


class Watched:
    """A text stream whose faults are kept: raised by standard output, passed over by standard error."""

    buffer = None  # else Typer would write past it where the encoding is ASCII

    def __init__(self, stream: Any, is_output: bool) -> None:
        self.stream, self.is_output = stream, is_output

    def write(self, text: str) -> int:
        with self._watched():
            return int(self.stream.write(text))
        return len(text)

    def flush(self) -> None:
        with self._watched():
            self.stream.flush()

    @contextmanager
    def _watched(self) -> Iterator[None]:
        try:
            yield
        except OSError as fault:
            _empty(self.stream)
            if self.is_output:
                raise OutputLost(fault) from None

    def __getattr__(self, name: str) -> Any:
        return getattr(self.stream, name)


class Closed(io.TextIOBase):
    """In place of a stream that was closed before the command began."""

    encoding = "utf-8"

    def write(self, text: str) -> int:
        raise OSError(errno.EBADF, "it is closed")


@contextmanager
def watched() -> Iterator[None]:
    """Within it, standard output and error are watched; both are flushed at the end."""
    _fill_gaps()
    kept = sys.stdout, sys.stderr
    buffered = [_buffered(stream) for stream in kept]
    for stream in buffered:
        if isinstance(stream, io.TextIOWrapper):  # characters that the encoding lacks
            is_utf8 = stream.encoding.lower() in ("utf-8", "utf8")
            stream.reconfigure(errors="backslashreplace" if is_utf8 else "replace")
    out, err = (Watched(Closed() if stream is None else stream, i == 0) for i, stream in enumerate(buffered))
    sys.stdout, sys.stderr = out, err
    try:
        yield
        out.flush()
    finally:
        err.flush()
        sys.stdout, sys.stderr = kept


def _buffered(stream: Any) -> Any:
    """The stream with a buffer, which counts the bytes that are written; itself, if it has one."""
    if not isinstance(getattr(stream, "buffer", None), io.RawIOBase):
        return stream
    writer = io.BufferedWriter(io.FileIO(stream.fileno(), "w", closefd=False))
    return io.TextIOWrapper(writer, stream.encoding, stream.errors, line_buffering=True)


def _fill_gaps() -> None:
    """Open the null device where a standard descriptor is closed: the next file would have its number, and what
    libraries print would go there."""
    for number in STANDARD:
        try:
            os.fstat(number)
        except OSError:
            with suppress(OSError):
                null = os.open(os.devnull, os.O_RDWR)
                if null != number:
                    os.dup2(null, number)
                    os.close(null)


def _empty(stream: Any) -> None:
    """Send what a stream still holds nowhere, so that the interpreter does not try it again at its end."""
    with suppress(OSError, ValueError, AttributeError):
        null = os.open(os.devnull, os.O_WRONLY)
        os.dup2(null, stream.fileno())
        os.close(null)
        stream.flush()
