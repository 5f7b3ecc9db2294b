"""Solvers by others, for comparison, where they are installed: scikit-learn, MKLpy (`pip install mklcvx[bench]`) and
himalaya (`pip install mklcvx[experiments]`).

None of them has a certificate. Those with given weights solve a problem of ours (`same`). The others learn weights by
another criterion and pass them to a machine with the same C, or are judged by the machine that their weights make. They
are judged as answers to our problem all the same; the gap then measures how far the two problems are apart, not how
well theirs was solved.
"""

from __future__ import annotations

import contextlib
import importlib
import io
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from ..errors import InputError
from ..formulations import SINGLE_TASKS
from ..problem.instance import Instance
from ..problem.low_rank import dense
from ..problem.stack import Array

_SINGLE = tuple(f.name for f in SINGLE_TASKS if not f.single_kernel)


@dataclass(frozen=True)
class Peer(ABC):
    """What somebody else's code solves, and the formulations that it is shown beside; `asked`, if only by its name."""

    name: str
    learner: str
    solves: str
    beside: tuple[str, ...]
    same: tuple[str, ...] = ()
    asked: bool = False

    package: ClassVar[str]
    module: ClassVar[str]
    extra: ClassVar[str] = ""

    def available(self) -> bool:
        """Whether the package can be imported. The import happens here, so that it is not timed."""
        try:
            importlib.import_module(self.module)
        except Exception:  # it is not installed, or broken
            return False
        return True

    def note(self, formulation: str) -> str:
        return "the same problem" if formulation in self.same else f"another problem: {self.solves}"

    @abstractmethod
    def run(self, instance: Instance, parameters: Mapping[str, Any]) -> dict[str, Array]:
        """The weights, and α of the machine with the combined kernel; without α, that machine is ours."""


def _labels(name: str, instance: Instance, parameters: Mapping[str, Any]) -> Array:
    if not np.allclose(instance.sample_weight, 1.0) or "nu" in parameters or not instance.y.size:
        raise InputError(f"{name} knows neither sample weights nor nu, and needs labels")
    return instance.y


class OfSklearn(Peer):
    """LIBSVM on the average kernel, its sum included."""

    package, module = "scikit-learn", "sklearn.svm"

    def run(self, instance: Instance, parameters: Mapping[str, Any]) -> dict[str, Array]:
        y = _labels(self.name, instance, parameters)
        machine = importlib.import_module(self.module).SVC(C=parameters.get("C", 1.0), kernel="precomputed")
        machine.fit(np.mean(dense(instance.kernels), axis=0, dtype=np.float64), y)
        return {"weights": np.full(instance.count, 1 / instance.count), "alpha": _alpha(machine, instance)}


class OfMKLpy(Peer):
    """A class of MKLpy, and LIBSVM with its weights."""

    package, module, extra = "MKLpy", "MKLpy.algorithms", "bench"

    def run(self, instance: Instance, parameters: Mapping[str, Any]) -> dict[str, Array]:
        y = _labels(self.name, instance, parameters)
        from sklearn.svm import SVC

        made = getattr(importlib.import_module(self.module), self.learner)
        machine = SVC(C=parameters.get("C", 1.0), kernel="precomputed")
        with contextlib.redirect_stdout(io.StringIO()):
            fitted = made(learner=machine).fit([np.asarray(k, dtype=np.float64) for k in instance.kernels], y)
        weights = np.asarray(fitted.solution.weights, dtype=np.float64).ravel()
        return {"weights": weights, "alpha": _alpha(machine, instance)}


def _alpha(machine: Any, instance: Instance) -> Array:
    alpha = np.zeros(instance.samples)
    alpha[machine.support_] = np.abs(machine.dual_coef_[0])
    return alpha


class OfHimalaya(Peer):
    """Kernel ridge with weights e^δ, given or chosen for the error of five folds. Its ridge is 1/C, and it has no bias
    here."""

    package, module, extra = "himalaya", "himalaya.kernel_ridge", "experiments"
    searches: ClassVar[dict[str, dict[str, object]]] = {
        "random_search": {"n_iter": 100},
        "hyper_gradient": {"max_iter": 100, "initial_deltas": "ridgecv"},
    }

    def run(self, instance: Instance, parameters: Mapping[str, Any]) -> dict[str, Array]:
        if not np.allclose(instance.sample_weight, 1.0) or instance.response.ndim != 1 or not instance.response.size:
            raise InputError(f"{self.name} knows no sample weights, and needs a response (n,)")
        ridge, C = importlib.import_module(self.module), parameters.get("C", 1.0)
        kernels, targets = np.asarray(instance.kernels, dtype=np.float64), instance.response[:, None]
        if self.learner not in self.searches:
            weights = np.full(instance.count, 1 / instance.count)
            deltas = np.log(weights)[:, None]
            with np.errstate(invalid="ignore"):  # its conjugate gradients divide 0 by 0 once they are done
                solve = getattr(ridge, self.learner)
                alpha = solve(kernels, targets, deltas, alpha=1 / C, max_iter=1000, tol=1e-9)
            return {"weights": weights, "alpha": np.asarray(alpha, dtype=np.float64).ravel()}
        options = {**self.searches[self.learner], "progress_bar": False}
        machine = ridge.MultipleKernelRidgeCV(
            kernels="precomputed", solver=self.learner, solver_params=options, random_state=0
        )
        with np.errstate(invalid="ignore"):
            machine.fit(kernels, targets)
        weights = np.exp(np.asarray(machine.deltas_, dtype=np.float64)[:, 0])
        return {"weights": weights / weights.sum()}


PEERS: dict[str, Peer] = {
    peer.name: peer
    for peer in (
        OfSklearn("svc-average", "SVC", "weights 1/M, nothing learned", ("average",), same=("average",), asked=True),
        OfMKLpy("mklpy-average", "AverageMKL", "weights 1/M, nothing learned", _SINGLE, same=("average",)),
        OfMKLpy("mklpy-easymkl", "EasyMKL", "the margin between the classes' distributions (KOMD)", _SINGLE),
        OfMKLpy("mklpy-gram", "GRAM", "the ratio of radius and margin, by gradient descent", _SINGLE),
        OfMKLpy("mklpy-cka", "CKA", "alignment of centred kernels", ("alignment",)),
        OfHimalaya(
            "himalaya-average",
            "solve_weighted_kernel_ridge_conjugate_gradient",
            "weights 1/M, nothing learned",
            ("average",),
            same=("average",),
            asked=True,
        ),
        OfHimalaya(
            "himalaya-random", "random_search", "the error of five folds, over random weights", _SINGLE, asked=True
        ),
        OfHimalaya(
            "himalaya-gradient", "hyper_gradient", "the error of five folds, by its gradient", _SINGLE, asked=True
        ),
    )
}
