"""Classes and labels whose optimum is planted.

Classes have β_i = a_i (k e_y − 1) and vectors x_m in the place of f_m: all that is output to a sample of class y is
x_i (e_y − 1/k). Labels have K_mβ = dF_m with F_m'β = dI.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from planted_losses import exp, fraction, power
from planted_penalties import split
from planted_values import Array, Planted, Point, Unplanted, proved
from planting import Rows, counts, dot, of_price, offset, seeing, solution, stored, unseen


def classes(rng: np.random.Generator, formulation: str, loss: str, bias: bool, k: int) -> Planted:
    """β_i = a_i (k e_y − 1): every other class has the same share of a sample. k is a power of two."""
    each = int(rng.integers(2, 5))
    own, n = [i % k for i in range(k * each)], k * each
    members = [[i for i in range(n) if own[i] == j] for j in range(k)]
    alpha = [
        fraction(rng, 1, 8, 4) if i < k or rng.random() < 0.8 or loss == "softmax" else Fraction(0) for i in range(n)
    ]
    alpha[:k] = [Fraction(1)] * k  # the anchors, one of each class
    if bias:
        top = max(sum(alpha[i] for i in part) for part in members)
        for part in members:
            alpha[part[-1]] += top - sum(alpha[i] for i in part)
    lead = [_lead(rng, loss, a) for a in alpha]
    used, rest = counts(rng, formulation)
    total = power(rng, -2, 1)  # Σ a_i x_i of every class
    shares, roots, own_parameters = _of_classes(rng, formulation, used, rest, total)
    for j, part in enumerate(members):
        lead[j] += total - sum(alpha[i] * lead[i] for i in part)
        if loss == "crammer_singer" and lead[j] > 1:
            raise Unplanted("no lead for the anchor")
    prices = [_class_price(rng, loss, k, a, x) for a, x in zip(alpha, lead, strict=True)]
    rows = [[alpha[i] if own[i] == j else Fraction(0) for i in range(n)] for j in range(k)]
    found = [seeing(rng, rows, range(k), [w] * k) for w in roots]
    last, left = len(shares) - 1, list(lead)
    for m in range(last):
        left = [x - shares[m] * y for x, y in zip(left, found[m], strict=True)]
    found[last] = [x / shares[last] for x in left]
    hidden = [unseen(rng, rows, range(k)) for _ in roots]
    kernels = []
    for x, w, columns in zip(found, roots, hidden, strict=True):
        rough = np.array([[float(c) for c in column] for column in columns]).reshape(len(columns), n)
        between = [
            [(Fraction(own[i] == own[j]) - Fraction(1, k)) * x[i] * x[j] / (k * w) for j in range(n)] for i in range(n)
        ]
        kernels.append(doubles(between) + rough.T @ rough)
    dense = np.array(kernels)
    price, weight = of_price(rng, prices)
    given = {"kernels": dense, "classes": own, "sample_weight": weight}
    parameters = {"loss": loss, "C": price, "bias": bias, **own_parameters}
    beta = [[a * (k - 1 if y == j else -1) for a, y in zip(alpha, own, strict=True)] for j in range(k)]
    shift = [offset(rng, bias)] * k
    point = Point(beta, shift, [*shares, *[Fraction(0)] * (len(roots) - len(shares))], [])
    return proved(given, formulation, parameters, point, loss, price * weight)


def _of_classes(
    rng: np.random.Generator, formulation: str, used: int, rest: int, total: Fraction
) -> tuple[list[Fraction], list[Fraction], dict[str, float]]:
    """Weights, and for every kernel its Σ a_i x_i, a power of two: q_m is k(k − 1) times that."""
    if formulation in ("l1", "sm1"):
        own = {"theta": 1.0} if formulation == "sm1" else {}
        return (
            split(rng, Fraction(1), used),
            [total] * used + [total / 2 ** int(r) for r in rng.integers(1, 4, rest)],
            own,
        )
    if used == 3:
        used = 2
    each = Fraction(1, used) if formulation == "average" else Fraction(1)
    return [each] * used, [total / used / each] * used, {}


def _lead(rng: np.random.Generator, loss: str, a: Fraction) -> Fraction:
    if loss == "softmax":
        return fraction(rng, -12, 12, 4)
    return 1 + fraction(rng, 0, 8) if not a else 1 - fraction(rng, 0, 8) * int(rng.integers(2))


def _class_price(rng: np.random.Generator, loss: str, k: int, a: Fraction, x: Fraction) -> Fraction:
    if loss == "softmax":
        return a * Fraction(exp(x) + k - 1)
    return (k - 1) * a * (1 if x < 1 else 1 + fraction(rng, 0, 8)) if a else power(rng)


def doubles(rows: Rows) -> Array:
    if any(Fraction(float(x)) != x for row in rows for x in row):
        raise Unplanted("a kernel has entries that are no doubles")
    return np.array([[float(x) for x in row] for row in rows])


# ----------------------------------------------------------------------------------------------------- labels
def labels(rng: np.random.Generator, formulation: str, k: int) -> Planted:
    """k labels of the hinge: K_mβ = dF_m with F_m'β = dI. Their values are the same."""
    n = int(rng.integers(2 * k + 3, 13))
    signs = [[int(s) for s in rng.choice([-1, 1], size=n)] for _ in range(k)]
    alpha = [fraction(rng, 0, 8, 4) for _ in range(n)]
    prices = [max(a, power(rng)) for a in alpha]
    top = power(rng, 0, 2)
    anchors = list(range(k))
    for i in anchors:
        alpha[i] = prices[i] = top
    system = [[signs[j][i] * top for i in anchors] for j in range(k)]
    if abs(np.linalg.det([[float(x) for x in row] for row in system])) < 1e-9:
        raise Unplanted("the anchors are dependent")
    rows = [[s * a for s, a in zip(one, alpha, strict=True)] for one in signs]
    d, outputs = power(rng, -2, 1), []
    for j in range(k):
        z = [_label_margin(rng, a, c) * s for a, c, s in zip(alpha, prices, signs[j], strict=True)]
        for i in anchors:
            z[i] = Fraction(0)
        missing = [(d * d if other == j else 0) - dot(z, row) for other, row in enumerate(rows)]
        z[:k] = solution(system, missing)
        if any(z[i] * signs[j][i] > 1 for i in anchors):
            raise Unplanted("no margin for the anchors")
        outputs.append(z)
    used, rest = counts(rng, formulation)
    shares = split(rng, Fraction(1), used)
    found: list[Rows] = []
    for m in range(used + rest):
        size = d if m < used else d * fraction(rng, 0, 7)
        found.append([seeing(rng, rows, anchors, [size * (other == j) for other in range(k)]) for j in range(k)])
    for j in range(k):
        left = list(outputs[j])
        for m in range(used - 1):
            left = [x - shares[m] * d * y for x, y in zip(left, found[m][j], strict=True)]
        found[used - 1][j] = [x / (shares[-1] * d) for x in left]
    kernels = stored(rng, [[*columns, *unseen(rng, rows, anchors)] for columns in found])
    price, weight = of_price(rng, prices)
    given = {"kernels": kernels, "labels": (np.array(signs).T > 0).astype(int), "sample_weight": weight}
    if any(len(set(one)) == 1 for one in signs):
        raise Unplanted("a label that everybody has")
    point = Point(rows, [Fraction(0)] * k, [*shares, *[Fraction(0)] * rest], [])
    return proved(given, formulation, {"C": price}, point, "hinge", price * weight)


def _label_margin(rng: np.random.Generator, a: Fraction, c: Fraction) -> Fraction:
    return 1 + fraction(rng, 0, 8) if a == 0 else 1 - fraction(rng, 0, 12, 4) if a == c else Fraction(1)
