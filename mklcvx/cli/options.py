"""What commands share: options, the parsing of KEY=VALUE, loading of instances, checks of outputs, messages."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Callable
from contextlib import suppress
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NoReturn

import typer

from ..defaults import TOLERANCE
from ..errors import InputError
from ..io.files import check_apart, check_output, load_instance
from ..solvers.names import current_name

if TYPE_CHECKING:
    from ..problem.instance import Instance
    from ..problem.preprocessing import Preprocessing

FORMATS = ".npz, .mat, .json, or a folder of .csv files"


def say(text: str) -> None:
    """Write one line to standard error, without control characters."""
    sys.stderr.write(f"mklcvx: {printable(text)}\n")


def printable(text: str) -> str:
    return "".join(c if c.isprintable() else "�" for c in " ".join(text.split()))


def fail(text: str) -> NoReturn:
    """Write a line to standard error and exit with status 1."""
    say(text)
    raise typer.Exit(1)


def solver_now(name: str) -> str:
    """Return the current name of a solver; a former name is accepted with a message."""
    new = current_name(name)
    if new != name:
        say(f"solver {name} is now {new}: use that name")
    return new


InstanceFile = Annotated[Path, typer.Argument(help=f"Kernels and targets: {FORMATS}.", show_default=False)]
FormulationName = Annotated[str, typer.Option("-f", "--formulation", help="See 'mklcvx list'.")]
Normalise = Annotated[str | None, typer.Option(help="Scale the kernels first: trace, cosine or variance.")]
Centre = Annotated[bool, typer.Option("--centre", help="Centre the kernels in feature space first.")]
Repair = Annotated[str | None, typer.Option(help="Mend indefinite kernels: clip or shift.")]
Selection = Annotated[str | None, typer.Option(help="Use only these kernels: names or indices, by commas.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Say nothing but errors.")]
Html = Annotated[Path | None, typer.Option("--html", help="Write a page about it too: .html.", show_default=False)]
OneObject = Annotated[bool, typer.Option("--json", help="Print one JSON object.")]
JsonLines = Annotated[Path | None, typer.Option("-o", "--output", help="Write the JSON lines to a file.")]
Settings = Annotated[
    list[str] | None,
    typer.Option("--set", metavar="KEY=VALUE", help="A parameter, for example C=10 or nu=0.3; may be repeated."),
]
Grid = Annotated[
    list[str],
    typer.Option("--grid", metavar="KEY=V1,V2,...", help="A parameter and its values; several: all combinations."),
]
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
Seed = Annotated[int, typer.Option(help="Of the shuffling before the samples are parted.", min=0, max=2**32 - 1)]
Score = Annotated[
    str | None,
    typer.Option(
        help="accuracy, balanced_accuracy, f1, f1_macro, f1_micro, mcc, roc_auc or average_precision; for a "
        "response r2, neg_mean_squared_error, neg_root_mean_squared_error or neg_mean_absolute_error; "
        "else accuracy, f1_macro for label sets, r2 for a response.",
        show_default=False,
    ),
]


def names_in(text: str | None) -> list[str] | None:
    """Split a comma-separated list."""
    return None if text is None else [name.strip() for name in text.split(",") if name.strip()]


def solvers_in(text: str | None) -> list[str] | None:
    names = names_in(text)
    return None if names is None else [solver_now(name) for name in names]


def parse_grid(items: list[str]) -> dict[str, list[Any]]:
    """Parse KEY=V1,V2,... into lists of numbers or words."""
    example = "KEY=V1,V2,...", "C=0.1,1,10"
    return _parsed(items, "--grid", *example, lambda text: [part.strip() for part in text.split(",")])


def parse_settings(items: list[str] | None, option: str = "--set") -> dict[str, Any]:
    """Parse KEY=VALUE into numbers or words."""
    example = "KEY=VALUE", "C=10" if option == "--set" else "seed=1"
    return {key: value for key, (value,) in _parsed(items or [], option, *example, lambda text: [text]).items()}


def _parsed(
    items: list[str], option: str, form: str, example: str, split: Callable[[str], list[str]]
) -> dict[str, list[Any]]:
    given: dict[str, list[Any]] = {}
    for item in items:
        key, _, text = item.partition("=")
        values = split(text)
        if not key or not all(values):
            raise InputError(f"{option} {item!r} is not {form}: write for example {option} {example}")
        if key in given:
            raise InputError(f"{option} {key} is given twice: keep one")
        given[key] = [_number_or_word(value) for value in values]
    return given


def _number_or_word(value: str) -> Any:
    for kind in (int, float):
        with suppress(ValueError):
            return kind(value)
    return value


def loaded(
    instance: Path, repair: str | None, kernels: str | None, centre: bool, normalise: str | None
) -> tuple[Instance, Preprocessing | None]:
    """Load an instance, select and preprocess its kernels; also return the preprocessing, if any."""
    from ..problem.preprocessing import Preprocessing
    from ..solvers.solving import preprocessed

    problem = load_instance(instance, repair=repair)
    for change in problem.repairs:
        say(f"repaired {change}")
    if kernels is not None:
        problem = problem.select([part.strip() for part in re.split(r",(?![^(]*\))", kernels)])
    if not (centre or normalise):
        return problem, None
    preparation = Preprocessing.from_options(centre=centre, normalise=normalise)
    return preprocessed(problem, preparation), preparation


def check_written(output: Path | None, *endings: str, read: tuple[Path, ...] = ()) -> None:
    """Refuse, before any work, an output that cannot be written or would replace an input."""
    if output is not None:
        check_output(output, endings)
        check_apart(read, [output])


def check_page(path: Path | None, option: str, *read: Path) -> None:
    """Refuse, before any work, a page that cannot be written or drawn."""
    check_written(path, ".html", ".htm", read=read)
    if path is not None and find_spec("matplotlib") is None:
        raise InputError(f"{option} {path}: the page needs matplotlib: pip install 'mklcvx[plot]'")


def show(found: Any, as_json: bool, in_words: Callable[[Any], None]) -> None:
    """Print a result as one JSON object, or with the function `in_words`."""
    if as_json:
        typer.echo(json.dumps(found.as_dict(), allow_nan=False))
    else:
        in_words(found)
