"""What is handed in to be judged: a problem, an answer to it, and where they came from.

A file is measured before it is read: an answer to an instance of M kernels on n samples with k labels has at most
M + kn(M + 3) + n(n + 1)/2 numbers, a trace POINTS times M, and a number takes at most BYTES. What a file says of the
problem (formulation, parameters, steps before it) is taken where the one who asks does not say otherwise.
"""

from __future__ import annotations

import csv
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from . import formulations
from .answers import Answer, answer_of
from .errors import InputError
from .files import existing_file, read_record
from .instance import Instance
from .json_text import check_size
from .preprocess import Preprocessing

BYTES, AROUND = 64, 1_000_000  # per number in JSON, and for everything that is not a number
WEIGHT = "weight "  # before a kernel's name, in the columns of a trace
LONGEST_TRACE = 10_000
POINTS = 1000


@dataclass(frozen=True)
class Submission:
    """An instance, a formulation with parameters, and an answer, or the points of a trace. A convention other than
    ours is a function from submissions to submissions: it changes the problem, the answer or both, before judging."""

    instance: Instance
    formulation: str
    parameters: dict[str, Any]
    answer: Answer
    trace: tuple[Answer, ...] = ()
    notes: tuple[str, ...] = ()
    stated: tuple[str, dict[str, Any]] | None = None  # what the file says it solved, where another problem was asked


def read_submission(
    path: Path, instance: Instance, formulation: str | None = None, given: Mapping[str, Any] | None = None
) -> Submission:
    """An answer, or a trace, from a file that anybody may have written; what is given overrides what it says."""
    most = AROUND + BYTES * _numbers(instance)
    record = _read_csv(path, most) if path.suffix == ".csv" else read_record(path, most)
    name, notes = _formulation(record, formulation)
    parameters, said = _parameters(record, name, dict(given or {}))
    prepared, steps = _prepared(instance, record)
    rows = record.get("rows")
    trace = () if rows is None else _trace(rows)
    answer = answer_of({} if trace else record)
    stated = _stated(record) if notes or said else None
    return Submission(prepared, name, parameters, answer, trace, (*notes, *said, *steps), stated)


def _stated(record: Mapping[str, Any]) -> tuple[str, dict[str, Any]] | None:
    name, parameters = record.get("formulation"), record.get("parameters")
    if not isinstance(name, str) or not isinstance(parameters, Mapping):
        return None
    return name, {str(key): value for key, value in parameters.items()}


def _numbers(instance: Instance) -> int:
    n, labels = instance.samples, max(len(instance.targets.names), 1)
    return POINTS * instance.count + labels * n * (instance.count + 3) + n * (n + 1) // 2


def _formulation(record: Mapping[str, Any], given: str | None) -> tuple[str, tuple[str, ...]]:
    said: Any = record.get("formulation")
    if given is None:
        if not isinstance(said, str):
            raise InputError("answer: does not say which formulation it solves: give -f NAME")
        return formulations.get(said[:40]).name, ()
    name = formulations.get(given).name
    conflict = isinstance(said, str) and said != name
    return name, (f"the answer says formulation {said[:40]}, judged as {name}",) if conflict else ()


def _parameters(record: Mapping[str, Any], name: str, given: dict[str, Any]) -> tuple[dict[str, Any], tuple[str, ...]]:
    """The file's parameters that the formulation knows, overridden by those given; C and nu exclude each other."""
    said: Any = record.get("parameters")
    known = formulations.get(name).parameter_names
    told = {key: value for key, value in said.items() if key in known} if isinstance(said, Mapping) else {}
    for one, other in (("C", "nu"), ("nu", "C")):
        if one in given and other not in given and told.pop(other, None) is not None:
            told.pop(one, None)
    changed = [key for key in given if key in told and told[key] != given[key]]
    notes = tuple(f"the answer says {key} = {str(told[key])[:40]}, judged with {given[key]}" for key in changed)
    return {**told, **given}, notes


def _prepared(instance: Instance, record: Mapping[str, Any]) -> tuple[Instance, tuple[str, ...]]:
    """The steps that the file names, fitted anew: its own numbers are not trusted."""
    if record.get("preprocessing") is None:
        return instance, ()
    steps = Preprocessing.from_dict(record["preprocessing"]).steps
    kernels = Preprocessing(steps).fit(instance.kernels, names=instance.names).train(instance.kernels)
    words = ", ".join(step.name for step in steps)
    return instance.with_kernels(kernels), (f"for the kernels after the answer's own steps: {words}",)


def _trace(rows: Any) -> tuple[Answer, ...]:
    if not isinstance(rows, list) or not rows or not all(isinstance(row, Mapping) for row in rows):
        raise InputError("answer: rows of the trace are no list of points: write one object per point")
    if len(rows) > LONGEST_TRACE:
        raise InputError(f"answer: the trace has {len(rows)} points: give at most {LONGEST_TRACE}")
    return tuple(answer_of(row) for row in rows)


def _read_csv(path: Path, most: float) -> dict[str, Any]:
    """A trace as `solve --trace` writes it: one row per iteration, one column per kernel's weight."""
    path = existing_file(path, "a trace")
    check_size(str(path), path.stat().st_size, most)
    try:
        with path.open(encoding="utf-8", newline="") as file:
            table = list(csv.reader(file))
        head, rows = table[0], [[float(cell) for cell in row] for row in table[1:] if row]
        if any(len(row) != len(head) for row in rows):
            raise ValueError("rows of different lengths")
    except (OSError, ValueError, IndexError, csv.Error) as fault:
        what = " ".join(str(fault).split())[:80] or "it is empty"
        raise InputError(f"{path}: no readable trace ({what}): give one written by mklcvx solve --trace") from None
    weights = [column for column, name in enumerate(head) if name.startswith(WEIGHT)]
    bounds: dict[str, int] = {name: head.index(name) for name in ("lower", "upper", "objective") if name in head}
    if not weights and not bounds:
        raise InputError(f"{path}: no columns that begin with {WEIGHT!r}: give one for each kernel's weight")
    return {"rows": [_point(row, weights, bounds) for row in rows]}


def _point(row: list[float], weights: list[int], others: Mapping[str, int]) -> dict[str, Any]:
    point: dict[str, Any] = {name: row[column] for name, column in others.items()}
    return {**point, "weights": [row[column] for column in weights]} if weights else point
