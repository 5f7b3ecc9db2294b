"""Seeded exercises: the right answer passes for every seed, and each usual mistake gets the hint meant for it."""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest

from mklcvx import InputError, solve, verify
from mklcvx.exercises import EXERCISES, _exercise, exercise
from mklcvx.io.files import save_answer

pytestmark = pytest.mark.slow

NAMES = [blueprint.name for blueprint in EXERCISES]
SEEDS = (0, 7)


def solved(one, **changes):
    """The exercise's own problem, or one with a mistake: `kernels` are multiplied by, others are parameters."""
    instance = one.instance.with_kernels(one.instance.kernels * changes.pop("kernels", 1.0))
    return solve(instance, one.formulation, **{**one.parameters, **changes})


def asked(one, solution):
    return {name: getattr(solution, name) for name in one.blueprint.asks}


def signed(one):
    return solved(one).alpha * one.instance.y


@pytest.fixture
def undiagnosed(monkeypatch):
    """Grades with verdicts alone: a search for causes takes seconds where nothing has asked for one."""
    monkeypatch.setattr(_exercise, "verify", partial(verify, diagnosis=False))


@pytest.mark.usefixtures("undiagnosed")
@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("seed", SEEDS)
def test_the_optimum_passes_and_nothing_near_it(name, seed):
    one = exercise(name, seed)
    answer = asked(one, solved(one))
    grade = one.grade(**answer)
    assert grade.passed
    assert grade.words.startswith("Right. ")
    assert f"{grade.report.optimum.lower:.8g}" in grade.words
    near = {part: 1.01 * np.asarray(value) for part, value in answer.items()}
    assert not one.grade(**near).passed


@pytest.mark.parametrize("name", NAMES)
def test_a_seed_is_a_problem_of_its_own_and_always_the_same(name):
    one, again, other = exercise(name, 3), exercise(name, 3), exercise(name, 4)
    np.testing.assert_array_equal(one.instance.kernels, again.instance.kernels)
    assert one.parameters == again.parameters
    assert not np.array_equal(one.instance.kernels, other.instance.kernels)
    assert one.question.startswith(f"{name}, seed 3. ")
    assert "{" not in one.question


MISTAKES = [
    ("svm-dual", lambda one: asked(one, solved(one, kernels=2.0)), "half"),
    ("svm-dual", lambda one: asked(one, solved(one, bias=False)), "bias_omitted"),
    ("svm-dual", lambda one: asked(one, solved(one, C=one.parameters["C"] / 12)), "C_over_n"),
    ("svm-dual", lambda one: {**asked(one, solved(one)), "objective": -solved(one).objective}, "objective_sign"),
    ("svm-dual", lambda one: {**asked(one, solved(one)), "objective": solved(one).objective / 2}, "objective_half"),
    ("svm-dual", lambda one: {**asked(one, solved(one)), "alpha": signed(one)}, "alpha_signed"),
    ("svm-bias", lambda one: {**asked(one, solved(one)), "bias": -solved(one).bias}, "bias_sign"),
    ("svm-bias", lambda one: {**asked(one, solved(one)), "bias": 0.0}, "bias_omitted"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("name", "mistake", "hint", "seed"), [(*row, SEEDS[place % 2]) for place, row in enumerate(MISTAKES)]
)
def test_a_usual_mistake_gets_its_hint(name, mistake, hint, seed):
    one = exercise(name, seed)
    grade = one.grade(**mistake(one))
    assert not grade.passed
    assert grade.report.diagnosis.name == hint
    assert grade.words.startswith("Not yet.")
    assert str(grade).endswith(f"Think again: {one.blueprint.hints[hint]}")


@pytest.mark.usefixtures("undiagnosed")
def test_words_name_what_is_violated_and_what_is_right():
    one = exercise("svm-dual", 0)
    right = asked(one, solved(one))
    words = one.grade(**{**right, "alpha": np.full(12, -1.0)}).words
    assert "- alpha: violates " in words
    assert "- objective: right" in words


@pytest.mark.parametrize("name", NAMES)
def test_the_command_line_grades_the_same(name, tmp_path, run):
    one = exercise(name, 2)
    command = one.save(tmp_path / "problem.npz")
    save_answer(tmp_path / "answer.json", **asked(one, solved(one)))
    save_answer(tmp_path / "wrong.json", **asked(one, solved(one, kernels=2.0)))
    for file, status, options in (("answer.json", 0, []), ("wrong.json", 1, ["--no-diagnosis"])):
        words = command.replace("ANSWER", str(tmp_path / file)).split()
        assert words[:2] == ["mklcvx", "verify"]
        assert run(*words[1:], *options)[0] == status


def test_refusals_name_the_remedy():
    with pytest.raises(InputError, match="unknown exercise 'svm-daul': did you mean 'svm-dual'"):
        exercise("svm-daul")
    for seed in (-1, 0.5, "7", None, True):
        with pytest.raises(InputError, match="give a whole number at least 0"):
            exercise("svm-dual", seed)
    one = exercise("svm-dual", np.int64(1))
    with pytest.raises(InputError, match="asks for alpha: give alpha=…"):
        one.grade(objective=1.0)
    with pytest.raises(InputError, match="'beta' is not a part of an answer"):
        one.grade(alpha=np.zeros(12), objective=0.0, beta=1)


@pytest.mark.parametrize("name", NAMES)
def test_of_five_wrong_solutions_four_get_a_hint_that_fits_and_none_a_looser_tolerance(name):
    """Other kernels, a half missing, and answers in another form: whatever the exercise asks for."""
    one = exercise(name, 1)
    right = asked(one, solved(one))
    traces = one.instance.kernels.trace(axis1=1, axis2=2)[:, None, None]
    scaled = solve(one.instance.with_kernels(one.instance.kernels / traces), one.formulation, **one.parameters)
    parts = [part for part in ("objective", "weights", "alpha") if part in right]
    wrong = [("kernels", asked(one, solved(one, kernels=2.0))), ("kernels", asked(one, scaled))]
    wrong += [(part, {**right, part: by * np.asarray(right[part])}) for by in (-1.0, 0.5, 3.0) for part in parts]
    named, tried = 0, 0
    for dimension, answer in wrong:
        grade = None if tried == 5 else one.grade(**answer)
        if grade is None or grade.passed:
            continue
        tried += 1
        found = {kind for said in grade.report.diagnosis.explanations for kind in said.kinds}
        named += any(kind.startswith((dimension, "kernels", "parameter", "objective", "weights")) for kind in found)
        assert "Think again: " in grade.words
        assert "tol" not in grade.words
    assert tried == 5
    assert named >= 4
