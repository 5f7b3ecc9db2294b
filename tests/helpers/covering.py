"""Pairs instead of products: rows of a table in which every two values of any two factors meet."""

from collections.abc import Iterable
from itertools import combinations
from typing import Any


def covering(*factors: Iterable[Any]) -> list[tuple[Any, ...]]:
    """A covering array of strength two, by greed: each row takes a pair that is left, and meets as many more as it can.
    With two factors it is their product."""
    values = [list(factor) for factor in factors]
    places = [range(len(value)) for value in values]
    left = {(one, other) for i, j in combinations(range(len(values)), 2)
            for one in ((i, a) for a in places[i]) for other in ((j, b) for b in places[j])}  # fmt: skip
    rows = []
    while left:
        row = dict(min(left))
        for i in sorted(set(range(len(values))) - set(row)):
            row[i] = max(places[i], key=lambda a, i=i: len(left & _pairs({**row, i: a})))
        left -= _pairs(row)
        rows.append(tuple(value[row[i]] for i, value in enumerate(values)))
    return rows


def _pairs(row: dict[int, int]) -> set[tuple[tuple[int, int], tuple[int, int]]]:
    return set(combinations(sorted(row.items()), 2))
