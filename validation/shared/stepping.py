"""Algorithms stepped against a clock of their own.

Only the algorithm's own steps are on the clock, in CPU seconds of the process; certificates and everything else that
judges a step are taken beside it, the same for all contestants.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mklcvx import Instance, formulations
from mklcvx.certificate import CertifiedPoint, certify
from mklcvx.solvers.driver import Problem
from mklcvx.solvers.registry import ALGORITHMS, with_options

Array = NDArray[np.float64]
_NAMED = {algorithm.name: algorithm for algorithm in ALGORITHMS}


@dataclass(frozen=True)
class Mark:
    """One step of an algorithm: what it had cost by then. `gap` is NaN where no certificate was taken."""

    iteration: int
    seconds: float
    svm_solves: int
    weights: Array
    gap: float = float("nan")
    lower: float = float("-inf")


def stepped(
    solver: str,
    instance: Instance,
    formulation: str,
    parameters: Mapping[str, Any],
    *,
    options: Mapping[str, Any] | None = None,
    tolerance: float | None = None,
    max_iter: int = 1000,
    budget: float = float("inf"),
    due: Callable[[int], bool] = lambda _: True,
) -> list[Mark]:
    """Step an algorithm and mark the iterations that are due; with a tolerance, certify at them and stop there."""
    algorithm = with_options(_NAMED[solver], options or {})
    chosen = formulations.get(formulation)
    task, _ = chosen.task(instance, parameters)
    problem = Problem(chosen, task, 1e-4 if tolerance is None else tolerance)
    marks: list[Mark] = []
    best = certify(chosen, task, chosen.trivial_points(task)) if tolerance is not None else None
    started = time.process_time()
    state = algorithm.start(problem)
    seconds, iteration = time.process_time() - started, 0
    while True:
        last = bool(state.stop_reason) or iteration >= max_iter or seconds >= budget
        if last or due(iteration):
            solves = problem.svm_solves
            if best is not None:
                best = certify(chosen, task, algorithm.points(problem, state), best)
            problem.svm_solves = solves
            marks.append(_mark(iteration, seconds, solves, state.weights, best))
            if last or (tolerance is not None and marks[-1].gap <= tolerance):
                return marks
        started = time.process_time()
        state = algorithm.step(problem, state)
        seconds += time.process_time() - started
        iteration += 1


def _mark(iteration: int, seconds: float, solves: int, weights: Array, best: CertifiedPoint | None) -> Mark:
    if best is None:
        return Mark(iteration, seconds, solves, weights)
    certificate = best.certificate
    return Mark(iteration, seconds, solves, weights, max(certificate.relative_gap, 0.0), certificate.lower)


def first_within(marks: Sequence[Mark], values: Iterable[float], target: float) -> Mark | None:
    """The first mark whose value is at most the target."""
    return next((mark for mark, value in zip(marks, values, strict=True) if value <= target), None)


def geometric(count: float, growth: float = 1.25) -> Callable[[int], bool]:
    """Due at 0, 1, 2, … and then whenever the iterations have grown by that factor."""
    chosen, at = {0}, 1.0
    while at <= count:
        chosen.add(round(at))
        at = max(at * growth, at + 1)
    return chosen.__contains__
