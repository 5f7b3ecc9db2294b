"""Submissions: a problem and an answer to it, as a caller or a file states them.

The size of a file is checked before it is read: at most that of an answer (`answers.largest_answer`) and of a trace of
POINTS times M weights. What a file says of the problem (formulation, parameters, preprocessing) holds unless the caller
says otherwise.

A submission in another code's notation (`conventions`) is converted first, both problem and answer: the convention says
which formulation it is, and the parameters are those of the convention.
"""

from __future__ import annotations

import csv
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from .. import formulations
from ..errors import InputError, clipped, remedy
from ..formulations._formulation import Given, Parameters
from ..formulations.losses import KNOWN, OWN
from ..io.files import existing_file, read_record
from ..io.json_text import check_size
from ..problem.instance import Instance
from ..problem.preprocessing import Preprocessing
from ..schemas import MACHINES
from ..solvers.solving import refitted
from .answers import Answer, answer_of, largest_answer, nothing_given
from .case import Stated

if TYPE_CHECKING:
    from .conventions import Convention

BYTES = 64  # of a weight in a trace, with what surrounds it
WEIGHT = "weight "  # before a kernel's name, in the columns of a trace
LONGEST_TRACE = 10_000
POINTS = 1000
SHOWN = 5  # unknown parameters
EXCLUSIVE = (("C", "nu"), ("C", "C_total"))  # parameters of which one is given at most


@dataclass(frozen=True)
class Submission:
    """An instance, a formulation with parameters, and an answer, or the points of a trace. A convention other than
    ours is a function from submissions to submissions: it changes the problem, the answer or both, before judging."""

    instance: Instance
    formulation: str  # empty where the convention tells
    parameters: Parameters
    answer: Answer
    trace: tuple[Answer, ...] = ()
    notes: tuple[str, ...] = ()
    stated: Stated = None  # where another problem was asked
    contents: str = ""  # what a file has, in words


Translation = Callable[[Submission], Submission]


def convention_named(name: str) -> Convention:
    from . import conventions  # a dozen modules, which most commands do not need

    return conventions.get(name)


def translation(name: str) -> Translation:
    """The function that converts submissions from a convention to ours; a formulation that is given must be the
    same."""
    convention = convention_named(name)

    def converted(submission: Submission) -> Submission:
        problem = convention.to_ours(submission.instance, submission.parameters)
        if submission.formulation not in ("", problem.formulation):
            fault = f"is not what {name} solves with these parameters, which is {problem.formulation}"
            value, instead = submission.formulation, ""
            for key in (key for key, words in convention.choices.items() if value in words):
                instead = ", and give " + remedy(f"{key}={value!r}", f"--set {key}={value}")
            raise InputError(f"formulation {value!r} {fault}: leave it out{instead}")
        theirs = (submission.answer, *submission.trace)
        answer, *trace = (convention.answer_to_ours(point, problem) for point in theirs)
        multipliers = {str(key) for point in theirs for key in point.multipliers}
        unknown = sorted(multipliers - set(convention.multiplier_names))
        said = (f"in the words of {name}", *problem.notes, *([f"not judged: {', '.join(unknown)}"] if unknown else []))
        ours = (problem.instance, problem.formulation, problem.parameters)
        return Submission(*ours, answer, tuple(trace), (*submission.notes, *said))

    return converted


def read_submission(
    path: Path,
    instance: Instance,
    formulation: str | None = None,
    given: Given | None = None,
    convention: str | None = None,
) -> Submission:
    """Read an answer or a trace from a file, which may come from anybody; `given` overrides what it says."""
    limit = largest_answer(instance) + BYTES * POINTS * instance.count
    record = _read_csv(path, limit, instance.names) if path.suffix == ".csv" else read_record(path, limit)
    return submission_of(record, instance, formulation, given, convention)


def submission_of(
    record: Mapping[str, object],
    instance: Instance,
    formulation: str | None = None,
    given: Given | None = None,
    convention: str | None = None,
) -> Submission:
    """The submission that the fields of an answer make; `given` overrides what they say."""
    if str(record.get("schema")) == MACHINES:
        fault = f"holds machines for several classes, the instance has {instance.targets.present}"
        raise InputError(f"answer: {fault}: give the instance with its classes")
    prepared, steps = _prepared(instance, record)
    trace = () if record.get("rows") is None else _trace(record["rows"])
    answer = answer_of({} if trace else record)
    if convention is not None:
        names = convention_named(convention).parameter_names
        parameters, said = _parameters(record, names, dict(given or {}))
        theirs = Submission(prepared, formulation or "", parameters, answer, trace, (*said, *steps))
        ours = translation(convention)(theirs)
        return replace(ours, notes=(*_formulation(record, ours.formulation)[1], *ours.notes))
    contents = f" (found {clipped(', '.join(record) or 'nothing')})"
    if not (answer.given or trace or formulation or "formulation" in record):
        raise nothing_given(contents)
    name, notes = _formulation(record, formulation)
    parameters, said = _parameters(record, formulations.get(name).parameter_names, dict(given or {}))
    stated: Stated = None
    named, values = record.get("formulation"), record.get("parameters")
    if (notes or said) and isinstance(named, str) and isinstance(values, Mapping):
        stated = named, {str(key): value for key, value in values.items()}
    return Submission(prepared, name, parameters, answer, trace, (*notes, *said, *steps), stated, contents)


def _formulation(record: Mapping[str, object], given: str | None) -> tuple[str, tuple[str, ...]]:
    said = record.get("formulation")
    if given is None:
        if not isinstance(said, str):
            raise InputError("answer: does not say which formulation it solves: give -f NAME")
        return formulations.get(said[:40]).name, ()
    name = formulations.get(given).name
    if isinstance(said, str) and said != name:
        return name, (f"the answer says formulation {clipped(said, 40)}, judged as {name}",)
    return name, ()


def _parameters(
    record: Mapping[str, object], names: Sequence[str], given: Parameters
) -> tuple[Parameters, tuple[str, ...]]:
    """The known parameters of the file, overridden by those given; some exclude each other. A note lists the unknown
    ones, which may be misspelt."""
    said = record.get("parameters")
    said = said if isinstance(said, Mapping) else {}
    told = {key: value for key, value in said.items() if key in names}
    unknown = [clipped(key, 40) for key in said if key not in names]
    loss = KNOWN.get(str(given.get("loss", told.get("loss"))))
    both = [] if loss is None else [parameter.name for parameter in loss.parameters]  # some losses have C and nu
    for parameter, other in (*EXCLUSIVE, *(pair[::-1] for pair in EXCLUSIVE)):
        if {parameter, other} <= {*both}:
            continue
        if parameter in given and other not in given and told.pop(other, None) is not None:
            told.pop(parameter, None)
    if given.get("loss", told.get("loss")) != told.get("loss"):  # its parameters go with it
        told = {key: value for key, value in told.items() if key in ("loss", *given) or key not in (*OWN, "nu")}
    changed = [key for key in given if key in told and told[key] != given[key]]
    notes = [f"the answer says {key} = {clipped(told[key], 40)}, judged with {given[key]}" for key in changed]
    if unknown:
        more = f" and {len(unknown) - SHOWN} more" if len(unknown) > SHOWN else ""
        words = f"the answer's parameters {', '.join(unknown[:SHOWN])}{more} are unknown, and not used"
        notes.append(f"{words}: known are {', '.join(names) or 'none'}")
    return {**told, **given}, tuple(notes)


def _prepared(instance: Instance, record: Mapping[str, object]) -> tuple[Instance, tuple[str, ...]]:
    """The instance after the preprocessing that the file names, fitted again: the file's numbers are not trusted."""
    said = record.get("preprocessing")
    if said is None:
        return instance, ()
    chain = Preprocessing.from_dict(said if isinstance(said, Mapping) else {})
    words = ", ".join(step.name for step in chain.steps)
    return refitted(instance, chain), (f"for the kernels after the answer's own steps: {words}",)


def _trace(rows: object) -> tuple[Answer, ...]:
    if not isinstance(rows, list) or not rows or not all(isinstance(row, Mapping) for row in rows):
        raise InputError("answer: rows of the trace are no list of points: write one object per point")
    if len(rows) > LONGEST_TRACE:
        raise InputError(f"answer: the trace has {len(rows)} points: give at most {LONGEST_TRACE}")
    return tuple(answer_of(row) for row in rows)


def _read_csv(path: Path, limit: float, names: Sequence[str]) -> dict[str, object]:
    """A trace as `solve --trace` writes it: one row per iteration, one column per kernel's weight. Columns with the
    kernels' names may have any order."""
    path = existing_file(path, "a trace")
    check_size(str(path), path.stat().st_size, limit)
    try:
        with path.open(encoding="utf-8", newline="") as file:
            table = list(csv.reader(file))
        head, rows = table[0], [[float(cell) for cell in row] for row in table[1:] if row]
        if any(len(row) != len(head) for row in rows):
            raise ValueError("rows of different lengths")
    except (OSError, ValueError, IndexError, csv.Error) as fault:
        what = clipped(fault, 80) or "it is empty"
        raise InputError(f"{path}: no readable trace ({what}): give one written by mklcvx solve --trace") from None
    weights = [column for column, name in enumerate(head) if name.startswith(WEIGHT)]
    if sorted(head[column] for column in weights) == sorted(WEIGHT + name for name in names):
        weights = [head.index(WEIGHT + name) for name in names]
    bounds: dict[str, int] = {name: head.index(name) for name in ("lower", "upper", "objective") if name in head}
    if not weights and not bounds:
        raise InputError(f"{path}: no columns that begin with {WEIGHT!r}: give one for each kernel's weight")
    return {"rows": [_point(row, weights, bounds) for row in rows]}


def _point(row: list[float], weights: list[int], others: Mapping[str, int]) -> dict[str, object]:
    point: dict[str, object] = {name: row[column] for name, column in others.items()}
    return {**point, "weights": [row[column] for column in weights]} if weights else point
