"""An interrupt is raised wherever it comes, and carries what was found; limits end a run with the best point."""

import _thread
import os
import pickle
import signal
import threading

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV
from sklearn.utils.validation import check_is_fitted

import mklcvx
from mklcvx import Instance, MKLClassifier, MKLRegressor, OneClassMKL, kernel_importance, mkl_path, solve, solve_path
from mklcvx.errors import Interrupted
from mklcvx.estimators.cross_validation import cross_validate
from mklcvx.formulations import get
from mklcvx.problem import threads
from mklcvx.solvers import interrupts, solving
from mklcvx.solvers.driver import drive
from mklcvx.solvers.one_against import solve_by_machines
from mklcvx.solvers.published.simplemkl import SimpleMKL

INSTANCE = mklcvx.zoo.random(24, 4, seed=4)
RNG = np.random.default_rng(0)
NUMPY = np.geterr()
X, Y = RNG.normal(size=(24, 3)), np.repeat([1, -1], 12)


class At:
    """Raises an interrupt when it is called for the n-th time."""

    def __init__(self, number):
        self.left = number

    def __call__(self, *_):
        self.left -= 1
        if self.left == 0:
            raise KeyboardInterrupt


def interrupting(number, assemble=solving.assemble):
    """`assemble` with an interrupt before its n-th call."""
    at = At(number)
    return lambda found: at() or assemble(found)


def interrupted(work, *given, **settings):
    with pytest.raises(KeyboardInterrupt) as caught:
        work(*given, **settings)
    assert isinstance(caught.value, Interrupted)
    return caught.value.solution


@pytest.mark.parametrize("solver", ["auto", "interior", "simplemkl", "silp"])
@pytest.mark.parametrize("number", [1, 2, 3])
def test_an_interrupted_solve_raises_with_its_best_point(solver, number):
    right = solve(INSTANCE, "l1")
    found = interrupted(solve, INSTANCE, "l1", solver=solver, tol=1e-13, callback=At(number))
    bounds = found.certificate
    assert bounds.lower <= right.certificate.upper
    assert bounds.upper >= right.certificate.lower
    assert found.certified or f"it was interrupted after {number - 1} iterations" in found.message
    assert np.any(found.all_coefficients) or "f = 0" in found.message


@pytest.mark.parametrize("name", ["sum", "average", "ts", "alignment", "li", "vskl"])
def test_other_families_are_interrupted_alike(name):
    instance = Instance(INSTANCE.kernels, INSTANCE.y, groups=[0, 0, 1, 1])
    assert interrupted(solve, instance, name, callback=At(1)).formulation == name


def test_a_point_that_is_nothing_is_called_that(monkeypatch):
    monkeypatch.setattr(SimpleMKL, "start", lambda *_: At(1)())
    found = interrupted(solve, INSTANCE, "l1", solver="simplemkl")
    assert not np.any(found.all_coefficients)
    assert found.message.endswith("after 0 iterations; this is f = 0, which is known without a solver")


def test_a_second_interrupt_ends_at_once(monkeypatch):
    monkeypatch.setattr(solving, "assemble", At(1))
    with pytest.raises(KeyboardInterrupt) as caught:
        solve(INSTANCE, "l1", callback=At(1))
    assert type(caught.value) is KeyboardInterrupt


def test_an_interrupt_of_the_certificate_loses_nothing(monkeypatch):
    monkeypatch.setattr(solving, "assemble", interrupting(1))
    assert interrupted(solve, INSTANCE, "l1").certificate.relative_gap < 1e-6


@pytest.mark.parametrize("method", ["__enter__", "__exit__"])
@pytest.mark.parametrize("number", [1, 2, 3])
def test_an_interrupt_within_errstate_leaves_none(monkeypatch, method, number):
    """NumPy's own lines are Python's, too: what is set by then has not been noted, or not been reset."""
    at, original = At(number), getattr(np.errstate, method)

    def interrupted(self, *given):
        if method == "__exit__":
            at()
        original(self, *given)
        at()

    monkeypatch.setattr(np.errstate, method, interrupted)
    with pytest.raises(KeyboardInterrupt):
        solve(INSTANCE, "l1")
    monkeypatch.undo()
    assert np.geterr() == NUMPY


def test_paths_carry_the_points_that_were_finished():
    grid = {"C": [0.1, 1.0, 10.0]}
    found = interrupted(solve_path, INSTANCE, "l1", grid, report=At(3))
    assert [point["C"] for point in found.grid] == [0.1, 1.0]
    assert found.certified
    assert len(found.solutions) == 2


def test_a_path_of_an_estimator_carries_its_points_too(monkeypatch):
    monkeypatch.setattr(solving, "assemble", interrupting(3))
    assert len(interrupted(mkl_path, X, Y, {"C": [0.1, 1.0, 10.0]}).solutions) == 2


def test_folds_and_resamples_that_had_ended_are_carried():
    found = interrupted(cross_validate, INSTANCE, "l1", [{"C": 1.0}], folds=3, done=At(2))
    assert list(found) == [0, 1]
    asked = {"cv": 2, "resamples": 3, "answers": ["alone", "stability"]}
    found = interrupted(kernel_importance, MKLClassifier("l1"), X, Y, report=At(4), **asked)
    assert (found.alone.shape[0], found.resampled.shape[0]) == (2, 2)
    found = interrupted(kernel_importance, MKLClassifier("l1"), X, Y, report=At(1), **asked)
    assert (found.alone.shape[0], found.resampled) == (1, None)


def test_machines_that_had_ended_are_carried(monkeypatch):
    problem = Instance(INSTANCE.kernels, classes=np.arange(24) % 3)
    monkeypatch.setattr(solving, "assemble", interrupting(3))
    assert len(interrupted(solve_by_machines, problem, "l1")) == 2


@pytest.mark.parametrize("number", [1, 3, 4])
def test_a_search_is_interrupted_and_nothing_is_fitted(monkeypatch, number):
    monkeypatch.setattr(solving, "assemble", interrupting(number))
    search, model = GridSearchCV(MKLClassifier("l1"), {"C": [0.1, 1.0]}, cv=2), MKLClassifier("l1")
    assert interrupted(search.fit, X, Y).formulation == "l1"
    assert not hasattr(search, "best_params_")
    monkeypatch.setattr(solving, "assemble", interrupting(1))
    interrupted(model.fit, X, Y)
    with pytest.raises(NotFittedError):
        check_is_fitted(model)


@pytest.mark.parametrize(
    ("model", "place"),
    [
        (MKLClassifier("l1"), "mklcvx.estimators.classifier.MKLClassifier._warn"),
        (MKLClassifier("l1", probability=True), "mklcvx.estimators.classifier.calibrated"),
        (MKLClassifier("l1", compare_average=True), "mklcvx.estimators.classifier.compared"),
        (MKLRegressor("l1"), "mklcvx.estimators.regressor.MKLRegressor._warn"),
        (MKLRegressor("l1", compare_average=True), "mklcvx.estimators.regressor.compared"),
        (OneClassMKL("l1"), "mklcvx.estimators.one_class.OneClassMKL._offset"),
    ],
)
def test_what_follows_the_solve_belongs_to_the_fit(monkeypatch, model, place):
    model = clone(model)
    with monkeypatch.context() as patched:
        patched.setattr(place, At(1))
        with pytest.raises(KeyboardInterrupt):
            model.fit(X, Y)
    with pytest.raises(NotFittedError):
        check_is_fitted(model)
    check_is_fitted(model.fit(X, Y))


def test_an_interrupt_of_another_process_arrives_whole():
    solution = solve(INSTANCE, "l1")
    again = pickle.loads(pickle.dumps(Interrupted(solution, "2 of 3 had ended")))
    assert (str(again), again.solution.objective) == ("2 of 3 had ended", solution.objective)


def test_at_the_command_line_the_main_thread_only_waits(monkeypatch):
    """The work is outside of Python, say, and does not hear of the interrupt."""
    begun, release = threading.Event(), threading.Event()
    monkeypatch.setattr(interrupts, "is_at_command_line", lambda: True)
    assert interrupts.interruptible(lambda: 3) == 3
    with pytest.raises(ZeroDivisionError):
        interrupts.interruptible(lambda: 1 / 0)

    def interrupt():
        begun.wait(30)
        os.kill(os.getpid(), signal.SIGINT)

    before = signal.signal(signal.SIGINT, signal.default_int_handler)  # a solver of another test may have taken it
    try:
        threading.Thread(target=interrupt).start()
        with pytest.raises(KeyboardInterrupt):
            interrupts.interruptible(lambda: begun.set() or release.wait(30))
    finally:
        release.set()
        signal.signal(signal.SIGINT, signal.default_int_handler if before is None else before)


def refused(*_):
    raise RuntimeError("can't start new thread")


@pytest.mark.parametrize("start", [refused, lambda *_: 0])  # the second begins, and has no memory to say so
def test_where_the_system_gives_no_thread_the_work_is_done_without(monkeypatch, start):
    before = set(threads.at_work)
    monkeypatch.setattr(interrupts, "is_at_command_line", lambda: True)
    monkeypatch.setattr(threads, "BEGINS", 0.01)
    monkeypatch.setattr(_thread, "start_new_thread", start)
    assert interrupts.interruptible(lambda: 3) == 3
    assert threads.at_work <= before


def test_a_thread_that_comes_late_is_no_longer_wanted(monkeypatch):
    late, done = [], []
    monkeypatch.setattr(threads, "BEGINS", 0.01)
    monkeypatch.setattr(_thread, "start_new_thread", lambda run, _: late.append(run))
    assert threads.begin(lambda: done.append(1)) is None
    late[0]()
    assert done == []


# ---------------------------------------------------------------------------------------------------------- limits
def years():
    """Features like years, whose kernels are nearly alike: first iterates are good and bad in turn."""
    rng = np.random.default_rng(0)
    features = 1950 + 50 * rng.random((40, 6))
    kernels = np.stack([np.outer(column, column) for column in features.T])
    return Instance(kernels, np.where(features[:, 0] > 1975, 1, -1), groups=[0, 0, 1, 1, 2, 2])


@pytest.mark.parametrize("name", ["l1", "sm1", "sm2", "l2", "lp", "elastic", "group_lasso", "vskl"])
@pytest.mark.parametrize("price", [1.0, 1e3])
def test_the_gap_does_not_grow_with_the_limit(name, price):
    instance, price = years(), {"lam": 1 / price} if name == "group_lasso" else {"C": price}
    found = [solve(instance, name, solver="interior", max_iter=k, **price) for k in range(1, 16)]
    gaps = [one.certificate.relative_gap for one in found]
    assert all(gap <= 1e-8 or gap <= (1 + 1e-6) * min(gaps[:k], default=np.inf) for k, gap in enumerate(gaps)), gaps


@pytest.mark.parametrize("solver", ["simplemkl", "level", "silp", "analytic"])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("price", [1.0, 1e4])
def test_the_gap_does_not_grow_with_the_limit_where_the_estimate_knows_nothing_of_the_ridge(solver, dtype, price):
    """In single precision δ is the whole gap: later points have less left of it without δ, and pay more for that."""
    instance = years()
    instance = instance.with_kernels(np.asarray(instance.kernels).astype(dtype))
    limits = (1, 2, 3, 4, 6, 8, 11, 15, 20)
    gaps = [solve(instance, "l1", solver=solver, max_iter=k, C=price).certificate.relative_gap for k in limits]
    assert all(gap <= (1 + 1e-6) * min(gaps[:k], default=np.inf) for k, gap in enumerate(gaps)), gaps


def test_a_callback_ends_the_run_with_the_iterate_at_hand():
    rows = []
    found = solve(years(), "l1", solver="interior", callback=lambda row: rows.append(row) or len(rows) == 6)
    assert found.iterations == 5
    assert found.certificate.relative_gap < 1


def test_a_run_keeps_its_best_point_by_the_relative_gap():
    task, _ = get("l1").task(INSTANCE, {"C": 1.0})
    limits = [drive(SimpleMKL(), get("l1"), task, 1e-12, max_iter=k)[0].certificate.relative_gap for k in range(1, 8)]
    assert limits == sorted(limits, reverse=True)
