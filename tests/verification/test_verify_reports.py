"""The judge beyond the verdict: which weights are open, which parts belong together, what is refused, and shrinking."""

import numpy as np
import pytest

from judged import BINARY, LABELS, instance_for, parts_of, solution_of
from mklcvx import Instance, LowRank, shrink, solve, verify, zoo
from mklcvx.verification.answers import answer_of
from mklcvx.verification.case import AnswerPart, Enclosure
from mklcvx.verification.judge import judge_submission
from mklcvx.verification.shrinking import restricted
from mklcvx.verification.submissions import Submission
from refusals import check_refused

pytestmark = pytest.mark.slow


def test_unique_weights_are_not_called_loose():
    assert verify(BINARY, "l1", weights=solution_of("l1").weights).loose == ()
    assert verify(BINARY, "sm2", weights=solution_of("sm2").weights).loose == ()
    assert verify(LABELS, "ml_sum", weights=solution_of("ml_sum").weights).loose == ()
    twins = Instance(np.concatenate([LABELS.kernels] * 2), labels=LABELS.targets.values)
    doubled = np.concatenate([solution_of("ml_sum").weights, np.zeros(4)])
    assert {"K2", "K4", "K6", "K8"} <= {one.kernel for one in verify(twins, "ml_sum", weights=doubled).loose}


@pytest.mark.parametrize("name", ["alignment", "ts_l1", "hypergraph"])
def test_weights_of_two_stages_and_hypergraphs_are_unique_or_it_is_said_how_far_they_go(name):
    """A kernel and its copy share a weight in any way; without copies the weights are proved unique."""
    once, best = instance_for(name), solution_of(name, tol=1e-10)
    assert verify(once, name, weights=best.weights, tol=1e-7).loose == ()
    twins = once.with_kernels(np.concatenate([once.kernels, once.kernels]), groups=None, names=None)
    found = verify(twins, name, weights=np.concatenate([best.weights, 0 * best.weights]), tol=1e-7)
    assert found.accepted
    used = np.flatnonzero(best.weights > 1e-6)
    assert {one.kernel for one in found.loose} == {twins.names[m] for m in (*used, *(used + once.count))}
    size = best.weights.max() / max(one.high for one in found.loose)
    for m, one in zip(used, found.loose, strict=False):
        assert one.low == pytest.approx(0, abs=1e-2)
        assert one.high * size == pytest.approx(best.weights[m], rel=0.02)


def test_uniqueness_of_alignment_is_that_of_a_positive_definite_gram_matrix():
    """Three kernels in a plane: the Gram matrix is singular, and the weights along its kernel are open."""
    first, second = BINARY.kernels[0], BINARY.kernels[2]
    plane = Instance(np.stack([first, second, (first + second) / 2]), BINARY.y)
    best = solve(plane, "alignment", tol=1e-10)
    assert {one.kernel for one in verify(plane, "alignment", weights=best.weights, tol=1e-7).loose} >= {"K2", "K3"}
    apart = plane.select([0, 1])
    assert verify(apart, "alignment", weights=solve(apart, "alignment").weights, tol=1e-7).loose == ()


def test_whether_weights_and_alpha_belong_together():
    best, even = solution_of("l1", C=0.4), solution_of("average", C=0.4)
    right = verify(BINARY, "l1", weights=best.weights, alpha=best.alpha, C=0.4).together
    assert max(right.values()) < 1e-9
    svm = verify(BINARY, "l1", weights=even.weights, alpha=even.alpha, C=0.4, diagnosis=True).together
    assert svm["alpha_at_weights"] < 1e-9 < 1e-3 < svm["weights_at_alpha"]
    later = verify(BINARY, "l1", weights=even.weights, alpha=best.alpha, C=0.4).together
    assert later["alpha_at_weights"] > 1e-4
    other = verify(BINARY, "l1", weights=best.weights, alpha=best.alpha, coefficients=2 * best.all_coefficients, C=0.4)
    assert other.together["coefficients"] == pytest.approx(1.0)


@pytest.mark.parametrize(
    ("name", "multiplier"),
    [("li", "lambda"), ("ckl", "lambda"), ("ckl", "gamma"), ("vskl", "lambda"), ("ml_minimax", "gamma")],
)
def test_multipliers_on_simplices_are_worth_what_holding_them_costs(name, multiplier):
    right = solution_of(name).multipliers[multiplier]
    assert verify(instance_for(name), name, multipliers={multiplier: right}).accepted
    groups = {"ckl": BINARY.groups, "vskl": BINARY.groups}.get(name) if multiplier == "lambda" else None
    sizes = np.full(len(right), len(right)) if groups is None else np.bincount(groups)[groups]
    even = verify(instance_for(name), name, multipliers={multiplier: 1 / sizes}, diagnosis=False)
    assert even[multiplier].violation < 1e-12
    assert even[multiplier].excess > 1e-5
    assert even.verdict == "rejected"


@pytest.mark.parametrize("name", ["l1", "sm1", "sm2", "smp", "l2", "lp", "elastic", "block_elastic"])
def test_tau_is_judged_by_the_cost_that_it_makes(name):
    best = solution_of(name)
    tau = best.multipliers["tau"]
    assert verify(BINARY, name, alpha=best.alpha, multipliers={"tau": tau}).accepted
    wrong = verify(BINARY, name, alpha=best.alpha, multipliers={"tau": 0.7 * tau}, diagnosis=False)
    assert (wrong["alpha"].verdict(1e-6), wrong["tau"].verdict(1e-6)) == ("accepted", "rejected")
    assert "zeta" in " ".join(verify(BINARY, name, alpha=best.alpha, multipliers={"zeta": [0] * 4}).notes)


def test_a_false_certificate_is_found_out():
    best = solution_of("l1")
    for lower, upper, verdict in (
        (best.objective * 0.9, best.objective * 1.1, "accepted"),
        (best.objective * 1.1, best.objective * 1.2, "rejected"),
        (best.objective * 0.8, best.objective * 0.9, "rejected"),
    ):
        record = {"weights": best.weights, "certificate": {"lower": lower, "upper": upper}}
        report = judge_submission(Submission(BINARY, "l1", {}, answer_of(record)), 1e-6, diagnosis=False)
        assert report.verdict == verdict


def test_a_trace_is_judged_point_by_point():
    found = solve(BINARY, "l1", solver="simplemkl", tol=1e-6, C=0.4)
    points = [row.as_dict() for row in found.trace]
    report = verify(BINARY, "l1", trace=points, C=0.4)
    assert len(report.trace) == len(points) > 1
    excess = [point["weights"].excess for point in report.trace]
    assert excess[0] > 1e-4
    assert excess[-1] == report["weights"].excess <= 1e-5
    lying = [{**points[0], "lower": found.objective * 2, "upper": found.objective * 3}, points[-1]]
    first, last = verify(BINARY, "l1", trace=lying, C=0.4, tol=1e-3).trace
    assert (first["certificate"].verdict(1e-3), last["certificate"].verdict(1e-3)) == ("rejected", "accepted")


def test_a_convention_changes_what_is_handed_in_before_it_is_judged():
    best = solution_of("l1", C=0.4)

    def per_sample(submission):
        parameters = {"C": submission.parameters["C"] / submission.instance.samples}
        return Submission(submission.instance, submission.formulation, parameters, submission.answer)

    given = {"weights": best.weights, "alpha": best.alpha, "C": 0.4 * BINARY.samples}
    assert not verify(BINARY, "l1", diagnosis=False, **given).accepted
    assert verify(BINARY, "l1", convention=per_sample, **given).accepted


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({}, ("has none of weights",)),
        ({"trace": []}, ("trace", "no points")),
        ({"weights": [1, 2]}, ("weights", "shape (2,)", "give (4,)")),
        ({"weights": [1, 2, 3, np.nan]}, ("weights", "not finite")),
        ({"weights": ["1", "2", "3", "4"]}, ("weights", "real numbers")),
        ({"alpha": np.zeros((2, 8))}, ("alpha", "shape (2, 8)")),
        ({"objective": np.inf}, ("objective", "not finite")),
        ({"weights": [1, 0, 0, 0], "tol": 2.0}, ("tol", "between 0 and 1")),
        ({"weights": [1, 0, 0, 0], "C": -1}, ("C = -1",)),
        ({"multipliers": {"tau": 1.0}}, ("nothing that can be judged",)),
        ({"multipliers": {"zeta": [1.0] * 4}}, ("nothing that can be judged",)),
    ],
)
def test_what_cannot_be_judged_is_refused(given, words):
    with check_refused(*words):
        verify(BINARY, "l1", **given)


@pytest.mark.parametrize("bias", [np.nan, [0.0, np.inf, 0.0]])
def test_a_bias_that_is_no_number_is_refused_where_there_is_none(bias):
    with check_refused("bias", "not finite"):
        verify(LABELS, "ml_sum", bias=bias)


def test_where_the_optimum_is_not_known_well_enough_nothing_is_decided():
    known = Enclosure(lower=1.0, upper=1.01, scale=1.0)
    for value, verdict in ((1.0005, "accepted"), (1.005, "undecided"), (1.02, "rejected")):
        assert AnswerPart("weights", proves="upper", value=value).measured(known).verdict(1e-3) == verdict
    better = known.tightened([AnswerPart("alpha", proves="lower", value=1.0045)])
    assert AnswerPart("weights", proves="upper", value=1.005).measured(better).verdict(1e-3) == "accepted"


def test_a_formula_is_no_optimum():
    with check_refused("approximate", "leave it out"):
        verify(BINARY, "alignment", weights=[1, 0, 0, 0], approximate=True)


# --------------------------------------------------------------------------------------------------------- shrinking
def broken_in_ties(instance, C):
    """Right, except that it takes the second of two equal kernels for nothing at all, and α with it."""
    found = solve(instance, "l1", solver="interior", C=C)
    twins = any(np.array_equal(a, b) for m, a in enumerate(instance.kernels) for b in instance.kernels[:m])
    return {"weights": found.weights * (0.5 if twins else 1.0), "alpha": found.alpha}


def test_a_failing_instance_is_shrunk_to_what_makes_it_fail():
    large = zoo.duplicated(20, 6, seed=1)
    small = shrink(large, "l1", broken_in_ties, C=0.4)
    assert (small.count, small.samples) == (2, 2)
    assert np.array_equal(small.kernels[0], small.kernels[1])
    assert not verify(small, "l1", **broken_in_ties(small, 0.4), C=0.4, diagnosis=False).accepted


def test_a_solver_that_raises_fails_and_one_that_is_right_cannot_be_shrunk():
    def raising(instance, C):
        if instance.samples > 5:
            raise ZeroDivisionError
        return broken_in_ties(instance, C)

    assert shrink(BINARY, "l1", raising, C=0.4).samples == 6
    with check_refused("does not fail"):
        shrink(BINARY, "l1", broken_in_ties, C=0.4)


# ------------------------------------------------------------------------------------------------ kernels in factors
FACTORS = [np.round(np.random.default_rng(m).normal(size=(12, 2)) * 1024) / 1024 for m in range(4)]  # formed exactly
THIN = Instance(LowRank(FACTORS), np.repeat([1, -1], 6))
FORMED = Instance(np.array([factor @ factor.T for factor in FACTORS]), THIN.y)


@pytest.mark.parametrize("name", ["l1", "li", "ts", "alignment", "hypergraph"])
def test_kernels_in_factors_are_judged_as_if_they_were_formed(name):
    best = solve(FORMED, name)
    assert verify(THIN, name, **parts_of(best)).accepted
    parts = {"weights": np.full(4, 0.25), "objective": -best.objective, "diagnosis": name in ("l1", "hypergraph")}
    wrong = [verify(one, name, **parts) for one in (THIN, FORMED)]
    assert [report.verdict for report in wrong] == ["rejected", "rejected"]
    assert wrong[0].diagnosis == wrong[1].diagnosis
    assert wrong[0]["weights"].excess == pytest.approx(wrong[1]["weights"].excess, rel=1e-6, abs=1e-9)


def test_kernels_in_factors_are_shrunk_in_factors():
    small = shrink(THIN, "l1", lambda part, C: {"weights": np.full(part.count, 0.7)}, C=0.4)
    assert isinstance(small.kernels, LowRank)
    assert (small.count, small.samples) == (1, 2)
    chosen = [1, 5, 7]
    part = restricted(THIN, chosen).kernels
    assert np.array(list(part)) == pytest.approx(FORMED.kernels[:, chosen][:, :, chosen], abs=1e-14)


# ---------------------------------------------------------------------------------------------- what a report says
def test_a_report_prints_verdict_diagnosis_and_parts():
    best = solution_of("average")
    right = str(verify(BINARY, "average", alpha=best.alpha, objective=best.objective))
    assert right.startswith("average: accepted at 1e-06\noptimum: between ")
    assert "\nalpha: accepted, off by " in right
    wrong = verify(BINARY, "average", alpha=2 * best.alpha, objective=-best.objective)
    lines = str(wrong).splitlines()
    assert lines[0] == "average: rejected at 1e-06"
    assert lines[1] == f"diagnosis: {wrong.diagnosis.words}"
    assert any(line.startswith("alpha: rejected, off by ") and "α ≤ C violated by " in line for line in lines)


def test_alpha_of_the_support_vectors_alone_is_refused_with_what_to_do():
    with check_refused("alpha has shape (3,): give (", "0 where a sample is no support vector", "sklearn_svc"):
        verify(BINARY, "average", alpha=[1.0, 1.0, 0.5])


def test_a_part_that_is_misspelt_is_not_taken_for_a_parameter():
    with check_refused("answer: 'weight' is no part of an answer, and no parameter: did you mean 'weights'?"):
        verify(BINARY, "l1", weight=[1.0, 0.0, 0.0], C=1.0)
    with check_refused("answer: has none of weights, alpha"):
        verify(BINARY, "l1", C=1.0)


def test_a_combination_is_a_setting_of_a_convention():
    with check_refused("which is sum: leave it out, and give combination='average'"):
        verify(BINARY, "average", convention="sklearn_svc", objective=1.0)
    with check_refused("which is l1: leave it out"):
        verify(BINARY, "average", convention="simplemkl", objective=1.0)
    with check_refused("unknown convention 'sklearn': did you mean one of sklearn_kernel_ridge, ", "sklearn_svc"):
        verify(BINARY, convention="sklearn", objective=1.0)


def test_entries_of_kernels_in_factors():
    kernels, formed = THIN.kernels, FORMED.kernels
    rows, columns = np.array([0, 3, 11]), np.array([2, 3, 0])
    assert kernels[:, 3, 3:] == pytest.approx(formed[:, 3, 3:], abs=1e-14)
    assert kernels[:, 3:, 3] == pytest.approx(formed[:, 3:, 3], abs=1e-14)
    assert kernels[:, rows, columns] == pytest.approx(formed[:, rows, columns], abs=1e-14)
    with pytest.raises(TypeError, match="one row"):
        kernels[:, 1:, 1:]
