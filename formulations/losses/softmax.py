"""softmax — the multinomial logistic loss: the negative log-likelihood of classes, with probabilities ∝ e^{z_j}.

    ℓ(y, z) = log Σ_j e^{z_j} − z_y          g(α) = −c Σ_j u_j log u_j,   α ≥ 0,  α_y = Σ_{j≠y} α_j ≤ c

with u_y = 1 − α_y/c and u_j = α_j/c, c_i = C times the weight of sample i, β_y = α_y and β_j = −α_j for the other
classes; 0 log 0 = 0; with a bias Σ_i β_ij = 0.

From one to the other. β = c([j = y] − e^{z_j}/Σ_l e^{z_l}) makes cℓ(z) + β'z least: u are the probabilities, β_j =
c([j = y] − u_j) sums to zero, and the value there is c times the entropy of u.

    gradient       u_j = e^{z_j}/Σ_l e^{z_l}, unique and positive
    bounds         reached by no finite z: every sample is a support vector
    curvature      of g in β, among β that sum to zero: at least 2/c (Pinsker), without bound where a u_j vanishes
    Fenchel–Young  c times the divergence of Kullback and Leibler of u from the probabilities
    least bias     unique up to a constant, so that Σ_j b_j = 0

Targets: classes, two or more.
Parameters: C > 0, default 1.
Degenerate cases: a constant added to all outputs of a sample changes nothing. f = 0 costs c log k for every sample. For
two classes f_1 − f_2 takes the place of f, and ‖f_m‖² that of 2(‖f_m^1‖² + ‖f_m^2‖²): where U is of degree two, the
value is half of that of `logistic` at 2C.

Reference: Cox 1966, McFadden 1974; its dual with kernels, Keerthi et al. 2005.
"""

from __future__ import annotations

import math

import numpy as np

from ...problem.stack import Array
from .._cvxpy import cp
from ._exact import divergence
from ._joint import Contrasting

STEPS = 100  # of Newton's method for the biases
COOLING = 2.0  # of the temperature, at a time
RIDGE, LEAST = 1e-14, 1e-100  # what is added to the hessian, relative to its trace; a trace that counts as none
EPS = float(np.finfo(float).eps)


class Softmax(Contrasting):
    name = kind = "softmax"
    log_odds = True

    def declare_risk(self, outputs: cp.Expression, y: Array, price: Array) -> tuple[cp.Expression, cp.Constraint]:
        own, z = (y.T > 0).astype(float), cp.Variable(outputs.shape)
        return price @ (cp.log_sum_exp(z, axis=1) - cp.sum(cp.multiply(own, z), axis=1)), z == outputs

    def declare_gain(self, beta: cp.Variable, y: Array, price: Array) -> tuple[cp.Expression, list[cp.Constraint]]:
        chances = (y.T > 0).astype(float) - cp.multiply(np.tile(1 / price, (len(y), 1)).T, beta)
        return price @ cp.sum(cp.entr(chances), axis=1), [cp.sum(beta, axis=1) == 0]

    def value(self, outputs: Array, y: Array, price: Array) -> Array:
        ahead = outputs - np.where(y > 0, outputs, 0.0).sum(axis=0)
        largest = np.argmax(ahead, axis=0)[None]
        top = np.take_along_axis(ahead, largest, axis=0)
        others = np.exp(ahead - top)
        np.put_along_axis(others, largest, 0.0, axis=0)
        return np.asarray(price * (top[0] + np.log1p(others.sum(axis=0))))

    def gain(self, alpha: Array, y: Array, price: Array) -> float:
        parts = self.parts(alpha, y, price)
        terms = np.multiply(parts, log_shares(parts, price), out=np.zeros_like(parts), where=parts > 0)
        return -math.fsum(terms.ravel())

    def parts(self, alpha: Array, y: Array, price: Array) -> Array:
        """c u: α for the other classes, c − α for a sample's own."""
        return np.where(y > 0, price - alpha, alpha)

    def fenchel_young(self, alpha: Array, outputs: Array, y: Array, price: Array) -> Array:
        parts = self.parts(alpha, y, price)
        return np.asarray(price * divergences(parts, price, outputs).sum(axis=0))

    def least_biases(self, outputs: Array, y: Array, price: Array) -> Array:
        """Large outputs make the risk nearly piecewise linear: T log Σ e^{z/T} is smoother, and T falls to 1."""
        bias, share, temperature = np.zeros(len(y)), price / price.sum(), float(np.abs(outputs).max())
        while temperature > 1:
            bias = temperature * self._newton(outputs / temperature, y, share, bias / temperature)
            temperature /= COOLING
        bias = self._newton(outputs, y, share, bias)
        return np.asarray(bias - bias.mean())

    def _newton(self, outputs: Array, y: Array, price: Array, bias: Array) -> Array:
        """Newton's method from here, with steps that are halved until the risk falls. A constant changes nothing: the
        hessian has that direction added."""
        members, constant = (y > 0).astype(float), np.full((len(y), len(y)), 1 / len(y))
        now = self.value(outputs + bias[:, None], y, price).sum()
        for _ in range(STEPS):
            p = chances(outputs + bias[:, None])
            slope = (p - members) @ price
            hessian = np.diag(p @ price) - (p * price) @ p.T
            size = max(float(np.trace(hessian)), LEAST)
            # Where the risk is nearly linear, the slope's own size keeps the step short.
            ridge = size * RIDGE + np.abs(slope).max()
            step = -np.linalg.solve(hessian + size * constant + ridge * np.eye(len(y)), slope)
            step /= max(1.0, float(np.abs(step).max()))
            after = self.value(outputs + (bias + step)[:, None], y, price).sum()
            while after > now and np.abs(step).max() > EPS:
                step /= 2
                after = self.value(outputs + (bias + step)[:, None], y, price).sum()
            if after >= now:
                break
            bias, now = bias + step, after
        return bias


def chances(outputs: Array) -> Array:
    """e^{z_j}/Σ_l e^{z_l}."""
    ratios = np.exp(outputs - outputs.max(axis=0))
    return np.asarray(ratios / ratios.sum(axis=0))


def log_shares(parts: Array, price: Array) -> Array:
    """log(part/c), accurate where the part is nearly c, too; −∞ where there is no part."""
    with np.errstate(divide="ignore"):
        return np.where(parts < price / 2, np.log(parts / price), np.log1p(-(price - parts) / price))


def divergences(parts: Array, price: Array, outputs: Array) -> Array:
    """u log(u/p) − u + p ≥ 0 for every output, u = parts/c and p the probabilities of the outputs; they sum to the
    divergence."""
    u, p = parts / price, chances(outputs)
    apart = u - p
    top = outputs.max(axis=0)
    log_p = outputs - top - np.log(np.exp(outputs - top).sum(axis=0))
    with np.errstate(divide="ignore", invalid="ignore"):
        direct = np.where(u > 0, u * (np.log(u) - log_p), 0.0) - apart
    return divergence(apart, p, direct)


SOFTMAX = Softmax()
