"""Time against n, M and C, and the exponents of its growth: slopes of log time over the upper half of each range."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

import problems
from jobs import Job, Result, Study, published
from shared.pictures import label, legend, line, panels, ticks
from shared.tables import exponent, shown, table

RANGES: dict[str, tuple[float, ...]] = {
    "n": (100, 200, 400, 800, 1500, 3000),
    "M": (2, 5, 20, 50, 150, 500),
    "C": (1e-3, 1e-2, 1e-1, 1, 1e1, 1e2, 1e3, 1e4),
}
QUICK: dict[str, tuple[float, ...]] = {"n": (20, 30, 40, 50), "M": (2, 4), "C": (0.1, 10)}
FIXED = {"n": 300, "M": 20}
LIBSVM = "LIBSVM, average kernel"
LIMIT = 5.0  # seconds for everybody but the engine
LARGE = 1e8  # entries of a stack from which one round has to do


def jobs(quick: bool, externals: Sequence[str]) -> list[Job]:
    ranges = QUICK if quick else RANGES
    names = ["interior", "level"] if quick else [*published("l1"), "clarabel"]
    fixed = {"n": 20, "M": 3} if quick else FIXED
    made = []
    for what, values in ranges.items():
        for value in values:
            size = {**fixed, what: value} if what != "C" else fixed
            problem = partial(problems.clouds, int(size["n"]), int(size["M"]))
            if what == "C":
                problem = partial(problems.peers, 30 if quick else 300)
            given = {"C": value} if what == "C" else {}
            about = {"against": what, "value": value}
            rounds = 1 if quick or size["n"] ** 2 * size["M"] > LARGE else 3
            # The engine may take as long as it needs: it is the one whose growth is asked for.
            made.append(Job(about, problem, names[:1], given=given, rounds=rounds, limit=300.0))
            made.append(Job(about, problem, names[1:], given=given, rounds=rounds, limit=LIMIT, lane=what))
    return made


Curve = tuple[list[float], list[float]]


def curves(results: Sequence[Result], what: str) -> dict[str, Curve]:
    """Sizes and median seconds for everybody who certified there; LIBSVM's are the engine's run's."""
    found: dict[str, Curve] = {}
    for result in (r for r in results if r.job.labels["against"] == what):
        value, benchmark = result.job.labels["value"], result.benchmark
        rows: list[tuple[str, Any]] = [(s.name, s.median) for s in benchmark.rows if s.status == "certified"]
        for name, seconds in [*rows, (LIBSVM, benchmark.fit)]:
            sizes, times = found.setdefault(name, ([], []))
            if seconds is not None and value not in sizes:
                sizes.append(value)
                times.append(seconds)
    return found


def upper_half(curve: Curve, sizes: Sequence[float]) -> float | None:
    """The exponent over the upper half of the range, from three sizes on."""
    middle = sorted(sizes)[len(sizes) // 2]
    kept = [(x, t) for x, t in zip(*curve, strict=True) if x >= middle]
    return exponent([x for x, _ in kept], [t for _, t in kept])


def study(results: list[Result], folder: Path) -> Study:
    fixed = {str(r.job.labels["against"]): r.benchmark for r in results}
    lines = [
        f"Two overlapping clouds, M = {fixed['n'].count} against n and n = {fixed['M'].samples} against M; the breast "
        f"cancer problem, n = {fixed['C'].samples} and M = {fixed['C'].count}, "
        "against C. Each solver certifies its own tolerance; one that is cut off leaves the range. Exponents p of "
        "time ∝ size^p are least-squares slopes over the upper half of the range, where three sizes are left.",
        "",
    ]
    order: list[str] = []
    with panels(folder / "growth.png", 4) as axes:
        for axis, what in zip(axes, RANGES, strict=False):
            found = curves(results, what)
            order += [name for name in found if name not in order]
            sizes = sorted({x for curve in found.values() for x in curve[0]})
            for name, (x, seconds) in found.items():
                axis.plot(x, seconds, **line(order.index(name)))
            label(axis, f"time against {what}", what, "CPU seconds, median", log="xy")
            ticks(axis, sizes)
            lines += [f"### Against {what}: CPU seconds", "", *_table(found, sizes, what), ""]
        legend(axes[-1], order)
    return Study("Growth with n, M and C", lines, results, ["growth.png"])


def _table(found: dict[str, Curve], sizes: list[float], what: str) -> list[str]:
    cells = []
    for name, curve in found.items():
        at = dict(zip(*curve, strict=True))
        times = [shown(at.get(x), missing="–") for x in sizes]
        cells.append([name, *times, shown(upper_half(curve, sizes), 2, "–")])
    return table(["solver", *(f"{what} = {x:g}" for x in sizes), "exponent"], cells)
