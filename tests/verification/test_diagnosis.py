"""What a diagnosis says where none of the usual mistakes is found, and of answers that are merely inexact."""

from __future__ import annotations

import pytest

from faults import BINARY, FAULTS, LABELS
from mklcvx import verify

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


def test_how_far_an_answer_that_stopped_early_got_is_said_truly():
    fault = next(fault for fault in FAULTS if fault.name == "l1: stopped_early")
    enough = float(fault.report().diagnosis.words.rsplit("tol=", 1)[1])
    assert fault.report(tol=enough).accepted
    assert enough <= 1.2e-2


def test_the_tolerance_of_single_precision_is_one_that_it_meets():
    fault = next(fault for fault in FAULTS if fault.name == "square: single_precision")
    honest = float(fault.report().diagnosis.words.split("tolerance of ")[1].split()[0])
    assert 1e-8 < honest < 1e-3
    assert fault.report(tol=honest).accepted
