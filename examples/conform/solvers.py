"""Three solvers of `l1` to be judged: ours, a broken copy of it, and a plain one that knows nothing of mklcvx.

mklcvx conform solvers:simplemkl -f l1
mklcvx conform solvers:broken -f l1
mklcvx conform solvers:plain -f l1
"""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.svm import SVC


def simplemkl(kernels: np.ndarray, y: np.ndarray, *, C: float = 1.0, sample_weight: Any = None) -> Any:
    """SimpleMKL as mklcvx has it."""
    from mklcvx import Instance, solve

    return solve(Instance(kernels, y, sample_weight=sample_weight), "l1", C=C, solver="simplemkl", tol=1e-4)


def broken(kernels: np.ndarray, y: np.ndarray, *, C: float = 1.0, sample_weight: Any = None) -> Any:
    """The same with a mistake that is easily made: C shared out among the samples."""
    return simplemkl(kernels, y, C=C / len(y), sample_weight=sample_weight)


def plain(kernels: np.ndarray, y: np.ndarray, *, C: float = 1.0) -> dict[str, Any]:
    """Alternate between LIBSVM and the weights that are best for its α: μ_m ∝ ‖f_m‖."""
    weights = np.full(len(kernels), 1 / len(kernels))
    for _ in range(300):
        svm = SVC(C=C, kernel="precomputed", tol=1e-7).fit(np.tensordot(weights, kernels, 1), y)
        signed = np.zeros(len(y))
        signed[svm.support_] = svm.dual_coef_[0]
        norms = weights * np.sqrt(np.maximum(np.einsum("i,mij,j->m", signed, kernels, signed), 0))
        if not norms.sum() > 0:
            break
        last, weights = weights, norms / norms.sum()
        if np.abs(weights - last).max() < 1e-9:
            break
    return {"weights": weights, "alpha": signed * y, "bias": float(svm.intercept_[0])}
