"""What is wrong is rejected, whatever it is wrapped in; and what is right is not rejected for its words."""

import numpy as np
import pytest

from mklcvx import Instance, decision_interval, shrink, solve, verify, zoo
from mklcvx.solvers.solving import Solution
from mklcvx.verification.diagnosis.families import conditions
from mklcvx.verification.judge import judge_submission
from mklcvx.verification.submissions import submission_of
from refusals import check_refused

SMALL = zoo.random(14, 3, seed=2)


@pytest.fixture(scope="module")
def small() -> Solution:
    return solve(SMALL, "l1", tol=1e-9)


def kinds(report) -> list[tuple[str, ...]]:
    return [one.kinds for one in report.diagnosis.explanations]


@pytest.mark.parametrize("bias", [700.0, 711.0, 1e308])
def test_a_bias_whose_risk_is_no_number_is_rejected(bias):
    instance = zoo.specimen("counts").instance()
    found = solve(instance, "l1", loss="poisson")
    given = {"weights": found.weights, "alpha": found.alpha, "objective": found.objective}
    assert verify(instance, "l1", loss="poisson", **given, bias=found.bias, diagnosis=False).accepted
    assert not verify(instance, "l1", loss="poisson", **given, bias=bias, diagnosis=False).accepted
    two = Instance(instance.kernels, response=np.column_stack([instance.targets.values] * 2))
    both = solve(two, "l1", loss="poisson")
    given = {"weights": both.weights, "alpha": both.alpha}
    assert verify(two, "l1", loss="poisson", **given, bias=both.bias, diagnosis=False).accepted
    assert not verify(two, "l1", loss="poisson", **given, bias=[bias, bias], diagnosis=False).accepted


def test_undefined_weights_are_for_formulations_that_have_them(small):
    with check_refused("weights has entries that are not finite"):
        verify(SMALL, "l1", weights=[np.nan, 7.0, -3.0], coefficients=small.all_coefficients)
    found = solve(SMALL, "li", tol=1e-9)
    functions = {"coefficients": found.all_coefficients, "diagnosis": False}
    assert verify(SMALL, "li", weights=[np.nan, *found.weights[1:]], **functions).accepted
    assert not verify(SMALL, "li", weights=[np.nan, found.weights[1], -3.0], **functions).accepted
    with check_refused("weights has entries that are not finite"):
        verify(SMALL, "li", weights=[np.inf, *found.weights[1:]], **functions)


def test_bounds_that_do_not_hold_the_optimum_are_all_that_is_wrong(small):
    record = {"formulation": "l1", "parameters": {"C": 1.0}, "objective": small.objective}
    record |= {"weights": small.weights, "alpha": small.alpha}
    record["certificate"] = {"lower": small.objective + 1, "upper": small.objective + 2}
    report = judge_submission(submission_of(record, SMALL), 1e-6)
    assert not report.accepted
    assert kinds(report) == [("bounds:value",)]
    assert "lower ≤ optimum is violated" in report.diagnosis.explanations[0].evidence


def test_multipliers_alone_are_rejected_with_a_report():
    found = solve(SMALL, "ts")
    beta = np.roll(np.asarray(found.multipliers["beta"]), 1)
    assert not verify(SMALL, "ts", multipliers={"beta": beta}).accepted


def test_a_value_beyond_its_last_decimal_is_not_rounded():
    instance = zoo.by_hand()  # its optimal value is 1.125
    assert ("accuracy:decimals",) in kinds(verify(instance, "l1", objective=1.13, tol=1e-6))
    assert ("accuracy:decimals",) not in kinds(verify(instance, "l1", objective=1.3, tol=1e-6))


def test_an_answer_with_violated_constraints_is_not_said_to_have_none(small):
    noise = 1 + 0.01 * np.random.default_rng(0).normal(size=SMALL.samples)
    report = verify(SMALL, "l1", weights=small.weights, alpha=small.alpha * noise)
    for one in report.diagnosis.explanations:
        assert "no constraint is violated" not in one.evidence


def test_coefficients_of_lanckriet_belong_to_the_kernels_as_they_were():
    kernels = SMALL.kernels * np.array([1.0, 3.0, 0.2])[:, None, None]
    scaled = kernels / np.trace(kernels, axis1=1, axis2=2)[:, None, None]
    found = solve(Instance(scaled, SMALL.y), "l1", tol=1e-9)
    mu = found.weights / np.trace(kernels, axis1=1, axis2=2)
    functions = np.outer(mu, found.alpha * SMALL.y)
    given = {"weights": mu, "alpha": found.alpha, "coefficients": functions}
    assert verify(Instance(kernels, SMALL.y), convention="lanckriet", c=1.0, **given, diagnosis=False).accepted
    given["coefficients"] = np.outer(found.weights, found.alpha * SMALL.y)
    assert not verify(Instance(kernels, SMALL.y), convention="lanckriet", c=1.0, **given, diagnosis=False).accepted


def test_the_tube_of_nu_svr_is_judged_in_the_words_of_scikit_learn():
    instance = zoo.specimen("response").instance()
    instance = Instance(instance.kernels[:1], response=instance.targets.values)
    found = solve(instance, "svm", loss="nu_svr", nu=0.4, tol=1e-9)
    given = {"alpha": found.alpha, "bias": found.bias, "convention": "sklearn_nu_svr", "nu": 0.4, "diagnosis": False}
    tube = float(found.multipliers["epsilon"])
    report = verify(instance, **given, multipliers={"epsilon": tube})
    assert report.accepted
    assert "epsilon" in {part.name for part in report.parts}
    assert not verify(instance, **given, multipliers={"epsilon": 99.0}).accepted


def test_a_bias_that_should_be_zero_is_compared_with_the_outputs():
    response = 1e-8 * np.random.default_rng(0).normal(size=SMALL.samples)
    instance, given = Instance(SMALL.kernels, response=response), {"loss": "squared", "bias": False}
    found = solve(instance, "l1", **given)
    verdicts = [
        verify(instance, "l1", parameters=given, weights=found.weights, bias=bias, diagnosis=False).accepted
        for bias in (0.0, 1e-16, 5e-7)
    ]
    assert verdicts == [True, True, False]


def test_what_was_not_judged_is_said_without_a_diagnosis_too(small):
    report = verify(SMALL, "l1", weights=small.weights, multipliers={"taau": 5.0}, diagnosis=False)
    assert any("not judged: taau" in note for note in report.notes)


def test_a_tolerance_that_is_none_is_not_the_solvers_fault():
    with check_refused("tol = -1"):
        shrink(SMALL, "l1", lambda instance, **given: {"objective": solve(instance, "l1").objective}, tol=-1)


def test_columns_of_a_trace_may_have_any_order(run, tmp_path, small):
    from mklcvx.io.files import save_instance

    save_instance(tmp_path / "small.npz", SMALL)
    for order, code in (([2, 0, 1], 0), ([0, 1, 2], 0)):
        head = ",".join(f"weight {SMALL.names[m]}" for m in order)
        (tmp_path / "trace.csv").write_text(
            f"{head}\n" + ",".join(repr(float(small.weights[m])) for m in order) + "\n", encoding="utf-8"
        )
        assert run("verify", tmp_path / "small.npz", tmp_path / "trace.csv", "-f", "l1")[0] == code
    (tmp_path / "trace.csv").write_text(
        "weight a,weight b,weight c\n" + ",".join(map(repr, small.weights[::-1].tolist())), encoding="utf-8"
    )
    assert run("verify", tmp_path / "small.npz", tmp_path / "trace.csv", "-f", "l1")[0] == 1


def test_machines_are_let_go_after_a_judgement(small):
    verify(SMALL, "l1", weights=2 * small.weights, alpha=small.alpha)
    assert not conditions._LAST


def test_intervals_are_asked_for_in_their_shape():
    found = solve(SMALL, "sm2")
    diagonals = SMALL.kernels.diagonal(axis1=1, axis2=2)
    with check_refused("weights_interval of shape (2, 2)", "give (3, 2)"):
        decision_interval(SMALL, found, SMALL.kernels, diagonals, weights_interval=np.zeros((2, 2)))
    with check_refused("test_diagonals", "finite"):
        decision_interval(SMALL, found, SMALL.kernels, np.full(diagonals.shape, np.nan))


def test_reciprocal_weights_are_named_whatever_their_factor():
    found = solve(SMALL, "l2", tol=1e-9)
    for over in (0.5, 1.0):
        assert ("weights:reciprocal",) in kinds(verify(SMALL, "l2", weights=over / found.weights))
