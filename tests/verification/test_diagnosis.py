"""The judge is judged: wrong answers of every kind, rejected all, and what is wrong with them named."""

from __future__ import annotations

import pytest

from faults import BINARY, FAULTS, LABELS, Fault
from mklcvx import formulations, verify

pytestmark = pytest.mark.slow

# What these are is said in other words that are as true: with no α at the bound, every large C is the same problem.
EQUIVALENT = {"sum: C_inverted": "C_times_n"}


def report_of(fault: Fault):
    return verify(fault.instance, fault.asked, tol=fault.tol, parameters=fault.given, **fault.answer())


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.label)
def test_a_wrong_answer_is_rejected_and_the_fault_is_named(fault):
    report = report_of(fault)
    assert report.verdict == "rejected"
    assert report.diagnosis.name == EQUIVALENT.get(fault.label, fault.expected)
    assert report.diagnosis.words


def test_the_grid_is_wide_enough_and_nearly_always_diagnosed_as_written_down():
    assert len(FAULTS) >= 40
    assert {fault.asked for fault in FAULTS} == {formulation.name for formulation in formulations.FORMULATIONS}
    assert len({fault.label for fault in FAULTS}) == len(FAULTS)
    assert len(EQUIVALENT) <= 0.1 * len(FAULTS)


@pytest.mark.parametrize(
    "fault", [fault for fault in FAULTS if fault.expected == "kernels_trace"], ids=lambda f: f.asked
)
def test_without_its_fault_the_answer_is_accepted(fault):
    """The same answer, to the problem that was really solved."""
    really = fault.changed(fault.instance)
    assert verify(really, fault.asked, tol=fault.tol, parameters=fault.given, **fault.answer()).accepted


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
    fault = next(fault for fault in FAULTS if fault.label == "l1: stopped_early")
    answer, report = fault.answer(), report_of(fault)
    enough = float(report.diagnosis.words.rsplit("--tol ", 1)[1])
    assert verify(fault.instance, "l1", tol=enough, parameters=fault.given, **answer).accepted
    assert enough <= 1.2e-2


def test_the_tolerance_of_single_precision_is_one_that_it_meets():
    fault = next(fault for fault in FAULTS if fault.label == "square: single_precision")
    answer, report = fault.answer(), report_of(fault)
    honest = float(report.diagnosis.words.split("tolerance of ")[1].split()[0])
    assert 1e-8 < honest < 1e-3
    assert verify(fault.instance, "square", tol=honest, parameters=fault.given, **answer).accepted
