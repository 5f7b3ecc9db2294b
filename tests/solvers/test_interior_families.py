"""What every family's interior-point method keeps to: iterates stay positive and μ falls, the order of the kernels
plays no part, and kernels in single precision and in files are read as they are."""

import numpy as np
import pytest

from mklcvx import Instance, formulations, solve, zoo
from mklcvx.solvers.driver import Problem
from mklcvx.solvers.interior.engine import KINDS
from mklcvx.solvers.registry import drive

pytestmark = pytest.mark.slow

LABELLED, CLASSES = zoo.random(30, 8, seed=3), zoo.real("wine", "classes", samples=60, count=10)
CASES = [
    (LABELLED, "sm2", {}), (CLASSES, "ml_sum", {}), (CLASSES, "ml_minimax", {}), (LABELLED, "ts", {"lam": 1e-3}),
    (LABELLED, "ts_l1", {"lam": 1e-3}), (CLASSES, "hypergraph", {"lam": 0.1}),
    (CLASSES, "hypergraph_smooth", {"lam": 0.1}), (CLASSES, "sm2", {"loss": "softmax"}),
]  # fmt: skip
over_cases = pytest.mark.parametrize(("instance", "name", "given"), CASES, ids=lambda one: str(one)[:30])
STARTED = [
    *((name, {}) for name in ("elastic", "block_elastic", "group_lasso", "ckl", "ml_sum", "ml_minimax")),
    ("sm1", {"theta": 0.4}), ("ts", {"lam": 1e-3}), ("ts_l1", {"lam": 1e-3}), ("hypergraph", {"lam": 0.1}),
]  # fmt: skip


@over_cases
def test_the_order_of_the_kernels_plays_no_part(instance, name, given):
    order = np.random.default_rng(3).permutation(instance.count)
    turned = instance.with_kernels(instance.kernels[order])
    one, other = (solve(problem, name, solver="interior", **given) for problem in (instance, turned))
    assert one.certified
    assert other.objective == pytest.approx(one.objective, rel=3e-9)
    assert other.weights == pytest.approx(one.weights[order], abs=1e-4 * one.weights.max())


@over_cases
def test_single_precision_and_files_are_read_as_they_are(instance, name, given, tmp_path):
    n = instance.samples
    single = (np.round(instance.kernels * 2**10 + 2 * n * np.eye(n)) / 2**10).astype(np.float32)  # still semidefinite
    np.save(tmp_path / "kernels.npy", single)
    mapped = np.load(tmp_path / "kernels.npy", mmap_mode="r")
    wide, *others = (
        solve(instance.with_kernels(kernels), name, solver="interior", **given)
        for kernels in (single.astype(float), single, mapped)
    )
    assert wide.certified
    for found in others:
        assert found.objective == pytest.approx(wide.objective, rel=1e-12)
        assert found.weights == pytest.approx(wide.weights, abs=1e-9)


@pytest.mark.parametrize(("name", "given"), STARTED)
def test_pairs_stay_positive_and_mu_falls(name, given):
    formulation = formulations.get(name)
    (made,) = (kind() for kind in KINDS if name in kind.serves)
    base = zoo.random(20, 4, seed=6)
    labels = np.column_stack([base.y > 0, np.arange(20) % 3 == 0])
    single = formulation.family in ("single task", "two stages")
    instance = base if single else Instance(base.kernels, labels=labels)
    problem = Problem(formulation, formulation.task(instance, given)[0], 1e-9)
    state, levels = made.start(problem), []
    while len(levels) < 40 and not state.stop_reason:
        assert all((value > 0).all() and (multiplier > 0).all() for value, multiplier in state.at.pairs)
        levels.append(state.at.mu)
        state = made.step(problem, state)
    assert levels[-1] < 1e-4 * levels[0]
    assert drive(made, formulation, problem.task, 1e-9)[1].ending == "certified"
