"""Silence around solvers that speak to standard output whatever they are told."""

from __future__ import annotations

import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, TextIO


class _Muted:
    """Standard output without what some threads write."""

    def __init__(self, stream: TextIO) -> None:
        self.stream = stream
        self.threads: list[int] = []

    def write(self, text: str) -> int:
        return len(text) if threading.get_ident() in self.threads else self.stream.write(text)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.stream, name)


_lock = threading.Lock()


@contextmanager
def silent() -> Iterator[None]:
    """Within it, this thread writes nothing to `sys.stdout`; other threads do as before."""
    me = threading.get_ident()
    with _lock:
        muted = sys.stdout if isinstance(sys.stdout, _Muted) else _Muted(sys.stdout)
        muted.threads.append(me)
        sys.stdout = muted
    try:
        yield
    finally:
        with _lock:
            muted.threads.remove(me)
            if not muted.threads and sys.stdout is muted:
                sys.stdout = muted.stream
