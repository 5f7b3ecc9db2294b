"""Problems with a response, and problems without targets, in the numbers of `grid`: the same on every machine.

**Planted functions.** f = (K_1 + ½K_2)c with quarters c: kernels have 24 bits at most, so every sum is exact. The other
kernels know nothing of f.

**Planted optima.** Take a plan of `plans`: kernels, β = α∘y with 1'β = 0, weights μ, f = Σ μ_m K_mβ and a bias b. With
the response f + b + r, where the residuals r satisfy β_i ∈ ∂ℓ(r_i), the pair (β, μ) is optimal for the loss ℓ too. C is
1, |β| is 0, ½ or 1, and β'f = 16: the value is 16 + Σ (r_iβ_i − ℓ*(β_i)) − R*(½q), and R*(½q) is 24 less the value of
the plan.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from ..errors import InputError, nearest
from ..problem.instance import Instance
from ..problem.low_rank import dense
from .constructions import gaussian, pairs
from .grid import Draws, quantised
from .plans import BOUND, PLANS, SIZE, Array, Optimum, Plan, built

NOISE = 2.0**-3
FAR = 64.0
WIDTH, CORNER = 0.25, 1.0  # ε and δ of the planted losses
SUM_OF_ALPHA = 24.0  # of every plan
CONSTANT = 3.0


class Smooth(NamedTuple):
    """Kernels, a function that the first two of them make, the features of the first, and the stream of numbers."""

    kernels: Array
    f: Array
    x: Array
    draws: Draws

    def instance(self, response: Array) -> Instance:
        return Instance(self.kernels, response=response, groups=pairs(len(self.kernels)))


def smooth(n: int, M: int, seed: int, features: int = 2) -> Smooth:
    """M Gaussians on features of their own, and f."""
    draws = Draws(seed)
    views = [draws.bell(n, features) for _ in range(M)]
    kernels = quantised(np.stack([gaussian(view, 0.25) for view in views]))
    f = (2 * kernels[0] + kernels[1]) @ (draws.whole(-4, 4, n) / 8)
    return Smooth(kernels, f, views[0], draws)


# ------------------------------------------------------------------------------------------------------- regression
def noisy(n: int, M: int, seed: int, noise: float = NOISE) -> Instance:
    """The planted function with normal noise of one size, or without noise."""
    known = smooth(n, M, seed)
    return known.instance(known.f + noise * known.draws.bell(n))


def outliers(n: int, M: int, seed: int, every: int = 8) -> Instance:
    """The same, and one response in eight is 64 too high or too low."""
    known = smooth(n, M, seed)
    off = np.where(np.arange(n) % every == 0, FAR * (2 * known.draws.whole(0, 1, n) - 1), 0.0)
    return known.instance(known.f + NOISE * known.draws.bell(n) + off)


def heteroscedastic(n: int, M: int, seed: int) -> Instance:
    """The noise grows with the first feature: the quantiles of the response have different shapes."""
    known = smooth(n, M, seed)
    return known.instance(known.f + np.abs(known.x[:, 0]) * known.draws.bell(n))


def tied(n: int, M: int, seed: int) -> Instance:
    """Responses are whole numbers, few of them, and many samples share one."""
    known = smooth(n, M, seed)
    return known.instance(np.floor(known.f))


def constant(n: int, M: int, seed: int) -> Instance:
    """All responses are the same: f = 0 and the bias say it all."""
    known = smooth(n, M, seed)
    return known.instance(np.full(n, CONSTANT))


def counts(n: int, M: int, seed: int, most: float = 8.0) -> Instance:
    """Whole numbers from 0 up to less than `most`, which grow with f and its noise."""
    known = smooth(n, M, seed)
    noisy = known.f + NOISE * known.draws.bell(n)
    return known.instance(np.floor(most * (noisy - noisy.min()) / 2.0 ** np.ceil(np.log2(np.ptp(noisy)))))


def one_feature(n: int, seed: int) -> Instance:
    """One feature x in kernels xz, (1 + xz)² and two Gaussians; the response is x² − x with noise."""
    draws = Draws(seed)
    x = draws.bell(n, 1, step=0.25)
    linear = x @ x.T
    kernels = quantised(np.stack([linear, (1 + linear) ** 2, gaussian(x, 0.25), gaussian(x, 4.0)]))
    names = ["linear", "quadratic", "gaussian(0.25)", "gaussian(4)"]
    response = x[:, 0] ** 2 - x[:, 0] + NOISE * draws.bell(n)
    return Instance(kernels, response=response, names=names, groups=[0, 0, 1, 1])


def outputs(n: int, M: int, seed: int) -> Instance:
    """Three outputs: the planted function with noise, its negative half, and a constant."""
    known = smooth(n, M, seed)
    first = known.f + NOISE * known.draws.bell(n)
    return known.instance(np.column_stack([first, -known.f / 2, np.full(n, CONSTANT)]))


# ---------------------------------------------------------------------------------------------------- planted optima
class ResidualLoss(NamedTuple):
    """A loss with its parameters: ℓ*(β), and r with β ∈ ∂ℓ(r), where r may exceed its least size by `beyond` at the
    bound, and lie anywhere in `within`·[−1, 1] where β = 0."""

    conjugate: Callable[[Array], Array]
    least: Callable[[Array], Array]
    beyond: bool
    within: float
    parameters: dict[str, float]


LOSSES: dict[str, ResidualLoss] = {
    "squared": ResidualLoss(lambda beta: beta**2 / 2, lambda beta: beta, False, 0.0, {}),
    "huber": ResidualLoss(lambda beta: beta**2 / 2, lambda beta: beta, True, 0.0, {"delta": CORNER}),
    "epsilon_insensitive": ResidualLoss(
        lambda beta: WIDTH * np.abs(beta), lambda beta: WIDTH * np.sign(beta), True, WIDTH, {"epsilon": WIDTH}
    ),
}


def planted_response(loss: str, seed: int, plan: Plan = PLANS[0]) -> tuple[Instance, Optimum]:
    """A problem of regression and its optimum; `alpha` of the optimum is β."""
    if loss not in LOSSES:
        raise InputError(f"no optimum is planted for the loss {loss!r:.40}: {nearest(str(loss)[:40], LOSSES)}")
    known, (labelled, optimum) = LOSSES[loss], built(plan, seed)
    weights, bias = np.asarray(optimum.weights), float(optimum.bias or 0.0)
    beta, draws = np.asarray(optimum.alpha) * labelled.y, Draws(seed + 1)
    f = np.tensordot(weights, dense(labelled.kernels) @ beta, axes=1)
    more, inside = draws.whole(1, 8, len(beta)) / 8, draws.whole(-3, 3, len(beta)) / 4
    outside = np.where((np.abs(beta) == BOUND) & known.beyond, more * np.sign(beta), 0.0)
    residuals = known.least(beta) + outside + np.where(beta == 0, known.within * inside, 0.0)
    gain = float(np.sum(residuals * beta - known.conjugate(beta)))
    value = SIZE + gain - (SUM_OF_ALPHA - plan.value)
    given = {"loss": loss, "C": BOUND, **known.parameters, **plan.parameters}
    instance = Instance(labelled.kernels, response=f + bias + residuals, groups=labelled.groups)
    return instance, Optimum(plan.formulation, given, value, weights, beta, bias)


# --------------------------------------------------------------------------------------------------------- one class
def one_cloud(n: int, M: int, seed: int, far: int = 0) -> Instance:
    """M Gaussians on views of one cloud; the last `far` samples are eight deviations away in every view."""
    draws, away = Draws(seed), np.arange(n) >= n - far
    views = [draws.bell(n, 2) + np.where(away, 8.0, 0.0)[:, None] * [1.0, 0.0] for _ in range(M)]
    return Instance(quantised(np.stack([gaussian(view, 0.25) for view in views])), groups=pairs(M))
