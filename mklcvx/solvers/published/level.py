"""level — the extended level method for `l1` (Xu et al. 2008), and for `elastic` as in SGMKL (Yang et al. 2011).

    J(μ) = the SVM's value with kernel Σ_m μ_m K_m   ≥   g_t(μ) = gain(α_t) − Σ_m μ_m ½ q_m(α_t) for every α_t found
    lower = min over the domain of max_t g_t,   upper = min_t J(μ_t),   level = share·upper + (1 − share)·lower
    μ ← the point of the domain nearest to μ with max_t g_t ≤ level

The domain is the simplex for `l1` and {r Σμ + (1−r) Σμ² ≤ 1, μ ≥ 0} for `elastic`. The model's minimum and the
projection are small conic programs, given to Clarabel directly. `share` is the paper's λ, 0.9 there.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from ...errors import InputError
from ...formulations import Points
from ..driver import Algorithm, Array, Problem, State
from ..svm import SVMFit, fit


@dataclass(frozen=True)
class Levels(State):
    """`mix` holds the multipliers of the model's cuts at its minimum."""

    fits: list[SVMFit]
    mix: Array


@dataclass(frozen=True)
class Level(Algorithm[Levels]):
    name = "level"
    summary = "cutting planes, projected onto a level set"
    reference = "Xu et al. 2008"
    serves = ("l1", "elastic")

    share: float = 0.9

    def __post_init__(self) -> None:
        if not 0 < self.share < 1:
            raise InputError(f"option share = {self.share:g} is not between 0 and 1: the paper has 0.9")

    def start(self, problem: Problem) -> Levels:
        return Levels(problem.even, [fit(problem, problem.even)], np.ones(1))

    def step(self, problem: Problem, state: Levels) -> Levels:
        model = Model(problem, state.fits)
        minimum = model.minimum()
        if minimum is None:
            return replace(state, stop_reason="its model could not be minimised")
        (lowest, mix), highest = minimum, min(f.value for f in state.fits)
        weights = model.nearest(state.weights, self.share * highest + (1 - self.share) * lowest)
        if weights is None:
            return replace(state, stop_reason="its projection could not be solved")
        return Levels(weights, [*state.fits, fit(problem, weights)], np.append(mix, 0.0))

    def points(self, problem: Problem, state: Levels) -> Points:
        """The last α and the model's mix of all; the classifier of the best weights."""
        best = min(state.fits, key=lambda f: f.value)
        mixed = state.mix @ np.stack([f.alpha for f in state.fits])
        return Points([state.fits[-1].alpha, mixed], best.points(problem.task).primals)


class Model:
    """max_t g_t over the domain, as rows of a conic program in (μ, t)."""

    def __init__(self, problem: Problem, fits: list[SVMFit]) -> None:
        self.count, self.ratio = problem.task.count, problem.task.own.get("l1_ratio", 1.0)
        self.slopes = np.stack([f.halves for f in fits])
        self.gains = np.array([f.value + f.weights @ f.halves for f in fits])

    def minimum(self) -> tuple[float, Array] | None:
        """Its least value, and the multipliers of the cuts there, which sum to one."""
        cost = np.r_[np.zeros(self.count), 1.0]
        x, z = self._solve(np.zeros(self.count + 1), cost, np.ones((len(self.gains), 1)), self.gains)
        return None if x is None or not z.any() else (float(x[-1]), z / z.sum())

    def nearest(self, centre: Array, level: float) -> Array | None:
        """The point of the domain nearest to the centre where no cut exceeds the level."""
        curvature, cost = np.r_[np.ones(self.count), 0.0], np.r_[-centre, 0.0]
        x, _ = self._solve(curvature, cost, np.zeros((len(self.gains), 1)), self.gains - level)
        if x is None:
            return None
        weights = np.maximum(x[:-1], 0.0)  # and scaled into the domain, whatever rounding has done
        linear, square = self.ratio * weights.sum(), (1 - self.ratio) * float(weights @ weights)
        used = (linear + np.sqrt(linear**2 + 4 * square)) / 2
        return np.asarray(weights / used) if used > 0 and (self.ratio == 1 or used > 1) else weights

    def _solve(self, curvature: Array, cost: Array, slack: Array, gains: Array) -> tuple[Array | None, Array]:
        """min ½ x'diag(curvature)x + cost'x over x = (μ, t) with gains − slopes μ ≤ slack t and μ in the domain."""
        import clarabel
        from scipy import sparse

        cuts = np.column_stack([-self.slopes, -slack])
        sign, total = -np.eye(self.count, self.count + 1), np.r_[np.ones(self.count), 0.0]
        if self.ratio == 1:
            domain, bound, cone = total[None], np.ones(1), clarabel.ZeroConeT(1)
        else:  # u = 1 − rΣμ ≥ (1−r)‖μ‖², as ‖(u − 1, 2√(1−r) μ)‖ ≤ u + 1
            domain = np.vstack([self.ratio * total, self.ratio * total, 2 * np.sqrt(1 - self.ratio) * sign])
            bound, cone = np.r_[2.0, np.zeros(self.count + 1)], clarabel.SecondOrderConeT(self.count + 2)
        settings = clarabel.DefaultSettings()
        settings.verbose = False
        matrix = sparse.csc_matrix(np.vstack([cuts, sign, domain]))
        bounds = np.r_[-gains, np.zeros(self.count), bound]
        cones = [clarabel.NonnegativeConeT(len(gains) + self.count), cone]
        answer = clarabel.DefaultSolver(sparse.diags(curvature).tocsc(), cost, matrix, bounds, cones, settings).solve()
        usable = np.isfinite(answer.x).all() and "Infeasible" not in str(answer.status)
        return np.array(answer.x) if usable else None, np.maximum(answer.z[: len(gains)], 0.0)
