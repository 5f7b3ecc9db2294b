"""Families whose weights say all: a hypothesis costs a closed form, so that samples are tried one by one. Which of them
it is was fitted, then."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from ....errors import InputError
from ....problem.stack import Array
from ...answers import Answer
from ...case import FITS, Case, pose
from ...shrinking import restricted
from ..mistakes import SAME, DiagnosticTrial, Hypotheses, Trials, with_instance, with_parameters
from .conditions import conditions

ONE_BY_ONE = 80  # samples beyond which single ones are not tried
MEETING = 1e-5  # gap of bounds that meet
ROUND = 1e-5  # relative distance of a value from the number that it is meant to be
SHARES = (0.1, 0.2, 0.25, 0.5)  # of the samples, which were held out


def without_rank(case: Case) -> dict[str, object]:
    """The parameters without one that labels decide: other labels may make another rank."""
    return {key: value for key, value in case.parameters.items() if key != "dimensions"}


def _alone(case: Case, answer: Answer) -> bool:
    return answer.weights is not None and answer.alpha is None and case.instance.samples <= ONE_BY_ONE


def samples_dropped(case: Case, answer: Answer) -> Trials:
    """One sample left out, or some at the beginning or at the end."""
    for words, some in _subsets(case.instance.samples) if _alone(case, answer) else ():
        try:
            part = restricted(case.instance, some.tolist())
        except InputError:  # a class is missing altogether
            continue
        said = f"optimal without {words}: left out, or held out"
        yield DiagnosticTrial("samples_left_out", said, answer, part, parameters=without_rank(case), fitted=1)


def _subsets(n: int) -> Iterator[tuple[str, NDArray[np.intp]]]:
    each = np.arange(n)
    yield from ((f"sample {i}", np.delete(each, i)) for i in range(n))
    for held in dict.fromkeys(round(share * n) for share in SHARES):
        yield f"the last {held} samples", each[: n - held]
        yield f"the first {held} samples", each[held:]


def target_misread(case: Case, answer: Answer) -> Trials:
    """The targets of one sample after the other: another label, another class, one label more or less."""
    targets = case.instance.targets
    for i in range(case.instance.samples) if _alone(case, answer) else ():
        for words, other in _others(targets.kind, np.asarray(targets.values), i):
            for trial in with_instance(
                case, answer, "label_misread", f"{words} of sample {i}", **{targets.kind: other}
            ):
                yield replace(trial, parameters=without_rank(case), fitted=1)


def _others(kind: str, values: Array, i: int) -> Iterator[tuple[str, Array]]:
    """Targets in which those of one sample are other ones."""
    here = np.arange(len(values)) == i
    if kind == "y":
        yield "the other label", np.where(here, -values, values)
    elif kind == "classes":
        yield from ((f"class {one}", np.where(here, one, values)) for one in np.unique(values) if one != values[i])
    elif kind == "labels":
        for k, column in enumerate(np.eye(values.shape[1], dtype=int)):
            yield f"label {k} turned", np.abs(values - here[:, None] * column)


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


ONE_SAMPLE: Hypotheses = (target_misread, samples_dropped)
