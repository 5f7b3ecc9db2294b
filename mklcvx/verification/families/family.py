"""What a judgement asks of a family. As it stands it judges the objective, which every family has, and nothing else."""

from __future__ import annotations

from typing import ClassVar, Generic, NamedTuple

from ...certificate import Certificate, certify
from ...errors import InputError
from ...formulations import Formulation, Points
from ...formulations._formulation import FormulationT, Posed, TaskT
from ...problem.stack import Array
from ..answers import Answer, of_shape
from ..case import AnswerPart, Case
from ..uniqueness import Range


class WeightCut(NamedTuple):
    """What weights are worth at least, by one dual point: J(μ) ≥ R(μ) + gain − μ'v, v = ½q from above."""

    high: Array
    gain: float


class FamilyJudge(Generic[FormulationT, TaskT]):
    """The methods that a family replaces. `slow` says that its optima take long, beyond a few samples; `biased`, that
    the parameter bias may be true; `machines`, that weights are worth what a machine makes of them, which has to be
    solved; `second_stage`, that α belongs to a second stage. `in_points` are the parts that `points` are made of."""

    slow: ClassVar[bool] = False
    biased: ClassVar[bool] = True
    machines: ClassVar[bool] = False
    second_stage: ClassVar[bool] = False
    in_points: ClassVar[tuple[str, ...]] = ()

    def points(self, formulation: FormulationT, task: TaskT, answer: Answer) -> Points:
        """The dual and primal points that an answer stands for."""
        raise InputError(f"verify does not cover {formulation.family}: give the objective alone")

    def certificate(self, formulation: FormulationT, task: TaskT, answer: Answer, tolerance: float) -> Certificate:
        """Of the answer; points known without a solver stand in for a side that it leaves out."""
        offered, known = self.points(formulation, task, answer), formulation.trivial_points(task)
        bounds = Points(offered.duals or known.duals, offered.primals or known.primals)
        return certify(formulation, task, bounds).certificate

    def parts(self, case: Case[FormulationT, TaskT], answer: Answer, rigorous: bool) -> list[AnswerPart]:
        """What the parts of the answer violate, prove and claim, but for the objective."""
        if set(answer.given) - {"objective"}:
            self.points(case.formulation, case.task, answer)
        return []

    def together(self, case: Case[FormulationT, TaskT], answer: Answer) -> dict[str, float]:
        """Distances between the parts, relative to the problem's scale; empty where none are known."""
        return {}

    def ranges(self, case: Case[FormulationT, TaskT], tolerance: float) -> list[Range] | None:
        """Kernels whose weights may differ at this tolerance; none if they are unique; None where it is not known."""
        return None

    def cut(self, case: Case[FormulationT, TaskT], weights: Array, alpha: Array | None) -> WeightCut | None:
        """The cut of an α, by default that of the machine with these weights; None where there are none."""
        return None

    def curvature(self, case: Case[FormulationT, TaskT]) -> Array | None:
        """The least curvature of every sample's gain, from below; None where the family knows of none."""
        return None


def given_weights(formulation: Formulation, task: Posed, answer: Answer) -> Array:
    weights = of_shape("weights", answer.weights, (task.count,))
    if weights is None:
        raise InputError(f"answer: has no weights, which {formulation.name} is about: write them")
    return weights
