"""What a diagnosis says where none of the usual mistakes is found, and of answers that are merely inexact."""

from __future__ import annotations

import re

import numpy as np
import pytest
from wrong_answers import wrong_answers

from judged import BINARY, LABELS
from mklcvx import InputError, Instance, solve, verify, zoo
from mklcvx.verification.diagnosis.kinds import DIMENSIONS, KINDS, kind_of
from mklcvx.verification.diagnosis.remedies import BY_DIMENSION, BY_KIND, remedy_of
from places import ROOT

pytestmark = pytest.mark.slow


def test_what_is_none_of_the_usual_mistakes_is_not_explained_away():
    report = verify(BINARY, "l1", weights=[0.1, 0.1, 0.7, 0.1], objective=123.0, C=0.4)
    assert report.verdict == "rejected"
    assert report.diagnosis.name == "unknown"
    assert "weights, objective" in report.diagnosis.words
    report = verify(LABELS, "hypergraph", weights=[0.0, 0.0, 1.0, 0.0], objective=1e3)
    assert report.diagnosis.name == "unknown"


def test_no_diagnosis_without_a_fault_or_where_none_is_wanted():
    assert verify(BINARY, "average", weights=[0.25] * 4).diagnosis is None
    unwanted = verify(BINARY, "average", weights=[1.0] * 4, diagnosis=False)
    assert (unwanted.verdict, unwanted.diagnosis) == ("rejected", None)


def test_an_answer_that_stopped_early_is_told_to_run_longer_and_never_to_loosen_the_tolerance():
    fault = next(fault for fault in wrong_answers("faults").answers if fault.name == "l1: stopped_early")
    found = fault.report().diagnosis
    assert found.explanations[0].kinds == ("accuracy:early",)
    assert "let it run longer" in found.words
    assert "tol" not in found.words


def test_the_tolerance_of_single_precision_is_one_that_it_meets():
    fault = next(fault for fault in wrong_answers("faults").answers if fault.name == "square: single_precision")
    honest = float(fault.report().diagnosis.words.split("tolerance of ")[1].split()[0])
    assert 1e-8 < honest < 1e-3
    assert fault.report(tol=honest).accepted


def explained(instance, formulation, answer, **given):
    return verify(instance, formulation, **answer, **given).diagnosis.explanations


def test_every_kind_is_listed_where_reports_are_described():
    page = (ROOT / "docs" / "verify.md").read_text(encoding="utf-8")
    for kind in KINDS.values():
        assert f"`{kind}`" in page or f"`{kind.partition(':')[0]}:NAME`" in page, kind
    assert kind_of("formulation l2") == "formulation:l2"
    assert {kind.partition(":")[0] for kind in KINDS.values()} <= {*DIMENSIONS, "accuracy", "unknown"}


@pytest.fixture(scope="module")
def clouds():
    return zoo.specimen("clouds").instance()


@pytest.mark.parametrize(
    ("formulation", "given", "wrong", "kind"),
    [
        ("l1", {"C": 1.0}, {"C": 3.0}, "parameter:C"),
        ("lp", {"C": 1.0, "p": 1.5}, {"C": 1.0, "p": 2.3}, "parameter:p"),
        ("sm2", {"C": 1.0, "theta": 1.0}, {"C": 1.0, "theta": 2.6}, "parameter:theta"),
        ("l2", {"C": 1.0}, {"C": 1.0, "loss": "logistic"}, "loss:logistic"),
    ],
)
def test_a_number_that_nobody_wrote_down_is_found(clouds, formulation, given, wrong, kind):
    found = solve(clouds, formulation, **wrong)
    said = explained(clouds, formulation, {"weights": found.weights, "alpha": found.alpha}, **given)
    assert kind in [one for explanation in said for one in explanation.kinds]
    assert len(said) <= 3
    assert all(one.left <= 1e-6 for one in said)


def test_two_mistakes_are_named_together(clouds):
    stack = clouds.kernels / [[[kernel.trace()]] for kernel in clouds.kernels]
    found = solve(Instance(stack, clouds.y), "l2", C=7.0)
    said = explained(clouds, "l2", {"weights": found.weights, "alpha": found.alpha}, C=1.0)
    assert ("parameter:C", "kernels:trace") in [one.kinds for one in said]


def test_alpha_of_other_weights_is_named(clouds):
    right, start = solve(clouds, "l1", C=1.0), solve(clouds, "average", C=1.0)
    said = explained(clouds, "l1", {"weights": right.weights, "alpha": start.alpha}, C=1.0)
    assert said[0].kinds == ("alpha:stale",)
    assert "average of the kernels" in said[0].sentence


def test_what_nothing_explains_is_described(clouds):
    rng = np.random.default_rng(3)
    alpha = rng.uniform(0.0, 1.0, clouds.samples)
    said = explained(clouds, "l1", {"weights": rng.dirichlet(np.ones(clouds.count)), "alpha": alpha}, C=1.0)
    assert [one.kinds for one in said] == [("unknown",)]
    assert "α is not that of the machine with these weights" in said[0].evidence


def test_the_evidence_says_where_the_optimum_stands_in_for_a_part(clouds):
    right = solve(clouds, "l2", C=1.0)
    cut = np.minimum(right.alpha, 0.9 * right.alpha.max())
    (said,) = explained(clouds, "l2", {"weights": right.weights, "alpha": cut}, C=1.0)
    assert said.kinds == ("alpha:clipped",)
    assert "the rule was tested on what was given" in said.evidence


def handed(found, *parts):
    return {part: getattr(found, part) for part in parts}


def kinds_of(said):
    return {frozenset(one.kinds) for one in said}


@pytest.mark.parametrize(
    ("formulation", "given", "wrong", "pair"),
    [
        ("sm1", {"C": 1.0, "theta": 0.6}, {"C": 1.7, "theta": 0.8}, {"parameter:C", "parameter:theta"}),
        ("l2", {"C": 1.0}, {"C": 1.6, "loss": "logistic"}, {"parameter:C", "loss:logistic"}),
        ("elastic", {"C": 1.0}, {"formulation": "l2", "C": 1.0, "loss": "squared_hinge"},
         {"formulation:l2", "loss:squared_hinge"}),
    ],
)  # fmt: skip
def test_machine_and_weights_are_searched_apart(clouds, formulation, given, wrong, pair):
    wrong = {"formulation": formulation} | wrong
    found = solve(clouds, **wrong)
    assert pair in kinds_of(explained(clouds, formulation, handed(found, "weights", "alpha", "bias"), **given))


@pytest.mark.parametrize(
    ("kernels", "parts", "kind"),
    [
        (lambda stack: stack + 0.37 * np.eye(len(stack[0])), ("weights", "alpha"), "kernels:ridge"),
        (lambda stack: np.stack([*stack[:-1], stack[-1][::-1, ::-1]]), ("weights", "alpha"), "kernels:order"),
        (lambda stack: np.concatenate([stack, stack[:1]]), ("alpha",), "kernels:copied"),
    ],
)
def test_what_was_done_to_kernels_is_read_from_alpha(clouds, kernels, parts, kind):
    found = solve(Instance(kernels(np.asarray(clouds.kernels)), clouds.y), "l2", C=0.3)
    assert {kind} in kinds_of(explained(clouds, "l2", handed(found, *parts), C=0.3))


def test_the_product_of_kernels_is_named_where_there_are_test_samples(clouds):
    stack = np.asarray(clouds.kernels)[:2]
    tested = Instance(stack, clouds.y, test_kernels=stack[:, :3], test_y=clouds.y[:3])
    found = solve(Instance(np.prod(stack, axis=0)[None], clouds.y), "sum", C=0.3)
    assert {"kernels:product"} in kinds_of(explained(tested, "sum", handed(found, "alpha", "objective"), C=0.3))


def test_alpha_of_another_size_tells_its_factor(clouds):
    found = solve(clouds, "l2", C=0.3)
    said = explained(clouds, "l2", {"alpha": found.alpha / found.alpha.sum()}, C=0.3)
    assert {"alpha:scale"} in kinds_of(said)


def test_alpha_of_the_support_vectors_alone_is_recognised(clouds):
    found = solve(clouds, "l1", C=1.0)
    support = found.alpha > 1e-6
    report = verify(clouds, "l1", alpha=found.alpha[support], weights=found.weights, C=1.0)
    assert (report.verdict, report.diagnosis.explanations[0].kinds) == ("rejected", ("alpha:support",))
    with pytest.raises(InputError, match="0 where a sample is no support vector"):
        verify(clouds, "l1", alpha=found.alpha[support][1:], C=1.0)


@pytest.fixture(scope="module")
def measured(clouds):
    y = np.asarray(clouds.kernels[0]).mean(axis=0) * 3 + clouds.y
    return Instance(clouds.kernels, response=y)


@pytest.mark.parametrize(
    ("change", "kind"),
    [
        (lambda y: 1.7 * y + 0.3, "labels:scaled"),
        (lambda y: np.where(np.arange(len(y)) < 3, -y, y), "labels:misread"),
        (lambda y: np.random.default_rng(0).permutation(y), "labels:permuted"),
    ],
)
def test_targets_are_read_from_alpha(clouds, measured, change, kind):
    given = {"C": 1.0, "loss": "squared"}
    found = solve(Instance(clouds.kernels, response=change(np.asarray(measured.targets.values))), "l2", **given)
    said = explained(measured, "l2", handed(found, "weights", "alpha", "bias"), **given)
    assert {kind} in kinds_of(said)


def test_every_term_of_the_value_can_be_missing_or_have_another_factor(clouds):
    found = solve(clouds, "sm2", C=1.0, theta=0.5)
    price = float(found.weights @ found.weights)  # over 2θ
    norms = float(np.sum(found.norms[found.weights > 0] ** 2 / found.weights[found.weights > 0])) / 2
    for value in (found.objective - price + norms, found.objective - norms / 2, float(found.alpha.sum())):
        said = explained(clouds, "sm2", {"weights": found.weights, "objective": value}, C=1.0, theta=0.5)
        assert {"objective:terms"} in kinds_of(said)


@pytest.mark.parametrize("seed", range(3))
def test_answers_at_random_are_not_explained(clouds, seed):
    rng = np.random.default_rng(40 + seed)
    parts = {"weights": rng.dirichlet(np.ones(clouds.count)), "alpha": rng.uniform(0, 1, clouds.samples)}
    some = {name: part for name, part in parts.items() if seed != 1 or name == "weights"}
    said = explained(clouds, "l1", some | {"objective": 9.0 * rng.uniform()} if seed == 2 else some, C=1.0)
    assert all(one.kinds[0].startswith("unknown") for one in said)


@pytest.mark.parametrize(
    ("formulation", "given", "wrong", "kinds"),
    [
        ("hypergraph", {"lam": 1.0}, {"lam": 10.0}, ("parameter:lam",)),
        ("hypergraph", {"lam": 1.0}, {"lam": 3.0, "expansion": "zhou"}, ("parameter:expansion", "parameter:lam")),
        ("hypergraph_smooth", {"smoothing": 0.05}, {"smoothing": 0.5}, ("parameter:smoothing",)),
    ],
)
def test_the_value_tells_the_parameters_of_hypergraphs(formulation, given, wrong, kinds):
    found = solve(LABELS, formulation, **wrong)
    said = explained(LABELS, formulation, {"weights": found.weights, "objective": found.objective}, **given)
    assert set(kinds) in [set(one.kinds) for one in said]


def test_balanced_pairs_at_another_price_are_named():
    found = solve(BINARY, "ts", lam=0.05, balanced=True)
    said = explained(BINARY, "ts", {"weights": found.weights, "objective": found.objective}, lam=0.2)
    assert {"parameter:balanced", "parameter:lam"} in [set(one.kinds) for one in said]


def test_every_kind_has_a_remedy_of_one_sentence():
    text = (ROOT / "docs/verify.md").read_text(encoding="utf-8")
    kinds = {*KINDS.values(), *re.findall(r"`([a-z_]+:[a-zA-Z_0-9]+)`", text[text.index("### Kinds of mistakes") :])}
    assert set(BY_KIND) <= kinds
    assert set(BY_DIMENSION) <= set(DIMENSIONS)
    for kind in kinds:
        found = remedy_of([kind])
        assert found.endswith(".")
        assert len(found) <= 120
        assert found.count(". ") == 0
        assert "tol" not in found
    assert remedy_of(["bias:sign", "parameter:C", "parameter:p"]).count(".") == 2


def test_classes_without_a_price_are_named_and_their_alpha_is_not_judged():
    """Only the worst classes of the minimax form have any γ."""
    found = solve(LABELS, "ml_minimax", C=0.4)
    gamma = found.multipliers["gamma"]
    free = [str(name) for name, one in zip(LABELS.targets.names, gamma, strict=True) if one <= 1e-6 * gamma.max()]
    assert free
    assert len(free) < len(gamma)
    alpha = np.where((gamma > 1e-6 * gamma.max())[:, None], found.alpha, 0.2)
    report = verify(LABELS, "ml_minimax", alpha=alpha, C=0.4)
    assert report.accepted
    (part,) = report.parts
    assert f"of no account for {', '.join(free)}, whose γ is 0" in part.note
