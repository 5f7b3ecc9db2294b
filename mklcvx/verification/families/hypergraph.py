"""Hypergraphs: weights μ prove a lower bound, Z an upper one, eigenvalues are claims."""

from __future__ import annotations

import numpy as np

from ...errors import InputError
from ...formulations import Points
from ...formulations.families.hypergraph import Embedding, Hypergraph, HyperTask, solved
from ..answers import Answer, in_shape, of_shape
from ..case import AnswerPart, Case
from ..domain import on_simplex
from ..uniqueness import FINEST, Bowl, Range, in_bowl
from .family import FamilyJudge, given_weights


class HypergraphJudge(FamilyJudge[Hypergraph, HyperTask]):
    in_points = ("weights", "Z")

    def points(self, formulation: Hypergraph, task: HyperTask, answer: Answer) -> Points:
        weights = given_weights(formulation, task, answer)
        if not (weights > 0).any():
            raise InputError("answer: no weight is positive: write weights on the simplex")
        z = of_shape("Z", answer.multipliers.get("Z"), task.h.shape)
        known = [solved(task, weights), *([] if z is None else [z])]
        return Points([Embedding(weights, each) for each in known], known)

    def parts(self, case: Case, answer: Answer, rigorous: bool) -> list[AnswerPart]:
        """For the exact form the sum of the eigenvalues is tr(A) plus the optimal value."""
        task, formulation, parts = case.task, case.formulation, []
        weights = of_shape("weights", answer.weights, (task.count,))
        if weights is not None:
            violations, mu = on_simplex("weights", weights)
            value = formulation.lower(task, Embedding(mu, solved(task, mu))).value
            parts.append(AnswerPart("weights", violations, "lower", value))
        z = of_shape("Z", answer.multipliers.get("Z"), task.h.shape)
        if z is not None:
            parts.append(AnswerPart("Z", (), "upper", formulation.upper(task, z).value))
        if answer.multipliers.get("eigenvalues") is not None and task.smoothing is None:
            values = in_shape("eigenvalues", answer.multipliers["eigenvalues"], (task.h.shape[1],))
            claim = float(values.sum()) - float(np.sum(task.h**2))
            parts.append(AnswerPart("eigenvalues", (), "claim", claim, note="their sum less tr(A)"))
        return parts

    def ranges(self, case: Case, tolerance: float) -> list[Range] | None:
        """The smoothed form is strictly convex."""
        task = case.task
        if task.smoothing is not None:
            return []
        z = case.reference.multipliers["Z"]
        images = np.stack([(kernel @ z).ravel() for kernel in task.each_kernel()]) / (2 * task.lam)
        scores = task.scores(z)
        largest = max(float(np.linalg.norm(np.asarray(kernel, dtype=float), 2)) for kernel in task.each_kernel())
        slack = np.maximum(scores.max() - scores, 0.0)
        budget = max(tolerance, FINEST) * case.known.scale
        bowl = Bowl(case.reference.weights, slack, images @ images.T, 1 + largest / task.lam, budget, True, 1.0)
        return in_bowl(case, bowl)
