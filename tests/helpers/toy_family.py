"""nearest — a toy, and a family of its own: the weights on the simplex that are nearest to the kernels' alignments.

    primal   min over μ ∈ Δ      ½ ‖μ‖² − a'μ,        a_m = y'K_m y / (n tr K_m)
    dual     max over t          −½ ‖(a − t)₊‖² − t

From one to the other. t is the multiplier of Σ μ = 1. Minimising over μ ≥ 0 for a given t leaves −½ ‖(a − t)₊‖².

    recovery      μ = (a − t)₊
    multipliers   weights = μ; t

Parameters: none.
Degenerate cases: equal kernels get equal weights.

Reference: made up.
"""

from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar, NamedTuple

import cvxpy as cp
import numpy as np

from mklcvx import formulations
from mklcvx.certificate import Certificate
from mklcvx.certificate.families import CERTIFIED
from mklcvx.certificate.record import ProvedPoint
from mklcvx.formulations import Formulation, Points
from mklcvx.verification.case import AnswerPart
from mklcvx.verification.domain import on_simplex
from mklcvx.verification.families import FAMILIES
from mklcvx.verification.families.family import FamilyJudge

FAMILY = "toys"


# ------------------------------------------------------------------------- the formulation, in formulations/
class Bound(NamedTuple):
    value: float
    point: object
    largest_term: float


@dataclass(frozen=True)
class ToyTask:
    a: np.ndarray
    samples: int

    @property
    def count(self):
        return len(self.a)

    def typical_kernel_size(self):
        return 1.0


@dataclass(frozen=True)
class Program:
    problem: cp.Problem
    unknown: cp.Variable


class Toy(Formulation):
    family: ClassVar[str] = FAMILY
    notation: ClassVar[str] = ""
    classifies: ClassVar[bool] = False

    def task(self, instance, given):
        self.check_names(given)
        y = instance.targets.plus_minus(self.name)
        kernels = np.asarray(instance.kernels, dtype=float)
        return ToyTask(np.array([y @ k @ y / (len(y) * np.trace(k)) for k in kernels]), len(y)), {}

    def declare_primal(self, task):
        mu = cp.Variable(task.count, nonneg=True)
        return Program(cp.Problem(cp.Minimize(cp.sum_squares(mu) / 2 - task.a @ mu), [cp.sum(mu) == 1]), mu)

    def declare_dual(self, task):
        t = cp.Variable()
        return Program(cp.Problem(cp.Maximize(-cp.sum_squares(cp.pos(task.a - t)) / 2 - t)), t)

    def lower(self, task, point):
        pulled = np.maximum(task.a - point, 0.0)
        return Bound(float(-pulled @ pulled / 2 - point), float(point), abs(float(point)))

    def upper(self, task, point):
        mu = np.maximum(point, 0.0) / np.maximum(point, 0.0).sum()
        return Bound(float(mu @ mu / 2 - task.a @ mu), mu, 1.0)

    def trivial_points(self, task):
        return Points([0.0], [np.ones(task.count)])

    def from_primal(self, program, task, unit):
        mu = np.ravel(program.unknown.value)
        return Points([float(np.max(task.a - mu))], [mu])

    def from_dual(self, program, task, unit):
        t = float(program.unknown.value)
        return Points([t], [np.maximum(task.a - t, 0.0)])


NEAREST = Toy("nearest", "the weights nearest to the kernels' alignments", "nobody", __doc__, ())


# --------------------------------------------------------- the certificate's adapter, in mklcvx/certificate/
@dataclass(frozen=True)
class Proved(ProvedPoint):
    weights: np.ndarray
    multipliers: dict


def certified(formulation, task, tolerance, dual, primal):
    """Both bounds in exact fractions, rounded outward; t is the best for the support of μ."""
    a = [Fraction(float(value)) for value in task.a]
    mu = [Fraction(max(float(value), 0.0)) for value in primal]
    mu = [weight / sum(mu) for weight in mu]
    upper = sum(m * m / 2 - value * m for m, value in zip(mu, a, strict=True))

    def below(t):
        return -sum(max(value - t, Fraction(0)) ** 2 for value in a) / 2 - t

    largest = sorted(a, reverse=True)
    best = [(sum(largest[:k]) - 1) / k for k in range(1, len(a) + 1)]
    t = max([Fraction(float(dual)), *best], key=below)
    ends = np.nextafter(float(below(t)), -np.inf), np.nextafter(float(upper), np.inf)
    found = Certificate(float(ends[0]), float(ends[1]), scale=1.0)
    return Proved(found, np.array([float(m) for m in mu]), {"t": float(t)})


# ------------------------------------------------------------- the judge's adapter, in mklcvx/verification/families/
class Toys(FamilyJudge):
    def parts(self, case, answer, rigorous):
        if answer.weights is None:
            return []
        violations, feasible = on_simplex("weights", np.ravel(answer.weights))
        return [AnswerPart("weights", tuple(violations), "upper", case.formulation.upper(case.task, feasible).value)]


def add(monkeypatch, judged=True):
    """One row in every table that the toy wants; in the package they would be written there."""
    monkeypatch.setattr(formulations, "FORMULATIONS", (*formulations.FORMULATIONS, NEAREST))
    monkeypatch.setitem(formulations._BY_NAME, NEAREST.name, NEAREST)
    monkeypatch.setitem(CERTIFIED, FAMILY, certified)
    if judged:
        monkeypatch.setitem(FAMILIES, FAMILY, Toys())
