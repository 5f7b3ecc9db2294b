"""The family of joint outputs: k functions that share one combination of the kernels, for any penalty of a single task.

    primal   min over f_1..f_M, b of   U(‖f_1‖, …, ‖f_M‖) + risk(f),           ‖f_m‖² = Σ_j ‖f_m^j‖²
    dual     max over α of             gain(α) − U*(√q_1(α), …, √q_M(α)),      q_m(α) = Σ_j β^j'K_mβ^j,   β = s∘α

with f_m = (f_m^1, …, f_m^k), and α, β, s of size k×n. Risk, gain, signs s and feasible set are those of a joint loss
(`losses`): `crammer_singer` or `softmax` for classes, or a loss for real targets, applied output by output. The
kernels' side is that of a single task, so that every formulation with weights has this form under its own name, with
its own parameters: a kernel's space becomes the sum of k copies of itself, and K_m becomes I ⊗ K_m.
Weak duality is that of single tasks, with Σ_j Σ_i β_ij f_m^j(x_i) ≤ ‖f_m‖ √q_m. At the optimum f_m^j = weight_m K_mβ^j.

Degenerate cases: one output is the single task. Fixed weights (`sum`, `average`, `svm`) with a loss that is applied
output by output leave k problems of their own. Equal outputs are one output with √k-fold norms.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import ClassVar, NamedTuple, cast

import numpy as np

from ...errors import InputError
from ...problem.instance import Instance
from ...problem.stack import Array, KernelStack
from .._cvxpy import cp
from .._dual import DualProgram
from .._formulation import Formulation, Given, Own, Parameters, Points
from .._primal import PrimalProgram
from ..losses import JointLoss, JointRisk, Loss, Separable
from .single_task import SingleTask
from .task import RankOneCoefficients

NOTATION = __doc__ or ""  # inside a class the name would mean the class's own text


class JointLowerBound(NamedTuple):
    """The lower bound of α (k, n). `roots` are √q_m(α)."""

    value: float
    alpha: Array
    roots: Array
    largest_term: float


class JointUpperBound(NamedTuple):
    """The upper bound of f_m^j = K_m c_jm, coefficients (k, M, n). `norms` are ‖f_m‖."""

    value: float
    coefficients: Array | RankOneCoefficients
    norms: Array
    risk: JointRisk
    largest_term: float


@dataclass(frozen=True)
class JointTask(KernelStack):
    """Kernels, targets (k, n) as the loss takes them, prices of the samples, the formulation's own parameters."""

    y: Array
    box: Array
    loss: JointLoss
    bias: bool = True
    own: Mapping[str, Own] = field(default_factory=dict)

    @property
    def outputs(self) -> int:
        return len(self.y)

    @property
    def loss_function(self) -> JointLoss:
        return self.loss

    @property
    def signs(self) -> Array:
        """s, (k, n), which leads from α to β = s∘α."""
        return self.loss.signs(self.y)

    def in_units(self, size: float, own: Mapping[str, Own]) -> JointTask:
        """The same problem with every kernel divided by `size`; prices, α and the value are multiplied by it."""
        scaled = replace(self, box=self.box * self.loss.price_unit(size), own=own)
        self.share_factors(scaled, size)
        return scaled

    def centred(self) -> JointTask:
        """The same problem, with a bias, without large constants in the kernels: what solvers work with."""
        return self.without_constants() if self.bias else self

    def root_q(self, alpha: Array) -> Array:
        """√q_m(α)."""
        return np.sqrt(np.sum([self.quad_forms(beta) for beta in alpha * self.signs], axis=0))

    def gain(self, alpha: Array) -> float:
        return self.loss.gain(alpha, self.y, self.box)

    def feasible(self, alpha: Array) -> Array:
        """An α in the feasible set near the given one; its equalities hold exactly."""
        return self.loss.feasible(alpha, self.y, self.box, self.bias)

    def evaluate(self, coefficients: Array | RankOneCoefficients) -> tuple[Array, Array]:
        """Outputs f^j(x_i), (k, n), and the norms ‖f_m‖, (M,)."""
        outputs, squares = np.zeros(self.y.shape), np.zeros(self.count)
        if isinstance(coefficients, RankOneCoefficients):
            weights = coefficients.weights
            for j, signed in enumerate(coefficients.signed):
                squares += self.quad_forms(signed)
                outputs[j] = weights @ self.matvecs(signed)
            return outputs, np.abs(weights) * np.sqrt(squares)
        for j, own in enumerate(coefficients):
            images = self.matvecs_each(own)
            outputs[j] = images.sum(axis=0)
            squares += np.maximum(np.einsum("mi,mi->m", images, own), 0.0)
        return outputs, np.sqrt(squares)

    def risk(self, outputs: Array) -> JointRisk:
        """The minimum over b."""
        return self.loss.risk(outputs, self.y, self.box, self.bias)


# ----------------------------------------------------------------------------------------------- programmes in CVXPY
class JointFunctions:
    """f_m = F_mW_m, W_m with k columns, so that ‖f_m‖ = ‖W_m‖; `margins` constrains the outputs in `risk`. The primal
    of a single task takes it in the place of `Functions`."""

    def __init__(self, task: JointTask) -> None:
        self.count = task.count
        self.w = [cp.Variable((factor.columns.shape[1], task.outputs)) for factor in task.factors]
        f = sum(factor.columns @ w for factor, w in zip(task.factors, self.w, strict=True))
        f = f + np.ones((task.samples, 1)) @ cp.Variable((1, task.outputs)) if task.bias else f
        self.risk, self.margins = task.loss.declare_risk(f, task.y, task.box)

    @property
    def norms(self) -> list[cp.Expression]:
        """‖f_m‖ for every kernel."""
        return [cp.norm(w, "fro") for w in self.w]

    @property
    def squares(self) -> list[cp.Expression]:
        """‖f_m‖² for every kernel."""
        return [cp.sum_squares(w) for w in self.w]

    def over(self, mu: cp.Expression) -> tuple[cp.Variable, list[cp.Constraint]]:
        """Variable h and constraints h_m ≥ ‖f_m‖²/μ_m."""
        h = cp.Variable(self.count)
        return h, [cp.quad_over_lin(w, mu[m]) <= h[m] for m, w in enumerate(self.w)]


class JointMultipliers:
    """β (n, k) with its `gain` and its `feasible` set, and q_m = ‖F_m'β‖²; for the dual of a single task, as above."""

    def __init__(self, task: JointTask) -> None:
        self.count, self.beta = task.count, cp.Variable((task.samples, task.outputs))
        self.gain, self.feasible = task.loss.declare_gain(self.beta, task.y, task.box)
        if task.bias:
            self.feasible = [*self.feasible, cp.sum(self.beta, axis=0) == 0]
        self.seen = [factor.columns.T @ self.beta for factor in task.factors]

    @property
    def half_q(self) -> list[cp.Expression]:
        """½ q_m for every kernel."""
        return [cp.sum_squares(z) / 2 for z in self.seen]

    @property
    def root_q(self) -> list[cp.Expression]:
        """√q_m for every kernel."""
        return [cp.norm(z, "fro") for z in self.seen]


# ---------------------------------------------------------------------------------------------------- the formulation
@dataclass(frozen=True)
class JointOutputs(
    Formulation[
        JointTask, Array, Array | RankOneCoefficients, JointLowerBound, JointUpperBound, PrimalProgram, DualProgram
    ]
):
    """A single task's formulation, posed for several outputs. Dual points are α (k, n), primal ones coefficients
    (k, M, n)."""

    single: SingleTask

    family: ClassVar[str] = "joint outputs"
    notation: ClassVar[str] = NOTATION
    carries_both: ClassVar[bool] = False

    @classmethod
    def of(cls, single: SingleTask) -> JointOutputs:
        return cls(single.name, single.title, single.reference, single.theorem, single.parameters, single)

    @property
    def described_parameters(self) -> list[tuple[str, str]]:
        return self.single.described_parameters

    def task(self, instance: Instance, given: Given) -> tuple[JointTask, Parameters]:
        """The task that an instance and parameters make, and every parameter with its value."""
        chosen = self.single.chosen(instance, given)
        targets = self.single.targets_for(instance, chosen.loss)
        if self.single.between is not None:
            words = "its penalty is between groups: use a formulation with weights, for example l1"
            raise InputError(f"{self.name} has no form for several outputs, {words}")
        if chosen.loss.free_tube:
            words = "its tube would be one for all of them: give one column, or use loss epsilon_insensitive"
            raise InputError(f"loss {chosen.loss.name} has no form for several outputs, {words}")
        loss = chosen.loss if isinstance(chosen.loss, JointLoss) else Separable(cast(Loss, chosen.loss))
        y = np.ascontiguousarray(np.atleast_2d(targets.T))
        box = chosen.loss.prices(chosen.price, instance.sample_weight, y, chosen.bias)
        stack: Parameters = {"symmetric": instance.symmetric, "sizes": instance.sizes}
        return JointTask(instance.kernels, y, box, loss, chosen.bias, chosen.own, **stack), chosen.resolved

    def declare_primal(self, task: JointTask) -> PrimalProgram:
        f = JointFunctions(task)
        return PrimalProgram(self.single.primal(f, **task.own), f.w, f.margins)  # type: ignore[arg-type]

    def declare_dual(self, task: JointTask) -> DualProgram:
        multipliers = JointMultipliers(task)
        problem, cuts = self.single.dual(multipliers, **task.own)  # type: ignore[arg-type]
        return DualProgram(problem, multipliers.beta, cuts)

    def lower(self, task: JointTask, point: Array) -> JointLowerBound:
        """gain(α) − U*(√q(α)) at the feasible α nearest to the given one, shortened where U* asks for it."""
        alpha = task.feasible(point)
        roots = task.root_q(alpha)
        excess = self.single.excess(roots, **task.own)
        if excess > 1:
            alpha = task.feasible(alpha / excess)
            roots = task.root_q(alpha)
        gain, cost = task.gain(alpha), self.single.conjugate(roots, **task.own)
        return JointLowerBound(gain - cost, alpha, roots, max(abs(gain), abs(cost)))

    def upper(self, task: JointTask, point: Array | RankOneCoefficients) -> JointUpperBound:
        """U(‖f‖) + risk(f), the biases chosen to make the risk least."""
        outputs, norms = task.evaluate(point)
        penalty, risk = self.single.penalty(norms, **task.own), task.risk(outputs)
        return JointUpperBound(penalty + risk.value, point, norms, risk, max(penalty, risk.largest_term))

    def scale(self, lower: JointLowerBound, upper: JointUpperBound) -> float:
        """Σ_m ‖f_m‖ √q_m, as for single tasks."""
        return float(upper.norms @ lower.roots)

    def in_units(self, task: JointTask, size: float) -> JointTask:
        return task.in_units(size, self.single.rescale(task.own, task.loss.value_unit(size)))

    def trivial_points(self, task: JointTask) -> Points[Array, Array | RankOneCoefficients]:
        return Points([np.zeros(task.y.shape)], [RankOneCoefficients(np.zeros(task.count), np.zeros(task.y.shape))])

    def from_primal(
        self, program: PrimalProgram, task: JointTask, unit: float
    ) -> Points[Array, Array | RankOneCoefficients]:
        """The functions, and β, the multiplier of the outputs."""
        solved = zip(task.factors, program.coordinates, strict=True)
        coefficients = np.stack([(f.to_coefficients @ np.asarray(w.value)).T for f, w in solved], axis=1)
        per_unit = task.loss.price_unit(unit)
        beta = np.reshape(program.margins.dual_value, task.y.shape[::-1], order="F").T
        return Points([task.signs * beta / per_unit], [coefficients / per_unit])

    def from_dual(
        self, program: DualProgram, task: JointTask, unit: float
    ) -> Points[Array, Array | RankOneCoefficients]:
        return Points([task.signs * np.asarray(program.alpha.value).T / task.loss.price_unit(unit)], [])


SingleTask.several = JointOutputs.of
