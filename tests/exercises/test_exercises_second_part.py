"""Exercises of chapters 7 to 12: each usual mistake gets the hint meant for it."""

from __future__ import annotations

import pytest
from test_exercises import SEEDS, asked, solved

from mklcvx import solve
from mklcvx.exercises import exercise

pytestmark = pytest.mark.slow


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


MISTAKES = [
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
    assert grade.report.diagnosis.name.split()[0] == hint
    assert str(grade).endswith(f"Think again: {one.blueprint.hints[hint]}")
