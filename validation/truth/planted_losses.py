"""Samples that are optimal by design: multipliers, prices and margins on the graph of a loss's subgradient.

`drawn` chooses them, `valued` evaluates gain and risk exactly (in balls where there are exponentials), from the doubles
that the package is given; what one does is no premise of the other. Numbers have few bits, and every price that a
smooth loss asks for beside them is rounded to a double: the optimum moves by the square of that.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np
from flint import arb, fmpq

Number = Any  # of fmpq or arb
Rationals = list[Fraction]
Rows = list[Rationals]
ONE = Fraction(1)
LABELLED = ("hinge", "nu", "one_class", "squared_hinge", "smoothed_hinge", "logistic")
REAL = (
    "squared", "epsilon_insensitive", "absolute", "squared_epsilon_insensitive", "huber", "quantile", "nu_svr",
    "poisson",
)  # fmt: skip
FREE_MARGIN = ("nu", "one_class")


@dataclass
class Samples:
    """Multipliers β (k rows), prices c, the margins of labels or residuals of targets, and the loss's own parameters.
    `anchors` are samples whose margin may be lowered: c = |β|, a power of two, or the loss is smooth."""

    beta: list[Rationals]
    prices: Rationals
    margins: list[Rationals]
    own: dict[str, float] = field(default_factory=dict)
    signs: list[list[int]] = field(default_factory=list)
    anchors: list[int] = field(default_factory=list)
    level: Fraction = ONE


def fraction(rng: np.random.Generator, low: int, high: int, parts: int = 8) -> Fraction:
    """A multiple of 1/parts in [low, high], in parts."""
    return Fraction(int(rng.integers(low, high + 1)), parts)


def power(rng: np.random.Generator, low: int = -2, high: int = 2) -> Fraction:
    return Fraction(2) ** int(rng.integers(low, high + 1))


def exp(x: Fraction) -> float:
    return float(np.exp(float(x)))


# ---------------------------------------------------------------------------------------------------------- labels
def drawn_labels(rng: np.random.Generator, loss: str, n: int, bias: bool) -> Samples:
    """Labels ±1, or none: α, prices and margins. The first sample is the anchor."""
    signs = [1 if loss == "one_class" or i % 2 else -1 for i in range(n)]
    alpha = [fraction(rng, 1, 12, 4) if i == 1 or rng.random() < 0.75 else Fraction(0) for i in range(n)]
    alpha[0] = power(rng, 0, 1)
    sides = [[i for i in range(n) if signs[i] == side] for side in (1, -1)] if bias else [list(range(n))]
    if bias or loss in FREE_MARGIN:
        top = Fraction(2) ** int(max(sum(alpha[i] for i in side) for side in sides)).bit_length()
        for side in sides:
            alpha[side[-1]] += top - sum(alpha[i] for i in side)
        if loss in FREE_MARGIN:
            alpha = [a / (top * len(sides)) for a in alpha]
    level, own = power(rng, -1, 2) if loss in FREE_MARGIN else ONE, {}
    if loss == "smoothed_hinge":
        own["width"] = float(power(rng, -1, 1))
    width = Fraction(own.get("width", 0))
    margins, prices = [], []
    for i, a in enumerate(alpha):
        kind = "bound" if i == 0 and loss != "squared_hinge" else str(rng.choice(["free", "bound"]))
        margin, price = _pair(rng, loss, a, kind, level, width)
        margins.append(margin)
        prices.append(price)
    beta = [s * a for s, a in zip(signs, alpha, strict=True)]
    return Samples([beta], prices, [margins], own, [signs], [0], level)


def _pair(
    rng: np.random.Generator, loss: str, a: Fraction, kind: str, level: Fraction, width: Fraction
) -> tuple[Fraction, Fraction]:
    """A margin and a price for α = a."""
    if loss == "logistic":
        margin = fraction(rng, -12, 12)
        return (margin, a * Fraction(1 + exp(margin))) if a else (margin, fraction(rng, 1, 2) / 2**60)
    if not a:
        return level + fraction(rng, 0, 8), power(rng)
    if loss == "squared_hinge" or (loss == "smoothed_hinge" and kind == "free"):
        lack = fraction(rng, 1, 12) if loss == "squared_hinge" else fraction(rng, 1, 7) * width
        return level - lack, a * (width or 1) / lack
    if kind == "bound":
        return level - width - fraction(rng, 0, 8), a
    return level, a * (1 + fraction(rng, 1, 8))


def lowered(loss: str, samples: Samples, i: int, margin: Fraction) -> bool:
    """Give an anchor another margin, and the price that goes with it; whether there is one."""
    samples.margins[0][i], a = margin, abs(samples.beta[0][i])
    if loss == "logistic":
        samples.prices[i] = a * Fraction(1 + exp(margin))
    elif loss == "squared_hinge":
        samples.prices[i] = a / (1 - margin) if margin < 1 else a
    return margin < 1 if loss == "squared_hinge" else margin > -40


# ------------------------------------------------------------------------------------------------------ real targets
def drawn_real(rng: np.random.Generator, loss: str, n: int, outputs: int, bias: bool) -> Samples:
    """Real targets: β, prices and residuals. Sample j is the anchor of output j: of its β alone it is a part."""
    own = _own_of_real(rng, loss)
    prices = [power(rng) for _ in range(n)]
    reach = _reach(loss, own)
    rows: list[Rationals] = []
    for j in range(outputs):
        row = [_multiplier(rng, loss, c, reach) for c in prices]
        row[:outputs] = [Fraction(0)] * outputs
        row[j] = prices[j] / 4
        rows.append(row)
    if bias:
        for row in rows:
            row[-1] = -sum(row[:-1], Fraction(0))
        largest = max(abs(row[-1]) for row in rows)
        prices[-1] = Fraction(2) ** (int(16 * largest).bit_length() + 1)
    if loss == "nu_svr":
        _share(rng, own, rows[0], prices)
    margins = [[_residual(rng, loss, b, c, own, reach) for b, c in zip(row, prices, strict=True)] for row in rows]
    return Samples(rows, prices, margins, own, [], list(range(outputs)), Fraction(own.pop("tube", 0.0)))


def _own_of_real(rng: np.random.Generator, loss: str) -> dict[str, float]:
    if loss in ("epsilon_insensitive", "squared_epsilon_insensitive"):
        return {"epsilon": float(fraction(rng, 0, 4))}
    if loss == "huber":
        return {"delta": float(power(rng, -1, 1))}
    if loss == "quantile":
        return {"quantile": float(fraction(rng, 2, 6))}
    return {"tube": float(fraction(rng, 1, 4))} if loss == "nu_svr" else {}


def _reach(loss: str, own: dict[str, float]) -> tuple[Fraction | None, Fraction | None]:
    """The least and largest β, in prices."""
    if loss in ("epsilon_insensitive", "absolute", "nu_svr"):
        return -ONE, ONE
    if loss == "huber":
        return -Fraction(own["delta"]), Fraction(own["delta"])
    return (Fraction(own["quantile"]) - 1, Fraction(own["quantile"])) if loss == "quantile" else (None, None)


def _multiplier(rng: np.random.Generator, loss: str, price: Fraction, reach: tuple[Any, Any]) -> Fraction:
    share = fraction(rng, -7, 7)
    low, high = reach
    if high is None:
        return price * share
    return price * {0: low, 1: high, 2: Fraction(0)}.get(int(rng.integers(6)), min(abs(low), high) * share / 8)


def _share(rng: np.random.Generator, own: dict[str, float], row: Rationals, prices: Rationals) -> None:
    """ν = ‖β‖₁/Σc as a double: the last price makes Σc a power of two."""
    left = sum(prices[:-1], Fraction(0))
    top = Fraction(2) ** int(left + abs(row[-1]) + 1).bit_length()
    prices[-1] = top - left
    own["nu"] = float(sum(map(abs, row), Fraction(0)) / top)


def _residual(
    rng: np.random.Generator, loss: str, beta: Fraction, price: Fraction, own: dict[str, float], reach: tuple[Any, Any]
) -> Fraction:
    """y − z; of `poisson` z itself."""
    tube, side = Fraction(own.get("epsilon", own.get("tube", 0.0))), (beta > 0) - (beta < 0)
    low, high = reach
    if loss == "poisson":
        return fraction(rng, -8, 16) if beta >= 0 else Fraction(np.ceil(8 * np.log(1 + float(-beta / price)))) / 8
    if high is None or loss == "huber":
        bent = beta / price + side * tube
        beyond = beta in (low and low * price, high and high * price)
        return bent + side * fraction(rng, 0, 8) if beyond else bent if beta else tube * fraction(rng, -8, 8)
    if beta in (low * price, high * price):
        return side * (tube + fraction(rng, 0, 8))
    return side * tube if beta else tube * fraction(rng, -8, 8)


# ------------------------------------------------------------------------------------------------------ exact values
class Values(NamedTuple):
    gain: Number
    risk: Number


def valued_real(
    loss: str, beta: Sequence[fmpq], z: Sequence[fmpq], y: Sequence[fmpq], prices: Sequence[fmpq],
    own: dict[str, fmpq], level: fmpq,
) -> Values:  # fmt: skip
    """Of one output."""
    if loss == "poisson":
        return _poisson(beta, z, y, prices)
    gain = risk = fmpq(0)
    tube = own.get("epsilon", fmpq(0)) if loss != "nu_svr" else level
    for b, out, target, c in zip(beta, z, y, prices, strict=True):
        r = target - out
        beyond = max(abs(r) - tube, fmpq(0))
        low, high = {"huber": (-own.get("delta", 0) * c, own.get("delta", 0) * c)}.get(loss, (-c, c))
        if loss == "quantile":  # bounds are the doubles of (1 − π)c and πc
            low, high = -rounded((1 - own["quantile"]) * c), rounded(own["quantile"] * c)
        if loss in ("squared", "squared_epsilon_insensitive"):
            risk, gain = risk + c * beyond * beyond / 2, gain + target * b - tube * abs(b) - b * b / (2 * c)
            continue
        assert low <= b <= high, "β is not feasible"
        if loss == "huber":
            delta = own["delta"]
            risk += c * r * r / 2 if abs(r) <= delta else c * delta * (abs(r) - delta / 2)
            gain += target * b - b * b / (2 * c)
        else:
            risk += high * beyond if r > 0 else -low * beyond
            gain += target * b - (tube * abs(b) if loss == "epsilon_insensitive" else 0)
    if loss == "nu_svr":
        most = rounded(own["nu"] * rounded(sum(prices, fmpq(0))))
        assert sum(map(abs, beta), fmpq(0)) <= most, "β is not feasible"
        risk += most * level
    return Values(gain, risk)


def rounded(x: fmpq) -> fmpq:
    """The nearest double."""
    return fmpq(*(int(x.p) / int(x.q)).as_integer_ratio())


def _poisson(beta: Sequence[fmpq], z: Sequence[fmpq], y: Sequence[fmpq], prices: Sequence[fmpq]) -> Values:
    """With h = cy as a double, c e^z − hz + h log(h/c) − h, and x − x log(x/c) + h log(h/c) − h at x = h − β."""
    gain = risk = arb(0)
    for b, out, target, c in zip(beta, z, y, prices, strict=True):
        h = rounded(c * target)
        x, constant = h - b, _entropic(h, c)
        assert x >= 0, "β is not feasible"
        risk += c * arb(out).exp() - h * arb(out) + constant
        gain += constant - _entropic(x, c)
    return Values(gain, risk)


def _entropic(x: fmpq, c: fmpq) -> arb:
    """x log(x/c) − x."""
    return x * arb(x / c).log() - x if x else arb(0)


def valued_labels(
    loss: str, alpha: Sequence[fmpq], margins: Sequence[fmpq], prices: Sequence[fmpq], own: dict[str, fmpq], level: fmpq
) -> Values:
    """Margins are y z, `level` is ρ where it is an unknown."""
    gain: Number = fmpq(0)
    risk: Number = -level if loss in FREE_MARGIN else fmpq(0)
    for a, m, c in zip(alpha, margins, prices, strict=True):
        lack = max(level - m, fmpq(0))
        assert 0 <= a <= (a if loss == "squared_hinge" else c), "α is not feasible"
        if loss == "logistic":
            risk += c * (1 + (-arb(m)).exp()).log()
            gain -= sum((part * arb(part / c).log() for part in (a, c - a) if part), arb(0))
        elif loss == "squared_hinge":
            risk, gain = risk + c * lack * lack / 2, gain + a - a * a / (2 * c)
        elif loss == "smoothed_hinge":
            width = own["width"]
            risk += c * (lack * lack / (2 * width) if lack <= width else lack - width / 2)
            gain += a - width * a * a / (2 * c)
        else:
            risk, gain = risk + c * lack, gain + (0 if loss in FREE_MARGIN else a)
    return Values(gain, risk)


def valued_classes(
    loss: str, rivals: Sequence[Sequence[fmpq]], ahead: Sequence[Sequence[fmpq]], prices: Sequence[fmpq]
) -> Values:
    """Of α of the other classes, and by how much the own output is ahead of theirs, sample by sample."""
    gain: Number = fmpq(0)
    risk: Number = fmpq(0)
    for alpha, leads, c in zip(rivals, ahead, prices, strict=True):
        total = sum(alpha, fmpq(0))
        assert 0 <= min(alpha) <= total <= c, "α is not feasible"
        if loss == "crammer_singer":
            risk, gain = risk + c * max(max(1 - lead for lead in leads), fmpq(0)), gain + total
        else:
            risk += c * (1 + sum(((-arb(lead)).exp() for lead in leads), arb(0))).log()
            gain -= sum((part * arb(part / c).log() for part in (*alpha, c - total) if part), arb(0))
    return Values(gain, risk)
