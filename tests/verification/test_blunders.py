"""The judge is judged a third time, by solvers that solved another problem: none is accepted, nearly all are named."""

from __future__ import annotations

import re

import pytest

import blunders_answers
import blunders_kernels
import blunders_labels
import blunders_pairs
import blunders_parameters
import blunders_problems
import blunders_weights
from blunders import BLUNDERS, centred, kernels, single, solved
from mistakes import Mistake, check
from mklcvx import formulations, verify

pytestmark = pytest.mark.slow

MADE_BY = (
    blunders_answers, blunders_kernels, blunders_labels, blunders_pairs, blunders_parameters, blunders_problems,
    blunders_weights,
)  # fmt: skip
# Said in words that were not foreseen and are as true: one kernel "alone"; weights that are optimal "times 0.5".
OTHER_WORDS = ("l1-best-single-kernel", "li-two-forgotten")


@pytest.mark.parametrize("blunder", BLUNDERS, ids=lambda blunder: blunder.name)
def test_a_blunder_is_rejected_and_named_in_words_that_its_author_would_understand(blunder: Mistake):
    report = blunder.report()
    check(report, blunder.named)
    if blunder.named is not None and blunder.name not in OTHER_WORDS:
        assert re.search(blunder.pattern, f"{report.diagnosis.name} {report.diagnosis.words}", re.IGNORECASE)


def test_the_blunders_are_many_and_of_every_formulation():
    assert len(BLUNDERS) >= 100
    assert len({blunder.name for blunder in BLUNDERS}) == len(BLUNDERS)
    assert {blunder.formulation for blunder in BLUNDERS} == {one.name for one in formulations.FORMULATIONS}
    assert [blunder.name for blunder in BLUNDERS if blunder.named is None] == ["lp-other-widths"]


def test_centring_is_no_mistake_where_there_is_a_bias():
    """With y'α = 0 the centred kernels have the same q: the answer is right, all but its bias."""
    found = solved("sm2", centred(kernels()), C=1.0, theta=1.0)
    parts = {"weights": found.weights, "alpha": found.alpha, "objective": found.objective}
    assert verify(single(), "sm2", C=1.0, theta=1.0, **parts).accepted
    report = verify(single(), "sm2", C=1.0, theta=1.0, bias=found.bias, **parts)
    assert report.diagnosis.name == "kernels_centred"
