"""The command line. Exit status 0: certified; 1: solved but not certified; 2: unusable input, a one-line message;
130: interrupted. An error that nobody has foreseen is one line, too, and the environment variable MKLCVX_TRACEBACK
shows where it arose."""

from __future__ import annotations

import json
import os
import re
import sys
import warnings
from typing import Annotated

import typer

from .. import formulations
from .._version import __version__
from ..errors import InputError, InternalError, at_command_line
from ..formulations import losses
from ..problem.faults import NO_MEMORY
from ..problem.threads import at_work
from . import options
from . import zoo as cli_zoo
from .bench import bench
from .conform import conform
from .cv import cv
from .interrupts import INTERRUPTED, WORDS, Stopped, heard
from .kernels import kernels
from .path import path
from .predict import predict
from .prove import prove
from .report import report
from .solve import solve
from .streams import READER_LEFT, OutputLost, watched
from .validate import validate
from .verify import verify

app = typer.Typer(
    name="mklcvx",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode="markdown",
)

# The base of Typer's own refusals; where the class lives depends on Typer's version.
UsageFault: type[Exception] = typer.BadParameter.__mro__[2]
# Of fields of records that are called otherwise in the package.
ATTRIBUTES = {"parameters": "parameter_names", "formulations": "serves", "also": "other_names", "bias": "takes_bias"}
NO_ROOM = ("failed to map segment", "annot allocate memory")  # what the loader says of a library
PARAMETER = re.compile(r"No such option: -+(?P<option>\w+)|argument\(s\) \((?P<argument>\w+)=(?P<value>[^ )]+)")


def main(arguments: list[str] | None = None) -> None:
    """Run the command line; every refusal is one line on standard error and exit status 2."""
    code = 0
    try:
        with watched():
            code = _status(arguments)
    except OutputLost as fault:
        code = fault.status
    _end(code)


def _status(arguments: list[str] | None) -> int:
    """Run a command; what ends it is said, and its exit status returned."""
    try:
        with heard(), at_command_line(), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            warnings.simplefilter("always", UserWarning)
            warnings.showwarning = _say_warning
            code = app(args=arguments, standalone_mode=False)
            sys.stdout.flush()
        if code == INTERRUPTED:  # Typer turns an interrupt into a status, without a message
            raise KeyboardInterrupt
    except InputError as fault:
        code = _refuse(str(fault))
    except UsageFault as fault:
        code = _refuse(_usage(fault))
    except MemoryError:
        code = _refuse(NO_MEMORY)
    except ArithmeticError as fault:
        remedy = "bring kernels and parameters nearer to 1"
        code = _refuse(f"a number left the range of double precision ({fault}): {remedy}")
    except InternalError as fault:
        _refuse(f"a defect of mklcvx itself: {fault}; please report it")
        code = 1
    except OutputLost as fault:
        code = fault.status
        if code != READER_LEFT:
            options.say(str(fault))
    except OSError as fault:
        code = _refuse(f"output could not be written ({fault.strerror or fault}): choose another place")
    except (KeyboardInterrupt, typer.Abort, Stopped) as fault:
        options.say(str(fault) if isinstance(fault, Stopped) else WORDS)
        code = INTERRUPTED
    except Exception as fault:
        code = _unforeseen(fault)
    return code if isinstance(code, int) else 0


def _unforeseen(fault: Exception) -> int:
    """A defect, unless Python made it of an interrupt, as it does where a class's fields are named, or a library did
    not find room."""
    if isinstance(fault.__cause__, KeyboardInterrupt):
        options.say(WORDS)
        return INTERRUPTED
    if isinstance(fault, ImportError) and any(words in str(fault) for words in NO_ROOM):
        return _refuse(NO_MEMORY)
    if os.environ.get("MKLCVX_TRACEBACK"):
        raise fault
    _refuse(f"a defect of mklcvx itself: {type(fault).__name__}: {fault}; please report it")
    return 1


def _end(code: int) -> None:
    """Exit. A solver that nobody waits for any more must not be met by the interpreter's own end."""
    if at_work:
        os._exit(code)  # all is flushed
    sys.exit(code)


def _usage(fault: Exception) -> str:
    """What is wrong with a command, and where to look; what is meant as a parameter is said to need --set."""
    message = " ".join(fault.format_message().split()).rstrip(".")  # type: ignore[attr-defined]
    command, context = "", getattr(fault, "ctx", None)
    while context is not None and context.parent is not None:
        command, context = f" {context.info_name}{command}", context.parent
    meant = PARAMETER.search(message)
    if meant is not None and (name := meant["option"] or meant["argument"]) in _parameters():
        return f"{message}: parameters are given one by one, for example --set {name}={meant['value'] or 'VALUE'}"
    return f"{message or 'no command given'} (see mklcvx{command} --help)"


def _parameters() -> set[str]:
    return {name for f in formulations.FORMULATIONS for name in f.parameter_names}


def _say_warning(message: Warning | str, *_: object, **__: object) -> None:
    """A warning in one line, without the place in the code that it comes from."""
    options.say(str(message))


def _refuse(message: str) -> int:
    options.say(message)
    return 2


def _version(asked: bool) -> None:
    if asked:
        typer.echo(f"mklcvx {__version__}")
        raise typer.Exit


@app.callback()
def common(
    version: Annotated[
        bool, typer.Option("--version", help="Show the version.", callback=_version, is_eager=True)
    ] = False,
) -> None:
    """Multiple kernel learning, declared in CVXPY and solved with a certificate."""


@app.command("list")
def list_formulations(
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON instead of a table.")] = False,
) -> None:
    """List the formulations, the losses, their parameters, which go together, and the solvers."""
    options.check_docstrings()
    from ..solvers.solving import SOLVERS
    from .display import formulation_table, loss_table, solver_table

    if as_json:
        rows = [
            _record(f, "name", "title", "parameters", "family")
            | {"losses": getattr(f, "losses", ()), **_record(f, "needs_groups", "reference")}
            for f in formulations.FORMULATIONS
        ]
        solvers = [_record(s, "name", "summary", "formulations", "tolerance", "options", "reference") for s in SOLVERS]
        content = {"schema": "mklcvx.list/1", "formulations": rows, "losses": _losses(), "solvers": solvers}
        typer.echo(json.dumps(content, indent=1))
        return
    formulation_table()
    loss_table()
    solver_table()


def _losses() -> list[dict[str, object]]:
    """The losses as records; `formulations` are those that take them."""
    records = []
    for loss in losses.ALL:
        parameters = [{**_record(p, "name", "meaning", "limits"), "default": p.default(1)} for p in loss.parameters]
        taking = [f.name for f in formulations.FORMULATIONS if loss.name in f.loss_names]
        record = {**_record(loss, "name", "also", "title", "targets"), "parameters": parameters}
        records.append({**record, **_record(loss, "bias"), "formulations": taking, "reference": loss.reference})
    return records


def _record(described: object, *fields: str) -> dict[str, object]:
    return {field: getattr(described, ATTRIBUTES.get(field, field)) for field in fields}


@app.command()
def explain(
    name: Annotated[str, typer.Argument(help="A formulation, for example l1, or a loss.")],
    latex: Annotated[bool, typer.Option("--latex", help="Print the formulas as LaTeX.")] = False,
) -> None:
    """Explain a formulation or a loss: primal and dual, the way between them, multipliers, limits, reference."""
    options.check_docstrings()
    from ..reports.explain import as_latex, as_text, named

    explained = named(name)
    typer.echo(as_latex(explained) if latex else as_text(explained))


@app.command("conventions")
def list_conventions(
    name: Annotated[str | None, typer.Argument(help="Explain this one, for example spicymkl.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON instead of text.")] = False,
) -> None:
    """List the other codes whose problems and answers can be converted, or explain one."""
    options.check_docstrings()
    from ..verification import conventions

    chosen = conventions.CONVENTIONS if name is None else (conventions.get(name),)
    if as_json:
        rows = [conventions.as_dict(convention) for convention in chosen]
        typer.echo(json.dumps({"schema": "mklcvx.conventions/1", "conventions": rows}, ensure_ascii=False))
    else:
        typer.echo(conventions.table() if name is None else conventions.as_text(chosen[0]))


def demo(
    samples: Annotated[int, typer.Option(help="Training samples.", min=20, max=300)] = 100,
    seed: Annotated[int, typer.Option(help="Seed of the split.")] = 0,
    html: options.Html = None,
) -> None:
    """Solve every formulation on breast cancer data and compare: optimum, certificate, weights, accuracy."""
    options.check_page(html, "--html")
    from .demo import run_demo

    if not run_demo(samples, seed, html):
        raise typer.Exit(1)


for command in (solve, path, prove, predict, cv, kernels, verify, conform, validate, bench, report, demo):
    app.command()(command)
app.add_typer(cli_zoo.app, name="zoo")


if __name__ == "__main__":
    main()
