"""Values that a caller might give by mistake, or in bad faith."""

from __future__ import annotations

import datetime
import decimal
import fractions
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np


class Boom(Exception):
    """What hostile objects raise."""


def _boom(self: Any = None, *_: Any, **__: Any) -> Any:
    raise Boom("boom\nin two lines")


def _hostile(*methods: str, base: type = object) -> Any:
    made = type("Hostile" + "".join(methods).replace("_", ""), (base,), dict.fromkeys(methods, _boom))
    return made()


class Word(str):
    __slots__ = ()


class Number(float):
    __slots__ = ()


class Table(dict[Any, Any]):
    pass


def _recursive() -> list[Any]:
    inside: list[Any] = []
    inside.append(inside)
    return inside


def _deep() -> Any:
    nested: Any = 1.0
    for _ in range(100):
        nested = [nested]
    return nested


def values() -> Iterator[tuple[str, Any]]:
    """Hostile values with their names, made anew: what one call consumes, the next has again."""
    rng = np.random.default_rng(0)
    plain = (
        None, True, False, 0, 1, -1, 3, 2**70, -(2**70), 1e308, -1e308, 1e-320, 0.5, float("nan"), float("inf"),
        -float("inf"), 1j, "", "x", "l1", "-1", "nan", b"x", "\x00", "é" * 2000, "\ud800", [], [1], [None], ["l1"],
        [[1, 2], [3]], (), (1, 2), {}, {"a": 1}, {1: 2}, {"C": [1]}, set(), range(3), object(), int, Boom, Ellipsis,
        Path("nowhere"), decimal.Decimal("NaN"), fractions.Fraction(1, 3), datetime.date(2020, 1, 1),
        slice(None), bytearray(b"1"), memoryview(b"12"),
    )  # fmt: skip
    yield from ((f"{type(one).__name__} {one!r:.20}", one) for one in plain)
    yield "iterator", iter([1.0])
    yield "generator", (x for x in (1, 2))
    yield "function", lambda *args, **options: None
    yield "function that raises", _boom
    yield "recursive list", _recursive()
    yield "deep list", _deep()
    arrays = {
        "empty": np.empty(0),
        "empty stack": np.empty((0, 0, 0)),
        "no samples": np.empty((3, 0, 0)),
        "scalar": np.array(2.0),
        "vector": rng.normal(size=8),
        "NaN": np.full(8, np.nan),
        "inf": np.full((3, 8, 8), np.inf),
        "matrix": np.eye(8),
        "stack": np.stack([np.eye(8)] * 3),
        "huge": np.full((3, 8, 8), 1e300),
        "minute": np.full((3, 8, 8), 1e-310),
        "negative": -np.stack([np.eye(8)] * 3),
        "complex": np.eye(8) * 1j,
        "objects": np.array([object()] * 8),
        "mixed": np.array([1, "a", None], dtype=object),
        "words": np.array(["a", "b"] * 4),
        "bytes": np.array([b"a"] * 8),
        "dates": np.array(["2020-01-01"] * 8, dtype="datetime64[D]"),
        "flags": np.ones(8, dtype=bool),
        "small whole": np.ones((3, 8, 8), dtype=np.uint8),
        "half": np.eye(8, dtype=np.float16),
        "long double": np.eye(8, dtype=np.longdouble),
        "record": np.zeros(8, dtype=[("a", float), ("b", int)]),
        "masked": np.ma.masked_array(np.ones(8), mask=[True] + [False] * 7),
        "np.matrix": np.eye(8).view(np.matrix),
        "swapped bytes": np.eye(8).astype(">f8"),
        "strided": rng.normal(size=(16, 16))[::2, ::2],
        "4-d": np.ones((1, 2, 2, 2)),
        "too large": np.broadcast_to(1.0, (3, 10**7, 10**7)),
        "number of NumPy": np.float32(0.5),
        "NumPy word": np.str_("l1"),
        "NaT": np.datetime64("NaT"),
        "flag of NumPy": np.True_,
    }  # fmt: skip
    yield from ((f"array: {name}", array) for name, array in arrays.items())
    yield "subclass of str", Word("l1")
    yield "subclass of float", Number(0.5)
    yield "subclass of dict", Table(C=[1.0])
    yield "subclass of array", np.eye(8).view(type("Sub", (np.ndarray,), {}))
    yield from _tables()
    yield from ((f"raises in {' '.join(methods)}", _hostile(*methods)) for methods in METHODS)
    yield "list that raises in __iter__", _hostile("__iter__", "__len__", base=list)
    yield "str that raises in __str__", _hostile("__str__", "__repr__", base=str)
    yield "int that raises in __index__", _hostile("__index__", "__int__", "__float__", "__lt__", "__gt__", base=int)


METHODS = (
    ("__array__",), ("__len__",), ("__repr__",), ("__repr__", "__str__"), ("__iter__",), ("__eq__",), ("__bool__",),
    ("__float__",), ("__index__",), ("__getattr__",), ("__hash__",), ("__fspath__",), ("__array__", "__repr__"),
    ("__getitem__", "__len__"), ("__call__",), ("keys", "__getitem__"),
)  # fmt: skip


def _tables() -> Iterator[tuple[str, Any]]:
    import pandas as pd
    import scipy.sparse as sp

    yield "DataFrame", pd.DataFrame({"a": [1.0, 2.0], "b": ["x", None]})
    yield "Series", pd.Series([1.0, None])
    yield "pandas NA", pd.NA
    yield "sparse", sp.eye_array(8).tocsr()
