"""The interior-point method for hypergraphs: its derivatives, its equations, and certified optima in hard cases."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from covering import covering
from hypergraphs import rational_dual, with_gaps
from labelled import synthetic
from mklcvx import Instance, formulations, solve, zoo
from mklcvx.certificate import certify
from mklcvx.formulations import Points
from mklcvx.formulations.families.hypergraph import EXPANSIONS, HyperTask
from mklcvx.solvers.driver import Problem
from mklcvx.solvers.interior import hypergraph
from mklcvx.solvers.interior.hypergraph import Fit, HypergraphSystem, InteriorHypergraph
from mklcvx.solvers.interior.settings import SETTINGS
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


# ------------------------------------------------------------------------------------------------------ derivatives
def task_with(labels: int = 3, smoothing: float | None = None, count: int = 4, seed: int = 0) -> HyperTask:
    rng = np.random.default_rng(seed)
    factors = rng.normal(size=(count, 7, 3)) * np.geomspace(0.3, 3, count)[:, None, None]
    return HyperTask(factors @ factors.transpose(0, 2, 1), rng.normal(size=(7, labels)), 0.7, smoothing)


def trace(task: HyperTask, theta: np.ndarray) -> float:
    matrix = np.eye(task.samples) + np.tensordot(theta, task.kernels, axes=1) / task.lam
    return float(np.trace(task.h.T @ np.linalg.solve(matrix, task.h)))


@pytest.mark.parametrize("room", [0, SETTINGS.label_block], ids=["label by label", "all labels"])
def test_fits_and_hessian_are_derivatives_of_the_trace(room, monkeypatch):
    monkeypatch.setattr(hypergraph, "SETTINGS", replace(SETTINGS, label_block=room))
    task, theta, tiny = task_with(), np.array([0.1, 0.2, 0.3, 0.4]), 1e-5
    fit = Fit(task, theta)
    sides = [[Fit(task, theta + sign * tiny * unit) for sign in (1, -1)] for unit in np.eye(4)]
    slopes = [(trace(task, theta + tiny * unit) - trace(task, theta - tiny * unit)) / (2 * tiny) for unit in np.eye(4)]
    assert -fit.fits == pytest.approx(slopes, rel=1e-8)
    hessian = [-(ahead.fits - behind.fits) / (2 * tiny) for ahead, behind in sides]
    assert fit.hessian == pytest.approx(np.array(hessian), rel=1e-7)
    assert np.trace(task.h.T @ fit.x) == pytest.approx(trace(task, theta), rel=1e-13)


def test_the_second_order_term_is_that_of_the_fits():
    task, theta, change, tiny = task_with(), np.array([0.1, 0.2, 0.3, 0.4]), np.array([0.3, -0.5, 0.4, -0.2]), 1e-3
    here, ahead, behind = (Fit(task, theta + t * change) for t in (0, tiny, -tiny))
    second = (ahead.fits - 2 * here.fits + behind.fits) / (2 * tiny**2)
    assert here.second_order(change) == pytest.approx(second, rel=1e-4)


@pytest.mark.parametrize("smoothing", [None, 0.2])
def test_the_direction_solves_the_linearised_equations(smoothing):
    """residual(x) + residual'(x)·step = 0 with derivatives by central differences; the corrector adds what it says."""
    task, name = task_with(smoothing=smoothing), "hypergraph" if smoothing is None else "hypergraph_smooth"
    problem, made = Problem(formulations.get(name), task, 1e-9), InteriorHypergraph()
    state = made.step(problem, made.start(problem))
    at, fit = state.at, state.fit
    newton, target, tiny = HypergraphSystem(at, fit, smoothing or 0.0), 0.3 * at.mu, 1e-6

    def residual(length, step):
        moved = at.moved(length, step)
        residual = moved.nu - Fit(task, moved.weights).fits + (smoothing or 0.0) * np.log(moved.weights) - moved.s
        return np.concatenate([residual, moved.weights * moved.s - target, [moved.weights.sum() - 1]])

    def linearised(step):
        return residual(0, step) + (residual(tiny, step) - residual(-tiny, step)) / (2 * tiny)

    predictor = newton.direction(target)
    size = np.abs(residual(0, predictor)).max()
    assert linearised(predictor) == pytest.approx(np.zeros(9), abs=1e-8 * size)
    neglected = np.concatenate([-state.fit.second_order(predictor.weights), predictor.weights * predictor.s, [0.0]])
    corrected = newton.direction(target, predictor)
    assert linearised(corrected) == pytest.approx(-neglected, abs=1e-8 * np.abs(neglected).max())


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
def test_certificates_wait_until_they_are_worth_it_and_the_foretold_gap_is_theirs(smoothing):
    name, made = "hypergraph" if smoothing is None else "hypergraph_smooth", InteriorHypergraph()
    formulation = formulations.get(name)
    task, _ = formulation.task(KINDS["rank one"](), {"lam": 0.1, **({"smoothing": smoothing} if smoothing else {})})
    problem = Problem(formulation, task, 1e-9)
    state, in_vain = made.start(problem), 0
    assert state.gap > 1e-5
    system = HypergraphSystem(state.at, state.fit, smoothing or 0.0)
    assert system.residual == pytest.approx(np.zeros(24), abs=1e-12 * state.at.nu)
    while not state.stop_reason:
        duals, primals = made.points(problem, state)
        assert len(duals) == len(primals) == (state.gap <= 1e-6)
        if duals:
            in_vain += state.gap > 1e-9
            certificate = certify(formulation, task, Points(duals, primals)).certificate
            assert certificate.relative_gap == pytest.approx(state.gap, rel=0.05, abs=1e-11)
        state = made.step(problem, state)
    assert in_vain <= 3
    assert state.gap <= 1e-10
    last = replace(made.start(problem), stop_reason="over")
    assert len(made.points(problem, last).duals) == len(made.points(problem, state).duals) == 1
    assert not made.points(problem, replace(state, idle=1, stop_reason="")).duals
