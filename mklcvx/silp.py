"""Column generation for declared semi-infinite programs: master, oracle, certificate, again."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any, Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from .certificate import CertifiedPoint, certify
from .exact import CLARABEL, Report, Run, solve_program
from .formulations import Formulation, Points, Task, _silp

Array = NDArray[np.float64]
Cut = TypeVar("Cut")
Point = TypeVar("Point")

MAX_ITER = 1000


class ColumnGeneration(Generic[Cut, Point]):
    """`separate(weights)` finds the most violated constraint; `master(cuts)` gives new weights and the cuts' mix;
    `judge(weights, cuts, mix)` returns the best certified point so far and whether it is good enough."""

    def __init__(
        self,
        separate: Callable[[Array], Cut | None],
        master: Callable[[list[Cut]], tuple[Array, Array] | None],
        judge: Callable[[Array, list[Cut], Array], tuple[Point, bool]],
    ) -> None:
        self.separate, self.master, self.judge = separate, master, judge

    def run(self, weights: Array, max_iter: int, deadline: float) -> tuple[Point | None, int]:
        """The point that was certified, never one of a later master, and the number of cuts."""
        cuts: list[Cut] = []
        mix, point = np.ones(1), None
        while len(cuts) < max_iter and time.perf_counter() < deadline:
            cut = self.separate(weights)
            if cut is None:
                break
            cuts.append(cut)
            mix = np.ones(1) if len(cuts) == 1 else np.append(mix, 0.0)
            point, done = self.judge(weights, cuts, mix)
            if done:
                break
            answer = self.master(cuts)
            if answer is None:
                break
            weights, mix = answer
        return point, len(cuts)


def solve_silp(
    formulation: Formulation,
    task: Task,
    tolerance: float,
    *,
    time_limit: float | None = None,
    max_iter: int | None = None,
    report: Report = lambda _: None,
) -> tuple[CertifiedPoint, Run]:
    """The semi-infinite linear program of `l1` and `sm1`, alternating its two declarations."""
    run = Run()
    rows: list[Array] = []
    best = certify(formulation, task, formulation.at_hand(task))

    def separate(weights: Array) -> Array | None:
        single, program = _silp.separation_oracle(task, weights)
        if not solve_program(program.problem, CLARABEL, run):
            return None
        alpha = single.feasible(program.alpha.value)
        rows.append(_silp.scores(task, alpha))
        return alpha

    def master(cuts: list[Array]) -> tuple[Array, Array] | None:
        program = _silp.restricted_master(np.stack(rows), _silp.cap(task.own))
        if not solve_program(program.problem, CLARABEL, run):
            return None
        weights = np.maximum(program.weights.value, 0.0)
        mix = np.maximum(np.ravel(program.cuts.dual_value), 0.0)
        return weights / weights.sum(), mix / mix.sum()

    def judge(weights: Array, cuts: list[Array], mix: Array) -> tuple[CertifiedPoint, bool]:
        nonlocal best
        points = Points([cuts[-1], np.stack(cuts).T @ mix], [np.outer(weights, cuts[-1] * task.y)])
        best = certify(formulation, task, points, best)
        gap = best.certificate.relative_gap
        report(f"{formulation.name}: cut {len(cuts)}, relative gap {gap:.1e}")
        return best, gap <= tolerance

    loop: Any = ColumnGeneration(separate, master, judge)
    deadline = np.inf if time_limit is None else time.perf_counter() + time_limit
    _, run.iterations = loop.run(np.full(task.count, 1 / task.count), max_iter or MAX_ITER, deadline)
    return best, run
