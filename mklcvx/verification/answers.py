"""Answers to be judged: arrays and numbers, read from a record or a file.

An answer has any of weights, α, coefficients and multipliers. The multipliers hold the dual point of the other
families: γ for many labels, β for pairs, Z for hypergraphs. An objective, a certificate or a bias is a claim, and
proves nothing.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from ..errors import InputError
from ..io.files import MULTIPLIER, read_record
from ..problem.instance import Instance
from ..problem.numbers import read_array
from ..problem.stack import Array

FINE = 1e-10  # of the SVM that is solved for weights without α
LARGEST = 2.0**27  # bytes of an answer where the instance is not known
FIELDS = ("weights", "alpha", "coefficients")
CLAIMS = ("bias", "objective")
PARTS = ("weights", "alpha", "bias", "coefficients", "multipliers", "objective")


@dataclass(frozen=True)
class Answer:
    """An answer; a part that is not given is None. Bias and objective are claims: no bound is computed from them.
    `alpha_low` holds the part of α that is smaller than its last bits, which files of solutions have."""

    weights: Array | None = None
    alpha: Array | None = None
    coefficients: Array | None = None
    multipliers: Mapping[str, object] = field(default_factory=dict)
    bias: float | Array | None = None  # several for several labels
    objective: float | None = None
    bounds: tuple[float, float] | None = None  # claimed: lower and upper
    alpha_low: Array | None = None

    @property
    def given(self) -> list[str]:
        """Names of the parts that are given."""
        return [name for name in (*FIELDS, *CLAIMS) if getattr(self, name) is not None] + list(self.multipliers)


def read_answer(path: str | Path, instance: Instance | None = None) -> Answer:
    """Read an answer in any of the formats; a file that is too large for an answer to the instance is refused."""
    answer = answer_of(read_record(path, LARGEST if instance is None else largest_answer(instance)))
    if not answer.given:
        raise InputError(f"answer: has none of {', '.join((*FIELDS, *CLAIMS))}: write at least weights or alpha")
    return answer


def answer_of(record: Mapping[str, object]) -> Answer:
    """Take the answer from the fields of a record."""
    given = {name: as_numbers(name, record[name]) for name in FIELDS if record.get(name) is not None}
    low = record.get("alpha_low") if "alpha" in given else None
    alpha_low = None if low is None else as_numbers("alpha_low", low)
    bias = None if record.get("bias") is None else as_numbers("bias", record["bias"])
    claimed = bias if bias is None or bias.size != 1 else float(bias.item())
    objective = None if record.get("objective") is None else _number("objective", record["objective"])
    certificate, bounds = record.get("certificate", record), None
    if isinstance(certificate, Mapping) and all(certificate.get(side) is not None for side in ("lower", "upper")):
        bounds = _number("lower", certificate["lower"]), _number("upper", certificate["upper"])
    inside = record.get("multipliers")
    multipliers = dict(inside) if isinstance(inside, Mapping) else {}
    multipliers.update({k.removeprefix(MULTIPLIER): v for k, v in record.items() if k.startswith(MULTIPLIER)})
    others = {name: value for name, value in multipliers.items() if value is not None}
    weights, alpha, coefficients = map(given.get, FIELDS)
    return Answer(weights, alpha, coefficients, others, claimed, objective, bounds, alpha_low)


def largest_answer(instance: Instance) -> float:
    """The largest size of an answer in bytes: an entry for every pair of samples, and four for every label, kernel and
    sample, as a solution's coefficients, norms and preprocessing have; as text an entry and what is around it take 64
    at most."""
    samples, labels = instance.samples, max(1, len(instance.targets.names))
    return 64.0 * (4 * labels * instance.count * samples + samples**2) + 2**20


def as_numbers(name: str, value: object) -> Array:
    """Convert to an array of floats; null in JSON becomes NaN."""
    array = read_array(value, f"answer: {name}", "plain numbers")
    try:
        objects = array.ravel().tolist() if array.dtype == object else []
        if array.dtype.kind not in "fiubO" or any(isinstance(item, str | bytes) for item in objects):
            raise ValueError("no real numbers")
        return np.asarray(array, dtype=np.float64)
    except (TypeError, ValueError, OverflowError, RecursionError):
        raise InputError(f"answer: {name} is no array of real numbers: write plain numbers") from None


def _number(name: str, value: object) -> float:
    return float(in_shape(name, value, ()))


def of_shape(name: str, value: object, shape: tuple[int, ...], undefined: bool = False) -> Array | None:
    """As `in_shape`, but None stays None."""
    return None if value is None else in_shape(name, value, shape, undefined)


def nothing_given(contents: str = "") -> InputError:
    return InputError(f"answer: has none of {', '.join(PARTS)}{contents}: give at least one of them")


def in_shape(name: str, value: object, shape: tuple[int, ...], undefined: bool = False) -> Array:
    """Convert to an array of this shape; a vector may be a row or a column. NaN is refused unless `undefined`."""
    array = as_numbers(name, value)
    if [side for side in array.shape if side != 1] != [side for side in shape if side != 1]:
        alone = name == "alpha" and array.ndim == len(shape) and array.size < np.prod(shape)
        words = ", 0 where a sample is no support vector (or name the convention, such as sklearn_svc)" if alone else ""
        raise InputError(f"answer: {name} has shape {array.shape}: give {shape}{words}")
    if not (np.isfinite(array) | (undefined & np.isnan(array))).all():
        raise InputError(f"answer: {name} has entries that are not finite: give finite numbers")
    return array.reshape(shape)
