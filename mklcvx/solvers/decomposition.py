"""streamed — kernels that are never stored: solve approximately, certify truly, refine on a working set.

The first α and weights are those of the Nyström approximation K_m ≈ F_mF_m', F_m = K_m[:, L] K_m[L, L]^(−1/2), L some
of the samples, or nothing. Every α in the feasible set bounds the optimum of the exact kernels from below, and
f = Σ_m μ_mK_mβ bounds it from above, in one pass over blocks of the kernels. What is missing is found by decomposition:

1. A pass gives K_mα₊ and K_mα₋, the parts of the samples of either sign, so f, both bounds, and every sample's share of
   the gap, (c_i − α_i)(1 − m_i)₊ + α_i(m_i − 1)₊ with its margin m_i (ν-forms: ρ in the place of 1).
2. Half of the working set W is drawn in proportion to these shares: the largest alone lie close together. A twentieth
   is of either sign, able to grow and farthest below the margin: with a bias, α grows on both sides or on none. Free
   samples follow, and those nearest to the margin. The other samples with α_i > 0 may only shrink together, those of
   either sign by a factor of their own. With W they make a problem of the same kind: W and two more samples, the means
   x̄± = Σ α_iφ(x_i)/A± in feature space, of price A± = Σ α_i, whose kernel entries the pass has seen. Its feasible
   points are some of those of the whole problem, the present α among them.
3. That problem, small and dense, is solved by `interior`: α and the weights. Every α that is close to a bound is taken
   there, as far as the gap of that problem stays small: passes cost less, and fewer samples are free. The lower bound
   does not fall, but for the accuracy of that solution.

References: Osuna, Freund & Girosi 1997; Williams & Seeger 2001 (Nyström).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import NamedTuple, cast

import numpy as np
from numpy.typing import NDArray

from ..certificate import CertifiedPoint, certify
from ..certificate.regularisers import regulariser_of
from ..formulations import SINGLE_TASKS, Points, RankOneCoefficients, SingleTask, Task
from ..problem.low_rank import LowRank
from ..problem.memory import check_memory
from ..problem.streamed import Streamed
from .assembling import family_of
from .driver import Algorithm, Array, Problem, State, drive
from .interior.engine import InteriorPoint

Indices = NDArray[np.intp]
SHARE = 0.5  # of the working set that goes to large shares of the gap
RESERVED = 0.05  # of the working set, for either sign, that can grow and lacks most
TINY = 1e-300
INNER = 0.1  # of the tolerance: that of the problem of the working set
COARSE = 0.05  # of its price: Nyström's α closer to a bound is taken to it
# Of the tolerance and of its price: α closer to a bound is taken to it, if the gap bears it.
NEAR = (1e-1, 1e-2, 1e-3, 1e-4, 1e-5, 1e-6, 1e-7)
SNAPPED = 0.5  # of the tolerance: a gap of the working set's problem that can be borne
NEGLIGIBLE = 1e-10  # eigenvalue of K_m[L, L], relative to the largest, that is left out


class Parts(NamedTuple):
    """K_mα₊ and K_mα₋, (M, n) each: what the samples of either sign contribute to f_m."""

    positive: Array
    negative: Array


@dataclass(frozen=True)
class Streaming(State):
    """Weights and α, with what a pass over the kernels has found of it."""

    alpha: Array
    parts: Parts
    rounds: int


@dataclass(frozen=True)
class Decomposition(Algorithm[Streaming]):
    """Nyström's solution, refined on working sets of the exact kernels."""

    landmarks: int = 0
    working_set: int = 3000
    seed: int = 0

    name = "streamed"
    summary = "Nyström, then working sets of the exact kernels, which are never stored"
    reference = "Osuna, Freund & Girosi 1997"
    serves = tuple(formulation.name for formulation in SINGLE_TASKS if formulation.regulariser is not None)
    losses = ("hinge", "nu")
    tolerance = 1e-2

    def start(self, problem: Problem[SingleTask, Task]) -> Streaming:
        task, kernels = problem.task, _streamed(problem.task)
        size = min(self.working_set, task.samples)
        check_memory(16.0 * task.count * size**2, f"working sets of {size} samples", "give a smaller working_set")
        if not self.landmarks:
            return _passed(task, problem.even, np.zeros(task.samples), 0)
        chosen = np.random.default_rng(self.seed).permutation(task.samples)[: self.landmarks]
        approximate = replace(task, kernels=nystroem(kernels, np.sort(chosen)), sizes=None)
        optimum = _solved(problem, approximate)
        return _passed(task, _weights(problem, optimum), _at_bounds(task, optimum.lower.alpha, COARSE), 0)

    def step(self, problem: Problem[SingleTask, Task], state: Streaming) -> Streaming:
        task, alpha = problem.task, state.alpha
        chosen = self._working_set(task, state)
        others = alpha.copy()
        others[chosen] = 0.0
        sides = [side for side in (1.0, -1.0) if others[task.signs == side].any()]
        small = _restricted(task, state, chosen, others, sides)
        optimum = _solved(problem, small)
        inner = _sparse(problem, small, optimum)
        new = others
        for k, side in enumerate(sides):
            here = task.signs == side
            new[here] *= inner[len(chosen) + k] / small.box[len(chosen) + k]
        new[chosen] = inner[: len(chosen)]
        return _passed(task, _weights(problem, optimum), new, state.rounds + 1)

    def points(self, problem: Problem[SingleTask, Task], state: Streaming) -> Points:
        task = problem.task
        task.know_matvecs(state.alpha * task.signs, state.parts.positive - state.parts.negative)
        return Points([state.alpha], [RankOneCoefficients(state.weights, state.alpha * task.signs)])

    def _working_set(self, task: Task, state: Streaming) -> Indices:
        """Half of it drawn by the shares of the gap, some of either sign; then free ones, and those at the margin."""
        short = task.risk(outputs := state.weights @ (state.parts.positive - state.parts.negative))
        lacking = short.level - task.signs * (outputs + short.bias)
        shares = (task.limit - state.alpha) * np.maximum(lacking, 0.0) + state.alpha * np.maximum(-lacking, 0.0)
        size = min(self.working_set, task.samples)
        chance = np.random.default_rng([self.seed, state.rounds]).exponential(size=task.samples)
        first = np.argsort(chance / np.maximum(shares, TINY), kind="stable")[: int(np.ceil(SHARE * size))]
        distance = np.abs(lacking)
        distance[(state.alpha > 0) & (state.alpha < task.limit)] -= distance.max()
        distance[first] = -np.inf
        reserved = int(np.ceil(RESERVED * size))
        for side in (1.0, -1.0) if task.bias else ():  # α grows on one side as on the other
            able = np.flatnonzero((task.signs == side) & (state.alpha < task.limit))
            distance[able[np.argsort(-lacking[able], kind="stable")[:reserved]]] = -np.inf
        return np.sort(np.argsort(distance, kind="stable")[:size])


def nystroem(kernels: Streamed, landmarks: Indices) -> LowRank:
    """Factors K_m[:, L] V λ^(−1/2), with the eigenvalues λ of K_m[L, L] that are not negligible."""
    every, factors = np.arange(kernels.shape[1]), []
    for m in range(len(kernels)):
        kernel = kernels[[m]]
        values, vectors = np.linalg.eigh(kernel.block(landmarks, landmarks)[0])
        keep = values > NEGLIGIBLE * values[-1]
        factors.append(kernel.block(every, landmarks)[0] @ (vectors[:, keep] / np.sqrt(values[keep])))
    return LowRank(factors)


def _streamed(task: Task) -> Streamed:
    assert isinstance(task.kernels, Streamed)
    return task.kernels


def _passed(task: Task, weights: Array, alpha: Array, rounds: int) -> Streaming:
    """The state of α: a sample with α_i = 0 costs no pass anything."""
    alpha = task.feasible(alpha)
    sides = np.stack([np.where(task.signs == side, alpha, 0.0) for side in (1.0, -1.0)], axis=1)
    products = _streamed(task).products(sides)
    return Streaming(weights, alpha, Parts(products[:, :, 0], products[:, :, 1]), rounds)


def _at_bounds(task: Task, alpha: Array, near: float) -> Array:
    """α, taken to a bound where it is as near to it; of a price that no α comes close to, the largest α counts."""
    low, high = near * np.minimum(task.box, alpha.max()), (1 - near) * task.box
    alpha = np.where(alpha > low, np.where(alpha < high, alpha, task.box), 0.0)
    if task.bias:  # what that takes from the balance comes from free samples, so that the others stay at their bounds
        surplus = float(task.signs @ alpha)
        free = (alpha < task.box) & (task.signs * surplus > 0)
        room = float(alpha[free].sum())
        alpha[free] *= max(1 - abs(surplus) / room, 0.0) if room > 0 else 1.0
    return task.feasible(alpha)


def _sparse(problem: Problem[SingleTask, Task], small: Task, optimum: CertifiedPoint) -> Array:
    """The α found, with as many at their bounds as the gap bears: a large C makes dear what a small α takes from f."""
    weights = _weights(problem, optimum)

    def gap(alpha: Array) -> float:
        points = Points([alpha], [RankOneCoefficients(weights, alpha * small.signs)])
        return certify(problem.formulation, small, points).certificate.relative_gap

    bearable = max(SNAPPED * problem.tolerance, 2 * gap(optimum.lower.alpha))
    nearer = (_at_bounds(small, optimum.lower.alpha, near * problem.tolerance) for near in NEAR)
    return next((alpha for alpha in nearer if gap(alpha) <= bearable), optimum.lower.alpha)


def _solved(problem: Problem[SingleTask, Task], task: Task) -> CertifiedPoint:
    """The optimum of a problem of the same kind."""
    tolerance, formulation = INNER * problem.tolerance, problem.formulation
    problem.svm_solves += 1
    working = task.centred()
    outcome = family_of(formulation).quickly(formulation, working, tolerance)
    return (outcome or drive(InteriorPoint(), formulation, working, tolerance))[0]


def _weights(problem: Problem[SingleTask, Task], point: CertifiedPoint) -> Array:
    """Kernel weights that the regulariser allows: only these can stand in an answer."""
    task, weights = problem.task, cast(RankOneCoefficients, point.upper.coefficients).weights
    side = regulariser_of(problem.formulation.name, task.count, task.own)
    return weights if side is None else side.feasible(weights)


def _restricted(task: Task, state: Streaming, chosen: Indices, others: Array, sides: list[float]) -> Task:
    """The problem of the chosen samples and the means of the others, one for each sign that these have."""
    size, count = len(chosen), len(sides)
    kernels = np.empty((task.count, size + count, size + count))
    kernels[:, :size, :size] = _streamed(task).block(chosen, chosen)
    rows = {1.0: state.parts.positive, -1.0: state.parts.negative}
    totals = [float(others[task.signs == side].sum()) for side in sides]
    for k, (side, total) in enumerate(zip(sides, totals, strict=True)):
        mine = np.where(task.signs == side, state.alpha, 0.0)
        seen = rows[side][:, chosen] - kernels[:, :size, :size] @ mine[chosen]
        kernels[:, size + k, :size] = kernels[:, :size, size + k] = seen / total
        for j, other in enumerate(sides[: k + 1]):
            # Σ α_iK_ijα_j over the others: what the pass saw there, less what came from W.
            theirs = np.where(task.signs == other, others, 0.0)
            whole = rows[side] @ theirs - (kernels[:, size + j, :size] * totals[j]) @ mine[chosen]
            kernels[:, size + k, size + j] = kernels[:, size + j, size + k] = whole / (total * totals[j])
    y = np.concatenate([task.y[chosen], sides])
    return replace(task, kernels=kernels, y=y, box=np.concatenate([task.box[chosen], totals]), sizes=None)
