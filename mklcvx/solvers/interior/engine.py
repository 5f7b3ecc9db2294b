"""interior — our structured interior-point methods: exact optima at the price of a few SVM fits.

One idea for every family: what couples all unknowns is small. Samples (or pairs, or label columns) are eliminated by a
factorisation that costs no more than one kernel deserves, and a dense system as small as the number of kernels is left.
Mehrotra's predictor and corrector (`loop`, with the constants of `settings`), a start that meets the equations, and an
end that only the certificate decides. `single_task`, `joint`, `multi_label` and `two_stage` have the derivations. Where
LIBSVM solves the machine inside a single task, `weights_newton` comes first.
"""

from __future__ import annotations

from ...formulations import Points
from ...formulations.families.joint import JointOutputs
from ..driver import Algorithm, Problem, State
from .joint import InteriorHypergraph, InteriorJoint
from .loop import InteriorMethod
from .multi_label import InteriorLabels
from .single_task import InteriorSingle
from .two_stage import InteriorPairs
from .weights_newton import NewtonFirst

KINDS: tuple[type[Algorithm], ...] = (InteriorSingle, InteriorLabels, InteriorPairs, InteriorHypergraph)
USED: tuple[type[Algorithm], ...] = (*KINDS, NewtonFirst)  # the last that serves a formulation
BY_NAME: dict[str, Algorithm] = {name: kind() for kind in USED for name in kind.serves}
BY_FAMILY: dict[str, Algorithm] = {JointOutputs.family: InteriorJoint()}  # forms of formulations under their own names


def method_of(problem: Problem) -> Algorithm:
    return BY_FAMILY.get(problem.formulation.family) or BY_NAME[problem.formulation.name]


class InteriorPoint(Algorithm):
    """Every formulation by the method of its family."""

    name = InteriorMethod.name
    summary = InteriorMethod.summary
    reference = InteriorMethod.reference
    serves = tuple(BY_NAME)
    losses = None
    joint = True
    tolerance = InteriorMethod.tolerance
    max_iter = 100

    def start(self, problem: Problem) -> State:
        return method_of(problem).start(problem)

    def step(self, problem: Problem, state: State) -> State:
        return method_of(problem).step(problem, state)

    def points(self, problem: Problem, state: State) -> Points:
        return method_of(problem).points(problem, state)
