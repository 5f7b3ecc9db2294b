"""Joint outputs: solved in centred coordinates, reported in those of the kernels, by weights and α."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

import numpy as np

from ...certificate import CertifiedPoint
from ...certificate.joint import ProvedOutputs, single_tasks
from ...certificate.regularisers import regulariser_of
from ...formulations import RankOneCoefficients, UpperBound
from ...formulations.families.joint import JointLowerBound, JointOutputs, JointTask, JointUpperBound
from ...problem.stack import Array
from ..polish import sharpened
from .family import AIM, FamilyAssembler, Fields, Found

Outputs = Found[JointOutputs, JointTask, CertifiedPoint[JointLowerBound, JointUpperBound]]


class JointAssembler(FamilyAssembler[JointTask, Outputs, ProvedOutputs]):
    def working(self, task: JointTask) -> tuple[JointTask, float]:
        return task.centred(), AIM

    def attempts(self, result: Outputs) -> Iterator[Mapping[str, object]]:
        """α as it was found, with the weights of the functions, or those that fit them; the α of the functions; α with
        bounds that are met exactly; then f = 0, or nearly."""
        task, lower, upper = result.working, result.point.lower, result.point.upper
        side = regulariser_of(result.formulation.name, task.count, task.own)
        functions = upper.coefficients
        if isinstance(functions, RankOneCoefficients):
            weights, own = side.feasible(functions.weights), functions.signed * task.signs
        else:
            weights, own = result.formulation.single.weights(upper.norms, lower.roots, **task.own), lower.alpha
        square = float((lower.alpha**2).sum())
        longer = float((own * lower.alpha).sum()) / square if square > 0 else 1.0  # where the bound has shortened α
        yield {"alpha": lower.alpha, "mu": side.feasible(weights * longer)}
        if not np.array_equal(own, lower.alpha):
            yield {"alpha": own, "mu": weights}
        yield {"alpha": _at_bounds(task, weights, task.feasible(own)), "mu": weights}
        yield {"alpha": np.zeros(task.y.shape), "mu": side.feasible(np.zeros(task.count))}

    def fields(self, result: Outputs, proved: ProvedOutputs) -> tuple[Fields, str]:
        multipliers = dict(result.formulation.single.multipliers(proved.norms, proved.roots, **result.task.own))
        if proved.tau is not None:
            multipliers["tau"] = proved.tau
        same = {name: getattr(proved, name) for name in ("weights", "alpha", "bias", "bias_low", "norms")}
        return {**same, "multipliers": multipliers, "y": result.task.signs}, ""


def _at_bounds(task: JointTask, weights: Array, alpha: Array) -> Array:
    """α with those at their bounds that the margins of f_m = weight_m K_mβ hold there. Where the price is small, what
    an α lacks to be at its bound counts for more than f. A loss that is applied to every output has the optimality
    conditions of single tasks at these weights."""
    signed = alpha * task.signs
    outputs, norms = task.evaluate(RankOneCoefficients(weights, signed))
    if task.loss.of_each_output is None:
        return task.loss.at_bounds(alpha, outputs + task.risk(outputs).bias[:, None], task.y, task.box)
    rows = []
    for bare, z, beta in zip(single_tasks(task), outputs, signed, strict=True):
        single = replace(bare, offsets=task.offsets)
        upper = UpperBound(0.0, RankOneCoefficients(weights, beta), norms, single.risk(z), 0.0)
        rows.append(sharpened(single, weights, beta, upper))
    return np.stack(rows)
