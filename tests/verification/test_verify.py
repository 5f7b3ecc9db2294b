"""The judge: right answers from anybody are accepted, worse ones rejected exactly where they leave the tolerance."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cases import KINDS
from judged import BINARY, LABELS, instance_for, parts_of, solution_of
from mklcvx import Instance, formulations, solve, verify
from mklcvx.checker.audit import dual_cost

pytestmark = pytest.mark.slow

NAMES = [formulation.name for formulation in formulations.FORMULATIONS]
TWO_STAGES = ("ts", "ts_l1", "alignment")


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
    exact = {key: Fraction(value) for key, value in given.items()}
    return alpha.sum() - float(dual_cost(name, [Fraction(x) for x in q], exact, BINARY.groups))


WEIGHTED = {
    "l1": {"C": 0.4},
    "sm1": {"C": 0.4, "theta": 0.6},
    "sm2": {"C": 0.4, "theta": 2.0},
    "square": {"C": 0.4, "theta": 2.0},
    "l2": {"C": 0.4},
    "elastic": {"C": 0.4, "l1_ratio": 0.5},
    "block_elastic": {"C": 0.4, "l1_ratio": 0.5},
}
PROVING = {"l1": {"C": 0.4}, "average": {"C": 0.4}, "lp": {"C": 0.4, "p": 1.5}, "li": {"C": 0.4}, "ckl": {"C": 0.4}}
SEEDS, EXPONENTS = st.integers(0, 10**6), st.integers(4, 7)
few = settings(max_examples=15, deadline=None, derandomize=True)


@few
@given(st.sampled_from(sorted(WEIGHTED)), SEEDS, EXPONENTS)
def test_weights_are_judged_by_what_they_are_worth(name, seed, exponent):
    given, tol = WEIGHTED[name], 10.0**-exponent
    best = solve(BINARY, name, solver="interior", tol=1e-11, **given)
    size = best.certificate.scale
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
    size = best.certificate.scale
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
    size = best.certificate.scale
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
    size = best.certificate.scale
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
