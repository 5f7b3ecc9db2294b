"""The joint margin of several classes: one function per class, and every sample's own class ahead of all others.

Sample i has contrasts V_i1..V_ir ∈ R^k, the directions in which its outputs f(x_i) ∈ R^k ought to point: V_iu =
e_{y_i} − e_u for every other class u; for labels y a single function and the single contrast y_i. The box is C_i.

    risk(f) = Σ_i C_i max over u of max(0, 1 − V_iu'f(x_i))
    gain(β) = Σ_iu β_iu,       B = {β ≥ 0, Σ_u β_iu ≤ C_i, Σ_i δ_i = 0},      δ_i = Σ_u β_iu V_iu ∈ R^k

The last condition is that of the biases b ∈ R^k, and is dropped with them. Kernel m holds f_m = (f_m1..f_mk), with the
norm ‖f_m‖ = (Σ_c ‖f_mc‖²)^½. Every problem of this family is

    primal   min over f_1..f_M, b    U(‖f_1‖..‖f_M‖) + risk(Σ_m f_m + b)
    dual     max over β ∈ B          gain(β) − U*(√q_1(β)..√q_M(β)),        q_m(β) = Σ_c δ_c'K_mδ_c

with U* the conjugate of U over a ≥ 0. Weak duality: a maximum is at least any average of its terms, so that risk(f) ≥
gain(β) − Σ_i δ_i'f(x_i); the biases drop out as Σ_i δ_i = 0; Cauchy–Schwarz gives Σ_i δ_i'f_m(x_i) ≤ ‖f_m‖ √q_m; and
U(a) + U*(d) ≥ a'd. At the optimum f_m = weight_m K_mδ, weight_m = ‖f_m‖/√q_m.

Reference: Crammer & Singer 2001 (the risk); Zien & Ong 2007 (with many kernels).
"""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, NamedTuple

import numpy as np

from mklcvx.formulations import Formulation, Points
from mklcvx.problem.stack import Array, KernelStack
from mklcvx.problem.targets import Targets

from ._model import InputError, Instance, Program, cp

NOTATION = __doc__ or ""
REFINEMENTS = 50
EPS = float(np.finfo(float).eps)


@dataclass(frozen=True)
class JointTask(KernelStack):
    """Kernels, contrasts (n, r, k), the box C_i; `own` are the formulation's own parameters."""

    contrasts: Array
    box: Array
    bias: bool
    own: Mapping[str, Any] = field(default_factory=dict)

    @property
    def labels(self) -> int:
        return int(self.contrasts.shape[2])

    def pull(self, beta: Array) -> Array:
        """δ, (n, k)."""
        return np.einsum("iu,iuk->ik", beta, self.contrasts)

    def roots(self, beta: Array) -> Array:
        """√q_m(β)."""
        delta = self.pull(beta)
        squares = [float(np.sum(delta * (kernel @ delta))) for kernel in self.each_kernel()]
        return np.sqrt(np.maximum(squares, 0.0))

    def feasible(self, beta: Array) -> Array:
        """A point of B near β: set negative entries to zero, meet the condition of the biases by the least change
        relative to β, and scale every sample into its box. If the condition cannot be met, the point is zero."""
        beta = np.maximum(np.nan_to_num(beta), 0.0)
        totals = beta.sum(axis=1)
        beta = beta * np.divide(self.box, totals, out=np.ones(len(totals)), where=totals > self.box)[:, None]
        if not self.bias or not beta.any():
            return beta
        for _ in range(REFINEMENTS):
            missing = self.pull(beta).sum(axis=0)
            if np.abs(missing).max() <= 4 * EPS * beta.sum():
                break
            gram = np.einsum("iu,iuk,iul->kl", beta, self.contrasts, self.contrasts)
            change = self.contrasts @ np.linalg.lstsq(gram, -missing, rcond=1e-13)[0]
            beta = beta * np.clip(1 + change, 0.0, 2.0)
        else:
            return np.zeros_like(beta)
        return np.asarray(beta * min(1.0, 1 / max(float(np.max(beta.sum(axis=1) / self.box)), EPS)))

    def evaluate(self, coefficients: Array) -> tuple[Array, Array]:
        """Outputs f(x_i), (n, k), and the norms ‖f_m‖, (M,)."""
        outputs, squares = np.zeros((self.samples, self.labels)), np.zeros(self.count)
        for m, kernel in enumerate(self.each_kernel()):
            images = kernel @ coefficients[:, m].T
            outputs += images
            squares[m] = np.sum(images * coefficients[:, m].T)
        return outputs, np.sqrt(np.maximum(squares, 0.0))

    def risk(self, outputs: Array) -> float:
        margins = np.einsum("iuk,ik->iu", self.contrasts, outputs)
        return float(self.box @ np.maximum(0.0, 1.0 - margins.min(axis=1)))


def contrasts_of(targets: Targets, name: str) -> Array:
    """V, (n, r, k): own class minus every other class; for y, the sign."""
    if targets.kind == "labels":
        raise InputError(f"{name} needs y or classes, the instance has labels: give one class per sample, or use svm1")
    if targets.kind == "y":
        return np.asarray(targets.values, dtype=float)[:, None, None]
    members = targets.indicators(name)
    units = np.eye(members.shape[1])
    rivals = np.stack([np.delete(units, own, axis=0) for own in range(len(units))])
    return np.asarray(members[:, None, :] - rivals[np.argmax(members, axis=1)])


class JointPrimal(NamedTuple):
    """f_mc = K_m c_cm: coefficients (k, M, n), and the biases (k,)."""

    coefficients: Array
    bias: Array


class JointBound(NamedTuple):
    """What a point proves. `norms` are √q_m(β) for a dual point β, ‖f_m‖ for a primal one."""

    value: float
    point: Any
    norms: Array
    largest_term: float


class Joint(Formulation):
    """U and U* as functions of norms and as CVXPY expressions. Methods take the formulation's own parameters."""

    biased: ClassVar[bool] = True
    family: ClassVar[str] = "joint margin"
    notation: ClassVar[str] = NOTATION

    @abstractmethod
    def penalty(self, a: Array, *_: Any, **own: Any) -> float:
        """U(a)."""

    @abstractmethod
    def conjugate(self, d: Array, *_: Any, **own: Any) -> float:
        """U*(d)."""

    @abstractmethod
    def convex(self, norms: list[Any], *_: Any, **own: Any) -> Any:
        """U of the convex expressions ‖f_m‖."""

    @abstractmethod
    def dual_cost(self, seen: list[Any], *_: Any, **own: Any) -> tuple[Any, list[Any]]:
        """U*, with its constraints, of the F_m'δ, whose lengths are √q_m."""

    def rescale(self, own: Mapping[str, Any], size: float) -> Mapping[str, Any]:
        """The parameters for which the problem stays the same when every kernel is divided by `size`."""
        return own

    def task(self, instance: Instance, params: Mapping[str, Any]) -> tuple[JointTask, dict[str, Any]]:
        self.check_names(params)
        own = self.resolve_own(instance, params)
        price = own.pop("C")
        stack: dict[str, Any] = {"symmetric": instance.symmetric, "own": own}
        contrasts, box = contrasts_of(instance.targets, self.name), price * instance.sample_weight
        return JointTask(instance.kernels, contrasts, box, self.biased, **stack), {"C": price, **own}

    def in_units(self, task: JointTask, size: float) -> JointTask:
        """Divide every kernel by `size` and multiply C by it: f stays, β and the value are multiplied by `size`."""
        scaled = replace(task, box=task.box * size, own=self.rescale(task.own, size))
        task.share_factors(scaled, size)
        return scaled

    def declare_primal(self, task: JointTask) -> Program:
        w = [cp.Variable((f.columns.shape[1], task.labels)) for f in task.factors]
        slack = cp.Variable(task.samples, nonneg=True)
        outputs = sum(f.columns @ one for f, one in zip(task.factors, w, strict=True))
        bias = cp.Variable(task.labels) if task.bias else None
        if bias is not None:
            outputs = outputs + np.ones((task.samples, 1)) @ cp.reshape(bias, (1, task.labels), order="C")
        rivals = range(task.contrasts.shape[1])
        margins = [cp.sum(cp.multiply(task.contrasts[:, u], outputs), axis=1) >= 1 - slack for u in rivals]
        penalty = self.convex([cp.norm(one, "fro") for one in w], **task.own)
        return Program(cp.Problem(cp.Minimize(penalty + task.box @ slack), margins), [bias, *w], margins)

    def declare_dual(self, task: JointTask) -> Program:
        rivals = task.contrasts.shape[1]
        beta = cp.Variable((task.samples, rivals), nonneg=True)
        columns = [cp.sum(cp.multiply(beta, task.contrasts[:, :, c]), axis=1) for c in range(task.labels)]
        delta = cp.vstack(columns).T
        constraints = [cp.sum(beta, axis=1) <= task.box]
        if task.bias:
            constraints.append(cp.sum(delta, axis=0) == 0)
        cost, kernel_constraints = self.dual_cost([f.columns.T @ delta for f in task.factors], **task.own)
        return Program(cp.Problem(cp.Maximize(cp.sum(beta) - cost), [*constraints, *kernel_constraints]), [beta])

    def lower(self, task: JointTask, point: Array) -> JointBound:
        beta = task.feasible(point)
        roots = task.roots(beta)
        gain, cost = math.fsum(beta.ravel()), self.conjugate(roots, **task.own)
        return JointBound(gain - cost, beta, roots, max(gain, abs(cost)))

    def upper(self, task: JointTask, point: JointPrimal) -> JointBound:
        outputs, norms = task.evaluate(point.coefficients)
        penalty, risk = self.penalty(norms, **task.own), task.risk(outputs + point.bias)
        return JointBound(penalty + risk, point, norms, max(penalty, risk))

    def trivial_points(self, task: JointTask) -> Points:
        nothing = JointPrimal(np.zeros((task.labels, task.count, task.samples)), np.zeros(task.labels))
        return Points([np.zeros(task.contrasts.shape[:2])], [nothing])

    def from_primal(self, program: Program, task: JointTask, unit: float) -> Points:
        """The functions, the biases, and β from the multipliers of the margins."""
        bias, *coordinates = program.variables
        solved = zip(task.factors, coordinates, strict=True)
        coefficients = np.stack([(f.to_coefficients @ w.value).T for f, w in solved], axis=1) / unit
        beta = np.stack([np.ravel(margin.dual_value) for margin in program.paired], axis=1) / unit
        return Points([beta], [JointPrimal(coefficients, np.zeros(task.labels) if bias is None else bias.value)])

    def from_dual(self, program: Program, task: JointTask, unit: float) -> Points:
        return Points([program.variables[0].value / unit], [])
