"""The judge is judged by three corpora of wrong answers: none is accepted, and nearly all are named."""

from __future__ import annotations

import pytest

from blunders import centred, kernels, single, solved
from corpora import CORPORA
from mklcvx import formulations, verify
from places import ROOT
from wrong_answers import Corpus, WrongAnswer, check

pytestmark = pytest.mark.slow

ALL = {f"{corpus.name}: {answer.name}": answer for corpus in CORPORA for answer in corpus.answers}
KERNELS_RESCALED = [one for corpus in CORPORA for one in corpus.answers if one.really and one.says == "kernels_trace"]


@pytest.mark.parametrize("answer", ALL.values(), ids=ALL)
def test_a_wrong_answer_is_rejected_and_named_in_words_that_its_author_would_understand(answer: WrongAnswer):
    check(answer)


@pytest.mark.parametrize("corpus", CORPORA, ids=lambda corpus: corpus.name)
def test_a_corpus_is_large_and_has_every_formulation(corpus: Corpus):
    answers, (named, tried) = corpus.answers, corpus.blind
    assert len(answers) >= tried > named
    assert len({answer.name for answer in answers}) == len(answers)
    assert {answer.formulation for answer in answers} == {one.name for one in formulations.FORMULATIONS}
    other = [answer.name for answer in answers if answer.named is None or answer.other_words]
    assert len(other) <= 0.1 * len(answers)


def test_what_has_no_name_yet_and_what_was_named_blind_are_on_record():
    unnamed = {corpus.name: [one.name for one in corpus.answers if one.named is None] for corpus in CORPORA}
    assert unnamed["faults"] == []
    assert unnamed["blunders"] == ["lp-other-widths"]
    assert {corpus.name: corpus.blind for corpus in CORPORA} == {
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
    found = solved("sm2", centred(kernels()), C=1.0, theta=1.0)
    parts = {"weights": found.weights, "alpha": found.alpha, "objective": found.objective}
    assert verify(single(), "sm2", C=1.0, theta=1.0, **parts).accepted
    report = verify(single(), "sm2", C=1.0, theta=1.0, bias=found.bias, **parts)
    assert report.diagnosis.name == "kernels_centred"
