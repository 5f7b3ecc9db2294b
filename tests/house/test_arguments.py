"""Kernels and y in place of an Instance; arguments in a wrong order; names that can be asked for."""

import inspect

import pytest

import mklcvx
from mklcvx import InputError, available_formulations, available_losses, available_solvers, solve, zoo
from mklcvx.formulations import losses
from mklcvx.solvers.solving import SOLVERS
from refusals import check_refused

INSTANCE = zoo.by_hand()
K, Y = INSTANCE.kernels, INSTANCE.y
KNOWN = solve(INSTANCE, "l1", C=2.0)
GROUPED = mklcvx.Instance(K, Y, groups=[0] * len(K))
BOTH = ("solve(instance, 'l1')", "solve(kernels, y, 'l1')")


@pytest.mark.parametrize(
    ("given", "options"),
    [
        ((K, Y, "l1"), {}),
        ((K.tolist(), Y.tolist(), "l1"), {}),
        ((list(K), Y, "l1"), {}),
        ((K, Y), {"formulation": "l1"}),
        ((K,), {"y": Y, "formulation": "l1"}),
        ((), {"kernels": K, "y": Y, "formulation": "l1"}),
        ((INSTANCE,), {"formulation": "l1"}),
        ((), {"instance": INSTANCE, "formulation": "l1"}),
    ],
)
def test_kernels_and_y_are_as_good_as_an_instance(given, options):
    assert solve(*given, **options, C=2.0).objective == KNOWN.objective


def test_factors_are_kernels_too():
    instance = zoo.random(12, 2, seed=0)
    factors = mklcvx.LowRank([kernel[:, :3] for kernel in instance.kernels])
    assert solve(factors, instance.y, "sum").certified


def test_the_other_functions_of_a_problem_take_kernels_and_y():
    assert mklcvx.verify(K, Y, "l1", weights=KNOWN.weights, C=2.0).accepted
    assert not mklcvx.verify(K, Y, "l1", objective=2 * KNOWN.objective, C=2.0).accepted
    found = mklcvx.solve_path(K, Y, "l1", {"C": [1.0, 2.0]})
    assert found.objectives[1] == pytest.approx(KNOWN.objective)
    part = mklcvx.shrink(K, Y, "l1", lambda instance, **_: {"objective": 0.0}, C=2.0)
    assert part.samples <= INSTANCE.samples


def test_proofs_take_kernels_and_y():
    proof = mklcvx.prove(K, Y, "l1", C=2.0)
    assert proof.lower <= KNOWN.certificate.upper
    assert KNOWN.certificate.lower <= proof.upper


@pytest.mark.parametrize(
    ("given", "words"),
    [
        (("l1", INSTANCE), ("the first argument is 'l1', a word",)),
        (("problem.npz", "l1"), ("the first argument is 'problem.npz'", "load_instance")),
        ((K, "l1"), ("the second is 'l1'", "not an Instance")),
        ((K, "l1", Y), ("the second is 'l1'",)),
        ((K,), ("y is missing",)),
        ((Y, K, "l1"), ("the wrong way round",)),
        ((Y, INSTANCE, "l1"), ("the wrong way round",)),
        ((INSTANCE, Y, "l1"), ("y is given beside an Instance",)),
    ],
)
def test_a_wrong_order_is_refused_with_the_right_one(given, words):
    with check_refused(*words, *BOTH):
        solve(*given)


def test_the_name_of_the_function_is_in_the_remedy():
    with check_refused("verify(instance, 'l1')", "verify(kernels, y, 'l1')"):
        mklcvx.verify("l1", INSTANCE)
    with check_refused("y is given beside an Instance"):
        solve(INSTANCE, "l1", y=Y)


def test_what_is_wrong_with_kernels_is_said_by_the_instance():
    with check_refused("y has 3 labels"):
        solve(K, Y[:3], "l1")


def test_the_signature_is_that_of_an_instance():
    names = list(inspect.signature(solve).parameters)
    assert names[:2] == ["instance", "formulation"]
    kinds = {one.kind for one in inspect.signature(solve).parameters.values()}
    assert kinds == {
        inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY, inspect.Parameter.VAR_KEYWORD,
    }  # fmt: skip


# ----------------------------------------------------------------------------------------------------------- names
def test_formulations_and_solvers_can_be_listed():
    assert available_formulations() == [formulation.name for formulation in mklcvx.formulations.FORMULATIONS]
    assert available_solvers() == [solver.name for solver in SOLVERS]
    assert {"auto", "interior", "clarabel", "scs"} <= set(available_solvers())


def test_losses_can_be_listed_by_target_and_formulation():
    every = [loss.name for loss in losses.ALL]
    assert available_losses() == every
    by_target = [available_losses(target=kind) for kind in ("labels", "classes", "response", "none")]
    assert sorted(name for some in by_target for name in some) == sorted(every)
    assert [some[0] for some in by_target] == ["hinge", "crammer_singer", "squared", "one_class"]
    assert available_losses("l1") == every
    assert {*every} - {*available_losses("li")} == {"nu", "one_class", *losses.JOINT}
    assert available_losses("ckl", target="none") == available_losses("ts") == []
    with check_refused("unknown kind of target 'responses'", "did you mean 'response'?"):
        available_losses(target="responses")
    with check_refused("unknown formulation 'l3'"):
        available_losses("l3")


@pytest.mark.parametrize("name", available_formulations())
def test_a_loss_is_listed_where_a_task_can_be_made_of_it(name):
    formulation, listed = mklcvx.formulations.get(name), available_losses(name)
    assert ("loss" in formulation.parameter_names) == bool(listed)
    for loss in losses.EVERY if listed else ():
        if loss.name not in listed:
            with check_refused(f"{name} has no ν-form, which loss {loss.name} is"):
                solve(GROUPED, name, loss=loss.name)


@pytest.mark.parametrize("name", available_formulations())
def test_every_listed_solver_solves_the_formulation(name):
    listed = available_solvers(name)
    assert {"auto", "clarabel", "scs"} <= set(listed)
    for solver in SOLVERS:
        serves = solver.serves is None or name in solver.serves
        assert (solver.name in listed) == serves


def test_solvers_of_an_unknown_formulation_are_refused():
    with pytest.raises(InputError, match="unknown formulation 'l3'"):
        available_solvers("l3")
