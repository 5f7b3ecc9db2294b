"""interior — a structured interior-point method for two stages: weights and the multipliers of all pairs together.

    min over μ ≥ 0 of   R(μ) + Σ_ij w_ij (1 − t_ij μ'z_ij)₊,        R = (λ/2)‖μ‖² (`ts`) or λ Σμ (`ts_l1`)

Newton's equations of `pair_newton` are M×M whatever the number of pairs, and kernels are read in blocks, in whatever
precision they are stored: what is held in memory is a dozen numbers for every pair. A centred point is found first,
then the engine's loop goes on. Where the price is so high that every pair stays below its margin,
β = w is optimal, and that is looked at first.

Rounding: a multiplier s below the rounding error of Σ β t z says nothing, so s stays above it; and a margin that
rounding leaves at 1 − 1e-10 costs more than lengthening μ by as much, so that μ is offered with both lengths. Where
kernels that are nearly alike end the steps early, the method starts again in a basis that tells them apart.

`alignment` is a quadratic program in M variables, min over v ≥ 0 of v'Gv − 2a'v. With kernels of unit Frobenius norm G
has a diagonal of ones and no negative entry, so that ‖v‖² ≤ v'Gv = a'v at the optimum bounds every v_m by ‖a₊‖, and
`qp` solves it in that box.

The centred point, whatever the kernels' sizes and the price of weights: at margins of given weights all products of
pairs can be made equal to τ (`pair_newton`), and s = τ/μ does so for the
weights. One equation is left, in M unknowns: R'(μ) − τ/μ = Σ β t z. It says that μ minimises

    R(μ) − τ Σ log μ + Σ_ij φ_τ(t μ'z),         φ_τ' = −β,

a smooth convex function, so that Newton's method with a line search finds it from anywhere. Along the line only the
margins are needed: no kernel is read. These are not steps of the predictor–corrector loop, since τ stays.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ...certificate.record import VANISHING
from ...certificate.run import Ending
from ...formulations import Points
from ...formulations.alignment import AlignmentTask
from ...formulations.families.two_stage import PairTask
from ..driver import Problem, State
from .loop import Array, InteriorMethod, predictor_corrector
from .pair_newton import PairBlocks, PairIterate, PairSystem, basis_of, chunks, regulariser_gradient
from .qp import BoxQP, interior_point, projected_newton
from .settings import SETTINGS, TINY

NO_POINTS: Points[Array, Array] = Points([], [])


@dataclass(frozen=True)
class PairState(State):
    """An interior point; `product` is τ until it is centred, then 0; `sizes` are the kernels', √Σ w z²; `candidates`
    go to the certificate until there are better ones; `basis` is that of the equations, from the second start on."""

    at: PairIterate
    sizes: Array
    product: float
    candidates: Points = NO_POINTS
    basis: Array | None = None


class InteriorPairs(InteriorMethod[Any, PairIterate]):
    serves = ("ts", "ts_l1", "alignment")
    max_iter = 80

    def start(self, problem: Problem) -> State:
        if isinstance(problem.task, AlignmentTask):
            return State(problem.task.own_alignment)
        return self._first(problem)

    def _first(self, problem: Problem, basis: Array | None = None) -> PairState:
        task, quadratic = problem.task, problem.formulation.name == "ts"
        sizes = np.sqrt(np.diag(task.pairs.gram(task.weight)))
        sizes = np.where(sizes > 0, sizes, sizes.max() or 1.0)
        # Every kernel contributes alike to margins of one, unless its share of R would exceed that of the loss.
        dearest = np.sqrt(2 / (task.lam * task.count)) if quadratic else 1 / (task.lam * task.count)
        weights = np.minimum(1 / (task.count * sizes), dearest)
        product = SETTINGS.pair_first_complementarity / task.pairs.count
        at = centred_point(task, weights, 1 - task.margins(weights), product)
        dear = np.maximum(task.pull(task.weight), 0.0) / task.lam if quadratic else np.zeros(task.count)
        return PairState(weights, at, sizes, product, Points([task.weight], [dear]), basis)

    def before_step(self, problem: Problem, state: State) -> State | None:
        """The alignment needs no loop: one quadratic program is all of it."""
        if isinstance(state, PairState):
            return None
        return _aligned(problem.task, SETTINGS.alignment_accuracy * problem.tolerance)

    def system(self, problem: Problem, state: PairState) -> PairSystem:
        """No s is sent below the rounding error of Σ β t z, as Σ β |z| ≤ √(Σ β²/w) √(Σ w z²)."""
        beta = state.at.blocks.beta
        rounding = SETTINGS.pair_multiplier_floor * float(np.sqrt(np.sum(beta * (beta / problem.task.weight))))
        quadratic = problem.formulation.name == "ts"
        return PairSystem(problem.task, state.at, quadratic, rounding * state.sizes, state.basis)

    def advance(self, state: PairState, system: PairSystem) -> tuple[PairIterate, Any]:
        """A step of centring, without a length, until the point is centred."""
        if state.product > 0:
            step = system.solve(system.residual)
            decrement = max(float(step @ system.residual), 0.0) / (state.product * len(system.violation))
            if float(np.sqrt(decrement)) > SETTINGS.centring_decrement:
                return centring_step(system, -step, state.product), None
        return predictor_corrector(system)

    def accept(self, problem: Problem, state: PairState, after: PairIterate, length: Any) -> State:
        if length is None:
            return replace(state, weights=after.weights, at=after, candidates=NO_POINTS)
        least = SETTINGS.pair_converged * problem.tolerance * _scale(problem, state.at)
        if after.blocks.complementarity <= least:
            return self._again(problem, state)
        return replace(state, weights=after.weights, at=after, product=0.0)

    def _again(self, problem: Problem, state: PairState) -> State:
        """Where rounding swallows what is left: a second start, with a basis for kernels that are nearly alike."""
        task = problem.task
        basis = basis_of(task.pairs.gram(task.weight), state.sizes) if state.basis is None else None
        if basis is None:
            return replace(state, stop_reason=Ending.ROUNDING)
        return self._first(problem, basis)

    def points(self, problem: Problem, state: State) -> Points:
        """β with μ, and with μ lengthened until the margins of pairs that are not at their bound are 1, once the gap is
        near the tolerance; the approximate alignment keeps its weights."""
        if not isinstance(state, PairState):
            return Points([] if problem.task.approximate else [state.weights], [state.weights])
        at, near = state.at, SETTINGS.certify_gap * problem.tolerance * _scale(problem, state.at)
        if not problem.closing and (state.product > 0 or at.complementarity > near):
            return state.candidates
        violation = 1 - problem.task.margins(at.weights)
        inside = at.blocks.room > SETTINGS.bound_tolerance * problem.task.weight
        longer = 1 + min(float(np.max(violation[inside], initial=0.0)), SETTINGS.max_lengthening)
        return Points([at.blocks.beta], [at.weights, at.weights * longer])


def _scale(problem: Problem, at: PairIterate) -> float:
    """The scale of the relative gap: what weights and pull cost, or the gain Σβ if that vanishes."""
    penalty, gain = problem.formulation.penalty(problem.task, at.weights), float(at.blocks.beta.sum())
    halves = 2 if problem.formulation.name == "ts" else 1
    return max(halves * penalty, VANISHING * gain, TINY)


def _aligned(task: AlignmentTask, accuracy: float) -> State:
    """The whole quadratic program in one step."""
    norms = np.sqrt(np.diag(task.products))
    norms = np.where(norms > 0, norms, 1.0)
    gram, target = task.products / np.outer(norms, norms), task.target / norms
    box = float(np.linalg.norm(np.maximum(target, 0.0)))
    if box == 0:
        return State(np.zeros(task.count), stop_reason=Ending.ROUNDING)
    limits, none = np.full(task.count, SETTINGS.alignment_box), np.zeros((0, task.count))
    program = BoxQP(gram, target / box, limits, none, np.zeros(0))
    weights = projected_newton(program, interior_point(program, accuracy), accuracy)
    return State(weights * box / norms, stop_reason=Ending.ROUNDING)


def centred_point(task: PairTask, weights: Array, violation: Array, product: float) -> PairIterate:
    blocks = PairBlocks.empty(len(violation))
    for rows in chunks(len(violation)):
        for whole, part in zip(blocks, PairBlocks.centred(violation[rows], task.weight[rows], product), strict=True):
            whole[rows] = part
    return PairIterate(weights, product / weights, blocks)


def centring_step(system: PairSystem, step: Array, product: float) -> PairIterate:
    """Newton's step with a line search: Newton's own length if possible."""
    task, weights, changes = system.task, system.at.weights, system.task.margins(step)

    def slope(length: float) -> float:
        """The function's derivative along the line."""
        there = weights + length * step
        gradient = regulariser_gradient(task.lam, there, system.quadratic) - product / there
        total = float(gradient @ step)
        for rows in chunks(len(changes)):
            violation = system.violation[rows] - length * changes[rows]
            total -= float(PairBlocks.centred(violation, task.weight[rows], product).beta @ changes[rows])
        return total

    steepest, longest = float(np.max(-step / weights)), SETTINGS.line_search_max
    length = _line_search(slope, min(longest, SETTINGS.line_search_boundary / steepest) if steepest > 0 else longest)
    return centred_point(task, weights + length * step, system.violation - length * changes, product)


def _line_search(slope: Callable[[float], float], high: float) -> float:
    """A length up to `high` at which a function with this derivative has nearly ceased to fall."""
    low, trial, enough = 0.0, min(1.0, high), SETTINGS.line_search_slope * abs(slope(0.0))
    for _ in range(SETTINGS.line_search_trials):
        here = slope(trial)
        if abs(here) <= enough or (here < 0 and trial == high):
            break
        low, high = (trial, high) if here < 0 else (low, trial)
        trial = min(4 * trial, high) if low == trial and high > 4 * trial else (low + high) / 2
    return trial
