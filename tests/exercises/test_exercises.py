"""Seeded exercises: the right answer passes for every seed, and each usual mistake gets the hint meant for it."""

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


def but(one, part, change):
    """The right answer with one part changed."""
    right = asked(one, solved(one))
    return {**right, part: change(right[part])}


def other(one, formulation, **changes):
    """What another formulation answers, with the parameters that it shares."""
    shared = {name: value for name, value in one.parameters.items() if name == "C"}
    return asked(one, solve(one.instance, formulation, **{**shared, **changes}))


def few_cuts(one):
    return solve(one.instance, one.formulation, solver="silp", max_iter=3, **one.parameters)


def turned(one, name, factor=None):
    """The optimum for a parameter turned upside down, or multiplied."""
    value = one.parameters[name]
    return asked(one, solved(one, **{name: 1 / value if factor is None else factor * value}))


def complemented(one):
    """The optimum for who has not a label in place of who has."""
    swapped = one.instance.with_kernels(one.instance.kernels, labels=1 - one.instance.targets.values)
    return asked(one, solve(swapped, one.formulation, **one.parameters))


def in_place_of(one, formulation, *dropped):
    """The optimum of another formulation, without the parameters that it does not have."""
    kept = {name: value for name, value in one.parameters.items() if name not in dropped}
    return asked(one, solve(one.instance, formulation, **kept))


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


@pytest.mark.parametrize("seed", range(5))
def test_four_points_have_the_closed_form(seed):
    one = exercise("two-kernels", seed)
    far = np.sqrt(one.instance.kernels.max(axis=(1, 2)))
    assert [f"{distance:g}" for distance in far] == [name.split(" = ")[1] for name in one.instance.names]
    assert one.grade(weights=1 / far / np.sum(1 / far), objective=np.sum(1 / far) ** 2 / 2).passed


MISTAKES = [
    ("svm-dual", lambda one: asked(one, solved(one, kernels=2.0)), "half"),
    ("svm-dual", lambda one: asked(one, solved(one, bias=False)), "bias_omitted"),
    ("svm-dual", lambda one: asked(one, solved(one, C=one.parameters["C"] / 12)), "C_over_n"),
    ("svm-dual", lambda one: {**asked(one, solved(one)), "objective": -solved(one).objective}, "objective_sign"),
    ("svm-dual", lambda one: {**asked(one, solved(one)), "objective": solved(one).objective / 2}, "objective_half"),
    ("svm-dual", lambda one: {**asked(one, solved(one)), "alpha": signed(one)}, "alpha_signed"),
    ("svm-bias", lambda one: {**asked(one, solved(one)), "bias": -solved(one).bias}, "bias_sign"),
    ("svm-bias", lambda one: {**asked(one, solved(one)), "bias": 0.0}, "bias_omitted"),
    ("two-kernels", lambda one: asked(one, solved(one, kernels=2.0)), "objective_half"),
    ("two-kernels", lambda one: other(one, "sum"), "formulation sum"),
    ("two-kernels", lambda one: other(one, "average"), "formulation average"),
    ("two-kernels", lambda one: but(one, "weights", lambda v: 2 * v), "weights_norm"),
    ("two-kernels", lambda one: but(one, "objective", lambda v: -v), "objective_sign"),
    ("two-kernels", lambda one: but(one, "objective", lambda v: 1.1 * v), "objective_value"),
    ("kernel-weights", lambda one: asked(one, solved(one, kernels=2.0)), "half"),
    ("kernel-weights", lambda one: asked(one, solved(one, bias=False)), "bias_omitted"),
    ("kernel-weights", lambda one: other(one, "average"), "formulation average"),
    ("kernel-weights", lambda one: but(one, "weights", lambda v: v / 2), "weights_norm"),
    ("every-kernel", lambda one: asked(one, solved(one, kernels=2.0)), "half"),
    ("every-kernel", lambda one: asked(one, solved(one, bias=False)), "bias_omitted"),
    ("every-kernel", lambda one: other(one, "l1"), "formulation l1"),
    ("every-kernel", lambda one: but(one, "weights", lambda v: 0.5 / v), "weights_reciprocal"),
    ("every-kernel", lambda one: but(one, "weights", lambda v: 3 * v), "weights_norm"),
    ("soft-kernels", lambda one: asked(one, solved(one, kernels=2.0)), "half"),
    ("soft-kernels", lambda one: asked(one, solved(one, bias=False)), "bias_omitted"),
    ("soft-kernels", lambda one: other(one, "l1"), "formulation l1"),
    ("soft-kernels", lambda one: other(one, "average"), "formulation average"),
    ("soft-kernels", lambda one: but(one, "weights", lambda v: v / v.max()), "weights_norm"),
    ("soft-kernels-squared", lambda one: other(one, "square", theta=one.parameters["theta"]), "formulation square"),
    ("soft-kernels-squared", lambda one: asked(one, solved(one, theta=2 * one.parameters["theta"])), "parameter"),
    ("cutting-planes", lambda one: asked(one, few_cuts(one)), "stopped_early"),
    ("cutting-planes", lambda one: asked(one, solved(one, kernels=2.0)), "half"),
    ("cutting-planes", lambda one: asked(one, solved(one, bias=False)), "bias_omitted"),
    ("cutting-planes", lambda one: other(one, "average"), "formulation average"),
    ("cutting-planes", lambda one: but(one, "weights", lambda v: v / v.max()), "weights_norm"),
    ("smoothed-maximum", lambda one: in_place_of(one, "hypergraph", "smoothing"), "formulation"),
    ("smoothed-maximum", lambda one: turned(one, "smoothing"), "parameter"),
    ("smoothed-maximum", lambda one: turned(one, "lam", 2), "half"),
    ("worst-class", lambda one: in_place_of(one, "ml_sum"), "formulation"),
    ("worst-class", lambda one: asked(one, solved(one, kernels=2.0)), "half"),
    ("worst-class", lambda one: turned(one, "C", 1 / one.instance.samples), "C_over_n"),
    ("k-space", lambda one: turned(one, "lam", 2), "parameter"),
    ("k-space", lambda one: in_place_of(one, "ts_l1"), "formulation"),
    ("k-space", lambda one: asked(one, solved(one, kernels=0.5)), "half"),
    ("star-expansion", lambda one: asked(one, solved(one, expansion="clique")), "parameter"),
    ("star-expansion", lambda one: turned(one, "lam", 2), "half"),
    ("star-expansion", complemented, "classes_swapped"),
    ("certified-pair", lambda one: asked(one, solved(one, kernels=2.0)), "half"),
    ("certified-pair", lambda one: asked(one, solved(one, bias=False)), "bias_omitted"),
    ("certified-pair", lambda one: in_place_of(one, "average"), "formulation"),
    ("composite-kernels", lambda one: asked(one, solved(one, kernels=2.0)), "half"),
    ("composite-kernels", lambda one: in_place_of(one, "li"), "formulation"),
    ("composite-kernels", lambda one: asked(one, solved(one, bias=False)), "bias_omitted"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("name", "mistake", "hint", "seed"), [(*row, SEEDS[place % 2]) for place, row in enumerate(MISTAKES)]
)
def test_a_usual_mistake_gets_its_hint(name, mistake, hint, seed):
    one = exercise(name, seed)
    grade = one.grade(**mistake(one))
    assert not grade.passed
    diagnosis = grade.report.diagnosis.name
    assert hint in (diagnosis, diagnosis.split()[0])
    assert grade.words.startswith("Not yet.")
    assert str(grade).endswith(f"Think again: {one.blueprint.hints[hint.split()[0]]}")


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
