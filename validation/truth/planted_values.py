"""What a planted point proves: the primal and the dual value there, from the doubles that the package is given."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import flint
import numpy as np
from flint import arb, fmpq, fmpq_mat

from enclosures import Enclosure, exact_end
from planted_losses import LABELLED, Rows, Values, valued_classes, valued_labels, valued_real
from planted_penalties import priced
from records import exact, exact_stack

PRECISION = 300
NARROW = fmpq(1, 10**18)
Array = Any


class Unplanted(Exception):
    """What was drawn leads nowhere: another draw may."""


@dataclass(frozen=True)
class Planted:
    """What `Instance` is given, formulation and parameters, and the optimum."""

    given: dict[str, Any]
    formulation: str
    parameters: dict[str, Any]
    known: Enclosure


@dataclass(frozen=True)
class Point:
    """What was planted: β (k, n), biases (k,), weights, roots and an unknown level."""

    beta: Rows
    bias: list[Fraction]
    weights: list[Fraction]
    roots: list[Fraction]
    level: Fraction = Fraction(1)


def rational(x: Fraction) -> fmpq:
    return fmpq(x.numerator, x.denominator)


def proved(
    given: dict[str, Any], formulation: str, parameters: dict[str, Any], point: Point, loss: str, prices: Array
) -> Planted:
    """The optimum lies between the values at the point."""
    with flint.ctx.workprec(PRECISION):
        known = values_at(given, formulation, parameters, point, loss, [exact(c) for c in prices])
    if known.width() > NARROW:
        raise Unplanted(f"the values are {float(known.width().p) / float(known.width().q):.1e} apart")
    return Planted(given, formulation, parameters, known)


def values_at(
    given: dict[str, Any], formulation: str, parameters: dict[str, Any], point: Point, loss: str, prices: list[fmpq]
) -> Enclosure:
    """gain − R*(½q) and ½ Σ μ_m q_m + R(μ) + risk."""
    beta = [[rational(x) for x in row] for row in point.beta]
    if parameters.get("bias", False):
        assert all(sum(row, fmpq(0)) == 0 for row in beta), "β does not sum to zero"
    columns = fmpq_mat(beta).transpose()
    images = [kernel * columns for kernel in exact_stack(given["kernels"])]
    q = [sum((_own_square(columns, image, j) for j in range(len(beta))), fmpq(0)) for image in images]
    weights = [rational(w) for w in point.weights]
    total = images[0] * weights[0]
    for image, w in zip(images[1:], weights[1:], strict=True):
        total = total + image * w
    z = [[total[i, j] + rational(b) for i in range(len(beta[0]))] for j, b in enumerate(point.bias)]
    own = {name: exact(x) for name, x in parameters.items() if isinstance(x, float)}
    price = priced(formulation, weights, q, [rational(d) for d in point.roots], own)
    side = _sample_values(given, loss, beta, z, prices, own, rational(point.level))
    penalty = sum((w * x for w, x in zip(weights, q, strict=True)), fmpq(0)) / 2 + price.value
    if formulation == "ml_minimax":
        each = [
            valued_labels("hinge", [abs(b) for b in row], _margins(row_z, s), prices, {}, fmpq(1)).risk
            + sum((w * _own_square(columns, image, j) for w, image in zip(weights, images, strict=True)), fmpq(0)) / 2
            for j, (row, row_z, s) in enumerate(zip(beta, z, given["labels"].T, strict=True))
        ]
        return enclosure((side.gain - price.conjugate) / len(beta), max(each))  # every label has γ = 1/k
    return enclosure(side.gain - price.conjugate, penalty + side.risk)


def _own_square(columns: fmpq_mat, image: fmpq_mat, j: int) -> fmpq:
    return sum((columns[i, j] * image[i, j] for i in range(columns.nrows())), fmpq(0))


def _margins(z: Sequence[fmpq], signs: Sequence[int]) -> list[fmpq]:
    return [x if s > 0 else -x for x, s in zip(z, signs, strict=True)]


def _sample_values(
    given: dict[str, Any], loss: str, beta: list[list[fmpq]], z: list[list[fmpq]], prices: list[fmpq],
    own: dict[str, fmpq], level: fmpq,
) -> Values:  # fmt: skip
    if "classes" in given:
        k, own_class = len(beta), given["classes"]
        rivals = [[-beta[j][i] for j in range(k) if j != y] for i, y in enumerate(own_class)]
        ahead = [[z[y][i] - z[j][i] for j in range(k) if j != y] for i, y in enumerate(own_class)]
        assert all(sum((row[i] for row in beta), fmpq(0)) == 0 for i in range(len(own_class)))
        return valued_classes(loss, rivals, ahead, prices)
    if loss in LABELLED:
        signs = given["labels"].T if "labels" in given else [given.get("y", [1] * len(prices))]
        if loss in ("nu", "one_class"):
            assert sum(map(abs, beta[0]), fmpq(0)) == 1, "α does not sum to one"
        signed = [
            [b if s > 0 else -b for b, s in zip(row, one, strict=True)] for row, one in zip(beta, signs, strict=True)
        ]
        found = [
            valued_labels(loss, row, _margins(out, one), prices, own, level)
            for row, out, one in zip(signed, z, signs, strict=True)
        ]
    else:
        targets = np.atleast_2d(given["response"].T)
        found = [
            valued_real(loss, row, out, [exact(t) for t in one], prices, own, level)
            for row, out, one in zip(beta, z, targets, strict=True)
        ]
    return Values(sum((one.gain for one in found), fmpq(0)), sum((one.risk for one in found), fmpq(0)))


def enclosure(lower: Any, upper: Any) -> Enclosure:
    low = exact_end(lower.lower()) if isinstance(lower, arb) else lower
    high = exact_end(upper.upper()) if isinstance(upper, arb) else upper
    return Enclosure(low, high)
