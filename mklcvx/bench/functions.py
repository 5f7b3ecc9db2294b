"""A third party's solver as a function: how it is found, its arguments, and the forms of its answer.

    function(kernels, y, **parameters) -> answer

`kernels` is (M, n, n), `y` are the targets of the instance (±1; classes; labels, n × k, 0 or 1; real numbers; or n × 0,
where there are none), and parameters are those of the formulation by name; `groups` (M) if the formulation needs them,
`sample_weight` (n) if it is not all ones.
A parameter that the function does not accept is left out if it has its default value; else the instance is skipped.
The loss is left out as well: a function for one loss is called where that loss was named.

The answer is a mapping with any of weights, alpha, bias, coefficients, objective and multipliers; an object with
attributes of these names; a tuple in that order, None for missing parts; or the weights alone, as an array or list.
"""

from __future__ import annotations

import importlib
import inspect
import os
import re
import sys
from collections.abc import Callable, Iterable, Mapping
from importlib.machinery import PathFinder
from importlib.util import find_spec
from typing import Any

import numpy as np

from .. import formulations
from ..errors import InputError
from ..io.files import ANSWER_FIELDS
from ..problem.instance import Instance
from ..verification.answers import answer_of

Function = Callable[..., Any]
NAME = re.compile(r"[^\W\d]\w*(\.[^\W\d]\w*)*:[^\W\d]\w*(\.[^\W\d]\w*)*")


def named(solver: str | Function) -> str:
    """The name under which another process finds the function: package.module:function."""
    if not isinstance(solver, str):
        solver = f"{getattr(solver, '__module__', None)}:{getattr(solver, '__qualname__', '<object>')}"
        if "<" in solver or solver.startswith(("None:", "__main__:")):
            raise InputError(f"solver {solver}: cannot be found from another process: define it in a module's file")
    if not NAME.fullmatch(solver):
        raise InputError(f"solver {solver[:60]!r} is not package.module:function: write for example mine.solvers:l1")
    return solver


def search_path() -> tuple[str, ...]:
    """The folders where the calling process finds modules, and the current folder."""
    return (*(folder for folder in sys.path if folder), os.getcwd())


def check_importable(name: str, path: Iterable[str]) -> None:
    """Refuse a module that cannot be found, without importing it."""
    top = named(name).partition(":")[0].partition(".")[0]
    if top not in sys.modules and not find_spec(top) and not PathFinder.find_spec(top, list(path)):
        raise InputError(f"solver {name}: there is no module {top!r}: install it, or go to the folder it is in")


def imported(name: str, path: Iterable[str]) -> Function:
    """Import the function of that name. This runs its module."""
    module, _, inside = named(name).partition(":")
    sys.path.extend(folder for folder in path if folder not in sys.path)
    try:
        function: Any = importlib.import_module(module)
    except ModuleNotFoundError as fault:
        raise InputError(f"solver {name}: there is no module {fault.name!r}: install it, or check the name") from None
    for part in inside.split("."):
        if not hasattr(function, part):
            raise InputError(f"solver {name}: {module} has no {inside!r}: check the name")
        function = getattr(function, part)
    if not callable(function):
        raise InputError(f"solver {name}: is not a function: name one that takes kernels and y")
    return function


def arguments(
    function: Function, instance: Instance, formulation: str, parameters: Mapping[str, Any]
) -> tuple[dict[str, Any], list[str]]:
    """The keyword arguments of the function, and the names that it would need to accept but does not."""
    chosen = formulations.get(formulation)
    offered = dict(parameters)
    if chosen.needs_groups:
        offered["groups"] = None if instance.groups is None else np.array(instance.groups)
    if not (instance.sample_weight == 1).all():
        offered["sample_weight"] = np.array(instance.sample_weight)
    takes = _keywords(function)
    if takes is None:
        return offered, []
    usual = chosen.task(instance, {name: offered[name] for name in ("loss",) if name in offered})[1]
    left = [name for name in offered if name not in takes]
    missing = [name for name in left if name != "loss" and (name not in usual or usual[name] != offered[name])]
    return {name: value for name, value in offered.items() if name in takes}, missing


def _keywords(function: Function) -> set[str] | None:
    """The keywords that a function accepts after kernels and y; None if it accepts all or has no signature."""
    try:
        parameters = list(inspect.signature(function).parameters.values())
    except (TypeError, ValueError):
        return None
    if any(parameter.kind is parameter.VAR_KEYWORD for parameter in parameters):
        return None
    by_name = {p.name for p in parameters if p.kind is p.KEYWORD_ONLY}
    return by_name | {p.name for p in parameters[2:] if p.kind is p.POSITIONAL_OR_KEYWORD}


def found_by(result: Any) -> dict[str, Any]:
    """The parts of an answer in what a function returned, as arguments of `files.save_answer`."""
    record = _record(result)
    parts = {name: record[name] for name in ANSWER_FIELDS if record.get(name) is not None}
    given = answer_of({**parts, "multipliers": record.get("multipliers")})  # refuses anything but numbers
    if not given.given:
        raise InputError(f"it returned none of {', '.join(ANSWER_FIELDS)}: return a dictionary with what there is")
    fields = {name: getattr(given, name) for name in parts}
    return {**fields, "multipliers": {name: np.asarray(value) for name, value in given.multipliers.items()}}


def _record(result: Any) -> Mapping[str, Any]:
    match result:
        case Mapping():
            return result
        case np.ndarray() | list():
            return {"weights": result}
        case tuple() if not hasattr(result, "_asdict"):
            if len(result) > len(ANSWER_FIELDS):
                raise InputError(f"it returned {len(result)} values: return at most {', '.join(ANSWER_FIELDS)}")
            return dict(zip(ANSWER_FIELDS, result, strict=False))
    return {name: getattr(result, name, None) for name in (*ANSWER_FIELDS, "multipliers")}
