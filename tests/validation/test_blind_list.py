"""The blind list of wrong answers: its size, its words, and the score of a verdict."""

import re
import sys

import pytest
import score
from wrong_answers import wrong_answers

from places import ROOT

LISTS = ("blind", "second", "third")
RETIRED = {"parts:apart"}  # said of the first list, and no more


@pytest.mark.parametrize("name", LISTS)
def test_every_expectation_is_a_kind_of_the_judge(name):
    listed = wrong_answers(name).answers
    kinds = {kind for wrong in listed for accepted in wrong.accepted for kind in accepted} - RETIRED
    documented = set(re.findall(r"`([a-z_]+:[a-zA-Z_]+)`", (ROOT / "docs/verify.md").read_text(encoding="utf-8")))
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
    answers = wrong_answers("third").answers
    wrong = next(wrong for wrong in answers if wrong.accepted == (frozenset({"parameter:C"}),))
    assert score.judged(lambda: wrong)["verdict"] == "rejected"


def test_a_problem_without_a_function_explains_no_weights():
    """With a tube that is wide enough the zero function is optimal, and weights may be anything."""
    _, make = score.randoms(15000)[76]
    assert score.judged(make)["explanations"] == [["unknown"]]


def test_answers_at_random_can_be_judged_alone(monkeypatch, capsys):
    monkeypatch.setattr(score, "RANDOM", 1)
    monkeypatch.setattr(sys, "argv", ["score.py", "--random", "21000"])
    score.main()
    assert "explained: 0 of 1 (0.0 %), errors: 0" in capsys.readouterr().out
