"""Newton's equations for α and the weights' side together, at one interior point.

    α:   K(μ)β − s∘g'(α) + A'ν − s∘(z − w) = 0,   β = s∘α    Aβ = t      z·(α − low) = w·(high − α) = τ
    x:   ∂L/∂x + (∂e/∂x)'κ − sign·s + u = 0                  e(x) = 0         s·x = u·(cap − x) = τ

(`weights_side` has L, x and e; working with β leaves the kernels as they are.) The multipliers of bounds are
eliminated first: they and the curvature of the gain g add z/(α − low) + w/(high − α) − g''(α) to the diagonal of K(μ),
which makes the positive definite H, and s/x and u/(cap − x) to that of ∂²L/∂x². (`samples_side` has g, its bounds, and
the losses for which α is split in two variables, or bounds have no multipliers, or a tube ε is one more unknown, with
a row like those of A.) Then β: with rows
P = Σ_m K_mβ ∂μ_m/∂x, a system as small as the number of kernels is left, so that a step costs one Cholesky
factorisation, whatever their number:

    [ N + P H⁻¹P'    P H⁻¹A'    E' ] [dx]
    [   A H⁻¹P'      A H⁻¹A'       ] [dν]        E = ∂e/∂x
    [   E                          ] [dκ]

The columns of x in the equations of α are its rows, but for variables that divide these equations (`multi_label`).
H may be solved roughly: refinement of the whole system makes up for it. The interior-point steps and the active-set
finish share it; they differ in what they put on the diagonals.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np

from .loop import Array, Iterate, KKTSystem
from .reduced_hessian import ReducedHessian
from .settings import NEARLY_ZERO, SETTINGS, TINY
from .weights_side import Side


@dataclass(frozen=True)
class SaddleIterate(Iterate):
    """The unknowns of the equations above, under their letters; `lower` and `upper` are the distances of α (of its
    split variables) from its ends, and the slack is cap − x. Only the first x have caps, or none; multipliers belong
    to all of `lower` and `upper`, or to none. `tube` is ε where it is an unknown, else empty."""

    alpha: Array
    lower: Array
    upper: Array
    x: Array
    cap_slack: Array
    z: Array
    w: Array
    s: Array
    u: Array
    nu: Array
    kappa: Array
    tube: Array = field(default_factory=lambda: np.zeros(0))

    @cached_property
    def pairs(self) -> list[tuple[Array, Array]]:
        lower, upper = self.lower[: len(self.z)], self.upper[: len(self.w)]
        return [(lower, self.z), (upper, self.w), (self.x, self.s), (self.cap_slack, self.u)]


class KKTResiduals(NamedTuple):
    """The residuals of the equations above at a point; those of α for every variable, times s. `missing` is what the
    sum of the variables lacks, where the tube is an unknown."""

    alpha: Array
    totals: Array
    x: Array
    equalities: Array
    missing: Array

    def amount(self, side: Side, at: SaddleIterate) -> float:
        """The part of the gap that they may hide."""
        return float(np.abs(self.alpha) @ side.samples.values(at) + np.abs(self.x) @ at.x)


def residuals(side: Side, at: SaddleIterate, images: Array) -> KKTResiduals:
    samples, (rows, totals) = side.samples, side.balance
    beta = at.alpha * samples.signs
    gradient = samples.by_variable(samples.signs * (side.pull(at.x, images) + at.nu @ rows))
    for_alpha = gradient - samples.joined(samples.at(at.tube).slope(at), at.z, -at.w)
    for_x = side.gradient(at.x, side.halves(images, beta)) + at.kappa @ side.equality_jacobian(at.x) - side.sign * at.s
    if len(at.u):
        for_x[: len(at.u)] += at.u
    return KKTResiduals(for_alpha, rows @ beta - totals, for_x, side.equalities(at.x), samples.sum_missing(at))


class SaddleSystem(KKTSystem[SaddleIterate]):
    """`hessian` has the weights of the point; `residuals` are those of the point."""

    def __init__(
        self, side: Side, hessian: ReducedHessian, at: SaddleIterate, images: Array, off: KKTResiduals
    ) -> None:
        self.at, self.side, self.residuals, self.min_centring = at, side, off, side.min_centring
        self.samples, self.signs = side.samples, side.samples.signs
        self.residuals_lag = off.amount(side, at) > SETTINGS.max_residual * at.complementarity
        self.ratios = [multiplier / value for value, multiplier in at.pairs]
        for_z, for_w, for_s, for_u = self.ratios
        diagonal_x = side.sign * for_s
        diagonal_x[: len(for_u)] += for_u
        where = self.signs * at.alpha, at.x, at.kappa
        self.on_variables = self.samples.joined(0.0, for_z, for_w)
        diagonal = self.samples.diagonal(self.on_variables) + self.samples.curvature(at)
        row, on_tube = self.samples.sum_row(self.on_variables)
        rows = np.vstack([side.balance[0], row]) if len(row) else side.balance[0]
        self.reduced = ReducedSystem(hessian, side, images, where, rows, diagonal, diagonal_x, on_tube)

    def direction(
        self, target_mu: float, predicted: SaddleIterate | None = None, accuracy: float = SETTINGS.corrector_accuracy
    ) -> SaddleIterate:
        at, residuals, samples = self.at, self.residuals, self.samples
        wanted = zip(self.goals(target_mu, predicted), at.pairs, strict=True)
        for_z, for_w, for_s, for_u = goals = [goal / value for goal, (value, _) in wanted]
        for_x = self.side.sign * for_s - residuals.x
        for_x[: len(for_u)] -= for_u
        right = samples.joined(0.0, for_z, -for_w) - residuals.alpha
        for_tube = samples.for_tube(residuals.missing, right, self.on_variables)
        others = np.concatenate([for_x, residuals.totals, for_tube, -residuals.equalities])
        beta, others = self.reduced.solve(self.signs * samples.condensed(right, self.on_variables), others, accuracy)
        end, p = len(self.reduced.rows), len(at.x)
        rest = end - len(at.tube)
        x, nu, tube, kappa = others[:p], others[p:rest], others[rest:end], others[end:]
        alpha = self.signs * beta
        variables = samples.expanded(alpha, right, self.on_variables, tube)
        values = variables[: len(at.lower)], -variables[: len(at.upper)], x, -x[: len(for_u)]
        changes = values[0][: len(at.z)], values[1][: len(at.w)], *values[2:]
        z, w, s, u = (g - ratio * change for g, ratio, change in zip(goals, self.ratios, changes, strict=True))
        return SaddleIterate(alpha, *values, z, w, s, u, nu, kappa, tube)

    def goals(self, target_mu: float, predicted: SaddleIterate | None) -> list[Array]:
        """Between two ends, second-order terms count as they do after as much of the predictor as can be taken, its
        length squared: those of a step that is far too long would lead in circles."""
        goals = super().goals(target_mu, None)
        if predicted is None:
            return goals
        share = self.max_step(predicted) ** 2 if self.samples.two_sided else 1.0
        return [goal - share * change * other for goal, (change, other) in zip(goals, predicted.pairs, strict=True)]

    def predictor(self) -> SaddleIterate:
        """Solved roughly, since it only chooses the target of the corrector."""
        return self.direction(0.0, accuracy=SETTINGS.predictor_accuracy)

    def step_limit(self, direction: SaddleIterate) -> float:
        return min(self.max_step(direction), self.side.step_limit(self.at.x, direction.x))

    def aim(self, reached: float) -> float:
        return super().aim(reached) if self.at.mu > 0 else 0.0  # without any bound there is nothing to centre

    def advance(self, length: float, direction: SaddleIterate) -> SaddleIterate:
        after = super().advance(length, direction)
        alpha, lower, upper = self.samples.kept_inside(self.at, after)
        same = alpha is after.alpha and lower is after.lower and upper is after.upper
        return after if same else replace(after, alpha=alpha, lower=lower, upper=upper)


class ReducedSystem:
    """Newton's equations for β, x, ν and κ once the multipliers of bounds are eliminated: `diagonal` and
    `diagonal_x` are what they leave on the diagonals, `on_last` what they leave on those of the last rows. Without
    `diagonal_x`, `hold` has to set it before `solve`."""

    def __init__(
        self, hessian: ReducedHessian, side: Side, images: Array, at: tuple[Array, Array, Array], rows: Array,
        diagonal: Array, diagonal_x: Array | None, on_last: Array,
    ) -> None:  # fmt: skip
        beta, x, kappa = at
        self.hessian, self.on_last = hessian, on_last
        hessian.factor(diagonal)
        self.curvature_x = side.hessian(x, side.halves(images, beta), kappa)
        self.rows = np.vstack([side.jacobian_product(x, images), rows])
        self.columns, self.equality_jacobian = side.columns(self.rows), side.equality_jacobian(x)
        self.solved_columns = hessian.solve_roughly(self.columns)
        self.of_rows = self.rows @ self.solved_columns.T
        if len(on_last):
            last = slice(len(self.rows) - len(on_last), len(self.rows))
            self.of_rows[last, last] += np.diag(on_last)
        if diagonal_x is not None:
            self.hold(diagonal_x)

    @property
    def for_rows(self) -> Array:
        """The matrix of dx and dν once dβ is eliminated, without what bounds of x leave."""
        matrix, p = self.of_rows.copy(), len(self.curvature_x)
        matrix[:p, :p] += self.curvature_x
        return matrix

    def hold(self, diagonal_x: Array) -> None:
        """Set what the bounds of x leave on the diagonal, and invert the small matrix."""
        k, p = len(self.rows), len(self.curvature_x)
        self.hessian_x = self.curvature_x.copy()
        self.hessian_x.ravel()[:: p + 1] += diagonal_x
        small = np.zeros((k + len(self.equality_jacobian), k + len(self.equality_jacobian)))
        small[:k, :k] = self.of_rows
        small[:p, :p] += self.hessian_x
        small[k:, :p], small[:p, k:] = self.equality_jacobian, self.equality_jacobian.T
        self.size = np.sqrt(np.maximum(np.abs(np.diag(small)), TINY))
        largest = np.abs(self.equality_jacobian / self.size[:p]).max(axis=1, initial=0.0)
        self.size[k:] = np.maximum(largest, NEARLY_ZERO)
        small /= self.size[:, None] * self.size
        try:
            self.inverse = np.linalg.inv(small)
        except np.linalg.LinAlgError:  # identical kernels leave it singular: take the least-norm solution
            self.inverse = np.linalg.pinv(small, rcond=SETTINGS.singular_cutoff, hermitian=self.columns is self.rows)

    def solve(self, beta: Array, others: Array, accuracy: float) -> tuple[Array, Array]:
        """H dβ + rows'(dx, dν) = beta, and for the others N dx − P dβ + E'dκ, −A dβ (with `on_last` dν) and E dx."""
        solution = best = self._roughly(beta, others)
        enough, least_error = accuracy * self._size(beta, others), np.inf
        for _ in range(SETTINGS.max_refinements):
            image = self._matvec(*solution)
            left = beta - image[0], others - image[1]
            error = self._size(*left)
            if error >= least_error:
                break
            stalls = error >= SETTINGS.refinement_stall * least_error
            best, least_error = solution, error
            if error <= enough or stalls:
                break
            step = self._roughly(*left)
            solution = solution[0] + step[0], solution[1] + step[1]
        return best

    def _size(self, beta: Array, others: Array) -> float:
        of_beta, of_others = beta / self.hessian.scale, others / self.size
        return math.sqrt(of_beta @ of_beta) + math.sqrt(of_others @ of_others)

    def _roughly(self, beta: Array, others: Array) -> tuple[Array, Array]:
        k, image, right = len(self.rows), self.hessian.solve_roughly(beta), others.copy()
        right[:k] += self.rows @ image
        small = self.inverse @ (right / self.size) / self.size
        return image - small[:k] @ self.solved_columns, small

    def _matvec(self, beta: Array, others: Array) -> tuple[Array, Array]:
        k, p = len(self.rows), len(self.hessian_x)
        image = np.empty_like(others)
        image[:k] = -(self.rows @ beta)
        image[:p] += self.hessian_x @ others[:p] + others[k:] @ self.equality_jacobian
        if len(self.on_last):
            image[k - len(self.on_last) : k] += self.on_last * others[k - len(self.on_last) : k]
        image[k:] = self.equality_jacobian @ others[:p]
        return self.hessian.matvec(beta) + others[:k] @ self.columns, image
