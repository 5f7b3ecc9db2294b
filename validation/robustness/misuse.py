"""Misuse of the public interface: every function and method with every hostile value in the place of every argument.

    python validation/robustness/misuse.py [--every N [--shift K]] [--calls PATTERN] [-o validation/robustness]

Allowed are a result, a refusal of ours in one line, a warning of ours, and the error that a caller's own function
raises. Anything else is a fault: another package's error, a defect of ours, a message of several lines, a warning of
another package, something printed, by a library in C as well. `--every N` makes one call in N, those of another
`--shift` are others. The page is `misuse.md`; the exit status is 1 if there is a fault.
"""

from __future__ import annotations

import argparse
import contextlib
import ctypes
import fnmatch
import inspect
import io
import os
import signal
import sys
import tempfile
import time
import traceback
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

sys.path.append(str(Path(__file__).resolve().parents[1]))  # where `shared` is

from hostile import Boom, values
from interface import Call, calls
from mklcvx import InputError
from mklcvx.io.writing import write_text
from shared.tables import table

FOLDER = Path(__file__).parent
LONGEST = 600  # characters of a message
PATIENCE = 20  # seconds of the processor for a call, and ten times as many on the clock
ALLOWED = (UserWarning, FutureWarning, ResourceWarning, RuntimeWarning)
CONVENTION = ("NotFittedError",)  # scikit-learn's


HOW = ("result", "refused", "the caller's own", "NumPy warned")


class TooLong(BaseException):
    """A call that does not return."""


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--every", type=int, default=1, help="make one call in so many")
    parser.add_argument("--shift", type=int, default=0, help="begin with this one of them")
    parser.add_argument("--calls", default="*", metavar="PATTERN", help="only calls whose names fit")
    parser.add_argument("-o", "--output", type=Path, default=FOLDER)
    asked = parser.parse_args(arguments)
    counts, faults = misused(asked.every, asked.calls, shift=asked.shift)
    text = page(counts, faults)
    write_text(asked.output / "misuse.md", text)
    print(text.split("\n")[2])
    return int(bool(faults))


def misused(
    every: int = 1, pattern: str = "*", seconds: float = float("inf"), shift: int = 0
) -> tuple[dict[str, Counter[str]], list[str]]:
    """How the calls of every function ended, and the faults in words."""
    counts: dict[str, Counter[str]] = {}
    faults: list[str] = []
    number, started, home = 0, time.monotonic(), Path.cwd()
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        try:
            for call in calls(Path(folder)):
                if not fnmatch.fnmatch(call.name, pattern):
                    continue
                print(f"{time.monotonic() - started:7.0f} s  {number} calls  {call.name}", flush=True)
                for words, made in _attempts(call):
                    number += 1
                    if number % every != shift or time.monotonic() - started > seconds:
                        continue
                    how, fault = outcome(made)
                    counts.setdefault(call.name, Counter())[how] += 1
                    if fault:
                        faults.append(f"{call.name}({words}): {fault}")
                        print(faults[-1], flush=True)
        finally:
            os.chdir(home)
    return counts, faults


def _attempts(call: Call) -> Iterator[tuple[str, Callable[[], Any]]]:
    """The call with one argument replaced, with one too few, and with one too many."""
    for name in parameters_of(call):
        for words, value in values():
            yield f"{name} = {words}", lambda name=name, value=value: call.function(**{**call.given(), name: value})
    for name in call.given():
        less = {key: value for key, value in call.given().items() if key != name}
        yield f"without {name}", lambda less=less: call.function(**less)
    yield "nothing", lambda: call.function()
    yield "a number more", lambda: call.function(*call.given().values(), 1, 2, 3)
    yield "an unknown name", lambda: call.function(**call.given(), nonsense=1)


def parameters_of(call: Call) -> list[str]:
    found = inspect.signature(call.function).parameters.values()
    names = [one.name for one in found if one.kind in (one.POSITIONAL_OR_KEYWORD, one.KEYWORD_ONLY)]
    return [name for name in dict.fromkeys([*call.given(), *names]) if name not in call.spared]


def outcome(made: Callable[[], Any]) -> tuple[str, str]:
    """How a call ended, and what was wrong with that; nothing if it was right."""
    with warnings.catch_warnings(record=True) as said, _limited(), _heard() as printed:
        warnings.simplefilter("always")
        try:
            made()
            how, fault = "result", ""
        except InputError as refused:
            how, text = "refused", str(refused)
            fault = "" if "\n" not in text and 0 < len(text) <= LONGEST else f"not one line: {text[:200]!r}"
        except TooLong:
            how, fault = "too long", f"no answer within {PATIENCE} s"
        except Exception as raised:
            how, fault = _raised(raised)
    if words := printed():
        return how, f"it printed {words[:80]!r}"
    categories = [one.category for one in said]
    if how == "result" and any(issubclass(one, RuntimeWarning) for one in categories):
        return "NumPy warned", fault  # infinite or huge numbers in plain arithmetic
    foreign = [str(one.message) for one in said if not issubclass(one.category, ALLOWED)]
    return how, fault or (f"a warning: {foreign[0][:150]}" if foreign else "")


def _raised(raised: Exception) -> tuple[str, str]:
    if type(raised).__name__ in CONVENTION:
        return "refused", ""
    is_where_called = len(_called(raised)) <= 4
    if isinstance(raised, TypeError) and "argument" in str(raised) and "()" in str(raised) and is_where_called:
        return "refused", ""  # Python's own words for a wrong number of arguments
    if isinstance(raised, Boom):
        called = any(frame.name == "_boom" for frame in _called(raised))
        return "the caller's own", "" if called else "Boom, and nothing of the caller's was called"
    with contextlib.suppress(Boom):
        return "raised", f"{type(raised).__name__}: {str(raised)[:200]!r}"
    return "raised", f"{type(raised).__name__}, whose words raise"


def _called(raised: Exception) -> traceback.StackSummary:
    return traceback.extract_tb(raised.__traceback__)


@contextlib.contextmanager
def _heard() -> Iterator[Callable[[], str]]:
    """What was printed within it, on standard output and error, by Python and by libraries in C."""
    with tempfile.TemporaryFile() as file:
        before, said = {stream: os.dup(stream) for stream in (1, 2)}, list[str]()

        def flush() -> None:
            ctypes.CDLL(None).fflush(None)
            sys.stdout.flush()
            sys.stderr.flush()

        flush()
        for stream in before:
            os.dup2(file.fileno(), stream)
        try:
            with contextlib.redirect_stdout(io.StringIO()) as out, contextlib.redirect_stderr(out):
                yield lambda: "".join(said)
        finally:
            flush()
            said += [out.getvalue(), os.pread(file.fileno(), 1000, 0).decode(errors="replace")]
            for stream, old in before.items():
                os.dup2(old, stream)
                os.close(old)


@contextlib.contextmanager
def _limited() -> Iterator[None]:
    def ring(*_: Any) -> None:
        raise TooLong

    before = {number: signal.signal(number, ring) for number in (signal.SIGALRM, signal.SIGPROF)}
    signal.setitimer(signal.ITIMER_PROF, PATIENCE)
    signal.alarm(10 * PATIENCE)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.alarm(0)
        for number, handler in before.items():
            signal.signal(number, handler)


def page(counts: dict[str, Counter[str]], faults: list[str]) -> str:
    total = sum(count.total() for count in counts.values())
    lines = [
        "# Misuse of the interface",
        "",
        f"**{total} calls of {len(counts)} functions: {len(faults)} faults.**",
        "",
    ]
    lines += [
        "`make misuse` repeats it. Refused: in one line of ours. The caller's own: what a given function raises.",
        "",
    ]
    rows = []
    for name, count in sorted(counts.items()):
        known = [count[how] for how in HOW]
        rows.append([f"`{name}`", *map(str, (count.total(), *known, count.total() - sum(known)))])
    lines += [*table(("called", "calls", *HOW, "other"), rows), "", *(f"- `{fault[:200]}`" for fault in faults[:50])]
    return "\n".join(lines).rstrip() + "\n"


if __name__ == "__main__":
    sys.exit(main())
