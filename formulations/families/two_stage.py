"""The family of two stages: first learn a kernel from pairs of samples, then give it to an SVM.

A pair (i, j), i ≤ j, makes a K-example z_ij = (K_1(x_i, x_j), …, K_M(x_i, x_j)) with label t_ij = +1 if the two samples
belong together and −1 if not. For labels ±1 and for classes that means the same class; for label sets it means
sharing at least one label. A sample without labels shares none, so that its pairs are negative, those with others
without labels included; but every sample belongs together with itself, t_ii = +1. (Alternatives in use: equal label
sets, or a Jaccard index above ½. Both make fewer pairs positive, but that two samples without labels have equal sets;
sharing a label makes two samples neighbours in the labels' hypergraph.) A linear K-classifier with weights
μ ≥ 0 is the kernel Σ μ_m K_m. All N = n(n+1)/2 pairs count with weight w = 1/N; `balanced` gives the positive and the
negative pairs half of the weight each.

Centring and unit variance, which the paper applies first, are explicit steps before the formulation.
Reference: Kumar et al. 2012.
"""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...errors import InputError
from ...problem.instance import Instance
from ...problem.stack import Array, KernelStack
from .._cvxpy import cp
from .._formulation import Formulation, Given, Parameter, Parameters, Points, as_flag
from .pairs import Pairs
from .single_task import C

NOTATION = __doc__ or ""  # inside a class the name would mean the class's own text
LAMBDA = Parameter("lam", "price of the weights", "λ > 0", lambda v, _: v > 0, lambda _: 0.01, "0.01")


class PairBound(NamedTuple):
    """`part` is the penalty of the weights, or the cost of the pull."""

    value: float
    point: Array
    largest_term: float
    part: float


@dataclass(frozen=True)
class PairTask:
    """The pairs of a stack's samples with their labels ±1 and their weights, which sum to one."""

    pairs: Pairs
    labels: NDArray[np.int8]
    weight: Array
    lam: float

    @property
    def count(self) -> int:
        return self.pairs.kernels

    @cached_property
    def examples(self) -> Array:
        """K-examples (N, M), for declarations only: half a stack."""
        return self.pairs.examples()

    def margins(self, mu: Array) -> Array:
        """t μ'z for every pair."""
        margins = self.pairs.outputs(mu)
        margins *= self.labels
        return margins

    def hinge(self, mu: Array) -> float:
        """The loss of the K-classifier μ."""
        missing = self.margins(mu)
        np.subtract(1.0, missing, out=missing)
        return float(self.weight @ np.maximum(missing, 0.0, out=missing))

    def pull(self, beta: Array) -> Array:
        """Σ β_ij t_ij z_ij: how strongly the pairs pull at each kernel."""
        return self.pairs.pull(beta * self.labels)

    def typical_kernel_size(self) -> float:
        return 1.0


class PairPrimal(NamedTuple):
    problem: cp.Problem
    mu: cp.Variable
    margins: cp.Constraint


class PairDual(NamedTuple):
    """`cuts` is the constraint whose multipliers are μ, where the theorem has one."""

    problem: cp.Problem
    beta: cp.Variable
    cuts: cp.Constraint | None = None


def pair_task(stack: KernelStack, together: Array, balanced: bool, lam: float) -> PairTask:
    """All pairs of a stack's samples, for a symmetric matrix of t_ij."""
    pairs = Pairs(stack)
    labels = pairs.triangle(together.astype(np.int8))
    if not balanced:
        return PairTask(pairs, labels, np.broadcast_to(1 / pairs.count, labels.shape), lam)
    positive = labels > 0
    share = np.where(positive, 0.5 / positive.sum(), 0.5 / max((~positive).sum(), 1))
    return PairTask(pairs, labels, share, lam)


class TwoStage(Formulation[PairTask, Array, Array, PairBound, PairBound, PairPrimal, PairDual]):
    """The first stage. Formulations define the penalty of the weights and the cost of the pull."""

    family: ClassVar[str] = "two stages"
    notation: ClassVar[str] = NOTATION

    @property
    def described_parameters(self) -> list[tuple[str, str]]:
        balanced = "half of the weight to positive and to negative pairs; true or false; default false"
        return [LAMBDA.described, ("balanced", balanced), ("C", "of the second stage's SVM; C > 0; default 1")]

    def task(self, instance: Instance, given: Given) -> tuple[PairTask, Parameters]:
        self.check_names(given)
        lam = LAMBDA.resolve(given.get("lam"), self.name, instance.count)
        balanced = as_flag("balanced", given.get("balanced"), default=False)
        price = C.resolve(given.get("C"), self.name, instance.count)
        instance.targets.signs(self.name, constant_allowed=False)  # what the second stage will need
        together = instance.targets.together()
        if (together > 0).all():
            raise InputError(f"{self.name}: every pair of samples belongs together: give samples of two classes")
        stack = KernelStack(instance.kernels, symmetric=instance.symmetric)
        return pair_task(stack, together, balanced, lam), {"lam": lam, "balanced": balanced, "C": price}

    @abstractmethod
    def penalty(self, task: PairTask, mu: Array) -> float:
        """The penalty of the weights."""

    @abstractmethod
    def cost(self, task: PairTask, beta: Array) -> tuple[float, Array]:
        """The cost of the pull of β, and the feasible β that it belongs to."""

    @abstractmethod
    def dual_weights(self, task: PairTask, program: PairDual) -> Array:
        """μ from a solved dual."""

    def lower(self, task: PairTask, point: Array) -> PairBound:
        beta = np.nan_to_num(point)
        np.clip(beta, 0.0, task.weight, out=beta)
        cost, beta = self.cost(task, beta)
        gain = float(beta.sum())
        return PairBound(gain - cost, beta, gain, cost)

    def upper(self, task: PairTask, point: Array) -> PairBound:
        mu = np.maximum(point, 0.0)
        penalty, loss = self.penalty(task, mu), task.hinge(mu)
        return PairBound(penalty + loss, mu, max(penalty, loss), penalty)

    def scale(self, lower: PairBound, upper: PairBound) -> float:
        """The penalty of the weights plus the cost of the pull; constants do not count."""
        return lower.part + upper.part

    def trivial_points(self, task: PairTask) -> Points[Array, Array]:
        return Points([np.zeros(len(task.labels))], [np.zeros(task.count)])

    def from_primal(self, program: PairPrimal, task: PairTask, unit: float) -> Points[Array, Array]:
        return Points([np.ravel(program.margins.dual_value)], [np.ravel(program.mu.value)])

    def from_dual(self, program: PairDual, task: PairTask, unit: float) -> Points[Array, Array]:
        return Points([np.ravel(program.beta.value)], [self.dual_weights(task, program)])
