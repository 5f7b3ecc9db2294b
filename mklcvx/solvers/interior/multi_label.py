"""Many labels: the method of joint outputs, each class an output with a hinge.

    ml_sum       min over μ of max over α of Σ_k h_k          ml_minimax   min over μ of max over γ and α of Σ_k γ_k h_k

    h_k(α^k, μ) = 1'α^k − ½ Σ_m μ_m q_m^k(α^k)

`ml_sum` is `l1` with these outputs. `ml_minimax` has γ among the variables of the weights' side, x = (μ, γ), both on
the simplex. With products that all tend to the same τ → 0, optimal are

    α^k:  Q_k(μ)α^k − 1 − z^k + w^k = 0                    z·α = w·(C − α) = τ       every class, whatever its γ_k
    μ:    κ − ½ Σ_k γ_k q^k(α^k) − φ = 0       Σμ = 1      φ·μ = τ
    γ:    H − h_k − ψ_k = 0                    Σγ = 1      ψ·γ = τ

with Q_k = y^k y^k' ∘ K. Class k's equation is that of `saddle`, the derivative of Σ_k γ_k h_k, divided by γ_k. So a
class whose γ_k vanishes is solved as well as any other; the barrier of the jointly concave form in β = γα has z·α =
τ/γ_k instead, which leaves such a class anywhere below H. `saddle` has γ_k z and γ_k w for its multipliers. Then

- the products of class k tend to γ_k τ, and after a step its multipliers are multiplied by what γ_k was multiplied by;
- γ_k has no column in the equations of α^k, but its row remains: the equations are not symmetric;
- H is γ_k K(μ) + D in the block of class k.

Start. Multipliers meet the equations, but their products are within `label_product_spread`; where C is large and a
margin far below 1, no such multipliers exist, and the equation is left to the steps: larger products cost more of them,
and digits. Only where the steps then creep, as with a large C and classes that no kernel separates, the method starts
again with products as large as the equations want.

Functions offered to the certificate are a trifle longer than μ_m K_m(α^k∘y^k): with a large C, margins that rounding
leaves at 1 − 1e-13 cost C·1e-13, and lengthening f by as much costs less.
"""

from __future__ import annotations

from dataclasses import replace
from typing import cast

import numpy as np

from ...certificate.run import Ending
from ...formulations import Points, Task
from ...formulations.families.multi_label import ClassDual, ClassPrimal, LabelTask
from ...formulations.l1 import L1
from ..driver import Problem
from .joint import InteriorJoint, JointHessian, started
from .joint_unknowns import Coordinates
from .loop import Array
from .saddle import SaddleIterate, SaddleSystem
from .settings import SETTINGS
from .state import IPMState, evaluated
from .weights_side import Side, side_of


# ------------------------------------------------------------------------------------------------------ the classes' γ
class WorstClass(Side):
    """x = (μ, γ), γ maximised. The gain of α is Σ_k 1'α^k: what γ takes from it counts as a cost."""

    def __init__(self, task: Task) -> None:
        super().__init__(task, np.full(task.count, 1 / task.count))
        self.classes = cast(Coordinates, task).joint.outputs
        self.sign = np.append(np.ones(task.count), -np.ones(self.classes))
        self.unit = float(self.classes)  # those of the samples are multiplied by γ

    def start(self) -> Array:
        return np.append(self.given, np.full(self.classes, 1 / self.classes))

    def weights(self, x: Array) -> Array:
        return x[: self.task.count]

    def gamma(self, x: Array) -> Array:
        return x[self.task.count :]

    def by_sample(self, x: Array) -> Array:
        """γ_k at every sample of class k."""
        return np.repeat(self.gamma(x), self.task.samples // self.classes)

    def pull(self, x: Array, images: Array) -> Array:
        gamma = self.by_sample(x)
        return gamma * super().pull(x, images) + (1 - gamma) * self.samples.signs

    def halves(self, images: Array, beta: Array) -> Array:
        """½q_m^k, (k, M), and 1'α^k in a last column."""
        terms = np.vstack([images * beta / 2, self.samples.signs * beta])
        return np.asarray(terms.reshape(len(terms), self.classes, -1).sum(axis=2).T)

    def jacobian_product(self, x: Array, images: Array) -> Array:
        own = np.eye(self.classes).repeat(self.task.samples // self.classes, axis=1)
        return np.vstack([self.by_sample(x) * images, own * (super().pull(x, images) - self.samples.signs)])

    def columns(self, rows: Array) -> Array:
        """Without those of γ."""
        return np.vstack([rows[: self.task.count], np.zeros((self.classes, rows.shape[1]))])

    def gradient(self, x: Array, halves: Array) -> Array:
        costs, gains = halves[:, :-1], halves[:, -1]
        return np.append(-self.gamma(x) @ costs, gains - costs @ self.weights(x))

    def hessian(self, x: Array, halves: Array, kappa: Array) -> Array:
        costs, count = halves[:, :-1], self.task.count
        return np.block([[np.zeros((count, count)), -costs.T], [-costs, np.zeros((self.classes, self.classes))]])

    def equalities(self, x: Array) -> Array:
        return self.equality_jacobian(x) @ x - 1

    def equality_jacobian(self, x: Array) -> Array:
        return np.stack([self.sign > 0, self.sign < 0]).astype(float)


class WorstSystem(SaddleSystem):
    side: WorstClass

    def goals(self, target_mu: float, predicted: SaddleIterate | None) -> list[Array]:
        """Products of γ_k τ and of τ, whose mean is the target."""
        size, p = len(self.at.alpha), len(self.at.x)
        tau = target_mu * (2 * size + p) / (2 * size / self.side.classes + p)
        shared = tau * self.side.by_sample(self.at.x)
        at_lower, at_upper, of_x, none = super().goals(0.0, predicted)
        return [at_lower + shared, at_upper + shared, of_x + tau, none]

    def advance(self, length: float, direction: SaddleIterate) -> SaddleIterate:
        after = super().advance(length, direction)
        growth = self.side.by_sample(after.x) / self.side.by_sample(self.at.x)
        return replace(after, z=growth * after.z, w=growth * after.w)


class WorstHessian(JointHessian):
    def system(self, state: IPMState) -> SaddleSystem:
        self.prices = cast(WorstClass, state.side).gamma(state.at.x)
        return WorstSystem(state.side, self, state.at, state.images, state.residuals)


# --------------------------------------------------------------------------------------------------------- the method
class InteriorLabels(InteriorJoint):
    """`waited` counts the last steps that were too short, or without progress."""

    serves = ("ml_sum", "ml_minimax")
    joint = False
    max_iter = 60

    def start(self, problem: Problem) -> IPMState:
        return _started(problem, SETTINGS.label_product_spread)

    def system(self, problem: Problem, state: IPMState) -> SaddleSystem:
        """Steps aim at less complementarity whatever the residuals are, which rounding keeps from vanishing."""
        system = super().system(problem, state)
        system.residuals_lag = False
        return system

    def accept(self, problem: Problem, state: IPMState, after: SaddleIterate, length: float) -> IPMState:
        """The state after a step; a new start where steps creep, the end where rounding is all that is left."""
        ahead, left = self.moved(state, after), state.relative_complementarity
        converged = left <= SETTINGS.converged * problem.tolerance
        creeping = left > SETTINGS.creeping_gap and length < SETTINGS.creeping_step
        stalled = converged and ahead.error > SETTINGS.label_progress * state.error
        ahead = replace(ahead, waited=state.waited + 1 if creeping or stalled else 0)
        if stalled and ahead.waited > SETTINGS.label_patience:
            return replace(ahead, stop_reason=Ending.ROUNDING)
        if ahead.waited <= SETTINGS.creeping_patience:
            return ahead
        again = _started(problem, np.inf)
        return again if again.first_mu > state.first_mu else ahead

    def points(self, problem: Problem, state: IPMState) -> Points:
        """α of every class, and the functions that weights and α imply, once the gap without any lengthening is small;
        or the complementarity, where rounding keeps the gap from it."""
        task: LabelTask = problem.task
        side, mu, at = state.side, state.weights, state.at
        gamma = side.gamma(at.x) if isinstance(side, WorstClass) else np.ones(task.classes)
        alpha, outputs = (part.reshape(task.signs.shape) for part in (at.alpha, mu @ state.images))
        near = _gap(task, alpha, outputs, gamma) <= SETTINGS.proof_margin * problem.tolerance * state.scale
        near |= state.relative_complementarity <= SETTINGS.label_certify * problem.tolerance
        if not (near or state.stop_reason or problem.closing):
            return Points([], [])
        longer = _lengths(task, alpha, outputs)[:, None] * alpha * task.signs
        return Points([ClassDual(gamma[:, None] * alpha, gamma)], [ClassPrimal(mu[:, None] * longer[:, None], mu)])


def _started(problem: Problem, spread: float) -> IPMState:
    """The first state, with products of samples up to `spread` times the least."""
    coordinates = Coordinates(problem.task.outputs)
    if problem.formulation.name == "ml_minimax":
        state = started(WorstClass(cast(Task, coordinates)), WorstHessian(coordinates), SETTINGS.label_start)
    else:
        state = started(side_of(cast(Task, coordinates), L1), JointHessian(coordinates), SETTINGS.label_start)
    at = state.at
    gradient, least = at.z - at.w, float(np.min(at.w * at.upper))
    w = np.minimum(at.w, spread * least / at.upper)
    at = replace(at, w=w, z=np.clip(gradient + w, least / at.lower, spread * least / at.lower))
    return evaluated(state.side, state.hessian, at, state.images, at.mu)


def _gap(task: LabelTask, alpha: Array, outputs: Array, gamma: Array) -> float:
    """The gap of α and of the functions with these outputs, at these weights."""
    margins = task.signs * outputs
    gaps = np.maximum(alpha * (margins - 1), (task.box - alpha) * (1 - margins)).sum(axis=1)
    values = (alpha * (1 - margins / 2)).sum(axis=1) + gaps
    uneven = values.max() - gamma @ values if gamma.sum() < len(gamma) else 0.0  # the worst class less the mean
    return float(gamma @ gaps + uneven)


def _lengths(task: LabelTask, alpha: Array, outputs: Array) -> Array:
    """The factor of every f_k that lifts the margins of all α < C to 1, and above rounding, unless that costs too
    much."""
    below, penalties = alpha < (1 - SETTINGS.bound_tolerance) * task.box, (alpha * task.signs * outputs).sum(axis=1) / 2
    violations = np.max(np.where(below, 1 - task.signs * outputs, 0.0), axis=1, initial=0.0)
    longer = 1 + np.minimum(violations, SETTINGS.max_lengthening) + SETTINGS.min_lengthening
    now, then = penalties + task.risks(outputs), longer**2 * penalties + task.risks(longer[:, None] * outputs)
    return np.where(then <= (1 + SETTINGS.lengthening_cost) * now, longer, 1.0)
