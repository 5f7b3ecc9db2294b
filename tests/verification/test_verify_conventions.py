"""Answers in other codes' words, solved as their sources state the problems, judged as they stand."""

import json
from dataclasses import replace
from functools import cache

import numpy as np
import pytest

from mklcvx import verify, zoo
from mklcvx.io.files import save_answer, save_instance
from mklcvx.verification.answers import Answer
from mklcvx.verification.conventions import get
from refusals import check_refused, strict
from theirs import SOLVE

pytestmark = pytest.mark.slow

INSTANCE = zoo.random(20, 4, overlap=0.7, seed=1)
TOL = 1e-6
# Convention, its parameters, our formulation.
CASES = [
    ("simplemkl", {"C": 0.7}, "l1"),
    ("spicymkl", {"lam": 3.0}, "l1"),  # some α at their bound, else λ would change nothing but C
    ("smo_mkl", {"C": 20.0, "lam": 0.5, "first_label": -1}, "square"),
    ("govindaraj_li", {"C": 1.2}, "li"),
    ("sklearn_svc", {"C": 0.9, "combination": "average"}, "average"),
    ("libsvm", {"C": 0.9, "first_label": -1}, "sum"),
]
every_case = pytest.mark.parametrize(("name", "given", "ours"), CASES, ids=[case[0] for case in CASES])
PARTS = ("weights", "alpha", "bias", "objective")


@cache
def solved(name: str) -> Answer:
    given = next(given for known, given, _ in CASES if known == name)
    return SOLVE[name](INSTANCE, **given).answer


def parts_of(answer: Answer) -> dict:
    said = {part: getattr(answer, part) for part in PARTS if getattr(answer, part) is not None}
    return {**said, "multipliers": answer.multipliers}


@pytest.fixture
def problem(tmp_path):
    save_instance(tmp_path / "problem.npz", INSTANCE)
    return tmp_path / "problem.npz"


def settings(given: dict) -> list[str]:
    return [word for key, value in given.items() for word in ("--set", f"{key}={value}")]


@every_case
def test_their_answer_is_accepted_in_their_words_alone(name, given, ours):
    report = verify(INSTANCE, convention=name, tol=TOL, parameters=given, **parts_of(solved(name)))
    assert (report.verdict, report.formulation) == ("accepted", ours)
    assert {part.name for part in report.parts} == {part for part in PARTS if getattr(solved(name), part) is not None}
    assert f"in the words of {name}" in report.notes
    known = {key: value for key, value in given.items() if key == "C"}
    said = {part: value for part, value in parts_of(solved(name)).items() if part != "multipliers"}
    if np.size(said["alpha"]) == INSTANCE.samples:
        assert not verify(INSTANCE, ours, tol=TOL, diagnosis=False, parameters=known, **said).accepted


@every_case
@pytest.mark.parametrize("place", ["answer.json", "answer.npz", "answer.mat", "answer"])
def test_their_answer_from_a_file(problem, succeeds, tmp_path, name, given, ours, place):
    save_answer(tmp_path / place, **parts_of(solved(name)))
    out, err = succeeds("verify", problem, tmp_path / place, "--convention", name, *settings(given), "--json")
    assert err.startswith(f"mklcvx: in the words of {name}\n")
    assert (strict(out)["verdict"], strict(out)["formulation"]) == ("accepted", ours)


@every_case
def test_a_wrong_answer_in_their_words_is_rejected(name, given, ours):
    right = solved(name)
    wrong = [replace(right, alpha=right.alpha * 1.01), replace(right, bias=right.bias + 0.2)]
    wrong += [] if right.objective is None else [replace(right, objective=right.objective * (1 + 1e-4))]
    if right.weights is not None:
        even = np.full(INSTANCE.count, right.weights.sum() / INSTANCE.count)
        wrong.append(replace(right, weights=even))
    for answer in wrong:
        report = verify(INSTANCE, convention=name, tol=TOL, diagnosis=False, parameters=given, **parts_of(answer))
        assert report.verdict == "rejected"


def test_the_diagnosis_is_of_what_is_left_after_the_conversion():
    right = solved("libsvm")
    parts = {**parts_of(right), "objective": -right.objective}
    report = verify(INSTANCE, convention="libsvm", parameters={"C": 0.9, "first_label": -1}, **parts)
    assert (report.verdict, report.diagnosis.name) == ("rejected", "objective_sign")


def test_claimed_bounds_are_turned_with_the_objective(problem, run, tmp_path):
    """LIBSVM minimises: its bounds, negated, change places."""
    value = solved("libsvm").objective
    for lower, upper, code in ((value - 1, value + 1, 0), (value + 1, value + 2, 1), (value - 2, value - 1, 1)):
        record = {"objective": value, "certificate": {"lower": lower, "upper": upper}}
        (tmp_path / "a.json").write_text(json.dumps(record), encoding="utf-8")
        arguments = ("--convention", "libsvm", "--set", "C=0.9", "--set", "first_label=-1")
        assert run("verify", problem, tmp_path / "a.json", *arguments, "--json")[0] == code


def test_a_trace_in_their_words_is_judged_point_by_point():
    right = solved("simplemkl")
    points = [{"weights": [0.25] * 4}, {"weights": right.weights, "alpha": right.alpha}]
    report = verify(INSTANCE, convention="simplemkl", trace=points, C=0.7)
    assert [point.verdict for point in report.trace] == ["rejected", "accepted"]
    assert report.accepted


def test_the_files_own_parameters_are_theirs_and_options_override_them(problem, run, succeeds, tmp_path):
    right = solved("spicymkl")
    record = {"weights": right.weights.tolist(), "alpha": right.alpha.tolist(), "parameters": {"lam": 3.0}}
    (tmp_path / "a.json").write_text(json.dumps({**record, "formulation": "l2"}), encoding="utf-8")
    out, err = succeeds("verify", problem, tmp_path / "a.json", "--convention", "spicymkl", "--json")
    price = get("spicymkl").to_ours(INSTANCE, {"lam": 3.0}).parameters["C"]
    assert strict(out)["parameters"]["C"] == pytest.approx(price)
    assert "the answer says formulation l2, judged as l1" in err
    assert "of l1 was solved for" in err
    arguments = ("--convention", "spicymkl", "--set", "lam=2.5", "--no-diagnosis")
    code, _, err = run("verify", problem, tmp_path / "a.json", *arguments)
    assert code == 1
    assert "the answer says lam = 3.0, judged with 2.5" in err


def test_multipliers_that_a_convention_does_not_know_are_said():
    right = solved("simplemkl")
    parts = {**parts_of(right), "multipliers": {"tau": 1.0}}
    assert "not judged: tau" in verify(INSTANCE, convention="simplemkl", C=0.7, **parts).notes
    grouped = INSTANCE.with_kernels(INSTANCE.kernels, groups=[0, 0, 1, 1])
    answer = SOLVE["govindaraj_ckl"](grouped, C=1.2).answer
    report = verify(grouped, convention="govindaraj_ckl", C=1.2, **parts_of(answer))
    assert report.accepted
    assert not any("not judged" in note for note in report.notes)


def test_a_formulation_that_a_convention_does_not_solve_and_none_at_all_are_refused(problem, refusal, tmp_path):
    save_answer(tmp_path / "a.json", **parts_of(solved("simplemkl")))
    conflict = refusal("verify", problem, tmp_path / "a.json", "--convention", "simplemkl", "-f", "l2")
    assert "formulation 'l2' is not what simplemkl solves with these parameters, which is l1: leave it out" in conflict
    with check_refused("formulation: none is given", "name one"):
        verify(INSTANCE, weights=[0.25] * 4)
