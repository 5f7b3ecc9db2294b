"""The family of many labels: k classifiers without bias that share one combination of the kernels.

Class k has labels y^k ∈ {−1,+1}ⁿ, a function f_k = Σ_m f_k^m and, for weights μ on the simplex, a regularised loss

    H_k(μ) = min over f_k of ½ Σ_m ‖f_k^m‖²/μ_m + Σ_i C_i max(0, 1 − y_i^k f_k(x_i))
           = max over α^k ∈ [0, C]ⁿ of 1'α^k − ½ Σ_m μ_m q_m^k(α^k),       q_m^k(α) = (α∘y^k)'K_m(α∘y^k).

`ml_sum` minimises the sum of the H_k over μ, `ml_minimax` the largest.
Reference: Bucak et al. 2010. Its Eq. (1) lacks the C that its dual's box has; we keep the C.
"""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass, replace
from functools import cached_property
from typing import ClassVar, NamedTuple

import numpy as np

from ...errors import InputError
from ...problem.instance import Instance
from ...problem.stack import Array, KernelStack
from .._cvxpy import cp
from .._formulation import Formulation, Given, Parameters, Points, as_flag
from ..losses import HINGE, Separable
from .joint import JointTask
from .single_task import C

NOTATION = __doc__ or ""  # inside a class the name would mean the class's own text


class ClassDual(NamedTuple):
    """β^k = γ_k α^k, (k, n), and the classes' weights γ, (k,); for `ml_sum` γ = 1 and β = α."""

    beta: Array
    gamma: Array


class ClassPrimal(NamedTuple):
    """f_k^m = K_m c_km: coefficients (k, M, n), and the kernels' weights μ, (M,)."""

    coefficients: Array
    weights: Array


class ClassLowerBound(NamedTuple):
    """`cost` is the largest ½ Σ_k γ_k q_m^k."""

    value: float
    point: ClassDual
    largest_term: float
    cost: float


class ClassUpperBound(NamedTuple):
    """`squares` are the ‖f_k^m‖², (k, M); `risks` the losses of the classes."""

    value: float
    point: ClassPrimal
    squares: Array
    risks: Array
    largest_term: float


@dataclass(frozen=True)
class LabelTask(KernelStack):
    """Kernels, labels (k, n) in {−1,+1}, and the box of α; `importance` weighs the classes in `ml_sum`."""

    signs: Array
    box: Array
    importance: Array

    @property
    def classes(self) -> int:
        return len(self.signs)

    @cached_property
    def outputs(self) -> JointTask:
        """The classes as outputs, each with a hinge."""
        stack: Parameters = {"symmetric": self.symmetric, "sizes": self.sizes}
        return JointTask(self.kernels, self.signs, self.box, Separable(HINGE), bias=False, **stack)

    def in_units(self, size: float) -> LabelTask:
        """Every kernel divided by `size`, C multiplied by it: f stays, α and the value are multiplied by size."""
        scaled = replace(self, box=self.box * size)
        self.share_factors(scaled, size)
        return scaled

    def q(self, beta: Array) -> Array:
        """q_m^k(β^k) for every class and kernel, (k, M)."""
        signed = beta * self.signs
        squares = [np.einsum("ki,ki->k", signed @ kernel, signed) for kernel in self.each_kernel()]
        return np.maximum(np.stack(squares, axis=1), 0.0)

    def evaluate(self, coefficients: Array) -> tuple[Array, Array]:
        """Outputs f_k(x_i), (k, n), and ‖f_k^m‖², (k, M)."""
        outputs, squares = np.zeros(self.signs.shape), np.empty(coefficients.shape[:2])
        for m, kernel in enumerate(self.each_kernel()):
            images = coefficients[:, m] @ kernel
            outputs += images
            squares[:, m] = np.einsum("ki,ki->k", images, coefficients[:, m])
        return outputs, np.maximum(squares, 0.0)

    def risks(self, outputs: Array) -> Array:
        """The loss of every class."""
        return np.asarray(np.maximum(0.0, 1.0 - self.signs * outputs) @ self.box)


class MultiLabelPrimal(NamedTuple):
    """A declared primal: W_m holds the coordinates of f_1^m..f_k^m in its columns."""

    problem: cp.Problem
    coordinates: list[cp.Variable]
    margins: cp.Constraint
    classes: list[cp.Constraint] | None = None


class MultiLabelDual(NamedTuple):
    """A declared dual; β has one column per class; `cuts` are the kernels' constraints, with multipliers μ."""

    problem: cp.Problem
    beta: cp.Variable
    gamma: cp.Variable | None
    cuts: list[cp.Constraint]


class MultiLabel(
    Formulation[LabelTask, ClassDual, ClassPrimal, ClassLowerBound, ClassUpperBound, MultiLabelPrimal, MultiLabelDual]
):
    """Formulations define the classes' weights, the value of the dual and the value of the primal."""

    family: ClassVar[str] = "many labels"
    notation: ClassVar[str] = NOTATION
    many_labels: ClassVar[bool] = True

    @property
    def described_parameters(self) -> list[tuple[str, str]]:
        return [C.described, ("bias", "there is none; default false")]

    def task(self, instance: Instance, given: Given) -> tuple[LabelTask, Parameters]:
        self.check_names(given)
        signs = instance.targets.signs(self.name, constant_allowed=False)
        price = C.resolve(given.get("C"), self.name, instance.count)
        if as_flag("bias", given.get("bias"), default=False):
            raise InputError(f"{self.name} has no bias: leave bias out, or give bias=false")
        box = price * instance.sample_weight
        task = LabelTask(instance.kernels, signs, box, np.ones(len(signs)), symmetric=instance.symmetric)
        return task, {"C": price, "bias": False}

    @abstractmethod
    def dual_value(self, task: LabelTask, point: ClassDual) -> tuple[float, float]:
        """Gain and cost."""

    @abstractmethod
    def primal_value(self, task: LabelTask, squares: Array, risks: Array, weights: Array) -> tuple[float, float]:
        """The objective, and its largest term."""

    def feasible_gamma(self, gamma: Array) -> Array:
        """The classes' weights, none of them negative, made feasible."""
        return gamma

    def feasible_weights(self, squares: Array, weights: Array) -> Array:
        """The kernels' weights, made feasible; `squares` are the Σ_k ‖f_k^m‖² of these functions."""
        return weights / weights.sum()

    def in_units(self, task: LabelTask, size: float) -> LabelTask:
        return task.in_units(size)

    def lower(self, task: LabelTask, point: ClassDual) -> ClassLowerBound:
        """Made feasible first: γ on the simplex (`ml_minimax`), 0 ≤ β^k ≤ C γ_k."""
        gamma = self.feasible_gamma(np.maximum(point.gamma, 0.0))
        feasible = ClassDual(np.clip(np.nan_to_num(point.beta), 0.0, np.outer(gamma, task.box)), gamma)
        gain, cost = self.dual_value(task, feasible)
        return ClassLowerBound(gain - cost, feasible, max(gain, cost), cost)

    def upper(self, task: LabelTask, point: ClassPrimal) -> ClassUpperBound:
        """The weights made feasible first; `ml_sum` takes the best for these functions."""
        outputs, squares = task.evaluate(point.coefficients)
        risks = task.risks(outputs)
        weights = self.feasible_weights(task.importance @ squares, point.weights)
        value, largest = self.primal_value(task, squares, risks, weights)
        return ClassUpperBound(value, ClassPrimal(point.coefficients, weights), squares, risks, largest)

    def scale(self, lower: ClassLowerBound, upper: ClassUpperBound) -> float:
        """Twice the cost of α: at the optimum the penalty of the functions is the other half."""
        return 2 * lower.cost

    def trivial_points(self, task: LabelTask) -> Points[ClassDual, ClassPrimal]:
        classes, count, n = task.classes, task.count, task.samples
        dual = ClassDual(np.zeros((classes, n)), self.feasible_gamma(np.ones(classes)))
        return Points([dual], [ClassPrimal(np.zeros((classes, count, n)), np.full(count, 1 / count))])

    def from_primal(self, program: MultiLabelPrimal, task: LabelTask, unit: float) -> Points[ClassDual, ClassPrimal]:
        """The functions; β from the multipliers of the margins, which carry the classes' importance; γ from the
        classes' own."""
        solved = zip(task.factors, program.coordinates, strict=True)
        coefficients = np.stack([(f.to_coefficients @ w.value).T for f, w in solved], axis=1) / unit
        importance = np.where(task.importance > 0, task.importance, 1.0)
        beta = np.asarray(program.margins.dual_value, dtype=float).T / (unit * importance[:, None])
        gamma = np.ones(task.classes)
        if program.classes is not None:
            gamma = np.array([float(np.ravel(c.dual_value)[0]) for c in program.classes])
        # The weights that γ makes best for these functions: unlike the solver's own they vanish with the norms.
        _, squares = task.evaluate(coefficients)
        weights = np.sqrt(np.maximum(gamma, 0.0) @ squares)
        weights = weights if weights.any() else np.ones(task.count)
        return Points([ClassDual(beta, gamma)], [ClassPrimal(coefficients, weights)])

    def from_dual(self, program: MultiLabelDual, task: LabelTask, unit: float) -> Points[ClassDual, ClassPrimal]:
        beta = np.asarray(program.beta.value, dtype=float).T / unit
        gamma = np.ones(task.classes) if program.gamma is None else np.asarray(program.gamma.value, dtype=float)
        return Points([ClassDual(beta, gamma)], [])


class ClassFunctions:
    """The unknowns of both primals: W_m, slacks, and the margins of all classes at once."""

    def __init__(self, task: LabelTask) -> None:
        self.w = [cp.Variable((f.columns.shape[1], task.classes)) for f in task.factors]
        self.slack = cp.Variable((task.samples, task.classes), nonneg=True)
        outputs = sum(f.columns @ w for f, w in zip(task.factors, self.w, strict=True))
        self.margins = cp.multiply(task.signs.T, outputs) >= 1 - self.slack
        self.losses = task.box @ self.slack
