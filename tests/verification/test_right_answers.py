"""Right answers by other solvers, each at the accuracy that it has: none is rejected."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.svm import SVC

from mklcvx import solve, verify, zoo

pytestmark = pytest.mark.slow

TIGHT, LOOSE = 1e-6, 1e-3
OWN = {
    "sm1": {"theta": 0.8}, "sm2": {"theta": 0.7}, "smp": {"theta": 0.7, "p": 1.5}, "square": {"theta": 0.7},
    "lp": {"p": 1.5}, "elastic": {"l1_ratio": 0.4}, "block_elastic": {"l1_ratio": 0.4}, "group_lasso": {"lam": 0.3},
}  # fmt: skip
PUBLISHED = [
    ("l1", "simplemkl"), ("l1", "silp"), ("l1", "level"), ("l1", "analytic"), ("l2", "analytic"), ("lp", "analytic"),
    ("sm1", "sm1_bcd"), ("sm2", "sm2_projection"), ("smp", "sm2_projection"), ("square", "sm2_projection"),
    ("elastic", "level"),
]  # fmt: skip
CONIC = [(name, solver) for name in (*OWN, "l1", "l2", "sum", "average") for solver in ("clarabel", "scs")]
MACHINES = [
    (C, combination, tol) for C in (0.3, 1.0, 10.0) for combination in ("sum", "average") for tol in (1e-9, 1e-4)
]


def drawn(seed):
    return zoo.random(24, 4, seed=seed)


@pytest.mark.parametrize(("name", "solver"), PUBLISHED)
@pytest.mark.parametrize("tol", [LOOSE, 1e-5])
def test_published_algorithms_are_accepted_at_their_tolerance(name, solver, tol):
    instance, given = drawn(len(name)), {"C": 1.0, **OWN.get(name, {})}
    found = solve(instance, name, solver=solver, tol=tol, **given)
    parts = {"weights": found.weights, "alpha": found.alpha, "objective": found.objective}
    assert verify(instance, name, tol=10 * tol, diagnosis=False, **parts, **given).accepted


@pytest.mark.parametrize(("name", "solver"), CONIC)
def test_conic_solvers_are_accepted(name, solver):
    instance, given = drawn(len(name) + 20), {"C": 2.0, **OWN.get(name, {})}
    tol = {"clarabel": TIGHT, "scs": LOOSE}[solver]
    found = solve(instance, name, solver=solver, tol=tol, **given)
    assert verify(
        instance, name, tol=10 * tol, weights=found.weights, alpha=found.alpha, diagnosis=False, **given
    ).accepted


@pytest.mark.parametrize(("C", "combination", "tol"), MACHINES)
def test_support_vector_machines_are_accepted(C, combination, tol):
    instance = drawn(int(10 * C))
    kernel = getattr(instance.kernels, {"sum": "sum", "average": "mean"}[combination])(axis=0)
    svm = SVC(C=C, kernel="precomputed", tol=tol).fit(kernel, instance.y)
    alpha = np.zeros(instance.samples)
    alpha[svm.support_] = np.abs(svm.dual_coef_[0])
    assert verify(instance, combination, alpha=alpha, C=C, tol=max(TIGHT, 10 * tol), diagnosis=False).accepted
