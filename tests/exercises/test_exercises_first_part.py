"""Seeded exercises of chapters 02 to 06: closed forms pass, and each usual mistake gets the hint meant for it."""

from __future__ import annotations

import numpy as np
import pytest
from test_exercises import SEEDS, asked, solved

from mklcvx import solve
from mklcvx.exercises import exercise

pytestmark = pytest.mark.slow


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


@pytest.mark.parametrize("seed", range(5))
def test_four_points_have_the_closed_form(seed):
    one = exercise("two-kernels", seed)
    far = np.sqrt(one.instance.kernels.max(axis=(1, 2)))
    assert [f"{distance:g}" for distance in far] == [name.split(" = ")[1] for name in one.instance.names]
    assert one.grade(weights=1 / far / np.sum(1 / far), objective=np.sum(1 / far) ** 2 / 2).passed


MISTAKES = [
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
]  # fmt: skip


@pytest.mark.parametrize(
    ("name", "mistake", "diagnosis", "seed"), [(*row, SEEDS[place % 2]) for place, row in enumerate(MISTAKES)]
)
def test_a_usual_mistake_gets_its_hint(name, mistake, diagnosis, seed):
    one = exercise(name, seed)
    grade = one.grade(**mistake(one))
    assert not grade.passed
    assert grade.report.diagnosis.name == diagnosis
    assert str(grade).endswith(f"Think again: {one.blueprint.hints[diagnosis.split()[0]]}")
