"""Newton's method for the weights with an SVM inside, as of Chapelle and Rakotomamonjy (2008): the fast way in.

    J(x) = max over α of L(α, x)

is convex in the weights' side x. At the best α, which LIBSVM finds on K(μ) alone, its gradient is ∂L/∂x and its Hessian
N + P H⁻¹P' with H on the free samples: the small matrix of `saddle`. A step minimises that model of J over the bounds
and equalities of x; it is an active-set step whose held x the model chooses. The step predicts α, too. If the
prediction halves the gap it is kept, and no SVM is solved: towards the end these are the steps of the active-set
finish. Otherwise LIBSVM solves at the new weights.

What looks idle is not visited: kernels at zero with a large multiplier are read again only when the others are done,
and the first weights come from some of the samples. No guess needs a proof, since the certificate judges the full
problem. Where the method makes no progress, the interior-point method starts from nothing.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from ...formulations import Points, Task
from ..driver import Algorithm, Problem, State
from ..libsvm import libsvm, serves
from .active_set import ActiveSetPoint, active_set_step
from .loop import Array
from .qp import BoxQP, interior_point
from .reduced_hessian import ReducedHessian, reduced_hessian_of
from .saddle import ReducedSystem
from .sample_variables import DualPoint
from .settings import SETTINGS, TINY
from .single_task import InteriorSingle, candidate_points, fits, from_nothing
from .state import IPMState
from .weights_side import Shared, Side, side_of

Mask = NDArray[np.bool_]


@dataclass(frozen=True)
class NewtonState(State):
    """A point with the relative gap of its bounds, rounding errors aside, as far as the kernels visited tell.

    `complete` says whether these were all, `checked` whether all were visited since the gap is small; `visited` are to
    be visited next. `upper` is the upper bound, `accuracy` that of the next SVM, `gap_of_svm` that of α at these
    weights, `best` the least gap so far, which `waited` steps have not improved; `before` are prices and x of the last
    point of a path."""

    point: ActiveSetPoint
    side: Side
    hessian: ReducedHessian
    visited: Mask
    gap: float
    upper: float
    accuracy: float = SETTINGS.svm_accuracy
    gap_of_svm: float = np.inf
    complete: bool = False
    checked: bool = False
    best: float = np.inf
    waited: int = 0
    before: tuple[Array, Array] | None = None


class NewtonFirst(Algorithm[State]):
    """Newton's method for the weights while it makes progress; after that, and for other problems, `InteriorSingle`."""

    name, summary, reference = InteriorSingle.name, InteriorSingle.summary, InteriorSingle.reference
    serves, losses, max_iter = InteriorSingle.serves, InteriorSingle.losses, InteriorSingle.max_iter
    tolerance = InteriorSingle.tolerance
    interior: ClassVar[InteriorSingle] = InteriorSingle()

    def start(self, problem: Problem) -> State:
        side, warm = side_of(problem.task, problem.formulation), problem.warm
        near = warm if isinstance(warm, NewtonState | IPMState) and fits(warm, problem.task, side) else None
        hessian = reduced_hessian_of(problem.task) if near is None else near.hessian
        if not is_served(problem.task, side, hessian, along_path=near is not None):
            return self.interior.start(problem)
        if near is not None:
            return newton_neighbour(problem, side, near) or from_nothing(side, reduced_hessian_of(problem.task))
        x = self._weights_of_some(problem, side)
        start = fitted(problem, side, hessian, x, first_accuracy(side, x))
        return start or from_nothing(side, reduced_hessian_of(problem.task))  # a matrix of its own, as in `step`

    def step(self, problem: Problem, state: State) -> State:
        if isinstance(state, IPMState):
            return self.interior.step(problem, state)
        assert isinstance(state, NewtonState)
        with np.errstate(all="ignore"):  # what is not finite has no gap
            # With a matrix of its own: sums of kernels of very different size keep what rounding left of the largest.
            ahead = newton_step(problem, state)
        return (
            replace(ahead, before=state.before) if ahead else from_nothing(state.side, reduced_hessian_of(problem.task))
        )

    def points(self, problem: Problem, state: State) -> Points:
        if isinstance(state, IPMState):
            return self.interior.points(problem, state)
        assert isinstance(state, NewtonState)
        near = state.complete and state.gap <= SETTINGS.proof_margin * problem.tolerance
        return candidate_points(state.side, state.point) if near or problem.closing else Points([], [])

    def _weights_of_some(self, problem: Problem, side: Side) -> Array:
        """x from every k-th sample of each class, at k times its price, by some steps of the interior-point method."""
        task, every = problem.task, min(problem.task.samples // SETTINGS.first_samples, SETTINGS.first_share)
        if every < 2 or not len(side.sign):
            return side.start()
        some = np.sort(np.argsort(task.signs, kind="stable")[::every])
        part = task.with_samples(some)
        share = 1 if task.loss_function.free_margin else every  # there prices are shares already
        smaller = replace(problem, task=replace(part, box=share * part.box), warm=None)
        try:
            state = self.interior.start(smaller)
            while state.relative_complementarity > SETTINGS.first_gap and not state.stop_reason:
                state = self.interior.step(smaller, state)
        except (ArithmeticError, np.linalg.LinAlgError):  # of these samples: it says nothing about all of them
            return side.start()
        x = state.at.x
        return side.within(np.where(x < SETTINGS.first_cutoff * x.max(), 0.0, x)) if side.sparse else x


def is_served(task: Task, side: Side, hessian: ReducedHessian, along_path: bool = False) -> bool:
    """Whether LIBSVM solves the machine of the task, and the problem is dense and large enough to gain by it."""
    enough = SETTINGS.newton_min_samples if len(side.sign) else SETTINGS.svm_min_samples
    enough = SETTINGS.path_min_samples if along_path else enough
    dense = type(hessian) is ReducedHessian and task.samples >= enough
    # LIBSVM's regression takes longer than the interior point where C is large.
    known = side.samples.polyhedral and serves(task, side.samples)
    return dense and known and not isinstance(side, Shared)


def first_accuracy(side: Side, x: Array, accuracy: float = SETTINGS.svm_accuracy) -> float:
    """LIBSVM's accuracy of margins at first: where prices are small, so are f and what margins differ by."""
    task, share = side.task, 1.0
    if not task.loss_function.free_margin:
        share = float(task.box.mean()) * float(side.weights(x) @ task.traces) / task.samples
    return max(accuracy * min(share, 1.0), SETTINGS.svm_finest)


def newton_neighbour(problem: Problem, side: Side, warm: NewtonState | IPMState) -> NewtonState | None:
    """The optimum for a neighbouring parameter with the bounds of this one, where the same bounds seem to hold; else
    the SVM at its weights."""
    near = warm.point if isinstance(warm, NewtonState) else warm.active_set_guess
    ratio, old = problem.task.box / warm.side.samples.price, warm.side.samples
    if near.capped(old) and float(np.max(np.abs(np.log(ratio)))) > SETTINGS.neighbour_ratio:
        x = near.x if isinstance(warm, IPMState) else extrapolated(side, warm, problem.task.box)
        start = fitted(problem, side, warm.hessian, x, first_accuracy(side, x, SETTINGS.path_accuracy))
        return start and replace(start, before=(old.price, near.x))
    point = near.moved_to(problem.task, side.samples, old)
    every, weights = np.ones(problem.task.count, dtype=bool), side.weights(point.x)
    given = weights, point, side, warm.hessian, every
    return measured(problem, NewtonState(*given, np.inf, np.inf, first_accuracy(side, point.x)))


def extrapolated(side: Side, last: NewtonState, price: Array) -> Array:
    """x at other prices: some way along the line, over the logarithm of the prices, through the last two points of a
    path."""
    x, now = last.point.x, last.side.samples.price
    if last.before is None or not len(x):
        return x
    past, ahead = float(np.log(now / last.before[0]).mean()), float(np.log(price / now).mean())
    if not 0 < ahead / past <= SETTINGS.path_reach:
        return x
    guess = np.maximum(x + SETTINGS.path_share * ahead / past * (x - last.before[1]), side.least(x))
    guess[: len(side.caps)] = np.minimum(guess[: len(side.caps)], side.caps)
    return guess


def newton_step(problem: Problem, state: NewtonState) -> NewtonState | None:
    """The next state; None where there is no progress."""
    far = state.best > SETTINGS.newton_far
    if problem.svm_solves > (SETTINGS.far_max_svms if far and state.waited else SETTINGS.newton_max_svms):
        return None
    enough = state.gap <= SETTINGS.proof_margin * problem.tolerance
    if enough and not state.complete:
        return _visiting_all(problem, state)
    near = state.gap <= SETTINGS.check_gap
    if (near and not state.checked) or state.gap <= math.sqrt(problem.tolerance):
        state = replace(state, visited=np.ones(problem.task.count, dtype=bool), checked=near)
    try:
        start = scaled(state.side, state.point)
        point = active_set_step(state.side, state.hessian, start, best_bounds, state.visited)
    except (FloatingPointError, np.linalg.LinAlgError):
        return None
    if not np.isfinite(point.x).all():
        return None
    reach = np.inf if len(point.kappa) else (1 + SETTINGS.newton_growth) * float(start.x.max(initial=0.0))
    point = replace(point, x=state.side.within(np.minimum(point.x, reach)))
    predicted = measured(problem, replace(state, point=point))
    usable = state.best <= SETTINGS.svm_best_gap and predicted.gap <= SETTINGS.check_gap
    if predicted.gap <= SETTINGS.newton_gain * state.gap or (usable and not state.waited % 2):
        ahead: NewtonState | None = predicted
    else:  # every other time at least: two sets of bounds may follow one another in circles
        ahead = _refitted(problem, state, point.x)
    impatient = far or state.accuracy <= SETTINGS.svm_finest  # no SVM will do better
    patience = SETTINGS.far_patience if impatient else SETTINGS.newton_patience
    if ahead is None or (ahead.gap >= state.best and state.waited >= patience):
        return None
    if ahead.gap < state.best:
        return replace(ahead, best=ahead.gap, waited=0)
    return replace(ahead, best=state.best, waited=state.waited + 1, accuracy=_finer(ahead.accuracy))


def scaled(side: Side, at: ActiveSetPoint) -> ActiveSetPoint:
    """The same f with larger weights, of the best size, and α that is smaller by as much. Newton's model of J, which
    falls like 1/size, would get there by a factor of 3/2 a step at most."""
    if side.task.loss_function.free_margin:  # there the sum of α is given
        return at
    size = side.best_scale(at.x, at.images @ (at.alpha * side.samples.signs) / 2)
    if not 1 + SETTINGS.size_change < size < np.inf:
        return at
    return replace(at, x=size * at.x, alpha=at.alpha / size, images=at.images / size)


def _refitted(problem: Problem, state: NewtonState, x: Array) -> NewtonState | None:
    """The SVM at x, or nearer to the present weights where the upper bound grows."""
    for _ in range(SETTINGS.newton_halvings):
        ahead = fitted(problem, state.side, state.hessian, x, state.accuracy, state.visited)
        if ahead is None or ahead.upper <= state.upper or ahead.gap <= state.gap:
            break
        x = (x + state.point.x) / 2
    return ahead and replace(ahead, checked=state.checked)


def _visiting_all(problem: Problem, state: NewtonState) -> NewtonState:
    """The same point with the images of all kernels."""
    every, signed = np.ones(problem.task.count, dtype=bool), state.point.alpha * state.side.samples.signs
    point = replace(state.point, images=problem.task.matvecs(signed))
    return replace(measured(problem, replace(state, point=point, visited=every)), best=np.inf, waited=0)


def fitted(
    problem: Problem, side: Side, hessian: ReducedHessian, x: Array, accuracy: float, visited: Mask | None = None
) -> NewtonState | None:
    """The SVM at the weights of x, with the multipliers that its free samples imply."""
    task, weights = problem.task, side.weights(x)
    every = np.ones(task.count, dtype=bool) if visited is None else visited | (weights > 0)
    hessian.set_weights(weights)
    alpha = libsvm(task, side.samples, hessian.kernel, accuracy, SETTINGS.svm_max_steps * task.samples)
    problem.svm_solves += 1
    if alpha is None:
        return None
    alpha = task.feasible(alpha)
    images = task.matvecs_of(every, alpha * side.samples.signs)
    halves = images @ (alpha * side.samples.signs) / 2
    gradient, jacobian = side.gradient(x, halves), side.equality_jacobian(x)
    kappa = np.linalg.lstsq((jacobian * x).T, -gradient * x, rcond=None)[0] if len(jacobian) else np.zeros(0)
    point = ActiveSetPoint(alpha, x, _nu(side, alpha, weights @ images), np.asarray(kappa, dtype=np.float64), images)
    state = measured(problem, NewtonState(weights, point, side, hessian, every, np.inf, np.inf, accuracy))
    rough = state.gap_of_svm > SETTINGS.svm_share * state.gap
    return replace(state, accuracy=_finer(accuracy)) if rough else state


def _finer(accuracy: float) -> float:
    return max(accuracy / 10, SETTINGS.svm_finest)


def _nu(side: Side, alpha: Array, outputs: Array) -> Array:
    """The multipliers of the equalities: the free samples, or those nearest to it, meet their margins."""
    rows, samples = side.balance[0], side.samples
    at_low, at_high, at_kink = samples.bound(alpha, SETTINGS.bound_tolerance)
    free = ~(at_low | at_high | at_kink)
    free = free if free.any() else np.ones(len(alpha), dtype=bool)
    point = DualPoint(alpha, *samples.distances(alpha))
    slope = samples.smooth_slope(point) - samples.kink(alpha, alpha)
    return np.asarray(np.linalg.lstsq(rows[:, free].T, (samples.signs * slope - outputs)[free], rcond=None)[0])


def measured(problem: Problem, state: NewtonState) -> NewtonState:
    """The state with the gap of its point: that of the bounds, as far as the kernels visited tell."""
    task, form, side, point = problem.task, problem.formulation, state.side, state.point
    weights = side.weights(point.x)
    roots = np.sqrt(np.maximum(point.images @ (point.alpha * side.samples.signs), 0.0))
    norms, short = weights * roots, 1 / max(form.excess(roots, **task.own), 1.0)
    risk, gain = task.risk(weights @ point.images).value, task.gain(point.alpha)
    upper = form.penalty(norms, **task.own) + risk
    of_shorter = gain if short == 1 else task.gain(short * point.alpha)
    lower, square = of_shorter - form.conjugate(short * roots, **task.own), float(norms @ roots)
    gap, of_svm = (upper - lower) / max(square, TINY), (square + risk - gain) / max(square, TINY)
    return replace(
        state, weights=weights, gap=gap if np.isfinite(gap) else np.inf, gap_of_svm=of_svm, upper=upper,
        complete=bool(state.visited.all()), visited=_busy(state, roots**2 / 2),
    )  # fmt: skip


def _busy(state: NewtonState, halves: Array) -> Mask:
    """The kernels that are not idle: with a weight, or with a multiplier that is small beside that of the others."""
    side, point, count = state.side, state.point, len(halves)
    if len(point.x) < count or not side.sparse:
        return state.visited
    slope = side.gradient(point.x, halves)[:count]
    reduced = slope + (point.kappa @ side.equality_jacobian(point.x))[:count]
    unit = float(np.abs(slope).max(initial=TINY))
    return (point.x[:count] > 0) | (state.visited & (reduced <= SETTINGS.idle_multiplier * unit))


def best_bounds(
    side: Side, at: ActiveSetPoint, gradient: Array, system: ReducedSystem, for_beta: Array, missing: Array
) -> Array:
    """0 or the cap where the best x of Newton's model of J is held, NaN where it is free.

    min over v = (dx, dν) of ½v'Gv − r'v with E dx = −e and the bounds of x, by the primal-dual active-set method of
    Hintermüller, Ito and Kunisch (2002); where it goes in circles, by an interior-point method."""
    p, matrix = len(at.x), system.for_rows
    right = np.concatenate([-gradient, missing]) + system.rows @ system.hessian.solve_roughly(for_beta)
    low, high = side.least(at.x) - at.x, np.full(p, np.inf)
    high[: len(side.caps)] = side.caps - at.x[: len(side.caps)]
    jacobian, missing_x = system.equality_jacobian, -side.equalities(at.x)
    at_low, at_high, unseen = at.x <= 0, high <= 0, _unseen(at)
    for _ in range(SETTINGS.max_active_sets):
        bounds, held = np.where(at_low, low, high), at_low | at_high
        change, multiplier = _with_held(matrix, right, jacobian, missing_x, bounds, held)
        now_low = np.where(at_low, multiplier > 0, change < low) | unseen
        now_high = np.where(at_high, multiplier < 0, change > high) & ~now_low
        if (now_low == at_low).all() and (now_high == at_high).all():
            break
        at_low, at_high = now_low, now_high
    else:
        some, others = np.flatnonzero(~unseen), np.arange(p, len(matrix))
        chosen, at_low = np.concatenate([some, others]), unseen.copy()
        program = matrix[np.ix_(chosen, chosen)], right[chosen], jacobian[:, some], missing_x, low[some], high[some]
        at_low[some], at_high[some] = _by_interior_point(*program)
    return np.where(at_low, low + at.x, np.where(at_high, high + at.x, np.nan))


def _unseen(at: ActiveSetPoint) -> Mask:
    """The x at zero whose kernels were not visited: nothing is known of them, so that they stay there."""
    unseen = np.zeros(len(at.x), dtype=bool)
    weights = slice(min(len(at.x), len(at.images)))  # a slack may follow them, and given weights are no variables
    unseen[weights] = (at.x[weights] <= 0) & ~at.images[weights].any(axis=1)
    return unseen


def _by_interior_point(
    matrix: Array, right: Array, jacobian: Array, missing: Array, low: Array, high: Array
) -> tuple[Mask, Mask]:
    """Which dx are at their lower and upper bounds."""
    p = len(low)
    eliminated = np.linalg.solve(matrix[p:, p:], np.column_stack([matrix[p:, :p], right[p:]]))
    inner = matrix[:p, :p] - matrix[:p, p:] @ eliminated[:, :p]
    linear = right[:p] - matrix[:p, p:] @ eliminated[:, p] - inner @ low
    widths = np.minimum(high - low, SETTINGS.newton_reach * float(np.max(-low)))
    unit = max(float(np.abs(linear).max()), TINY)
    program = BoxQP(inner / unit, linear / unit, widths, jacobian, missing - jacobian @ low)
    share = interior_point(program, SETTINGS.newton_qp_accuracy) / widths
    return share <= SETTINGS.bound_tolerance, np.isfinite(high) & (share >= 1 - SETTINGS.bound_tolerance)


def _with_held(
    matrix: Array, right: Array, jacobian: Array, missing: Array, bounds: Array, held: Mask
) -> tuple[Array, Array]:
    """The best dx with some of it held at their bounds, and the multipliers of all."""
    k, p, e = len(matrix), len(held), len(jacobian)
    change = np.zeros(k + e)
    change[:p] = np.where(held, bounds, 0.0)
    full = np.zeros((k + e, k + e))
    full[:k, :k], full[k:, :p], full[:p, k:] = matrix, jacobian, jacobian.T
    chosen = np.concatenate([np.flatnonzero(~held), np.arange(p, k + e)])
    rest = np.concatenate([right, missing]) - full @ change
    inner = full[chosen[:, None], chosen]
    size = np.sqrt(np.maximum(np.abs(np.diagonal(inner)), TINY))
    size[len(size) - e :] = 1.0
    try:
        solved = np.linalg.solve(inner / (size[:, None] * size), rest[chosen] / size) / size
    except np.linalg.LinAlgError:
        solved = np.linalg.lstsq(inner, rest[chosen], rcond=SETTINGS.singular_cutoff)[0]
    change[chosen] = solved
    return change[:p], (full @ change)[:p] - right[:p]
