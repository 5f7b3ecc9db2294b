"""The judge: right answers from anybody are accepted, worse ones rejected exactly where they leave the tolerance."""

from __future__ import annotations

import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mklcvx import Instance, LowRank, formulations, shrink, solve, verify, zoo
from mklcvx.answers import answer_of
from mklcvx.checker import dual_cost
from mklcvx.judging.parts import Enclosure, Part
from mklcvx.judging.shrinking import restricted
from mklcvx.submissions import Submission
from mklcvx.verify import judge_submission

from cases import KINDS
from faults import BINARY, INTERIOR, LABELS
from refusals import check_refused

NAMES = [formulation.name for formulation in formulations.FORMULATIONS]
TWO_STAGES = ("ts", "ts_l1", "alignment")


def instance_for(name: str) -> Instance:
    if name.startswith(("ml_", "hypergraph")):
        return LABELS
    return BINARY.select([0]) if name == "svm" else BINARY


def solution_of(name: str, **given):
    solver = "interior" if name in INTERIOR else "exact"
    return solve(instance_for(name), name, solver=solver, **given)


def parts_of(solution) -> dict:
    parts = ("weights", "alpha", "coefficients", "multipliers", "objective")
    found = {part: getattr(solution, part) for part in parts if getattr(solution, part) is not None}
    return found if solution.embeds else {**found, "bias": solution.bias}


# ------------------------------------------------------------------------------------------------- right answers
@pytest.mark.parametrize("name", NAMES)
def test_our_own_answers_are_accepted_whole_and_part_by_part(name):
    solution = solution_of(name)
    whole = parts_of(solution)
    report = verify(instance_for(name), name, **whole)
    assert report.accepted, report
    assert report.diagnosis is None
    assert {"weights", "objective"} <= {part.name for part in report.parts}
    for part in [part for part in whole if part not in ("multipliers", "coefficients")]:
        alone = verify(instance_for(name), name, diagnosis=False, **{part: whole[part]})
        assert alone.accepted, (part, alone)
        assert [one.name for one in alone.parts] == [part]


@pytest.mark.parametrize("nu", [0.3, 0.6])
@pytest.mark.parametrize("bias", [True, False])
def test_the_nu_form_and_no_bias(nu, bias):
    given = {"nu": nu, "bias": bias}
    solution = solve(BINARY, "l1", solver="interior", **given)
    assert verify(BINARY, "l1", parameters=given, **parts_of(solution)).accepted
    wrong = verify(BINARY, "l1", weights=solution.weights, bias=solution.bias + 1, parameters=given, diagnosis=False)
    assert wrong["bias"].verdict(1e-6) == "rejected"


def test_a_support_vector_machine_by_libsvm_is_accepted_at_its_accuracy():
    from sklearn.svm import SVC

    instance = BINARY.select([1])
    model = SVC(C=0.7, kernel="precomputed", tol=1e-7).fit(instance.kernels[0], instance.y)
    alpha = np.zeros(instance.samples)
    alpha[model.support_] = np.abs(model.dual_coef_[0])
    assert verify(instance, "svm", alpha=alpha, bias=float(model.intercept_[0]), C=0.7).accepted
    signed = np.zeros(instance.samples)
    signed[model.support_] = model.dual_coef_[0]
    assert verify(instance, "svm", alpha=signed, C=0.7).diagnosis.name == "alpha_signed"


def test_a_projected_gradient_of_a_few_lines_is_accepted_at_its_accuracy():
    """max 1'α − ½ α'Qα over the box, for the average kernel without bias."""
    q = BINARY.y[:, None] * BINARY.kernels.mean(axis=0) * BINARY.y
    alpha, step = np.zeros(BINARY.samples), 1 / np.linalg.eigvalsh(q)[-1]
    for _ in range(3000):
        alpha = np.clip(alpha + step * (1 - q @ alpha), 0, 0.4)
    assert verify(
        BINARY, "average", alpha=alpha, objective=alpha.sum() - alpha @ q @ alpha / 2, C=0.4, bias=False
    ).accepted


@pytest.mark.parametrize(("name", "solver"), [("l1", "scs"), ("l1", "simplemkl"), ("sm1", "silp"), ("ml_sum", "scs")])
def test_a_certified_gap_is_a_tolerance_that_is_met(name, solver):
    """The scale at a coarse point may differ by as much as the gap."""
    found = solve(instance_for(name), name, solver=solver, tol=1e-4)
    assert found.certified
    tolerance = max(1.01 * found.certificate.relative_gap, 1e-8)
    assert verify(instance_for(name), name, tol=tolerance, **parts_of(found)).accepted


@pytest.mark.parametrize("kind", ["imbalanced", "duplicated", "rank one", "sizes differ by 1e9", "n = 2"])
@pytest.mark.parametrize("name", ["l1", "square", "li", "vskl"])
def test_right_answers_to_hard_instances_are_accepted(name, kind):
    instance = KINDS[kind]()
    found = solve(instance, name, C=2.0)
    tolerance = max(1e-6, 1.01 * found.certificate.relative_gap)
    assert verify(instance, name, tol=tolerance, parameters={"C": 2.0}, **parts_of(found)).accepted


# ---------------------------------------------------------------------------------- ten times the tolerance, a tenth
def moved(value, start, end, target):
    """The point between, where a convex function that is least at the start reaches a target."""
    low, high = np.log(1e-12), 0.0
    for _ in range(14):
        middle = (low + high) / 2
        low, high = (middle, high) if value(start + np.exp(middle) * (end - start)) < target else (low, middle)
    return start + np.exp(high) * (end - start)


def weights_worth(name, weights, given):
    """The optimum of the SVM with these weights, and R(μ), each by itself."""
    kernel = np.tensordot(weights, BINARY.kernels, axes=1)[None]
    found = solve(Instance(kernel, BINARY.y), "svm", solver="interior", tol=1e-11, C=given["C"])
    price = float(weights @ weights) / (2 * given["theta"]) if name in ("sm2", "square") else 0.0
    return found.certificate.upper + price


def alpha_worth(name, alpha, given):
    q = np.array([(alpha * BINARY.y) @ kernel @ (alpha * BINARY.y) for kernel in BINARY.kernels])
    return alpha.sum() - dual_cost(name, q, given, BINARY.groups)


WEIGHTED = {
    "l1": {"C": 0.4},
    "sm1": {"C": 0.4, "theta": 0.6},
    "sm2": {"C": 0.4, "theta": 2.0},
    "square": {"C": 0.4, "theta": 2.0},
    "l2": {"C": 0.4},
    "elastic": {"C": 0.4, "l1_ratio": 0.5},
}
PROVING = {"l1": {"C": 0.4}, "average": {"C": 0.4}, "lp": {"C": 0.4, "p": 1.5}, "li": {"C": 0.4}, "ckl": {"C": 0.4}}
SEEDS, EXPONENTS = st.integers(0, 10**6), st.integers(4, 7)
few = settings(max_examples=15, deadline=None, derandomize=True)


@few
@given(st.sampled_from(sorted(WEIGHTED)), SEEDS, EXPONENTS)
def test_weights_are_judged_by_what_they_are_worth(name, seed, exponent):
    given, tol = WEIGHTED[name], 10.0**-exponent
    best = solve(BINARY, name, solver="interior", tol=1e-11, **given)
    size = max(abs(best.objective), best.certificate.scale)
    end = 0.1 + np.random.default_rng(seed).random(BINARY.count)
    end = end / end.sum() if name != "square" else end
    end = np.full(BINARY.count, 0.25) if name == "sm1" else end
    for share, verdict in ((10.0, "rejected"), (0.1, "accepted")):
        target = best.certificate.lower + share * tol * size
        weights = moved(lambda w: weights_worth(name, w, given), best.weights, end, target)
        report = verify(BINARY, name, weights=weights, tol=tol, diagnosis=False, **given)
        assert report.verdict == verdict
        assert report["weights"].excess == pytest.approx(share * tol, rel=0.05)


def pairs_worth(weights):
    """ts with λ = 0.1, pair by pair."""
    kernel = np.tensordot(weights, BINARY.kernels, axes=1)[np.triu_indices(BINARY.samples)]
    together = np.outer(BINARY.y, BINARY.y)[np.triu_indices(BINARY.samples)]
    return 0.05 * weights @ weights + np.maximum(0, 1 - together * kernel).mean()


def embedding_worth(weights):
    """hypergraph, clique expansion, λ = 1: tr(C(I + K)⁻¹), which is minus the value."""
    joint = LABELS.targets.values @ LABELS.targets.values.T
    degrees = np.where(joint.sum(axis=1) > 0, joint.sum(axis=1), 1.0)
    c = joint / np.sqrt(np.outer(degrees, degrees))
    return np.trace(np.linalg.solve(np.eye(len(c)) + np.tensordot(weights, LABELS.kernels, axes=1), c))


@few
@given(st.sampled_from([("ts", {"lam": 0.1}, pairs_worth), ("hypergraph", {}, embedding_worth)]), SEEDS, EXPONENTS)
def test_weights_of_the_other_families_are_judged_by_value_too(problem, seed, exponent):
    (name, given, worth), tol = problem, 10.0**-exponent
    best = solution_of(name, tol=1e-10, **given)
    size = max(abs(best.objective), best.certificate.scale)
    end = np.random.default_rng(seed).dirichlet(np.ones(4))
    for share, verdict in ((10.0, "rejected"), (0.1, "accepted")):
        weights = moved(worth, best.weights, end, worth(best.weights) + share * tol * size)
        report = verify(instance_for(name), name, weights=weights, tol=tol, diagnosis=False, **given)
        assert report.verdict == verdict


@few
@given(st.sampled_from(sorted(PROVING)), SEEDS, EXPONENTS)
def test_alpha_is_judged_by_what_it_proves(name, seed, exponent):
    given, tol = PROVING[name], 10.0**-exponent
    best = solve(BINARY, name, solver="interior", tol=1e-11, **given)
    size = max(abs(best.objective), best.certificate.scale)
    drawn = np.random.default_rng(seed).random(BINARY.samples) * given["C"]
    positive = BINARY.y > 0
    smaller = min(drawn[positive].sum(), drawn[~positive].sum())
    end = np.where(positive, drawn * smaller / drawn[positive].sum(), drawn * smaller / drawn[~positive].sum())
    for share, verdict in ((10.0, "rejected"), (0.1, "accepted")):
        target = -best.certificate.upper + share * tol * size
        alpha = moved(lambda a: -alpha_worth(name, a, given), best.alpha, end, target)
        report = verify(BINARY, name, alpha=alpha, tol=tol, diagnosis=False, **given)
        assert report.verdict == verdict


@few
@given(SEEDS, EXPONENTS)
def test_coefficients_bias_and_objective_are_judged_by_value(seed, exponent):
    tol, best = 10.0**-exponent, solve(BINARY, "l1", solver="interior", tol=1e-11, C=0.4)
    size = max(abs(best.objective), best.certificate.scale)
    start, end = best.all_coefficients, np.random.default_rng(seed).normal(size=(BINARY.count, BINARY.samples))

    def cost(coefficients, bias=None):
        norms = [np.sqrt(max(c @ k @ c, 0.0)) for c, k in zip(coefficients, BINARY.kernels, strict=True)]
        f = sum(k @ c for c, k in zip(coefficients, BINARY.kernels, strict=True))
        biases = BINARY.y - f if bias is None else [bias]  # the best one puts a sample on its margin
        return sum(norms) ** 2 / 2 + min(0.4 * np.maximum(0, 1 - BINARY.y * (f + b)).sum() for b in biases)

    for share, verdict in ((10.0, "rejected"), (0.1, "accepted")):
        target = best.certificate.lower + share * tol * size
        worse = moved(cost, start, end, target)
        assert verify(BINARY, "l1", coefficients=worse, tol=tol, C=0.4, diagnosis=False).verdict == verdict
        bias = float(moved(lambda b: cost(start, b), np.array(best.bias), np.array(best.bias + 1.0), target))
        report = verify(BINARY, "l1", coefficients=start, bias=bias, tol=tol, parameters={"C": 0.4}, diagnosis=False)
        assert report.verdict == verdict
        for claim in (target, 2 * best.objective - target):
            assert verify(BINARY, "l1", objective=claim, tol=tol, C=0.4, diagnosis=False).verdict == verdict


@few
@given(SEEDS, EXPONENTS, st.sampled_from(["sum", "negative", "balance", "box"]))
def test_infeasibility_is_judged_by_its_size(seed, exponent, kind):
    """Moved by ten tolerances out of the domain, or by a tenth; the value stays within the tolerance."""
    tol, best = 10.0**-exponent, solve(BINARY, "l1", solver="interior", tol=1e-11, C=0.4)
    index = int(np.random.default_rng(seed).integers(BINARY.samples))
    for share, verdict in ((10.0, "rejected"), (0.1, "accepted")):
        weights, alpha, off = best.weights.copy(), best.alpha.copy(), share * tol
        if kind == "sum":
            weights *= 1 + off
        elif kind == "negative":
            weights[int(np.argmin(weights))] = -off * weights.max()
        elif kind == "balance":
            alpha[index] += off * alpha.sum() * (1 if alpha[index] < 0.2 else -1)
        else:
            alpha[alpha > 0.4 - 1e-9] = 0.4 * (1 + off)
        given = {"weights": weights} if kind in ("sum", "negative") else {"alpha": alpha}
        report = verify(BINARY, "l1", tol=tol, C=0.4, diagnosis=False, **given)
        assert report.verdict == verdict, report
        assert max(part.violation for part in report.parts) == pytest.approx(off, rel=0.2)


# ------------------------------------------------------------------------------- uniqueness, togetherness, the rest
def test_weights_of_near_identical_kernels_may_differ_and_it_is_said_which():
    base = zoo.random(20, 3, overlap=0.8, seed=2)
    used = int(np.argmax(solve(base, "l1", solver="interior").weights))
    pair = [used, 3]
    twins = Instance(np.concatenate([base.kernels, base.kernels[[used]] * (1 + 1e-9)]), base.y)
    best = solve(twins, "l1", solver="interior")
    both = best.weights[pair].sum()
    assert both > 0.3
    for share in (0.0, 0.3, 1.0):
        weights = best.weights.copy()
        weights[pair] = np.array([share, 1 - share]) * both
        report = verify(twins, "l1", weights=weights)
        assert report.accepted
        assert {twins.names[m] for m in pair} <= {one.kernel for one in report.loose}
    twin = next(one for one in report.loose if one.kernel == "K4")
    assert twin.low == pytest.approx(0, abs=1e-6)
    assert twin.high == pytest.approx(both, abs=1e-2)


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


@pytest.mark.parametrize("name", ["l1", "sm1", "sm2", "smp", "l2", "lp", "elastic"])
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


def test_the_report_is_plain_json():
    report = verify(BINARY, "l1", weights=[0.25] * 4, objective=1.0, C=0.4)
    record = json.loads(json.dumps(report.as_dict(), allow_nan=False))
    assert (record["schema"], record["verdict"]) == ("mklcvx.report/1", "rejected")
    assert [part["part"] for part in record["parts"]] == ["weights", "objective"]
    assert record["optimum"]["lower"] <= record["optimum"]["upper"]
    assert set(record["diagnosis"]) == {"name", "words"}


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


def test_arrays_of_bounds_are_refused():
    with check_refused("lower has shape (2,)"):
        answer_of({"weights": [1.0], "lower": np.zeros(2), "upper": np.ones(2)})


def test_where_the_optimum_is_not_known_well_enough_nothing_is_decided():
    known = Enclosure(lower=1.0, upper=1.01, scale=1.0)
    for value, verdict in ((1.0005, "accepted"), (1.005, "undecided"), (1.02, "rejected")):
        assert Part("weights", proves="upper", value=value).measured(known).verdict(1e-3) == verdict
    better = known.tightened([Part("alpha", proves="lower", value=1.0045)])
    assert Part("weights", proves="upper", value=1.005).measured(better).verdict(1e-3) == "accepted"


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


def test_samples_are_left_out_of_everything():
    weighted = Instance(LABELS.kernels, labels=LABELS.targets.values, sample_weight=np.arange(1, 17))
    part = restricted(weighted, [0, 3, 15])
    assert part.sample_weight.tolist() == [1, 4, 16]
    assert np.array_equal(part.targets.values, LABELS.targets.values[[0, 3, 15]])
    assert np.array_equal(part.kernels, LABELS.kernels[np.ix_(range(4), [0, 3, 15], [0, 3, 15])])


# ------------------------------------------------------------------------------------------------ kernels in factors
FACTORS = [np.random.default_rng(m).normal(size=(12, 2)) for m in range(4)]
THIN = Instance(LowRank(FACTORS), np.repeat([1, -1], 6))
FORMED = Instance(np.array([factor @ factor.T for factor in FACTORS]), THIN.y)


@pytest.mark.parametrize("name", ["l1", "li", "ts", "alignment", "hypergraph"])
def test_kernels_in_factors_are_judged_as_if_they_were_formed(name):
    best = solve(FORMED, name)
    assert verify(THIN, name, **parts_of(best)).accepted
    wrong = [verify(one, name, weights=np.full(4, 0.25), objective=-best.objective) for one in (THIN, FORMED)]
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


def test_entries_of_kernels_in_factors():
    kernels, formed = THIN.kernels, FORMED.kernels
    rows, columns = np.array([0, 3, 11]), np.array([2, 3, 0])
    assert kernels[:, 3, 3:] == pytest.approx(formed[:, 3, 3:], abs=1e-14)
    assert kernels[:, 3:, 3] == pytest.approx(formed[:, 3:, 3], abs=1e-14)
    assert kernels[:, rows, columns] == pytest.approx(formed[:, rows, columns], abs=1e-14)
    with pytest.raises(TypeError, match="one row"):
        kernels[:, 1:, 1:]
