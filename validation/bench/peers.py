"""Programs by others that `beside` shows, each as a function that the worker calls: scikit-learn, MKLpy, himalaya.

None of them has a certificate. Those with given weights solve `average`. The others learn weights by another criterion
and pass them to a machine with the same C, or are judged by the machine that their weights make: the gap then measures
how far the two problems are apart, not how well theirs was solved.
"""

from __future__ import annotations

import contextlib
import io
from importlib.util import find_spec
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.svm import SVC

if find_spec("MKLpy"):  # before the clock starts
    import MKLpy.algorithms
if find_spec("himalaya"):
    import himalaya.kernel_ridge

Array = NDArray[np.float64]


class Peer(NamedTuple):
    """A function of this module, the package that it needs, and what it solves."""

    function: str
    package: str
    note: str

    def available(self) -> bool:
        return find_spec(self.package) is not None


SAME, FOLDS = "the same problem", "another problem: the error of five folds, "
PEERS = {
    "svc-average": Peer("peers:svc_average", "sklearn", SAME),
    "mklpy-average": Peer("peers:mklpy_average", "MKLpy", SAME),
    "mklpy-easymkl": Peer(
        "peers:mklpy_easymkl", "MKLpy", "another problem: the margin between the classes' distributions (KOMD)"
    ),
    "mklpy-gram": Peer(
        "peers:mklpy_gram", "MKLpy", "another problem: the ratio of radius and margin, by gradient descent"
    ),
    "himalaya-average": Peer("peers:himalaya_average", "himalaya", SAME),
    "himalaya-random": Peer("peers:himalaya_random", "himalaya", f"{FOLDS}over random weights"),
    "himalaya-gradient": Peer("peers:himalaya_gradient", "himalaya", f"{FOLDS}by its gradient"),
}


def svc_average(kernels: Array, y: Array, *, C: float = 1.0) -> dict[str, Array]:
    """LIBSVM on the average kernel, its sum included."""
    svm = SVC(C=C, kernel="precomputed").fit(kernels.mean(axis=0), y)
    return {"weights": _equal(kernels), "alpha": _alpha(svm, len(y))}


def mklpy_average(kernels: Array, y: Array, *, C: float = 1.0) -> dict[str, Array]:
    return _mklpy("AverageMKL", kernels, y, C)


def mklpy_easymkl(kernels: Array, y: Array, *, C: float = 1.0) -> dict[str, Array]:
    return _mklpy("EasyMKL", kernels, y, C)


def mklpy_gram(kernels: Array, y: Array, *, C: float = 1.0) -> dict[str, Array]:
    return _mklpy("GRAM", kernels, y, C)


def himalaya_average(kernels: Array, y: Array, *, C: float = 1.0, bias: bool = False) -> dict[str, Array]:
    """Kernel ridge with given weights; its ridge is 1/C, and it has no bias here."""
    weights = _equal(kernels)
    solve = himalaya.kernel_ridge.solve_weighted_kernel_ridge_conjugate_gradient
    with np.errstate(invalid="ignore"):  # its conjugate gradients divide 0 by 0 once they are done
        alpha = solve(kernels, y[:, None], np.log(weights)[:, None], alpha=1 / C, max_iter=1000, tol=1e-9)
    return {"weights": weights, "alpha": np.asarray(alpha, dtype=np.float64).ravel()}


def himalaya_random(kernels: Array, y: Array, *, C: float = 1.0, bias: bool = False) -> dict[str, Array]:
    return _himalaya("random_search", {"n_iter": 100}, kernels, y)


def himalaya_gradient(kernels: Array, y: Array, *, C: float = 1.0, bias: bool = False) -> dict[str, Array]:
    return _himalaya("hyper_gradient", {"max_iter": 100, "initial_deltas": "ridgecv"}, kernels, y)


def _mklpy(learner: str, kernels: Array, y: Array, C: float) -> dict[str, Array]:
    """A class of MKLpy, and LIBSVM with its weights."""
    svm = SVC(C=C, kernel="precomputed")
    with contextlib.redirect_stdout(io.StringIO()):
        fitted = getattr(MKLpy.algorithms, learner)(learner=svm).fit(list(kernels), y)
    weights = np.asarray(fitted.solution.weights, dtype=np.float64).ravel()
    return {"weights": weights, "alpha": _alpha(svm, len(y))}


def _himalaya(solver: str, options: dict[str, Any], kernels: Array, y: Array) -> dict[str, Array]:
    """Kernel ridge with weights e^δ, chosen for the error of five folds."""
    options = {**options, "progress_bar": False}
    machine = himalaya.kernel_ridge.MultipleKernelRidgeCV(
        kernels="precomputed", solver=solver, solver_params=options, random_state=0
    )
    with np.errstate(invalid="ignore"):
        machine.fit(kernels, y[:, None])
    weights = np.exp(np.asarray(machine.deltas_, dtype=np.float64)[:, 0])
    return {"weights": weights / weights.sum()}


def _equal(kernels: Array) -> Array:
    return np.full(len(kernels), 1 / len(kernels))


def _alpha(svm: SVC, samples: int) -> Array:
    alpha = np.zeros(samples)
    alpha[svm.support_] = np.abs(svm.dual_coef_[0])
    return alpha
