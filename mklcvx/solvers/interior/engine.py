"""interior — our structured interior-point methods: exact optima at the price of a few SVM fits.

One idea for every family: what couples all unknowns is small. Samples (or pairs, or label columns) are eliminated by a
factorisation that costs no more than one kernel deserves, and a dense system as small as the number of kernels is left.
Mehrotra's predictor and corrector (`loop`, with the constants of `settings`), a start that meets the equations, and an
end that only the certificate decides. `single_task`, `multi_label`, `two_stage` and `hypergraph` have the derivations.
"""

from __future__ import annotations

from ...formulations import Points
from ..driver import Algorithm, Problem, State
from .hypergraph import InteriorHypergraph
from .loop import InteriorMethod
from .multi_label import InteriorLabels
from .single_task import InteriorSingle
from .two_stage import InteriorPairs

KINDS: tuple[type[Algorithm], ...] = (InteriorSingle, InteriorLabels, InteriorPairs, InteriorHypergraph)
BY_NAME: dict[str, Algorithm] = {name: kind() for kind in KINDS for name in kind.serves}


class InteriorPoint(Algorithm):
    """Every formulation by the method of its family."""

    name = InteriorMethod.name
    summary = InteriorMethod.summary
    reference = InteriorMethod.reference
    serves = tuple(BY_NAME)
    losses = None
    tolerance = InteriorMethod.tolerance
    max_iter = 100

    def start(self, problem: Problem) -> State:
        return BY_NAME[problem.formulation.name].start(problem)

    def step(self, problem: Problem, state: State) -> State:
        return BY_NAME[problem.formulation.name].step(problem, state)

    def points(self, problem: Problem, state: State) -> Points:
        return BY_NAME[problem.formulation.name].points(problem, state)
