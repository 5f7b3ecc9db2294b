"""The doors of the public interface: a result, a refusal of ours in one line, or the caller's own error."""

import inspect
import re
import sys
import threading
from pathlib import Path

import numpy as np
import pytest
import scipy.optimize

import mklcvx
from mklcvx import InputError, Instance, solve, solve_path, verify, zoo
from mklcvx.errors import NotEnoughMemory
from mklcvx.problem.preprocessing import Centre, Preprocessing
from mklcvx.solvers import solving
from mklcvx.solvers.interior.engine import InteriorPoint
from mklcvx.solvers.silence import silent
from refusals import check_refused

INSTANCE = zoo.by_hand()
K, Y = INSTANCE.kernels, INSTANCE.y

SELF: list[object] = []
SELF.append(SELF)


class Hostile:
    def __array__(self, *_, **__):
        raise RuntimeError("boom\nin two lines")

    __repr__ = __len__ = __array__


# ------------------------------------------------------------------------------------------------------- what is said
@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: solve(K, Y, ["l1"]), "unknown formulation ['l1']"),
        (lambda: solve_path(INSTANCE, "l1", grid=3), "grid: 3 is no dict"),
        (lambda: verify(INSTANCE, "l1", trace=[1]), "trace = 1 is an int: give a list of dicts"),
        (lambda: Instance(K, Y, repair=np.ones(3)), "repair = array([1., 1., 1.]) is unknown"),
        (lambda: solve(INSTANCE, "l1", callback=3), "callback = 3 is an int: give a function"),
        (lambda: solve(INSTANCE, "l1", options=3), "options = 3 is an int: give a dict or None"),
        (lambda: solve(INSTANCE, "l1", solver="interior", report=int), "report = <class 'int'> is a type: give"),
        (lambda: INSTANCE.select(3), "kernels = 3 is an int: give a list of indices or names"),
        (lambda: solve(Hostile(), Y, "l1"), "a Hostile that cannot be read (RuntimeError: boom in two lines)"),
        (lambda: verify(INSTANCE, "l1", weights=Hostile()), "weights is a Hostile that cannot be read"),
        (lambda: solve(INSTANCE, "l1", C=Hostile()), "parameter C = … is not a number"),
        (lambda: solve(INSTANCE, "l1", time_limit=np.ones((4, 4))), "is not positive: give seconds"),
        (lambda: verify(INSTANCE, "l1", objective=1.0, convention=lambda _: None), "returned no Submission"),
        (lambda: mklcvx.LowRank([np.eye(3)]).matvecs("x"), "vector is not an array of real numbers: give 3"),
        (lambda: zoo.random(-1), "n = -1: give a whole number between 2 and"),
        (lambda: verify(INSTANCE, "sm1", objective=1.0, tau=0), "tau"),
        (lambda: mklcvx.second_stage(INSTANCE, solve(INSTANCE, "ts"), C=-1), "parameter C = -1 is outside the limits"),
        (lambda: mklcvx.save_instance("\ud800.npz", INSTANCE), "is no name that a file can have"),
        (lambda: mklcvx.LowRank([np.eye(3)]).sums(np.broadcast_to(1.0, (9, 10**7, 10**7))), "give (…, 3)"),
        (lambda: mklcvx.save_instance("\x00.npz", INSTANCE), "is no name that a file can have"),
        (lambda: mklcvx.save_instance("\x00", INSTANCE), "output"),
        (lambda: zoo.random(8, 2, seed=SELF), "seed = [[...]]: give a whole number"),
        (lambda: zoo.rank_one(8, 2, seed=None), "seed = None: give a whole number"),
        (lambda: INSTANCE.of_samples(3), "samples are an array () of int64: give a list of whole numbers"),
        (lambda: INSTANCE.of_samples([True] * 4), "samples are an array (4,) of bool"),
        (lambda: INSTANCE.of_samples([0, 4]), "samples has an index beyond 4 samples: give numbers from 0 to 3"),
        (lambda: Preprocessing([Centre()]).fit(K, sample_weight=1.0), "sample_weight has shape () for 4 samples"),
        (lambda: Preprocessing([Centre()]).fit(K, sample_weight=[0] * 4), "not positive and finite"),
        (lambda: Preprocessing([Centre()]).fit(np.broadcast_to(1.0, (2, 10**7, 10**7))), "memory"),
        (lambda: mklcvx.OneClassMKL(kernels=SELF).fit(np.eye(4)), "nested too deeply, or contains itself"),
    ],
)
def test_what_cannot_be_used_is_refused_in_one_line(call, words):
    with check_refused(words, limit=600):
        call()


def test_the_callers_own_errors_pass():
    class Mine(Exception):
        pass

    def raises(*_):
        raise Mine("of the caller")

    for option in ("callback", "report"):
        with pytest.raises(Mine, match="of the caller"):
            solve(INSTANCE, "l1", solver="interior", **{option: raises})
    with pytest.raises(ZeroDivisionError):  # numerical, but not of our numbers
        solve(INSTANCE, "l1", solver="interior", callback=lambda row: row.iteration / 0)
    with pytest.raises(Mine, match="of the caller"):  # given to an object before
        mklcvx.MKLClassifier(kernels=raises).fit(np.eye(4), [0, 1, 0, 1])


def test_multipliers_may_have_any_names():
    assert verify(INSTANCE, "l1", objective=1.125, multipliers={1: 2, "x": 3}).notes == ("not judged: 1, x",)


def test_a_wrong_number_of_arguments_is_said_by_python():
    with pytest.raises(TypeError, match="missing 2 required positional arguments: 'instance' and"):
        solve()


def test_what_nobody_has_foreseen_stays_what_it_is(monkeypatch):
    """Memory is refused in a line; a defect shows where it is."""
    monkeypatch.setattr(solving, "solved", lambda *_, **__: np.empty(10**18))
    with pytest.raises(NotEnoughMemory, match="not enough memory for this instance: use fewer samples"):
        solve(INSTANCE, "l1")
    monkeypatch.setattr(solving, "solved", lambda *_, **__: {}["defect"])
    with pytest.raises(KeyError, match="defect"):
        solve(INSTANCE, "l1")


def test_a_message_is_one_line_of_bounded_length():
    message = str(InputError("a\nb " + 10_000 * "x" + " give c"))
    assert "\n" not in message
    assert len(message) < 520
    assert message.startswith("a b x")
    assert message.endswith("give c")


def test_every_public_function_and_class_is_misused():
    calls = Path("validation/robustness/interface.py").read_text(encoding="utf-8")
    made_by_us = {"Solution", "Report", "RegularizationPath", "KernelImportance"}
    for name in mklcvx.__all__:
        called = inspect.isfunction(getattr(mklcvx, name)) or inspect.isclass(getattr(mklcvx, name))
        warns = inspect.isclass(getattr(mklcvx, name)) and issubclass(getattr(mklcvx, name), Exception)
        assert not called or warns or name in made_by_us or re.search(rf"\b{name}\b[,:()]", calls), name


# ------------------------------------------------------------------------------------------------ what numbers forbid
def singular(*_, **__):
    np.linalg.inv(np.zeros((2, 2)))


def too_small(*_, **__):
    scipy.optimize.brentq(lambda x: x - 0.5, 0, 1, xtol=-1)


@pytest.mark.parametrize("fault", [singular, too_small])
@pytest.mark.parametrize("place", ["start", "step", "points"])
def test_numbers_that_fail_inside_a_solve_are_a_status(monkeypatch, place, fault):
    monkeypatch.setattr(InteriorPoint, place, fault)
    solution = solve(INSTANCE, "l1", solver="interior")
    assert solution.status == "not_certified"
    assert "numbers left the range of double precision" in solution.message
    assert solution.certificate.lower <= 1.125 <= solution.certificate.upper


def test_numbers_that_fail_while_the_answer_is_put_together_are_a_status(monkeypatch):
    tries, usual = [], solving.assemble

    def once(found):
        tries.append(found)
        return singular() if len(tries) == 1 else usual(found)

    monkeypatch.setattr(solving, "assemble", once)
    solution = solve(INSTANCE, "l1", solver="interior")
    assert "Singular matrix" in solution.message
    assert solution.certificate.lower <= 1.125 <= solution.certificate.upper


def test_an_underflow_is_not_magnified_by_a_small_divisor():
    rng = np.random.default_rng(0)
    factor = rng.normal(size=(6, 2))
    instance = Instance((factor @ factor.T)[None] / 500, response=1e-93 * rng.normal(size=6))
    tiny = {"elastic": {"l1_ratio": 1e-100}, "block_elastic": {"l1_ratio": 0.5}, "sm2": {"theta": 1e90}}
    for name, own in tiny.items():
        certificate = solve(instance, name, loss="squared", bias=False, **own).certificate
        assert certificate.lower <= certificate.upper, name
    assert not mklcvx.Certificate(lower=1.0, upper=0.9, scale=1.0, width=-0.1).proves(1e-3)


def test_a_price_whose_square_underflows_ends():
    assert solve(zoo.random(6, 2), "group_lasso", lam=1e-300, time_limit=5.0).message


# ------------------------------------------------------------------------------------------------------------- silence
def test_a_solver_that_speaks_is_heard_by_nobody_and_others_are(capsys):
    with silent():
        sys.stdout.write("SCS says\n")
        other = threading.Thread(target=lambda: sys.stdout.write("another thread\n"))
        other.start()
        other.join()
        with silent():
            sys.stdout.write("SCS says\n")
    sys.stdout.write("afterwards\n")
    assert capsys.readouterr().out == "another thread\nafterwards\n"


def test_lapack_is_not_made_to_speak(capfd):
    instance = Instance(zoo.random(8, 3).kernels, zoo.random(8, 3).y, groups=[0, 0, 1])
    found = solve(instance, "group_lasso", lam=1e-320, loss="squared_hinge", time_limit=5.0)
    assert "left the range of double precision" in found.message
    assert capfd.readouterr() == ("", "")
