"""The judge is judged by lists of wrong answers: none is accepted, and nearly all are named."""

import re

import numpy as np
import pytest
from wrong_answers import CORPORA, WrongAnswer, wrong_answers

from judged import BINARY
from mklcvx import formulations, solve, verify
from places import ROOT

pytestmark = pytest.mark.slow

ALL = {f"{name}: {answer.name}": answer for name in (*CORPORA, "losses") for answer in wrong_answers(name).answers}
KERNELS_RESCALED = [answer for answer in ALL.values() if answer.really]


@pytest.mark.parametrize("answer", ALL.values(), ids=ALL)
def test_a_wrong_answer_is_rejected_and_named_in_words_that_its_author_would_understand(answer: WrongAnswer):
    """By the name that the judge has for it; some of its words may follow a colon."""
    report = answer.report()
    assert report.verdict == "rejected"
    assert report.diagnosis is not None
    assert report.diagnosis.words
    if answer.named is None:
        assert report.diagnosis.name in ("unknown", "converged", "stopped_early", "one_kernel")
        return
    name, _, words = answer.named.partition(": ")
    assert report.diagnosis.name == name
    assert words in report.diagnosis.words
    if not answer.other_words:
        assert re.search(answer.pattern, f"{report.diagnosis.name} {report.diagnosis.words}", re.IGNORECASE)


@pytest.mark.parametrize("answer", wrong_answers("numbers").answers, ids=lambda answer: answer.name)
def test_what_is_none_of_the_usual_mistakes_is_found_by_its_parts(answer: WrongAnswer):
    """Numbers that nobody wrote down, several mistakes at once, kernels and targets that α tells of."""
    report = answer.report()
    assert report.verdict == "rejected"
    found = report.diagnosis.explanations
    assert len(found) <= 3
    assert set(answer.accepted) & {frozenset(one.kinds) for one in found}
    assert all(one.left <= answer.tol for one in found)


@pytest.mark.parametrize("corpus", CORPORA)
def test_a_corpus_is_large_and_has_every_formulation(corpus: str):
    answers, (named, tried) = wrong_answers(corpus).answers, wrong_answers(corpus).blind
    assert len(answers) >= tried > named
    assert len({answer.name for answer in answers}) == len(answers)
    assert {answer.formulation for answer in answers} == {one.name for one in formulations.FORMULATIONS}
    other = [answer.name for answer in answers if answer.named is None or answer.other_words]
    assert len(other) <= 0.1 * len(answers)


def test_what_has_no_name_yet_and_what_was_named_blind_are_on_record():
    unnamed = {name: [one.name for one in wrong_answers(name).answers if one.named is None] for name in CORPORA}
    assert unnamed["faults"] == []
    assert unnamed["blunders"] == ["lp-other-widths"]
    assert {name: wrong_answers(name).blind for name in CORPORA} == {
        "faults": (90, 91), "mistakes": (58, 102), "blunders": (78, 112),
    }  # fmt: skip
    page = " ".join((ROOT / "docs" / "verify.md").read_text(encoding="utf-8").split())
    assert "Of the 102 and 112 mistakes" in page
    assert "it named 58 and 78 when first tried" in page


@pytest.mark.parametrize("answer", KERNELS_RESCALED, ids=lambda answer: answer.formulation)
def test_without_its_fault_the_answer_is_accepted(answer: WrongAnswer):
    """The same answer, to the problem that was really solved."""
    assert answer.report(instance=answer.really).accepted


def test_centring_is_no_mistake_where_there_is_a_bias():
    """With y'α = 0 the centred kernels have the same q: the answer is right, all but its bias."""
    away = np.eye(BINARY.samples) - 1 / BINARY.samples
    found = solve(BINARY.with_kernels(away @ BINARY.kernels @ away), "sm2", C=1.0, theta=1.0)
    parts = {"weights": found.weights, "alpha": found.alpha, "objective": found.objective}
    assert verify(BINARY, "sm2", C=1.0, theta=1.0, **parts).accepted
    report = verify(BINARY, "sm2", C=1.0, theta=1.0, bias=found.bias, **parts)
    assert report.diagnosis.name == "kernels_centred"
