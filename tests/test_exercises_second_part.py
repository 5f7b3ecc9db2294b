"""Exercises of chapters 7 to 12: each usual mistake gets the hint meant for it."""

from __future__ import annotations

import pytest
from test_exercises import SEEDS, asked, solved

from mklcvx import solve
from mklcvx.exercises import exercise


def in_place_of(one, formulation, *dropped):
    """The optimum of another formulation, without the parameters that it does not have."""
    kept = {name: value for name, value in one.parameters.items() if name not in dropped}
    return asked(one, solve(one.instance, formulation, **kept))


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize(
    ("name", "mistake", "hint"),
    [
        ("smoothed-maximum", lambda one: in_place_of(one, "hypergraph", "smoothing"), "formulation"),
        ("smoothed-maximum", lambda one: asked(one, solved(one, smoothing=1 / one.parameters["smoothing"])), "parameter"),
        ("smoothed-maximum", lambda one: asked(one, solved(one, lam=2 * one.parameters["lam"])), "half"),
    ],
)  # fmt: skip
def test_a_usual_mistake_gets_its_hint(name, mistake, hint, seed):
    one = exercise(name, seed)
    grade = one.grade(**mistake(one))
    assert not grade.passed
    assert grade.report.diagnosis.name.split()[0] == hint
    assert str(grade).endswith(f"Think again: {one.blueprint.hints[hint]}")
