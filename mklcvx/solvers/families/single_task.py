"""Single tasks: solved in centred coordinates, reported in those of the kernels."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np

from ...certificate import CertifiedPoint
from ...certificate.regularisers import regulariser_of
from ...certificate.run import Run
from ...certificate.single import Proved
from ...certificate.solution import Solution
from ...formulations import LowerBound, RankOneCoefficients, SingleTask, Task, UpperBound
from ...formulations._formulation import Own
from ..one_kernel import with_one_kernel
from ..polish import balanced, refined, sharpened
from .family import AIM, FamilyAssembler, Fields, Found

Single = Found[SingleTask, Task, CertifiedPoint[LowerBound, UpperBound]]
MEETING = 1e-9  # the hulls meet if q of α∘y is below this share of q of the two classes' parts
# K_m(α∘y) counts as zero below this share of the largest value that its trace allows.
UNSEEN = 1e-7


class SingleTaskAssembler(FamilyAssembler[Task, Single, Proved]):
    def working(self, task: Task) -> tuple[Task, float]:
        centred = task.centred()
        return centred, 1.0 if centred is task else AIM

    def quickly(
        self, formulation: SingleTask, task: Task, tolerance: float, **given: Own
    ) -> tuple[CertifiedPoint, Run] | None:
        return with_one_kernel(formulation, task, tolerance, **given)

    def attempts(self, result: Single) -> Iterator[Mapping[str, object]]:
        """α and weights: sharpened, as they were found, and in two parts; then the α of the functions found, and these
        functions by themselves."""
        formulation = result.formulation
        stored, task, lower, upper = result.task, result.working, result.point.lower, result.point.upper
        functions = upper.coefficients
        largest = np.sqrt(np.maximum(task.traces, 0.0)) * np.linalg.norm(lower.alpha)
        roots = np.where(lower.roots > UNSEEN * largest, lower.roots, 0.0)
        best = formulation.weights(upper.norms, roots, **task.own)
        weights = functions.weights if isinstance(functions, RankOneCoefficients) else best
        side = regulariser_of(formulation.name, task.count, task.own)
        best, weights = (best, weights) if side is None else (side.feasible(best), side.feasible(weights))
        if np.isfinite(weights).all():
            if result.polish:
                yield {"alpha": task.feasible(sharpened(task, weights, lower.alpha, upper)), "mu": weights}
            yield {"alpha": lower.alpha, "mu": weights}
            if result.refine and formulation.between is None:
                alpha, low = refined(stored, task, weights, lower.alpha)
                yield {"alpha": alpha, "mu": weights, "low": low}
        apart = not isinstance(functions, RankOneCoefficients) or not np.array_equal(
            functions.signed, lower.alpha * task.signs
        )
        if isinstance(functions, RankOneCoefficients) and apart and np.isfinite(weights).all():
            yield {"alpha": task.feasible(functions.signed * task.signs), "mu": weights}
        if apart or not np.array_equal(best, weights):  # functions are priced with the weights that fit them best
            coefficients = np.asarray(functions)
            if task is not stored:  # with Σ_i c_mi = 0 they make the same functions of both, up to a constant
                coefficients = np.stack([balanced(row, stored.reference) for row in coefficients])
            yield {"alpha": lower.alpha, "mu": best, "coefficients": coefficients}
        nothing = np.zeros(task.count) if side is None else side.feasible(np.zeros(task.count))
        yield {"alpha": np.zeros(task.samples), "mu": nothing}  # f = 0, or nearly, which is always available

    def fields(self, result: Single, proved: Proved) -> tuple[Fields, str]:
        """Weights and α describe the classifier if that certifies; otherwise the coefficients are kept."""
        formulation = result.formulation
        multipliers = dict(formulation.multipliers(proved.norms, proved.roots, **result.task.own))
        own = {"tau": proved.tau, result.task.loss_function.level_name: proved.level}
        multipliers |= {name: value for name, value in own.items() if value is not None}
        same = {name: getattr(proved, name) for name in ("weights", "alpha", "bias_interval", "coefficients", "norms")}
        bias, bias_low = proved.bias
        fields = {"alpha_low": proved.low, "bias": bias, "bias_low": bias_low, "multipliers": multipliers}
        return {**same, **fields, "y": result.task.signs}, ""

    def why_not(self, task: Task, solution: Solution) -> str:
        """The message of the ν-form where the classes' reduced hulls meet: f = 0 is optimal, and its value is 0."""
        if not task.loss_function.free_margin or solution.alpha is None:
            return ""
        centred = task.centred()
        apart = np.sum([centred.quad_forms(np.where(task.y == side, solution.alpha, 0.0)) for side in (1, -1)], axis=0)
        together = centred.quad_forms(solution.alpha * task.signs)
        if float(together.max()) > MEETING * float(apart.max()):
            return ""
        return (
            f"not certified: the classes' hulls meet, or nearly: the optimum is within {solution.certificate.size:.1e} "
            "of 0, the value of f = 0; a smaller nu keeps the hulls apart"
        )
