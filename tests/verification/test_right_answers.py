"""Right answers by other solvers, each at the accuracy that it has: none is rejected, and third parties conform."""

import runpy

import numpy as np
import pytest
from sklearn.svm import SVC

from conforming import conformed
from joint_cases import OWN, WITH_WEIGHTS
from mklcvx import Instance, solve, verify, zoo
from places import ROOT

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("examples_to_conform")]

TIGHT, LOOSE = 1e-6, 1e-3
PUBLISHED = [
    ("l1", "simplemkl"), ("l1", "silp"), ("l1", "level"), ("l1", "analytic"), ("l2", "analytic"), ("lp", "analytic"),
    ("sm1", "sm1_bcd"), ("sm2", "sm2_projection"), ("smp", "sm2_projection"), ("square", "sm2_projection"),
    ("elastic", "level"),
]  # fmt: skip
CONIC = [(name, solver) for name in WITH_WEIGHTS for solver in ("clarabel", "scs")]
MACHINES = [(0.3, "sum", 1e-9), (1.0, "average", 1e-4), (10.0, "sum", 1e-4), (10.0, "average", 1e-9)]


def drawn(seed):
    return zoo.random(24, 4, seed=seed)


@pytest.mark.parametrize(
    ("name", "solver", "tol"), [(*row, (LOOSE, 1e-5)[place % 2]) for place, row in enumerate(PUBLISHED)]
)
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
    given |= {"weights": found.weights, "alpha": found.alpha}
    assert verify(instance, name, tol=10 * tol, diagnosis=False, **given).accepted


@pytest.mark.parametrize(("C", "combination", "tol"), MACHINES)
def test_support_vector_machines_are_accepted(C, combination, tol):
    instance = drawn(int(10 * C))
    kernel = getattr(instance.kernels, {"sum": "sum", "average": "mean"}[combination])(axis=0)
    svm = SVC(C=C, kernel="precomputed", tol=tol).fit(kernel, instance.y)
    alpha = np.zeros(instance.samples)
    alpha[svm.support_] = np.abs(svm.dual_coef_[0])
    assert verify(instance, combination, alpha=alpha, C=C, tol=max(TIGHT, 10 * tol), diagnosis=False).accepted


SMALL = ["by-hand", "three-samples", "clouds"]


@pytest.mark.parametrize(
    ("function", "given", "level"),
    [
        ("svc_average", {}, "mid"),
        ("svr_average", {"loss": "epsilon_insensitive"}, "mid"),
        ("kernel_ridge_average", {"loss": "squared", "bias": False}, "high"),
        ("one_class_average", {"loss": "one_class"}, "mid"),
    ],
)
def test_scikit_learns_machines_conform_with_other_losses(room, function, given, level):
    """On everything in the zoo that has the targets of the loss; with the hinge on four."""
    specimens = None if given else [*SMALL, "imbalanced-weighted"]
    found = conformed(room, f"third_party:{function}", "average", specimens, level, **given)
    assert [(trial.specimen, trial.words, trial.off) for trial in found.failures] == []
    assert found.passed
    assert found.rate(level).accepted == len(found.trials) == {"one_class": 2, None: 4}.get(given.get("loss"), 12)


def clouds() -> Instance:
    return zoo.specimen("clouds").instance()


# ------------------------------------------------------------------------------------------------------------- reports
def test_the_reports_are_written_and_say_what_was_found(tmp_path):
    main = runpy.run_path(str(ROOT / "validation" / "conform" / "__main__.py"), run_name="conform")["main"]
    assert main(["broken", "svc", "--folder", str(tmp_path), "--specimens", "by-hand,two-samples"]) == 0
    broken = (tmp_path / "broken.md").read_text(encoding="utf-8")
    assert "does not conform to `l1`: 0 of 2 accepted" in broken
    assert "Diagnoses: 2 × C_over_n." in broken
    assert "conforms to `average`: 2 of 2 accepted" in (tmp_path / "svc.md").read_text(encoding="utf-8")
