"""Anybody's answer, judged: a certificate recomputed from what the answer says, and from nothing else.

An answer has any of weights, α, coefficients and multipliers. From α comes the lower bound, from the coefficients the
upper one; where they are not given, f_m = weight_m K_m(α∘y). Weights alone are judged with the SVM that they make.
Bounds of single tasks are rigorous (`proved_answers`): kernels that are not semidefinite make them wide.
What an answer claims (an objective, a certificate, a status) plays no part in the bounds, nor does its bias: they
take the best. For the other families the dual point is among the multipliers: γ for many labels, β for pairs, Z for
hypergraphs.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..certificate import Certificate, certify
from ..errors import InputError
from ..formulations import Formulation, Points, SingleTask, Task
from ..formulations.alignment import Alignment, AlignmentTask
from ..formulations.families.hypergraph import Embedding, Hypergraph, HyperTask, solved
from ..formulations.families.multi_label import ClassDual, ClassPrimal, LabelTask, MultiLabel
from ..io.files import MULTIPLIER, read_record
from ..problem.instance import Instance

Array = NDArray[np.float64]

FINE = 1e-10  # of the SVM that is solved for weights without α
LARGEST = 2.0**27  # bytes of an answer where the instance is not at hand
SHARP = 1e-8  # a relative gap that most are content with
FIELDS = ("weights", "alpha", "coefficients")
CLAIMS = ("bias", "objective")


@dataclass(frozen=True)
class Answer:
    """What somebody says the solution is; None is what they do not say. Bias and objective are claims: no bound is
    made from them. `alpha_low` is what a solution has below the last bits of α."""

    weights: Array | None = None
    alpha: Array | None = None
    coefficients: Array | None = None
    multipliers: Mapping[str, Any] = field(default_factory=dict)
    bias: float | Array | None = None  # several for several labels
    objective: float | None = None
    bounds: tuple[float, float] | None = None  # claimed: lower and upper
    alpha_low: Array | None = None

    @property
    def given(self) -> list[str]:
        """The names of what is said."""
        return [name for name in (*FIELDS, *CLAIMS) if getattr(self, name) is not None] + list(self.multipliers)


def read_answer(path: str | Path, instance: Instance | None = None) -> Answer:
    """An answer in any of the formats, written by anybody; what is too large to be one for the instance is not read."""
    answer = answer_of(read_record(path, LARGEST if instance is None else largest_answer(instance)))
    if not answer.given:
        raise InputError(f"answer: has none of {', '.join((*FIELDS, *CLAIMS))}: write at least weights or alpha")
    return answer


def answer_of(record: Mapping[str, Any]) -> Answer:
    """The answer among the fields of a record: numbers, and nothing else."""
    given: dict[str, Any] = {name: as_numbers(name, record[name]) for name in FIELDS if record.get(name) is not None}
    if record.get("alpha_low") is not None and "alpha" in given:
        given["alpha_low"] = as_numbers("alpha_low", record["alpha_low"])
    if record.get("bias") is not None:
        bias = as_numbers("bias", record["bias"])
        given["bias"] = float(bias.item()) if bias.size == 1 else bias
    if record.get("objective") is not None:
        given["objective"] = _number("objective", record["objective"])
    certificate = record.get("certificate", record)
    if isinstance(certificate, Mapping) and all(certificate.get(side) is not None for side in ("lower", "upper")):
        given["bounds"] = _number("lower", certificate["lower"]), _number("upper", certificate["upper"])
    inside = record.get("multipliers")
    multipliers = dict(inside) if isinstance(inside, Mapping) else {}
    multipliers.update({k.removeprefix(MULTIPLIER): v for k, v in record.items() if k.startswith(MULTIPLIER)})
    return Answer(**given, multipliers={name: value for name, value in multipliers.items() if value is not None})


def largest_answer(instance: Instance) -> float:
    """Bytes that no answer exceeds: an entry for every pair of samples, and four for every label, kernel and sample, as
    a solution's coefficients, norms and preprocessing have; as text an entry and what is around it take 64 at most."""
    samples, labels = instance.samples, max(1, len(instance.targets.names))
    return 64.0 * (4 * labels * instance.count * samples + samples**2) + 2**20


def judge(formulation: Formulation, task: Any, answer: Answer, tolerance: float = SHARP) -> Certificate:
    """The bounds that the answer proves; points known without a solver stand in for a side that it leaves out. They are
    made no sharper than the tolerance needs."""
    if all(getattr(answer, name) is None for name in FIELDS):
        raise InputError(f"answer: has none of {', '.join(FIELDS)}: write at least weights or alpha")
    with np.errstate(all="ignore"):
        if isinstance(formulation, SingleTask):
            found = _single_task(formulation, task, answer, tolerance)
        else:
            offered, known = points(formulation, task, answer), formulation.at_hand(task)
            bounds = Points(offered.duals or known.duals, offered.primals or known.primals)
            found = certify(formulation, task, bounds).certificate
    if not np.isfinite([found.lower, found.upper]).all():
        raise InputError("answer: its objective is not finite: give numbers of moderate size")
    return found


def _single_task(formulation: SingleTask, task: Task, answer: Answer, tolerance: float) -> Certificate:
    from .proved_answers import answer_certificate

    weights = of_shape("weights", answer.weights, (task.count,), undefined=answer.coefficients is not None)
    alpha = of_shape("alpha", answer.alpha, (task.samples,))
    low = of_shape("alpha_low", answer.alpha_low, (task.samples,))
    coefficients = of_shape("coefficients", answer.coefficients, (task.count, task.samples))
    if alpha is None and coefficients is None and weights is not None:
        alpha = _machine_alpha(task, weights)
    return answer_certificate(formulation, task, weights, alpha, coefficients, low, tolerance)


def points(formulation: Formulation, task: Any, answer: Answer) -> Points:
    """The dual and primal points that an answer stands for, beyond single tasks."""
    if isinstance(formulation, MultiLabel):
        return _many_labels(task, answer)
    weights = of_shape("weights", answer.weights, (task.count,))
    if weights is None:
        raise InputError(f"answer: has no weights, which {formulation.name} is about: write them")
    if isinstance(formulation, Hypergraph):
        return _hypergraph(task, weights, answer)
    if isinstance(formulation, Alignment):
        return Points([weights], [_projection(task, weights)])
    beta = of_shape("beta", answer.multipliers.get("beta"), task.labels.shape)
    return Points([] if beta is None else [beta], [weights])


def _machine_alpha(task: Task, weights: Array) -> Array:
    from ..solvers.svm import Machine

    if not (weights > 0).any():
        raise InputError("answer: no weight is positive, and there is no alpha: write alpha as well")
    return Machine(task, FINE)(task.combined(np.maximum(weights, 0.0)))


def _many_labels(task: LabelTask, answer: Answer) -> Points:
    shape = task.signs.shape
    weights = of_shape("weights", answer.weights, (task.count,))
    alpha = of_shape("alpha", answer.alpha, shape)
    gamma = of_shape("gamma", answer.multipliers.get("gamma", np.ones(task.classes)), shape[:1])
    coefficients = of_shape("coefficients", answer.coefficients, (task.classes, task.count, task.samples))
    if weights is None or alpha is None or gamma is None or weights.sum() <= 0 or gamma.sum() <= 0:
        raise InputError("answer: weights or alpha are missing, or all zero: write both")
    if coefficients is None:
        coefficients = weights[None, :, None] * (alpha * task.signs)[:, None, :] / weights.sum()
    return Points([ClassDual(gamma[:, None] * alpha, gamma)], [ClassPrimal(coefficients, weights)])


def _hypergraph(task: HyperTask, weights: Array, answer: Answer) -> Points:
    if not (weights > 0).any():
        raise InputError("answer: no weight is positive: write weights on the simplex")
    own = solved(task, weights)
    z = of_shape("Z", answer.multipliers.get("Z"), task.h.shape)
    known = [own] if z is None else [own, z]
    return Points([Embedding(weights, one) for one in known], known)


def _projection(task: AlignmentTask, weights: Array) -> Array:
    """The target's projection onto the ray of K(μ)."""
    size = float(weights @ task.products @ weights)
    return weights * max(float(task.target @ weights), 0.0) / size if size > 0 else weights


def as_numbers(name: str, value: Any) -> Array:
    """Numbers from a file; what JSON has as null is undefined."""
    try:
        array = np.asarray(value)
        if array.dtype.kind not in "fiubO" or any(isinstance(item, str | bytes) for item in _objects(array)):
            raise ValueError("no real numbers")
        return np.asarray(array, dtype=np.float64)
    except (TypeError, ValueError, OverflowError, RecursionError):
        raise InputError(f"answer: {name} is no array of real numbers: write plain numbers") from None


def _number(name: str, value: Any) -> float:
    return float(in_shape(name, value, ()))


def _objects(array: NDArray[Any]) -> list[Any]:
    return array.ravel().tolist() if array.dtype == object else []


def of_shape(name: str, value: Any, shape: tuple[int, ...], undefined: bool = False) -> Array | None:
    """As `in_shape`, or None if there is none."""
    return None if value is None else in_shape(name, value, shape, undefined)


def in_shape(name: str, value: Any, shape: tuple[int, ...], undefined: bool = False) -> Array:
    """The array in this shape, a vector standing or lying; `undefined` entries are allowed where others say it all."""
    array = as_numbers(name, value)
    if [side for side in array.shape if side != 1] != [side for side in shape if side != 1]:
        raise InputError(f"answer: {name} has shape {array.shape}: give {shape}")
    if not (undefined or np.isfinite(array).all()):
        raise InputError(f"answer: {name} has entries that are not finite: give finite numbers")
    return array.reshape(shape)
