"""Piecewise quadratic losses in exact rational arithmetic: what certificates of them are held to."""

import math
from fractions import Fraction as F

import numpy as np

from mklcvx.formulations.losses import QuadraticShape


def entries(shape: QuadraticShape, price: np.ndarray, width: float = 1.0) -> list[tuple]:
    """a, ε, κ, low and high of every sample; κ is the quotient width/price itself, not its double. Infinite ends stay
    floats, which compare with fractions."""
    rows = []
    for a, epsilon, kappa, low, high, c in zip(*shape, price, strict=True):
        ends = [F(float(end)) if math.isfinite(end) else float(end) for end in (low, high)]
        rows.append((F(float(a)), F(float(epsilon)), F(width) / F(float(c)) if kappa else F(0), *ends))
    return rows


def phi(entry, r, alpha):
    _, epsilon, kappa, _, _ = entry
    return r * alpha - epsilon * abs(alpha) - kappa * alpha**2 / 2


def supremum(entry, r, ridge=()):
    """sup over α̂ of φ(α̂) + ½ Σ d (α̂ − c)²: at an end, at 0, or where the slope vanishes; ∞ if it is unbounded."""
    _, epsilon, kappa, low, high = entry
    total, slope = sum((d for d, _ in ridge), F(0)), r - sum((d * c for d, c in ridge), F(0))
    tried = [F(0)]
    for sign, end in ((-1, low), (1, high)):
        if not math.isinf(end):
            tried.append(end)
        elif kappa < total or (kappa == total and sign * slope > epsilon):
            return math.inf
        if kappa > total:
            flat = (slope - sign * epsilon) / (kappa - total)
            if sign * flat > 0 and abs(flat) <= abs(end):
                tried.append(flat)
    return max(phi(entry, r, x) + sum((d * (x - c) ** 2 for d, c in ridge), F(0)) / 2 for x in tried)
