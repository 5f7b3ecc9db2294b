"""Answers of several machines as files, and files that hold either one solution or several machines.

`.json` has one object: what the machines share, and under `machines` the solution of each with its classes and samples.
`.npz` has the arrays of every solution under `machine_0/` and so on, the samples under `members_0`, and the rest as one
JSON text.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..certificate.machines import Machines
from ..certificate.solution import Solution
from ..errors import InputError
from ..problem.machines import MULTI_CLASS, machines_for
from ..problem.preprocessing import Preprocessing
from ..problem.targets import classes_of
from ..schemas import MACHINES, check_schema
from .archives import Archive, Unreadable
from .files import existing_file, solution_arrays, solution_of_arrays, write_answer
from .json_text import first_line, parsed, read_object
from .solution_records import solution_of_record
from .writing import of_pickles

WRITTEN_BY = "give a file of mklcvx solve -o"


def save_machines(path: str | Path, machines: Machines) -> None:
    """Write machines to a file `.json` or `.npz`."""
    write_answer(path, machines.as_dict(), lambda: _arrays_of(machines))


def _arrays_of(machines: Machines) -> dict[str, Any]:
    arrays: dict[str, Any] = {f"members_{i}": part for i, part in enumerate(machines.members)}
    for i, solution in enumerate(machines.solutions):
        arrays |= {f"machine_{i}/{key}": value for key, value in solution_arrays(solution).items()}
    return {**arrays, "record": np.array(json.dumps(machines.summary(), ensure_ascii=False, allow_nan=False))}


def load_machines(path: str | Path) -> Machines:
    """Read machines that `save_machines` wrote."""
    answer = load_answer(path)
    if not isinstance(answer, Machines):
        raise InputError(f"machines {path}: holds one solution: read it with mklcvx.load_solution")
    return answer


def load_answer(path: str | Path) -> Solution | Machines:
    """Read a solution, or machines, whichever the file holds."""
    path = existing_file(path, "a .json or .npz file")
    where = f"solution {path}"
    if path.suffix not in (".json", ".npz"):
        raise InputError(f"{where}: unknown kind of file {path.suffix!r}: give a .json or .npz file{of_pickles(path)}")
    if path.suffix == ".npz":
        arrays = Archive(path)
        text = arrays.get("record")
        record = {} if text is None else parsed(str(text), where)
        if record.get("schema") != MACHINES:
            return solution_of_arrays(arrays, where)
        return _joined(record, where, lambda i: _from_arrays(arrays, i))
    record = read_object(path, "solution")
    if record.get("schema") != MACHINES:
        return solution_of_record(record, where)
    return _joined(record, where, lambda i: _from_record(record, i))


def is_machines(path: Path, limit: float) -> bool:
    """Whether a file, of at most `limit` bytes, holds machines, by its schema."""
    if path.suffix not in (".json", ".npz") or not path.is_file():
        return False
    if path.suffix == ".npz":
        record = Archive(path, limit).get("record")
        return record is not None and parsed(str(record), f"answer {path}").get("schema") == MACHINES
    return read_object(path, "answer", limit).get("schema") == MACHINES


def _from_arrays(arrays: Mapping[str, object], i: int) -> tuple[Solution, Any]:
    return solution_of_arrays(arrays, f"machine {i}", f"machine_{i}/"), arrays[f"members_{i}"]


def _from_record(record: dict[str, Any], i: int) -> tuple[Solution, Any]:
    machine = record["machines"][i]
    _require(isinstance(machine["solution"], dict), "a machine has no solution")
    members = machine["samples"]
    solution = solution_of_record(machine["solution"], f"machine {i}")
    if members is None:  # all of them
        _require(record["samples"] == solution.y.shape[-1], "machines and samples do not fit together")
        members = range(solution.y.shape[-1])
    return solution, np.array(members)


def _joined(record: dict[str, Any], where: str, machine: Any) -> Machines:
    """The machines of a record; the parts must fit together."""
    check_schema(record.get("schema"), MACHINES, where, WRITTEN_BY)
    try:
        multi_class, names = record["multi_class"], _words(record["label_names"])
        _require(multi_class in MULTI_CLASS and 2 <= len(set(names)) == len(names), "classes are no list of them")
        pairs = [machine(i) for i in range(len(machines_for(len(names), multi_class)))]
        samples, steps = record["samples"], record["preprocessing"]
        _require(isinstance(samples, int) and samples >= 2, "samples is no count")
        found = Machines(
            multi_class, names, _words(record["classes"]), str(record["classes_kind"] or ""),
            tuple(solution for solution, _ in pairs), tuple(_members(part, samples) for _, part in pairs), samples,
            None if steps is None else Preprocessing.from_dict(steps),
        )  # fmt: skip
        _check_fit(found)
        return found
    except Unreadable:
        raise
    except (KeyError, IndexError, TypeError, ValueError, OverflowError) as fault:
        what = first_line(fault) if isinstance(fault, InputError) else f"{type(fault).__name__}: {first_line(fault)}"
        raise InputError(f"{where}: incomplete or damaged ({what}): write it again") from None


def _check_fit(found: Machines) -> None:
    classes_of(found.label_names, found.classes, found.classes_kind)  # refuses strings that are not of their type
    _require(len(found.classes) == len(found.label_names), "classes and label_names do not fit together")
    first = found.solutions[0]
    for solution, part in zip(found.solutions, found.members, strict=True):
        alike = (solution.formulation, solution.names) == (first.formulation, first.names)
        fits = solution.target == "y" and solution.alpha is not None and solution.y.shape == part.shape
        _require(alike and fits and solution.preprocessing is None, "machines and samples do not fit together")
    if found.preprocessing is not None:
        shape = (len(first.names), found.samples)
        _require(found.preprocessing._shape == shape, "preprocessing and kernels do not fit together")


def _members(values: Any, samples: int) -> NDArray[np.intp]:
    array = np.asarray(values)
    whole = array.dtype.kind in "iu" and array.ndim == 1 and array.size > 0
    _require(whole and array[0] >= 0 and array[-1] < samples, "samples of a machine are out of range")
    _require(bool((array[1:] > array[:-1]).all()), "samples of a machine are out of order")
    return array.astype(np.intp)


def _words(values: Any) -> tuple[str, ...]:
    _require(isinstance(values, list), "a list of words is missing")
    return tuple(str(value) for value in values)


def _require(holds: object, fault: str) -> None:
    if not holds:
        raise ValueError(fault)
