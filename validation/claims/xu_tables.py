"""Xu et al. 2013, section V: printed tables against themselves and against the text."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np
from numpy.typing import NDArray

from claim import Measured, claims_of
from xu_setting import Array

METHODS = ("AveKernel", "SimpleMKL", "L2MKL", "LpMKL", "SGMKL", "SM1MKL", "SM2MKL")
SETS = ("Heart", "Diabetes", "Australian", "Ionosphere", "Ringnorm", "Banana", "FlareSolar")

# Table I: mean accuracies in per cent, and the ranks printed beside them.
ACCURACY = np.array(
    [
        [81.60, 81.98, 82.47, 81.85, 82.10, 81.60, 82.47],
        [75.22, 75.30, 75.91, 75.61, 76.00, 76.35, 76.26],
        [85.94, 85.12, 85.07, 85.27, 84.78, 86.23, 85.12],
        [90.29, 91.81, 91.71, 91.33, 91.90, 91.33, 92.10],
        [95.42, 98.25, 96.67, 97.67, 97.67, 98.00, 97.75],
        [73.00, 90.08, 88.58, 89.50, 89.50, 89.75, 90.08],
        [67.04, 67.59, 68.64, 68.59, 67.94, 68.59, 68.59],
    ]
)
RANK = np.array(
    [
        [7, 5, 1, 6, 3, 4, 1],
        [7, 6, 4, 5, 3, 1, 2],
        [2, 4, 6, 3, 7, 1, 4],
        [7, 3, 4, 5, 2, 5, 1],
        [7, 1, 6, 4, 4, 2, 3],
        [7, 1, 6, 4, 4, 3, 1],
        [7, 6, 1, 2, 5, 2, 2],
    ]
)
MEAN_RANK = np.array([6.28, 3.71, 4.00, 4.14, 4.00, 2.57, 2.00])

# Table II: mean training times in seconds, and their ranks.
SECONDS = np.array(
    [
        [0.1938, 19.32, 9.023, 4.273, 129.9, 1.928, 8.245],
        [1.075, 410.8, 154.5, 83.62, 1206, 39.41, 240.6],
        [1.134, 194.6, 159.6, 82.94, 897.3, 23.58, 22.96],
        [0.5656, 146.2, 40.92, 26.16, 618.8, 14.58, 31.90],
        [0.606, 297.3, 69.18, 277.5, 1035, 165.6, 239.7],
        [0.1734, 15.07, 15.71, 49.74, 16.85, 11.56, 15.23],
        [0.7609, 2243, 152.5, 382.7, 649.5, 81.03, 58.69],
    ]
)
SPEED_RANK = np.array(
    [
        [1, 6, 5, 3, 7, 2, 4],
        [1, 6, 4, 3, 7, 2, 5],
        [1, 6, 5, 4, 7, 3, 2],
        [1, 6, 5, 3, 7, 2, 4],
        [1, 6, 2, 5, 7, 3, 4],
        [1, 4, 5, 7, 6, 2, 3],
        [1, 7, 4, 5, 6, 3, 2],
    ]
)
MEAN_SPEED_RANK = np.array([1.00, 5.86, 4.28, 4.28, 6.71, 2.43, 3.43])


# Tables III and IV: mean average precision, number of kernels selected, training time.
def row(*values: float) -> dict[str, float]:
    return dict(zip(METHODS, values, strict=True))


YOUTUBE = {
    "MAP": row(88.39, 87.47, 88.66, 89.21, 89.20, 89.26, 89.09),
    "kernels": row(20, 3.09, 20, 12.91, 8.64, 9.09, 8.54),
    "seconds": row(1.04, 57.77, 36.78, 123.8, 191.8, 36.48, 45.37),
}
EVENTS = {
    "MAP": row(44.33, 47.14, 53.34, 53.49, 53.81, 54.84, 53.98),
    "kernels": row(80.00, 3.63, 68.00, 60.50, 60.53, 53.83, 61.77),
    "seconds": row(2.297, 542.9, 261.1, 396.4, 1639, 410.1, 367.1),
}
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
    "mean rank, accuracy": row(*MEAN_RANK),
    "mean rank, time": row(*MEAN_SPEED_RANK),
    **{name: row(*times) for name, times in zip(SETS, SECONDS, strict=True)},
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
        0.0,
        printed=ACCURACY,
        repaired=with_heart(82.04),
        mutated=with_heart(82.30),
    ),
    claim(
        "Table II, ranks",
        lambda scores: cells_that_differ(-scores, SPEED_RANK),
        0.0,
        printed=SECONDS,
        repaired=with_banana_exchanged(),
        mutated=1 / SECONDS,
    ),
    claim(
        "Tables I, II, last rows",
        mean_ranks,
        0.01,
        printed=((RANK, MEAN_RANK), (SPEED_RANK, MEAN_SPEED_RANK)),
        mutated=((ranks(ACCURACY), MEAN_RANK), (SPEED_RANK, MEAN_SPEED_RANK)),
    ),
    claim(
        "Tables I, II, text",
        lambda table: orders(table, of_ranks),
        0.0,
        printed=BENCHMARKS,
        mutated=relabelled(BENCHMARKS, "SM2MKL", "L2MKL"),
    ),
    claim(
        "Table III, text",
        lambda table: orders(table, of_youtube),
        0.0,
        printed=YOUTUBE,
        mutated=relabelled(YOUTUBE, "SM1MKL", "SM2MKL"),
    ),
    claim(
        "Table IV, text",
        lambda table: orders(table, of_events),
        0.0,
        printed=EVENTS,
        mutated=relabelled(EVENTS, "SM1MKL", "SM2MKL"),
    ),
    claim(
        "Section I, contribution 3",
        sparser_than,
        0.0,
        printed=("L2MKL", "LpMKL"),
        repaired=("L2MKL",),
        mutated=("SimpleMKL",),
    ),
    claim("Section II-C with Table IV", all_kernels, 1e-3, printed="L2MKL", mutated="LpMKL", control="AveKernel"),
)
