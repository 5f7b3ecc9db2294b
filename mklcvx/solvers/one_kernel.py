"""Weights that are given, as in `sum` and `average`, make one kernel of many, and a support vector machine with it."""

from __future__ import annotations

from collections.abc import Callable
from typing import cast

from ..certificate import CertifiedPoint, certify
from ..certificate.run import Ending, Row, Run
from ..formulations import Points, RankOneCoefficients, SingleTask, Task
from ..formulations._formulation import Own
from ..formulations.svm import SVM
from ..problem.low_rank import LowRank
from .driver import drive
from .interior.engine import InteriorPoint
from .interior.settings import SETTINGS
from .interrupts import Outcome


def with_one_kernel(
    formulation: SingleTask, task: Task, tolerance: float, **given: Own
) -> tuple[CertifiedPoint, Run] | None:
    """The optimum of the machine with the one kernel; None where weights are to be found, or it proves too little."""
    side, callback = formulation.regulariser, given.get("callback", lambda _: None)
    if side is None or task.count == 1 or isinstance(task.kernels, LowRank) or given.get("max_iter"):
        return None
    if not side.alone(task.count, **task.own):
        return None
    weights = side.start(task.count, **task.own)
    single = task.alone(task.combined(weights))

    def told(row: Row) -> object:
        return callback(row._replace(weights=weights))

    def of_all(point: CertifiedPoint, run: Run) -> Outcome:
        run.trace, run.points = [row._replace(weights=weights) for row in run.trace], []
        functions = cast(RankOneCoefficients, point.upper.coefficients)
        points = Points([point.lower.alpha], [RankOneCoefficients(functions.weights[0] * weights, functions.signed)])
        return certify(formulation, task, points), run

    def keep(left: Callable[[], Outcome]) -> None:
        given.get("keep", lambda _: None)(lambda: of_all(*left()))

    limits = {name: given[name] for name in ("time_limit", "report", "warm") if name in given}
    aim = SETTINGS.proof_margin * tolerance
    point, run = of_all(*drive(InteriorPoint(), SVM, single, aim, callback=told, keep=keep, **limits))
    ended = run.status in (Ending.CALLBACK, Ending.TIME_LIMIT)
    return (point, run) if ended or point.certificate.proves(tolerance) else None
