"""Joint outputs: the unknowns of the samples as one vector a, from which β follows, β = Va; and its feasible set.

**Output by output.** a is α, output after output. With a bias there is an equality for every output.

**Classes.** a holds the α_ij of all classes j but the sample's own, k − 1 for every sample; β_i = Σ_j a_ij (e_y − e_j).
A sample has one slack, c_i − Σ_j a_ij. The a_ij and the slack are the k parts of c_i, and any k − 1 of them would do.
With a bias there are k − 1 equalities: the last follows.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import cast

import numpy as np
from numpy.typing import NDArray

from ...formulations._formulation import Own
from ...formulations.families.joint import JointTask
from ...formulations.losses import Loss, Separable
from .loop import Array
from .saddle import SaddleIterate
from .sample_variables import HasDualPoint, SamplesSide
from .settings import SETTINGS


class Coordinates:
    """What the sides of a saddle ask of a task, for the vector a. Output by output."""

    def __init__(self, joint: JointTask) -> None:
        self.joint, self.count, self.bias = joint, joint.count, joint.bias
        self.own: Mapping[str, Own] = joint.own
        self.y, self.box = joint.y.ravel(), np.tile(joint.box, joint.outputs)
        self.samples, self.signs = self.y.size, joint.signs.ravel()

    @property
    def loss_function(self) -> Loss:
        return cast(Separable, self.joint.loss).each

    @property
    def low(self) -> Array:
        return self.loss_function.bounds(self.y, self.box)[0]

    @property
    def limit(self) -> Array:
        return self.loss_function.bounds(self.y, self.box)[1]

    def equalities(self) -> tuple[Array, Array]:
        rows = self.gathered(np.eye(self.joint.outputs)[:, :, None] * np.ones(self.joint.samples))
        rows = rows if self.bias else rows[:0]
        return rows, np.zeros(len(rows))

    def beta(self, a: Array) -> Array:
        """β = Va, (k, n)."""
        return a.reshape(self.joint.y.shape)

    def gathered(self, values: Array) -> Array:
        """V' times values (…, k, n)."""
        return values.reshape(*values.shape[:-2], -1)

    def image(self, kernel: Array, a: Array) -> Array:
        """V'(I ⊗ K)V a."""
        return self.gathered(self.beta(a) @ kernel)

    def images(self, a: Array) -> Array:
        """V'(I ⊗ K_m)V a for every kernel."""
        return self.gathered(np.stack([self.joint.matvecs(beta) for beta in self.beta(a)], axis=1))


class ReducedCoordinates(Coordinates):
    """The same for classes, with one coordinate of every sample eliminated: `sample` and `rival` of every entry of a,
    and for each sample the class that is counted from: its own, unless another is given."""

    def __init__(self, joint: JointTask, reference: NDArray[np.intp] | None = None) -> None:
        super().__init__(joint)
        self.own_class = np.argmax(joint.y > 0, axis=0) if reference is None else reference
        others = self.own_class[:, None] != np.arange(joint.outputs)
        self.sample, self.rival = (np.ascontiguousarray(part) for part in np.nonzero(others))
        self.samples = len(self.sample)
        self.signs = np.ones(self.samples)
        self.contrasts = np.eye(joint.outputs)[self.own_class[self.sample]] - np.eye(joint.outputs)[self.rival]

    def equalities(self) -> tuple[Array, Array]:
        rows, totals = super().equalities()
        return rows[:-1], totals[:-1]  # the last follows, as β_i sums to zero

    def beta(self, a: Array) -> Array:
        beta = np.zeros(self.joint.y.shape)
        beta[self.rival, self.sample] = -a
        beta[self.own_class, np.arange(self.joint.samples)] = self.summed(a)
        return beta

    def summed(self, a: Array) -> Array:
        """Σ_j a_ij for every sample."""
        return np.asarray(np.bincount(self.sample, weights=a, minlength=self.joint.samples), dtype=np.float64)

    def gathered(self, values: Array) -> Array:
        return np.asarray(values[..., self.own_class[self.sample], self.sample] - values[..., self.rival, self.sample])

    def spread(self, entries: Array, own: Array | float = 0.0) -> Array:
        """Entries of the others, and of the class that is counted from, as (…, k, n)."""
        values = np.zeros((*entries.shape[:-1], *self.joint.y.shape))
        values[..., self.rival, self.sample] = entries
        values[..., self.own_class, np.arange(self.joint.samples)] = own
        return values

    @property
    def totals(self) -> Array:
        """The prices of every class's samples together."""
        counts = np.bincount(self.own_class, weights=self.joint.box, minlength=self.joint.outputs)
        return np.asarray(counts, dtype=np.float64)


LONGEST = 2.0  # step in the logarithm of a probability: beyond it Newton's model holds no more


class CrammerSingerVariables(SamplesSide):
    """`crammer_singer`: `lower` is a, `upper` the slack of every sample."""

    def __init__(self, task: ReducedCoordinates) -> None:
        self.coordinates, self.signs, self.price, self.size = task, task.signs, task.joint.box, task.samples
        self.a, self.kappa = np.ones(self.size), np.zeros(self.size)
        self.two_sided = self.smooth = self.unbounded = False

    def start(self, weights: Array) -> Array:
        """As much flows from a class to another as back, twice as far as is best."""
        coordinates, totals = self.coordinates, self.coordinates.totals
        own = coordinates.own_class[coordinates.sample]
        a = (
            self.price[coordinates.sample]
            * np.minimum(1.0, totals[coordinates.rival] / totals[own])
            / coordinates.joint.outputs
        )
        cost = float(weights @ (coordinates.images(a) @ a))
        most = SETTINGS.max_start / float(np.max(coordinates.summed(a) / self.price))
        return a * min(2 * float(a.sum()) / cost if cost > 0 else np.inf, most)

    def distances(self, alpha: Array) -> tuple[Array, Array]:
        return alpha, self.price - self.coordinates.summed(alpha)

    def joined(self, base: Array | float, at_lower: Array, at_upper: Array) -> Array:
        total = np.full(self.size, base) if isinstance(base, float) else base.copy()
        total[: len(at_lower)] += at_lower
        return total + at_upper[self.coordinates.sample] if len(at_upper) else total

    def shape(self, at: SaddleIterate) -> tuple[Array, Array]:
        """d and e."""
        return at.z / at.lower, at.w / at.upper


class EntropicSimplex(CrammerSingerVariables):
    """`softmax`: no multipliers; a step that shrinks a probability is taken in its logarithm, and what is lost is
    shared among those that grow."""

    def __init__(self, task: ReducedCoordinates) -> None:
        super().__init__(task)
        self.smooth = True

    def start(self, weights: Array) -> Array:
        """Every class has its share of the prices: as much flows from a class to another as back."""
        totals = self.coordinates.totals
        return np.asarray(self.price[self.coordinates.sample] * (totals[self.coordinates.rival] / totals.sum()))

    def smooth_slope(self, at: HasDualPoint) -> Array:
        return np.asarray(np.log(at.upper)[self.coordinates.sample] - np.log(at.lower))

    def shape(self, at: SaddleIterate) -> tuple[Array, Array]:
        return 1 / at.lower, 1 / at.upper

    def residual_gap(self, residual: Array, at: HasDualPoint) -> float:
        """½ r'D⁻¹r is less than without the slacks."""
        return float(residual**2 @ at.lower) / 2

    def kept_inside(self, before: HasDualPoint, after: HasDualPoint) -> tuple[Array, Array, Array]:
        summed, sample = self.coordinates.summed, self.coordinates.sample
        da, ds = after.lower - before.lower, after.upper - before.upper
        a_after = before.lower * np.exp(np.clip(da / before.lower, -LONGEST, 0.0))
        s_after = before.upper * np.exp(np.clip(ds / before.upper, -LONGEST, 0.0))
        lost = summed(before.lower - a_after) + (before.upper - s_after)
        grown = summed(np.maximum(da, 0.0)) + np.maximum(ds, 0.0)
        share = np.divide(lost, grown, out=np.zeros_like(lost), where=grown > 0)
        lower = a_after + share[sample] * np.maximum(da, 0.0)
        return lower, lower, s_after + share * np.maximum(ds, 0.0)


SIDES: dict[str, type[CrammerSingerVariables]] = {
    "crammer_singer": CrammerSingerVariables,
    "softmax": EntropicSimplex,
}  # of the losses for classes
