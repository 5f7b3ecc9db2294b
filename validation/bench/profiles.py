"""Many problems: success rates at three accuracies, shifted geometric means, and performance profiles.

A solver succeeds if it is asked for a gap and its answer, judged by the certificate, has it within the time limit. The
performance profile (Dolan and Moré 2002) ρ(τ) is the share of problems that a solver solves within τ times the least
time of anybody. The shifted geometric mean is qpbenchmark's, exp(mean log max(1, t + s)) − s, the time limit standing
for a failure; here t is in LIBSVM fits and s is 10 fits, where qpbenchmark has seconds and 10 seconds.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

import problems
from jobs import Job, Result, Study, all_solvers
from shared.pictures import label, legend, line, panels
from shared.tables import shown, table

ACCURACIES = (1e-3, 1e-6, 1e-9)
SHIFT = 10.0
PRICES = (0.1, 1.0, 100.0)
DATA = ("breast_cancer", "wine", "digits")
KINDS = ("random", "duplicated", "rank_one", "badly_scaled", "imbalanced", "planted")


def jobs(quick: bool, externals: Sequence[str]) -> list[Job]:
    names = ["interior", "level"] if quick else all_solvers("l1")
    samples, count, limit = (20, 5, 2.0) if quick else (80, 10, 2.0)
    named = [
        (f"{data}, C = {price:g}", partial(problems.real, data, samples, count), price)
        for data in DATA
        for price in PRICES
    ]
    named += [(kind, partial(problems.from_zoo, kind, samples, count), 1.0) for kind in KINDS]
    if quick:
        named = named[:1]
    settings: dict[str, Any] = {"rounds": 1, "limit": limit}
    return [
        Job({"problem": name, "accuracy": wanted}, problem, names, given={"C": price}, tol=wanted, **settings)
        for name, problem, price in named
        for wanted in ACCURACIES
    ]


Times = Mapping[str, Sequence[float]]


def times(results: Sequence[Result], accuracy: float) -> tuple[dict[str, list[float]], list[float]]:
    """Fits of every solver on every problem, infinite where it failed; and the time limits in fits."""
    found: dict[str, list[float]] = {}
    limits = []
    for result in (r for r in results if r.job.tol == accuracy):
        benchmark = result.benchmark
        limits.append(benchmark.time_limit / benchmark.fit)
        for row in benchmark.rows:
            fits = benchmark.fits(row) if row.status == "certified" else None
            found.setdefault(row.name, []).append(np.inf if fits is None else fits)
    return found, limits


def shifted_mean(fits: Sequence[float], limits: Sequence[float]) -> float:
    """exp(mean log max(1, t + s)) − s, t at most the limit."""
    capped = np.minimum(fits, limits)
    return float(np.exp(np.mean(np.log(np.maximum(1.0, capped + SHIFT)))) - SHIFT)


def profile(found: Times, ratios: Sequence[float]) -> dict[str, list[float]]:
    """ρ(τ) for every solver; a problem that nobody solves counts against all."""
    best = np.min(np.array(list(found.values())), axis=0)
    shares = {}
    for name, fits in found.items():
        solved = np.isfinite(fits)
        relative = np.where(solved, np.array(fits) / np.where(np.isfinite(best), best, 1.0), np.inf)
        shares[name] = [float(np.mean(relative <= ratio)) for ratio in ratios]
    return shares


def study(results: list[Result], folder: Path) -> Study:
    count = len({r.job.labels["problem"] for r in results})
    lines = [" ".join(part.split()) + "\n" for part in (__doc__ or "").split("\n\n")[1:]]
    lines += [f"{count} problems, formulation `l1`.", ""]
    ratios = np.geomspace(1, 1e4, 200)
    cells: dict[str, list[str]] = {}
    with panels(folder / "profiles.png", len(ACCURACIES) + 1) as axes:
        for axis, accuracy in zip(axes, ACCURACIES, strict=False):
            found, limits = times(results, accuracy)
            shares = profile(found, ratios)
            least = min(shifted_mean(fits, limits) for fits in found.values())
            for index, (name, fits) in enumerate(found.items()):
                axis.step(ratios, shares[name], where="post", markevery=(5 * index, 40), **line(index))
                mean = shifted_mean(fits, limits) / least
                cells.setdefault(name, []).extend([f"{np.mean(np.isfinite(fits)):.0%}", shown(mean)])
            label(axis, f"certified gap {accuracy:g}", "time, relative to the best", "share of problems", log="x")
            axis.set_ylim(-0.03, 1.03)
        legend(axes[-1], list(cells))
    header = ["solver", *(word for gap in ACCURACIES for word in (f"success at {gap:g}", "mean time, relative"))]
    lines += table(header, ([name, *row] for name, row in cells.items()))
    return Study("Success rates and performance profiles", lines, results, ["profiles.png"])
