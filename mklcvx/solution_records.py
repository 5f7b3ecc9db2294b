"""A solution from the record of a file: every part in its type, finite, and fitting the others."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .certificate import Certificate
from .errors import InputError
from .json_text import first_line
from .preprocess import Preprocessing
from .solution import SCHEMA, Solution
from .targets import KINDS


def solution_of_record(record: dict[str, Any], where: str) -> Solution:
    if record.get("schema") != SCHEMA:
        schema = repr(record.get("schema"))[:40]
        raise InputError(f"{where}: schema {schema} is not {SCHEMA!r}: give a file of mklcvx solve -o")
    try:
        return _solution(record)
    except (KeyError, TypeError, ValueError, OverflowError) as fault:
        what = f"{type(fault).__name__}: {first_line(fault)}"
        raise InputError(f"{where}: incomplete or damaged ({what}): write it again") from None


def _solution(record: Mapping[str, Any]) -> Solution:
    preprocessing, interval = record.get("preprocessing"), record.get("bias_interval")
    solution = Solution(
        formulation=str(record["formulation"]),
        parameters=dict(record["parameters"]),
        solver=str(record["solver"]),
        status=str(record["status"]),
        objective=float(record["objective"]),
        weights=_numbers(record["weights"]),
        alpha=_optional(record.get("alpha")),
        bias=_numbers(record["bias"]) if np.ndim(record["bias"]) else float(record["bias"]),
        coefficients=_optional(record.get("coefficients")),
        multipliers={k: _numbers(v) if np.ndim(v) else v for k, v in dict(record["multipliers"]).items()},
        certificate=Certificate(*(float(record["certificate"][key]) for key in ("lower", "upper", "scale"))),
        iterations=int(record["iterations"]),
        seconds=float(record["seconds"]),
        y=_numbers(record["y"]),
        names=_words(record["names"]),
        norms=_optional(record.get("norms")),
        bias_interval=None if interval is None else _interval(interval),
        target=str(record.get("target", "y")),
        label_names=_words(record.get("label_names", ["y"])),
        classes=_words(record.get("classes") or []),
        preprocessing=None if preprocessing is None else Preprocessing.from_dict(preprocessing),
        message=str(record.get("message", "")),
        notes=_words(record.get("notes", [])),
    )
    _check_fit(solution)
    return solution


def _check_fit(solution: Solution) -> None:
    """The parts of a solution from a file must be finite and fit together."""
    weights, alpha, y, labels = solution.weights, solution.alpha, solution.y, solution.label_names
    parts = (solution.bias, solution.objective, solution.certificate.gap, alpha, solution.norms)
    if not all(np.isfinite(part).all() for part in parts if part is not None) or np.isinf(weights).any():
        raise ValueError("it has entries that are not finite")
    if not np.isin(y, (-1, 1)).all():
        raise ValueError("y has labels other than −1 and +1")
    if solution.target not in KINDS or len(solution.classes) != (len(labels) if solution.classes else 0):
        raise ValueError("target and classes do not fit together")
    if y.shape[:-1] != (len(labels),) and not (solution.target == "y" and y.ndim == len(labels) == 1):
        raise ValueError("y and label_names do not fit together")
    if weights.shape != (len(solution.names),) or (solution.norms is not None and len(weights) != len(solution.norms)):
        raise ValueError("weights, names and norms do not fit together")
    if alpha is None:
        _check_embedding(solution)
        return
    rows = y.shape[:-1]
    shape = (*rows, len(weights), y.shape[-1])
    if y.shape != alpha.shape or solution.all_coefficients.shape != shape or np.shape(solution.bias) != rows:
        raise ValueError("weights, alpha, y and coefficients do not fit together")
    if not np.isfinite(solution.all_coefficients).all():
        raise ValueError("weights are undefined and no coefficients are given")


def _check_embedding(solution: Solution) -> None:
    basis = solution.multipliers.get("B")
    if basis is None and "B" in solution.multipliers:
        raise ValueError("B is too large for JSON, solve again with -o and a name that ends in .npz")
    if basis is None or np.ndim(basis) != 2 or len(basis) != solution.y.shape[-1]:
        raise ValueError("it has neither alpha nor an embedding that fits")
    if not (np.isfinite(basis).all() and np.isfinite(solution.weights).all()):
        raise ValueError("it has entries that are not finite")


def _words(values: Any) -> tuple[str, ...]:
    if not isinstance(values, list):
        raise ValueError("a list of words is missing")
    return tuple(str(value) for value in values)


def _optional(values: Any) -> NDArray[np.float64] | None:
    return None if values is None else _numbers(values)


def _interval(ends: Any) -> tuple[float, float]:
    low, high = ends
    return (-np.inf if low is None else float(low), np.inf if high is None else float(high))


def _numbers(values: Any) -> NDArray[np.float64]:
    """An array of numbers; None, for what is undefined, becomes NaN."""
    array = np.asarray(values, dtype=object if isinstance(values, list) else None)
    if array.ndim == 0:
        raise ValueError("a list of numbers is missing")
    return np.array([np.nan if v is None else float(v) for v in array.ravel()]).reshape(array.shape)
