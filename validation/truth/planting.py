"""Problems whose optimum is known before their kernels are: multipliers and margins first, then kernels that fit.

A single task has K_m = f_m f_m' + N_m N_m' with f_m'β = d_m and N_m'β = 0, so that q_m = d_m² and K_mβ = d_m f_m, and
Σ_m a_m f_m are the outputs that the margins ask for: the last f_m makes up for the others. Real targets are what
outputs and residuals add up to; several outputs have f_m'β^j = d_m u_j with ‖u‖ = 1.

Nothing of this is taken for granted: `planted_values` evaluates the primal and the dual value there, exactly,
from the numbers that the package is given, and the optimum lies between them.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np
from flint import fmpq_mat

from mklcvx.problem.low_rank import LowRank
from planted_losses import Rows, drawn_labels, drawn_real, exp, fraction, lowered, power
from planted_penalties import ALL_USED, PLANS, Plan
from planted_values import Array, Planted, Point, Unplanted, proved, rational
from records import exact_kernel, exact_product


def dot(x: Sequence[Fraction], y: Sequence[Fraction]) -> Fraction:
    return sum((a * b for a, b in zip(x, y, strict=True)), Fraction(0))


def counts(rng: np.random.Generator, formulation: str) -> tuple[int, int]:
    """Kernels that are used, and others."""
    used = 1
    if formulation != "svm":
        used = int(2 ** rng.integers(0, 3)) if formulation == "average" else int(rng.integers(1, 4))
    return used, 0 if formulation in ALL_USED else int(rng.integers(0, 3))


def vector(rng: np.random.Generator, n: int) -> list[Fraction]:
    return [fraction(rng, -6, 6, 4) for _ in range(n)]


def seeing(rng: np.random.Generator, beta: Rows, anchors: Sequence[int], wanted: Sequence[Fraction]) -> list[Fraction]:
    """A vector f with f'β^j as wanted: the anchors' entries make up for the others."""
    f = vector(rng, len(beta[0]))
    for i in anchors:
        f[i] = Fraction(0)
    missing = [want - dot(f, row) for want, row in zip(wanted, beta, strict=True)]
    for i, x in zip(anchors, solution([[row[i] for i in anchors] for row in beta], missing), strict=True):
        f[i] = x
    return f


def solution(matrix: Rows, right: Sequence[Fraction]) -> list[Fraction]:
    rows = fmpq_mat([[rational(x) for x in row] for row in matrix])
    found = rows.solve(fmpq_mat([[rational(x)] for x in right])).entries()
    return [Fraction(int(x.p), int(x.q)) for x in found]


def unseen(rng: np.random.Generator, beta: Rows, anchors: Sequence[int]) -> Rows:
    """Some columns N with N'β = 0; one of them constant, and large, where β sums to zero."""
    n, nothing = len(beta[0]), [Fraction(0)] * len(beta)
    columns = [seeing(rng, beta, anchors, nothing) for _ in range(int(rng.integers(0, n + 1)))]
    constant = rng.random() < 0.3 and all(sum(row) == 0 for row in beta)
    return [*columns, [Fraction(2) ** int(rng.integers(0, 11))] * n] if constant else columns


def stored(rng: np.random.Generator, columns: list[Rows]) -> Any:
    """Kernels of these columns: dense if all their entries are doubles, else (or by choice) as factors."""
    factors = [np.array([[float(x) for x in column] for column in one]).T for one in columns]
    for one, factor in zip(columns, factors, strict=True):
        if any(Fraction(float(x)) != x for column in one for x in column):
            raise Unplanted("a factor has entries that are no doubles")
        if not np.abs(factor).max() < 1e6:
            raise Unplanted("a factor has large entries")
    dense = np.array([f @ f.T for f in factors])
    fits = all(exact_kernel(k) == exact_product(f) for k, f in zip(dense, factors, strict=True))
    return dense if fits and rng.random() < 0.8 else LowRank(factors)


def of_price(rng: np.random.Generator, prices: Sequence[Fraction]) -> tuple[float, Array]:
    """C and sample weights whose products are these prices, rounded to doubles."""
    price = float(power(rng, -3, 3))
    return price, np.array([float(c) / price for c in prices])


def offset(rng: np.random.Generator, bias: bool) -> Fraction:
    return fraction(rng, -8, 8) if bias else Fraction(0)


# ---------------------------------------------------------------------------------------------- single tasks
def single(rng: np.random.Generator, formulation: str, loss: str, bias: bool) -> Planted:
    """Labels ±1, or none."""
    n = int(rng.choice([8, 16])) if loss in ("nu", "one_class") else int(rng.integers(5, 17))
    samples, b = drawn_labels(rng, loss, n, bias), offset(rng, bias)
    beta, signs, anchor = samples.beta[0], samples.signs[0], samples.anchors[0]
    alpha = [abs(x) for x in beta]
    budget = dot(alpha, samples.margins[0])
    if budget <= 0:
        raise Unplanted("the margins' mean is negative")
    used, rest = counts(rng, formulation)
    plan = PLANS[formulation](rng, used, rest, budget)
    margin = samples.margins[0][anchor] - (budget - plan.total) / alpha[anchor]
    if plan.total > budget or not lowered(loss, samples, anchor, margin):
        raise Unplanted("no margin for the anchor")
    outputs = [s * m - b for s, m in zip(signs, samples.margins[0], strict=True)]
    columns = _fitting(rng, plan, beta, anchor, outputs)
    kernels = stored(rng, [[f, *unseen(rng, samples.beta, samples.anchors)] for f in columns])
    given: dict[str, Any] = {"kernels": kernels}
    if loss != "one_class":
        given["y"] = signs
    parameters: dict[str, Any] = {"loss": loss, **plan.own, **samples.own}
    if loss != "one_class":
        parameters["bias"] = bias
    if loss in ("nu", "one_class"):
        parameters["nu"] = float(power(rng, -3, -1))
        given["sample_weight"] = np.array([float(c) for c in samples.prices]) * parameters["nu"] * n
        prices = 1.0 / (parameters["nu"] * n) * given["sample_weight"]
    else:
        parameters["C"], given["sample_weight"] = of_price(rng, samples.prices)
        prices = parameters["C"] * given["sample_weight"]
    point = Point(samples.beta, [b], _weights(plan), plan.roots, samples.level)
    return proved(given, formulation, parameters, point, loss, prices)


def _weights(plan: Plan) -> list[Fraction]:
    rest = len(plan.roots) - len(plan.norms)
    return [a / d for a, d in zip(plan.norms, plan.roots, strict=False)] + [Fraction(0)] * rest


def _fitting(
    rng: np.random.Generator, plan: Plan, beta: list[Fraction], anchor: int, outputs: list[Fraction]
) -> list[list[Fraction]]:
    """f_m with f_m'β = d_m and Σ a_m f_m = outputs."""
    found, last = [], len(plan.norms) - 1
    for d in plan.roots:
        found.append(seeing(rng, [beta], [anchor], [d]))
    left = list(outputs)
    for a, f in zip(plan.norms[:last], found, strict=False):
        left = [x - a * y for x, y in zip(left, f, strict=True)]
    found[last] = [x / plan.norms[last] for x in left]
    return found


def real(rng: np.random.Generator, formulation: str, loss: str, bias: bool, outputs: int) -> Planted:
    """Real targets, of one output or several."""
    n = int(rng.integers(max(5, outputs + 3), 17))
    samples = drawn_real(rng, loss, n, outputs, bias)
    used, rest = counts(rng, formulation)
    plan, kernels = PLANS[formulation](rng, used, rest, fraction(rng, 4, 40, 4)), []
    reached = [[Fraction(0)] * n for _ in range(outputs)]
    for d, a in itertools.zip_longest(plan.roots, plan.norms, fillvalue=Fraction(0)):
        unit = _unit(rng, outputs)
        f = seeing(rng, samples.beta, samples.anchors, [d * u for u in unit])
        reached = [[z + a * u * x for z, x in zip(row, f, strict=True)] for row, u in zip(reached, unit, strict=True)]
        kernels.append([f, *unseen(rng, samples.beta, samples.anchors)])
    biases = [offset(rng, bias) for _ in range(outputs)]
    if loss == "poisson" and max(abs(z) for row in reached for z in row) > 8:
        raise Unplanted("means that are far too large")
    targets = np.array([
        [float(Fraction(exp(z + b)) + x / c) if loss == "poisson" else float(z + b + r)
         for z, r, x, c in zip(row, rest_, beta, samples.prices, strict=True)]
        for row, rest_, beta, b in zip(reached, samples.margins, samples.beta, biases, strict=True)
    ])  # fmt: skip
    if loss == "poisson" and (targets.min() < 0 or targets.max() > 1e8 or not targets.any(axis=1).all()):
        raise Unplanted("counts that are negative, or large")
    price, weight = of_price(rng, samples.prices)
    given = {
        "kernels": stored(rng, kernels),
        "response": targets[0] if outputs == 1 else targets.T,
        "sample_weight": weight,
    }
    parameters = {"loss": loss, "C": price, "bias": bias, **plan.own, **samples.own}
    point = Point(samples.beta, biases, _weights(plan), plan.roots, samples.level)
    return proved(given, formulation, parameters, point, loss, price * weight)


def _unit(rng: np.random.Generator, outputs: int) -> list[Fraction]:
    """A vector of length one."""
    if outputs == 4 and rng.random() < 0.5:
        return [Fraction(int(s), 2) for s in rng.choice([-1, 1], size=4)]
    found = [Fraction(0)] * outputs
    found[int(rng.integers(outputs))] = Fraction(1)
    return found
