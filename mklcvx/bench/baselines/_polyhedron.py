"""Weights in a polyhedron, {μ ≥ 0, Aμ ≥ p}: the nearest one, by least distance programming.

    min ‖x‖ where Gx ≥ h      is      u = argmin over u ≥ 0 of ‖G'u‖² + (h'u − 1)²,    x = G'u/(1 − h'u)

and there is no such x exactly where the minimum is zero. Reference: Lawson & Hanson 1974, chapter 23.
"""

from __future__ import annotations

import numpy as np

from ...problem.stack import Array

ROUNDING = 1e-12
NOTHING = 1e-12  # a residual that counts as none: the constraints contradict each other


def nearest_within(mu: Array, rows: Array, least: Array) -> Array | None:
    """The weights nearest to μ that are not negative and meet Aμ ≥ p up to rounding; None where there are none."""
    mu = np.maximum(mu, 0.0)
    for _ in range(3):  # the second time it mends what rounding left of a large step
        if meets(mu, rows, least):
            return mu
        step = _least_step(np.vstack([rows, np.eye(len(mu))]), np.concatenate([least - rows @ mu, -mu]))
        if step is None:
            return None
        mu = np.maximum(mu + step, 0.0)
    return mu if meets(mu, rows, least) else None


def meets(mu: Array, rows: Array, least: Array) -> bool:
    sizes = np.abs(rows) @ np.abs(mu) + np.abs(least)
    return bool((rows @ mu - least >= -ROUNDING * sizes).all())


def _least_step(rows: Array, least: Array) -> Array | None:
    from scipy.optimize import nnls

    lengths = np.linalg.norm(rows, axis=1)
    if (least[lengths == 0] > 0).any():
        return None
    rows, least = rows[lengths > 0] / lengths[lengths > 0, None], least[lengths > 0] / lengths[lengths > 0]
    size = float(least.max())
    system = np.vstack([rows.T, least / size])
    wanted = np.append(np.zeros(rows.shape[1]), 1.0)
    price, distance = nnls(system, wanted, maxiter=100 * system.shape[1])
    residual = system @ price - wanted
    if distance <= NOTHING or -residual[-1] <= NOTHING:
        return None
    return np.asarray(-residual[:-1] / residual[-1] * size)
