"""What several commands take: KEY=VALUE, an instance, and what is done to its kernels first."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ..defaults import TOLERANCE
from ..errors import InputError
from ..io.files import load_instance
from ..solvers.names import current_name

if TYPE_CHECKING:
    from ..problem.instance import Instance
    from ..problem.preprocessing import Preprocessing

FORMATS = ".npz, .mat, .json, or a folder of .csv files"
InstanceFile = Annotated[Path, typer.Argument(help=f"Kernels and labels: {FORMATS}.", show_default=False)]
Normalise = Annotated[str | None, typer.Option(help="Scale the kernels first: trace, cosine or variance.")]
Centre = Annotated[bool, typer.Option("--centre", help="Centre the kernels in feature space first.")]
Repair = Annotated[str | None, typer.Option(help="Mend indefinite kernels: clip or shift.")]
Selection = Annotated[str | None, typer.Option(help="Use only these kernels: names or indices, by commas.")]

Settings = Annotated[
    list[str] | None,
    typer.Option("--set", metavar="KEY=VALUE", help="A parameter, for example C=10 or nu=0.3; may be repeated."),
]


def solver_now(name: str) -> str:
    """The name that a solver has now; where it had another, a line on standard error says so."""
    new = current_name(name)
    if new != name:
        sys.stderr.write(f"mklcvx: solver {name} is now {new}: use that name\n")
    return new


def solvers_named(text: str | None) -> list[str] | None:
    """The names in a list by commas."""
    return None if text is None else [solver_now(name.strip()) for name in text.split(",") if name.strip()]


Tolerance = Annotated[
    float | None,
    typer.Option(
        help=f"Relative gap that the certificate must prove; else the solver's own, for most {TOLERANCE:g}.",
        show_default=False,
    ),
]
SolverName = Annotated[
    str,
    typer.Option(
        help="auto (interior, then clarabel), interior, clarabel, scs, or a published algorithm: see 'mklcvx list'.",
        callback=solver_now,
    ),
]


def parse_grid(items: list[str]) -> dict[str, list[Any]]:
    """KEY=V1,V2,... as lists of numbers, or of words."""
    grid: dict[str, list[Any]] = {}
    for item in items:
        key, separator, values = item.partition("=")
        parts = [part.strip() for part in values.split(",")]
        if not separator or not key or not all(parts):
            raise InputError(f"--grid {item!r} is not KEY=V1,V2,...: write for example --grid C=0.1,1,10")
        if key in grid:
            raise InputError(f"--grid {key} is given twice: keep one")
        grid[key] = [_number_or_word(part) for part in parts]
    return grid


def parse_settings(items: list[str], option: str = "--set") -> dict[str, Any]:
    """KEY=VALUE pairs as numbers, or as words where they are none."""
    given: dict[str, Any] = {}
    example = "C=10" if option == "--set" else "seed=1"
    for item in items:
        key, separator, value = item.partition("=")
        if not separator or not key or not value:
            raise InputError(f"{option} {item!r} is not KEY=VALUE: write for example {option} {example}")
        if key in given:
            raise InputError(f"{option} {key} is given twice: keep one")
        given[key] = _number_or_word(value)
    return given


def _number_or_word(value: str) -> Any:
    for kind in (int, float):
        try:
            return kind(value)
        except ValueError:
            continue
    return value


def loaded(
    instance: Path, repair: str | None, kernels: str | None, centre: bool, normalise: str | None
) -> tuple[Instance, Preprocessing | None]:
    """The instance as the options want it, and the steps that were applied."""
    from ..problem.preprocessing import Preprocessing
    from ..solvers.solving import preprocessed

    problem = load_instance(instance, repair=repair)
    for change in problem.repairs:
        sys.stderr.write(f"mklcvx: repaired {printable(change)}\n")
    if kernels is not None:
        problem = problem.select([part.strip() for part in re.split(r",(?![^(]*\))", kernels)])
    if not (centre or normalise):
        return problem, None
    preparation = Preprocessing.from_options(centre=centre, normalise=normalise)
    return preprocessed(problem, preparation), preparation


def printable(text: str) -> str:
    """One line without control characters, whatever a file has put into it."""
    return "".join(c if c.isprintable() else "�" for c in " ".join(text.split()))
