"""Wrong answers of every kind, by the judge's own author: written down as data before anything was judged. The judge
named 90 of the first 91 as written down.

A fault takes a right answer to the problem that was really solved and hands it over as an answer to the problem that
was asked. `solved` are the formulation and parameters really solved, `changed` the kernels or targets really used.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from mklcvx import Instance, Solution, solve, zoo
from mklcvx.solvers.solving import SOLVERS
from wrong_answers import Case, Parts, WrongAnswer

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


def instance_for(name: str) -> Instance:
    if name.startswith(("ml_", "hypergraph")):
        return LABELS
    return BINARY.select([0]) if name == "svm" else BINARY


def fault(
    asked: str,
    expected: str,
    turn: Turn = as_it_is,
    parts: tuple[str, ...] = ("weights", "alpha", "bias", "objective"),
    given: dict[str, Any] = {"C": 0.4},  # noqa: B006  never changed
    solved: str | None = None,
    with_parameters: dict[str, Any] | None = None,
    changed: Change = lambda instance: instance,
    tol: float = 1e-6,
    solver: str | None = None,
    gap: float = 1e-10,
    what: str = "",
    named: str | None = None,
) -> WrongAnswer:
    """`turn` is what is done to the answer before it is handed over; `expected` the diagnosis, `named` what is said in
    its place and is as true."""
    name, problem = solved or asked, changed(instance_for(asked))

    def answer(_: Case) -> Parts:
        best = solver or ("interior" if name in INTERIOR else "clarabel")
        parameters = given if with_parameters is None else with_parameters
        found = solve(problem, name, solver=best, tol=gap, **parameters)
        record = dict(vars(found))
        if "coefficients" in parts:
            record["coefficients"] = found.all_coefficients
        return turn({part: record[part] for part in parts if record[part] is not None}, problem, found)

    label, instance = f"{asked}: {expected}{' ' + what if what else ''}", partial(instance_for, asked)
    other, said = named is not None, named or expected
    return WrongAnswer(label, instance, asked, given, expected, answer, said, "", other, tol, problem)


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

FAULTS: list[WrongAnswer] = [
    # the objective
    fault("l1", "objective_sign", negated("objective")),
    fault("sm2", "objective_sign", negated("objective")),
    fault("li", "objective_sign", negated("objective")),
    fault("ml_sum", "objective_sign", negated("objective"), ML),
    fault("ts", "objective_sign", negated("objective"), SHORT, {"lam": 0.1}),
    fault("alignment", "objective_sign", negated("objective"), given={}),
    fault("hypergraph", "objective_sign", negated("objective"), SHORT, {}),
    fault("smp", "objective_half", HALF),
    fault("square", "objective_half", TWICE),
    fault("ckl", "objective_half", TWICE),
    fault("ml_minimax", "objective_half", HALF, ML),
    fault("ts_l1", "objective_half", HALF, SHORT, {"lam": 0.1}),
    fault("hypergraph_smooth", "objective_half", HALF, SHORT, {}),
    # the size and the meaning of weights
    fault("l1", "weights_norm", UNIT_LENGTH),
    fault("sm1", "weights_norm", LARGEST_ONE),
    fault("sm2", "weights_norm", UNIT_LENGTH),
    fault("smp", "weights_norm", LARGEST_ONE),
    fault("l2", "weights_norm", UNIT_SUM),
    fault("lp", "weights_norm", UNIT_SUM),
    fault("elastic", "weights_norm", UNIT_LENGTH),
    fault("square", "weights_norm", UNIT_SUM),
    fault("average", "weights_norm", LARGEST_ONE),
    fault("sum", "weights_norm", UNIT_SUM),
    fault("vskl", "weights_norm", UNIT_SUM),
    fault("ml_sum", "weights_norm", UNIT_LENGTH, ML),
    fault("ts", "weights_norm", UNIT_SUM, SHORT, {"lam": 0.1}),
    fault("hypergraph", "weights_norm", UNIT_LENGTH, SHORT, {}),
    fault("li", "weights_reciprocal", LAMBDA),
    fault("l2", "weights_reciprocal", LAMBDA),
    # bias and α
    fault("l1", "bias_sign", negated("bias")),
    fault("svm", "bias_sign", negated("bias")),
    fault("sm1", "bias_sign", negated("bias")),
    fault("vskl", "bias_sign", negated("bias")),
    fault("alignment", "bias_sign", negated("bias"), given={}),
    fault("lp", "bias_omitted", NO_BIAS, what="in the answer"),
    fault("elastic", "bias_omitted", NO_BIAS, what="in the answer"),
    fault("l1", "bias_omitted", with_parameters={"C": 0.4, "bias": False}, what="in the problem"),
    fault("li", "bias_omitted", with_parameters={"C": 0.4, "bias": False}, what="in the problem"),
    fault("square", "bias_added", given={"C": 0.4, "bias": False}, with_parameters={"C": 0.4}),
    fault("l1", "alpha_signed", SIGNED),
    fault("sm2", "alpha_signed", SIGNED),
    fault("ckl", "alpha_signed", SIGNED),
    fault("ml_sum", "alpha_signed", SIGNED, ML),
    fault("average", "alpha_signed", negated("alpha")),
    fault("l2", "alpha_units", IN_UNITS_OF_C),
    fault("sm1", "alpha_units", scaled("alpha", lambda a, _: 3.0), given={"nu": 0.5}),
    # classes
    fault("l1", "classes_swapped", negated("coefficients", "bias"), ("weights", "coefficients", "bias")),
    fault("ml_sum", "classes_order", ROTATED, ML),
    fault("hypergraph", "classes_swapped", parts=SHORT, given={}, changed=complemented),
    # kernels
    fault("l1", "kernels_trace", changed=of_trace(1.0)),
    fault("sm1", "kernels_trace", changed=of_trace(0.0)),
    fault("l2", "kernels_trace", changed=of_trace(1.0)),
    fault("li", "kernels_trace", changed=of_trace(0.0)),
    fault("ml_sum", "kernels_trace", parts=ML, changed=of_trace(0.0)),
    fault("ts", "kernels_trace", parts=SHORT, given={"lam": 0.1}, changed=of_trace(0.0)),
    fault("hypergraph", "kernels_trace", parts=SHORT, given={}, changed=of_trace(1.0)),
    # groups: two problems of which the same is said
    fault("ckl", "groups", changed=groups_rolled(1), what="shifted by one"),
    fault("ckl", "groups", changed=groups_rolled(-1), what="shifted back by one"),
    # a ½
    fault("l1", "half", changed=times(2.0), what="missing in the dual"),
    fault("elastic", "half", changed=times(0.5), what="missing in the primal"),
    fault("li", "half", changed=times(2.0), what="where there is none"),
    fault("ml_sum", "half", parts=ML, changed=times(2.0)),
    # parameters
    fault("l1", "C_over_n", with_parameters={"C": 0.4 / N}),
    fault("sm2", "C_over_n", with_parameters={"C": 0.4 / N}),
    fault("vskl", "C_over_n", with_parameters={"C": 0.4 / N}),
    fault("ml_sum", "C_over_n", parts=ML, with_parameters={"C": 0.4 / N}),
    fault("l2", "C_times_n", given={"C": 0.02}, with_parameters={"C": 0.02 * N}),
    # with no α at the bound, every large C is the same problem
    fault("sum", "C_inverted", with_parameters={"C": 2.5}, named="C_times_n"),
    fault("sm2", "parameter", given={"C": 0.4, "theta": 3.0}, with_parameters={"C": 0.4, "theta": 1 / 3}),
    fault("elastic", "parameter", given={"l1_ratio": 0.2}, with_parameters={"l1_ratio": 0.8}),
    fault("block_elastic", "parameter", given={"l1_ratio": 0.2}, with_parameters={"l1_ratio": 0.8}),
    fault("group_lasso", "C_over_n", with_parameters={"C": 0.4 / N}),
    fault("lp", "parameter", given={"p": 1.2}, with_parameters={"p": 6.0}),
    fault("ts", "parameter", parts=SHORT, given={"lam": 0.2}, with_parameters={"lam": 0.2 * N}),
    fault("hypergraph", "parameter", parts=SHORT, given={}, with_parameters={"expansion": "zhou"}),
    # another formulation
    fault("sm1", "formulation l1", solved="l1"),
    fault("l1", "formulation average", solved="average"),
    fault("l2", "formulation lp", solved="lp"),
    fault("square", "formulation sm2", solved="sm2"),
    fault("ckl", "formulation li", solved="li"),
    fault("li", "formulation vskl", solved="vskl"),
    fault("ml_minimax", "formulation ml_sum", parts=ML, solved="ml_sum"),
    fault("ts", "formulation ts_l1", parts=SHORT, given={"lam": 0.1}, solved="ts_l1"),
    fault("alignment", "formulation ts", parts=SHORT, given={}, solved="ts"),
    fault("hypergraph", "formulation hypergraph_smooth", parts=SHORT, given={}, solved="hypergraph_smooth"),
    # accuracy
    fault("l1", "stopped_early", solver="simplemkl", gap=1e-2),
    fault("sm1", "stopped_early", solver="sm1_bcd", gap=1e-2),
    fault("sm2", "stopped_early", solver="sm2_projection", gap=1e-2),
    fault("ml_sum", "stopped_early", solver="ml_sum_subgradient", parts=ML, gap=1e-2),
    fault("hypergraph", "stopped_early", solver="hypergraph_silp", parts=SHORT, given={}, gap=1e-2),
    fault("l1", "single_precision", in_single, tol=1e-9),
    fault("square", "single_precision", in_single, tol=1e-9),
    fault("ml_sum", "single_precision", in_single, ML, tol=1e-9),
    # two at once
    fault("l1", "objective_sign + alpha_signed", lambda *g: SIGNED(negated("objective")(*g), *g[1:])),
    fault("l2", "objective_sign + C_over_n", negated("objective"), with_parameters={"C": 0.4 / N}),
]
