"""The blind list of wrong answers: its size, its words, and the score of a verdict."""

from __future__ import annotations

import re
import sys

import pytest

from places import ROOT

sys.path.insert(0, str(ROOT / "validation" / "judge"))

import blind_list
import score
import second_list

WRONG = second_list.WRONG
RETIRED = {"parts:apart"}  # said of the first list, and no more


@pytest.mark.parametrize("listed", [blind_list.WRONG, second_list.WRONG], ids=["first", "second"])
def test_every_expectation_is_a_kind_of_the_judge(listed):
    kinds = {kind for wrong in listed for accepted in wrong.accepted for kind in accepted} - RETIRED
    documented = set(re.findall(r"`([a-z_]+:[a-zA-Z_]+)`", (ROOT / "docs/verify.md").read_text()))
    own = ("parameter:", "formulation:", "loss:")
    assert {kind for kind in kinds if not kind.startswith(own)} <= documented
    assert len({wrong.name for wrong in listed}) == len(listed) >= 150


@pytest.mark.parametrize(
    ("explanations", "named", "misleading"),
    [
        ([["parameter:C"]], True, False),
        ([["bias:sign"], ["parameter:C"]], True, False),
        ([["bias:sign"]], False, True),
        ([["unknown"]], False, False),
        ([["parameter:C", "bias:sign"]], False, True),
    ],
)
def test_a_mistake_is_named_by_an_accepted_explanation_alone(explanations, named, misleading):
    row = {"name": "one", "verdict": "rejected", "explanations": explanations, "seconds": 0.1}
    found = score.scored(row, (frozenset({"parameter:C"}),))
    assert (found["named"], found["misleading"]) == (named, misleading)


def test_the_judge_names_one_of_them():
    wrong = next(wrong for wrong in WRONG if wrong.accepted == (frozenset({"parameter:C"}),))
    assert score.judged(wrong.make)["verdict"] == "rejected"
