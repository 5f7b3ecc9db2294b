"""One source for every default: the command line has those of Python. Options are given by name. Short `repr`s."""

import inspect

import numpy as np
import pytest

import mklcvx
from mklcvx import Instance, LowRank, solve, zoo
from mklcvx.bench.comparison import compare
from mklcvx.bench.matrix import plan
from mklcvx.cli import main as cli
from mklcvx.defaults import TOLERANCE, VERDICT_TOLERANCE
from mklcvx.estimators.cross_validation import cross_validate
from mklcvx.estimators.of_instance import importance_of
from mklcvx.solvers.solving import SOLVERS

PLACES = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)


def defaults_of(function):
    given = inspect.signature(function).parameters.values()
    return {one.name: one.default for one in given if one.default is not inspect.Parameter.empty}


@pytest.mark.parametrize(
    ("command", "function", "shared"),
    [
        (cli.solve, mklcvx.solve, {"solver", "tol", "time_limit", "max_iter"}),
        (cli.path, mklcvx.solve_path, {"solver", "tol", "time_limit", "max_iter"}),
        (cli.prove, mklcvx.prove, {"time_limit"}),
        (cli.verify, mklcvx.verify, {"formulation", "tol", "convention"}),
        (cli.bench, compare, {"rounds", "tol", "time_limit"}),
        (cli.cv, cross_validate, {"folds", "seed", "score", "centre", "normalise", "multi_class"}),
        (cli.kernels, importance_of, {"folds", "seed", "score", "answers", "repeats", "resamples", "threshold"}),
        (cli.conform, mklcvx.conform, {"solver", "formulation", "command", "specimens", "level", "time_limit"}),
        (cli.validate, plan, {"quick", "largest"}),
    ],
)
def test_the_command_line_has_the_defaults_of_python(command, function, shared):
    said, known = defaults_of(command), defaults_of(function)
    assert {name: said[name] for name in shared} == {name: known[name] for name in shared}
    both = (set(said) & set(known)) - {"jobs", "report", "options", "parameters", "instance", "diagnosis"}
    assert both == shared


def test_tolerances_have_one_source(run):
    assert defaults_of(mklcvx.verify)["tol"] == defaults_of(mklcvx.shrink)["tol"] == VERDICT_TOLERANCE
    assert {one.tolerance for one in SOLVERS if one.algorithm is None} == {TOLERANCE}
    for name in ("solve", "path", "report"):
        assert f"{TOLERANCE:g}" in run(name, "--help")[1]


@pytest.mark.parametrize("name", [name for name in mklcvx.__all__ if inspect.isfunction(getattr(mklcvx, name))])
def test_options_are_given_by_name(name):
    given = inspect.signature(getattr(mklcvx, name)).parameters.values()
    free = {"formulation"} | ({"solver"} if name == "conform" else set())  # which are no options but the question
    placed = {one.name for one in given if one.kind in PLACES and one.default is not inspect.Parameter.empty}
    assert placed <= free


# ----------------------------------------------------------------------------------------------------------- reprs
def test_reprs_say_what_a_thing_is_in_two_lines_at_most():
    problem = zoo.random(40, 3, seed=1)
    found = solve(problem, "sm1", C=2.0, theta=0.5)
    wrong = {"weights": found.weights, "alpha": 0 * found.alpha}
    report = mklcvx.verify(problem, "sm1", **wrong, C=2.0, theta=0.5, diagnosis=False)
    along = mklcvx.solve_path(problem, "l1", {"C": [0.1, 1.0, 10.0]})
    for thing, words in (
        (problem, ("Instance(", "3 float64 kernels", "40 samples", "target='y'")),
        (found, ("Solution('sm1', C=2.0", "theta=0.5", "solver='interior'", "status='certified'", "objective=")),
        (found.certificate, ("Certificate(lower=", "upper=", "relative_gap=")),
        (report, ("Report('sm1'", "verdict='rejected'", "weights='accepted'", "alpha='rejected'")),
        (along, ("RegularizationPath(3 points", "from C = 0.1 to C = 10.0", "3 certified")),
    ):
        shown = repr(thing)
        assert shown.count("\n") <= 1
        assert len(shown) < 240
        assert "array" not in shown
        for word in words:
            assert word in shown


def test_the_repr_of_an_instance_counts_what_it_has():
    rng = np.random.default_rng(0)
    factors, labels = rng.normal(size=(4, 6, 2)), rng.integers(0, 2, (6, 3))
    labels[0], labels[1] = 1, 0
    new = rng.normal(size=(4, 5, 6))
    problem = Instance(LowRank(list(factors)), labels=labels, groups=[0, 0, 1, 1], test_kernels=new)
    shown = "Instance(4 low-rank kernels, 6 samples, target='labels', 3 labels, 2 groups, 5 test samples)"
    assert repr(problem) == shown
    assert repr(Instance(factors @ factors.transpose(0, 2, 1), classes=[0, 1, 2, 0, 1, 2])) == (
        "Instance(4 float64 kernels, 6 samples, target='classes', 3 labels)"
    )


def test_the_repr_of_an_empty_path_is_short():
    assert repr(mklcvx.RegularizationPath((), ())) == "RegularizationPath(0 points, empty; 0 certified)"
