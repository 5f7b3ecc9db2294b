"""The interior-point method for hypergraphs, those of joint outputs: certified optima in hard cases."""

from dataclasses import replace

import numpy as np
import pytest

from covering import covering
from hypergraphs import rational_dual, with_gaps
from labelled import synthetic
from mklcvx import Instance, formulations, solve, zoo
from mklcvx.certificate import certify
from mklcvx.formulations import Points
from mklcvx.formulations._entropy import ENTROPY
from mklcvx.formulations.families.hypergraph import EXPANSIONS, HyperTask
from mklcvx.formulations.families.joint import JointOutputs
from mklcvx.solvers.driver import Problem
from mklcvx.solvers.interior.joint import InteriorHypergraph, InteriorJoint, JointHessian
from mklcvx.solvers.interior.joint_unknowns import Coordinates
from mklcvx.solvers.registry import drive


def labelled(kernels: np.ndarray, k: int = 3, seed: int = 0, dependent: bool = False) -> Instance:
    return Instance(kernels, labels=synthetic(kernels.shape[1], k, seed, dependent).targets.values)


KINDS = {
    "random": lambda: labelled(zoo.random(30, 8, seed=1).kernels),
    "duplicated": lambda: labelled(zoo.duplicated(24, 6, seed=2).kernels),
    "rank one": lambda: labelled(zoo.rank_one(20, 24, seed=3).kernels),
    "1e9 apart": lambda: labelled(zoo.badly_scaled(30, 8, 1e9, seed=4).kernels),
    "one kernel": lambda: labelled(zoo.random(20, 1, seed=5).kernels),
    "dependent labels": lambda: labelled(zoo.random(24, 5, seed=6).kernels, 4, dependent=True),
    "no labels for some": lambda: with_gaps(labelled(zoo.random(24, 5, seed=7).kernels)),
    "wine": lambda: zoo.real("wine", "classes", 60, 12),
}


def found(instance: Instance, name: str, **given):
    formulation = formulations.get(name)
    task, _ = formulation.task(instance, given)
    point, run = drive(InteriorHypergraph(), formulation, task, 1e-9)
    return task, point, run


def optimal(kernels: np.ndarray, h: np.ndarray, lam: float, smoothing: float | None = None):
    formulation = formulations.get("hypergraph" if smoothing is None else "hypergraph_smooth")
    point, run = drive(InteriorHypergraph(), formulation, HyperTask(kernels, h, lam, smoothing), 1e-9)
    assert run.ending == "certified"
    return point


def task_with(count: int = 4, seed: int = 0) -> HyperTask:
    rng = np.random.default_rng(seed)
    factors = rng.normal(size=(count, 7, 3)) * np.geomspace(0.3, 3, count)[:, None, None]
    return HyperTask(factors @ factors.transpose(0, 2, 1), rng.normal(size=(7, 3)), 0.7)


# ----------------------------------------------------------------------------------------------------------- optima


@pytest.mark.parametrize(("lam", "smoothing", "kind"), covering([1e-3, 1.0, 1e6], [None, 1e-6, 0.01, 1e3], KINDS))
def test_hard_cases_are_certified_to_1e_9_in_few_steps(kind, smoothing, lam):
    instance = KINDS[kind]()
    for expansion in EXPANSIONS:
        given = {"lam": lam, "expansion": expansion}
        if smoothing is None:
            _, point, run = found(instance, "hypergraph", **given)
        else:
            _, point, run = found(instance, "hypergraph_smooth", smoothing=smoothing, **given)
        agree = point.certificate.gap <= point.certificate.rounding  # to the last bits of values that are far larger
        assert agree or run.ending == "certified"
        assert agree or 0 <= point.certificate.relative_gap <= 1e-9
        assert run.iterations <= 15


def test_two_samples_by_hand():
    """H = diag(a, b) and a kernel for either sample: a/(1 + θκ) = b/(1 + (1 − θ)κ) at the optimum, κ = k/λ."""
    a, b, ratio = 1.0, 0.8, 4.0
    point = optimal(2 * np.array([np.diag([1.0, 0]), np.diag([0, 1.0])]), np.diag([a, b]), 0.5)
    share = (a * (1 + ratio) - b) / (ratio * (a + b))
    assert point.lower.point.weights == pytest.approx([share, 1 - share], abs=1e-8)
    assert point.certificate.upper == pytest.approx(-((a + b) ** 2) / (2 + ratio), rel=1e-9)
    assert point.upper.point == pytest.approx(2 * np.diag([a / (1 + share * ratio), b / (1 + (1 - share) * ratio)]))


def test_smoothing_by_hand():
    """Kernels that all fit alike share the weight evenly: the entropy adds μ log M; a large μ does so to any."""
    h = np.random.default_rng(1).normal(size=(5, 2))
    value = optimal(np.stack([3 * np.eye(5)] * 4), h, 0.5, 0.1).certificate.upper
    assert value == pytest.approx(0.1 * np.log(4) - np.sum(h**2) / 7, rel=1e-9)
    point = optimal(task_with().kernels, task_with().h, 0.7, 1e6)
    assert point.lower.point.weights == pytest.approx(np.full(4, 0.25), abs=1e-5)


def test_the_best_multiple_of_the_identity_takes_all_and_kernels_of_zero_change_nothing():
    h = np.random.default_rng(1).normal(size=(5, 2))
    point = optimal(np.multiply.outer([1.0, 3.0, 2.0], np.eye(5)), h, 0.5)
    assert point.lower.point.weights == pytest.approx([0, 1, 0], abs=1e-8)
    assert point.certificate.upper == pytest.approx(-np.sum(h**2) / 7, rel=1e-9)
    assert optimal(np.zeros((2, 5, 5)), h, 0.5).certificate.upper == pytest.approx(-np.sum(h**2), rel=1e-12)


# ----------------------------------------------------------------------------------------------------------- endings
def test_where_rounding_is_all_that_is_left_the_certificate_still_holds():
    """Kernels of rank one, λ = 1e-8: large numbers cancel in every bound, and the exact value of θ is within."""
    vectors = np.random.default_rng(3).normal(size=(3, 6))
    instance = Instance(np.stack([np.outer(v, v) for v in vectors]), classes=np.arange(6) % 2)
    task, _, run = found(instance, "hypergraph", lam=1e-8)
    assert run.iterations <= 20
    solution = solve(instance, "hypergraph", solver="interior", lam=1e-8)
    lower, upper = solution.certificate.lower, solution.certificate.upper
    assert lower <= rational_dual(task, solution.weights) <= upper
    assert upper - lower < 1e-7


@pytest.mark.parametrize("smoothing", [None, 0.01, 10.0])
def test_certificates_wait_until_they_are_worth_it(smoothing):
    name, made = "hypergraph" if smoothing is None else "hypergraph_smooth", InteriorHypergraph()
    formulation = formulations.get(name)
    task, _ = formulation.task(KINDS["rank one"](), {"lam": 0.1, **({"smoothing": smoothing} if smoothing else {})})
    problem, in_vain, gap = Problem(formulation, task, 1e-9), 0, 1.0
    state = made.start(problem)
    assert not made.points(problem, state).duals
    while not state.stop_reason and gap > 1e-12:
        duals, primals = made.points(problem, state)
        assert len(duals) == len(primals)
        if duals:
            gap = certify(formulation, task, Points(duals, primals)).certificate.relative_gap
            in_vain += gap > 1e-9
            assert gap <= 1e-6
        state = made.step(problem, state)
    assert in_vain <= 3
    last = replace(made.start(problem), stop_reason="over")
    assert len(made.points(problem, last).duals) == 1


@pytest.mark.parametrize("smoothing", [None, 0.3])
def test_hypergraphs_are_joint_outputs(smoothing):
    """The squared loss with responses H, C = 1/λ, no bias: the value times −2λ, and Z = 2λα'; for the smoothed form the
    entropy of weights, σ/(2λ)."""
    instance, lam = KINDS["wine"](), 0.3
    given = {} if smoothing is None else {"smoothing": smoothing}
    solution = solve(instance, "hypergraph" if smoothing is None else "hypergraph_smooth", lam=lam, tol=1e-10, **given)
    task, _ = formulations.get(solution.formulation).task(instance, {"lam": lam, **given})
    assert solution.certified
    if smoothing is None:
        outputs = solve(Instance(instance.kernels, response=task.h), "l1", C=1 / lam, bias=False, tol=1e-10)
        value, weights, alpha = outputs.objective, outputs.weights, outputs.alpha
    else:
        single = JointOutputs.of(ENTROPY)
        priced = replace(task.outputs, box=np.full(task.samples, 1 / lam), own={"smoothing": smoothing / (2 * lam)})
        point, run = drive(InteriorJoint(), single, priced, 1e-10)
        assert run.ending == "certified"
        weights, alpha, value = point.upper.coefficients.weights, point.lower.alpha, point.upper.value
    assert -2 * lam * value == pytest.approx(solution.objective, rel=2e-8)
    assert weights == pytest.approx(solution.weights, abs=1e-5)
    assert 2 * lam * alpha.T == pytest.approx(solution.multipliers["Z"], abs=1e-5)


def test_equal_blocks_are_factored_once_and_solved_like_others():
    """V'(I ⊗ K)V + D of k outputs: one factorisation where D is the same for all, k where it is not."""
    task = replace(task_with().outputs, box=np.ones(7))
    hessian, rng = JointHessian(Coordinates(task)), np.random.default_rng(2)
    hessian.set_weights(np.full(4, 0.25))
    right = rng.normal(size=(2, 21))
    for diagonal, count in ((np.tile(rng.uniform(1, 2, 7), 3), 1), (rng.uniform(1, 2, 21), 3)):
        hessian.factor(diagonal)
        assert len(hessian.inverses) == count
        whole = np.kron(np.eye(3), task.combined(np.full(4, 0.25))) + np.diag(diagonal)
        assert hessian.solve_roughly(right) == pytest.approx(np.linalg.solve(whole, right.T).T, rel=1e-9, abs=1e-9)
        assert hessian.solve_roughly(right[0]) == pytest.approx(np.linalg.solve(whole, right[0]), rel=1e-9, abs=1e-9)
