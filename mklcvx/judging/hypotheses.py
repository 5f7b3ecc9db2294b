"""The usual mistakes, one small function each: how the answer, or the problem, must be changed to undo it.

`ANSWERS` change what was handed over, `PROBLEMS` what was solved. A function yields trials, each with the sentence that
is true if the trial's answer is optimal for the trial's problem.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ..answers import Answer
from ..formulations import FORMULATIONS, SingleTask
from ..formulations._multi_label import MultiLabel
from ..formulations._stack import Array
from ..instance import Instance
from .case import Case
from .domain import to_boundary

MOST_CLASSES = 4  # whose orders are all tried
LONG = 150  # samples beyond which formulations without a fast method are left out


@dataclass(frozen=True)
class Trial:
    """An answer for a problem; what is None is as it was."""

    name: str
    words: str
    answer: Answer
    instance: Instance | None = None
    formulation: str | None = None
    parameters: Mapping[str, Any] | None = None

    @property
    def unchanged(self) -> bool:
        return self.instance is None and self.formulation is None and self.parameters is None


Trials = Iterator[Trial]


# ------------------------------------------------------------------------------------------------------ the answer
def objective_sign(case: Case, answer: Answer) -> Trials:
    if answer.objective:
        words = "right but for the objective's sign: the negative of a maximum was minimised, or the reverse"
        yield Trial("objective_sign", words, replace(answer, objective=-answer.objective))


def objective_half(case: Case, answer: Answer) -> Trials:
    if answer.objective:
        for factor, fault in ((2.0, "half"), (0.5, "twice")):
            words = f"right but for the objective, which is {fault} of what it should be: a ½ too many or too few"
            yield Trial("objective_half", words, replace(answer, objective=factor * answer.objective))


def bias_sign(case: Case, answer: Answer) -> Trials:
    if answer.bias is not None and np.any(answer.bias):
        words = "right but for the sign of the bias: f + b is meant, not f − b (or the classes are swapped)"
        yield Trial("bias_sign", words, replace(answer, bias=-answer.bias))


def bias_dropped(case: Case, answer: Answer) -> Trials:
    if answer.bias is not None and not np.any(answer.bias):
        right = np.array2string(np.asarray(case.reference.bias), precision=6)
        words = f"right but for the bias: 0 was handed over where {right} belongs"
        yield Trial("bias_omitted", words, replace(answer, bias=None))


def alpha_signed(case: Case, answer: Answer) -> Trials:
    alpha, y = answer.alpha, case.reference.y
    if alpha is not None and (np.asarray(alpha) < 0).any() and alpha.size == y.size:
        signed = alpha.reshape(y.shape) * y
        words = "right but for α, which carries the label's sign: α∘y was handed over where α ≥ 0 is meant"
        yield Trial("alpha_signed", words, replace(answer, alpha=signed))
        yield Trial("alpha_signed", f"{words}, and the classes are swapped", replace(answer, alpha=-signed))
        yield Trial("alpha_signed", "right but for the sign of α", replace(answer, alpha=-alpha))


def alpha_units(case: Case, answer: Answer) -> Trials:
    alpha = answer.alpha
    if alpha is None or not np.any(alpha):
        return
    if "nu" in case.parameters:
        words = "right but for the size of α, which sums to one in the ν-form"
        yield Trial("alpha_units", words, replace(answer, alpha=alpha / alpha.sum()))
    elif "C" in case.parameters and case.parameters["C"] != 1:
        price = case.parameters["C"]
        words = "right but for the size of α, which is between 0 and C: it was handed over in units of C"
        yield Trial("alpha_units", words, replace(answer, alpha=alpha * price))


def weights_norm(case: Case, answer: Answer) -> Trials:
    weights = answer.weights
    if weights is None or not np.isfinite(weights).all() or not (np.ravel(weights) > 0).any():
        return
    factor = _normalising(case, np.ravel(weights))
    if factor is None or abs(factor - 1) < 1e-12:
        return
    words = f"right but for the size of the weights: they {_normalised(weights)}; times {factor:.6g} they are optimal"
    yield Trial("weights_norm", words, replace(answer, weights=weights * factor))
    if answer.coefficients is not None:
        scaled = replace(answer, weights=weights * factor, coefficients=answer.coefficients * factor)
        yield Trial("weights_norm", words, scaled)


def _normalising(case: Case, weights: Array) -> float | None:
    """The factor that puts weights where the formulation's own must lie, or to the size of the certified ones."""
    formulation, positive = case.formulation, np.maximum(weights, 0.0)
    if isinstance(formulation, SingleTask) and formulation.regulariser is not None:
        constraint = formulation.regulariser.constraint
        if constraint is not None:
            return to_boundary(constraint, case.task.own, positive)
    reference = np.nan_to_num(case.reference.weights)
    return float(reference.sum() / positive.sum()) if reference.any() else None


def _normalised(weights: Array) -> str:
    norms = {"sum to 1": np.sum(weights), "have ‖·‖₂ = 1": np.linalg.norm(weights), "have the largest 1": weights.max()}
    for words, value in norms.items():
        if abs(value - 1) < 1e-6:
            return words
    return f"sum to {np.sum(weights):.6g}"


def weights_reciprocal(case: Case, answer: Answer) -> Trials:
    weights = answer.weights
    if weights is None or not np.isfinite(weights).all() or not (np.ravel(weights) > 0).any():
        return
    turned = np.divide(0.5, weights, out=np.zeros(weights.shape), where=weights > 0)
    blockwise = getattr(case.formulation, "between", None) is not None
    meant = (
        "λ was handed over where the weight 1/(2λ) is meant" if blockwise else "1/(2μ) was handed over in place of μ"
    )
    yield Trial("weights_reciprocal", f"right but for the weights: {meant}", replace(answer, weights=turned))


def classes_swapped(case: Case, answer: Answer) -> Trials:
    if answer.coefficients is not None:
        words = "right for the classes swapped: the decision function has the other sign"
        bias = None if answer.bias is None else -answer.bias
        yield Trial("classes_swapped", words, replace(answer, coefficients=-answer.coefficients, bias=bias))
    if isinstance(case.formulation, MultiLabel) and answer.alpha is not None:
        classes = case.task.classes
        orders = itertools.permutations(range(classes)) if 2 <= classes <= MOST_CLASSES else ()
        for order in itertools.islice(orders, 1, None):
            words = f"right but for the order of the classes: theirs are our {', '.join(str(k) for k in order)}"
            yield Trial("classes_swapped", words, _reordered(answer, list(order)))


def _reordered(answer: Answer, order: list[int]) -> Answer:
    def of(values: Any) -> Any:
        return None if values is None else np.asarray(values)[order]

    gamma = answer.multipliers.get("gamma")
    multipliers = {**answer.multipliers, **({} if gamma is None else {"gamma": of(gamma)})}
    return replace(answer, alpha=of(answer.alpha), coefficients=of(answer.coefficients), multipliers=multipliers)


# ----------------------------------------------------------------------------------------------------- the problem
def bias_setting(case: Case, answer: Answer) -> Trials:
    if isinstance(case.formulation, SingleTask):
        biased = case.parameters["bias"]
        name, words = ("bias_omitted", "without") if biased else ("bias_added", "with")
        yield Trial(
            name, f"optimal for the problem {words} a bias", answer, parameters={**case.parameters, "bias": not biased}
        )


def half(case: Case, answer: Answer) -> Trials:
    """Kernels times s: f_m = s K_m c_m/s, so that coefficients shrink as kernels grow."""
    for factor, where in ((2.0, "q where ½ q is meant"), (0.5, "‖f‖² where ½ ‖f‖² is meant, or ¼ q where ½ q is")):
        coefficients = None if answer.coefficients is None else answer.coefficients / factor
        scaled = case.instance.with_kernels(np.asarray(case.instance.kernels, dtype=float) * factor)
        words = f"optimal for a ½ missing or doubled: {where} (every kernel times {factor:g})"
        yield Trial("half", words, replace(answer, coefficients=coefficients), instance=scaled)
    for factor in (0.5, 2.0) if "C" in case.parameters else ():
        changed = {**case.parameters, "C": case.parameters["C"] * factor}
        yield Trial("half", f"optimal for C times {factor:g}: a ½ missing or doubled", answer, parameters=changed)


def kernels_rescaled(case: Case, answer: Answer) -> Trials:
    from ..preprocess import Preprocessing

    kernels, n = np.asarray(case.instance.kernels, dtype=float), case.instance.samples
    traces = np.array([np.trace(kernel) for kernel in kernels])
    if (traces > 0).all():
        for size, words in ((1.0, "unit trace"), (float(n), f"trace n = {n}")):
            scaled = case.instance.with_kernels(kernels * (size / traces)[:, None, None])
            yield Trial("kernels_trace", f"optimal for the kernels rescaled to {words}", answer, instance=scaled)
    for name, words, options in (
        ("kernels_centred", "centred in feature space", {"centre": True}),
        ("kernels_cosine", "with unit diagonal (cosine)", {"normalise": "cosine"}),
    ):
        try:
            changed = Preprocessing.from_options(**options).fit(kernels).train(kernels)
        except ArithmeticError:
            continue
        yield Trial(name, f"optimal for the kernels {words}", answer, instance=case.instance.with_kernels(changed))


def price_scaled(case: Case, answer: Answer) -> Trials:
    if "C" not in case.parameters:
        return
    price, n = case.parameters["C"], case.instance.samples
    for name, words, value in (
        ("C_over_n", "C divided by n", price / n),
        ("C_times_n", "C multiplied by n", price * n),
        ("C_inverted", "1/C in place of C", 1 / price),
    ):
        changed = {**case.parameters, "C": value}
        yield Trial(name, f"optimal for {words}, that is C = {value:.6g}", answer, parameters=changed)


def labels_swapped(case: Case, answer: Answer) -> Trials:
    """Only hypergraphs tell a label from its complement, and 'labels' and 'y' can be complemented."""
    targets = case.instance.targets
    if targets.kind == "classes" or isinstance(case.formulation, SingleTask):
        return
    swapped = -targets.values if targets.kind == "y" else 1 - targets.values
    changed = case.instance.with_kernels(case.instance.kernels, **{targets.kind: swapped})
    yield Trial("classes_swapped", "optimal for the labels swapped, who has one and who has not", answer, changed)


def own_parameters(case: Case, answer: Answer) -> Trials:
    n = case.instance.samples
    turns: dict[str, Callable[[float], dict[str, float]]] = {
        "theta": lambda v: {"1/theta": 1 / v, "2 theta": 2 * v, "theta/2": v / 2},
        "p": lambda v: {"p/(p − 1)": v / (v - 1) if v > 1 else v, "2p/(p + 1)": 2 * v / (v + 1)},
        "l1_ratio": lambda v: {"1 − l1_ratio": 1 - v},
        "lam": lambda v: {
            "1/lam": 1 / v, "lam/2": v / 2, "2 lam": 2 * v, "lam n": v * n, "lam/n": v / n,
            "lam n(n + 1)/2": v * n * (n + 1) / 2,
        },
        "smoothing": lambda v: {"1/smoothing": 1 / v},
        "nu": lambda v: {"nu/2": v / 2},
    }  # fmt: skip
    for key, turn in turns.items():
        for words, value in turn(case.parameters[key]).items() if key in case.parameters else ():
            changed = {**case.parameters, key: value}
            yield Trial("parameter", f"optimal for {key} = {value:.6g}, that is {words}", answer, parameters=changed)
    if "balanced" in case.parameters:
        changed = {**case.parameters, "balanced": not case.parameters["balanced"]}
        yield Trial("parameter", f"optimal for balanced = {changed['balanced']}", answer, parameters=changed)
    if "expansion" in case.parameters:
        for expansion in ("clique", "star", "zhou", "kcca"):
            changed = {key: v for key, v in case.parameters.items() if key != "dimensions"} | {"expansion": expansion}
            yield Trial("parameter", f"optimal for expansion = {expansion}", answer, parameters=changed)


def other_formulation(case: Case, answer: Answer) -> Trials:
    for other in FORMULATIONS:
        long = other.family not in ("single task", "hypergraph") and case.instance.samples > LONG
        if other.name == case.formulation.name or long:
            continue
        shared = {key: value for key, value in case.parameters.items() if key in other.parameter_names}
        if isinstance(other, MultiLabel):
            shared.pop("bias", None)
        if "nu" in shared and "nu" not in getattr(other, "losses", ()):
            continue
        words = f"optimal for another formulation: {other.name}, {other.title}"
        yield Trial(f"formulation {other.name}", words, answer, formulation=other.name, parameters=shared)


Hypothesis = Callable[[Case, Answer], Trials]
ANSWERS: tuple[Hypothesis, ...] = (
    objective_sign, objective_half, classes_swapped, bias_sign, bias_dropped, alpha_signed, alpha_units, weights_norm,
    weights_reciprocal,
)  # fmt: skip
PROBLEMS: tuple[Hypothesis, ...] = (
    bias_setting, kernels_rescaled, price_scaled, half, labels_swapped, other_formulation, own_parameters,
)  # fmt: skip
