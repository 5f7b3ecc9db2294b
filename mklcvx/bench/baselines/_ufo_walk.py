"""UFO-MKL's stochastic algorithm: dual averaging with the conjugate of the regulariser (Orabona & Jie 2011).

    θ = 0, w = 0;   for t = 1, 2, …
        draw a sample i;   u = the rival with the least margin V_iu'w(x_i)
        θ ← θ + φ(x_i)⊗V_iu   if that margin is below 1
        v_m = (‖θ_m‖ − α t)₊,     w_m = θ_m v_m/(λ t ‖θ_m‖) (v_m/‖v‖_q)^{q−2}

No step size is left to choose, and w is as sparse as v. θ_m = K_m-expansion with the counts N_iu of updates: all
kernels share them. One iteration here is a pass of n draws. The dual point is β_iu = C_i N_iu/(draws of i), always
feasible; at the end of a pass of permutations it is N/t itself, whose w is the algorithm's own. The primal points are
w, the w that β implies, and the mean of the recent ones.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from ...formulations import Points
from ...problem.stack import Array
from ...solvers.driver import Algorithm, Problem, State
from ._joint import JointPrimal
from ._joint_task import JointTask

Steepest = Callable[..., Array]  # of ‖θ_m‖/t and the formulation's own parameters: w_m = weight_m θ_m/t


@dataclass(frozen=True)
class Walk(State):
    """`weights` are those of the kernels in w; `scores` θ_m(x_i), (n, M, k); `squares` ‖θ_m‖²; `counts` N, (n, r)."""

    random: np.random.Generator
    kernels: Array  # (n, M, n): all kernels' values of one sample lie together
    scores: Array
    squares: Array
    counts: Array
    draws: Array
    tail: Array  # the sum of the coefficients since the number of passes was last doubled
    passes: int = 0
    since: int = 0


@dataclass(frozen=True)
class UfoWalk(Algorithm[Walk]):
    name: ClassVar[str] = "ufo"
    summary: ClassVar[str] = "dual averaging, one sample at a time"
    reference: ClassVar[str] = "Orabona & Jie 2011"
    serves: ClassVar[tuple[str, ...]] = ("ufo",)
    tolerance: ClassVar[float] = 1e-2
    max_iter: ClassVar[int] = 300

    steepest: Steepest
    shuffled: bool = False
    seed: int = 0

    def start(self, problem: Problem) -> Walk:
        task: JointTask = problem.task
        n, count, k = task.samples, task.count, task.labels
        kernels = np.stack(list(task.each_kernel()), axis=1)
        empty = np.zeros((k, count, n))
        counts = np.zeros(task.contrasts.shape[:2])
        random = np.random.default_rng(self.seed)
        return Walk(
            np.zeros(count), random, kernels, np.zeros((n, count, k)), np.zeros(count), counts, np.zeros(n), empty
        )

    def step(self, problem: Problem, state: Walk) -> Walk:
        """A pass of n draws."""
        task: JointTask = problem.task
        n, weights = task.samples, state.weights
        scores, squares, counts = state.scores.copy(), state.squares.copy(), state.counts.copy()
        chosen, share = self._drawn(task, state.random)
        for t, i in enumerate(chosen, start=state.passes * n + 1):
            margins = task.contrasts[i] @ (weights @ scores[i])
            rival = int(np.argmin(margins))
            if margins[rival] < 1:
                contrast, step = task.contrasts[i, rival], float(share[i])
                squares += 2 * step * (scores[i] @ contrast) + step**2 * (contrast @ contrast) * state.kernels[i, :, i]
                for c in np.flatnonzero(contrast):
                    scores[:, :, c] += step * contrast[c] * state.kernels[i].T
                counts[i, rival] += step
            weights = self.steepest(np.sqrt(np.maximum(squares, 0.0)) / t, **task.own) / t
        draws = state.draws + np.bincount(chosen, minlength=n) * share
        passes, now = state.passes + 1, _coefficients(task, weights, counts)
        fresh = passes >= 2 * state.since
        tail, since = (now, passes) if fresh else (state.tail + now, state.since)
        return replace(
            state, weights=weights, scores=scores, squares=squares, counts=counts, draws=draws, tail=tail,
            passes=passes, since=since,
        )  # fmt: skip

    def _drawn(self, task: JointTask, random: np.random.Generator) -> tuple[NDArray[np.intp], Array]:
        """n samples, and how much an update by each counts, so that a pass follows the mean of the risk's gradients."""
        n = task.samples
        if self.shuffled:
            return random.permutation(n), n * task.box
        return random.choice(n, size=n, p=task.box), np.ones(n)

    def points(self, problem: Problem, state: Walk) -> Points:
        task: JointTask = problem.task
        seen = np.maximum(state.draws, np.finfo(float).tiny)[:, None]
        beta = task.feasible(task.box[:, None] * state.counts / seen)
        implied = self.steepest(task.roots(beta), **task.own)
        primals = [_coefficients(task, state.weights, state.counts), _coefficients(task, implied, beta)]
        if state.passes:
            primals.append(state.tail / (state.passes - state.since + 1))
        return Points([beta], [JointPrimal(coefficients, np.zeros(task.labels)) for coefficients in primals])


def _coefficients(task: JointTask, weights: Array, beta: Array) -> Array:
    """weight_m K_mδ, (k, M, n)."""
    return np.asarray(weights[None, :, None] * task.pull(beta).T[:, None, :])
