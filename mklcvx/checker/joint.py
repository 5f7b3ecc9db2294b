"""Audit a solution file of several outputs, as `audit.py` does for one: joint losses of classes, and many responses.

The theorem is that of `outputs.py`. Signs are +1 for a sample's own class y and −1 for the others; 1 for a response.

crammer_singer   α ≥ 0, α_y = Σ_{j≠y} α_j ≤ c, g = α_y. What is maximised is convex, so that its supremum is at a
                 vertex: 0, or α̂_y = α̂_j = c for another class j, which is worth c(1 − z_y + z_j) and its ridge.
softmax          the same set, g = −c Σ_j u_j log u_j with u_y = 1 − α_y/c, u_j = α_j/c. Without a ridge the supremum is
                 cℓ(z), ℓ(z) = log Σ_j e^{z_j} − z_y, and any β̂ is worth c KL(u‖p) less, which is at least
                 ‖β̂ − β*‖²/c (Pinsker), β* = c(e_y − p), p_j = e^{z_j}/Σ_l e^{z_l}. So with any x and z + B − Ax for z,
                 sup ≤ cℓ + ½(D − A‖x‖²) + ½A min( ‖β* − x‖²/(1 − ½Ac) if Ac < 2,  the largest ‖β̂ − x‖² ).
a response       g and the supremum are sums over the outputs of those in `losses.py`.
"""

from fractions import Fraction
from typing import NamedTuple

import numpy as np

from .audit import OWN
from .audit import evaluated_file as of_one_output
from .claims import numbers, parameters_of, targets_of
from .losses import FREE_TUBE, REAL, TARGETS, curved_cost, feasible, prices_of, samples_of, wanted
from .numbers import exponential, logarithm, require, stack_of
from .outputs import output_by_output, point_of, ridged, stretch_of, two_bounds, two_sides
from .prices import BLOCKWISE, domain

FOR_CLASSES = ("crammer_singer", "softmax")


class CrammerSinger(NamedTuple):
    """One sample."""

    own: int  # its class
    price: Fraction

    def gain(self, alpha):
        return alpha[self.own]

    def cost(self, z, ridge):
        margins = [z[j] - z[self.own] + (j != self.own) for j in range(len(z))]
        vertices = zip(margins, self.corners(len(z)), strict=True)
        return max(self.price * margin + ridge.at(point) for margin, point in vertices)

    def corners(self, count):
        """The β̂ at the vertices of the feasible set: c(e_y − e_j), which is 0 where j = y."""
        return [[self.price * ((i == self.own) - (i == j)) for i in range(count)] for j in range(count)]

    def gain_terms(self, alpha):
        return abs(self.gain(alpha)) + sum(map(abs, alpha))


class Softmax(CrammerSinger):
    """One sample."""

    @property
    def kappa(self):
        return 2 / self.price

    def gain(self, alpha):
        parts = [self.price - a if j == self.own else a for j, a in enumerate(alpha)]
        return sum((-part * logarithm(part / self.price, 1) for part in parts if 0 < part < self.price), Fraction(0))

    def loss(self, z):
        """log Σ_j e^{z_j} − z_y, from above, times the price."""
        top = max(z)
        return self.price * (top - z[self.own] + logarithm(sum(exponential(x - top, 1) for x in z), 1))

    def nearest(self, z):
        """c(e_y − p), p_j = e^{z_j}/Σ_l e^{z_l}."""
        powers = [exponential(x - max(z), 1) for x in z]
        p = [x / sum(powers) for x in powers]
        return [self.price * ((j == self.own) - share) for j, share in enumerate(p)], self.price * len(z) / 10**50

    def cost(self, z, ridge):
        return curved_cost(self, list(z), ridge)


# ------------------------------------------------------------------------------------------------- the two bounds
def check(kernels, targets, record, weight=1.0):
    """(lower, upper) as this solution's point proves them, rounded outward; ValueError where it is not feasible.
    Targets are classes (n,), or a response (n, k)."""
    return evaluated(kernels, targets, record, weight).interval()


def evaluated(kernels, targets, record, weight=1.0):
    """Both bounds at the record's point, exactly."""
    stack, name = stack_of(kernels), record["formulation"]
    require(name in OWN and name not in BLOCKWISE, f"formulation: {name!r:.40} has no form for several outputs")
    require(name != "svm" or len(stack) == 1, "formulation: svm takes one kernel")
    loss = name_of(record["parameters"])
    given = parameters_of(record, wanted(loss) | OWN[name], len(stack))
    bias, n = record["parameters"]["bias"], stack[0].samples
    signs, samples = (of_classes if loss in FOR_CLASSES else of_responses)(loss, given, targets, weight, n)
    at = point_of(record, stack, signs, bias, stretch_of(record, record["coefficients"] is None))
    if loss in FOR_CLASSES:
        contrasting(at.exact_alpha, signs, samples, bias)
    else:
        for row, losses in zip(at.alpha, zip(*(sample.losses for sample in samples), strict=True), strict=True):
            feasible(row, signs[0], losses, bias, False)
    mu = domain(name, numbers(record["weights"], (len(stack),), "weights"), given)
    at = ridged(record, at._replace(samples=samples, mu=mu), bias)
    return two_bounds(record, given, at, two_sides(at), at.gain())


def name_of(parameters):
    """The loss that the parameters name."""
    name, known = parameters.get("loss"), [*FOR_CLASSES, *(loss for loss, kind in TARGETS.items() if kind == REAL)]
    require(isinstance(name, str) and name in known, f"parameters.loss: {name!r:.40} is not one of {known}")
    return name


def of_classes(loss, given, classes, weight, n):
    """Signs and losses of samples with classes."""
    require(np.shape(classes) == (n,), f"target: loss {loss} needs classes, one per sample")
    values, own = np.unique(np.asarray(classes), return_inverse=True)
    require(len(values) > 1, "target: all samples have the same class")
    kind = CrammerSinger if loss == "crammer_singer" else Softmax
    prices = prices_of(loss, {"C": float(given["C"])}, weight, n).tolist()
    signs = np.where(np.arange(len(values))[:, None] == own, 1, -1)
    return signs, [kind(int(y), Fraction(price)) for y, price in zip(own, prices, strict=True)]


def of_responses(loss, given, responses, weight, n):
    """Signs and losses of samples with a response for every output."""
    require(loss not in FREE_TUBE, f"parameters.loss: {loss} has no form for several outputs")
    response = np.asarray(responses, dtype=float)
    require(response.ndim == 2 and len(response) == n, f"target: loss {loss} needs a response (n, k)")
    require(np.isfinite(response).all(), "response: the instance's has entries that are not finite")
    signs = np.ones(response.T.shape, int)
    rows = [samples_of(loss, given, row, signs[0], weight, False) for row in response.T]
    return signs, output_by_output(rows, signs)


def contrasting(alpha, signs, samples, bias):
    """Require α ≥ 0, every sample's own to be the sum of its others and at most its price; with a bias Σ_i β_ij = 0."""
    require(all(value >= 0 for value in alpha.ravel()), "alpha leaves its box")
    for column, sample in zip(alpha.T, samples, strict=True):
        require(2 * column[sample.own] == sum(column), "alpha: a sample's own class is not the sum of its others")
        require(column[sample.own] <= sample.price, "alpha leaves its box")
    sums = (alpha * signs).sum(axis=1)
    require(not bias or not any(sums), "alpha∘y of a class does not sum to zero")


# ---------------------------------------------------------------------------------------------------------- files
def several(data, record):
    """Whether the file is about several outputs."""
    return record["parameters"].get("loss") in FOR_CLASSES or np.shape(data.get("response", 0.0))[1:] > (1,)


def evaluated_file(data, record):
    """Of a single task with one output or several."""
    if not several(data, record):
        return of_one_output(data, record)
    kind = targets_of(data)[0]
    wants = "classes" if name_of(record["parameters"]) in FOR_CLASSES else "response"
    require(kind == wants, f"target: the loss needs {wants}, the instance has {kind}")
    return evaluated(data["kernels"], data[kind], record, data.get("sample_weight", 1.0))
