"""Answers with joint outputs: accepted where they are right, named where they are wrong; in files and on the command
line."""

import json

import numpy as np
import pytest

from joint_cases import FOR_CLASSES, classes, responses
from mklcvx import solve, verify
from mklcvx.io.files import save_instance

pytestmark = pytest.mark.slow

LOSSES = (*FOR_CLASSES, "squared", "huber")


def instance_for(loss):
    return classes() if loss in FOR_CLASSES else responses()


@pytest.fixture(params=LOSSES)
def solved(request):
    instance = instance_for(request.param)
    return instance, request.param, solve(instance, "l1", loss=request.param)


def test_our_own_answers_are_accepted(solved):
    instance, loss, found = solved
    parts = {"weights": found.weights, "alpha": found.alpha, "bias": found.bias, "objective": found.objective}
    report = verify(instance, "l1", **parts, coefficients=found.all_coefficients, loss=loss)
    assert report.accepted
    assert {part.name for part in report.parts} == {*parts, "coefficients"}
    assert report.optimum.lower <= found.certificate.upper


def test_wrong_answers_are_rejected_and_named(solved):
    instance, loss, found = solved
    turned = verify(instance, "l1", weights=found.weights, alpha=found.alpha[[1, 0, 2]], loss=loss)
    assert (turned.verdict, turned.diagnosis.name) == ("rejected", "outputs_swapped")
    mean = verify(instance, "l1", weights=found.weights, objective=found.objective / 3, loss=loss)
    assert (mean.verdict, mean.diagnosis.name) == ("rejected", "objective_units")
    for wrong in ({"weights": np.eye(3)[2]}, {"alpha": 0.5 * found.alpha}, {"bias": found.bias + np.eye(3)[0]}):
        assert verify(instance, "l1", **wrong, loss=loss, diagnosis=False).verdict == "rejected"


def test_another_price_is_named(solved):
    instance, loss, _ = solved
    other = solve(instance, "l1", loss=loss, C=1 / instance.samples)
    report = verify(instance, "l1", weights=other.weights, alpha=other.alpha, loss=loss)
    assert (report.verdict, report.diagnosis.name) == ("rejected", "C_over_n")


def test_a_bias_where_there_is_none():
    found = solve(classes(), "l1", loss="softmax", bias=False)
    parts = {"alpha": found.alpha, "weights": found.weights, "parameters": {"bias": False, "loss": "softmax"}}
    assert verify(classes(), "l1", **parts, bias=np.zeros(3)).accepted
    assert verify(classes(), "l1", **parts, bias=np.ones(3), diagnosis=False).verdict == "rejected"


def test_the_command_line(solved, tmp_path, run, succeeds, refusal):
    instance, loss, found = solved
    problem, answer = tmp_path / "problem.npz", tmp_path / "answer.json"
    save_instance(problem, instance)
    code, out, _ = run("solve", problem, "-f", "l1", "--set", f"loss={loss}", "-o", answer, "--json")
    record = json.loads(out)
    assert (code, record["formulation"], record["parameters"]["loss"]) == (0, "l1", loss)
    assert np.shape(record["alpha"]) == (3, 15)
    assert record["objective"] == pytest.approx(found.objective, rel=1e-7)
    assert run("verify", problem, answer)[0] == 0
    assert run("solve", problem, "-f", "l1", "--set", f"loss={loss}")[0] == 0
    assert run("report", problem, "-f", "l1", "--set", f"loss={loss}", "-o", tmp_path / "page.html")[0] == 0
    assert "li has no form for several outputs" in refusal("solve", problem, "-f", "li", "--set", f"loss={loss}")
    out, _ = succeeds("prove", problem, "-f", "l1", "--set", f"loss={loss}", "--json")
    proof = json.loads(out)
    assert float(proof["lower"]) <= found.certificate.upper
    assert float(proof["upper"]) >= found.certificate.lower


def test_alpha_of_several_responses_that_is_too_long_for_the_dual_is_no_answer():
    right = solve(responses(), "group_lasso", loss="huber", lam=0.5, C=10.0, tol=1e-11)
    asked = {"loss": "huber", "lam": 0.5, "C": 10.0, "diagnosis": False}
    for factor, verdict in ((1.0, "accepted"), (1.01, "rejected")):
        report = verify(responses(), "group_lasso", alpha=factor * right.alpha, **asked)
        assert report.verdict == verdict
