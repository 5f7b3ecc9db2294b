"""What a diagnosis says where none of the usual mistakes is found, and of answers that are merely inexact."""

import re

import numpy as np
import pytest
from wrong_answers import wrong_answers

from judged import BINARY, LABELS
from mklcvx import InputError, solve, verify, zoo
from mklcvx.formulations.losses import COUNTS, EVERY, NONE, REAL
from mklcvx.formulations.losses import LABELS as TARGETS
from mklcvx.verification.answers import Answer
from mklcvx.verification.case import pose
from mklcvx.verification.diagnosis.kinds import DIMENSIONS, KINDS, kind_of
from mklcvx.verification.diagnosis.mistakes_in_answers import samples_order
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


def test_alpha_of_the_support_vectors_alone_is_recognised(clouds):
    found = solve(clouds, "l1", C=1.0)
    support = found.alpha > 1e-6
    report = verify(clouds, "l1", alpha=found.alpha[support], weights=found.weights, C=1.0)
    assert (report.verdict, report.diagnosis.explanations[0].kinds) == ("rejected", ("alpha:support",))
    with pytest.raises(InputError, match="0 where a sample is no support vector"):
        verify(clouds, "l1", alpha=found.alpha[support][1:], C=1.0)


@pytest.mark.parametrize("seed", range(3))
def test_answers_at_random_are_not_explained(clouds, seed):
    rng = np.random.default_rng(40 + seed)
    parts = {"weights": rng.dirichlet(np.ones(clouds.count)), "alpha": rng.uniform(0, 1, clouds.samples)}
    some = {name: part for name, part in parts.items() if seed != 1 or name == "weights"}
    said = explained(clouds, "l1", some | {"objective": 9.0 * rng.uniform()} if seed == 2 else some, C=1.0)
    assert all(one.kinds[0].startswith("unknown") for one in said)


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


# --------------------------------------------------------------------------------------------------- no accusations
INEXACT = {"stopped_early", "few_decimals", "single_precision", "unknown", "bias_wrong"}
ON = {REAL: "response", COUNTS: "counts", TARGETS: "mixed", NONE: "one-cloud"}


@pytest.mark.parametrize(("loss", "large"), [(loss.name, (1e-3, 1e-5)[k % 2]) for k, loss in enumerate(EVERY)])
def test_right_answers_that_are_inexact_are_not_accused(loss, large):
    """From 1e-3 to 1e-8: what is rejected is said to be inexact, or nothing is said."""
    chosen = {one.name: one for one in EVERY}[loss]
    instance, rng = zoo.specimen(ON[chosen.targets]).instance(), np.random.default_rng(1)
    asked = {"loss": loss, **({"nu": 0.3} if loss == "nu" else {})}
    found = solve(instance, "l1", tol=1e-9, **asked)
    for size in (large, 1e-8):
        noise = size * np.abs(found.alpha).max() * rng.standard_normal(len(found.alpha))
        alpha = found.alpha + noise if chosen.targets in (REAL, COUNTS) else np.maximum(found.alpha + noise, 0.0)
        parts = {"alpha": alpha, "objective": found.objective * (1 + size), "weights": found.weights * (1 + size)}
        report = verify(instance, "l1", parameters=asked, **parts)
        assert report.accepted or report.diagnosis.name in INEXACT, report.diagnosis.words


def test_noise_is_no_other_order_of_the_samples():
    """Sorted like the optimum, noise may be cheaper by far; the samples are where they were."""
    case = pose(zoo.specimen("response").instance(), "l1", {"loss": "epsilon_insensitive"}, 1e-6)
    right = case.reference.alpha
    noisy = right + 1e-5 * np.random.default_rng(0).standard_normal(len(right))
    assert list(samples_order(case, Answer(alpha=noisy))) == []
    (trial,) = samples_order(case, Answer(alpha=np.roll(right, 1)))
    assert trial.name == "samples_order"
