"""Column generation for declared semi-infinite programs: master, oracle, certificate, again."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from .certificate import CertifiedPoint, certify
from .exact import CLARABEL, Report, Run, solve_program
from .formulations import Formulation, Points, Task, _silp
from .formulations._hypergraph import Embedding, HyperTask

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


@dataclass(frozen=True)
class SemiInfinite:
    """A declared semi-infinite program: its oracle, the scores that make a cut a row of the master, and the points
    that weights, cuts and the master's mix of the cuts offer to the certificate."""

    separate: Callable[[Array, Run], Array | None]
    scores: Callable[[Array], Array]
    points: Callable[[Array, list[Array], Array], Points]
    cap: float = 1.0


def over_alpha(task: Task) -> SemiInfinite:
    """`l1` and `sm1`: a cut is an α."""

    def separate(weights: Array, run: Run) -> Array | None:
        single, program = _silp.separation_oracle(task, weights)
        solved = solve_program(program.problem, CLARABEL, run)
        return single.feasible(program.alpha.value) if solved else None

    def points(weights: Array, cuts: list[Array], mix: Array) -> Points:
        return Points([cuts[-1], np.stack(cuts).T @ mix], [np.outer(weights, cuts[-1] * task.y)])

    return SemiInfinite(separate, lambda alpha: _silp.scores(task, alpha), points, _silp.cap(task.own))


def over_embeddings(task: HyperTask) -> SemiInfinite:
    """`hypergraph`: a cut is a Z, and the master maximises."""

    def separate(weights: Array, run: Run) -> Array | None:
        program = _silp.embedding_oracle(task, weights)
        return np.asarray(program.z.value) if solve_program(program.problem, CLARABEL, run) else None

    def points(weights: Array, cuts: list[Array], mix: Array) -> Points:
        return Points([Embedding(weights, cuts[-1])], [cuts[-1], np.tensordot(mix, np.stack(cuts), axes=1)])

    return SemiInfinite(separate, lambda z: -task.scores(z), points)


def solve_silp(
    formulation: Formulation,
    task: Any,
    tolerance: float,
    *,
    time_limit: float | None = None,
    max_iter: int | None = None,
    report: Report = lambda _: None,
) -> tuple[CertifiedPoint, Run]:
    """Alternate the declared master and the declared oracle until the certificate closes."""
    program = over_embeddings(task) if isinstance(task, HyperTask) else over_alpha(task)
    run, rows = Run(), []
    best = certify(formulation, task, formulation.at_hand(task))

    def master(cuts: list[Array]) -> tuple[Array, Array] | None:
        rows.append(program.scores(cuts[-1]))
        declared = _silp.restricted_master(np.stack(rows), program.cap)
        if not solve_program(declared.problem, CLARABEL, run):
            return None
        weights = np.maximum(declared.weights.value, 0.0)
        mix = np.maximum(np.ravel(declared.cuts.dual_value), 0.0)
        return weights / weights.sum(), mix / mix.sum()

    def judge(weights: Array, cuts: list[Array], mix: Array) -> tuple[CertifiedPoint, bool]:
        nonlocal best
        best = certify(formulation, task, program.points(weights, cuts, mix), best)
        gap = best.certificate.relative_gap
        report(f"{formulation.name}: cut {len(cuts)}, relative gap {gap:.1e}")
        return best, gap <= tolerance

    loop: Any = ColumnGeneration(lambda weights: program.separate(weights, run), master, judge)
    deadline = np.inf if time_limit is None else time.perf_counter() + time_limit
    _, run.iterations = loop.run(np.full(task.count, 1 / task.count), max_iter or MAX_ITER, deadline)
    return best, run
