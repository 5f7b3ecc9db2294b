"""`prove`: an interval that contains the optimal value, as a proof and not as an estimate.

A solver's point is made exactly feasible and both bounds are evaluated there in ball arithmetic (Arb, in
python-flint), kernels and parameters being the dyadic numbers that their doubles are. Then

    lower ≤ lower end of the lower bound's ball ≤ optimum ≤ upper end of the upper bound's ball ≤ upper

with lower and upper doubles, rounded outward. The solver is not trusted: a bad point makes a wide interval, never a
wrong one. Kernels that cannot be proved positive semidefinite are perturbed, and the interval then holds for
every positive semidefinite kernel within the stated distance (see `semidefinite`).
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import flint
from flint import arb

from .. import formulations
from ..certificate import Certificate
from ..errors import InputError
from ..formulations import SingleTask
from ..formulations._hypergraph import Hypergraph
from ..formulations._multi_label import MultiLabel
from ..formulations._stack import KernelStack
from ..formulations._two_stage import TwoStage
from ..formulations.alignment import Alignment
from ..instance import Instance
from ..solution import Solution
from . import hypergraphs, labels, pairs, single
from .balls import PRECISION, rounded_down, rounded_up
from .semidefinite import PERTURBED, KernelBalls, Settled

SCHEMA = "mklcvx.proof/1"
WIDTH = 1e-8
DIGITS = 25


@dataclass(frozen=True)
class Proof:
    """lower ≤ optimum ≤ upper. The balls are those of the two bounds; `settled` says how each kernel was proved
    positive semidefinite, and what perturbation that cost."""

    formulation: str
    parameters: dict[str, Any]
    lower_ball: arb
    upper_ball: arb
    scale: float
    settled: tuple[Settled, ...]
    names: tuple[str, ...]
    solution: Solution
    seconds: float

    @property
    def lower(self) -> float:
        return rounded_down(self.lower_ball)

    @property
    def upper(self) -> float:
        return rounded_up(self.upper_ball)

    @property
    def relative_width(self) -> float:
        width = Certificate(self.lower, self.upper, self.scale).relative_gap
        return width if math.isfinite(width) else math.inf

    @property
    def sharp(self) -> bool:
        return self.relative_width <= WIDTH

    @property
    def perturbations(self) -> dict[str, float]:
        """δ of the kernels that are semidefinite up to rounding only."""
        pairs = zip(self.names, self.settled, strict=True)
        return {name: known.delta for name, known in pairs if known.method == PERTURBED}

    @property
    def why_wide(self) -> str:
        """Why the interval is wider than WIDTH, in a line; empty where it is not."""
        if self.sharp:
            return ""
        gap = self.solution.certificate.relative_gap
        if self.perturbations and gap < self.relative_width / 2:
            worst = max(self.perturbations.values())
            return f"{len(self.perturbations)} kernels are semidefinite up to a perturbation of {worst:.1e} only"
        return f"the best point that {self.solution.solver} found has a relative gap of {gap:.1e} in double precision"

    def as_dict(self) -> dict[str, Any]:
        methods = dict.fromkeys(known.method for known in self.settled)
        return {
            "schema": SCHEMA,
            "formulation": self.formulation,
            "parameters": dict(self.parameters),
            "lower": repr(self.lower),
            "upper": repr(self.upper),
            "relative_width": self.relative_width if math.isfinite(self.relative_width) else None,
            "scale": self.scale,
            "lower_ball": shown(self.lower_ball),
            "upper_ball": shown(self.upper_ball),
            "precision": PRECISION,
            "semidefinite": {method: sum(k.method == method for k in self.settled) for method in methods},
            "perturbations": self.perturbations,
            "solver": self.solution.solver,
            "why_wide": self.why_wide or None,
            "seconds": round(self.seconds, 3),
        }


def shown(ball: arb) -> dict[str, str]:
    """Midpoint and radius in decimals: a rounded midpoint, with a radius that covers the rounding."""
    with flint.ctx.workprec(PRECISION):
        text = ball.str(DIGITS, more=True)
    middle, _, radius = text.strip("[]").partition(" +/- ")
    return {"midpoint": middle, "radius": radius or "0"}


def prove(
    instance: Instance,
    formulation: str,
    *,
    time_limit: float | None = None,
    report: Callable[[str], None] = lambda _: None,
    **parameters: Any,
) -> Proof:
    """Solve, and enclose the optimal value rigorously around the solution found."""
    from ..solving import solve

    started = time.perf_counter()
    bounds_of(formulations.get(formulation))  # refuses before anything costs time
    tolerance = WIDTH / 10 if _structured(formulation) else WIDTH / 2
    solution = solve(instance, formulation, tol=tolerance, time_limit=time_limit, report=report, **parameters)
    report(f"{formulation}: ball arithmetic")
    proof = enclose(instance, solution)
    return replace(proof, seconds=time.perf_counter() - started)


def enclose(instance: Instance, solution: Solution) -> Proof:
    """What a solution proves of its formulation's optimal value, whoever found it and however bad it is."""
    started = time.perf_counter()
    chosen = formulations.get(solution.formulation)
    task, _ = chosen.task(instance, solution.parameters)
    bounds = bounds_of(chosen)
    with flint.ctx.workprec(PRECISION):
        stack = KernelStack(instance.kernels, symmetric=instance.symmetric)
        kernels = KernelBalls(stack, semidefinite=bounds not in (pairs.pair_bounds, pairs.alignment_bounds))
        lower, upper = bounds(chosen, task, kernels, instance, solution)
    return Proof(
        chosen.name, solution.parameters, lower, upper, solution.certificate.scale, tuple(kernels.settled),
        instance.names, solution, time.perf_counter() - started,
    )  # fmt: skip


def _structured(formulation: str) -> bool:
    """Whether `interior` reaches a tenth of the width in a few steps."""
    return isinstance(formulations.get(formulation), SingleTask | Hypergraph)


def bounds_of(formulation: Any) -> Callable[..., tuple[arb, arb]]:
    families: dict[type, Callable[..., tuple[arb, arb]]] = {
        SingleTask: single.bounds,
        MultiLabel: labels.bounds,
        Hypergraph: hypergraphs.bounds,
        TwoStage: pairs.pair_bounds,
        Alignment: pairs.alignment_bounds,
    }
    for family, bounds in families.items():
        if isinstance(formulation, family):
            return bounds
    raise InputError(f"{formulation.name} has no rigorous bounds yet: solve it, and rely on its certificate")
