"""Two stages: the learned weights, and an SVM with the learned kernel."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np

from ...certificate import CertifiedPoint
from ...certificate.pairs import ProvedAlignment, ProvedPairs
from ...formulations.alignment import Alignment, AlignmentBound, AlignmentTask
from ...formulations.families.pairs import Pairs
from ...formulations.families.two_stage import PairBound, PairTask, TwoStage
from ...problem.stack import KernelStack
from ..second_stage import one_versus_rest
from .family import FamilyAssembler, Fields, Found, unweighted

Bound = PairBound | AlignmentBound
Weighted = Found[TwoStage | Alignment, PairTask | AlignmentTask, CertifiedPoint[Bound, Bound]]


class TwoStageAssembler(FamilyAssembler[PairTask | AlignmentTask, Weighted, ProvedPairs | ProvedAlignment]):
    def attempts(self, result: Weighted) -> Iterator[Mapping[str, object]]:
        """For `alignment` μ of length one, with the entries of kernels and target that its sums are over."""
        lower, upper, instance = result.point.lower.point, result.point.upper.point, result.instance
        if not result.formulation.maximises:
            yield {"beta": lower, "mu": upper}
            return
        longest = float(np.abs(lower).max())
        mu = lower / longest / np.linalg.norm(lower / longest) if longest > 0 else lower
        pairs = Pairs(KernelStack(instance.kernels, symmetric=instance.symmetric))
        yield {"pairs": pairs, "together": instance.targets.together(), "mu": mu, "witness": upper}

    def fields(self, result: Weighted, proved: ProvedPairs | ProvedAlignment) -> tuple[Fields, str]:
        instance, price = result.instance, result.parameters["C"]
        machines, multipliers, failed = one_versus_rest(instance, proved.weights, price, result.tolerance)
        notes = unweighted(instance, "the first stage")
        if not proved.weights.any():
            notes.append("no kernel gets weight: no combination helps here")
        if failed:
            notes.append(failed)
        if isinstance(proved, ProvedAlignment):
            share = proved.certificate.lower / instance.samples
            multipliers = {"normalised": share, "witness": proved.witness, "epsilon": proved.epsilon, **multipliers}
        else:
            multipliers = {"beta": proved.beta, **multipliers}
        fields: Fields = {"weights": proved.weights, "multipliers": multipliers, "notes": tuple(notes)}
        return {**machines, **fields}, failed
