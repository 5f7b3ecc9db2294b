"""Right answers from solvers that are not ours are accepted; answers to other problems are told from them."""

from __future__ import annotations

import runpy

import numpy as np
import pytest

from conforming import conformed
from mklcvx import Instance, verify, zoo
from mklcvx.bench.conformance.trials import Room
from places import ROOT

pytestmark = pytest.mark.slow

SMALL = ["by-hand", "three-samples", "clouds"]


@pytest.fixture(autouse=True)
def examples(monkeypatch):
    monkeypatch.syspath_prepend(ROOT / "examples" / "conform")


@pytest.fixture(scope="module")
def room():
    with Room() as place:
        yield place


def test_scikit_learns_machine_conforms_to_average(room):
    found = conformed(room, "third_party:svc_average", "average", specimens=[*SMALL, "imbalanced-weighted"])
    assert found.passed, [trial.words for trial in found.trials]
    assert found.rate("mid").accepted == 4


@pytest.mark.parametrize(
    ("function", "given", "level"),
    [
        ("svr_average", {"loss": "epsilon_insensitive"}, "mid"),
        ("kernel_ridge_average", {"loss": "squared", "bias": False}, "high"),
        ("one_class_average", {"loss": "one_class"}, "mid"),
    ],
)
def test_scikit_learns_machines_conform_with_other_losses(room, function, given, level):
    """On everything in the zoo that has the targets of the loss."""
    found = conformed(room, f"third_party:{function}", "average", level=level, **given)
    assert [(trial.specimen, trial.words, trial.off) for trial in found.failures] == []
    assert found.passed
    assert found.rate(level).accepted == len(found.trials) == (2 if given["loss"] == "one_class" else 12)


@pytest.mark.parametrize("name", [*SMALL, "imbalanced-weighted", "redundancy-12", "duplicated-kernels"])
def test_clarabel_by_itself_is_accepted_for_l1(name):
    from third_party import clarabel_l1

    instance = zoo.specimen(name).instance()
    answer = clarabel_l1(instance.kernels, instance.y, sample_weight=instance.sample_weight)
    report = verify(instance, "l1", **answer)
    assert report.accepted, report
    assert {part.name for part in report.parts} == {"weights", "alpha", "objective"}


def clouds() -> Instance:
    return zoo.specimen("clouds").instance()


def test_least_squares_by_scipy_are_accepted_for_alignment():
    from scipy.optimize import nnls

    instance = clouds()
    target = np.outer(instance.y, instance.y).ravel()
    weights, _ = nnls(instance.kernels.reshape(instance.count, -1).T, target)
    assert verify(instance, "alignment", weights=weights).accepted


@pytest.mark.parametrize("penalty", ["ts", "ts_l1"])
def test_a_linear_program_by_scipy_and_subgradient_steps_are_accepted_for_pairs(penalty):
    from scipy.optimize import linprog

    instance, lam = zoo.specimen("two-samples").instance(), 0.05
    rows, columns = np.triu_indices(instance.samples)
    z = (instance.kernels[:, rows, columns] * (instance.y[rows] * instance.y[columns])).T
    count, pairs = instance.count, len(z)
    if penalty == "ts_l1":
        cost = np.concatenate([np.full(count, lam), np.full(pairs, 1 / pairs)])
        weights = linprog(cost, np.hstack([-z, -np.eye(pairs)]), -np.ones(pairs)).x[:count]
    else:
        weights = pegasos(z, lam)
    tolerance = 1e-6 if penalty == "ts_l1" else 5e-3  # of λ‖μ‖², a small part of the value
    assert verify(instance, penalty, weights=weights, lam=lam, tol=tolerance).accepted


def pegasos(z: np.ndarray, lam: float) -> np.ndarray:
    """Subgradient steps of length 1/(λt), averaged over the second half."""
    weights, mean = np.zeros(z.shape[1]), np.zeros(z.shape[1])
    for step in range(1, 20_001):
        slope = lam * weights - z[z @ weights < 1].sum(axis=0) / len(z)
        weights = np.maximum(weights - slope / (lam * step), 0)
        mean += weights / 10_000 if step > 10_000 else 0
    return mean


# ------------------------------------------------------------------------------------------------------------- reports
def test_the_reports_are_written_and_say_what_was_found(tmp_path):
    main = runpy.run_path(str(ROOT / "validation" / "conform" / "__main__.py"), run_name="conform")["main"]
    assert main(["broken", "svc", "--folder", str(tmp_path), "--specimens", "by-hand,two-samples"]) == 0
    broken = (tmp_path / "broken.md").read_text(encoding="utf-8")
    assert "does not conform to `l1`: 0 of 2 accepted" in broken
    assert "Diagnoses: 2 × C_over_n." in broken
    assert "conforms to `average`: 2 of 2 accepted" in (tmp_path / "svc.md").read_text(encoding="utf-8")
