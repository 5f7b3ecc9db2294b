"""Where the interior-point method of single tasks starts: multipliers that meet the equations, no product below τ."""

from __future__ import annotations

import numpy as np

from ...formulations import Task
from ..polish import gain_slope
from .iterate import Array
from .saddle import SaddleIterate, balance
from .settings import SETTINGS, TINY
from .weights_side import Side


def balanced(task: Task, alpha: Array) -> Array:
    """α with the larger class scaled down, so that y'α = 0."""
    if not task.bias:
        return alpha
    positive = task.y > 0
    up, down = float(alpha[positive].sum()), float(alpha[~positive].sum())
    return alpha * np.where(positive, min(1.0, down / up), min(1.0, up / down))


def first_alpha(task: Task, weights: Array) -> tuple[Array, Array]:
    """The same share of every sample's box within a class, twice as large as its value wants, and the images."""
    positive = task.y > 0
    sides = (positive, ~positive) if task.bias else (np.ones(task.samples, dtype=bool),)
    shares = np.zeros(task.samples)
    for side in sides:
        shares[side] = 1 / (len(sides) * task.box[side].sum())
    images = task.images(shares * task.box * task.y)
    length = 1.0
    if task.loss == "c":
        cost = float(weights @ (images @ (shares * task.box * task.y)))
        length = 2 / cost if cost > 0 else np.inf
    length = min(length, SETTINGS.max_start / float(shares.max()))
    return length * shares * task.box, length * images


def first_point(
    task: Task, side: Side, x: Array, alpha: Array, images: Array, share: float = SETTINGS.first_mu
) -> SaddleIterate:
    """Multipliers that meet the equations as far as they can, no product below τ."""
    rows, _ = balance(task, side)
    box_slack, beta = task.box - alpha, alpha * task.y
    pull = side.weights(x) @ images - task.y * gain_slope(task)
    nu = np.asarray(-np.linalg.lstsq(rows.T, pull, rcond=None)[0], dtype=np.float64)
    gradient = task.y * (pull + nu @ rows)
    tau = share * max(float(np.mean(np.abs(gradient) * np.minimum(alpha, box_slack))), TINY)
    w = np.maximum(tau / box_slack, tau / alpha - gradient)
    cap_slack = np.maximum(side.caps - x[: len(side.caps)], SETTINGS.min_cap_slack * side.caps)
    gradient_x, jacobian = side.gradient(x, images @ beta / 2), side.equality_jacobian(x)
    wanted = tau / x - side.sign * gradient_x
    kappa = np.array([_multiplier(row, wanted, side.sign, len(cap_slack)) for row in jacobian])
    gradient_x = side.sign * (gradient_x + kappa @ jacobian)
    u = np.maximum(tau / cap_slack, (tau / x - gradient_x)[: len(cap_slack)])
    gradient_x[: len(cap_slack)] += u
    s = np.maximum(gradient_x, tau / x)
    return SaddleIterate(alpha, box_slack, x, cap_slack, gradient + w, w, s, u, nu, kappa)


def _multiplier(row: Array, wanted: Array, sign: Array, capped: int) -> float:
    """κ of one equality: enough for all its variables, or for them on average where caps can make up for it."""
    seen = row > 0
    ratios = wanted[seen] / row[seen]
    return float(sign[seen][0] * (ratios.mean() if capped else ratios.max()))
