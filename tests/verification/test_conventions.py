"""Conventions: both sides solved, theirs as its source states it, ours certified; answers must be each other's."""

from dataclasses import replace
from functools import cache

import numpy as np
import pytest

from mklcvx import Instance, Solution, formulations, zoo
from mklcvx.verification.answers import Answer
from mklcvx.verification.conventions import ConvertedProblem, convert, get
from mklcvx.verification.judge import judge
from theirs import SOLVE, Theirs

pytestmark = pytest.mark.slow

INSTANCES = {
    "mixed": lambda: zoo.random(20, 4, overlap=0.7, seed=1),
    "imbalanced": lambda: zoo.random(24, 3, overlap=0.8, positive=0.25, seed=2),
    "sizes differ": lambda: zoo.badly_scaled(20, 3, spread=100.0, seed=3),
}
CASES = [
    ("simplemkl", {"C": 0.7}),
    ("spicymkl", {"lam": 0.4}),
    ("spicymkl", {"lam": 3.0}),
    ("spicymkl", {"lam": 0.1, "loss": "mean"}),
    ("kloft_lp", {"C": 2.0, "p": 1.5, "form": "ivanov"}),
    ("kloft_lp", {"C": 2.0, "p": 3.0, "form": "tikhonov", "mu": 0.3}),
    ("kloft_lp", {"C": 0.5, "p": 1.0, "form": "tikhonov", "mu": 5.0}),
    ("kloft_lp", {"C": 0.5, "p": 1.5, "form": "tikhonov", "mu": 0.1, "power": 1.0}),
    ("kloft_lp", {"C": 1.0, "p": 1.5, "form": "tikhonov", "mu": 2.0, "power": 1.5}),
    ("shogun_lp", {"C": 1.5, "p": 2.0}),
    ("shogun_lp", {"C": 1.5, "p": 1.0}),
    ("shogun_lp", {"C": 0.5, "p": 1.5, "C_positive": 2.0}),
    ("shogun_lp", {"C": 0.8, "block_norm": 1.6}),
    ("smo_mkl", {"C": 20.0, "lam": 0.5}),
    ("smo_mkl", {"C": 20.0, "lam": 2.0, "p": 1.5, "first_label": -1}),
    ("smo_mkl", {"C": 5.0, "lam": 0.2, "p": 1.0}),
    ("spg_gmkl", {"C": 20.0, "lam": 0.5, "regulariser": "l2", "set": "orthant"}),
    ("spg_gmkl", {"C": 20.0, "lam": 0.5, "regulariser": "l2", "set": "simplex"}),
    ("spg_gmkl", {"C": 20.0, "lam": 0.5, "regulariser": "l1", "set": "simplex"}),
    ("spg_gmkl", {"C": 20.0, "lam": 0.5, "regulariser": "l1", "set": "orthant"}),
    ("spg_gmkl", {"C": 20.0, "lam": 0.5, "regulariser": "lp", "p": 1.5, "set": "orthant"}),
    ("govindaraj_li", {"C": 1.2}),
    ("govindaraj_ckl", {"C": 1.2}),
    ("lanckriet", {"C": 0.9, "c": 12.0}),
    ("sklearn_svc", {"C": 0.9}),
    ("sklearn_svc", {"C": 0.9, "combination": "average"}),
    ("libsvm", {"C": 0.9, "first_label": 1}),
    ("libsvm", {"C": 0.9, "first_label": -1}),
    ("pegasos", {"lam": 0.02}),
    ("pegasos", {"lam": 0.02, "bias": True}),
]
IDS = [f"{name} {' '.join(map(str, given.values()))}" for name, given in CASES]


WORTH = 1e-6  # what a part of their answer may lose in ours, relative
VALUE = 1e-8  # how far their optimal value and ours may be apart, relative

every_case = pytest.mark.parametrize("case", range(len(CASES)), ids=IDS)
# Every case on the first instance, and on one of the others.
on_two = pytest.mark.parametrize(
    ("case", "kind"),
    [(case, kind) for case in range(len(CASES)) for kind in ("mixed", ("imbalanced", "sizes differ")[case % 2])],
    ids=[f"{one} {kind}" for place, one in enumerate(IDS) for kind in ("mixed", list(INSTANCES)[1 + place % 2])],
)


@cache
def instance_of(kind: str) -> Instance:
    return INSTANCES[kind]()


@cache
def solved(case: int, kind: str) -> Theirs:
    name, given = CASES[case]
    return SOLVE[name](instance_of(kind), **given)


def best(problem: ConvertedProblem) -> Solution:
    sharp = {} if problem.formulation in ("li", "ckl") else {"solver": "interior", "tol": 1e-11}
    return problem.solve(**sharp)


@on_two
def test_their_optimum_is_ours(case, kind):
    """Their problem, solved as stated, and converted: value, worth of weights and of α, decision values."""
    theirs = solved(case, kind)
    problem, answer = convert(theirs.answer, CASES[case][0], instance_of(kind), CASES[case][1])
    ours, chosen = best(problem), formulations.get(problem.formulation)
    task, _ = chosen.task(problem.instance, problem.parameters)
    scale = ours.certificate.scale
    if answer.objective is not None:
        assert answer.objective == pytest.approx(ours.objective, abs=VALUE * scale)
    if answer.weights is not None:
        assert judge(chosen, task, Answer(weights=answer.weights)).upper <= ours.objective + WORTH * scale
    lower = judge(chosen, task, Answer(alpha=answer.alpha)).lower
    assert lower >= ours.objective - WORTH * scale
    f = ours.decision_function(problem.instance.kernels)
    near = reach(problem.instance.kernels, ours.weights, ours.certificate.upper - lower)
    assert theirs.decision == pytest.approx(f, abs=near)
    assert answer.bias == pytest.approx(ours.bias, abs=near)


def reach(kernels: np.ndarray, weights: np.ndarray, lost: float) -> float:
    """How far decision values may move where α loses that much of the value: the dual is strongly concave in K(μ), so
    that ½‖f − f*‖² ≤ lost, and |f(x) − f*(x)| ≤ √k(x, x) ‖f − f*‖."""
    diagonals = np.diagonal(np.asarray(kernels), axis1=1, axis2=2)
    return float(np.sqrt(2 * lost * (np.nan_to_num(weights) @ diagonals).max()))


@every_case
def test_there_and_back(case):
    """The conversion of answers is one-to-one, whatever they say."""
    instance, convention, rng = instance_of("mixed"), get(CASES[case][0]), np.random.default_rng(5)
    problem = convention.to_ours(instance, CASES[case][1])
    weights = rng.uniform(0.1, 1, problem.instance.count)
    answer = Answer(
        weights, rng.uniform(0, 1, instance.samples), rng.normal(size=problem.instance.kernels.shape[:2]), {}, 0.3, -2.5
    )
    again = convention.answer_to_ours(convention.answer_from_ours(answer, problem), problem)
    for part in ("weights", "alpha", "coefficients", "bias", "objective"):
        assert getattr(again, part) == pytest.approx(getattr(answer, part), rel=1e-12), part
    for part in ("alpha", "bias", "objective"):
        alone = convention.answer_to_ours(replace(Answer(), **{part: getattr(answer, part)}), problem)
        assert [name for name, value in vars(alone).items() if value is not None and name != "multipliers"] == [part]
