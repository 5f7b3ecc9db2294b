"""What every convention has: another code's problem, how it becomes ours, and how answers go there and back.

A convention has one loss, as a rule the hinge with margin 1, so a conversion never changes the decision function
f = Σ_m f_m + b (but for its sign, where a code calls the other class positive). What changes is the split of
f_m = weight_m K_m(α∘y) between weights, α and kernels, and the units of the objective:

    weight = theirs × w_m,   α = theirs × a_i,   b = theirs × β,   objective = theirs × v + s,

with w_m, a_i, β, v ≠ 0 and s known once the problem is converted (`AnswerMap`). a_i contains y_i where α carries the
label's sign, v is negative where a dual is minimised. The map is one-to-one: back is the inverse. Where the
split is not linear (the thesis's λ, whose weights are 1/(2λ)), the convention brings a `Reweighing` of its own.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace

import numpy as np

from ...certificate.solution import Solution
from ...errors import InputError, nearest
from ...formulations._formulation import Given, Own, Parameter, Parameters, as_choice, as_flag
from ...formulations.families.single_task import C
from ...formulations.losses import COUNTS, HINGE, LABELS, REAL, Loss
from ...problem.checks import shown
from ...problem.instance import Instance
from ...problem.preprocessing import Preprocessing, UnitTrace
from ...problem.stack import Array
from ...problem.targets import NONE as NO_TARGETS
from ...solvers.solving import preprocessed, solve
from ..answers import Answer, as_numbers, of_shape

Factor = float | Array
UNIT = 1e-9  # how far a trace may be from one


@dataclass(frozen=True)
class AnswerMap:
    """ours = theirs × factor, part by part; the objective is shifted after that."""

    weights: Factor = 1.0
    alpha: Factor = 1.0
    coefficients: Factor = 1.0
    bias: float = 1.0
    objective: float = 1.0
    shift: float = 0.0

    @property
    def _factors(self) -> Parameters:
        return {name: getattr(self, name) for name in ("weights", "alpha", "coefficients", "bias")}

    def to_ours(self, answer: Answer) -> Answer:
        return self._mapped(answer, self._factors, lambda theirs: theirs * self.objective + self.shift)

    def from_ours(self, answer: Answer) -> Answer:
        inverses = {name: 1 / factor for name, factor in self._factors.items()}
        return self._mapped(answer, inverses, lambda ours: (ours - self.shift) / self.objective)

    def _mapped(self, answer: Answer, factors: Parameters, value: Callable[[float], float]) -> Answer:
        given = {name: getattr(answer, name) for name in factors}
        parts: Parameters = {name: part * factors[name] for name, part in given.items() if part is not None}
        if answer.objective is not None:
            parts["objective"] = value(answer.objective)
        if answer.bounds is not None:  # a maximum turned into a minimum has its bounds the other way round
            parts["bounds"] = tuple(map(value, answer.bounds))[:: 1 if self.objective > 0 else -1]
        return Answer(**parts)


@dataclass(frozen=True)
class ConvertedProblem:
    """Another code's problem as ours: formulation, parameters, the kernels it uses; and how its answers translate."""

    formulation: str
    parameters: Parameters
    instance: Instance
    answers: AnswerMap = field(default_factory=AnswerMap)
    notes: tuple[str, ...] = ()

    def solve(self, **options: Own) -> Solution:
        """Our solution of it; `options` are those of `mklcvx.solve`."""
        return solve(self.instance, self.formulation, **options, **self.parameters)


@dataclass(frozen=True)
class Reweighing:
    """The conversion of weights that are no multiple of ours, from an answer of theirs and from weights of ours."""

    to_ours: Callable[[Answer, Instance], Array]
    from_ours: Callable[[Array, Instance], tuple[Array, Parameters]]
    needs: tuple[str, ...] = ()  # the multipliers that `to_ours` needs


@dataclass(frozen=True)
class Convention:
    """One code's way to state a problem. Its file states the problem and proves the conversion.

    `problem(instance, parameters)` converts a problem, every parameter resolved. `choices` are parameters that are
    words. `support` names the multiplier that lists the support vectors where α is given for these alone, and says
    where its counting starts. `loss` is ours; the convention's parameters set what it has of its own. The multipliers
    `kept` mean what ours do.
    """

    name: str
    title: str
    reference: str
    problem: Callable[[Instance, Parameters], ConvertedProblem]
    serves: tuple[str, ...]
    parameters: tuple[Parameter, ...] = (C,)
    choices: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    bias: bool = True
    support: tuple[str, int] = ("support", 0)
    reweighing: Reweighing | None = None
    loss: Loss = HINGE
    kept: tuple[str, ...] = ()

    @property
    def theorem(self) -> str:
        """The docstring of the convention's file."""
        return sys.modules[self.problem.__module__].__doc__ or ""

    @property
    def described_parameters(self) -> list[tuple[str, str]]:
        """Name and description of every parameter."""
        total = [("C_total", "n times C, instead of C")] if C in self.parameters else []
        words = [(name, f"{' or '.join(options)}; default {options[0]}") for name, options in self.choices.items()]
        bias = ("bias", f"whether f has a constant term; default {str(self.bias).lower()}")
        return [*(p.described for p in self.parameters), *total, *words, bias]

    @property
    def parameter_names(self) -> list[str]:
        return [name for name, _ in self.described_parameters]

    @property
    def multiplier_names(self) -> tuple[str, ...]:
        """The multipliers of an answer that the conversion uses."""
        return (self.support[0], *self.kept, *(() if self.reweighing is None else self.reweighing.needs))

    # ----------------------------------------------------------------------------------------- problems
    def to_ours(self, instance: Instance, parameters: Given | None = None) -> ConvertedProblem:
        """Our formulation, parameters and kernels for their problem; it is solved where they depend on its optimum."""
        self._check_targets(instance)
        return self.problem(instance, self._resolved(instance, parameters or {}))

    def _check_targets(self, instance: Instance) -> None:
        if self.loss.targets == LABELS:
            instance.targets.plus_minus(self.name)
        elif self.loss.targets in (REAL, COUNTS):
            instance.targets.real(self.name)
        elif instance.targets.kind != NO_TARGETS:
            raise instance.targets.refusal(self.name, "no targets", "leave them out")

    def _resolved(self, instance: Instance, given: Given) -> Parameters:
        for name in given:
            if name not in self.parameter_names:
                raise InputError(f"unknown parameter {name!r} of {self.name}: {nearest(name, self.parameter_names)}")
        numbers = {p.name: p.resolve(given.get(p.name), self.name, instance.count) for p in self.parameters}
        if given.get("C_total") is not None:
            if given.get("C") is not None:
                raise InputError("parameters C and C_total are both given: C_total is n times C; keep one")
            numbers["C"] = C.resolve(given["C_total"], self.name, instance.count) / instance.samples
        words = {name: as_choice(name, given.get(name), options) for name, options in self.choices.items()}
        return {**numbers, **words, "bias": as_flag("bias", given.get("bias"), default=self.bias)}

    # ------------------------------------------------------------------------------------------ answers
    def answer_to_ours(self, answer: Answer, problem: ConvertedProblem) -> Answer:
        """Their weights, α, coefficients, bias and objective as ours, as far as they are given."""
        instance = problem.instance
        checked = replace(
            answer,
            weights=of_shape("weights", answer.weights, (instance.count,), undefined=answer.coefficients is not None),
            alpha=of_shape("alpha", self._spread(answer, instance.samples), (instance.samples,)),
            coefficients=of_shape("coefficients", answer.coefficients, (instance.count, instance.samples)),
        )
        same = {name: answer.multipliers[name] for name in self.kept if name in answer.multipliers}
        ours = replace(problem.answers.to_ours(checked), multipliers=same)
        if self.reweighing is None or checked.weights is None:
            return ours
        return replace(ours, weights=self.reweighing.to_ours(checked, instance))

    def answer_from_ours(self, answer: Answer | Solution, problem: ConvertedProblem) -> Answer:
        """An answer of ours in their notation, with α for every sample."""
        given = as_answer(answer)
        theirs = problem.answers.from_ours(given)
        if self.reweighing is None or given.weights is None:
            return theirs
        weights, multipliers = self.reweighing.from_ours(given.weights, problem.instance)
        return replace(theirs, weights=weights, multipliers=multipliers)

    def _spread(self, answer: Answer, samples: int) -> Array | None:
        """α for every sample, zero for samples that are not listed."""
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


# ------------------------------------------------------------------------------- words that several conventions share
def number(name: str, meaning: str, limits: str, accepts: Callable[[float], bool], default: float) -> Parameter:
    """A parameter whose limits and default do not depend on the number of kernels."""
    return Parameter(name, meaning, limits, lambda v, _: accepts(v), lambda _: default, f"{default:g}")


def positive(name: str, letter: str, meaning: str) -> Parameter:
    return number(name, meaning, f"{letter} > 0", lambda v: v > 0, 1.0)


def sample_side(parameters: Parameters) -> Parameters:
    """C and bias, which mean the same in most places."""
    return {name: parameters[name] for name in ("C", "bias") if name in parameters}


def unit_trace(instance: Instance) -> tuple[Instance, Array]:
    """The instance with every kernel divided by its trace, and the traces; test kernels are divided as well."""
    chain = Preprocessing([UnitTrace()])
    scaled = preprocessed(instance, chain, weighted=False)
    if instance.test_kernels is not None:
        scaled = scaled.with_kernels(scaled.kernels, test_kernels=chain.test(instance.test_kernels))
    return scaled, np.array([float(np.trace(kernel)) for kernel in instance.kernels])
