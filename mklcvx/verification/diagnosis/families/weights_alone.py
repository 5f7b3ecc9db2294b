"""Families whose weights say all: with the claimed value they tell a parameter."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ...answers import Answer
from ...case import FITS, Case, pose
from ..mistakes import SAME, Trials, with_parameters
from .conditions import conditions

MEETING = 1e-5  # gap of bounds that meet
ROUND = 1e-5  # relative distance of a value from the number that it is meant to be


def without_rank(case: Case) -> dict[str, object]:
    """The parameters without one that labels decide: other labels may make another rank."""
    return {key: value for key, value in case.parameters.items() if key != "dimensions"}


def told_by_value(case: Case, answer: Answer, name: str, value: float) -> Trials:
    """A parameter that the claimed objective tells, the weights being what they are. That these are nearly as good as
    the best ones is no evidence, since they are not far from them for many values: bounds must meet."""
    given = case.parameters[name]
    if not np.isfinite(value) or value <= 0 or abs(value - given) <= SAME * given:
        return
    value, plain = _rounded(value)
    posed = pose(case.instance, case.formulation.name, {**case.parameters, name: value}, FITS)
    if conditions(posed, answer).worst <= MEETING:
        words = f"{name} = {value:.6g}, and not for {name} = {given:.6g}"
        found = with_parameters(case, answer, "parameter", words, **{name: value})
        yield replace(found, fitted=0 if plain else 1)


def _rounded(value: float) -> tuple[float, bool]:
    """The number of two digits that a value is up to accuracy, which somebody has written down; or the value."""
    near = float(f"{value:.1e}")
    return (near, True) if abs(value - near) <= ROUND * near else (value, False)
