"""From a support vector machine to the optimum: Newton's method on the active set.

The first weights of a regulariser make one kernel, and LIBSVM solves its machine in a few milliseconds, in single
precision. From there the active-set steps of `interior` go on by themselves: each chooses which α and which weights are
held at a bound, and solves the optimality conditions of the others (a semismooth Newton method, Hintermüller, Ito and
Kunisch 2002). Where weights are given, as in `svm`, `sum` and `average`, all of that happens with the one kernel that
they make, and one step is the rule; else about six. After a long step the machine of the new weights is solved again,
which is nearer to the optimum than α as the step leaves it.

Nothing makes these steps converge from afar. If they do not become shorter, they end, and `interior` begins anew.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import cast

import numpy as np

from ..certificate import CertifiedPoint, certify
from ..certificate.run import Ending, Row, Run
from ..formulations import Points, RankOneCoefficients, SingleTask, Task
from ..formulations._formulation import Own
from ..formulations.svm import SVM
from ..problem.low_rank import LowRank
from .driver import Algorithm, Array, Problem, State, drive
from .interior.active_set import ActiveSetPoint, active_set_step
from .interior.engine import InteriorPoint
from .interior.reduced_hessian import ReducedHessian
from .interior.samples_side import samples_side
from .interior.settings import SETTINGS, TINY
from .interior.single_task import candidate_points
from .interior.weights_side import Side, side_of
from .svm import by_libsvm

FROM_MACHINE = "from a support vector machine"  # the warm start of problems that are many, and alike
ACCURACY = 1e-4  # of LIBSVM's margins
SWEEPS, SHARE = 2000, 0.05  # iterations of LIBSVM: so many, or this share of n²; more would cost as much as `interior`
WAITED, SHRUNK = 3, 0.7  # a step must be shorter than this share of the longest of so many before it
TOO_FAR = 0.7  # of α: after a longer step there is no hope,
FAR = 0.1  # after such a one the machine of the new weights is solved,
NEAR = 0.01  # and no longer one has led to the optimum, unless there are no weights to find


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

    def start(self, problem: Problem) -> ActiveSet:
        task, side = problem.task, side_of(problem.task, problem.formulation)
        x = side.start()
        weights = side.weights(x)
        hessian = ReducedHessian(task) if len(x) else ReducedHessian.of_fixed(task, weights)
        at = at_machine(problem, side, hessian, x)
        nothing = ActiveSetPoint(*[np.zeros(0)] * 5)
        ending = Ending.NO_PROGRESS if at is None else Ending.NONE
        return ActiveSet(weights, at or nothing, side, hessian, stop_reason=ending)

    def due(self, iteration: int) -> bool:
        return iteration > 0

    def step(self, problem: Problem, state: ActiveSet) -> ActiveSet:
        side, hessian = state.side, state.hessian
        with np.errstate(all="ignore"):
            at = active_set_step(side, hessian, state.at)
            weights = side.weights(at.x)
        stopped = replace(state, stop_reason=Ending.NO_PROGRESS)
        if not (np.isfinite(at.images).all() and np.isfinite(weights).all()):
            return stopped
        change, size = np.abs(at.alpha - state.at.alpha).sum(), np.abs(at.alpha).sum()
        moves = (*state.moves, float(change / max(size, TINY)))
        stuck = len(moves) > WAITED and not moves[-1] <= SHRUNK * max(moves[-1 - WAITED : -1])
        if stuck or (moves[-1] > TOO_FAR and len(at.x)):
            return stopped
        if moves[-1] > FAR and len(at.x):  # the machine of the new weights is nearer to the optimum than α of the step
            found = at_machine(problem, side, hessian, np.maximum(at.x, 0.0))
            if found is None:
                return stopped
            at = found
        return replace(state, weights=side.weights(at.x), at=at, moves=moves)

    def points(self, problem: Problem, state: ActiveSet) -> Points:
        """Nothing while the last step was long, or weights are negative: that is no optimum."""
        last = state.moves[-1] if state.moves else np.inf
        far = state.stop_reason or (last > NEAR and len(state.at.x)) or (state.weights < 0).any()
        return Points([], []) if far else candidate_points(state.side, state.at)


def at_machine(problem: Problem, side: Side, hessian: ReducedHessian, x: Array) -> ActiveSetPoint | None:
    """The machine with the weights of x, by LIBSVM; None where there is none."""
    task, weights = problem.task, side.weights(x)
    if not weights.any():
        return None
    hessian.set_weights(weights)
    problem.svm_solves += 1
    sweeps = max(SWEEPS, int(SHARE * task.samples**2))
    alpha = by_libsvm(task.alone(hessian.kernel), ACCURACY, sweeps, converged=len(x) > 0)
    if alpha is None:
        return None
    images = task.matvecs(alpha * task.signs)
    gradient, jacobian = side.gradient(x, images @ (alpha * task.signs) / 2), side.equality_jacobian(x)
    kappa = np.asarray(-np.linalg.lstsq(jacobian.T, gradient, rcond=None)[0], dtype=np.float64)
    return ActiveSetPoint(alpha, x, np.array([task.risk(weights @ images).bias]), kappa, images)


def serves(formulation: SingleTask, task: Task) -> bool:
    """Whether weights have a regulariser, and the machine is one of LIBSVM: C-SVC, the kernels not in factors."""
    if formulation.regulariser is None or isinstance(task.kernels, LowRank) or not task.bias:
        return False
    return samples_side(task).polyhedral and not task.loss_function.free_margin


def quickly(formulation: SingleTask, task: Task, tolerance: float, **given: Own) -> tuple[CertifiedPoint, Run] | None:
    """The optimum by active-set steps, if weights are given, or `warm` is FROM_MACHINE; None where these do not serve,
    or do not arrive."""
    if not serves(formulation, task) or given["max_iter"]:
        return None
    assert formulation.regulariser is not None
    alone = formulation.regulariser.alone(task.count, **task.own)
    if not (alone or given.get("warm") == FROM_MACHINE):
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
    functions = cast(RankOneCoefficients, point.upper.coefficients)
    points = Points([point.lower.alpha], [RankOneCoefficients(functions.weights[0] * weights, functions.signed)])
    return certify(formulation, task, points), run
