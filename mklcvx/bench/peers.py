"""Solvers by others, for comparison: MKLpy, where it is installed (`pip install mklcvx[bench]`).

None of them has a certificate, and only `mklpy-average` solves a problem of ours. The others learn weights by another
criterion and pass them to an SVM with the same C. Their answers are judged as answers to our problem all the same; the
gap then measures how far the two problems are apart, not how well theirs was solved.
"""

from __future__ import annotations

import contextlib
import importlib
import io
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..errors import InputError
from ..formulations import SINGLE_TASKS
from ..problem.instance import Instance
from ..problem.stack import Array

_SINGLE = tuple(f.name for f in SINGLE_TASKS if not f.single_kernel)


@dataclass(frozen=True)
class Peer:
    """A class of MKLpy, what it solves, and the formulations that it is shown beside."""

    name: str
    learner: str
    solves: str
    beside: tuple[str, ...]
    same: tuple[str, ...] = ()

    def available(self) -> bool:
        """Whether MKLpy can be imported. The import happens here, so that it is not timed."""
        try:
            importlib.import_module("MKLpy.algorithms")
        except Exception:  # it is not installed, or broken
            return False
        return True

    def note(self, formulation: str) -> str:
        return "the same problem" if formulation in self.same else f"another problem: {self.solves}"

    def run(self, instance: Instance, parameters: Mapping[str, Any]) -> dict[str, Array]:
        """The weights, and α of the SVM with the combined kernel."""
        if not np.allclose(instance.sample_weight, 1.0) or "nu" in parameters:
            raise InputError(f"{self.name} knows neither sample weights nor nu")
        from sklearn.svm import SVC

        made = getattr(importlib.import_module("MKLpy.algorithms"), self.learner)
        machine = SVC(C=parameters.get("C", 1.0), kernel="precomputed")
        with contextlib.redirect_stdout(io.StringIO()):
            fitted = made(learner=machine).fit([np.asarray(k, dtype=np.float64) for k in instance.kernels], instance.y)
        alpha = np.zeros(instance.samples)
        alpha[machine.support_] = np.abs(machine.dual_coef_[0])
        return {"weights": np.asarray(fitted.solution.weights, dtype=np.float64).ravel(), "alpha": alpha}


PEERS: dict[str, Peer] = {
    peer.name: peer
    for peer in (
        Peer("mklpy-average", "AverageMKL", "weights 1/M, nothing learned", _SINGLE, same=("average",)),
        Peer("mklpy-easymkl", "EasyMKL", "the margin between the classes' distributions (KOMD)", _SINGLE),
        Peer("mklpy-gram", "GRAM", "the ratio of radius and margin, by gradient descent", _SINGLE),
        Peer("mklpy-cka", "CKA", "alignment of centred kernels", ("alignment",)),
    )
}
