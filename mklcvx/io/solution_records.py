"""Solutions from the records of files. The types, finiteness and shapes of all fields are checked."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .. import formulations
from ..certificate import Certificate
from ..certificate.solution import Solution
from ..errors import InputError, remedy
from ..problem.preprocessing import Preprocessing
from ..problem.targets import KINDS, LABELLED, NONE
from ..schemas import MACHINES, SOLUTION, check_schema
from .damage import as_words, damage_reported, require

# What null stands for in a certificate: a number that proves nothing.
UNPROVED = dict.fromkeys(("upper", "gap", "rounding", "ridge", "ridge_share"), math.inf)
UNPROVED |= {"lower": -math.inf, "scale": 0.0, "stretch": 1.0}


def solution_of_record(record: dict[str, Any], where: str) -> Solution:
    if record.get("schema") == MACHINES:
        load = remedy("mklcvx.io.machine_files.load_machines", "mklcvx predict")
        raise InputError(f"{where}: holds one solution for each of several machines: read it with {load}")
    check_schema(record.get("schema"), SOLUTION, where, "give a file of mklcvx solve -o")
    with damage_reported(where):
        solution = Solution(**{name: read(record[name]) for names, read in READERS.items() for name in names.split()})
        _check_fit(solution)
        return solution


def _certificate(said: Mapping[str, Any]) -> Certificate:
    read = {name: worst if said[name] is None else float(said[name]) for name, worst in UNPROVED.items()}
    ridges = None if said.get("ridges") is None else tuple(float(delta) for delta in said["ridges"])
    return Certificate(width=read.pop("gap"), **read, ridges=ridges, gain=_optional(float)(said.get("gain")))


def _check_fit(solution: Solution) -> None:
    """Require that the fields are finite and that their shapes fit together."""
    weights, alpha, y, labels = solution.weights, solution.alpha, solution.y, solution.label_names
    parts = (solution.bias, alpha, solution.norms)
    finite = all(np.isfinite(part).all() for part in parts if part is not None) and not np.isinf(weights).any()
    require(finite, "it has entries that are not finite")
    gap, unbounded = solution.certificate.gap, solution.objective == solution.certificate.upper == math.inf
    finite = (math.isfinite(solution.objective) or unbounded) and not (solution.certified and not math.isfinite(gap))
    require(finite, "it has bounds that are not finite")
    require(np.isin(y, (-1, 1)).all(), "y has labels other than −1 and +1")
    require(solution.target in LABELLED or (y > 0).all(), "y has −1 where the targets are no labels")
    fits = solution.target in (*KINDS, NONE) and len(solution.classes) in (0, len(labels))
    require(fits, "target and classes do not fit together")
    solution.predicted_classes()  # refuses strings that are not numbers of their type
    outputs = {"y": 1, "response": 1, NONE: 0}  # names where y is (n,)
    fits = y.shape[:-1] == (len(labels),) or (y.ndim == 1 and len(labels) == outputs.get(solution.target))
    require(fits, "y and label_names do not fit together")
    fits = weights.shape == (len(solution.names),) and (solution.norms is None or len(weights) == len(solution.norms))
    require(fits, "weights, names and norms do not fit together")
    fits = solution.slopes is None or solution.slopes.shape == (2, len(weights))
    require(fits, "weights and slopes do not fit together")
    if alpha is not None:
        _check_function(solution, alpha)
    elif "B" in solution.multipliers or formulations.get(solution.formulation).classifies:
        _check_embedding(solution)


def _check_function(solution: Solution, alpha: NDArray[np.float64]) -> None:
    """Require that what makes up the certified function is finite, and fits together."""
    y, rows, certificate = solution.y, solution.y.shape[:-1], solution.certificate
    shape, own = (*rows, len(solution.weights), y.shape[-1]), solution.coefficients
    fits = y.shape == alpha.shape and (own is None or own.shape == shape) and np.shape(solution.bias) == rows
    require(fits, "weights, alpha, y and coefficients do not fit together")
    low, stretch = solution.alpha_low, solution.multipliers.get("second_stage_stretch", certificate.stretch)
    fits = (low is None or low.shape == y.shape) and np.shape(solution.bias_low) in ((), rows)
    require(fits, "alpha_low and bias_low do not fit alpha and bias")
    fits = np.shape(stretch) in ((), rows) and len(certificate.ridges or solution.weights) == len(solution.weights)
    require(fits, "stretch and ridges do not fit together")
    function = solution.function
    low_parts = [function.bias_low] if low is None else [function.bias_low, low]
    finite = all(np.isfinite(part).all() for part in [*low_parts, function.stretch])
    require(finite and (function.stretch >= 1).all(), "low parts are not finite, or a stretch is below 1")
    require(np.isfinite(solution.all_coefficients).all(), "weights are undefined and no coefficients are given")


def _check_embedding(solution: Solution) -> None:
    basis = solution.multipliers.get("B")
    if basis is None and "B" in solution.multipliers:
        raise ValueError("B is too large for JSON, solve again with -o and a name that ends in .npz")
    if basis is None or np.ndim(basis) != 2 or np.shape(basis)[0] != solution.y.shape[-1]:
        raise ValueError("it has neither alpha nor an embedding that fits")
    require(np.isfinite(basis).all() and np.isfinite(solution.weights).all(), "it has entries that are not finite")


def _numbers(values: Any) -> NDArray[np.float64]:
    """An array of numbers; None, for an undefined number, becomes NaN."""
    array = np.asarray(values, dtype=object if isinstance(values, list) else None)
    require(array.ndim, "a list of numbers is missing")
    return np.array([np.nan if v is None else float(v) for v in array.ravel()]).reshape(array.shape)


def _optional(read: Callable[[Any], Any]) -> Callable[[Any], Any]:
    return lambda value: None if value is None else read(value)


def _interval(ends: Any) -> tuple[float, float]:
    low, high = ends
    return (-np.inf if low is None else float(low), np.inf if high is None else float(high))


# How the fields of a solution are read.
READERS: dict[str, Callable[[Any], Any]] = {
    "formulation solver status target message": str,
    "parameters": dict,
    "objective": lambda value: math.inf if value is None else float(value),
    "seconds": float,
    "iterations svm_solves": int,
    "weights y": _numbers,
    "alpha coefficients norms alpha_low slopes": _optional(_numbers),
    "bias bias_low": lambda value: _numbers(value) if np.ndim(value) else float(value),
    "multipliers": lambda values: {k: _numbers(v) if np.ndim(v) else v for k, v in dict(values).items()},
    "certificate": _certificate,
    "names label_names notes": as_words,
    "bias_interval": _optional(_interval),
    "classes": lambda words: as_words(words or []),
    "classes_kind": lambda word: str(word or ""),
    "preprocessing": _optional(Preprocessing.from_dict),
    "tolerance": _optional(float),
}
