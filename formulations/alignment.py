"""alignment — target alignment: the combination of kernels whose Gram matrix points most in the target's direction.

    primal   max over μ ≥ 0      ⟨K(μ), T⟩ / ‖K(μ)‖_F,        K(μ) = Σ_m μ_m K_m,   T_ij = t_ij
    dual     min over W          ‖W‖_F,                       ⟨K_m, W⟩ ≥ ⟨K_m, T⟩ for every m

From one to the other. For μ ≥ 0, ⟨K(μ), T⟩ ≤ ⟨K(μ), W⟩ ≤ ‖K(μ)‖ ‖W‖. Both are solved by one quadratic program,

    min over v ≥ 0   v'Gv − 2 a'v,      G_ml = ⟨K_m, K_l⟩,   a_m = ⟨K_m, T⟩      (value −alignment²),

with μ = v/‖v‖₂ and W = K(v). Its own dual is max −u'Gu subject to Gu ≥ a.

    recovery      μ = v/‖v‖₂
    multipliers   weights = μ; normalised, the alignment divided by ‖T‖_F = n, in [−1, 1]; witness = u and epsilon = δ
                  of the W = K(u) + δI that bounds it from above

Here the maximum is bounded from below by any μ ≥ 0 and from above by any feasible W; K(u) + δI is made feasible by
the least δ ≥ 0, since ⟨K_m, I⟩ = tr K_m.
Parameters: C, of the second stage's SVM, default 1; approximate (false): the cheaper variant with weights in
proportion to each kernel's own alignment, μ_m ∝ (⟨K_m, T⟩/‖K_m‖_F)₊; the certificate shows its distance from the
optimum.
Degenerate cases: where no kernel aligns positively, every a_m ≤ 0, the program answers μ = 0 and 0: no combination
does. With kernels centred first it is Cortes et al.'s centred alignment. The sums run over all ordered pairs:
with pairs i ≤ j only, as the paper's K-examples have it, the optimum is another one.

Reference: Cristianini et al. 2001; Cortes et al. 2010; Kumar et al. 2012, Eq. (3).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np

from ..problem.instance import Instance
from ..problem.stack import Array, KernelStack
from ._cvxpy import cp
from ._formulation import Formulation, Given, Parameters, Points, as_flag
from .families import two_stage as _two_stage
from .families.pairs import Pairs
from .families.single_task import C


class AlignmentBound(NamedTuple):
    value: float
    point: Array
    largest_term: float


@dataclass(frozen=True)
class AlignmentTask:
    """Inner products of the kernels with each other (G), with the target (a), with the identity (traces)."""

    products: Array
    target: Array
    traces: Array
    samples: int
    approximate: bool = False

    @property
    def count(self) -> int:
        return len(self.target)

    @property
    def own_alignment(self) -> Array:
        """(⟨K_m, T⟩/‖K_m‖_F)₊, kernel by kernel."""
        norms = np.sqrt(np.diag(self.products))
        return np.maximum(self.target, 0.0) / np.where(norms > 0, norms, 1.0)

    @property
    def factor(self) -> Array:
        """R with R'R = G."""
        values, vectors = np.linalg.eigh(self.products)
        return np.sqrt(np.maximum(values, 0.0))[:, None] * vectors.T

    def typical_kernel_size(self) -> float:
        return 1.0


def alignment_task(pairs: Pairs, together: Array, approximate: bool) -> AlignmentTask:
    """Inner products over all ordered pairs: a pair i < j counts twice, a pair (i, i) once."""
    times = np.full(pairs.count, 2.0)
    times[pairs.diagonal] = 1.0
    target = pairs.pull(times * pairs.triangle(together))
    traces = pairs.at(pairs.diagonal).sum(axis=0)
    return AlignmentTask(pairs.gram(times), target, traces, len(together), approximate)


class AlignmentProgram(NamedTuple):
    problem: cp.Problem
    v: cp.Variable


class Alignment(
    Formulation[AlignmentTask, Array, Array, AlignmentBound, AlignmentBound, AlignmentProgram, AlignmentProgram]
):
    family: ClassVar[str] = "two stages"
    notation: ClassVar[str] = _two_stage.__doc__ or ""
    maximises: ClassVar[bool] = True

    @property
    def described_parameters(self) -> list[tuple[str, str]]:
        approximate = "weights by each kernel's own alignment; true or false; default false"
        return [("C", "of the second stage's SVM; C > 0; default 1"), ("approximate", approximate)]

    def task(self, instance: Instance, given: Given) -> tuple[AlignmentTask, Parameters]:
        self.check_names(given)
        price = C.resolve(given.get("C"), self.name, instance.count)
        approximate = as_flag("approximate", given.get("approximate"), default=False)
        instance.targets.signs(self.name, constant_allowed=False)  # what the second stage will need
        stack = KernelStack(instance.kernels, symmetric=instance.symmetric)
        task = alignment_task(Pairs(stack), instance.targets.together(), approximate)
        return task, {"C": price, "approximate": approximate}

    def declare_primal(self, task: AlignmentTask) -> AlignmentProgram:
        v = cp.Variable(task.count, nonneg=True)
        objective = cp.sum_squares(task.factor @ v) - 2 * task.target @ v
        return AlignmentProgram(cp.Problem(cp.Minimize(objective)), v)

    def declare_dual(self, task: AlignmentTask) -> AlignmentProgram:
        u = cp.Variable(task.count)
        problem = cp.Problem(cp.Maximize(-cp.sum_squares(task.factor @ u)), [task.products @ u >= task.target])
        return AlignmentProgram(problem, u)

    def stated(self, value: float) -> float:
        return math.sqrt(max(-value, 0.0))

    def lower(self, task: AlignmentTask, point: Array) -> AlignmentBound:
        """The alignment of K(μ), μ made non-negative."""
        mu = np.maximum(point, 0.0)
        size = math.sqrt(max(float(mu @ task.products @ mu), 0.0))
        value = float(task.target @ mu) / size if size > 0 else 0.0
        return AlignmentBound(value, mu, abs(value))

    def upper(self, task: AlignmentTask, point: Array) -> AlignmentBound:
        """‖K(u) + δI‖_F with the least δ that makes it feasible."""
        missing = np.maximum(task.target - task.products @ point, 0.0)
        traced = task.traces > 0
        delta = float(np.max(missing[traced] / task.traces[traced], initial=0.0))
        square = point @ task.products @ point + 2 * delta * (task.traces @ point) + delta**2 * task.samples
        value = math.sqrt(max(float(square), 0.0))
        return AlignmentBound(value, point, value)

    def trivial_points(self, task: AlignmentTask) -> Points[Array, Array]:
        return Points([task.own_alignment], [np.zeros(task.count)])

    def from_primal(self, program: AlignmentProgram, task: AlignmentTask, unit: float) -> Points[Array, Array]:
        v = np.ravel(program.v.value)
        return Points([] if task.approximate else [v], [v])

    def from_dual(self, program: AlignmentProgram, task: AlignmentTask, unit: float) -> Points[Array, Array]:
        return self.from_primal(program, task, unit)


ALIGNMENT = Alignment(
    "alignment", "two stages: alignment with the target", "Cristianini et al. 2001; Cortes et al. 2010", __doc__, ()
)

if __name__ == "__main__":
    ALIGNMENT.demonstrate()
