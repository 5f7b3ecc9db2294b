"""Problems with the joint margin, declared and bounded: all that distinguishes them is the penalty U of the norms.

`_joint_task` states their common shape, and why the bounds hold.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, NamedTuple

import numpy as np

from ...formulations import Formulation, Points
from ...formulations._cvxpy import cp
from ...problem.instance import Instance
from ...problem.stack import Array
from . import _joint_task
from ._joint_task import JointTask, contrasts_of


class JointPrimal(NamedTuple):
    """f_mc = K_m c_cm: coefficients (k, M, n), and the biases (k,)."""

    coefficients: Array
    bias: Array


class JointLowerBound(NamedTuple):
    value: float
    beta: Array
    roots: Array
    largest_term: float


class JointUpperBound(NamedTuple):
    value: float
    point: JointPrimal
    norms: Array
    largest_term: float


@dataclass(frozen=True)
class JointProgram:
    """A declared primal (coordinates W_m, biases, margins) or dual (β)."""

    problem: Any
    coordinates: list[Any] = field(default_factory=list)
    bias: Any = None
    margins: list[Any] = field(default_factory=list)
    beta: Any = None


@dataclass(frozen=True)
class Joint(Formulation):
    """U and U* as functions of norms, and as expressions of CVXPY; `rescale` keeps the problem the same in other units.

    `convex(norms, **own)` is U of the convex expressions ‖f_m‖; `dual_cost(seen, **own)` is U*, with its constraints,
    of the F_m'δ, whose lengths are √q_m.
    """

    penalty: Callable[..., float]
    conjugate: Callable[..., float]
    convex: Callable[..., Any]
    dual_cost: Callable[..., tuple[Any, list[Any]]]
    rescale: Callable[[Mapping[str, Any], float], Mapping[str, Any]] = lambda own, size: own
    biased: bool = True

    family: ClassVar[str] = "joint margin"
    notation: ClassVar[str] = _joint_task.__doc__ or ""

    def task(self, instance: Instance, given: Mapping[str, Any]) -> tuple[JointTask, dict[str, Any]]:
        self.check_names(given)
        own = self.resolve_own(instance, given)
        price = own.pop("C")
        box = price * instance.sample_weight
        contrasts = contrasts_of(instance.targets, self.name)
        return JointTask(instance.kernels, contrasts, box, self.biased, own, symmetric=instance.symmetric), {
            "C": price,
            **own,
        }

    def in_units(self, task: JointTask, size: float) -> JointTask:
        return task.in_units(size, self.rescale(task.own, size))

    def declare_primal(self, task: JointTask) -> JointProgram:
        w = [cp.Variable((f.columns.shape[1], task.labels)) for f in task.factors]
        slack = cp.Variable(task.samples, nonneg=True)
        outputs = sum(f.columns @ one for f, one in zip(task.factors, w, strict=True))
        bias = cp.Variable(task.labels) if task.bias else None
        if bias is not None:
            outputs = outputs + np.ones((task.samples, 1)) @ cp.reshape(bias, (1, task.labels), order="C")
        rivals = range(task.contrasts.shape[1])
        margins = [cp.sum(cp.multiply(task.contrasts[:, u], outputs), axis=1) >= 1 - slack for u in rivals]
        penalty = self.convex([cp.norm(one, "fro") for one in w], **task.own)
        return JointProgram(cp.Problem(cp.Minimize(penalty + task.box @ slack), margins), w, bias, margins)

    def declare_dual(self, task: JointTask) -> JointProgram:
        rivals = task.contrasts.shape[1]
        beta = cp.Variable((task.samples, rivals), nonneg=True)
        columns = [cp.sum(cp.multiply(beta, task.contrasts[:, :, c]), axis=1) for c in range(task.labels)]
        delta = cp.vstack(columns).T
        constraints = [cp.sum(beta, axis=1) <= task.box]
        if task.bias:
            constraints.append(cp.sum(delta, axis=0) == 0)
        cost, cuts = self.dual_cost([f.columns.T @ delta for f in task.factors], **task.own)
        return JointProgram(cp.Problem(cp.Maximize(cp.sum(beta) - cost), [*constraints, *cuts]), beta=beta)

    def lower(self, task: JointTask, point: Array) -> JointLowerBound:
        beta = task.feasible(point)
        roots = task.roots(beta)
        gain, cost = math.fsum(beta.ravel()), self.conjugate(roots, **task.own)
        return JointLowerBound(gain - cost, beta, roots, max(gain, abs(cost)))

    def upper(self, task: JointTask, point: JointPrimal) -> JointUpperBound:
        outputs, norms = task.evaluate(point.coefficients)
        penalty, risk = self.penalty(norms, **task.own), task.risk(outputs + point.bias)
        return JointUpperBound(penalty + risk, point, norms, max(penalty, risk))

    def at_hand(self, task: JointTask) -> Points:
        nothing = JointPrimal(np.zeros((task.labels, task.count, task.samples)), np.zeros(task.labels))
        return Points([np.zeros(task.contrasts.shape[:2])], [nothing])

    def from_primal(self, program: JointProgram, task: JointTask, unit: float) -> Points:
        """The functions, the biases, and β from the multipliers of the margins."""
        solved = zip(task.factors, program.coordinates, strict=True)
        coefficients = np.stack([(f.to_coefficients @ w.value).T for f, w in solved], axis=1) / unit
        bias = np.zeros(task.labels) if program.bias is None else np.asarray(program.bias.value, dtype=float)
        beta = np.stack([np.ravel(margin.dual_value) for margin in program.margins], axis=1) / unit
        return Points([beta], [JointPrimal(coefficients, bias)])

    def from_dual(self, program: JointProgram, task: JointTask, unit: float) -> Points:
        return Points([np.asarray(program.beta.value, dtype=float) / unit], [])
