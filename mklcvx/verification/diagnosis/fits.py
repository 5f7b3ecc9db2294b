"""Fits of one number to an answer: "optimal for C = 3".

A parameter is varied until the conditions of optimality at the handed point leave least: on a grid of its values first,
then between the best one's neighbours. Nothing is solved but the machine where α is missing. What has a closed form is
in `implied`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from functools import cache
from typing import NamedTuple

import numpy as np

from ...errors import InputError
from ...formulations import FORMULATIONS
from ..answers import Answer
from ..case import FITS, SAMPLE_SIDE, Case, pose
from ..families import family_of
from .families.conditions import OF_WEIGHTS, Conditions, conditions
from .mistakes import SAME, DiagnosticTrial, Hypotheses, Trials, given_weights, with_parameters

ENOUGH = 3  # weights that tell a parameter by themselves
GRID, STEPS, MINIMA = 13, 40, 3
HOPELESS, BARELY = 10, 0.1  # steps after which a fit that has not improved by so much ends
MEETING = 1e-5  # gap of bounds that meet
ROUND = 1e-5  # relative distance of a value from the number that it is meant to be
GOLDEN = (np.sqrt(5) - 1) / 2
RELATIONS = (
    ("n", lambda n, _: n), ("1/n", lambda n, _: 1 / n), ("2", lambda *_: 2.0), ("½", lambda *_: 0.5),
    ("M", lambda _, m: m), ("1/M", lambda _, m: 1 / m), ("4", lambda *_: 4.0), ("¼", lambda *_: 0.25),
)  # fmt: skip


class Varied(NamedTuple):
    """A parameter's values: of any size above `low`, or between two ends."""

    low: float
    high: float | None = None

    def values(self, given: float) -> tuple[Callable[[float], float], float, float]:
        """From an unbounded number to a value, and the ends of the numbers that are tried."""
        if self.high is None:
            size = max(given - self.low, 1e-3)
            return lambda t: self.low + size * float(np.exp(t)), -9.3, 9.3
        low, high = self.low, self.high
        return lambda t: low + (high - low) * t, 1e-3, 1 - 1e-3


VARIED = {
    "C": Varied(0.0), "theta": Varied(0.0), "p": Varied(1.0), "s": Varied(1.0), "lam": Varied(0.0),
    "smoothing": Varied(0.0), "epsilon": Varied(0.0), "delta": Varied(0.0), "width": Varied(0.0),
    "l1_ratio": Varied(0.0, 1.0), "nu": Varied(0.0, 1.0), "quantile": Varied(0.0, 1.0),
}  # fmt: skip


def fitted_parameters(case: Case, answer: Answer) -> Trials:
    """Every parameter that has a continuum of values."""
    weights = given_weights(case, answer)
    if answer.alpha is None and (weights is None or len(weights) < ENOUGH):
        return
    yield from _fitted(case, answer, VARIED)


def formulation_fitted(case: Case, answer: Answer) -> Trials:
    """Another formulation, with a parameter that nobody stated here."""
    weights = given_weights(case, answer)
    if answer.alpha is None and (weights is None or len(weights) <= ENOUGH):
        return
    for other in FORMULATIONS:
        own = [parameter.name for parameter in other.parameters if parameter.name in VARIED]
        if other.family != case.formulation.family or other is case.formulation or not own or case.task.count < ENOUGH:
            continue
        shared = {key: value for key, value in case.parameters.items() if key in other.parameter_names}
        posed = pose(case.instance, other.name, shared, FITS)
        for trial in _fitted(posed, answer, own[:1]):
            value = trial.parameters[own[0]] if trial.parameters else 0.0
            words = f"optimal for another formulation: {other.name}, {other.title}, with {own[0]} = {value:.6g}"
            yield replace(trial, name=f"formulation {other.name}", words=words, formulation=other.name, kind="")


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
        trial = with_parameters(case, answer, "parameter", words, **{name: value})
        yield replace(trial, fitted=0 if plain else 1)


def _rounded(value: float) -> tuple[float, bool]:
    """The number of two digits that a value is up to accuracy, which somebody has written down; or the value."""
    near = float(f"{value:.1e}")
    return (near, True) if abs(value - near) <= ROUND * near else (value, False)


def _fitted(case: Case, answer: Answer, names: Iterable[str]) -> Trials:
    for name in names:
        given, varied = case.parameters.get(name), VARIED[name]
        if isinstance(given, int | float) and not isinstance(given, bool):
            for value in _least(case, answer, name, float(given), varied):
                if abs(value - given) <= SAME * abs(given):
                    continue
                words = (
                    f"optimal for {name} = {value:.6g}, and not for {name} = {given:.6g}{_relation(case, value, given)}"
                )
                changed = {**case.parameters, name: value}
                yield DiagnosticTrial(
                    "parameter", words, answer, parameters=changed, kind=f"parameter:{name}", fitted=1
                )


def _relation(case: Case, value: float, given: float) -> str:
    for words, factor in RELATIONS:
        if abs(value / (given * factor(case.instance.samples, case.instance.count)) - 1) < SAME:
            return f": it is {words} times what was asked"
    return ""


def _least(case: Case, answer: Answer, name: str, given: float, varied: Varied) -> Iterator[float]:
    """The values at which the conditions leave least, there being several where a parameter makes a problem trivial."""
    whole = answer.alpha is not None and answer.weights is not None
    staged = family_of(case.formulation).second_stage
    spoken = replace(answer, objective=None, bias=None, alpha=None if staged else answer.alpha)  # they follow
    value, low, high = varied.values(given)

    @cache  # both searches begin at the same values
    def judged(t: float) -> Conditions | None:
        try:
            posed = pose(case.instance, case.formulation.name, {**case.parameters, name: value(t)}, FITS)
            return conditions(posed, spoken)
        except (InputError, ArithmeticError, ValueError, np.linalg.LinAlgError):
            return None

    for t in _where_least(judged, low, high, name if whole else ""):
        yield value(t)
    if whole and name not in SAMPLE_SIDE:  # α may have to be scaled to be feasible, and then the machine sees it, too
        for t in _where_least(judged, low, high, ""):
            yield value(t)


def _where_least(judged: Callable[[float], Conditions | None], low: float, high: float, own: str) -> Iterator[float]:
    def left(t: float) -> float:
        at = judged(t)
        if at is None or not ("tightness" in at.residuals or at.complete):
            return np.inf
        return _own_residual(at, own)

    grid = np.linspace(low, high, GRID)
    tried = [left(t) for t in grid]
    sides = [np.inf, *tried, np.inf]
    lows = [k for k in range(GRID) if np.isfinite(tried[k]) and tried[k] <= min(sides[k], sides[k + 2])]
    for k in sorted(lows, key=lambda k: tried[k])[:MINIMA]:
        yield _golden(left, grid[max(k - 1, 0)], grid[min(k + 1, GRID - 1)])


def _own_residual(remaining: Conditions, name: str) -> float:
    """What the conditions leave that a parameter has a part in: where weights and α are there, those of the machine do
    not see the formulation's parameters, nor the tightness those of the samples' side."""
    own = {key: by for key, by in remaining.residuals.items() if (key in OF_WEIGHTS) == (name not in SAMPLE_SIDE)}
    return Conditions(own, True).worst if name and "tightness" in remaining.residuals else remaining.worst


def _golden(left: Callable[[float], float], low: float, high: float) -> float:
    """The section of least `left`, which is a square there: its root is as sharp as doubles allow."""
    inner = [high - GOLDEN * (high - low), low + GOLDEN * (high - low)]
    values = [left(t) for t in inner]
    first = min(values)
    for step in range(STEPS):
        if step == HOPELESS and min(values) > max(BARELY * first, SAME):  # one that began well may take its time
            break
        if values[0] <= values[1]:
            high, inner, values = inner[1], [inner[1] - GOLDEN * (inner[1] - low), inner[0]], [0.0, values[0]]
            values[0] = left(inner[0])
        else:
            low, inner, values = inner[0], [inner[1], inner[0] + GOLDEN * (high - inner[0])], [values[1], 0.0]
            values[1] = left(inner[1])
        if high - low < 1e-9 * max(1.0, abs(high)) or min(values) <= 0:
            break
    return inner[int(np.argmin(values))]


FITTED: Hypotheses = (fitted_parameters,)
