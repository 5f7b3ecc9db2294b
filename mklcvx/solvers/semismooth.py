"""From a support vector machine to the optimum: Newton's method on the active set.

The first weights of a regulariser make one kernel, and LIBSVM solves its machine in a few milliseconds, in single
precision. From there the active-set steps of `interior` go on by themselves: each chooses which α and which weights are
held at a bound, and solves the optimality conditions of the others (a semismooth Newton method, Hintermüller, Ito and
Kunisch 2002). Where weights are given, as in `svm`, `sum` and `average`, all of that happens with the one kernel that
they make, and two steps are the rule; else about seven, each half as long as a step of the interior point.

Nothing makes these steps converge from afar. If steps do not become shorter, they end, and `interior` begins anew.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from ..certificate import CertifiedPoint, certify
from ..certificate.run import Ending, Row, Run
from ..formulations import Formulation, Points, RankOneCoefficients, SingleTask, Task
from ..formulations._formulation import Own, Posed
from ..formulations.svm import SVM
from ..problem.low_rank import LowRank
from .driver import Algorithm, Array, Problem, State, drive
from .interior.active_set import ActiveSetPoint, active_set_step
from .interior.engine import InteriorPoint
from .interior.reduced_hessian import ReducedHessian, reduced_hessian_of
from .interior.samples_side import samples_side
from .interior.settings import SETTINGS, TINY
from .interior.single_task import candidate_points
from .interior.weights_side import Side, side_of
from .svm import by_libsvm

FROM_MACHINE = "from a support vector machine"  # the warm start of problems that are many, and alike
ACCURACY = 1e-4  # of LIBSVM's margins
SWEEPS, SHARE = 2000, 0.05  # iterations of LIBSVM: so many, or this share of n²; more would cost as much as `interior`
WAITED, SHRUNK = 3, 0.7  # after so many steps their lengths must have shrunk to this share
NEAR = 0.01  # of α: a longer step has not led to the optimum, unless there are no weights to find


@dataclass(frozen=True)
class ActiveSet(State):
    """A point, and how far the steps so far have moved α, as a share of it."""

    at: ActiveSetPoint
    side: Side
    hessian: ReducedHessian
    moves: tuple[float, ...] = ()


class SemismoothNewton(Algorithm[ActiveSet]):
    name = InteriorPoint.name
    summary = "active-set steps from a support vector machine"
    reference = ""
    serves = InteriorPoint.serves
    max_iter = 15

    @classmethod
    def takes(cls, task: Posed) -> bool:
        """The hinge loss with a bias and equal rights for all samples, on kernels that are not in factors."""
        if not isinstance(task, Task) or isinstance(task.kernels, LowRank) or not task.bias:
            return False
        return samples_side(task).polyhedral and not task.loss_function.free_margin

    def start(self, problem: Problem) -> ActiveSet:
        task, side = problem.task, side_of(problem.task, problem.formulation)
        x, hessian = side.start(), reduced_hessian_of(task)
        weights = side.weights(x)
        hessian.set_weights(weights)
        sweeps = max(SWEEPS, int(SHARE * task.samples**2))
        alpha = by_libsvm(task.alone(hessian.kernel), ACCURACY, sweeps)
        problem.svm_solves += 1
        ending = Ending.NONE if alpha is not None else Ending.NO_PROGRESS
        alpha = np.zeros(task.samples) if alpha is None else alpha
        images = task.matvecs(alpha * task.signs)
        gradient, jacobian = side.gradient(x, images @ (alpha * task.signs) / 2), side.equality_jacobian(x)
        kappa = np.asarray(-np.linalg.lstsq(jacobian.T, gradient, rcond=None)[0], dtype=np.float64)
        nu = np.array([task.risk(weights @ images).bias])
        at = ActiveSetPoint(alpha, x, nu, kappa, images)
        return ActiveSet(weights, at, side, hessian, stop_reason=ending)

    def due(self, iteration: int) -> bool:
        return iteration > 0

    def step(self, problem: Problem, state: ActiveSet) -> ActiveSet:
        with np.errstate(all="ignore"):
            at = active_set_step(state.side, state.hessian, state.at)
            weights = state.side.weights(at.x)
        if not (np.isfinite(at.images).all() and np.isfinite(weights).all()):
            return replace(state, stop_reason=Ending.NO_PROGRESS)
        change, size = np.abs(at.alpha - state.at.alpha).sum(), np.abs(at.alpha).sum()
        moves = (*state.moves, float(change / max(size, TINY)))
        stuck = len(moves) > WAITED and not moves[-1] <= SHRUNK * moves[-1 - WAITED]
        ending = Ending.NO_PROGRESS if stuck else Ending.NONE
        return replace(state, weights=weights, at=at, moves=moves, stop_reason=ending)

    def points(self, problem: Problem, state: ActiveSet) -> Points:
        """Nothing while the last step was long, or weights are negative: that is no optimum."""
        far = not state.moves or (state.moves[-1] > NEAR and len(state.at.x)) or (state.weights < 0).any()
        return Points([], []) if far else candidate_points(state.side, state.at)


def quickly(formulation: Formulation, task: Posed, tolerance: float, **given: Own) -> tuple[CertifiedPoint, Run] | None:
    """The optimum by active-set steps, if weights are given, or `warm` is FROM_MACHINE; None where these do not serve,
    or do not arrive."""
    if not isinstance(formulation, SingleTask) or formulation.regulariser is None or not SemismoothNewton.takes(task):
        return None
    assert isinstance(task, Task)
    alone = formulation.regulariser.alone(task.count, **task.own)
    if given["max_iter"] or not (alone or given.get("warm") == FROM_MACHINE):
        return None
    limits = {name: given[name] for name in ("time_limit", "report", "callback")}
    aim = SETTINGS.proof_margin * tolerance
    if alone and task.count > 1:
        found, run = _with_one_kernel(formulation, task, aim, **limits)
    else:
        found, run = drive(SemismoothNewton(), formulation, task, aim, **limits)
    ended = run.status in (Ending.INTERRUPTED, Ending.CALLBACK, Ending.TIME_LIMIT)
    return (found, run) if ended or found.certificate.proves(tolerance) else None


def _with_one_kernel(
    formulation: SingleTask, task: Task, tolerance: float, *, callback: Callable[[Row], object], **given: Own
) -> tuple[CertifiedPoint, Run]:
    """Weights that are given make one kernel, and a machine with it."""
    assert formulation.regulariser is not None
    weights = formulation.regulariser.start(task.count, **task.own)
    single = task.alone(task.combined(weights))

    def told(row: Row) -> object:
        return callback(row._replace(weights=weights))

    point, run = drive(SemismoothNewton(), SVM, single, tolerance, callback=told, **given)
    run.trace = [row._replace(weights=weights) for row in run.trace]
    run.last = None
    functions = point.upper.coefficients
    assert isinstance(functions, RankOneCoefficients)
    points = Points([point.lower.alpha], [RankOneCoefficients(functions.weights[0] * weights, functions.signed)])
    return certify(formulation, task, points), run


__all__ = ["FROM_MACHINE", "Array", "SemismoothNewton", "quickly"]
