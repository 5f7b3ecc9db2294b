"""What the outside is told, as the tests insist on it: refusals of one line, JSON without NaN and Infinity."""

import gc
import json
import time
import tracemalloc
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from mklcvx import InputError

# What a solution's JSON has at least.
CERTIFICATE = {
    "lower", "upper", "gap", "relative_gap", "scale", "rounding", "ridge", "ridge_share", "stretch", "gain",
}  # fmt: skip
KEYS = {
    "schema", "formulation", "parameters", "solver", "status", "objective", "weights", "alpha", "bias",
    "coefficients", "multipliers", "certificate", "iterations", "seconds",
}  # fmt: skip


@contextmanager
def check_refused(*words: str, limit: int = 400) -> Iterator[None]:
    """An InputError of one line, shorter than the limit, with these words: the input, the fault, the remedy."""
    with pytest.raises(InputError) as caught:
        yield
    message = str(caught.value)
    assert "\n" not in message
    assert len(message) < limit
    for word in words:
        assert word in message


def strict(text: str) -> Any:
    """JSON without NaN and Infinity, which are none of it."""
    return json.loads(text, parse_constant=lambda token: pytest.fail(f"{token} is no JSON"))


def peak_of(work: Callable[[], object]) -> int:
    """The bytes that some work takes at most."""
    tracemalloc.start()
    try:
        work()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def refused_within(work: Callable[[], object], *words: str) -> int:
    """The bytes that a refusal takes at most."""

    def refused() -> None:
        with check_refused(*words):
            work()

    return peak_of(refused)


@contextmanager
def within_a_second() -> Iterator[None]:
    """What reads a stranger's file promises a second. The suite's own objects are no part of it: the collector of
    garbage would look at all of them again and again."""
    gc.freeze()
    started = time.process_time()
    try:
        yield
        assert time.process_time() - started < 1
    finally:
        gc.unfreeze()
