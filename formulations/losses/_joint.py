"""The interface of a joint loss: k outputs at once, and the sample side of primal and dual with them.

    primal   min over f, b of   U(‖f_1‖, …, ‖f_M‖) + Σ_i c_i ℓ(y_i, f(x_i) + b),     ‖f_m‖² = Σ_j ‖f_m^j‖²
    dual     max over α of      Σ_i g_i(α_i) − U*(√q_1(α), …, √q_M(α)),              q_m(α) = Σ_j β^j'K_mβ^j

with f(x_i) and b in Rᵏ, β = s∘α, all of them k×n, and g_i(α) = inf over z ∈ Rᵏ of c_i ℓ(y_i, z) + β_i'z. With a bias
every row of β sums to zero. For classes the signs s are +1 for a sample's own class and −1 for the others, so that
α ≥ 0; y holds these signs. For real targets s = 1, and y holds the targets of every output.

A loss that sees differences of outputs only has β_i that sum to zero over the outputs: a sample's α of its own class is
the sum of its others. What it sends to class j then flows from its own class to j, and with a bias as much flows into
every class as out of it: a circulation.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...problem.stack import Array
from .._cvxpy import cp
from ._exact import moved, whole_sum
from ._loss import CLASSES, AnyLoss, Loss

Path = list[tuple[int, int]]  # of classes, from one to the next


class JointRisk(NamedTuple):
    """The least risk of given outputs over the biases (k,)."""

    value: float
    bias: Array
    largest_term: float


@dataclass(frozen=True)
class JointLoss(AnyLoss):
    """A loss of k outputs. Outputs, y and α are k×n; in declarations they are n×k."""

    joint = True
    invariant: ClassVar[bool] = False  # whether a constant that is added to all outputs of a sample changes nothing

    @property
    def notation(self) -> str:
        return __doc__

    @property
    def of_each_output(self) -> Loss | None:
        """The loss that is applied output by output, if it is one."""
        return None

    @abstractmethod
    def signs(self, y: Array) -> Array:
        """s, which leads from α to β = s∘α."""

    @abstractmethod
    def declare_risk(self, outputs: cp.Expression, y: Array, price: Array) -> tuple[cp.Expression, cp.Constraint]:
        """The risk, and the constraint on the outputs whose multiplier is β, n×k or its columns one after another."""

    @abstractmethod
    def declare_gain(self, beta: cp.Variable, y: Array, price: Array) -> tuple[cp.Expression, list[cp.Constraint]]:
        """The gain of β, and its constraints other than those of the biases."""

    @abstractmethod
    def value(self, outputs: Array, y: Array, price: Array) -> Array:
        """c_i ℓ(y_i, z_i) for every sample."""

    @abstractmethod
    def risk(self, outputs: Array, y: Array, price: Array, bias: bool) -> JointRisk:
        """The least risk of these outputs over b."""

    @abstractmethod
    def gain(self, alpha: Array, y: Array, price: Array) -> float: ...

    @abstractmethod
    def fenchel_young(self, alpha: Array, outputs: Array, y: Array, price: Array) -> Array:
        """c_i ℓ(y_i, z_i) − g_i(α_i) + β_i'z_i ≥ 0 for every sample, evaluated without cancellation."""

    @abstractmethod
    def feasible(self, alpha: Array, y: Array, price: Array, bias: bool) -> Array:
        """An α in the feasible set near the given one; its equalities hold exactly."""

    @abstractmethod
    def exactly_feasible(self, alpha: Array, y: Array, price: Array, bias: bool) -> bool:
        """Whether α is in the feasible set, exactly."""

    def at_bounds(self, alpha: Array, outputs: Array, y: Array, price: Array) -> Array:
        """α with those put at their bounds that the outputs hold there; without a bias it is feasible."""
        return alpha


# -------------------------------------------------------------------------------------------- output by output
@dataclass(frozen=True)
class Separable(JointLoss):
    """A loss for real targets, applied output by output: Σ_j c_i ℓ(y_ij, z_ij)."""

    kind = "separable"
    each: Loss

    @property
    def name(self) -> str:  # type: ignore[override]  # of the loss it applies
        return self.each.name

    @property
    def of_each_output(self) -> Loss:
        return self.each

    def price_unit(self, size: float) -> float:
        return self.each.price_unit(size)

    def value_unit(self, size: float) -> float:
        return self.each.value_unit(size)

    def signs(self, y: Array) -> Array:
        return np.stack([self.each.signs(row) for row in y])

    def declare_risk(self, outputs: cp.Expression, y: Array, price: Array) -> tuple[cp.Expression, cp.Constraint]:
        return self.each.declare_risk(cp.vec(outputs, order="F"), y.ravel(), np.tile(price, len(y)))

    def declare_gain(self, beta: cp.Variable, y: Array, price: Array) -> tuple[cp.Expression, list[cp.Constraint]]:
        return self.each.declare_gain(cp.vec(beta, order="F"), y.ravel(), np.tile(price, len(y)))

    def value(self, outputs: Array, y: Array, price: Array) -> Array:
        return np.sum([self.each.value(z, y_k, price) for z, y_k in zip(outputs, y, strict=True)], axis=0)

    def risk(self, outputs: Array, y: Array, price: Array, bias: bool) -> JointRisk:
        risks = [self.each.risk(z, y_k, price, bias) for z, y_k in zip(outputs, y, strict=True)]
        value = math.fsum(risk.value for risk in risks)
        return JointRisk(value, np.array([risk.bias for risk in risks]), max(risk.largest_term for risk in risks))

    def gain(self, alpha: Array, y: Array, price: Array) -> float:
        return math.fsum(self.each.gain(a, y_k, price) for a, y_k in zip(alpha, y, strict=True))

    def fenchel_young(self, alpha: Array, outputs: Array, y: Array, price: Array) -> Array:
        rows = zip(alpha, outputs, y, strict=True)
        return np.sum([self.each.fenchel_young(a, z, y_k, price) for a, z, y_k in rows], axis=0)

    def feasible(self, alpha: Array, y: Array, price: Array, bias: bool) -> Array:
        return np.stack([self.each.feasible(a, y_k, price, bias) for a, y_k in zip(alpha, y, strict=True)])

    def exactly_feasible(self, alpha: Array, y: Array, price: Array, bias: bool) -> bool:
        low, high = (np.stack(ends) for ends in zip(*(self.each.bounds(y_k, price) for y_k in y), strict=True))
        inside = bool((alpha >= low).all() and (alpha <= high).all())
        return inside and (not bias or all(math.fsum(row) == 0 for row in alpha))


# --------------------------------------------------------------------------------------------- classes, by differences
class Contrasting(JointLoss):
    """A loss of the differences between a sample's own output and the others."""

    targets = CLASSES
    invariant = True

    def signs(self, y: Array) -> Array:
        return y

    @abstractmethod
    def least_biases(self, outputs: Array, y: Array, price: Array) -> Array:
        """The b, Σb = 0, that minimises the risk."""

    def risk(self, outputs: Array, y: Array, price: Array, bias: bool) -> JointRisk:
        best = self.least_biases(outputs, y, price) if bias else np.zeros(len(y))
        value = float(self.value(outputs + best[:, None], y, price).sum())
        return JointRisk(value, best, value)

    def feasible(self, alpha: Array, y: Array, price: Array, bias: bool) -> Array:
        """On a grid of whole numbers, the same for all samples with a bias and one for each without: others are clipped
        and scaled down into the price; with a bias the flows between classes are made a circulation. What is feasible
        is left alone."""
        if self.exactly_feasible(alpha, y, price, bias):
            return alpha
        own = y > 0
        others = np.where(own, 0.0, np.maximum(np.nan_to_num(alpha), 0.0))
        total = others.sum(axis=0)
        others *= np.divide(price, total, out=np.ones_like(total), where=total > price)
        if bias:
            flows = np.stack([others[:, members].sum(axis=1) for members in own])
            others *= circulating(flows)[np.argmax(own, axis=0)].T
        total = others.sum(axis=0)
        largest = np.full_like(total, total.max()) if bias else total
        unit = 2.0 ** (np.frexp(np.where(largest > 0, largest, 1.0))[1] - 52.0)
        most = np.minimum(np.floor(price / unit), 2.0**53)
        steps = np.minimum(np.floor(others / unit), most)
        for i in np.flatnonzero(steps.sum(axis=0) > most):
            steps[:, i] = moved(steps[:, i], 2 * steps[:, i], int(most[i] - steps[:, i].sum()))
        if bias:
            _circulate(steps, own, most)
        return np.where(own, steps.sum(axis=0), steps) * unit

    def exactly_feasible(self, alpha: Array, y: Array, price: Array, bias: bool) -> bool:
        beta, own = y * alpha, np.where(y > 0, alpha, 0.0).sum(axis=0)
        inside = bool((alpha >= 0).all() and (own <= price).all())
        rows = all(math.fsum(column) == 0 for column in beta.T)
        return inside and rows and (not bias or all(math.fsum(row) == 0 for row in beta))


def circulating(flows: Array) -> Array:
    """Factors in [0, 1], one for each pair of classes, with which as much flows into every class as out of it.
    `flows` (k, k): from each class (row) to each."""
    left, least = flows.copy(), 8 * len(flows) * np.finfo(float).eps * float(flows.sum())
    for path, amount in cancelled(left, least):
        for a, b in path:
            left[a, b] -= amount
    return np.divide(left, flows, out=np.ones_like(flows), where=flows > 0)


def _circulate(steps: Array, own: NDArray[np.bool_], most: Array) -> None:
    """The same for whole numbers of steps (k, n), exactly: a flow is reduced at the samples that have most room."""
    classes = range(len(steps))
    flows = np.array([[whole_sum(steps[b, own[a]]) for b in classes] for a in classes], dtype=object)
    for path, amount in cancelled(flows, 0):
        for a, b in path:
            flows[a, b] -= amount
            room = most[own[a]] - steps[:, own[a]].sum(axis=0)
            here = steps[b, own[a]]
            steps[b, own[a]] = moved(here, here + np.maximum(room, 0.0), -int(amount))


def cancelled(flows: Array, least: float) -> Iterator[tuple[Path, float]]:
    """Paths of classes, and by how much to reduce the flow along each, until no class has more than `least` too much.
    The caller reduces the flows. What flows out of a class beyond what flows in must end in one with the opposite."""
    while True:
        excess = flows.sum(axis=1) - flows.sum(axis=0)
        start = int(np.argmax(excess))
        if excess[start] <= least:
            return
        path = _shortest(flows, start, excess < -least / len(flows))
        if not path:
            return
        yield path, min(excess[start], -excess[path[-1][1]], *(flows[a, b] for a, b in path))


def _shortest(flows: Array, start: int, ends: NDArray[np.bool_]) -> Path:
    """The pairs on a shortest way from a class along flows to one that receives too much."""
    before, reached = {start: start}, [start]
    for at in reached:
        if ends[at]:
            path = []
            while at != start:
                path.append((before[at], at))
                at = before[at]
            return path[::-1]
        for other in np.flatnonzero(flows[at] > 0):
            if int(other) not in before:
                before[int(other)] = at
                reached.append(int(other))
    return []
