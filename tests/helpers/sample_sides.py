"""Losses with parameters of their own, as the theorems define them, and small tasks to try them on."""

from collections.abc import Callable

import numpy as np

from mklcvx.formulations import Task, losses
from mklcvx.formulations.losses import ABSOLUTE, COUNTS, HINGE, LABELS, LOGISTIC, NU, ONE_CLASS, POISSON, REAL, Loss

TUBE, WIDTH, CORNER, LEVEL, SHARE = 0.3, 0.4, 0.7, 0.2, 0.6
CHOSEN: tuple[Loss, ...] = (
    HINGE, NU, losses.SQUARED_HINGE, losses.SmoothedHinge(WIDTH), LOGISTIC, losses.SQUARED,
    losses.EpsilonInsensitive(TUBE), ABSOLUTE, losses.SquaredEpsilonInsensitive(TUBE), losses.Huber(CORNER),
    losses.Quantile(LEVEL), losses.NuSVR(SHARE), POISSON, ONE_CLASS,
)  # fmt: skip
PRICED = tuple(loss for loss in CHOSEN if not loss.free_margin)
QUADRATIC = tuple(loss for loss in PRICED if loss.kind == "quadratic")
SIDES = [(loss, bias) for loss in CHOSEN for bias in ((True, False) if loss.takes_bias else (False,))]


def positive(x):
    return np.maximum(x, 0.0)


def entropy(u):
    return -np.where(u > 0, u * np.log(np.where(u > 0, u, 1.0)), 0.0)


def smoothed(t):
    return np.where(t >= 1, 0.0, np.where(t <= 1 - WIDTH, 1 - t - WIDTH / 2, (1 - t) ** 2 / (2 * WIDTH)))


def huber(r):
    return np.where(np.abs(r) <= CORNER, r**2 / 2, CORNER * np.abs(r) - CORNER**2 / 2)


# ℓ(y, z), written apart from the records; ρ or ε = 0 where it is an unknown.
VALUES: dict[str, Callable] = {
    "hinge": lambda y, z: positive(1 - y * z),
    "nu": lambda y, z: positive(-y * z),
    "one_class": lambda y, z: positive(-z),
    "squared_hinge": lambda y, z: positive(1 - y * z) ** 2 / 2,
    "smoothed_hinge": lambda y, z: smoothed(y * z),
    "logistic": lambda y, z: np.log(1 + np.exp(-y * z)),
    "squared": lambda y, z: (y - z) ** 2 / 2,
    "epsilon_insensitive": lambda y, z: positive(np.abs(y - z) - TUBE),
    "absolute": lambda y, z: np.abs(y - z),
    "squared_epsilon_insensitive": lambda y, z: positive(np.abs(y - z) - TUBE) ** 2 / 2,
    "huber": lambda y, z: huber(y - z),
    "quantile": lambda y, z: LEVEL * positive(y - z) + (1 - LEVEL) * positive(z - y),
    "nu_svr": lambda y, z: np.abs(y - z),
    "poisson": lambda y, z: np.exp(z) - y * z - entropy(y) - y,
}
# g(β) and the domain of β, as the table of losses has them.
GAINS: dict[str, Callable] = {
    "hinge": lambda y, beta, c: y * beta,
    "nu": lambda y, beta, c: 0 * beta,
    "one_class": lambda y, beta, c: 0 * beta,
    "squared_hinge": lambda y, beta, c: y * beta - beta**2 / (2 * c),
    "smoothed_hinge": lambda y, beta, c: y * beta - WIDTH * beta**2 / (2 * c),
    "logistic": lambda y, beta, c: c * (entropy(y * beta / c) + entropy(1 - y * beta / c)),
    "squared": lambda y, beta, c: y * beta - beta**2 / (2 * c),
    "epsilon_insensitive": lambda y, beta, c: y * beta - TUBE * np.abs(beta),
    "absolute": lambda y, beta, c: y * beta,
    "squared_epsilon_insensitive": lambda y, beta, c: y * beta - TUBE * np.abs(beta) - beta**2 / (2 * c),
    "huber": lambda y, beta, c: y * beta - beta**2 / (2 * c),
    "quantile": lambda y, beta, c: y * beta,
    "nu_svr": lambda y, beta, c: y * beta,
    "poisson": lambda y, beta, c: c * (entropy(y - beta / c) - entropy(y)) - beta,
}
DOMAINS: dict[str, tuple[float, float]] = {  # of α, in multiples of c
    "hinge": (0, 1), "nu": (0, 1), "one_class": (0, 1), "squared_hinge": (0, np.inf), "smoothed_hinge": (0, 1),
    "logistic": (0, 1), "squared": (-np.inf, np.inf), "epsilon_insensitive": (-1, 1), "absolute": (-1, 1),
    "squared_epsilon_insensitive": (-np.inf, np.inf), "huber": (-CORNER, CORNER), "quantile": (LEVEL - 1, LEVEL),
    "nu_svr": (-1, 1),
}  # fmt: skip


def domain(name: str, y: np.ndarray, price: np.ndarray) -> np.ndarray:
    """The ends of α; for counts the lower one is that which no optimum reaches."""
    if name == "poisson":
        return np.stack([np.full(len(y), -4 * np.sum(price * (1 + y**1.5))), price * y])
    return np.outer(DOMAINS[name], price)


def named(side) -> str:
    """For the ids of tests."""
    return side.name if isinstance(side, Loss) else str(side)


def targets(loss: Loss, n: int, rng: np.random.Generator) -> np.ndarray:
    if loss.targets == COUNTS:
        return rng.poisson(2.0, n).astype(float)
    if loss.targets == REAL:
        return rng.normal(size=n)
    return np.where(rng.permutation(n) < max(1, 2 * n // 5), 1.0, -1.0) if loss.targets == LABELS else np.ones(n)


def prices(loss: Loss, n: int, rng: np.random.Generator) -> np.ndarray:
    """Unequal ones; those of a free margin leave room for 1'α = 1."""
    return rng.uniform(1.0, 1.2, n) / (0.3 * n) if loss.free_margin else rng.uniform(0.5, 1.5, n)


def task(loss: Loss, bias: bool, seed: int = 0, n: int = 14, **own) -> Task:
    rng = np.random.default_rng(seed)
    factors = rng.normal(size=(3, n, 4))
    return Task(factors @ factors.transpose(0, 2, 1), targets(loss, n, rng), prices(loss, n, rng), loss, bias, own)
