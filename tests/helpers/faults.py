"""Wrong answers and what should be said about them: written down as data before anything is judged.

A fault takes a right answer to the problem that was really solved and hands it over as an answer to the problem that
was asked. `solved` are the formulation and parameters really solved, `changed` the kernels or targets really used.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from mklcvx import Instance, Solution, solve, zoo
from mklcvx.solvers.solving import SOLVERS

INTERIOR = next(solver.serves for solver in SOLVERS if solver.name == "interior")

_base = zoo.random(16, 4, overlap=0.85, positive=0.4, seed=3)
_sizes = np.array([1.0, 2.5, 0.4, 1.6])[:, None, None]
BINARY = Instance(_base.kernels * _sizes, _base.y, groups=[0, 0, 1, 2])
_drawn = np.random.default_rng(4)
LABELS = Instance(
    _base.kernels * _sizes,
    labels=np.column_stack([_base.y > 0, _drawn.random(16) > 0.5, _drawn.random(16) > 0.45]).astype(int),
)

Turn = Callable[[dict[str, Any], Instance, Solution], dict[str, Any]]
Change = Callable[[Instance], Instance]


def as_it_is(answer: dict[str, Any], instance: Instance, solution: Solution) -> dict[str, Any]:
    return answer


@dataclass(frozen=True)
class Fault:
    """`turn` is what is done to the answer before it is handed over; `expected` the diagnosis."""

    asked: str
    expected: str
    turn: Turn = as_it_is
    parts: tuple[str, ...] = ("weights", "alpha", "bias", "objective")
    given: dict[str, Any] = field(default_factory=lambda: {"C": 0.4})
    solved: str | None = None
    with_parameters: dict[str, Any] | None = None
    changed: Change = lambda instance: instance
    tol: float = 1e-6
    solver: str | None = None
    gap: float = 1e-10
    what: str = ""

    @property
    def label(self) -> str:
        return f"{self.asked}: {self.expected}{' ' + self.what if self.what else ''}"

    @property
    def instance(self) -> Instance:
        if self.asked.startswith(("ml_", "hypergraph")):
            return LABELS
        return BINARY.select([0]) if self.asked == "svm" else BINARY

    def answer(self) -> dict[str, Any]:
        """The wrong answer."""
        name = self.solved or self.asked
        problem = self.changed(self.instance)
        parameters = self.given if self.with_parameters is None else self.with_parameters
        solver = self.solver or ("interior" if name in INTERIOR else "clarabel")
        found = solve(problem, name, solver=solver, tol=self.gap, **parameters)
        record = dict(vars(found))
        if "coefficients" in self.parts:
            record["coefficients"] = found.all_coefficients
        answer = {part: record[part] for part in self.parts if record[part] is not None}
        return self.turn(answer, problem, found)


# ------------------------------------------------------------------------------------------ what is done to answers
def scaled(part: str, factor: Callable[[Any, Instance], Any]) -> Turn:
    return lambda answer, instance, _: {**answer, part: np.asarray(answer[part]) * factor(answer[part], instance)}


def negated(*parts: str) -> Turn:
    return lambda answer, instance, _: {**answer, **{part: -np.asarray(answer[part]) for part in parts}}


def replaced(part: str, by: Callable[[Any, Instance, Solution], Any]) -> Turn:
    return lambda answer, instance, solution: {**answer, part: by(answer[part], instance, solution)}


def in_single(answer: dict[str, Any], instance: Instance, solution: Solution) -> dict[str, Any]:
    return {part: np.float32(value).astype(float) for part, value in answer.items()}


UNIT_SUM = scaled("weights", lambda w, _: 1 / w.sum())
UNIT_LENGTH = scaled("weights", lambda w, _: 1 / np.linalg.norm(w))
LARGEST_ONE = scaled("weights", lambda w, _: 1 / w.max())
SIGNED = replaced("alpha", lambda a, _, s: a * s.y)
LAMBDA = replaced("weights", lambda w, _, s: 1 / (2 * w))
NO_BIAS = replaced("bias", lambda b, _, s: 0.0)
IN_UNITS_OF_C = replaced("alpha", lambda a, _, s: a / s.parameters["C"])
ROTATED = replaced("alpha", lambda a, _, s: np.roll(a, 1, axis=0))
HALF, TWICE = scaled("objective", lambda v, _: 0.5), scaled("objective", lambda v, _: 2.0)


def of_trace(size: float) -> Change:
    return lambda i: i.with_kernels(
        i.kernels * np.array([(size or i.samples) / np.trace(k) for k in i.kernels])[:, None, None]
    )


def times(factor: float) -> Change:
    return lambda i: i.with_kernels(i.kernels * factor)


def complemented(instance: Instance) -> Instance:
    return instance.with_kernels(instance.kernels, labels=1 - instance.targets.values)


def groups_rolled(by: int) -> Change:
    return lambda i: i.with_kernels(i.kernels, groups=np.roll(i.groups, by))


SHORT = ("weights", "objective")
N = 16
ML = ("weights", "alpha", "objective")

FAULTS = [
    # the objective
    Fault("l1", "objective_sign", negated("objective")),
    Fault("sm2", "objective_sign", negated("objective")),
    Fault("li", "objective_sign", negated("objective")),
    Fault("ml_sum", "objective_sign", negated("objective"), ML),
    Fault("ts", "objective_sign", negated("objective"), SHORT, {"lam": 0.1}),
    Fault("alignment", "objective_sign", negated("objective"), given={}),
    Fault("hypergraph", "objective_sign", negated("objective"), SHORT, {}),
    Fault("smp", "objective_half", HALF),
    Fault("square", "objective_half", TWICE),
    Fault("ckl", "objective_half", TWICE),
    Fault("ml_minimax", "objective_half", HALF, ML),
    Fault("ts_l1", "objective_half", HALF, SHORT, {"lam": 0.1}),
    Fault("hypergraph_smooth", "objective_half", HALF, SHORT, {}),
    # the size and the meaning of weights
    Fault("l1", "weights_norm", UNIT_LENGTH),
    Fault("sm1", "weights_norm", LARGEST_ONE),
    Fault("sm2", "weights_norm", UNIT_LENGTH),
    Fault("smp", "weights_norm", LARGEST_ONE),
    Fault("l2", "weights_norm", UNIT_SUM),
    Fault("lp", "weights_norm", UNIT_SUM),
    Fault("elastic", "weights_norm", UNIT_LENGTH),
    Fault("square", "weights_norm", UNIT_SUM),
    Fault("average", "weights_norm", LARGEST_ONE),
    Fault("sum", "weights_norm", UNIT_SUM),
    Fault("vskl", "weights_norm", UNIT_SUM),
    Fault("ml_sum", "weights_norm", UNIT_LENGTH, ML),
    Fault("ts", "weights_norm", UNIT_SUM, SHORT, {"lam": 0.1}),
    Fault("hypergraph", "weights_norm", UNIT_LENGTH, SHORT, {}),
    Fault("li", "weights_reciprocal", LAMBDA),
    Fault("l2", "weights_reciprocal", LAMBDA),
    # bias and α
    Fault("l1", "bias_sign", negated("bias")),
    Fault("svm", "bias_sign", negated("bias")),
    Fault("sm1", "bias_sign", negated("bias")),
    Fault("vskl", "bias_sign", negated("bias")),
    Fault("alignment", "bias_sign", negated("bias"), given={}),
    Fault("lp", "bias_omitted", NO_BIAS, what="in the answer"),
    Fault("elastic", "bias_omitted", NO_BIAS, what="in the answer"),
    Fault("l1", "bias_omitted", with_parameters={"C": 0.4, "bias": False}, what="in the problem"),
    Fault("li", "bias_omitted", with_parameters={"C": 0.4, "bias": False}, what="in the problem"),
    Fault("square", "bias_added", given={"C": 0.4, "bias": False}, with_parameters={"C": 0.4}),
    Fault("l1", "alpha_signed", SIGNED),
    Fault("sm2", "alpha_signed", SIGNED),
    Fault("ckl", "alpha_signed", SIGNED),
    Fault("ml_sum", "alpha_signed", SIGNED, ML),
    Fault("average", "alpha_signed", negated("alpha")),
    Fault("l2", "alpha_units", IN_UNITS_OF_C),
    Fault("sm1", "alpha_units", scaled("alpha", lambda a, _: 3.0), given={"nu": 0.5}),
    # classes
    Fault("l1", "classes_swapped", negated("coefficients", "bias"), ("weights", "coefficients", "bias")),
    Fault("ml_sum", "classes_swapped", ROTATED, ML),
    Fault("hypergraph", "classes_swapped", parts=SHORT, given={}, changed=complemented),
    # kernels
    Fault("l1", "kernels_trace", changed=of_trace(1.0)),
    Fault("sm1", "kernels_trace", changed=of_trace(0.0)),
    Fault("l2", "kernels_trace", changed=of_trace(1.0)),
    Fault("li", "kernels_trace", changed=of_trace(0.0)),
    Fault("ml_sum", "kernels_trace", parts=ML, changed=of_trace(0.0)),
    Fault("ts", "kernels_trace", parts=SHORT, given={"lam": 0.1}, changed=of_trace(0.0)),
    Fault("hypergraph", "kernels_trace", parts=SHORT, given={}, changed=of_trace(1.0)),
    # groups: two problems of which the same is said
    Fault("ckl", "groups", changed=groups_rolled(1), what="shifted by one"),
    Fault("ckl", "groups", changed=groups_rolled(-1), what="shifted back by one"),
    # a ½
    Fault("l1", "half", changed=times(2.0), what="missing in the dual"),
    Fault("elastic", "half", changed=times(0.5), what="missing in the primal"),
    Fault("li", "half", changed=times(2.0), what="where there is none"),
    Fault("ml_sum", "half", parts=ML, changed=times(2.0)),
    # parameters
    Fault("l1", "C_over_n", with_parameters={"C": 0.4 / N}),
    Fault("sm2", "C_over_n", with_parameters={"C": 0.4 / N}),
    Fault("vskl", "C_over_n", with_parameters={"C": 0.4 / N}),
    Fault("ml_sum", "C_over_n", parts=ML, with_parameters={"C": 0.4 / N}),
    Fault("l2", "C_times_n", given={"C": 0.02}, with_parameters={"C": 0.02 * N}),
    Fault("sum", "C_inverted", with_parameters={"C": 2.5}),
    Fault("sm2", "parameter", given={"C": 0.4, "theta": 3.0}, with_parameters={"C": 0.4, "theta": 1 / 3}),
    Fault("elastic", "parameter", given={"l1_ratio": 0.2}, with_parameters={"l1_ratio": 0.8}),
    Fault("lp", "parameter", given={"p": 1.2}, with_parameters={"p": 6.0}),
    Fault("ts", "parameter", parts=SHORT, given={"lam": 0.2}, with_parameters={"lam": 0.2 * N}),
    Fault("hypergraph", "parameter", parts=SHORT, given={}, with_parameters={"expansion": "zhou"}),
    # another formulation
    Fault("sm1", "formulation l1", solved="l1"),
    Fault("l1", "formulation average", solved="average"),
    Fault("l2", "formulation lp", solved="lp"),
    Fault("square", "formulation sm2", solved="sm2"),
    Fault("ckl", "formulation li", solved="li"),
    Fault("li", "formulation vskl", solved="vskl"),
    Fault("ml_minimax", "formulation ml_sum", parts=ML, solved="ml_sum"),
    Fault("ts", "formulation ts_l1", parts=SHORT, given={"lam": 0.1}, solved="ts_l1"),
    Fault("alignment", "formulation ts", parts=SHORT, given={}, solved="ts"),
    Fault("hypergraph", "formulation hypergraph_smooth", parts=SHORT, given={}, solved="hypergraph_smooth"),
    # accuracy
    Fault("l1", "stopped_early", solver="simplemkl", gap=1e-2),
    Fault("sm1", "stopped_early", solver="sm1_bcd", gap=1e-2),
    Fault("sm2", "stopped_early", solver="sm2_projection", gap=1e-2),
    Fault("ml_sum", "stopped_early", solver="ml_sum_subgradient", parts=ML, gap=1e-2),
    Fault("hypergraph", "stopped_early", solver="hypergraph_silp", parts=SHORT, given={}, gap=1e-2),
    Fault("l1", "single_precision", in_single, tol=1e-9),
    Fault("square", "single_precision", in_single, tol=1e-9),
    Fault("ml_sum", "single_precision", in_single, ML, tol=1e-9),
    # two at once
    Fault("l1", "objective_sign + alpha_signed", lambda *g: SIGNED(negated("objective")(*g), *g[1:])),
    Fault("l2", "objective_sign + C_over_n", negated("objective"), with_parameters={"C": 0.4 / N}),
]
