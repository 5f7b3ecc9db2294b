"""Many labels: weights and α describe the classifiers if that certifies; otherwise the coefficients are kept."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np

from ...certificate import CertifiedPoint
from ...certificate.labels import ProvedLabels
from ...certificate.regularisers import SimplexBounds
from ...formulations.families.multi_label import ClassLowerBound, ClassUpperBound, LabelTask, MultiLabel
from ..second_stage import machine
from .family import FamilyAssembler, Fields, Found

Classes = Found[MultiLabel, LabelTask, CertifiedPoint[ClassLowerBound, ClassUpperBound]]


class MultiLabelAssembler(FamilyAssembler[LabelTask, Classes, ProvedLabels]):
    def attempts(self, result: Classes) -> Iterator[Mapping[str, object]]:
        """α = β/γ as it was found; every class's classifier at the weights found; the functions found."""
        task, polish = result.task, result.polish
        (beta, gamma), (functions, weights) = result.point.lower.point, result.point.upper.point
        counted = np.broadcast_to(gamma[:, None] > 0, beta.shape)
        alpha = np.divide(beta, gamma[:, None], out=np.zeros_like(beta), where=counted)
        if counted.all() or not polish:
            yield {"alpha": alpha, "mu": weights, "gamma": gamma}
        if polish:
            kernel = task.combined(SimplexBounds(task.count).feasible(weights))
            solved = np.stack([machine(kernel, signs, task.box, bias=False)[1] for signs in task.signs])
            yield {"alpha": solved, "mu": weights, "gamma": gamma}
            alpha = np.where(counted, alpha, solved)
        yield {"alpha": alpha, "mu": weights, "gamma": gamma, "coefficients": functions}

    def fields(self, result: Classes, proved: ProvedLabels) -> tuple[Fields, str]:
        same = {name: getattr(proved, name) for name in ("weights", "alpha", "coefficients", "norms")}
        multipliers = {"gamma": proved.gamma, "class_values": proved.class_values}
        bias = np.zeros(result.task.classes)
        return {**same, "y": result.task.signs, "bias": bias, "multipliers": multipliers}, ""
