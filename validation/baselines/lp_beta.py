"""lp_beta — LP-β: SVMs of single kernels, mixed by a linear program over their outputs on held-out samples.

First the SVMs f_m of every kernel (one per class against the rest) are trained by folds and evaluated on the held-out
samples. Their margins are G_ium = V_iu'f_m(x_i): f_{m,y_i} − f_{m,u} for every other class u, or y_i f_m for labels y.
Then

    primal   min over μ ∈ Δ, ρ, ξ ≥ 0     −ρ + Σ_i C_i ξ_i,          Σ_m μ_m G_ium ≥ ρ − ξ_i for every i, u
    dual     max over u ≥ 0, τ            −τ,                        Σ_iu u_iu G_ium ≤ τ for every m,
                                                                     Σ_u u_iu ≤ C_i,  Σ_iu u_iu = 1

with C_i = (weight of sample i)/(ν Σ weights), Δ the simplex. Last, the SVMs are trained on all samples, and the
decision function is Σ_m μ_m f_m.

From one to the other. Stationarity in ρ gives Σ u = 1, in ξ_i the cap C_i; what is linear in μ is least over the
simplex at the kernel with the largest Σ u G.

    recovery      f = Σ_m μ_m f_m
    multipliers   weights = μ, the multipliers of Σ u G_m ≤ τ; u (n, r), the hard samples and their rivals; rho;
                  margins (n, r, M), the data of the program

Parameters: C > 0 of the SVMs; 0 < ν ≤ 1, default ½, bounds the share of samples with margin below ρ; folds.
Degenerate cases: with one kernel μ = 1, and the value is minus the mean of the worst margins min over u of G_iu, over
the share ν of samples where they are least. With ν = 1 that is the mean over all samples: for y the kernel with the
largest mean margin takes all. Outputs are compared as they are: a kernel whose outputs are doubled is another kernel.

Reference: Gehler & Nowozin 2009, LP-β; Demiriz et al. 2002 (LPBoost).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np

from mklcvx.formulations import Formulation, Points
from mklcvx.formulations.losses._exact import filled, flat_bottom
from mklcvx.problem.targets import Targets

from ._machines import FOLDS, held_out, machines
from ._model import (
    PRICE,
    Array,
    Baseline,
    InputError,
    Instance,
    Parameter,
    Program,
    check_tolerance,
    cp,
    shortfall,
    solve_declared,
)

HIGHS = {"solver": "SCIPY", "scipy_options": {"method": "highs"}}
NU = Parameter("nu", "share of samples below the margin", "0 < ν ≤ 1", lambda v, _: 0 < v <= 1, lambda _: 0.5, "1/2")


@dataclass(frozen=True)
class Mixing:
    """The linear program's data: margins G (n, r, M), and the caps C_i."""

    margins: Array
    box: Array

    @property
    def count(self) -> int:
        return self.margins.shape[2]

    def typical_kernel_size(self) -> float:
        """The program has no kernels, and no units to choose."""
        return 1.0


def contrasts_of(targets: Targets, name: str) -> Array:
    """V, (n, r, k): own class minus every other class; for y, the sign."""
    if targets.kind == "labels":
        raise InputError(f"{name} needs y or classes, the instance has labels: give one class per sample")
    if targets.kind == "y":
        return np.asarray(targets.values, dtype=float)[:, None, None]
    members = targets.indicators(name)
    units = np.eye(members.shape[1])
    rivals = np.stack([np.delete(units, own, axis=0) for own in range(len(units))])
    return np.asarray(members[:, None, :] - rivals[np.argmax(members, axis=1)])


class MixingBound(NamedTuple):
    value: float
    point: Array
    rho: float | None
    largest_term: float


class LPBeta(Formulation):
    family: ClassVar[str] = "outputs"
    notation: ClassVar[str] = ""

    @property
    def described_parameters(self) -> list[tuple[str, str]]:
        return [PRICE.described, *super().described_parameters, ("folds", f"held-out parts; default {FOLDS}")]

    def task(self, instance: Instance, params: Mapping[str, Any]) -> tuple[Mixing, dict[str, Any]]:
        """`params` also has the outputs of the SVMs on held-out samples, (k, M, n)."""
        own = self.resolve_own(instance, params)
        contrasts = contrasts_of(instance.targets, self.name)
        margins = np.einsum("iuk,kmi->ium", contrasts, params["outputs"])
        return Mixing(margins, instance.sample_weight / (own["nu"] * instance.sample_weight.sum())), own

    def declare_primal(self, task: Mixing) -> Program:
        n, rivals, count = task.margins.shape
        mu, rho, slack = cp.Variable(count, nonneg=True), cp.Variable(), cp.Variable(n, nonneg=True)
        ahead = [task.margins[:, u] @ mu >= rho - slack for u in range(rivals)]
        problem = cp.Problem(cp.Minimize(task.box @ slack - rho), [*ahead, cp.sum(mu) == 1])
        return Program(problem, [mu], ahead)

    def declare_dual(self, task: Mixing) -> Program:
        n, rivals, count = task.margins.shape
        u, tau = cp.Variable((n, rivals), nonneg=True), cp.Variable()
        below = [cp.sum(cp.multiply(u, task.margins[:, :, m])) <= tau for m in range(count)]
        problem = cp.Problem(cp.Maximize(-tau), [*below, cp.sum(u, axis=1) <= task.box, cp.sum(u) == 1])
        return Program(problem, [u], below)

    def lower(self, task: Mixing, point: Array) -> MixingBound:
        """−max_m Σ u G_m at u, scaled so that every sample is within its cap and the sum is one."""
        u = np.maximum(np.nan_to_num(point), 0.0)
        totals = u.sum(axis=1)
        u[totals <= 0, 0] = np.finfo(float).tiny  # so that a sample without weight can be scaled up
        wanted = filled(np.minimum(totals, task.box), task.box, 1.0)
        u *= (wanted / u.sum(axis=1))[:, None]
        sums = np.einsum("iu,ium->m", u, task.margins)
        return MixingBound(-float(sums.max()), u, None, float(np.abs(sums).max()))

    def upper(self, task: Mixing, point: Array) -> MixingBound:
        """−ρ + Σ C ξ at μ on the simplex, with the best ρ: the ν-quantile of the worst margins."""
        mu = np.maximum(np.nan_to_num(point), 0.0)
        mu = mu / mu.sum() if mu.any() else np.full(len(mu), 1 / len(mu))
        worst = (task.margins @ mu).min(axis=1)
        rho = flat_bottom(worst, task.box, 1.0)[0]
        loss = float(task.box @ np.maximum(0.0, rho - worst))
        return MixingBound(loss - rho, mu, rho, max(loss, abs(rho)))

    def trivial_points(self, task: Mixing) -> Points:
        n, rivals, count = task.margins.shape
        return Points([np.ones((n, rivals)) / (n * rivals)], [np.full(count, 1 / count)])

    def from_primal(self, program: Program, task: Mixing, unit: float) -> Points:
        u = np.stack([np.ravel(one.dual_value) for one in program.paired], axis=1)
        return Points([np.abs(u)], [program.variables[0].value])

    def from_dual(self, program: Program, task: Mixing, unit: float) -> Points:
        mu = np.array([abs(float(np.ravel(one.dual_value)[0])) for one in program.paired])
        return Points([program.variables[0].value], [mu])


LP_BETA = LPBeta(
    name="lp_beta",
    title="a linear program over the outputs of single kernels' SVMs",
    reference="Gehler & Nowozin 2009",
    theorem=__doc__ or "",
    parameters=(NU,),
)


def lp_beta(
    instance: Instance, C: float = 1.0, nu: float = 0.5, folds: int = FOLDS, seed: int = 0, tol: float = 1e-8
) -> Baseline:
    """Per-kernel SVMs, mixed by the certified optimum of the linear program over their outputs on held-out samples."""
    price = PRICE.resolve(C, "lp_beta", instance.count)
    NU.resolve(nu, "lp_beta", instance.count)
    check_tolerance(tol)
    contrasts_of(instance.targets, "lp_beta")  # refuses labels before any SVM is trained
    outputs = held_out(instance, price, folds, seed, "lp_beta")
    task, own = LP_BETA.task(instance, {"nu": nu, "outputs": outputs})
    point, _ = solve_declared(LP_BETA, task, tol, options=HIGHS, units=(1.0,))
    mu = point.upper.point
    coefficients, biases = machines(instance, price, "lp_beta", used=mu)
    multipliers = {"u": point.lower.point, "rho": point.upper.rho, "margins": task.margins}
    about = ("lp_beta", instance.targets, instance.names, {"C": price, **own, "folds": folds, "seed": seed})
    answer = coefficients * mu[:, None], biases @ mu, mu
    return Baseline(*about, *answer, point.certificate, multipliers, message=shortfall(point, tol))
