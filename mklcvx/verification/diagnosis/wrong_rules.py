"""Weights by a rule of thumb: it is followed, and where the answer has done the same, that is said.

What was lost by such a rule is not in the answer: the certified weights stand in for those given, and what was found
with them is left aside.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from ...problem.stack import Array
from ..answers import Answer
from ..case import FITS, Case
from ..families import proved_parts
from .trial import Trial, Trials
from .wrong_weights import SAME, given_weights


def with_ours(case: Case, answer: Answer) -> Answer:
    """The certified weights in place of those given; an objective must then be right, unless it is just what the
    weights given are worth."""
    worth, objective = proved_parts(case, Answer(weights=answer.weights))[0].value, answer.objective
    own = objective is not None and worth is not None and abs(worth - objective) <= FITS * case.known.scale
    return Answer(weights=case.reference.weights, objective=None if own else objective)


def along(one: Array, other: Array) -> bool:
    unit = [vector / (np.linalg.norm(vector) or 1.0) for vector in (one, other)]
    return bool(np.abs(unit[0] - unit[1]).max() <= SAME)


def clipped(case: Case, answer: Answer, words: str, found: Iterable[Array]) -> Trials:
    """A constraint that was imposed afterwards: the weights are among those `found` so."""
    weights = given_weights(case, answer)
    if weights is not None and any(along(weights, one) for one in found):
        said = f"optimal without {words}, and the weights then clipped"
        yield Trial("weights_clipped", said, with_ours(case, answer))


def weights_capped(case: Case, answer: Answer) -> Trials:
    """θ on the weights of `l1`."""
    regulariser = case.formulation.regulariser
    if regulariser is not None and regulariser.cap is not None and given_weights(case, answer) is not None:
        yield from clipped(case, answer, "the box weights ≤ θ", _cut_at(case, case.parameters["theta"]))


def _cut_at(case: Case, cap: float) -> list[Array]:
    """Weights of `l1` clipped once, and again and again while they are brought back to sum one."""
    from ...solvers.solving import solve

    given = {key: value for key, value in case.parameters.items() if key != "theta"}
    once = np.minimum(solve(case.instance, "l1", **given).weights, cap)
    again = once
    for _ in range(100):
        again = np.minimum(again / again.sum(), cap)
    return [once, again]
