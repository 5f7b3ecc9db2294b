"""What a diagnosis says where none of the usual mistakes is found, and of answers that are merely inexact."""

from __future__ import annotations

import numpy as np
import pytest

from faults import BINARY, FAULTS, LABELS
from mklcvx import Instance, solve, verify, zoo
from mklcvx.verification.diagnosis.kinds import DIMENSIONS, KINDS, kind_of
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
    fault = next(fault for fault in FAULTS if fault.name == "l1: stopped_early")
    found = fault.report().diagnosis
    assert found.explanations[0].kinds == ("accuracy:early",)
    assert "let it run longer" in found.words
    assert "tol" not in found.words


def test_the_tolerance_of_single_precision_is_one_that_it_meets():
    fault = next(fault for fault in FAULTS if fault.name == "square: single_precision")
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
    assert {kind.partition(":")[0] for kind in KINDS.values()} <= {*DIMENSIONS, "accuracy", "parts", "unknown"}


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
