"""Two kinds of errors, unusable input and a defect of mklcvx; the interrupt; remedies in the words of where the user
is; warnings."""

from __future__ import annotations

import difflib
import inspect
import re
import threading
import warnings
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from typing import cast

LONGEST = 500  # characters of a message
_at_command_line = ContextVar("at_command_line", default=False)


class InputError(ValueError):
    """Input that cannot be used.

    The message is one line that names the input, the fault and the remedy, without control characters, which names of
    files and of what is in them may have.

    Parameters
    ----------
    message : str
        The line; a long one is cut in the middle.
    """

    def __init__(self, message: object = "") -> None:
        super().__init__(one_line(str(message)))


class InputTypeError(InputError, TypeError):
    """Input of a type that cannot be used."""


class NotEnoughMemory(InputError, MemoryError):
    """Input whose solution needs more memory than there is, found out before any of it is taken."""


class InternalError(RuntimeError):
    """A defect of mklcvx itself, such as a bound that contradicts weak duality."""


class Interrupted(KeyboardInterrupt):
    """Ctrl-C, with what was found before.

    Parameters
    ----------
    solution : Solution, RegularizationPath, KernelImportance or other
        Of `solve` the best point, with its certificate; of work that has several parts those that had ended.
    message : str
        What is missing.
    """

    def __init__(self, solution: object, message: str = "") -> None:
        super().__init__(message)
        self.solution = solution

    def __reduce__(self) -> tuple[type[Interrupted], tuple[object, str]]:
        return type(self), (self.solution, str(self))


class ScaleWarning(UserWarning):
    """Kernels of very different size are combined, and nothing scales them."""


class OneClassWarning(UserWarning):
    """A classifier predicts one class for all of its training samples."""


class GridEdgeWarning(UserWarning):
    """The best point of a cross-validation lies on the edge of the grid."""


class _Here(threading.local):
    """A pattern of a warning filter that is one thread's own. In others it fits nothing."""

    pattern = "(?!)"
    match: Callable[[str], object] = re.compile(pattern).match

    def __reduce__(self) -> tuple[object, ...]:
        return re.compile, (self.pattern,)


@contextmanager
def unheard(category: type[Warning] = Warning, message: str = "") -> Iterator[None]:
    """Within it, this thread hears no such warnings, whose text begins like that; others hear them as before.

    `warnings.catch_warnings` would change the filters of all threads, and restore what it has met: where two overlap,
    something stays. This adds one filter and takes that one away again."""
    here, filters = _Here(), cast("list[object]", warnings.filters)
    here.pattern, here.match = message, re.compile(message, re.IGNORECASE).match
    added = ("ignore", here, category, None, 0)
    filters.insert(0, added)
    try:
        yield
    finally:
        here.__dict__.clear()  # a copy that somebody else has made of the filters is deaf no longer
        for known in (filters, warnings.filters):
            with suppress(ValueError):
                cast("list[object]", known).remove(added)


def nearest(name: str, known: Iterable[str]) -> str:
    """A hint for an unknown name: the nearest known one, or all of them."""
    name = str(name)  # a key of a caller's dict may be anything
    names, low = sorted(known), name.lower()
    begun = [candidate for candidate in names if candidate.lower().startswith(low)] if low else []
    same = [candidate for candidate in begun if candidate.lower() == low] or (begun if len(begun) == 1 else [])
    if not same and len(name) > 3 and begun:
        return f"did you mean one of {', '.join(begun)}?"
    cutoff = 0.61 if len(name) > 3 else 0.8  # theta is no delta, mkl no ckl
    close = same or difflib.get_close_matches(low, names, n=1, cutoff=cutoff)
    return f"did you mean {close[0]!r}?" if close else f"known: {', '.join(names)}"


@contextmanager
def at_command_line() -> Iterator[None]:
    """Within it, remedies are written for the command line."""
    before = _at_command_line.set(True)
    try:
        yield
    finally:
        _at_command_line.reset(before)


def is_at_command_line() -> bool:
    """Whether the user is at the command line."""
    return _at_command_line.get()


def remedy(python: str, shell: str) -> str:
    """The words for the place where the user is: Python, or the command line."""
    return shell if is_at_command_line() else python


def one_line(text: str) -> str:
    """A message in one line that can be printed; of a long one the beginning and the end."""
    line = "".join(sign if sign.isprintable() else "�" for sign in " ".join(text.split()))
    return line if len(line) <= LONGEST else f"{line[: LONGEST // 2]} … {line[-LONGEST // 3 :]}"


def clipped(text: object, most: int = 60) -> str:
    """Text of at most so many characters in one line, cut between words where possible, with a sign that it is cut."""
    line = " ".join(str(text).split())
    if len(line) <= most:
        return line
    head = line[: most - 1]
    words = head.rsplit(" ", 1)[0] if " " in head[most // 2 :] else head
    return words.rstrip(" ,;:") + "…"


def warn(text: str, category: type[Warning] = UserWarning) -> None:
    """Warn at the line outside of the package that led here, however many frames of ours lie between."""
    level, frame = 2, inspect.currentframe()
    frame = None if frame is None else frame.f_back
    while frame is not None and frame.f_globals.get("__name__", "").startswith("mklcvx."):
        level, frame = level + 1, frame.f_back
    warnings.warn(text, category, stacklevel=level)
