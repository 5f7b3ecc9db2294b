"""Solvers that are not ours, with the glue that hands their answers over: each is judged as it is.

mklcvx conform third_party:svc_average -f average
mklcvx conform third_party:clarabel_l1 -f l1
mklcvx conform third_party:svr_average -f average --set loss=epsilon_insensitive
mklcvx conform third_party:kernel_ridge_average -f average --set loss=squared --set bias=false
mklcvx conform third_party:one_class_average -f average --set loss=one_class
mklcvx conform third_party:mklpy_average -f average
mklcvx conform third_party:mklpy_alignment -f alignment

Those of MKLpy need MKLpy 0.6, and the PyTorch that it needs.
"""

from __future__ import annotations

import contextlib
import io
from typing import Any

import numpy as np
from sklearn.kernel_ridge import KernelRidge
from sklearn.svm import SVC, SVR, OneClassSVM


def svc_average(kernels: np.ndarray, y: np.ndarray, *, C: float = 1.0, sample_weight: Any = None) -> dict[str, Any]:
    """scikit-learn's SVC on the average kernel."""
    svm = SVC(C=C, kernel="precomputed", tol=1e-9).fit(kernels.mean(axis=0), y, sample_weight)
    return {**machine(svm, len(y)), "weights": np.full(len(kernels), 1 / len(kernels))}


def machine(svm: SVC, n: int) -> dict[str, Any]:
    """α and b of a fitted SVC."""
    alpha = np.zeros(n)
    alpha[svm.support_] = np.abs(svm.dual_coef_[0])
    return {"alpha": alpha, "bias": float(svm.intercept_[0])}


# -------------------------------------------------------------------------------------------------------- other losses
def svr_average(kernels: np.ndarray, y: np.ndarray, *, C: float = 1.0, epsilon: float = 0.1) -> dict[str, Any]:
    """scikit-learn's SVR on the average kernel."""
    model = SVR(C=C, epsilon=epsilon, kernel="precomputed", tol=1e-9).fit(kernels.mean(axis=0), y)
    alpha = np.zeros(len(y))
    alpha[model.support_] = model.dual_coef_[0]
    return {"alpha": alpha, "bias": float(model.intercept_[0])}


def kernel_ridge_average(kernels: np.ndarray, y: np.ndarray, *, C: float = 1.0, bias: bool = True) -> dict[str, Any]:
    """scikit-learn's KernelRidge on the average kernel; it has no bias."""
    if bias:
        raise ValueError("KernelRidge has no bias")
    return {"alpha": KernelRidge(alpha=1 / C, kernel="precomputed").fit(kernels.mean(axis=0), y).dual_coef_}


def one_class_average(kernels: np.ndarray, y: np.ndarray, *, nu: float = 0.5) -> dict[str, Any]:
    """scikit-learn's OneClassSVM on the average kernel; its α sums to νn."""
    model = OneClassSVM(nu=nu, kernel="precomputed", tol=1e-9).fit(kernels.mean(axis=0))
    alpha = np.zeros(len(y))
    alpha[model.support_] = model.dual_coef_[0] / (nu * len(y))
    return {"alpha": alpha}


# ------------------------------------------------------------------------------------------------------------ Clarabel
def clarabel_l1(kernels: np.ndarray, y: np.ndarray, *, C: float = 1.0, sample_weight: Any = None) -> dict[str, Any]:
    """The dual of l1, handed to Clarabel as it is, without CVXPY: min τ − 1'α, ½ ‖F_m'(α∘y)‖² ≤ τ, 0 ≤ α ≤ C, y'α = 0.

    A cone says ‖(τ − ½, F_m'(α∘y))‖ ≤ τ + ½; the first two of its multipliers sum to the weight of the kernel.
    """
    import clarabel
    from scipy import sparse

    count, n = len(kernels), len(y)
    box = C * np.ones(n) if sample_weight is None else C * np.asarray(sample_weight)
    rows, right, cones = [np.append(y, 0.0)[None]], [np.zeros(1)], [clarabel.ZeroConeT(1)]
    identity = np.hstack([np.eye(n), np.zeros((n, 1))])
    rows, right = [*rows, -identity, identity], [*right, np.zeros(n), box]
    cones.append(clarabel.NonnegativeConeT(2 * n))
    for kernel in kernels:
        factor = factored(kernel)
        ends = np.append(np.zeros(n), -1.0)
        rows.append(np.vstack([ends, ends, np.hstack([-(factor.T * y), np.zeros((factor.shape[1], 1))])]))
        right.append(np.concatenate([[0.5, -0.5], np.zeros(factor.shape[1])]))
        cones.append(clarabel.SecondOrderConeT(2 + factor.shape[1]))
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    program = sparse.csc_matrix((n + 1, n + 1)), np.append(-np.ones(n), 1.0), sparse.csc_matrix(np.vstack(rows))
    found = clarabel.DefaultSolver(*program, np.concatenate(right), cones, settings).solve()
    alpha, multipliers = np.clip(found.x[:n], 0.0, box), np.array(found.z)
    starts = 1 + 2 * n + np.cumsum([0, *(len(block) for block in rows[3:])])[:count]
    weights = np.maximum(multipliers[starts] + multipliers[starts + 1], 0.0)
    return {"weights": weights / weights.sum(), "alpha": alpha, "objective": -found.obj_val}


def factored(kernel: np.ndarray) -> np.ndarray:
    """F with FF' = K, without the directions that K does not have."""
    values, vectors = np.linalg.eigh(kernel)
    kept = values > len(kernel) * np.finfo(float).eps * max(values[-1], 0.0)
    return vectors[:, kept] * np.sqrt(values[kept])


# --------------------------------------------------------------------------------------------------------------- MKLpy
def mklpy_average(kernels: np.ndarray, y: np.ndarray, *, C: float = 1.0) -> dict[str, Any]:
    """MKLpy's AverageMKL: our `average`."""
    from MKLpy.algorithms import AverageMKL

    svm = SVC(C=C, kernel="precomputed", tol=1e-9)
    with contextlib.redirect_stdout(io.StringIO()):
        fitted = AverageMKL(learner=svm).fit(list(kernels), y)
    return {**machine(svm, len(y)), "weights": np.asarray(fitted.solution.weights, dtype=float)}


def mklpy_alignment(kernels: np.ndarray, y: np.ndarray, *, C: float = 1.0) -> dict[str, Any]:
    """MKLpy's CKA: alignment, but of kernels that it centres first, and without μ ≥ 0: not the same problem."""
    from MKLpy.algorithms import CKA

    with contextlib.redirect_stdout(io.StringIO()):
        fitted = CKA(learner=SVC(C=C, kernel="precomputed")).fit(list(kernels), y)
    return {"weights": np.asarray(fitted.solution.weights, dtype=float)}


def mklpy_margin(kernels: np.ndarray, y: np.ndarray, *, nu: float) -> dict[str, Any]:
    """MKLpy's hard margin, by CVXOPT: γ = 2α minimises γ'Qγ with sums of one in both classes, which is our `average` in
    its ν-form where no α can reach its bound 1/(νn), that is for ν ≤ 2/n."""
    from MKLpy.metrics import margin

    value, gamma = margin(kernels.mean(axis=0), y, return_coefs=True, solver="cvxopt", tol=1e-12)
    weights = np.full(len(kernels), 1 / len(kernels))
    return {"weights": weights, "alpha": np.asarray(gamma, dtype=float) / 2, "objective": -(value**2) / 8}
