"""Parameters and choices: every limit with the words that refuse what lies outside it."""

import re
from types import SimpleNamespace

import numpy as np
import pytest

from mklcvx import InputError, Instance, formulations, solve
from mklcvx.formulations import Formulation
from mklcvx.problem.checks import shown
from mklcvx.solvers.solving import SOLVERS
from parameter_cases import (
    FAMILIES,
    INSTANCE,
    LABELLED,
    LABELS,
    NAMES,
    SINGLE_TASKS,
    K,
    M,
    Y,
    check_printed,
    instance_for,
    resolved,
)
from refusals import check_refused


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
        ("sm2", {"theta": 0}, ("theta = 0", "θ > 0", "default is 1")),
        ("lp", {"p": 0.999}, ("p = 0.999", "p ≥ 1", "default is 3/2")),
        ("elastic", {"l1_ratio": -0.01}, ("l1_ratio = -0.01", "0 ≤ l1_ratio ≤ 1")),
        ("l1", {"nu": 1.5}, ("nu = 1.5", "0 < ν ≤ 1")),
        ("ts_l1", {"lam": -1e-9}, ("lam = -1e-09", "λ > 0", "default is 0.01")),
        ("hypergraph_smooth", {"smoothing": 0}, ("smoothing = 0", "σ > 0", "default is 0.01")),
        ("hypergraph", {"dimensions": 0}, ("dimensions = 0", "a whole number ≥ 1", "at most the rank of A")),
        ("hypergraph_smooth", {"dimensions": 1.5}, ("dimensions = 1.5", "a whole number ≥ 1")),
    ],
)
def test_own_parameters_outside_their_limits_are_refused(name, given, words):
    with check_refused("parameter ", f"is outside the limits of {name}", *words):
        resolved(name, **given)


def test_the_largest_price_of_smp_is_e_to_the_600():
    """c = (4/(3θ))² where p = 3, and e^599.5 where p = 600.5."""
    theta = 4 / 3 * np.exp(-300.0)
    assert resolved("smp", theta=theta, p=3)["theta"] == theta
    assert resolved("smp", theta=2 * 599.5 / (600.5 * np.e), p=600.5)["p"] == 600.5
    for p, low in ((3, 0.99 * theta), (101, 1e-3)):
        with check_refused(f"parameters p = {p} and theta = {low:g}", "too large for a number"):
            resolved("smp", theta=low, p=p)


@pytest.mark.parametrize(
    ("name", "key", "value"),
    [("sm1", "theta", 1 / M), ("lp", "p", 1.0), ("l1", "nu", 1.0), ("hypergraph", "dimensions", 1)],
)
def test_limits_themselves_are_accepted(name, key, value):
    assert resolved(name, **{key: value})[key] == value


@pytest.mark.parametrize("count", [3, 7, 49])
def test_the_third_the_seventh_and_the_49th_survive_rounding(count):
    instance = Instance(np.broadcast_to(np.eye(4), (count, 4, 4)), [1, 1, -1, -1])
    assert resolved("sm1", instance, theta=1 / count)["theta"] == 1 / count
    with check_refused("θ ≥ 1/M"):
        resolved("sm1", instance, theta=0.999 / count)


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
    with check_refused("parameter dimensions = 4 exceeds the rank of A", "give at most 3"):
        resolved(name, LABELLED, dimensions=4)
    twice = Instance(K, labels=LABELS[:, [0, 1, 1]])
    with check_refused("parameter dimensions = 3 exceeds the rank of A", "give at most 2"):
        resolved(name, twice, dimensions=3)


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


@pytest.mark.parametrize("name", ["li", "ckl", "vskl"])
def test_nu_is_offered_for_the_tube_alone_where_there_is_no_margin_to_free(name):
    assert dict(formulations.get(name).described_parameters)["nu"].endswith("(loss nu_svr); 0 < ν ≤ 1; default 1/2")
    with check_refused(f"{name} has no ν-form, which loss nu is: use another loss"):
        resolved(name, nu=0.5)


# ------------------------------------------------------------------------------------------- what is no number
NUMBERS = [
    ("l1", "C"), ("l1", "nu"), ("sm1", "theta"), ("lp", "p"), ("ml_sum", "C"), ("ts", "lam"),
    ("hypergraph_smooth", "smoothing"), ("hypergraph", "dimensions"),
]  # fmt: skip


@pytest.mark.parametrize(
    "value", [True, False, np.True_, np.nan, np.inf, -np.inf, "ten", "", 1j, [1.0], np.eye(3), {}, 10**400]
)
@pytest.mark.parametrize(("name", "key"), NUMBERS)
def test_what_is_no_finite_number_is_refused(name, key, value):
    with check_refused(f"parameter {key} = ", "is not a number", "give a single finite number"):
        resolved(name, **{key: value})


@pytest.mark.parametrize("value", [2, 2.0, np.float32(2), np.int64(2)])
def test_numbers_of_any_type_are_accepted(value):
    number = resolved("l1", C=value)["C"]
    assert type(number) is float
    assert number == 2.0


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


def test_every_word_for_a_flag_is_understood():
    for words, flag in (((True, 1, 1.0, "true", "YES", "1.0"), True), ((False, 0, 0.0, "False", "no", "0.0"), False)):
        assert all(resolved("l1", bias=word)["bias"] is flag for word in words)


def test_numbers_whose_squares_are_none_are_refused():
    assert resolved("l1", C=1e100)["C"] == 1e100
    for number in (1.5e100, -1e200):
        with check_refused(f"parameter C = {number:g} is too large", "give at most 1e+100"):
            resolved("l1", C=number)


# ----------------------------------------------------------------------------------------------- what a family inherits
def test_a_formulation_classifies_and_compares_gaps_with_the_largest_term_unless_it_says_otherwise():
    assert all(formulation.classifies for formulation in formulations.FORMULATIONS)
    l1 = formulations.get("l1")
    for terms in ((-3, 0, 1, 2), (1, -3, 2, 0), (1, 2, 3, 0), (0, 1, 2, 3)):
        lower, upper = (SimpleNamespace(value=terms[k], largest_term=terms[k + 2]) for k in (0, 1))
        assert Formulation.scale(l1, lower, upper) == 3


@pytest.mark.parametrize(("name", "parameter"), [
    (formulation.name, parameter) for formulation in formulations.FORMULATIONS for parameter in formulation.parameters
    if parameter.name != "dimensions" and formulation.name != "sm1"  # whose limits depend on the instance
])  # fmt: skip
def test_limits_and_defaults_are_those_that_are_printed(name, parameter):
    check_printed(parameter)


def test_svm_takes_one_kernel():
    assert resolved("svm", instance_for("svm"))["C"] == 1
    with check_refused("svm takes one kernel, the instance has 4", "or use sum, average or l1"):
        resolved("svm")


@pytest.mark.parametrize(("count", "default"), [(1, 1.0), (2, 1.0), (8, 0.25)])
def test_sm1_has_a_box_of_twice_the_average_weight(count, default):
    instance = Instance(np.stack([np.eye(2)] * count), np.array([1, -1]))
    assert formulations.get("sm1").task(instance, {})[1]["theta"] == default


def test_a_value_is_shown_in_forty_characters_of_one_line():
    assert shown("a" * 100) == "'" + "a" * 38 + "…"
    assert shown(np.arange(3)[:, None]) == "array([[0], [1], [2]])"


def test_what_is_rare_is_said_of_few():
    """By default a formulation is a minimum, has a classifier and needs no groups."""
    for attribute, names in (
        ("maximises", ["alignment"]),
        ("embeds", ["hypergraph", "hypergraph_smooth"]),
        ("needs_groups", ["ckl", "vskl"]),
    ):
        assert [name for name in NAMES if getattr(formulations.get(name), attribute)] == names


SYMBOLS = {
    "single task": "risk(f) ≥ gain(α)",
    "many labels": "H_k(μ) = min over f_k",
    "two stages": "makes a K-example z_ij",
    "hypergraph": "\n    clique ",
}


@pytest.mark.parametrize("formulation", formulations.FORMULATIONS, ids=lambda formulation: formulation.name)
def test_the_family_explains_its_symbols(formulation):
    assert SYMBOLS[formulation.family] in formulation.notation


# ----------------------------------------------------------------------------------------- names, and what does not fit
# ------------------------------------------------------------------------------------------------------- names
@pytest.mark.parametrize(
    ("name", "given", "words"),
    [
        ("elastik", {}, ("unknown formulation 'elastik'", "did you mean 'elastic'?")),
        ("L1", {}, ("unknown formulation 'L1'",)),
        ("quantum", {}, ("unknown formulation 'quantum'", "known: ", "average", "vskl")),
        ("", {}, ("unknown formulation ''", "known: ")),
        (None, {}, ("unknown formulation None", "known: ")),
        ("l1", {"solver": "clarabell"}, ("unknown solver 'clarabell'", "did you mean 'clarabel'?")),
        ("l1", {"solver": "silp_exakt"}, ("unknown solver 'silp_exakt'", "did you mean 'silp_exact'?")),
        ("l1", {"solver": "gurobi"}, ("unknown solver 'gurobi'", "known: alignment_nnls, analytic,")),
        ("sm1", {"thet": 1}, ("unknown parameter 'thet' of sm1", "did you mean 'theta'?")),
        ("elastic", {"l1ratio": 1}, ("unknown parameter 'l1ratio' of elastic", "did you mean 'l1_ratio'?")),
        ("l1", {"theta": 1}, ("unknown parameter 'theta' of l1", "known: C, bias, delta, epsilon, loss, nu")),
        ("l1", {"biass": 1}, ("unknown parameter 'biass'", "did you mean 'bias'?")),
        ("ts", {"lambda": 1}, ("unknown parameter 'lambda' of ts", "did you mean 'lam'?")),
        ("hypergraph", {"dimension": 1}, ("unknown parameter 'dimension' of hyper", "did you mean 'dimensions'?")),
    ],
)
def test_unknown_names_are_refused_with_the_nearest(name, given, words):
    with check_refused(*words):
        solve(INSTANCE, name, **{"solver": "clarabel", **given})


@pytest.mark.parametrize("name", FAMILIES)
def test_every_family_knows_its_own_parameters_only(name):
    known = ", ".join(sorted(formulations.get(name).parameter_names))
    with check_refused(f"unknown parameter 'colour' of {name}: known: {known}"):
        solve(LABELLED, name, solver="clarabel", colour=1.0)


# ---------------------------------------------------------------------------------------- what does not fit


@pytest.mark.parametrize("name", ["ckl", "vskl"])
def test_grouped_formulations_need_groups(name):
    with check_refused(f"{name} needs groups of kernels, the instance has none", "give groups, one integer per kernel"):
        solve(Instance(K, Y), name, solver="clarabel")


@pytest.mark.parametrize("name", sorted(set(NAMES) - {"l1", "sm1", "hypergraph"}))
def test_silp_exact_serves_l1_sm1_and_hypergraph_only(name):
    with check_refused(
        f"solver silp_exact does not fit {name}",
        "it solves l1, sm1 and hypergraph",
        f"{name} is solved by auto, clarabel, scs, interior",
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
        solve(instance, name, solver="clarabel")


@pytest.mark.parametrize("name", ["ts", "ts_l1"])
def test_two_stages_need_samples_that_do_not_belong_together(name):
    labels = np.array([[1, 1, 0], [1, 0, 1], [0, 1, 1], [1, 1, 0], [1, 0, 1], [0, 1, 1]])  # any two share one
    with check_refused(f"{name}: every pair of samples belongs together", "give samples of two classes"):
        solve(Instance(K, labels=labels), name, solver="clarabel")


@pytest.mark.parametrize("name", FAMILIES)
def test_label_that_nobody_has_is_refused_by_name(name):
    instance = Instance(K, labels=LABELS * [1, 0, 1], label_names=["red", "green", "blue"])
    with check_refused("no sample has label 'green'", "leave that label out"):
        solve(instance, name, solver="clarabel")


@pytest.mark.parametrize("name", sorted({*FAMILIES} - {"hypergraph", "hypergraph_smooth"}))
def test_label_that_everybody_has_is_refused_by_name(name):
    instance = Instance(K, labels=np.maximum(LABELS, [0, 0, 1]), label_names=["red", "green", "blue"])
    with check_refused("every sample has label 'blue'", "leave that label out"):
        solve(instance, name, solver="clarabel")


@pytest.mark.parametrize("name", ["hypergraph", "hypergraph_smooth"])
def test_hypergraph_takes_a_label_that_everybody_has(name):
    assert resolved(name, Instance(K, labels=np.maximum(LABELS, [0, 0, 1])))["dimensions"] == 3


@pytest.mark.parametrize(
    ("key", "values", "words"),
    [
        ("tol", (0, -1e-8, 1, 2.0, np.nan, np.inf), ("is not between 0 and 1", "give a relative gap such as 1e-8")),
        ("time_limit", (0, -1, np.nan), ("is not positive", "give seconds")),
        ("max_iter", (0, -3, True), ("is below 1", "give a number of iterations")),
        ("max_iter", ("x", 2.5), ()),
        ("tol", ("x",), ()),
        ("time_limit", ("x",), ()),
    ],
)
def test_limits_of_a_run_are_refused_where_they_are_none(key, values, words):
    for value in values:
        with check_refused(f"{key} = ", *words):
            solve(INSTANCE, "l1", solver="clarabel", **{key: value})


def test_refusals_come_before_any_solver_runs(monkeypatch):
    def forbidden(*_, **__):
        raise AssertionError("solved before refusing")

    for solver in SOLVERS:
        monkeypatch.setitem(solver.__dict__, "run", forbidden)
    for given in ({"C": 0}, {"tol": 0}, {"nu": 2}, {"colour": 1}):
        with pytest.raises(InputError):
            solve(INSTANCE, "l1", solver="clarabel", **given)
    for name, given in (("ml_sum", {"C": 0}), ("ts", {"lam": 0}), ("hypergraph", {"expansion": "x"})):
        with pytest.raises(InputError):
            solve(LABELLED, name, solver="clarabel", **given)
    for name in ("ml_sum", "ml_minimax", "hypergraph", "hypergraph_smooth"):
        with pytest.raises(InputError, match="no sample has label '1'"):
            solve(Instance(K, labels=LABELS * [1, 0, 1]), name, solver="clarabel")
