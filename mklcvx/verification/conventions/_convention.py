"""What every convention has: another code's problem, how it becomes ours, and how answers go there and back.

All conventions here have the hinge loss with margin 1, so a conversion never changes the decision function
f = Σ_m f_m + b (but for its sign, where a code calls the other class positive). What changes is the split of
f_m = weight_m K_m(α∘y) between weights, α and kernels, and the units of the objective:

    weight = theirs × w_m,   α = theirs × a_i,   b = theirs × β,   objective = theirs × v + s,

with w_m, a_i, β, v ≠ 0 and s known once the problem is converted (`AnswerMap`). a_i contains y_i where α carries the
label's sign, v is negative where a dual is minimised. The map is one-to-one: back is the inverse. Where the
split is not linear (the thesis's λ, whose weights are 1/(2λ)), the convention brings a `Reweighing` of its own.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ... import formulations
from ...certificate.solution import Solution
from ...errors import InputError, nearest
from ...formulations._formulation import Parameter, as_choice, as_flag, shown
from ...problem.instance import Instance
from ...solvers.solving import solve
from ..answers import Answer, as_numbers, of_shape

Array = NDArray[np.float64]
Given = Mapping[str, Any]
Factor = float | Array


@dataclass(frozen=True)
class AnswerMap:
    """ours = theirs × factor, part by part; the objective is shifted after that."""

    weights: Factor = 1.0
    alpha: Factor = 1.0
    coefficients: float = 1.0
    bias: float = 1.0
    objective: float = 1.0
    shift: float = 0.0

    def to_ours(self, answer: Answer) -> Answer:
        return Answer(
            weights=_times(answer.weights, self.weights),
            alpha=_times(answer.alpha, self.alpha),
            coefficients=_times(answer.coefficients, self.coefficients),
            bias=None if answer.bias is None else answer.bias * self.bias,
            objective=None if answer.objective is None else self._value(answer.objective),
            bounds=None if answer.bounds is None else self._interval(*map(self._value, answer.bounds)),
        )

    def from_ours(self, answer: Answer) -> Answer:
        return Answer(
            weights=_times(answer.weights, 1 / np.asarray(self.weights)),
            alpha=_times(answer.alpha, 1 / np.asarray(self.alpha)),
            coefficients=_times(answer.coefficients, 1 / self.coefficients),
            bias=None if answer.bias is None else answer.bias / self.bias,
            objective=None if answer.objective is None else self._theirs(answer.objective),
            bounds=None if answer.bounds is None else self._interval(*map(self._theirs, answer.bounds)),
        )

    def _value(self, theirs: float) -> float:
        return theirs * self.objective + self.shift

    def _theirs(self, ours: float) -> float:
        return (ours - self.shift) / self.objective

    def _interval(self, lower: float, upper: float) -> tuple[float, float]:
        """A maximum turned into a minimum has its bounds the other way round."""
        return (lower, upper) if self.objective > 0 else (upper, lower)


@dataclass(frozen=True)
class Problem:
    """Another code's problem as ours: formulation, parameters, the kernels it uses; and how its answers translate."""

    formulation: str
    parameters: dict[str, Any]
    instance: Instance
    answers: AnswerMap = field(default_factory=AnswerMap)
    notes: tuple[str, ...] = ()

    def solve(self, **options: Any) -> Solution:
        """Our solution of it; `options` are those of `mklcvx.solve`."""
        return solve(self.instance, self.formulation, **options, **self.parameters)


@dataclass(frozen=True)
class Reweighing:
    """Weights that are no multiple of ours: there from an answer of theirs, back from an answer of ours."""

    to_ours: Callable[[Answer, Instance], Array]
    from_ours: Callable[[Array, Instance], tuple[Array, dict[str, Any]]]
    needs: tuple[str, ...] = ()  # the multipliers that the way there asks for


@dataclass(frozen=True)
class Convention:
    """One code's way to state a problem. `theorem` is the statement, and the proof of the conversion.

    `problem(instance, parameters)` converts a problem, every parameter resolved; `theirs(problem)` gives their
    parameters for one of ours, where the two differ. `choices` are parameters that are words. `support` names the
    multiplier that lists the support vectors where α is given for these alone, and says where its counting starts.
    """

    name: str
    title: str
    reference: str
    theorem: str
    parameters: tuple[Parameter, ...]
    problem: Callable[[Instance, dict[str, Any]], Problem]
    theirs: Callable[[Problem], dict[str, Any]]
    serves: tuple[str, ...]
    choices: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    bias: bool = True
    support: tuple[str, int] = ("support", 0)
    reweighing: Reweighing | None = None

    @property
    def described_parameters(self) -> list[tuple[str, str]]:
        """Name and description of every parameter."""
        total = [("C_total", "n times C, instead of C")] if any(p.name == "C" for p in self.parameters) else []
        words = [(name, f"{' or '.join(options)}; default {options[0]}") for name, options in self.choices.items()]
        bias = ("bias", f"whether f has a constant term; default {str(self.bias).lower()}")
        return [*(p.described for p in self.parameters), *total, *words, bias]

    @property
    def parameter_names(self) -> list[str]:
        return [name for name, _ in self.described_parameters]

    @property
    def multiplier_names(self) -> tuple[str, ...]:
        """The multipliers of an answer that a conversion uses; of others it knows nothing."""
        return (self.support[0], *(() if self.reweighing is None else self.reweighing.needs))

    # ----------------------------------------------------------------------------------------- problems
    def to_ours(self, instance: Instance, parameters: Given | None = None) -> Problem:
        """Our formulation, parameters and kernels for their problem; solved for where only the optimum tells."""
        instance.targets.plus_minus(self.name)
        return self.problem(instance, self._resolved(instance, parameters or {}))

    def from_ours(self, instance: Instance, formulation: str, parameters: Given | None = None) -> dict[str, Any]:
        """Their parameters for a problem of ours, such that `to_ours` gives it back."""
        if formulation not in self.serves:
            raise InputError(f"formulation {formulation!r} is none of {self.name}'s: it has {', '.join(self.serves)}")
        _, resolved = formulations.get(formulation).task(instance, parameters or {})
        if "nu" in resolved:
            raise InputError(f"parameter nu is none of {self.name}'s: give C")
        return self.theirs(Problem(formulation, resolved, instance))

    def _resolved(self, instance: Instance, given: Given) -> dict[str, Any]:
        for name in given:
            if name not in self.parameter_names:
                raise InputError(f"unknown parameter {name!r} of {self.name}: {nearest(name, self.parameter_names)}")
        numbers = {p.name: p.resolve(given.get(p.name), self.name, instance.count) for p in self.parameters}
        if given.get("C_total") is not None:
            if given.get("C") is not None:
                raise InputError("parameters C and C_total are both given: C_total is n times C; keep one")
            total = next(p for p in self.parameters if p.name == "C").resolve(
                given["C_total"], self.name, instance.count
            )
            numbers["C"] = total / instance.samples
        words = {name: as_choice(name, given.get(name), options) for name, options in self.choices.items()}
        return {**numbers, **words, "bias": as_flag("bias", given.get("bias"), default=self.bias)}

    # ------------------------------------------------------------------------------------------ answers
    def answer_to_ours(self, answer: Answer, problem: Problem) -> Answer:
        """Their weights, α, coefficients, bias and objective as ours; what is not given stays away."""
        instance = problem.instance
        checked = replace(
            answer,
            weights=of_shape("weights", answer.weights, (instance.count,), undefined=answer.coefficients is not None),
            alpha=of_shape("alpha", self._spread(answer, instance.samples), (instance.samples,)),
            coefficients=of_shape("coefficients", answer.coefficients, (instance.count, instance.samples)),
        )
        ours = problem.answers.to_ours(checked)
        if self.reweighing is None or checked.weights is None:
            return ours
        return replace(ours, weights=self.reweighing.to_ours(checked, instance))

    def answer_from_ours(self, answer: Answer | Solution, problem: Problem) -> Answer:
        """An answer of ours in their words, α for every sample."""
        given = as_answer(answer)
        theirs = problem.answers.from_ours(given)
        if self.reweighing is None or given.weights is None:
            return theirs
        weights, multipliers = self.reweighing.from_ours(given.weights, problem.instance)
        return replace(theirs, weights=weights, multipliers=multipliers)

    def _spread(self, answer: Answer, samples: int) -> Any:
        """α for every sample, zero where it was left out."""
        key, first = self.support
        if answer.alpha is None or answer.multipliers.get(key) is None:
            return answer.alpha
        places = np.ravel(as_numbers(key, answer.multipliers[key])) - first
        values = np.ravel(answer.alpha)
        whole = np.isfinite(places).all() and (places == np.floor(places)).all()
        if not whole or len(places) != len(values) or ((places < 0) | (places >= samples)).any():
            last = samples - 1 + first
            raise InputError(f"answer: {key} does not index alpha: give {len(values)} integers from {first} to {last}")
        if len(np.unique(places)) < len(places):
            raise InputError(f"answer: {key} = {shown(places + first)} names a sample twice: give each once")
        alpha = np.zeros(samples)
        alpha[places.astype(int)] = values
        return alpha


def as_answer(answer: Answer | Solution) -> Answer:
    """What a solution of ours says, as an answer."""
    if isinstance(answer, Answer):
        return answer
    return Answer(
        answer.weights, answer.alpha, answer.coefficients, bias=float(answer.bias), objective=answer.objective
    )


def _times(value: Array | None, factor: Any) -> Array | None:
    return None if value is None else np.asarray(value * factor, dtype=np.float64)
