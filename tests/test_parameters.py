"""Parameters and choices: every limit with the words that refuse what lies outside it."""

from __future__ import annotations

import re

import numpy as np
import pytest

from mklcvx import InputError, Instance, formulations, solve, zoo
from mklcvx.solving import SOLVERS

from refusals import check_refused

RNG = np.random.default_rng(3)
N, M = 6, 4
Y = np.array([1, 1, 1, -1, -1, -1])
FEATURES = RNG.normal(size=(M, N, 2)) + 0.5 * Y[:, None]
K = FEATURES @ FEATURES.transpose(0, 2, 1) + 0.5 * np.eye(N)
INSTANCE = Instance(K, Y, groups=[0, 0, 1, 1])
ONE = Instance(K[:1], Y, groups=[0])
LABELS = np.array([[1, 0, 0], [1, 1, 0], [0, 1, 0], [0, 1, 1], [0, 0, 1], [0, 0, 0]])
LABELLED = Instance(K, labels=LABELS, label_names=["red", "green", "blue"])
NAMES = [formulation.name for formulation in formulations.FORMULATIONS]
SINGLE_TASKS = [formulation.name for formulation in formulations.SINGLE_TASKS]
FAMILIES = sorted(set(NAMES) - set(SINGLE_TASKS))


def resolved(name, instance=INSTANCE, **given):
    """Every parameter's value, without solving anything."""
    return formulations.get(name).task(instance, given)[1]


def instance_for(name):
    return ONE if name == "svm" else INSTANCE


# ------------------------------------------------------------------------------------------------------- limits
@pytest.mark.parametrize("name", sorted(set(NAMES) - {"hypergraph", "hypergraph_smooth"}))
@pytest.mark.parametrize("C", [0, -1, -1e-300])
def test_C_must_be_positive(name, C):
    with check_refused(f"parameter C = {C:g} is outside the limits of {name}", "C > 0", "default is 1"):
        resolved(name, instance_for(name), C=C)


@pytest.mark.parametrize(
    ("name", "given", "words"),
    [
        ("sm1", {"theta": 0.2499}, ("theta = 0.2499", "θ ≥ 1/M", "M = 4 here")),
        ("sm1", {"theta": 0}, ("theta = 0", "θ ≥ 1/M")),
        ("sm2", {"theta": 0}, ("theta = 0", "θ > 0", "default is 1")),
        ("smp", {"theta": -1}, ("theta = -1", "θ > 0")),
        ("square", {"theta": -0.5}, ("theta = -0.5", "θ > 0")),
        ("lp", {"p": 0.999}, ("p = 0.999", "p ≥ 1", "default is 3/2")),
        ("smp", {"p": 1}, ("p = 1", "p > 1")),
        ("smp", {"p": 0.5}, ("p = 0.5", "p > 1")),
        ("elastic", {"l1_ratio": -0.01}, ("l1_ratio = -0.01", "0 ≤ l1_ratio ≤ 1")),
        ("elastic", {"l1_ratio": 1.01}, ("l1_ratio = 1.01", "0 ≤ l1_ratio ≤ 1")),
        ("vskl", {"s": 1.99}, ("s = 1.99", "s ≥ 2", "default is 2")),
        ("l1", {"nu": 0}, ("nu = 0", "0 < ν ≤ 1")),
        ("l1", {"nu": 1.5}, ("nu = 1.5", "0 < ν ≤ 1")),
        ("l1", {"nu": -0.1}, ("nu = -0.1", "0 < ν ≤ 1")),
        ("ts", {"lam": 0}, ("lam = 0", "λ > 0", "default is 0.01")),
        ("ts_l1", {"lam": -1e-9}, ("lam = -1e-09", "λ > 0", "default is 0.01")),
        ("hypergraph", {"lam": 0}, ("lam = 0", "λ > 0", "default is 1")),
        ("hypergraph_smooth", {"lam": -2}, ("lam = -2", "λ > 0", "default is 1")),
        ("hypergraph_smooth", {"smoothing": 0}, ("smoothing = 0", "μ > 0", "default is 0.01")),
        ("hypergraph_smooth", {"smoothing": -1}, ("smoothing = -1", "μ > 0")),
        ("hypergraph", {"dimensions": 0}, ("dimensions = 0", "a whole number ≥ 1", "at most the rank of C")),
        ("hypergraph", {"dimensions": -1}, ("dimensions = -1", "a whole number ≥ 1")),
        ("hypergraph_smooth", {"dimensions": 1.5}, ("dimensions = 1.5", "a whole number ≥ 1")),
    ],
)
def test_own_parameters_outside_their_limits_are_refused(name, given, words):
    with check_refused("parameter ", f"is outside the limits of {name}", *words):
        resolved(name, **given)


@pytest.mark.parametrize("name", ["l1", "li", "ml_sum", "ts", "alignment"])
def test_a_number_whose_square_is_none_is_refused(name):
    with check_refused("parameter C = 1e+200 is too large for double precision"):
        resolved(name, C=1e200)


@pytest.mark.parametrize(("theta", "p"), [(1.0, 1e6), (1.0, 900), (1e-200, 5), (0.01, 150)])
def test_a_price_that_is_no_number_is_refused(theta, p):
    with check_refused(f"parameters p = {p:g} and theta = {theta:g}", "too large for a number", "sm1"):
        resolved("smp", theta=theta, p=p)
    assert resolved("smp", theta=3.0, p=1e6)["p"] == 1e6


@pytest.mark.parametrize(
    ("name", "key", "value"),
    [
        ("sm1", "theta", 1 / M),
        ("sm1", "theta", 5.0),
        ("lp", "p", 1.0),
        ("smp", "p", 1.001),
        ("elastic", "l1_ratio", 0.0),
        ("elastic", "l1_ratio", 1.0),
        ("vskl", "s", 2.0),
        ("l1", "nu", 1.0),
        ("ts", "lam", 1e-12),
        ("hypergraph", "dimensions", 1),
    ],
)
def test_limits_themselves_are_accepted(name, key, value):
    assert resolved(name, **{key: value})[key] == value


@pytest.mark.parametrize("count", [3, 7, 49])
def test_the_third_the_seventh_and_the_49th_survive_rounding(count):
    instance = Instance(np.broadcast_to(np.eye(4), (count, 4, 4)), [1, 1, -1, -1])
    assert resolved("sm1", instance, theta=1 / count)["theta"] == 1 / count
    with check_refused("θ ≥ 1/M"):
        resolved("sm1", instance, theta=0.999 / count)


@pytest.mark.parametrize("name", ["sm2", "smp", "square"])
def test_one_over_M_binds_sm1_only(name):
    assert resolved(name, theta=0.01)["theta"] == 0.01


@pytest.mark.parametrize("name", SINGLE_TASKS)
def test_every_parameter_has_a_default(name):
    formulation = formulations.get(name)
    given = resolved(name, instance_for(name))
    assert given.pop("C") == 1.0
    assert given.pop("bias") is True
    assert set(given) == {parameter.name for parameter in formulation.parameters}
    assert resolved(name, instance_for(name), **given) == {"C": 1.0, "bias": True, **given}


@pytest.mark.parametrize(
    ("name", "defaults"),
    [
        ("ml_sum", {"C": 1.0, "bias": False}),
        ("ml_minimax", {"C": 1.0, "bias": False}),
        ("ts", {"lam": 0.01, "balanced": False, "C": 1.0}),
        ("ts_l1", {"lam": 0.01, "balanced": False, "C": 1.0}),
        ("alignment", {"C": 1.0, "approximate": False}),
        ("hypergraph", {"expansion": "clique", "lam": 1.0, "dimensions": 3}),
        ("hypergraph_smooth", {"expansion": "clique", "lam": 1.0, "smoothing": 0.01, "dimensions": 3}),
    ],
)
def test_defaults_of_the_families(name, defaults):
    assert resolved(name, LABELLED) == defaults
    assert {*formulations.get(name).parameter_names, "bias"} == {*defaults, "bias"}


@pytest.mark.parametrize("name", ["hypergraph", "hypergraph_smooth"])
def test_dimensions_end_at_the_rank(name):
    assert resolved(name, LABELLED, dimensions=2.0)["dimensions"] == 2
    assert type(resolved(name, LABELLED, dimensions=2.0)["dimensions"]) is int
    with check_refused("parameter dimensions = 4 exceeds the rank of C", "give at most 3"):
        resolved(name, LABELLED, dimensions=4)
    twice = Instance(K, labels=LABELS[:, [0, 1, 1]])
    with check_refused("parameter dimensions = 3 exceeds the rank of C", "give at most 2"):
        resolved(name, twice, dimensions=3)


@pytest.mark.parametrize("name", ["hypergraph", "hypergraph_smooth"])
@pytest.mark.parametrize("expansion", ["clique", "star", "zhou", "kcca"])
def test_every_expansion_can_be_asked_for(name, expansion):
    assert resolved(name, LABELLED, expansion=expansion)["expansion"] == expansion


@pytest.mark.parametrize(
    ("expansion", "words"),
    [
        ("stra", "did you mean 'star'?"),
        ("Clique", "did you mean 'clique'?"),
        ("complete", "known: clique, kcca, star, zhou"),
        ("", "known: clique, kcca, star, zhou"),
        (3, "known: clique, kcca, star, zhou"),
    ],
)
def test_unknown_expansion_is_refused_with_the_nearest(expansion, words):
    with check_refused(f"parameter expansion = {expansion!r} is unknown", words):
        resolved("hypergraph", LABELLED, expansion=expansion)


# ---------------------------------------------------------------------------------------------------- C and nu
def balanced_as(positive, negative):
    n = positive + negative
    return Instance(np.eye(n)[None], [1] * positive + [-1] * negative)


@pytest.mark.parametrize(("positive", "negative"), [(1, 2), (2, 1), (2, 5), (3, 4), (1, 5), (7, 10)])
def test_infeasible_nu_is_refused_with_the_largest_feasible_one(positive, negative):
    instance = balanced_as(positive, negative)
    with pytest.raises(InputError, match=f"infeasible for the class balance {positive} : {negative}") as caught:
        resolved("l1", instance, nu=1.0)
    largest = float(re.search(r"give nu ≤ (\S+)", str(caught.value))[1])
    assert 0 <= 2 * min(positive, negative) / (positive + negative) - largest < 1.001e-6  # rounded down, six digits
    assert resolved("l1", instance, nu=largest)["nu"] == largest
    with check_refused("infeasible"):
        resolved("l1", instance, nu=largest * (1 + 1e-4))


def test_without_bias_every_nu_up_to_one_is_feasible():
    assert resolved("l1", balanced_as(1, 5), nu=1.0, bias=False)["nu"] == 1.0


def test_C_and_nu_together_are_refused():
    with check_refused("parameters C and nu are both given", "keep one"):
        resolved("l1", C=1.0, nu=0.5)


def test_nu_replaces_C():
    assert resolved("l1", nu=0.5) == {"nu": 0.5, "bias": True}


@pytest.mark.parametrize("name", ["li", "ckl", "vskl", "ml_sum", "ml_minimax", "ts", "alignment"])
def test_nu_is_not_offered_where_no_theorem_has_it(name):
    with check_refused(f"unknown parameter 'nu' of {name}", "C"):
        resolved(name, nu=0.5)


# ------------------------------------------------------------------------------------------- what is no number
NUMBERS = [
    ("l1", "C"), ("l1", "nu"), ("sm1", "theta"), ("lp", "p"), ("ml_sum", "C"), ("ts", "lam"),
    ("hypergraph_smooth", "smoothing"), ("hypergraph", "dimensions"),
]  # fmt: skip


@pytest.mark.parametrize("value", [True, False, np.True_, np.nan, np.inf, -np.inf, "ten", "", 1j, [1.0, 2.0], {}])
@pytest.mark.parametrize(("name", "key"), NUMBERS)
def test_what_is_no_finite_number_is_refused(name, key, value):
    with check_refused(f"parameter {key} = ", "is not a number", "give a single finite number"):
        resolved(name, **{key: value})


def test_an_integer_beyond_double_precision_is_refused():
    with check_refused("parameter C = ", "is not a number"):
        resolved("l1", C=10**400)


def test_an_array_is_refused_in_one_line():
    with check_refused("parameter C = ", "is not a number"):
        resolved("l1", C=np.eye(3))


@pytest.mark.parametrize("value", [2, 2.0, np.float32(2), np.int64(2)])
def test_numbers_of_any_type_are_accepted(value):
    number = resolved("l1", C=value)["C"]
    assert type(number) is float
    assert number == 2.0


@pytest.mark.parametrize(
    ("value", "flag"), [(True, True), (False, False), ("true", True), ("False", False), (0, False)]
)
def test_bias_is_true_or_false(value, flag):
    assert resolved("l1", bias=value)["bias"] is flag


@pytest.mark.parametrize("value", ["maybe", 2, 0.5, np.nan, [True]])
def test_other_words_for_bias_are_refused(value):
    with check_refused("parameter bias = ", "neither true nor false", "give bias=true or bias=false"):
        resolved("l1", bias=value)


@pytest.mark.parametrize(("name", "key"), [("ts", "balanced"), ("ts_l1", "balanced"), ("alignment", "approximate")])
def test_flags_of_the_two_stages_are_true_or_false(name, key):
    for value, flag in ((True, True), ("yes", True), (0, False), ("False", False)):
        assert resolved(name, **{key: value})[key] is flag
    for value in ("maybe", 2, np.nan):
        with check_refused(f"parameter {key} = {value!r} is neither true nor false", f"give {key}=true or {key}=false"):
            resolved(name, **{key: value})


# ------------------------------------------------------------------------------------------------------- names
@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("elastik", ("unknown formulation 'elastik'", "did you mean 'elastic'?")),
        ("L1", ("unknown formulation 'L1'",)),
        ("quantum", ("unknown formulation 'quantum'", "known: ", "average", "vskl")),
        ("", ("unknown formulation ''", "known: ")),
        (None, ("unknown formulation None", "known: ")),
    ],
)
def test_unknown_formulation_is_refused_with_the_nearest(name, words):
    with check_refused(*words):
        solve(INSTANCE, name, solver="exact")


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("exakt", ("unknown solver 'exakt'", "did you mean 'exact'?")),
        ("silp_exakt", ("unknown solver 'silp_exakt'", "did you mean 'silp_exact'?")),
        ("gurobi", ("unknown solver 'gurobi'", "known: alignment_nnls, analytic,")),
    ],
)
def test_unknown_solver_is_refused_with_the_nearest(name, words):
    with check_refused(*words):
        solve(INSTANCE, "l1", solver=name)


@pytest.mark.parametrize(
    ("name", "key", "words"),
    [
        ("sm1", "thet", ("unknown parameter 'thet' of sm1", "did you mean 'theta'?")),
        ("elastic", "l1ratio", ("unknown parameter 'l1ratio' of elastic", "did you mean 'l1_ratio'?")),
        ("l1", "theta", ("unknown parameter 'theta' of l1", "known: C, bias, nu")),
        ("l1", "biass", ("unknown parameter 'biass'", "did you mean 'bias'?")),
        ("ml_sum", "theta", ("unknown parameter 'theta' of ml_sum", "known: C")),
        ("ts", "lambda", ("unknown parameter 'lambda' of ts", "did you mean 'lam'?")),
        ("alignment", "balanced", ("unknown parameter 'balanced' of alignment", "known: C, approximate")),
        ("hypergraph", "dimension", ("unknown parameter 'dimension' of hypergraph", "did you mean 'dimensions'?")),
        ("hypergraph", "smoothing", ("unknown parameter 'smoothing' of hypergraph", "known: dimensions, expansion")),
    ],
)
def test_unknown_parameter_is_refused_with_the_nearest(name, key, words):
    with check_refused(*words):
        solve(INSTANCE, name, solver="exact", **{key: 1.0})


@pytest.mark.parametrize("name", FAMILIES)
def test_every_family_knows_its_own_parameters_only(name):
    known = ", ".join(sorted(formulations.get(name).parameter_names))
    with check_refused(f"unknown parameter 'colour' of {name}: known: {known}"):
        solve(LABELLED, name, solver="exact", colour=1.0)


# ---------------------------------------------------------------------------------------- what does not fit
def test_svm_takes_one_kernel():
    with check_refused("svm takes one kernel, the instance has 4", "select one kernel, or use sum, average or l1"):
        solve(INSTANCE, "svm", solver="exact")
    assert resolved("svm", ONE)["C"] == 1.0


@pytest.mark.parametrize("name", ["ckl", "vskl"])
def test_grouped_formulations_need_groups(name):
    with check_refused(f"{name} needs groups of kernels, the instance has none", "give groups, one integer per kernel"):
        solve(Instance(K, Y), name, solver="exact")


@pytest.mark.parametrize("name", sorted(set(NAMES) - {"l1", "sm1", "hypergraph"}))
def test_silp_exact_serves_l1_sm1_and_hypergraph_only(name):
    with check_refused(
        f"solver silp_exact does not fit {name}",
        "it solves l1, sm1 and hypergraph",
        f"{name} is solved by auto, exact, scs, interior",
    ):
        solve(INSTANCE, name, solver="silp_exact")


@pytest.mark.parametrize("name", SINGLE_TASKS)
@pytest.mark.parametrize("kind", ["classes", "labels"])
def test_single_tasks_ask_for_y(name, kind):
    given = {"classes": np.repeat(["a", "b", "c"], 2)} if kind == "classes" else {"labels": LABELS}
    instance = Instance(instance_for(name).kernels, **given, groups=instance_for(name).groups)
    with check_refused(
        f"{name} needs labels y in {{−1, +1}}, the instance has {kind}",
        f"give y, for example one of the 3 {kind} against the rest, or use ml_sum",
    ):
        solve(instance, name, solver="exact")


@pytest.mark.parametrize("name", ["ts", "ts_l1"])
def test_two_stages_need_samples_that_do_not_belong_together(name):
    labels = np.array([[1, 1, 0], [1, 0, 1], [0, 1, 1], [1, 1, 0], [1, 0, 1], [0, 1, 1]])  # any two share one
    with check_refused(f"{name}: every pair of samples belongs together", "give samples of two classes"):
        solve(Instance(K, labels=labels), name, solver="exact")


@pytest.mark.parametrize("name", FAMILIES)
def test_label_that_nobody_has_is_refused_by_name(name):
    instance = Instance(K, labels=LABELS * [1, 0, 1], label_names=["red", "green", "blue"])
    with check_refused("nobody has label 'green'", "leave that label out"):
        solve(instance, name, solver="exact")


@pytest.mark.parametrize("name", ["ml_sum", "ml_minimax", "alignment"])
def test_label_that_everybody_has_is_refused_by_name(name):
    instance = Instance(K, labels=np.maximum(LABELS, [0, 0, 1]), label_names=["red", "green", "blue"])
    with check_refused("everybody has label 'blue'", "leave that label out"):
        solve(instance, name, solver="exact")


@pytest.mark.parametrize("name", ["hypergraph", "hypergraph_smooth"])
def test_hypergraph_takes_a_label_that_everybody_has(name):
    assert resolved(name, Instance(K, labels=np.maximum(LABELS, [0, 0, 1])))["dimensions"] == 3


@pytest.mark.parametrize("tol", [0, -1e-8, 1, 2.0, np.nan, np.inf])
def test_tolerance_out_of_range_is_refused(tol):
    with check_refused("tol = ", "is not between 0 and 1", "give a relative gap such as 1e-8"):
        solve(INSTANCE, "l1", solver="exact", tol=tol)


@pytest.mark.parametrize("limit", [0, -1, np.nan])
def test_time_limit_must_be_positive(limit):
    with check_refused("time_limit = ", "is not positive", "give seconds"):
        solve(INSTANCE, "l1", solver="exact", time_limit=limit)


@pytest.mark.parametrize("limit", [0, -3])
def test_iteration_limit_must_be_positive(limit):
    with check_refused("max_iter = ", "is below 1", "give a number of iterations"):
        solve(INSTANCE, "l1", solver="exact", max_iter=limit)


@pytest.mark.parametrize("key", ["tol", "time_limit", "max_iter"])
def test_limits_that_are_no_numbers_are_refused(key):
    with check_refused(f"{key} = 'x'"):
        solve(INSTANCE, "l1", solver="exact", **{key: "x"})


def test_half_an_iteration_is_refused():
    with check_refused("max_iter = 2.5"):
        solve(INSTANCE, "l1", solver="exact", max_iter=2.5)


def test_refusals_come_before_any_solver_runs(monkeypatch):
    def forbidden(*_, **__):
        raise AssertionError("solved before refusing")

    for solver in SOLVERS:
        monkeypatch.setitem(solver.__dict__, "run", forbidden)
    for given in ({"C": 0}, {"tol": 0}, {"nu": 2}, {"colour": 1}):
        with pytest.raises(InputError):
            solve(INSTANCE, "l1", solver="exact", **given)
    for name, given in (("ml_sum", {"C": 0}), ("ts", {"lam": 0}), ("hypergraph", {"expansion": "x"})):
        with pytest.raises(InputError):
            solve(LABELLED, name, solver="exact", **given)
    for name in ("ml_sum", "ml_minimax", "hypergraph", "hypergraph_smooth"):
        with pytest.raises(InputError, match="nobody has label '1'"):
            solve(Instance(K, labels=LABELS * [1, 0, 1]), name, solver="exact")


@pytest.mark.parametrize(
    ("name", "own"),
    [
        ("sm1", {"theta": 0.5}),
        ("sm2", {"theta": 1.0}),
        ("smp", {"theta": 1.0, "p": 1.5}),
        ("square", {"theta": 1.0}),
        ("lp", {"p": 1.5}),
        ("elastic", {"l1_ratio": 0.5}),
        ("vskl", {"s": 2.0}),
    ],
)
def test_the_defaults_are_those_that_the_theorem_states(name, own):
    """Four kernels: 2/M is one half. C is 1, and there is a bias."""
    _, parameters = formulations.get(name).task(zoo.random(8, 4), {})
    assert parameters == {"C": 1.0, "bias": True, **own}


def test_the_default_of_sm1_with_one_kernel_is_one():
    _, parameters = formulations.get("sm1").task(zoo.random(8, 1), {})
    assert parameters["theta"] == 1.0
