"""Family A in one table: R on the weights, its conjugate, and what it is in terms of norms. Beside the formulas stand
functions, and the tests hold each against its formulation.

    U(a) = min over μ ≥ 0 of ½ Σ a_m²/μ_m + R(μ),      U*(d) = R*(½ d²),      R*(v) = sup over μ ≥ 0 of μ'v − R(μ)
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Row:
    """LaTeX of R, R* and U; `conjugate(v)` is R*(v), and `norms(a)` is U(a) where it has a closed form."""

    name: str
    weights: str
    conjugate_latex: str
    norms_latex: str
    conjugate: Callable[..., float]
    norms: Callable[..., float] | None = None
    own: Mapping[str, Any] = field(default_factory=dict)


def least(value: Callable[[float], float], low: float, high: float) -> float:
    """The minimum of a convex function on an interval, by golden sections."""
    ratio = (np.sqrt(5) - 1) / 2
    for _ in range(200):
        left, right = high - ratio * (high - low), low + ratio * (high - low)
        low, high = (low, right) if value(left) <= value(right) else (left, high)
    return min(value(low), value(high))


def soft(price: Callable[[Array], float]) -> Callable[[Array], float]:
    """min over τ of τ + the price of what is above it."""
    return lambda v: least(lambda tau: tau + price(np.maximum(v - tau, 0)), v.min() - 50.0, v.max())


def conjugate_exponent(p: float) -> float:
    return p / (p - 1)


def power(a: Array, q: float) -> float:
    return float((a**q).sum() ** (1 / q))


def elastic(v: Array, r: float) -> float:
    return least(lambda t: t + (np.maximum(v - r * t, 0) ** 2).sum() / (4 * (1 - r) * t), 1e-9, v.sum() + 1)


def block_elastic(v: Array, r: float) -> float:
    d = np.sqrt(2 * v)
    return least(lambda t: t**2 / (2 * r) + (np.maximum(d - t, 0) ** 2).sum() / (2 * (1 - r)), 0.0, d.max())


ROWS = (
    Row("sum", r"\mu=1", r"\sum v", r"\tfrac12\sum a^2", lambda v: float(v.sum()), lambda a: float((a**2).sum() / 2)),
    Row(
        "average", r"\mu=1/M", r"\tfrac1M\sum v", r"\tfrac M2\sum a^2",
        lambda v: float(v.mean()), lambda a: float(len(a) * (a**2).sum() / 2),
    ),
    Row("l1", r"\textstyle\sum\mu=1", r"\max v", r"\tfrac12(\sum a)^2",
        lambda v: float(v.max()), lambda a: float(a.sum() ** 2 / 2)),
    Row(
        "sm1", r"\textstyle\sum\mu=1,\ \mu\le\theta", r"\min_\tau\ \tau+\theta\sum(v-\tau)_+",
        r"\text{at }\theta=\tfrac1k:\ \tfrac k2\,\|a\|^2_{k\text{-support}}",
        lambda v, theta: soft(lambda above: theta * above.sum())(v), own={"theta": 0.5},
    ),
    Row(
        "sm2", r"\textstyle\sum\mu=1;\ \tfrac1{2\theta}\|\mu\|_2^2",
        r"\min_\tau\ \tau+\tfrac\theta2\sum(v-\tau)_+^2", r"\text{roots of }\mu^3/\theta+\kappa\mu^2=a^2/2",
        lambda v, theta: soft(lambda above: theta / 2 * (above**2).sum())(v), own={"theta": 1.5},
    ),
    Row(
        "smp", r"\textstyle\sum\mu=1;\ \tfrac cp\sum\mu^p", r"\min_\tau\ \tau+\tfrac\theta2\sum(v-\tau)_+^{p/(p-1)}",
        r"\text{roots of }c\mu^{p+1}+\kappa\mu^2=a^2/2",
        lambda v, theta, p: soft(lambda above: theta / 2 * (above ** conjugate_exponent(p)).sum())(v),
        own={"theta": 1.5, "p": 1.6},
    ),
    Row(
        "square", r"\tfrac1{2\theta}\|\mu\|_2^2", r"\tfrac\theta2\sum v^2", r"\tfrac32(4\theta)^{-1/3}\sum a^{4/3}",
        lambda v, theta: float(theta / 2 * (v**2).sum()),
        lambda a, theta: float(1.5 * (4 * theta) ** (-1 / 3) * (a ** (4 / 3)).sum()), own={"theta": 1.5},
    ),
    Row(
        "l2", r"\|\mu\|_2\le1", r"\|v\|_2", r"\tfrac12\bigl(\sum a^{4/3}\bigr)^{3/2}",
        lambda v: power(v, 2.0), lambda a: power(a, 4 / 3) ** 2 / 2,
    ),
    Row(
        "lp", r"\|\mu\|_p\le1", r"\|v\|_{p/(p-1)}", r"\tfrac12\bigl(\sum a^{2p/(p+1)}\bigr)^{(p+1)/p}",
        lambda v, p: power(v, conjugate_exponent(p)), lambda a, p: power(a, 2 * p / (p + 1)) ** 2 / 2, own={"p": 1.6},
    ),
    Row(
        "elastic", r"\textstyle r\sum\mu+(1-r)\sum\mu^2\le1",
        r"\min_{\tau\ge0}\ \tau+\sum\tfrac{(v-r\tau)_+^2}{4(1-r)\tau}",
        r"\text{roots of }\kappa\mu^2(r+2(1-r)\mu)=a^2/2",
        lambda v, l1_ratio: elastic(v, l1_ratio), own={"l1_ratio": 0.4},
    ),
    Row(
        "block_elastic", r"\textstyle\sum\tfrac{r\mu}{1-(1-r)\mu}\le1",
        r"\min_{\tau\ge0}\ \tfrac{\tau^2}{2r}+\sum\tfrac{(\sqrt{2v}-\tau)_+^2}{2(1-r)}",
        r"\tfrac12\bigl(r(\sum a)^2+(1-r)\sum a^2\bigr)",
        lambda v, l1_ratio: block_elastic(v, l1_ratio),
        lambda a, l1_ratio: float(l1_ratio * a.sum() ** 2 + (1 - l1_ratio) * (a**2).sum()) / 2, own={"l1_ratio": 0.4},
    ),
    Row(
        "group_lasso", r"\tfrac{\lambda^2}2\sum\mu", r"0\text{ if }\max v\le\tfrac{\lambda^2}2,\text{ else }\infty",
        r"\lambda\sum a", lambda v, lam: 0.0 if v.max() <= lam**2 / 2 else np.inf, lambda a, lam: lam * float(a.sum()),
        own={"lam": 1.5},
    ),
)  # fmt: skip
BLOCKS = (
    ("li", r"\max_m a_m^2", r"\tfrac14\bigl(\sum_m d_m\bigr)^2", r"\tfrac1{2t_m},\ t=d/\textstyle\sum d"),
    (
        "ckl", r"\max_j\bigl(\sum_{m\in j}a_m\bigr)^2", r"\tfrac14\bigl(\sum_j\max_{m\in j}d_m\bigr)^2",
        r"t_m/(2t_j)",
    ),
    (
        "vskl", r"\tfrac12\bigl(\sum_j(\sum_{m\in j}a_m)^s\bigr)^{2/s}",
        r"\tfrac12\,\|(\max_{m\in j}d_m)_j\|_{s^*}^2", r"t_m(\|d\|_{s^*}/d_j)^{2-s^*}",
    ),
)  # fmt: skip


def table() -> str:
    """Markdown of the table."""
    head = ["| | weights $\\mu\\ge0$, and what they cost: $R(\\mu)$ | conjugate $R^*(v)$ | in terms of norms: $U(a)$ |"]
    head.append("|---|---|---|---|")
    cells = [_line(row.name, row.weights, row.conjugate_latex, row.norms_latex) for row in ROWS]
    return "\n".join([*head, *cells])


def block_table() -> str:
    head = ["| | $U(a)$ | $U^*(d)$, $d_m=\\sqrt{q_m(\\alpha)}$ | weights |", "|---|---|---|---|"]
    return "\n".join([*head, *(_line(*block) for block in BLOCKS)])


def _line(name: str, *formulas: str) -> str:
    """In a table of Markdown a bar is the end of a cell."""
    cells = " | ".join(f"${formula}$".replace(r"\|", r"\Vert ") for formula in formulas)
    return f"| [`{name}`](formulations/{name}.md) | {cells} |"
