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

from ..certificate.machines import Machines
from ..certificate.solution import Solution
from ..errors import InputError
from ..problem.machines import MULTI_CLASS, machines_for
from ..problem.preprocessing import Preprocessing
from ..problem.targets import classes_of
from ..schemas import MACHINES, check_schema
from .archives import Archive
from .damage import as_members, as_words, damage_reported, require
from .files import existing_file, solution_arrays, solution_of_arrays, write_answer
from .json_text import parsed, read_object
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
    record, arrays = _record_of(path, "solution")
    if record.get("schema") != MACHINES:
        return solution_of_record(record, where) if arrays is None else solution_of_arrays(arrays, where)
    return _joined(record, where, lambda i: _from_record(record, i) if arrays is None else _from_arrays(arrays, i))


def _record_of(path: Path, what: str, limit: float | None = None) -> tuple[dict[str, Any], Archive | None]:
    """The record of a file, and the arrays beside it; `limit` is its largest size in bytes."""
    if path.suffix == ".json":
        return read_object(path, what, limit), None
    arrays = Archive(path, limit)
    text = arrays.get("record")
    return {} if text is None else parsed(str(text), f"{what} {path}"), arrays


def is_machines(path: Path, limit: float) -> bool:
    """Whether a file, of at most `limit` bytes, holds machines, by its schema."""
    readable = path.suffix in (".json", ".npz") and path.is_file()
    return readable and _record_of(path, "answer", limit)[0].get("schema") == MACHINES


def _from_arrays(arrays: Mapping[str, object], i: int) -> tuple[Solution, Any]:
    return solution_of_arrays(arrays, f"machine {i}", f"machine_{i}/"), arrays[f"members_{i}"]


def _from_record(record: dict[str, Any], i: int) -> tuple[Solution, Any]:
    machine = record["machines"][i]
    require(isinstance(machine["solution"], dict), "a machine has no solution")
    members = machine["samples"]
    solution = solution_of_record(machine["solution"], f"machine {i}")
    if members is None:  # all of them
        require(record["samples"] == solution.y.shape[-1], "machines and samples do not fit together")
        members = range(solution.y.shape[-1])
    return solution, np.array(members)


def _joined(record: dict[str, Any], where: str, machine: Any) -> Machines:
    """The machines of a record; the parts must fit together."""
    check_schema(record.get("schema"), MACHINES, where, WRITTEN_BY)
    with damage_reported(where):
        multi_class, names = record["multi_class"], as_words(record["label_names"])
        require(multi_class in MULTI_CLASS and 2 <= len(set(names)) == len(names), "classes are no list of them")
        pairs = [machine(i) for i in range(len(machines_for(len(names), multi_class)))]
        samples, steps = record["samples"], record["preprocessing"]
        require(isinstance(samples, int) and samples >= 2, "samples is no count")
        machines = Machines(
            multi_class, names, as_words(record["classes"]), str(record["classes_kind"] or ""),
            tuple(solution for solution, _ in pairs), tuple(as_members(part, samples) for _, part in pairs), samples,
            None if steps is None else Preprocessing.from_dict(steps),
        )  # fmt: skip
        _check_fit(machines)
        return machines


def _check_fit(machines: Machines) -> None:
    classes_of(machines.label_names, machines.classes, machines.classes_kind)  # refuses strings of another type
    require(len(machines.classes) == len(machines.label_names), "classes and label_names do not fit together")
    first = machines.solutions[0]
    for solution, part in zip(machines.solutions, machines.members, strict=True):
        alike = (solution.formulation, solution.names) == (first.formulation, first.names)
        fits = solution.target == "y" and solution.alpha is not None and solution.y.shape == part.shape
        require(alike and fits and solution.preprocessing is None, "machines and samples do not fit together")
    if machines.preprocessing is not None:
        shape = (len(first.names), machines.samples)
        require(machines.preprocessing._shape == shape, "preprocessing and kernels do not fit together")
