"""Names of formulations, parameters and solvers, and what does not fit together: refused, with the nearest."""

import numpy as np
import pytest

from mklcvx import InputError, Instance, formulations, solve
from mklcvx.solvers.solving import SOLVERS
from parameter_cases import FAMILIES, INSTANCE, LABELLED, LABELS, NAMES, SINGLE_TASKS, K, Y, instance_for, resolved
from refusals import check_refused


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
