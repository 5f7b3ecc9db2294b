"""Where the interior-point method of single tasks starts: prices that meet the equations, no product below τ."""

from __future__ import annotations

import numpy as np

from ...formulations import Task
from ..polish import gain_slope
from .iterate import Array, Interior
from .saddle import balance
from .weights_side import Side

FIRST, NEARER = 0.3, 0.1  # of the mean product of gradient and value: the first τ, cold and warm


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
    length = min(length, 0.9 / float(shares.max())) if task.loss == "c" else min(1.0, 0.9 / float(shares.max()))
    return length * shares * task.box, length * images


def first_point(task: Task, side: Side, x: Array, alpha: Array, images: Array, share: float = FIRST) -> Interior:
    """Prices that meet the equations as far as they can, no product below τ."""
    rows, _ = balance(task, side)
    room, beta = task.box - alpha, alpha * task.y
    pull = side.weights(x) @ images - task.y * gain_slope(task)
    nu = np.asarray(-np.linalg.lstsq(rows.T, pull, rcond=None)[0], dtype=np.float64)
    gradient = task.y * (pull + nu @ rows)
    tau = share * max(float(np.mean(np.abs(gradient) * np.minimum(alpha, room))), np.finfo(float).tiny)
    upper = np.maximum(tau / room, tau / alpha - gradient)
    head = np.maximum(side.caps - x[: len(side.caps)], 1e-3 * side.caps)
    slope, equal = side.slope(x, images @ beta / 2), side.rows(x)
    wanted = tau / x - side.sign * slope
    kappa = np.array([_price(row, wanted, side.sign, len(head)) for row in equal])
    gradient_x = side.sign * (slope + kappa @ equal)
    ceiling = np.maximum(tau / head, (tau / x - gradient_x)[: len(head)])
    gradient_x[: len(head)] += ceiling
    return Interior(
        np.concatenate([alpha, room, x, head]),
        np.concatenate([gradient + upper, upper, np.maximum(gradient_x, tau / x), ceiling]), nu, kappa,
    )  # fmt: skip


def _price(row: Array, wanted: Array, sign: Array, capped: int) -> float:
    """κ of one equality: enough for all its variables, or for them on average where caps can make up for it."""
    seen = row > 0
    ratios = wanted[seen] / row[seen]
    return float(sign[seen][0] * (ratios.mean() if capped else ratios.max()))
