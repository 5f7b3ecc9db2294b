"""Xu et al. 2013, section V: printed tables against themselves and against the text."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np
from numpy.typing import NDArray

from claim import Measured, claims_of
from shared.printed import printed, printed_rows
from xu_setting import Array

# Tables I and II: mean accuracies in per cent, mean training times in seconds, and the ranks printed beside them.
TABLE_ONE = printed("xu_accuracy")
SETS, METHODS = list(TABLE_ONE), list(TABLE_ONE["Heart"])
ACCURACY, SECONDS = (np.array(list(printed_rows(name).values())) for name in ("xu_accuracy", "xu_seconds"))
(*RANK, MEAN_RANK), (*SPEED_RANK, MEAN_SPEED_RANK) = (
    np.array(list(printed_rows(name).values())) for name in ("xu_rank", "xu_speed_rank")
)
RANK, SPEED_RANK = np.array(RANK), np.array(SPEED_RANK)
# Tables III and IV: mean average precision, number of kernels selected, training time.
YOUTUBE, EVENTS = printed("xu_youtube"), printed("xu_events")
KERNELS_GIVEN = {"YouTube": 20.0, "Event6": 80.0}


# --------------------------------------------------------------------------------------------------------- ranks
def ranks(scores: Array) -> NDArray[np.intp]:
    """One plus the number of better (larger) scores in the row: equals share the better rank, as the tables do."""
    return 1 + (scores[:, None, :] > scores[:, :, None]).sum(axis=2)


def cells_that_differ(scores: Array, printed: NDArray[np.intp]) -> Measured:
    """How many printed ranks are not those of the scores; for each, the rank that is."""
    true = ranks(scores)
    cells = np.argwhere(true != printed)
    numbers = {f"rank of {METHODS[m]} on {SETS[i]}": float(true[i, m]) for i, m in cells}
    means = {f"mean rank of {METHODS[m]}": float(true[:, m].mean()) for m in sorted(set(cells[:, 1]))}
    return Measured(float(len(cells)), numbers | means)


def with_heart(value: float) -> Array:
    """Table I with another accuracy of SM1MKL on Heart."""
    changed = ACCURACY.copy()
    changed[SETS.index("Heart"), METHODS.index("SM1MKL")] = value
    return changed


def with_banana_exchanged() -> Array:
    """Table II with the times of SimpleMKL and SM2MKL on Banana exchanged."""
    changed, pair = SECONDS.copy(), [METHODS.index("SimpleMKL"), METHODS.index("SM2MKL")]
    changed[SETS.index("Banana"), pair] = changed[SETS.index("Banana"), pair[::-1]]
    return changed


def mean_ranks(tables: tuple[tuple[Array, Array], ...]) -> Measured:
    distances = [np.abs(table.mean(axis=0) - printed) for table, printed in tables]
    unrounded = sum(int((np.round(table.mean(axis=0), 2) != printed).sum()) for table, printed in tables)
    numbers = {"entries not rounded to nearest": float(unrounded)}
    return Measured(float(max(d.max() for d in distances)), numbers)


# ------------------------------------------------------------------------------------- statements about a table
Table = Mapping[str, Mapping[str, float]]
OURS = ("SM1MKL", "SM2MKL")
SOFT = ("L2MKL", "LpMKL", "SGMKL", *OURS)


def excess(smaller: float, larger: float) -> float:
    """How far an order a < b is missed."""
    return max(0.0, smaller - larger)


def orders(table: Table, pairs: Callable[[Table], list[tuple[str, float, float]]]) -> Measured:
    """How far the worst of several orders a < b is missed, and the worst of each kind."""
    missed: dict[str, float] = {}
    for name, small, large in pairs(table):
        missed[name] = max(missed.get(name, 0.0), excess(small, large))
    return Measured(max(missed.values()), missed)


def of_youtube(table: Table) -> list[tuple[str, float, float]]:
    precision, used, seconds = table["MAP"], table["kernels"], table["seconds"]
    ahead = [("soft ahead", max(precision["AveKernel"], precision["SimpleMKL"]), precision[name]) for name in SOFT]
    best = [("SM1 best", precision[name], precision["SM1MKL"]) for name in METHODS if name != "SM1MKL"]
    fewer = [("fewer kernels than Lp", used[name], used["LpMKL"]) for name in ("SGMKL", "SM1MKL", "SM2MKL")]
    faster = [("SM1 faster", seconds["SM1MKL"], seconds[name]) for name in METHODS[1:] if name != "SM1MKL"]
    return [*ahead, *best, *fewer, *faster]


def of_events(table: Table) -> list[tuple[str, float, float]]:
    precision, used, seconds = table["MAP"], table["kernels"], table["seconds"]
    best = [("SM1 best", precision[name], precision["SM1MKL"]) for name in METHODS if name != "SM1MKL"]
    worst = [("average worst", precision["AveKernel"], precision[name]) for name in METHODS[1:]]
    fewer = [("fewer kernels than L2", used[name], used["L2MKL"]) for name in ("LpMKL", "SGMKL", "SM1MKL", "SM2MKL")]
    faster = [("SM1 faster", seconds["SM1MKL"], seconds[name]) for name in ("SGMKL", "SimpleMKL")]
    return [*best, *worst, *fewer, *faster]


def of_ranks(table: Table) -> list[tuple[str, float, float]]:
    accuracy, speed = table["mean rank, accuracy"], table["mean rank, time"]
    best = [("SM2 best", accuracy["SM2MKL"], accuracy["SM1MKL"])]
    third = [("SM1 second", accuracy["SM1MKL"], accuracy["SimpleMKL"])]
    behind = [("SimpleMKL third", accuracy["SimpleMKL"], accuracy[name]) for name in ("L2MKL", "LpMKL", "SGMKL")]
    worst = [("average worst", accuracy[name], accuracy["AveKernel"]) for name in METHODS[1:]]
    slow = [
        ("SimpleMKL and SGMKL slowest", speed[name], speed[late])
        for name in ("L2MKL", "LpMKL", *OURS)
        for late in ("SimpleMKL", "SGMKL")
    ]
    faster = [("SM2 faster than SGMKL", table[name]["SM2MKL"], table[name]["SGMKL"]) for name in SETS]
    return [*best, *third, *behind, *worst, *slow, *faster]


BENCHMARKS = {
    "mean rank, accuracy": printed("xu_rank")["mean"],
    "mean rank, time": printed("xu_speed_rank")["mean"],
    **printed("xu_seconds"),
}


def relabelled(table: Table, first: str, second: str) -> dict[str, dict[str, float]]:
    names = {first: second, second: first}
    return {line: {names.get(name, name): value for name, value in row.items()} for line, row in table.items()}


def sparser_than(rivals: tuple[str, ...]) -> Measured:
    """The largest number of kernels by which SM1MKL or SM2MKL exceeds a rival, Tables III and IV."""
    numbers, worst = {}, 0.0
    for name, table in (("Table III", YOUTUBE), ("Table IV", EVENTS)):
        used = table["kernels"]
        worst = max(worst, *(excess(used[ours], used[rival]) for ours in OURS for rival in rivals))
        numbers |= {f"{ours}, {name}": used[ours] for ours in (*OURS, *rivals)}
    return Measured(worst, numbers)


def all_kernels(method: str) -> Measured:
    tables = {"YouTube": YOUTUBE, "Event6": EVENTS}
    numbers = {f"{name}, of {KERNELS_GIVEN[name]:g}": table["kernels"][method] for name, table in tables.items()}
    unused = max(1 - table["kernels"][method] / KERNELS_GIVEN[name] for name, table in tables.items())
    return Measured(unused, numbers)


claim = claims_of("xu")
CLAIMS = (
    claim(
        "Table I, ranks",
        lambda scores: cells_that_differ(scores, RANK),
        printed=ACCURACY,
        repaired=with_heart(82.04),
        mutated=with_heart(82.30),
    ),
    claim(
        "Table II, ranks",
        lambda scores: cells_that_differ(-scores, SPEED_RANK),
        printed=SECONDS,
        repaired=with_banana_exchanged(),
        mutated=1 / SECONDS,
    ),
    claim(
        "Tables I, II, last rows",
        mean_ranks,
        printed=((RANK, MEAN_RANK), (SPEED_RANK, MEAN_SPEED_RANK)),
        mutated=((ranks(ACCURACY), MEAN_RANK), (SPEED_RANK, MEAN_SPEED_RANK)),
    ),
    claim(
        "Tables I, II, text",
        lambda table: orders(table, of_ranks),
        printed=BENCHMARKS,
        mutated=relabelled(BENCHMARKS, "SM2MKL", "L2MKL"),
    ),
    claim(
        "Table III, text",
        lambda table: orders(table, of_youtube),
        printed=YOUTUBE,
        mutated=relabelled(YOUTUBE, "SM1MKL", "SM2MKL"),
    ),
    claim(
        "Table IV, text",
        lambda table: orders(table, of_events),
        printed=EVENTS,
        mutated=relabelled(EVENTS, "SM1MKL", "SM2MKL"),
    ),
    claim(
        "Section I, contribution 3",
        sparser_than,
        printed=("L2MKL", "LpMKL"),
        repaired=("L2MKL",),
        mutated=("SimpleMKL",),
    ),
    claim("Section II-C with Table IV", all_kernels, printed="L2MKL", mutated="LpMKL", control="AveKernel"),
)
