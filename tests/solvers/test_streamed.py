"""Kernels that are never stored: bounds that meet those of stored kernels, a refinement that rises, honest endings."""

from itertools import pairwise

import numpy as np
import pytest

import mklcvx
from mklcvx import formulations, solve, solve_streamed
from mklcvx.certificate.proving import certified
from mklcvx.errors import InputError
from mklcvx.formulations import SINGLE_TASKS
from mklcvx.problem.kernels import Gaussian, KernelBank, Laplacian, MeanDistance
from mklcvx.problem.streamed import Streamed
from mklcvx.solvers.decomposition import Decomposition, nystroem
from mklcvx.solvers.driver import Problem
from refusals import peak_of

RNG = np.random.default_rng(1)
GAMMAS = [0.05, 0.5, 5.0]
X = RNG.normal(size=(240, 2))
Y = np.where(np.sin(2 * X[:, 0]) + 0.5 * RNG.normal(size=240) > X[:, 1], 1, -1)
STORED = mklcvx.Instance(KernelBank([Gaussian(gamma) for gamma in GAMMAS]).fit(X).stack(), Y)
STREAMED = mklcvx.Instance(Streamed(X, GAMMAS), Y)
OWN = {"lp": {"p": 1.5}, "elastic": {"l1_ratio": 0.4}, "sm1": {"theta": 0.5}, "block_elastic": {"l1_ratio": 0.5}}


def task_of(name="l1", **parameters):
    formulation = formulations.get(name)
    return formulation, formulation.task(STREAMED, parameters)[0]


def meet(one, other):
    return one.lower <= other.upper and other.lower <= one.upper


# ------------------------------------------------------------------------------------------- against stored kernels
@pytest.mark.parametrize("name", [name for name in Decomposition.serves if name != "svm"])
def test_both_intervals_hold_the_optimum(name):
    own = {"C": 2.0, **OWN.get(name, {})}
    found = solve_streamed(X, Y, GAMMAS, name, working_set=90, tol=1e-4, **own)
    known = solve(STORED, name, **own)
    assert found.status == "certified"
    assert found.certificate.relative_gap <= 1e-4
    assert meet(found.certificate, known.certificate)
    assert found.certificate.ridge == 0.0 < found.certificate.rounding < 1e-6
    assert found.iterations > 1  # the working set was not all there is


@pytest.mark.parametrize(
    "own",
    [{"nu": 0.3}, {"C": 1.0, "bias": False}, {"C": 0.01}, {"C": 100.0}],
    ids=["nu", "no bias", "small C", "large C"],
)
def test_other_sample_sides_too(own):
    found = solve_streamed(X, Y, GAMMAS, "l1", working_set=120, tol=1e-3, **own)
    assert found.certified
    assert meet(found.certificate, solve(STORED, "l1", **own).certificate)


def test_sample_weights_and_a_start_from_landmarks():
    weight = RNG.uniform(0.5, 2.0, size=len(Y))
    found = solve_streamed(X, Y, GAMMAS, "l2", working_set=90, landmarks=30, sample_weight=weight, tol=1e-3)
    known = solve(mklcvx.Instance(STORED.kernels, Y, sample_weight=weight), "l2")
    assert found.certified
    assert meet(found.certificate, known.certificate)
    assert found.trace[0].gap < solve_streamed(X, Y, GAMMAS, "l2", sample_weight=weight).trace[0].gap


def test_no_kernel_is_ever_formed(monkeypatch):
    monkeypatch.setattr(Streamed, "__getitem__", lambda *_: pytest.fail("a kernel was formed"))
    sizes, block = [], Streamed.block
    monkeypatch.setattr(Streamed, "block", lambda *args: sizes.append(len(args[2])) or block(*args))
    found = solve_streamed(X, Y, GAMMAS, "l1", working_set=60)
    assert found.certified
    assert max(sizes) == 60


def test_the_lower_bound_never_falls_and_seeds_repeat():
    formulation, task = task_of(C=2.0)
    problem, method = Problem(formulation, task, 1e-4), Decomposition(working_set=50, seed=3)
    state, values = method.start(problem), []
    for _ in range(8):
        values.append(formulation.lower(task, state.alpha).value)
        state = method.step(problem, state)
    assert all(b >= a - 1e-4 * abs(b) for a, b in pairwise(values))
    assert values[-1] > 1.2 * values[1] > 0
    one, other = (solve_streamed(X, Y, GAMMAS, "l1", working_set=50, max_iter=3, seed=3) for _ in range(2))
    np.testing.assert_array_equal(one.alpha, other.alpha)


@pytest.mark.parametrize("size", [240, 100])
@pytest.mark.parametrize("C", [1e3, 1e6])
def test_a_price_far_above_every_alpha_does_no_harm(C, size):
    """α is small there, as seen from C, and what a small α takes from f costs C times as much."""
    apart = np.where(X[:, 0] * X[:, 1] > 0, 1, -1)
    found = solve_streamed(X, apart, GAMMAS, "l1", C=C, working_set=size, max_iter=60)
    assert found.certified
    assert found.alpha.max() < C


@pytest.mark.parametrize("size", [20, 6])
def test_working_sets_can_grow_on_both_sides(size):
    """With a small C the samples of the smaller class have the whole gap; those of the other must grow with them."""
    rng = np.random.default_rng(3)
    points = rng.normal(size=(60, 2))
    y = np.where(points[:, 0] * points[:, 1] + 0.2 * rng.normal(size=60) > 0, 1, -1)
    assert solve_streamed(points, y, [0.1, 1.0, 10.0], "l1", C=1e-6, working_set=size, max_iter=90).certified


def test_predictions_need_no_stored_kernels():
    found = solve_streamed(X, Y, GAMMAS, "l1", C=2.0, working_set=90, tol=1e-4)
    new = RNG.normal(size=(40, 2))
    values = found.decision_function(KernelBank([Gaussian(gamma) for gamma in GAMMAS]).fit(X).cross(new))
    known = solve(STORED, "l1", C=2.0).decision_function(KernelBank([Gaussian(g) for g in GAMMAS]).fit(X).stack(new))
    assert np.mean(np.sign(values) == np.sign(known)) > 0.95


# ----------------------------------------------------------------------------------------------- wrong or unfinished
def test_an_end_before_the_tolerance_is_said():
    found = solve_streamed(X, Y, GAMMAS, "l1", C=5.0, working_set=20, max_iter=2)
    assert found.status == "not_certified"
    assert "relative gap" in found.message
    assert "2 iterations" in found.message
    assert meet(found.certificate, solve(STORED, "l1", C=5.0).certificate)


@pytest.mark.parametrize("bend", ["alpha", "weights", "turned"])
def test_a_wrong_answer_gets_no_certificate(bend):
    formulation, task = task_of(C=1.0)
    known = solve(STORED, "l1", C=1.0)
    alpha, mu = known.alpha, known.weights
    assert certified(formulation, task, alpha, mu, 1e-6).certificate.proves(1e-6)
    if bend == "alpha":
        alpha = np.where(RNG.uniform(size=len(Y)) < 0.1, task.box - alpha, alpha)
    elif bend == "weights":
        mu = mu[::-1]
    else:
        alpha = np.roll(alpha, 1)
    found = certified(formulation, task, alpha, mu, 1e-6).certificate
    assert not found.proves(1e-3)
    assert meet(found, known.certificate)


# ------------------------------------------------------------------------------------------------------ its parts
def test_the_start_copies_no_factors():
    """They are made one by one and put side by side; nothing else is as large."""
    many = RNG.normal(size=(3000, 2))
    y = np.where(np.sin(2 * many[:, 0]) + 0.5 * RNG.normal(size=3000) > many[:, 1], 1, -1)
    instance, method = mklcvx.Instance(Streamed(many, GAMMAS), y), Decomposition(landmarks=40, working_set=100)
    formulation = formulations.get("l1")
    problem = Problem(formulation, formulation.task(instance, {"C": 1.0})[0], 1e-2)
    Decomposition(landmarks=2, working_set=100).start(problem)  # what is imported at first takes memory as well
    assert peak_of(lambda: method.start(problem)) < 3 * nystroem(instance.kernels, np.arange(40)).nbytes


def test_landmarks_make_factors_from_below():
    kernels, every = Streamed(X[:60], GAMMAS), np.arange(60)
    exact = kernels.block(every, every)
    np.testing.assert_allclose(np.stack(list(nystroem(kernels, every))), exact, atol=1e-6)
    for part, kernel in zip(nystroem(kernels, every[::6]), exact, strict=True):
        assert np.linalg.eigvalsh(kernel - part)[0] > -1e-8
        np.testing.assert_allclose(part[::6, ::6], kernel[::6, ::6], atol=1e-6)


def test_the_stack_is_that_of_the_bank():
    bank = KernelBank([Gaussian(MeanDistance(2.0)), Gaussian(0.3)]).fit(X)
    kernels = Streamed(X, bank.kernels)
    np.testing.assert_allclose(kernels.gammas, bank.gammas, rtol=1e-12)
    vectors = RNG.normal(size=(2, len(X)))
    images = np.einsum("mij,mj->mi", bank.stack(), vectors)
    np.testing.assert_allclose(kernels.matvecs_each(vectors), images, atol=1e-10)
    np.testing.assert_allclose(kernels[:, 3, 5:9], bank.stack()[:, 3, 5:9], atol=1e-15)
    np.testing.assert_allclose(kernels[[1]].of_samples(np.arange(5))[0], bank.stack()[1, :5, :5], atol=1e-15)
    assert repr(mklcvx.Instance(kernels, Y)).startswith("Instance(2 streamed kernels")


def test_any_solver_takes_an_instance_of_it():
    found = solve(STREAMED, "l1", tol=1e-6)
    assert found.certified
    assert meet(found.certificate, solve(STORED, "l1").certificate)


# --------------------------------------------------------------------------------------------------------- refusals
@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"X": X[:, 0]}, "X has shape"),
        ({"X": np.where(X[3, 1] == X, np.nan, X)}, "not finite"),
        ({"X": 1e200 * X}, "above 1e"),
        ({"kernels": []}, "kernels is empty"),
        ({"kernels": [-1.0]}, "gamma"),
        ({"kernels": [1e40]}, "γ = 1e"),
        ({"kernels": [Laplacian(1.0)]}, "give Gaussians"),
        ({"kernels": ["wide"]}, "give Gaussians"),
        ({"formulation": "li"}, "does not serve li"),
        ({"landmarks": -1}, "landmarks"),
        ({"working_set": 1.5}, "working_set"),
        ({"seed": -1}, "seed"),
        ({"tol": 0}, "tol"),
        ({"max_iter": 0}, "max_iter"),
        ({"loss": "logistic"}, "loss logistic"),
        ({"y": Y[:-1]}, "y"),
        ({"working_set": 10**6, "X": np.zeros((2, 1)), "y": [1, 2]}, "y"),
    ],
)
def test_bad_input_gets_one_line(changes, words):
    given = {"X": X, "y": Y, "kernels": GAMMAS, "formulation": "l1", **changes}
    with pytest.raises(InputError, match=words) as fault:
        solve_streamed(given.pop("X"), given.pop("y"), given.pop("kernels"), given.pop("formulation"), **given)
    assert "\n" not in str(fault.value)


def test_working_sets_that_do_not_fit_are_refused(monkeypatch):
    monkeypatch.setenv("MKLCVX_MEMORY", "10MB")
    with pytest.raises(InputError, match=r"working sets of 1200 samples.*smaller working_set"):
        solve_streamed(np.tile(X, (5, 1)), np.tile(Y, 5), GAMMAS)


def test_every_formulation_with_weights_is_served():
    assert set(Decomposition.serves) == {one.name for one in SINGLE_TASKS if one.regulariser is not None}
