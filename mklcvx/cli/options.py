"""What commands share: options, the parsing of KEY=VALUE, loading of instances, checks of outputs, messages."""

from __future__ import annotations

import itertools
import json
import sys
from collections.abc import Callable, Sequence
from contextlib import suppress
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NoReturn

import typer

from .. import formulations
from ..defaults import NORMALISE, TOLERANCE
from ..errors import InputError, nearest
from ..io.files import load_instance
from ..io.json_text import finite
from ..io.readings import check_asked
from ..io.writing import check_apart, check_output

if TYPE_CHECKING:
    from ..problem.instance import Instance
    from ..problem.low_rank import Stored
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


def check_docstrings() -> None:
    """Refuse what is made of docstrings where Python has left them out."""
    if check_docstrings.__doc__ is None:
        raise InputError("PYTHONOPTIMIZE=2 (python -OO) leaves out the docstrings, which this command shows: unset it")


InstanceFile = Annotated[Path, typer.Argument(help=f"Kernels and targets: {FORMATS}.")]
FormulationName = Annotated[str, typer.Option("-f", "--formulation", help="See 'mklcvx list'.")]
Normalise = Annotated[str | None, typer.Option(help="Scale the kernels first: diagonal, trace, variance or cosine.")]
Centre = Annotated[bool, typer.Option("--centre", help="Centre the kernels in feature space first.")]
NormaliseInFolds = Annotated[
    str | None, typer.Option(help="Scale the kernels in every fold: diagonal, trace, variance or cosine.")
]
CentreInFolds = Annotated[bool, typer.Option("--centre", help="Centre the kernels in every fold.")]
Repair = Annotated[
    str | None, typer.Option(help="Mend kernels: clip or shift indefinite ones, symmetrise; symmetrise,clip does both.")
]
Variables = Annotated[
    list[str] | None,
    typer.Option(
        "--var", metavar="FIELD=NAME", help="A name in a file that is not ours, for example kernels=KH or y=Y."
    ),
]
Selection = Annotated[str | None, typer.Option(help="Use only these kernels: names or indices, by commas.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Say nothing but errors and warnings.")]
MultiClass = Annotated[
    str | None,
    typer.Option(help="More than two classes: ovr, each against the rest, or ovo, each pair.", show_default="ovr"),
]
Positive = Annotated[str | None, typer.Option(metavar="CLASS", help="Of several classes, this one against the rest.")]
Html = Annotated[Path | None, typer.Option("--html", help="Write a page about it too: .html.")]
OneObject = Annotated[bool, typer.Option("--json", help="Print one JSON object.")]
JsonLines = Annotated[Path | None, typer.Option("-o", "--output", help="Write the JSON lines to a file.")]
Settings = Annotated[
    list[str] | None,
    typer.Option("--set", metavar="KEY=VALUE", help="A parameter, for example C=10 or nu=0.3; may be repeated."),
]
Grid = Annotated[
    list[str] | None,
    typer.Option(
        "--grid",
        metavar="KEY=V1,V2,...",
        help="A parameter and its values; several: all combinations. Six values of C, or of nu, if there is none.",
    ),
]
Tolerance = Annotated[
    float | None,
    typer.Option(help=f"Relative gap that the certificate must prove; else the solver's own, for most {TOLERANCE:g}."),
]
SolverName = Annotated[
    str,
    typer.Option(
        help="auto (interior, then clarabel), interior, clarabel, scs, or a published algorithm: see 'mklcvx list'."
    ),
]
Folds = Annotated[int, typer.Option(help="Parts of the samples, each left out once.")]
Seed = Annotated[
    int, typer.Option(metavar="<int>", help="Of the shuffling before the samples are parted.", min=0, max=2**32 - 1)
]
Score = Annotated[
    str | None,
    typer.Option(
        metavar="NAME",
        help="accuracy, balanced_accuracy, f1, f1_macro, f1_micro, mcc, roc_auc or average_precision; for a "
        "response r2, neg_mean_squared_error, neg_root_mean_squared_error or neg_mean_absolute_error; "
        "else accuracy, f1_macro for label sets, r2 for a response.",
    ),
]


def names_in(text: str | None) -> list[str] | None:
    """Split a comma-separated list."""
    return None if text is None else [name.strip() for name in text.split(",") if name.strip()]


def _kernels_in(text: str) -> list[str]:
    """Split at commas, but not at those inside parentheses, such as in "gaussian(x1,x2)"."""
    ends, inside = [len(text)], False
    for at in range(len(text) - 1, -1, -1):
        inside = text[at] == ")" if text[at] in "()" else inside
        if text[at] == "," and not inside:
            ends.append(at)
    return [text[start + 1 : end].strip() for start, end in itertools.pairwise([-1, *reversed(ends)])]


def parse_grid(items: list[str]) -> dict[str, list[Any]]:
    """Parse KEY=V1,V2,... into lists of numbers or words."""
    example = "KEY=V1,V2,...", "C=0.1,1,10"
    return _parsed(items, "--grid", *example, lambda text: [_number_or_word(part.strip()) for part in text.split(",")])


def parse_settings(items: list[str] | None, option: str = "--set") -> dict[str, Any]:
    """Parse KEY=VALUE into numbers or words."""
    example = "KEY=VALUE", "C=10" if option == "--set" else "seed=1"
    parsed = _parsed(items or [], option, *example, lambda text: [_number_or_word(text)])
    return {key: value for key, (value,) in parsed.items()}


def variables_in(items: list[str] | None) -> dict[str, str]:
    """Parse FIELD=NAME; names stay as they are."""
    parsed = _parsed(items or [], "--var", "FIELD=NAME", "kernels=KH", lambda text: [text])
    names = {field: name for field, (name,) in parsed.items()}
    check_asked(names)
    return names


def _parsed(
    items: list[str], option: str, form: str, example: str, read: Callable[[str], list[Any]]
) -> dict[str, list[Any]]:
    given: dict[str, list[Any]] = {}
    for item in items:
        key, _, text = item.partition("=")
        values = read(text)
        if not key or "" in values:
            raise InputError(f"{option} {item!r} is not {form}: write for example {option} {example}")
        if key in given:
            raise InputError(f"{option} {key} is given twice: keep one")
        given[key] = values
    return given


def _number_or_word(value: str) -> Any:
    for kind in (int, float):
        with suppress(ValueError):
            return kind(value)
    return value


def loaded(
    instance: Path, repair: str | None, kernels: str | None, centre: bool, normalise: str | None, var: list[str] | None
) -> tuple[Instance, Preprocessing | None]:
    """Load an instance, select and preprocess its kernels; also return the preprocessing, if any."""
    from ..problem.preprocessing import Preprocessing
    from ..problem.validation import repairs_asked
    from ..solvers.solving import preprocessed

    repairs_asked(repair)
    problem = load_instance(instance, repair=repair, variables=variables_in(var))
    for change in problem.repairs:
        say(f"repaired {change}")
    if kernels is not None:
        problem = problem.select(_kernels_in(kernels))
    if not (centre or normalise):
        return problem, None
    preparation = Preprocessing.from_options(centre=centre, normalise=normalise)
    return preprocessed(problem, preparation), preparation


def scaled_before(centre: bool, normalise: str | None) -> tuple[str | None, str | None]:
    """What scales kernels before they are cut into folds, and what in every fold. Cosines are those of the two samples,
    whatever the fold; a fold itself would need k(x, x) of its test samples."""
    if normalise != "cosine":
        return None, normalise
    if centre:
        raise InputError("--normalise cosine: in folds it cannot follow --centre: leave one of them out")
    return normalise, None


def say_sizes(problem: Instance, normalise: str | None) -> None:
    """Say it if kernels of unlike sizes are combined as they are: their sizes decide the weights then."""
    from ..problem.scales import unlike_sizes

    if not normalise and (unlike := unlike_sizes(problem.kernels, problem.names)):
        say(f"{unlike}, and nothing scales them: add --normalise {NORMALISE}")


def scaled(problem: Instance, steps: Preprocessing) -> Stored:
    """The kernels as the steps make them of all samples."""
    from ..problem.low_rank import dense

    kernels = dense(problem.kernels)
    return steps.fit(kernels, problem.names, problem.sample_weight).train(kernels) if steps.steps else kernels


def in_machines(
    problem: Instance, formulation: str, points: Sequence[dict[str, Any]], multi_class: str | None, quiet: bool = False
) -> str | None:
    """How several classes are told apart by a formulation of two, said in a line; None where one machine does it. Bad
    parameters are refused before anything is solved."""
    from ..problem.machines import check_multi_class
    from ..solvers.one_against import MULTI_CLASS, needs_machines, parts_of

    if multi_class is not None:
        check_multi_class(multi_class)
    several, classes = needs_machines(problem, formulation, points), problem.targets.names
    if multi_class is not None and not several:
        fault = f"the instance has {problem.targets.present}, for which {formulation} needs one machine"
        raise InputError(f"--multi-class {multi_class}: {fault}: leave it out")
    if several and multi_class is None and not quiet:
        each = f"each against the rest, {len(classes)} machines (--multi-class ovo: each pair)"
        two = f"{classes[1]} is positive, {classes[0]} is negative"
        say(f"{len(classes)} classes: {two if len(classes) == 2 else each}")
    part = parts_of(problem, "ovr")[0].instance if several else problem
    for point in points:
        formulations.get(formulation).posed_for(part, point).task(part, point)
    return multi_class or MULTI_CLASS if several else None


def one_machine(
    problem: Instance, formulation: str | None, given: dict[str, Any], positive: str | None, command: str
) -> Instance:
    """The problem of one class against the rest, for commands that look at one machine. Of two classes it is the
    second, unless another is named."""
    from ..problem.targets import Targets
    from ..solvers.one_against import needs_machines

    targets = problem.targets
    if positive is not None and targets.kind != "classes":
        raise InputError(f"--positive {positive}: the instance has {targets.present}, not classes: leave it out")
    if positive is None and not (formulation and needs_machines(problem, formulation, [given])):
        return problem
    names = dict(zip((*targets.classes(), *targets.names), 2 * targets.names, strict=True))
    if positive is None and len(targets.names) > 2:
        choice = f"say which is against the rest by --positive {targets.names[0]}, or take --set loss=softmax for all"
        raise InputError(f"{command} looks at one machine, the instance has {len(targets.names)} classes: {choice}")
    if positive is not None and positive not in names:
        raise InputError(f"--positive {positive}: no such class: {nearest(positive, names)}")
    chosen = targets.names[-1] if positive is None else names[positive]
    say(f"{chosen} against {'the rest' if len(targets.names) > 2 else 'the other class'}")
    y = 2 * targets.indicators()[:, targets.names.index(chosen)] - 1
    return problem.with_targets(Targets("y", y, ("y",)))


def check_written(output: Path | None, *endings: str, read: tuple[Path, ...] = ()) -> None:
    """Refuse, before any work, an output that cannot be written or would replace an input."""
    if output is not None:
        check_output(output, endings)
        check_apart(read, output)


def check_page(path: Path | None, option: str, *read: Path) -> None:
    """Refuse, before any work, a page that cannot be written or drawn."""
    check_written(path, ".html", ".htm", read=read)
    if path is not None and find_spec("matplotlib") is None:
        raise InputError(f"{option} {path}: the page needs matplotlib: pip install 'mklcvx[plot]'")


def as_json(result: Any) -> str:
    """A result as one JSON object."""
    return json.dumps(finite(result.as_dict()), allow_nan=False)


def show(result: Any, in_json: bool, in_words: Callable[[Any], None]) -> None:
    """Print a result as one JSON object, or with the function `in_words`."""
    if in_json:
        typer.echo(as_json(result))
    else:
        in_words(result)
