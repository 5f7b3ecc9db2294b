"""crammer_singer — the joint hinge of k classes: every sample's own output ahead of all others by 1.

    ℓ(y, z) = max over j of (1 − [j = y] + z_j) − z_y          g(α) = α_y,   α ≥ 0,  α_y = Σ_{j≠y} α_j ≤ c

with c_i = C times the weight of sample i, β_y = α_y and β_j = −α_j for the other classes; with a bias Σ_i β_ij = 0.

From one to the other. With r_j = 1 − z_y + z_j the loss is max(0, max over j ≠ y of r_j): the largest Σ_{j≠y} α_j r_j/c
over the α ≥ 0 with Σ_{j≠y} α_j ≤ c. Collected by outputs, cℓ(z) = max over α of α_y − β'z.

    subgradient    α_j > 0 only where r_j is the largest; α_y = c where that is positive, α = 0 where all are negative
    bounds         α = 0: the sample could be left out; α_y = c: a margin error, whose slack the risk pays
    Fenchel–Young  the largest of −Σ_{j≠y} α_j r_j and, over j ≠ y, of Σ_{l≠y} α_l (z_j − z_l) + (c − α_y) r_j: the
                   vertices of the feasible set are 0 and, for every other class j, α_y = α_j = c
    least bias     a linear programme in k biases; they are defined up to a constant, so that Σ_j b_j = 0

Targets: classes, two or more.
Parameters: C > 0, default 1.
Degenerate cases: a constant added to all outputs of a sample changes nothing. f = 0 costs c for every sample. For two
classes f_1 − f_2 takes the place of f, and ‖f_m‖² that of 2(‖f_m^1‖² + ‖f_m^2‖²): where U is of degree two, the value
is half of that of `hinge` at 2C.

Reference: Crammer & Singer 2001; with many kernels, Zien & Ong 2007.
"""

from __future__ import annotations

import math

import numpy as np

from ...problem.stack import Array
from .._cvxpy import cp
from ._joint import Contrasting

PRECISE = {"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10}  # the least that HiGHS takes
FINE = 1e-8  # unit of the second programme, relative to the outputs
FAR = 1e3  # units: the longest step


class CrammerSinger(Contrasting):
    name = kind = "crammer_singer"

    def declare_risk(self, outputs: cp.Expression, y: Array, price: Array) -> tuple[cp.Expression, cp.Constraint]:
        own, z = (y.T > 0).astype(float), cp.Variable(outputs.shape)
        return price @ (cp.max(1 - own + z, axis=1) - cp.sum(cp.multiply(own, z), axis=1)), z == outputs

    def declare_gain(self, beta: cp.Variable, y: Array, price: Array) -> tuple[cp.Expression, list[cp.Constraint]]:
        own = (y.T > 0).astype(float)
        taken = cp.multiply(own, beta)
        return cp.sum(taken), [cp.sum(beta, axis=1) == 0, cp.multiply(y.T, beta) >= 0, cp.sum(taken, axis=1) <= price]

    def lacks(self, outputs: Array, y: Array) -> Array:
        """r_j = 1 − z_y + z_j for every other class; 0 for the sample's own."""
        own = np.where(y > 0, outputs, 0.0).sum(axis=0)
        return np.where(y > 0, 0.0, 1 - (own - outputs))

    def value(self, outputs: Array, y: Array, price: Array) -> Array:
        return np.asarray(price * self.lacks(outputs, y).max(axis=0))

    def gain(self, alpha: Array, y: Array, price: Array) -> float:
        return math.fsum(alpha[y > 0])

    def fenchel_young(self, alpha: Array, outputs: Array, y: Array, price: Array) -> Array:
        others, own = y < 0, np.where(y > 0, alpha, 0.0).sum(axis=0)
        lacks, used = self.lacks(outputs, y), np.where(others, alpha, 0.0)
        ends = [-(used * lacks).sum(axis=0)]
        for j, z in enumerate(outputs):
            end = (used * (z - outputs)).sum(axis=0) + (price - own) * lacks[j]
            ends.append(np.where(others[j], end, -np.inf))
        return np.maximum(np.max(ends, axis=0), 0.0)

    def at_bounds(self, alpha: Array, outputs: Array, y: Array, price: Array) -> Array:
        """A rival that is behind the first one by more than its share of the price has α_j = 0, and a sample whose
        largest lack exceeds the share that is missing has α_y = c, exactly: on a grid of the last bit of c."""
        rivals = y < 0
        first = np.where(rivals, outputs, -np.inf).max(axis=0)
        most = 1 - (np.where(rivals, 0.0, outputs).sum(axis=0) - first)
        others = np.where(rivals, np.maximum(alpha, 0.0), 0.0)
        others = np.where(first - outputs > others / price, 0.0, others)
        others = np.where(-most > np.minimum(others.sum(axis=0) / price, 1.0), 0.0, others)
        total = others.sum(axis=0)
        full = (total > 0) & ((most > 1 - total / price) | (total > price))
        others *= np.divide(price, total, out=np.ones_like(total), where=full)
        unit = 2.0 ** (np.frexp(price)[1] - 53.0)
        steps = np.floor(others / unit)
        places = np.argmax(steps, axis=0), np.arange(len(price))
        steps[places] += np.where(full, price / unit - steps.sum(axis=0), 0.0)
        return np.asarray(np.where(rivals, steps, steps.sum(axis=0)) * unit)

    def least_biases(self, outputs: Array, y: Array, price: Array) -> Array:
        """A linear programme, and a second one in the steps from its solution, in units so small that what HiGHS
        neglects is nothing."""
        bias, size = np.zeros(len(y)), 1 + 2 * float(np.abs(outputs).max())
        least = self.value(outputs, y, price).sum()
        for unit in (size, FINE * size):
            moved = bias + unit * _step(self.lacks(outputs + bias[:, None], y), y, price / price.max(), unit)
            value = self.value(outputs + moved[:, None], y, price).sum()
            if value <= least:
                bias, least = moved, value
        return bias - bias.mean()


def _step(lacks: Array, y: Array, price: Array, unit: float) -> Array:
    """The best change of the biases, at most FAR, in these units. With η_i the change of a slack, the rows
    are db_j − db_y − η_i ≤ largest − r_j; lacks that are too small to become the largest play no part."""
    from scipy.optimize import linprog
    from scipy.sparse import csr_matrix

    (classes, samples), own, largest = y.shape, np.argmax(y > 0, axis=0), lacks.max(axis=0)
    room = (largest - lacks) / unit
    rival, which = np.nonzero((y < 0) & (room <= 4 * FAR))
    rows, ones = np.arange(len(which)), np.ones(len(which))
    places = np.tile(rows, 3), np.concatenate([rival, own[which], classes + which])
    matrix = csr_matrix((np.concatenate([ones, -ones, -ones]), places), shape=(len(rows), classes + samples))
    costs, ends = np.concatenate([np.zeros(classes), price]), [(-FAR, FAR)] * classes
    ends[0] = (0.0, 0.0)
    floors = [(-float(high), None) for high in largest / unit]
    solved = linprog(costs, matrix, room[rival, which], bounds=[*ends, *floors], options=PRECISE)
    return np.zeros(classes) if solved.x is None else np.asarray(solved.x[:classes])


CRAMMER_SINGER = CrammerSinger()
