"""interior — a structured interior-point method for two stages: weights and the multipliers of all pairs together.

    min over μ ≥ 0 of   R(μ) + Σ_ij w_ij (1 − t_ij μ'z_ij)₊,        R = (λ/2)‖μ‖² (`ts`) or λ Σμ (`ts_l1`)

Newton's equations of `_pair_newton` are M×M whatever the number of pairs, and kernels are read in blocks, in whatever
precision they are stored: what is held in memory is a dozen numbers for every pair. `_pair_centring` finds a centred
point, then Mehrotra's predictor and corrector go on. Where the price is so high that every pair stays below its margin,
β = w is optimal, and that is looked at first.

Rounding: a multiplier s below the rounding error of Σ β t z says nothing, so s stays above it; and a margin that
rounding leaves at 1 − 1e-10 costs more than lengthening μ by as much, so that μ is offered with both lengths.

`alignment` is a quadratic program in M variables, min over v ≥ 0 of v'Gv − 2a'v. With kernels of unit Frobenius norm G
has a diagonal of ones and no negative entry, so that ‖v‖² ≤ v'Gv = a'v at the optimum bounds every v_m by ‖a₊‖, and
`_interior_qp` solves it in that box.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from ...certificate.record import VANISHING
from ...certificate.run import Ending
from ...formulations import Points
from ...formulations.alignment import AlignmentTask
from ...formulations.families.two_stage import PairTask
from ..box_qp import projected_newton
from ..driver import Algorithm, Problem, State
from .pair_centring import centred_point, centring_step, decrement, first_weights
from .pair_newton import PairNewton
from .pair_point import Array, PairInterior
from .qp import Quadratic, interior_point

SHORT = 0.995  # of the way to the boundary
FIRST = 0.1  # the products of all pairs together at the start, for a loss of about one
CLOSE = 0.5  # the decrement per pair that is centred enough
NEAR, REACHED = 1e3, 1e-9  # times the tolerance: a complementarity worth certifying, and one that rounding swallows
GRAIN = 4 * np.finfo(float).eps
NOTHING = Points([], [])


@dataclass(frozen=True)
class CentredPairs(State):
    """An interior point; `product` is τ until it is centred, then 0; `sizes` are the kernels', √Σ w z²."""

    at: PairInterior
    sizes: Array
    product: float
    offer: Points = NOTHING


@dataclass(frozen=True)
class InteriorPairs(Algorithm[State]):
    name: ClassVar[str] = "interior"
    summary: ClassVar[str] = "our structured interior-point method: weights and pairs together"
    reference: ClassVar[str] = ""
    serves: ClassVar[tuple[str, ...]] = ("ts", "ts_l1", "alignment")
    tolerance: ClassVar[float] = 1e-9
    max_iter: ClassVar[int] = 80

    def start(self, problem: Problem) -> State:
        task, curved = problem.task, problem.formulation.name == "ts"
        if isinstance(task, AlignmentTask):
            return State(task.own_alignment)
        sizes = np.sqrt(np.diag(task.pairs.gram(task.weight)))
        sizes = np.where(sizes > 0, sizes, sizes.max() or 1.0)
        mu, product = first_weights(task, sizes, curved), FIRST / task.pairs.count
        at = centred_point(task, mu, 1 - task.margins(mu), product)
        dear = np.maximum(task.pull(task.weight), 0.0) / task.lam if curved else np.zeros(task.count)
        return CentredPairs(mu, at, sizes, product, Points([task.weight], [dear]))

    def step(self, problem: Problem, state: State) -> State:
        if not isinstance(state, CentredPairs):
            return _aligned(problem.task, 0.01 * problem.tolerance)
        with np.errstate(all="ignore"):  # a step that overflows is a dead end
            return self._stepped(problem, state)

    def _stepped(self, problem: Problem, state: CentredPairs) -> CentredPairs:
        try:
            newton = PairNewton(problem.task, state.at, problem.formulation.name == "ts")
        except FloatingPointError:
            return replace(state, dead_end=Ending.ROUNDING)
        if state.product > 0 and decrement(newton, state.product) > CLOSE:
            at = centring_step(newton, state.product)
            return CentredPairs(at.mu, at, state.sizes, state.product)
        at = _further(newton, _grain(problem.task, state))
        if not np.isfinite(at.total) or at.sides.total <= REACHED * problem.tolerance * _scale(problem, state.at):
            return replace(state, dead_end=Ending.ROUNDING)
        return CentredPairs(at.mu, at, state.sizes, 0.0)

    def points(self, problem: Problem, state: State) -> Points:
        """β with μ in two lengths, once that is worth a certificate; the approximate alignment keeps its weights."""
        if not isinstance(state, CentredPairs):
            return Points([] if problem.task.approximate else [state.weights], [state.weights])
        at = state.at
        if not problem.closing and (state.product > 0 or at.total > NEAR * problem.tolerance * _scale(problem, at)):
            return state.offer
        return Points([at.sides.beta], [at.mu, _lengthened(problem.task, at)])


def _further(newton: PairNewton, grain: Array) -> PairInterior:
    """Mehrotra's step; what the predictor neglects counts as far as the predictor itself can go."""
    now, predicted = newton.at.total, newton.predict()
    dual, primal = predicted.reach.longest
    left = max(predicted.reach.total(dual, primal), 0.0) / now
    corrected = newton.correct(predicted, now / newton.at.size * left**3, dual * primal, grain)
    dual, primal = corrected.reach.longest
    return newton.moved(corrected, SHORT * dual, SHORT * primal)


def _grain(task: PairTask, state: CentredPairs) -> Array:
    """The rounding error of Σ β t z, as Σ β |z| ≤ √(Σ β²/w) √(Σ w z²)."""
    beta = state.at.sides.beta
    return GRAIN * float(np.sqrt(np.sum(beta * (beta / task.weight)))) * state.sizes


def _scale(problem: Problem, at: PairInterior) -> float:
    """What a gap is compared with: what weights and pull cost, and where that vanishes the gain Σβ."""
    penalty, gain = problem.formulation.penalty(problem.task, at.mu), float(at.sides.beta.sum())
    halves = 2 if problem.formulation.name == "ts" else 1
    return max(halves * penalty, VANISHING * gain, np.finfo(float).tiny)


def _lengthened(task: PairTask, at: PairInterior) -> Array:
    """μ longer by what the margins lack of pairs that are not at their bound."""
    lack = 1 - task.margins(at.mu)
    short = float(np.max(lack[at.sides.room > 1e-6 * task.weight], initial=0.0))
    return at.mu * (1 + min(short, 1e-3))


def _aligned(task: AlignmentTask, accuracy: float) -> State:
    """The whole quadratic program in one step."""
    norms = np.sqrt(np.diag(task.products))
    norms = np.where(norms > 0, norms, 1.0)
    gram, target = task.products / np.outer(norms, norms), task.target / norms
    box = float(np.linalg.norm(np.maximum(target, 0.0)))
    if box == 0:
        return State(np.zeros(task.count), dead_end=Ending.ROUNDING)
    none = np.zeros((0, task.count))
    program = Quadratic(gram, target / box, np.full(task.count, 1.5), none, np.zeros(0))
    found = projected_newton(program, interior_point(program, accuracy), accuracy)
    return State(found * box / norms, dead_end=Ending.ROUNDING)
