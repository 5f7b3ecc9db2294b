"""Joint outputs: a single task whose samples are the k outputs of every sample, with the kernels I ⊗ K_m.

α, signs and outputs are those of all samples for the first output, then for the second, and so on. The bounds are those
of single tasks, δ included: I ⊗ K is semidefinite where K is, and with a bias the α∘s of every output sum to zero. What
is different is the samples' side, sup over α̂_i of [g_i(α̂_i) − β̂_i'z_i + Σ_j of a ridge in α̂_ij].

**Crammer–Singer.** The gain is linear and a ridge convex: the supremum is at a vertex of the feasible set.

**Softmax.** G(u) = c Σ_j (u_j z_j − u_j log u_j) − cz_y + ridge is concave among the u ≥ 0 that sum to one where the
ridge's curvature A has Ac ≤ 2: along d with Σd = 0 the entropy bends by c Σ_j d_j²/u_j ≥ c‖d‖₁² ≥ 2c‖d‖², the ridge by
Ac²‖d‖². It lies below its tangents: G ≤ G(x) + max_j G_j(x) − Σ_l x_l G_l(x) for any x > 0 that sums to one, such as
one near the maximiser. In any case the supremum is at most that without a ridge, c log Σ_j e^(z_j − z_y), and the
ridge's largest value, which is at a vertex.

**Output by output.** k single tasks side by side.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
from flint import arb, arb_mat, fmpq, fmpq_mat

from ...errors import InternalError
from ...formulations.families.joint import JointTask
from ...formulations.losses._joint import cancelled
from .balls import ONE, ZERO, Array, added, exact, exacts, largest, middle, total
from .enclosure import Enclosed, Stated
from .kernels import KernelBalls, Ridges
from .losses import FAR, Bend
from .samples import Samples
from .single import Machine, bounds


def enclosed(at: Stated) -> Enclosed:
    task, point = at.task, at.point
    own = None if point.coefficients is None else np.swapaxes(point.coefficients, 0, 1).reshape(task.count, -1)
    flat = replace(point, coefficients=own)  # α is read row by row
    side = SIDES.get(task.loss.kind, each_output)(at)
    return bounds(at.formulation.single, task, Machine(side, Copies(at.kernels, task.outputs)), flat), {}


class Copies(KernelBalls):
    """I ⊗ K_m, for so many outputs."""

    def __init__(self, kernels: KernelBalls, outputs: int) -> None:
        self.each, self.outputs, self.names = kernels, outputs, kernels.names
        self.samples, self.ridge = outputs * kernels.samples, kernels.ridge

    def __len__(self) -> int:
        return len(self.each)

    def applied(self, m: int, columns: arb_mat) -> tuple[arb_mat, list[arb]]:
        rows = arb_mat(self.outputs, self.each.samples, columns.entries())
        product, squares = self.each.applied(m, rows.transpose())
        return arb_mat(self.samples, 1, product.transpose().entries()), [added(squares)]

    def combined_ridge(self, weights: Sequence[fmpq], complement: bool) -> tuple[float, Ridges]:
        return self.each.combined_ridge(weights, complement)

    def rational(self, weights: Sequence[fmpq]) -> fmpq_mat:
        table, n = self.each.rational(weights).tolist(), self.each.samples
        before = [[ZERO] * (n * j) for j in range(self.outputs)]
        return fmpq_mat([[*zeros, *row, *before[-1 - j]] for j, zeros in enumerate(before) for row in table])


# -------------------------------------------------------------------------------------------------- output by output
@dataclass(frozen=True)
class Each(Samples):
    """A loss for real targets, applied to every output."""

    parts: tuple[Samples, ...] = ()

    def _cut(self, values: Sequence[Any]) -> list[Sequence[Any]]:
        n = len(self.parts[0].signs)
        return [values[j * n : (j + 1) * n] for j in range(len(self.parts))]

    def feasible(self, alpha: list[fmpq]) -> list[fmpq]:
        rows = zip(self.parts, self._cut(alpha), strict=True)
        return [value for part, row in rows for value in part.feasible(list(row))]

    @property
    def equalities(self) -> list[list[int]]:
        n = len(self.parts[0].signs)
        return [[int(i // n == j) for i in range(len(self.signs))] for j in range(len(self.parts)) if self.bias]

    def risk(self, outputs: list[arb], bends: Sequence[Bend]) -> arb:
        rows = zip(self.parts, self._cut(outputs), self._cut(bends), strict=True)
        return added(part.risk(list(z), bend) for part, z, bend in rows)


def each_output(at: Stated) -> Each:
    bias = at.parameters["bias"]
    parts = tuple(Samples.of(at.instance, y, at.parameters, bias) for y in at.task.y)
    signs, losses = (tuple(x for part in parts for x in getattr(part, name)) for name in ("signs", "losses"))
    return Each(signs, losses, False, bias, parts)


# --------------------------------------------------------------------------------------------------------- classes
@dataclass(frozen=True)
class CrammerSinger:
    """One sample: its class and its price."""

    rational: ClassVar[bool] = False  # what `polishing` finds has no sums over the classes
    low: ClassVar[fmpq] = ZERO

    own: int
    high: fmpq

    @property
    def kappa(self) -> fmpq:
        return ZERO

    def gain(self, alpha: Sequence[fmpq]) -> fmpq | arb:
        return alpha[self.own]

    def cost(self, z: Sequence[arb], bends: Sequence[Bend]) -> arb:
        lacks = [z[j] - z[self.own] + int(j != self.own) for j in range(len(z))]
        rows = zip(lacks, self.at_vertices(bends), strict=True)
        return largest(arb(self.high) * lack + arb(ridge) for lack, ridge in rows)

    def at_vertices(self, bends: Sequence[Bend]) -> list[fmpq]:
        """The ridge where α̂_y = α̂_j = c, for every j; at 0 for j = y."""
        rest = total(bend.at(ZERO) for bend in bends)
        more = [bend.at(self.high) - bend.at(ZERO) for bend in bends]
        return [rest + (more[self.own] + rise if j != self.own else ZERO) for j, rise in enumerate(more)]


class Softmax(CrammerSinger):
    """One sample."""

    @property
    def kappa(self) -> fmpq:
        """The least curvature."""
        return 2 / self.high

    def gain(self, alpha: Sequence[fmpq]) -> arb:
        return self._entropy([self.high - a if j == self.own else a for j, a in enumerate(alpha)])

    def _entropy(self, parts: Sequence[fmpq]) -> arb:
        return -added(arb(part) * arb(part / self.high).log() for part in parts if part != 0)

    def cost(self, z: Sequence[arb], bends: Sequence[Bend]) -> arb:
        top = max(range(len(z)), key=lambda j: z[j].mid())
        rest = added((value - z[top]).exp() for j, value in enumerate(z) if j != top)
        far = arb(self.high) * (z[top] - z[self.own] + rest.log1p())
        if all(bend == Bend() for bend in bends):
            return far
        apart = far + arb(max(self.at_vertices(bends)))
        if bends[0].square > self.kappa or not self._near(z, bends):
            return apart
        return min(self._tangent(z, bends), apart, key=lambda ball: ball.upper())

    def _near(self, z: Sequence[arb], bends: Sequence[Bend]) -> bool:
        """Whether no probability is too small for a tangent."""
        spread = largest(z) + largest(-value for value in z)
        moved = added(abs(bend.linear) for bend in bends) + arb(bends[0].square * self.high)
        return bool(spread + 2 * moved < FAR)

    def _tangent(self, z: Sequence[arb], bends: Sequence[Bend]) -> arb:
        c, signs = self.high, [1 if j == self.own else -1 for j in range(len(z))]
        x = [fmpq(1, len(z))] * len(z)
        for _ in range(4):
            odds = [value - slope / arb(c) for value, slope in zip(z, self._slopes(x, bends), strict=True)]
            top = largest(odds)
            powers = [middle((value - top).mid().exp().mid()) for value in odds]
            x = [value / total(powers) for value in powers]
        alpha = self._alpha(x)
        slopes = [
            arb(c) * (value - arb(share).log() - 1) - arb(slope)
            for value, share, slope in zip(z, x, self._slopes(x, bends), strict=True)
        ]
        inner = added(arb(share) * slope for share, slope in zip(x, slopes, strict=True))
        along = added(arb(s * a) * value for s, a, value in zip(signs, alpha, z, strict=True))
        ridge = total(bend.at(a) for bend, a in zip(bends, alpha, strict=True))
        return self._entropy([c * share for share in x]) - along + arb(ridge) + largest(slopes) - inner

    def _alpha(self, x: Sequence[fmpq]) -> list[fmpq]:
        return [self.high * (ONE - share if j == self.own else share) for j, share in enumerate(x)]

    def _slopes(self, x: Sequence[fmpq], bends: Sequence[Bend]) -> list[fmpq]:
        """Minus the derivatives of the ridge in u."""
        rows = zip(self._alpha(x), bends, strict=True)
        return [
            self.high * (bend.square * a - bend.linear) * (1 if j == self.own else -1)
            for j, (a, bend) in enumerate(rows)
        ]


@dataclass(frozen=True)
class Classes(Samples):
    """α ≥ 0, α_y = Σ_{j≠y} α_j ≤ c for every sample; with a bias Σ_i s_ij α_ij = 0 for every class. `least` finds good
    biases for outputs in doubles."""

    least: Callable[[Array], Array] = np.zeros_like

    @property
    def count(self) -> int:
        return len(self.signs) // len(self.losses)

    def _columns(self, values: Sequence[Any]) -> list[list[Any]]:
        """Of every sample."""
        return [list(values[i :: len(self.losses)]) for i in range(len(self.losses))]

    def feasible(self, alpha: list[fmpq]) -> list[fmpq]:
        """Others are clipped, and scaled down into the price; with a bias the flows between the classes are made a
        circulation."""
        columns = self._columns(alpha)
        for one, column in zip(self.losses, columns, strict=True):
            column[:] = [ZERO if j == one.own else max(value, ZERO) for j, value in enumerate(column)]
            if total(column) > one.high:
                column[:] = [value * one.high / total(column) for value in column]
        if self.bias:
            shares = self._circulating(columns)
            for one, column in zip(self.losses, columns, strict=True):
                column[:] = [value * share for value, share in zip(column, shares[one.own], strict=True)]
        for one, column in zip(self.losses, columns, strict=True):
            column[one.own] = total(column)
        found = [column[j] for j in range(self.count) for column in columns]
        signed = self.signed(found)
        sums = [total(signed[j * len(columns) : (j + 1) * len(columns)]) for j in range(self.count)]
        if self.bias and any(value != 0 for value in sums):
            raise InternalError("flows between classes do not circulate")
        return found

    def _circulating(self, columns: list[list[fmpq]]) -> list[list[fmpq]]:
        """The share of every flow, from each class to each, that is kept."""
        members = [[c for c, one in zip(columns, self.losses, strict=True) if one.own == a] for a in range(self.count)]
        flows = np.array([[total(c[b] for c in part) for b in range(self.count)] for part in members], dtype=object)
        left = flows.copy()
        for path, amount in cancelled(left, ZERO):
            for a, b in path:
                left[a, b] -= amount
        return [
            [left[a, b] / flows[a, b] if flows[a, b] != 0 else ONE for b in range(self.count)]
            for a in range(self.count)
        ]

    def gain(self, alpha: list[fmpq]) -> arb:
        return arb(total(one.gain(column) for one, column in zip(self.losses, self._columns(alpha), strict=True)))

    def best_biases(self, outputs: list[arb]) -> list[fmpq]:
        """In doubles, from an origin near the outputs of each class, so that no large constant is rounded."""
        if not self.bias:
            return [ZERO] * self.count
        n, f = len(self.losses), [middle(value) for value in outputs]
        rows = [f[j * n : (j + 1) * n] for j in range(self.count)]
        origins = [sorted(row)[n // 2] for row in rows]
        near = [[float(arb(value - origin)) for value in row] for row, origin in zip(rows, origins, strict=True)]
        return [value - origin for value, origin in zip(exacts(self.least(np.array(near))), origins, strict=True)]

    def _shifted(self, outputs: list[arb]) -> list[list[arb]]:
        biases = [arb(bias) for bias in self.best_biases(outputs)]
        return [[z + b for z, b in zip(column, biases, strict=True)] for column in self._columns(outputs)]

    def risk(self, outputs: list[arb], bends: Sequence[Bend]) -> arb:
        if not all(value.is_finite() for value in outputs):
            return arb.pos_inf()
        rows = zip(self.losses, self._shifted(outputs), self._columns(bends), strict=True)
        return added(one.cost(z, bend) for one, z, bend in rows)

    def lack(self, outputs: list[arb], alpha: list[fmpq]) -> float:
        found = 0.0
        for one, z, column in zip(self.losses, self._shifted(outputs), self._columns(alpha), strict=True):
            used = [j for j in range(self.count) if j != one.own and column[j] > 0 and column[one.own] < one.high]
            found = max([found, *(float(abs(1 - z[one.own] + z[j])) for j in used)])
        return found


def for_classes(kind: type[CrammerSinger]) -> Callable[[Stated], Classes]:
    def made(at: Stated) -> Classes:
        task: JointTask = at.task
        prices = at.parameters["C"] * at.instance.sample_weight
        own = np.argmax(task.y > 0, axis=0)
        losses = tuple(kind(int(y), exact(float(c))) for y, c in zip(own, prices, strict=True))
        signs = tuple(int(s) for s in task.y.ravel())

        def least(outputs: Array) -> Array:
            return task.loss.risk(outputs, task.y, task.box, True).bias

        return Classes(signs, losses, False, at.parameters["bias"], least)

    return made


SIDES: dict[str, Callable[[Stated], Samples]] = {  # by the kind of the loss; others are applied output by output
    "crammer_singer": for_classes(CrammerSinger),
    "softmax": for_classes(Softmax),
}
